/* telem_inline.h -- how the macros of telem.h work: installed, but not for reading by users.
 *
 * telem.h includes this file at its end; nothing else may. A program that is compiled with one
 * version of it must run with a later libtelem.so, so the structures below, what the macros write
 * into them, and the functions they call are ABI: a change that old programs would not understand
 * raises TELEM_ABI_. All names in here end in _, but for functions that telem.h declares and their
 * twins under TELEM_DISABLE. */
#ifndef TELEM_INLINE_H
#define TELEM_INLINE_H
#ifndef TELEM_H
#error "include <telem.h>, which includes this file"
#endif

#include <malloc.h>
#include <stdlib.h>
#if defined(__cplusplus) && !defined(TELEM_DISABLE)
#include <cstring>
#include <type_traits>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- structures, whose layout is ABI -------------------------------------------- */

#define TELEM_ABI_ 1

enum telem_kind_ {
	TELEM_KIND_SPAN_ = 1, TELEM_KIND_LATENCY_, TELEM_KIND_VALUE_, TELEM_KIND_COUNTER_, TELEM_KIND_GAUGE_,
	TELEM_KIND_ALLOC_, TELEM_KIND_MARK_, TELEM_KIND_EVENT_, TELEM_KIND_LOG_, TELEM_KIND_TAG_
};

/* The type of a telem_field. */
enum { TELEM_FIELD_INT_ = 0, TELEM_FIELD_UINT_ = 1, TELEM_FIELD_DOUBLE_ = 2 };

struct telem_class {
	const char *name, *help;
	uint8_t own_level;         /* the level that TELEM_CLASS asks for; read once, when the class is registered */
	uint8_t id;
	uint8_t reserved[6];       /* the library's */
};

/* One place in the code. It has 64 bytes, so that the first load brings a whole cache line with all
 * that an event needs. */
struct telem_site {
	uint8_t level;             /* in force, and TELEM_..._ bits; a site that is off touches nothing else */
	uint8_t kind, unit, detail;    /* detail: a log's severity; 1 for a gauge that is moved */
	uint32_t id;               /* 0 while the site is not registered */
	struct telem_class *cls;
	const char *name, *file;
	uint32_t line;
	/* fields_known is for events: the library has the names of the fields. skip_mask is for spans: one span in
	 * skip_mask + 1 is timed. */
	__extension__ union { uint32_t fields_known, skip_mask; };
	/* owner is for gauges: it points to the number of the shard that set the gauge last, one for all places of
	 * the gauge. handlers is for events, latencies and spans: their set of handlers while the table is sealed. */
	__extension__ union { uint32_t *owner; void *handlers; };
	uint64_t reserved[2];      /* the library's */
};

/* A cell: the sums of one site in one thread and task. That thread alone writes them; the flusher
 * reads. An event is counted once: in `count` at level sum, in `streamed` at level all. */
struct telem_cell {
	uint64_t count;            /* events, or allocations of a type */
	uint64_t sum;              /* of the values; the bytes allocated of a type; the value of a gauge */
	/* min and max are of the values. A type of allocations, and a tag, has free_count and freed_bytes
	 * instead. A log keeps in min when its present burst of lines began, and in max how many it has. */
	__extension__ union { uint64_t min, free_count; };
	__extension__ union { uint64_t max, freed_bytes; };
	uint64_t *buckets;         /* the histogram, or NULL */
	uint64_t streamed;         /* events, or allocations of a type */
	/* streamed_frees is for types of allocations. begun is for spans of which one in some is timed: how many
	 * began. folded is for logs: the look of the latest line, see emitter/record/burst.h. */
	__extension__ union { uint64_t streamed_frees, begun, folded; };
	uint64_t dropped;          /* streamed events for which the ring had no room */
};

/* A thread's own state, which it reads and writes at each event. cell_count is 0 until the thread
 * has recorded something. */
struct telem_thread_ {
	struct telem_cell *cells;
	uint32_t cell_count, shard;
	void *ring;
	int64_t heap_moved;        /* bytes allocated less bytes freed that the program's figure does not have yet */
	int64_t heap_step;         /* heap_moved is added to that figure when it reaches this; 0: at each call */
	uint64_t alloc_count;
	struct telem_site *tag;    /* the innermost TELEM_ALLOC_TAG, or NULL */
	int64_t unsampled;         /* bytes to be allocated before the next one that is sampled */
};

/* One module (the program or a shared object) with its classes and sites. Each of its source files
 * enters and leaves the module; the first entry registers the sites, the last leave removes them. */
