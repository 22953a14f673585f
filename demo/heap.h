/* heap.h -- a small mark-sweep collector, which stops the world.
 *
 * Whoever uses objects does so between heap_enter() and heap_leave(); the collector
 * waits for all of them and then is alone. The heap's user allocates and knows what
 * refers to what; the heap keeps the list. Its spans are of the built-in class gc. */
#ifndef TELEM_DEMO_HEAP_H
#define TELEM_DEMO_HEAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of every object. */
struct heap_object {
	struct heap_object *next;             /* in the list of all objects */
	size_t bytes;                         /* what it counts for in the live bytes */
	uint8_t kind;                         /* the user's */
	bool marked;                          /* means something while collecting only */
};

struct heap {
	/* The user's: calls heap_mark() for all that must stay; then, when that is done,
	 * forgets all references to unmarked objects; and frees one. */
	void (*mark)(struct heap *heap), (*forget_dead)(struct heap *heap);
	void (*free_object)(struct heap_object *object);
	size_t limit_bytes;
	_Atomic(struct heap_object *) objects;
	atomic_size_t live_bytes;
	size_t marked_bytes;                  /* in this collection, so far */
	pthread_rwlock_t world;               /* read: uses objects; write: collects */
};

/* The members above the list are set by the caller. */
void heap_init(struct heap *heap);
void heap_enter(struct heap *heap);
/* Inside. The heap takes object, whose kind is set. */
void heap_adopt(struct heap *heap, struct heap_object *object, size_t bytes);
/* While collecting. True when object was not marked yet: mark what it refers to. */
bool heap_mark(struct heap *heap, struct heap_object *object);
void heap_leave(struct heap *heap);
/* Outside. Collects when more is alive than the limit. */
void heap_collect_if_full(struct heap *heap);
/* Frees all objects. */
void heap_fini(struct heap *heap);
#endif
