#include "monitor/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "monitor/source/discovery.h"

/* Reads in a row before the loop goes on to keys and timers. */
#define READS_A_TURN 16

const struct source_kind *const source_kinds[] = {
#define SOURCE(name) &source_##name,
#include "monitor/source/sources.def"
#undef SOURCE
	NULL
};

void source_set(struct source *source, enum source_state state)
{
	source->state = state;
	source->user.changed(source->user.arg, state);
}

static void drop_events(struct source *source)
{
	if (source->readable)
		event_free(source->readable);
	if (source->pending)
		event_free(source->pending);
	source->readable = source->pending = NULL;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void source_timer(struct source *source, int ms)
{
	struct timeval after = { ms / 1000, (ms % 1000) * 1000 };

	evtimer_add(source->timer, &after);
}

void source_lost(struct source *source, bool for_ever)
{
	static const int pauses_ms[] = { 100, 200, 500, 1000, 2000 };
	unsigned last = sizeof pauses_ms / sizeof *pauses_ms - 1;

	drop_events(source);
	close_fd(&source->fd);
	close_fd(&source->control_fd);
	if (for_ever || !source->reconnects) {
		evtimer_del(source->timer);
		source_set(source, SOURCE_ENDED);
		return;
	}
	source_timer(source, pauses_ms[source->tries < last ? source->tries : last]);
	source->tries++;
	source_set(source, source->was_open ? SOURCE_LOST : SOURCE_CONNECTING);
}

/* Reads until no more bytes are there, the stream ends, or READS_A_TURN is reached. */
static void on_readable(evutil_socket_t event_fd, short what, void *arg)
{
	struct source *source = arg;
	int fd = source->fd;

	(void)event_fd, (void)what;
	for (int i = 0; i < READS_A_TURN; i++) {
		size_t room;
		uint8_t *bytes = source->user.room(source->user.arg, &room);
		ssize_t count = read(fd, bytes, room);

		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (count <= 0) {
			/* A process that accepts a connection and ends it without a greeting has no libtelem: there is
			 * no use in connecting again. */
			bool is_gone = source->kind->ends || source->said_goodbye ||
				       (!source->kind->waits && !source->has_greeted) ||
				       (source->address.pid && !process_exists(source->address.pid));

			source_lost(source, is_gone);
			return;
		}
		source->user.filled(source->user.arg, (size_t)count);
		/* filled() may have closed the source. A read that does not fill the room has read all that is
		 * there. */
		if (source->fd != fd || (size_t)count < room)
			return;
	}
}

void source_opened(struct source *source, int fd)
{
	struct stat st;

	drop_events(source);
	source->fd = fd;
	source->tries = 0;
	source->was_open = true;
	evtimer_del(source->timer);
	/* A file or /dev/null as standard input can always be read, but epoll refuses it. A timer reads it instead. */
	if (fstat(fd, &st) == 0 && !S_ISSOCK(st.st_mode) && !S_ISFIFO(st.st_mode) && !isatty(fd)) {
		source->readable = event_new(source->base, -1, EV_PERSIST, on_readable, source);
		event_add(source->readable, &(struct timeval){ 0, 1 });
	} else {
		source->readable = event_new(source->base, fd, EV_READ | EV_PERSIST, on_readable, source);
		event_add(source->readable, NULL);
	}
	source_set(source, SOURCE_OPEN);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct source *source = arg;

	(void)fd, (void)what;
	if (source->kind->again(source) != EXIT_DONE)
		source_lost(source, source->address.pid && !process_exists(source->address.pid));
}

void source_retry(struct source *source)
{
	if (source->state == SOURCE_LOST || source->state == SOURCE_CONNECTING)
		source_timer(source, 0);
}

int source_open(struct source *source, struct event_base *base, const struct address *address, bool reconnects,
		int timeout_s, const struct source_user *user, struct problem *problem)
{
	*source = (struct source){ .kind = address->kind, .address = *address, .base = base, .fd = -1, .listen_fd = -1,
				   .control_fd = -1, .lock_fd = -1, .reconnects = reconnects,
				   .timeout_s = timeout_s };
	if (user)
		source->user = *user;
	if (!source_can_seek(source)) {
		source->timer = evtimer_new(base, on_timer, source);
		if (!source->timer)
			return problem_set(problem, EXIT_INTERNAL, "out of memory");
	}
	if (source->kind->open(source) != EXIT_DONE) {
		*problem = source->problem;
		source_close(source);
		return problem->code;
	}
	return EXIT_DONE;
}

void source_close(struct source *source)
{
	if (!source->kind)
		return;
	drop_events(source);
	if (source->kind->close)
		source->kind->close(source);
	close_fd(&source->fd);
	close_fd(&source->listen_fd);
	close_fd(&source->control_fd);
	close_fd(&source->lock_fd);
	if (source->timer)
		event_free(source->timer);
	source->timer = NULL;
	source->kind = NULL;
	source->state = SOURCE_ENDED;
}

bool source_can_seek(const struct source *source)
{
	return source->kind->read_at != NULL;
}

int64_t source_read_at(struct source *source, uint64_t offset, void *bytes, size_t room)
{
	return source->kind->read_at(source, offset, bytes, room);
}

bool source_has_control(struct source *source)
{
	return source->state == SOURCE_OPEN && source->kind->control && source->kind->control(source) >= 0;
}

int source_send(struct source *source, const void *bytes, size_t count)
{
	int fd;
	ssize_t sent;

	if (!source_has_control(source))
		return -ENOTCONN;
	fd = source->kind->control(source);
	sent = write(fd, bytes, count);              /* SIGPIPE is ignored in this process */
	if (sent == (ssize_t)count)
		return 0;
	if (sent < 0)
		return -errno;
	/* Only a part of the request was written, and the target would take the next one for the rest of it. */
	source_lost(source, false);
	return -EIO;
}
