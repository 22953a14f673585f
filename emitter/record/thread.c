#include "emitter/record/thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "emitter/record/burst.h"
#include "emitter/record/heap.h"
#include "emitter/record/ring.h"
#include "emitter/record/sample.h"
#include "emitter/record/task.h"

struct thread_table thread_table;

__thread struct thread *my_thread __attribute__((tls_model("initial-exec")));
/* The thread's destructor has run. What the thread records after that goes to the shared shard. */
static __thread bool is_over __attribute__((tls_model("initial-exec")));
/* Counts the events of a thread beyond the limits, which tries to get a state again now and then. */
static __thread uint32_t refused_count __attribute__((tls_model("initial-exec")));
#define EVENTS_REFUSED 1024u

static pthread_key_t exit_key;
static bool has_key;                 /* that exit_key may be used; atomic */
static void (*on_end)(void);         /* atomic */

/* The counters whose sums threads carry along. */
static uint32_t carried_sites[LIMIT_FRAME_COUNTERS], carried_count;

void thread_on_end(void (*hook)(void))
{
	__atomic_store_n(&on_end, hook, __ATOMIC_RELEASE);
}

/* ---- shards, and counters that are carried from one to the next ---- */

static void leave(struct thread *thread, struct shard *shard)
{
	struct shard **link;

	for (uint32_t i = 0; i < carried_count; i++)
		if (carried_sites[i] < shard->cell_count)
			thread->carried[i] += shard->cells[carried_sites[i]].sum;
	for (link = &thread->shards; *link != shard; link = &(*link)->next)
		;
	*link = shard->next;
	shard_leave(shard);
}

static bool is_entered(const struct thread *thread, const struct shard *shard)
{
	for (uint32_t i = 0; i <= thread->depth; i++)
		if (thread->stack[i] == shard)
			return true;
	return false;
}

struct shard *thread_shard_in(struct thread *thread, struct task *task)
{
	struct shard *shard, *next;

	/* A thread gives back its shards of tasks that have ended and that it has left. */
	for (shard = thread->shards; shard; shard = next) {
		next = shard->next;
		if (shard->task->has_ended && !is_entered(thread, shard))
			leave(thread, shard);
	}
	shard = shard_take(task);
	if (shard) {
		shard->next = thread->shards;
		thread->shards = shard;
	}
	return shard;
}

int thread_carry(uint32_t site)
{
	uint32_t which = 0;

	while (which < carried_count && carried_sites[which] != site)
		which++;
	if (which == LIMIT_FRAME_COUNTERS)
		return -ENOSPC;
	if (which == carried_count) {
		carried_sites[which] = site;
		__atomic_store_n(&carried_count, carried_count + 1, __ATOMIC_RELEASE);
	}
	return (int)which;
}

uint32_t thread_carried_site(uint32_t which)
{
	return carried_sites[which];
}

uint64_t thread_carried_sum(const struct thread *thread, uint32_t which)
{
	uint64_t sum = thread->carried[which];
	uint32_t site = carried_sites[which];

	for (const struct shard *shard = thread->shards; shard; shard = shard->next)
		if (site < shard->cell_count)
			sum += __atomic_load_n(&shard->cells[site].sum, __ATOMIC_RELAXED);
	return sum;
}

/* ---- a thread's life ---- */

/* Clears what a thread published about handlers, when it has ended or was the parent's. */
static void leave_handlers(struct thread *thread)
{
	for (uint32_t i = 0; i < LIMIT_HANDLER_DEPTH; i++)
		__atomic_store_n(&thread->inside[i], NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&thread->dispatch_epoch, 0, __ATOMIC_RELEASE);
}

/* Call with the lock held. */
static void end(struct thread *thread)
{
	__atomic_store_n(&thread->stack[0]->task->has_ended, true, __ATOMIC_RELAXED);
	thread->depth = 0;
	while (thread->shards)
		leave(thread, thread->shards);
	leave_handlers(thread);
	thread->has_ended = true;        /* the flusher empties the ring, then frees it */
	thread->is_unwatched = false;
	thread_table.ended_count++;
}

/* Call without the lock, after end(). */
static void tell_end(void)
{
	void (*hook)(void) = __atomic_load_n(&on_end, __ATOMIC_ACQUIRE);

	if (hook)
		hook();
}

static void thread_exit(void *arg)
{
	heap_publish();
	is_over = true;
	my_thread = NULL;
	telem_thread_ = (struct telem_thread_){ 0 };
	lock_take();
	end(arg);
	lock_release();
	tell_end();
}

/* Returns whether pthread_setspecific() has a fixed place for the key. In glibc only the first 32 keys have one; for
 * others it calls calloc(), which no event may do. */
static bool has_fixed_place(pthread_key_t key)
{
#ifdef __GLIBC__
	return key < 32;
#else
	(void)key;
	return true;
#endif
}

static bool has_exit_key(void)
{
	return __atomic_load_n(&has_key, __ATOMIC_RELAXED);
}

/* The key is made before the program makes its own, so that it is one of the first. */
__attribute__((constructor(101))) static void make_exit_key(void)
{
	if (pthread_key_create(&exit_key, thread_exit) != 0)
		return;
	if (has_fixed_place(exit_key))
		__atomic_store_n(&has_key, true, __ATOMIC_RELAXED);
	else
		pthread_key_delete(exit_key);
}

