/* emitting.h -- threads that emit while the test does something else. */
#ifndef TELEM_TESTS_SUPPORT_EMITTING_H
#define TELEM_TESTS_SUPPORT_EMITTING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define EMITTERS_MAX 4

struct emitters {
	pthread_t threads[EMITTERS_MAX];
	uint64_t counts[EMITTERS_MAX];   /* one a thread, its own to add to; atomic where others read it meanwhile */
	void (*emit)(uint64_t *count);
	int thread_count, started_count;
	bool is_ending;
};

/* Starts threads, each of which calls emit(its count) over and over until emitters_end(). *emitters must
 * outlive them. */
void emitters_begin(struct emitters *emitters, int thread_count, void (*emit)(uint64_t *count));
/* Returns when all threads have ended. */
void emitters_end(struct emitters *emitters);
#endif
