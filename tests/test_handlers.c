/* test_handlers.c -- functions that are called for events: every test with the table open,
 * sealed, and while another thread switches between the two. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "emitter/telem.h"
#include "tests/support/fixture.h"
#include "tests/support/proc.h"

TELEM_CLASS(net, "what handlers are called for", TELEM_SUM);
TELEM_CLASS(quiet, "is off", TELEM_OFF);

/* ---- the table's state ---- */

enum mode { OPEN, SEALED, SWITCHING };
static enum mode mode;
static bool keep_switching;
static pthread_t switcher;

static void *switch_until_told(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&keep_switching, __ATOMIC_RELAXED)) {
		telem_persist();
		sched_yield();
		telem_unpersist();
		sched_yield();
	}
	return NULL;
}

/* To be called after attaching, which opens the table. */
static void seal(void)
{
	if (mode == SEALED)
		telem_persist();
}

static int setup_mode(void **state, enum mode wanted)
{
	int err = fixture_setup(state);

	mode = wanted;
	telem_start(&(struct telem_options){ .ignore_environment = true, .no_discovery = true });
	if (mode == SWITCHING) {
		__atomic_store_n(&keep_switching, true, __ATOMIC_RELAXED);
		pthread_create(&switcher, NULL, switch_until_told, NULL);
	}
	return err;
}
static int setup_open(void **state) { return setup_mode(state, OPEN); }
static int setup_sealed(void **state) { return setup_mode(state, SEALED); }
static int setup_switching(void **state) { return setup_mode(state, SWITCHING); }

static int teardown(void **state)
{
	struct telem_handler_info left[16];
	uint32_t count;

	if (mode == SWITCHING) {
		__atomic_store_n(&keep_switching, false, __ATOMIC_RELAXED);
		pthread_join(switcher, NULL);
	}
	while ((count = telem_list_handlers("", left, 16)) > 0)
		for (uint32_t i = 0; i < count && i < 16; i++)
			telem_detach(left[i].id);
	telem_unpersist();
	telem_stop();
	telem_level_set("net", TELEM_SUM);
	return fixture_teardown(state);
}

/* ---- handlers that note what they see ---- */

struct notes {
	uint32_t count, happened, started, stopped, abandoned;
	uint64_t value;
	int64_t sum;
	char event[64], order[64];
	const char *name;            /* appended to the *order_of of the first one */
	struct notes *all;
};

static int note(const struct telem_happening *what, void *config)
{
	struct notes *notes = config;

	__atomic_fetch_add(&notes->count, 1, __ATOMIC_RELAXED);
	notes->happened += what->phase == TELEM_HAPPENED;
	notes->started += what->phase == TELEM_STARTED;
	notes->stopped += what->phase == TELEM_STOPPED;
	notes->abandoned += what->phase == TELEM_ABANDONED;
	notes->value = what->value;
	for (uint32_t i = 0; i < what->field_count; i++)
		notes->sum += telem_field_int(&what->fields[i]);
	snprintf(notes->event, sizeof notes->event, "%s", what->event);
	if (notes->all && strlen(notes->all->order) + strlen(notes->name) < sizeof notes->all->order)
		strcat(notes->all->order, notes->name);
	return 0;
}

static int tally(const struct telem_happening *what, void *config)
{
	(void)what;
	__atomic_fetch_add((uint64_t *)config, 1, __ATOMIC_RELAXED);
	return 0;
}

static uint64_t read_tally(const uint64_t *count) { return __atomic_load_n(count, __ATOMIC_RELAXED); }

static void request(int status) { TELEM_EVENT(net, "request", TELEM_F("status", status), TELEM_F("one", 1)); }

/* ---- calls ---- */

static void an_event_reaches_its_handler_with_its_fields(void **state)
{
	struct notes notes = { .count = 0 };

	(void)state;
	assert_int_equal(telem_attach("notes", "net.request", note, &notes), 0);
	seal();
	request(200);
	assert_int_equal(notes.count, 1);
	assert_int_equal(notes.happened, 1);
	assert_int_equal(notes.sum, 201);
	assert_string_equal(notes.event, "net.request");
	TELEM_EVENT(net, "other", TELEM_F("a", 1));
	assert_int_equal(notes.count, 1);
	assert_int_equal(telem_detach("notes"), 0);
	request(200);
	assert_int_equal(notes.count, 1);
	assert_int_equal(telem_detach("notes"), -ENOENT);
}

