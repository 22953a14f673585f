#include "tests/support/story.h"

#include <stdlib.h>
#include <string.h>

/* The sums of a task, by id. */
static uint64_t (*sums_of(struct story *story, uint64_t task))[4]
{
	return story->sums[task < 8 ? task : task % 8 + 8];
}

void story_init(struct story *story, uint64_t stream)
{
	memset(story, 0, sizeof *story);
	wire_init(&story->wire, stream);
	story->hello = wire_hello_fields(&story->wire);
	story->hello.control = 1;
	story->random = stream;
	story->now_ns = STORY_FIRST_NS - STORY_SECOND;
	story->tick_ns = STORY_SECOND;
	story->events_a_tick = 20;
	story->first_worker = story->worker = 8;
}

void story_fini(struct story *story)
{
	wire_fini(&story->wire);
}

/* ---- definitions ---- */

static void tell_class(struct story *story, uint64_t id, const char *name, uint64_t level)
{
	wire_add(&story->wire, CLASS, class, .id = id, .name = text_of(name), .help = text_of("of the story"),
		 .level = level, .own_level = LEVEL_SUM);
}

static void tell_site(struct story *story, uint64_t id, uint64_t class_id, uint64_t kind, uint64_t unit, const char *name)
{
	static const struct text fields[] = { { "status", 6 }, { "share", 5 } };

	wire_add(&story->wire, SITE, site, .id = id, .class_id = class_id, .kind = kind, .unit = unit,
		 .detail = kind == SITE_LOG ? 2 : 0, .name = text_of(name), .file = text_of("story.c"), .line = 10 * id,
		 .level = 2, .own_level = LEVEL_OWN, .fields = { fields, kind == SITE_EVENT ? 2 : 0 });
}

static void tell_task(struct story *story, uint64_t id, const char *name)
{
	wire_add(&story->wire, TASK, task, .id = id, .name = text_of(name), .thread_id = 4711 + id);
}

static void tell_definitions(struct story *story)
{
	tell_class(story, STORY_MEM, "mem", LEVEL_SUM);
	tell_class(story, STORY_NET, "net", LEVEL_ALL);
	tell_class(story, STORY_LOG, "log", LEVEL_ALL);
	tell_site(story, STORY_REQUEST, STORY_NET, SITE_SPAN, UNIT_TIME, "request");
	tell_site(story, STORY_SIZE, STORY_NET, SITE_VALUE, UNIT_SIZE, "reply size");
	tell_site(story, STORY_NODE, STORY_MEM, SITE_ALLOC, UNIT_SIZE, "Node");
	tell_site(story, STORY_LEAF, STORY_MEM, SITE_ALLOC, UNIT_SIZE, "Leaf");
	tell_site(story, STORY_BYTES_IN, STORY_NET, SITE_COUNTER, UNIT_SIZE, "bytes in");
	tell_site(story, STORY_CLIENTS, STORY_NET, SITE_GAUGE, UNIT_PLAIN, "clients");
	tell_site(story, STORY_DONE, STORY_NET, SITE_EVENT, UNIT_PLAIN, "done");
	tell_site(story, STORY_LINE, STORY_LOG, SITE_LOG, UNIT_PLAIN, "line");
	tell_task(story, TASK_ENDED, "(ended)");
	tell_task(story, STORY_MAIN, "main");
	tell_task(story, STORY_WORKER, "worker");
	for (uint64_t id = story->first_worker; id < story->worker; id++)
		tell_task(story, id, "job");
}

/* ---- figures ---- */

static void tell_values(struct story *story, uint64_t task)
{
	uint64_t (*sums)[4] = sums_of(story, task);
	struct number rows[STORY_SITES * 5];
	uint32_t count = 0;

	for (uint64_t site = 1; site < STORY_SITES; site++) {
		if (sums[site][0] == 0)
			continue;
		rows[count++] = number_of(site);
		for (int i = 0; i < 4; i++)
			rows[count++] = (int64_t)sums[site][i] < 0 ? (struct number){ sums[site][i], NUMBER_INT }
								   : number_of(sums[site][i]);
	}
	if (count)
		wire_add(&story->wire, VALUES, values, .tick = story->tick, .task = task, .rows = { rows, count });
}

