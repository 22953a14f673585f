/* fixture.h -- what each test has to itself: directory, environment, port, files.
 *
 * fixture_setup() makes a directory under /tmp with mode 0700 and sets the environment to use it:
 * XDG_RUNTIME_DIR is the directory itself (so sockets are in DIR/telem/), XDG_CONFIG_HOME and
 * XDG_STATE_HOME are DIR/config and DIR/state (which are not made), and the developer's TELEM*
 * variables are unset. Children of proc.h and term.h inherit that environment. fixture_teardown()
 * ends all children, restores the environment and removes the directory with everything in it. */
#ifndef TELEM_TESTS_SUPPORT_FIXTURE_H
#define TELEM_TESTS_SUPPORT_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#define FIXTURE_ENV_COUNT 8

struct fixture {
	char dir[32];
	char **paths;                           /* owned, path_count of them */
	size_t path_count;
	char *old_env[FIXTURE_ENV_COUNT];       /* owned; NULL: the variable was not set */
};

/* The setup and teardown for cmocka, of a group or of one test. *state is the struct fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* The same for the caller's storage. Returns 0 or a negative errno. */
int fixture_init(struct fixture *fixture);
void fixture_fini(struct fixture *fixture);

/* A path in the directory: fixture_path(fixture, "telem/%d.sock", pid). It makes nothing on disk.
 * The text is valid until the end of the fixture. */
const char *fixture_path(struct fixture *fixture, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Write or read a whole file, and fail the test when that is not possible. The text read is
 * followed by a 0, and the caller frees it. count may be NULL. */
void fixture_write(const char *path, const char *bytes, size_t count);
char *fixture_read(const char *path, size_t *count);
/* Makes a directory of file_count text files of file_bytes each, 64 in one subdirectory
 * (d000/f00000.txt ...). They have lines of pseudo-random words; as in real text, a few words are
 * frequent and most are rare. The same arguments make the same bytes. */
void fixture_text_tree(const char *path, uint32_t file_count, size_t file_bytes, uint64_t seed);
/* A TCP port of 127.0.0.1 that nobody listens on now. Another program may take it first; the kernel
 * hands out different ports in turn, so that is rare. */
uint16_t fixture_free_port(void);
/* Removes a file, or a directory with everything in it; does not follow links. Returns 0, also when
 * there was nothing, or the first negative errno. */
int fixture_remove(const char *path);
#endif
