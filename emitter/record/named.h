/* named.h -- sites that are named at run time: by the program, or by their place in the source. */
#ifndef TELEM_EMITTER_RECORD_NAMED_H
#define TELEM_EMITTER_RECORD_NAMED_H

struct telem_site;

/* Names a log place "file.c:42", because its format says nothing. Call with the lock held. */
void name_by_place(struct telem_site *place);
#endif
