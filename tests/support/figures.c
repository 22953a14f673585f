#include "tests/support/figures.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/cli/json.h"

char *figures_json(const struct session *session)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(json_write(session->model, "live", out), 0);
	fclose(out);
	return text;
}

char *figures_essence(const struct session *session, bool from_start)
{
	static const char *const of_bytes[] = { "bytes", "blocks", "events", "bytes_per_s", "events_per_s", "lag_ns",
						"skipped_bytes" };
	static const char *const since[] = { "received", "lost", "set_by" };
	char *text = figures_json(session), *essence;
	json_t *root = json_loads(text, 0, NULL), *class;
	size_t i;

	assert_non_null(root);
	for (i = 0; i < sizeof of_bytes / sizeof *of_bytes; i++)
		json_object_del(json_object_get(root, "link"), of_bytes[i]);
	if (!from_start) {
		json_object_del(root, "link");
		json_object_del(root, "lost");
		json_array_foreach(json_object_get(root, "classes"), i, class)
			for (size_t j = 0; j < sizeof since / sizeof *since; j++)
				json_object_del(class, since[j]);
	}
	essence = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(root);
	free(text);
	return essence;
}

void figures_equal(char *a, char *b)
{
	size_t same = 0, from;

	while (a[same] && a[same] == b[same])
		same++;
	from = same > 100 ? same - 100 : 0;
	if (a[same] || b[same])
		fail_msg("differ at %zu:\n%.250s\n%.250s", same, a + from, b + from);
	free(a);
	free(b);
}

void figures_feed(struct session *session, const uint8_t *bytes, size_t count, size_t piece)
{
	while (count > 0) {
		size_t room, some = piece && piece < count ? piece : count;
		uint8_t *at = session_room(session, &room);

		if (some > room)
			some = room;
		memcpy(at, bytes, some);
		session_filled(session, some, 0);
		bytes += some;
		count -= some;
	}
}
