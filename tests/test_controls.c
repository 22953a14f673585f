#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/session/controls.h"
#include "protocol/decode.h"
#include "tests/support/figures.h"
#include "tests/support/story.h"

static struct session session;
static struct source source;
static struct controls controls;
static struct story story;
static struct problem problem;
static int fds[2];
static uint32_t answer_count;
static struct request latest;

static int control(struct source *of) { (void)of; return fds[0]; }
static const struct source_kind controlled = { .control = control };

static void answered(void *arg, const struct request *request)
{
	assert_ptr_equal(arg, &controls);
	answer_count++;
	latest = *request;
}

static int setup(void **state)
{
	(void)state;
	story_init(&story, 7);
	source = (struct source){ .kind = &controlled, .state = SOURCE_OPEN };
	answer_count = 0;
	problem = (struct problem){ 0 };
	if (session_init(&session, "x", LIMIT_LEAD_BYTES) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds) < 0)
		return -1;
	controls_init(&controls, &session, &source);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	controls_fini(&controls);
	session_fini(&session);
	story_fini(&story);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static void hear_story(void)
{
	figures_feed(&session, story.wire.bytes, story.wire.count, 0);
	story.wire.count = 0;
}

static void greet(void)
{
	story_greet(&story);
	story_tick(&story);
	hear_story();
}

static void ack(uint64_t request, uint64_t code, const char *text)
{
	wire_add(&story.wire, ACK, ack, .request = request, .code = code, .text = text_of(text));
	wire_close(&story.wire);
	hear_story();
}

/* Returns the next request that was sent. Its texts are not valid any more. */
static struct message sent(void)
{
	uint8_t bytes[LIMIT_REQUEST_BYTES];
	ssize_t count = recv(fds[1], bytes, sizeof bytes, 0);
	struct decoder *decoder = decoder_new();
	struct message message;
	const uint8_t *at = bytes;
	size_t left = (size_t)count;

	if (count <= 0)
		fail_msg("nothing was sent");
	assert_int_equal(decode_next(decoder, &at, &left, &message), DECODE_MESSAGE);
	assert_int_equal(left, 0);
	decoder_free(decoder);
	return message;
}

