#include "emitter/core/clock.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "emitter/core/api.h"
#include "emitter/core/procfs.h"

uint32_t telem_clock_is_tsc_;

/* Read by producers (rate) and, under the emitter's lock, by the flusher. */
static struct {
	bool has_begun;
	uint64_t rate;               /* nanoseconds per tick, times 2^32 */
	uint64_t anchor_ticks, anchor_ns;    /* the moment from which the present rate counts */
	uint64_t first_ticks, first_ns;      /* the moment of the start, since which the rate is measured */
	uint64_t resolution_ns;
} clock_state = { .rate = 1ull << 32, .resolution_ns = 1 };

uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now = { 0, 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
}

uint64_t clock_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

/* Returns 0 before the start, when it is not known yet whether ticks are those of the TSC. */
uint64_t telem_clock_read_(void)
{
	return __atomic_load_n(&clock_state.has_begun, __ATOMIC_RELAXED) ? clock_ns() : 0;
}

uint64_t clock_ticks(void)
{
	return telem_stamp();
}

uint64_t clock_rate(void)
{
	return __atomic_load_n(&clock_state.rate, __ATOMIC_RELAXED);
}

uint64_t clock_duration_ns(uint64_t ticks)
{
	return clock_scale(ticks, clock_rate());
}

uint64_t clock_ns_of(uint64_t ticks)
{
	if (ticks >= clock_state.anchor_ticks)
		return clock_state.anchor_ns + clock_scale(ticks - clock_state.anchor_ticks, clock_state.rate);
	return clock_state.anchor_ns - clock_scale(clock_state.anchor_ticks - ticks, clock_state.rate);
}

uint64_t clock_resolution_ns(void)
{
	return clock_state.resolution_ns;
}

#ifdef __x86_64__
static bool tsc_is_trusted(void)
{
	unsigned a, b, c, d;
	char source[32];

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return false;
	return proc_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source) &&
	       (!strncmp(source, "tsc", 3) || !strncmp(source, "kvm-clock", 9) ||
			     !strncmp(source, "hyperv_clocksource_tsc_page", 27));
}

/* Reads ticks and nanoseconds of one moment. It takes 8 readings and returns the one that took the least time. */
static void read_pair(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), now = clock_ns(), after = __builtin_ia32_rdtsc();

		if (after - before < best) {
			best = after - before;
			*ticks = before + (after - before) / 2;
			*ns = now;
		}
	}
}

static void set_rate(uint64_t ticks, uint64_t ns)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t rate = (uint64_t)(((wide)(ns - clock_state.first_ns) << 32) / (ticks - clock_state.first_ticks));

	__atomic_store_n(&clock_state.rate, rate, __ATOMIC_RELAXED);
}

static void measure_resolution(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 64; i++) {
		uint64_t first = __builtin_ia32_rdtsc(), next = __builtin_ia32_rdtsc();

		if (next > first && next - first < least)
			least = next - first;
	}
	clock_state.resolution_ns = clock_duration_ns(least);
	if (clock_state.resolution_ns == 0)
		clock_state.resolution_ns = 1;
}
#endif

void clock_begin(void)
{
#ifdef __x86_64__
	uint64_t ticks, ns;

	if (clock_state.has_begun)
		return;
	__atomic_store_n(&clock_state.has_begun, true, __ATOMIC_RELAXED);
	if (!tsc_is_trusted())
		return;
	read_pair(&clock_state.first_ticks, &clock_state.first_ns);
	do                              /* the rate of one millisecond is right to about 30 ppm */
		read_pair(&ticks, &ns);
	while (ns - clock_state.first_ns < 1000000);
	set_rate(ticks, ns);
	clock_state.anchor_ticks = ticks;
	clock_state.anchor_ns = ns;
	measure_resolution();
	__atomic_store_n(&telem_clock_is_tsc_, 1, __ATOMIC_RELAXED);
#else
	__atomic_store_n(&clock_state.has_begun, true, __ATOMIC_RELAXED);
#endif
}

void clock_renew(void)
{
#ifdef __x86_64__
	uint64_t ticks, ns, ours;

	if (!telem_clock_is_tsc_)
		return;
	read_pair(&ticks, &ns);
	if (ns - clock_state.anchor_ns < 500000000)
		return;
	ours = clock_ns_of(ticks);
	set_rate(ticks, ns);
	clock_state.anchor_ticks = ticks;
	clock_state.anchor_ns = ns > ours ? ns : ours;
#endif
}
