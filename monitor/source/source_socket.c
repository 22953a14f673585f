/* source_socket.c -- Unix sockets and TCP: we connect to the target, or listen and the target connects to us. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "monitor/source/discovery.h"
#include "monitor/source/source.h"

static int parse_path(struct address *out, const char *rest, struct problem *problem)
{
	if (address_set_path(out, rest, problem) != EXIT_DONE)
		return problem->code;
	if (strlen(rest) > 107) {
		problem_set(problem, EXIT_USAGE, "%s: the path is longer than the 107 bytes of a Unix socket", out->text);
		problem_todo(problem, "Use a shorter path, or a relative one.");
		return problem->code;
	}
	return EXIT_DONE;
}

static bool fits(const struct stat *st)
{
	return S_ISSOCK(st->st_mode);
}

/* Reads HOST:PORT. For listening HOST may be missing, and then is 127.0.0.1. */
static int parse_host(struct address *out, const char *rest, struct problem *problem)
{
	const char *colon = strrchr(rest, ':'), *port = colon ? colon + 1 : rest;
	size_t host_bytes = colon ? (size_t)(colon - rest) : 0;

	if (!strncmp(rest, "//", 2) && host_bytes >= 2) {
		rest += 2;
		host_bytes -= 2;
	}
	if ((host_bytes == 0 && out->kind == &source_tcp) || host_bytes >= sizeof out->host || !address_is_number(port) ||
	    strlen(port) > 5 || atoi(port) > 65535 || atoi(port) == 0) {
		problem_set(problem, EXIT_USAGE, "%s: not HOST:PORT", out->text);
		problem_todo(problem, "For example: tcp:127.0.0.1:4711 or listen:4712");
		return problem->code;
	}
	if (host_bytes >= 2 && rest[0] == '[' && rest[host_bytes - 1] == ']') {
		rest++;
		host_bytes -= 2;
	}
	memcpy(out->host, rest, host_bytes);
	out->host[host_bytes] = '\0';
	if (host_bytes == 0)
		strcpy(out->host, "127.0.0.1");
	strcpy(out->port, port);
	return EXIT_DONE;
}

static int control(struct source *source)
{
	return source->fd;
}

static int fail(struct source *source, int err)
{
	const char *text = source->address.text;
	bool is_tcp = source->kind != &source_unix;
	struct problem *problem = &source->problem;

	switch (err) {
	case ECONNREFUSED:
		problem_set(problem, EXIT_CONNECTION, "%s: connection refused", text);
		if (is_tcp)
			problem_todo(problem, "Nothing listens there. Is the target running, and started with "
					      "TELEM=\"sink=tcp:%s:%s\"?",
				     source->address.host, source->address.port);
		else
			problem_todo(problem, "Nobody listens on that socket any more. telemtop list shows the programs "
					      "that can be monitored.");
		break;
	case ENOENT:
		problem_set(problem, EXIT_NO_TARGET, "%s: no such socket", text);
		problem_todo(problem, "Start the program first; telemtop list shows those that can be monitored.");
		break;
	case EACCES:
	case EPERM:
		problem_set(problem, EXIT_PERMISSION, "%s: permission denied", text);
		problem_todo(problem, "Run as the program's user or as root.");
		break;
	case ETIMEDOUT:
		problem_set(problem, EXIT_CONNECTION, "%s: no answer within %d s", text, source->timeout_s);
		problem_todo(problem, "Check host, port and firewall, or give --timeout.");
		break;
	case ENOTSOCK:
		problem_set(problem, EXIT_NO_TARGET, "%s: not a socket", text);
		problem_todo(problem, "Give a PID, a program's name, a socket, a FIFO or a recording.");
		break;
	default:
		problem_set(problem, EXIT_CONNECTION, "%s: %s", text, strerror(err));
		problem_todo(problem, "Check the address.");
		break;
	}
	return problem->code;
}

static int start(struct source *source);

static void on_connected(evutil_socket_t fd, short what, void *arg)
{
	struct source *source = arg;
	socklen_t length = sizeof(int);
	int err = 0;

	event_free(source->pending);
	source->pending = NULL;
	if (what & EV_TIMEOUT)
		err = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &length) < 0)
		err = errno;
	if (err == 0) {
		source_opened(source, fd);
		return;
	}
	close(fd);
	source->fd = -1;
	source->host_at++;
	if (source->kind == &source_tcp && start(source) == EXIT_DONE)
		return;
	fail(source, err);
	/* When the first connection fails the user gets an error; a connection that was lost is tried again. */
	source_lost(source, !source->was_open);
}

static int connect_to(struct source *source, const struct sockaddr *address, socklen_t length)
{
	struct timeval timeout = { source->timeout_s, 0 };
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return fail(source, errno);
	if (address->sa_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(unsigned){ 5000 }, sizeof(unsigned));
	if (connect(fd, address, length) == 0) {
		source_opened(source, fd);
		return EXIT_DONE;
	}
	if (errno != EINPROGRESS) {
		int err = errno;

		close(fd);
		return fail(source, err);
	}
	source->fd = fd;
	source->pending = event_new(source->base, fd, EV_WRITE, on_connected, source);
	event_add(source->pending, &timeout);
	return EXIT_DONE;
}

