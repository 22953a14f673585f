/* bench_screen.c -- what telemtop itself costs: its screen runs on a pseudo-terminal of this bench,
 * and watches a program that emits a million events a second, one that does nothing, and one with a
 * large heap. Of the latter two also what it costs to be watched. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/harness.h"
#include "emitter/telem.h"

TELEM_CLASS(busy, "a million a second", TELEM_OFF);

enum { EVENTS_A_MS = 1000, WARM_S = 2, WINDOW_MS = 1000 };

/* ---- the program that is watched ---- */

static bool keep_emitting;

static void *emit(void *arg)
{
	struct timespec next;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (__atomic_load_n(&keep_emitting, __ATOMIC_RELAXED)) {
		for (uint64_t i = 0; i < EVENTS_A_MS; i++)
			TELEM_MARK(busy, "mark", i);
		next.tv_nsec += 1000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

/* ---- telemtop ---- */

struct screen { pid_t pid; int fd; };

static struct screen screen_start(const char *program, const char *address, const char *interval, uint16_t rows,
				  uint16_t columns)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };
	struct screen screen;

	screen.pid = forkpty(&screen.fd, NULL, NULL, &size);
	if (screen.pid < 0)
		die("forkpty");
	if (screen.pid == 0) {
		setenv("TERM", "xterm-256color", 1);
		execl(program, program, "-d", interval, address, (char *)NULL);
		_exit(127);
	}
	return screen;
}

static uint64_t cpu_ns_of(pid_t pid)
{
	struct timespec spent = { 0, 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &spent);
	return (uint64_t)spent.tv_sec * 1000000000 + (uint64_t)spent.tv_nsec;
}

