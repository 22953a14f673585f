#include "demo/work.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "demo/query.h"
#include "emitter/telem.h"

enum { QUERIES_PER_JOB = 2 };

static const uint64_t SECOND_NS = 1000000000, NAP_NS = 50000000;

/* ---- the walker ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Sleeps in short naps, so that the program ends soon after it is asked to. */
static void sleep_until(struct work *work, uint64_t until_ns)
{
	for (uint64_t now = now_ns(); !work->stop && now < until_ns; now = now_ns()) {
		uint64_t nap_ns = until_ns - now < NAP_NS ? until_ns - now : NAP_NS;

		nanosleep(&(struct timespec){ .tv_nsec = (long)nap_ns }, NULL);
	}
}

/* Queues a job for a file. Returns false when the walk must end. */
static bool visit(struct work *work, const FTSENT *entry)
{
	struct job job = { .id = work->jobs_found + 1 };

	if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS) {
		TELEM_LOG(TELEM_WARN, "skipped %s: %s", entry->fts_path, strerror(entry->fts_errno));
		TELEM_COUNT(index, "files skipped", 1);
	}
	if (entry->fts_info != FTS_F)
		return true;                  /* a directory, link, socket ... */
	job.path = telem_malloc(string, strlen(entry->fts_accpath) + 1);
	if (!job.path)
		return false;
	strcpy(job.path, entry->fts_accpath);
	work->jobs_found++;
	return queue_push(&work->queue, job);
}

