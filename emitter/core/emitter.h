/* emitter.h -- the one emitter of a process: what its parts share.
 *
 * Threads of the program (producers) write their own cells and rings and nothing else.
 * `lock` guards everything below that is not marked otherwise; producers take it only
 * in slow paths (a thread's first event, a new task), the flusher while it drains, sums
 * and encodes, never while it waits or writes. */
#ifndef TELEM_EMITTER_EMITTER_H
#define TELEM_EMITTER_EMITTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Our own sites are registered when they are first used, or every program would list them. */
#define TELEM_NO_SITES_HERE_
#include "emitter/telem.h"
#include "protocol/histogram.h"
#include "protocol/limits.h"
#include "protocol/message.h"

struct happening;
struct handler;
struct ring;
struct sink;

/* ---- site.c ---- */
enum { LEVEL_FOLLOW = 0xff };        /* a site without a level of its own */

/* What of a class's events at level all is streamed; the others are summed only. */
struct class_limit {
	uint32_t keep;               /* one in so many; 0, 1: each */
	uint64_t per_second;         /* at most; 0: any number */
	uint64_t second_ticks, let_through;  /* since when, and how many since then */
};

struct class_entry {
	char name[LIMIT_NAME_BYTES], help[LIMIT_NAME_BYTES];
	uint8_t own_level, level;    /* level: in force */
	bool was_off;                /* since the start: sums of allocations have a gap */
	bool is_told, is_level_told;
	char level_by[64];           /* who set it */
	struct class_limit limit;    /* read and written by producers, relaxed */
};

struct site_entry {
	struct telem_site *places;   /* all that are this site, linked through reserved[0] */
	uint8_t class_id, kind, unit, detail, own_level, level;
	uint32_t skip_mask;          /* one in skip_mask + 1 is timed; of spans a setting */
	struct telem_site *lifetime; /* of an allocation's type: its sampled ones', once there are any */
	bool is_told, is_level_told;
	const char *name, *file;     /* copies */
	uint32_t line, field_count;
	uint32_t owner;              /* the shard that set a gauge last, or 0; written by producers */
	/* Of a reporter: how often it told a value, and the latest; no task's. */
	uint64_t asked_count, asked_told;
	int64_t asked_value;
	const char *fields[LIMIT_FIELDS];
	struct happening *happening; /* its name's handlers, or NULL: see handler.h */
};

/* ---- shard.c: sums of one thread in one task ---- */
struct shard {
	struct shard *next;          /* of its thread */
	struct shard *next_of_task;
	struct task *task;
	struct telem_cell *cells;
	uint64_t *told;              /* [cell_count]: fingerprints of what was told last */
	uint32_t id, cell_count;
	size_t mapped_bytes;
};
/* A cell and what was told of it, which lies apart: the flusher writes it. */
#define CELL_BYTES (sizeof(struct telem_cell) + sizeof(uint64_t))

static inline uint64_t cell_count(const struct telem_cell *cell, unsigned kind)
{
	return __atomic_load_n(&cell->count, __ATOMIC_RELAXED) + __atomic_load_n(&cell->streamed, __ATOMIC_RELAXED) +
	       (kind == SITE_SPAN ? __atomic_load_n(&cell->begun, __ATOMIC_RELAXED) : 0);
}
static inline uint64_t cell_streamed_frees(const struct telem_cell *cell, unsigned kind)
{
	return kind == SITE_ALLOC ? __atomic_load_n(&cell->streamed_frees, __ATOMIC_RELAXED) : 0;
}

/* ---- task.c ---- */
struct task {
	struct task *next, *previous;    /* in the list of live ones; next: or of free slots */
	struct shard *shards;
	struct shard *orphan;        /* one of them: what threads left that ended, while the task lives */
	int id;                      /* > TASK_ENDED; slot and generation */
	bool is_free, has_ended, is_told;
	bool is_used;                /* the two common ones: told only when they hold something */
	uint64_t gone_at;            /* which drain takes its last events; 0: not known yet */
	pid_t thread_id;
	char name[LIMIT_NAME_BYTES];
	uint64_t taken[LIMIT_CLASSES], taken_count;
	bool in_dump;                /* the one that is being written knows it, and so many of its events: */
	uint64_t dumped_count;
	/* Beside what its shards say: of shards that are gone, and lost behind the ring. */
	uint64_t emitted[LIMIT_CLASSES], dropped[LIMIT_CLASSES];
	uint64_t cost_ps[LIMIT_CLASSES];     /* what they cost beyond level sum */
	uint64_t told_books;         /* fingerprint of what was told last */
};

