/* discovery.h -- the socket by which telemtop finds this process: PID.sock in the user's directory.
 * A symbolic link PID.sock.name beside it has the program's name, so that it is found without a connection. */
#ifndef TELEM_EMITTER_DELIVER_DISCOVERY_H
#define TELEM_EMITTER_DELIVER_DISCOVERY_H

/* Opens the socket as a sink. Returns a negative errno and sets telem_error() on failure; -EBUSY means that this
 * process has one already. Call with the lock held. */
int discovery_open(void);
/* Says beside the discovery socket what was wrong with the settings. Call with the lock held. */
void discovery_tell_problem(const char *problem);
#endif