struct telem_module_ {
	uint32_t abi, entered;
	struct telem_class **classes, **classes_end;
	struct telem_site **sites, **sites_end;
};

/* A site's level byte holds a level and these bits, so that one compare also finds out that there
 * is more to do: the class streams a part only, one span in some is timed, handlers are attached. */
#define TELEM_LEVEL_ 0x03u
#define TELEM_LIMITED_ 0x20u
#define TELEM_SAMPLED_ 0x40u
#define TELEM_HANDLED_ 0x80u

/* Marks functions that are small, but not worth forcing into their callers. */
#define TELEM_STATIC_ static inline __attribute__((unused))

#define TELEM_CAT2_(a, b) a##b
#define TELEM_CAT_(a, b) TELEM_CAT2_(a, b)

#ifndef TELEM_DISABLE

/* ---- functions and data of the library ------------------------------------------ */

#pragma GCC visibility push(default)
void telem_module_enter_(struct telem_module_ *module);
void telem_module_leave_(struct telem_module_ *module);
void telem_site_register_(struct telem_site *site, const struct telem_module_ *module);
/* The slow paths: the first event of a thread, and whatever needs more than an addition. */
void telem_add_slow_(struct telem_site *site, uint64_t n);
void telem_mark_slow_(struct telem_site *site, uint64_t key);
void telem_gauge_slow_(struct telem_site *site, int64_t n, bool add);
void telem_alloc_slow_(struct telem_site *site, uint64_t bytes, bool is_free);
void telem_heap_slow_(int64_t bytes, bool is_free);
void telem_birth_(struct telem_site *site, const void *address, uint64_t bytes);
void telem_death_(const struct telem_site *site, const void *address);
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
/* How many sampled allocations are live whose address hashes to this counter. Mostly none, so a free
 * knows from one load that its allocation was not sampled. */
#define TELEM_SAMPLED_ROOM_ 131072u
extern uint8_t telem_sampled_[TELEM_SAMPLED_ROOM_];
#define TELEM_SAMPLED_AT_(address) ((uint64_t)(uintptr_t)(address) * 0x9e3779b97f4a7c15u >> 47)
/* Counts the frees of memory whose type the allocator does not know. */
extern struct telem_site telem_freed_;
extern struct telem_class telem_class_mem, telem_class_gc, telem_class_task, telem_class_frame, telem_class_log,
	telem_class_telem;
#pragma GCC visibility pop

/* ---- recording, as far as it happens in the program itself ----------------------- */

#define TELEM_UNLIKELY_(x) __builtin_expect(!!(x), 0)

TELEM_INLINE_ uint64_t telem_stamp(void)
{
#ifdef __x86_64__
	if (__builtin_expect(__atomic_load_n(&telem_clock_is_tsc_, __ATOMIC_RELAXED), 1))
		return __builtin_ia32_rdtsc();
#endif
	return telem_clock_read_();
}

/* Adds to a figure that only this thread writes. It is one instruction where that exists, so a
 * signal handler that adds to the same figure loses nothing. The flusher reads the figure relaxed.
 * -DTELEM_PORTABLE_ADD has it compiled from C everywhere. */
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

/* Returns this thread's cell of the site, or NULL while there is none. */
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
	/* The thread that set a gauge last owns it. The word is written only when the owner changes, so that
	 * threads do not take its cache line from each other. */
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

/* Frames need the heap of the whole program. A thread adds its own part to that figure only when it
 * has moved by a step, so that threads do not share a cache line at each allocation. */
TELEM_INLINE_ void telem_heap_(int64_t bytes, bool is_free)
{
	int64_t step = telem_thread_.heap_step;

	telem_add_((uint64_t *)&telem_thread_.heap_moved, (uint64_t)bytes);
	if (TELEM_UNLIKELY_((uint64_t)(telem_thread_.heap_moved + step) >= 2 * (uint64_t)step))
		telem_heap_slow_(bytes, is_free);
}

/* Samples an allocation whose address is known, if one of its bytes is to be sampled. */
TELEM_INLINE_ void telem_born_(struct telem_site *site, const void *address, uint64_t bytes)
{
	telem_add_((uint64_t *)&telem_thread_.unsampled, (uint64_t)0 - bytes);
	if (TELEM_UNLIKELY_(telem_thread_.unsampled < 0))
		telem_birth_(site, address, bytes);
}