/* Where a thread stood when its present frame began. */
struct frame_start {
	uint64_t ticks;              /* 0: it has none */
	uint64_t run;                /* of telemetry, in which it began */
	uint32_t counter_count;      /* that were chosen then */
	uint64_t alloc_count, logs[SEVERITY_COUNT], counters[LIMIT_COUNTERS_A_FRAME];
};

/* One thread's state: recycled, never unmapped, for a thread may still be looking. */
struct thread {
	struct thread *next;
	struct ring *ring;           /* NULL until its first event at all */
	struct shard *shards;        /* own task's first */
	struct shard *stack[LIMIT_TASK_DEPTH + 1];
	uint32_t depth;
	bool is_free, has_ended;
	/* Which handlers it is in, and since when it calls any; read by who detaches one. */
	uint64_t dispatch_epoch;     /* 0: it does not */
	struct handler *inside[LIMIT_HANDLER_DEPTH];
	uint64_t logs[SEVERITY_COUNT];       /* lines so far */
	struct frame_start frames[LIMIT_FRAMES];
	uint64_t left[LIMIT_FRAME_COUNTERS];  /* of the counters frames look at: what shards took along */
	uint32_t limited[LIMIT_CLASSES];     /* events of classes that keep one in some */
};

struct emitter {
	pthread_mutex_t lock;
	pthread_cond_t flushed;      /* the flusher has got past a fence, or stopped */
	uint64_t runs;               /* starts so far */
	bool is_running;             /* also read without the lock, as a hint: emitter_runs() */
	bool is_stopping;            /* the flusher is on its way out */
	bool in_child;               /* forked: what is here is the parent's, to be forgotten */
	pid_t pid;                   /* of the process that has the flusher */
	struct telem_options options;
	char name[LIMIT_NAME_BYTES];
	char error[512];
	char dump_directory[LIMIT_PATH_BYTES];

	struct class_entry classes[LIMIT_CLASSES];
	uint32_t class_count;
	struct site_entry *sites;    /* [LIMIT_EMITTER_SITES], from 1 */
	uint32_t site_count;         /* the highest id + 1 */
	char level_by[64];           /* who changed a level last */

	struct thread *threads;
	uint32_t thread_count, shard_count, ring_count, histogram_count;
	uint32_t ended_count;        /* threads that ended and still hold a ring */
	bool no_histogram;           /* none is left; read without the lock */
	struct task *tasks;
	uint32_t task_count;
	struct shard shared;         /* for threads beyond the limits: locked adds */
	struct shard ended;          /* what ended tasks leave; task->taken as well */
	struct task shared_task, ended_task;
	size_t mapped_bytes;         /* atomic */
	int64_t heap_bytes, heap_peak;       /* typed allocations that live; atomic, see heap_tell() */

	/* settings; read without the lock. 0 until the start means the default. */
	uint64_t flush_ns, block_wait_ns;
	size_t ring_bytes;
	uint32_t policy;
	uint64_t coarse_ticks;       /* renewed by the flusher */
	uint64_t bytes_sent;         /* atomic */
	uint32_t streaming_count;    /* sinks that stream; by the flusher */
};

extern struct emitter emitter __attribute__((visibility("hidden")));

static inline bool emitter_runs(void)
{
	return __atomic_load_n(&emitter.is_running, __ATOMIC_RELAXED);
}
static inline bool emitter_is_heard(void)
{
	return __atomic_load_n(&emitter.coarse_ticks, __ATOMIC_RELAXED) != 0;
}
void emitter_lock(void);
void emitter_unlock(void);
/* Lets go of it for 50 us: for who waits for what no condition tells. */
void emitter_rest(void);
/* A child made behind pthread_atfork()'s back: there is no flusher, and the lock may be held
 * by a thread that is not there. */
bool emitter_is_orphan(void);
/* Remembers one line for telem_error(). */
void emitter_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Zeroed pages, counted in mapped_bytes; NULL when there are none. */
void *emitter_map(size_t bytes);
void emitter_unmap(void *pages, size_t bytes);
/* Zeroed memory that is kept for ever, locked. Never malloc(): that may be the program's own, and
 * tell us of what it does while it holds a lock of its own. */
