#include "emitter/deliver/discovery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "emitter/core/error.h"
#include "emitter/core/settings.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/stream.h"
#include "emitter/deliver/unix_socket.h"

/* So many milliseconds are longer than a process needs the lock, unless a signal has stopped it. */
#define LOCK_TRIES 100

/* Finds or makes the directory of this user's sockets. It must have mode 0700, belong to this user and not be a
 * symbolic link. */
static int discovery_directory(char *path, size_t bytes)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	struct stat st;
	int length;

	if (runtime && runtime[0] == '/')
		length = snprintf(path, bytes, "%s/telem", runtime);
	else
		length = snprintf(path, bytes, "/tmp/telem-%u", (unsigned)geteuid());
	if (length < 0 || (size_t)length >= bytes)
		return -ENAMETOOLONG;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return -EPERM;
	return 0;
}

/* Returns the PID in PID.sock or PID-STARTTIME.sock, or 0 for any other name. */
static pid_t pid_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	const char *end = name + digits;

	if (*end == '-')
		end += 1 + strspn(end + 1, "0123456789");
	return digits > 0 && digits < 10 && !strcmp(end, ".sock") ? (pid_t)atol(name) : 0;
}

/* Removes the sockets of processes that were killed or have called exec(), because no other program would. A socket
 * is removed only when no process listens on it: a PID that does not exist here may exist in another namespace. */
static void remove_all_stale(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[LIMIT_PATH_BYTES + 256];
		pid_t owner = pid_of(entry->d_name);

		if (!owner || kill(owner, 0) == 0 || errno != ESRCH)
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		unix_remove_dead(path);
	}
	if (dir)
		closedir(dir);
}

int discovery_open(void)
{
	char directory[LIMIT_PATH_BYTES / 2], path[LIMIT_PATH_BYTES], lock_path[LIMIT_PATH_BYTES];
	struct sink *sink;
	int fd, lock, err;

	if (getauxval(AT_SECURE))
		return -EPERM;
	err = discovery_directory(directory, sizeof directory);
	if (err < 0) {
		error_set("no discovery socket: %s: %s", directory,
			      err == -EPERM ? "not a directory of ours with mode 0700" : strerror(-err));
		return err;
	}
	/* Under this lock one process at a time removes stale sockets and makes its own. */
	snprintf(lock_path, sizeof lock_path, "%s/.lock", directory);
	lock = open(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	for (int i = 0; lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0 && i < LOCK_TRIES; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 1000000 }, NULL);
	remove_all_stale(directory);
	snprintf(path, sizeof path, "%s/%d.sock", directory, (int)getpid());
	fd = unix_listen(path);
	if (fd == -EADDRINUSE) {        /* a process of another PID namespace has the same number */
		snprintf(path, sizeof path, "%s/%d-%llu.sock", directory, (int)getpid(),
			 (unsigned long long)stream.start_ns);
		fd = unix_listen(path);
	}
	if (lock >= 0)
		close(lock);
	if (fd < 0) {
		if (fd != -EBUSY)
			error_set("no discovery socket: %s: %s", path, strerror(-fd));
		return fd;
	}
	sink = sink_new(-1);
	if (!sink) {
		close(fd);
		return -ENOSPC;
	}
	sink->scheme = &sink_unix;
	snprintf(sink->path, sizeof sink->path, "%s", path);
	sink->in_fd = fd;
	sink->may_control = sink->made_path = true;
	sink->has_name = unix_tell(path, "name", settings.name);
	sink_opened(sink, SINK_LISTENING);
	return 0;
}

void discovery_tell_problem(const char *problem)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_flushers(&sinks[i]) && sinks[i].has_name)
			unix_tell(sinks[i].path, "problem", problem);
}
