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
/* With the environment variable TEST_FILTER only tests whose names match that pattern run. */
void beside_take_filter(void);

void start(const char *config);
void wait_until_greeted(struct reader *who);
/* Each returns a reader that has been greeted: of a sink that is a file descriptor (*id is the sink's id;
 * id may be NULL), of the discovery socket, of a FIFO. */
struct reader *attach_fd(int *id);
struct reader *attach_viewer(void);
struct reader *attach_fifo(const char *path);
/* Reads until who has received everything that was recorded before. */
void hear(struct reader *who);
/* Reads on another thread while the test goes on, from reading_begin() to reading_end(). */
void reading_begin(struct reader *who);
void reading_end(void);
/* Stops telemetry and reads up to its BYE. */
void stop_and_read(struct reader *who);

/* ---- what the reader has received, and what it asks ---- */

/* What the reader has received about a site, "class.name"; fails the test when that is nothing. */
const struct reader_site *site(const char *name);
/* The count of the same site; 0 when the reader has received nothing about it. */
uint64_t site_count(const char *name);
uint64_t class_id(const char *name);
/* Sends a request and returns the code of its answer: ASK(TICK, tick, 100 * MS). */
#define ASK(KIND, kind_, ...) \
	reader_request(reader, (struct message){ .kind = KIND_##KIND, .kind_ = { 0, __VA_ARGS__ } })

/* ---- this process ---- */

struct telem_statistics statistics(void);
/* Runs run(arg) in a thread of its own and waits until that thread has ended. */
void in_thread(void *(*run)(void *), void *arg);
/* Keeps the processor busy until that much time has passed: for tests of elapsed time itself, not for waiting. */
void spin_until_passed(uint64_t duration_ns);
/* How many entries /proc/self/fd has, with ".", ".." and the directory that is read. */
uint32_t fd_count(void);
#endif
