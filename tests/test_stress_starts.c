/* test_stress_starts.c -- telemetry that is started and stopped thousands of times, also by many threads at once. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/beside.h"
#include "tests/support/emitting.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

/* From /proc/self/status. */
static uint64_t status_number(const char *key)
{
	char line[256];
	uint64_t number = 0;
	FILE *file = fopen("/proc/self/status", "re");

	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (!strncmp(line, key, strlen(key)))
			number = strtoull(line + strlen(key), NULL, 10);
	fclose(file);
	return number;
}

/* Leaves the processor to the thread that starts and stops. */
static void emit_in_turn(uint64_t *count)
{
	for (int i = 0; i < 20; i++)
		TELEM_COUNT(loud, "in turn", 1);
	*count += 20;
	sched_yield();
}

static void starting_and_stopping_many_times_leaks_nothing(void **state)
{
	int cycles = 10000 / (int)proc_slowness();
	uint64_t bytes_before = 0, bytes_after, mapped_before = 0, mapped_after;
	uint32_t fds_before = 0, threads_before = 0;
	struct telem_statistics before = statistics(), after;
	struct emitters emitters;

	(void)state;
	emitters_begin(&emitters, 2, emit_in_turn);
	for (int i = 0; i < cycles; i++) {
		if (i == cycles / 10) {
			fds_before = fd_count();
			threads_before = (uint32_t)status_number("Threads:");
			bytes_before = status_number("VmRSS:");
			mapped_before = statistics().memory_bytes;
		}
		assert_int_equal(telem_start(NULL), 0);
		/* Every eighth start has a sink, so that some events are delivered, and some dropped. */
		if (i % 8 == 0)
			assert_true(telem_sink_fd(open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0);
		telem_stop();
		/* Each of the two threads may be in the middle of one event. */
		assert_in_range(statistics().queued, 0, 2);
	}
	bytes_after = status_number("VmRSS:");
	mapped_after = statistics().memory_bytes;
	assert_int_equal(fd_count(), fds_before);
	assert_int_equal(status_number("Threads:"), threads_before);
	emitters_end(&emitters);
	/* A sanitizer keeps freed memory in quarantine. */
	assert_true(bytes_after < bytes_before + (proc_slowness() > 1 ? 512 << 10 : 4 << 10));
	assert_true(mapped_after < mapped_before + (1 << 20));
	after = statistics();
	assert_int_equal(after.queued, 0);
	assert_true(after.delivered > before.delivered && after.dropped > before.dropped);
	assert_in_range(after.emitted - before.emitted, 1, emitters.counts[0] + emitters.counts[1]);
}

static void *start_and_stop(void *arg)
{
	for (int i = 0; i < 200; i++) {
		int err = telem_start(NULL);

		if (err != 0 && err != -EALREADY)
			*(int *)arg = err;
		telem_flush(MS);
		telem_stop();
	}
	return NULL;
}

static void threads_may_start_and_stop_at_once(void **state)
{
	pthread_t threads[4];
	int err = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, start_and_stop, &err), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(err, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(starting_and_stopping_many_times_leaks_nothing),
		BESIDE_TEST(threads_may_start_and_stop_at_once),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("stress_starts", tests, NULL, NULL);
}
