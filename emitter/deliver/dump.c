/* dump.c -- the flight recorder's landing: what the rings still hold, as a recording.
 *
 * It is copied beside the producers and the stream, and taken from neither. The flusher
 * writes it; who wants one leaves a request, of which there is one at a time, so that a
 * handler of a fatal signal can, too. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emitter/deliver/drain.h"
#include "emitter/core/emitter.h"
#include "emitter/deliver/greet.h"
#include "emitter/record/ring.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/snapshot.h"

/* ---- writing ---- */

#define REASON_SITE() OWN_SITE(log, TELEM_KIND_LOG_, TELEM_NONE, TELEM_WARN, "dump: %s")

struct dump {
	struct sink *sink;
	struct writer writer;
	uint32_t class_count, site_count;    /* that it knows */
	uint64_t count, by_class[LIMIT_CLASSES];
};

static int create(char path[LIMIT_PATH_BYTES])
{
	char name[LIMIT_NAME_BYTES];
	int fd = -1;

	snprintf(name, sizeof name, "%s", emitter.name);
	for (char *slash = name; (slash = strchr(slash, '/'));)
		*slash = '_';

	for (int i = 1; fd < 0 && i < 10000; i++) {
		if (snprintf(path, LIMIT_PATH_BYTES, "%s/%s.%d.%d.telem", emitter.dump_directory, name, (int)getpid(), i) >=
		    LIMIT_PATH_BYTES)
			return -ENAMETOOLONG;
		/* Never over what is there. */
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

/* To the file, without the lock; and what the flusher does else, goes on. */
static void let_go(struct dump *dump, uint64_t now_ns)
{
	emitter_unlock();
	sink_write(dump->sink, now_ns);
	flusher_meanwhile();
	emitter_lock();
}

static void count(struct dump *dump, uint32_t site)
{
	dump->count++;
	dump->by_class[emitter.sites[site].class_id]++;
}

/* Also one that has come since the greeting, or has ended meanwhile. */
static struct task *task_in_dump(struct dump *dump, int id, uint64_t now_ns)
{
	struct task *task = task_of(id);

	if (!task->in_dump)
		tell_task(&dump->writer, task, false, now_ns);
	task->in_dump = true;
	return task;
}

static void write_segment(struct dump *dump, const uint8_t *segment, uint32_t bytes, uint64_t now_ns)
{
	uint64_t now_ticks = clock_ticks();
	struct task *task = NULL;

	tell_later(&dump->writer, &dump->class_count, &dump->site_count, now_ns);
	for (uint32_t at = 0; at < bytes;) {
		uint64_t words[2];
		uint32_t site;

		memcpy(words, segment + at, sizeof words);
		site = words[0] & (RING_PAYLOAD - 1);
		if (site == 0 && (words[1] & 0xff) == RING_END)
			break;
		if (site == 0 && (words[1] & 0xff) == RING_TASK)
			task = task_in_dump(dump, (int)(words[1] >> 8), now_ns);
		else if (site != 0 && task &&
			 write_event(&dump->writer, task, task->dumped_count, segment + at, now_ticks, now_ns)) {
			task->dumped_count++;
			count(dump, site);
		}
		at += ring_record_slots(words[0], words[1]) * RING_SLOT_BYTES;
	}
}

static void write_rings(struct dump *dump, uint64_t now_ns)
{
	for (struct thread *thread = emitter.threads; thread; thread = thread->next) {
		const struct ring *ring = thread->ring;
		size_t room = ring ? ring_segment_bytes(ring) : 0;
		uint8_t *segment = room ? emitter_map(room) : NULL;
		/* What comes from now on is not waited for. */
		uint64_t position = 0, end = ring ? __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) : 0;
		uint32_t bytes;

		while (segment && position < end && (bytes = ring_copy(ring, &position, segment)) > 0) {
			write_segment(dump, segment, bytes, now_ns);
			let_go(dump, now_ns);
		}
		emitter_unmap(segment, room);
	}
}

/* As a line of the log, of some thread: a line must have one. */
static void write_reason(struct dump *dump, uint32_t site, const char *reason, uint64_t now_ns)
{
	struct message log = { .kind = KIND_LOG };
	const struct task *task = emitter.tasks;

	while (task && task->thread_id == 0)
		task = task->next;
	if (!task || !site)
		return;
	task = task_in_dump(dump, task->id, now_ns);
	log.log = (struct message_log){ (uint64_t)task->id, site, now_ns, TELEM_WARN, text_of(reason), 0, 0 };
	writer_message(&dump->writer, &log, now_ns);
	count(dump, site);
}

/* The books of a reader that heard of these events and of no other. */
static void write_end(struct dump *dump, uint64_t now_ns)
{
	struct number rows[LIMIT_CLASSES * 4];
	struct book all[LIMIT_CLASSES];
	struct message books = { .kind = KIND_BOOKS, .books = { 0, TASK_ALL, { rows, 0 } } };
	struct message bye = { .kind = KIND_BYE,
			       .bye = { now_ns, stream.taken + dump->count, stream.taken, dump->count, 0 } };
	uint8_t end[RECORDING_END_BYTES];

	snapshot_books(all);
	for (uint32_t i = 0; i < emitter.class_count; i++) {
		rows[books.books.rows.count++] = number_of(i);
		rows[books.books.rows.count++] = number_of(all[i].emitted + dump->by_class[i]);
		rows[books.books.rows.count++] = number_of(all[i].dropped);
		rows[books.books.rows.count++] = number_of(all[i].taken + dump->by_class[i]);
	}
	writer_message(&dump->writer, &books, now_ns);
	writer_message(&dump->writer, &bye, now_ns);
	writer_seal(&dump->writer);
	let_go(dump, now_ns);
	recording_end(&dump->sink->recording, end, stream.marker, stream.number);
	if (!dump->sink->is_lost && write(dump->sink->fd, end, sizeof end) != (ssize_t)sizeof end)
		dump->sink->is_lost = true;
}

int dump_write(const char *reason, char path[LIMIT_PATH_BYTES], uint64_t now_ns)
{
	struct telem_site *site = REASON_SITE();
	struct dump dump = { .count = 0 };
	int fd = create(path), result = 0;

	if (fd < 0)
		return fd;
	emitter_lock();
	dump.sink = sink_new(-1);
	if (dump.sink) {
		dump.writer.sink = dump.sink;
		dump.sink->fd = fd;
		dump.sink->is_regular = dump.sink->is_new = true;
		greet(dump.sink, 0, now_ns);
		dump.class_count = emitter.class_count;
		dump.site_count = emitter.site_count;
		for (struct task *task = emitter.tasks; task; task = task->next) {
			task->in_dump = is_worth_telling(task);
			task->dumped_count = 0;
		}
		let_go(&dump, now_ns);
		write_rings(&dump, now_ns);
		write_reason(&dump, site->id, reason, now_ns);
		write_end(&dump, now_ns);
		/* A full disk: what is there ends with a whole block, and without END. */
		result = dump.sink->is_lost || dump.sink->fd != fd ? -ENOSPC : 0;
		sink_free(dump.sink);
		blocks_trim();
	} else {
		close(fd);
		unlink(path);
		result = -EBUSY;         /* all sinks are taken */
	}
	emitter_unlock();
	return result;
}

/* ---- asking for one ---- */

enum { IDLE, FILLED_IN, WANTED, BEING_WRITTEN, DONE, TAKEN };      /* TAKEN: by who waited for it */
#define WAIT_NS 5000000000u
#define SOON_NS 60000000000u

static struct {
	uint32_t state;              /* atomic */
	bool is_waited_for;          /* else nobody takes the result; atomic */
	int result;
	char reason[LIMIT_NAME_BYTES], path[LIMIT_PATH_BYTES];
} request;

static bool go(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&request.state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* No call that a signal handler may not make. */
static bool ask(const char *reason, bool waits)
{
	size_t length = strnlen(reason, sizeof request.reason - 1);

	if (!emitter_runs() || !go(IDLE, FILLED_IN))
		return false;
	memcpy(request.reason, reason, length);
	request.reason[length] = '\0';
	__atomic_store_n(&request.is_waited_for, waits, __ATOMIC_RELAXED);
	__atomic_store_n(&request.state, WANTED, __ATOMIC_RELEASE);
	flusher_wake();
	return true;
}

static void rest(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 1000000 }, NULL);
}

