/* telem.h -- see inside your running program from a terminal: the manual of libtelem.
 *
 * Link libtelem, name what is worth seeing, call telem_start(); then run `telemtop PID`.
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
 * A *site* is a named place in the program that produces events. A *class* is a group of sites that
 * is switched as one. Every class and every site has a *level*: off, sum or all. A site that is off
 * costs one compare and one branch, a counter that is summed about one nanosecond, and a span two
 * readings of the clock. Sites of one class, kind and name are one site, wherever they stand in the
 * code. A *viewer* is whatever takes the stream: telemtop, another reader, or a recording. A *tick*
 * is one round of sums that viewers get, once a second unless a viewer asks for another interval.
 *
 * This file is the whole manual, in the order in which a newcomer needs it:
 *
 *	start and stop          telem_start() and the TELEM variable
 *	classes and levels      TELEM_CLASS, off, sum and all
 *	spans                   how long a piece of code takes
 *	counters and gauges     how many, how much now; values with a distribution
 *	latencies and marks     the time between two places
 *	events and logs         named numbers, lines of text
 *	memory                  allocations and frees by type
 *	switching levels        at run time; streaming or timing a part only
 *	tasks                   whose work it is: a thread's, a request's, an actor's
 *	frames and budgets      turns of a main loop and what they may take
 *	garbage collection      a collector's pauses
 *	handlers                functions of yours that are called for events
 *	reporters               functions of yours that are asked for values
 *	sinks                   where the stream goes; flushing
 *	statistics              what telemetry has done and what it costs
 *	flight recorder         the latest events, written to a file when something goes wrong
 *
 * These rules hold for every call, unless its comment says otherwise:
 *
 * - Threads: any thread may call it, before telem_start() and after telem_stop() too; nothing is
 *   recorded then. A child of fork() starts telemetry anew at its first event.
 * - Signal handlers: the recording macros, the span functions, telem_stamp() and telem_execute()
 *   may be used in a signal handler (the macros that call malloc(), as telem_malloc() and
 *   TELEM_NEW, may not). An event that interrupts the recording of another event may be dropped,
 *   and is counted as dropped. No other function may be called there.
 * - Errors: a function that can fail returns 0 (or an id) or a negative errno; telem_error() then
 *   says why in words. No call changes errno, prints, or raises a signal.
 * - Arguments of a macro are not evaluated while the site is off: give them no side effects.
 * - Names: `cls` is the bare name of a class, `name` a string literal. Names passed to functions
 *   are copied. A name has at most 127 bytes; a longer name of a site is cut. A program has at most
 *   16,384 sites (fewer where RLIMIT_AS or RLIMIT_DATA leaves little room); those beyond stay off, and
 *   telem_error() tells.
 *
 * The header needs C11 or C++17 and GCC or Clang; GNU extensions are marked with __extension__.
 * -DTELEM_DISABLE compiles every call away, and nothing has to be linked. */
#ifndef TELEM_H
#define TELEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This mark stands before the few functions that telem_inline.h defines in the program itself, for
 * speed. The library defines all others. */
#ifdef TELEM_DISABLE
#define TELEM_INLINE_
#else
#define TELEM_INLINE_ static inline __attribute__((always_inline, unused))
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define TELEM_VERSION "0.1.0"

/* ---- start and stop -----------------------------------------------------------
 *
 * The TELEM environment variable configures a program without recompiling it:
 *
 *	TELEM="sink=fifo:/tmp/app.telem;net=all;mem=off;flush=100ms;ring=1M;policy=drop"
 *
 * Settings are separated by `;`, and have at most 2,047 bytes together:
 *
 *	sink=ADDRESS[,control]  adds a sink, as telem_sink_add() does; at most 16
 *	CLASS=off|sum|all       sets a class's own level; the class may be registered later.
 *	                        `,keep=1/100` and `,limit=10k/s` may follow the level or stand
 *	                        in its place: they work as telem_class_limit() does
 *	CLASS.NAME=off|sum|all  sets a site's own level; the site must exist when telemetry starts
 *	CLASS.NAME=1/16         times one span in 16, as telem_span_every() does
 *	all=off|sum|all         sets the own level of every class
 *	flush=TIME              as telem_set_flush_interval()
 *	ring=BYTES              as telem_set_ring_bytes()
 *	samples=N               places for sampled allocations (see telem_allocation): 1K to 256K
 *	policy=drop|overwrite|block[:TIME]   as telem_set_policy(); block waits 10 ms by default
 *	name=TEXT               the program's name
 *	dump=DIR                as telem_dump_directory()
 *	discovery=on|off        whether to listen on the discovery socket
 *
 * TIME has a unit (ns, us, ms, s); BYTES may end in K, M or G (powers of 1,024). */

/* Every field has a default at zero, so NULL and `{ .size = sizeof options }` both work. */
struct telem_options {
	size_t size;               /* sizeof (struct telem_options), for later versions */
	const char *name;          /* the program's name, by which telemtop finds it; at most 127 bytes; default: its
				    * file name */
	const char *config;        /* settings in the form of TELEM, applied before the variable is */
	uint64_t linger_ns;        /* how long telem_stop() waits for sinks at most; default 100 ms, at most 60 s */
	bool ignore_environment;   /* the TELEM variable is not read */
	bool no_discovery;         /* the discovery socket is not opened */
};

/* Starts telemetry: applies the options and the TELEM variable, opens the discovery socket
 * ($XDG_RUNTIME_DIR/telem/PID.sock, else /tmp/telem-UID/PID.sock) and starts a thread that sleeps
 * until a viewer connects. Returns 0; -EALREADY when telemetry runs already; -EBUSY when another
 * copy of libtelem in this process runs it; -EINVAL when a setting is bad, in which case the good
 * settings hold and telemetry runs; another negative errno when there is no thread or memory for
 * it. When only the discovery socket cannot be opened, telemetry runs, the call returns 0, and
 * telem_error() says why. A set-uid program ignores TELEM and opens no discovery socket. */
