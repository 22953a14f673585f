/* discovery.h -- the socket by which telemtop finds this process: PID.sock in the user's directory. */
#ifndef TELEM_EMITTER_DELIVER_DISCOVERY_H
#define TELEM_EMITTER_DELIVER_DISCOVERY_H

/* Opens it as a sink; the reason why not is in telem_error(). -EBUSY: this very process has one
 * already. Locked. */
int discovery_open(void);
#endif