/* Asks when nobody else does, and waits. True: it is written, and the request is ours until
 * it is set back to IDLE. For signal handlers, too. */
static bool ask_and_wait(const char *reason)
{
	uint64_t end = clock_ns() + WAIT_NS;

	while (!ask(reason, true)) {
		if (!emitter_runs() || clock_ns() >= end)
			return false;
		rest();
	}
	while (!go(DONE, TAKEN)) {
		if (clock_ns() >= end || !emitter_runs()) {
			if (go(WANTED, IDLE))
				return false;
			/* It is being written: nobody waits for it any more, unless it is done by now. */
			__atomic_store_n(&request.is_waited_for, false, __ATOMIC_SEQ_CST);
			return go(DONE, TAKEN);
		}
		rest();
	}
	return true;
}

void dump_wanted(uint64_t now_ns)
{
	if (!go(WANTED, BEING_WRITTEN))
		return;
	request.result = dump_write(request.reason, request.path, now_ns);
	if (request.result < 0) {
		emitter_lock();
		emitter_error("dump %s: %s", request.path, strerror(-request.result));
		emitter_unlock();
	}
	__atomic_store_n(&request.state, DONE, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&request.is_waited_for, __ATOMIC_SEQ_CST))
		go(DONE, IDLE);
}

void dump_soon(const char *reason)
{
	static uint64_t latest_ns;
	uint64_t now_ns = clock_ns(), before = __atomic_load_n(&latest_ns, __ATOMIC_RELAXED);

	if ((before == 0 || now_ns - before >= SOON_NS) && ask(reason, false))
		__atomic_store_n(&latest_ns, now_ns, __ATOMIC_RELAXED);
}

