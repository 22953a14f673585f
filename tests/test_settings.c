/* test_settings.c -- the variable TELEM, the config text and the setters: what is taken, and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(quiet, "off", TELEM_OFF);
TELEM_CLASS(loud, "at all", TELEM_ALL);

static void the_variable_configures_the_program(void **state)
{
	(void)state;
	setenv("TELEM", "net=all;quiet=sum;loud=off;flush=5ms;ring=64K;policy=overwrite;name=other;later=all", 1);
	assert_int_equal(telem_start(NULL), 0);
	unsetenv("TELEM");
	assert_int_equal(telem_level_get("net"), TELEM_ALL);
	assert_int_equal(telem_level_get("quiet"), TELEM_SUM);
	assert_int_equal(telem_level_get("loud"), TELEM_OFF);
	reader = attach_fd(NULL);
	assert_string_equal(reader->program, "other");
	assert_int_equal(reader->policy, TELEM_OVERWRITE);
}

static void the_variable_is_ignored_when_the_program_says_so(void **state)
{
	(void)state;
	setenv("TELEM", "net=off", 1);
	start(NULL);
	unsetenv("TELEM");
	assert_int_equal(telem_level_get("net"), TELEM_SUM);
}

static void the_last_setting_of_a_class_counts(void **state)
{
	(void)state;
	start("net=off;all=all;quiet=sum");
	assert_int_equal(telem_level_get("net"), TELEM_ALL);
	assert_int_equal(telem_level_get("quiet"), TELEM_SUM);
}

static void a_bad_setting_is_named_and_the_good_ones_hold(void **state)
{
	static const char *const bad[] = {
		"net", "net=", "net=loud", "net=3", "flush=", "flush=5", "flush=0ms", "flush=11s", "flush=-1ms",
		"flush=99999999999999999999s", "ring=1", "ring=65G", "ring=1X", "policy=", "policy=wait",
		"policy=drop:5ms", "policy=block:", "policy=block:11s", "discovery=maybe", "=all", "sink=",
		"sink=nowhere", "sink=tcp:", "sink=tcp:127.0.0.1", "sink=tcp:127.0.0.1:99999", "sink=tcp:0.0.0.0:0",
		"sink=tcp:127.0.0.1:0,contro", "sink=fd:-1", "sink=fd:99999", "sink=fd:x", "sink=file:/no/such/dir/f",
		"sink=unix:/no/such/dir/s", "sink=fifo:/no/such/dir/f", "sink=connect:some.host:1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char config[200];

		snprintf(config, sizeof config, "quiet=sum;%s;loud=sum", bad[i]);
		if (telem_start(&(struct telem_options){ .config = config, .ignore_environment = true }) != -EINVAL)
			proc_printf("taken: %s\n", bad[i]);
		assert_true(strlen(telem_error()) > 0);
		assert_int_equal(telem_level_get("quiet"), TELEM_SUM);
		assert_int_equal(telem_level_get("loud"), TELEM_SUM);
		assert_int_equal(telem_start(NULL), -EALREADY);
		telem_stop();
	}
}

static void the_program_s_name_is_beside_its_socket(void **state)
{
	const char *path = fixture_path(fixture, "telem/%d.sock.name", (int)getpid());
	char name[64] = "";

	(void)state;
	assert_int_equal(telem_start(&(struct telem_options){ .name = "imgsrv", .ignore_environment = true }), 0);
	assert_int_equal(readlink(path, name, sizeof name - 1), strlen("imgsrv"));
	assert_string_equal(name, "imgsrv");
	telem_stop();
	assert_int_equal(readlink(path, name, sizeof name - 1), -1);
}

static void settings_out_of_their_bounds_are_refused(void **state)
{
	(void)state;
	assert_int_equal(telem_set_flush_interval(MS - 1), -EINVAL);
	assert_int_equal(telem_set_flush_interval(10 * S + 1), -EINVAL);
	assert_int_equal(telem_set_ring_bytes((64 << 10) - 1), -EINVAL);
	assert_int_equal(telem_set_ring_bytes((64 << 20) + 1), -EINVAL);
	assert_int_equal(telem_set_policy((enum telem_policy)3, 0), -EINVAL);
	assert_int_equal(telem_set_policy(TELEM_BLOCK, 10 * S + 1), -EINVAL);
	assert_int_equal(telem_set_flush_interval(MS), 0);
	assert_int_equal(telem_set_ring_bytes(100000), 0);
	assert_int_equal(telem_set_policy(TELEM_BLOCK, 10 * S), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(the_variable_configures_the_program),
		BESIDE_TEST(the_variable_is_ignored_when_the_program_says_so),
		BESIDE_TEST(the_last_setting_of_a_class_counts),
		BESIDE_TEST(a_bad_setting_is_named_and_the_good_ones_hold),
		BESIDE_TEST(the_program_s_name_is_beside_its_socket),
		BESIDE_TEST(settings_out_of_their_bounds_are_refused),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
