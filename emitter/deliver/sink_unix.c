/* sink_unix.c -- listening Unix sockets: discovery, and unix:PATH. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "emitter/core/emitter.h"
#include "emitter/deliver/sink.h"

static int address_of(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address->sun_path)
		return -ENAMETOOLONG;
	strcpy(address->sun_path, path);
	return 0;
}

/* Who listens at path: 1 somebody, 0 nobody, or a negative errno. *pid: who, or 0. */
static int listener_of(const struct sockaddr_un *address, pid_t *pid)
{
	struct ucred peer = { 0 };
	socklen_t length = sizeof peer;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), result = 1;

	*pid = 0;
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0) {
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0)
			*pid = peer.pid;
	} else if (errno == ECONNREFUSED || errno == ENOENT) {
		result = 0;
	} else if (errno != EAGAIN) {
		result = -errno;
	}
	close(fd);
	return result;
}

/* Removes a socket that nobody listens on, if it is ours. */
static int remove_stale(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return -EADDRINUSE;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

int unix_listen(const char *path)
{
	struct sockaddr_un address;
	pid_t pid;
	int fd, err = address_of(path, &address);

	if (err < 0)
		return err;
	err = listener_of(&address, &pid);
	if (err != 0)
		return err > 0 ? pid == getpid() ? -EBUSY : -EADDRINUSE : err;
	err = remove_stale(path);
	if (err < 0)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Before bind(): the file is made with these rights, whatever the umask. */
	if (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 16) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* Us or root, as the kernel says. */
static bool peer_is_trusted(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

void listener_readable(struct sink *sink, uint64_t now_ns)
{
	for (;;) {
		struct sink *viewer;
		int fd = accept4(sink->in_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			/* Out of descriptors: a rest, or this would spin. */
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
				sink->retry_ns = now_ns + 50000000;
			return;
		}
		emitter_lock();
		viewer = sink->scheme == &scheme_unix && !peer_is_trusted(fd) ? NULL : sink_new(sink->id);
		emitter_unlock();
		if (!viewer) {
			close(fd);
			continue;
		}
		if (sink->scheme == &scheme_tcp)
			tcp_prepare(fd);
		snprintf(viewer->who, sizeof viewer->who, "viewer %d", viewer->id);
		sink_ready(viewer, fd, fd, sink->may_control);
		sink_set_state(viewer, SINK_OPEN);
	}
}

static int open_unix(struct sink *sink, const char *rest)
{
	int fd, err = sink_options(sink, rest, NULL);

	if (err < 0)
		return err;
	fd = unix_listen(sink->path);
	if (fd < 0)
		return fd == -EBUSY ? -EADDRINUSE : fd;
	sink->in_fd = fd;
	sink->is_listening = sink->may_control = sink->made_path = true;
	return 0;
}

static void close_unix(struct sink *sink)
{
	if (sink->made_path)
		unlink(sink->path);
}

const struct sink_scheme scheme_unix = {
	.name = "unix", .open = open_unix, .readable = listener_readable, .close = close_unix,
};

/* ---- discovery ---- */

/* Milliseconds: longer than it takes; who holds the lock may have been stopped. */
#define LOCK_TRIES 100

/* The directory of this user's sockets, made if need be; 0700, ours, no symlink. */
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

/* PID.sock or PID-STARTTIME.sock: whose it is, or 0. */
static pid_t pid_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	const char *end = name + digits;

	if (*end == '-')
		end += 1 + strspn(end + 1, "0123456789");
	return digits > 0 && digits < 10 && !strcmp(end, ".sock") ? (pid_t)atol(name) : 0;
}

/* Sockets of ours whose process was killed, or has called exec(): they would pile up. One
 * whose PID we do not see may belong to another namespace: it must not answer, either. */
static void remove_all_stale(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct sockaddr_un address;
		char path[LIMIT_PATH_BYTES + 256];
		pid_t owner = pid_of(entry->d_name), listener;

		if (!owner || kill(owner, 0) == 0 || errno != ESRCH)
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		if (address_of(path, &address) == 0 && listener_of(&address, &listener) == 0)
			remove_stale(path);
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
		emitter_error("no discovery socket: %s: %s", directory,
			      err == -EPERM ? "not a directory of ours with mode 0700" : strerror(-err));
		return err;
	}
	/* One at a time looks for stale sockets and makes its own. */
	snprintf(lock_path, sizeof lock_path, "%s/.lock", directory);
	lock = open(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	for (int i = 0; lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0 && i < LOCK_TRIES; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 1000000 }, NULL);
	remove_all_stale(directory);
	snprintf(path, sizeof path, "%s/%d.sock", directory, (int)getpid());
	fd = unix_listen(path);
	if (fd == -EADDRINUSE) {        /* a process of another PID namespace has our number */
		snprintf(path, sizeof path, "%s/%d-%llu.sock", directory, (int)getpid(),
			 (unsigned long long)stream.start_ns);
		fd = unix_listen(path);
	}
	if (lock >= 0)
		close(lock);
	if (fd < 0) {
		if (fd != -EBUSY)
			emitter_error("no discovery socket: %s: %s", path, strerror(-fd));
		return fd;
	}
	sink = sink_new(-1);
	if (!sink) {
		close(fd);
		return -ENOSPC;
	}
	sink->scheme = &scheme_unix;
	snprintf(sink->path, sizeof sink->path, "%s", path);
	sink->in_fd = fd;
	sink->is_listening = sink->may_control = sink->made_path = true;
	sink_set_state(sink, SINK_OPEN);
	return 0;
}
