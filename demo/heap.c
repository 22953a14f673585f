#include "demo/heap.h"

#include "emitter/telem.h"

void heap_init(struct heap *heap)
{
	pthread_rwlockattr_t attr;

	/* By default new readers may always enter, and a collector could wait without end. */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&heap->world, &attr);
	pthread_rwlockattr_destroy(&attr);
}

void heap_enter(struct heap *heap)
{
	pthread_rwlock_rdlock(&heap->world);
}

void heap_leave(struct heap *heap)
{
	pthread_rwlock_unlock(&heap->world);
}

void heap_adopt(struct heap *heap, struct heap_object *object, size_t bytes)
{
	object->bytes = bytes;
	object->next = heap->objects;
	while (!atomic_compare_exchange_weak(&heap->objects, &object->next, object))
		;
	heap->live_bytes += bytes;
}

bool heap_mark(struct heap *heap, struct heap_object *object)
{
	if (object->marked)
		return false;
	object->marked = true;
	heap->marked_bytes += object->bytes;
	return true;
}

static void mark(struct heap *heap)
{
	/* This span lasts until the function ends. It is nested in the pause. */
	TELEM_SPAN_HERE(gc, "mark");
	heap->marked_bytes = 0;
	heap->mark(heap);
}

/* Frees all unmarked objects and unmarks the others. */
static void sweep(struct heap *heap)
{
	struct heap_object *object = heap->objects, *kept = NULL, *next;
	uint64_t freed_count = 0;

	TELEM_SPAN_HERE(gc, "sweep");
	heap->forget_dead(heap);
	for (; object; object = next) {
		next = object->next;
		if (object->marked) {
			object->marked = false;
			object->next = kept;
			kept = object;
		} else {
			heap->free_object(object);
			freed_count++;
		}
	}
	heap->objects = kept;
	TELEM_LOG(TELEM_INFO, "collected %llu objects: %zu of %zu bytes live",
		  (unsigned long long)freed_count, heap->marked_bytes, (size_t)heap->live_bytes);
	TELEM_COUNT(gc, "objects freed", freed_count);
	heap->live_bytes = heap->marked_bytes;
}

static void collect(struct heap *heap)
{
	size_t before = heap->live_bytes;

	TELEM_GC_BEGIN(0);
	mark(heap);
	sweep(heap);
	TELEM_GC_END(0, (&(struct telem_gc){ .live_bytes = heap->live_bytes, .heap_bytes = heap->limit_bytes,
					     .collected_bytes = before - heap->live_bytes }));
}

void heap_collect_if_full(struct heap *heap)
{
	if (heap->live_bytes > heap->limit_bytes) {
		pthread_rwlock_wrlock(&heap->world);
		/* Another thread may have collected since the first test. */
		if (heap->live_bytes > heap->limit_bytes)
			collect(heap);
		pthread_rwlock_unlock(&heap->world);
	}
	TELEM_GAUGE(gc, "live bytes", heap->live_bytes);
}

void heap_fini(struct heap *heap)
{
	struct heap_object *object = heap->objects, *next;

	for (; object; object = next) {
		next = object->next;
		heap->free_object(object);
	}
	pthread_rwlock_destroy(&heap->world);
}