int telem_start(const struct telem_options *options_or_null);
/* Sends what has been recorded, says goodbye to every sink and closes it. The call waits for the
 * sinks at most the linger time. A second call does nothing. The library calls it at exit. Later
 * events are not recorded, until telem_start() is called again. */
void telem_stop(void);
/* Returns the latest error in one line, or "" when there was none. The pointer stays valid; a
 * later error replaces the text. */
const char *telem_error(void);

/* ---- classes and levels --------------------------------------------------------
 *
 * The level decides what happens to an event. TELEM_SUM is the usual level of a class: its figures
 * are always there, and the stream carries sums once a tick instead of every event. The sites of a
 * class have its level, unless they were given a level of their own. */

enum telem_level {
	TELEM_OFF = 0,       /* nothing is recorded: one compare and one branch */
	TELEM_SUM = 1,       /* counts, sums and histograms are kept in this process and sent to viewers once a tick */
	TELEM_ALL = 2        /* sums are kept, and each single event is streamed as well */
};

/* The unit of a value; the monitor formats the value accordingly. */
enum telem_unit { TELEM_NONE = 0, TELEM_NS = 1, TELEM_BYTES = 2 };

/* A group of sites that is switched as one, and one site. Their fields are internal. */
struct telem_class;
struct telem_site;

/* Defines a class at file scope: TELEM_CLASS(net, "socket I/O", TELEM_SUM); `level` is the class's
 * own level. Classes of one name, in different archives or shared objects, are one class.
 * A program has at most 64; sites of a class beyond that stay off. The classes mem, gc, task, frame
 * and log exist in every program; telem (telemetry's own figures) and report (reporters) appear
 * with their first site. */
#define TELEM_CLASS(name, help, level) TELEM_CLASS_(telem_class_##name, telem_class_here_##name, #name, help, level)
/* Declares a class that another file defines: TELEM_CLASS_DECLARE(net); */
#define TELEM_CLASS_DECLARE(name) TELEM_CLASS_DECLARE_(telem_class_##name)

/* ---- spans ---------------------------------------------------------------------
 *
 * A span is one run of a piece of code; its duration is recorded in nanoseconds, with a
 * distribution. A span costs about 1.1 times two readings of the clock. */

/* TELEM_SPAN(net, "accept") { ... } times the block, however the block is left: at its end, by
 * return or goto, or by an exception. break and continue leave the span, not a loop around it. */
#define TELEM_SPAN(cls, name) TELEM_SPAN_(cls, name)
/* TELEM_SPAN_HERE(net, "accept"); is a declaration, and times the code from here to the end of the
 * enclosing block. break and continue act on the loop around it, as usual. */
#define TELEM_SPAN_HERE(cls, name) TELEM_SPAN_HERE_(cls, name)

/* A span that has begun. It is a value on the stack; the same thread must end it. The fields are
 * internal. */
struct telem_span { struct telem_site *site; uint64_t start; int once; };
/* The site of spans that are begun and ended by hand:
 *
 *	struct telem_span span = telem_span_begin(TELEM_SPAN_SITE(net, "accept"));
 *	...
 *	telem_span_end(&span); */
#define TELEM_SPAN_SITE(cls, name) TELEM_SPAN_SITE_(cls, name)
/* Begins a span. While the site is off, the span is not timed, and its end records nothing. */
TELEM_INLINE_ struct telem_span telem_span_begin(struct telem_site *site);
/* Ends the span and records its duration. A second end of the same span does nothing. */
TELEM_INLINE_ void telem_span_end(struct telem_span *span);
/* Ends the span without recording it, because the code was not run to its end and the duration
 * means nothing. Handlers are called with TELEM_ABANDONED. */
TELEM_INLINE_ void telem_span_abandon(struct telem_span *span);

/* ---- counters and gauges -------------------------------------------------------- */

/* Adds n (unsigned, 64 bits) to a counter. Costs about 1 ns at level sum. */
#define TELEM_COUNT(cls, name, n) TELEM_COUNT_(cls, name, TELEM_NONE, n)
/* The same for a number of bytes, or of nanoseconds. */
#define TELEM_COUNT_BYTES(cls, name, n) TELEM_COUNT_(cls, name, TELEM_BYTES, n)
#define TELEM_COUNT_NS(cls, name, n) TELEM_COUNT_(cls, name, TELEM_NS, n)
/* Sets a gauge (signed, 64 bits) to n. The gauge shows what any thread set last. */
#define TELEM_GAUGE(cls, name, n) TELEM_GAUGE_(cls, name, TELEM_NONE, n)
#define TELEM_GAUGE_BYTES(cls, name, n) TELEM_GAUGE_(cls, name, TELEM_BYTES, n)
#define TELEM_GAUGE_NS(cls, name, n) TELEM_GAUGE_(cls, name, TELEM_NS, n)
/* Moves a gauge by n (signed). The gauge is the sum over all threads. A gauge is either set or
 * moved: TELEM_GAUGE and TELEM_GAUGE_ADD of one name are two gauges. */
#define TELEM_GAUGE_ADD(cls, name, n) TELEM_GAUGE_ADD_(cls, name, TELEM_NONE, n)
#define TELEM_GAUGE_ADD_BYTES(cls, name, n) TELEM_GAUGE_ADD_(cls, name, TELEM_BYTES, n)
/* Records one value (unsigned, 64 bits) of a distribution, in the given unit. Count, sum, minimum
 * and maximum are exact. The histogram is log-linear, as HdrHistogram's: its buckets are exact
 * below 64 and at most 3.2 % wide up to 2^42; larger values count in the last bucket. */
#define TELEM_VALUE(cls, name, n, unit) TELEM_VALUE_(cls, name, n, unit)

/* ---- latencies and marks --------------------------------------------------------
 *
 * A latency is the time between two places in the program, in nanoseconds, with a distribution. */

