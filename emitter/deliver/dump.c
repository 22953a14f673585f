#include "emitter/deliver/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emitter/core/clock.h"
#include "emitter/core/dump_request.h"
#include "emitter/core/error.h"
#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "emitter/deliver/drain.h"
#include "emitter/deliver/flusher_thread.h"
#include "emitter/deliver/greet.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/snapshot.h"
#include "emitter/deliver/stream.h"
#include "emitter/deliver/turn.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/place.h"
#include "emitter/record/ring.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

static char directory[LIMIT_PATH_BYTES];     /* read and written with the lock held */

/* ---- writing ---- */

#define REASON_SITE() OWN_SITE(log, TELEM_KIND_LOG_, TELEM_NONE, TELEM_WARN, "dump: %s")

struct dump {
	struct sink *sink;
	struct writer writer;
	uint32_t class_count, site_count;    /* how many it has defined */
	uint64_t count, by_class[LIMIT_CLASSES];
	uint64_t first_ns;           /* when the earliest of its events was; 0: there is none */
};

static int create(char path[LIMIT_PATH_BYTES])
{
	char name[LIMIT_NAME_BYTES];
	int fd = -1;

	snprintf(name, sizeof name, "%s", settings.name);
	for (char *slash = name; (slash = strchr(slash, '/'));)
		*slash = '_';

	for (int i = 1; fd < 0 && i < 10000; i++) {
		if (snprintf(path, LIMIT_PATH_BYTES, "%s/%s.%d.%d.telem", directory, name, (int)getpid(), i) >=
		    LIMIT_PATH_BYTES)
			return -ENAMETOOLONG;
		/* An existing file is never overwritten. */
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

/* Writes to the file and does the flusher's other work that is due, with the lock released. Call with the lock held. */
static void let_go(struct dump *dump, uint64_t now_ns)
{
	lock_release();
	if (sink_state(dump->sink) == SINK_DUMP)
		sink_write(dump->sink, now_ns);
	turn_meanwhile();
	lock_take();
}

static void count(struct dump *dump, uint32_t site)
{
	dump->count++;
	dump->by_class[site_table.rows[site].class_id]++;
}

/* Finds the task of an event. A task that came after the greeting, or has ended meanwhile, is defined in the dump
 * here. */
static struct task *task_in_dump(struct dump *dump, int id, uint64_t now_ns)
{
	struct task *task = task_of(id);

	if (!task->in_dump)
		greet_task(&dump->writer, task, false, now_ns);
	task->in_dump = true;
	return task;
}

static void write_segment(struct dump *dump, const uint8_t *segment, uint32_t bytes, uint64_t now_ns)
{
	uint64_t now_ticks = clock_ticks();
	struct task *task = NULL;

	greet_later(&dump->writer, &dump->class_count, &dump->site_count, now_ns);
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
			uint64_t time_ns = event_time_ns(segment + at, now_ticks);

			task->dumped_count++;
			if (!dump->first_ns || time_ns < dump->first_ns)
				dump->first_ns = time_ns;
			count(dump, site);
		}
		at += ring_record_slots(words[0], words[1]) * RING_SLOT_BYTES;
	}
}

static void write_rings(struct dump *dump, uint64_t now_ns)
{
	for (struct thread *thread = thread_table.first; thread; thread = thread->next) {
		const struct ring *ring = thread->ring;
		size_t room = ring ? ring_segment_bytes(ring) : 0;
		uint8_t *segment = room ? memory_map(room) : NULL;
		/* The dump ends here, although the thread may record more events meanwhile. */
		uint64_t position = 0, end = ring ? __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) : 0;
		uint32_t bytes;

		while (segment && position < end && (bytes = ring_copy(ring, &position, segment)) > 0) {
			write_segment(dump, segment, bytes, now_ns);
			let_go(dump, now_ns);
		}
		memory_unmap(segment, room);
	}
}

/* Writes the reason as a log line of any thread, because a line must have a thread. */
static void write_reason(struct dump *dump, uint32_t site, const char *reason, uint64_t now_ns)
{
	static const char *const policies[] = { [TELEM_DROP] = "drop", [TELEM_OVERWRITE] = "overwrite",
						[TELEM_BLOCK] = "block" };
	uint32_t policy = __atomic_load_n(&settings.policy, __ATOMIC_RELAXED);
	struct message log = { .kind = KIND_LOG };
	const struct task *task = task_table.first;
	char text[LIMIT_PATH_BYTES + 128], span[64] = "no events";
	uint64_t ms = dump->first_ns && now_ns > dump->first_ns ? (now_ns - dump->first_ns) / 1000000 : 0;

	while (task && task->thread_id == 0)
		task = task->next;
	if (!task || !site)
		return;
	task = task_in_dump(dump, task->id, now_ns);
	if (dump->first_ns)
		snprintf(span, sizeof span, "the last %llu.%03llu s", (unsigned long long)ms / 1000,
			 (unsigned long long)ms % 1000);
	/* Under drop a ring that nobody read keeps the oldest events, which may be from long before. */
	snprintf(text, sizeof text, "%.*s (%s; policy %s)", LIMIT_PATH_BYTES - 1, reason, span,
		 policy <= TELEM_BLOCK ? policies[policy] : "?");
	log.log = (struct message_log){ (uint64_t)task->id, site, now_ns, TELEM_WARN, text_of(text), 0, 0 };
	writer_message(&dump->writer, &log, now_ns);
	count(dump, site);
}

