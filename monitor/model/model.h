/* model.h -- what a stream means: one point a second, an hour of history.
 *
 * The model is fed with messages in stream order. It never reads a clock and knows no screen, so that live streams, replay
 * and tests run the same code. Names are as the target sent them: clean them (text.h) before they are shown. Every pointer
 * that a function returns is borrowed until the next call that changes the model. Times are ns of the target's
 * CLOCK_MONOTONIC. */
#ifndef TELEM_MONITOR_MODEL_MODEL_H
#define TELEM_MONITOR_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/model/series.h"
#include "protocol/histogram.h"
#include "protocol/limits.h"
#include "protocol/message.h"

/* So many seconds of distributions are remembered, for windows and heat maps. */
#define MODEL_WINDOW_S_MAX 300
/* A heat map has a row for each octave of the value, from below 2^6 to 2^42. */
#define MODEL_HEAT_ROWS 38
#define MODEL_FRAMES 200             /* so many durations of each frame name are remembered */
#define MODEL_LINES 256              /* so many log lines and events are remembered */

/* A distribution over some window. */
struct quantiles {
	uint64_t count;
	double rate_per_s;
	uint64_t min, p50, p90, p99, p999, max;      /* in ns, or in the site's unit; 0 when count is 0 */
};

struct heat {
	/* How many events a second had in each octave; a second is at index second % MODEL_WINDOW_S_MAX. */
	uint32_t counts[MODEL_WINDOW_S_MAX][MODEL_HEAT_ROWS];
	int64_t last_second;
};

/* What lives of the memory that someone allocated. It is never below 0. */
struct live {
	double bytes, count;
	double variance;             /* of the bytes: the square of one standard deviation; 0 when they are exact */
	bool is_known;               /* false when the target does not say */
	bool is_rough;               /* it is an estimate and shown with ~: it comes from samples, or its type was off */
};

/* Rounds to a whole number; what is too large for one becomes the largest. */
uint64_t model_round(double value);
/* Adds what lives in one to what lives in another. */
void live_add(struct live *into, const struct live *live);

/* What samples stand for, as the target sent it. */
struct drawn { double bytes, count, variance; };

/* Allocation types that share their frees, or a type that has its own: what lives of them, which is exact, and what the
 * samples of it stand for. */
struct pool {
	double bytes, count;
	struct drawn drawn;
	bool is_rough;               /* a type was off for a while */
};

struct model_site {
	uint32_t id, class_id;
	uint64_t received;                   /* events that came at level all. It stands here because applying an event
					      * needs it and class_id, and one cache line holds both. */
	uint32_t kind, unit, detail, line;
	uint8_t level, own_level;            /* own_level is LEVEL_OWN when the site follows its class */
	bool was_off;                        /* its sums have a gap */
	uint32_t every;                      /* one event in so many is measured; above 1 figures are estimates */
	char name[LIMIT_NAME_BYTES], file[LIMIT_PATH_BYTES];
	char fields[LIMIT_FIELDS][32];
	uint32_t field_count;
	/* Of the whole program, since its start. For an allocation type or tag these four are allocations, bytes allocated,
	 * frees, bytes freed. For a gauge sum is the value, signed. */
	uint64_t count, sum, min, max;
	bool is_rough;                       /* figures are estimates and shown with ~: the class was off for a while, not
					      * every event is measured, or there was no memory for the distribution */
	/* Of the last tick. */
	uint64_t told_ns;                    /* the newest tick that told something new of it, also the same value again */
	double rate_per_s;                   /* events, or allocations */
	double sum_per_s;                    /* the sum of values, or bytes allocated */
	double free_per_s;                   /* bytes freed */
	struct quantiles window;             /* of timed kinds, over model_window() */
	struct series *trend;                /* p99, live bytes, the gauge's value or the rate; NULL: no memory */
	struct heat *heat;                   /* of timed kinds; NULL: no memory */
	int64_t mark_value;                  /* live bytes, the gauge's value or the count when the mark was set */
	struct quantiles mark;
	struct live live;                    /* of an allocation type or a tag; for the types that have their own frees
					      * it is exact */
	/* Events that came at level all. */
	double streamed_per_s;
	/* Private to the model. */
	struct pool pool;                    /* of an allocation type */
	uint64_t previous_count, previous_sum, previous_max; /* values at the last tick */
	uint64_t *buckets, *previous_buckets;
	struct delta **deltas;               /* MODEL_WINDOW_S_MAX of them: what each second added; or NULL */
	uint64_t previous_received;
	int64_t forgotten_second;            /* the newest second whose delta could not be kept; 0: there is none */
};

