#include "emitter/deliver/report.h"

#include <errno.h>
#include <stddef.h>

#include "emitter/core/clock.h"
#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/deliver/flusher_thread.h"
#include "emitter/deliver/report_own.h"
#include "emitter/deliver/reporter.h"
#include "emitter/record/place.h"
#include "emitter/record/site.h"

static const struct reporter *being_asked;   /* atomic */
static pthread_t asking_thread;

int telem_reporter_remove(const char *path)
{
	int saved = errno;
	struct reporter *reporter;
	bool was_there;

	fork_restart();
	lock_take();
	reporter = path ? reporter_find(path) : NULL;
	was_there = reporter && reporter->function;
	if (was_there)
		reporter->function = NULL;
	/* Waits until the reporter is not being asked any more, unless it is the reporter that removes itself. */
	while (was_there && __atomic_load_n(&being_asked, __ATOMIC_ACQUIRE) == reporter &&
	       !pthread_equal(asking_thread, pthread_self()))
		lock_pause();
	lock_release();
	errno = saved;
	return was_there ? 0 : -ENOENT;
}

bool reporter_is_asked_by(pthread_t thread)
{
	return being_asked && pthread_equal(asking_thread, thread);
}

/* Asks one reporter. Call without the lock, because it runs code of the program. Returns false when telemetry has
 * stopped meanwhile, and this thread was left behind. */
static bool ask(struct reporter *reporter, uint64_t generation)
{
	telem_reporter_fn *function;
	void *arg;
	int64_t value = 0;
	bool is_good, is_left;

	lock_take();
	function = reporter->function;
	arg = function == reporter_provides ? reporter : reporter->arg;
	/* A provider has no site of its own. The values that it reports have sites, with levels. */
	if (function != reporter_provides && telem_level_(&reporter->site) == TELEM_OFF)
		function = NULL;
	is_left = flusher_thread_is_left(generation);
	if (function && !is_left) {
		asking_thread = pthread_self();
		__atomic_store_n(&being_asked, reporter, __ATOMIC_RELEASE);
	}
	lock_release();
	if (is_left || !function)
		return !is_left;
	is_good = function(arg, &value) == 0;
	lock_take();
	is_left = flusher_thread_is_left(generation);
	if (pthread_equal(asking_thread, pthread_self()))       /* a later flusher may already be asking */
		__atomic_store_n(&being_asked, NULL, __ATOMIC_RELEASE);
	lock_release();
	if (is_left)
		return false;
	if (function == reporter_provides)
		return true;
	if (is_good) {
		reporter->value = value;
		reporter_set(&reporter->site, value);
	} else {
		static uint64_t failures;

		reporter_set(OWN_SITE(reports_, TELEM_KIND_GAUGE_, TELEM_NONE, 0, "failures"), (int64_t)++failures);
	}
	return true;
}

void reporters_forget(void)
{
	being_asked = NULL;
	for (uint32_t id = 1; id < site_table.count; id++)
		site_table.rows[id].asked_count = 0;
}

/* ---- how often each is asked ---- */

/* All reporters together take one part in so many of a core. */
#define SHARE 1000

/* Returns how much each reporter may take in a tick. The time that those who need less leave over goes to the others, in
 * equal parts (max-min fairness; Bertsekas and Gallager, Data Networks, 6.5.2). */
static uint64_t fair_ns(const struct reporter *first, uint64_t tick_ns)
{
	uint64_t fair = 0, before;
	uint32_t count;

	lock_take();
	do {
		uint64_t left = tick_ns / SHARE;

		before = fair;
		count = 0;
		for (const struct reporter *reporter = first; reporter; reporter = reporter->next) {
			if (!reporter_is_asked(reporter))
				continue;
			if (reporter->cost_ns <= fair)
				left -= reporter->cost_ns;
			else
				count++;
		}
		fair = count ? left / count : before;
	} while (fair > before);
	lock_release();
	return fair ? fair : 1;
}

static bool is_due(const struct reporter *reporter, uint64_t fair, uint64_t tick_ns, uint64_t now_ns)
{
	bool is;

	lock_take();
	is = reporter_is_asked(reporter) &&
	     (reporter->cost_ns <= fair || (double)(now_ns - reporter->asked_ns) >=
						   (double)reporter->cost_ns / (double)fair * (double)tick_ns);
	lock_release();
	return is;
}

static bool ask_timed(struct reporter *reporter, uint64_t generation, uint64_t now_ns)
{
	uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), took_ns;

	if (!ask(reporter, generation))
		return false;
	took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	lock_take();
	/* An average, because an interrupt in one call of a cheap reporter must not make it a dear one. */
	reporter->cost_ns = reporter->cost_ns ? (3 * reporter->cost_ns + took_ns) / 4 : took_ns;
	reporter->asked_ns = now_ns;
	lock_release();
	return true;
}

/* Tells what the reporters of the heap account for, if there are any. */
static void sum_heap(const struct reporter *first)
{
	int64_t bytes = 0;
	bool has_heap = false;

	lock_take();
	for (const struct reporter *reporter = first; reporter; reporter = reporter->next)
		if (reporter->function && reporter->kind == TELEM_REPORT_HEAP) {
			has_heap = true;
			bytes += reporter->value;
		}
	lock_release();
	if (has_heap)
		report_heap_claimed(bytes);
}

bool reporters_ask(uint64_t generation, uint64_t tick_ns, uint64_t now_ns)
{
	struct reporter *first;
	uint64_t fair;

	lock_take();
	first = reporter_first();
	lock_release();
	fair = fair_ns(first, tick_ns);
	for (struct reporter *reporter = first; reporter; reporter = reporter->next)
		if (is_due(reporter, fair, tick_ns, now_ns) && !ask_timed(reporter, generation, now_ns))
			return false;
	sum_heap(first);
	return true;
}
