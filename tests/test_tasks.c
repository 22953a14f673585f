/* test_tasks.c -- tasks: which events and figures belong to which task. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

static void *named_thread(void *arg)
{
	telem_task_name(arg);
	TELEM_COUNT(loud, "by thread", 1);
	telem_flush(5 * S);
	return NULL;
}

static void events_belong_to_the_thread_that_made_them(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	in_thread(named_thread, "worker-1");
	in_thread(named_thread, "worker-2");
	READ_UNTIL(reader, site("loud.by thread")->event_count == 2);
	assert_int_equal(reader_task(reader, "worker-1")->event_count, 1);
	assert_int_equal(reader_task(reader, "worker-2")->event_count, 1);
	READ_UNTIL(reader, reader_task(reader, "worker-1")->has_ended && reader_task(reader, "worker-2")->has_ended);
}

static void events_belong_to_the_task_that_was_entered(void **state)
{
	int outer, inner;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	outer = telem_task_new("outer");
	inner = telem_task_new("inner");
	assert_true(outer > 0 && inner > 0 && outer != inner);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(telem_task_enter(outer), 0);
		TELEM_COUNT(loud, "by task", 1);
		assert_int_equal(telem_task_enter(inner), 0);
		TELEM_COUNT(loud, "by task", 1);
		TELEM_COUNT(loud, "by task", 1);
		telem_task_leave();
		TELEM_COUNT(loud, "by task", 1);
		telem_task_leave();
		TELEM_COUNT(loud, "by task", 1);
	}
	telem_task_end(outer);
	telem_task_end(inner);
	hear(reader);
	assert_int_equal(reader_task(reader, "outer")->event_count, 20);
	assert_int_equal(reader_task(reader, "inner")->event_count, 20);
	assert_int_equal(site("loud.by task")->event_count, 50);
	assert_int_equal(telem_task_enter(outer), -EINVAL);
}

struct node { int a[5]; };

static void *work_for(void *arg)
{
	assert_int_equal(telem_task_enter(*(int *)arg), 0);
	TELEM_ALLOC(struct node, 1000);
	TELEM_VALUE(loud, "session value", 5, TELEM_NONE);
	telem_task_leave();
	return NULL;
}

static void what_threads_did_for_a_task_stays_its_own_when_they_end(void **state)
{
	const struct reader_task *task;
	uint64_t before;
	int id;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	id = telem_task_new("session");
	before = site("mem.struct node")->sum;
	for (int i = 0; i < 3; i++) {
		in_thread(work_for, &id);
		hear(reader);
		task = reader_task(reader, "session");
		assert_int_equal(task->sums[site("mem.struct node")->id], (i + 1) * 1000);
		assert_int_equal(site("mem.struct node")->sum, before + (uint64_t)(i + 1) * 1000);
	}
	work_for(&id);
	hear(reader);
	assert_int_equal(task->sums[site("mem.struct node")->id], 4000);
	telem_task_end(id);
	hear(reader);
	assert_int_equal(site("mem.struct node")->sum, before + 4000);
	assert_int_equal(site("loud.session value")->bucket_total, 4);
	for (int i = 0; i < 4; i++)
		TELEM_FREE(struct node, 1000);
}

static void tasks_nest_to_a_bound_and_wrong_ids_are_refused(void **state)
{
	int task;

	(void)state;
	start(NULL);
	task = telem_task_new("deep");
	for (int i = 0; i < LIMIT_TASK_DEPTH; i++)
		assert_int_equal(telem_task_enter(task), 0);
	assert_int_equal(telem_task_enter(task), -ENOSPC);
	for (int i = 0; i < LIMIT_TASK_DEPTH + 3; i++)
		telem_task_leave();
	assert_int_equal(telem_task_enter(0), -EINVAL);
	assert_int_equal(telem_task_enter(-1), -EINVAL);
	assert_int_equal(telem_task_enter(12345678), -EINVAL);
	telem_task_end(task);
	telem_task_end(task);
	telem_task_end(-5);
}

static void tasks_made_before_the_start_can_be_entered_after_it(void **state)
{
	int task = telem_task_new("early");

	(void)state;
	assert_true(task > 0);
	start(NULL);
	assert_int_equal(telem_task_enter(task), 0);
	telem_task_leave();
	telem_task_end(task);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(events_belong_to_the_thread_that_made_them),
		BESIDE_TEST(events_belong_to_the_task_that_was_entered),
		BESIDE_TEST(what_threads_did_for_a_task_stays_its_own_when_they_end),
		BESIDE_TEST(tasks_nest_to_a_bound_and_wrong_ids_are_refused),
		BESIDE_TEST(tasks_made_before_the_start_can_be_entered_after_it),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
