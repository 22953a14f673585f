/* unix_socket.h -- listening Unix sockets, and those that a dead process has left behind. */
#ifndef TELEM_EMITTER_DELIVER_UNIX_SOCKET_H
#define TELEM_EMITTER_DELIVER_UNIX_SOCKET_H

/* A listening socket at path, mode 0600; a stale one of this user is removed first. -EADDRINUSE:
 * somebody listens there; -EBUSY: this very process does. */
int unix_listen(const char *path);
/* Removes a socket of this user's that nobody listens on. */
void unix_remove_dead(const char *path);
#endif
