/* error.h -- the one line that telem_error() returns: why the last call failed, in words. */
#ifndef TELEM_EMITTER_CORE_ERROR_H
#define TELEM_EMITTER_CORE_ERROR_H

void error_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
