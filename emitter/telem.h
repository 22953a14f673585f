/* telem.h -- see inside your running program from a terminal.
 *
 * Link libtelem, say what is worth seeing, call telem_start(); then run
 * `telemtop PID`. What the program says costs one compare and one branch while it
 * is off, about a nanosecond while it is summed, and about two clock readings
 * while every single event is streamed to somebody who looks.
 *
 *	#include <telem.h>
 *	TELEM_CLASS(net, "socket I/O", TELEM_SUM);
 *
 *	int main(void)
 *	{
 *		telem_start(NULL);
 *		for (;;)
 *			TELEM_SPAN(net, "request") {
 *				size_t n = serve();
 *				TELEM_COUNT(net, "bytes out", n);
 *			}
 *	}
 *
 * A *site* is a named place or thing that produces events; a *class* is a group of
 * sites that is switched together. Both have a *level*: off, sum or all. Arguments
 * of a site that is off are not evaluated. Sites of one class, kind and name are
 * one site, wherever they stand. Names are string literals or live as long as the
 * program; the library copies them when they are registered.
 *
 * All calls may be made from any thread, before telem_start() and after
 * telem_stop() (they then record nothing). The recording macros may be used in
 * signal handlers: an event that interrupts another one's recording may be dropped,
 * and is counted. No call changes errno, and none raises a signal. Functions that
 * can fail return 0 (or an id) or a negative errno; telem_error() says why in words.
 *
 * C11 and C++17, GCC or Clang (GNU extensions are marked with __extension__).
 * -DTELEM_DISABLE compiles every call away. */
#ifndef TELEM_H
#define TELEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define TELEM_VERSION "0.1.0"

/* How much a class or site records. */
enum telem_level {
	TELEM_OFF = 0,       /* nothing: one compare and one branch */
	TELEM_SUM = 1,       /* counts, sums and histograms in this process; sent once a tick to who looks */
	TELEM_ALL = 2        /* and every single event is streamed */
};

/* What a value is measured in; the monitor prints it so. */
enum telem_unit { TELEM_NONE = 0, TELEM_NS = 1, TELEM_BYTES = 2 };

enum telem_severity { TELEM_DEBUG = 0, TELEM_INFO = 1, TELEM_WARN = 2, TELEM_ERROR = 3, TELEM_FATAL = 4 };

/* What to do with a new event when a thread's ring is full. */
enum telem_policy {
	TELEM_DROP = 0,      /* lose the new one (default) */
	TELEM_OVERWRITE = 1, /* lose the oldest ones: a flight recorder */
	TELEM_BLOCK = 2      /* wait up to the timeout while somebody is reading, then lose it */
};

/* Everything has a default at zero, so `{ .size = sizeof o }` and NULL both do. */
struct telem_options {
	size_t size;               /* sizeof (struct telem_options), for later versions */
	const char *name;          /* of the program; default: its file name */
	const char *config;        /* like the TELEM variable (below), applied before it */
	uint64_t linger_ns;        /* longest wait of telem_stop() for sinks; default 100 ms, at most 60 s */
	bool ignore_environment;   /* do not read TELEM */
	bool no_discovery;         /* do not listen on the discovery socket */
};

/* ---- life --------------------------------------------------------------------
 *
 * TELEM="sink=fifo:/tmp/app.telem;net=all;mem=off;flush=100ms;ring=1M;policy=drop"
 * configures a program without recompiling it. Settings are separated by `;`:
 *   sink=ADDRESS[,control]   as telem_sink_add(); `control` lets TCP peers set levels
 *   CLASS=off|sum|all        own level of a class, also of one that is not registered yet;
 *                            ,keep=1/100 and ,limit=10k/s behind it: as telem_class_limit()
 *   CLASS.NAME=off|sum|all   own level of a site that is there at the start
 *   CLASS.NAME=1/16          as telem_span_every()
 *   all=off|sum|all          own level of every class
 *   flush=TIME ring=BYTES policy=drop|overwrite|block[:TIME] name=TEXT dump=DIR discovery=on|off
 * TIME has a unit (ns us ms s), BYTES may end in K, M or G. */

/* Starts telemetry: reads the options and TELEM, opens the discovery socket
 * ($XDG_RUNTIME_DIR/telem/PID.sock, else /tmp/telem-UID/PID.sock) and a sleeping
 * thread. Returns 0; -EALREADY when it runs already; -EBUSY when another copy of
 * libtelem in this process has it; -EINVAL for a bad setting (the good ones hold and
 * telemetry runs); another negative errno when the thread cannot be made. A
 * discovery socket that cannot be opened is no failure: telem_error() tells.
 * In a set-uid program TELEM is ignored and no discovery socket opens. */
int telem_start(const struct telem_options *options_or_null);
/* Sends what is recorded, says goodbye to every sink and closes it; waits at most
 * the linger time. Idempotent, also called at exit. Events after it are not recorded.
 * Everything can be started again. */
void telem_stop(void);
/* The latest thing that went wrong, in one line; "" when nothing did. Valid for ever;
 * the text may be replaced by a later one. */
const char *telem_error(void);

/* ---- levels ------------------------------------------------------------------ */

struct telem_class;
struct telem_site;

/* The program's own level; a viewer's lease overrides it while that viewer is there.
 * Takes effect in other threads at once. 0, or -EINVAL. */
int telem_class_level(struct telem_class *cls, enum telem_level level);
/* By name, e.g. "net", or "net.request" for one site. -ENOENT when there is none. */
int telem_level_set(const char *name, enum telem_level level);
/* The level in force, leases of viewers included; -ENOENT. */
int telem_level_get(const char *name);
/* Every class: true all, false off. */
void telem_enable_all(bool on);
/* Of a class's events at level all, streams one in so many (0, 1: each) and at most so many
 * a second (0: any number). The others count as if at sum, so no figure misses them. The
 * class may come later. 0, or -EINVAL. */
int telem_class_limit(const char *class_name, uint32_t keep_one_in, uint64_t per_second);
/* Times one span in n of a site by its name, "net.request", and counts all: 3 ns for n of 16.
 * What is timed stands for n in the figures, which the monitor marks ~. n is rounded up to a
 * power of two, at most 65,536; 1: each. While handlers wait at it, each is timed. 0;
 * -ENOENT: no such span; -EINVAL. */
int telem_span_every(const char *class_dot_name, uint32_t n);

/* ---- sinks -------------------------------------------------------------------
 *
 * Each has a bounded queue of its own and never slows another. A new sink is told
 * everything a reader must know before its first event. The functions return an
 * id >= 0 for telem_sink_remove(), -ENOTCONN before telem_start(), or a negative errno. */

/* By address: fifo:PATH, unix:PATH, tcp:HOST:PORT (listens), connect:HOST:PORT,
 * file:PATH, fd:N. A FIFO is made (0600) when there is none, and its control way is
 * PATH.ctl. Append ",control" to a TCP address on loopback to let peers set levels. */
int telem_sink_add(const char *address);
int telem_sink_fifo(const char *path);
int telem_sink_unix(const char *path);                                   /* listens */
int telem_sink_tcp_listen(const char *host, int port, bool control);     /* host: loopback only; port 0: any */
int telem_sink_tcp_connect(const char *host, int port, bool control);    /* retries; HOST numeric or localhost */
int telem_sink_file(const char *path);                                   /* a recording; must not exist */
/* Takes fd over, a pipe, socket or file open for writing, and closes it at the end. */
int telem_sink_fd(int fd);
/* Sends what is queued (at most the linger time), says goodbye, closes. -ENOENT. */
int telem_sink_remove(int id);
/* Adds address, then removes id: nothing is missing from the two together. Returns the new
 * sink's id, or a negative errno with the old one untouched. */
int telem_sink_redirect(int id, const char *address);

/* Returns when every event recorded before the call has been handed to the sinks'
 * kernels or was counted as dropped: 0, -ETIMEDOUT, -ENOTCONN when not started. A
 * fence, so other threads may go on emitting. Not for signal handlers. */