/* Ends the sample of an allocation, if it was sampled; site NULL: whatever its type. */
TELEM_INLINE_ void telem_died_(const struct telem_site *site, const void *address)
{
	if (TELEM_UNLIKELY_(__atomic_load_n(&telem_sampled_[TELEM_SAMPLED_AT_(address)], __ATOMIC_RELAXED)))
		telem_death_(site, address);
}

struct telem_tag_ { struct telem_site *before; };
TELEM_INLINE_ struct telem_tag_ telem_tag_begin_(struct telem_site *site)
{
	struct telem_tag_ tag = { telem_thread_.tag };

	if (telem_level_(site)) {
		telem_thread_.tag = site;
		/* A step of 0 sends each allocation through telem_heap_slow_(), which counts it under the tag. */
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
	telem_add_(&cell->freed_bytes, bytes);
	if (TELEM_UNLIKELY_(level >= TELEM_ALL))
		telem_stream_free_(site, cell, bytes);
	else
		telem_add_(&cell->free_count, 1);
}

TELEM_INLINE_ void telem_heap_alloc(struct telem_site *site, const void *address, uint64_t bytes)
{
	uint8_t level = telem_level_(site);

	if (TELEM_UNLIKELY_(level) && address) {
		telem_alloc_(site, level, bytes);
		telem_born_(site, address, bytes);
	}
}
TELEM_INLINE_ void telem_heap_free(const void *address, uint64_t bytes)
{
	uint8_t level = telem_level_(&telem_freed_);

	if (TELEM_UNLIKELY_(level) && address) {
		telem_free_(&telem_freed_, level, bytes);
		telem_died_(NULL, address);
	}
}
TELEM_INLINE_ void telem_heap_realloc(struct telem_site *site, const void *old, uint64_t old_bytes, const void *now,
				      uint64_t now_bytes)
{
	telem_heap_free(old, old_bytes);
	telem_heap_alloc(site, now, now_bytes);
}

/* Returns whether the span that begins now is not timed, but only counted. Handlers are called for every
 * span that is timed. */
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
TELEM_INLINE_ void telem_span_abandon(struct telem_span *span)
{
	if (TELEM_UNLIKELY_(span->start)) {
		telem_abandoned_(span->site, span->start);
		span->start = 0;
	}
}

/* ---- sites, and how the library finds them ---------------------------------------
 *
 * In C each site puts a pointer to itself into a section, which the module hands over when it is
 * loaded. C++ may not put the static variables of inline functions and templates into a named
 * section, so there a static object registers each site. */

extern struct telem_class *__start_telem_classes[] __attribute__((weak, visibility("hidden")));
extern struct telem_class *__stop_telem_classes[] __attribute__((weak, visibility("hidden")));
extern struct telem_site *__start_telem_sites[] __attribute__((weak, visibility("hidden")));
extern struct telem_site *__stop_telem_sites[] __attribute__((weak, visibility("hidden")));

__attribute__((weak, visibility("hidden"))) struct telem_module_ telem_module_ = {
	TELEM_ABI_, 0, __start_telem_classes, __stop_telem_classes, __start_telem_sites, __stop_telem_sites
};
/* The library defines this name: it registers its own sites when they are first used. */
#ifndef TELEM_NO_SITES_HERE_
__attribute__((constructor, unused)) static void telem_module_load_(void) { telem_module_enter_(&telem_module_); }
__attribute__((destructor, unused)) static void telem_module_unload_(void) { telem_module_leave_(&telem_module_); }
#endif

/* Nothing refers to what stands in these sections but their begin and end, so a linker that collects sections would drop
 * it, were it not for retain. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define TELEM_KEPT_(name) __attribute__((section(name), used, retain))
#endif
#endif
#ifndef TELEM_KEPT_
#define TELEM_KEPT_(name) __attribute__((section(name), used))
#endif

#define TELEM_SITE_INIT_(cls_, kind_, unit_, detail_, name_)                                     \
	{ TELEM_OFF, (kind_), (unit_), (detail_), 0, &telem_class_##cls_, (name_), __FILE__, __LINE__, { 0 }, { 0 },  \
	  { 0, 0 } }

#ifndef __cplusplus
#define TELEM_SITE_(cls, kind, unit, detail, name)                                               \
	__extension__({                                                                          \
		static struct telem_site telem_s_ = TELEM_SITE_INIT_(cls, kind, unit, detail, name);     \
		static struct telem_site *telem_p_ TELEM_KEPT_("telem_sites") = &telem_s_; \
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

/* Runs the last arguments, which are statements, when the site is not off. They may use telem_site_
 * and telem_lvl_. */
#define TELEM_IF_ON_(cls, kind, unit, detail, name, ...)                                         \
	do {                                                                                     \
		struct telem_site *const telem_site_ = TELEM_SITE_(cls, kind, unit, detail, name);       \
		const uint8_t telem_lvl_ = telem_level_(telem_site_);                            \
		if (TELEM_UNLIKELY_(telem_lvl_)) {                                               \
			__VA_ARGS__;                                                             \
		}                                                                                \
	} while (0)

/* ---- the macros of telem.h, in its order ----------------------------------------- */

/* Archives that define the same class can be linked together. */
#define TELEM_CLASS_(object, pointer, name, help, level)                                         \
	__attribute__((weak)) struct telem_class object = { name, (help), (level), 0, { 0, 0, 0, 0, 0, 0 } };          \
	static struct telem_class *pointer TELEM_KEPT_("telem_classes") = &object
#define TELEM_CLASS_DECLARE_(object) extern struct telem_class object

#define TELEM_SPAN_SITE_(cls, name) TELEM_SITE_(cls, TELEM_KIND_SPAN_, TELEM_NS, 0, name)
#define TELEM_SPAN_(cls, name) TELEM_SPAN_OF_(TELEM_SPAN_SITE_(cls, name))
#define TELEM_SPAN_OF_(site)                                                                     \
	for (struct telem_span TELEM_CAT_(telem_span_, __LINE__) __attribute__((cleanup(telem_span_end))) = \
		     telem_span_begin(site);                                                     \
	     TELEM_CAT_(telem_span_, __LINE__).once; TELEM_CAT_(telem_span_, __LINE__).once = 0)
#define TELEM_SPAN_HERE_(cls, name) TELEM_SPAN_OF_HERE_(TELEM_SPAN_SITE_(cls, name))
#define TELEM_SPAN_OF_HERE_(site)                                                                \
	struct telem_span TELEM_CAT_(telem_span_, __LINE__) __attribute__((cleanup(telem_span_end), unused)) = \
		telem_span_begin(site)

#define TELEM_COUNT_(cls, name, unit, n)                                                               \
	TELEM_IF_ON_(cls, TELEM_KIND_COUNTER_, unit, 0, name,                                    \
		     telem_count_(telem_site_, telem_lvl_, (uint64_t)(n)))
#define TELEM_GAUGE_(cls, name, unit, n)                                                               \
	TELEM_IF_ON_(cls, TELEM_KIND_GAUGE_, unit, 0, name,                                      \
		     telem_gauge_set_(telem_site_, telem_lvl_, (int64_t)(n)))
#define TELEM_GAUGE_ADD_(cls, name, unit, n)                                                           \
	TELEM_IF_ON_(cls, TELEM_KIND_GAUGE_, unit, 1, name,                                      \
		     telem_gauge_add_(telem_site_, telem_lvl_, (int64_t)(n)))
#define TELEM_VALUE_(cls, name, n, unit)                                                         \
	TELEM_IF_ON_(cls, TELEM_KIND_VALUE_, unit, 0, name, telem_value_(telem_site_, (uint64_t)(n)))

#define TELEM_LATENCY_(cls, name, start)                                                         \
	TELEM_IF_ON_(cls, TELEM_KIND_LATENCY_, TELEM_NS, 0, name, telem_duration_(telem_site_, (start)))
#define TELEM_LATENCY_BEGIN_(cls, name, key)                                                     \
	TELEM_IF_ON_(cls, TELEM_KIND_LATENCY_, TELEM_NS, 0, name,                                \
		     telem_latency_begin_(telem_site_, (uint64_t)(key)))
#define TELEM_LATENCY_END_(cls, name, key)                                                       \
	TELEM_IF_ON_(cls, TELEM_KIND_LATENCY_, TELEM_NS, 0, name,                                \
		     telem_latency_end_(telem_site_, (uint64_t)(key)))
#define TELEM_MARK_(cls, name, key)                                                              \
	TELEM_IF_ON_(cls, TELEM_KIND_MARK_, TELEM_NONE, 0, name, telem_mark_(telem_site_, telem_lvl_, (uint64_t)(key)))

#define TELEM_EVENT_(cls, name, ...)                                                             \
	TELEM_IF_ON_(cls, TELEM_KIND_EVENT_, TELEM_NONE, 0, name,                                \
		     const struct telem_field telem_f_[] = { __VA_ARGS__ };                      \
		     telem_event_(telem_site_, telem_f_, (uint32_t)(sizeof telem_f_ / sizeof telem_f_[0])))
#define TELEM_LOG_(severity, ...)                                                                \
	TELEM_IF_ON_(log, TELEM_KIND_LOG_, TELEM_NONE, severity, TELEM_TEXT_(__VA_ARGS__, ),     \
		     telem_log_(telem_site_, __VA_ARGS__))
/* A format that is no literal cannot name a site. The library names one whose name is "%s" by its place. */
#ifndef __cplusplus
#define TELEM_TEXT_(first, ...) __builtin_choose_expr(__builtin_constant_p(first), first, "%s")
#else
#define TELEM_TEXT_(first, ...) first
#endif

/* type is a string literal here: telem.h makes it, before the preprocessor expands a type that is a
 * macro. */
#define TELEM_ALLOC_(type, bytes)                                                                \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, type,                               \
		     telem_alloc_(telem_site_, telem_lvl_, (uint64_t)(bytes)))