static void nothing_sent(void)
{
	uint8_t byte;

	assert_int_equal(recv(fds[1], &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static void ping(void)
{
	assert_int_equal(controls_request(&controls, &(struct message){ .kind = KIND_PING }, answered, &controls), 0);
	sent();
}

/* ---- requests ---- */

static void requests_are_numbered(void **state)
{
	struct message level = { .kind = KIND_SET_LEVEL,
				 .set_level = { .request = 77, .class_id = 1, .site = 3, .level = 2 } };
	struct message message;

	(void)state;
	greet();
	assert_int_equal(controls_request(&controls, &level, answered, &controls), 0);
	message = sent();
	assert_int_equal(message.kind, KIND_SET_LEVEL);
	assert_int_equal(message.set_level.request, 1);
	assert_int_equal(message.set_level.site, 3);
	assert_int_equal(controls_request(&controls, &(struct message){ .kind = KIND_PING }, NULL, NULL), 0);
	assert_int_equal(sent().ping.request, 2);
	ack(2, ACK_DONE, "");                   /* without a callback nothing happens */
	ack(1, ACK_DONE, "");
	assert_int_equal(answer_count, 1);
	assert_int_equal(latest.kind, KIND_SET_LEVEL);
	assert_int_equal(latest.class_id, 1);
	assert_int_equal(latest.site, 3);
	assert_int_equal(latest.level, 2);
}

static void an_ack_answers_its_request_and_no_other(void **state)
{
	(void)state;
	greet();
	ping();
	ping();
	ack(2, ACK_DENIED, "not for this viewer");
	assert_int_equal(answer_count, 1);
	assert_int_equal(latest.id, 2);
	assert_int_equal(latest.code, ACK_DENIED);
	assert_string_equal(latest.text, "not for this viewer");
	ack(0, 1, "unknown");
	ack(2, 0, "");                          /* again */
	ack(3, 0, "");
	ack(1 + CONTROLS_REQUESTS, 0, "");
	ack((1ull << 32) + 1, 0, "");
	ack(UINT64_MAX, UINT64_MAX, "");
	assert_int_equal(answer_count, 1);
	ack(1, 0, "");
	assert_int_equal(answer_count, 2);
}

static void the_oldest_requests_are_given_up(void **state)
{
	(void)state;
	greet();
	for (int i = 0; i < CONTROLS_REQUESTS + 2; i++)
		ping();
	assert_int_equal(answer_count, 2);      /* of the two that had to make room */
	assert_int_equal(latest.code, CONTROLS_NO_ANSWER);
	ack(1, 0, "late");
	ack(2, 0, "late");
	assert_int_equal(answer_count, 2);
	ack(3, 0, "");
	assert_int_equal(answer_count, 3);
}

static void another_program_does_not_answer_for_the_one_before(void **state)
{
	struct story other;

	(void)state;
	greet();
	ping();
	story_init(&other, 8);
	story_greet(&other);
	figures_feed(&session, other.wire.bytes, other.wire.count, 0);
	story_fini(&other);
	assert_int_equal(answer_count, 1);
	assert_int_equal(latest.code, CONTROLS_NO_ANSWER);
	ack(1, 0, "");
	assert_int_equal(answer_count, 1);
}

static void what_cannot_be_sent_says_why(void **state)
{
	char name[LIMIT_TEXT_BYTES];
	struct message attach = { .kind = KIND_ATTACH, .attach = { .name = { name, sizeof name } } };
	struct message one = { .kind = KIND_PING };

	(void)state;
	memset(name, 'x', sizeof name);
	assert_int_equal(controls_request(&controls, &attach, NULL, NULL), -EMSGSIZE);
	controls.is_read_only = true;
	assert_int_equal(controls_request(&controls, &one, NULL, NULL), -EPERM);
	controls.is_read_only = false;
	source.state = SOURCE_LOST;
	assert_int_equal(controls_request(&controls, &one, NULL, NULL), -ENOTCONN);
	nothing_sent();
	/* Requests that were not sent use no number. */
	source.state = SOURCE_OPEN;
	assert_int_equal(controls_request(&controls, &one, NULL, NULL), 0);
	assert_int_equal(sent().ping.request, 1);
}

/* ---- levels ---- */

static const struct wish *wish_named(const char *name)
{
	for (int i = 0; i < controls.wish_count; i++)
		if (!strcmp(controls.wishes[i].name, name))
			return &controls.wishes[i];
	fail_msg("no level of %s is wanted", name);
	return NULL;
}

static int set_level(uint32_t class_id, uint32_t site, uint8_t level)
{
	return controls_set_level(&controls, class_id, site, level, answered, &controls);
}

static void a_level_is_followed_until_its_answer(void **state)
{
	const struct wish *mem;

	(void)state;
	greet();
	controls_clock(&controls, 55);
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_ALL), 0);
	mem = wish_named("mem");
	assert_int_equal(mem->state, WISH_WAITING);
	assert_int_equal(mem->level, LEVEL_ALL);
	assert_int_equal(mem->sent_ns, 55);
	ack(mem->request, ACK_DENIED, "no");
	assert_int_equal(mem->state, WISH_REFUSED);
	assert_string_equal(mem->text, "no");
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_SUM), 0);
	assert_string_equal(mem->text, "");
	ack(mem->request, ACK_DONE, "");
	assert_int_equal(mem->state, WISH_DONE);
	controls.is_read_only = true;
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_OFF), -EPERM);
	assert_int_equal(mem->level, LEVEL_SUM);
	assert_int_equal(set_level(STORY_NET, 0, LEVEL_OFF), -EPERM);
	assert_int_equal(controls.wish_count, 1);
}

static void a_level_of_a_site_is_a_wish_of_its_own(void **state)
{
	(void)state;
	greet();
	assert_int_equal(set_level(STORY_NET, STORY_REQUEST, LEVEL_ALL), 0);
	assert_int_equal(set_level(STORY_NET, 0, LEVEL_SUM), 0);
	ack(wish_named("net.request")->request, ACK_LIMIT, "too many");
	assert_int_equal(wish_named("net.request")->state, WISH_REFUSED);
	assert_int_equal(wish_named("net")->state, WISH_WAITING);
}

/* An enemy gives a class no name. Its level is still that of one class, not of all. */
static void a_class_without_a_name_is_not_every_class(void **state)
{
	(void)state;
	greet();
	wire_add(&story.wire, CLASS, class, .id = 9, .name = text_of(""), .level = LEVEL_SUM);
	wire_close(&story.wire);
	hear_story();
	assert_int_equal(set_level(9, 0, LEVEL_ALL), 0);
	assert_int_equal(sent().kind, KIND_SET_LEVEL);
}