/* Returns the present time in clock ticks: those of the processor's time stamp counter where the
 * kernel trusts it, else nanoseconds. Only TELEM_LATENCY understands them. Before the first
 * telem_start() it returns 0, for which nothing is recorded. */
TELEM_INLINE_ uint64_t telem_stamp(void);
/* Records the time since `start`, a value of telem_stamp() that was taken anywhere, in any thread,
 * and that the program carried here. A start of 0 records nothing. */
#define TELEM_LATENCY(cls, name, start) TELEM_LATENCY_(cls, name, start)

/* Record the time between two events that nothing but a 64-bit key connects. Begin and end may
 * happen in any function and in any thread; the class and name must be the same. Costs about 10 ns
 * more than the two stamps. The table holds 32,768 open latencies. A latency that is begun again
 * starts anew. Class telem counts what cannot be measured: "latency unmatched" (an end without a
 * begin), "latency restarted", "latency expired" (see telem_set_latency_expiry()) and "latency
 * overflowed" (a begin that found no room). */
#define TELEM_LATENCY_BEGIN(cls, name, key) TELEM_LATENCY_BEGIN_(cls, name, key)
#define TELEM_LATENCY_END(cls, name, key) TELEM_LATENCY_END_(cls, name, key)
/* Sets the age after which an open latency may be replaced by another that needs its room: 1 ms to
 * 1 h, default 60 s. Returns 0 or -EINVAL. */
int telem_set_latency_expiry(uint64_t ns);

/* Records a point in time with a 64-bit key that ties it to other marks. */
#define TELEM_MARK(cls, name, key) TELEM_MARK_(cls, name, key)

/* ---- events and logs ------------------------------------------------------------ */

/* Records an event with 1 to 8 named numbers:
 *
 *	TELEM_EVENT(net, "closed", TELEM_F("status", status), TELEM_F("seconds", 0.5));
 *
 * At level sum the event is counted; at level all its numbers are streamed. */
#define TELEM_EVENT(cls, name, ...) TELEM_EVENT_(cls, name, __VA_ARGS__)
/* One field: a name and an integer, bool or floating-point value. It keeps the value's type. */
#define TELEM_F(name, value) TELEM_F_(name, value)

enum telem_severity { TELEM_DEBUG = 0, TELEM_INFO = 1, TELEM_WARN = 2, TELEM_ERROR = 3, TELEM_FATAL = 4 };

/* Records a line of text, as printf() does: TELEM_LOG(TELEM_WARN, "%d retries", n). The site is
 * named by the format. The severity must be a constant; the text has at most 2,048 bytes and is cut
 * there. At level sum the line is counted; at level all its text is streamed, but of the lines of one
 * place and thread that differ in digits only, at most 20 a second (telem_log_burst()): within a
 * second of such a burst viewers are told how many more there were. In a signal handler use integer
 * and %s conversions only, for the text is made by vsnprintf(). */
#define TELEM_LOG(severity, ...) TELEM_LOG_(severity, __VA_ARGS__)
/* The same for a function through which a program logs: it passes on where its caller is, so that each
 * caller is a place of its own, named "file.c:42". The severity need not be a constant. Costs about
 * 0.1 us more, also while logs are off. A place whose format is "%s", or in C no literal, is named by
 * file and line as well. */
#define TELEM_LOG_AT(file, line, severity, ...) telem_log(telem_log_site(file, line, severity), __VA_ARGS__)
struct telem_site *telem_log_site(const char *file, int line, enum telem_severity severity);

/* ---- memory ---------------------------------------------------------------------
 *
 * Allocations are counted by type, in class mem: how many, how many bytes, and how many are live.
 * `type` is any text that names a type, like `struct request`; it becomes the site's name. An
 * allocation or free costs about 1 ns at level sum. */

/* Count an allocation, or a free, of `bytes` bytes; a free must tell the bytes of its allocation. */
#define TELEM_ALLOC(type, bytes) TELEM_ALLOC_(#type, bytes)
#define TELEM_FREE(type, bytes) TELEM_FREE_(#type, bytes)
/* Do the same for an allocator of your own whose addresses are known: then some allocations are
 * sampled (see telem_alloc_hook()). Cost about 1 ns more. */
#define TELEM_ALLOC_AT(type, address, bytes) TELEM_ALLOC_AT_(#type, address, bytes)
#define TELEM_FREE_AT(type, address, bytes) TELEM_FREE_AT_(#type, address, bytes)

/* malloc(), calloc(), realloc() and free() that also count, with the size that the allocator really
 * gave (malloc_usable_size()). They return what the C function returns; a failed allocation is not
 * counted, and a NULL pointer is freed as nothing. */
#define telem_malloc(type, bytes) TELEM_HEAP_MALLOC_(type, bytes)
#define telem_calloc(type, count, bytes) TELEM_HEAP_CALLOC_(type, count, bytes)
#define telem_realloc(type, pointer, bytes) TELEM_HEAP_REALLOC_(type, pointer, bytes)
#define telem_free(type, pointer) TELEM_HEAP_FREE_(type, pointer)
/* Count the size that the program asked for, which it must tell again when it frees. */
#define telem_malloc_sized(type, bytes) TELEM_HEAP_MALLOC_SIZED_(type, bytes)
#define telem_free_sized(type, pointer, bytes) TELEM_HEAP_FREE_SIZED_(type, pointer, bytes)

/* Tell that `old` has become `now`, as after a realloc() of one's own; both may be the same address, or
 * NULL. By then another thread may have been given the old address, which makes an estimate wrong by
 * one sample; who can, tells the free before and the allocation after. */
#define TELEM_REALLOC(type, old, old_bytes, now, now_bytes) TELEM_REALLOC_(#type, old, old_bytes, now, now_bytes)

