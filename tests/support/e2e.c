#include "tests/support/e2e.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

enum { TEXTS = 64, ARGS_MAX = 24 };

const char *fmt(const char *format, ...)
{
	static char texts[TEXTS][512];
	static unsigned next;
	char *out = texts[next++ % TEXTS];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(out, sizeof texts[0], format, arguments);
	va_end(arguments);
	return out;
}

/* The path is absolute, because children may start in another directory. */
const char *bin(const char *name)
{
	const char *build = getenv("B");
	char here[400] = "";

	if (!build || !*build)
		build = "build";
	if (*build != '/' && !getcwd(here, sizeof here))
		proc_failed("getcwd", __FILE__, __LINE__);
	return fmt("%s%s%s/%s", here, *build == '/' ? "" : "/", build, name);
}

const char *pid_of(const struct proc *proc)
{
	return fmt("%d", (int)proc_pid(proc));
}

/* ---- programs that end ---- */

struct said said_of(struct proc *proc, int64_t deadline_ms)
{
	struct said said = { .code = proc_wait_exit(proc, deadline_ms) };

	said.out = proc_bytes(proc, PROC_OUT, NULL);
	said.err = proc_bytes(proc, PROC_ERR, NULL);
	return said;
}

struct said run_at(const char *const *argv)
{
	return said_of(proc_start(.argv = argv, .in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE), 15000);
}

void assert_code_at(struct said said, int code, const char *file, int line)
{
	if (said.code == code)
		return;
	proc_printf("exit %d, not %d\n", said.code, code);
	proc_failed("assert_code", file, line);
}

void assert_has_at(const char *text, const char *part, bool wanted, const char *file, int line)
{
	if ((strstr(text, part) != NULL) == wanted)
		return;
	proc_printf("%s: \"%s\"\nin: ", wanted ? "missing" : "not expected", part);
	proc_print(text, strlen(text));
	proc_printf("\n");
	proc_failed("assert_has", file, line);
}

/* ---- the monitored program ---- */

const char *demo_socket(struct fixture *fixture, const struct proc *demo)
{
	return fixture_path(fixture, "telem/%d.sock", (int)proc_pid(demo));
}

/* Does not connect, because that would be a viewer. */
static bool is_listening(const char *path)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[300], bound[200];
	unsigned flags;
	bool result = false;

	while (file && !result && fgets(line, sizeof line, file))
		result = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %199s", &flags, bound) == 2 && (flags & 0x10000) &&
			 !strcmp(bound, path);
	if (file)
		fclose(file);
	return result;
}

static bool has_threads(const struct proc *proc, uint32_t count)
{
	struct proc_usage usage;

	return proc_usage_read(proc, &usage) == 0 && usage.thread_count >= count;
}

static void make_tree(struct fixture *fixture)
{
	const char *tree = fixture_path(fixture, "tree");

	if (access(tree, F_OK) < 0)
		fixture_text_tree(tree, 64, 4096, 1);
}

struct proc *demo_start_at(struct fixture *fixture, struct demo_spec spec)
{
	const char *argv[ARGS_MAX + 2] = { bin("telem-demo") };
	const char *const env[] = { spec.telem ? fmt("TELEM=%s", spec.telem) : "TELEM", NULL };
	struct proc *demo;
	int count = 1;

