/* bench_peers.c -- what other tools cost for an event with the same two fields: fprintf, a USDT
 * probe, LTTng-UST's tracepoint; and babeltrace2, which decodes what LTTng has written. A tool that
 * is not installed is reported as missing. msgpack-c is in bench_decode.c.
 *
 * LTTng gets a session and a directory of its own, and a session daemon if none runs; all of them
 * are removed at the end. LTTng traces a program from its start, so this program runs itself a
 * second time to be traced. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/harness.h"

struct peer { loop_fn *loop; uint64_t n; const char *missing; };

static FILE *nowhere;

/* The line includes a time, because a traced event has one too. */
#define PRINT(k) fprintf(nowhere, "%" PRIu64 " event " #k ": status=%d bytes=%" PRIu64 "\n", stamp(), 200, i);
LOOP(do_fprintf, EIGHT(PRINT))
static const struct peer by_fprintf = { .loop = do_fprintf, .n = 1000 };

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define PROBE(k) DTRACE_PROBE2(telem_bench, event_##k, 200, i);
LOOP(do_probe, EIGHT(PROBE))
static const struct peer by_usdt = { .loop = do_probe, .n = 250000 };
#else
static const struct peer by_usdt = { .missing = "built without systemtap-sdt-dev" };
#endif

#if __has_include(<lttng/tracepoint.h>)
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/peer_lttng.h"
#define TRACE(k) lttng_ust_tracepoint(telem_bench, event, 200, i);
#define IS_TRACED() lttng_ust_tracepoint_enabled(telem_bench, event)
LOOP(do_trace, EIGHT(TRACE))
static const struct peer by_lttng = { .loop = do_trace, .n = 250000 };
#else
#define IS_TRACED() false
static const struct peer by_lttng = { .missing = "built without liblttng-ust-dev" };
#endif

static bool run_peer(void *arg, double *value, double *base)
{
	const struct peer *peer = arg;
	double empty, full;

	if (!time_r(base) || !time_loop(loop_empty_eight, peer->n, &empty) || !time_loop(peer->loop, peer->n, &full))
		return false;
	*value = (full - empty) / 8;
	return true;
}

static void measure(struct figure *figure, const char *missing, run_fn *run, void *arg)
{
	if (missing)
		snprintf(figure->note, sizeof figure->note, "%s", missing);
	else
		figure_run(figure, run, arg);
	figure_print(figure);
}

static void measure_peer(const char *row, struct peer peer)
{
	measure(&(struct figure){ .row = row, .unit = "ns", .of = "R" }, peer.missing, run_peer, &peer);
}

/* ---- LTTng's session, made by shell commands ---- */

/* An interrupt ends the command and not this program, so that everything is cleaned up. */
static bool shell(const char *command) { return system(command) == 0; }

/* $LTTNG_HOME is the directory of this bench; its last part is also the name of the session. */
#define LTTNG "exec >/dev/null 2>&1; session=${LTTNG_HOME##*/}; lttng() { timeout 20 lttng --no-sessiond \"$@\"; }; "

static bool home_make(void)
{
	const char *directory = getenv("TMPDIR");
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/telem-bench.XXXXXX", directory ? directory : "/tmp");
	return mkdtemp(path) && setenv("LTTNG_HOME", path, 1) == 0 && chdir(path) == 0;
}

/* This daemon ends by itself when another one already serves this user. */
static pid_t daemon_start(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	pin(cpu_first());
	execl("/bin/sh", "sh", "-c", "exec timeout --foreground -k 5 120 lttng-sessiond --no-kernel >/dev/null 2>&1",
	      (char *)NULL);
	_exit(127);
}

static void daemon_end(pid_t pid)
{
	if (pid > 0 && kill(pid, SIGTERM) == 0)
		waitpid(pid, NULL, 0);
}

static bool session_start(void)
{
	uint64_t start = now_ns();

	/* The daemon needs a moment until it listens. */
	while (!shell(LTTNG "lttng create $session --output=\"$LTTNG_HOME/trace\"")) {
		if (now_ns() - start > 5000000000)
			return false;
		usleep(20000);
	}
	return shell(LTTNG "lttng enable-event --session=$session --userspace telem_bench:event && lttng start $session");
}

/* Runs this program again and traces it. Returns NULL, or the reason why there is no trace. */
static const char *trace(void)
{
	pid_t daemon = daemon_start();
	const char *why = NULL;

	if (!session_start())
		why = "LTTng started no session";
	else if (!shell("exec /proc/$PPID/exe traced"))
		why = "LTTng did not enable the event";
	shell(LTTNG "lttng destroy $session");
	daemon_end(daemon);
	return why;
}

/* ---- the traced program, and the reader of the trace ---- */

#define ROW_TRACED "peer: LTTng-UST, 2 fields, enabled"

/* Runs in the traced program. Between two pauses it writes far less than the buffers hold. */
static bool run_traced(void *arg, double *value, double *base)
{
	usleep(20000);
	return run_peer(arg, value, base);
}

static int measure_traced(void)
{
	struct figure figure = { .row = ROW_TRACED, .unit = "ns", .of = "R" };
	struct peer peer = { .loop = by_lttng.loop, .n = 1000 };

	if (!IS_TRACED())
		return 1;
	/* This touches every page of the buffers, and gives babeltrace2 something to read. */
	for (int i = 0; i < 60; i++) {
		usleep(10000);
		peer.loop(peer.n);
	}
	figure_run(&figure, run_traced, &peer);
	if (!shell(LTTNG "lttng stop $session && lttng list $session | grep -q 'Discarded events: 0$'")) {
		figure.count = 0;
		snprintf(figure.note, sizeof figure.note, "events were lost");
	}
	figure_print(&figure);
	return 0;
}

static uint64_t children_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* babeltrace2 decodes all events and prints only how many there are. */
static bool run_babeltrace(void *arg, double *value, double *base)
{
	uint64_t before = children_cpu_ns();
	bool is_done = shell("exec babeltrace2 trace --component=sink.utils.counter --params=step=+0 >counts 2>/dev/null");
	uint64_t took = children_cpu_ns() - before;
	unsigned long events = 0;
	FILE *counts = fopen("counts", "r");

	(void)arg;
	if (!counts)
		return false;
	is_done &= fscanf(counts, "%lu Event messages", &events) == 1 && events > 0;
	fclose(counts);
	*value = (double)events * 1000 / (double)took;
	*base = 0;
	return is_done;
}

int main(int argc, char **argv)
{
	const char *missing = by_lttng.missing;
	bool has_home = false;

	(void)argv;
	cpus_find();
	pin(cpu_last());
	if (argc > 1)
		return measure_traced();
	nowhere = fopen("/dev/null", "w");
	if (!nowhere) {
		perror("/dev/null");
		return 1;
	}
	measure_peer("peer: fprintf, 2 fields", by_fprintf);
	measure_peer("peer: USDT probe, 2 fields, disabled", by_usdt);
	measure_peer("peer: LTTng-UST, 2 fields, disabled", by_lttng);
	if (!missing && !shell("command -v lttng-sessiond >/dev/null"))
		missing = "lttng-tools is not installed";
	if (!missing && !(has_home = home_make()))
		missing = strerror(errno);
	if (!missing)
		missing = trace();
	if (missing)
		measure_peer(ROW_TRACED, (struct peer){ .missing = missing });
	if (!missing && !shell("command -v babeltrace2 >/dev/null"))
		missing = "babeltrace2 is not installed";
	measure(&(struct figure){ .row = "peer: babeltrace2, decoding those", .unit = "M events/s" }, missing,
		run_babeltrace, NULL);
	if (has_home)
		shell("rm -rf \"$LTTNG_HOME\"");
	return 0;
}
