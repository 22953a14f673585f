#include "emitter/deliver/snapshot.h"

#include <string.h>
#include <time.h>

#include "emitter/core/clock.h"
#include "emitter/core/memory.h"
#include "emitter/core/procfs.h"
#include "emitter/deliver/holders.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/cell.h"
#include "emitter/record/histogram.h"
#include "emitter/record/price.h"
#include "emitter/record/ring.h"
#include "emitter/record/shard.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

/* So many rows fit into a message: a row is five numbers of at most nine bytes. */
#define ROWS_A_MESSAGE 64u
#define PAIRS_A_MESSAGE 200u

static struct telem_cell *totals;    /* [site_table.room] */
static uint8_t *is_changed;          /* [site_table.room] */

struct rows {
	struct writer *writer;
	uint64_t tick, now_ns;
	uint32_t task;
	enum kind kind;
	uint32_t count;
	struct number numbers[ROWS_A_MESSAGE * 5];
};

static void rows_end(struct rows *rows)
{
	struct message message = { .kind = rows->kind };

	if (rows->count == 0)
		return;
	/* VALUES and BOOKS have the same fields. */
	message.values = (struct message_values){ rows->tick, rows->task, { rows->numbers, rows->count } };
	writer_message(rows->writer, &message, rows->now_ns);
	rows->count = 0;
}

static void rows_add(struct rows *rows, const uint64_t *numbers, uint32_t count)
{
	if (rows->count + count > ROWS_A_MESSAGE * count)
		rows_end(rows);
	for (uint32_t i = 0; i < count; i++)
		rows->numbers[rows->count++] = (int64_t)numbers[i] < 0 ? (struct number){ numbers[i], NUMBER_INT }
								       : number_of(numbers[i]);
}

static void cell_add(struct telem_cell *into, const struct telem_cell *cell, const struct site_entry *site)
{
	if (site_kind_is_timed(site->kind)) {
		/* A cell of the shared shard has no minimum and maximum. */
		if (cell->count && (cell->max || cell->sum == 0) && (into->count == 0 || cell->min < into->min))
			into->min = cell->min;
		if (cell->max > into->max)
			into->max = cell->max;
	} else {
		into->free_count += cell->free_count;
		into->freed_bytes += cell->freed_bytes;
	}
	into->count += cell->count;
	into->sum += cell->sum;
}

static uint64_t mix(uint64_t print, uint64_t figure)
{
	print = (print ^ figure) * 0x9e3779b97f4a7c15;
	return print ^ print >> 32;
}

/* Returns 0 for a cell in which nothing was ever counted. Two other states have the same fingerprint once in 2^64. */
static uint64_t fingerprint(const struct telem_cell *cell)
{
	return mix(mix(mix(mix(0, cell->count), cell->sum), cell->min), cell->max);
}

/* Sums one site over the shards of a task. A gauge that is set has the value of the shard that set it last. */
static bool task_cell(const struct task *task, uint32_t id, bool everything, struct telem_cell *out)
{
	const struct site_entry *site = &site_table.rows[id];
	bool is_set_gauge = site->kind == SITE_GAUGE && site->detail == 0, changed = false;
	uint32_t owner = is_set_gauge ? __atomic_load_n(&site->owner, __ATOMIC_RELAXED) : 0;

	memset(out, 0, sizeof *out);
	for (struct shard *shard = task->shards; shard; shard = shard->next_of_task) {
		struct telem_cell cell;
		uint64_t now;

		if (id >= shard->cell_count)
			continue;
		cell = cell_read(&shard->cells[id], site->kind);
		now = fingerprint(&cell);
		if (now != 0 && (everything || now != shard->previous[id]))
			changed = true;
		if (!everything)
			shard->previous[id] = now;
		if (is_set_gauge && shard->id == owner)
			totals[id].sum = cell.sum;
		/* The newest shard comes first, and has the latest value of a gauge. */
		if (is_set_gauge && out->count > 0)
			cell.sum = 0;
		cell_add(out, &cell, site);
	}
	return changed;
}