/* Says that tasks hold what they allocated less what they freed, sampled: a tenth less, and known to a twentieth. */
static void tell_holders(struct story *story)
{
	struct number rows[STORY_TASKS * 2 * HOLDER_NUMBERS];
	uint32_t count = 0;

	for (uint64_t task = 1; task < STORY_TASKS; task++)
		for (uint64_t site = STORY_NODE; site <= STORY_LEAF; site++) {
			const uint64_t *four = story->sums[task][site];
			uint64_t id = task < 8 ? task : story->worker - 1 - (story->worker - 1 - task) % 8;

			if (four[1] <= four[3])
				continue;
			rows[count++] = number_of(site);
			rows[count++] = number_of(id);
			rows[count++] = number_of(0);
			rows[count++] = number_of((four[1] - four[3]) * 9 / 10);
			rows[count++] = number_of((four[0] - four[2]) * 9 / 10);
			rows[count++] = number_of((four[1] - four[3]) / 20);
		}
	wire_add(&story->wire, HOLDERS, holders, .tick = story->tick, .mean_bytes = 1024, .rows = { rows, count });
}

static void tell_buckets(struct story *story, uint64_t task, uint64_t site, const uint64_t *buckets)
{
	struct number pairs[400];
	uint32_t count = 0;

	for (uint32_t i = 0; i <= HISTOGRAM_BUCKETS; i++) {
		if (count == 400 || (i == HISTOGRAM_BUCKETS && count)) {
			wire_add(&story->wire, BUCKETS, buckets, .tick = story->tick, .task = task, .site = site,
				 .pairs = { pairs, count });
			count = 0;
		}
		if (i < HISTOGRAM_BUCKETS && buckets[i]) {
			pairs[count++] = number_of(i);
			pairs[count++] = number_of(buckets[i]);
		}
	}
}

static void tell_figures(struct story *story, uint64_t interval_ns)
{
	struct number rows[STORY_CLASSES * 4];
	uint32_t count = 0;
	uint64_t taken = 0;

	tell_values(story, TASK_ENDED);
	tell_values(story, STORY_MAIN);
	tell_values(story, STORY_WORKER);
	for (uint64_t id = story->first_worker; id < story->worker; id++)
		tell_values(story, id);
	tell_values(story, TASK_ALL);
	for (uint64_t site = STORY_REQUEST; site <= STORY_SIZE; site++) {
		tell_buckets(story, STORY_MAIN, site, story->buckets[1][site]);
		tell_buckets(story, TASK_ALL, site, story->buckets[0][site]);
	}
	tell_holders(story);
	for (uint64_t i = 0; i < STORY_CLASSES; i++) {
		taken += story->taken[i];
		if (story->taken[i] + story->dropped[i] == 0)
			continue;
		rows[count++] = number_of(i);
		rows[count++] = number_of(story->taken[i] + story->dropped[i]);
		rows[count++] = number_of(story->dropped[i]);
		rows[count++] = number_of(story->taken[i]);
	}
	wire_add(&story->wire, BOOKS, books, .tick = story->tick, .task = TASK_ALL, .rows = { rows, count });
	wire_add(&story->wire, SNAPSHOT, snapshot, .tick = story->tick, .time_ns = story->now_ns,
		 .real_ns = 1700000000 * STORY_SECOND + story->now_ns - 6 * STORY_SECOND, .interval_ns = interval_ns,
		 .rss_bytes = (50 << 20) + story->tick * 4096, .cpu_ns = story->tick * 400000000, .thread_count = 3,
		 .telem_cpu_ns = story->tick * 2000000, .telem_bytes = 1 << 20, .event_cost_ps = 12000,
		 .ring_permille = story->tick % 100);
	wire_add(&story->wire, SINK, sink, .tick = story->tick, .taken = taken, .delivered = taken,
		 .queue_bytes_max = 1 << 20, .viewers = 1);
	wire_close(&story->wire);
}

void story_greet(struct story *story)
{
	/* The blocks of a greeting are for one reader, so they have the number of the latest shared block. */
	uint64_t number;
	size_t greeting_at, at;

	wire_close(&story->wire);
	number = story->wire.number;
	greeting_at = story->wire.count;
	wire_message(&story->wire, &(struct message){ .kind = KIND_HELLO, .hello = story->hello });
	tell_definitions(story);
	tell_figures(story, 0);
	/* The blocks are sealed again with that number. */
	for (at = greeting_at; at < story->wire.count;) {
		uint8_t *check = memmem(story->wire.bytes + at, story->wire.count - at, story->wire.marker, MARKER_BYTES);
		uint32_t bytes;

		/* HELLO contains the marker as well, so the end of the block is looked for. */
		while (check[-4] != 0x95 || check[-3] != KIND_CHECK)
			check = memmem(check + 1, (size_t)(story->wire.bytes + story->wire.count - check) - 1,
				       story->wire.marker, MARKER_BYTES);
		bytes = (uint32_t)(check - 4 - (story->wire.bytes + at));
		at += block_seal(story->wire.bytes + at, bytes, story->wire.marker, number);
	}
	story->wire.number = number;
}

/* ---- a second of work ---- */

