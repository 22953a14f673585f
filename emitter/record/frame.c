#include "emitter/record/frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/clock.h"
#include "emitter/core/dump_request.h"
#include "emitter/core/error.h"
#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "emitter/record/heap.h"
#include "emitter/record/place.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

struct budget {
	struct telem_budget most;
	uint64_t counter;            /* which of the frame's counters has a limit, if one has */
	telem_budget_fn *function;
	void *arg;
};

/* The frames by name; the table only grows. */
static struct frame {
	char name[LIMIT_NAME_BYTES], over_name[LIMIT_NAME_BYTES + 16];
	struct telem_site span, over;
	uint64_t count;              /* atomic */
	int64_t peak;                /* of the heap since the latest frame of this name ended; atomic */
	uint32_t counter_count;
	uint32_t counters[LIMIT_COUNTERS_A_FRAME];   /* which of the counters that threads carry */
	uint64_t budget_sequence;
	struct budget budget;
} frames[LIMIT_FRAMES];
static uint32_t frame_count;

/* The names of the counters that threads carry, "class.name". */
static char counter_names[LIMIT_FRAME_COUNTERS][2 * LIMIT_NAME_BYTES];

#define WORDS(type) (sizeof(type) / sizeof(uint64_t))

static struct kept { uint64_t sequence; struct frame_record record; } kept[LIMIT_FRAMES_KEPT];
static uint64_t kept_count;          /* atomic */
static uint64_t wake_at = UINT64_MAX;        /* atomic */

/* How many references the program [0] and viewers [1] hold to each WATCH_ thing. Neither can release the other's. */
static int32_t references[2][WATCH_COUNT] = { { [WATCH_RECORDING] = 1, [WATCH_BUDGETS] = 1 } };

/* ---- words that are written while others read ---- */

typedef uint64_t __attribute__((may_alias)) word;

static void words_put(void *to, const void *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		__atomic_store_n((word *)to + i, ((const word *)from)[i], __ATOMIC_RELAXED);
}

/* Copies words, unless their sequence number shows that they were written meanwhile: then it returns false. The
 * number is odd while they are being written. */
static bool words_get(void *to, const void *from, size_t count, const uint64_t *sequence, uint64_t expected)
{
	if (__atomic_load_n(sequence, __ATOMIC_ACQUIRE) != expected || expected & 1)
		return false;
	for (size_t i = 0; i < count; i++)
		((word *)to)[i] = __atomic_load_n((const word *)from + i, __ATOMIC_ACQUIRE);
	return __atomic_load_n(sequence, __ATOMIC_RELAXED) == expected;
}

/* ---- names ---- */

static struct frame *frame_find(const char *name)
{
	uint32_t count = name ? __atomic_load_n(&frame_count, __ATOMIC_ACQUIRE) : 0;

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(frames[i].name, name))
			return &frames[i];
	return NULL;
}

/* Finds a frame by name or makes it; NULL when the name is not valid or there are too many. */
static struct frame *frame_named(const char *name)
{
	struct frame *frame = frame_find(name);

	if (frame || thread_is_inside)
		return frame;
	lock_take();
	frame = frame_find(name);
	if (!frame && (!name || !*name || strlen(name) >= LIMIT_NAME_BYTES || frame_count == LIMIT_FRAMES)) {
		error_set("telem_frame: a name of 1 to %d bytes is wanted, and at most %u of them",
			  LIMIT_NAME_BYTES - 1, LIMIT_FRAMES);
	} else if (!frame) {
		frame = &frames[frame_count];
		snprintf(frame->name, sizeof frame->name, "%s", name);
		snprintf(frame->over_name, sizeof frame->over_name, "%.*s over budget", LIMIT_NAME_BYTES - 16, name);
		frame->span = (struct telem_site){ .kind = TELEM_KIND_SPAN_, .unit = TELEM_NS, .detail = SPAN_IS_FRAME,
						   .cls = &telem_class_frame, .name = frame->name, .file = "" };
		frame->over = (struct telem_site){ .kind = TELEM_KIND_EVENT_, .cls = &telem_class_frame,
						   .name = frame->over_name, .file = "" };
		frame->peak = INT64_MIN;
		__atomic_store_n(&frame_count, frame_count + 1, __ATOMIC_RELEASE);
	}
	lock_release();
	if (frame) {
		place_register_own(&frame->span);
		place_register_own(&frame->over);
	}
	return frame;
}

