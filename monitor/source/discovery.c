#include "monitor/source/discovery.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void discovery_directory(char *out, size_t out_bytes, uid_t uid)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (uid == geteuid() && runtime && runtime[0] == '/')
		snprintf(out, out_bytes, "%s/telem", runtime);
	else
		snprintf(out, out_bytes, "/tmp/telem-%u", (unsigned)uid);
}

/* What /proc/PID/stat says of a process. */
struct process_stat { char state; int parent; unsigned long long start_ticks; };

/* Returns false when there is no such process. */
static bool process_stat(pid_t pid, struct process_stat *out)
{
	char path[32], line[1024], *at = NULL;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	/* The fields are 3, 4 and 22. The name of the program stands before them and may hold any characters. */
	if (fgets(line, sizeof line, file))
		at = strrchr(line, ')');
	fclose(file);
	return at && sscanf(at + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			    &out->state, &out->parent, &out->start_ticks) == 3;
}

bool process_exists(pid_t pid)
{
	struct process_stat stat;

	/* A zombie (Z) or dead process (X) has ended, though its parent has not yet called wait(). */
	return process_stat(pid, &stat) && stat.state != 'Z' && stat.state != 'X';
}

static void user_name(uid_t uid, char *out, size_t out_bytes)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(out, out_bytes, "%s", user->pw_name);
	else
		snprintf(out, out_bytes, "%u", (unsigned)uid);
}

bool process_name(pid_t pid, char *out, size_t out_bytes)
{
	char path[32];
	FILE *file;
	bool is_read;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(out, (int)out_bytes, file) != NULL;
	fclose(file);
	if (is_read)
		out[strcspn(out, "\n")] = '\0';
	return is_read;
}

static uint64_t process_uptime_ns(pid_t pid)
{
	struct process_stat stat;
	struct timespec now;
	uint64_t now_ns, start_ns;

	if (!process_stat(pid, &stat))
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	start_ns = stat.start_ticks * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
	return now_ns > start_ns ? now_ns - start_ns : 0;
}

/* Returns 1 when a process listens on the socket, 0 when none does, -1 when we may not connect to it. */
static int is_listened(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, result = 1;

	if (strlen(path) >= sizeof address.sun_path)
		return 0;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EAGAIN)
		result = errno == EACCES || errno == EPERM ? -1 : 0;
	close(fd);
	return result;
}

/* The PID in PID.sock or PID-STARTTIME.sock. Returns 0 for every other name, because any program may have chosen it. */
static pid_t pid_of_socket(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	const char *end = name + digits;

	if (*end == '-')
		end += 1 + strspn(end + 1, "0123456789");
	return digits > 0 && digits < 10 && !strcmp(end, ".sock") ? (pid_t)atol(name) : 0;
}

/* True when only the user whose directory this is can have put anything there. */
static bool is_directory_of(const char *path, uid_t uid)
{
	struct stat st;

	errno = 0;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid && !(st.st_mode & 077);
}

