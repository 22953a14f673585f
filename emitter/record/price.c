#include "emitter/record/price.h"

#include <string.h>

#include "emitter/record/cell.h"

static price_table prices;

uint32_t price_ps(unsigned kind, unsigned level)
{
	return kind < SITE_KIND_COUNT && level <= LEVEL_ALL ? prices[kind][level] : 0;
}

void prices_set(const price_table measured)
{
	memcpy(prices, measured, sizeof prices);
}

uint64_t price_of_streaming_ps(const struct telem_cell *cell, unsigned kind)
{
	uint64_t streamed = __atomic_load_n(&cell->streamed, __ATOMIC_RELAXED) + cell_streamed_frees(cell, kind);
	uint32_t all = price_ps(kind, LEVEL_ALL), sum = price_ps(kind, LEVEL_SUM);

	return all > sum ? streamed * (all - sum) : 0;
}
