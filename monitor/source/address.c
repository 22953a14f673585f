#include "monitor/source/address.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/source/discovery.h"
#include "protocol/block.h"
#include "widgets/text.h"

static bool is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static int set_path(struct address *out, const char *path, struct problem *problem)
{
	if (!*path || strlen(path) >= sizeof out->path) {
		problem_set(problem, EXIT_USAGE, "%s: %s", out->text, *path ? "the path is too long" : "a path is missing");
		problem_todo(problem, "For example: fifo:/tmp/app.telem or unix:/tmp/app.sock");
		return problem->code;
	}
	strcpy(out->path, path);
	if (out->kind == ADDRESS_UNIX && strlen(path) > 107) {
		problem_set(problem, EXIT_USAGE, "%s: the path is longer than the 107 bytes of a Unix socket", out->text);
		problem_todo(problem, "Use a shorter path, or a relative one.");
		return problem->code;
	}
	return EXIT_DONE;
}

/* HOST:PORT or, for listening, PORT. */
static int set_host(struct address *out, const char *rest, struct problem *problem)
{
	const char *colon = strrchr(rest, ':'), *port = colon ? colon + 1 : rest;
	size_t host_bytes = colon ? (size_t)(colon - rest) : 0;

	if (!strncmp(rest, "//", 2) && host_bytes >= 2) {
		rest += 2;
		host_bytes -= 2;
	}
	if ((host_bytes == 0 && out->kind == ADDRESS_TCP) || host_bytes >= sizeof out->host || !is_digits(port) ||
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

/* A file is a recording when it begins with a HELLO somewhere early. */
static int look_at_file(struct address *out, struct problem *problem)
{
	uint8_t bytes[LIMIT_LEAD_BYTES];
	char shown[64];
	int fd = open(out->path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
	int err = errno;

	if (fd >= 0)
		close(fd);
	if (count < 0) {
		problem_set(problem, err == EACCES ? EXIT_PERMISSION : EXIT_RECORDING, "%s: %s", out->text,
			    err == EACCES ? "permission denied" : err == EISDIR ? "is a directory" : "cannot be read");
		problem_todo(problem, "Give a PID, a program's name, a socket, a FIFO or a recording.");
		return problem->code;
	}
	if (memmem(bytes, (size_t)count, hello_magic, sizeof hello_magic))
		return EXIT_DONE;
	if (count == 0) {
		problem_set(problem, EXIT_RECORDING, "%s: the file is empty", out->text);
		problem_todo(problem, "A recording begins to be readable when its program has started.");
		return problem->code;
	}
	text_clean(shown, sizeof shown, (const char *)bytes, count < 12 ? strnlen((char *)bytes, (size_t)count)
									: strnlen((char *)bytes, 12), GLYPHS_BLOCKS);
	problem_set(problem, EXIT_RECORDING, "%s: not a telemtop recording (starts with \"%s\")", out->text, shown);
	problem_todo(problem, "Recordings are made by telemtop record, R in the screen, or TELEM=\"sink=file:PATH\".");
	return problem->code;
}

static int look_at(struct address *out, const struct stat *st, struct problem *problem)
{
	if (S_ISSOCK(st->st_mode)) {
		out->kind = ADDRESS_UNIX;
		return set_path(out, out->text, problem);
	}
	out->kind = S_ISFIFO(st->st_mode) ? ADDRESS_FIFO : ADDRESS_FILE;
	if (set_path(out, out->text, problem) != EXIT_DONE)
		return problem->code;
	return out->kind == ADDRESS_FIFO ? EXIT_DONE : look_at_file(out, problem);
}

int address_parse(const char *text, struct address *out, struct problem *problem)
{
	struct stat st;

	*out = (struct address){ 0 };
	if (strlen(text) >= sizeof out->text)
		return problem_set(problem, EXIT_USAGE, "%.40s…: the address is too long", text);
	strcpy(out->text, text);
	if (!strcmp(text, "-")) {
		out->kind = ADDRESS_STDIN;
		return EXIT_DONE;
	}
	if (is_digits(text) && strlen(text) < 10) {
		out->kind = ADDRESS_UNIX;
		out->pid = (pid_t)atol(text);
		process_name(out->pid, out->program, sizeof out->program);
		return discovery_pid(out->pid, out->path, problem);
	}
	if (!strncmp(text, "unix:", 5)) {
		out->kind = ADDRESS_UNIX;
		return set_path(out, text + 5, problem);
	}
	if (!strncmp(text, "fifo:", 5)) {
		out->kind = ADDRESS_FIFO;
		return set_path(out, text + 5, problem);
	}
	if (!strncmp(text, "tcp:", 4)) {
		out->kind = ADDRESS_TCP;
		return set_host(out, text + 4, problem);
	}
	if (!strncmp(text, "listen:", 7)) {
		out->kind = ADDRESS_LISTEN;
		return set_host(out, text + 7, problem);
	}
	if (stat(text, &st) == 0)
		return look_at(out, &st, problem);
	if (strchr(text, '/')) {
		problem_set(problem, EXIT_NO_TARGET, "%s: no such file", text);
		problem_todo(problem, "Give a PID, a program's name, a socket, a FIFO or a recording.");
		return problem->code;
	}
	out->kind = ADDRESS_UNIX;
	snprintf(out->program, sizeof out->program, "%s", text);
	return discovery_name(text, &out->pid, out->path, problem);
}

int address_wait(const char *text, int wait_s, struct address *out, struct problem *problem)
{
	enum { LOOKS_A_S = 20 };

	for (int looks = 0;; looks++) {
		int code = address_parse(text, out, problem);
		/* A process that has just been made runs another program first, and then starts up. */
		bool may_come = code == EXIT_NO_TARGET || code == EXIT_NOT_LINKED;

		if (!may_come || wait_s < 0 || (wait_s > 0 && looks >= wait_s * LOOKS_A_S)) {
			if (code == EXIT_DONE)
				problem->code = EXIT_DONE;
			return code;
		}
		usleep(1000000 / LOOKS_A_S);
	}
}
