/* unix_socket.h -- makes listening Unix sockets, and removes those that a dead process has left behind. */
#ifndef TELEM_EMITTER_DELIVER_UNIX_SOCKET_H
#define TELEM_EMITTER_DELIVER_UNIX_SOCKET_H

#include <stdbool.h>

/* Returns a socket with mode 0600 that listens at path. A stale socket of this user is removed first. Returns
 * -EADDRINUSE when another process listens there, -EBUSY when this process does, or another negative errno. */
int unix_listen(const char *path);
/* Tells whose socket it is, by a symbolic link PATH.name to the program's name. Returns whether the link was made. */
bool unix_name(const char *path, const char *program);
/* Removes a socket and its name. */
void unix_unlink(const char *path, bool has_name);
/* Removes a socket of this user on which no process listens, and its name. */
void unix_remove_dead(const char *path);
#endif