#define TELEM_FREE_(type, bytes)                                                                 \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, type,                               \
		     telem_free_(telem_site_, telem_lvl_, (uint64_t)(bytes)))
#define TELEM_ALLOC_AT_(type, address, bytes)                                                    \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, type,                               \
		     telem_alloc_(telem_site_, telem_lvl_, (uint64_t)(bytes));                   \
		     telem_born_(telem_site_, (address), (uint64_t)(bytes)))
#define TELEM_FREE_AT_(type, address, bytes)                                                     \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, type,                               \
		     telem_free_(telem_site_, telem_lvl_, (uint64_t)(bytes));                    \
		     telem_died_(telem_site_, (address)))
#define TELEM_REALLOC_(type, old, old_bytes, now, now_bytes)                                     \
	TELEM_IF_ON_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 0, type,                               \
		     const void *telem_old_ = (old), *telem_now_ = (now);                        \
		     if (telem_old_) {                                                           \
			     telem_free_(telem_site_, telem_lvl_, (uint64_t)(old_bytes));        \
			     telem_died_(NULL, telem_old_);                                      \
		     }                                                                           \
		     if (telem_now_) {                                                           \
			     telem_alloc_(telem_site_, telem_lvl_, (uint64_t)(now_bytes));       \
			     telem_born_(telem_site_, telem_now_, (uint64_t)(now_bytes));        \
		     })
