/* unix_socket.h -- makes listening Unix sockets, and removes those that a dead process has left behind. */
#ifndef TELEM_EMITTER_DELIVER_UNIX_SOCKET_H
#define TELEM_EMITTER_DELIVER_UNIX_SOCKET_H

/* Returns a socket with mode 0600 that listens at path. A stale socket of this user is removed first. Returns
 * -EADDRINUSE when another process listens there, -EBUSY when this process does, or another negative errno. */
int unix_listen(const char *path);
/* Removes a socket of this user on which no process listens. */
void unix_remove_dead(const char *path);
#endif
