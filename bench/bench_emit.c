/* bench_emit.c -- what an event costs the thread that emits it, at each level.
 *
 * The emitting thread runs alone on the last CPU; the flusher and the reader run on the first.
 * Events at level all are emitted in bursts that fit in the ring, and the ring is drained before
 * the next burst; rows named "sustained" do not wait. Each run compares the thread's own cells and
 * the books before and after it, and counts only if every event was recorded. */
#include <fcntl.h>
#include <unistd.h>

#include "bench/harness.h"
#include "emitter/record/ring.h"
#include "emitter/telem.h"

TELEM_CLASS(off, "never on", TELEM_OFF);
TELEM_CLASS(bench, "what is measured", TELEM_SUM);

struct node { struct node *next; uint64_t key; };

#define BURST 30000                  /* 16 bytes each: half of a ring of 1 MiB */
#define RING_LARGE (16u << 20)       /* for sustained rows: 1 M events, more than the thread emits while the
				      * flusher sleeps */

/* ---- what is measured ---- */

#define COUNT_OFF(k) TELEM_COUNT(off, "counter " #k, i);
#define SPAN_OFF(k) TELEM_SPAN(off, "span " #k) BARRIER();
#define EVENT_OFF(k) TELEM_EVENT(off, "event " #k, TELEM_F("a", i), TELEM_F("b", i));

LOOP(off_counter, EIGHT(COUNT_OFF))
LOOP(off_span, EIGHT(SPAN_OFF))
LOOP(off_event, EIGHT(EVENT_OFF))

static uint64_t given_start;         /* start of a latency */

LOOP(do_counter, TELEM_COUNT(bench, "counter", i))
LOOP(do_gauge_set, TELEM_GAUGE(bench, "gauge set", (int64_t)i))
LOOP(do_gauge_add, TELEM_GAUGE_ADD(bench, "gauge moved", 1))
LOOP(do_alloc, TELEM_ALLOC(struct node, 64))
LOOP(do_free, TELEM_FREE(struct node, 64))
static char heap[4096];              /* addresses of allocations; nothing is there */
#define HEAP_AT(at) TELEM_ALLOC_AT(struct heap, (at), 64); TELEM_FREE_AT(struct heap, (at), 64)
LOOP(do_heap, HEAP_AT(&heap[i % sizeof heap]))
LOOP(do_mark, TELEM_MARK(bench, "mark", i))
LOOP(do_value, TELEM_VALUE(bench, "value", i & 0xffff, TELEM_BYTES))
LOOP(do_latency, TELEM_LATENCY(bench, "latency", given_start))
LOOP(do_span, TELEM_SPAN(bench, "span") BARRIER())
LOOP(do_sampled, TELEM_SPAN(bench, "sampled span") BARRIER())
static struct telem_site *named_counter, *named_span;
LOOP(do_named_counter, telem_count(named_counter, i))
LOOP(do_named_span, TELEM_SPAN_OF(named_span) BARRIER())
LOOP(do_lookup, telem_site_new("bench", TELEM_KIND_COUNTER, TELEM_NONE, "GET /index.html"))
LOOP(do_frame, telem_frame("turn"))
LOOP(do_event, TELEM_EVENT(bench, "event", TELEM_F("status", 200), TELEM_F("bytes", i)))
LOOP(do_log, TELEM_LOG(TELEM_INFO, "request %d took %s", 42, "long"))

/* About 100 ns of work that keeps every unit of the CPU busy: eight independent chains of operations. */
static uint64_t chains[8];
static uint64_t rounds = 10;

static inline __attribute__((always_inline)) void work(void)
{
	uint64_t a = chains[0], b = chains[1], c = chains[2], d = chains[3], e = chains[4], f = chains[5],
		 g = chains[6], h = chains[7];

	for (uint64_t i = 0; i < rounds; i++) {
		a ^= a >> 7; b ^= b >> 7; c ^= c >> 7; d ^= d >> 7;
		e ^= e >> 7; f ^= f >> 7; g ^= g >> 7; h ^= h >> 7;
		a += a << 3; b += b << 3; c += c << 3; d += d << 3;
		e += e << 3; f += f << 3; g += g << 3; h += h << 3;
		/* Prevents the compiler from vectorising or shortening the chains. */
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
	}
	chains[0] = a; chains[1] = b; chains[2] = c; chains[3] = d;
	chains[4] = e; chains[5] = f; chains[6] = g; chains[7] = h;
}