/* Another error than ESRCH is that of a filter of system calls, and says nothing of the thread. */
static bool is_gone(pid_t thread_id)
{
	return syscall(SYS_tgkill, getpid(), thread_id, 0) != 0 && errno == ESRCH;
}

/* Without a key no thread calls thread_exit(), so somebody has to look who has ended. thread_id is that of a new thread,
 * whose number another one had before, or 0. Returns whether some have ended. Call with the lock held. */
static bool end_unwatched(pid_t thread_id)
{
	uint32_t before = thread_table.ended_count;

	for (struct thread *thread = thread_table.first; thread; thread = thread->next) {
		pid_t its_id = thread->is_unwatched ? thread->stack[0]->task->thread_id : 0;

		if (thread->is_unwatched && (its_id == thread_id || is_gone(its_id)))
			end(thread);
	}
	return thread_table.ended_count != before;
}

void threads_look(void)
{
	if (!has_exit_key())
		end_unwatched(0);
}

/* After this the code may be unloaded, so the end of a thread must not call it any more. */
__attribute__((destructor)) static void delete_exit_key(void)
{
	if (__atomic_exchange_n(&has_key, false, __ATOMIC_RELAXED))
		pthread_key_delete(exit_key);
}

/* A ring keeps its size, so after telem_set_ring_bytes() a thread does not get one that a thread before it left behind,
 * unless no further ring may be made. */
static bool has_right_ring(const struct thread *thread)
{
	return thread->ring->mask + 1 == __atomic_load_n(&settings.ring_bytes, __ATOMIC_RELAXED) ||
	       thread_table.ring_count >= LIMIT_RINGS;
}

/* One with a ring is better than one without, for which there may be no ring any more. */
static struct thread *thread_take(void)
{
	struct thread *thread, *without_ring = NULL;

	for (thread = thread_table.first; thread; thread = thread->next) {
		if (thread->is_free && !thread->ring)
			without_ring = thread;
		else if (thread->is_free && has_right_ring(thread))
			return thread;
	}
	if (without_ring)
		return without_ring;
	thread = memory_map(sizeof *thread);
	if (thread) {
		thread->is_free = true;
		thread->next = thread_table.first;
		/* The flusher walks the list under the lock. */
		thread_table.first = thread;
	}
	return thread;
}

static void look_before_attaching(void)
{
	bool has_ended;

	lock_take();
	has_ended = end_unwatched((pid_t)syscall(SYS_gettid));
	lock_release();
	if (has_ended)
		tell_end();
}

static struct thread *attach(void)
{
	char name[32] = "";
	struct thread *thread;
	struct task *task;
	struct shard *shard;

	if (!has_exit_key())
		look_before_attaching();
	prctl(PR_GET_NAME, name);
	lock_take();
	thread = thread_take();
	task = thread ? task_make(name, (pid_t)syscall(SYS_gettid)) : NULL;
	if (task) {
		thread->is_free = thread->has_ended = false;
		thread->depth = 0;
		memset(thread->frames, 0, sizeof thread->frames);
		thread_table.count++;
	}
	shard = task ? thread_shard_in(thread, task) : NULL;
	if (shard) {
		thread->stack[0] = shard;
		thread->task_id = task->id;
		thread->is_unwatched = !has_exit_key();
	}
	lock_release();
	if (!task)
		return NULL;
	if (!shard || (!thread->is_unwatched && pthread_setspecific(exit_key, thread) != 0)) {
		lock_take();
		task->has_ended = true;
		if (shard)
			leave(thread, shard);
		else
			task_left(task);
		thread->is_free = true;
		thread_table.count--;
		lock_release();
		return NULL;
	}
	if (thread->ring)
		ring_task(thread->ring, task->id);
	return thread;
}

struct thread *thread_self(void)
{
	if (!my_thread && !is_over && !thread_is_inside && settings_is_running() &&
	    refused_count++ % EVENTS_REFUSED == 0) {
		thread_is_inside++;
		my_thread = attach();
		if (my_thread) {
			telem_thread_.ring = my_thread->ring;
			telem_thread_.unsampled = sampler_distance(&my_thread->sampler);
			shard_enter(my_thread->stack[0]);
			refused_count = 0;
		}
		thread_is_inside--;
	}
	return my_thread;
}

void thread_retire(struct thread *thread)
{
	assert(thread->has_ended);
	assert(!thread->shards);
	if (thread->ring)
		ring_reset(thread->ring);
	bursts_forget(thread->looks);
	thread->has_ended = false;
	thread->is_free = true;
	thread_table.ended_count--;
	thread_table.count--;
}

void thread_forget(void)
{
	my_thread = NULL;
	refused_count = 0;
	telem_thread_ = (struct telem_thread_){ 0 };
	if (has_exit_key())
		pthread_setspecific(exit_key, NULL);
}

void threads_forget(void)
{
	struct shard *shard, *next;

	for (struct thread *thread = thread_table.first; thread; thread = thread->next) {
		for (shard = thread->shards; shard; shard = next) {
			next = shard->next;
			shard_forget(shard);
		}
		thread->shards = NULL;
		leave_handlers(thread);
		bursts_forget(thread->looks);
		thread->is_free = true;
		thread->has_ended = thread->is_unwatched = false;
		if (thread->ring) {
			ring_reset(thread->ring);
			thread->ring->first = thread->ring->head;
		}
	}
	for (struct task *task = task_table.first; task; task = task->next)
		if (task->unowned)
			shard_forget(task->unowned);
	thread_table.count = thread_table.ended_count = 0;
}
