/* report.h -- asks all reporters for their values. The flusher's. */
#ifndef TELEM_EMITTER_REPORT_H
#define TELEM_EMITTER_REPORT_H

/* Calls the program's functions: not locked. */
void reporters_ask(void);
void reporters_forget(void);         /* in a child: none is being asked, none has told */
#endif
