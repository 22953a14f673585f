#include "emitter/deliver/unix_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/limits.h"

static int address_of(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address->sun_path)
		return -ENAMETOOLONG;
	strcpy(address->sun_path, path);
	return 0;
}

/* Returns 1 when a process listens there, with its PID or 0 in *pid; 0 when none listens; or a negative errno. */
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

/* Removes a socket on which no process listens, if it belongs to this user. */
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
	/* The mode is set before bind(), which makes the file with it, whatever the umask is. */
	if (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 16) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static void tell_path(char out[LIMIT_PATH_BYTES + 12], const char *path, const char *what)
{
	snprintf(out, LIMIT_PATH_BYTES + 12, "%s.%s", path, what);
}

/* Removes what is told, if it is a link of this user. */
static void untell(const char *path, const char *what)
{
	char link[LIMIT_PATH_BYTES + 12];
	struct stat st;

	tell_path(link, path, what);
	if (lstat(link, &st) == 0 && S_ISLNK(st.st_mode) && st.st_uid == geteuid())
		unlink(link);
}

static void untell_all(const char *path)
{
	untell(path, "name");
	untell(path, "problem");
}

bool unix_tell(const char *path, const char *what, const char *text)
{
	char link[LIMIT_PATH_BYTES + 12];

	untell(path, what);              /* of a process that was killed and had the same number */
	tell_path(link, path, what);
	return symlink(text, link) == 0;
}

void unix_unlink(const char *path, bool has_name)
{
	unlink(path);
	if (has_name)
		untell_all(path);
}

void unix_remove_dead(const char *path)
{
	struct sockaddr_un address;
	pid_t listener;

	if (address_of(path, &address) == 0 && listener_of(&address, &listener) == 0 && remove_stale(path) == 0)
		untell_all(path);
}
