#include "tests/support/fixture.h"

#include <arpa/inet.h>
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/proc.h"

#define FILES_PER_DIR 64
#define WORD_COUNT 4096
#define LINE_CELLS 72

/* below is appended to the directory; NULL removes the variable. */
static const struct { const char *name, *below; } env_rows[FIXTURE_ENV_COUNT] = {
	{ "XDG_RUNTIME_DIR", "" }, { "XDG_CONFIG_HOME", "/config" }, { "XDG_STATE_HOME", "/state" },
	{ "TELEM", NULL }, { "TELEMTOP_CONFIG", NULL }, { "TELEMTOP_THEME", NULL },
	{ "TELEMTOP_ASCII", NULL }, { "NO_COLOR", NULL },
};

static void env_enter(struct fixture *fixture)
{
	char value[sizeof(fixture->dir) + 16];

	for (int i = 0; i < FIXTURE_ENV_COUNT; i++) {
		const char *old = getenv(env_rows[i].name);

		fixture->old_env[i] = old ? strdup(old) : NULL;
		if (!env_rows[i].below) {
			unsetenv(env_rows[i].name);
			continue;
		}
		snprintf(value, sizeof(value), "%s%s", fixture->dir, env_rows[i].below);
		setenv(env_rows[i].name, value, 1);
	}
}

static void env_leave(struct fixture *fixture)
{
	for (int i = 0; i < FIXTURE_ENV_COUNT; i++) {
		if (fixture->old_env[i])
			setenv(env_rows[i].name, fixture->old_env[i], 1);
		else
			unsetenv(env_rows[i].name);
		free(fixture->old_env[i]);
	}
}

int fixture_init(struct fixture *fixture)
{
	*fixture = (struct fixture){ .dir = "/tmp/telem-test-XXXXXX" };
	if (!mkdtemp(fixture->dir))   /* makes it 0700 */
		return -errno;
	env_enter(fixture);
	return 0;
}

void fixture_fini(struct fixture *fixture)
{
	int err;

	proc_end_all();
	env_leave(fixture);
	err = fixture_remove(fixture->dir);
	if (err)
		proc_printf("%s: not removed: %s\n", fixture->dir, strerror(-err));
	for (size_t i = 0; i < fixture->path_count; i++)
		free(fixture->paths[i]);
	free(fixture->paths);
}

int fixture_setup(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	int err;

	assert(fixture);
	err = fixture_init(fixture);
	if (err) {
		free(fixture);
		return err;
	}
	*state = fixture;
	return 0;
}

int fixture_teardown(void **state)
{
	fixture_fini(*state);
	free(*state);
	return 0;
}

const char *fixture_path(struct fixture *fixture, const char *format, ...)
{
	char below[2048];
	char *path;
	va_list args;

	va_start(args, format);
	vsnprintf(below, sizeof(below), format, args);
	va_end(args);
	fixture->paths = realloc(fixture->paths, (fixture->path_count + 1) * sizeof(*fixture->paths));
	assert(fixture->paths);
	if (asprintf(&path, "%s/%s", fixture->dir, below) < 0)
		abort();
	fixture->paths[fixture->path_count++] = path;
	return path;
}

static _Noreturn void file_failed(const char *what, const char *path)
{
	char reason[400];

	snprintf(reason, sizeof(reason), "%s %.300s, %s,", what, path, strerror(errno));
	proc_failed(reason, __FILE__, __LINE__);
}

void fixture_write(const char *path, const char *bytes, size_t count)
{
	FILE *file = fopen(path, "we");

	if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0)
		file_failed("writing", path);
}

