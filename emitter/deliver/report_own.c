#include "emitter/deliver/report_own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "emitter/core/api.h"
#include "emitter/core/procfs.h"
#include "emitter/deliver/reporter.h"

/* ---- malloc() ---- */

/* What the program's reporters account for; only the flusher uses it. */
static int64_t claimed_bytes;

enum { ALLOCATED, FREE, MAPPED, HELD, UNCLASSIFIED, MALLOC_PATH_COUNT };
static const char *const malloc_paths[MALLOC_PATH_COUNT] = {
	"malloc/allocated", "malloc/free", "malloc/mapped", "malloc/held", "heap/unclassified",
};

/* mallinfo2() walks all free lists and holds up malloc() meanwhile. So it is called once for all values, and not at all
 * while nobody wants one. */
static void say_malloc(void *arg)
{
	int64_t values[MALLOC_PATH_COUNT];
	struct mallinfo2 info;
	bool is_wanted = false;

	(void)arg;
	for (int i = 0; i < MALLOC_PATH_COUNT; i++)
		is_wanted |= reporter_is_wanted(malloc_paths[i]);
	if (!is_wanted)
		return;
	info = mallinfo2();
	values[ALLOCATED] = (int64_t)(info.uordblks + info.hblkhd);
	values[FREE] = (int64_t)info.fordblks;
	values[MAPPED] = (int64_t)info.hblkhd;
	values[HELD] = (int64_t)(info.arena + info.hblkhd);
	/* A negative value says that reporters account for more bytes than malloc() has given out. */
	values[UNCLASSIFIED] = values[ALLOCATED] - claimed_bytes;
	for (int i = 0; i < MALLOC_PATH_COUNT; i++)
		if (reporter_is_wanted(malloc_paths[i]))
			reporter_say(NULL, malloc_paths[i], TELEM_BYTES, values[i]);
}

int telem_report_malloc(void)
{
	static bool was_called;              /* atomic */
	int result = telem_provider("malloc", say_malloc, NULL);

	/* The provider may have been added already for heap/unclassified alone. */
	if ((result < 0 && result != -EEXIST) || (__atomic_exchange_n(&was_called, true, __ATOMIC_RELAXED) && result < 0))
		return result;
	for (int i = 0; i < UNCLASSIFIED; i++)
		reporter_offer(malloc_paths[i], TELEM_BYTES);
	return 0;
}

void report_heap_claimed(int64_t bytes)
{
	static bool was_called;

	claimed_bytes = bytes;
	if (was_called)
		return;
	was_called = true;
	telem_provider("malloc", say_malloc, NULL);
	reporter_offer(malloc_paths[UNCLASSIFIED], TELEM_BYTES);
}

/* ---- the process ---- */

/* Reads the value of a line "Key:  123 kB" in a file of /proc/self. */
static int proc_bytes(const char *path, const char *key, int64_t *value)
{
	char text[4096];
	const char *line = proc_read(path, text, sizeof text) ? strstr(text, key) : NULL;

	if (!line)
		return -1;
	*value = strtoll(line + strlen(key), NULL, 10) * 1024;
	return 0;
}

static int report_pss(void *arg, int64_t *value)
{
	(void)arg;
	return proc_bytes("/proc/self/smaps_rollup", "\nPss:", value);
}

static int report_rss(void *arg, int64_t *value)
{
	char text[128];
	long long pages;

	(void)arg;
	if (!proc_read("/proc/self/statm", text, sizeof text) || sscanf(text, "%*d %lld", &pages) != 1)
		return -1;
	*value = pages * sysconf(_SC_PAGESIZE);
	return 0;
}

static int report_status(void *key, int64_t *value)
{
	return proc_bytes("/proc/self/status", key, value);
}

static int report_fds(void *arg, int64_t *value)
{
	DIR *dir = opendir("/proc/self/fd");

	(void)arg;
	if (!dir)
		return -1;
	for (*value = -3; readdir(dir); ++*value)       /* without ., .. and the descriptor of the directory itself */
		;
	closedir(dir);
	return 0;
}

static int report_usage(void *arg, int64_t *value)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return -1;
	switch ((uintptr_t)arg) {
	case 0: *value = usage.ru_majflt; break;
	case 1: *value = usage.ru_minflt; break;
	case 2: *value = usage.ru_nvcsw; break;
	default: *value = usage.ru_nivcsw; break;
	}
	return 0;
}

