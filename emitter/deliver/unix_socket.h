/* unix_socket.h -- makes listening Unix sockets, and removes those that a dead process has left behind. */
#ifndef TELEM_EMITTER_DELIVER_UNIX_SOCKET_H
#define TELEM_EMITTER_DELIVER_UNIX_SOCKET_H

#include <stdbool.h>

/* Returns a socket with mode 0600 that listens at path. A stale socket of this user is removed first. Returns
 * -EADDRINUSE when another process listens there, -EBUSY when this process does, or another negative errno. */
int unix_listen(const char *path);
/* Tells something of a discovery socket by a symbolic link to a text: PATH.name is the program's name, PATH.problem what was
 * wrong with its settings. Returns whether the link was made. */
bool unix_tell(const char *path, const char *what, const char *text);
/* Removes a socket and what is told of it. */
void unix_unlink(const char *path, bool has_name);
/* Removes a socket of this user on which no process listens, and what is told of it. */
void unix_remove_dead(const char *path);
#endif