void *emitter_keep(size_t bytes);
/* Pages for a large table that is touched bit by bit: what is used of it is counted by
 * emitter_use(). */
void *emitter_reserve(size_t bytes);
void emitter_use(size_t bytes);
/* Clock, stream, discovery, flusher. Locked. 0 or a negative errno. */
int emitter_begin(void);
/* A child of fork() that emits starts telemetry anew. In telem.c; without the lock. */
void emitter_restart_in_child(void);

/* ---- site.c ---- */
/* Applies own levels and leases to every site; by says who wanted it. The flusher tells. */
void levels_apply(const char *by);
/* Own level of a class that may come later. */
void class_level_by_name(const char *name, uint8_t level);
/* The same for what of it is streamed. */
void class_limit_by_name(const char *name, uint32_t keep, uint64_t per_second);
void class_limit(uint32_t id, uint32_t keep, uint64_t per_second);
/* Own level of every class, also of those that will come. */
void class_level_of_all(uint8_t level);
/* A span's: timed 1 in n. -ENOENT: it is none; -EINVAL. */
int site_every(uint32_t id, uint32_t n);
/* -1 when there is none. */
int class_find(const char *name);
/* kind 0: any. */
int site_find(const char *class_dot_name, unsigned kind);
bool site_is_named(const struct site_entry *site, const char *class_dot_name);
void classes_begin(void);            /* the built-in ones; idempotent */
/* A site of our own; level 0 while it cannot be registered. Not locked. */
#define OWN_SITE(cls, kind, unit, detail, name)                                                  \
	__extension__({                                                                          \
		static struct telem_site own_site_ = TELEM_SITE_INIT_(cls, kind, unit, detail, name);    \
		site_register_own(&own_site_);                                                   \
		&own_site_;                                                                      \
	})
void site_register_own(struct telem_site *site);
/* Counts one, in class telem. */
void own_count(struct telem_site *site);
#define OWN_COUNT(name) own_count(OWN_SITE(telem, TELEM_KIND_COUNTER_, TELEM_NONE, 0, name))
/* Tells a site's places their level anew, and whether handlers wait there. */
void site_renew(uint32_t id);
/* An event's fields, at a place's first time at level all. Takes the lock. */
bool site_fields_are_known(const struct telem_site *place);
void site_fields(struct telem_site *place, const struct telem_field *fields, uint32_t field_count);

/* ---- record.c ---- */
/* A thread's allocations and frees reach emitter.heap_bytes when they are so many bytes. */
#define HEAP_STEP (16 << 10)
void heap_tell(void);                /* what this thread has not told */

/* ---- shard.c ---- */
/* Is this thread inside a slow path? A signal handler that comes then must not wait for a
 * lock its own thread holds. */
extern __thread int thread_is_inside __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* This thread, attached at its first call; NULL beyond the limits, at a thread's very
 * end or inside another slow path (a signal). */
struct thread *thread_self(void);
/* The same, but NULL before that call. */
extern __thread struct thread *my_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* A new shard of this thread in a task; NULL when there is no room. Locked. */
struct shard *shard_for(struct thread *thread, struct task *task);
void shard_enter(struct shard *shard);
/* The thread leaves a shard: what it holds stays with its task, or goes to emitter.ended
 * when that has ended. Locked. */
void shard_leave(struct thread *thread, struct shard *shard);
/* A task has ended: what threads left in it ends, too. Locked. */
void shard_leave_orphan(struct task *task);
/* After fork, in the child: this thread is new. */
void thread_forget(void);
/* Before the child's first event: nothing of the parent's remains. Locked. */
void shards_forget(void);
/* A histogram, or NULL when the arena is spent: HISTOGRAM_BUCKETS, then the number of the
 * bucket the latest value is still to be counted in, and 1; 0: none. Locked. */
uint64_t *histogram_take(void);
void histogram_give(uint64_t *histogram);
/* Adds up what is in one, the late bucket too; its thread may go on writing. */
void histogram_add(uint64_t into[HISTOGRAM_BUCKETS], const uint64_t *buckets);
/* In place of that number: it is being written. */
#define HISTOGRAM_BUSY UINT64_MAX