/* Finds the addresses of the host. For localhost they are known without a resolver (RFC 6761). */
static int look_up(struct source *source, int flags, struct addrinfo **found)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
	const char *host = source->address.host;
	int err = getaddrinfo(host, source->address.port, &hints, found);

	if (err && !strcmp(host, "localhost"))
		err = getaddrinfo("127.0.0.1", source->address.port, &hints, found);
	if (err) {
		problem_set(&source->problem, EXIT_CONNECTION, "%s: %s", source->address.text, gai_strerror(err));
		problem_todo(&source->problem, "Check the host's name.");
		return source->problem.code;
	}
	return EXIT_DONE;
}

static int start(struct source *source)
{
	if (source->kind == &source_unix) {
		struct sockaddr_un address = { .sun_family = AF_UNIX };

		memcpy(address.sun_path, source->address.path, strnlen(source->address.path, sizeof address.sun_path - 1));
		return connect_to(source, (struct sockaddr *)&address, sizeof address);
	} else {
		struct addrinfo *found;
		unsigned at = 0;
		int result = look_up(source, 0, &found);

		if (result != EXIT_DONE)
			return result;
		/* A host may have several addresses (localhost: ::1 and 127.0.0.1). We take the first that answers. */
		result = EXIT_CONNECTION;
		for (const struct addrinfo *one = found; one && result != EXIT_DONE; one = one->ai_next, at++)
			if (at >= source->host_at)
				result = connect_to(source, one->ai_addr, one->ai_addrlen);
		source->host_at = result == EXIT_DONE ? at - 1 : 0;
		freeaddrinfo(found);
		return result;
	}
}

static int open_socket(struct source *source)
{
	source_set(source, SOURCE_CONNECTING);
	return start(source);
}

const struct source_kind
	source_unix = { .scheme = "unix", .usage = "PATH", .parse = parse_path, .fits = fits, .open = open_socket,
			.again = start, .control = control },
	source_tcp = { .scheme = "tcp", .usage = "HOST:PORT", .parse = parse_host, .open = open_socket, .again = start,
		       .control = control };

/* ---- listening: targets connect to us, one at a time ---- */

/* Without a free descriptor the call goes on waiting and the loop would be told of it again at once. So it looks again
 * later. */
static void call_failed(struct source *source, int err)
{
	enum { AGAIN_MS = 1000 };

	if (err == EAGAIN || err == EINTR || err == ECONNABORTED)
		return;
	problem_set(&source->problem, EXIT_CONNECTION, "%s: a program calls, but cannot be answered: %s",
		    source->address.text, err == EMFILE ? "no file descriptor is free" : strerror(err));
	problem_todo(&source->problem, "Raise the limit (ulimit -n). It is tried again each second.");
	event_del(source->pending);
	source_timer(source, AGAIN_MS);
	source_set(source, SOURCE_CONNECTING);
}

static void on_call(evutil_socket_t fd, short what, void *arg)
{
	struct source *source = arg;
	int called = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)what;
	if (called < 0) {
		call_failed(source, errno);
		return;
	}
	source->problem.code = EXIT_DONE;
	if (source->fd >= 0) {
		close(called);
		return;
	}
	/* source_opened() also stops listening, so that further targets wait until this one has ended. */
	source_opened(source, called);
}

static int listen_again(struct source *source)
{
	if (source->pending)
		event_free(source->pending);
	source->pending = event_new(source->base, source->listen_fd, EV_READ | EV_PERSIST, on_call, source);
	event_add(source->pending, NULL);
	return EXIT_DONE;
}

static int open_listen(struct source *source)
{
	struct addrinfo *found;
	int err = look_up(source, AI_PASSIVE, &found);

	if (err != EXIT_DONE)
		return err;
	source->listen_fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	setsockopt(source->listen_fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	err = bind(source->listen_fd, found->ai_addr, found->ai_addrlen) < 0 || listen(source->listen_fd, 4) < 0 ? errno : 0;
	freeaddrinfo(found);
	if (err) {
		problem_set(&source->problem, err == EACCES ? EXIT_PERMISSION : EXIT_CONNECTION, "%s: %s",
			    source->address.text, err == EADDRINUSE ? "the port is in use" : strerror(err));
		problem_todo(&source->problem, "Choose another port.");
		return source->problem.code;
	}
	source_set(source, SOURCE_CONNECTING);
	return listen_again(source);
}

static bool waiting(const struct address *address, bool is_open, double waited_s, char *out, size_t out_bytes)
{
	snprintf(out, out_bytes, "Listening on %s:%s for a program with TELEM=\"sink=connect:%s:%s\" (%.0f s)",
		 address->host, address->port, address->host, address->port, waited_s);
	return !is_open;
}

const struct source_kind source_listen = {
	.scheme = "listen", .usage = "[HOST:]PORT", .parse = parse_host, .waiting = waiting, .waits = true,
	.open = open_listen, .again = listen_again, .control = control,
};