LOOP(do_work, work())
LOOP(do_work_in_span, TELEM_SPAN(bench, "work") work())

/* What remains when telemetry is removed. It is not static, so the compiler cannot know that nobody
 * reads it. */
extern uint64_t own_time;
uint64_t own_time;
LOOP(do_work_in_stamps, uint64_t start = stamp(); BARRIER(); work(); own_time = stamp() - start)

struct row {
	const char *name;
	loop_fn *loop, *empty;
	const char *site;            /* the site that must count the events; NULL when none counts, or not in
				      * this thread's cells */
	enum telem_level level;
	uint64_t n;                  /* iterations; each may be several events: */
	uint64_t per_iteration;
	double target;               /* at most so many R; 0: no target */
};

#define OFF(name, loop, target) { name, loop, loop_empty_eight, NULL, TELEM_OFF, 250000, 8, target }
#define SUM(name, loop, site, target) { name, loop, loop_empty, site, TELEM_SUM, 50000, 1, target }
#define ALL(name, loop, site, n, target) { name, loop, loop_empty, site, TELEM_ALL, n, 1, target }

static const struct row rows_quiet[] = {
	OFF("counter, off", off_counter, 0.007),
	OFF("span, off", off_span, 0.007),
	OFF("event with 2 fields, off", off_event, 0.007),
	SUM("counter at sum", do_counter, "counter", 0.045),
	SUM("gauge set at sum", do_gauge_set, "gauge set", 0.045),
	SUM("gauge moved at sum", do_gauge_add, "gauge moved", 0.045),
	SUM("alloc at sum", do_alloc, "struct node", 0.045),
	SUM("free at sum", do_free, "struct node", 0.045),
	SUM("alloc and free at sum, with the address", do_heap, NULL, 0),
	SUM("mark at sum", do_mark, "mark", 0),
	SUM("event with 2 fields at sum", do_event, "event", 0),
	SUM("value at sum", do_value, "value", 0),
	SUM("latency at sum, its start given", do_latency, "latency", 0),
	SUM("log at sum", do_log, "request %d took %s", 0),
	SUM("span at sum", do_span, "span", 1.2),
	SUM("span at sum, timed 1 in 16", do_sampled, "sampled span", 0.09),
	SUM("counter at sum, named at run time", do_named_counter, NULL, 0),
	SUM("span at sum, named at run time", do_named_span, NULL, 0),
	SUM("site looked up by its name", do_lookup, NULL, 0),
	SUM("frame's end, with a counter and a budget", do_frame, NULL, 0),
};

static const struct row rows_deaf[] = {
	ALL("mark at all, nobody listens, ring full", do_mark, "mark", BURST, 0.15),
	ALL("counter at all, nobody listens, ring full", do_counter, "counter", BURST, 0.15),
	ALL("alloc at all, nobody listens, ring full", do_alloc, "struct node", BURST, 0.15),
	ALL("span at all, nobody listens, ring full", do_span, "span", BURST, 0),
};

static const struct row rows_flight[] = {
	ALL("mark at all, nobody listens, overwriting", do_mark, "mark", BURST, 0),
	ALL("alloc at all, nobody listens, overwriting", do_alloc, "struct node", BURST, 0),
};

static const struct row rows_heard[] = {
	ALL("alloc at all", do_alloc, "struct node", BURST, 0.12),
	ALL("free at all", do_free, "struct node", BURST, 0.12),
	ALL("gauge set at all", do_gauge_set, "gauge set", BURST, 0),
	ALL("mark at all", do_mark, "mark", BURST, 0.55),
	ALL("counter at all", do_counter, "counter", BURST, 0.55),
	ALL("value at all", do_value, "value", BURST, 0.55),
	ALL("latency at all, its start given", do_latency, "latency", BURST, 0.55),
	ALL("span at all", do_span, "span", BURST, 1.1),
	ALL("event with 2 fields at all", do_event, "event", BURST / 3, 0),
};