/* For an allocator that does not know the type of what it frees, as most that serve a whole program:
 *
 *	memory = malloc(n);
 *	telem_heap_alloc(TELEM_TYPE(request), memory, n);
 *	...
 *	telem_heap_free(memory, n);
 *	free(memory);
 *
 * Allocations are counted by type, frees only all together. So the total of what lives is exact, and
 * what lives of each type is estimated from samples, as what a task holds is. `site` is a
 * TELEM_TYPE(), which may stand in a variable; TELEM_TYPE(x) and TELEM_ALLOC(x, ...) are two types. A
 * NULL address is nothing. Each costs about 1.5 ns at level sum. */
#define TELEM_TYPE(type) TELEM_TYPE_(#type)
TELEM_INLINE_ void telem_heap_alloc(struct telem_site *site, const void *address, uint64_t bytes);
TELEM_INLINE_ void telem_heap_free(const void *address, uint64_t bytes);
/* As TELEM_REALLOC. */
TELEM_INLINE_ void telem_heap_realloc(struct telem_site *site, const void *old, uint64_t old_bytes, const void *now,
				      uint64_t now_bytes);

/* Make and free one object of a type, or an array of `count`. Objects are value-initialised (in C:
 * zeroed) and count with their size. In C they are NULL when there is no memory; in C++ new throws.
 * A NULL pointer is deleted as nothing. A C++ program that includes telem_new.h counts them as
 * "operator new" as well, so use one of the two. */
#define TELEM_NEW(type) TELEM_NEW_(type)
#define TELEM_NEW_ARRAY(type, count) TELEM_NEW_ARRAY_(type, count)
#define TELEM_DELETE(type, pointer) TELEM_DELETE_(type, pointer)
#define TELEM_DELETE_ARRAY(type, pointer, count) TELEM_DELETE_ARRAY_(type, pointer, count)

/* TELEM_ALLOC_TAG("parser"); is a declaration. What this thread allocates and frees from here to
 * the end of the enclosing block counts under the tag as well. What was allocated there and lives is
 * estimated from samples, whoever frees it. The innermost tag counts. Costs 3 ns more for each
 * allocation and free. longjmp() must not leave the block. */
#define TELEM_ALLOC_TAG(name) TELEM_ALLOC_TAG_(name)

/* A sampled allocation. Who holds the memory, by task and by tag, is estimated from samples: an
 * allocation is freed anywhere, so counts in one task cannot tell. Each byte that is allocated with
 * a known address (TELEM_ALLOC_AT, telem_malloc(), TELEM_NEW and their relatives) has the same
 * chance of being drawn, at first one in 1,024, and an allocation with a drawn byte is followed until
 * it is freed. So large allocations are nearly always sampled, and each sample is weighted with the
 * inverse of its chance, which leaves no bias. The chance is halved when more than half of the places
 * for samples are taken (65,536; TELEM="samples=4K" to 256K, a power of two, holds for the first
 * start), and while more than 20,000 a second are drawn. Sampled allocations also give class mem a
 * latency "TYPE lifetime". */
struct telem_allocation {
	const char *type;          /* never freed */
	const void *address;
	uint64_t bytes, age_ns;
	int task;                  /* the id of the task that allocated it */
	bool is_freed;
};
typedef void telem_alloc_function(const struct telem_allocation *allocation, void *arg);

/* Has `function` called for each sampled allocation and again for its free, in the thread that
 * allocates or frees, as a handler of the event "mem.sampled". It replaces the function before it,
 * which is detached as telem_detach() does; NULL only detaches. Returns 0, or a negative errno as
 * telem_attach(). */
int telem_alloc_hook(telem_alloc_function *function, void *arg);
/* Writes the live sampled allocations of a task (0: of all tasks), at most `room`. Returns how many
 * it wrote. */
uint32_t telem_allocations(int task, struct telem_allocation *out, uint32_t room);

/* ---- names that are known at run time ---------------------------------------------
 *
 * The macros above name their sites in the program's source. Where names come from elsewhere, like
 * commands, statements or the functions of a script, telem_site_new() makes a site for a name, and
 * the functions below take it in place of class and name:
 *
 *	struct telem_site *site = telem_site_new("sql", TELEM_KIND_SPAN, TELEM_NS, statement_name);
 *
 *	TELEM_SPAN_OF(site) { ... }
 *
 * Look the site up once and keep it, as in the entry of a command table: a look-up costs about 30 ns,
 * the use of a site as much as the macro. Names that users make up without end, like queries with
 * their numbers in them, belong into a log or event instead. */

/* What a site records. A gauge is either set or moved, as with TELEM_GAUGE and TELEM_GAUGE_ADD. A type
 * is for telem_heap_alloc(). A log has a severity. */
enum telem_kind {
	TELEM_KIND_SPAN = 1, TELEM_KIND_LATENCY = 2, TELEM_KIND_VALUE = 3, TELEM_KIND_COUNTER = 4,
	TELEM_KIND_GAUGE = 5, TELEM_KIND_MOVED_GAUGE = 5 + 0x100, TELEM_KIND_TYPE = 6 + 0x100, TELEM_KIND_MARK = 7,
	TELEM_KIND_DEBUG_LOG = 9, TELEM_KIND_INFO_LOG = 9 + 0x100, TELEM_KIND_WARN_LOG = 9 + 0x200,
	TELEM_KIND_ERROR_LOG = 9 + 0x300, TELEM_KIND_FATAL_LOG = 9 + 0x400, TELEM_KIND_TAG = 10
};
/* Returns the site of a name, which is copied and cut at 127 bytes, in a class, which is made at level
 * sum if there is none of that name; types and tags are in class mem whatever it says. The same class,
 * kind, unit and name give the same site, in every thread. `unit` is ignored for spans, latencies,
 * types and tags. Never NULL: the names after the first 4,096 share a site "(others)" for each class
 * and kind, and without memory the site records nothing. The site is never freed. Thread-safe. A
 * signal handler that interrupted telemetry gets only sites that exist, else one that records
 * nothing. */