int telem_dump(const char *reason, char *path, size_t room)
{
	int saved = errno, result = -ETIMEDOUT, cancel;

	emitter_restart_in_child();
	if (!emitter_runs())
		return -ENOTCONN;
	if (flusher_is_self() || thread_is_inside)
		return -EDEADLK;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (ask_and_wait(reason ? reason : "")) {
		result = request.result;
		if (path && room > 0)
			snprintf(path, room, "%s", result < 0 ? "" : request.path);
		__atomic_store_n(&request.state, IDLE, __ATOMIC_RELEASE);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return result;
}

int dump_directory(const char *directory)
{
	if (!directory || strlen(directory) >= sizeof emitter.dump_directory)
		return -EINVAL;
	strcpy(emitter.dump_directory, directory);
	return 0;
}

int telem_dump_directory(const char *directory)
{
	int result;

	emitter_lock();
	result = dump_directory(directory);
	emitter_unlock();
	return result;
}

void dump_forget(void)
{
	request.state = IDLE;
}

/* ---- fatal signals ---- */

static struct sigaction former[NSIG];

static void on_fatal(int number, siginfo_t *info, void *context)
{
	char reason[] = "signal 000";
	int saved = errno;
	bool comes_again = info->si_code > 0 &&
			   (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);

	(void)context;
	/* Its thread may be the one that would have to write, or hold what that needs; a child
	 * has nobody to. */
	if (!flusher_is_self() && !thread_is_inside && !emitter.in_child && !emitter_is_orphan()) {
		reason[7] = (char)('0' + number / 100);
		reason[8] = (char)('0' + number / 10 % 10);
		reason[9] = (char)('0' + number % 10);
		if (ask_and_wait(reason))
			__atomic_store_n(&request.state, IDLE, __ATOMIC_RELEASE);
	}
	/* And then what would have come. A fault comes by itself when its instruction is tried again. */
	sigaction(number, &former[number], NULL);
	if (!comes_again)
		raise(number);
	errno = saved;
}

int telem_dump_on_signal(int number)
{
	struct sigaction action = { .sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK }, before;
	int saved = errno, result = 0;

	if (number <= 0 || number >= NSIG || number == SIGKILL || number == SIGSTOP)
		return -EINVAL;
	REASON_SITE();
	emitter_lock();
	if (sigaction(number, NULL, &before) < 0) {
		result = -errno;
	} else if (before.sa_sigaction != on_fatal) {
		former[number] = before;
		action.sa_flags |= before.sa_flags & SA_RESTART;
		if (sigaction(number, &action, NULL) < 0)
			result = -errno;
	}
	emitter_unlock();
	errno = saved;
	return result;
}

/* This code may be unloaded now. */
__attribute__((destructor)) static void give_signals_back(void)
{
	struct sigaction now;

	for (int number = 1; number < NSIG; number++)
		if (sigaction(number, NULL, &now) == 0 && now.sa_sigaction == on_fatal)
			sigaction(number, &former[number], NULL);
}