static const struct row rows_work[] = {
	SUM("limit: two stamps round 100 ns of work, added", do_work_in_stamps, NULL, 0),
	SUM("span at sum round 100 ns of work, added", do_work_in_span, "work", 0),
	ALL("span at all round 100 ns of work, added", do_work_in_span, "work", BURST, 0.75),
};

/* ---- was it all recorded? ---- */

extern struct telem_site *__start_telem_sites[], *__stop_telem_sites[];

static uint32_t site_id(const char *name)
{
	for (struct telem_site **site = __start_telem_sites; site < __stop_telem_sites; site++)
		if (!strcmp((*site)->name, name))
			return (*site)->id;
	fprintf(stderr, "no site %s\n", name);
	exit(1);
}

/* How many events of a site this thread has recorded; frees are counted separately. */
static uint64_t recorded(const char *name)
{
	uint32_t id = site_id(name);
	const struct telem_cell *cell = telem_thread_.cells + id;

	if (id >= telem_thread_.cell_count)
		return 0;
	if (!strcmp(name, "sampled span"))
		return cell->count + cell->streamed + cell->begun;
	return cell->count + cell->streamed + (!strcmp(name, "struct node") ? cell->min + cell->streamed_frees : 0);
}

/* head: bytes that were written to this thread's ring so far. */
struct books { uint64_t emitted, dropped, recorded, head, memory_bytes; };

static struct books books(const char *site)
{
	const struct ring *ring = telem_thread_.ring;
	struct telem_statistics stats;

	telem_stats(&stats);
	return (struct books){ stats.emitted, stats.dropped, site ? recorded(site) : 0, ring ? ring->head : 0,
			       stats.memory_bytes };
}

static void levels(enum telem_level level)
{
	telem_class_level(&telem_class_bench, level);
	telem_class_level(&telem_class_mem, level);
	telem_class_level(&telem_class_log, level);
}

enum loss { LOSS_NONE, LOSS_ALL /* each new event is lost */, LOSS_OLDEST /* each new event loses the oldest one */ };

struct job { const struct row *row; enum loss loss; struct figure *figure; };

static bool is_recorded(const struct job *job, const struct books *before, const struct books *after)
{
	const struct row *row = job->row;
	uint64_t emitted = row->level == TELEM_ALL ? row->n : 0, dropped = after->dropped - before->dropped;
	const char *what = NULL;

	if (row->site && after->recorded - before->recorded != row->n)
		what = "not counted in the thread's cell";
	else if (after->emitted - before->emitted != emitted)
		what = "not in the books";
	else if (job->loss == LOSS_NONE && dropped > 0)
		what = "events were lost";
	else if (job->loss == LOSS_ALL && (dropped != row->n || after->head != before->head))
		what = "the ring was not full";
	else if (job->loss == LOSS_OLDEST && after->head - before->head < row->n * RING_SLOT_BYTES)
		what = "the new ones were lost";
	else if (job->loss != LOSS_NONE && before->recorded > 0 && after->memory_bytes != before->memory_bytes)
		what = "memory grew";
	if (what)
		snprintf(job->figure->note, sizeof job->figure->note, "%s", what);
	return !what;
}

static void drain(void)
{
	telem_flush(2000000000);
}

static bool run_row(void *arg, double *value, double *base)
{
	const struct job *job = arg;
	const struct row *row = job->row;
	struct books before, after;
	double empty, full;

	if (row->level == TELEM_ALL && job->loss == LOSS_NONE)
		drain();
	before = books(row->site);
	if (!time_r(base) || !time_loop(row->empty, row->n, &empty) || !time_loop(row->loop, row->n, &full))
		return false;
	if (row->level == TELEM_ALL && job->loss == LOSS_NONE)
		drain();
	after = books(row->site);
	*value = (full - empty) / (double)row->per_iteration;
	return is_recorded(job, &before, &after);
}

static void measure(const struct row *row, enum loss loss)
{
	struct figure figure = { .row = row->name, .unit = "ns", .of = "R", .ratio_at_most = row->target };
	struct job job = { row, loss, &figure };

	levels(row->level);
	given_start = telem_stamp();
	row->loop(row->n);
	figure_run(&figure, run_row, &job);
	if (figure.count >= RUNS_MIN)
		figure.note[0] = '\0';
	levels(TELEM_SUM);
	figure_print(&figure);
}