struct telem_site *telem_site_new(const char *cls, enum telem_kind kind, enum telem_unit unit, const char *name);

/* Each does what the macro of its name does, with a site of the right kind. */
#define TELEM_SPAN_OF(site) TELEM_SPAN_OF_(site)
#define TELEM_SPAN_OF_HERE(site) TELEM_SPAN_OF_HERE_(site)
#define TELEM_ALLOC_TAG_OF(site) TELEM_ALLOC_TAG_OF_(site)
TELEM_INLINE_ void telem_count(struct telem_site *site, uint64_t n);
TELEM_INLINE_ void telem_gauge(struct telem_site *site, int64_t n);
TELEM_INLINE_ void telem_gauge_add(struct telem_site *site, int64_t n);
TELEM_INLINE_ void telem_value(struct telem_site *site, uint64_t n);
TELEM_INLINE_ void telem_latency(struct telem_site *site, uint64_t start);
TELEM_INLINE_ void telem_latency_begin(struct telem_site *site, uint64_t key);
TELEM_INLINE_ void telem_latency_end(struct telem_site *site, uint64_t key);
TELEM_INLINE_ void telem_mark(struct telem_site *site, uint64_t key);
#define telem_log(site, ...) TELEM_LOG_OF_(site, __VA_ARGS__)

/* ---- switching levels -----------------------------------------------------------
 *
 * The functions below set the program's *own* levels. A viewer sets levels by *lease*: a lease
 * overrides the own level and ends when its viewer leaves. A new level takes effect in all threads
 * at once. */

/* Sets a class's own level. Returns 0, or -EINVAL for a level that does not exist. */
int telem_class_level(struct telem_class *cls, enum telem_level level);
/* Sets the own level of a class, "net", or of one site, "net.request". Returns 0, -EINVAL, or
 * -ENOENT when there is none of that name. */
int telem_level_set(const char *name, enum telem_level level);
/* Returns the level in force of a class or site, leases included, or -ENOENT. While telemetry does
 * not run it is TELEM_OFF. */
int telem_level_get(const char *name);
/* Sets the own level of every class that exists: to all (true), or off (false). */
void telem_enable_all(bool on);

/* Limits what a class streams at level all: one event in `keep_one_in` (0 or 1: each), and at most
 * `per_second` events a second (0: any number). The other events count as at level sum, so every
 * figure stays complete. The class may be registered later. Returns 0, or -EINVAL for a bad name. */
int telem_class_limit(const char *class_name, uint32_t keep_one_in, uint64_t per_second);
/* Sets how many log lines of a class that look alike one place and thread may stream as texts in a
 * second; 0 is the default, 20. The class is "log", unless telem_site_new() made logs of another.
 * Returns as telem_class_limit(). */
int telem_log_burst(const char *class_name, uint32_t per_second);
/* Times one span in n of a site, "net.request", and counts every one: a span then costs 3 ns on
 * average for n of 16. Each timed span stands for n in the figures, which the monitor marks with ~.
 * n is 1 (time every span) to 65,536 and is rounded up to a power of two. While handlers are
 * attached to the span, every span is timed. Returns 0; -ENOENT when there is no such span, or it
 * is a frame's; -EINVAL for a bad n. */
int telem_span_every(const char *class_dot_name, uint32_t n);

/* ---- tasks ----------------------------------------------------------------------
 *
 * A task is whose work an event is. Each thread is a task of its own. A program can make other
 * tasks: a request, an actor, a green thread. Events belong to the task that their thread has
 * entered last. */

/* Names this thread's own task; default: the thread's name. */
void telem_task_name(const char *name);
/* Makes a task. Returns its id (> 0), or -ENOSPC when there are 65,536. */
int telem_task_new(const char *name);
/* Makes this thread work for the task until telem_task_leave(). Several threads may be in one task.
 * Tasks nest to a depth of 8. Costs about 10 ns, and allocates at a thread's first entry into a
 * task. Returns 0; -EINVAL when there is no such task or it has ended; -ENOSPC when the nesting is
 * too deep or there is no room for the task's figures. */
int telem_task_enter(int id);
/* Returns to the task that this thread was in before; does nothing in the thread's own task. */
void telem_task_leave(void);
/* Ends the task: no thread enters it again, and its figures are added to those of the ended tasks.
 * Threads that are still in it may go on until they leave. */
void telem_task_end(int id);

/* ---- frames and budgets ---------------------------------------------------------
 *
 * A frame is one turn of a loop: of a game, an event loop, a server's requests. The library keeps
 * the figures of the latest 128 frames, with or without a viewer, and a span of class frame records
 * the durations. A frame's log lines, allocations and counters are those of the thread that ends
 * it. Its heap figures are the whole program's: the live bytes of typed allocations, to which each
 * other thread may add up to 16 KiB that are not counted yet. */

/* Ends this thread's frame of that name, if one has begun, and begins the next. Costs about 150 ns,
 * and a little more for each task of this thread when counters were chosen. A program has at most
 * 16 names; telem_error() tells about one too many. Budget functions and handlers may begin and end
 * other frames. */
void telem_frame(const char *name);
/* Begins a frame now without ending one: for turns with a gap between them, like requests. */
void telem_frame_begin(const char *name);

/* What a frame exceeded of its budget: bits of telem_frame_info.broken. */
enum { TELEM_BROKE_TIME = 1, TELEM_BROKE_HEAP = 2, TELEM_BROKE_LOGS = 4, TELEM_BROKE_COUNTER = 8 };

