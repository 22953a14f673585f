#include "monitor/observe/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* A recording that a full disk stopped goes on when so many bytes are free again. */
enum { ROOM_TO_GO_ON = 64 << 10 };

/* Called after a failed write: cuts the file back to its last whole block, so that what is there can be read. */
static void stop_short(struct recorder *recorder, int err)
{
	uint64_t whole_bytes = recorder->tape.whole.offset;

	if (ftruncate(recorder->fd, (off_t)whole_bytes) < 0 || lseek(recorder->fd, 0, SEEK_END) < 0) {
		/* The file then ends with a part of a block, which readers find and report. */
	}
	recorder->is_full = err == ENOSPC || err == EDQUOT;
	recorder->has_gap = true;
	problem_set(&recorder->problem, EXIT_INTERNAL,
		    "recording stopped: %s: %s; %.1f MiB saved, whole up to its last block",
		    recorder->path, recorder->is_full ? "the disk is full" : strerror(err), (double)whole_bytes / (1 << 20));
	if (recorder->is_full)
		return;
	close(recorder->fd);
	recorder->fd = -1;
	session_unobserve(recorder->session, &recorder->observer);
}

/* Asks the file system once a second. */
static bool has_room_again(struct recorder *recorder, uint64_t now_ns)
{
	struct statvfs disk;

	if (now_ns - recorder->looked_ns < 1000000000u)
		return false;
	recorder->looked_ns = now_ns;
	return fstatvfs(recorder->fd, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize >= ROOM_TO_GO_ON;
}

static bool keep(void *arg, const uint8_t *bytes, size_t count)
{
	struct recorder *recorder = arg;
	size_t done = 0;

	if (recorder->fd < 0 || recorder->is_full)
		return false;
	while (done < count) {
		ssize_t written = write(recorder->fd, bytes + done, count - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			stop_short(recorder, errno);
			return false;
		}
		done += (size_t)written;
	}
	return true;
}

static void on_block(void *arg, const struct block *block)
{
	struct recorder *recorder = arg;
	const struct model *model = recorder->session->model;

	if (recorder->is_full && block && model_is_settled(model))
		recorder->is_full = !has_room_again(recorder, model_time_ns(model));
	if (!recorder->is_full)
		tape_block(&recorder->tape, block);
}

void recorder_init(struct recorder *recorder)
{
	*recorder = (struct recorder){ .fd = -1 };
}

static void default_path(char *out, size_t out_bytes, const struct model *model)
{
	time_t now = (time_t)(model_real_ns(model, model_time_ns(model)) / 1000000000);
	char stamp[32] = "", name[64];
	struct tm when;
	size_t used = 0;

	if (localtime_r(&now, &when))
		strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &when);
	/* Takes over only those characters of the target's name that are harmless in every file system and shell. */
	for (const char *at = model_target(model)->name; *at && used < sizeof name - 1; at++)
		if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
		    ((*at == '-' || *at == '_' || *at == '.') && used > 0))
			name[used++] = *at;
	name[used] = '\0';
	snprintf(out, out_bytes, "%s-%s.telem", used ? name : "session", stamp);
}

int recorder_start(struct recorder *recorder, struct session *session, const char *path, bool force,
		   struct problem *problem)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (force ? 0 : O_EXCL);

	recorder_init(recorder);
	if (path)
		snprintf(recorder->path, sizeof recorder->path, "%s", path);
	else
		default_path(recorder->path, sizeof recorder->path, session->model);
	recorder->fd = open(recorder->path, flags, 0600);
	if (recorder->fd < 0) {
		problem_set(problem, errno == EACCES ? EXIT_PERMISSION : EXIT_INTERNAL, "%s: %s", recorder->path,
			    errno == EEXIST ? "the file is there already" : strerror(errno));
		problem_todo(problem, errno == EEXIST ? "Choose another name, or give --force."
						      : "Choose another place with -o FILE.");
		return problem->code;
	}
	if (flock(recorder->fd, LOCK_EX | LOCK_NB) < 0) {
		close(recorder->fd);
		recorder->fd = -1;
		problem_set(problem, EXIT_INTERNAL, "%s: it is being read, or another program is recording into it",
			    recorder->path);
		problem_todo(problem, "Choose another name.");
		return problem->code;
	}
	/* The file is emptied only now, because another process may have been recording into it. EINVAL comes from a
	 * pipe or a device, which has no length. */
	if (force && ftruncate(recorder->fd, 0) < 0 && errno != EINVAL) {
		problem_set(problem, EXIT_INTERNAL, "%s: %s", recorder->path, strerror(errno));
		close(recorder->fd);
		recorder->fd = -1;
		return problem->code;
	}
	recorder->session = session;
	tape_init(&recorder->tape, session, keep, recorder, LIMIT_INDEX_BYTES);
	recorder->started_ns = model_time_ns(session->model);
	recorder->observer = (struct observer){ .on_block = on_block, .arg = recorder };
	session_observe(session, &recorder->observer);
	return EXIT_DONE;
}

void recorder_move(struct recorder *recorder, struct session *session)
{
	if (recorder->fd < 0)
		return;
	session_unobserve(recorder->session, &recorder->observer);
	recorder->session = session;
	recorder->tape.session = session;
	session_observe(session, &recorder->observer);
}

void recorder_stop(struct recorder *recorder)
{
	if (recorder->fd < 0)
		return;
	if (tape_end(&recorder->tape))
		fdatasync(recorder->fd);
	if (recorder->fd >= 0)
		close(recorder->fd);
	recorder->fd = -1;
	session_unobserve(recorder->session, &recorder->observer);
}