/* ---- task.c ---- */
/* All locked. thread_id: 0 when it is no thread. NULL: too many. */
struct task *task_make(const char *name, pid_t thread_id);
struct task *task_find(int id);      /* NULL when it has ended */
/* Whose an event is: TASK_ENDED's when its task has left already. */
struct task *task_of(int id);
/* Gives the slot back once it is ended, without shards and told so. */
void task_recycle(struct task *task);
/* The same, if it has ended, nobody is in it, and nobody need be told. */
void task_left(struct task *task);
void tasks_begin(void);

/* ---- latency.c ---- */
void latencies_forget(void);         /* in a child: what its parent began */

/* ---- procfs.c ---- */
/* Of a file, at most room - 1 bytes, as a string; false: nothing to be had. */
bool proc_read(const char *path, char *text, size_t room);
/* Zeroes where the kernel does not tell; start_ns: since boot. */
struct proc_stat { uint64_t thread_count, start_ns, rss_bytes; };
struct proc_stat proc_stat(void);

/* ---- cost.c ---- */
/* What an event of a kind costs here at a level, in picoseconds; 0: not measured. */
uint32_t cost_ps(unsigned kind, unsigned level);
/* Measures it, the first time; about a millisecond. Not locked. */
void cost_measure(void);

/* ---- alloc.c ---- */
struct sample_info { uint32_t site; int task; uint64_t bytes, born_ticks, address; };
/* Ends were not told: the class was off, or telemetry. */
void samples_forget(void);
/* Allocations from one sample to the next. */
uint32_t sample_distance(void);
/* Copies the sampled allocations that live, from place *at on; false: no more. */
bool samples_next(uint32_t *at, int task, struct sample_info *out);

/* ---- dump.c ---- */
/* Writes a dump. The flusher's; not locked. 0 or a negative errno; path: of the file. */
int dump_write(const char *reason, char path[LIMIT_PATH_BYTES], uint64_t now_ns);
int dump_directory(const char *directory);   /* locked; -EINVAL: too long */
/* What was asked for by others; the flusher's, not locked. */
void dump_wanted(uint64_t now_ns);
/* Asks for one without waiting; seldom granted more than once a minute. Any thread. */
void dump_soon(const char *reason);
void dump_forget(void);              /* in a child */

/* ---- frame.c ---- */
/* A shard leaves its thread: what frames look at in it stays known. Locked. */
void frames_shard_leaves(struct thread *thread, const struct shard *shard);
/* The frames that ended since the last time, into the stream, if anybody inspects them. Locked. */
void frames_write(uint64_t now_ns);
bool frames_are_inspected(void);
/* A reference to a WATCH_ thing more, or less. */
void frames_watch(bool by_viewer, unsigned what, bool on);
void frames_forget(void);            /* in a child */

/* ---- clock.c ---- */
void clock_begin(void);
/* Measures the TSC against CLOCK_MONOTONIC again; by the flusher. */
void clock_renew(void);
uint64_t clock_ticks(void);
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t clock_ns(void);
uint64_t clock_real_ns(void);
uint64_t clock_ns_of(uint64_t ticks);
/* A duration. Any thread. */
uint64_t clock_duration_ns(uint64_t ticks);
/* The same in two steps: nanoseconds per tick, times 2^32. */
uint64_t clock_rate(void);
static inline uint64_t clock_scale(uint64_t ticks, uint64_t rate)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)ticks * rate >> 32);
}
uint64_t clock_resolution_ns(void);

/* ---- flusher.c ---- */
int flusher_start(void);
/* Locked, but not while it waits for the thread to go. */
void flusher_stop(uint64_t linger_ns);
/* Does a thread of that generation belong to nobody any more? Locked. */
bool flusher_is_left(uint64_t generation);
/* What it does at each turn, while it is at something that takes long. Its own; not locked. */
void flusher_meanwhile(void);
/* Is this its thread? For signal handlers, too. */
bool flusher_is_self(void);
/* Makes the flusher look round now. Any thread, locked or not, and signal handlers. */
void flusher_wake(void);
/* A thread has left its ring behind; while nobody listens it is emptied here and now. */
void flusher_thread_ended(void);
uint64_t flusher_cpu_ns(void);
void flusher_forget(void);           /* after fork */

#endif
