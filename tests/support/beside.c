#include "tests/support/beside.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture *fixture;
struct reader *reader;

int beside_setup(void **state)
{
	int err = fixture_setup(state);

	fixture = *state;
	reader = NULL;
	return err;
}

int beside_teardown(void **state)
{
	struct telem_statistics stats;
	static const char *const names[] = { "net", "mem", "gc", "task", "frame", "log" };

	telem_stop();
	telem_stats(&stats);
	if (stats.queued) {
		proc_printf("emitted %" PRIu64 ", delivered %" PRIu64 ", dropped %" PRIu64 "\n", stats.emitted,
			    stats.delivered, stats.dropped);
		return -1;
	}
	reader_free(reader);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		telem_level_set(names[i], TELEM_SUM);
	telem_level_set("quiet", TELEM_OFF);
	telem_level_set("loud", TELEM_ALL);
	telem_set_policy(TELEM_DROP, 0);
	telem_set_flush_interval(100 * MS);
	telem_set_ring_bytes(1 << 20);
	return fixture_teardown(state);
}

void beside_take_filter(void)
{
	if (getenv("TEST_FILTER"))
		cmocka_set_test_filter(getenv("TEST_FILTER"));
}

void start(const char *config)
{
	assert_int_equal(telem_start(&(struct telem_options){ .config = config, .ignore_environment = true }), 0);
}

void wait_until_greeted(struct reader *who)
{
	READ_UNTIL(who, who->kind_count[KIND_SINK] > 0);
}

struct reader *attach_fd(int *id)
{
	struct reader *who;
	int ends[2], sink;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	sink = telem_sink_fd(ends[1]);
	assert_true(sink >= 0);
	if (id)
		*id = sink;
	who = reader_new(ends[0]);
	wait_until_greeted(who);
	return who;
}

struct reader *attach_viewer(void)
{
	struct reader *who = reader_unix(fixture_path(fixture, "telem/%d.sock", (int)getpid()));

	wait_until_greeted(who);
	return who;
}

struct reader *attach_fifo(const char *path)
{
	struct reader *who = reader_new(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));

	/* A FIFO that no writer has opened yet reads as at its end. */
	READ_UNTIL(who, (who->at_end = false, who->kind_count[KIND_SINK] > 0));
	return who;
}

void hear(struct reader *who)
{
	uint64_t greetings;

	READ_UNTIL(who, telem_flush(10 * MS) == 0);
	for (int i = 0; i < 10000 && reader_pump(who); i++)
		;                        /* reads an older greeting, too */
	greetings = who->greeting_count;
	telem_sync();
	READ_UNTIL(who, who->greeting_count > greetings);
}

static void *stop_thread(void *arg)
{
	(void)arg;
	telem_stop();
	return NULL;
}

static bool keep_reading;
static pthread_t reading_thread;

static void *read_until_told(void *arg)
{
	while (__atomic_load_n(&keep_reading, __ATOMIC_RELAXED))
		if (!reader_pump(arg))
			reader_wait(arg);
	return NULL;
}

void reading_begin(struct reader *who)
{
	__atomic_store_n(&keep_reading, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&reading_thread, NULL, read_until_told, who), 0);
}

void reading_end(void)
{
	__atomic_store_n(&keep_reading, false, __ATOMIC_RELAXED);
	pthread_join(reading_thread, NULL);
}

void stop_and_read(struct reader *who)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, stop_thread, NULL), 0);
	reader_to_end(who);
	pthread_join(thread, NULL);
}

const struct reader_site *site(const char *name)
{
	const struct reader_site *found = reader_site(reader, name);

	if (!found)
		proc_printf("no site %s\n", name);
	assert_non_null(found);
	return found;
}

uint64_t site_count(const char *name)
{
	const struct reader_site *found = reader_site(reader, name);

	return found ? found->count : 0;
}

uint64_t class_id(const char *name)
{
	return (uint64_t)(reader_class(reader, name) - reader->classes);
}

struct telem_statistics statistics(void)
{
	struct telem_statistics stats;

	telem_stats(&stats);
	return stats;
}

void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, arg), 0);
	pthread_join(thread, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
}

void spin_until_passed(uint64_t duration_ns)
{
	uint64_t end_ns = now_ns() + duration_ns;

	while (now_ns() < end_ns)
		;
}

uint32_t fd_count(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint32_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}