#define MEASURE_ALL(rows, loss)                                                                  \
	for (size_t i_ = 0; i_ < sizeof(rows) / sizeof *(rows); i_++)                            \
	measure(&(rows)[i_], loss)

static bool run_r(void *arg, double *value, double *base)
{
	(void)arg;
	*base = 1;
	return time_r(value);
}

static bool run_empty(void *arg, double *value, double *base)
{
	(void)arg;
	return time_r(base) && time_loop(loop_empty, 50000, value);
}

/* ---- a span round real work ---- */

/* The cost is a small difference of two large figures. So the loop with and the loop without a span
 * run alternately, and the fastest of each count. */
static bool run_work(void *arg, double *value, double *base)
{
	enum { PARTS = 8 };
	struct job *job = arg;
	struct books before, after;
	double alone = INFINITY, with = INFINITY, ns;

	drain();
	before = books(job->row->site);
	if (!time_r(base))
		return false;
	for (int i = 0; i < PARTS; i++) {
		if (time_loop(do_work, job->row->n / PARTS, &ns))
			alone = fmin(alone, ns);
		if (time_loop(job->row->loop, job->row->n / PARTS, &ns))
			with = fmin(with, ns);
	}
	if (isinf(alone) || isinf(with))
		return false;
	drain();
	after = books(job->row->site);
	*value = with - alone;
	return is_recorded(job, &before, &after);
}

/* ---- the cost that telemetry reports of itself ---- */

/* Compares the cost of an event that telemetry reports with the cost that is measured. */
static bool run_reported(void *arg, double *value, double *base)
{
	const struct row *row = arg;
	struct telem_class_statistics before[64], after[64];
	double empty, full;
	uint32_t count;

	drain();
	count = telem_class_stats(before, 64);
	if (!time_loop(row->empty, row->n, &empty) || !time_loop(row->loop, row->n, &full))
		return false;
	telem_class_stats(after, 64);
	*base = full - empty;
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(after[i].name, "bench") && after[i].events > before[i].events)
			*value = (double)(after[i].cost_ns - before[i].cost_ns) /
				 (double)(after[i].events - before[i].events);
	return true;
}

static void measure_reported(const char *name, const struct row *row)
{
	struct figure figure = { .row = name, .unit = "ns", .of = "measured", .ratio_at_most = 1.2 };

	levels(row->level);
	row->loop(row->n);
	figure_run(&figure, run_reported, (void *)(uintptr_t)row);
	levels(TELEM_SUM);
	figure_print(&figure);
}

static void measure_work(const struct row *row)
{
	struct figure figure = { .row = row->name, .unit = "ns", .of = "R", .ratio_at_most = row->target };
	double ns = 0, best = INFINITY;

	/* As many rounds as take 100 ns on this machine. */
	for (int i = 0; i < 20; i++) {
		time_loop(do_work, 2000, &ns);
		best = fmin(best, ns);
	}
	rounds = (uint64_t)fmax(1, (double)rounds * 100 / best + 0.5);
	levels(row->level);
	row->loop(row->n);
	figure_run(&figure, run_work, &(struct job){ row, LOSS_NONE, &figure });
	levels(TELEM_SUM);
	figure_print(&figure);
}

/* ---- in a thread of its own: large rings, sustained rows, tails ---- */

/* How long each event takes, measured from outside in stamps, the time of reading the stamp
 * included. The last element counts everything that took longer. Events are emitted slowly enough
 * for the flusher to follow, because otherwise the cost of losing events would be measured. */
enum { TAIL_STAMPS = 1 << 14, TAIL_EVENTS = 300000, TAIL_PAUSE_NS = 150 };
struct tail { uint32_t took[TAIL_STAMPS]; uint64_t count; };

