/* beside.h -- an emitter and its reader in one process, for tests of libtelem from the inside. */
#ifndef TELEM_TESTS_SUPPORT_BESIDE_H
#define TELEM_TESTS_SUPPORT_BESIDE_H

#include "emitter/telem.h"
#include "tests/support/fixture.h"
#include "tests/support/reader.h"

#define MS 1000000ull
#define S 1000000000ull

extern struct fixture *fixture;
extern struct reader *reader;        /* the reader of the running test; the teardown frees it */

/* The setup and teardown of each test. The teardown stops telemetry, checks that nothing is queued,
 * and restores settings and levels: those of the built-in classes, and of net (sum), quiet (off)
 * and loud (all). */
int beside_setup(void **state);
int beside_teardown(void **state);
#define BESIDE_TEST(name) cmocka_unit_test_setup_teardown(name, beside_setup, beside_teardown)

void start(const char *config);
void wait_until_greeted(struct reader *who);
/* Returns a reader of a sink that is a file descriptor; *id is the sink's id. */
struct reader *attach_fd(int *id);
struct reader *attach_viewer(void);
/* Reads until who has received everything that was recorded before. */
void hear(struct reader *who);
/* Reads on another thread while the test goes on, from reading_begin() to reading_end(). */
void reading_begin(struct reader *who);
void reading_end(void);
/* Stops telemetry and reads up to its BYE. */
void stop_and_read(struct reader *who);
/* What the reader has received about a site, "class.name"; fails the test when that is nothing. */
const struct reader_site *site(const char *name);
#endif