#define TELEM_TYPE_(type) TELEM_SITE_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, 1, type)
#define TELEM_ALLOC_TAG_(name) TELEM_ALLOC_TAG_OF_(TELEM_SITE_(mem, TELEM_KIND_TAG_, TELEM_BYTES, 0, name))
#define TELEM_ALLOC_TAG_OF_(site)                                                                \
	struct telem_tag_ TELEM_CAT_(telem_tag_, __LINE__) __attribute__((cleanup(telem_tag_end_), unused)) = \
		telem_tag_begin_(site)

/* ---- the same for a site that the program has looked up ---- */

#define TELEM_LOG_OF_(site, ...)                                                                 \
	do {                                                                                     \
		struct telem_site *const telem_site_ = (site);                                   \
		if (TELEM_UNLIKELY_(telem_level_(telem_site_)))                                  \
			telem_log_(telem_site_, __VA_ARGS__);                                    \
	} while (0)
/* Defines the function NAME, which does the last arguments with a site that is not off. */
#define TELEM_OF_(name, type, n, ...)                                                            \
	TELEM_INLINE_ void name(struct telem_site *site, type n)                                 \
	{                                                                                        \
		const uint8_t level = telem_level_(site);                                        \
		if (TELEM_UNLIKELY_(level)) {                                                    \
			__VA_ARGS__;                                                             \
		}                                                                                \
	}
TELEM_OF_(telem_count, uint64_t, n, telem_count_(site, level, n))
TELEM_OF_(telem_gauge, int64_t, n, telem_gauge_set_(site, level, n))
TELEM_OF_(telem_gauge_add, int64_t, n, telem_gauge_add_(site, level, n))
TELEM_OF_(telem_value, uint64_t, n, telem_value_(site, n))
TELEM_OF_(telem_latency, uint64_t, start, telem_duration_(site, start))
TELEM_OF_(telem_latency_begin, uint64_t, key, telem_latency_begin_(site, key))
TELEM_OF_(telem_latency_end, uint64_t, key, telem_latency_end_(site, key))
TELEM_OF_(telem_mark, uint64_t, key, telem_mark_(site, level, key))
#undef TELEM_OF_

