/* beside.h -- a reader beside the emitter, in one process: for tests of libtelem from inside. */
#ifndef TELEM_TESTS_SUPPORT_BESIDE_H
#define TELEM_TESTS_SUPPORT_BESIDE_H

#include "emitter/telem.h"
#include "tests/support/fixture.h"
#include "tests/support/reader.h"

#define MS 1000000ull
#define S 1000000000ull

extern struct fixture *fixture;
extern struct reader *reader;        /* the test's, freed behind it */

/* Of each test. The teardown stops telemetry, tests that nothing is queued, and sets back
 * levels and settings: of the built-in classes, and of net (sum), quiet (off), loud (all). */
int beside_setup(void **state);
int beside_teardown(void **state);
#define BESIDE_TEST(name) cmocka_unit_test_setup_teardown(name, beside_setup, beside_teardown)

void start(const char *config);
void wait_until_greeted(struct reader *who);
/* A reader at a descriptor of the program's. */
struct reader *attach_fd(int *id);
struct reader *attach_viewer(void);
/* Until who knows everything that was recorded before. */
void hear(struct reader *who);
/* Reads beside whatever the test does. */
void reading_begin(struct reader *who);
void reading_end(void);
/* Reads while telemetry stops, to the goodbye. */
void stop_and_read(struct reader *who);
/* What reader knows of a site, "class.name"; fails the test when it knows none. */
const struct reader_site *site(const char *name);
#endif