static void a_level_that_was_given_back_is_wanted_no_longer(void **state)
{
	(void)state;
	greet();
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_ALL), 0);
	assert_int_equal(set_level(STORY_NET, 0, LEVEL_ALL), 0);
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_OWN), 0);
	ack(wish_named("mem")->request, ACK_DONE, "");
	assert_int_equal(controls.wish_count, 1);
	assert_int_equal(wish_named("net")->state, WISH_WAITING);
}

static void what_is_not_answered_has_an_end(void **state)
{
	(void)state;
	greet();
	controls_clock(&controls, 60);
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_SUM), 0);
	controls_clock(&controls, 60 + 9000000000u);
	assert_int_equal(answer_count, 0);
	controls_clock(&controls, 60 + 11000000000u);
	assert_int_equal(answer_count, 1);
	assert_int_equal(latest.code, CONTROLS_NO_ANSWER);
	assert_string_equal(latest.text, "no answer");
	assert_int_equal(wish_named("mem")->state, WISH_UNANSWERED);
	ping();
	controls_lost(&controls);
	assert_int_equal(answer_count, 2);
	assert_int_equal(latest.kind, KIND_PING);
	assert_int_equal(latest.code, CONTROLS_NO_ANSWER);
	ack(latest.id, ACK_DONE, "");
	assert_int_equal(answer_count, 2);
}

/* The next program has the same classes under other numbers. */
static void a_wish_goes_by_name_to_the_next_program(void **state)
{
	const char *missing;
	struct message message;

	(void)state;
	greet();
	assert_int_equal(controls_wish(&controls, "net=all", &problem), EXIT_DONE);
	assert_true(controls_attach(&controls, &missing));
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_OFF), 0);
	for (int i = 0; i < 5; i++)
		sent();
	story_fini(&story);
	story_init(&story, 8);
	wire_message(&story.wire, &(struct message){ .kind = KIND_HELLO, .hello = story.hello });
	wire_add(&story.wire, CLASS, class, .id = 9, .name = text_of("net"), .level = LEVEL_SUM);
	wire_add(&story.wire, CLASS, class, .id = 5, .name = text_of("mem"), .level = LEVEL_SUM);
	wire_close(&story.wire);
	hear_story();
	assert_true(controls_attach(&controls, &missing));
	for (int i = 0; i < 3; i++)
		sent();
	message = sent();
	assert_int_equal(message.set_level.class_id, 9);
	assert_int_equal(message.set_level.level, LEVEL_ALL);
	message = sent();
	assert_int_equal(message.set_level.class_id, 5);
	assert_int_equal(message.set_level.level, LEVEL_OFF);
	nothing_sent();
}

static void what_was_refused_is_not_asked_for_again(void **state)
{
	const char *missing;

	(void)state;
	greet();
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_ALL), 0);
	ack(wish_named("mem")->request, ACK_DENIED, "no");
	sent();
	assert_true(controls_attach(&controls, &missing));
	for (int i = 0; i < 3; i++)
		sent();
	nothing_sent();
}

static void levels_that_we_hold_are_sent_again_on_a_new_connection(void **state)
{
	const char *missing;
	struct message message;

	(void)state;
	greet();
	controls.interval_ns = 5;
	assert_int_equal(controls_wish(&controls, "net=sum", &problem), EXIT_DONE);
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_ALL), 0);
	controls.persist = true;
	assert_int_equal(set_level(STORY_MEM, 0, LEVEL_OFF), 0);
	sent();
	sent();
	assert_true(controls_attach(&controls, &missing));
	assert_int_equal(sent().kind, KIND_ATTACH);
	assert_int_equal(sent().kind, KIND_WATCH);
	message = sent();
	assert_int_equal(message.kind, KIND_TICK);
	assert_int_equal(message.tick.tick_ns, 5);
	message = sent();
	assert_int_equal(message.kind, KIND_SET_LEVEL);
	assert_int_equal(message.set_level.class_id, STORY_NET);
	assert_int_equal(message.set_level.level, LEVEL_SUM);
	assert_int_equal(message.set_level.persist, 0);
	message = sent();                       /* the latest wish for mem, once */
	assert_int_equal(message.set_level.class_id, STORY_MEM);
	assert_int_equal(message.set_level.level, LEVEL_OFF);
	assert_int_equal(message.set_level.persist, 1);
	nothing_sent();
}

