/* main.c -- telem-demo: its options, start and end, and main loop.
 *
 * This is a program with real work to watch: it indexes the words of real files, searches for them,
 * and evicts the oldest files. To learn how to instrument a program begin with work.c; this file
 * shows how telemetry is started and stopped. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "demo/burst.h"
#include "demo/keys.h"
#include "demo/slow.h"
#include "demo/work.h"
#include "emitter/telem.h"

enum { EXIT_USAGE = 2, STATUS_MS = 500 };

static const char help[] =
	"usage: telem-demo [OPTIONS] DIR_OR_FILE...\n"
	"       telem-demo --burst N [--wait] [--threads N] [--sink ADDRESS]\n"
	"Indexes the words of all files, searches for words, evicts the oldest files, and starts\n"
	"again, until it is interrupted. Watch it with telemtop.\n"
	"\n"
	"  --threads N      number of worker threads, 1 to 64 (default 2)\n"
	"  --rate N         index N files a second (default 50; 0: as fast as possible)\n"
	"  --heap BYTES     evict files above this much memory; may end in K, M, G (default 64M)\n"
	"  --persist        freeze the table of handlers, so that calling them is faster\n"
	"  --once           end after one pass over all files\n"
	"  --sink ADDRESS   send the stream to fifo:PATH, unix:PATH, tcp:HOST:PORT, file:PATH, ...\n"
	"  --burst N        only emit N events as fast as possible, and count how many arrive\n"
	"  --wait           with --burst: first wait up to 10 s for a reader\n"
	"  -h, --help       print this\n"
	"  -V, --version    print the version\n";

struct options {
	struct work_options work;
	const char *sink_address;
	uint64_t burst_count;
	bool burst, wait, persist;
};

/* ---- options ---- */