static inline __attribute__((always_inline)) void tail_take(struct tail *tail, bool with_event)
{
	uint64_t pause = (uint64_t)(TAIL_PAUSE_NS / stamp_ns());

	for (uint64_t i = 0; i < TAIL_EVENTS; i++) {
		uint64_t before = stamp(), took;

		if (with_event)
			TELEM_MARK(bench, "mark", i);
		BARRIER();
		took = stamp() - before;
		tail->took[took < TAIL_STAMPS ? took : TAIL_STAMPS - 1]++;
		while (stamp() - before < pause)
			;
	}
	tail->count += TAIL_EVENTS;
}

/* In whole ns, because the counter itself may advance in steps of ten. */
static double tail_ns(const struct tail *tail, uint64_t permille)
{
	uint64_t seen = 0, wanted = (tail->count * permille + 999) / 1000;
	uint32_t at = 0;

	while (at < TAIL_STAMPS && (seen += tail->took[at]) < wanted)
		at++;
	return rint(at * stamp_ns());
}

/* The share of the n events since before that was lost. */
static double lost_share(const struct books *before, uint64_t n)
{
	struct books after = books(NULL);

	return (double)(after.dropped - before->dropped) / (double)n;
}

static void note_loss(struct figure *figure, double lost_most)
{
	if (lost_most > 0)
		snprintf(figure->note, sizeof figure->note, "up to %.1f %% lost", lost_most * 100);
}

enum { SUSTAINED = 2000000 };

static void measure_sustained(const struct row *row)
{
	struct figure figure = { .row = row->name, .unit = "ns", .of = "R" };
	double lost_most = 0;

	levels(TELEM_ALL);
	for (int run = -1; run < RUNS_MIN; run++) {
		struct books before;
		double r, ns;

		drain();
		before = books(NULL);
		time_r(&r);
		time_loop(row->loop, SUSTAINED, &ns);
		drain();
		if (run >= 0) {
			figure_add(&figure, ns, r);
			lost_most = fmax(lost_most, lost_share(&before, SUSTAINED));
		}
	}
	levels(TELEM_SUM);
	note_loss(&figure, lost_most);
	figure_print(&figure);
}

static void measure_tails(void)
{
	struct figure figures[] = {
		{ .row = "tail: two stamps and nothing, p99", .unit = "ns", .of = "R" },
		{ .row = "tail: two stamps and nothing, p99.9", .unit = "ns", .of = "R" },
		{ .row = "tail: mark at all while draining, p99", .unit = "ns", .of = "R", .value_at_most = 40 },
		{ .row = "tail: mark at all while draining, p99.9", .unit = "ns", .of = "R", .value_at_most = 60 },
	};
	static struct tail nothing, event;

	levels(TELEM_ALL);
	for (int tries = -1; tries < 2 * RUNS && figures[0].count < RUNS; tries++) {
		struct books before;
		double r;

		memset(&nothing, 0, sizeof nothing);
		memset(&event, 0, sizeof event);
		drain();
		before = books(NULL);
		time_r(&r);
		tail_take(&nothing, false);
		tail_take(&event, true);
		drain();
		if (tries < 0)
			continue;
		if (lost_share(&before, TAIL_EVENTS) > 0) {
			for (int i = 2; i < 4; i++)
				snprintf(figures[i].note, sizeof figures[i].note, "events were lost");
			continue;
		}
		figure_add(&figures[0], tail_ns(&nothing, 990), r);
		figure_add(&figures[1], tail_ns(&nothing, 999), r);
		figure_add(&figures[2], tail_ns(&event, 990), r);
		figure_add(&figures[3], tail_ns(&event, 999), r);
	}
	levels(TELEM_SUM);
	for (int i = 0; i < 4; i++) {
		if (figures[i].count >= RUNS_MIN)
			figures[i].note[0] = '\0';
		figure_print(&figures[i]);
	}
}

static void *sustain(void *arg)
{
	static const struct row rows[] = {
		ALL("mark at all, sustained, ring 16 MiB", do_mark, "mark", SUSTAINED, 0),
		ALL("alloc at all, sustained, ring 16 MiB", do_alloc, "struct node", SUSTAINED, 0),
		ALL("span at all, sustained, ring 16 MiB", do_span, "span", SUSTAINED, 0),
	};

	(void)arg;
	pin(cpu_last());
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		measure_sustained(&rows[i]);
	measure_tails();
	return NULL;
}

