/* golden.h -- compares what was drawn with a file that people have looked at.
 *
 * The files are tests/screens/NAME.txt below the current directory, the project's
 * root. With GOLDEN=1 in the environment they are rewritten instead: look at the
 * difference before it is committed. */
#ifndef TELEM_TESTS_SUPPORT_GOLDEN_H
#define TELEM_TESTS_SUPPORT_GOLDEN_H

/* Fails the running cmocka test, showing the first line that differs, unless
 * text is what the file holds. */
void golden_check(const char *name, const char *text);
#endif