#ifndef __cplusplus
TELEM_STATIC_ uint64_t telem_double_bits_(double number)
{
	union { double number; uint64_t bits; } both = { number };

	return both.bits;
}
TELEM_STATIC_ uint64_t telem_uint_bits_(uint64_t number) { return number; }
TELEM_STATIC_ uint64_t telem_int_bits_(int64_t number) { return (uint64_t)number; }
#define TELEM_F_(name, value)                                                                    \
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
#else
} /* extern "C" */
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
extern "C" {
#define TELEM_F_(name, value) telem_field_((name), (value))
#endif

#else /* TELEM_DISABLE */

/* ---- the twins of functions and macros: nothing is evaluated, nothing is linked --- */

/* Has the value, like a call whose result may be ignored. */
#define TELEM_NOTHING_(value) __extension__({ value; })
int telem_unused_(const char *format, ...);

/* Arguments that a program may have for this call alone are named in code that never runs, so that
 * a compiler does not call them unused; sizeof does the same for numbers. */
#define telem_start(options) __extension__({ (void)(options); 0; })
#define telem_stop() ((void)0)
#define telem_error() ""

#define TELEM_CLASS_(object, pointer, name, help, level) struct telem_class
#define TELEM_CLASS_DECLARE_(object) struct telem_class

#define TELEM_SPAN_(cls, name)                                                                   \
	for (int TELEM_CAT_(telem_once_, __LINE__) = 1; TELEM_CAT_(telem_once_, __LINE__);       \
	     TELEM_CAT_(telem_once_, __LINE__) = 0)
#define TELEM_SPAN_HERE_(cls, name) typedef int TELEM_CAT_(telem_here_, __LINE__) __attribute__((unused))
#define TELEM_SPAN_SITE_(cls, name) ((struct telem_site *)0)
#define telem_span_begin(site) __extension__((struct telem_span){ 0, 0, 1 })
#define telem_span_end(span) ((void)(span))
#define telem_span_abandon(span) ((void)(span))

#define TELEM_COUNT_(cls, name, unit, n) ((void)sizeof(n))
#define TELEM_GAUGE_(cls, name, unit, n) ((void)sizeof(n))
#define TELEM_GAUGE_ADD_(cls, name, unit, n) ((void)sizeof(n))
#define TELEM_VALUE_(cls, name, n, unit) ((void)sizeof(n))

#define telem_stamp() ((uint64_t)0)
#define TELEM_LATENCY_(cls, name, start) ((void)sizeof(start))
#define TELEM_LATENCY_BEGIN_(cls, name, key) ((void)sizeof(key))
#define TELEM_LATENCY_END_(cls, name, key) ((void)sizeof(key))
#define telem_set_latency_expiry(ns) TELEM_NOTHING_(0)
#define TELEM_MARK_(cls, name, key) ((void)sizeof(key))

#define TELEM_EVENT_(cls, name, ...) ((void)sizeof(telem_unused_("", __VA_ARGS__)))
#define TELEM_F_(name, value) (value)
#define TELEM_LOG_(severity, ...) ((void)sizeof(telem_unused_(__VA_ARGS__)))

#define TELEM_ALLOC_(type, bytes) ((void)sizeof(bytes))
#define TELEM_FREE_(type, bytes) ((void)sizeof(bytes))
#define TELEM_ALLOC_AT_(type, address, bytes) ((void)(address), (void)sizeof(bytes))
#define TELEM_FREE_AT_(type, address, bytes) ((void)(address), (void)sizeof(bytes))
#define telem_died_(site, address) ((void)(address))
#define TELEM_REALLOC_(type, old, old_bytes, now, now_bytes)                                     \
	((void)(old), (void)(now), (void)sizeof(old_bytes), (void)sizeof(now_bytes))
#define TELEM_TYPE_(type) ((struct telem_site *)0)
#define telem_site_new(cls, kind, unit, name) \
	((void)(cls), (void)(name), (void)sizeof(kind), (void)sizeof(unit), (struct telem_site *)0)
#define TELEM_SPAN_OF_(site)                                                                     \
	for (int TELEM_CAT_(telem_once_, __LINE__) = ((void)(site), 1); TELEM_CAT_(telem_once_, __LINE__); \
	     TELEM_CAT_(telem_once_, __LINE__) = 0)
#define TELEM_SPAN_OF_HERE_(site) const void *TELEM_CAT_(telem_here_, __LINE__) __attribute__((unused)) = (site)
#define TELEM_ALLOC_TAG_OF_(site) TELEM_SPAN_OF_HERE_(site)
#define TELEM_LOG_OF_(site, ...) ((void)(site), (void)sizeof(telem_unused_(__VA_ARGS__)))
#define telem_log_site(file, line, severity) \
	((void)(file), (void)sizeof(line), (void)sizeof(severity), (struct telem_site *)0)
#define telem_count(site, n) ((void)(site), (void)sizeof(n))
#define telem_gauge(site, n) ((void)(site), (void)sizeof(n))
#define telem_gauge_add(site, n) ((void)(site), (void)sizeof(n))
#define telem_value(site, n) ((void)(site), (void)sizeof(n))
#define telem_latency(site, start) ((void)(site), (void)sizeof(start))
#define telem_latency_begin(site, key) ((void)(site), (void)sizeof(key))
#define telem_latency_end(site, key) ((void)(site), (void)sizeof(key))
#define telem_mark(site, key) ((void)(site), (void)sizeof(key))
#define telem_heap_alloc(site, address, bytes) ((void)(site), (void)(address), (void)sizeof(bytes))
#define telem_heap_free(address, bytes) ((void)(address), (void)sizeof(bytes))
#define telem_heap_realloc(site, old, old_bytes, now, now_bytes)                                 \
	((void)(site), (void)(old), (void)(now), (void)sizeof(old_bytes), (void)sizeof(now_bytes))
#define TELEM_ALLOC_TAG_(name) typedef int TELEM_CAT_(telem_here_, __LINE__) __attribute__((unused))
#define telem_alloc_hook(function, arg) __extension__({ if (0) { (void)(function); (void)(arg); } 0; })
#define telem_allocations(task, out, room) __extension__({ if (0) (void)(out); 0u; })

#define telem_class_level(cls, level) TELEM_NOTHING_(0)
#define telem_level_set(name, level) TELEM_NOTHING_(0)
#define telem_level_get(name) TELEM_NOTHING_(0)
#define telem_enable_all(on) ((void)0)
#define telem_class_limit(name, keep, per_second) TELEM_NOTHING_(0)
#define telem_log_burst(name, per_second) TELEM_NOTHING_(0)
#define telem_span_every(name, n) TELEM_NOTHING_(0)

#define telem_task_name(name) ((void)0)
#define telem_task_new(name) TELEM_NOTHING_(1)
#define telem_task_enter(id) __extension__({ (void)sizeof(id); 0; })
#define telem_task_leave() ((void)0)
#define telem_task_end(id) ((void)sizeof(id))

#define telem_frame(name) ((void)sizeof(name))
#define telem_frame_begin(name) ((void)sizeof(name))
#define telem_frames(name, out, room) __extension__({ if (0) (void)(out); 0u; })
#define telem_frame_counter(name, counter) TELEM_NOTHING_(0)
#define telem_budget(name, budget, function, arg)                                                \
	__extension__({ if (0) { (void)(budget); (void)(function); (void)(arg); } 0; })
#define telem_watch(what, on) ((void)0)

#define telem_gc_begin(generation) ((void)sizeof(generation))
#define telem_gc_end(generation, gc) ((void)sizeof(generation))

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

#define telem_reporter(path, kind, unit, function, arg)                                          \
	__extension__({ if (0) { (void)(path); (void)(function); (void)(arg); } 0; })
#define telem_provider(name, function, arg)                                                      \
	__extension__({ if (0) { (void)(name); (void)(function); (void)(arg); } 0; })
#define telem_reporter_remove(path) TELEM_NOTHING_(0)
#define telem_report_malloc() TELEM_NOTHING_(0)
#define telem_report_process() TELEM_NOTHING_(0)
#define telem_report_telemetry() TELEM_NOTHING_(0)

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
#define telem_set_policy(policy, timeout_ns) TELEM_NOTHING_(0)

#define telem_stats(out) __builtin_memset((out), 0, sizeof *(out))
#define telem_class_stats(out, room) __extension__({ if (0) (void)(out); 0u; })

#define telem_dump(reason, path, room) __extension__({ if (0) (void)(path); 0; })
#define telem_dump_directory(directory) TELEM_NOTHING_(0)
#define telem_dump_on_signal(number) TELEM_NOTHING_(0)

#endif /* TELEM_DISABLE */

/* ---- with and without TELEM_DISABLE ---------------------------------------------- */

TELEM_STATIC_ double telem_field_double(const struct telem_field *field)
{
	union { uint64_t bits; double number; } both = { field->bits };

	return field->type == TELEM_FIELD_DOUBLE_ ? both.number
	       : field->type == TELEM_FIELD_INT_ ? (double)(int64_t)field->bits : (double)field->bits;
}
TELEM_STATIC_ int64_t telem_field_int(const struct telem_field *field)
{
	return field->type == TELEM_FIELD_DOUBLE_ ? (int64_t)telem_field_double(field) : (int64_t)field->bits;
}

/* Counts what an allocator returned, and is that pointer. */
#define TELEM_TAKEN_(type, call)                                                                 \
	__extension__({                                                                          \
		void *telem_new_ = (call);                                                       \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, malloc_usable_size(telem_new_));        \
		telem_new_;                                                                      \
	})