/* Reads a link that a program has made beside its socket. Returns false when there is none. */
static bool read_link(const struct found *found, const char *what, char *out, size_t out_bytes)
{
	char link[sizeof found->path + 12];
	ssize_t length;

	snprintf(link, sizeof link, "%s.%s", found->path, what);
	length = readlink(link, out, out_bytes - 1);
	out[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static int list_directory(const char *directory, uid_t uid, struct found *found, int found_max)
{
	DIR *dir = is_directory_of(directory, uid) ? opendir(directory) : NULL;
	struct dirent *entry;
	int count = 0;

	if (!dir)
		return 0;
	while (count < found_max && (entry = readdir(dir))) {
		struct found *one = &found[count];
		struct stat st;
		int listened;

		*one = (struct found){ .pid = pid_of_socket(entry->d_name) };
		if (!one->pid || (size_t)snprintf(one->path, sizeof one->path, "%s/%s", directory, entry->d_name) >=
					 sizeof one->path)
			continue;
		listened = is_listened(one->path);
		if (listened == 0 || lstat(one->path, &st) < 0)
			continue;
		one->uid = st.st_uid;
		one->is_permitted = listened > 0;
		user_name(one->uid, one->user, sizeof one->user);
		if (!process_name(one->pid, one->comm, sizeof one->comm))
			snprintf(one->comm, sizeof one->comm, "?");
		/* Programs of earlier versions have told no name. */
		if (!read_link(one, "name", one->program, sizeof one->program))
			snprintf(one->program, sizeof one->program, "%s", one->comm);
		read_link(one, "problem", one->problem, sizeof one->problem);
		one->uptime_ns = process_uptime_ns(one->pid);
		count++;
	}
	closedir(dir);
	return count;
}

static int by_pid(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Adds the programs of all other users whose directory has its usual place. */
static int list_everyone(struct found *found, int found_max)
{
	const char *runtime_parent = "/run/user";
	DIR *dir = opendir(runtime_parent);
	struct dirent *entry;
	char path[300];
	int count = 0;

	while (dir && (entry = readdir(dir))) {
		uid_t uid = (uid_t)atol(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) || uid == geteuid())
			continue;
		snprintf(path, sizeof path, "%s/%u/telem", runtime_parent, (unsigned)uid);
		count += list_directory(path, uid, found + count, found_max - count);
	}
	if (dir)
		closedir(dir);
	dir = opendir("/tmp");
	while (dir && (entry = readdir(dir))) {
		uid_t uid;

		if (strncmp(entry->d_name, "telem-", 6) || !isdigit((unsigned char)entry->d_name[6]))
			continue;
		uid = (uid_t)atol(entry->d_name + 6);
		if (uid == geteuid())
			continue;
		snprintf(path, sizeof path, "/tmp/telem-%u", (unsigned)uid);
		count += list_directory(path, uid, found + count, found_max - count);
	}
	if (dir)
		closedir(dir);
	return count;
}

int discovery_list(struct found *found, int found_max, bool everyone)
{
	char directory[256], other[64];
	int count;

	discovery_directory(directory, sizeof directory, geteuid());
	count = list_directory(directory, geteuid(), found, found_max);
	/* Programs that have no XDG_RUNTIME_DIR, like daemons and cron jobs, have their sockets in /tmp. */
	snprintf(other, sizeof other, "/tmp/telem-%u", (unsigned)geteuid());
	if (strcmp(other, directory))
		count += list_directory(other, geteuid(), found + count, found_max - count);
	if (everyone)
		count += list_everyone(found + count, found_max - count);
	qsort(found, (size_t)count, sizeof *found, by_pid);
	return count;
}

/* Finds a socket of the process to which we may connect, and writes its path. If denied is still empty, it becomes the
 * path of a socket to which we may not connect. */
static bool try_directory(const char *directory, uid_t uid, pid_t pid, char path[108], char denied[108])
{
	struct found found[64];
	int count, listened;
	bool is_trusted = is_directory_of(directory, uid), is_closed = errno == EACCES;

	if (!is_trusted && !is_closed)
		return false;
	if ((size_t)snprintf(path, 108, "%s/%d.sock", directory, (int)pid) < 108) {
		listened = is_trusted ? is_listened(path) : -1;
		if (listened < 0 && !denied[0])
			strcpy(denied, path);
		if (listened > 0)
			return true;
	}
	count = list_directory(directory, uid, found, 64);
	for (int i = 0; i < count; i++)
		if (found[i].pid == pid && found[i].is_permitted) {
			strcpy(path, found[i].path);
			return true;
		}
	return false;
}

/* The number a process has in its own PID namespace, from NSpid of /proc/PID/status. */
static pid_t inner_pid(pid_t pid)
{
	char path[32], line[256], *last;
	pid_t inner = pid;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "NSpid:", 6)) {
			line[strcspn(line, "\n")] = '\0';
			last = strrchr(line, '\t');
			if (last && atoi(last) > 0)
				inner = (pid_t)atoi(last);
		}
	if (file)
		fclose(file);
	return inner;
}

/* Returns 1 when the process has libtelem mapped or linked in, 0 when not, a negative errno when that cannot be
 * seen. */