static void histograms_add(uint64_t *into, const struct task *task, uint32_t id)
{
	for (const struct shard *shard = task->shards; shard; shard = shard->next_of_task) {
		const uint64_t *buckets;

		if (id >= shard->cell_count)
			continue;
		buckets = __atomic_load_n(&shard->cells[id].buckets, __ATOMIC_ACQUIRE);
		if (buckets)
			histogram_add(into, buckets);
	}
}

static void histogram_write(struct writer *writer, uint64_t tick, uint32_t task, uint32_t site, const uint64_t *buckets,
			    uint64_t now_ns)
{
	struct number pairs[PAIRS_A_MESSAGE * 2];
	uint32_t count = 0;

	for (uint32_t i = 0; i <= HISTOGRAM_BUCKETS; i++) {
		if (i == HISTOGRAM_BUCKETS ? count > 0 : count == PAIRS_A_MESSAGE * 2) {
			struct message message = { .kind = KIND_BUCKETS,
						   .buckets = { tick, task, site, { pairs, count } } };

			writer_message(writer, &message, now_ns);
			count = 0;
		}
		if (i < HISTOGRAM_BUCKETS && buckets[i]) {
			pairs[count++] = number_of(i);
			pairs[count++] = number_of(buckets[i]);
		}
	}
}

static void task_histograms(struct writer *writer, struct task *task, const uint8_t *changed, uint64_t tick,
			    uint64_t now_ns)
{
	for (uint32_t id = 1; id < site_table.count; id++) {
		uint64_t buckets[HISTOGRAM_BUCKETS];

		if (!(changed[id] & 2) || !site_kind_is_timed(site_table.rows[id].kind))
			continue;
		memset(buckets, 0, sizeof buckets);
		histograms_add(buckets, task, id);
		histogram_write(writer, tick, (uint32_t)task->id, id, buckets, now_ns);
	}
}

static void asked_add(struct site_entry *site, struct telem_cell *total, uint8_t *changed, bool everything)
{
	if (site->asked_count == 0)
		return;
	total->count += site->asked_count;
	total->sum = (uint64_t)site->asked_value;
	if (everything || site->asked_count != site->previous_asked_count)
		*changed |= 1;
	if (!everything)
		site->previous_asked_count = site->asked_count;
}

/* Bit 0 of is_changed is for the whole program, bit 1 for the task that is being written. */
static void values_write(struct writer *writer, uint64_t tick, bool everything, uint64_t now_ns)
{
	struct rows rows = { .writer = writer, .tick = tick, .now_ns = now_ns, .kind = KIND_VALUES };
	bool by_task = task_table.count <= LIMIT_HISTOGRAM_TASKS;

	memset(totals, 0, site_table.count * sizeof *totals);
	memset(is_changed, 0, site_table.count);
	for (struct task *task = task_table.first; task; task = task->next) {
		rows.task = (uint32_t)task->id;
		for (uint32_t id = 1; id < site_table.count; id++) {
			struct telem_cell cell;
			bool changed = task_cell(task, id, everything, &cell);
			bool is_set_gauge = site_table.rows[id].kind == SITE_GAUGE && site_table.rows[id].detail == 0;
			uint64_t gauge = totals[id].sum;

			is_changed[id] = (uint8_t)((is_changed[id] & 1) | (changed ? 3 : 0));
			cell_add(&totals[id], &cell, &site_table.rows[id]);
			if (is_set_gauge)
				totals[id].sum = gauge;
			if (changed)
				rows_add(&rows, (uint64_t[]){ id, cell.count, cell.sum, cell.min, cell.max }, 5);
		}
		rows_end(&rows);
		if (by_task)
			task_histograms(writer, task, is_changed, tick, now_ns);
	}
	for (uint32_t id = 1; id < site_table.count; id++)
		asked_add(&site_table.rows[id], &totals[id], &is_changed[id], everything);
	rows.task = TASK_ALL;
	for (uint32_t id = 1; id < site_table.count; id++)
		if (is_changed[id] & 1)
			rows_add(&rows, (uint64_t[]){ id, totals[id].count, totals[id].sum, totals[id].min,
						      totals[id].max }, 5);
	rows_end(&rows);
	for (uint32_t id = 1; id < site_table.count; id++) {
		uint64_t buckets[HISTOGRAM_BUCKETS];

		if (!(is_changed[id] & 1) || !site_kind_is_timed(site_table.rows[id].kind))
			continue;
		memset(buckets, 0, sizeof buckets);
		for (const struct task *task = task_table.first; task; task = task->next)
			histograms_add(buckets, task, id);
		histogram_write(writer, tick, TASK_ALL, id, buckets, now_ns);
	}
}

