/* sink_tcp.c -- TCP, listening on loopback or connecting. Viewers do not identify themselves, so only this machine may
 * connect, and levels are set only where the program allows it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_address.h"
#include "emitter/deliver/sink_state.h"

/* Bounds the kernel's buffer, and makes the kernel detect a broken connection within 5 s. */
static bool prepare(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(unsigned){ 5000 }, sizeof(unsigned));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ 256 << 10 }, sizeof(int));
	return true;
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* Reads the sink's HOST:PORT or [V6]:PORT. HOST must be numeric or localhost, because looking up a name could block. */
static int parse(struct sink *sink, union address *address, socklen_t *length)
{
	char host_port[LIMIT_PATH_BYTES], *colon, *host = host_port, *end;
	unsigned long port;

	strcpy(host_port, sink->path);
	colon = strrchr(host_port, ':');
	if (!colon || colon == host_port) {
		sink->why = "give HOST:PORT";
		return -EINVAL;
	}
	*colon = '\0';
	port = strtoul(colon + 1, &end, 10);
	if (*end || end == colon + 1 || port > 65535) {
		sink->why = "the port is no number up to 65535";
		return -EINVAL;
	}
	if (*host == '[' && colon[-1] == ']') {
		host++;
		colon[-1] = '\0';
	}
	if (!strcmp(host, "localhost"))
		host = "127.0.0.1";
	memset(address, 0, sizeof *address);
	if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons((uint16_t)port);
		*length = sizeof address->v4;
		return 0;
	}
	if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1) {
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = htons((uint16_t)port);
		*length = sizeof address->v6;
		return 0;
	}
	sink->why = "names are not looked up: give the host's number, or localhost";
	return -EINVAL;
}

static bool is_loopback(const union address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

/* Returns a socket that listens at the sink's address, or a negative errno. */
static int listen_tcp(struct sink *sink)
{
	union address address;
	socklen_t length;
	int fd, err = parse(sink, &address, &length);

	if (err < 0)
		return err;
	if (!is_loopback(&address)) {
		sink->why = "listens on loopback only: 127.0.0.1, [::1] or localhost";
		return -EACCES;
	}
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (bind(fd, &address.any, length) < 0 || listen(fd, 16) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int open_tcp(struct sink *sink, const char *rest)
{
	bool control;
	int fd, err = sink_address(sink, rest, &control);

	if (err < 0)
		return err;
	fd = listen_tcp(sink);
	if (fd < 0)
		return fd;
	sink->in_fd = fd;
	sink->may_control = control;
	return SINK_LISTENING;
}

const struct sink_scheme sink_tcp = {
	.name = "tcp", .help = "tcp:HOST:PORT", .open = open_tcp, .accept = prepare, .reopen = listen_tcp,
};

/* ---- connecting ---- */

static void connected(struct sink *sink)
{
	sink->in_fd = sink->fd;
	sink_ready(sink);
}

/* Begins to connect. Called again when poll() says that the connection was made or refused. */
static void try_connect(struct sink *sink, uint64_t now_ns)
{
	union address address;
	socklen_t length;
	int err = 0;

	if (sink_state(sink) == SINK_CONNECTING) {
		length = sizeof err;
		if (getsockopt(sink->fd, SOL_SOCKET, SO_ERROR, &err, &length) < 0 || err)
			sink_gone(sink, now_ns);
		else
			connected(sink);
		return;
	}
	if (parse(sink, &address, &length) < 0)
		return;
	sink->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sink->fd < 0) {
		sink->retry_ns = now_ns + 1000000000;
		return;
	}
	prepare(sink->fd);
	if (connect(sink->fd, &address.any, length) == 0)
		connected(sink);
	else if (errno == EINPROGRESS)
		sink_connects(sink);
	else
		sink_gone(sink, now_ns);
}

static int open_connect(struct sink *sink, const char *rest)
{
	union address address;
	socklen_t length;
	bool control;
	int err = sink_address(sink, rest, &control);

	if (err == 0)
		err = parse(sink, &address, &length);
	if (err < 0)
		return err;
	if (control && !is_loopback(&address)) {
		sink->why = "levels are set from this machine only: leave ,control out";
		return -EACCES;
	}
	sink->may_control = control;
	snprintf(sink->who, sizeof sink->who, "viewer %d", sink->id);
	return SINK_WAITING;            /* the flusher connects at once: retry_ns is 0 */
}

const struct sink_scheme sink_connect = {
	.name = "connect", .help = "connect:HOST:PORT", .open = open_connect, .retry = try_connect,
};
