#include "emitter/record/cell.h"

#include <string.h>

#include "emitter/record/histogram.h"

__thread struct telem_thread_ telem_thread_ __attribute__((tls_model("initial-exec")));

void cell_fold(struct telem_cell *into, struct telem_cell *from, const struct site_entry *site, bool owns_gauge)
{
	uint64_t count = cell_count(from, site->kind);

	if (count == 0 && from->min == 0 && from->max == 0 && from->streamed_frees == 0)
		return;
	if (site_kind_is_timed(site->kind)) {
		if (count && (cell_count(into, site->kind) == 0 || from->min < into->min))
			into->min = from->min;
		if (from->max > into->max)
			into->max = from->max;
		into->sum += from->sum;
	} else if (site->kind == SITE_GAUGE && site->detail == 0) {
		if (owns_gauge)
			into->sum = from->sum;
	} else {
		into->sum += from->sum;
		into->free_count += from->free_count + from->streamed_frees;
		into->freed_bytes += from->freed_bytes;
	}
	into->count += count;
	if (from->buckets) {
		if (!into->buckets)
			into->buckets = histogram_take();
		if (into->buckets)
			histogram_add(into->buckets, from->buckets);
		histogram_give(from->buckets);
	}
	memset(from, 0, sizeof *from);
}

struct telem_cell cell_read(const struct telem_cell *cell, unsigned kind)
{
	if (kind == SITE_LOG)            /* a log's min and max fold its bursts */
		return (struct telem_cell){ .count = cell_count(cell, kind),
					    .sum = __atomic_load_n(&cell->sum, __ATOMIC_RELAXED) };
	return (struct telem_cell){
		.count = cell_count(cell, kind),
		.sum = __atomic_load_n(&cell->sum, __ATOMIC_RELAXED),
		.min = __atomic_load_n(&cell->min, __ATOMIC_RELAXED) + cell_streamed_frees(cell, kind),
		.max = __atomic_load_n(&cell->max, __ATOMIC_RELAXED),
	};
}