static void a_span_says_start_stop_and_abandoned(void **state)
{
	struct notes notes = { .count = 0 };
	struct telem_span span;

	(void)state;
	assert_int_equal(telem_attach("notes", "net.work", note, &notes), 0);
	seal();
	TELEM_SPAN(net, "work") {
		assert_int_equal(notes.started, 1);
		assert_int_equal(notes.stopped, 0);
	}
	assert_int_equal(notes.stopped, 1);
	assert_true(notes.value > 0);
	span = telem_span_begin(TELEM_SPAN_SITE(net, "work"));
	telem_span_abandon(&span);
	telem_span_end(&span);
	assert_int_equal(notes.started, 2);
	assert_int_equal(notes.stopped, 1);
	assert_int_equal(notes.abandoned, 1);
}

static void a_latency_reaches_its_handler(void **state)
{
	struct notes notes = { .count = 0 };

	(void)state;
	assert_int_equal(telem_attach("notes", "net.wait", note, &notes), 0);
	seal();
	TELEM_LATENCY(net, "wait", telem_stamp());
	assert_int_equal(notes.happened, 1);
}

static int evaluated;
static int once(void) { return ++evaluated; }

static void a_class_that_is_off_calls_its_handlers_all_the_same(void **state)
{
	struct notes notes = { .count = 0 };

	(void)state;
	evaluated = 0;
	assert_int_equal(telem_attach("notes", "quiet.request", note, &notes), 0);
	seal();
	TELEM_EVENT(quiet, "request", TELEM_F("n", once()));
	assert_int_equal(notes.count, 1);
	telem_detach("notes");
	TELEM_EVENT(quiet, "request", TELEM_F("n", once()));
	assert_int_equal(notes.count, evaluated);
	telem_level_set("quiet", TELEM_ALL);
	telem_level_set("quiet", TELEM_OFF);
	TELEM_EVENT(quiet, "request", TELEM_F("n", once()));
	assert_int_equal(evaluated, 1);
}

static void levels_and_handlers_do_not_touch_each_other(void **state)
{
	struct telem_statistics before, after;
	struct notes notes = { .count = 0 };

	(void)state;
	telem_level_set("net", TELEM_ALL);
	assert_int_equal(telem_attach("notes", "net.request", note, &notes), 0);
	seal();
	telem_stats(&before);
	for (int i = 0; i < 10; i++) {
		request(1);
		TELEM_SPAN(net, "beside")
			;
	}
	telem_stats(&after);
	assert_int_equal(after.emitted - before.emitted, 20);
	assert_int_equal(notes.count, 10);
	telem_level_set("net", TELEM_OFF);
	request(1);
	assert_int_equal(notes.count, 11);
	telem_stats(&before);
	assert_int_equal(after.emitted, before.emitted);
	assert_int_equal(telem_level_get("net.request"), TELEM_OFF);
}