static void in_own_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) == 0)
		pthread_join(thread, NULL);
}

/* ---- two threads at once ---- */

struct pair {
	pthread_barrier_t gate;
	const struct row *row;
	bool is_over;
	int arrived;                 /* atomic: how many sides are awake */
	struct side {
		struct pair *pair;
		int cpu, wanted;     /* wanted: how many sides run in this round */
		bool runs, is_calm;
		uint64_t start_ns, end_ns;
	} sides[2];
};

static void *side_main(void *arg)
{
	struct side *side = arg;
	struct pair *pair = side->pair;

	pin(side->cpu);
	for (;;) {
		long before;

		pthread_barrier_wait(&pair->gate);
		if (pair->is_over)
			return NULL;
		if (side->runs) {
			/* Wait until every side is awake on its CPU, then start together. */
			__atomic_fetch_add(&pair->arrived, 1, __ATOMIC_SEQ_CST);
			while (__atomic_load_n(&pair->arrived, __ATOMIC_RELAXED) < side->wanted)
				sched_yield();
			before = interruptions();
			side->start_ns = now_ns();
			pair->row->loop(pair->row->n);
			side->end_ns = now_ns();
			side->is_calm = interruptions() == before;
		}
		pthread_barrier_wait(&pair->gate);
	}
}

/* Runs one side or both, and stores the ns of an iteration for each. Returns false when a side was
 * interrupted or when they did not run at the same time. */
static bool pair_round(struct pair *pair, bool first, bool second, double ns[2])
{
	uint64_t start = 0, end = UINT64_MAX;
	bool is_calm = true;

	if (pair->row->level == TELEM_ALL)
		drain();
	pair->arrived = 0;
	pair->sides[0].runs = first;
	pair->sides[1].runs = second;
	pair->sides[0].wanted = pair->sides[1].wanted = first + second;
	pthread_barrier_wait(&pair->gate);
	pthread_barrier_wait(&pair->gate);
	for (int i = 0; i < 2; i++) {
		const struct side *side = &pair->sides[i];

		if (!side->runs)
			continue;
		ns[i] = (double)(side->end_ns - side->start_ns) / (double)pair->row->n;
		is_calm &= side->is_calm;
		start = side->start_ns > start ? side->start_ns : start;
		end = side->end_ns < end ? side->end_ns : end;
	}
	if (!first || !second)
		return is_calm;
	/* The two overlap for at least nine tenths of the longer one. */
	return is_calm && end > start && (double)(end - start) > 0.9 * fmax(ns[0], ns[1]) * (double)pair->row->n;
}

struct pair_job { struct pair *pair; struct figure *figure; };

static bool run_pair(void *arg, double *value, double *base)
{
	struct pair_job *job = arg;
	struct pair *pair = job->pair;
	uint64_t events = pair->row->level == TELEM_ALL ? 4 * pair->row->n : 0;
	double alone[2], both[2];
	struct books before = books(NULL), after;
	bool is_calm;

	is_calm = pair_round(pair, true, false, alone) && pair_round(pair, false, true, alone) &&
		  pair_round(pair, true, true, both);
	if (!is_calm)
		return false;
	drain();
	after = books(NULL);
	if (after.emitted - before.emitted != events || after.dropped != before.dropped) {
		snprintf(job->figure->note, sizeof job->figure->note, "events were lost");
		return false;
	}
	/* The figure is that of the side that slows down more. */
	*value = both[0] / alone[0] > both[1] / alone[1] ? both[0] : both[1];
	*base = both[0] / alone[0] > both[1] / alone[1] ? alone[0] : alone[1];
	return true;
}

