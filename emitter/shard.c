/* shard.c -- sums: one shard of cells for each thread and task, and what records into them.
 *
 * The straight case is inline in telem.h: this thread has a cell of the site. Here are
 * the first times, the distributions, the stream, and the shared shard of threads beyond
 * the limits, whose cells are added to with locked instructions. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emitter/emitter.h"
#include "emitter/ring.h"

__thread struct telem_thread_ telem_thread_ __attribute__((tls_model("initial-exec")));

/* This thread's state, and whether it is inside a slow path: a signal handler that comes
 * then must not wait for a lock its own thread holds. */
static __thread struct thread *self __attribute__((tls_model("initial-exec")));
static __thread int is_inside __attribute__((tls_model("initial-exec")));
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

	is_inside++;
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
	is_inside--;
}

/* ---- histograms ---- */

/* Whole cache lines: the words behind the buckets are one. */
#define HISTOGRAM_WORDS (HISTOGRAM_BUCKETS + 8)
#define HISTOGRAM_BYTES (HISTOGRAM_WORDS * sizeof(uint64_t))
#define HISTOGRAMS_A_STEP 16u
/* In place of a late bucket: it is being written. */
#define HISTOGRAM_BUSY UINT64_MAX

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

static void histogram_give(uint64_t *histogram)
{
	memset(histogram, 0, HISTOGRAM_BYTES);
	*(uint64_t **)(void *)histogram = free_histograms;
	free_histograms = histogram;
	__atomic_store_n(&emitter.no_histogram, false, __ATOMIC_RELAXED);
}

/* Counts value one event late. The address of its bucket hangs on a stamp just read, and
 * an access there would hold up the next stamp: a third of what a span costs. */