static void a_stream_that_cannot_be_asked_keeps_its_pace(void **state)
{
	(void)state;
	greet();
	assert_int_equal(controls_set_interval(&controls, 10 * STORY_SECOND), 0);
	story_ticks(&story, 5);
	hear_story();
	assert_int_equal(model_ticks(session.model), 2);
	source.state = SOURCE_LOST;
	assert_int_equal(controls_set_interval(&controls, 10 * STORY_SECOND), -ENOTCONN);
	story_ticks(&story, 5);
	hear_story();
	assert_int_equal(model_ticks(session.model), 7);
}

/* ---- wishes ---- */

static void wishes_name_classes_sites_or_all(void **state)
{
	const char *missing = "";
	struct message message;

	(void)state;
	greet();
	assert_int_equal(controls_wish(&controls, "sum,net=all,net.request=off,all=none", &problem), EXIT_DONE);
	assert_true(controls_check_wishes(&controls, &missing));
	assert_int_equal(controls_send_wishes(&controls, answered, &controls), 4);
	message = sent();
	assert_int_equal(message.kind, KIND_ENABLE_ALL);
	assert_int_equal(message.enable_all.level, LEVEL_SUM);
	assert_int_equal(sent().set_level.class_id, STORY_NET);
	message = sent();
	assert_int_equal(message.set_level.site, STORY_REQUEST);
	assert_int_equal(message.set_level.level, LEVEL_OFF);
	message = sent();
	assert_int_equal(message.kind, KIND_ENABLE_ALL);
	assert_int_equal(message.enable_all.level, LEVEL_OFF);
}

static void a_wish_for_what_the_program_lacks_is_named_and_the_others_are_sent(void **state)
{
	const char *missing = "";

	(void)state;
	greet();
	assert_int_equal(controls_wish(&controls, "nett=all,net.nothing=all,mem=sum", &problem), EXIT_DONE);
	assert_false(controls_check_wishes(&controls, &missing));
	assert_string_equal(missing, "nett");
	assert_int_equal(controls_send_wishes(&controls, NULL, NULL), 1);
	assert_int_equal(sent().set_level.class_id, STORY_MEM);
	source.state = SOURCE_LOST;
	assert_int_equal(controls_send_wishes(&controls, NULL, NULL), -ENOTCONN);
	missing = "net.nothing";
	controls_no_such_class(&controls, missing, &problem);
	assert_int_equal(problem.code, EXIT_USAGE);
	assert_string_equal(problem.what, "class \"net.nothing\": the target has no such class");
	assert_non_null(strstr(problem.todo, " mem"));
}

static void a_bad_list_of_wishes_is_refused(void **state)
{
	static const char *const bad[] = { "net=loud", "=all", "net=", "mem=sum,x", "own", "net=own" };
	char long_name[2 * LIMIT_NAME_BYTES + 5];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(controls_wish(&controls, bad[i], &problem), EXIT_USAGE);
		assert_non_null(strstr(problem.what, "bad level: "));
	}
	memset(long_name, 'x', sizeof long_name);
	memcpy(long_name + sizeof long_name - 5, "=all", 5);
	assert_int_equal(controls_wish(&controls, long_name, &problem), EXIT_USAGE);
	controls.wish_count = 0;
	for (int i = 0; i < CONTROLS_WISHES; i++)
		assert_int_equal(controls_wish(&controls, "all", &problem), EXIT_DONE);
	assert_int_equal(controls_wish(&controls, "all", &problem), EXIT_USAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(requests_are_numbered), TEST(an_ack_answers_its_request_and_no_other),
		TEST(the_oldest_requests_are_given_up), TEST(another_program_does_not_answer_for_the_one_before),
		TEST(what_cannot_be_sent_says_why), TEST(a_level_is_followed_until_its_answer),
		TEST(a_class_without_a_name_is_not_every_class),
		TEST(a_level_of_a_site_is_a_wish_of_its_own), TEST(a_level_that_was_given_back_is_wanted_no_longer),
		TEST(what_is_not_answered_has_an_end), TEST(a_wish_goes_by_name_to_the_next_program),
		TEST(what_was_refused_is_not_asked_for_again),
		TEST(levels_that_we_hold_are_sent_again_on_a_new_connection),
		TEST(a_stream_that_cannot_be_asked_keeps_its_pace), TEST(wishes_name_classes_sites_or_all),
		TEST(a_wish_for_what_the_program_lacks_is_named_and_the_others_are_sent),
		TEST(a_bad_list_of_wishes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