/* ---- counters ---- */

/* Adds a counter to a frame; returns its place among the frame's, or a negative errno. Call with the lock held. */
static int choose(struct frame *frame, const char *counter)
{
	int site = site_find(counter, SITE_COUNTER), which;

	if (site < 0)
		return -ENOENT;
	for (uint32_t i = 0; i < frame->counter_count; i++)
		if (thread_carried_site(frame->counters[i]) == (uint32_t)site)
			return (int)i;
	which = frame->counter_count < LIMIT_COUNTERS_A_FRAME ? thread_carry((uint32_t)site) : -ENOSPC;
	if (which < 0)
		return which;
	snprintf(counter_names[which], sizeof *counter_names, "%s", counter);
	frame->counters[frame->counter_count] = (uint32_t)which;
	__atomic_store_n(&frame->counter_count, frame->counter_count + 1, __ATOMIC_RELEASE);
	return (int)frame->counter_count - 1;
}

int telem_frame_counter(const char *name, const char *counter)
{
	struct frame *frame = frame_named(name);
	int saved = errno, result;

	if (!frame || !counter)
		return -EINVAL;
	lock_take();
	result = choose(frame, counter);
	lock_release();
	errno = saved;
	return result < 0 ? result : 0;
}

/* ---- budgets ---- */