static double rss_mib_of(pid_t pid)
{
	char path[64];
	unsigned long pages = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	file = fopen(path, "re");
	if (file) {
		if (fscanf(file, "%*u %lu", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static uint64_t flusher_cpu_ns(void)
{
	struct telem_statistics statistics;

	telem_stats(&statistics);
	return statistics.flusher_cpu_ns;
}

/* How often this process's thread "telem" was woken. */
static uint64_t flusher_wakes(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	uint64_t wakes = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		char path[300], line[128];
		bool is_telem = false;
		FILE *file;

		snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof line, file)) {
			is_telem |= !strcmp(line, "Name:\ttelem\n");
			if (is_telem)
				sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &wakes);
		}
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return wakes;
}

/* Reads and discards what telemtop writes within ms milliseconds. Returns how many bytes there were. */
static uint64_t read_for(const struct screen *screen, uint64_t ms)
{
	static char bytes[65536];
	uint64_t end = now_ns() + ms * 1000000, count = 0, now;

	while ((now = now_ns()) < end) {
		struct pollfd in = { .fd = screen->fd, .events = POLLIN };
		ssize_t got;

		if (poll(&in, 1, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		got = read(screen->fd, bytes, sizeof bytes);
		if (got <= 0)
			break;
		count += (uint64_t)got;
	}
	return count;
}

enum { CPU, MEMORY, TERMINAL, FLUSHER_CPU, FLUSHER_WAKES, FIGURES };

/* Figures without a name are not printed. */
static void measure(const struct screen *screen, struct figure figures[FIGURES])
{
	int status;

	read_for(screen, WARM_S * 1000);
	for (int i = 0; i < RUNS; i++) {
		uint64_t flusher_before = flusher_cpu_ns(), wakes_before = flusher_wakes();
		uint64_t cpu_before = cpu_ns_of(screen->pid), begin = now_ns(), bytes = read_for(screen, WINDOW_MS);
		double ns = (double)(now_ns() - begin);

		figure_add(&figures[CPU], (double)(cpu_ns_of(screen->pid) - cpu_before) / ns * 100, 0);
		figure_add(&figures[MEMORY], rss_mib_of(screen->pid), 0);
		figure_add(&figures[TERMINAL], (double)bytes / (ns / 1e9) / 1000, 0);
		figure_add(&figures[FLUSHER_CPU], (double)(flusher_cpu_ns() - flusher_before) / ns * 100, 0);
		figure_add(&figures[FLUSHER_WAKES], (double)(flusher_wakes() - wakes_before) / (ns / 1e9), 0);
	}
	if (waitpid(screen->pid, &status, WNOHANG) != 0) {
		snprintf(figures[CPU].note, sizeof figures[CPU].note, "telemtop did not stay");
		for (int i = 0; i < FIGURES; i++)
			figures[i].count = 0;
	}
	kill(screen->pid, SIGTERM);
	read_for(screen, 200);
	waitpid(screen->pid, &status, 0);
	close(screen->fd);
	for (int i = 0; i < FIGURES; i++)
		if (figures[i].row)
			figure_print(&figures[i]);
}

/* ---- a large heap ---- */

enum { BLOCKS = 1500000, BLOCK_BYTES = 2000, STEP_NS = 100, STEPS = 100000, TAIL = 10000 };
static bool keep_allocating;
static uint32_t took[STEPS];         /* how many calls of malloc() took so many steps; atomic */

/* Every second block is free, so malloc() has 750,000 to walk over. */
static void fragment(void **blocks)
{
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		if (!blocks[i])
			die("malloc");
		memset(blocks[i], 1, BLOCK_BYTES);
	}
	for (int i = 0; i < BLOCKS; i += 2)
		free(blocks[i]);
}

static void *allocate(void *arg)
{
	while (__atomic_load_n(&keep_allocating, __ATOMIC_RELAXED)) {
		uint64_t begin = now_ns(), ns;
		void *volatile block = malloc(BLOCK_BYTES * 5 / 2);

		ns = now_ns() - begin;
		free(block);
		__atomic_fetch_add(&took[ns / STEP_NS < STEPS ? ns / STEP_NS : STEPS - 1], 1, __ATOMIC_RELAXED);
	}
	return arg;
}

/* The 99.99th percentile of malloc() since the last call, in ns. */
static double allocation_tail_ns(void)
{
	static uint32_t now[STEPS];
	uint64_t all = 0, above = 0;
	int step = STEPS;

	for (int i = 0; i < STEPS; i++)
		all += now[i] = __atomic_exchange_n(&took[i], 0, __ATOMIC_RELAXED);
	while (step > 0 && above <= all / TAIL)
		above += now[--step];
	return (double)(step + 1) * STEP_NS;
}

static void measure_large_heap(const char *program, const char *address)
{
	struct figure watched[FIGURES] = {
		[FLUSHER_CPU] = { .row = "watched, 1.5 GB in blocks and as much free: telem", .unit = "% of a CPU",
				  .value_at_most = 0.1 },
	};
	struct figure tail = { .row = "  99.99 % of malloc() beside it", .unit = "us", .of = "not watched",
			       .ratio_at_most = 1.2 };
	void **blocks = malloc(BLOCKS * sizeof *blocks);
	double alone_ns[RUNS];
	pthread_t allocating;
	struct screen screen;

	if (!blocks)
		die("malloc");
	fragment(blocks);
	__atomic_store_n(&keep_allocating, true, __ATOMIC_RELAXED);
	if (pthread_create(&allocating, NULL, allocate, NULL) != 0)
		die("pthread_create");
	for (int i = 0; i < RUNS; i++) {
		allocation_tail_ns();
		usleep(WINDOW_MS * 1000);
		alone_ns[i] = allocation_tail_ns();
	}
	screen = screen_start(program, address, "1", 40, 120);
	read_for(&screen, WARM_S * 1000);
	for (int i = 0; i < RUNS; i++) {
		double tail_ns;

		allocation_tail_ns();
		read_for(&screen, WINDOW_MS);
		tail_ns = allocation_tail_ns();
		figure_add(&tail, tail_ns / 1000, alone_ns[i] / 1000);
	}
	measure(&screen, watched);
	figure_print(&tail);
	__atomic_store_n(&keep_allocating, false, __ATOMIC_RELAXED);
	pthread_join(allocating, NULL);
	for (int i = 1; i < BLOCKS; i += 2)
		free(blocks[i]);
	free(blocks);
}

int main(int argc, char **argv)
{
	struct figure busy[FIGURES] = {
		[CPU] = { .row = "telemtop, 1 M events/s, 10 Hz, 200x50", .unit = "% of a CPU", .value_at_most = 2 },
		[MEMORY] = { .row = "  resident", .unit = "MiB" },
		[TERMINAL] = { .row = "  to the terminal", .unit = "kB/s" },
	};
	struct figure idle[FIGURES] = {
		[CPU] = { .row = "telemtop, idle, 1 Hz, 120x40", .unit = "% of a CPU", .value_at_most = 0.3 },
		[MEMORY] = { .row = "  resident", .unit = "MiB" },
		[TERMINAL] = { .row = "  to the terminal", .unit = "kB/s", .value_at_most = 4 },
		[FLUSHER_CPU] = { .row = "watched at sum, idle: thread telem", .unit = "% of a CPU", .value_at_most = 0.05 },
		[FLUSHER_WAKES] = { .row = "  woken", .unit = "/s", .value_at_most = 12 },
	};
	char directory[] = "/tmp/telem-bench.XXXXXX", path[64], address[80], program[PATH_MAX];
	struct screen screen;
	pthread_t emitting;

	(void)argc;
	snprintf(program, sizeof program, "%s/../telemtop", dirname(argv[0]));
	if (!mkdtemp(directory))
		die("mkdtemp");
	snprintf(path, sizeof path, "%s/sock", directory);
	snprintf(address, sizeof address, "unix:%s", path);
	if (telem_start(&(struct telem_options){ .size = sizeof(struct telem_options), .ignore_environment = true,
						 .no_discovery = true }) < 0 || telem_sink_unix(path) < 0)
		die("telem_start");
	if (telem_report_malloc() < 0 || telem_report_process() < 0 || telem_report_telemetry() < 0)
		die("telem_report");

	screen = screen_start(program, address, "1", 40, 120);
	measure(&screen, idle);
	measure_large_heap(program, address);

	telem_class_level(&telem_class_busy, TELEM_ALL);
	__atomic_store_n(&keep_emitting, true, __ATOMIC_RELAXED);
	if (pthread_create(&emitting, NULL, emit, NULL) != 0)
		die("pthread_create");
	screen = screen_start(program, address, "0.1", 50, 200);
	measure(&screen, busy);
	__atomic_store_n(&keep_emitting, false, __ATOMIC_RELAXED);
	pthread_join(emitting, NULL);
	telem_stop();
	rmdir(directory);
	return 0;
}