int telem_flush(uint64_t timeout_ns);
/* Tells every sink all definitions again. */
void telem_sync(void);

/* Longest time an event waits before it leaves: 1 ms to 10 s, default 100 ms. */
int telem_set_flush_interval(uint64_t ns);
/* Bytes of a thread's ring: 64 KiB to 64 MiB, rounded up to a power of two, default
 * 1 MiB; threads that have a ring already keep it. 16 bytes hold an event. */
int telem_set_ring_bytes(size_t bytes);
/* After how long a latency that was begun by a key and has not ended may make way for
 * another: 1 ms to 1 h, default 60 s. */
int telem_set_latency_expiry(uint64_t ns);
/* timeout_ns: for TELEM_BLOCK, at most 10 s. */
int telem_set_policy(enum telem_policy policy, uint64_t timeout_ns);

/* What telemetry did so far. emitted == delivered + dropped + queued at any moment when no
 * thread is emitting. While somebody reads, queued is 0 after telem_flush(); while nobody
 * does, the latest events wait in the rings for whoever comes, and telem_stop() drops them. */
struct telem_statistics {
	uint64_t emitted;          /* events at level all */
	uint64_t delivered;        /* taken whole by the kernel for at least one sink */
	uint64_t dropped;          /* lost: ring full, queue full, sink gone, too big, nobody listening at stop */
	uint64_t queued;           /* in rings and queues */
	uint64_t bytes_sent;       /* handed to the kernel, all sinks together */
	uint64_t memory_bytes;     /* held by the library */
	uint64_t flusher_cpu_ns;   /* CPU time of its thread */
	uint32_t sinks;            /* that stream now */
	uint32_t sites, classes, tasks, threads;
};
void telem_stats(struct telem_statistics *out);
/* What a class's events have cost the threads that made them: each kind's price, measured in
 * this process at the first call (for a millisecond) or when somebody first looks, times
 * how many there were. In a tight loop the truth; where a program has other work to do
 * meanwhile, or a ring is full, it costs less. */
struct telem_class_statistics {
	const char *name;          /* valid for ever */
	uint64_t events;           /* at sum or all */
	uint64_t cost_ns;
	uint64_t emitted, dropped; /* at all */
	uint32_t level;
};
/* Of each class; returns how many were written. */
uint32_t telem_class_stats(struct telem_class_statistics *out, uint32_t room);

/* ---- the flight recorder --------------------------------------------------------------
 *
 * A thread's ring holds its latest events at level all, also of threads that ended and had it
 * before, whether somebody reads or not; policy overwrite keeps it so while nobody does. A dump
 * writes what the rings hold, but for the oldest quarter (49,152 events of the default size, or
 * more), into a recording, DIR/NAME.PID.N.telem, and takes nothing from those who read. DIR is
 * $TMPDIR, or /tmp, if the program says no other. */

/* reason is noted in it, at most 127 bytes. path: where to put the file's name; may be NULL.
 * Waits for it, 5 s at most. 0; -ENOTCONN, -ETIMEDOUT; -EDEADLK where telemetry's own thread
 * calls the program (a reporter); -EBUSY: all 64 sinks are taken; -ENOSPC and others of the
 * file. */
int telem_dump(const char *reason, char *path, size_t room);
/* 0; -EINVAL: longer than 255 bytes. TELEM says "dump=DIR". */
int telem_dump_directory(const char *directory);
/* Has a dump written when this signal comes (SIGSEGV, SIGABRT ...), then does what it would
 * have done. For signals that end the program; telemetry touches none unless told so. Where the
 * signal finds telemetry itself at work in that thread, there is no dump. 0, -EINVAL. */
int telem_dump_on_signal(int number);

/* ---- tasks -------------------------------------------------------------------
 *
 * Events belong to the task that the thread is in: its own, or one it entered. */

/* Names this thread's own task (default: the thread's name). */
void telem_task_name(const char *name);
/* A task that is not a thread: a request, an actor, a green thread. Returns its id
 * (> 0), or -ENOSPC. May be entered by any thread, by several at once too. */
int telem_task_new(const char *name);
/* This thread works for task id until it leaves it. Nests to a depth of 8; -EINVAL,
 * -ENOSPC. Costs about 10 ns; allocates at a thread's first entry into a task. */
int telem_task_enter(int id);
void telem_task_leave(void);
/* The task will not be entered again; its figures join the ended ones. */
void telem_task_end(int id);

/* ---- frames and budgets ------------------------------------------------------------
 *
 * A frame is a turn of the program: of a game's or an event loop, a request. What it took is
 * kept for the last 128 of them, whoever looks, and a span of class frame counts its
 * duration. Its logs, allocations and counters are those of the thread that ends it; the
 * heap is the program's: typed allocations that live, right to 16 KiB for each other thread, and
 * its peak for its own, too. */

/* Ends this thread's frame of that name, if it has begun one, and begins the next. name is
 * copied, at most 127 bytes; 16 names, and telem_error() tells of more. About 150 ns, and some
 * for each task with figures in this thread where counters are chosen. What a budget or a
 * handler calls may end and begin others. Not for signal handlers. */
void telem_frame(const char *name);
/* Begins it now: where the time between two turns is nobody's, like that between requests. */
void telem_frame_begin(const char *name);

/* What of its budget a frame broke. */
enum { TELEM_BROKE_TIME = 1, TELEM_BROKE_HEAP = 2, TELEM_BROKE_LOGS = 4, TELEM_BROKE_COUNTER = 8 };

struct telem_frame_info {
	const char *name;
	uint64_t number;           /* how many of the name have ended, this one included */
	uint64_t time_ns;          /* of its end, CLOCK_MONOTONIC */
	uint64_t duration_ns;
	int64_t heap_bytes;        /* at its end; below 0 when what is freed was never told */
	int64_t heap_peak;         /* since one of the name ended before */
	uint64_t allocations;
	uint64_t logs[5];          /* lines by severity */
	uint32_t broken;           /* TELEM_BROKE_ bits */
	uint32_t counter_count;
	struct { const char *name; uint64_t sum; } counters[8];    /* what telem_frame_counter() chose */
};
/* The latest ended frames of a name, newest first; returns how many were written. */
uint32_t telem_frames(const char *name, struct telem_frame_info *out, uint32_t room);
/* Each frame of the name tells what it added to a counter, "class.name", which is there
 * already. At most 8 a frame and 16 in all: 0; -ENOENT: no such counter; -ENOSPC; -EINVAL. */
int telem_frame_counter(const char *name, const char *counter);

/* What a frame may take; 0: anything. */
struct telem_budget {
	uint64_t ns;
	uint64_t heap_bytes;       /* its peak */
	uint64_t logs;             /* lines of any severity */
	const char *counter;       /* "class.name", and what it may grow by; NULL: none */
	uint64_t counter_most;
	bool dump;                 /* a frame that breaks it has a dump written, one a minute at most */
};
/* Called at the end of a frame that broke its budget, by its thread; no lock is held. */
typedef void telem_budget_fn(const struct telem_frame_info *frame, void *arg);
/* The budget of all frames of a name from now on; NULL: none. One that is broken is the event
 * "frame.NAME over budget", and calls function, if there is one; a frame that ends meanwhile
 * may still call the former one. 0, or as telem_frame_counter(). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"      /* to g++ it hides a constructor */
int telem_budget(const char *name, const struct telem_budget *budget, telem_budget_fn *function, void *arg);
#pragma GCC diagnostic pop

/* Three things that are on while somebody holds a reference to them; none implies another.
 * The first and the third have one from the start. A viewer's end with it. */
enum telem_watch {
	TELEM_RECORDING = 0,       /* ended frames are kept */
	TELEM_INSPECTION = 1,      /* they are streamed as well, to who is connected */
	TELEM_BUDGETS = 2          /* they are held against their budgets */
};
/* Takes a reference, or gives one back that the program took. */
void telem_watch(enum telem_watch what, bool on);

