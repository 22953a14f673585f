/* harness.h -- what all benches share: clocks, CPUs, runs, and one printed line for each figure.
 *
 * A figure is a median over runs. Each run also measures a base right next to it, so that the ratio
 * of the two is valid on a machine whose speed changes. The base is R, which is two consecutive
 * readings of the time stamp counter (of the clock on other CPUs), or another row. A run is
 * repeated when the scheduler interrupted it, or when it lost what it should have recorded. The
 * output is lines of tab-separated fields, from which bench/run makes a table. */
#ifndef TELEM_BENCH_HARNESS_H
#define TELEM_BENCH_HARNESS_H

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define RUNS 11                      /* runs that count; one more run before them warms up and does not count */
#define RUNS_MIN 5                   /* with fewer good runs a figure is not printed */
#define TRIES (6 * RUNS)
#define TRY_NS_MAX 2500000000u       /* a figure takes at most this time, or twice this when it has fewer than
				      * RUNS_MIN runs */

/* The compiler moves no memory access across this, in either direction. */
#define BARRIER() __asm__ volatile("" ::: "memory")
#define NOINLINE __attribute__((noinline))
/* Defines a function that does something n times, in a loop that the compiler does not optimise away. */
#define LOOP(name_, ...)                                                                         \
	static NOINLINE void name_(uint64_t n)                                                   \
	{                                                                                        \
		for (uint64_t i = 0; i < n; i++) {                                               \
			__VA_ARGS__;                                                             \
			BARRIER();                                                               \
		}                                                                                \
	}

/* Eight different sites in one iteration, so that the cost of the loop is small beside them. */
#define EIGHT(do_) do_(1) BARRIER(); do_(2) BARRIER(); do_(3) BARRIER(); do_(4) BARRIER(); \
	do_(5) BARRIER(); do_(6) BARRIER(); do_(7) BARRIER(); do_(8)
#define EIGHT_NOTHING(k)

static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline uint64_t now_ns(void) { return clock_now_ns(CLOCK_MONOTONIC); }
static inline uint64_t thread_cpu_ns(void) { return clock_now_ns(CLOCK_THREAD_CPUTIME_ID); }

/* The cheapest clock that this CPU has. */
static inline uint64_t stamp(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return now_ns();
#endif
}

static inline double stamp_ns(void)
{
#ifdef __x86_64__
	static double ns;
	uint64_t start, first;

	if (ns > 0)
		return ns;
	start = now_ns();
	first = stamp();
	while (now_ns() - start < 20000000)
		;
	ns = (double)(now_ns() - start) / (double)(stamp() - first);
	return ns;
#else
	return 1;
#endif
}

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- CPUs ---- */

/* The measured thread runs on the last CPU that this process may use; helping threads run on the first. */
static inline int cpu_last(void)
{
	static int last = -1;
	cpu_set_t set;

	if (last < 0 && sched_getaffinity(0, sizeof set, &set) == 0)
		for (size_t i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &set))
				last = (int)i;
	return last;
}

static inline int cpu_first(void)
{
	static int first = -1;
	cpu_set_t set;

	if (first < 0 && sched_getaffinity(0, sizeof set, &set) == 0)
		for (size_t i = CPU_SETSIZE; i-- > 0;)
			if (CPU_ISSET(i, &set))
				first = (int)i;
	return first;
}

/* Pins this thread, and the threads that it starts later. */
static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

/* Call this first in main(): it looks for both CPUs while this process may still use all of its CPUs. */
static inline void cpus_find(void)
{
	cpu_first();
	cpu_last();
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/* How often the scheduler took the CPU away from this thread. */
static inline long interruptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

/* ---- timing ---- */

typedef void loop_fn(uint64_t n);

/* Stores the ns for each of n iterations in *ns. Returns false when the scheduler interrupted. */
static inline bool time_loop(loop_fn *loop, uint64_t n, double *ns)
{
	long before = interruptions();
	uint64_t start = now_ns();

	loop(n);
	*ns = (double)(now_ns() - start) / (double)n;
	return interruptions() == before;
}

static NOINLINE __attribute__((unused)) void loop_r(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum += stamp();
		sum ^= stamp();
		BARRIER();
	}
	__asm__ volatile("" : : "r"(sum));
}

