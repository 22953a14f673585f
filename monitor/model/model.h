/* model.h -- what a stream means: one point a second, an hour of history.
 *
 * Fed with messages in stream order; never reads a clock and knows no screen, so live,
 * replay and tests are the same code. All names are as they came: clean them (text.h)
 * before they are shown. Everything returned is borrowed until the next call that
 * changes the model. Times are ns of the target's CLOCK_MONOTONIC. */
#ifndef TELEM_MONITOR_MODEL_MODEL_H
#define TELEM_MONITOR_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/model/series.h"
#include "protocol/histogram.h"
#include "protocol/limits.h"
#include "protocol/message.h"

/* Seconds that distributions can be looked back on, for windows and heat maps. */
#define MODEL_WINDOW_S_MAX 300
/* Rows of a heat map: octaves of the value, from below 2^6 to 2^42. */
#define MODEL_HEAT_ROWS 38
#define MODEL_FRAMES 200             /* durations kept of each name */
#define MODEL_LINES 256              /* log lines and events kept */

/* A distribution over some window. */
struct quantiles {
	uint64_t count;
	double rate_per_s;
	uint64_t min, p50, p90, p99, p999, max;      /* ns, or what the site's unit says; 0 when count is 0 */
};

struct heat {
	/* Events of a second by octave; column second % MODEL_WINDOW_S_MAX. */
	uint32_t counts[MODEL_WINDOW_S_MAX][MODEL_HEAT_ROWS];
	int64_t last_second;
};

struct model_site {
	uint32_t id, class_id;
	uint64_t received;                   /* at level all; each event asks for these two */
	uint32_t kind, unit, detail, line;
	uint8_t level, own_level;            /* own_level LEVEL_OWN: follows its class */
	uint32_t every;                      /* one in so many is measured and stands for them all: mark ~ */
	char name[LIMIT_NAME_BYTES], file[LIMIT_PATH_BYTES];
	char fields[LIMIT_FIELDS][32];
	uint32_t field_count;
	/* Whole program, since its start. Alloc, tag: allocations, bytes, frees, bytes freed. Gauge:
	 * sum is the value, signed. */
	uint64_t count, sum, min, max;
	bool is_rough;                       /* its class was off for a while, one in some is measured, or memory for its
					      * distribution was short: mark ~ */
	/* Last tick. */
	double rate_per_s;                   /* events, allocations */
	double sum_per_s;                    /* of values; bytes allocated a second */
	double free_per_s;                   /* bytes freed a second */
	struct quantiles window;             /* timed kinds: over model_window() */
	struct series *trend;                /* p99 of the second; live bytes; gauge; rate. NULL: too many sites */
	struct heat *heat;                   /* timed kinds; NULL: too many */
	int64_t mark_value;                  /* live bytes, gauge or count when the mark was set */
	struct quantiles mark;
	/* level all */
	double streamed_per_s;
	/* private to the model */
	uint64_t previous_count, previous_sum, previous_max; /* values at the last tick */
	uint64_t *buckets, *previous_buckets;
	struct delta **deltas;               /* [MODEL_WINDOW_S_MAX] what each second added, or NULL */
	uint64_t previous_received;
	int64_t forgotten_second;            /* the newest one deltas had no room for; 0: none */
};

struct model_task {
	uint32_t id;
	uint64_t thread_id;                  /* 0: not a thread */
	bool has_ended;                      /* a moment ago; gone at the next tick at the latest */
	char name[LIMIT_NAME_BYTES];
	int64_t live_bytes, live_count;      /* of all types: allocated less freed by this task */
	uint64_t alloc_bytes, alloc_count;   /* of all types: allocated by it, ever */
	double alloc_per_s, free_per_s;      /* bytes */
	double events_per_s;                 /* all kinds, at sum or all */
	int64_t mark_value;                  /* live bytes when the mark was set */
	struct series *trend;                /* live bytes */
	uint64_t last_ns;                    /* of its latest figures */
	/* private to the model */
	uint32_t first_site;                 /* of its task_sites; 0: none */
	uint32_t greeting;                   /* the one that named it */
};

/* One task's figures of one site, like those of model_site. */
struct task_site {
	uint32_t task, site;
	uint64_t count, sum, min, max;
	double rate_per_s;
	uint64_t previous_count;             /* value at the last tick */
	uint64_t *buckets;                   /* NULL without a distribution; they sum to less than previous_count when
					      * the target leaves them out */
	/* private to the model */
	uint64_t previous_sum, previous_max;
	uint32_t next_site;                  /* of the same task; 0: the last */
};