/* ---- garbage collection --------------------------------------------------------
 *
 * For collectors, in class gc. Any thread may begin and any end; one collection of a
 * generation at a time, from 3 on they are one. Costs a span and five counters. */

struct telem_gc {
	uint64_t live_bytes;       /* reachable now */
	uint64_t heap_bytes;       /* the heap's size, free parts included */
	uint64_t slop_bytes;       /* lost to alignment and fragmentation */
	uint64_t copied_bytes;     /* by this collection */
	uint64_t collected_bytes;  /* freed by it */
};
/* The world stops ... */
void telem_gc_begin(uint32_t generation);
/* ... and goes on. gc may be NULL: the pause alone is known. */
void telem_gc_end(uint32_t generation, const struct telem_gc *gc);
#define TELEM_GC_BEGIN(generation) telem_gc_begin(generation)
#define TELEM_GC_END(generation, gc) telem_gc_end((generation), (gc))

/* ---- reporters ------------------------------------------------------------------
 *
 * A reporter is a function that tells a value when it is asked: each tick, by telemetry's
 * own thread, and only while somebody looks (what nobody wants costs nothing). It is shown
 * as a gauge of class report, under a path like "js/gc-heap". It may be called beside any
 * code of the program's, must be quick, and takes care of its own locks: nothing is sent while
 * it runs. telem_stop() does not wait for one beyond the linger time: then sinks are closed
 * without a goodbye, and arg must live until it returns. */

enum telem_reporter_kind {
	TELEM_REPORT_OTHER = 0,
	TELEM_REPORT_HEAP = 1      /* bytes that malloc() gave: what no reporter of this kind claims of
				    * them is "heap/unclassified", below 0 when they claim too much */
};
/* Puts the value in place and returns 0; anything else: not to be had now. It is kept and
 * asked again; the gauge "failures" counts. */
typedef int telem_reporter_fn(void *arg, int64_t *value);

/* path is copied, at most 127 bytes. 0; -EEXIST: the path has one; -EINVAL, -ENOSPC (1,024),
 * -ENOMEM. */
int telem_reporter(const char *path, enum telem_reporter_kind kind, enum telem_unit unit, telem_reporter_fn *function,
		   void *arg);
/* The same for a library or a virtual machine that has many: function is called each tick, and
 * records what it knows with TELEM_GAUGE, TELEM_VALUE and their likes. */
typedef void telem_provider_fn(void *arg);
int telem_provider(const char *name, telem_provider_fn *function, void *arg);
/* Returns when it is not being asked any more (unless it is itself that calls). -ENOENT. Of
 * providers, too. */
int telem_reporter_remove(const char *path);
/* What glibc's malloc holds: allocated, free, mapped. */
int telem_report_malloc(void);
/* What the kernel knows of the process: resident and proportional memory, swap, open files, faults,
 * context switches, and processor time of its threads, by name. */
int telem_report_process(void);
/* What telemetry itself costs, as gauges of class telem: ns by class, the flusher's time, bytes
 * sent, events dropped, memory held. 0. */
int telem_report_telemetry(void);

/* ---- handlers ----------------------------------------------------------------
 *
 * A handler is a function of the program's that is called for events of a name,
 * "class.name": each TELEM_EVENT, latency and span, whatever their level, and
 * telem_execute(). It runs in the thread that made the event, before the call that made it
 * returns, and no lock is held: it may record events, attach, detach and set levels.
 * Handlers of a name are called in the order they were attached in, while telemetry runs.
 * They nest to a depth of 8; events deeper inside reach none. A handler must not throw, and
 * where an event is made in a signal handler, it runs in there. */

enum telem_phase {
	TELEM_HAPPENED = 0,        /* an event; a latency */
	TELEM_STARTED = 1,         /* a span */
	TELEM_STOPPED = 2,
	TELEM_ABANDONED = 3        /* by telem_span_abandon() */
};

/* A numeric field of an event; read it with telem_field_double() or telem_field_int(). */
struct telem_field { const char *name; uint8_t type; uint64_t bits; };
enum { TELEM_FIELD_INT_ = 0, TELEM_FIELD_UINT_ = 1, TELEM_FIELD_DOUBLE_ = 2 };

struct telem_happening {
	const char *event;         /* "net.request" */
	enum telem_phase phase;
	uint64_t value;            /* ns: of a latency, of a span that stopped or was abandoned; else 0 */
	const struct telem_field *fields;    /* of an event */
	uint32_t field_count;
};
/* Returns 0. Anything else is a failure, which is counted, and may detach it. */
typedef int telem_handler(const struct telem_happening *what, void *config);

/* id names the handler (at most 127 bytes) and is its alone; event may be one that does not
 * exist yet. It is detached when it fails once. Returns 0; -EEXIST: the id is taken, and
 * the handler that has it is untouched; -EINVAL; -ENOSPC: 1,024 handlers or 4,096 names;
 * -ENOMEM. Opens a table that telem_persist() sealed. Not for signal handlers. */
int telem_attach(const char *id, const char *event, telem_handler *function, void *config);
/* The same for several events at once, all or none; detached when it has failed
 * max_failures times, 0: never. */
int telem_attach_many(const char *id, const char *const *events, uint32_t event_count, telem_handler *function,
		      void *config, uint32_t max_failures);
/* Detaches it, and returns when no thread is in it any more: config may be freed, its code
 * unloaded. 0; -ENOENT. Called from inside a handler it detaches but does not wait:
 * -EINPROGRESS when somebody, perhaps the caller, is still in it. */
int telem_detach(const char *id);
/* The same without waiting. */
int telem_detach_async(const char *id);
/* When a handler is detached for its failures, that is an error in the log, and the event
 * "telem.handler.failure" with the fields result and failures. */

struct telem_handler_info {
	char id[128], event[256];
	telem_handler *function;
	void *config;
	uint64_t failures;
};
/* One row a handler and event whose name begins with prefix ("": all), in the order of
 * attachment. Returns how many there are; at most room are written. */
uint32_t telem_list_handlers(const char *prefix, struct telem_handler_info *out, uint32_t room);

/* Seals the table: places find their handlers without a look at it, a nanosecond sooner. Attaching
 * opens it again; detaching does not. */
void telem_persist(void);
void telem_unpersist(void);

/* Calls the handlers of an event whose name is made at run time; it is recorded nowhere.
 * Returns how many were called. About 20 ns. */
uint32_t telem_execute(const char *event, const struct telem_field *fields, uint32_t field_count);

/* ---- sampled allocations ------------------------------------------------------------
 *
 * Of allocations whose address is told (TELEM_NEW, telem_malloc(), TELEM_ALLOC_AT and their
 * likes) about one in 64 is remembered until it is freed, 1,024 at a time. They give class mem
 * a latency "TYPE lifetime"; one that lives on while others want its place counts as having
 * ended after a minute. */
struct telem_allocation {
	const char *type;          /* valid for ever */
	const void *address;
	uint64_t bytes, age_ns;
	int task;                  /* that allocated it */
	bool is_freed;
};
typedef void telem_alloc_function(const struct telem_allocation *allocation, void *arg);

/* Calls function for each sampled allocation and its free, in the thread that does it, as a
 * handler of the event "mem.sampled" (telem_attach()); the one before is detached first, as
 * by telem_detach(). NULL: none. 0 or a negative errno. */
int telem_alloc_hook(telem_alloc_function *function, void *arg);
/* Of those that live, the ones a task allocated (0: any); returns how many were written. */
uint32_t telem_allocations(int task, struct telem_allocation *out, uint32_t room);

/* ======== below: how it works. What ends in _ is no interface. ================ */

#define TELEM_ABI_ 1