static inline __attribute__((always_inline)) void histogram_put(uint64_t *buckets, uint64_t value)
{
	uint64_t *late = &buckets[HISTOGRAM_BUCKETS], index = histogram_index(value);
	uint64_t before = __atomic_load_n(late, __ATOMIC_RELAXED);

	if (__builtin_expect(before == HISTOGRAM_BUSY, 0)) {    /* a signal handler in between */
		telem_add_(&buckets[index], 1);
		return;
	}
	__atomic_store_n(late, HISTOGRAM_BUSY, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(before != 0, 1))
		telem_add_(&buckets[before - 1], 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(late, index + 1, __ATOMIC_RELAXED);
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
	uint64_t count = cell_count(from);

	if (count == 0 && from->min == 0 && from->max == 0 && from->streamed_frees == 0)
		return;
	if (site_kind_is_timed(site->kind)) {
		if (count && (cell_count(into) == 0 || from->min < into->min))
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
		task->emitted[site->class_id] += shard->cells[i].streamed + shard->cells[i].streamed_frees;
		task->dropped[site->class_id] += shard->cells[i].dropped;
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

	is_over = true;
	self = NULL;
	telem_thread_ = (struct telem_thread_){ 0 };
	emitter_lock();
	__atomic_store_n(&thread->stack[0]->task->has_ended, true, __ATOMIC_RELAXED);
	thread->depth = 0;
	while (thread->shards)
		shard_leave(thread, thread->shards);
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
	if (!self && !is_over && !is_inside && emitter_runs() && refused_count++ % EVENTS_REFUSED == 0) {
		is_inside++;
		self = attach();
		if (self) {
			telem_thread_.ring = self->ring;
			shard_enter(self->stack[0]);
			refused_count = 0;
		}
		is_inside--;
	}
	return self;
}

void thread_forget(void)
{
	self = NULL;
	is_inside = 0;
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
		thread->is_free = true;
		thread->has_ended = false;
		if (thread->ring)
			ring_reset(thread->ring);
	}
	for (task = emitter.tasks; task; task = task->next)
		if (task->orphan)
			shard_forget(task->orphan);
	shard_clear(&emitter.ended);
	shard_clear(&emitter.shared);
	emitter.thread_count = emitter.ended_count = 0;
}

/* ---- recording, out of line ---- */

/* This thread's cell, with all that has to be made first; NULL: the shared one, if any. */
static struct telem_cell *cell_make(struct telem_site *site)
{
	struct telem_cell *cell;
	struct thread *thread;
	struct shard *shard;
	int saved = errno;

	if (!is_inside)
		emitter_restart_in_child();
	thread = thread_self();
	if (thread && !is_inside && site->id && !telem_cell_(site)) {
		/* More sites than when the shard was made: a larger one, the old one stays as it is. */
		is_inside++;
		emitter_lock();
		shard = shard_for(thread, thread->stack[thread->depth]->task);
		emitter_unlock();
		if (shard && shard->cell_count > site->id) {
			thread->stack[thread->depth] = shard;
			shard_enter(shard);
		}
		is_inside--;
	}
	cell = telem_cell_(site);
	errno = saved;
	return cell;
}

/* For threads without a cell, and signal handlers that interrupt a slow path: where several
 * may add at once. NULL: telemetry is not running. */
static struct telem_cell *cell_shared(const struct telem_site *site)
{
	if (!emitter_runs() || site->id == 0 || site->id >= LIMIT_EMITTER_SITES)
		return NULL;
	__atomic_store_n(&emitter.shared_task.is_used, true, __ATOMIC_RELAXED);
	return &emitter.shared.cells[site->id];
}

static void shared_add(struct telem_site *site, uint64_t count, uint64_t sum, uint64_t frees, uint64_t freed_bytes)
{
	struct telem_cell *cell = cell_shared(site);

	if (!cell)
		return;
	__atomic_fetch_add(&cell->sum, sum, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->max, freed_bytes, __ATOMIC_RELAXED);
	if (telem_level_(site) == TELEM_ALL) {       /* no ring is shared: counted as lost */
		__atomic_fetch_add(&cell->streamed, count, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->streamed_frees, frees, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->dropped, count + frees, __ATOMIC_RELAXED);
	} else {
		__atomic_fetch_add(&cell->count, count, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->min, frees, __ATOMIC_RELAXED);
	}
}

void telem_add_slow_(struct telem_site *site, uint64_t n)
{
	if (cell_make(site))
		telem_count_(site, telem_level_(site), n);
	else
		shared_add(site, 1, n, 0, 0);
}

void telem_gauge_slow_(struct telem_site *site, int64_t n, bool add)
{
	if (cell_make(site)) {
		if (add)
			telem_gauge_add_(site, telem_level_(site), n);
		else
			telem_gauge_set_(site, telem_level_(site), n);
	} else if (add) {
		shared_add(site, 1, (uint64_t)n, 0, 0);
	} else {
		struct telem_cell *cell = cell_shared(site);

		if (cell) {
			__atomic_store_n(&cell->sum, (uint64_t)n, __ATOMIC_RELAXED);
			__atomic_store_n(site->owner, emitter.shared.id, __ATOMIC_RELAXED);
			shared_add(site, 1, 0, 0, 0);
		}
	}
}

void telem_alloc_slow_(struct telem_site *site, uint64_t bytes, bool is_free)
{
	if (!cell_make(site))
		shared_add(site, !is_free, is_free ? 0 : bytes, is_free, is_free ? bytes : 0);
	else if (is_free)
		telem_free_(site, telem_level_(site), bytes);
	else
		telem_alloc_(site, telem_level_(site), bytes);
}

/* The ring, at this thread's first event at level all; NULL when there is none to have. */
static struct ring *ring_make(void)
{
	int saved = errno;
	struct ring *ring = NULL;

	if (self && !is_inside) {
		is_inside++;
		emitter_lock();
		ring = self->ring;
		if (!ring && emitter.ring_count < LIMIT_RINGS) {
			ring = ring_new(__atomic_load_n(&emitter.ring_bytes, __ATOMIC_RELAXED));
			emitter.ring_count += ring != NULL;
			if (ring) {
				ring->task = self->stack[self->depth]->task->id;
				self->ring = ring;
			}
		}
		emitter_unlock();
		telem_thread_.ring = ring;
		is_inside--;
	}
	errno = saved;
	return ring;
}

/* The straight cases below make no call, so that they save no registers, nor does a full
 * ring; all others end here. */
static __attribute__((noinline)) void stream_rest(const struct telem_site *site, struct telem_cell *cell, uint64_t value,
						  uint64_t ticks)
{
	struct ring *ring = telem_thread_.ring;

	if (!ring)
		ring = ring_make();
	if (!ring || !ring_put_slow(ring, site->id, ticks, value, NULL))
		telem_add_(&cell->dropped, 1);
}

static __attribute__((noinline)) void stream_slow(const struct telem_site *site, struct telem_cell *cell, uint64_t value,
						  uint64_t ticks)
{
	const struct ring *ring = telem_thread_.ring;

	if (ring && ring_is_full(ring) && __atomic_load_n(&emitter.policy, __ATOMIC_RELAXED) == TELEM_DROP)
		telem_add_(&cell->dropped, 1);
	else
		stream_rest(site, cell, value, ticks);
}

/* ticks 0 is a stamp not to be had: the slow path asks for it again. */
static inline __attribute__((always_inline)) void stream(const struct telem_site *site, struct telem_cell *cell,
							 uint64_t value, uint64_t ticks)
{
	struct ring *ring = telem_thread_.ring;
	uint64_t head, limit;

	if (__builtin_expect(ring && ticks && ring_claim(ring, &head, &limit), 1))
		ring_commit(ring, head, limit, ticks << 16 | site->id, value);
	else
		stream_slow(site, cell, value, ticks);
}

void telem_stream_(struct telem_site *site, struct telem_cell *cell, uint64_t value)
{
#ifdef __x86_64__
	struct ring *ring = telem_thread_.ring;
	uint64_t head, limit;

	/* Claimed first: a full ring is found out in less time than a stamp takes. */
	telem_add_(&cell->streamed, 1);
	if (__builtin_expect(ring && __atomic_load_n(&telem_clock_is_tsc_, __ATOMIC_RELAXED) &&
			     ring_claim(ring, &head, &limit), 1))
		ring_commit(ring, head, limit, __builtin_ia32_rdtsc() << 16 | site->id, value);
	else
		stream_slow(site, cell, value, 0);
#else
	telem_add_(&cell->streamed, 1);
	stream(site, cell, value, telem_stamp());
#endif
}

void telem_stream_coarse_(struct telem_site *site, struct telem_cell *cell, uint64_t value)
{
	telem_add_(&cell->streamed, 1);
	/* 0, nobody listens: an exact one then. */
	stream(site, cell, value, __atomic_load_n(&emitter.coarse_ticks, __ATOMIC_RELAXED));
}

void telem_stream_free_(struct telem_site *site, struct telem_cell *cell, uint64_t bytes)
{
	telem_add_(&cell->streamed_frees, 1);
	stream(site, cell, (uint64_t)0 - bytes, __atomic_load_n(&emitter.coarse_ticks, __ATOMIC_RELAXED));
}

static void stream_payload(struct telem_site *site, struct telem_cell *cell, const void *payload, uint32_t bytes)
{
	struct ring *ring = telem_thread_.ring;

	telem_add_(&cell->streamed, 1);
	if (!ring)
		ring = ring_make();
	if (!ring || !ring_put_payload(ring, site->id, 0, payload, bytes))
		telem_add_(&cell->dropped, 1);
}

void telem_mark_slow_(struct telem_site *site, uint64_t key)
{
	if (cell_make(site))
		telem_mark_(site, telem_level_(site), key);
	else
		shared_add(site, 1, 0, 0, 0);
}

static __attribute__((noinline)) void histogram_first(struct telem_cell *cell)
{
	int saved = errno;

	if (!is_inside) {
		is_inside++;
		emitter_lock();
		/* Released: the flusher that sees it sees zeroes behind it. */
		__atomic_store_n(&cell->buckets, histogram_take(), __ATOMIC_RELEASE);
		emitter_unlock();
		is_inside--;
	}
	errno = saved;
}

static inline __attribute__((always_inline)) void count_value(const struct telem_site *site, struct telem_cell *cell,
							      uint64_t value, uint64_t ticks)
{
	telem_add_(&cell->sum, value);
	if (__builtin_expect(cell->buckets != NULL, 1))
		histogram_put(cell->buckets, value);
	if (telem_level_(site) == TELEM_ALL) {
		telem_add_(&cell->streamed, 1);
		stream(site, cell, value, ticks);
	} else {
		telem_add_(&cell->count, 1);
	}
}

static __attribute__((noinline)) void distribute_slow(struct telem_site *site, uint64_t value, uint64_t ticks)
{
	struct telem_cell *cell = telem_cell_(site);

	if (!cell)
		cell = cell_make(site);
	if (!cell) {
		shared_add(site, 1, value, 0, 0);
		return;
	}
	if (!cell->buckets && !__atomic_load_n(&emitter.no_histogram, __ATOMIC_RELAXED))
		histogram_first(cell);
	if (value < cell->min || cell_count(cell) == 0)
		__atomic_store_n(&cell->min, value, __ATOMIC_RELAXED);
	if (value > cell->max)
		__atomic_store_n(&cell->max, value, __ATOMIC_RELAXED);
	count_value(site, cell, value, ticks);
}

static inline __attribute__((always_inline)) void distribute(struct telem_site *site, uint64_t value, uint64_t ticks)
{
	struct telem_cell *cell = telem_cell_(site);

	if (__builtin_expect(!cell || !cell->buckets || value < cell->min || value > cell->max, 0)) {
		distribute_slow(site, value, ticks);
		return;
	}
	count_value(site, cell, value, ticks);
}

void telem_value_(struct telem_site *site, uint64_t n)
{
	distribute(site, n, telem_level_(site) == TELEM_ALL ? telem_stamp() : 0);
}

void telem_duration_(struct telem_site *site, uint64_t start_ticks)
{
	uint64_t now;

	if (start_ticks == 0 || telem_level_(site) == TELEM_OFF)
		return;
	now = telem_stamp();
	/* Stamps of two processors may differ by a little. */
	distribute(site, now > start_ticks ? clock_duration_ns(now - start_ticks) : 0, now);
}

void telem_event_(struct telem_site *site, const struct telem_field *fields, uint32_t field_count)
{
	struct telem_cell *cell = telem_cell_(site);
	uint64_t payload[1 + LIMIT_FIELDS];

	if (!cell)
		cell = cell_make(site);
	if (!cell) {
		shared_add(site, 1, 0, 0, 0);
		return;
	}
	if (telem_level_(site) != TELEM_ALL) {
		telem_add_(&cell->count, 1);
		return;
	}
	if (field_count > LIMIT_FIELDS)
		field_count = LIMIT_FIELDS;
	if (!site_fields_are_known(site) && !is_inside) {
		is_inside++;
		site_fields(site, fields, field_count);
		is_inside--;
	}
	/* Two bits of type a field, then the values. */
	payload[0] = 0;
	for (uint32_t i = 0; i < field_count; i++) {
		payload[0] |= (uint64_t)fields[i].type << (2 * i);
		payload[1 + i] = fields[i].bits;
	}
	stream_payload(site, cell, payload, (1 + field_count) * 8);
}

void telem_log_(struct telem_site *site, const char *format, ...)
{
	struct telem_cell *cell = telem_cell_(site);
	char text[LIMIT_TEXT_BYTES + 1];
	int saved = errno, length;
	va_list arguments;

	if (!cell)
		cell = cell_make(site);
	if (!cell) {
		shared_add(site, 1, 0, 0, 0);
		return;
	}
	if (telem_level_(site) != TELEM_ALL) {
		telem_add_(&cell->count, 1);
		return;
	}
	va_start(arguments, format);
	length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	/* LIMIT_TEXT_BYTES + 1 says: cut. */
	if (length >= 0)
		stream_payload(site, cell, text, (uint32_t)length < sizeof text ? (uint32_t)length : sizeof text);
	errno = saved;
}

/* Policy `overwrite`: the thread gives up its own oldest events. */
void ring_lost(int task, uint32_t site)
{
	struct shard *shard = self ? self->shards : NULL;

	while (shard && (shard->task->id != task || site >= shard->cell_count ||
			 !(shard->cells[site].streamed | shard->cells[site].streamed_frees)))
		shard = shard->next;
	if (shard)
		telem_add_(&shard->cells[site].dropped, 1);
	else                            /* of a task that ended: where its sums went */
		__atomic_fetch_add(&emitter.ended.cells[site].dropped, 1, __ATOMIC_RELAXED);
}
