/* fixture.h -- a place of its own for each test: directory, environment, port, files.
 *
 * fixture_setup() makes a directory under /tmp, mode 0700, and points the
 * environment at it: XDG_RUNTIME_DIR is the directory itself (so sockets land in
 * DIR/telem/), XDG_CONFIG_HOME and XDG_STATE_HOME are DIR/config and DIR/state (not
 * made), and the developer's TELEM* variables are gone. Children of proc.h and
 * term.h inherit that. fixture_teardown() ends all children, puts the environment
 * back and removes the directory with all that is in it. */
#ifndef TELEM_TESTS_SUPPORT_FIXTURE_H
#define TELEM_TESTS_SUPPORT_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#define FIXTURE_ENV_COUNT 8

struct fixture {
	char dir[32];
	char **paths;                           /* own, path_count of them */
	size_t path_count;
	char *old_env[FIXTURE_ENV_COUNT];       /* own; NULL: was not set */
};

/* cmocka's setup and teardown; *state is the struct fixture. For a group or a test. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* The same for the caller's storage. Returns 0 or a negative errno. */
int fixture_init(struct fixture *fixture);
void fixture_fini(struct fixture *fixture);

/* A path below the directory: fixture_path(fixture, "telem/%d.sock", pid). Makes
 * nothing on disk; valid until the end of the fixture. */
const char *fixture_path(struct fixture *fixture, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Write or read a whole file by path, failing the test when that does not work.
 * The text read has a 0 behind it; free() it. count may be NULL. */
void fixture_write(const char *path, const char *bytes, size_t count);
char *fixture_read(const char *path, size_t *count);
/* Makes a directory of file_count text files, file_bytes each, 64 to a subdirectory
 * (d000/f00000.txt ...). Lines of pseudo-random words, few of them often and many
 * seldom as in real text; the same arguments make the same bytes. */
void fixture_text_tree(const char *path, uint32_t file_count, size_t file_bytes, uint64_t seed);
/* A TCP port of 127.0.0.1 nobody listens on now. Another program may take it before
 * you do; the kernel hands out different ones in a row, so that is rare. */
uint16_t fixture_free_port(void);
/* Removes a file or directory and all below it; does not follow links. Returns 0,
 * also when there was nothing, or the first negative errno. */
int fixture_remove(const char *path);
#endif
