/* shard.c -- sums: one shard of cells for each thread and task, and the threads that have them.
 *
 * A shard is written by its thread alone. What a thread or task leaves when it ends is
 * folded into another shard, so that totals never go backwards. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emitter/core/emitter.h"
#include "emitter/record/handler.h"
#include "emitter/record/ring.h"
#include "emitter/deliver/snapshot.h"

__thread struct telem_thread_ telem_thread_ __attribute__((tls_model("initial-exec")));

__thread struct thread *my_thread __attribute__((tls_model("initial-exec")));
__thread int thread_is_inside __attribute__((tls_model("initial-exec")));
static __thread int cancel_state __attribute__((tls_model("initial-exec")));     /* before the lock */
/* The thread's destructor has run: what comes later goes to the shared shard. */
static __thread bool is_over __attribute__((tls_model("initial-exec")));

static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static bool has_exit_key;
/* This thread was beyond the limits so many events ago: it asks again now and then. */
static __thread uint32_t refused_count __attribute__((tls_model("initial-exec")));
#define EVENTS_REFUSED 1024u

static struct shard *free_shards;
static uint64_t *free_histograms;    /* linked through their first word */
static uint32_t next_shard_id = 1;

void emitter_lock(void)
{
	int before;

	thread_is_inside++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* A thread that is cancelled while it waits in here would keep the lock for ever. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_mutex_lock(&emitter.lock);
	cancel_state = before;
}

void emitter_unlock(void)
{
	int before = cancel_state;

	pthread_mutex_unlock(&emitter.lock);
	pthread_setcancelstate(before, NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_is_inside--;
}

void emitter_rest(void)
{
	emitter_unlock();
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 50000 }, NULL);
	emitter_lock();
}

/* ---- histograms ---- */

/* Whole cache lines: the words behind the buckets are one. */
#define HISTOGRAM_WORDS (HISTOGRAM_BUCKETS + 8)
#define HISTOGRAM_BYTES (HISTOGRAM_WORDS * sizeof(uint64_t))
#define HISTOGRAMS_A_STEP 16u

uint64_t *histogram_take(void)
{
	uint64_t *taken;

	if (!free_histograms) {
		uint64_t *step = emitter.histogram_count + HISTOGRAMS_A_STEP <= LIMIT_HISTOGRAMS
					 ? emitter_map(HISTOGRAM_BYTES * HISTOGRAMS_A_STEP) : NULL;

		if (!step) {
			__atomic_store_n(&emitter.no_histogram, true, __ATOMIC_RELAXED);
			return NULL;
		}
		emitter.histogram_count += HISTOGRAMS_A_STEP;
		for (uint32_t i = 0; i < HISTOGRAMS_A_STEP; i++) {
			uint64_t *one = step + (size_t)i * HISTOGRAM_WORDS;

			*(uint64_t **)(void *)one = free_histograms;
			free_histograms = one;
		}
	}
	taken = free_histograms;
	free_histograms = *(uint64_t **)(void *)taken;
	*(uint64_t **)(void *)taken = NULL;
	return taken;
}

void histogram_give(uint64_t *histogram)
{
	memset(histogram, 0, HISTOGRAM_BYTES);
	*(uint64_t **)(void *)histogram = free_histograms;
	free_histograms = histogram;
	__atomic_store_n(&emitter.no_histogram, false, __ATOMIC_RELAXED);
}

void histogram_add(uint64_t into[HISTOGRAM_BUCKETS], const uint64_t *buckets)
{
	uint64_t late;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		into[i] += __atomic_load_n(&buckets[i], __ATOMIC_RELAXED);
	late = __atomic_load_n(&buckets[HISTOGRAM_BUCKETS], __ATOMIC_RELAXED);
	if (late != 0 && late != HISTOGRAM_BUSY)
		into[late - 1]++;
}

/* ---- a shard's life ---- */

static struct shard *shard_take(uint32_t cell_count)
{
	struct shard **link = &free_shards, *shard;
	size_t bytes;

	for (; (shard = *link); link = &shard->next)
		if (shard->cell_count >= cell_count) {
			*link = shard->next;
			return shard;
		}
	/* None is large enough: more sites have come since. One that is too small makes way. */
	if ((shard = free_shards)) {
		free_shards = shard->next;
		emitter_unmap(shard, shard->mapped_bytes);
		emitter.shard_count--;
	}
	if (emitter.shard_count >= LIMIT_SHARDS)
		return NULL;
	bytes = (sizeof *shard + 64 + cell_count * CELL_BYTES + 4095) & ~(size_t)4095;
	shard = emitter_map(bytes);
	if (!shard)
		return NULL;
	emitter.shard_count++;
	shard->mapped_bytes = bytes;
	shard->id = next_shard_id++;
	shard->cells = (struct telem_cell *)(void *)((uint8_t *)shard + ((sizeof *shard + 63) & ~(size_t)63));
	shard->cell_count = (uint32_t)((bytes - (size_t)((uint8_t *)shard->cells - (uint8_t *)shard)) / CELL_BYTES);
	shard->told = (uint64_t *)(void *)(shard->cells + shard->cell_count);
	return shard;
}