static int links_libtelem(pid_t pid)
{
	char path[40], line[512];
	FILE *file;
	int result = 0;
	static const char mark[] = "telem_module_enter_";
	char *bytes;
	size_t count, kept = 0;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (!result && fgets(line, sizeof line, file))
		result = strstr(line, "libtelem.so") != NULL;
	fclose(file);
	if (result)
		return 1;
	/* A program that links libtelem.a has this name among its symbols, unless they were stripped. */
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	bytes = malloc((1 << 20) + sizeof mark);
	if (!bytes) {
		fclose(file);
		return -ENOMEM;
	}
	while (!result && (count = fread(bytes + kept, 1, 1 << 20, file)) > 0) {
		count += kept;
		result = memmem(bytes, count, mark, sizeof mark - 1) != NULL;
		kept = count < sizeof mark ? count : sizeof mark;
		memmove(bytes, bytes + count - kept, kept);
	}
	if (!result && ferror(file))
		result = -errno;
	fclose(file);
	free(bytes);
	return result;
}

static int no_such_process(pid_t pid, struct problem *problem)
{
	problem_set(problem, EXIT_NO_TARGET, "PID %d: no such process", (int)pid);
	problem_todo(problem, "telemtop list shows the programs that can be monitored.");
	return problem->code;
}

/* Fills in *problem when err kept us from seeing whether the process links libtelem. expected is where its socket would
 * be. */
static int not_examined(pid_t pid, const char *program, int err, const char *expected, struct problem *problem)
{
	bool has_no_program = err == ENOENT || err == ESRCH;

	if (has_no_program && !process_exists(pid))
		return no_such_process(pid, problem);
	if (err == EACCES || err == EPERM) {
		problem_set(problem, EXIT_PERMISSION, "PID %d (%s): may not be examined: permission denied on /proc/%d",
			    (int)pid, program, (int)pid);
		problem_todo(problem, "Run as its user, or as root with CAP_SYS_PTRACE. Looked for %s.", expected);
	} else if (has_no_program) {
		problem_set(problem, EXIT_NOT_LINKED, "PID %d (%s): is part of the kernel: it runs no program", (int)pid,
			    program);
		problem_todo(problem, "telemtop list shows the programs that can be monitored.");
	} else {
		problem_set(problem, EXIT_INTERNAL, "PID %d (%s): cannot be examined: %s", (int)pid, program,
			    strerror(err));
		problem_todo(problem, "So it is not known whether it links libtelem. Looked for %s.", expected);
	}
	return problem->code;
}

int discovery_pid(pid_t pid, char path[108], struct problem *problem)
{
	char directory[256], program[64] = "?", proc[32], expected[300], user[33], we[33];
	struct stat st;
	char denied[108] = "";
	int links;

	snprintf(proc, sizeof proc, "/proc/%d", (int)pid);
	if (stat(proc, &st) < 0)
		return no_such_process(pid, problem);
	process_name(pid, program, sizeof program);
	discovery_directory(directory, sizeof directory, geteuid());
	snprintf(expected, sizeof expected, "%s/%d.sock", directory, (int)pid);
	if (try_directory(directory, geteuid(), pid, path, denied))
		return EXIT_DONE;
	snprintf(directory, sizeof directory, "/tmp/telem-%u", (unsigned)st.st_uid);
	if (try_directory(directory, st.st_uid, pid, path, denied))
		return EXIT_DONE;
	snprintf(directory, sizeof directory, "/run/user/%u/telem", (unsigned)st.st_uid);
	if (try_directory(directory, st.st_uid, pid, path, denied))
		return EXIT_DONE;
	if (inner_pid(pid) != pid) {
		pid_t inner = inner_pid(pid);

		snprintf(directory, sizeof directory, "/proc/%d/root/tmp/telem-%u", (int)pid, (unsigned)st.st_uid);
		if (try_directory(directory, st.st_uid, inner, path, denied))
			return EXIT_DONE;
		snprintf(directory, sizeof directory, "/proc/%d/root/run/user/%u/telem", (int)pid, (unsigned)st.st_uid);
		if (try_directory(directory, st.st_uid, inner, path, denied))
			return EXIT_DONE;
		problem_set(problem, EXIT_PERMISSION, "PID %d (%s): runs in another container (PID %d there)", (int)pid,
			    program, (int)inner);
		problem_todo(problem, "Its socket is below /proc/%d/root; reaching that needs root or CAP_SYS_PTRACE.",
			     (int)pid);
		return problem->code;
	}
	if (denied[0] || (st.st_uid != geteuid() && geteuid() != 0)) {
		user_name(st.st_uid, user, sizeof user);
		user_name(geteuid(), we, sizeof we);
		problem_set(problem, EXIT_PERMISSION, "PID %d (%s): permission denied on %s", (int)pid, program,
			    denied[0] ? denied : path);
		problem_todo(problem, "It belongs to user %s (%u); you are %s (%u). Run as %s%s, or start it with "
				      "TELEM=\"sink=tcp:127.0.0.1:7070\".",
			     user, (unsigned)st.st_uid, we, (unsigned)geteuid(), user, st.st_uid ? " or root" : "");
		return problem->code;
	}
	links = links_libtelem(pid);
	if (links < 0)
		return not_examined(pid, program, -links, expected, problem);
	if (links == 0) {
		problem_set(problem, EXIT_NOT_LINKED, "PID %d (%s): does not link libtelem", (int)pid, program);
		problem_todo(problem, "Link libtelem and call telem_start() to see inside it.");
		return problem->code;
	}
	problem_set(problem, EXIT_NOT_LINKED, "PID %d (%s): links libtelem, but telemetry was not started", (int)pid,
		    program);
	problem_todo(problem, "It must call telem_start(). Looked for %s.", expected);
	return problem->code;
}

