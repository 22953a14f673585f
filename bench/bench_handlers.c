/* bench_handlers.c -- what it costs to call the handlers of an event: none, one or four, with the
 * table open and sealed (telem_persist()), from one thread and from two at once. The class of the
 * event is off, so that nothing else is recorded. A handler does the least that can be checked: it
 * counts its calls. */
#include "bench/harness.h"
#include "emitter/telem.h"

TELEM_CLASS(off, "never on", TELEM_OFF);

enum { CALLS = 50000 };

LOOP(do_event, TELEM_EVENT(off, "call", TELEM_F("n", i)))
LOOP(do_execute, telem_execute("off.made up", NULL, 0))

static __thread uint64_t calls;

static int count_call(const struct telem_happening *what, void *config)
{
	(void)what;
	(void)config;
	calls++;
	return 0;
}

/* What remains without a table of handlers: a call, and in it a call through a pointer. */
/* not static, so that the compiler does not know its contents */
extern struct only { telem_handler *function; void *config; const char *event; } only;
struct only only = { count_call, NULL, "off.call" };

static NOINLINE void call_only(const struct telem_field *fields, uint32_t field_count)
{
	struct telem_happening what = { only.event, TELEM_HAPPENED, 0, fields, field_count };

	only.function(&what, only.config);
}
LOOP(do_only, call_only((struct telem_field[]){ TELEM_F("n", i) }, 1))

static const char *const ids[] = { "first", "second", "third", "fourth" };

struct job { loop_fn *loop; uint64_t handlers; struct figure *figure; };

static bool run_one(void *arg, double *value, double *base)
{
	const struct job *job = arg;
	uint64_t before = calls;
	double empty, full;

	if (!time_r(base) || !time_loop(loop_empty, CALLS, &empty) || !time_loop(job->loop, CALLS, &full))
		return false;
	*value = full - empty;
	if (calls - before == CALLS * job->handlers)
		return true;
	snprintf(job->figure->note, sizeof job->figure->note, "not all were called");
	return false;
}

static void *beside(void *arg)
{
	pin(cpu_first());
	while (!__atomic_load_n((bool *)arg, __ATOMIC_RELAXED))
		do_event(1000);
	return NULL;
}

static void measure(const char *name, loop_fn *loop, uint64_t handlers, double ns_at_most, bool two_threads)
{
	struct figure figure = { .row = name, .unit = "ns", .of = "R", .value_at_most = ns_at_most };
	struct job job = { loop, handlers, &figure };
	pthread_t other;
	bool is_over = false;

	if (two_threads && cpu_first() == cpu_last()) {
		snprintf(figure.note, sizeof figure.note, "one CPU only");
	} else {
		if (two_threads)
			pthread_create(&other, NULL, beside, &is_over);
		figure_run(&figure, run_one, &job);
		__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
		if (two_threads)
			pthread_join(other, NULL);
		if (figure.count >= RUNS_MIN)
			figure.note[0] = '\0';
	}
	figure_print(&figure);
}

static void attach_up_to(int count)
{
	for (int i = 0; i < count; i++)
		telem_attach(ids[i], "off.call", count_call, NULL);
}

int main(void)
{
	cpus_find();
	if (telem_start(&(struct telem_options){ .size = sizeof(struct telem_options), .ignore_environment = true,
						 .no_discovery = true }) < 0) {
		fprintf(stderr, "bench_handlers: %s\n", telem_error());
		return 1;
	}
	pin(cpu_last());
	measure("limit: two calls, one in the other", do_only, 1, 0, false);
	measure("handlers: none", do_event, 0, 0, false);
	attach_up_to(1);
	measure("handlers: one", do_event, 1, 0, false);
	measure("handlers: one, two threads", do_event, 1, 0, true);
	telem_persist();
	measure("handlers: one, sealed", do_event, 1, 3, false);
	measure("handlers: one, sealed, two threads", do_event, 1, 0, true);
	attach_up_to(4);
	measure("handlers: four", do_event, 4, 0, false);
	telem_persist();
	measure("handlers: four, sealed", do_event, 4, 0, false);
	telem_attach("made up", "off.made up", count_call, NULL);
	measure("handlers: one, by telem_execute()", do_execute, 1, 0, false);
	telem_stop();
	return 0;
}