/* Room for what is registered now and for some more. */
static uint32_t cells_wanted(void)
{
	uint32_t wanted = emitter.site_count + emitter.site_count / 4 + 16;

	return wanted < LIMIT_EMITTER_SITES ? wanted : LIMIT_EMITTER_SITES;
}

struct shard *shard_for(struct thread *thread, struct task *task)
{
	struct shard *shard, **link = &thread->shards;

	/* What this thread no longer works for is its to give back. */
	while ((shard = *link)) {
		bool is_entered = false;

		for (uint32_t i = 0; i <= thread->depth; i++)
			is_entered |= thread->stack[i] == shard;
		if (shard->task->has_ended && !is_entered)
			shard_leave(thread, shard);
		else
			link = &shard->next;
	}
	shard = shard_take(cells_wanted());
	if (shard) {
		shard->task = task;
		shard->next_of_task = task->shards;
		task->shards = shard;
		shard->next = thread->shards;
		thread->shards = shard;
	}
	return shard;
}

void shard_enter(struct shard *shard)
{
	telem_thread_.cell_count = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	telem_thread_.cells = shard->cells;
	telem_thread_.shard = shard->id;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	telem_thread_.cell_count = shard->cell_count;
}

static void cell_fold(struct telem_cell *into, struct telem_cell *from, const struct site_entry *site, bool owns_gauge)
{
	uint64_t count = cell_count(from, site->kind);

	if (count == 0 && from->min == 0 && from->max == 0 && from->streamed_frees == 0)
		return;
	if (site_kind_is_timed(site->kind)) {
		if (count && (cell_count(into, site->kind) == 0 || from->min < into->min))
			into->min = from->min;
		if (from->max > into->max)
			into->max = from->max;
		into->sum += from->sum;
	} else if (site->kind == SITE_GAUGE && site->detail == 0) {
		if (owns_gauge)
			into->sum = from->sum;
	} else {
		into->sum += from->sum;
		into->min += from->min + from->streamed_frees;
		into->max += from->max;
	}
	into->count += count;
	if (from->buckets) {
		if (!into->buckets)
			into->buckets = histogram_take();
		if (into->buckets)
			histogram_add(into->buckets, from->buckets);
		histogram_give(from->buckets);
	}
	memset(from, 0, sizeof *from);
}