enum telem_kind_ {
	TELEM_KIND_SPAN_ = 1, TELEM_KIND_LATENCY_, TELEM_KIND_VALUE_, TELEM_KIND_COUNTER_, TELEM_KIND_GAUGE_,
	TELEM_KIND_ALLOC_, TELEM_KIND_MARK_, TELEM_KIND_EVENT_, TELEM_KIND_LOG_, TELEM_KIND_TAG_
};

struct telem_class {
	const char *name, *help;
	uint8_t own_level;         /* until registered: the level asked for */
	uint8_t id;
	uint8_t reserved[6];
};

/* 64 bytes, so that the first load brings all that is needed. */
struct telem_site {
	uint8_t level;             /* in force; the only thing a site that is off touches */
	uint8_t kind, unit, detail;    /* detail: severity of a log */
	uint32_t id;               /* 0: not registered */
	struct telem_class *cls;
	const char *name, *file;
	uint32_t line;
	__extension__ union { uint32_t fields_known, skip_mask; };   /* of events; of spans timed 1 in skip_mask + 1 */
	/* A gauge's, wherever it stands: the shard that set it last. Of what has handlers: their
	 * set, when the table is sealed. */
	__extension__ union { uint32_t *owner; void *handlers; };
	uint64_t reserved[2];
};

/* One site's sums in one thread and task; that thread alone writes. An event is counted
 * in one place: at level sum in count, at level all in streamed. */
struct telem_cell {
	uint64_t count;            /* events; allocations */
	uint64_t sum;              /* of the values; bytes allocated; a gauge's value */
	uint64_t min, max;         /* of the values; frees and bytes freed */
	uint64_t *buckets;         /* histogram, or NULL */
	uint64_t streamed;         /* events; allocations */
	/* Of allocations; of a span that is timed once in N, how often it began; of a log line, how many were folded. */
	__extension__ union { uint64_t streamed_frees, begun, folded; };
	uint64_t dropped;          /* of what is streamed: the ring had no room */
};

/* What a thread touches; cell_count is 0 until it has recorded something. */
struct telem_thread_ {
	struct telem_cell *cells;
	uint32_t cell_count, shard;
	void *ring;
	int64_t heap_moved;        /* bytes, not in the program's figure yet */
	int64_t heap_step;         /* so many may not be; 0: each call is looked at */
	uint64_t alloc_count;
	struct telem_site *tag;    /* TELEM_ALLOC_TAG */
	uint32_t unsampled;        /* so many allocations more until one is sampled */
};

/* One module (program or shared object) with its classes and sites. Each of its files
 * enters and leaves; the first and the last time count. */
struct telem_module_ {
	uint32_t abi, entered;
	struct telem_class **classes, **classes_end;
	struct telem_site **sites, **sites_end;
};

/* A place's level is more than itself where there is more to do: handlers wait; spans are
 * timed now and then; its class streams a part only. */
#define TELEM_LEVEL_ 0x03u
#define TELEM_LIMITED_ 0x20u
#define TELEM_SAMPLED_ 0x40u
#define TELEM_HANDLED_ 0x80u

#define TELEM_CAT2_(a, b) a##b
#define TELEM_CAT_(a, b) TELEM_CAT2_(a, b)

#ifndef TELEM_DISABLE

