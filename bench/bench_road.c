/* bench_road.c -- from the thread that emits to the monitor's model, all in one process: rings,
 * flusher, a Unix socket, blocks, decoder, model. It also measures the monitor's half alone, which
 * reads bytes that were encoded before from a FIFO. */
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/harness.h"
#include "bench/wire.h"
#include "emitter/telem.h"
#include "monitor/session/session.h"

TELEM_CLASS(road, "what travels", TELEM_OFF);

LOOP(do_mark, TELEM_MARK(road, "mark", i))

static void write_bytes(int fd, const uint8_t *bytes, size_t count)
{
	while (count > 0) {
		ssize_t done = write(fd, bytes, count < 1 << 16 ? count : 1 << 16);

		if (done <= 0)
			die("write");
		bytes += done;
		count -= (size_t)done;
	}
}

/* ---- the reading side ---- */

struct reader {
	pthread_t thread;
	int fd, cpu;
	bool discards;               /* bytes are read and not decoded: the cost of the kernel alone */
	struct session session;
	/* atomic */
	uint64_t events, cpu_ns;
};

static void *read_stream(void *arg)
{
	struct reader *reader = arg;

	pin(reader->cpu);
	for (;;) {
		size_t room;
		uint8_t *to = session_room(&reader->session, &room);
		ssize_t got = read(reader->fd, to, room);

		if (got <= 0)
			return NULL;
		if (!reader->discards)
			session_filled(&reader->session, (size_t)got, now_ns());
		__atomic_store_n(&reader->cpu_ns, thread_cpu_ns(), __ATOMIC_RELAXED);
		__atomic_store_n(&reader->events, model_link(reader->session.model)->events, __ATOMIC_RELEASE);
	}
}

static void reader_start(struct reader *reader, int fd, int cpu)
{
	reader->fd = fd;
	reader->cpu = cpu;
	if (session_init(&reader->session, "bench", LIMIT_LEFTOVER_BYTES) < 0 ||
	    pthread_create(&reader->thread, NULL, read_stream, reader) != 0)
		die("reader");
}

static void reader_end(struct reader *reader)
{
	pthread_join(reader->thread, NULL);
	close(reader->fd);
	session_fini(&reader->session);
}

static uint64_t reader_events(const struct reader *reader)
{
	return __atomic_load_n(&reader->events, __ATOMIC_ACQUIRE);
}

/* ---- through a socket ---- */

struct socket_figures { struct figure rate, flusher, reader, offered; double lost_most; };

/* Emits events as fast as the policy allows, and counts at the model how many arrive. */
static bool run_socket(struct reader *reader, struct socket_figures *figures, uint64_t n, bool counts)
{
	struct telem_statistics before, after;
	uint64_t start, emitted_ns, took, arrived, reader_cpu, events_before;
	double lost;

	telem_flush(2000000000);
	usleep(2000);
	telem_stats(&before);
	events_before = reader_events(reader);
	reader_cpu = __atomic_load_n(&reader->cpu_ns, __ATOMIC_RELAXED);
	start = now_ns();
	do_mark(n);
	emitted_ns = now_ns() - start;
	if (telem_flush(5000000000) < 0)
		return false;
	telem_stats(&after);
	/* Wait until everything that the kernel has taken has arrived. */
	while (reader_events(reader) - events_before < after.delivered - before.delivered && now_ns() - start < 5000000000)
		usleep(100);
	took = now_ns() - start;
	arrived = reader_events(reader) - events_before;
	if (after.emitted - before.emitted != n || arrived != after.delivered - before.delivered ||
	    arrived + after.dropped - before.dropped != n) {
		snprintf(figures->rate.note, sizeof figures->rate.note, "the books do not balance");
		return false;
	}
	lost = (double)(n - arrived) / (double)n;
	if (!counts)
		return true;
	figures->lost_most = fmax(figures->lost_most, lost);
	figure_add(&figures->rate, (double)arrived * 1000 / (double)took, 0);
	figure_add(&figures->offered, (double)emitted_ns / (double)n, 0);
	figure_add(&figures->flusher, (double)(after.flusher_cpu_ns - before.flusher_cpu_ns) / (double)arrived, 0);
	figure_add(&figures->reader, (double)(__atomic_load_n(&reader->cpu_ns, __ATOMIC_RELAXED) - reader_cpu) /
					     (double)arrived, 0);
	return true;
}

/* Writes as many bytes in pieces of the same size, from memory that was just written: the kernel's
 * share of the flusher's time. */
static bool run_write(void *arg, double *value, double *base)
{
	enum { PIECE = 7 * LIMIT_BLOCK_BYTES, HOT = 8 * PIECE };
	const struct stream_bytes *stream = arg;
	static struct reader reader;
	uint64_t start;
	int ends[2], bytes = 1 << 20;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		die("socketpair");
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	reader = (struct reader){ .discards = true };
	reader_start(&reader, ends[1], cpu_first());
	start = thread_cpu_ns();
	for (size_t at = 0; at < stream->count; at += PIECE)
		write_bytes(ends[0], stream->bytes + at % HOT, stream->count - at < PIECE ? stream->count - at : PIECE);
	*value = (double)(thread_cpu_ns() - start) / (double)stream->events;
	*base = 0;
	close(ends[0]);
	reader_end(&reader);
	return true;
}