int telem_budget(const char *name, const struct telem_budget *most, telem_budget_fn *function, void *arg)
{
	struct frame *frame = frame_named(name);
	struct budget budget = { .function = function, .arg = arg };
	int saved = errno, result = 0;

	if (!frame)
		return -EINVAL;
	lock_take();
	if (most) {
		budget.most = *most;
		if (most->dump)
			settings_want_dumps();
		result = most->counter ? choose(frame, most->counter) : 0;
		budget.counter = (uint64_t)(result < 0 ? 0 : result);
	}
	if (result >= 0) {
		uint64_t sequence = frame->budget_sequence;

		__atomic_store_n(&frame->budget_sequence, sequence + 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		words_put(&frame->budget, &budget, WORDS(struct budget));
		__atomic_store_n(&frame->budget_sequence, sequence + 2, __ATOMIC_RELEASE);
	}
	lock_release();
	errno = saved;
	return result < 0 ? result : 0;
}

static uint64_t log_lines(const struct frame_record *record)
{
	uint64_t lines = 0;

	for (uint32_t i = 0; i < SEVERITY_COUNT; i++)
		lines += record->logs[i];
	return lines;
}

static uint64_t what_broke(const struct frame_record *record, const struct budget *budget)
{
	const struct telem_budget *most = &budget->most;

	return (most->ns && record->duration_ns > most->ns ? BROKE_TIME : 0) |
	       (most->heap_bytes && record->heap_peak > (int64_t)most->heap_bytes ? BROKE_HEAP : 0) |
	       (most->logs && log_lines(record) > most->logs ? BROKE_LOGS : 0) |
	       (most->counter && budget->counter < record->counter_count &&
		record->counters[budget->counter] > most->counter_most ? BROKE_COUNTER : 0);
}

static void info_of(const struct frame_record *record, struct telem_frame_info *out)
{
	const struct frame *frame = &frames[record->frame];

	*out = (struct telem_frame_info){
		.name = frame->name, .number = record->number, .time_ns = record->time_ns,
		.duration_ns = record->duration_ns, .heap_bytes = record->heap_bytes, .heap_peak = record->heap_peak,
		.allocations = record->allocations, .broken = (uint32_t)record->broken,
		.counter_count = (uint32_t)record->counter_count,
	};
	memcpy(out->logs, record->logs, sizeof out->logs);
	for (uint32_t i = 0; i < out->counter_count; i++) {
		out->counters[i].name = counter_names[frame->counters[i]];
		out->counters[i].sum = record->counters[i];
	}
}

static void report_broken(struct frame *frame, const struct frame_record *record, const struct budget *budget)
{
	const struct telem_field fields[] = {
		{ "broken", TELEM_FIELD_UINT_, record->broken },
		{ "ns", TELEM_FIELD_UINT_, record->duration_ns },
		{ "heap", TELEM_FIELD_INT_, (uint64_t)record->heap_peak },
		{ "logs", TELEM_FIELD_UINT_, log_lines(record) },
		{ "counter", TELEM_FIELD_UINT_, budget->most.counter ? record->counters[budget->counter] : 0 },
	};
	struct telem_frame_info info;

	if (budget->most.dump)
		dump_request_soon(frame->over_name);
	if (telem_level_(&frame->over))
		telem_event_(&frame->over, fields, sizeof fields / sizeof *fields);
	if (budget->function) {
		info_of(record, &info);
		budget->function(&info, budget->arg);
	}
}

/* ---- a frame's end ---- */

/* Returns the peak of the program's heap since the latest frame of this name ended, and begins a new peak for this name
 * without changing those of other names. */
static int64_t peak_since(struct frame *frame, int64_t now)
{
	int64_t peak = __atomic_exchange_n(&heap.peak, now, __ATOMIC_RELAXED), ours;
	uint32_t count = __atomic_load_n(&frame_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (__atomic_load_n(&frames[i].peak, __ATOMIC_RELAXED) < peak)
			__atomic_store_n(&frames[i].peak, peak, __ATOMIC_RELAXED);
	ours = __atomic_exchange_n(&frame->peak, now, __ATOMIC_RELAXED);
	return ours > now ? ours : now;
}

static void keep(const struct frame_record *record)
{
	uint64_t number = __atomic_fetch_add(&kept_count, 1, __ATOMIC_RELAXED);
	struct kept *place = &kept[number % LIMIT_FRAMES_KEPT];
	uint64_t before = __atomic_load_n(&place->sequence, __ATOMIC_RELAXED);

	/* This frame is not kept when another thread is still writing the frame of LIMIT_FRAMES_KEPT frames ago here,
	 * or has already written a newer one. */
	if (before & 1 || before > 2 * number ||
	    !__atomic_compare_exchange_n(&place->sequence, &before, 2 * number + 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	words_put(&place->record, record, WORDS(struct frame_record));
	__atomic_store_n(&place->sequence, 2 * number + 2, __ATOMIC_RELEASE);
	if (number + 1 == __atomic_load_n(&wake_at, __ATOMIC_RELAXED))
		wake_signal();
}

void frames_wake_at(uint64_t count)
{
	__atomic_store_n(&wake_at, count, __ATOMIC_RELAXED);
}

bool frame_get(uint64_t number, struct frame_record *out)
{
	const struct kept *place = &kept[number % LIMIT_FRAMES_KEPT];

	return words_get(out, &place->record, WORDS(struct frame_record), &place->sequence, 2 * number + 2);
}

static bool is_watched(unsigned what)
{
	return __atomic_load_n(&references[0][what], __ATOMIC_RELAXED) > 0 ||
	       __atomic_load_n(&references[1][what], __ATOMIC_RELAXED) > 0;
}

static void frame_end(struct frame *frame, const struct thread *thread, const struct frame_start *start, uint64_t now)
{
	struct budget budget = { .function = NULL };
	struct frame_record record = {
		.frame = (uint64_t)(frame - frames),
		.task = (uint64_t)thread->stack[thread->depth]->task->id,
		.number = __atomic_add_fetch(&frame->count, 1, __ATOMIC_RELAXED),
		.time_ns = clock_ns(),
		.duration_ns = now > start->ticks ? clock_duration_ns(now - start->ticks) : 0,
		.allocations = telem_thread_.alloc_count - start->alloc_count,
		.counter_count = start->counter_count,
	};
	uint64_t sequence = __atomic_load_n(&frame->budget_sequence, __ATOMIC_RELAXED);

	heap_publish();
	record.heap_bytes = __atomic_load_n(&heap.bytes, __ATOMIC_RELAXED);
	record.heap_peak = peak_since(frame, record.heap_bytes);
	for (uint32_t i = 0; i < SEVERITY_COUNT; i++)
		record.logs[i] = thread->logs[i] - start->logs[i];
	for (uint32_t i = 0; i < record.counter_count; i++)
		record.counters[i] = thread_carried_sum(thread, frame->counters[i]) - start->counters[i];
	/* A budget that is being replaced while it is read is not checked. */
	if (sequence && is_watched(WATCH_BUDGETS) &&
	    words_get(&budget, &frame->budget, WORDS(struct budget), &frame->budget_sequence, sequence)) {
		record.broken = what_broke(&record, &budget);
		record.budget_ns = budget.most.ns;
	}
	if (is_watched(WATCH_RECORDING) || is_watched(WATCH_INSPECTION))
		keep(&record);
	telem_duration_(&frame->span, start->ticks);
	if (record.broken)
		report_broken(frame, &record, &budget);
}

static void turn(const char *name, bool ends)
{
	struct frame *frame;
	struct thread *thread;
	struct frame_start *start, before;
	int saved = errno;

	if (!settings_is_running() || thread_is_inside)
		return;
	fork_restart();
	frame = frame_named(name);
	thread = frame ? thread_self() : NULL;
	errno = saved;
	if (!thread)
		return;
	start = &thread->frames[frame - frames];
	before = *start;
	/* Callbacks at the end of this frame may end other frames, also of this name. So this one ends first. */
	start->ticks = 0;
	if (ends && before.ticks && before.run == settings.runs)
		frame_end(frame, thread, &before, telem_stamp());
	start->alloc_count = telem_thread_.alloc_count;
	memcpy(start->logs, thread->logs, sizeof start->logs);
	start->counter_count = __atomic_load_n(&frame->counter_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < start->counter_count; i++)
		start->counters[i] = thread_carried_sum(thread, frame->counters[i]);
	start->run = settings.runs;
	start->ticks = telem_stamp();
}

void telem_frame(const char *name) { turn(name, true); }
void telem_frame_begin(const char *name) { turn(name, false); }

uint32_t telem_frames(const char *name, struct telem_frame_info *out, uint32_t room)
{
	const struct frame *frame = frame_find(name);
	uint64_t at = __atomic_load_n(&kept_count, __ATOMIC_ACQUIRE);
	uint64_t least = at < LIMIT_FRAMES_KEPT ? 0 : at - LIMIT_FRAMES_KEPT;
	uint32_t count = 0;
	struct frame_record record;

	while (frame && count < room && at-- > least)
		if (frame_get(at, &record) && record.frame == (uint64_t)(frame - frames))
			info_of(&record, &out[count++]);
	return count;
}

/* ---- who inspects ---- */

void frames_watch(bool by_viewer, unsigned what, bool on)
{
	int32_t *count = &references[by_viewer][what], before = __atomic_load_n(count, __ATOMIC_RELAXED);

	while ((on || before > 0) &&
	       !__atomic_compare_exchange_n(count, &before, before + (on ? 1 : -1), true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	if (on && what == WATCH_INSPECTION)
		wake_signal();
}

void telem_watch(enum telem_watch what, bool on)
{
	if (what <= TELEM_BUDGETS)
		frames_watch(false, what, on);
}

bool frames_are_inspected(void)
{
	return is_watched(WATCH_INSPECTION) && __atomic_load_n(&frame_count, __ATOMIC_RELAXED) > 0;
}

uint64_t frames_kept(void)
{
	return __atomic_load_n(&kept_count, __ATOMIC_ACQUIRE);
}

uint32_t frame_site(const struct frame_record *record)
{
	return frames[record->frame].span.id;
}

uint32_t frame_counter_site(const struct frame_record *record, uint32_t which)
{
	return thread_carried_site(frames[record->frame].counters[which]);
}

void frames_forget(void)
{
	for (uint32_t i = 0; i < frame_count; i++) {
		frames[i].count = 0;
		frames[i].peak = INT64_MIN;
	}
	memset(kept, 0, sizeof kept);
	kept_count = 0;
	heap.bytes = heap.peak = 0;
}