struct model_task {
	uint32_t id;
	uint64_t thread_id;                  /* 0: not a thread */
	bool has_ended;                      /* the task has ended; it is removed at the next tick at the latest */
	char name[LIMIT_NAME_BYTES];
	struct live live;                    /* of all types: what this task allocated, whoever frees it */
	uint64_t alloc_bytes, alloc_count, free_bytes, free_count;   /* what this task ever allocated, and freed */
	double alloc_per_s, free_per_s;      /* bytes */
	double events_per_s;                 /* of all kinds, at level sum or all */
	int64_t mark_value;                  /* live bytes when the mark was set */
	struct series *trend;                /* live bytes */
	uint64_t last_ns;                    /* when its latest figures came */
	/* Private to the model. */
	uint32_t first_site;                 /* the first of its task_sites; 0: it has none */
	uint32_t greeting;                   /* the number of the latest greeting that named it */
};

/* One task's figures of one site, like those of model_site. */
struct task_site {
	uint32_t task, site;
	uint64_t count, sum, min, max;
	struct live live;                    /* of an allocation type */
	double rate_per_s;
	uint64_t previous_count;             /* value at the last tick */
	uint64_t *buckets;                   /* NULL without a distribution. The target may leave some out; then they sum
					      * to less than previous_count. */
	/* Private to the model. */
	uint64_t previous_sum, previous_max; /* values at the last tick */
	uint32_t next_site;                  /* the next site of the same task; 0: this is the last */
};

/* What one task holds of one type under one tag, or under none when tag is 0. */
struct model_holder {
	uint32_t type, task, tag;
	struct live live;
	struct drawn drawn;
};

struct model_class {
	bool is_defined;
	char name[LIMIT_NAME_BYTES], help[LIMIT_NAME_BYTES];
	uint8_t level, own_level;            /* level is the one that the target acknowledged */
	bool was_off;
	uint32_t leases;
	uint64_t sample, per_second;         /* one event in sample, and at most per_second, are streamed; 0: all */
	uint64_t burst;                      /* texts of log lines that look alike, in a second; 0: the default */
	char set_by[64];
	uint64_t emitted, dropped, taken;    /* the target's books, since its start */
	uint64_t received;                   /* events that we received since we joined */
	uint64_t lost;                       /* events that were taken since we joined, but never arrived */
	double events_per_s, bytes_per_s;    /* of what we received at level all */
	double drops_per_s;
	double sum_per_s;                    /* events of its sites, at level sum or all */
	double cost_share;                   /* what they cost the target now, as a share of one core */
	double last_events_per_s, last_bytes_per_s, last_cost_share;     /* of the last time at level all */
	/* Private to the model: the books when we joined, and values at the last tick. */
	uint64_t base_taken, base_dropped, previous_received, previous_bytes, bytes, previous_dropped;
	bool has_base;
};

/* The frames of one name, from the FRAME messages that came while we watched. */
struct model_frame {
	uint32_t site;
	uint64_t seen, missed;               /* since we joined; missed ones are gaps in the numbers of those that we saw */
	/* Of the latest frame. */
	uint64_t number, time_ns, duration_ns, budget_ns, allocations;
	int64_t heap_bytes, heap_peak;
	uint64_t logs[SEVERITY_COUNT];
	uint32_t counter_count;
	struct { uint32_t site; uint64_t sum; } counters[LIMIT_COUNTERS_A_FRAME];
	uint64_t broken, broke[4];           /* frames over budget; of them in time, heap, logs, counter */
	uint64_t broken_ns;                  /* when the last of them ended */
	uint64_t latest_broken;              /* what of its budget the latest frame broke, in bits as FRAME has them */
	uint64_t durations_ns[MODEL_FRAMES]; /* frame number i that we saw, counted from 0, is at index i % MODEL_FRAMES */
};

enum line_kind { LINE_LOG, LINE_EVENT, LINE_MARK, LINE_LOST, LINE_LEVEL };
struct model_line {
	enum line_kind kind;
	uint64_t time_ns;
	uint32_t task, site, class_id;
	uint32_t severity;
	uint64_t folded;                     /* lines of the same place since its previous one that were not sent */
	char text[256];
};

/* What the session counts of the stream that carries the messages, since the program's stream began. */
struct model_transport {
	uint64_t bytes, blocks;
	uint64_t damaged_blocks, skipped_bytes;
	uint64_t lost_blocks;                /* gaps in the numbers of blocks */
	uint64_t bad_messages, unknown_messages;
	double lag_ns;                       /* how old the newest data was when it arrived */
};

