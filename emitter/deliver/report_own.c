#include "emitter/deliver/report_own.h"

#include <dirent.h>
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

/* Whether these are wanted, whose paths are known only when they are asked; atomic. */
static bool wants_threads, wants_costs;

/* mallinfo2() walks all free lists, so it is called once a round and its result is used for all values. */
static uint64_t round_now;

static const struct mallinfo2 *malloc_info_now(void)
{
	static struct mallinfo2 info;
	static uint64_t round_of_info;

	if (round_of_info != round_now)
		info = mallinfo2();
	round_of_info = round_now;
	return &info;
}

int64_t report_malloc_allocated(void)
{
	const struct mallinfo2 *info = malloc_info_now();

	return (int64_t)(info->uordblks + info->hblkhd);
}

static int report_malloc(void *arg, int64_t *value)
{
	const struct mallinfo2 *info = malloc_info_now();

	switch ((uintptr_t)arg) {
	case 0: *value = report_malloc_allocated(); break;
	case 1: *value = (int64_t)info->fordblks; break;
	case 2: *value = (int64_t)info->hblkhd; break;
	default: *value = (int64_t)(info->arena + info->hblkhd); break;
	}
	return 0;
}

int telem_report_malloc(void)
{
	static const char *const paths[] = { "malloc/allocated", "malloc/free", "malloc/mapped", "malloc/held" };
	int result = 0;

	for (uintptr_t i = 0; i < sizeof paths / sizeof *paths && result == 0; i++)
		result = telem_reporter(paths[i], TELEM_REPORT_OTHER, TELEM_BYTES, report_malloc, (void *)i);
	return result;
}

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

int telem_report_process(void)
{
	static const struct { char path[32]; enum telem_unit unit; telem_reporter_fn *function; void *arg; } rows[] = {
		{ "process/rss", TELEM_BYTES, report_status, "\nVmRSS:" },
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
	if (result == 0)
		__atomic_store_n(&wants_threads, true, __ATOMIC_RELAXED);
	return result;
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
static void say_threads(void)
{
	static struct spent spent[THREAD_NAMES + 1];
	static uint32_t names = 1;
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	uint32_t threads = 0;
	char path[LIMIT_NAME_BYTES];

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

/* ---- telemetry itself ---- */

int telem_report_telemetry(void)
{
	__atomic_store_n(&wants_costs, true, __ATOMIC_RELAXED);
	return 0;
}

static void say_costs(void)
{
	static struct telem_class_statistics classes[LIMIT_CLASSES];
	uint32_t count = telem_class_stats(classes, LIMIT_CLASSES);
	struct telem_statistics all;
	char path[LIMIT_NAME_BYTES];

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

void report_own(void)
{
	round_now++;
	if (__atomic_load_n(&wants_threads, __ATOMIC_RELAXED))
		say_threads();
	if (__atomic_load_n(&wants_costs, __ATOMIC_RELAXED))
		say_costs();
}
