#include "emitter/record/heap.h"

#include "emitter/core/api.h"

struct heap heap;

void heap_move(int64_t bytes)
{
	int64_t now = __atomic_add_fetch(&heap.bytes, bytes, __ATOMIC_RELAXED);
	int64_t peak = __atomic_load_n(&heap.peak, __ATOMIC_RELAXED);

	while (now > peak && !__atomic_compare_exchange_n(&heap.peak, &peak, now, true, __ATOMIC_RELAXED,
							  __ATOMIC_RELAXED))
		;
}

void heap_publish(void)
{
	int64_t moved = __atomic_load_n(&telem_thread_.heap_moved, __ATOMIC_RELAXED);

	telem_add_((uint64_t *)&telem_thread_.heap_moved, (uint64_t)-moved);
	if (moved)
		heap_move(moved);
}