static void add(struct story *story, uint64_t task, uint64_t site, uint64_t value)
{
	for (int i = 0; i < 2; i++) {
		uint64_t *sums = i ? sums_of(story, task)[site] : story->sums[0][site];

		if (sums[0] == 0 || value < sums[2])
			sums[2] = value;
		if (value > sums[3])
			sums[3] = value;
		sums[0]++;
		sums[1] += value;
	}
	story->buckets[0][site][histogram_index(value)]++;
	if (task == STORY_MAIN)
		story->buckets[1][site][histogram_index(value)]++;
}

static void allocate(struct story *story, uint64_t task, uint64_t site, uint64_t count, uint64_t bytes, uint64_t frees,
		     uint64_t freed)
{
	const uint64_t more[4] = { count, bytes, frees, freed };

	for (int i = 0; i < 4; i++) {
		story->sums[0][site][i] += more[i];
		sums_of(story, task)[site][i] += more[i];
	}
}

static void requests(struct story *story)
{
	struct event events[200];
	uint32_t count = 0;

	for (uint32_t i = 0; i < story->events_a_tick; i++) {
		uint64_t duration = 1000 + random_below(&story->random, 100) * random_below(&story->random, 10000);
		uint64_t task = i % 4 ? STORY_MAIN : STORY_WORKER;

		add(story, task, STORY_REQUEST, duration);
		add(story, task, STORY_SIZE, duration / 7);
		events[count++] = (struct event){ duration, i * 1000, STORY_REQUEST };
		events[count++] = (struct event){ duration / 7, i * 1000 + 1, STORY_SIZE };
		story->taken[STORY_NET] += 2;
		if (count == 200 || i + 1 == story->events_a_tick) {
			wire_add(&story->wire, BATCH, batch, .task = STORY_MAIN, .seq = 0,
				 .base_ns = story->now_ns - STORY_SECOND / 2, .events = { events, count });
			count = 0;
		}
	}
	wire_add(&story->wire, RECORD, record, .task = STORY_MAIN, .site = STORY_DONE, .time_ns = story->now_ns - 1000,
		 .values = { (const struct number[]){ number_of(200), { 0x3fe0000000000000, NUMBER_DOUBLE } }, 2 });
	wire_add(&story->wire, LOG, log, .task = STORY_WORKER, .site = STORY_LINE, .time_ns = story->now_ns - 500,
		 .severity = 2, .text = text_of("evicted a few"));
	story->sums[0][STORY_DONE][0]++;
	story->sums[0][STORY_LINE][0]++;
	story->taken[STORY_NET]++;
	story->taken[STORY_LOG]++;
	wire_close(&story->wire);
}

static void tasks(struct story *story)
{
	uint64_t id = story->worker++;

	tell_task(story, id, "job");
	memset(sums_of(story, id), 0, sizeof story->sums[0]);
	allocate(story, id, STORY_NODE, 3, 300, 1, 100);
	allocate(story, STORY_MAIN, STORY_NODE, 10, 1000 + story->tick, 8, 800);
	allocate(story, STORY_WORKER, STORY_LEAF, 1, 64, 3, 192);       /* frees what main made */
	allocate(story, STORY_MAIN, STORY_LEAF, 4, 256, 0, 0);
	if (story->worker - story->first_worker > 3) {
		uint64_t *ended = story->sums[TASK_ENDED][STORY_NODE],
			*its = sums_of(story, story->first_worker)[STORY_NODE];

		wire_add(&story->wire, TASK, task, .id = story->first_worker++, .ended = 1);
		for (int i = 0; i < 4; i++)
			ended[i] += its[i];
	}
	story->sums[0][STORY_BYTES_IN][0] += 5;
	story->sums[0][STORY_BYTES_IN][1] += 5 * 1400;
	story->sums[0][STORY_CLIENTS][0]++;
	story->sums[0][STORY_CLIENTS][1] = story->tick % 9 - 4;         /* below 0, now and then */
}

void story_tick(struct story *story)
{
	story->tick++;
	story->now_ns += story->tick_ns;
	requests(story);
	tasks(story);
	tell_figures(story, story->tick_ns);
}

void story_lose_tick(struct story *story)
{
	size_t count = story->wire.count;

	story_tick(story);
	story->wire.count = count;
}

void story_ticks(struct story *story, int count)
{
	while (count-- > 0)
		story_tick(story);
}

void story_bye(struct story *story)
{
	uint64_t taken = 0, dropped = 0;

	for (int i = 0; i < STORY_CLASSES; i++) {
		taken += story->taken[i];
		dropped += story->dropped[i];
	}
	wire_add(&story->wire, BYE, bye, .time_ns = story->now_ns, .emitted = taken + dropped, .delivered = taken,
		 .dropped = dropped);
	wire_close(&story->wire);
}