static NOINLINE __attribute__((unused)) void loop_empty(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		BARRIER();
}

static NOINLINE __attribute__((unused)) void loop_empty_eight(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		EIGHT(EIGHT_NOTHING);
		BARRIER();
	}
}

static inline bool time_r(double *ns) { return time_loop(loop_r, 10000, ns); }

/* ---- figures ---- */

struct figure {
	const char *row, *unit;
	const char *of;              /* name of the base of ratio; "" when there is none */
	/* The target: one of these is set, or none. */
	double ratio_at_most, ratio_at_least, value_at_most, value_at_least;
	double values[RUNS], ratios[RUNS];
	int count;
	char note[64];               /* printed with the row; when there is no figure, the reason */
};

static inline int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static inline double median(const double *values, int count)
{
	double sorted[RUNS];

	memcpy(sorted, values, (size_t)count * sizeof *sorted);
	qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static inline void figure_add(struct figure *figure, double value, double base)
{
	if (figure->count == RUNS)
		return;
	figure->values[figure->count] = value;
	figure->ratios[figure->count] = base > 0 ? value / base : 0;
	figure->count++;
}

/* Prints "reached", or by how much the target was missed. */
static inline void print_verdict(const struct figure *figure, double value, double ratio)
{
	bool is_ratio = figure->ratio_at_most > 0 || figure->ratio_at_least > 0;
	bool at_most = figure->ratio_at_most > 0 || figure->value_at_most > 0;
	double target = figure->ratio_at_most + figure->ratio_at_least + figure->value_at_most + figure->value_at_least;
	double is = is_ratio ? ratio : value, off = at_most ? is / target - 1 : 1 - is / target;

	if (target <= 0)
		printf("\t\t");
	else
		printf("\t%s %.4g %s\t", at_most ? "<=" : ">=", target, is_ratio ? figure->of : figure->unit);
	if (target > 0 && off <= 0)
		printf("reached");
	else if (target > 0)
		printf("missed by %.*f %%", off < 0.1, off * 100);
	printf("%s%s\n", target > 0 && figure->note[0] ? "; " : "", figure->note);
}

/* Prints one line: row, median, min, max, unit, ratio, of, target, verdict. */
static inline void figure_print(const struct figure *figure)
{
	double least = INFINITY, most = -INFINITY, value, ratio;

	if (figure->count < RUNS_MIN) {
		printf("%s\t\t\t\t%s\t\t%s\t\tnot measured: %s\n", figure->row, figure->unit, figure->of ? figure->of : "",
		       figure->note[0] ? figure->note : "interrupted all the time");
		return;
	}
	for (int i = 0; i < figure->count; i++) {
		least = fmin(least, figure->values[i]);
		most = fmax(most, figure->values[i]);
	}
	value = median(figure->values, figure->count);
	ratio = median(figure->ratios, figure->count);
	printf("%s\t%.4g\t%.4g\t%.4g\t%s\t", figure->row, value, least, most, figure->unit);
	if (figure->of && figure->of[0])
		printf("%.4g\t%s", ratio, figure->of);
	else
		printf("\t");
	print_verdict(figure, value, ratio);
}

/* Does one run. Returns false when the run must not count. */
typedef bool run_fn(void *arg, double *value, double *base);

static inline void figure_run(struct figure *figure, run_fn *run, void *arg)
{
	uint64_t start = now_ns();
	bool is_warm = false;

	for (int tries = 0; tries < TRIES && figure->count < RUNS; tries++) {
		double value, base;
		uint64_t spent = now_ns() - start;

		if (spent > 2ull * TRY_NS_MAX || (spent > TRY_NS_MAX && figure->count >= RUNS_MIN))
			break;
		if (!run(arg, &value, &base))
			continue;
		if (is_warm)
			figure_add(figure, value, base);
		is_warm = true;
	}
}
#endif