static void measure_pair(const struct row *row)
{
	struct figure figure = { .row = row->name, .unit = "ns", .of = "alone", .ratio_at_most = row->target };
	struct pair pair = { .row = row };
	pthread_t threads[2];

	if (cpu_first() == cpu_last()) {
		snprintf(figure.note, sizeof figure.note, "one CPU only");
		figure_print(&figure);
		return;
	}
	pthread_barrier_init(&pair.gate, NULL, 3);
	levels(row->level);
	for (int i = 0; i < 2; i++) {
		pair.sides[i] = (struct side){ .pair = &pair, .cpu = i ? cpu_first() : cpu_last() };
		pthread_create(&threads[i], NULL, side_main, &pair.sides[i]);
	}
	figure_run(&figure, run_pair, &(struct pair_job){ &pair, &figure });
	pair.is_over = true;
	pthread_barrier_wait(&pair.gate);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	levels(TELEM_SUM);
	if (figure.count >= RUNS_MIN)
		figure.note[0] = '\0';
	figure_print(&figure);
	pthread_barrier_destroy(&pair.gate);
}

static const struct row rows_pair[] = {
	{ "two threads: counter at sum", do_counter, NULL, NULL, TELEM_SUM, 500000, 1, 1.1 },
	{ "two threads: span at sum", do_span, NULL, NULL, TELEM_SUM, BURST, 1, 1.1 },
	{ "two threads: alloc at all", do_alloc, NULL, NULL, TELEM_ALL, BURST, 1, 1.1 },
	{ "two threads: mark at all", do_mark, NULL, NULL, TELEM_ALL, BURST, 1, 1.1 },
	{ "two threads: span at all", do_span, NULL, NULL, TELEM_ALL, BURST, 1, 1.1 },
};

/* ---- the reader ---- */

static void *read_all(void *arg)
{
	static uint8_t bytes[1 << 16];
	int fd = *(int *)arg;

	while (read(fd, bytes, sizeof bytes) > 0)
		;
	return NULL;
}

static void give_up(const char *what)
{
	fprintf(stderr, "bench_emit: %s: %s\n", what, telem_error());
	exit(1);
}

int main(void)
{
	struct figure r = { .row = "R: two stamps", .unit = "ns" }, empty = { .row = "empty loop", .unit = "ns", .of = "R" };
	pthread_t reader;
	int ends[2];

	cpus_find();
	pin(cpu_first());                /* the flusher starts here and stays on this CPU */
	if (telem_start(&(struct telem_options){ .size = sizeof(struct telem_options), .ignore_environment = true,
						 .no_discovery = true }) < 0)
		give_up("telem_start");
	if (pipe(ends) < 0 || pthread_create(&reader, NULL, read_all, &ends[0]) != 0)
		give_up("pipe");
	fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
	pin(cpu_last());
	figure_run(&r, run_r, NULL);
	figure_print(&r);
	figure_run(&empty, run_empty, NULL);
	figure_print(&empty);
	named_counter = telem_site_new("bench", TELEM_KIND_COUNTER, TELEM_NONE, "GET");
	named_span = telem_site_new("bench", TELEM_KIND_SPAN, TELEM_NS, "GET");
	telem_span_every("bench.sampled span", 16);
	telem_frame_counter("turn", "bench.counter");
	telem_budget("turn", &(struct telem_budget){ .ns = 1000000000, .logs = 100 }, NULL, NULL);
	MEASURE_ALL(rows_quiet, LOSS_NONE);

	levels(TELEM_ALL);
	do_mark(3 * BURST);              /* the ring is full from here on */
	MEASURE_ALL(rows_deaf, LOSS_ALL);
	telem_set_policy(TELEM_OVERWRITE, 0);
	MEASURE_ALL(rows_flight, LOSS_OLDEST);
	telem_set_policy(TELEM_DROP, 0);

	if (telem_sink_fd(ends[1]) < 0)
		give_up("telem_sink_fd");
	drain();
	MEASURE_ALL(rows_heard, LOSS_NONE);
	for (size_t i = 0; i < sizeof rows_work / sizeof *rows_work; i++)
		measure_work(&rows_work[i]);
	for (size_t i = 0; i < sizeof rows_pair / sizeof *rows_pair; i++)
		measure_pair(&rows_pair[i]);
	measure_reported("what telemetry tells of a span at sum", &(struct row)SUM("", do_span, "span", 0));
	measure_reported("what telemetry tells of a mark at all", &(struct row)ALL("", do_mark, "mark", BURST, 0));
	telem_set_ring_bytes(RING_LARGE);
	in_own_thread(sustain);
	telem_stop();
	pthread_join(reader, NULL);
	return 0;
}