static void handlers_are_called_in_the_order_of_attachment(void **state)
{
	struct notes notes[4] = { { .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d" } };
	static const char *const ids[] = { "z", "y", "x", "w" };

	(void)state;
	for (int i = 0; i < 4; i++) {
		notes[i].all = &notes[0];
		assert_int_equal(telem_attach(ids[i], "net.request", note, &notes[i]), 0);
	}
	seal();
	request(1);
	assert_string_equal(notes[0].order, "abcd");
	telem_detach("y");
	request(1);
	assert_string_equal(notes[0].order, "abcdacd");
	assert_int_equal(telem_attach("y", "net.request", note, &notes[1]), 0);
	seal();
	request(1);
	assert_string_equal(notes[0].order, "abcdacdacdb");
}

static void an_id_is_unique_and_the_first_stays(void **state)
{
	struct notes first = { .count = 0 }, second = { .count = 0 };

	(void)state;
	assert_int_equal(telem_attach("same", "net.request", note, &first), 0);
	seal();
	assert_int_equal(telem_attach("same", "net.other", note, &second), -EEXIST);
	seal();
	request(1);
	assert_int_equal(first.count, 1);
	assert_int_equal(second.count, 0);
}

static void nonsense_is_refused(void **state)
{
	const char *none[1] = { "" };
	char longest[300];

	(void)state;
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_int_equal(telem_attach(NULL, "net.request", note, NULL), -EINVAL);
	assert_int_equal(telem_attach("", "net.request", note, NULL), -EINVAL);
	assert_int_equal(telem_attach(longest, "net.request", note, NULL), -EINVAL);
	assert_int_equal(telem_attach("a", longest, note, NULL), -EINVAL);
	assert_int_equal(telem_attach("a", "net.request", NULL, NULL), -EINVAL);
	assert_int_equal(telem_attach_many("a", none, 0, note, NULL, 1), -EINVAL);
	assert_int_equal(telem_attach_many("a", none, 1, note, NULL, 1), -EINVAL);
	assert_int_equal(telem_detach("no such"), -ENOENT);
	assert_int_equal(telem_detach(NULL), -ENOENT);
	assert_int_equal(telem_list_handlers("", NULL, 0), 0);
}

static void one_handler_may_have_many_events(void **state)
{
	static const char *const events[] = { "net.request", "net.work", "net.request", "made.up" };
	struct telem_handler_info info[8];
	struct notes notes = { .count = 0 };

	(void)state;
	assert_int_equal(telem_attach_many("many", events, 4, note, &notes, 0), 0);
	seal();
	request(1);
	TELEM_SPAN(net, "work")
		;
	assert_int_equal(telem_execute("made.up", NULL, 0), 1);
	assert_int_equal(telem_execute("made.down", NULL, 0), 0);
	assert_int_equal(notes.count, 4);
	assert_int_equal(telem_list_handlers("", info, 8), 3);
	assert_int_equal(telem_list_handlers("net.", info, 8), 2);
	assert_int_equal(telem_list_handlers("made.up", info, 8), 1);
	assert_string_equal(info[0].id, "many");
	assert_string_equal(info[0].event, "made.up");
	assert_true(info[0].function == note && info[0].config == &notes);
	telem_detach("many");
	assert_int_equal(telem_execute("made.up", NULL, 0), 0);
	assert_int_equal(telem_list_handlers("", info, 8), 0);
}

static void before_the_start_and_after_the_stop_none_is_called(void **state)
{
	struct notes notes = { .count = 0 };

	(void)state;
	assert_int_equal(telem_attach("notes", "net.request", note, &notes), 0);
	seal();
	telem_stop();
	request(1);
	assert_int_equal(telem_execute("net.request", NULL, 0), 0);
	assert_int_equal(notes.count, 0);
	assert_int_equal(telem_start(&(struct telem_options){ .ignore_environment = true, .no_discovery = true }), 0);
	request(1);
	assert_int_equal(notes.count, 1);
}

/* ---- failures ---- */

static int refuse(const struct telem_happening *what, void *config)
{
	(void)what;
	++*(uint32_t *)config;
	return -7;
}

static void a_handler_that_fails_is_detached_and_that_is_said(void **state)
{
	static const char *const events[] = { "net.request" };
	struct notes failure = { .count = 0 };
	uint32_t once_only = 0, thrice = 0, for_ever = 0;
	struct telem_handler_info info[8];

	(void)state;
	assert_int_equal(telem_attach("failure", "telem.handler.failure", note, &failure), 0);
	assert_int_equal(telem_attach("once", "net.request", refuse, &once_only), 0);
	assert_int_equal(telem_attach_many("thrice", events, 1, refuse, &thrice, 3), 0);
	assert_int_equal(telem_attach_many("for ever", events, 1, refuse, &for_ever, 0), 0);
	seal();
	for (int i = 0; i < 5; i++)
		request(1);
	assert_int_equal(once_only, 1);
	assert_int_equal(thrice, 3);
	assert_int_equal(for_ever, 5);
	assert_int_equal(failure.count, 2);
	assert_int_equal(failure.sum, -7 + 1 - 7 + 3);
	assert_int_equal(telem_list_handlers("net.", info, 8), 1);
	assert_string_equal(info[0].id, "for ever");
	assert_int_equal(info[0].failures, 5);
	/* The name is free again. */
	assert_int_equal(telem_attach("once", "net.request", refuse, &once_only), 0);
}

/* ---- from inside a handler ---- */

static int detach_self(const struct telem_happening *what, void *config)
{
	(void)what;
	++*(uint32_t *)config;
	assert_int_equal(telem_detach("self"), -EINPROGRESS);
	assert_int_equal(telem_detach_async("self"), -ENOENT);
	return 0;
}

static uint32_t inner_count;
static int count_inner(const struct telem_happening *what, void *config)
{
	(void)what;
	(void)config;
	inner_count++;
	return 0;
}

static int change_everything(const struct telem_happening *what, void *config)
{
	(void)what;
	(void)config;
	telem_level_set("net", TELEM_ALL);
	TELEM_COUNT(net, "from inside", 1);
	assert_int_equal(telem_attach("inner", "net.inner", count_inner, NULL), 0);
	seal();
	TELEM_EVENT(net, "inner", TELEM_F("x", 1));
	assert_int_equal(telem_detach("inner"), 0);
	telem_level_set("net", TELEM_SUM);
	return 0;
}

static void everything_is_legal_from_inside_a_handler(void **state)
{
	uint32_t self_count = 0;
	struct notes after = { .count = 0 };

	(void)state;
	inner_count = 0;
	assert_int_equal(telem_attach("self", "net.request", detach_self, &self_count), 0);
	assert_int_equal(telem_attach("change", "net.request", change_everything, NULL), 0);
	assert_int_equal(telem_attach("after", "net.request", note, &after), 0);
	seal();
	for (int i = 0; i < 3; i++)
		request(1);
	assert_int_equal(self_count, 1);
	assert_int_equal(inner_count, 3);
	assert_int_equal(after.count, 3);
}

static uint32_t deepest, depth_now;
static int deeper(const struct telem_happening *what, void *config)
{
	(void)what;
	(void)config;
	depth_now++;
	deepest = depth_now > deepest ? depth_now : deepest;
	request(1);
	depth_now--;
	return 0;
}

static void events_of_its_own_nest_to_a_bound(void **state)
{
	(void)state;
	deepest = depth_now = 0;
	assert_int_equal(telem_attach("deeper", "net.request", deeper, NULL), 0);
	seal();
	request(1);
	assert_int_equal(deepest, 8);
	request(1);
	assert_int_equal(depth_now, 0);
}

/* ---- several threads ---- */

enum { EMITTERS = 2 };
static bool keep_emitting;
static uint64_t emitted[EMITTERS];

static void *emit(void *arg)
{
	uint64_t *count = arg;

	while (__atomic_load_n(&keep_emitting, __ATOMIC_RELAXED)) {
		request(1);
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static pthread_t emitters[EMITTERS];

static void emitters_begin(void)
{
	__atomic_store_n(&keep_emitting, true, __ATOMIC_RELAXED);
	for (int i = 0; i < EMITTERS; i++) {
		emitted[i] = 0;
		assert_int_equal(pthread_create(&emitters[i], NULL, emit, &emitted[i]), 0);
	}
}

static uint64_t emitters_end(void)
{
	uint64_t sum = 0;

	__atomic_store_n(&keep_emitting, false, __ATOMIC_RELAXED);
	for (int i = 0; i < EMITTERS; i++) {
		pthread_join(emitters[i], NULL);
		sum += emitted[i];
	}
	return sum;
}

/* The object that a handler uses must be alive while the handler is called. */
struct guarded { uint64_t alive, calls; };

static int look_at_guard(const struct telem_happening *what, void *config)
{
	struct guarded *guarded = config;

	(void)what;
	if (__atomic_load_n(&guarded->alive, __ATOMIC_RELAXED) != 4711)
		abort();
	__atomic_fetch_add(&guarded->calls, 1, __ATOMIC_RELAXED);
	return 0;
}

static void no_event_is_lost_and_none_goes_to_who_was_removed(void **state)
{
	uint64_t steady = 0, events;
	struct guarded *guarded;
	int rounds = mode == SWITCHING ? 300 : 1000;

	(void)state;
	assert_int_equal(telem_attach("steady", "net.request", tally, &steady), 0);
	seal();
	emitters_begin();
	for (int i = 0; i < rounds; i++) {
		guarded = calloc(1, sizeof *guarded);
		guarded->alive = 4711;
		assert_int_equal(telem_attach("guarded", "net.request", look_at_guard, guarded), 0);
		if (i % 2)
			telem_persist();
		if (i % 10 == 0) {
			uint64_t before = __atomic_load_n(&guarded->calls, __ATOMIC_RELAXED);

			WAIT_UNTIL(__atomic_load_n(&guarded->calls, __ATOMIC_RELAXED) > before, 5000);
		}
		assert_int_equal(telem_detach("guarded"), 0);
		/* The owner may do this after detaching, because no thread is in the handler or can enter it. */
		__atomic_store_n(&guarded->alive, 0, __ATOMIC_RELAXED);
		memset(guarded, 0, sizeof *guarded);
		free(guarded);
	}
	events = emitters_end();
	assert_int_equal(read_tally(&steady), events);
}

static void handlers_of_several_threads_lose_none_of_them(void **state)
{
	enum { HANDLERS = 20 };
	static uint64_t counts[HANDLERS];
	uint64_t events;

	(void)state;
	memset(counts, 0, sizeof counts);
	emitters_begin();
	for (int i = 0; i < HANDLERS; i++) {
		char id[16];

		snprintf(id, sizeof id, "h%d", i);
		assert_int_equal(telem_attach(id, "net.request", tally, &counts[i]), 0);
		telem_persist();
	}
	emitters_end();
	events = counts[HANDLERS - 1];
	for (int i = 0; i < HANDLERS; i++)
		assert_true(counts[i] >= events);
	for (int i = 0; i < HANDLERS; i++)
		counts[i] = 0;
	for (int i = 0; i < 100; i++)
		request(1);
	for (int i = 0; i < HANDLERS; i++)
		assert_int_equal(counts[i], 100);
}

static int wait_inside(const struct telem_happening *what, void *config)
{
	int *state = config;

	(void)what;
	__atomic_store_n(&state[0], 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&state[1], __ATOMIC_ACQUIRE))
		sched_yield();
	__atomic_store_n(&state[2], 1, __ATOMIC_RELEASE);
	return 0;
}

static void *request_once(void *arg)
{
	(void)arg;
	request(1);
	return NULL;
}

static void *detach_slow(void *arg)
{
	assert_int_equal(telem_detach("slow"), 0);
	__atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void detaching_waits_for_who_is_inside(void **state)
{
	int inside[3] = { 0, 0, 0 }, is_detached = 0;
	pthread_t emitter, detacher;
	struct notes other = { .count = 0 };

	(void)state;
	assert_int_equal(telem_attach("slow", "net.request", wait_inside, inside), 0);
	seal();
	assert_int_equal(pthread_create(&emitter, NULL, request_once, NULL), 0);
	WAIT_UNTIL(__atomic_load_n(&inside[0], __ATOMIC_ACQUIRE), 5000);
	assert_int_equal(pthread_create(&detacher, NULL, detach_slow, &is_detached), 0);
	/* The handler is no longer in the table, while one thread is still inside it. */
	WAIT_UNTIL(telem_list_handlers("", NULL, 0) == 0, 5000);
	request(1);
	assert_int_equal(telem_attach("other", "net.request", note, &other), 0);
	assert_int_equal(telem_detach("other"), 0);
	assert_int_equal(__atomic_load_n(&is_detached, __ATOMIC_ACQUIRE), 0);
	__atomic_store_n(&inside[1], 1, __ATOMIC_RELEASE);
	pthread_join(detacher, NULL);
	assert_int_equal(inside[2], 1);
	pthread_join(emitter, NULL);
}

static void detaching_without_waiting_does_not(void **state)
{
	int inside[3] = { 0, 0, 0 };
	pthread_t emitter;

	(void)state;
	assert_int_equal(telem_attach("slow", "net.request", wait_inside, inside), 0);
	seal();
	assert_int_equal(pthread_create(&emitter, NULL, request_once, NULL), 0);
	WAIT_UNTIL(__atomic_load_n(&inside[0], __ATOMIC_ACQUIRE), 5000);
	assert_int_equal(telem_detach_async("slow"), 0);
	assert_int_equal(inside[2], 0);
	__atomic_store_n(&inside[1], 1, __ATOMIC_RELEASE);
	pthread_join(emitter, NULL);
}

static int leave_thread(const struct telem_happening *what, void *config)
{
	(void)what;
	(void)config;
	pthread_exit(NULL);
}

static void a_thread_that_ends_inside_is_not_waited_for(void **state)
{
	pthread_t emitter;

	(void)state;
	assert_int_equal(telem_attach("leave", "net.request", leave_thread, NULL), 0);
	seal();
	assert_int_equal(pthread_create(&emitter, NULL, request_once, NULL), 0);
	pthread_join(emitter, NULL);
	assert_int_equal(telem_detach("leave"), 0);
}

static void levels_may_change_under_load(void **state)
{
	uint64_t steady = 0, other = 0, events;

	(void)state;
	assert_int_equal(telem_attach("steady", "net.request", tally, &steady), 0);
	seal();
	emitters_begin();
	for (int i = 0; i < 300; i++) {
		telem_level_set("net", i % 3 == 0 ? TELEM_OFF : i % 3 == 1 ? TELEM_SUM : TELEM_ALL);
		telem_attach("other", "net.other", tally, &other);
		seal();
		telem_detach("other");
	}
	events = emitters_end();
	assert_int_equal(read_tally(&steady), events);
}

/* Handlers attach and detach each other in two threads, also from inside. */
static uint64_t wrong_results, inner_calls, threads_done;

static void check_detached(int result)
{
	/* Another thread may have detached it first, or may be inside it. */
	if (result != 0 && result != -ENOENT && result != -EINPROGRESS)
		__atomic_fetch_add(&wrong_results, 1, __ATOMIC_RELAXED);
}

/* The first one may be this handler, or one that is detaching this handler. */
static int detach_the_first(const struct telem_happening *what, void *config)
{
	struct telem_handler_info first;

	(void)what;
	(void)config;
	__atomic_fetch_add(&inner_calls, 1, __ATOMIC_RELAXED);
	if (telem_list_handlers("net.inner", &first, 1) > 0)
		check_detached(telem_detach(first.id));
	return 0;
}

static int change_beside_others(const struct telem_happening *what, void *config)
{
	static __thread uint32_t turn;
	char id[32];

	(void)what;
	(void)config;
	snprintf(id, sizeof id, "inner %d", (int)gettid());
	if (telem_attach(id, "net.inner", detach_the_first, NULL) != 0)
		__atomic_fetch_add(&wrong_results, 1, __ATOMIC_RELAXED);
	if (turn % 4 == 0)
		telem_persist();
	TELEM_EVENT(net, "inner", TELEM_F("x", 1));
	telem_level_set("net", turn % 3 == 0 ? TELEM_OFF : turn % 3 == 1 ? TELEM_SUM : TELEM_ALL);
	check_detached(turn % 2 ? telem_detach_async(id) : telem_detach(id));
	turn++;
	return 0;
}

static void *request_and_go_on(void *arg)
{
	for (int i = 0; i < *(const int *)arg; i++) {
		request(1);
		TELEM_EVENT(quiet, "unrelated", TELEM_F("x", 1));
	}
	__atomic_fetch_add(&threads_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void handlers_may_change_everything_while_others_are_called(void **state)
{
	pthread_t threads[EMITTERS];
	uint64_t unrelated = 0, requests = 0;
	int rounds = 4000 / (int)proc_slowness();

	(void)state;
	wrong_results = inner_calls = threads_done = 0;
	assert_int_equal(telem_attach("unrelated", "quiet.unrelated", tally, &unrelated), 0);
	assert_int_equal(telem_attach("change", "net.request", change_beside_others, NULL), 0);
	assert_int_equal(telem_attach("requests", "net.request", tally, &requests), 0);
	seal();
	for (int i = 0; i < EMITTERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, request_and_go_on, &rounds), 0);
	WAIT_UNTIL(__atomic_load_n(&threads_done, __ATOMIC_ACQUIRE) == EMITTERS, 20000);
	for (int i = 0; i < EMITTERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(wrong_results, 0);
	assert_int_equal(read_tally(&unrelated), EMITTERS * rounds);
	assert_int_equal(read_tally(&requests), EMITTERS * rounds);
	assert_true(inner_calls > 0);
	assert_int_equal(telem_list_handlers("net.inner", NULL, 0), 0);
}

static void a_forked_child_has_the_handlers_and_nobody_inside(void **state)
{
	uint64_t count = 0;
	int status = -1;
	pid_t child;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();                         /* the sanitizer allows no threads in a forked child */
#endif
	if (mode == SWITCHING)
		skip();
	assert_int_equal(telem_attach("steady", "net.request", tally, &count), 0);
	seal();
	emitters_begin();
	WAIT_UNTIL(read_tally(&count) > 100, 5000);
	child = fork();
	if (child == 0) {
		count = 0;
		request(1);
		_exit(count == 1 && telem_detach("steady") == 0 ? 0 : 1);
	}
	emitters_end();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- limits ---- */

static void more_handlers_than_the_limit_are_refused(void **state)
{
	int attached = 0, result = 0;
	char id[16];

	(void)state;
	if (mode == SWITCHING)
		skip();
	for (; attached < 2000 && result == 0; attached += result == 0) {
		snprintf(id, sizeof id, "n%d", attached);
		result = telem_attach(id, "net.request", note, NULL);
	}
	assert_int_equal(result, -ENOSPC);
	assert_int_equal(attached, 1024);
	for (int i = 0; i < attached; i++) {
		snprintf(id, sizeof id, "n%d", i);
		assert_int_equal(telem_detach_async(id), 0);
	}
}

#define MODES(test)                                                                              \
	{ #test " (open)", test, setup_open, teardown, NULL },                                   \
	{ #test " (sealed)", test, setup_sealed, teardown, NULL },                               \
	{ #test " (switching)", test, setup_switching, teardown, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		MODES(an_event_reaches_its_handler_with_its_fields),
		MODES(a_span_says_start_stop_and_abandoned),
		MODES(a_latency_reaches_its_handler),
		MODES(a_class_that_is_off_calls_its_handlers_all_the_same),
		MODES(levels_and_handlers_do_not_touch_each_other),
		MODES(handlers_are_called_in_the_order_of_attachment),
		MODES(an_id_is_unique_and_the_first_stays),
		MODES(nonsense_is_refused),
		MODES(one_handler_may_have_many_events),
		MODES(before_the_start_and_after_the_stop_none_is_called),
		MODES(a_handler_that_fails_is_detached_and_that_is_said),
		MODES(everything_is_legal_from_inside_a_handler),
		MODES(events_of_its_own_nest_to_a_bound),
		MODES(no_event_is_lost_and_none_goes_to_who_was_removed),
		MODES(handlers_of_several_threads_lose_none_of_them),
		MODES(detaching_waits_for_who_is_inside),
		MODES(detaching_without_waiting_does_not),
		MODES(a_thread_that_ends_inside_is_not_waited_for),
		MODES(levels_may_change_under_load),
		MODES(handlers_may_change_everything_while_others_are_called),
		MODES(a_forked_child_has_the_handlers_and_nobody_inside),
		MODES(more_handlers_than_the_limit_are_refused),
	};

	if (getenv("TEST_FILTER"))
		cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests_name("handlers", tests, NULL, NULL);
}
