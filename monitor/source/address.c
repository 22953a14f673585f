#include "monitor/source/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/source/discovery.h"
#include "monitor/source/source.h"

bool address_is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

int address_set_path(struct address *out, const char *path, struct problem *problem)
{
	if (!*path || strlen(path) >= sizeof out->path) {
		problem_set(problem, EXIT_USAGE, "%s: %s", out->text, *path ? "the path is too long" : "a path is missing");
		problem_todo(problem, "For example: fifo:/tmp/app.telem or unix:/tmp/app.sock");
		return problem->code;
	}
	strcpy(out->path, path);
	return EXIT_DONE;
}

static const struct source_kind *kind_of_word(const char *text)
{
	const struct source_kind *const *kind = source_kinds;

	while (*kind && !((*kind)->word && !strcmp(text, (*kind)->word)))
		kind++;
	return *kind;
}

/* The source whose scheme the text begins with; *rest is what follows the colon. NULL when no source has such a
 * scheme. */
static const struct source_kind *kind_of_scheme(const char *text, const char **rest)
{
	for (const struct source_kind *const *kind = source_kinds; *kind; kind++) {
		size_t bytes = (*kind)->scheme ? strlen((*kind)->scheme) : 0;

		if (bytes && !strncmp(text, (*kind)->scheme, bytes) && text[bytes] == ':') {
			*rest = text + bytes + 1;
			return *kind;
		}
	}
	return NULL;
}

/* The source that reads a path of this kind. There always is one: source_file fits whatever no other source fits. */
static const struct source_kind *kind_of_path(const struct stat *st)
{
	const struct source_kind *const *kind = source_kinds;

	while (!(*kind)->fits || !(*kind)->fits(st))
		kind++;
	return *kind;
}

int address_parse(const char *text, struct address *out, struct problem *problem)
{
	const char *rest;
	struct stat st;

	*out = (struct address){ 0 };
	if (strlen(text) >= sizeof out->text)
		return problem_set(problem, EXIT_USAGE, "%.40s…: the address is too long", text);
	strcpy(out->text, text);
	out->kind = kind_of_word(text);
	if (out->kind)
		return EXIT_DONE;
	if (address_is_number(text) && strlen(text) < 10) {
		out->kind = &source_unix;
		out->pid = (pid_t)atol(text);
		process_name(out->pid, out->program, sizeof out->program);
		return discovery_pid(out->pid, out->path, problem);
	}
	out->kind = kind_of_scheme(text, &rest);
	if (out->kind)
		return out->kind->parse(out, rest, problem);
	if (!strchr(text, '/')) {
		struct problem unknown = { 0 };
		int code = discovery_name(text, &out->pid, out->path, out->note, &unknown);

		if (out->pid || stat(text, &st) < 0) {
			if (code != EXIT_DONE)
				*problem = unknown;
			out->kind = &source_unix;
			snprintf(out->program, sizeof out->program, "%s", text);
			return code;
		}
	}
	if (stat(text, &st) == 0) {
		out->kind = kind_of_path(&st);
		return out->kind->parse(out, text, problem);
	}
	problem_set(problem, EXIT_NO_TARGET, "%s: no such file", text);
	problem_todo(problem, "Give a PID, a program's name, a socket, a FIFO or a recording.");
	return problem->code;
}

bool address_may_come(int code)
{
	/* EXIT_NOT_LINKED may change as well: a new process first runs its parent's program, and then takes a moment until
	 * it calls telem_start(). */
	return code == EXIT_NO_TARGET || code == EXIT_NOT_LINKED;
}

int address_wait(const char *text, int wait_s, struct address *out, struct problem *problem)
{
	for (long long waited_ms = 0;; waited_ms += ADDRESS_LOOK_MS) {
		int code = address_parse(text, out, problem);

		if (!address_may_come(code) || wait_s < 0 || (wait_s > 0 && waited_ms >= wait_s * 1000LL)) {
			if (code == EXIT_DONE)
				problem->code = EXIT_DONE;
			return code;
		}
		usleep(ADDRESS_LOOK_MS * 1000);
	}
}