struct telem_frame_info {
	const char *name;
	uint64_t number;           /* how many frames of the name have ended, this one included */
	uint64_t time_ns;          /* when it ended, by CLOCK_MONOTONIC */
	uint64_t duration_ns;
	int64_t heap_bytes;        /* live bytes at its end; below 0 when only the frees were counted */
	int64_t heap_peak;         /* the most live bytes since the previous frame of the name ended */
	uint64_t allocations;
	uint64_t logs[5];          /* log lines by severity */
	uint32_t broken;           /* TELEM_BROKE_ bits */
	uint32_t counter_count;
	struct { const char *name; uint64_t sum; } counters[8];    /* chosen with telem_frame_counter() */
};
/* Writes the latest ended frames of a name, newest first, at most `room`. Returns how many it
 * wrote. */
uint32_t telem_frames(const char *name, struct telem_frame_info *out, uint32_t room);
/* Has each frame of the name record what its thread added to a counter, "class.name". A frame has
 * at most 8 counters and all frames together at most 16. Returns 0; -ENOENT when the counter does
 * not exist yet; -ENOSPC; -EINVAL for a bad name of a frame or one too many. */
int telem_frame_counter(const char *name, const char *counter);

/* What one frame may take; 0 means no limit. */
struct telem_budget {
	uint64_t ns;
	uint64_t heap_bytes;       /* of heap_peak */
	uint64_t logs;             /* log lines of any severity */
	const char *counter;       /* "class.name" of a counter, or NULL */
	uint64_t counter_most;     /* how much that counter may grow */
	bool dump;                 /* a broken budget also writes a dump, one a minute at most */
};
/* Is called at the end of a frame that exceeded its budget, in the frame's thread, with no lock
 * held. */
typedef void telem_budget_fn(const struct telem_frame_info *frame, void *arg);
/* Sets the budget of all later frames of a name; NULL removes it. A frame that exceeds it records
 * the event "frame.NAME over budget" and calls `function`, unless that is NULL. A frame that ends
 * at this moment may still call the function set before. Returns 0, or an error as
 * telem_frame_counter(). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"      /* g++ finds that the function hides the struct's constructor */
int telem_budget(const char *name, const struct telem_budget *budget, telem_budget_fn *function, void *arg);
#pragma GCC diagnostic pop

/* Three services for frames. Each is on while a reference to it is held, and none implies
 * another. Recording and budgets have one reference from the start. A viewer's references end with
 * the viewer. */
enum telem_watch {
	TELEM_RECORDING = 0,       /* ended frames are kept for telem_frames() */
	TELEM_INSPECTION = 1,      /* ended frames are also streamed to every connected viewer */
	TELEM_BUDGETS = 2          /* frames are compared with their budgets */
};
/* Takes a reference (true), or returns one that the program took (false). */
void telem_watch(enum telem_watch what, bool on);

/* ---- garbage collection ---------------------------------------------------------
 *
 * For the authors of garbage collectors: pauses, and figures of the heap after each, in class gc. One thread may
 * begin a collection and another may end it. There is one collection of a generation at a time; the
 * generations from 3 on count as one. Costs a span and five counters. */

struct telem_gc {
	uint64_t live_bytes;       /* reachable after the collection */
	uint64_t heap_bytes;       /* the size of the heap, its free parts included */
	uint64_t slop_bytes;       /* lost to alignment and fragmentation */
	uint64_t copied_bytes;     /* by this collection */
	uint64_t collected_bytes;  /* freed by this collection */
};
/* The program has been stopped for a collection of this generation. */
void telem_gc_begin(uint32_t generation);
/* The program goes on. gc may be NULL: then only the pause is recorded. */
void telem_gc_end(uint32_t generation, const struct telem_gc *gc);
#define TELEM_GC_BEGIN(generation) telem_gc_begin(generation)
#define TELEM_GC_END(generation, gc) telem_gc_end((generation), (gc))

/* ---- handlers -------------------------------------------------------------------
 *
 * A handler is a function of the program that is called for every event of a name, "class.name": a
 * TELEM_EVENT, a latency, a span, or telem_execute(), whatever the level. (The design is that of
 * Erlang's telemetry library.) The handler runs in the thread that made the event, before the macro
 * or function returns, and no lock is held: it may record events, attach, detach and set levels.
 * The handlers of a name are called in the order in which they were attached, while telemetry runs.
 * Their own events nest to a depth of 8; deeper events reach no handler. A handler must not throw.
 * It runs in a signal handler when the event was made in one. */

enum telem_phase {
	TELEM_HAPPENED = 0,        /* an event or a latency */
	TELEM_STARTED = 1,         /* a span has begun */
	TELEM_STOPPED = 2,         /* a span has ended */
	TELEM_ABANDONED = 3        /* a span was ended by telem_span_abandon() */
};

/* A numeric field of an event: made by TELEM_F, read by the two functions below. */
struct telem_field { const char *name; uint8_t type; uint64_t bits; };
/* The value as a double, and as a 64-bit integer, in which a floating-point value is truncated. */
static inline __attribute__((unused)) double telem_field_double(const struct telem_field *field);
static inline __attribute__((unused)) int64_t telem_field_int(const struct telem_field *field);

struct telem_happening {
	const char *event;         /* "net.request" */
	enum telem_phase phase;
	uint64_t value;            /* the ns of a latency, or of a span that stopped or was abandoned; else 0 */
	const struct telem_field *fields;    /* of an event, else NULL */
	uint32_t field_count;
};
/* Returns 0 on success. Any other result is a failure, which is counted, and may detach the
 * handler. */
typedef int telem_handler(const struct telem_happening *what, void *config);

/* Attaches a handler to an event, which need not exist yet. `id` names the handler and must be
 * unique. The handler is detached when it fails once. A table that telem_persist() sealed is
 * opened. Returns 0; -EEXIST when the id is taken, in which case the handler that has it is
 * untouched; -EINVAL; -ENOSPC when there are 1,024 handlers or 4,096 names of events; -ENOMEM. */
int telem_attach(const char *id, const char *event, telem_handler *function, void *config);
/* Attaches a handler to several events, to all of them or, on an error, to none. The handler is
 * detached when it has failed max_failures times; 0 means never. Returns as telem_attach(). */