/* ---- processor time by thread ---- */

enum { THREADS_A_ROUND = 256, THREAD_NAMES = 64 };

struct spent { char name[16]; uint64_t ns; };

static void name_of(const char *tid, char name[16])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", tid);
	if (proc_read(path, name, 16))
		name[strcspn(name, "\n")] = '\0';
}

/* Threads of the same name are one figure. Threads beyond the limits of threads and names are the figure "(others)". */
static void say_threads(void *arg)
{
	static struct spent spent[THREAD_NAMES + 1];
	static uint32_t names = 1;
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	uint32_t threads = 0;
	char path[LIMIT_NAME_BYTES];

	(void)arg;
	strcpy(spent[0].name, "(others)");
	for (uint32_t i = 0; i < names; i++)
		spent[i].ns = 0;
	while (dir && (entry = readdir(dir))) {
		int tid = atoi(entry->d_name);
		struct timespec time;
		uint32_t at;
		char name[16] = "";

		/* This is how the kernel numbers the clock of a thread. */
		if (tid <= 0 || clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &time) < 0)
			continue;
		if (threads++ < THREADS_A_ROUND)
			name_of(entry->d_name, name);
		for (at = names; at-- > 1 && strcmp(spent[at].name, name);)
			;
		if (at == 0 && name[0] && names <= THREAD_NAMES) {
			at = names++;
			strcpy(spent[at].name, name);
		}
		spent[at].ns += (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	}
	if (dir)
		closedir(dir);
	for (uint32_t i = spent[0].ns ? 0 : 1; i < names; i++) {
		snprintf(path, sizeof path, "process/cpu of %.15s", spent[i].name);
		reporter_say(NULL, path, TELEM_NS, (int64_t)spent[i].ns);
	}
}

int telem_report_process(void)
{
	static const struct { char path[32]; enum telem_unit unit; telem_reporter_fn *function; void *arg; } rows[] = {
		{ "process/rss", TELEM_BYTES, report_rss, NULL },
		{ "process/pss", TELEM_BYTES, report_pss, NULL },
		{ "process/swap", TELEM_BYTES, report_status, "\nVmSwap:" },
		{ "process/open files", TELEM_NONE, report_fds, NULL },
		{ "process/faults that read", TELEM_NONE, report_usage, (void *)0 },
		{ "process/faults", TELEM_NONE, report_usage, (void *)1 },
		{ "process/switches, waiting", TELEM_NONE, report_usage, (void *)2 },
		{ "process/switches, preempted", TELEM_NONE, report_usage, (void *)3 },
	};
	int result = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && result == 0; i++)
		result = telem_reporter(rows[i].path, TELEM_REPORT_OTHER, rows[i].unit, rows[i].function, rows[i].arg);
	/* The kernel walks all pages for this one and holds up mmap() meanwhile. */
	if (result == 0)
		telem_level_set("report.process/pss", TELEM_OFF);
	return result == 0 ? telem_provider("process/cpu", say_threads, NULL) : result;
}

/* ---- telemetry itself ---- */

static void say_costs(void *arg)
{
	static struct telem_class_statistics classes[LIMIT_CLASSES];
	uint32_t count = telem_class_stats(classes, LIMIT_CLASSES);
	struct telem_statistics all;
	char path[LIMIT_NAME_BYTES];

	(void)arg;
	telem_stats(&all);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(path, sizeof path, "cost of %.100s", classes[i].name);
		reporter_say(&telem_class_telem, path, TELEM_NS, (int64_t)classes[i].cost_ns);
	}
	reporter_say(&telem_class_telem, "cost of the flusher", TELEM_NS, (int64_t)all.flusher_cpu_ns);
	reporter_say(&telem_class_telem, "bytes sent", TELEM_BYTES, (int64_t)all.bytes_sent);
	reporter_say(&telem_class_telem, "events dropped", TELEM_NONE, (int64_t)all.dropped);
	reporter_say(&telem_class_telem, "memory held", TELEM_BYTES, (int64_t)all.memory_bytes);
}

int telem_report_telemetry(void)
{
	int result = telem_provider("telemetry", say_costs, NULL);

	return result == -EEXIST ? 0 : result;
}
