/* report.c -- values the program is asked for: each tick, by the flusher, while somebody
 * looks. Each is a gauge of class report, under its path. */
#include "emitter/deliver/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/emitter.h"

/* Not exported: a program may have one of that name, and then it is the same. */
static struct telem_class telem_class_reports_ = { "report", "values the program is asked for", TELEM_SUM, 0,
						   { 0, 0, 0, 0, 0, 0 } };

/* The list only grows, and is changed under the emitter's lock; a removed one is free for
 * another of its path. */
struct reporter {
	struct reporter *next;
	char path[LIMIT_NAME_BYTES];
	enum telem_reporter_kind kind;
	telem_reporter_fn *function; /* NULL: removed */
	telem_provider_fn *provide;  /* of a provider, which has no value of its own */
	void *arg;
	int64_t value;               /* the latest that did not fail */
	int64_t said;                /* of one that is not asked but says: see report_say() */
	struct telem_site site;
};

static struct reporter *reporters;
static uint32_t reporter_count;
static const struct reporter *being_asked;   /* atomic */
static pthread_t asking_thread;

static struct reporter *find(const char *path)
{
	struct reporter *reporter = reporters;

	while (reporter && strcmp(reporter->path, path))
		reporter = reporter->next;
	return reporter;
}

static int add(struct telem_class *cls, const char *path, enum telem_reporter_kind kind, enum telem_unit unit,
	       telem_reporter_fn *function, void *arg)
{
	struct reporter *reporter = find(path);

	if (reporter && reporter->function)
		return -EEXIST;
	/* In another unit it is another gauge. */
	if (reporter && reporter->site.unit != unit)
		reporter = NULL;
	if (!reporter) {
		if (reporter_count == LIMIT_REPORTERS)
			return -ENOSPC;
		reporter = emitter_keep(sizeof *reporter);
		if (!reporter)
			return -ENOMEM;
		snprintf(reporter->path, sizeof reporter->path, "%s", path);
		reporter->site = (struct telem_site){ .kind = TELEM_KIND_GAUGE_, .unit = (uint8_t)unit, .cls = cls,
						      .name = reporter->path, .file = "" };
		reporter->next = reporters;
		reporters = reporter;
		reporter_count++;
	}
	reporter->kind = kind;
	reporter->arg = arg;
	reporter->function = function;
	return 0;
}

int telem_reporter(const char *path, enum telem_reporter_kind kind, enum telem_unit unit, telem_reporter_fn *function,
		   void *arg)
{
	int saved = errno, result;
	struct reporter *reporter;

	if (!path || !*path || strlen(path) >= LIMIT_NAME_BYTES || !function || kind > TELEM_REPORT_HEAP ||
	    unit > TELEM_BYTES)
		return -EINVAL;
	emitter_restart_in_child();
	emitter_lock();
	result = add(&telem_class_reports_, path, kind, unit, function, arg);
	reporter = find(path);
	emitter_unlock();
	if (result == 0)
		site_register_own(&reporter->site);
	errno = saved;
	return result;
}

/* In place of a provider's function, which is called with what it really is. */
static int provided(void *arg, int64_t *value)
{
	const struct reporter *reporter = arg;

	*value = 0;
	reporter->provide(reporter->arg);
	return 0;
}

int telem_provider(const char *name, telem_provider_fn *function, void *arg)
{
	int saved = errno, result;

	if (!name || !*name || strlen(name) >= LIMIT_NAME_BYTES || !function)
		return -EINVAL;
	emitter_restart_in_child();
	emitter_lock();
	result = add(&telem_class_reports_, name, TELEM_REPORT_OTHER, TELEM_NONE, provided, arg);
	if (result == 0)
		find(name)->provide = function;
	emitter_unlock();
	errno = saved;
	return result;
}

static int repeat(void *arg, int64_t *value)
{
	*value = *(const int64_t *)arg;
	return 0;
}

void report_say(struct telem_class *cls, const char *path, enum telem_unit unit, int64_t value)
{
	struct reporter *reporter;

	emitter_lock();
	if (!find(path))
		add(cls ? cls : &telem_class_reports_, path, TELEM_REPORT_OTHER, unit, repeat, NULL);
	reporter = find(path);
	/* One of the program's own keeps its path. */
	if (reporter && reporter->function == repeat) {
		reporter->arg = &reporter->said;
		reporter->said = value;
	}
	emitter_unlock();
	if (reporter)
		site_register_own(&reporter->site);
}

int telem_reporter_remove(const char *path)
{
	int saved = errno;
	struct reporter *reporter;
	bool was_there;

	emitter_restart_in_child();
	emitter_lock();
	reporter = path ? find(path) : NULL;
	was_there = reporter && reporter->function;
	if (was_there)
		reporter->function = NULL;
	/* Until it is not being asked any more, but by itself. */
	while (was_there && __atomic_load_n(&being_asked, __ATOMIC_ACQUIRE) == reporter &&
	       !pthread_equal(asking_thread, pthread_self()))
		emitter_rest();
	emitter_unlock();
	errno = saved;
	return was_there ? 0 : -ENOENT;
}

static void set(const struct telem_site *site, int64_t value)
{
	emitter_lock();
	if (site->id && telem_level_(site) != TELEM_OFF) {
		emitter.sites[site->id].asked_value = value;
		emitter.sites[site->id].asked_count++;
	}
	emitter_unlock();
}

bool reporter_is_asked_by(pthread_t thread)
{
	return being_asked && pthread_equal(asking_thread, thread);
}

/* Adds the bytes of the heap it claims. Unlocked: it is the program's code. False: the program
 * has stopped meanwhile, and this thread was left behind. */
static bool ask(struct reporter *reporter, uint64_t generation, int64_t *heap_bytes, bool *claims_heap)
{
	enum telem_reporter_kind kind;
	telem_reporter_fn *function;
	void *arg;
	int64_t value = 0;
	bool is_good, is_left;

	emitter_lock();
	function = reporter->function;
	arg = function == provided ? reporter : reporter->arg;
	/* A provider has no site of its own: its places have levels. */
	if (function != provided && telem_level_(&reporter->site) == TELEM_OFF)
		function = NULL;
	kind = reporter->kind;
	is_left = flusher_is_left(generation);
	if (function && !is_left) {
		asking_thread = pthread_self();
		__atomic_store_n(&being_asked, reporter, __ATOMIC_RELEASE);
	}
	emitter_unlock();
	if (is_left || !function)
		return !is_left;
	is_good = function(arg, &value) == 0;
	emitter_lock();
	is_left = flusher_is_left(generation);
	if (pthread_equal(asking_thread, pthread_self()))       /* not one that came after us */
		__atomic_store_n(&being_asked, NULL, __ATOMIC_RELEASE);
	emitter_unlock();
	if (is_left)
		return false;
	if (function == provided)
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
	for (uint32_t id = 1; id < emitter.site_count; id++)
		emitter.sites[id].asked_count = 0;
}

bool reporters_ask(uint64_t generation)
{
	struct reporter *first, *reporter;
	int64_t heap_bytes = 0;
	bool has_heap = false;

	report_own();
	emitter_lock();
	first = reporters;
	emitter_unlock();
	for (reporter = first; reporter; reporter = reporter->next)
		if (!ask(reporter, generation, &heap_bytes, &has_heap))
			return false;
	/* Below 0: they claim more than there is. */
	if (has_heap)
		set(OWN_SITE(reports_, TELEM_KIND_GAUGE_, TELEM_BYTES, 0, "heap/unclassified"),
		    report_malloc_allocated() - heap_bytes);
	return true;
}