void telem_module_enter_(struct telem_module_ *module);
void telem_module_leave_(struct telem_module_ *module);
void telem_site_register_(struct telem_site *site, const struct telem_module_ *module);
/* Out of line: the first event of a thread, and whatever needs more than adding. */
void telem_add_slow_(struct telem_site *site, uint64_t n);
void telem_mark_slow_(struct telem_site *site, uint64_t key);
void telem_gauge_slow_(struct telem_site *site, int64_t n, bool add);
void telem_alloc_slow_(struct telem_site *site, uint64_t bytes, bool is_free);
void telem_heap_slow_(int64_t bytes, bool is_free);
void telem_sampled_(struct telem_site *site, const void *address, uint64_t bytes);
void telem_sample_ends_(const struct telem_site *site, const void *address);
struct telem_cell *telem_cell_make_(struct telem_site *site);
void telem_stream_(struct telem_site *site, struct telem_cell *cell, uint64_t value);
void telem_stream_coarse_(struct telem_site *site, struct telem_cell *cell, uint64_t value);
void telem_stream_free_(struct telem_site *site, struct telem_cell *cell, uint64_t bytes);
void telem_value_(struct telem_site *site, uint64_t n);
void telem_duration_(struct telem_site *site, uint64_t start_ticks);
void telem_latency_begin_(struct telem_site *site, uint64_t key);
void telem_latency_end_(struct telem_site *site, uint64_t key);
void telem_started_(struct telem_site *site);
void telem_abandoned_(struct telem_site *site, uint64_t start_ticks);
void telem_event_(struct telem_site *site, const struct telem_field *fields, uint32_t field_count);
void telem_log_(struct telem_site *site, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t telem_clock_read_(void);

extern __thread struct telem_thread_ telem_thread_ __attribute__((tls_model("initial-exec")));
extern uint32_t telem_clock_is_tsc_;
#define TELEM_SAMPLES_ 1024u
extern uint64_t telem_samples_[TELEM_SAMPLES_];      /* addresses */
#define TELEM_SAMPLE_PLACE_(address) ((uint64_t)(uintptr_t)(address) * 0x9e3779b97f4a7c15u >> 54)
extern struct telem_class telem_class_mem, telem_class_gc, telem_class_task, telem_class_frame, telem_class_log,
	telem_class_telem;
#pragma GCC visibility pop

#define TELEM_INLINE_ static inline __attribute__((always_inline, unused))
#define TELEM_UNLIKELY_(x) __builtin_expect(!!(x), 0)

/* Clock ticks: of the TSC where the kernel trusts it, else nanoseconds. 0, which records
 * nothing, before the first telem_start(). */
TELEM_INLINE_ uint64_t telem_stamp(void)
{
#ifdef __x86_64__
	if (__builtin_expect(__atomic_load_n(&telem_clock_is_tsc_, __ATOMIC_RELAXED), 1))
		return __builtin_ia32_rdtsc();
#endif
	return telem_clock_read_();
}

/* A thread's own figure: one instruction where that exists, so that a signal handler
 * that adds to the same one loses nothing. The flusher reads it relaxed. */
TELEM_INLINE_ void telem_add_(uint64_t *figure, uint64_t n)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(TELEM_PORTABLE_ADD)
	__asm__("addq %1, %0" : "+m"(*figure) : "er"(n) : "cc");
#else
	__atomic_store_n(figure, __atomic_load_n(figure, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
#endif
}

TELEM_INLINE_ uint8_t telem_level_(const struct telem_site *site)
{
	return __atomic_load_n(&site->level, __ATOMIC_RELAXED);
}

/* This thread's cell of the site; NULL when it has none yet. */
TELEM_INLINE_ struct telem_cell *telem_cell_(const struct telem_site *site)
{
	uint32_t id = site->id;

	return __builtin_expect(id < telem_thread_.cell_count, 1) ? telem_thread_.cells + id : NULL;
}

TELEM_INLINE_ void telem_count_(struct telem_site *site, uint8_t level, uint64_t n)
{
	struct telem_cell *cell = telem_cell_(site);

	if (TELEM_UNLIKELY_(!cell)) {
		telem_add_slow_(site, n);
		return;
	}
	telem_add_(&cell->sum, n);
	if (TELEM_UNLIKELY_(level >= TELEM_ALL))
		telem_stream_(site, cell, n);
	else
		telem_add_(&cell->count, 1);
}

TELEM_INLINE_ void telem_mark_(struct telem_site *site, uint8_t level, uint64_t key)
{
	struct telem_cell *cell = telem_cell_(site);

	if (TELEM_UNLIKELY_(!cell))
		telem_mark_slow_(site, key);
	else if (TELEM_UNLIKELY_(level >= TELEM_ALL))
		telem_stream_(site, cell, key);
	else
		telem_add_(&cell->count, 1);
}

TELEM_INLINE_ void telem_gauge_set_(struct telem_site *site, uint8_t level, int64_t n)
{
	struct telem_cell *cell = telem_cell_(site);
	uint32_t *owner;

	if (TELEM_UNLIKELY_(!cell)) {
		telem_gauge_slow_(site, n, false);
		return;
	}
	__atomic_store_n(&cell->sum, (uint64_t)n, __ATOMIC_RELAXED);
	/* The last setter owns the gauge; written only when it changes hands. */
	owner = __atomic_load_n(&site->owner, __ATOMIC_RELAXED);
	if (TELEM_UNLIKELY_(__atomic_load_n(owner, __ATOMIC_RELAXED) != telem_thread_.shard))
		__atomic_store_n(owner, telem_thread_.shard, __ATOMIC_RELAXED);
	if (TELEM_UNLIKELY_(level >= TELEM_ALL))
		telem_stream_coarse_(site, cell, (uint64_t)n);
	else
		telem_add_(&cell->count, 1);
}

TELEM_INLINE_ void telem_gauge_add_(struct telem_site *site, uint8_t level, int64_t n)
{
	struct telem_cell *cell = telem_cell_(site);

	if (TELEM_UNLIKELY_(!cell)) {
		telem_gauge_slow_(site, n, true);
		return;
	}
	telem_add_(&cell->sum, (uint64_t)n);
	if (TELEM_UNLIKELY_(level >= TELEM_ALL))
		telem_stream_coarse_(site, cell, (uint64_t)n);
	else
		telem_add_(&cell->count, 1);
}

/* The program's heap, which frames look at, is told of it in steps. */
TELEM_INLINE_ void telem_heap_(int64_t bytes, bool is_free)
{
	int64_t step = telem_thread_.heap_step;

	telem_add_((uint64_t *)&telem_thread_.heap_moved, (uint64_t)bytes);
	if (TELEM_UNLIKELY_((uint64_t)(telem_thread_.heap_moved + step) >= 2 * (uint64_t)step))
		telem_heap_slow_(bytes, is_free);
}

/* An allocation whose address is known: about one in 64 is looked at until its free. */
TELEM_INLINE_ void telem_born_(struct telem_site *site, const void *address, uint64_t bytes)
{
	if (TELEM_UNLIKELY_(telem_thread_.unsampled-- == 0))
		telem_sampled_(site, address, bytes);
}

/* site NULL: of whatever type. */
TELEM_INLINE_ void telem_died_(const struct telem_site *site, const void *address)
{
	const uint64_t *place = &telem_samples_[TELEM_SAMPLE_PLACE_(address)];

	if (TELEM_UNLIKELY_(__atomic_load_n(place, __ATOMIC_RELAXED) == (uint64_t)(uintptr_t)address))
		telem_sample_ends_(site, address);
}

struct telem_tag_ { struct telem_site *before; };
TELEM_INLINE_ struct telem_tag_ telem_tag_begin_(struct telem_site *site)
{
	struct telem_tag_ tag = { telem_thread_.tag };

	if (telem_level_(site)) {
		telem_thread_.tag = site;
		telem_thread_.heap_step = 0;
	}
	return tag;
}
TELEM_INLINE_ void telem_tag_end_(struct telem_tag_ *tag) { telem_thread_.tag = tag->before; }

TELEM_INLINE_ void telem_alloc_(struct telem_site *site, uint8_t level, uint64_t bytes)
{
	struct telem_cell *cell = telem_cell_(site);

	if (TELEM_UNLIKELY_(!cell)) {
		telem_alloc_slow_(site, bytes, false);
		return;
	}
	telem_add_(&telem_thread_.alloc_count, 1);
	telem_heap_((int64_t)bytes, false);
	telem_add_(&cell->sum, bytes);
	if (TELEM_UNLIKELY_(level >= TELEM_ALL))
		telem_stream_coarse_(site, cell, bytes);
	else
		telem_add_(&cell->count, 1);
}

TELEM_INLINE_ void telem_free_(struct telem_site *site, uint8_t level, uint64_t bytes)
{
	struct telem_cell *cell = telem_cell_(site);

	if (TELEM_UNLIKELY_(!cell)) {
		telem_alloc_slow_(site, bytes, true);
		return;
	}
	telem_heap_(-(int64_t)bytes, true);
	telem_add_(&cell->max, bytes);
	if (TELEM_UNLIKELY_(level >= TELEM_ALL))
		telem_stream_free_(site, cell, bytes);
	else
		telem_add_(&cell->min, 1);
}

/* Where sites stand: in C a section of pointers that the module hands over when it is
 * loaded. C++ may not put the statics of inline functions and templates into a named
 * section, so there a static object a site does the same. */
extern struct telem_class *__start_telem_classes[] __attribute__((weak, visibility("hidden")));
extern struct telem_class *__stop_telem_classes[] __attribute__((weak, visibility("hidden")));
extern struct telem_site *__start_telem_sites[] __attribute__((weak, visibility("hidden")));
extern struct telem_site *__stop_telem_sites[] __attribute__((weak, visibility("hidden")));

__attribute__((weak, visibility("hidden"))) struct telem_module_ telem_module_ = {
	TELEM_ABI_, 0, __start_telem_classes, __stop_telem_classes, __start_telem_sites, __stop_telem_sites
};
#ifndef TELEM_NO_SITES_HERE_
__attribute__((constructor, unused)) static void telem_module_load_(void) { telem_module_enter_(&telem_module_); }
__attribute__((destructor, unused)) static void telem_module_unload_(void) { telem_module_leave_(&telem_module_); }
#endif

#define TELEM_SITE_INIT_(cls_, kind_, unit_, detail_, name_)                                     \
	{ TELEM_OFF, (kind_), (unit_), (detail_), 0, &telem_class_##cls_, (name_), __FILE__, __LINE__, { 0 }, { 0 }, \
	  { 0, 0 } }

#ifndef __cplusplus
#define TELEM_SITE_(cls, kind, unit, detail, name)                                               \
	__extension__({                                                                          \
		static struct telem_site telem_s_ = TELEM_SITE_INIT_(cls, kind, unit, detail, name);     \
		static struct telem_site *telem_p_ __attribute__((section("telem_sites"), used)) = &telem_s_; \
		&telem_s_;                                                                       \
	})
#else
} /* extern "C" */
namespace telem_detail_ {
template <class Site> struct registered {
	registered() { telem_site_register_(Site::get(), &telem_module_); }
	static registered one;
};
template <class Site> registered<Site> registered<Site>::one;
}
extern "C" {
#define TELEM_SITE_(cls, kind, unit, detail, name)                                               \
	__extension__({                                                                          \
		struct telem_site_here_ {                                                        \
			static struct telem_site *get()                                          \
			{                                                                        \
				static struct telem_site s =                                     \
					TELEM_SITE_INIT_(cls, kind, unit, detail, name);         \
				return &s;                                                       \
			}                                                                        \
		};                                                                               \
		(void)&::telem_detail_::registered<telem_site_here_>::one;                       \
		telem_site_here_::get();                                                         \
	})
#endif

/* Runs call(site, level, ...) out of line when the site is not off. */
#define TELEM_IF_ON_(cls, kind, unit, detail, name, ...)                                         \
	do {                                                                                     \
		struct telem_site *const telem_site_ = TELEM_SITE_(cls, kind, unit, detail, name);       \
		const uint8_t telem_lvl_ = telem_level_(telem_site_);                            \
		if (TELEM_UNLIKELY_(telem_lvl_)) {                                               \
			__VA_ARGS__;                                                             \
		}                                                                                \
	} while (0)

/* ======== the instruments ===================================================== */

/* Defines a class, once, at file scope; level is the program's own one. At most 64
 * classes a program; one of the same name elsewhere is the same class. mem, gc, task,
 * frame and log are there already, and telem and report once they have something to say. */
#define TELEM_CLASS(name_, help_, level_)                                                        \
	struct telem_class telem_class_##name_ = { #name_, (help_), (level_), 0, { 0, 0, 0, 0, 0, 0 } }; \
	static struct telem_class *telem_class_here_##name_                                      \
		__attribute__((section("telem_classes"), used)) = &telem_class_##name_
/* Names a class that another file defines. */
#define TELEM_CLASS_DECLARE(name_) extern struct telem_class telem_class_##name_

/* A span: how long a section of code takes, in ns. About 1.1 pairs of clock readings.
 * A begun span is a value on the stack; where it ends, in the same thread, is yours. */
struct telem_span { struct telem_site *site; uint64_t start; int once; };

/* Counted, but not timed? */
TELEM_INLINE_ bool telem_is_passed_over_(struct telem_site *site, uint8_t level)
{
	if (level & TELEM_SAMPLED_) {
		struct telem_cell *cell = telem_cell_(site);

		if (TELEM_UNLIKELY_(!cell))
			cell = telem_cell_make_(site);
		if (cell) {
			uint64_t before = cell->begun;

			telem_add_(&cell->begun, 1);
			if (before & __atomic_load_n(&site->skip_mask, __ATOMIC_RELAXED))
				return true;
		}
	}
	if (level & TELEM_HANDLED_)
		telem_started_(site);
	return false;
}

TELEM_INLINE_ struct telem_span telem_span_begin(struct telem_site *site)
{
	struct telem_span span = { site, 0, 1 };
	uint8_t level = telem_level_(site);

	if (TELEM_UNLIKELY_(level) && !(TELEM_UNLIKELY_(level > TELEM_ALL) && telem_is_passed_over_(site, level)))
		span.start = telem_stamp();
	return span;
}
TELEM_INLINE_ void telem_span_end(struct telem_span *span)
{
	if (TELEM_UNLIKELY_(span->start)) {
		telem_duration_(span->site, span->start);
		span->start = 0;
	}
}
/* Ends it uncounted: the section was not run to its end, and its time means nothing. */
TELEM_INLINE_ void telem_span_abandon(struct telem_span *span)
{
	if (TELEM_UNLIKELY_(span->start)) {
		telem_abandoned_(span->site, span->start);
		span->start = 0;
	}
}
/* A site to begin spans of: struct telem_span s = telem_span_begin(TELEM_SPAN_SITE(net, "accept")); */
#define TELEM_SPAN_SITE(cls, name) TELEM_SITE_(cls, TELEM_KIND_SPAN_, TELEM_NS, 0, name)
/* TELEM_SPAN(net, "accept") { ... }: ends with the block, however it is left: its end,
 * return, goto or an exception. break and continue leave the span, not a loop round it. */
#define TELEM_SPAN(cls, name)                                                                    \
	for (struct telem_span TELEM_CAT_(telem_span_, __LINE__) __attribute__((cleanup(telem_span_end))) = \
		     telem_span_begin(TELEM_SPAN_SITE(cls, name));                               \
	     TELEM_CAT_(telem_span_, __LINE__).once; TELEM_CAT_(telem_span_, __LINE__).once = 0)
/* A declaration: from here to the end of the enclosing block. break is the loop's own. */
#define TELEM_SPAN_HERE(cls, name)                                                               \
	struct telem_span TELEM_CAT_(telem_span_, __LINE__) __attribute__((cleanup(telem_span_end), unused)) = \
		telem_span_begin(TELEM_SPAN_SITE(cls, name))

/* The time since start = telem_stamp(), taken anywhere, in any thread, and carried by
 * you; no table. 0 records nothing. */
#define TELEM_LATENCY(cls, name, start)                                                          \
	TELEM_IF_ON_(cls, TELEM_KIND_LATENCY_, TELEM_NS, 0, name, telem_duration_(telem_site_, (start)))

/* The time between two events that nothing but a 64-bit key connects, begun and ended in any
 * place and thread. Costs a look into a table of 32,768 open ones, 10 ns beside the stamps.
 * One that is begun again starts anew. What cannot be counted is: class telem has counters
 * of ends unmatched, of begins restarted, of open ones that expired and made way, and of
 * begins that found no room. For signal handlers, too. */
#define TELEM_LATENCY_BEGIN(cls, name, key)                                                      \
	TELEM_IF_ON_(cls, TELEM_KIND_LATENCY_, TELEM_NS, 0, name,                                \
		     telem_latency_begin_(telem_site_, (uint64_t)(key)))
#define TELEM_LATENCY_END(cls, name, key)                                                        \
	TELEM_IF_ON_(cls, TELEM_KIND_LATENCY_, TELEM_NS, 0, name,                                \
		     telem_latency_end_(telem_site_, (uint64_t)(key)))

/* A point in time with a 64-bit key that ties it to other marks. */
#define TELEM_MARK(cls, name, key)                                                               \
	TELEM_IF_ON_(cls, TELEM_KIND_MARK_, TELEM_NONE, 0, name, telem_mark_(telem_site_, telem_lvl_, (uint64_t)(key)))

/* Adds n (unsigned) to a counter. About 1 ns at sum. Like every argument here n is not
 * evaluated while the site is off: no side effects in it. */
#define TELEM_COUNT(cls, name, n)                                                                \
	TELEM_IF_ON_(cls, TELEM_KIND_COUNTER_, TELEM_NONE, 0, name,                              \
		     telem_count_(telem_site_, telem_lvl_, (uint64_t)(n)))

/* Sets a gauge (signed 64-bit), whichever thread did last ... */
#define TELEM_GAUGE(cls, name, n)                                                                \
	TELEM_IF_ON_(cls, TELEM_KIND_GAUGE_, TELEM_NONE, 0, name,                                \
		     telem_gauge_set_(telem_site_, telem_lvl_, (int64_t)(n)))
/* ... or moves it by n: the gauge is the sum over all threads. Use one of the two a gauge. */
#define TELEM_GAUGE_ADD(cls, name, n)                                                            \
	TELEM_IF_ON_(cls, TELEM_KIND_GAUGE_, TELEM_NONE, 1, name,                                \
		     telem_gauge_add_(telem_site_, telem_lvl_, (int64_t)(n)))

/* A value (unsigned, below 2^42 for its histogram) with a distribution. */
#define TELEM_VALUE(cls, name, n, unit)                                                          \
	TELEM_IF_ON_(cls, TELEM_KIND_VALUE_, unit, 0, name, telem_value_(telem_site_, (uint64_t)(n)))

/* An event with 1 to 8 named numeric fields, each TELEM_F("status", status). Counted at
 * sum, whole at all. */
#define TELEM_EVENT(cls, name, ...)                                                              \
	TELEM_IF_ON_(cls, TELEM_KIND_EVENT_, TELEM_NONE, 0, name,                                \
		     const struct telem_field telem_f_[] = { __VA_ARGS__ };                      \
		     telem_event_(telem_site_, telem_f_, (uint32_t)(sizeof telem_f_ / sizeof telem_f_[0])))

/* A log line, printf-like, at most 2 KiB of text: counted at sum (log pressure), its text
 * sent at all; of a burst from one place and thread 20 texts a second, and how many more
 * there were. The severity is the place's: a constant. */
#define TELEM_LOG(severity, ...)                                                                 \
	TELEM_IF_ON_(log, TELEM_KIND_LOG_, TELEM_NONE, severity, TELEM_FIRST_(__VA_ARGS__, ),    \
		     telem_log_(telem_site_, __VA_ARGS__))
#define TELEM_FIRST_(first, ...) first

/* bytes of a type came to life, or ended; the same number both times. About 1 ns at sum. */
#define TELEM_ALLOC(type, bytes)                                                                 \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, #type,                              \
		     telem_alloc_(telem_site_, telem_lvl_, (uint64_t)(bytes)))
#define TELEM_FREE(type, bytes)                                                                  \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, #type,                              \
		     telem_free_(telem_site_, telem_lvl_, (uint64_t)(bytes)))
