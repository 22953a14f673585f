/* test_model_write.c -- a model fed with the messages of model_write() equals the model that was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/model/write.h"
#include "tests/support/figures.h"
#include "tests/support/story.h"
#include "tests/support/wire.h"

/* What a message changes in a model. */
enum part {
	STATE,                       /* a figure or definition: model_write() says it again */
	EVENT,                       /* something that happened: only the stream itself has it */
	NOT_THE_MODELS               /* the reader's, the session's or the program's */
};

/* A new row of kinds.def that is not a request does not compile until it has a case here. */
static enum part part_of(enum kind kind)
{
	switch (kind) {
	case KIND_HELLO: case KIND_CLASS: case KIND_SITE: case KIND_TASK: case KIND_SNAPSHOT: case KIND_VALUES:
	case KIND_BUCKETS: case KIND_HOLDERS: case KIND_BOOKS: case KIND_SINK: case KIND_LEVEL: case KIND_FRAME:
	case KIND_BYE:
		return STATE;
	case KIND_BATCH: case KIND_RECORD: case KIND_LOG: case KIND_FOLDED:
		return EVENT;
	case KIND_CHECK: case KIND_ACK: case KIND_INDEX: case KIND_END: case KIND_HELD:
#define REQUEST(KIND, name, role, handler) case KIND_##KIND:
#include "protocol/requests.def"
#undef REQUEST
		return NOT_THE_MODELS;
	}
	fail_msg("kind %d has no row in kinds.def", kind);
	return NOT_THE_MODELS;
}

struct told {
	char *text;                  /* own: one line a message */
	size_t bytes;
	FILE *out;
	uint32_t count[256];         /* of each kind */
	struct model *model;         /* is fed with the messages; may be NULL */
};

static void hear(void *arg, const struct message *message)
{
	struct told *told = arg;
	uint8_t block[BLOCK_ROOM];
	struct encoder encoder;
	struct message out = *message;

	if (message->kind == KIND_HELLO)                     /* the marker is the writer's own */
		out.hello.marker = (struct text){ "0123456789abcdef", MARKER_BYTES };
	encoder_init(&encoder, block, sizeof block);
	assert_true(encode_message(&encoder, &out));      /* each fits into a block of its own */
	assert_int_equal(part_of(message->kind), STATE);
	message_show(told->out, message);
	fputc('\n', told->out);
	told->count[message->kind]++;
	if (told->model)
		model_apply(told->model, message, encoder.used);
}

static void tell(const struct model *from, struct model *to, struct told *told)
{
	*told = (struct told){ .model = to };
	told->out = open_memstream(&told->text, &told->bytes);
	assert_non_null(told->out);
	model_write(from, hear, told);
	fclose(told->out);
}

static struct story story;
static struct session session;

static int setup(void **state)
{
	(void)state;
	story_init(&story, 1);
	return session_init(&session, "test", LIMIT_LEAD_BYTES);
}

static int teardown(void **state)
{
	(void)state;
	session_fini(&session);
	story_fini(&story);
	return 0;
}

/* A stream in which every kind of state occurs. */
static void hear_a_story(bool with_bye)
{
	struct number figures[SEVERITY_COUNT + 2] = { 0 };

	for (uint32_t i = 0; i < SEVERITY_COUNT; i++)
		figures[i] = number_of(10 + i);
	figures[SEVERITY_COUNT] = number_of(STORY_BYTES_IN);
	figures[SEVERITY_COUNT + 1] = number_of(4711);
	story_greet(&story);
	story_ticks(&story, 70);
	wire_add(&story.wire, LEVEL, level, .time_ns = story.now_ns, .class_id = STORY_NET, .level = LEVEL_SUM,
		 .own_level = LEVEL_ALL, .leases = 1, .by = text_of("ann"));
	for (uint64_t i = 1; i <= 3; i++)
		wire_add(&story.wire, FRAME, frame, .task = STORY_MAIN, .site = STORY_REQUEST, .number = i,
			 .time_ns = story.now_ns + i, .duration_ns = 1000 * i, .heap_bytes = -5, .heap_peak = 70,
			 .allocations = 9, .broken = i == 3 ? 5 : 0, .budget_ns = 2500,
			 .figures = { figures, SEVERITY_COUNT + 2 });
	wire_add(&story.wire, SINK, sink, .tick = 1, .taken = 50, .delivered = 40, .dropped = 3, .queued = 7,
		 .queue_bytes = 100, .queue_bytes_max = 200, .viewers = 2);
	story_ticks(&story, 2);
	if (with_bye)
		story_bye(&story);
	wire_close(&story.wire);
	figures_feed(&session, story.wire.bytes, story.wire.count, 0);
}

static void a_model_fed_by_it_equals_the_one_it_was_taken_from(void **state)
{
	struct model *other = model_new();
	const struct model_frame *frame;
	struct told first, second;

	(void)state;
	hear_a_story(true);
	tell(session.model, other, &first);
	for (size_t i = 0; i < kind_row_count; i++)
		if (part_of(kind_rows[i].id) == STATE && first.count[kind_rows[i].id] == 0)
			fail_msg("no %s in what the model says", kind_rows[i].name);
	/* The other model writes the same messages. */
	tell(other, NULL, &second);
	assert_string_equal(first.text, second.text);
	/* Figures that are computed from them are equal as well. */
	assert_int_equal(model_totals(other)->live.bytes, model_totals(session.model)->live.bytes);
	assert_int_equal(model_totals(other)->live.count, model_totals(session.model)->live.count);
	assert_int_equal(model_time_ns(other), model_time_ns(session.model));
	assert_true(model_is_settled(other));
	assert_string_equal(model_class(other, STORY_NET)->set_by, "ann");
	frame = model_frame(other, 0);
	assert_int_equal(frame->number, 3);
	assert_int_equal(frame->broken, 1);
	assert_int_equal(frame->counters[0].sum, 4711);
	assert_int_equal(model_link(other)->bad_messages, 0);
	free(first.text);
	free(second.text);
	model_free(other);
}

static void hearing_it_again_changes_nothing(void **state)
{
	struct model *other = model_new();
	struct told before, again;
	uint32_t lines;

	(void)state;
	hear_a_story(false);
	lines = model_line_count(session.model);
	tell(session.model, other, &before);
	tell(other, session.model, &again);
	free(again.text);
	tell(session.model, NULL, &again);
	assert_string_equal(before.text, again.text);
	assert_int_equal(model_line_count(session.model), lines);
	assert_int_equal(model_frame(session.model, 0)->seen, 3);
	free(before.text);
	free(again.text);
	model_free(other);
}

static void a_model_that_was_not_greeted_says_nothing(void **state)
{
	struct told told;

	(void)state;
	tell(session.model, NULL, &told);
	assert_int_equal(told.bytes, 0);
	free(told.text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_model_fed_by_it_equals_the_one_it_was_taken_from), TEST(hearing_it_again_changes_nothing),
		TEST(a_model_that_was_not_greeted_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