char *fixture_read(const char *path, size_t *count)
{
	FILE *file = fopen(path, "re");
	size_t used = 0, room = 4096;
	char *bytes = malloc(room);

	assert(bytes);
	if (!file)
		file_failed("reading", path);
	/* The size is not used, because files of /proc have none. */
	while (!feof(file)) {
		used += fread(bytes + used, 1, room - used - 1, file);
		if (ferror(file))
			file_failed("reading", path);
		if (used == room - 1) {
			room *= 2;
			bytes = realloc(bytes, room);
			assert(bytes);
		}
	}
	fclose(file);
	bytes[used] = '\0';
	if (count)
		*count = used;
	return bytes;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Writes word number index of the vocabulary. It has two to four syllables, and is the same at each call. Returns how
 * many letters it has. */
static size_t put_word(char out[8], uint32_t index)
{
	static const char consonants[] = "bdfgklmnprstvz";
	static const char vowels[] = "aeiou";
	uint64_t state = index;
	uint64_t bits = next_random(&state);
	size_t syllable_count = 2 + bits % 3;

	for (size_t i = 0; i < syllable_count; i++) {
		bits = next_random(&state);
		out[2 * i] = consonants[bits % (sizeof(consonants) - 1)];
		out[2 * i + 1] = vowels[(bits >> 32) % (sizeof(vowels) - 1)];
	}
	return 2 * syllable_count;
}

static void fill_text(char *bytes, size_t count, uint64_t *state)
{
	size_t used = 0, line = 0;

	while (used < count) {
		/* The product of two draws is small much more often than large. */
		uint64_t bits = next_random(state);
		uint32_t index = (uint32_t)((bits % WORD_COUNT) * ((bits >> 32) % WORD_COUNT) / WORD_COUNT);
		char word[9];
		size_t letters = put_word(word, index);

		line += letters + 1;
		word[letters] = line > LINE_CELLS ? '\n' : ' ';
		line = line > LINE_CELLS ? 0 : line;
		letters = letters + 1 < count - used ? letters + 1 : count - used;
		memcpy(bytes + used, word, letters);
		used += letters;
	}
	if (count > 0)
		bytes[count - 1] = '\n';
}

void fixture_text_tree(const char *path, uint32_t file_count, size_t file_bytes, uint64_t seed)
{
	char *bytes = malloc(file_bytes + 1);
	uint64_t state = seed;
	char name[2048];

	assert(bytes);
	if (mkdir(path, 0700) < 0)
		file_failed("making", path);
	for (uint32_t i = 0; i < file_count; i++) {
		int used = snprintf(name, sizeof(name), "%.2000s/d%03u", path, i / FILES_PER_DIR);

		if (i % FILES_PER_DIR == 0 && mkdir(name, 0700) < 0)
			file_failed("making", name);
		snprintf(name + used, sizeof(name) - (size_t)used, "/f%05u.txt", i);
		fill_text(bytes, file_bytes, &state);
		fixture_write(name, bytes, file_bytes);
	}
	free(bytes);
}

uint16_t fixture_free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t address_bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &address_bytes) < 0)
		file_failed("finding", "a free port");
	close(fd);
	return ntohs(address.sin_port);
}

static int remove_at(int dir_fd, const char *name);

static int remove_below(int dir_fd)
{
	DIR *dir = fdopendir(dir_fd);
	int err = 0;

	if (!dir) {
		err = -errno;
		close(dir_fd);
		return err;
	}
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		int entry_err;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		entry_err = remove_at(dirfd(dir), entry->d_name);
		err = err ? err : entry_err;
	}
	closedir(dir);
	return err;
}

static int remove_at(int dir_fd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd, err;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = openat(dir_fd, name, flags);
	if (fd < 0 && errno == EACCES) {   /* a test has locked it */
		fchmodat(dir_fd, name, 0700, 0);
		fd = openat(dir_fd, name, flags);
	}
	if (fd < 0)
		return -errno;
	fchmod(fd, 0700);
	err = remove_below(fd);   /* closes fd */
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
		return 0;
	return err ? err : -errno;
}

int fixture_remove(const char *path)
{
	return remove_at(AT_FDCWD, path);
}