/* All of a shard that no thread writes any more into another one. */
static void shard_fold(struct shard *into, struct shard *shard)
{
	struct task *task = shard->task;
	struct shard **link;

	for (uint32_t i = 1; i < emitter.site_count && i < shard->cell_count; i++) {
		struct site_entry *site = &emitter.sites[i];
		uint32_t owner = shard->id;

		/* The books stay the task's until it leaves, too: its events may be on their way. */
		task->emitted[site->class_id] += shard->cells[i].streamed +
						 cell_streamed_frees(&shard->cells[i], site->kind);
		task->dropped[site->class_id] += shard->cells[i].dropped;
		task->cost_ps[site->class_id] += streaming_cost_ps(&shard->cells[i], site->kind);
		cell_fold(&into->cells[i], &shard->cells[i], site,
			  __atomic_load_n(&site->owner, __ATOMIC_RELAXED) == shard->id);
		shard->told[i] = 0;
		__atomic_compare_exchange_n(&site->owner, &owner, into->id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
	for (link = &task->shards; *link != shard; link = &(*link)->next_of_task)
		;
	*link = shard->next_of_task;
	shard->task = NULL;
	shard->next = free_shards;
	free_shards = shard;
}

void shard_leave_orphan(struct task *task)
{
	if (task->orphan) {
		emitter.ended_task.is_used = true;
		shard_fold(&emitter.ended, task->orphan);
		task->orphan = NULL;
	}
}

void shard_leave(struct thread *thread, struct shard *shard)
{
	struct task *task = shard->task;
	struct shard **link;

	frames_shard_leaves(thread, shard);
	for (link = &thread->shards; *link != shard; link = &(*link)->next)
		;
	*link = shard->next;
	if (task->has_ended) {
		emitter.ended_task.is_used = true;
		shard_fold(&emitter.ended, shard);
	} else if (!task->orphan) {
		task->orphan = shard;
	} else if (task->orphan->cell_count < shard->cell_count) {
		shard_fold(shard, task->orphan);
		task->orphan = shard;
	} else {
		shard_fold(task->orphan, shard);
	}
	task_left(task);
}

/* ---- a thread's life ---- */

static void thread_exit(void *arg)
{
	struct thread *thread = arg;

	heap_tell();
	is_over = true;
	my_thread = NULL;
	telem_thread_ = (struct telem_thread_){ 0 };
	emitter_lock();
	__atomic_store_n(&thread->stack[0]->task->has_ended, true, __ATOMIC_RELAXED);
	thread->depth = 0;
	while (thread->shards)
		shard_leave(thread, thread->shards);
	handlers_leave(thread);
	thread->has_ended = true;        /* the flusher empties the ring, then frees it */
	emitter.ended_count++;
	emitter_unlock();
	flusher_thread_ended();
}

static void make_exit_key(void)
{
	has_exit_key = pthread_key_create(&exit_key, thread_exit) == 0;
}

/* This code may be unloaded now; no thread's end must come here any more. */
__attribute__((destructor)) static void delete_exit_key(void)
{
	if (has_exit_key)
		pthread_key_delete(exit_key);
	has_exit_key = false;
}

static struct thread *thread_take(void)
{
	struct thread *thread;

	for (thread = emitter.threads; thread; thread = thread->next)
		if (thread->is_free)
			return thread;
	thread = emitter_map(sizeof *thread);
	if (thread) {
		thread->is_free = true;
		thread->next = emitter.threads;
		/* The flusher walks the list under the lock. */
		emitter.threads = thread;
	}
	return thread;
}

static struct thread *attach(void)
{
	char name[32] = "";
	struct thread *thread;
	struct task *task;
	struct shard *shard;

	pthread_once(&exit_key_once, make_exit_key);
	if (!has_exit_key)
		return NULL;
	prctl(PR_GET_NAME, name);
	emitter_lock();
	thread = thread_take();
	task = thread ? task_make(name, (pid_t)syscall(SYS_gettid)) : NULL;
	if (task) {
		thread->is_free = thread->has_ended = false;
		thread->depth = 0;
		memset(thread->frames, 0, sizeof thread->frames);
		emitter.thread_count++;
	}
	shard = task ? shard_for(thread, task) : NULL;
	emitter_unlock();
	if (!task)
		return NULL;
	if (!shard || pthread_setspecific(exit_key, thread) != 0) {
		emitter_lock();
		task->has_ended = true;
		if (shard)
			shard_leave(thread, shard);
		else
			task_left(task);
		thread->is_free = true;
		emitter.thread_count--;
		emitter_unlock();
		return NULL;
	}
	thread->stack[0] = shard;
	if (thread->ring)
		ring_task(thread->ring, task->id);
	return thread;
}

struct thread *thread_self(void)
{
	if (!my_thread && !is_over && !thread_is_inside && emitter_runs() && refused_count++ % EVENTS_REFUSED == 0) {
		thread_is_inside++;
		my_thread = attach();
		if (my_thread) {
			telem_thread_.ring = my_thread->ring;
			telem_thread_.unsampled = sample_distance();
			shard_enter(my_thread->stack[0]);
			refused_count = 0;
		}
		thread_is_inside--;
	}
	return my_thread;
}

void thread_forget(void)
{
	my_thread = NULL;
	thread_is_inside = 0;
	refused_count = 0;
	telem_thread_ = (struct telem_thread_){ 0 };
	if (has_exit_key)
		pthread_setspecific(exit_key, NULL);
}

/* Only what was used: the pages are the parent's as long as nobody writes to them. */
static void shard_clear(struct shard *shard)
{
	uint32_t count = shard->cell_count < emitter.site_count ? shard->cell_count : emitter.site_count;

	for (uint32_t i = 0; i < count; i++)
		if (shard->cells[i].buckets)
			histogram_give(shard->cells[i].buckets);
	memset(shard->cells, 0, count * sizeof *shard->cells);
	memset(shard->told, 0, count * sizeof *shard->told);
}

static void shard_forget(struct shard *shard)
{
	shard_clear(shard);
	shard->next = free_shards;
	free_shards = shard;
}

void shards_forget(void)
{
	struct thread *thread;
	struct task *task;
	struct shard *shard, *next;

	for (thread = emitter.threads; thread; thread = thread->next) {
		for (shard = thread->shards; shard; shard = next) {
			next = shard->next;
			shard_forget(shard);
		}
		thread->shards = NULL;
		handlers_leave(thread);
		thread->is_free = true;
		thread->has_ended = false;
		if (thread->ring) {
			ring_reset(thread->ring);
			thread->ring->first = thread->ring->head;
		}
	}
	for (task = emitter.tasks; task; task = task->next)
		if (task->orphan)
			shard_forget(task->orphan);
	shard_clear(&emitter.ended);
	shard_clear(&emitter.shared);
	emitter.thread_count = emitter.ended_count = 0;
}