/* Writes the books of a reader that got these events and no others, and END. Returns false when the disk is full; then
 * the file ends with a whole block and has no END. */
static bool write_end(struct dump *dump, uint64_t now_ns)
{
	struct number rows[LIMIT_CLASSES * 4];
	struct book all[LIMIT_CLASSES];
	struct message books = { .kind = KIND_BOOKS, .books = { 0, TASK_ALL, { rows, 0 } } };
	struct message bye = { .kind = KIND_BYE,
			       .bye = { now_ns, stream.taken + dump->count, stream.taken, dump->count, 0 } };
	uint8_t end[RECORDING_END_BYTES];

	snapshot_books(all);
	for (uint32_t i = 0; i < class_table.count; i++) {
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
	return sink_state(dump->sink) == SINK_DUMP && sink_has(dump->sink, dump->sink->fd) &&
	       write(dump->sink->fd, end, sizeof end) == (ssize_t)sizeof end;
}

int dump_write(const char *reason, char path[LIMIT_PATH_BYTES], uint64_t now_ns)
{
	struct telem_site *site = REASON_SITE();
	struct dump dump = { .count = 0 };
	int fd = create(path), result = 0;

	if (fd < 0)
		return fd;
	lock_take();
	dump.sink = sink_new(-1);
	if (dump.sink) {
		dump.writer.sink = dump.sink;
		dump.sink->fd = fd;
		dump.sink->is_regular = true;
		sink_opened(dump.sink, SINK_DUMP);
		greet(dump.sink, 0, now_ns);
		dump.class_count = class_table.count;
		dump.site_count = site_table.count;
		for (struct task *task = task_table.first; task; task = task->next) {
			task->in_dump = task_is_worth_sending(task);
			task->dumped_count = 0;
		}
		let_go(&dump, now_ns);
		write_rings(&dump, now_ns);
		write_reason(&dump, site->id, reason, now_ns);
		result = write_end(&dump, now_ns) ? 0 : -ENOSPC;
		sink_free(dump.sink);
		pool_trim();
	} else {
		close(fd);
		unlink(path);
		result = -EBUSY;         /* no sink is free */
	}
	lock_release();
	return result;
}

/* ---- asking for one ---- */

void dump_wanted(uint64_t now_ns)
{
	const char *reason;
	char *path;
	int result;

	if (!dump_request_take(&reason, &path))
		return;
	result = dump_write(reason, path, now_ns);
	if (result < 0) {
		lock_take();
		error_set("dump %s: %s", path, strerror(-result));
		lock_release();
	}
	dump_request_answer(result);
}

int telem_dump(const char *reason, char *path, size_t room)
{
	int saved = errno, result = -ETIMEDOUT, cancel;
	const char *written;

	fork_restart();
	if (!settings_is_running())
		return -ENOTCONN;
	settings_want_dumps();
	if (flusher_thread_is_self() || thread_is_inside)
		return -EDEADLK;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (dump_request_wait(reason ? reason : "")) {
		result = dump_request_result(&written);
		if (path && room > 0)
			snprintf(path, room, "%s", result < 0 ? "" : written);
		dump_request_end();
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return result;
}

static int dump_set_directory(const char *path)
{
	if (!path || strlen(path) >= sizeof directory)
		return -EINVAL;
	strcpy(directory, path);
	return 0;
}

int dump_want_directory(const char *path)
{
	int result = dump_set_directory(path);

	if (result == 0)
		settings_want_dumps();
	return result;
}

void dump_begin(void)
{
	const char *temporary = secure_getenv("TMPDIR");

	if (directory[0])
		return;
	if (!temporary || !*temporary || dump_set_directory(temporary) < 0)
		dump_set_directory("/tmp");
}

int telem_dump_directory(const char *path)
{
	int result;

	lock_take();
	result = dump_want_directory(path);
	lock_release();
	return result;
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
	/* No dump is possible when this thread is the flusher, which writes dumps, or may hold the lock; nor in a
	 * forked child, which has no flusher. */
	if (!flusher_thread_is_self() && !thread_is_inside && !fork_awaits_restart() && !lock_is_of_parent()) {
		reason[7] = (char)('0' + number / 100);
		reason[8] = (char)('0' + number / 10 % 10);
		reason[9] = (char)('0' + number % 10);
		if (dump_request_wait(reason))
			dump_request_end();
	}
	/* Now the signal has its former effect. A fault is raised again when its instruction is run again. */
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
	settings_want_dumps();
	lock_take();
	if (sigaction(number, NULL, &before) < 0) {
		result = -errno;
	} else if (before.sa_sigaction != on_fatal) {
		former[number] = before;
		action.sa_flags |= before.sa_flags & SA_RESTART;
		if (sigaction(number, &action, NULL) < 0)
			result = -errno;
	}
	lock_release();
	errno = saved;
	return result;
}

/* After this, the code of the handler may be unloaded. */
__attribute__((destructor)) static void give_signals_back(void)
{
	struct sigaction now;

	for (int number = 1; number < NSIG; number++)
		if (sigaction(number, NULL, &now) == 0 && now.sa_sigaction == on_fatal)
			sigaction(number, &former[number], NULL);
}
