#include "emitter/deliver/report.h"

#include <errno.h>
#include <stddef.h>

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

static void set(const struct telem_site *site, int64_t value)
{
	lock_take();
	if (site->id && telem_level_(site) != TELEM_OFF) {
		site_table.rows[site->id].asked_value = value;
		site_table.rows[site->id].asked_count++;
	}
	lock_release();
}

bool reporter_is_asked_by(pthread_t thread)
{
	return being_asked && pthread_equal(asking_thread, thread);
}

/* Asks one reporter, and adds the bytes of the heap that it accounts for. Call without the lock, because it runs
 * code of the program. Returns false when telemetry has stopped meanwhile, and this thread was left behind. */
static bool ask(struct reporter *reporter, uint64_t generation, int64_t *heap_bytes, bool *claims_heap)
{
	enum telem_reporter_kind kind;
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
	kind = reporter->kind;
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
		set(&reporter->site, value);
	} else {
		static uint64_t failures;

		set(OWN_SITE(reports_, TELEM_KIND_GAUGE_, TELEM_NONE, 0, "failures"), (int64_t)++failures);
	}
	*claims_heap |= kind == TELEM_REPORT_HEAP;
	*heap_bytes += kind == TELEM_REPORT_HEAP ? reporter->value : 0;
	return true;
}

void reporters_forget(void)
{
	being_asked = NULL;
	for (uint32_t id = 1; id < site_table.count; id++)
		site_table.rows[id].asked_count = 0;
}

bool reporters_ask(uint64_t generation)
{
	struct reporter *first, *reporter;
	int64_t heap_bytes = 0;
	bool has_heap = false;

	report_own();
	lock_take();
	first = reporter_first();
	lock_release();
	for (reporter = first; reporter; reporter = reporter->next)
		if (!ask(reporter, generation, &heap_bytes, &has_heap))
			return false;
	/* A negative value says that reporters account for more bytes than malloc() has given out. */
	if (has_heap)
		set(OWN_SITE(reports_, TELEM_KIND_GAUGE_, TELEM_BYTES, 0, "heap/unclassified"),
		    report_malloc_allocated() - heap_bytes);
	return true;
}