int telem_attach_many(const char *id, const char *const *events, uint32_t event_count, telem_handler *function,
		      void *config, uint32_t max_failures);
/* Detaches a handler and returns when no thread runs it any more: config may then be freed, and the
 * code unloaded. Returns 0, or -ENOENT. A handler that detaches another, or itself, does not wait:
 * the call returns -EINPROGRESS when some thread still runs the detached handler. */
int telem_detach(const char *id);
/* Detaches a handler and does not wait. Returns 0, or -ENOENT. */
int telem_detach_async(const char *id);
/* A handler that is detached because it failed is reported as an error in the log, and as the event
 * "telem.handler.failure" with the fields "result" and "failures". */

struct telem_handler_info {
	char id[128], event[256];
	telem_handler *function;
	void *config;
	uint64_t failures;
};
/* Writes one row for each handler and event whose name begins with `prefix` ("": all), in the order
 * of attachment, at most `room`. Returns how many rows there are, which may be more than it wrote. */
uint32_t telem_list_handlers(const char *prefix, struct telem_handler_info *out, uint32_t room);

/* Seals the table of handlers: each place then points to its handlers directly, which saves a
 * nanosecond an event. Attaching opens the table again; detaching leaves it sealed. */
void telem_persist(void);
/* Opens the table. */
void telem_unpersist(void);

/* Calls the handlers of an event whose name is made at run time. Nothing is recorded. Returns how
 * many handlers were called. Costs about 20 ns. */
uint32_t telem_execute(const char *event, const struct telem_field *fields, uint32_t field_count);

/* ---- reporters ------------------------------------------------------------------
 *
 * A reporter is a function of the program that returns a value when it is asked. Telemetry's own
 * thread asks it once a tick, and only while a viewer is connected, so it costs nothing otherwise.
 * All reporters together take at most a thousandth of a core: one that takes long is asked less
 * often, for example one of 50 ms every 50 s, and keeps its value in between. The value is shown as
 * a gauge of class report under a path like "js/gc-heap". The function runs at the same time as any
 * code of the program and takes care of its own locks. It must be quick, for nothing is sent while
 * it runs. telem_stop() waits for a running reporter at most the linger time; after that, sinks are
 * closed without a goodbye, and `arg` must stay valid until the reporter returns. */

enum telem_reporter_kind {
	TELEM_REPORT_OTHER = 0,
	TELEM_REPORT_HEAP = 1      /* bytes that malloc() gave. "heap/unclassified" shows what malloc() gave and no
				    * reporter of this kind claims; it is below 0 when they claim too much. */
};
/* Writes the value and returns 0. Any other result means that there is no value now: the previous
 * value stays, the gauge "failures" counts, and the function is asked again at the next tick. */
typedef int telem_reporter_fn(void *arg, int64_t *value);

/* Adds a reporter. Returns 0; -EEXIST when the path is taken; -EINVAL for a bad path (1 to 127
 * bytes), kind or unit; -ENOSPC when there are 1,024 reporters; -ENOMEM. */
int telem_reporter(const char *path, enum telem_reporter_kind kind, enum telem_unit unit, telem_reporter_fn *function,
		   void *arg);
/* Adds a function for a library or virtual machine that has many values: it is called like a
 * reporter, and records what it knows with TELEM_GAUGE, TELEM_VALUE and the other macros. Returns
 * as telem_reporter(). */
typedef void telem_provider_fn(void *arg);
int telem_provider(const char *name, telem_provider_fn *function, void *arg);
/* Removes a reporter or provider, and returns when it is not running any more, unless it removes
 * itself. Returns 0, or -ENOENT. */
int telem_reporter_remove(const char *path);

/* Add reporters that the library brings along; they return as telem_reporter(). The first reports
 * what glibc's malloc() holds: "malloc/allocated", "malloc/free", "malloc/mapped", "malloc/held".
 * To ask for these holds malloc() up, by 0.1 s with a million free chunks. So they are off until a
 * viewer wants one ("telemtop set PID report.malloc/free=sum") or the program does, with
 * telem_level_set(). So is "heap/unclassified". */
int telem_report_malloc(void);
/* Reports what the kernel knows of the process: resident and proportional memory, swap, open files,
 * page faults, context switches, and the processor time of its threads by name. Proportional memory,
 * "process/pss", is off as above, because the kernel holds mmap() up while it counts. */
int telem_report_process(void);
/* Reports what telemetry itself costs, as gauges of class telem: time by class, the time of its own
 * thread, bytes sent, events dropped, memory held. A second call does nothing. */
int telem_report_telemetry(void);

/* ---- sinks ----------------------------------------------------------------------
 *
 * A sink is a place that the stream goes to. telemtop finds a program by its discovery socket;
 * sinks are for everything else: recordings, FIFOs, other machines. A program has at most 64 sinks
 * and viewers. Each has a bounded queue of its own (1 MiB) and never slows another. A new sink
 * first gets all definitions and sums that a reader needs. The functions return an id >= 0 for
 * telem_sink_remove(); -ENOTCONN while telemetry does not run; -EINVAL for a bad address; -ENOSPC
 * when there are 64; or the negative errno of opening it. */

/* Adds a sink by its address:
 *
 *	fifo:PATH           a FIFO; it is made (mode 0600) when there is none. Requests come by PATH.ctl
 *	unix:PATH           listens on a Unix socket
 *	tcp:HOST:PORT       listens on a TCP port; HOST must be loopback (-EACCES)
 *	connect:HOST:PORT   connects, and tries again until it succeeds; HOST is numeric or localhost
 *	file:PATH           a recording; PATH must not exist (-EEXIST)
 *	fd:N                an open file descriptor
 *
 * ",control" behind a TCP address on loopback lets the peer set levels. */