struct model_class {
	bool is_defined;
	char name[LIMIT_NAME_BYTES], help[LIMIT_NAME_BYTES];
	uint8_t level, own_level;            /* level: as the target acknowledged it */
	bool was_off;
	uint32_t leases;
	uint64_t keep, per_second;           /* one in so many events is streamed, and at most so many a second; 0: all */
	char set_by[64];
	uint64_t emitted, dropped, taken;    /* the target's books; since its start */
	uint64_t received;                   /* by us, since we joined */
	uint64_t lost;                       /* on the way: taken since we joined, but not received */
	double events_per_s, bytes_per_s;    /* received at level all */
	double drops_per_s;
	double cost_share;                   /* of one core, what level all costs the target now */
	double last_events_per_s, last_bytes_per_s, last_cost_share;     /* when it was last at all */
	uint64_t base_taken, base_dropped, previous_received, previous_bytes, bytes, previous_dropped;
	bool has_base;
};

/* The frames of one name that were told of while we looked. */
struct model_frame {
	uint32_t site;
	uint64_t seen, missed;               /* since we came; missed: between those seen, by their numbers */
	/* The latest. */
	uint64_t number, time_ns, duration_ns, budget_ns, allocations;
	int64_t heap_bytes, heap_peak;
	uint64_t logs[SEVERITY_COUNT];
	uint32_t counter_count;
	struct { uint32_t site; uint64_t sum; } counters[LIMIT_COUNTERS_A_FRAME];
	uint64_t broken, broke[4];           /* frames that broke their budget, and how many in time, heap, logs, counter */
	uint64_t broken_ns;                  /* when the last one did */
	uint64_t latest_broken;              /* what of its budget the latest frame broke, in bits as FRAME has them */
	uint64_t durations_ns[MODEL_FRAMES]; /* of frame seen - 1 at (seen - 1) % MODEL_FRAMES, and so on back */
};

enum line_kind { LINE_LOG, LINE_EVENT, LINE_MARK, LINE_LOST, LINE_LEVEL };
struct model_line {
	enum line_kind kind;
	uint64_t time_ns;
	uint32_t task, site, class_id;
	uint32_t severity;
	uint64_t folded;                     /* so many more like it came since the line of its place before */
	char text[256];
};

struct model_link {
	double bytes_per_s, blocks_per_s, events_per_s;      /* arriving */
	uint64_t bytes, blocks, events;
	uint64_t damaged_blocks, skipped_bytes;
	uint64_t bad_messages;               /* or rows of figures, that mean nothing or are over a limit: left out */
	uint64_t unknown_messages;
	uint64_t lost_blocks;                /* by their numbers */
	uint64_t lost_events;                /* on the way, all classes; and at the source: */
	uint64_t dropped_events;             /* since we came: ring full there, or no room in the queue for us */
	uint64_t last_loss_ns;
	double lag_ns;                       /* how old the newest data was when it came; set by the session */
	double drops_per_s;                  /* both kinds of loss in the last tick */
	/* the target's words about our sink */
	uint64_t sink_taken, sink_delivered, sink_dropped, sink_queued, queue_bytes, queue_bytes_max, viewers;
	uint64_t emitted, dropped, taken;    /* all classes */
	bool is_balanced;                    /* emitted = delivered + dropped + queued, and we received what was delivered */
	bool has_books, has_bye;
	struct message_bye bye;
	uint64_t ring_permille, event_cost_ps;
	uint64_t sync_ns;                    /* of the last HELLO */
	uint32_t reconnects;
};

struct model_target {
	char name[LIMIT_NAME_BYTES], host[LIMIT_NAME_BYTES], version[32];
	uint64_t pid, uid, stream, start_ns, mono_ns, real_ns, resolution_ns, tick_ns, ring_bytes, policy, flush_ns;
	uint32_t major, minor;
	bool may_control, is_known;
};

struct model_totals {
	int64_t live_bytes, live_count;      /* of all allocation types */
	bool is_rough;                       /* some of them were off for a while */
	uint64_t rss_bytes, cpu_ns, thread_count, telem_cpu_ns, telem_bytes;
	double alloc_per_s, free_per_s;      /* bytes */
	double cpu_share, telem_cpu_share;   /* of one core */
	double events_per_s;                 /* of all sites, at sum or all */
	double gc_per_s, gc_share;           /* spans of class gc: how many, and their share of time */
	double log_per_s[5];                 /* by severity */
};

struct model;

/* NULL when memory is out. */
struct model *model_new(void);
void model_free(struct model *model);
/* All figures as they are now, for a picture that stands still. NULL when memory is out. */
struct model *model_copy(const struct model *model);