#define TELEM_HEAP_MALLOC_(type, bytes) TELEM_TAKEN_(type, malloc(bytes))
#define TELEM_HEAP_CALLOC_(type, count, bytes) TELEM_TAKEN_(type, calloc((count), (bytes)))
#define TELEM_HEAP_FREE_(type, pointer)                                                          \
	do {                                                                                     \
		void *telem_pointer_ = (pointer);                                                \
		if (telem_pointer_) {                                                            \
			TELEM_FREE_AT(type, telem_pointer_, malloc_usable_size(telem_pointer_)); \
			free(telem_pointer_);                                                    \
		}                                                                                \
	} while (0)
/* The sample ends before realloc(), for another thread may be given the address right after it. The
 * free is counted when realloc() has freed: when it succeeded, or was asked for 0 bytes. */
#define TELEM_HEAP_REALLOC_(type, pointer, bytes)                                                \
	__extension__({                                                                          \
		void *telem_old_ = (pointer);                                                    \
		size_t telem_had_ = telem_old_ ? malloc_usable_size(telem_old_) : 0;             \
		size_t telem_wanted_ = (bytes);                                                  \
		void *telem_new_;                                                                \
		telem_died_(NULL, telem_old_);                                                   \
		telem_new_ = realloc(telem_old_, telem_wanted_);                                 \
		if (telem_had_ && (telem_new_ || telem_wanted_ == 0))                            \
			TELEM_FREE(type, telem_had_);                                            \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, malloc_usable_size(telem_new_));        \
		telem_new_;                                                                      \
	})