static void measure_write(void)
{
	struct figure figure = { .row = "  limit: such bytes written and no more, CPU an event", .unit = "ns" };
	struct stream_bytes stream = wire_stream(WIDTH_NARROW, 1000000);

	pin(cpu_first());
	figure_run(&figure, run_write, &stream);
	free(stream.bytes);
	figure_print(&figure);
}

static void measure_socket(void)
{
	struct socket_figures figures = {
		.rate = { .row = "marks to the model, Unix socket, arrived", .unit = "M events/s" },
		.offered = { .row = "  the emitting thread, waiting included", .unit = "ns" },
		.flusher = { .row = "  flusher, CPU an event", .unit = "ns", .value_at_most = 8 },
		.reader = { .row = "  reader and model, CPU an event", .unit = "ns" },
	};
	static struct reader reader;
	int ends[2], bytes = 1 << 20;

	pin(cpu_first());
	if (telem_start(&(struct telem_options){ .size = sizeof(struct telem_options), .ignore_environment = true,
						 .no_discovery = true }) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		die("telem_start");
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	telem_set_policy(TELEM_BLOCK, 2000000000);
	telem_set_flush_interval(5000000);
	reader_start(&reader, ends[1], cpu_first());
	if (telem_sink_fd(ends[0]) < 0)
		die("telem_sink_fd");
	pin(cpu_last());
	telem_class_level(&telem_class_road, TELEM_ALL);
	do_mark(100000);
	for (int tries = 0; tries < RUNS + 4 && figures.rate.count < RUNS; tries++)
		run_socket(&reader, &figures, 1000000, tries > 0);
	telem_class_level(&telem_class_road, TELEM_OFF);
	telem_stop();
	reader_end(&reader);
	if (figures.rate.count >= RUNS_MIN)
		figures.rate.note[0] = '\0';
	if (figures.lost_most > 0)
		snprintf(figures.rate.note, sizeof figures.rate.note, "up to %.1f %% lost", figures.lost_most * 100);
	figure_print(&figures.rate);
	figure_print(&figures.offered);
	figure_print(&figures.flusher);
	figure_print(&figures.reader);
}

/* ---- through a FIFO, encoded before ---- */

struct writer { const struct stream_bytes *stream; const char *path; int times; };

static void *write_stream(void *arg)
{
	const struct writer *writer = arg;
	const struct stream_bytes *stream = writer->stream;
	int fd;

	pin(cpu_first());
	fd = open(writer->path, O_WRONLY);
	if (fd < 0)
		die(writer->path);
	fcntl(fd, F_SETPIPE_SZ, 1 << 20);
	/* Write the greeting once, and then the same events several times. */
	write_bytes(fd, stream->bytes, stream->first_count);
	for (int i = 0; i < writer->times; i++)
		write_bytes(fd, stream->bytes + stream->first_count, stream->count - stream->first_count);
	close(fd);
	return NULL;
}

static void measure_fifo(const char *name, enum width width, bool discards)
{
	char path[PATH_MAX], rows[2][64];
	struct stream_bytes stream = wire_stream(width, 1000000);
	struct writer writer = { &stream, path, 4 };
	/* The rate of one core, from its CPU time: other programs on the machine do not change it. */
	struct figure rate = { .row = rows[0], .unit = "M events/s", .value_at_least = discards ? 0 : 100 },
		      wall = { .row = rows[1], .unit = "M events/s" };
	const char *directory = getenv("TMPDIR");

	snprintf(rows[0], sizeof rows[0], discards ? "  limit: %s read and thrown away"
						   : "FIFO to the model, %s, one core", name);
	snprintf(rows[1], sizeof rows[1], "  by the clock on the wall");
	snprintf(path, sizeof path, "%s/bench.%d.fifo", directory ? directory : "/tmp", (int)getpid());
	if (mkfifo(path, 0600) < 0)
		die(path);
	for (int run = -1; run < RUNS - 4; run++) {
		static struct reader reader;
		uint64_t start, took, expected = stream.events * (uint64_t)writer.times;
		pthread_t thread;
		int fd;

		if (pthread_create(&thread, NULL, write_stream, &writer) != 0)
			die("writer");
		fd = open(path, O_RDONLY);
		if (fd < 0)
			die(path);
		reader = (struct reader){ .discards = discards };
		start = now_ns();
		reader_start(&reader, fd, cpu_last());
		pthread_join(reader.thread, NULL);
		took = now_ns() - start;
		pthread_join(thread, NULL);
		if (!discards && (reader_events(&reader) != expected || model_link(reader.session.model)->lost_blocks > 0))
			snprintf(rate.note, sizeof rate.note, "not all arrived");
		else if (run >= 0) {
			figure_add(&rate, (double)expected * 1000 / (double)reader.cpu_ns, 0);
			figure_add(&wall, (double)expected * 1000 / (double)took, 0);
		}
		close(fd);
		session_fini(&reader.session);
	}
	unlink(path);
	free(stream.bytes);
	figure_print(&rate);
	if (!discards)
		figure_print(&wall);
}

int main(void)
{
	cpus_find();
	measure_socket();
	measure_write();
	measure_fifo("13-byte events", WIDTH_NARROW, false);
	measure_fifo("13-byte events", WIDTH_NARROW, true);
	measure_fifo("17-byte events", WIDTH_WIDE, false);
	measure_fifo("17-byte events", WIDTH_WIDE, true);
	return 0;
}