/* The same where the address is known, for an allocator of your own: about one in 64 is
 * followed to its end, which gives the type's lifetimes, telem_alloc_hook() and
 * telem_allocations(). About 1 ns more. */
#define TELEM_ALLOC_AT(type, address, bytes)                                                     \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, #type,                              \
		     telem_alloc_(telem_site_, telem_lvl_, (uint64_t)(bytes));                   \
		     telem_born_(telem_site_, (address), (uint64_t)(bytes)))
#define TELEM_FREE_AT(type, address, bytes)                                                      \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, #type,                              \
		     telem_free_(telem_site_, telem_lvl_, (uint64_t)(bytes));                    \
		     telem_died_(telem_site_, (address)))
/* A declaration: what this thread allocates and frees from here to the end of the enclosing
 * block counts under the tag as well, its figures being what the block left behind. The
 * innermost tag counts. 3 ns more for each of them. Not to be left by longjmp(). */
#define TELEM_ALLOC_TAG(name)                                                                    \
	struct telem_tag_ TELEM_CAT_(telem_tag_, __LINE__) __attribute__((cleanup(telem_tag_end_), unused)) = \
		telem_tag_begin_(TELEM_SITE_(mem, TELEM_KIND_TAG_, TELEM_BYTES, 0, name))

#else /* TELEM_DISABLE: nothing is evaluated, nothing is linked. */
#pragma GCC visibility pop