#define TELEM_HEAP_MALLOC_SIZED_(type, bytes)                                                    \
	__extension__({                                                                          \
		size_t telem_bytes_ = (bytes);                                                   \
		void *telem_new_ = malloc(telem_bytes_);                                         \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, telem_bytes_);                          \
		telem_new_;                                                                      \
	})
#define TELEM_HEAP_FREE_SIZED_(type, pointer, bytes)                                             \
	do {                                                                                     \
		void *telem_pointer_ = (pointer);                                                \
		if (telem_pointer_) {                                                            \
			TELEM_FREE_AT(type, telem_pointer_, (bytes));                            \
			free(telem_pointer_);                                                    \
		}                                                                                \
	} while (0)

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
#define TELEM_NEW_(type)                                                                         \
	__extension__({                                                                          \
		type *telem_new_ = TELEM_MAKE_ONE_(type);                                        \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, sizeof(type));                          \
		telem_new_;                                                                      \
	})
#define TELEM_NEW_ARRAY_(type, count)                                                            \
	__extension__({                                                                          \
		size_t telem_count_of_ = (count);                                                \
		type *telem_new_ = TELEM_MAKE_(type, telem_count_of_);                           \
		if (telem_new_)                                                                  \
			TELEM_ALLOC_AT(type, telem_new_, telem_count_of_ * sizeof(type));        \
		telem_new_;                                                                      \
	})
#define TELEM_DELETE_(type, pointer)                                                             \
	do {                                                                                     \
		type *telem_pointer_ = (pointer);                                                \
		if (telem_pointer_)                                                              \
			TELEM_FREE_AT(type, telem_pointer_, sizeof(type));                       \
		TELEM_UNMAKE_ONE_(telem_pointer_);                                               \
	} while (0)
#define TELEM_DELETE_ARRAY_(type, pointer, count)                                                \
	do {                                                                                     \
		type *telem_pointer_ = (pointer);                                                \
		if (telem_pointer_)                                                              \
			TELEM_FREE_AT(type, telem_pointer_, (count) * sizeof(type));             \
		TELEM_UNMAKE_(telem_pointer_);                                                   \
	} while (0)

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
