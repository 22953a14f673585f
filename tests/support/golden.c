#include "tests/support/golden.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PATH_BYTES = 512 };

static void rewrite(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	fputs(text, file);
	if (fclose(file) != 0)
		fail_msg("%s: %s", path, strerror(errno));
}

/* Returns the whole file, which the caller frees. */
static char *read_all(const char *path)
{
	char *text = NULL, buffer[4096];
	size_t text_bytes = 0, bytes;
	FILE *in = fopen(path, "r"), *out = open_memstream(&text, &text_bytes);

	if (!in || !out)
		fail_msg("%s: %s; make golden writes it", path, strerror(errno));
	while ((bytes = fread(buffer, 1, sizeof buffer, in)) > 0)
		fwrite(buffer, 1, bytes, out);
	fclose(in);
	fclose(out);
	return text;
}

static void show_difference(const char *path, const char *expected, const char *text)
{
	int line = 1;

	for (;;) {
		size_t expected_bytes = strcspn(expected, "\n"), bytes = strcspn(text, "\n");

		if (expected_bytes != bytes || memcmp(expected, text, bytes) != 0 || !expected[bytes] || !text[bytes]) {
			print_error("%s:%d\n expected |%.*s|\n but drew |%.*s|\n", path, line,
				    (int)expected_bytes, expected, (int)bytes, text);
			return;
		}
		expected += bytes + 1;
		text += bytes + 1;
		line++;
	}
}

void golden_check(const char *name, const char *text)
{
	char path[PATH_BYTES], *expected;
	const char *golden = getenv("GOLDEN");
	bool same;

	snprintf(path, sizeof path, "tests/screens/%s.txt", name);
	if (golden && strcmp(golden, "1") == 0) {
		rewrite(path, text);
		return;
	}
	expected = read_all(path);
	same = strcmp(expected, text) == 0;
	if (!same)
		show_difference(path, expected, text);
	free(expected);
	if (!same)
		fail_msg("%s differs", path);
}
