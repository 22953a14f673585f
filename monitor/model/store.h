/* store.h -- what a model is made of, and its memory. Private to monitor/model/.
 *
 * Everything a stream can make grow is taken from one bound, LIMIT_STREAM_BYTES; what has
 * no room is left out and counted, never half there. */
#ifndef TELEM_MONITOR_MODEL_STORE_H
#define TELEM_MONITOR_MODEL_STORE_H

#include "monitor/model/map.h"
#include "monitor/model/model.h"

/* What one tick added to a distribution; several a second are linked. */
struct delta {
	struct delta *next;
	int64_t second;
	uint32_t pair_count, unused;
	struct { uint32_t index; uint32_t count; } pairs[];
};

struct list_of { void **items; uint32_t count, room; };      /* own, and own what they point to */

enum { SITES_A_PAGE = 256 };

struct model {
	struct model_target target;
	struct model_totals totals;
	struct model_link link;
	uint64_t refused_count;              /* messages that the model left out, of link.bad_messages */
	struct model_class classes[LIMIT_CLASSES];
	uint32_t class_count;
	struct list_of sites, tasks, task_sites;
	/* Sites by id, for each event asks: SITES_A_PAGE to a page, NULL where there is none. */
	struct model_site **site_pages[LIMIT_SITES / SITES_A_PAGE];
	struct map task_map, task_site_map;
	struct model_frame frames[LIMIT_FRAMES];
	uint32_t frame_count;
	struct model_line lines[MODEL_LINES];
	uint64_t line_count;                 /* ever */
	struct series series[MODEL_SERIES_COUNT];
	struct message_snapshot snapshot;    /* the newest */
	uint64_t ticks, time_ns, interval_ns, since_ns;      /* since_ns: of the first tick */
	bool has_previous;                   /* the previous_ fields hold the figures of the last tick */
	bool is_in_tick;                     /* figures came that no SNAPSHOT has closed yet */
	bool is_greeted;                     /* a HELLO came: all that is there is being told */
	uint32_t greeting;                   /* how many of those */
	uint32_t ended_count;                /* of tasks that are still in the list */
	int window_s;
	uint64_t wanted_interval_ns;
	uint64_t mark_ns;
	/* Values at the last tick. */
	uint64_t previous_cpu_ns, previous_telem_cpu_ns;
	uint64_t previous_bytes, previous_blocks, previous_events, previous_losses;
	uint64_t lost_before, sink_dropped_before;   /* on former connections */
	uint64_t lost_raw;                   /* taken since we joined, but not received */
	uint64_t ring_dropped, ring_dropped_before;  /* at the source, since we joined */
	size_t used_bytes;                   /* of LIMIT_STREAM_BYTES */
};

/* Up to which use of memory something is given room: looking back must not take it all,
 * or there is none for what is told later. */
enum room { ROOM_FIGURES = LIMIT_STREAM_BYTES, ROOM_WINDOWS = LIMIT_STREAM_BYTES / 4 * 3,
	    ROOM_TRENDS = LIMIT_STREAM_BYTES / 2 };

#define BUCKET_BYTES (HISTOGRAM_BUCKETS * sizeof(uint64_t))
#define DELTAS_BYTES (MODEL_WINDOW_S_MAX * sizeof(struct delta *))

/* Zeroed memory, counted; NULL when the stream has had its share. */
void *model_take(struct model *model, size_t bytes, enum room room);
void model_give(struct model *model, void *taken, size_t bytes);
/* The stream asked for what cannot be; it is left out, and counted. */
void model_refuse(struct model *model);
void model_begin(struct model *model, int window_s);
void model_empty(struct model *model);
void model_task_free(struct model *model, struct model_task *task);
void model_pair_free(struct model *model, struct task_site *pair);
size_t model_delta_bytes(uint32_t pair_count);
void model_deltas_free(struct model *model, struct delta *delta);
/* Adds to a list and, unless that is NULL, to the map that finds in it. False: no room. */
bool model_index_add(struct model *model, struct list_of *list, struct map *map, uint64_t key, void *item);
/* False: no room. */
bool model_site_add(struct model *model, struct model_site *site);
static inline __attribute__((always_inline)) struct model_site *model_find_site(const struct model *model, uint64_t id)
{
	struct model_site **page = id < LIMIT_SITES ? model->site_pages[id / SITES_A_PAGE] : NULL;

	return page ? page[id % SITES_A_PAGE] : NULL;
}
struct model_task *model_find_task(const struct model *model, uint64_t id);
struct task_site *model_find_pair(const struct model *model, uint64_t task, uint64_t site);
struct task_site *model_make_pair(struct model *model, uint64_t task_id, uint64_t site);
uint64_t model_pair_key(uint64_t task, uint64_t site);

/* ---- numbers from outside: no sum of them wraps ---- */

static inline uint32_t u32(uint64_t number)
{
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static inline uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a + b >= a ? a + b : UINT64_MAX;
}

static inline int64_t signed_sum_of(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}
#endif
