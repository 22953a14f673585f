/* name.h -- names, which are cut where they are longer than any table shows. */
#ifndef TELEM_EMITTER_CORE_NAME_H
#define TELEM_EMITTER_CORE_NAME_H

#include <stddef.h>

/* Copies a name. One that does not fit is cut between two characters of UTF-8 and ends in "…", which says so. */
void name_copy(char *out, size_t out_bytes, const char *name);
#endif
