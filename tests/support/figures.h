/* figures.h -- all that a session's model knows, as the JSON of `telemtop once --json`, to
 * compare two of them; and how to feed one. */
#ifndef TELEM_TESTS_SUPPORT_FIGURES_H
#define TELEM_TESTS_SUPPORT_FIGURES_H

#include <stddef.h>

#include "monitor/session.h"

/* free() it. */
char *figures_json(const struct session *session);
/* Without what depends on the bytes that carried the figures; and, unless it was heard from
 * the same moment on, without what was received and lost since, and who set a level. */
char *figures_essence(const struct session *session, bool from_start);
/* Fails the test, showing where they part, when they differ; frees both. */
void figures_equal(char *a, char *b);
/* In pieces of so many bytes; 0: all at once. */
void figures_feed(struct session *session, const uint8_t *bytes, size_t count, size_t piece);
#endif