#define TELEM_NOTHING_(value) __extension__({ value; })
#define telem_start(options) __extension__({ (void)(options); 0; })
#define telem_stop() ((void)0)
#define telem_error() ""
#define telem_class_level(cls, level) TELEM_NOTHING_(0)
#define telem_level_set(name, level) TELEM_NOTHING_(0)
#define telem_level_get(name) TELEM_NOTHING_(0)
#define telem_enable_all(on) ((void)0)
#define telem_class_limit(name, keep, per_second) TELEM_NOTHING_(0)
#define telem_span_every(name, n) TELEM_NOTHING_(0)
#define telem_sink_add(address) TELEM_NOTHING_(0)
#define telem_sink_fifo(path) TELEM_NOTHING_(0)
#define telem_sink_unix(path) TELEM_NOTHING_(0)
#define telem_sink_tcp_listen(host, port, control) TELEM_NOTHING_(0)
#define telem_sink_tcp_connect(host, port, control) TELEM_NOTHING_(0)
#define telem_sink_file(path) TELEM_NOTHING_(0)
#define telem_sink_fd(fd) TELEM_NOTHING_(0)
#define telem_sink_remove(id) TELEM_NOTHING_(0)
#define telem_sink_redirect(id, address) TELEM_NOTHING_(0)
#define telem_flush(timeout_ns) TELEM_NOTHING_(0)
#define telem_sync() ((void)0)
#define telem_set_flush_interval(ns) TELEM_NOTHING_(0)
#define telem_set_ring_bytes(bytes) TELEM_NOTHING_(0)
#define telem_set_latency_expiry(ns) TELEM_NOTHING_(0)
#define telem_set_policy(policy, timeout_ns) TELEM_NOTHING_(0)
#define telem_stats(out) __builtin_memset((out), 0, sizeof *(out))
#define telem_dump(reason, path, room) __extension__({ if (0) (void)(path); 0; })
#define telem_dump_directory(directory) TELEM_NOTHING_(0)
#define telem_dump_on_signal(number) TELEM_NOTHING_(0)
#define telem_class_stats(out, room) __extension__({ if (0) (void)(out); 0u; })
#define telem_report_telemetry() TELEM_NOTHING_(0)
#define telem_task_name(name) ((void)0)
#define telem_task_new(name) TELEM_NOTHING_(1)
#define telem_task_enter(id) __extension__({ (void)sizeof(id); 0; })
#define telem_task_leave() ((void)0)
#define telem_task_end(id) ((void)sizeof(id))
#define telem_reporter(path, kind, unit, function, arg)                                          \
	__extension__({ if (0) { (void)(path); (void)(function); (void)(arg); } 0; })
#define telem_provider(name, function, arg)                                                      \
	__extension__({ if (0) { (void)(name); (void)(function); (void)(arg); } 0; })
#define telem_reporter_remove(path) TELEM_NOTHING_(0)
#define telem_report_malloc() TELEM_NOTHING_(0)
#define telem_report_process() TELEM_NOTHING_(0)
#define telem_frame(name) ((void)sizeof(name))
#define telem_frame_begin(name) ((void)sizeof(name))
#define telem_frames(name, out, room) __extension__({ if (0) (void)(out); 0u; })
#define telem_frame_counter(name, counter) TELEM_NOTHING_(0)
#define telem_budget(name, budget, function, arg)                                                \
	__extension__({ if (0) { (void)(budget); (void)(function); (void)(arg); } 0; })
#define telem_watch(what, on) ((void)0)
#define telem_gc_begin(generation) ((void)sizeof(generation))
#define telem_gc_end(generation, gc) ((void)sizeof(generation))
/* Named, so that what is only there to be handed over is not unused. */
#define telem_attach(id, event, function, config)                                                \
	__extension__({ if (0) { (void)(id); (void)(event); (void)(function); (void)(config); } 0; })
#define telem_attach_many(id, events, count, function, config, max_failures)                     \
	__extension__({                                                                          \
		if (0) {                                                                         \
			(void)(id); (void)(events); (void)(count); (void)(function); (void)(config);     \
			(void)(max_failures);                                                    \
		}                                                                                \
		0;                                                                               \
	})
#define telem_detach(id) TELEM_NOTHING_(0)
#define telem_detach_async(id) TELEM_NOTHING_(0)
#define telem_list_handlers(prefix, out, room) TELEM_NOTHING_(0u)
#define telem_persist() ((void)0)
#define telem_unpersist() ((void)0)
#define telem_execute(event, fields, count) TELEM_NOTHING_(0u)
#define telem_stamp() ((uint64_t)0)
struct telem_span { int once; };
int telem_unused_(const char *format, ...);
#define TELEM_CLASS(name, help, level) struct telem_class
#define TELEM_CLASS_DECLARE(name) struct telem_class
#define TELEM_SPAN_SITE(cls, name) ((struct telem_site *)0)
#define telem_span_begin(site) __extension__((struct telem_span){ 1 })
#define telem_span_end(span) ((void)(span))
#define telem_span_abandon(span) ((void)(span))
#define TELEM_SPAN(cls, name)                                                                    \
	for (int TELEM_CAT_(telem_once_, __LINE__) = 1; TELEM_CAT_(telem_once_, __LINE__);         \
	     TELEM_CAT_(telem_once_, __LINE__) = 0)
#define TELEM_SPAN_HERE(cls, name) typedef int TELEM_CAT_(telem_here_, __LINE__) __attribute__((unused))
#define TELEM_LATENCY(cls, name, start) ((void)sizeof(start))
#define TELEM_LATENCY_BEGIN(cls, name, key) ((void)sizeof(key))
#define TELEM_LATENCY_END(cls, name, key) ((void)sizeof(key))
#define TELEM_MARK(cls, name, key) ((void)sizeof(key))
#define TELEM_COUNT(cls, name, n) ((void)sizeof(n))
#define TELEM_GAUGE(cls, name, n) ((void)sizeof(n))
#define TELEM_GAUGE_ADD(cls, name, n) ((void)sizeof(n))
#define TELEM_VALUE(cls, name, n, unit) ((void)sizeof(n))
#define TELEM_EVENT(cls, name, ...) ((void)sizeof(telem_unused_("", __VA_ARGS__)))
#define TELEM_LOG(severity, ...) ((void)sizeof(telem_unused_(__VA_ARGS__)))
#define TELEM_ALLOC(type, bytes) ((void)sizeof(bytes))
#define TELEM_FREE(type, bytes) ((void)sizeof(bytes))
#define TELEM_ALLOC_AT(type, address, bytes) ((void)(address), (void)sizeof(bytes))
#define TELEM_FREE_AT(type, address, bytes) ((void)(address), (void)sizeof(bytes))
#define TELEM_ALLOC_TAG(name) typedef int TELEM_CAT_(telem_here_, __LINE__) __attribute__((unused))
#define telem_died_(site, address) ((void)(address))
#define telem_alloc_hook(function, arg) __extension__({ if (0) { (void)(function); (void)(arg); } 0; })
#define telem_allocations(task, out, room) __extension__({ if (0) (void)(out); 0u; })

