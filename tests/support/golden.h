/* golden.h -- compares what was drawn with a file that people have reviewed.
 *
 * The files are tests/screens/NAME.txt in the current directory, which is the project's root. With
 * GOLDEN=1 in the environment they are written anew instead: review the difference before it is
 * committed. */
#ifndef TELEM_TESTS_SUPPORT_GOLDEN_H
#define TELEM_TESTS_SUPPORT_GOLDEN_H

/* Fails the running cmocka test, and shows the first line that differs, unless text is what the
 * file contains. */
void golden_check(const char *name, const char *text);
#endif