static void task_books(const struct task *task, struct book books[LIMIT_CLASSES])
{
	for (uint32_t i = 0; i < class_table.count; i++) {
		books[i].taken += task->taken[i];
		books[i].emitted += task->emitted[i];
		books[i].dropped += task->dropped[i];
	}
	for (const struct shard *shard = task->shards; shard; shard = shard->next_of_task)
		for (uint32_t id = 1; id < site_table.count && id < shard->cell_count; id++) {
			const struct site_entry *site = &site_table.rows[id];
			struct book *book = &books[site->class_id];

			/* dropped is read first, so that it never passes emitted. */
			book->dropped += __atomic_load_n(&shard->cells[id].dropped, __ATOMIC_RELAXED);
			book->emitted += __atomic_load_n(&shard->cells[id].streamed, __ATOMIC_RELAXED) +
					 cell_streamed_frees(&shard->cells[id], site->kind);
		}
}

/* Adds what a shard's events of a site have cost. Most spans that are sampled were only counted, not timed. */
static void tally_cell(struct tally *tally, const struct telem_cell *cell, const struct site_entry *site)
{
	struct telem_cell now = cell_read(cell, site->kind);
	uint64_t events = now.count + (site->kind == SITE_ALLOC ? now.free_count : 0), passed_over = 0;

	if (site->kind == SITE_SPAN && site->skip_mask) {
		passed_over = __atomic_load_n(&cell->begun, __ATOMIC_RELAXED);
		passed_over -= passed_over / (site->skip_mask + 1ull);
	}
	tally->events += events;
	tally->cost_ps += (events - passed_over) * price_ps(site->kind, LEVEL_SUM) +
			  passed_over * price_ps(SITE_COUNTER, LEVEL_SUM) +
			  price_of_streaming_ps(cell, site->kind);
}

void snapshot_tallies(struct tally tallies[LIMIT_CLASSES])
{
	struct book books[LIMIT_CLASSES];

	memset(tallies, 0, LIMIT_CLASSES * sizeof *tallies);
	for (const struct task *task = task_table.first; task; task = task->next) {
		for (uint32_t i = 0; i < class_table.count; i++)
			tallies[i].cost_ps += task->cost_ps[i];
		for (const struct shard *shard = task->shards; shard; shard = shard->next_of_task)
			for (uint32_t id = 1; id < site_table.count && id < shard->cell_count; id++)
				tally_cell(&tallies[site_table.rows[id].class_id], &shard->cells[id],
					   &site_table.rows[id]);
	}
	snapshot_books(books);
	for (uint32_t i = 0; i < class_table.count; i++) {
		tallies[i].emitted = books[i].emitted;
		tallies[i].dropped = books[i].dropped;
	}
}

static void books_rows(struct rows *rows, const struct book books[LIMIT_CLASSES])
{
	for (uint32_t i = 0; i < class_table.count; i++)
		if (books[i].emitted || books[i].dropped || books[i].taken)
			rows_add(rows, (uint64_t[]){ i, books[i].emitted, books[i].dropped, books[i].taken }, 4);
	rows_end(rows);
}

static bool has_rows(const struct book books[LIMIT_CLASSES])
{
	for (uint32_t i = 0; i < class_table.count; i++)
		if (books[i].emitted || books[i].dropped || books[i].taken)
			return true;
	return false;
}