/* A whole message of the stream. bytes: how long it was on the wire. */
void model_apply(struct model *model, const struct message *message, uint32_t bytes);
/* Blocks lost by number, damage, and the like: the session's to count. */
struct model_link *model_link_edit(struct model *model);
/* The stream will start anew with a greeting (reconnected, or damaged): rates pause, totals
 * stay. A HELLO of another stream id empties the model by itself. */
void model_gap(struct model *model);

/* ---- asking ---- */
const struct model_target *model_target(const struct model *model);
const struct model_totals *model_totals(const struct model *model);
const struct model_link *model_link(const struct model *model);
/* Ticks so far, the time of the newest one (0: none) and its length. */
uint64_t model_ticks(const struct model *model);
uint64_t model_time_ns(const struct model *model);
uint64_t model_interval_ns(const struct model *model);
/* True between ticks: all figures are those of the newest SNAPSHOT, and one has come since
 * the last gap. */
bool model_is_settled(const struct model *model);
/* The newest second of all series; series_copy(…, model_second(), n, …). */
int64_t model_second(const struct model *model);
/* Wall clock, ns since 1970, of a moment of the target. */
int64_t model_real_ns(const struct model *model, uint64_t time_ns);
/* By position, 0 .. count - 1, in order of definition. */
uint32_t model_site_count(const struct model *model);
const struct model_site *model_site(const struct model *model, uint32_t index);
const struct model_site *model_site_by_id(const struct model *model, uint32_t id);
uint32_t model_task_count(const struct model *model);
const struct model_task *model_task(const struct model *model, uint32_t index);
const struct model_task *model_task_by_id(const struct model *model, uint32_t id);
uint32_t model_class_count(const struct model *model);       /* ids are positions; some may be undefined */
const struct model_class *model_class(const struct model *model, uint32_t id);
/* -1 when there is none. */
int model_class_find(const struct model *model, const char *name);
/* All (task, site) pairs with figures, in no order. */
uint32_t model_task_site_count(const struct model *model);
const struct task_site *model_task_site(const struct model *model, uint32_t index);
const struct task_site *model_task_site_of(const struct model *model, uint32_t task, uint32_t site);
uint32_t model_frame_count(const struct model *model);
const struct model_frame *model_frame(const struct model *model, uint32_t index);
/* The newest lines, 0 is the newest. */
uint32_t model_line_count(const struct model *model);
const struct model_line *model_line(const struct model *model, uint32_t age);
/* Dropped at the source since we came; what was before is not ours. */
static inline uint64_t model_dropped(const struct model_class *class)
{
	return class->dropped > class->base_dropped ? class->dropped - class->base_dropped : 0;
}
/* Live bytes (or objects) of an allocation type, in the whole program or a task. */
static inline int64_t model_live_bytes(uint64_t sum, uint64_t max) { return (int64_t)(sum - max); }
/* An allocation type, or a tag: the same figures, of what was allocated and freed while it was
 * on. The types count that as well, so tags are in no total. */
static inline bool model_is_memory(const struct model_site *site)
{
	return site->kind == SITE_ALLOC || site->kind == SITE_TAG;
}
/* Whether some allocation type ever counted an allocation. While this is true "memory" on a screen means the live typed
 * bytes, also when all of them were freed and 0 are left; else it means the resident bytes that the kernel counts. */
bool model_has_typed_memory(const struct model *model);
static inline bool model_is_timed(const struct model_site *site) { return site_kind_is_timed(site->kind); }
/* Named series of the whole: memory (live typed bytes), resident bytes, events and wire bytes a second, losses. */
enum model_series { MODEL_MEMORY, MODEL_RSS, MODEL_EVENTS, MODEL_WIRE, MODEL_LOSS, MODEL_LAG, MODEL_SERIES_COUNT };
const struct series *model_series(const struct model *model, enum model_series which);

/* Seconds that model_site.window covers: 10, 60, 300, or 0 for everything. Default 60. */
int model_window(const struct model *model);
void model_set_window(struct model *model, int seconds);
/* The buckets of that window; false when the site has none. */
bool model_window_buckets(const struct model *model, const struct model_site *site, uint64_t out[HISTOGRAM_BUCKETS]);
/* Ticks that come sooner are passed over: a program ticks for all its viewers as often as
 * the most impatient one asked. 0, the default: every tick counts. */
void model_set_interval(struct model *model, uint64_t interval_ns);
/* The baseline that changes are told against; 0: none. */
void model_set_mark(struct model *model);
void model_clear_mark(struct model *model);
uint64_t model_mark_ns(const struct model *model);
#endif