struct model_link {
	double bytes_per_s, blocks_per_s, events_per_s;      /* of what arrives */
	uint64_t bytes, blocks, events;
	uint64_t damaged_blocks, skipped_bytes;
	uint64_t bad_messages;               /* left out, like rows of figures: they mean nothing or are over a limit */
	uint64_t unknown_messages;
	uint64_t lost_blocks;                /* gaps in the numbers of blocks */
	uint64_t lost_events;                /* events of all classes that were lost on the way to us */
	uint64_t dropped_events;             /* events dropped at the source since we joined: ring or queue full */
	uint64_t last_loss_ns;
	double lag_ns;                       /* how old the newest data was when it arrived */
	double drops_per_s;                  /* both kinds of loss in the last tick */
	/* What the target says about our sink. */
	uint64_t sink_taken, sink_delivered, sink_dropped, sink_queued, queue_bytes, queue_bytes_max, viewers;
	uint64_t emitted, dropped, taken;    /* of all classes */
	bool is_balanced;                    /* emitted = delivered + dropped + queued, and we received what was delivered */
	bool has_books, has_bye;
	struct message_bye bye;
	uint64_t ring_permille, event_cost_ps, sum_cost_ps;
	uint64_t sync_ns;                    /* when the last HELLO came */
	uint32_t reconnects;
};

struct model_target {
	char name[LIMIT_NAME_BYTES], host[LIMIT_NAME_BYTES], version[32];
	uint64_t pid, uid, stream, start_ns, mono_ns, real_ns, resolution_ns, tick_ns, ring_bytes, policy, flush_ns;
	uint32_t major, minor;
	bool may_control, is_known;
	char problem[512];                   /* what was wrong with its settings; "" for nothing */
};

struct model_totals {
	struct live live;                    /* of all allocation types */
	double unsampled_bytes;              /* of them, those of which no sample tells who holds them */
	uint64_t rss_bytes, cpu_ns, thread_count, telem_cpu_ns, telem_bytes;
	double alloc_per_s, free_per_s;      /* bytes */
	double cpu_share, telem_cpu_share;   /* of one core */
	double events_per_s;                 /* of all sites at level sum or all */
	double gc_per_s, gc_share;           /* how many spans of class gc there are, and their share of time */
	double log_per_s[5];                 /* by severity */
};

struct model;

/* Returns NULL when memory is out. */
struct model *model_new(void);
void model_free(struct model *model);
/* A copy of all figures as they are now, for a frozen picture. Returns NULL when memory is out. */
struct model *model_copy(const struct model *model);

/* Applies a message of the stream. bytes is how long it was on the wire. */
void model_apply(struct model *model, const struct message *message, uint32_t bytes);
/* Sets what model_link() says of the transport. */
void model_set_transport(struct model *model, const struct model_transport *transport);
/* Says that we have joined the stream after its start. */
void model_joined_late(struct model *model);
/* Says that the stream will start again with a greeting, after a reconnect or damage: rates pause, totals stay. A HELLO of
 * another stream id empties the model without this call. */
void model_gap(struct model *model);

/* ---- asking ---- */
const struct model_target *model_target(const struct model *model);
const struct model_totals *model_totals(const struct model *model);
const struct model_link *model_link(const struct model *model);
/* How many ticks there were, the time of the newest one (0: there was none) and its length. */
uint64_t model_ticks(const struct model *model);
uint64_t model_time_ns(const struct model *model);
uint64_t model_interval_ns(const struct model *model);
/* True between ticks: all figures are those of the newest SNAPSHOT, and a SNAPSHOT has come since the last gap. */
bool model_is_settled(const struct model *model);
/* The newest second of all series; series_copy(…, model_second(), n, …). */
int64_t model_second(const struct model *model);
/* The wall clock, in ns since 1970, at a moment of the target. */
int64_t model_real_ns(const struct model *model, uint64_t time_ns);
/* Sites, tasks and classes by position, 0 .. count - 1, in the order in which they were defined. */
uint32_t model_site_count(const struct model *model);
const struct model_site *model_site(const struct model *model, uint32_t index);
const struct model_site *model_site_by_id(const struct model *model, uint32_t id);
uint32_t model_task_count(const struct model *model);
const struct model_task *model_task(const struct model *model, uint32_t index);
const struct model_task *model_task_by_id(const struct model *model, uint32_t id);
uint32_t model_class_count(const struct model *model);       /* a class's id is its position; some are not defined */
const struct model_class *model_class(const struct model *model, uint32_t id);
/* The id of the class with this name; -1 when there is none. */
int model_class_find(const struct model *model, const char *name);
/* All pairs of task and site that have figures, in no order. */
uint32_t model_task_site_count(const struct model *model);
const struct task_site *model_task_site(const struct model *model, uint32_t index);
const struct task_site *model_task_site_of(const struct model *model, uint32_t task, uint32_t site);
uint32_t model_frame_count(const struct model *model);
const struct model_frame *model_frame(const struct model *model, uint32_t index);
/* The lines that are remembered; age 0 is the newest. */
uint32_t model_line_count(const struct model *model);
const struct model_line *model_line(const struct model *model, uint32_t age);
/* Events that were dropped at the source since we joined. */
static inline uint64_t model_dropped(const struct model_class *class)
{
	return class->dropped > class->base_dropped ? class->dropped - class->base_dropped : 0;
}
/* Who holds what, by type, task and tag, in no order. model_has_holders() is false for a target that does not say. */
bool model_has_holders(const struct model *model);
uint64_t model_mean_bytes(const struct model *model);       /* one byte in so many is sampled now */
uint32_t model_holder_count(const struct model *model);
const struct model_holder *model_holder(const struct model *model, uint32_t index);
/* Whether the site is an allocation type or a tag. A tag has the same figures, of what its blocks of code allocated and
 * freed. The types count these bytes as well, so totals leave tags out. */
