#include "demo/burst.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "demo/work.h"
#include "emitter/telem.h"

TELEM_CLASS(burst, "the events of --burst", TELEM_OFF);

enum { READER_POLL_MS = 10, READER_POLLS_MAX = 1000, FLUSH_S = 60 };

struct part {
	uint32_t number;
	uint64_t first_key, event_count;
};

static void *emit(void *arg)
{
	const struct part *part = arg;
	char name[32];

	snprintf(name, sizeof name, "burst-%u", (unsigned)part->number);
	telem_task_name(name);
	for (uint64_t i = 0; i < part->event_count; i++)
		TELEM_MARK(burst, "burst", part->first_key + i);
	return NULL;
}

static bool wait_for_reader(void)
{
	struct telem_statistics stats;

	for (int i = 0; i < READER_POLLS_MAX; i++) {
		telem_stats(&stats);
		if (stats.sinks > 0)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = READER_POLL_MS * 1000000 }, NULL);
	}
	return false;
}

static void emit_all(uint64_t event_count, uint32_t thread_count)
{
	pthread_t threads[WORK_THREADS_MAX];
	struct part parts[WORK_THREADS_MAX];
	uint32_t started = 0;
	uint64_t next_key = 1;

	for (uint32_t i = 0; i < thread_count; i++) {
		struct part *part = &parts[i];

		part->number = i + 1;
		part->first_key = next_key;
		part->event_count = event_count / thread_count + (i < event_count % thread_count);
		next_key += part->event_count;
		if (pthread_create(&threads[started], NULL, emit, part) == 0)
			started++;
		else
			emit(part);           /* the number of events counts, not the thread */
	}
	while (started > 0)
		pthread_join(threads[--started], NULL);
}

int burst_run(uint64_t event_count, uint32_t thread_count, bool wait)
{
	struct telem_statistics before, after;
	uint64_t emitted, delivered, dropped;

	if (wait && !wait_for_reader()) {
		fputs("telem-demo: there is no reader: no sink was streaming within 10 s; "
		      "start one, e.g. telemtop, or give --sink\n", stderr);
		return 1;
	}
	telem_enable_all(false);
	(void)telem_class_level(&telem_class_burst, TELEM_ALL);
	/* Events that were recorded before must not be counted. */
	(void)telem_flush((uint64_t)FLUSH_S * 1000000000);
	telem_stats(&before);
	emit_all(event_count, thread_count);
	if (telem_flush((uint64_t)FLUSH_S * 1000000000))
		fprintf(stderr, "telem-demo: telemetry: %s\n", telem_error());
	telem_stats(&after);

	emitted = after.emitted - before.emitted;
	delivered = after.delivered - before.delivered;
	dropped = after.dropped - before.dropped;
	printf("emitted %" PRIu64 " delivered %" PRIu64 " dropped %" PRIu64 "\n", emitted, delivered, dropped);
	return fflush(stdout) == 0 && emitted == delivered + dropped ? 0 : 1;
}