/* Visits all files once, at the rate that the options ask for. */
static void walk(struct work *work)
{
	uint64_t pace_ns = work->options.rate_per_s ? SECOND_NS / work->options.rate_per_s : 0;
	uint64_t next_ns = now_ns(), found_before = work->jobs_found;
	/* Only links that are named on the command line are followed. */
	FTS *tree = fts_open(work->options.paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	if (!tree)
		TELEM_LOG(TELEM_ERROR, "cannot walk over the files: %s", strerror(errno));
	while (tree && !work->stop && (entry = fts_read(tree)) && visit(work, entry)) {
		if (work->jobs_found == found_before)
			continue;
		found_before = work->jobs_found;
		/* Time lost while the queue was full is not made up for later. */
		if (next_ns + SECOND_NS < now_ns())
			next_ns = now_ns();
		next_ns += pace_ns;
		sleep_until(work, next_ns);
	}
	if (tree)
		fts_close(tree);
}

static void *walker_main(void *arg)
{
	struct work *work = arg;
	uint64_t found_before;

	telem_task_name("walker");
	do {
		found_before = work->jobs_found;
		walk(work);
		TELEM_LOG(TELEM_DEBUG, "walked over all files: %llu found",
			  (unsigned long long)(work->jobs_found - found_before));
		if (work->jobs_found == 0)
			break;                /* there are no files at all: the program says so and ends */
		if (work->jobs_found == found_before)
			sleep_until(work, now_ns() + SECOND_NS);
	} while (!work->stop && !work->options.once);
	queue_close(&work->queue, false);
	return NULL;
}

/* ---- a worker ---- */

static int read_open_file(int fd, char **out_text, size_t *out_bytes)
{
	struct stat info;
	size_t bytes = 0;
	ssize_t got = 1;
	char *text;

	if (fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	if (info.st_size > WORK_FILE_BYTES_MAX)
		return -EFBIG;
	text = telem_malloc(file text, (size_t)info.st_size + 1);
	if (!text)
		return -ENOMEM;
	for (; got > 0 && bytes < (size_t)info.st_size; bytes += (size_t)got) {
		got = read(fd, text + bytes, (size_t)info.st_size - bytes);
		if (got < 0) {
			int err = -errno;

			telem_free(file text, text);
			return err;
		}
	}
	*out_text = text;
	*out_bytes = bytes;
	return 0;
}

static int read_file(const char *path, char **out_text, size_t *out_bytes)
{
	/* The path may name another file by now: never wait for the writer of a FIFO. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err;

	TELEM_SPAN_HERE(index, "read file");
	if (fd < 0)
		return -errno;
	err = read_open_file(fd, out_text, out_bytes);
	close(fd);
	return err;
}

/* Indexes the words of text. Takes path. */
static void index_text(struct work *work, char *path, char *text, size_t text_bytes)
{
	struct words words;

	TELEM_COUNT(index, "bytes read", text_bytes);
	TELEM_VALUE(index, "file size", text_bytes, TELEM_BYTES);
	if (words_split(&words, text, text_bytes)) {
		TELEM_LOG(TELEM_ERROR, "no memory for the words of %s", path);
		telem_free(string, path);
		return;
	}
	if (index_insert(&work->index, path, &words))
		TELEM_LOG(TELEM_ERROR, "no memory to index all of a file");
	words_free(&words);
}

/* Reads and indexes one file. Takes path. */
static void index_file(struct work *work, char *path)
{
	char *text = NULL;
	size_t text_bytes = 0;
	int err = read_file(path, &text, &text_bytes);

	if (!err && !memchr(text, 0, text_bytes)) {
		index_text(work, path, text, text_bytes);
		telem_free(file text, text);
		return;
	}
	/* A severity belongs to one place in the source, so there are three places. */
	if (!err)
		TELEM_LOG(TELEM_DEBUG, "skipped %s: binary", path);
	else if (err == -EFBIG)
		TELEM_LOG(TELEM_INFO, "skipped %s: more than %d bytes", path, WORK_FILE_BYTES_MAX);
	else
		TELEM_LOG(TELEM_WARN, "skipped %s: %s", path, strerror(-err));
	TELEM_COUNT(index, "files skipped", 1);
	telem_free(file text, text);
	telem_free(string, path);
}

static void do_job(struct work *work, const struct job *job, struct query *query)
{
	/* A job is a frame of its worker. The time until the next job is not part of it. */
	telem_frame_begin("job");
	/* Whichever thread does the work, its allocations and time are attributed to the task
	 * entered last. */
	(void)telem_task_enter(work->indexing_task);
	index_file(work, job->path);
	telem_task_leave();
	(void)telem_task_enter(work->querying_task);
	for (int i = 0; i < QUERIES_PER_JOB; i++)
		query_run(query, &work->index);
	telem_task_leave();
	queue_job_done(job->id);
	work->jobs_done++;
	telem_frame("job");
}

static void *worker_main(void *arg)
{
	struct work *work = arg;
	unsigned number = ++work->workers_named;
	struct query query = { .seed = number };
	char name[32];
	struct job job;

	snprintf(name, sizeof name, "worker-%u", number);
	telem_task_name(name);
	while (queue_pop(&work->queue, &job))
		do_job(work, &job, &query);
	if (--work->workers_running == 0)
		eventfd_write(work->over_fd, 1);
	return NULL;
}

/* ---- life ---- */

static void join_all(struct work *work)
{
	queue_close(&work->queue, true);
	for (uint32_t i = 0; i < work->workers_started; i++)
		pthread_join(work->workers[i], NULL);
}

static void free_all(struct work *work)
{
	telem_task_end(work->indexing_task);
	telem_task_end(work->querying_task);
	index_fini(&work->index);
	queue_fini(&work->queue);
	close(work->over_fd);
}

int work_start(struct work *work, const struct work_options *options)
{
	int err = 0;

	*work = (struct work){ .options = *options, .workers_running = options->thread_count };
	work->over_fd = eventfd(0, EFD_CLOEXEC);
	if (work->over_fd < 0)
		return -errno;
	queue_init(&work->queue);
	index_init(&work->index, options->heap_bytes);
	work->indexing_task = telem_task_new("indexing");
	work->querying_task = telem_task_new("querying");

	while (work->workers_started < options->thread_count && !err) {
		err = -pthread_create(&work->workers[work->workers_started], NULL, worker_main, work);
		work->workers_started += !err;
	}
	if (!err)
		err = -pthread_create(&work->walker, NULL, walker_main, work);
	if (err) {
		join_all(work);
		free_all(work);
	}
	return err;
}

void work_stop(struct work *work)
{
	work->stop = true;
	join_all(work);
	pthread_join(work->walker, NULL);
	free_all(work);
}
