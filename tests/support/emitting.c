#include "tests/support/emitting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void *emit_over_and_over(void *arg)
{
	struct emitters *emitters = arg;
	int thread = __atomic_fetch_add(&emitters->started_count, 1, __ATOMIC_RELAXED);

	while (!__atomic_load_n(&emitters->is_ending, __ATOMIC_RELAXED))
		emitters->emit(&emitters->counts[thread]);
	return NULL;
}

void emitters_begin(struct emitters *emitters, int thread_count, void (*emit)(uint64_t *count))
{
	assert_in_range(thread_count, 1, EMITTERS_MAX);
	memset(emitters, 0, sizeof *emitters);
	emitters->emit = emit;
	emitters->thread_count = thread_count;
	for (int i = 0; i < thread_count; i++)
		assert_int_equal(pthread_create(&emitters->threads[i], NULL, emit_over_and_over, emitters), 0);
}

void emitters_end(struct emitters *emitters)
{
	__atomic_store_n(&emitters->is_ending, true, __ATOMIC_RELAXED);
	for (int i = 0; i < emitters->thread_count; i++)
		pthread_join(emitters->threads[i], NULL);
}