	make_tree(fixture);
	/* The kernel names a program after its file. */
	if (spec.name) {
		const char *link = fixture_path(fixture, "%s", spec.name);

		if (symlink(argv[0], link) < 0 && errno != EEXIST)
			proc_failed("symlink", __FILE__, __LINE__);
		argv[0] = link;
	}
	for (; spec.args && spec.args[count - 1] && count < ARGS_MAX; count++)
		argv[count] = spec.args[count - 1];
	if (!spec.args || strcmp(argv[1], "--burst") != 0)
		argv[count] = fixture_path(fixture, "tree");
	demo = proc_start(.argv = argv, .env = env, .in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	/* Its own sinks are open before it begins to work, in threads. */
	if (!spec.args || strcmp(spec.args[0], "--burst") != 0)
		WAIT_UNTIL(has_threads(demo, 3) || proc_exited(demo), 5000);
	if (!spec.telem || !strstr(spec.telem, "discovery=off"))
		WAIT_UNTIL(is_listening(demo_socket(fixture, demo)) || proc_exited(demo), 5000);
	return demo;
}

/* ---- telemtop's answers ---- */

json_t *once(const char *target)
{
	struct proc *proc = proc_start(.argv = PROC_LIST(bin("telemtop"), "once", "--json", "-d", "0.1", target),
				       .in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	struct said said = said_of(proc, 15000);
	json_error_t error;
	json_t *json = json_loads(said.out, 0, &error);

	assert_code(said, 0);
	if (!json) {
		proc_printf("%s: %s\n", error.text, said.out);
		proc_failed("once: no JSON", __FILE__, __LINE__);
	}
	proc_end(proc);
	return json;
}

static const json_t *value_at(const json_t *json, const char *path)
{
	while (json && *path) {
		size_t length = strcspn(path, ".");

		json = json_object_get(json, fmt("%.*s", (int)length, path));
		path += length + (path[length] == '.');
	}
	return json;
}

int64_t figure(const json_t *json, const char *path)
{
	const json_t *value = value_at(json, path);

	if (json_is_boolean(value))
		return json_is_true(value);
	if (!json_is_number(value)) {
		proc_printf("no number \"%s\"\n", path);
		proc_failed("figure", __FILE__, __LINE__);
	}
	return (int64_t)json_number_value(value);
}

const char *text_at(const json_t *json, const char *path)
{
	const char *text = json_string_value(value_at(json, path));

	if (!text) {
		proc_printf("no text \"%s\"\n", path);
		proc_failed("text_at", __FILE__, __LINE__);
	}
	return fmt("%s", text);
}

const json_t *named(const json_t *json, const char *list, const char *name)
{
	const json_t *array = value_at(json, list);
	size_t index;
	json_t *one;

	json_array_foreach((json_t *)array, index, one) {
		if (!strcmp(json_string_value(json_object_get(one, "name")), name))
			return one;
	}
	proc_printf("no \"%s\" in %s\n", name, list);
	proc_failed("named", __FILE__, __LINE__);
}

const char *levels_now(const char *target, const char *class_name)
{
	json_t *json = once(target);
	const json_t *class = named(json, "classes", class_name);
	const char *text = fmt("%s/%s", text_at(class, "level"), text_at(class, "own_level"));

	json_decref(json);
	return text;
}

const char *level_now(const char *target, const char *class_name)
{
	const char *both = levels_now(target, class_name);

	return fmt("%.*s", (int)strcspn(both, "/"), both);
}

/* ---- screens ---- */

/* Looks at the bytes, because libvterm sometimes restores an older state together with the main screen. */
static bool cursor_is_shown(struct term *term)
{
	static const char mode[] = "\033[?25";
	size_t count;
	const char *raw = term_raw(term, &count);

	for (size_t at = count; at-- > 0;)
		if (at + sizeof mode - 1 < count && !memcmp(raw + at, mode, sizeof mode - 1))
			return raw[at + sizeof mode - 1] == 'h';
	return true;
}

void assert_terminal_restored(struct term *term)
{
	assert_false(term_on_alternate_screen(term));
	assert_true(term_is_cooked(term));
	assert_true(cursor_is_shown(term));
	assert_false(term_wants_mouse(term));
}

void screen_quit(struct term *term)
{
	term_keys(term, "q");
	assert_int_equal(term_wait_exit(term, 5000), 0);
	assert_terminal_restored(term);
}

/* ---- sockets of our own ---- */

static int serve(int family, const void *address, socklen_t length)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (fd < 0 || bind(fd, address, length) < 0 || listen(fd, 8) < 0)
		proc_failed("bind, listen", __FILE__, __LINE__);
	return fd;
}

int serve_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strncpy(address.sun_path, path, sizeof address.sun_path - 1);
	return serve(AF_UNIX, &address, sizeof address);
}

int serve_tcp(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return serve(AF_INET, &address, sizeof address);
}

int serve_accept(int listen_fd)
{
	int fd;

	WAIT_UNTIL((fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0, 5000);
	return fd;
}