#endif /* TELEM_DISABLE */

static inline __attribute__((unused)) double telem_field_double(const struct telem_field *field)
{
	union { uint64_t bits; double number; } both = { field->bits };

	return field->type == TELEM_FIELD_DOUBLE_ ? both.number
	       : field->type == TELEM_FIELD_INT_ ? (double)(int64_t)field->bits : (double)field->bits;
}
static inline __attribute__((unused)) int64_t telem_field_int(const struct telem_field *field)
{
	return field->type == TELEM_FIELD_DOUBLE_ ? (int64_t)telem_field_double(field) : (int64_t)field->bits;
}

/* malloc and friends that keep the books by type, with what the allocator really gave. */
#define telem_malloc(type, bytes) TELEM_TAKEN_(type, malloc(bytes))
#define telem_calloc(type, count, bytes) TELEM_TAKEN_(type, calloc((count), (bytes)))
#define telem_free(type, pointer)                                                                \
	do {                                                                                     \
		void *telem_pointer_ = (pointer);                                                \
		if (telem_pointer_) {                                                            \
			TELEM_FREE_AT(type, telem_pointer_, malloc_usable_size(telem_pointer_)); \
			free(telem_pointer_);                                                    \
		}                                                                                \
	} while (0)
#define telem_realloc(type, pointer, bytes)                                                      \
	__extension__({                                                                          \
		void *telem_old_ = (pointer);                                                    \
		size_t telem_had_ = telem_old_ ? malloc_usable_size(telem_old_) : 0;             \
		size_t telem_wanted_ = (bytes);                                                  \
		void *telem_new_;                                                                \
		telem_died_(NULL, telem_old_);  /* its address may soon be another's */          \
		telem_new_ = realloc(telem_old_, telem_wanted_);                                 \
		if (telem_had_ && (telem_new_ || telem_wanted_ == 0))   /* to 0 it frees */      \
			TELEM_FREE(type, telem_had_);                                            \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, malloc_usable_size(telem_new_));        \
		telem_new_;                                                                      \
	})
/* Of a size that is known when it is freed: that is what counts. */
#define telem_malloc_sized(type, bytes)                                                          \
	__extension__({                                                                          \
		size_t telem_bytes_ = (bytes);                                                   \
		void *telem_new_ = malloc(telem_bytes_);                                         \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, telem_bytes_);                          \
		telem_new_;                                                                      \
	})
#define telem_free_sized(type, pointer, bytes)                                                   \
	do {                                                                                     \
		void *telem_pointer_ = (pointer);                                                \
		if (telem_pointer_) {                                                            \
			TELEM_FREE_AT(type, telem_pointer_, (bytes));                            \
			free(telem_pointer_);                                                    \
		}                                                                                \
	} while (0)
#define TELEM_TAKEN_(type, call)                                                                 \
	__extension__({                                                                          \
		void *telem_new_ = (call);                                                       \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, malloc_usable_size(telem_new_));        \
		telem_new_;                                                                      \
	})

#ifdef __cplusplus
} /* extern "C" */
#endif

/* One object of a type, or n in a row, value-initialised (in C: zeroed), which count with
 * their size; NULL when memory is out (in C++ new throws). NULL is deleted as nothing. With
 * telem_new.h they count as "operator new" as well: use one of the two. */
#ifdef __cplusplus
#define TELEM_MAKE_(type, count) new type[count]()
#define TELEM_MAKE_ONE_(type) new type()
#define TELEM_UNMAKE_(pointer) delete[] (pointer)
#define TELEM_UNMAKE_ONE_(pointer) delete (pointer)
#else
#define TELEM_MAKE_(type, count) (type *)calloc((count), sizeof(type))
#define TELEM_MAKE_ONE_(type) (type *)calloc(1, sizeof(type))
#define TELEM_UNMAKE_(pointer) free(pointer)
#define TELEM_UNMAKE_ONE_(pointer) free(pointer)
#endif
#define TELEM_NEW(type)                                                                          \
	__extension__({                                                                          \
		type *telem_new_ = TELEM_MAKE_ONE_(type);                                        \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, sizeof(type));                          \
		telem_new_;                                                                      \
	})
#define TELEM_NEW_ARRAY(type, count)                                                             \
	__extension__({                                                                          \
		size_t telem_count_of_ = (count);                                                \
		type *telem_new_ = TELEM_MAKE_(type, telem_count_of_);                           \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, telem_count_of_ * sizeof(type));        \
		telem_new_;                                                                      \
	})
#define TELEM_DELETE(type, pointer)                                                              \
	do {                                                                                     \
		type *telem_pointer_ = (pointer);                                                \
		if (telem_pointer_)                                                              \
			TELEM_FREE_AT(type, telem_pointer_, sizeof(type));                       \
		TELEM_UNMAKE_ONE_(telem_pointer_);                                               \
	} while (0)
#define TELEM_DELETE_ARRAY(type, pointer, count)                                                 \
	do {                                                                                     \
		type *telem_pointer_ = (pointer);                                                \
		if (telem_pointer_)                                                              \
			TELEM_FREE_AT(type, telem_pointer_, (count) * sizeof(type));             \
		TELEM_UNMAKE_(telem_pointer_);                                                   \
	} while (0)

#ifdef TELEM_DISABLE
#define TELEM_F(name, value) (value)
#elif defined(__cplusplus)
#include <cstring>
#include <type_traits>
template <class T> static inline struct telem_field telem_field_(const char *name, T value)
{
	struct telem_field field = { name, TELEM_FIELD_UINT_, 0 };

	if constexpr (std::is_floating_point<T>::value) {
		double number = static_cast<double>(value);
		field.type = TELEM_FIELD_DOUBLE_;
		std::memcpy(&field.bits, &number, sizeof number);
	} else {
		field.type = std::is_signed<T>::value ? TELEM_FIELD_INT_ : TELEM_FIELD_UINT_;
		field.bits = static_cast<uint64_t>(value);
	}
	return field;
}
#define TELEM_F(name, value) telem_field_((name), (value))
#else
static inline __attribute__((unused)) uint64_t telem_double_bits_(double number)
{
	union { double number; uint64_t bits; } both = { number };

	return both.bits;
}
static inline __attribute__((unused)) uint64_t telem_uint_bits_(uint64_t number) { return number; }
static inline __attribute__((unused)) uint64_t telem_int_bits_(int64_t number) { return (uint64_t)number; }
#define TELEM_F(name, value)                                                                     \
	{ (name),                                                                                \
	  _Generic((value), float: TELEM_FIELD_DOUBLE_, double: TELEM_FIELD_DOUBLE_,             \
		   unsigned char: TELEM_FIELD_UINT_, unsigned short: TELEM_FIELD_UINT_,          \
		   unsigned int: TELEM_FIELD_UINT_, unsigned long: TELEM_FIELD_UINT_,            \
		   unsigned long long: TELEM_FIELD_UINT_, _Bool: TELEM_FIELD_UINT_,              \
		   default: TELEM_FIELD_INT_),                                                   \
	  _Generic((value), float: telem_double_bits_, double: telem_double_bits_,               \
		   unsigned char: telem_uint_bits_, unsigned short: telem_uint_bits_,            \
		   unsigned int: telem_uint_bits_, unsigned long: telem_uint_bits_,              \
		   unsigned long long: telem_uint_bits_, _Bool: telem_uint_bits_,                \
		   default: telem_int_bits_)(value) }
#endif

#include <malloc.h>
#include <stdlib.h>
#endif