static inline bool model_is_memory(const struct model_site *site)
{
	return site->kind == SITE_ALLOC || site->kind == SITE_TAG;
}
/* Whether the site is an allocation type; not what counts the frees of those types that do not have their own. */
static inline bool model_is_type(const struct model_site *site)
{
	return site->kind == SITE_ALLOC && site->detail != ALLOC_IS_FREES;
}
/* Whether some allocation type ever counted an allocation. While this is true "memory" on a screen means the live typed
 * bytes, also when all of them were freed and 0 are left; else it means the resident bytes that the kernel counts. */
bool model_has_typed_memory(const struct model *model);
/* The memory that is shown where there is room for one figure. */
struct model_memory {
	double bytes;
	bool is_typed;
	const char *prefix;                  /* "~" when it is an estimate, "rss " when it is the resident memory, or "" */
	const struct series *trend;
};
struct model_memory model_memory(const struct model *model);
/* Whether the site is how long the allocations of a type lived: it is called "TYPE lifetime", in class mem. */
static inline bool model_is_lifetime(const struct model_site *site)
{
	return site->kind == SITE_LATENCY && site->detail == LATENCY_IS_LIFETIME;
}
/* Whether the site is the value of a reporter, which the program asks for now and then. */
bool model_is_reported(const struct model *model, const struct model_site *site);
/* Whether counting that value holds the program up, so that it is off until somebody wants it: what malloc() holds, and
 * the proportional resident size. */
bool model_is_costly(const struct model *model, const struct model_site *site);
/* How old the value of a reporter is, in ns; 0 for every other site, whose value stands until the program sets another. */
uint64_t model_age_ns(const struct model *model, const struct model_site *site);
static inline bool model_is_timed(const struct model_site *site) { return site_kind_is_timed(site->kind); }
/* Series of the whole program: live typed bytes, resident bytes, events a second, wire bytes a second, losses, lag. */
enum model_series { MODEL_MEMORY, MODEL_RSS, MODEL_EVENTS, MODEL_WIRE, MODEL_LOSS, MODEL_LAG, MODEL_SERIES_COUNT };
const struct series *model_series(const struct model *model, enum model_series which);

/* The span or latency whose p99 in the window is the worst; NULL when none was timed in it. */
const struct model_site *model_worst_p99(const struct model *model);
/* How many seconds model_site.window covers: 10, 60, 300, or 0 for the whole run. The default is 60. */
int model_window(const struct model *model);
void model_set_window(struct model *model, int seconds);
/* Writes the buckets of that window; returns false when the site has none. */
bool model_window_buckets(const struct model *model, const struct model_site *site, uint64_t out[HISTOGRAM_BUCKETS]);
/* Ticks that come sooner than interval_ns are passed over, because a program ticks for all its viewers as often as the most
 * impatient one asks. With 0, the default, every tick counts. */
void model_set_interval(struct model *model, uint64_t interval_ns);
/* The mark is the moment that changes are compared with; model_mark_ns() is 0 when there is none. */
void model_set_mark(struct model *model);
/* For a model that hears the same stream again: its mark is set when the moment of the other one's mark comes. */
void model_await_mark(struct model *model, const struct model *from);
/* Gives a model the mark of another one, which is of the same program. */
void model_take_mark(struct model *model, const struct model *from);
void model_clear_mark(struct model *model);
uint64_t model_mark_ns(const struct model *model);
#endif
