/* store.h -- what a model is made of, and its memory. Private to monitor/model/.
 *
 * Everything that a stream can make grow is taken from one bound, LIMIT_STREAM_BYTES. What finds no room there is left
 * out as a whole and counted. */
#ifndef TELEM_MONITOR_MODEL_STORE_H
#define TELEM_MONITOR_MODEL_STORE_H

#include "monitor/model/map.h"
#include "monitor/model/model.h"

/* What one tick added to a distribution. The deltas of one second are linked. */
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
	/* Sites by id: an array, because each event looks its site up. A page has SITES_A_PAGE of them, and NULL for an
	 * id that no site has. */
	struct model_site **site_pages[LIMIT_SITES / SITES_A_PAGE];
	struct map task_map, task_site_map;
	struct model_holder *samples, *holders;      /* HOLDERS_BYTES each: as they came, and of the newest tick; NULL until
						      * the target tells */
	uint32_t sample_count, holder_count;
	uint64_t holders_tick, holders_part;         /* the tick of the samples, and which part comes next */
	struct pool shared_pool;             /* of the types with ALLOC_IS_FREED_ELSEWHERE */
	uint64_t mean_bytes;                 /* one byte in so many is sampled now */
	struct model_frame frames[LIMIT_FRAMES];
	uint32_t frame_count;
	struct model_line lines[MODEL_LINES];
	uint64_t line_count;                 /* of all lines that came, also those that were overwritten */
	struct series series[MODEL_SERIES_COUNT];
	struct message_snapshot snapshot;    /* the newest */
	uint64_t ticks, time_ns, interval_ns;        /* time_ns is that of the newest tick */
	uint64_t since_ns;                   /* when the first tick was */
	bool has_previous;                   /* the previous_ fields hold the figures of the last tick */
	bool is_in_tick;                     /* figures came that no SNAPSHOT has closed yet */
	bool is_late;                        /* blocks of the stream were sent to others before we joined */
	bool is_greeted;                     /* a HELLO came, but not yet the SNAPSHOT that ends its greeting */
	uint32_t greeting;                   /* how many HELLOs came */
	uint32_t ended_count;                /* tasks in the list that have ended */
	int window_s;
	uint64_t wanted_interval_ns;
	uint64_t mark_ns, wanted_mark_ns;    /* wanted_mark_ns: the mark is set when that moment comes; 0: there is none */
	/* Values at the last tick. */
	uint64_t previous_cpu_ns, previous_telem_cpu_ns;
	uint64_t previous_bytes, previous_blocks, previous_events, previous_losses;
	uint64_t lost_before, sink_dropped_before;   /* on former connections */
	uint64_t lost_raw;                   /* taken since we joined, but not received */
	uint64_t ring_dropped, ring_dropped_before;  /* at the source, since we joined */
	size_t used_bytes;                   /* of LIMIT_STREAM_BYTES */
};

/* How many bytes may be in use for a new allocation to be made. History has lower bounds, so that memory is left for
 * the figures of sites and tasks that are defined later. */
enum room { ROOM_FIGURES = LIMIT_STREAM_BYTES, ROOM_WINDOWS = LIMIT_STREAM_BYTES / 4 * 3,
	    ROOM_TRENDS = LIMIT_STREAM_BYTES / 2 };

#define BUCKET_BYTES (HISTOGRAM_BUCKETS * sizeof(uint64_t))
#define HOLDERS_BYTES (4 * LIMIT_HOLDERS * sizeof(struct model_holder))      /* more than a target sends */
#define DELTAS_BYTES (MODEL_WINDOW_S_MAX * sizeof(struct delta *))

/* Returns zeroed memory, which is counted in used_bytes; NULL when that is at the bound, or memory is out. */
void *model_take(struct model *model, size_t bytes, enum room room);
void model_give(struct model *model, void *taken, size_t bytes);
/* Counts a message or row that was left out, because it means nothing or is over a limit. */
void model_refuse(struct model *model);
void model_begin(struct model *model, int window_s);
void model_empty(struct model *model);
void model_task_free(struct model *model, struct model_task *task);
void model_pair_free(struct model *model, struct task_site *pair);
size_t model_delta_bytes(uint32_t pair_count);
void model_deltas_free(struct model *model, struct delta *delta);
/* Adds an item to a list and, unless map is NULL, its position under key to the map. Returns false when there is no
 * room; then nothing was added. */
bool model_index_add(struct model *model, struct list_of *list, struct map *map, uint64_t key, void *item);
/* Returns false when there is no room. */
bool model_site_add(struct model *model, struct model_site *site);
static inline __attribute__((always_inline)) struct model_site *model_find_site(const struct model *model, uint64_t id)
{
	struct model_site **page = id < LIMIT_SITES ? model->site_pages[id / SITES_A_PAGE] : NULL;

	return page ? page[id % SITES_A_PAGE] : NULL;
}
struct model_task *model_find_task(const struct model *model, uint64_t id);
struct task_site *model_find_pair(const struct model *model, uint64_t task, uint64_t site);
/* Finds the pair or makes it. Returns NULL for a task that was not defined or has ended, and when there is no room. */
struct task_site *model_make_pair(struct model *model, uint64_t task_id, uint64_t site);
uint64_t model_pair_key(uint64_t task, uint64_t site);

/* ---- sums of numbers that the stream holds: they stay at the largest number instead of wrapping ---- */

static inline uint32_t u32(uint64_t number)
{
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static inline uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a + b >= a ? a + b : UINT64_MAX;
}
#endif
