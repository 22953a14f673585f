/* figures.h -- everything that a session's model knows, as the JSON of `telemtop once --json`, to
 * compare two sessions; and how to feed one. */
#ifndef TELEM_TESTS_SUPPORT_FIGURES_H
#define TELEM_TESTS_SUPPORT_FIGURES_H

#include <stddef.h>

#include "monitor/session/session.h"

/* All figures; the caller frees the text. */
char *figures_json(const struct session *session);
/* The figures without those that depend on the bytes that carried them. Unless from_start is true,
 * also without what was received and lost since the session joined, and without who set a level.
 * The caller frees the text. */
char *figures_essence(const struct session *session, bool from_start);
/* Fails the test, and shows the first difference, unless the texts are equal; frees both. */
void figures_equal(char *a, char *b);
/* Feeds bytes to a session in pieces of `piece` bytes; 0: all at once. */
void figures_feed(struct session *session, const uint8_t *bytes, size_t count, size_t piece);
#endif