static void books_write(struct writer *writer, uint64_t tick, bool everything, uint64_t now_ns)
{
	struct rows rows = { .writer = writer, .tick = tick, .now_ns = now_ns, .kind = KIND_BOOKS };
	struct book all[LIMIT_CLASSES] = { { 0, 0, 0 } };

	for (struct task *task = task_table.first; task; task = task->next) {
		struct book books[LIMIT_CLASSES] = { { 0, 0, 0 } };
		uint64_t print = 0;

		task_books(task, books);
		for (uint32_t i = 0; i < class_table.count; i++) {
			all[i].emitted += books[i].emitted;
			all[i].dropped += books[i].dropped;
			all[i].taken += books[i].taken;
			print = mix(mix(mix(print, books[i].emitted), books[i].dropped), books[i].taken);
		}
		rows.task = (uint32_t)task->id;
		if (everything || print != task->previous_books)
			books_rows(&rows, books);
		if (!everything)
			task->previous_books = print;
	}
	rows.task = TASK_ALL;
	books_rows(&rows, all);
	/* Empty books tell a reader that joins that no events came before. */
	if (everything && !has_rows(all)) {
		struct message none = { .kind = KIND_BOOKS, .books = { tick, TASK_ALL, { rows.numbers, 0 } } };

		writer_message(writer, &none, now_ns);
	}
}

void snapshot_books(struct book all[LIMIT_CLASSES])
{
	memset(all, 0, LIMIT_CLASSES * sizeof *all);
	for (const struct task *task = task_table.first; task; task = task->next)
		task_books(task, all);
}

void snapshot_totals(uint64_t *emitted, uint64_t *dropped)
{
	struct book all[LIMIT_CLASSES];

	snapshot_books(all);
	*emitted = *dropped = 0;
	for (uint32_t i = 0; i < class_table.count; i++) {
		*emitted += all[i].emitted;
		*dropped += all[i].dropped;
	}
}

static uint64_t fullest_ring_permille(void)
{
	uint64_t fullest = 0;

	for (const struct thread *thread = thread_table.first; thread; thread = thread->next) {
		uint64_t permille = thread->ring ? ring_waiting(thread->ring) * 1000 / thread->ring->bytes : 0;

		if (permille > fullest)
			fullest = permille;
	}
	return fullest;
}

void snapshot_write(struct writer *writer, uint64_t tick, uint64_t interval_ns, bool everything, uint64_t now_ns)
{
	struct message message = { .kind = KIND_SNAPSHOT };
	struct message_snapshot *snapshot = &message.snapshot;
	struct proc_stat stat = proc_stat();

	if (!totals)
		totals = memory_reserve(site_table.room * sizeof *totals);
	if (!is_changed)
		is_changed = memory_map(site_table.room);
	if (!totals || !is_changed)
		return;
	values_write(writer, tick, everything, now_ns);
	holders_write(writer, tick, now_ns);
	books_write(writer, tick, everything, now_ns);
	snapshot->tick = tick;
	snapshot->time_ns = now_ns;
	snapshot->real_ns = clock_real_ns();
	snapshot->interval_ns = interval_ns;
	snapshot->rss_bytes = stat.rss_bytes;
	snapshot->thread_count = stat.thread_count;
	snapshot->cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	snapshot->telem_cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	snapshot->telem_bytes = memory_mapped_bytes();
	snapshot->event_cost_ps = price_ps(SITE_MARK, LEVEL_ALL);
	snapshot->sum_cost_ps = price_ps(SITE_COUNTER, LEVEL_SUM);
	snapshot->ring_permille = fullest_ring_permille();
	writer_message(writer, &message, now_ns);
}

void snapshot_sink(struct writer *writer, struct sink *sink, uint64_t tick, uint64_t now_ns)
{
	struct message message = { .kind = KIND_SINK };

	message.sink = (struct message_sink){
		tick, sink->taken, sink->delivered, sink->dropped, sink->taken - sink->delivered - sink->dropped,
		(uint64_t)sink->queue_count * LIMIT_BLOCK_BYTES, (uint64_t)LIMIT_QUEUE_BLOCKS * LIMIT_BLOCK_BYTES,
		sinks_with_reader(),
	};
	writer_message(writer, &message, now_ns);
}