bool discovery_is_named(const struct found *found, const char *name)
{
	/* The kernel stores the first 15 characters of a name. */
	return !strcmp(found->program, name) || !strncmp(found->comm, name, 15);
}

/* Returns whether a process was forked by another, or by a child of it, and runs the same executable. */
static bool is_child(pid_t pid, pid_t parent)
{
	char path[32], ours[512], theirs[512];
	ssize_t our_length, their_length;
	struct process_stat stat;

	if (pid == parent)
		return false;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	our_length = readlink(path, ours, sizeof ours);
	snprintf(path, sizeof path, "/proc/%d/exe", (int)parent);
	their_length = readlink(path, theirs, sizeof theirs);
	if (our_length <= 0 || our_length != their_length || memcmp(ours, theirs, (size_t)our_length))
		return false;
	while (pid != parent && process_stat(pid, &stat))
		pid = stat.parent;
	return pid == parent;
}

int discovery_name(const char *name, pid_t *pid, char path[108], char note[160], struct problem *problem)
{
	struct found found[256];
	int count = discovery_list(found, 256, false), matches = 0;
	const struct found *oldest = NULL;
	char pids[200] = "";

	for (int i = 0; i < count; i++) {
		size_t used = strlen(pids);

		if (!discovery_is_named(&found[i], name))
			continue;
		if (!oldest || is_child(oldest->pid, found[i].pid))
			oldest = &found[i];
		snprintf(pids + used, sizeof pids - used, "%s%d", matches ? ", " : "", (int)found[i].pid);
		matches++;
	}
	note[0] = '\0';
	*pid = oldest ? oldest->pid : 0;
	if (!oldest) {
		problem_set(problem, EXIT_NO_TARGET, "%s: no monitored program has this name, and there is no such file",
			    name);
		problem_todo(problem, "telemtop list shows the programs that can be monitored.");
		return problem->code;
	}
	strcpy(path, oldest->path);
	for (int i = 0; i < count; i++)
		if (&found[i] != oldest && discovery_is_named(&found[i], name) &&
		    !is_child(found[i].pid, oldest->pid)) {
			problem_set(problem, EXIT_NO_TARGET, "%s: %d programs have this name: %s", name, matches, pids);
			problem_todo(problem, "Give the PID.");
			return problem->code;
		}
	if (matches > 1)
		snprintf(note, 160, "%s is PID %d; the others of this name are its children (%d).", name, (int)*pid,
			 matches - 1);
	return EXIT_DONE;
}