__attribute__((format(printf, 1, 2))) _Noreturn static void usage_error(const char *format, ...)
{
	va_list args;

	fputs("telem-demo: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("; see telem-demo --help\n", stderr);
	exit(EXIT_USAGE);
}

/* Returns optarg as a decimal number. It may end in one of suffixes; each of them means 1024 times
 * the one before it. */
static uint64_t number_option(const char *name, const char *suffixes, uint64_t min, uint64_t max)
{
	char *end = optarg;
	uint64_t number = 0;

	errno = 0;
	if (*optarg >= '0' && *optarg <= '9') /* strtoull() would also accept blanks and a sign */
		number = strtoull(optarg, &end, 10);
	if (end > optarg && *end && strchr(suffixes, *end)) {
		for (const char *at = suffixes; at <= strchr(suffixes, *end); at++)
			number = number > max / 1024 ? UINT64_MAX : number * 1024;
		end++;
	}
	if (end == optarg || *end || errno || number < min || number > max)
		usage_error("%s wants a number from %" PRIu64 " to %" PRIu64 ", not '%s'", name, min, max, optarg);
	return number;
}

static void print_and_exit(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void parse_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "threads", required_argument, NULL, 't' }, { "rate", required_argument, NULL, 'r' },
		{ "heap", required_argument, NULL, 'm' },    { "once", no_argument, NULL, 'o' },
		{ "sink", required_argument, NULL, 's' },    { "burst", required_argument, NULL, 'b' },
		{ "wait", no_argument, NULL, 'w' },          { "persist", no_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },          { "version", no_argument, NULL, 'V' },
		{ "h", no_argument, NULL, 'h' },             { "V", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	/* All options are long ones, so a wrong one is always argv[optind - 1]. */
	while ((option = getopt_long_only(argc, argv, ":", known, NULL)) != -1) {
		switch (option) {
		case 't':
			options->work.thread_count = (uint32_t)number_option("--threads", "", 1, WORK_THREADS_MAX);
			break;
		case 'r':
			options->work.rate_per_s = number_option("--rate", "", 0, 1000000);
			break;
		case 'm':
			options->work.heap_bytes = number_option("--heap", "KMG", 65536, SIZE_MAX / 2);
			break;
		case 'o':
			options->work.once = true;
			break;
		case 's':
			options->sink_address = optarg;
			break;
		case 'b':
			options->burst = true;
			options->burst_count = number_option("--burst", "", 0, INT64_MAX);
			break;
		case 'w':
			options->wait = true;
			break;
		case 'p':
			options->persist = true;
			break;
		case 'h':
			print_and_exit(help);
			break;
		case 'V':
			print_and_exit("telem-demo " TELEM_VERSION "\n");
			break;
		case ':':
			usage_error("%s wants a value", argv[optind - 1]);
		default:
			usage_error("%s is not an option, or not in this form", argv[optind - 1]);
		}
	}
	options->work.paths = argv + optind;
	if (options->wait && !options->burst)
		usage_error("--wait goes with --burst");
	if (!options->burst && optind == argc)
		usage_error("name files or folders to index, e.g. /usr/include");
}

/* ---- the work ---- */

static int say_no_files(void)
{
	fputs("telem-demo: no files found; name files or folders that have some, e.g. /usr/include\n", stderr);
	return EXIT_FAILURE;
}

/* Prints which paths do not exist and removes them from the list. Returns false when none is left. */
static bool check_paths(char **paths)
{
	char **kept = paths, **first = paths;
	struct stat info;

	for (; *paths; paths++) {
		if (stat(*paths, &info) == 0)
			*kept++ = *paths;
		else
			fprintf(stderr, "telem-demo: %s: %s\n", *paths, strerror(errno));
	}
	*kept = NULL;
	return kept > first;
}

/* The main loop reads these signals; all threads inherit the mask. */
static int open_signals(void)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		sigaddset(&set, taken[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void show_status(struct work *work, const struct keys *keys)
{
	char text[128];

	snprintf(text, sizeof text, "PID %d  %" PRIu64 " files  %u indexed  %.1f/%.1f MiB ", (int)getpid(),
		 (uint64_t)work->jobs_done, (unsigned)work->index.document_count,
		 (double)work->index.heap.live_bytes / 1048576, (double)work->options.heap_bytes / 1048576);
	keys_show_status(keys, text);
}

/* Runs until a signal, the quit key, the end of the terminal, or the end of the work. Returns true
 * after the end of the work. */
static bool watch(struct work *work, struct keys *keys, int signals_fd)
{
	bool has_terminal = keys_open_terminal();
	struct pollfd fds[] = {
		{ .fd = signals_fd, .events = POLLIN },
		{ .fd = work->over_fd, .events = POLLIN },
		{ .fd = has_terminal ? STDIN_FILENO : -1, .events = POLLIN },
	};

	do {
		if (has_terminal)
			show_status(work, keys);
		poll(fds, 3, has_terminal ? STATUS_MS : -1);
	} while (!fds[0].revents && !fds[1].revents && !(fds[2].revents & (POLLHUP | POLLERR)) && keys_read(keys));
	keys_close_terminal();
	return fds[1].revents != 0;
}

static int index_and_search(const struct work_options *options, struct keys *keys, int signals_fd)
{
	static struct work work;              /* too large for the stack */
	int err = work_start(&work, options);
	bool is_over, found_any;

	if (err) {
		fprintf(stderr, "telem-demo: cannot start the threads that work: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	is_over = watch(&work, keys, signals_fd);
	found_any = work.jobs_found > 0;
	work_stop(&work);
	return is_over && !found_any ? say_no_files() : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct options options = { .work = { .thread_count = 2, .rate_per_s = 50, .heap_bytes = 64 << 20 } };
	struct telem_options telemetry = { .size = sizeof telemetry, .name = "telem-demo" };
	struct keys keys;
	int signals_fd, status;

	parse_options(&options, argc, argv);
	if (!check_paths(options.work.paths) && !options.burst)
		return say_no_files();
	signals_fd = options.burst ? -1 : open_signals();
	/* The work does not need telemetry, so the program reports the problem and goes on. */
	if (telem_start(&telemetry))
		fprintf(stderr, "telem-demo: telemetry: %s\n", telem_error());
	if (keys_init(&keys, options.sink_address)) {
		fprintf(stderr, "telem-demo: telemetry: %s\n", telem_error());
		/* A burst needs a sink, because it counts what arrives. */
		if (options.burst)
			return EXIT_USAGE;
	}
	if (options.burst) {
		status = burst_run(options.burst_count, options.work.thread_count, options.wait);
	} else {
		slow_init(options.persist);
		/* These values are computed only while a viewer is connected. */
		if (telem_report_malloc() || telem_report_process())
			fputs("telem-demo: telemetry: some of the program's own figures will be missing\n", stderr);
		status = index_and_search(&options.work, &keys, signals_fd);
		slow_fini();
	}
	telem_stop();
	return status;
}
