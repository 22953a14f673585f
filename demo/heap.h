/* heap.h -- a small mark-and-sweep garbage collector that stops the world.
 *
 * A thread uses objects only between heap_enter() and heap_leave(); the collector waits until no
 * thread is between the two, and then runs alone. The user of the heap allocates objects and knows
 * which object refers to which; the heap has the list of all objects. Its spans are in the built-in
 * class gc. */
#ifndef TELEM_DEMO_HEAP_H
#define TELEM_DEMO_HEAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of every object. */
struct heap_object {
	struct heap_object *next;             /* next in the list of all objects */
	size_t bytes;                         /* its share of the live bytes */
	uint8_t kind;                         /* chosen by the user of the heap */
	bool marked;                          /* only meaningful during a collection */
};

struct heap {
	/* Functions of the heap's user. mark() calls heap_mark() for every object that must stay;
	 * after that forget_dead() removes all references to unmarked objects; free_object() frees
	 * one object. */
	void (*mark)(struct heap *heap), (*forget_dead)(struct heap *heap);
	void (*free_object)(struct heap_object *object);
	size_t limit_bytes;
	_Atomic(struct heap_object *) objects;
	atomic_size_t live_bytes;
	size_t marked_bytes;                  /* marked so far in this collection */
	pthread_rwlock_t world;               /* a reader uses objects; the writer collects */
};

/* The caller sets the members above objects first; all others must be 0. End with heap_fini(). */
void heap_init(struct heap *heap);
void heap_enter(struct heap *heap);
/* Call inside heap_enter(). The heap takes object, whose kind is set; bytes is its share of the
 * live bytes. */
void heap_adopt(struct heap *heap, struct heap_object *object, size_t bytes);
/* Call from mark(). Returns true when object was not marked before: the caller then marks what it
 * refers to. */
bool heap_mark(struct heap *heap, struct heap_object *object);
void heap_leave(struct heap *heap);
/* Call outside heap_enter(). Collects when the live bytes exceed the limit. */
void heap_collect_if_full(struct heap *heap);
/* Frees all objects. No other thread may use the heap any more. */
void heap_fini(struct heap *heap);
#endif
