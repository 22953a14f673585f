/* work.h -- the threads: a walker finds files; workers read, index and search. */
#ifndef TELEM_DEMO_WORK_H
#define TELEM_DEMO_WORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "demo/index.h"
#include "demo/queue.h"

enum {
	WORK_THREADS_MAX = 64,
	WORK_FILE_BYTES_MAX = 8 * 1024 * 1024,
};

struct work_options {
	char **paths;                         /* files and directories, NULL-terminated; borrowed */
	uint32_t thread_count;
	uint64_t rate_per_s;                  /* jobs a second; 0: no limit */
	size_t heap_bytes;
	bool once;                            /* end after one pass over the files */
};

struct work {
	struct work_options options;
	struct index index;
	struct queue queue;
	pthread_t walker, workers[WORK_THREADS_MAX];
	uint32_t workers_started;
	int indexing_task, querying_task;     /* from telem_task_new() */
	int over_fd;                          /* readable when the work has ended: after one pass with --once,
					       * or when there are no files */
	atomic_bool stop;
	_Atomic uint32_t workers_named, workers_running;
	_Atomic uint64_t jobs_found, jobs_done;
};

/* Starts all threads. Returns 0, or a negative errno: then no thread runs. */
int work_start(struct work *work, const struct work_options *options);
/* Stops and joins all threads, and frees everything. */
void work_stop(struct work *work);
#endif