int telem_sink_add(const char *address);
int telem_sink_fifo(const char *path);
int telem_sink_unix(const char *path);
int telem_sink_tcp_listen(const char *host, int port, bool control);     /* port 0: any free port */
int telem_sink_tcp_connect(const char *host, int port, bool control);
int telem_sink_file(const char *path);
/* Takes over fd: a pipe, socket or file that is open for writing. The library makes it non-blocking
 * and closes it when the sink ends. -EBADF when it is not open for writing. */
int telem_sink_fd(int fd);
/* Sends what is queued, for at most the linger time, says goodbye and closes the sink. Returns 0,
 * or -ENOENT. */
int telem_sink_remove(int id);
/* Adds a sink at `address`, then removes sink `id`; the two together miss no event. Returns the new
 * sink's id, or a negative errno, in which case the old sink stays as it was. */
int telem_sink_redirect(int id, const char *address);

/* Waits until every event recorded before the call has been handed to the kernel for the sinks, or
 * has been counted as dropped. Other threads may go on recording meanwhile. Returns 0; -ETIMEDOUT;
 * -ENOTCONN when telemetry does not run. */
int telem_flush(uint64_t timeout_ns);
/* Has all definitions sent again to every sink, soon. */
void telem_sync(void);

/* Sets how long an event waits in the program before it is sent, at most: 1 ms to 10 s, default 100
 * ms. Returns 0 or -EINVAL. */
int telem_set_flush_interval(uint64_t ns);
/* Sets the size of a thread's ring buffer: 64 KiB to 64 MiB, rounded up to a power of two, default
 * 1 MiB. Most events take 16 bytes. Threads that have a ring already keep it. Returns 0 or -EINVAL. */
int telem_set_ring_bytes(size_t bytes);

/* What becomes of a new event when its thread's ring is full. */
enum telem_policy {
	TELEM_DROP = 0,      /* the new event is lost (the default) */
	TELEM_OVERWRITE = 1, /* the oldest events are lost: what a flight recorder needs */
	TELEM_BLOCK = 2      /* the thread waits up to the timeout while there is a viewer; then the event is lost */
};
/* Sets the policy; timeout_ns is for TELEM_BLOCK, at most 10 s. Returns 0 or -EINVAL. */
int telem_set_policy(enum telem_policy policy, uint64_t timeout_ns);

/* ---- statistics -----------------------------------------------------------------
 *
 * At any moment when no thread is recording, emitted == delivered + dropped + queued. While a
 * viewer is connected, queued is 0 after telem_flush(). While none is, the rings hold the latest
 * events for the next viewer, and telem_stop() counts them as dropped. */

struct telem_statistics {
	uint64_t emitted;          /* events at level all */
	uint64_t delivered;        /* taken whole by the kernel for at least one sink */
	uint64_t dropped;          /* lost: ring or queue full, sink gone, event too big, no viewer at the stop */
	uint64_t queued;           /* in rings and queues now */
	uint64_t bytes_sent;       /* handed to the kernel, over all sinks */
	uint64_t memory_bytes;     /* held by the library now */
	uint64_t flusher_cpu_ns;   /* processor time of telemetry's own thread */
	uint32_t sinks;            /* sinks that stream now */
	uint32_t sites, classes, tasks, threads;
};
/* Writes what telemetry has done so far. */
void telem_stats(struct telem_statistics *out);

/* What a class's events have cost the threads that made them: the price of each kind of event times
 * their number. The prices are measured in this process in about a millisecond, at the first call
 * or when the first viewer looks. In a tight loop the figure is the truth; where a program has
 * other work to do meanwhile, or a ring is full, the events cost less. */
struct telem_class_statistics {
	const char *name;          /* never freed */
	uint64_t events;           /* at level sum or all */
	uint64_t cost_ns;
	uint64_t emitted, dropped; /* at level all */
	uint32_t level;            /* in force */
};
/* Writes one row for each class, at most `room`. Returns how many it wrote. */
uint32_t telem_class_stats(struct telem_class_statistics *out, uint32_t room);

/* ---- flight recorder ------------------------------------------------------------
 *
 * The rings hold each thread's latest events at level all, whether a viewer reads them or not, also
 * those of threads that have ended, until another thread uses the ring. With TELEM_OVERWRITE they
 * stay the latest while no viewer is connected; that is the policy from the moment on when somebody
 * asks for dumps (by one of the functions here, a budget, TELEM="dump=DIR" or a viewer), unless the
 * program has chosen another with telem_set_policy(). A *dump* writes what the rings hold into a recording,
 * DIR/NAME.PID.N.telem, which telemtop replays. It leaves out up to a quarter of each ring, the
 * oldest events (of the default size a full ring gives at least 49,152 events), and takes nothing
 * away from viewers. DIR is $TMPDIR, else /tmp, unless the program sets another. */

/* Writes a dump and waits for it, at most 5 s. `reason` is noted in it, at most 127 bytes, and how long before
 * the dump its earliest event was. The
 * file's name is written to `path`, which may be NULL. Returns 0; -ENOTCONN while telemetry does
 * not run; -ETIMEDOUT; -EDEADLK in a reporter, for telemetry's own thread writes the dump; -EBUSY
 * when all 64 sinks are taken; -ENOSPC when the disk is full, and other errors of the file. */
int telem_dump(const char *reason, char *path, size_t room);
/* Sets the directory of dumps, at most 255 bytes. Returns 0 or -EINVAL. */
int telem_dump_directory(const char *directory);
/* Has a dump written when a signal that ends the program arrives (SIGSEGV, SIGABRT ...), and then
 * lets the signal do what it would have done. Without this call the library touches no signal. No
 * dump is written when the signal interrupts telemetry itself. Returns 0, -EINVAL, or an error of
 * sigaction(). */
int telem_dump_on_signal(int number);

#pragma GCC visibility pop
#ifdef __cplusplus
} /* extern "C" */
#endif

/* How the macros above work; a program needs nothing of it but what is declared above. */
#include "telem_inline.h"
#endif
