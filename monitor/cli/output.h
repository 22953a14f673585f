/* output.h -- standard output of the subcommands, and what is said when it takes no more. */
#ifndef TELEM_MONITOR_CLI_OUTPUT_H
#define TELEM_MONITOR_CLI_OUTPUT_H

#include <stdbool.h>

/* Flushes standard output. When it takes no more, returns false with the exit status: EXIT_DONE when its reader has
 * closed the pipe, as in telemtop lines PID | head, else EXIT_INTERNAL, and the reason has been printed. */
bool output_flush(int *code);
/* Flushes standard output at the end of a subcommand. Returns code, or the exit status of output_flush() when that
 * fails after a success. */
int output_finish(int code);
#endif
