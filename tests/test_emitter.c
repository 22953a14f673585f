/* libtelem from inside: what a program says through telem.h, and what a reader of the
 * stream then knows. One process is emitter and reader at once. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocol/histogram.h"
#include "protocol/recording.h"
#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(quiet, "off", TELEM_OFF);
TELEM_CLASS(loud, "at all", TELEM_ALL);

/* In place of libc's, for the library and all: the wall clock can be set. */
static int64_t wall_step_s;
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = (int)syscall(SYS_clock_gettime, clock, now);

	if (result == 0 && clock == CLOCK_REALTIME)
		now->tv_sec += __atomic_load_n(&wall_step_s, __ATOMIC_RELAXED);
	return result;
}

static struct reader *attach_fifo(const char *path)
{
	struct reader *who = reader_new(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));

	READ_UNTIL(who, (who->at_end = false, who->kind_count[KIND_SINK] > 0));
	return who;
}

static struct telem_statistics statistics(void)
{
	struct telem_statistics stats;

	telem_stats(&stats);
	return stats;
}

static uint32_t fd_count(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint32_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* From /proc/self/status. */
static uint64_t status_number(const char *key)
{
	char line[256];
	uint64_t number = 0;
	FILE *file = fopen("/proc/self/status", "re");

	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (!strncmp(line, key, strlen(key)))
			number = strtoull(line + strlen(key), NULL, 10);
	fclose(file);
	return number;
}

static int evaluated;
static uint64_t one(void) { evaluated++; return 1; }

#define ASK(KIND, kind_, ...) \
	reader_request(reader, (struct message){ .kind = KIND_##KIND, .kind_ = { 0, __VA_ARGS__ } })

static bool keep_emitting;
static void *emit_until_told(void *arg)
{
	uint64_t *count = arg;

	while (__atomic_load_n(&keep_emitting, __ATOMIC_RELAXED)) {
		TELEM_COUNT(loud, "steady", 1);
		TELEM_SPAN(loud, "steady span")
			++*count;
	}
	return NULL;
}

static void emitters_begin(pthread_t *threads, uint64_t *counts, int count)
{
	__atomic_store_n(&keep_emitting, true, __ATOMIC_RELAXED);
	for (int i = 0; i < count; i++) {
		counts[i] = 0;
		assert_int_equal(pthread_create(&threads[i], NULL, emit_until_told, &counts[i]), 0);
	}
}

static void emitters_end(pthread_t *threads, int count)
{
	__atomic_store_n(&keep_emitting, false, __ATOMIC_RELAXED);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* ---- levels ---- */

static void a_site_that_is_off_does_not_evaluate_its_arguments(void **state)
{
	(void)state;
	start(NULL);
	evaluated = 0;
	TELEM_COUNT(quiet, "off counter", one());
	TELEM_VALUE(quiet, "off value", one(), TELEM_NONE);
	TELEM_EVENT(quiet, "off event", TELEM_F("a", one()));
	assert_int_equal(evaluated, 0);
	TELEM_COUNT(net, "on counter", one());
	assert_int_equal(evaluated, 1);
}

static void nothing_is_recorded_before_the_start_and_after_the_stop(void **state)
{
	(void)state;
	evaluated = 0;
	TELEM_COUNT(net, "too early", one());
	start(NULL);
	telem_stop();
	TELEM_COUNT(net, "too late", one());
	assert_int_equal(evaluated, 0);
}

static void a_class_at_sum_sends_figures_and_no_events(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (int i = 0; i < 100; i++)
		TELEM_COUNT(net, "summed", 2);
	hear(reader);
	assert_int_equal(site("net.summed")->count, 100);
	assert_int_equal(site("net.summed")->sum, 200);
	assert_int_equal(site("net.summed")->event_count, 0);
}

static void a_class_at_all_sends_figures_and_every_event(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (uint64_t i = 0; i < 100; i++)
		TELEM_COUNT(loud, "streamed", i);
	hear(reader);
	assert_int_equal(site("loud.streamed")->count, 100);
	assert_int_equal(site("loud.streamed")->sum, 4950);
	assert_int_equal(site("loud.streamed")->event_count, 100);
	assert_int_equal(site("loud.streamed")->event_sum, 4950);
}

static void a_class_that_is_off_sends_nothing(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_COUNT(quiet, "silent", 1);
	hear(reader);
	assert_int_equal(site("quiet.silent")->count, 0);
	assert_int_equal(site("quiet.silent")->level, TELEM_OFF);
}

static void count_alone(void) { TELEM_COUNT(quiet, "alone", 1); }

static void a_site_may_have_a_level_of_its_own(void **state)
{
	(void)state;
	start(NULL);
	assert_int_equal(telem_level_set("quiet.alone", TELEM_SUM), 0);
	assert_int_equal(telem_level_get("quiet.alone"), TELEM_SUM);
	assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
	count_alone();
	reader = attach_fd(NULL);
	assert_int_equal(site("quiet.alone")->count, 1);
	assert_int_equal(telem_level_set("quiet.alone", TELEM_OFF), 0);
	count_alone();
	hear(reader);
	assert_int_equal(site("quiet.alone")->count, 1);
}

static void a_level_takes_effect_at_once_and_is_told(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	evaluated = 0;
	assert_int_equal(telem_class_level(&telem_class_net, TELEM_OFF), 0);
	TELEM_COUNT(net, "switched", one());
	assert_int_equal(telem_class_level(&telem_class_net, TELEM_ALL), 0);
	TELEM_COUNT(net, "switched", one());
	assert_int_equal(evaluated, 1);
	READ_UNTIL(reader, reader_class(reader, "net")->level == TELEM_ALL && reader_class(reader, "net")->level_count);
	assert_string_equal(reader_class(reader, "net")->by, "program");
}

static void a_level_of_nothing_or_of_no_such_number_is_refused(void **state)
{
	(void)state;
	start(NULL);
	assert_int_equal(telem_level_set("no such class", TELEM_SUM), -ENOENT);
	assert_int_equal(telem_level_set("net.no such site", TELEM_SUM), -ENOENT);
	assert_int_equal(telem_level_get("no such class"), -ENOENT);
	assert_int_equal(telem_level_set("net", (enum telem_level)3), -EINVAL);
	assert_int_equal(telem_class_level(&telem_class_net, (enum telem_level)7), -EINVAL);
	assert_int_equal(telem_level_get("net"), TELEM_SUM);
}

static void the_last_words_tell_the_levels_that_were_and_a_second_start_has_them_again(void **state)
{
	const char *path = fixture_path(fixture, "run.telem");
	struct reader *file = reader_new(-1);
	uint64_t levels;
	uint8_t *bytes;
	size_t count;

	(void)state;
	start(NULL);
	assert_true(telem_sink_file(path) >= 0);
	reader = attach_fd(NULL);
	telem_class_level(&telem_class_net, TELEM_ALL);
	hear(reader);
	levels = reader->kind_count[KIND_LEVEL];
	stop_and_read(reader);
	assert_true(reader->has_bye);
	assert_int_equal(reader->kind_count[KIND_LEVEL], levels);
	bytes = (uint8_t *)fixture_read(path, &count);
	file->at_end = true;
	reader_feed(file, bytes, count);
	assert_true(file->has_bye);
	for (struct reader *who = reader; who; who = who == reader ? file : NULL) {
		assert_int_equal(reader_class(who, "net")->level, TELEM_ALL);
		assert_int_equal(reader_class(who, "loud")->level, TELEM_ALL);
		assert_int_equal(reader_class(who, "log")->level, TELEM_SUM);
	}
	free(bytes);
	reader_free(file);
	assert_int_equal(telem_level_get("net"), TELEM_OFF);
	start(NULL);
	assert_int_equal(telem_level_get("net"), TELEM_ALL);
	assert_int_equal(telem_level_get("loud"), TELEM_ALL);
	assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
	evaluated = 0;
	TELEM_COUNT(net, "on again", one());
	assert_int_equal(evaluated, 1);
}

static void enable_all_switches_every_class(void **state)
{
	(void)state;
	start(NULL);
	telem_enable_all(true);
	assert_int_equal(telem_level_get("quiet"), TELEM_ALL);
	assert_int_equal(telem_level_get("mem"), TELEM_ALL);
	telem_enable_all(false);
	assert_int_equal(telem_level_get("loud"), TELEM_OFF);
}

/* ---- settings ---- */

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

/* ---- instruments ---- */

static void values_keep_count_sum_extremes_and_distribution(void **state)
{
	uint64_t sum = 0;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (uint64_t i = 1; i <= 1000; i++) {
		TELEM_VALUE(net, "sizes", i * i, TELEM_BYTES);
		sum += i * i;
	}
	hear(reader);
	assert_int_equal(site("net.sizes")->count, 1000);
	assert_int_equal(site("net.sizes")->sum, sum);
	assert_int_equal(site("net.sizes")->min, 1);
	assert_int_equal(site("net.sizes")->max, 1000000);
	assert_int_equal(site("net.sizes")->unit, TELEM_BYTES);
	assert_int_equal(site("net.sizes")->bucket_total, 1000);
	for (uint64_t i = 1; i <= 1000; i += 111)
		assert_true(site("net.sizes")->buckets[histogram_index(i * i)] > 0);
	assert_in_range(histogram_quantile(site("net.sizes")->buckets, 1000, 500), 250000 * 97 / 100, 250000 * 103 / 100);
}

static void a_value_above_the_histogram_falls_into_its_last_bucket(void **state)
{
	(void)state;
	start("net=all");
	reader = attach_fd(NULL);
	TELEM_VALUE(net, "huge", UINT64_MAX, TELEM_NONE);
	TELEM_VALUE(net, "huge", 0, TELEM_NONE);
	hear(reader);
	assert_int_equal(site("net.huge")->buckets[HISTOGRAM_BUCKETS - 1], 1);
	assert_int_equal(site("net.huge")->buckets[0], 1);
	assert_int_equal(site("net.huge")->min, 0);
	assert_true(site("net.huge")->max == UINT64_MAX);
	assert_int_equal(site("net.huge")->event_count, 2);
}

struct setting { int64_t value; };
static void *set_gauge(void *arg)
{
	TELEM_GAUGE(net, "clients", ((struct setting *)arg)->value);
	TELEM_GAUGE_ADD(net, "open", ((struct setting *)arg)->value);
	return NULL;
}

static void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, arg), 0);
	pthread_join(thread, NULL);
}

static void a_gauge_is_what_the_last_thread_set(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	set_gauge(&(struct setting){ 7 });
	in_thread(set_gauge, &(struct setting){ -12 });
	hear(reader);
	assert_int_equal((int64_t)site("net.clients")->sum, -12);
	set_gauge(&(struct setting){ 3 });
	hear(reader);
	assert_int_equal((int64_t)site("net.clients")->sum, 3);
}

static void *set_gauge_elsewhere(void *arg)
{
	TELEM_GAUGE(net, "clients", ((struct setting *)arg)->value);
	return NULL;
}

static void a_gauge_is_what_was_set_last_wherever_that_stands(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_GAUGE(net, "clients", 100);
	in_thread(set_gauge_elsewhere, &(struct setting){ 7 });
	hear(reader);
	assert_int_equal((int64_t)site("net.clients")->sum, 7);
	TELEM_GAUGE(net, "clients", 101);
	hear(reader);
	assert_int_equal((int64_t)site("net.clients")->sum, 101);
}

/* Also when the new figures add up to the old ones in some way. */
static void every_change_is_told_at_the_next_tick(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	TELEM_GAUGE_ADD(net, "up and down", 10);
	READ_UNTIL(reader, reader_site(reader, "net.up and down") && site("net.up and down")->count == 1);
	TELEM_GAUGE_ADD(net, "up and down", -1);
	TELEM_GAUGE_ADD(net, "up and down", -1);
	TELEM_GAUGE_ADD(net, "up and down", 1);
	READ_UNTIL(reader, site("net.up and down")->count == 4);
	assert_int_equal((int64_t)site("net.up and down")->sum, 9);
}

static void a_moved_gauge_is_the_sum_over_all_threads_also_ended_ones(void **state)
{
	int64_t before;

	(void)state;
	start(NULL);
	set_gauge(&(struct setting){ 0 });
	reader = attach_fd(NULL);
	before = (int64_t)site("net.open")->sum;
	in_thread(set_gauge, &(struct setting){ 10 });
	in_thread(set_gauge, &(struct setting){ -4 });
	set_gauge(&(struct setting){ -20 });
	hear(reader);
	assert_int_equal((int64_t)site("net.open")->sum, before - 14);
}

struct node { int a[5]; };

static void *free_node(void *arg)
{
	telem_free(struct node, arg);
	return NULL;
}

static void allocations_and_frees_of_a_type_balance(void **state)
{
	const struct reader_site *type;

	(void)state;
	start("mem=all");
	reader = attach_fd(NULL);
	for (int i = 0; i < 10; i++)
		TELEM_ALLOC(struct node, 100);
	for (int i = 0; i < 4; i++)
		TELEM_FREE(struct node, 100);
	hear(reader);
	type = site("mem.struct node");
	assert_int_equal(type->count, 10);
	assert_int_equal(type->sum, 1000);
	assert_int_equal(type->min, 4);          /* frees */
	assert_int_equal(type->max, 400);        /* their bytes */
	assert_int_equal(type->event_count, 14);
	assert_int_equal(type->event_sum, 600);
	for (int i = 0; i < 6; i++)
		TELEM_FREE(struct node, 100);
}

/* Nothing is sampled: what is rare or large weighs what it is. */
static void allocations_of_any_size_are_counted_to_the_byte(void **state)
{
	enum { BLOCKS = 100000 };

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (int i = 0; i < BLOCKS; i++) {
		TELEM_ALLOC(struct even, 512 << 10);
		TELEM_ALLOC(struct odd, 500 << 10);
	}
	hear(reader);
	assert_int_equal(site("mem.struct even")->count, BLOCKS);
	assert_int_equal(site("mem.struct even")->sum, (uint64_t)BLOCKS * (512 << 10));
	assert_int_equal(site("mem.struct odd")->count, BLOCKS);
	assert_int_equal(site("mem.struct odd")->sum, (uint64_t)BLOCKS * (500 << 10));
	for (int i = 0; i < BLOCKS; i++) {
		TELEM_FREE(struct even, 512 << 10);
		TELEM_FREE(struct odd, 500 << 10);
	}
}

static void the_allocator_wrappers_balance_across_threads(void **state)
{
	char *text;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (int i = 0; i < 50; i++)
		in_thread(free_node, telem_malloc(struct node, sizeof(struct node)));
	text = telem_calloc(char, 1, 100);
	text = telem_realloc(char, text, 100000);
	text[99999] = 'x';
	telem_free(char, text);
	telem_free(char, NULL);
	text = telem_malloc(char, 1000);
	assert_null(telem_realloc(char, text, 0));       /* frees */
	hear(reader);
	assert_int_equal(site("mem.char")->count, 3);
	assert_int_equal(site("mem.char")->min, 3);
	assert_int_equal(site("mem.char")->sum, site("mem.char")->max);
	assert_int_equal(site("mem.struct node")->sum, site("mem.struct node")->max);
}

static void an_event_keeps_its_fields_whatever_their_type(void **state)
{
	float half = 0.5f;
	double result;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_EVENT(loud, "request", TELEM_F("status", -404), TELEM_F("bytes", UINT64_MAX), TELEM_F("ratio", half),
		    TELEM_F("flag", (unsigned char)200), TELEM_F("time", 1e300), TELEM_F("a", 0), TELEM_F("b", (short)-1),
		    TELEM_F("c", 1ull << 63));
	hear(reader);
	assert_int_equal(site("loud.request")->event_count, 1);
	assert_int_equal(site("loud.request")->field_count, 8);
	assert_string_equal(site("loud.request")->fields[0], "status");
	assert_string_equal(site("loud.request")->fields[7], "c");
	assert_int_equal(reader->record_count, 8);
	assert_int_equal((int64_t)reader->record[0].bits, -404);
	assert_true(reader->record[1].bits == UINT64_MAX && reader->record[1].type == NUMBER_UINT);
	memcpy(&result, &reader->record[2].bits, 8);
	assert_true(result == 0.5 && reader->record[2].type == NUMBER_DOUBLE);
	assert_int_equal(reader->record[3].bits, 200);
	memcpy(&result, &reader->record[4].bits, 8);
	assert_true(result == 1e300);
	assert_int_equal((int64_t)reader->record[6].bits, -1);
	assert_true(reader->record[7].bits == 1ull << 63);
}

static void a_field_that_places_of_one_name_put_differently_has_no_name(void **state)
{
	uint64_t sites;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_EVENT(loud, "swapped", TELEM_F("status", 200), TELEM_F("bytes", 512), TELEM_F("port", 80));
	hear(reader);
	assert_string_equal(site("loud.swapped")->fields[0], "status");
	assert_string_equal(site("loud.swapped")->fields[1], "bytes");
	assert_string_equal(site("loud.swapped")->fields[2], "port");
	sites = reader->kind_count[KIND_SITE];
	TELEM_EVENT(loud, "swapped", TELEM_F("bytes", 512), TELEM_F("status", 200), TELEM_F("port", 80),
		    TELEM_F("host", 7));
	/* Told with the event, not only in the next greeting. */
	READ_UNTIL(reader, site("loud.swapped")->event_count == 2);
	assert_int_equal(reader->kind_count[KIND_SITE], sites + 1);
	assert_int_equal(site("loud.swapped")->field_count, 4);
	assert_string_equal(site("loud.swapped")->fields[0], "?");
	assert_string_equal(site("loud.swapped")->fields[1], "?");
	assert_string_equal(site("loud.swapped")->fields[2], "port");
	assert_string_equal(site("loud.swapped")->fields[3], "host");
}

static void a_log_line_is_counted_at_sum_and_sent_at_all(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_LOG(TELEM_WARN, "retry %d", 1);
	hear(reader);
	assert_int_equal(site("log.retry %d")->count, 1);
	assert_int_equal(site("log.retry %d")->event_count, 0);
	telem_level_set("log", TELEM_ALL);
	TELEM_LOG(TELEM_WARN, "retry %d", 2);
	hear(reader);
	assert_int_equal(site("log.retry %d")->count, 2);
	assert_string_equal(reader->log_text, "retry 2");
	assert_int_equal(reader->log_severity, TELEM_WARN);
	assert_false(reader->log_cut);
}

static void a_long_log_line_is_cut_with_a_mark(void **state)
{
	char text[3000];

	(void)state;
	start("log=all");
	reader = attach_fd(NULL);
	memset(text, 'x', sizeof text);
	text[LIMIT_TEXT_BYTES] = '\0';
	TELEM_LOG(TELEM_INFO, "%s", text);
	hear(reader);
	assert_false(reader->log_cut);
	assert_int_equal(strlen(reader->log_text), LIMIT_TEXT_BYTES);
	text[LIMIT_TEXT_BYTES] = 'x';
	text[sizeof text - 1] = '\0';
	TELEM_LOG(TELEM_INFO, "%s", text);
	hear(reader);
	assert_true(reader->log_cut);
	assert_int_equal(strlen(reader->log_text), LIMIT_TEXT_BYTES);
}

static void a_long_log_line_is_cut_between_characters(void **state)
{
	char text[3 * LIMIT_TEXT_BYTES];

	(void)state;
	start("log=all");
	reader = attach_fd(NULL);
	for (size_t ahead = 0; ahead < 3; ahead++) {
		size_t whole = (LIMIT_TEXT_BYTES - ahead) / 3;

		memset(text, 'x', ahead);
		for (size_t i = 0; i < whole + 100; i++)
			memcpy(text + ahead + 3 * i, "\u20ac", 4);
		TELEM_LOG(TELEM_INFO, "%s", text);
		hear(reader);
		assert_true(reader->log_cut);
		assert_int_equal(strlen(reader->log_text), ahead + 3 * whole);
		assert_memory_equal(reader->log_text, text, ahead + 3 * whole);
	}
}

static void marks_carry_their_key(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	reader->keeps_events = true;
	TELEM_MARK(loud, "enqueued", 0xfedcba9876543210u);
	hear(reader);
	assert_int_equal(site("loud.enqueued")->event_count, 1);
	assert_true(site("loud.enqueued")->event_sum == 0xfedcba9876543210u);
}

static int leave_by_return(void)
{
	TELEM_SPAN(loud, "returned")
		return 5;
	return 6;
}

static void a_span_ends_however_its_block_is_left(void **state)
{
	int turns = 0;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_SPAN(loud, "fell out")
		turns++;
	TELEM_SPAN(loud, "broken") {
		turns++;
		break;
	}
	TELEM_SPAN(loud, "continued") {
		turns++;
		continue;
	}
	TELEM_SPAN(loud, "jumped")
		goto out;
out:
	assert_int_equal(leave_by_return(), 5);
	for (int i = 0; i < 10; i++) {
		TELEM_SPAN_HERE(loud, "here");
		if (i == 5)
			break;
	}
	assert_int_equal(turns, 3);
	hear(reader);
	assert_int_equal(site("loud.fell out")->event_count, 1);
	assert_int_equal(site("loud.broken")->event_count, 1);
	assert_int_equal(site("loud.continued")->event_count, 1);
	assert_int_equal(site("loud.jumped")->event_count, 1);
	assert_int_equal(site("loud.returned")->event_count, 1);
	assert_int_equal(site("loud.here")->event_count, 6);
}

static void durations_are_nanoseconds_and_times_lie_in_the_run(void **state)
{
	struct timespec before, after;
	uint64_t stamp, real_ns;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	reader->keeps_events = true;
	clock_gettime(CLOCK_MONOTONIC, &before);
	stamp = telem_stamp();
	TELEM_SPAN(loud, "timed")
		poll(NULL, 0, 20);               /* what is measured, not a wait for anything */
	TELEM_LATENCY(loud, "waited", stamp);
	clock_gettime(CLOCK_MONOTONIC, &after);
	real_ns = (uint64_t)(after.tv_sec - before.tv_sec) * S + (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec;
	hear(reader);
	assert_in_range(site("loud.timed")->sum, 20 * MS * 99 / 100, real_ns * 101 / 100);
	assert_in_range(site("loud.waited")->sum, site("loud.timed")->sum, real_ns * 101 / 100);
	for (size_t i = 0; i < reader->event_count; i++)
		assert_in_range(reader->events[i].time_ns, reader->first_ns - MS,
				(uint64_t)after.tv_sec * S + (uint64_t)after.tv_nsec + MS);
}

static void a_wall_clock_that_is_set_changes_no_duration(void **state)
{
	static const int64_t steps_s[] = { -3600, 86400, -1700000000 };

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (size_t i = 0; i < sizeof steps_s / sizeof *steps_s; i++) {
		uint64_t stamp = telem_stamp();
		struct timespec now;

		TELEM_LATENCY_BEGIN(loud, "over a step, by key", i);
		TELEM_SPAN(loud, "over a step")
			__atomic_store_n(&wall_step_s, steps_s[i], __ATOMIC_RELAXED);
		TELEM_LATENCY(loud, "over a step, carried", stamp);
		TELEM_LATENCY_END(loud, "over a step, by key", i);
		/* Whoever listens is told how the two clocks stand now. */
		hear(reader);
		clock_gettime(CLOCK_REALTIME, &now);
		assert_in_range(reader->snapshot.real_ns / S + 60, now.tv_sec, now.tv_sec + 60);
	}
	__atomic_store_n(&wall_step_s, 0, __ATOMIC_RELAXED);
	/* The reader has looked at the times of the events. */
	assert_int_equal(site("loud.over a step")->event_count, 3);
	assert_in_range(site("loud.over a step")->sum, 1, 60 * S);
	assert_in_range(site("loud.over a step, carried")->sum, 1, 60 * S);
	assert_in_range(site("loud.over a step, by key")->sum, 1, 60 * S);
}

static void a_latency_without_a_start_is_no_latency(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_LATENCY(net, "never begun", 0);
	TELEM_LATENCY(net, "from tomorrow", telem_stamp() + (1ull << 40));
	hear(reader);
	assert_int_equal(site("net.never begun")->count, 0);
	assert_int_equal(site("net.from tomorrow")->count, 1);
	assert_int_equal(site("net.from tomorrow")->max, 0);
}

static void *end_latencies(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		TELEM_LATENCY_END(net, "round trip", i);
	return NULL;
}

static uint64_t told_count(const char *name)
{
	const struct reader_site *found = reader_site(reader, name);

	return found ? found->count : 0;
}

static void a_latency_by_key_is_ended_by_any_thread(void **state)
{
	int count = 100;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (int i = 0; i < count; i++)
		TELEM_LATENCY_BEGIN(net, "round trip", i);
	in_thread(end_latencies, &count);
	hear(reader);
	assert_int_equal(site("net.round trip")->count, 100);
	assert_true(site("net.round trip")->min > 0);
	assert_int_equal(told_count("telem.latency unmatched"), 0);
	/* Ended twice, and never begun. */
	in_thread(end_latencies, &count);
	TELEM_LATENCY_END(net, "one way", 5);
	hear(reader);
	assert_int_equal(site("net.round trip")->count, 100);
	assert_int_equal(told_count("telem.latency unmatched"), 101);
}

static void a_latency_begun_again_starts_anew(void **state)
{
	uint64_t before;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	before = told_count("telem.latency restarted");
	TELEM_LATENCY_BEGIN(net, "again", 1);
	usleep(20000);
	TELEM_LATENCY_BEGIN(net, "again", 1);
	TELEM_LATENCY_END(net, "again", 1);
	hear(reader);
	assert_int_equal(site("net.again")->count, 1);
	assert_in_range(site("net.again")->max, 1, 19 * MS);
	assert_int_equal(told_count("telem.latency restarted"), before + 1);
}

static void more_open_latencies_than_there_is_room_are_counted(void **state)
{
	enum { MANY = 60000 };
	uint64_t overflowed, unmatched, restarted, expired;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	overflowed = told_count("telem.latency overflowed");
	unmatched = told_count("telem.latency unmatched");
	for (int i = 0; i < MANY; i++)
		TELEM_LATENCY_BEGIN(net, "many", i * 7919);
	for (int i = 0; i < MANY; i++)
		TELEM_LATENCY_END(net, "many", i * 7919);
	hear(reader);
	overflowed = told_count("telem.latency overflowed") - overflowed;
	unmatched = told_count("telem.latency unmatched") - unmatched;
	assert_in_range(overflowed, MANY - 32768, MANY - 1000);
	assert_int_equal(unmatched, overflowed);
	assert_int_equal(site("net.many")->count + overflowed, MANY);
	/* Old ones make way. */
	assert_int_equal(telem_set_latency_expiry(1), -EINVAL);
	assert_int_equal(telem_set_latency_expiry(MS), 0);
	for (int i = 0; i < MANY; i++)
		TELEM_LATENCY_BEGIN(net, "many", i * 7919);
	hear(reader);
	restarted = told_count("telem.latency restarted");
	expired = told_count("telem.latency expired");
	usleep(3000);
	for (int i = MANY; i < 2 * MANY; i++)
		TELEM_LATENCY_BEGIN(net, "many", i * 7919);
	hear(reader);
	assert_true(told_count("telem.latency expired") > expired);
	assert_int_equal(told_count("telem.latency restarted"), restarted);
	telem_set_latency_expiry(60 * S);
	for (int i = 0; i < 2 * MANY; i++)
		TELEM_LATENCY_END(net, "many", i * 7919);
}

static void *begin_and_end(void *arg)
{
	uint64_t thread = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < 20000; i++) {
		TELEM_LATENCY_BEGIN(net, "contested trip", thread << 32 | i);
		TELEM_LATENCY_END(net, "contested trip", thread << 32 | i);
	}
	return NULL;
}

static void latencies_of_many_threads_do_not_meet(void **state)
{
	pthread_t threads[4];

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, begin_and_end, (void *)i), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	hear(reader);
	assert_int_equal(site("net.contested trip")->count, 80000);
}

static void a_collection_is_a_pause_and_what_it_left(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_GC_BEGIN(0);
	TELEM_GC_END(0, (&(struct telem_gc){ .live_bytes = 700, .heap_bytes = 1000, .slop_bytes = 10,
					     .collected_bytes = 300 }));
	telem_gc_begin(2);
	telem_gc_begin(9);
	telem_gc_end(9, NULL);
	telem_gc_end(2, &(struct telem_gc){ .live_bytes = 600, .heap_bytes = 1000, .copied_bytes = 50,
					    .collected_bytes = 100 });
	telem_gc_end(1, NULL);                   /* never begun */
	hear(reader);
	assert_int_equal(site("gc.gen 0")->count, 1);
	assert_int_equal(site("gc.gen 0")->detail, SPAN_IS_PAUSE);
	assert_int_equal(site("gc.gen 1")->count, 0);
	assert_int_equal(site("gc.gen 2")->count, 1);
	assert_int_equal(site("gc.gen 3+")->count, 1);
	assert_true(site("gc.gen 2")->sum >= site("gc.gen 3+")->sum);
	assert_int_equal(site("gc.live")->sum, 600);
	assert_int_equal(site("gc.heap")->sum, 1000);
	assert_int_equal(site("gc.collected")->sum, 400);
	assert_int_equal(site("gc.copied")->sum, 50);
	assert_int_equal(site("gc.live")->unit, UNIT_SIZE);
}

struct asked { int64_t value; int result; uint32_t count; bool inside, may_leave; };

static int tell(void *arg, int64_t *value)
{
	struct asked *asked = arg;

	__atomic_store_n(&asked->inside, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&asked->may_leave, __ATOMIC_ACQUIRE))
		sched_yield();
	*value = __atomic_load_n(&asked->value, __ATOMIC_RELAXED);
	__atomic_fetch_add(&asked->count, 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&asked->result, __ATOMIC_RELAXED);
}

static uint32_t times_asked(const struct asked *asked) { return __atomic_load_n(&asked->count, __ATOMIC_RELAXED); }

static void a_reporter_is_asked_while_somebody_looks(void **state)
{
	static struct asked asked = { .value = -5, .may_leave = true }, other = { .value = 9, .may_leave = true };
	uint64_t ticks;
	uint32_t count;

	(void)state;
	start(NULL);
	assert_int_equal(telem_reporter("vm/objects", TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), 0);
	assert_int_equal(telem_reporter("vm/objects", TELEM_REPORT_HEAP, TELEM_BYTES, tell, &other), -EEXIST);
	assert_int_equal(telem_reporter("", TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), -EINVAL);
	assert_int_equal(telem_flush(100 * MS), 0);
	assert_int_equal(times_asked(&asked), 0);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	READ_UNTIL(reader, (int64_t)(reader_site(reader, "report.vm/objects") ? site("report.vm/objects")->sum : 0) == -5);
	/* A failure is counted, and the value stays. */
	__atomic_store_n(&asked.result, -1, __ATOMIC_RELAXED);
	__atomic_store_n(&asked.value, 7, __ATOMIC_RELAXED);
	READ_UNTIL(reader, reader_site(reader, "report.failures") && site("report.failures")->sum > 0);
	assert_int_equal((int64_t)site("report.vm/objects")->sum, -5);
	__atomic_store_n(&asked.result, 0, __ATOMIC_RELAXED);
	READ_UNTIL(reader, site("report.vm/objects")->sum == 7);
	/* Its class off: not asked. */
	telem_level_set("report", TELEM_OFF);
	ticks = reader->kind_count[KIND_SNAPSHOT];
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] > ticks + 1);
	count = times_asked(&asked);
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] > ticks + 4);
	assert_int_equal(times_asked(&asked), count);
	telem_level_set("report", TELEM_SUM);
	assert_int_equal(times_asked(&other), 0);
	assert_int_equal(telem_reporter_remove("vm/objects"), 0);
	assert_int_equal(telem_reporter_remove("vm/objects"), -ENOENT);
}

static void without_a_reader_nothing_of_its_own_is_recorded(void **state)
{
	static struct asked asked = { .value = 1, .may_leave = true };
	uint64_t emitted;
	uint32_t count = 0;

	(void)state;
	start("all=all;flush=1ms");
	assert_int_equal(telem_reporter("vm/unwatched", TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), 0);
	emitted = statistics().emitted;
	/* Before the first reader, and with the ticks due that another one wanted. */
	for (int round = 0; round < 2; round++) {
		proc_watch_for(round * 250);
		for (int i = 0; i < 20; i++) {
			telem_sync();
			assert_int_equal(telem_flush(5 * S), 0);
		}
		assert_int_equal(statistics().emitted, emitted);
		assert_int_equal(statistics().queued, 0);
		assert_int_equal(times_asked(&asked), count);
		if (round == 1)
			break;
		reader = attach_viewer();
		assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
		READ_UNTIL(reader, times_asked(&asked) > 0);
		reader_free(reader);
		reader = NULL;
		WAIT_UNTIL(statistics().sinks == 0, 5000);
		count = times_asked(&asked);
	}
	assert_int_equal(telem_reporter_remove("vm/unwatched"), 0);
}

static void *remove_reporter(void *arg)
{
	assert_int_equal(telem_reporter_remove("vm/slow"), 0);
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
	return NULL;
}

static void a_removed_reporter_is_in_use_no_more(void **state)
{
	static struct asked asked = { .value = 1 };
	bool is_removed = false;
	pthread_t remover;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_reporter("vm/slow", TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), 0);
	WAIT_UNTIL(__atomic_load_n(&asked.inside, __ATOMIC_ACQUIRE), 5000);
	assert_int_equal(pthread_create(&remover, NULL, remove_reporter, &is_removed), 0);
	sched_yield();
	assert_false(__atomic_load_n(&is_removed, __ATOMIC_ACQUIRE));
	__atomic_store_n(&asked.may_leave, true, __ATOMIC_RELEASE);
	pthread_join(remover, NULL);
	assert_int_equal(times_asked(&asked), 1);
}

static int reporter_state;           /* 1: is being asked; 2: may return; 3: has returned */

static int block_for_long(void *arg, int64_t *value)
{
	(void)arg;
	*value = 1;
	__atomic_store_n(&reporter_state, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&reporter_state, __ATOMIC_ACQUIRE) != 2)
		sched_yield();
	__atomic_store_n(&reporter_state, 3, __ATOMIC_RELEASE);
	return 0;
}

static void a_stop_does_not_wait_for_a_reporter(void **state)
{
	struct telem_options options = { .ignore_environment = true, .linger_ns = 100 * MS };

	(void)state;
	assert_int_equal(telem_start(&options), 0);
	reader = attach_fd(NULL);
	assert_int_equal(telem_reporter("stuck", TELEM_REPORT_OTHER, TELEM_NONE, block_for_long, NULL), 0);
	READ_UNTIL(reader, __atomic_load_n(&reporter_state, __ATOMIC_ACQUIRE) == 1);
	TELEM_COUNT(loud, "while it is stuck", 1);
	telem_stop();                    /* it may return only behind this */
	assert_non_null(strstr(telem_error(), "reporter"));
	assert_int_equal(statistics().queued, 0);
	reader_free(reader);
	/* And a new start is whole while the old thread is still in there, and when it comes back. */
	assert_int_equal(telem_start(&options), 0);
	assert_int_equal(telem_level_set("report.stuck", TELEM_OFF), 0);
	reader = attach_fd(NULL);
	TELEM_COUNT(loud, "after it", 1);
	hear(reader);
	assert_int_equal(site("loud.after it")->event_count, 1);
	__atomic_store_n(&reporter_state, 2, __ATOMIC_RELEASE);
	READ_UNTIL(reader, __atomic_load_n(&reporter_state, __ATOMIC_ACQUIRE) == 3);
	TELEM_COUNT(loud, "after it", 1);
	hear(reader);
	assert_int_equal(site("loud.after it")->event_count, 2);
	assert_int_equal(telem_reporter_remove("stuck"), 0);
}

static void what_nobody_claims_of_the_heap_is_told_also_below_0(void **state)
{
	static struct asked asked = { .value = INT64_MAX / 2, .may_leave = true };

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_reporter("vm/heap", TELEM_REPORT_HEAP, TELEM_BYTES, tell, &asked), 0);
	READ_UNTIL(reader, reader_site(reader, "report.heap/unclassified") &&
				   (int64_t)site("report.heap/unclassified")->sum < -(INT64_MAX / 4));
	__atomic_store_n(&asked.value, 0, __ATOMIC_RELAXED);
	/* A sanitizer's malloc says that it gave nothing. */
	READ_UNTIL(reader, (int64_t)site("report.heap/unclassified")->sum >= 0);
	assert_int_equal(telem_reporter_remove("vm/heap"), 0);
}

static void malloc_and_the_process_report(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_report_malloc(), 0);
	assert_int_equal(telem_report_process(), 0);
	READ_UNTIL(reader, reader_site(reader, "report.process/open files") &&
				   site("report.process/open files")->sum == fd_count() - 3);         /* ., .. and itself */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)      /* those have a malloc of their own */
	assert_in_range(site("report.malloc/allocated")->sum, 1000, 1ull << 40);
#endif
	assert_int_equal(site("report.malloc/allocated")->unit, UNIT_SIZE);
	assert_true(site("report.process/faults")->sum > 100);
	assert_true(site("report.process/rss")->sum >= 500000 && site("report.process/rss")->sum % 1024 == 0);
	assert_int_equal(site("report.process/rss")->unit, UNIT_SIZE);
	assert_int_equal(telem_report_malloc(), -EEXIST);
}

static void provide(void *arg)
{
	++*(int *)arg;
	TELEM_GAUGE(net, "provided", 42);
	TELEM_COUNT(net, "times provided", 1);
}

static void a_provider_records_what_it_likes_while_somebody_looks(void **state)
{
	int calls = 0;

	(void)state;
	start(NULL);
	assert_int_equal(telem_provider("engine", provide, &calls), 0);
	assert_int_equal(telem_provider("engine", provide, &calls), -EEXIST);
	assert_int_equal(telem_provider("", provide, &calls), -EINVAL);
	assert_int_equal(telem_flush(5 * S), 0);
	assert_int_equal(calls, 0);              /* nobody looks */
	reader = attach_fd(NULL);
	READ_UNTIL(reader, reader_site(reader, "net.provided") && reader_site(reader, "net.provided")->sum == 42);
	assert_int_equal(telem_reporter_remove("engine"), 0);
	hear(reader);
	assert_int_equal(site("net.times provided")->count, calls);
	assert_null(reader_site(reader, "report.engine"));
}

static void threads_report_their_processor_time_by_name(void **state)
{
	char path[64];

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	pthread_setname_np(pthread_self(), "busy one");
	assert_int_equal(telem_report_process() == 0 || telem_report_process() == -EEXIST, 1);
	snprintf(path, sizeof path, "report.process/cpu of %s", "busy one");
	READ_UNTIL(reader, reader_site(reader, path) && reader_site(reader, path)->sum > 0);
	assert_int_equal(site(path)->unit, UNIT_TIME);
	READ_UNTIL(reader, reader_site(reader, "report.process/cpu of telem"));
}

static void *emit_net_spans(void *arg)
{
	for (int i = 0; i < 1000; i++)
		TELEM_SPAN(net, "costs, elsewhere")
			evaluated++;
	return arg;
}

static void telemetry_tells_what_it_costs(void **state)
{
	struct telem_class_statistics classes[64];
	uint32_t count, net_at = 64;

	(void)state;
	start("net=all");
	reader = attach_fd(NULL);
	assert_int_equal(telem_report_telemetry(), 0);
	count = telem_class_stats(classes, 64);
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(classes[i].name, "net"))
			net_at = i;
	assert_in_range(net_at, 0, 63);
	for (int i = 0; i < 1000; i++)
		TELEM_SPAN(net, "costs")
			evaluated++;
	{
		struct telem_class_statistics before = classes[net_at];

		telem_class_stats(classes, 64);
		assert_int_equal(classes[net_at].events - before.events, 1000);
		assert_int_equal(classes[net_at].emitted - before.emitted, 1000);
		assert_int_equal(classes[net_at].level, TELEM_ALL);
		/* Two readings of the clock at least, and no more than a slow machine's. */
		assert_in_range(classes[net_at].cost_ns - before.cost_ns, 1000 * 5, 1000 * 100000);
	}
	READ_UNTIL(reader, reader_site(reader, "telem.cost of net") &&
		   reader_site(reader, "telem.cost of net")->sum >= 5000);
	READ_UNTIL(reader, reader_site(reader, "telem.memory held") && reader_site(reader, "telem.memory held")->sum > 1000);
	assert_true(site("telem.bytes sent")->sum > 0);
	assert_int_equal(telem_class_stats(classes, 1), 1);
	/* Nor do costs go down when a thread ends. */
	telem_class_stats(classes, 64);
	in_thread(emit_net_spans, NULL);
	{
		uint64_t before = classes[net_at].cost_ns;

		telem_class_stats(classes, 64);
		assert_in_range(classes[net_at].cost_ns, before + 1000 * 5, before + 1000 * 100000);
	}
}

static void places_of_one_name_are_one_site(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_COUNT(net, "twice", 1);
	TELEM_COUNT(net, "twice", 2);
	TELEM_VALUE(net, "twice", 5, TELEM_NONE);        /* another kind: another site */
	hear(reader);
	assert_int_equal(site("net.twice")->count + 0, site("net.twice")->kind == TELEM_KIND_COUNTER_ ? 2 : 1);
}

/* Sites of this name, whatever their kind. */
static uint32_t sites_named(const char *class_name, const char *name, uint64_t detail)
{
	uint32_t count = 0;

	for (uint32_t id = 1; id < reader->site_room; id++)
		count += reader->sites[id].id && !strcmp(reader->sites[id].name, name) &&
			 reader->sites[id].detail == detail &&
			 !strcmp(reader->classes[reader->sites[id].class_id].name, class_name);
	return count;
}

static void one_format_with_two_severities_is_two_sites(void **state)
{
	(void)state;
	start("log=all");
	reader = attach_fd(NULL);
	TELEM_LOG(TELEM_WARN, "no answer");
	hear(reader);
	assert_int_equal(reader->log_severity, TELEM_WARN);
	TELEM_LOG(TELEM_ERROR, "no answer");
	hear(reader);
	assert_int_equal(reader->log_severity, TELEM_ERROR);
	assert_int_equal(sites_named("log", "no answer", TELEM_WARN), 1);
	assert_int_equal(sites_named("log", "no answer", TELEM_ERROR), 1);
}

static void a_gauge_that_is_set_and_one_that_is_moved_are_two_sites(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_GAUGE(net, "two gauges", 1000);
	TELEM_GAUGE_ADD(net, "two gauges", 1);
	hear(reader);
	assert_int_equal(sites_named("net", "two gauges", 0), 1);
	assert_int_equal(sites_named("net", "two gauges", 1), 1);
	for (uint32_t id = 1; id < reader->site_room; id++)
		if (!strcmp(reader->sites[id].name, "two gauges"))
			assert_int_equal(reader->sites[id].sum, reader->sites[id].detail ? 1 : 1000);
}

/* ---- tasks ---- */

static void *named_thread(void *arg)
{
	telem_task_name(arg);
	TELEM_COUNT(loud, "by thread", 1);
	telem_flush(5 * S);
	return NULL;
}

static void events_belong_to_the_thread_that_made_them(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	in_thread(named_thread, "worker-1");
	in_thread(named_thread, "worker-2");
	READ_UNTIL(reader, site("loud.by thread")->event_count == 2);
	assert_int_equal(reader_task(reader, "worker-1")->event_count, 1);
	assert_int_equal(reader_task(reader, "worker-2")->event_count, 1);
	READ_UNTIL(reader, reader_task(reader, "worker-1")->has_ended && reader_task(reader, "worker-2")->has_ended);
}

static void events_belong_to_the_task_that_was_entered(void **state)
{
	int outer, inner;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	outer = telem_task_new("outer");
	inner = telem_task_new("inner");
	assert_true(outer > 0 && inner > 0 && outer != inner);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(telem_task_enter(outer), 0);
		TELEM_COUNT(loud, "by task", 1);
		assert_int_equal(telem_task_enter(inner), 0);
		TELEM_COUNT(loud, "by task", 1);
		TELEM_COUNT(loud, "by task", 1);
		telem_task_leave();
		TELEM_COUNT(loud, "by task", 1);
		telem_task_leave();
		TELEM_COUNT(loud, "by task", 1);
	}
	telem_task_end(outer);
	telem_task_end(inner);
	hear(reader);
	assert_int_equal(reader_task(reader, "outer")->event_count, 20);
	assert_int_equal(reader_task(reader, "inner")->event_count, 20);
	assert_int_equal(site("loud.by task")->event_count, 50);
	assert_int_equal(telem_task_enter(outer), -EINVAL);
}

static void *work_for(void *arg)
{
	assert_int_equal(telem_task_enter(*(int *)arg), 0);
	TELEM_ALLOC(struct node, 1000);
	TELEM_VALUE(loud, "session value", 5, TELEM_NONE);
	telem_task_leave();
	return NULL;
}

static void what_threads_did_for_a_task_stays_its_own_when_they_end(void **state)
{
	const struct reader_task *task;
	uint64_t before;
	int id;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	id = telem_task_new("session");
	before = site("mem.struct node")->sum;
	for (int i = 0; i < 3; i++) {
		in_thread(work_for, &id);
		hear(reader);
		task = reader_task(reader, "session");
		assert_int_equal(task->sums[site("mem.struct node")->id], (i + 1) * 1000);
		assert_int_equal(site("mem.struct node")->sum, before + (uint64_t)(i + 1) * 1000);
	}
	work_for(&id);
	hear(reader);
	assert_int_equal(task->sums[site("mem.struct node")->id], 4000);
	telem_task_end(id);
	hear(reader);
	assert_int_equal(site("mem.struct node")->sum, before + 4000);
	assert_int_equal(site("loud.session value")->bucket_total, 4);
	for (int i = 0; i < 4; i++)
		TELEM_FREE(struct node, 1000);
}

static int contested_task;

static void *enter_and_leave(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&keep_emitting, __ATOMIC_RELAXED))
		if (telem_task_enter(__atomic_load_n(&contested_task, __ATOMIC_RELAXED)) == 0) {
			TELEM_COUNT(net, "contested", 1);
			telem_task_leave();
		}
	return NULL;
}

static void tasks_may_end_while_others_enter_them(void **state)
{
	pthread_t threads[2];

	(void)state;
	start(NULL);
	__atomic_store_n(&keep_emitting, true, __ATOMIC_RELAXED);
	contested_task = telem_task_new("contested");
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, enter_and_leave, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		int before = contested_task;

		__atomic_store_n(&contested_task, telem_task_new("contested"), __ATOMIC_RELAXED);
		telem_task_end(before);
	}
	emitters_end(threads, 2);
	telem_task_end(contested_task);
}

static void tasks_nest_to_a_bound_and_wrong_ids_are_refused(void **state)
{
	int task;

	(void)state;
	start(NULL);
	task = telem_task_new("deep");
	for (int i = 0; i < LIMIT_TASK_DEPTH; i++)
		assert_int_equal(telem_task_enter(task), 0);
	assert_int_equal(telem_task_enter(task), -ENOSPC);
	for (int i = 0; i < LIMIT_TASK_DEPTH + 3; i++)
		telem_task_leave();
	assert_int_equal(telem_task_enter(0), -EINVAL);
	assert_int_equal(telem_task_enter(-1), -EINVAL);
	assert_int_equal(telem_task_enter(12345678), -EINVAL);
	telem_task_end(task);
	telem_task_end(task);
	telem_task_end(-5);
}

static void tasks_made_before_the_start_can_be_entered_after_it(void **state)
{
	int task = telem_task_new("early");

	(void)state;
	assert_true(task > 0);
	start(NULL);
	assert_int_equal(telem_task_enter(task), 0);
	telem_task_leave();
	telem_task_end(task);
}

static void many_short_tasks_keep_memory_flat_and_the_sums_whole(void **state)
{
	struct telem_statistics stats;
	uint64_t before;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_COUNT(net, "in short tasks", 0);
	hear(reader);
	before = site("net.in short tasks")->count;
	for (int i = 0; i < 50000; i++) {
		int task = telem_task_new("short");

		assert_true(task > 0);
		assert_int_equal(telem_task_enter(task), 0);
		TELEM_COUNT(net, "in short tasks", 1);
		telem_task_leave();
		telem_task_end(task);
		if (i % 1000 == 0)
			while (reader_pump(reader))
				;
		if (i % 10000 == 0)
			telem_flush(5 * S);
	}
	hear(reader);
	assert_int_equal(site("net.in short tasks")->count, before + 50000);
	telem_stats(&stats);
	assert_true(stats.tasks < 30000);
}

static void many_short_tasks_keep_memory_flat_while_nobody_listens(void **state)
{
	struct telem_statistics stats;

	(void)state;
	start(NULL);
	for (int i = 0; i < 200000; i++) {
		int task = telem_task_new("short");

		assert_true(task > 0);
		assert_int_equal(telem_task_enter(task), 0);
		TELEM_COUNT(loud, "in short tasks", 1);
		telem_task_leave();
		telem_task_end(task);
	}
	telem_stats(&stats);
	assert_true(stats.tasks < 1000);
	assert_true(stats.memory_bytes < 64 << 20);
}

/* ---- names ---- */

static const char *short_lived(char *text, size_t room, const char *name)
{
	snprintf(text, room, "%s", name);
	return text;
}

static void names_may_die_before_anybody_reads_them(void **state)
{
	static struct asked asked = { .value = 3, .may_leave = true };
	const char *path = fixture_path(fixture, "app.fifo");
	struct telem_options options = { .ignore_environment = true };
	char text[64];
	int id;

	(void)state;
	options.name = short_lived(text, sizeof text, "brief");
	assert_int_equal(telem_start(&options), 0);
	id = telem_task_new(short_lived(text, sizeof text, "brief task"));
	assert_true(id > 0);
	assert_true(telem_sink_fifo(short_lived(text, sizeof text, path)) >= 0);
	short_lived(text, sizeof text, "brief/report");
	assert_int_equal(telem_reporter(text, TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), 0);
	memset(text, 'x', sizeof text);
	assert_int_equal(telem_task_enter(id), 0);
	TELEM_COUNT(loud, "for a brief task", 1);
	telem_task_leave();
	reader = attach_fifo(path);
	READ_UNTIL(reader, reader_site(reader, "report.brief/report") && site("report.brief/report")->sum == 3);
	assert_string_equal(reader->program, "brief");
	assert_non_null(reader_task(reader, "brief task"));
	assert_int_equal(telem_reporter_remove("brief/report"), 0);
	telem_task_end(id);
}

/* ---- sinks ---- */

static void several_sinks_hear_the_same(void **state)
{
	struct reader *fd, *viewer, *socket, *tcp;
	uint16_t port = fixture_free_port();
	char address[64];

	(void)state;
	start(NULL);
	snprintf(address, sizeof address, "tcp:127.0.0.1:%u", port);
	assert_true(telem_sink_add(address) >= 0);
	assert_true(telem_sink_unix(fixture_path(fixture, "own.sock")) >= 0);
	fd = attach_fd(NULL);
	viewer = attach_viewer();
	socket = reader_unix(fixture_path(fixture, "own.sock"));
	tcp = reader_tcp(port);
	wait_until_greeted(socket);
	wait_until_greeted(tcp);
	for (int i = 0; i < 5000; i++)
		TELEM_COUNT(loud, "to all", 3);
	telem_flush(5 * S);
	READ_UNTIL(fd, fd->event_count == 5000);
	READ_UNTIL(viewer, viewer->event_count == 5000);
	READ_UNTIL(socket, socket->event_count == 5000);
	READ_UNTIL(tcp, tcp->event_count == 5000);
	telem_stop();
	reader_to_end(fd);
	reader_to_end(viewer);
	reader_to_end(socket);
	reader_to_end(tcp);
	reader_check_books(fd);
	reader_check_books(viewer);
	reader_check_books(socket);
	reader_check_books(tcp);
	assert_int_equal(access(fixture_path(fixture, "own.sock"), F_OK), -1);
	assert_int_equal(access(fixture_path(fixture, "telem/%d.sock", (int)getpid()), F_OK), -1);
	reader_free(fd);
	reader_free(viewer);
	reader_free(socket);
	reader_free(tcp);
}

static void a_program_connects_to_a_reader_and_again_when_it_is_back(void **state)
{
	struct sockaddr_in { sa_family_t family; uint16_t port; uint32_t host; char zero[8]; } address =
		{ AF_INET, 0, 0, "" };
	uint16_t port = fixture_free_port();
	int listener, fd, id;

	(void)state;
	address.port = __builtin_bswap16(port);
	address.host = __builtin_bswap32(0x7f000001);
	start(NULL);
	id = telem_sink_tcp_connect("127.0.0.1", port, false);
	assert_true(id >= 0);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listener, 4), 0);
	for (int round = 0; round < 3; round++) {
		fd = accept(listener, NULL, NULL);
		assert_true(fd >= 0);
		reader = reader_new(fd);
		wait_until_greeted(reader);
		TELEM_COUNT(loud, "to a caller", 1);
		telem_flush(5 * S);
		READ_UNTIL(reader, reader_site(reader, "loud.to a caller") && site("loud.to a caller")->event_count == 1);
		reader_free(reader);
		reader = NULL;
	}
	close(listener);
	assert_int_equal(telem_sink_remove(id), 0);
}

static void a_recording_is_the_stream_with_a_clean_end(void **state)
{
	const char *path = fixture_path(fixture, "run.telem");
	uint64_t index_offset, index_count;
	size_t count;
	uint8_t *bytes;
	struct stat st;

	(void)state;
	start(NULL);
	assert_true(telem_sink_file(path) >= 0);
	telem_flush(5 * S);
	for (int i = 0; i < 20000; i++)
		TELEM_COUNT(loud, "recorded", 1);
	telem_stop();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	bytes = (uint8_t *)fixture_read(path, &count);
	reader = reader_new(-1);
	reader->at_end = true;
	reader_feed(reader, bytes, count);
	assert_int_equal(site("loud.recorded")->event_count, 20000);
	reader_check_books(reader);
	assert_true(recording_end_read(bytes + count - RECORDING_END_BYTES, &index_offset, &index_count));
	assert_int_equal(index_count, reader->kind_count[KIND_INDEX]);
	assert_int_equal(block_reader_rest(&reader->blocks), 0);
	free(bytes);
}

/* Whenever in the flusher's turn it comes and goes. */
static void a_sink_that_is_removed_at_once_has_all(void **state)
{
	struct telem_statistics before, stats;

	(void)state;
	start(NULL);
	telem_stats(&before);
	for (uint64_t i = 1; i <= 5000 / (uint64_t)proc_slowness(); i++) {
		int id = telem_sink_fd(memfd_create("recording", 0));

		assert_true(id >= 0);
		TELEM_COUNT(loud, "said at once", 1);
		assert_int_equal(telem_sink_remove(id), 0);
		telem_stats(&stats);
		assert_int_equal(stats.delivered - before.delivered, i);
	}
}

static mode_t rights_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 0777;
}

static void what_is_made_is_its_users_alone_whatever_the_umask(void **state)
{
	mode_t before = umask(0);

	(void)state;
	start(NULL);
	assert_true(telem_sink_unix(fixture_path(fixture, "own.sock")) >= 0);
	assert_true(telem_sink_fifo(fixture_path(fixture, "own.fifo")) >= 0);
	assert_true(telem_sink_file(fixture_path(fixture, "own.telem")) >= 0);
	umask(before);
	assert_int_equal(rights_of(fixture_path(fixture, "telem")), 0700);
	assert_int_equal(rights_of(fixture_path(fixture, "telem/%d.sock", (int)getpid())), 0600);
	assert_int_equal(rights_of(fixture_path(fixture, "own.sock")), 0600);
	assert_int_equal(rights_of(fixture_path(fixture, "own.fifo")), 0600);
	assert_int_equal(rights_of(fixture_path(fixture, "own.fifo.ctl")), 0600);
	assert_int_equal(rights_of(fixture_path(fixture, "own.telem")), 0600);
}

static void a_file_that_is_there_is_not_written_over(void **state)
{
	const char *path = fixture_path(fixture, "precious");

	(void)state;
	fixture_write(path, "precious", 8);
	start(NULL);
	assert_int_equal(telem_sink_file(path), -EEXIST);
	assert_int_equal(telem_sink_fifo(path), -EEXIST);
	assert_int_equal(telem_sink_unix(path), -EADDRINUSE);
}

static void a_sink_that_cannot_be_opened_says_why_in_words(void **state)
{
	static const struct { const char *address; int err; const char *why; } bad[] = {
		{ "tcp:0.0.0.0:7070", -EACCES, "listens on loopback only: 127.0.0.1, [::1] or localhost" },
		{ "tcp:0.0.0.0:7070,control", -EACCES, "listens on loopback only: 127.0.0.1, [::1] or localhost" },
		{ "connect:192.0.2.1:70,control", -EACCES, "levels are set from this machine only: leave ,control out" },
		{ "tcp:web:70", -EINVAL, "names are not looked up: give the host's number, or localhost" },
		{ "connect:web:70", -EINVAL, "names are not looked up: give the host's number, or localhost" },
		{ "tcp:127.0.0.1", -EINVAL, "give HOST:PORT" },
		{ "tcp:localhost:99999", -EINVAL, "the port is no number up to 65535" },
		{ "tcp:localhost:70,contro", -EINVAL, "the only option is ,control" },
		{ "fifo:/etc/passwd", -EEXIST, "is not a FIFO" },
		{ "fifo:/tmp/a,control", -EINVAL, "only tcp: and connect: take an option behind a comma" },
		{ "unix:", -EINVAL, "nothing follows the colon" },
		{ "fd:x", -EINVAL, "give the number of an open file" },
		{ "file:/no/such/dir/f", -ENOENT, "No such file or directory" },
	};
	char text[200];

	(void)state;
	start(NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(telem_sink_add(bad[i].address), bad[i].err);
		snprintf(text, sizeof text, "sink %s: %s", bad[i].address, bad[i].why);
		assert_string_equal(telem_error(), text);
	}
	/* What went wrong before stays known when a sink opens. */
	assert_true(telem_sink_tcp_listen("127.0.0.1", 0, false) >= 0);
	assert_string_equal(telem_error(), text);
}

static void a_fifo_has_a_way_back(void **state)
{
	const char *path = fixture_path(fixture, "app.fifo");
	struct stat st;
	int control;

	(void)state;
	start(NULL);
	assert_true(telem_sink_fifo(path) >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	reader = reader_new(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	READ_UNTIL(reader, (reader->at_end = false, reader->kind_count[KIND_SINK] > 0));
	control = open(fixture_path(fixture, "app.fifo.ctl"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(control >= 0);
	assert_int_equal(write(control, "\x92\x48\x07", 3), 3);          /* PING 7 */
	READ_UNTIL(reader, reader->ack_count == 1);
	assert_int_equal(reader->ack_request, 7);
	assert_int_equal(write(control, "\xc1\xc1\xc1", 3), 3);          /* nonsense costs itself */
	assert_int_equal(telem_flush(5 * S * (uint64_t)proc_slowness()), 0);
	READ_UNTIL(reader, (write(control, "\x92\x48\x08", 3), reader->ack_request == 8));
	close(control);
	telem_stop();
	assert_int_equal(access(fixture_path(fixture, "app.fifo.ctl"), F_OK), -1);
}

/* Until what was written to the way back has been read, and acted upon. */
static void wait_until_taken(int control)
{
	int count;

	WAIT_UNTIL(ioctl(control, FIONREAD, &count) == 0 && count == 0, 5000);
	assert_int_equal(telem_flush(5 * S * (uint64_t)proc_slowness()), 0);
}

static void a_fifo_nobody_reads_takes_no_requests(void **state)
{
	const char *path = fixture_path(fixture, "app.fifo");
	struct message request = { .kind = KIND_SET_LEVEL };
	uint8_t bytes[64];
	struct encoder encoder;
	int control;

	(void)state;
	start(NULL);
	assert_true(telem_sink_fifo(path) >= 0);
	control = open(fixture_path(fixture, "app.fifo.ctl"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	/* Before the first reader, and after each. */
	for (int round = 0; round < 3; round++) {
		encoder_init(&encoder, bytes, sizeof bytes);
		request.set_level = (struct message_set_level){ .request = 7, .level = LEVEL_ALL, .persist = round == 1 };
		while (round && strcmp(reader->classes[request.set_level.class_id].name, "quiet"))
			request.set_level.class_id++;
		assert_true(encode_message(&encoder, &request));
		if (round) {
			reader_free(reader);
			reader = NULL;
			WAIT_UNTIL(statistics().sinks == 0, 5000);
		}
		assert_int_equal(write(control, bytes, encoder.used), encoder.used);
		wait_until_taken(control);
		assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
		assert_int_equal(telem_level_get("net"), TELEM_SUM);
		reader = attach_fifo(path);
		assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
	}
	/* Once somebody reads, the same is done. */
	assert_int_equal(write(control, bytes, encoder.used), encoder.used);
	READ_UNTIL(reader, reader->ack_count == 1);
	assert_int_equal(reader->ack_code, ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_ALL);
	close(control);
}

static void a_fifo_way_back_that_others_can_write_to_is_not_used(void **state)
{
	const char *path = fixture_path(fixture, "app.fifo");
	int control;

	(void)state;
	assert_int_equal(mkfifo(fixture_path(fixture, "app.fifo.ctl"), 0600), 0);
	assert_int_equal(chmod(fixture_path(fixture, "app.fifo.ctl"), 0622), 0);
	start(NULL);
	assert_true(telem_sink_fifo(path) >= 0);
	control = open(fixture_path(fixture, "app.fifo.ctl"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(control, -1);   /* nobody reads it */
}

static void a_removed_sink_is_told_goodbye_with_even_books(void **state)
{
	int id;

	(void)state;
	start(NULL);
	reader = attach_fd(&id);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "before removal", 1);
	assert_int_equal(telem_sink_remove(id), 0);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "before removal", 1);
	reader_to_end(reader);
	assert_int_equal(site("loud.before removal")->event_count, 1000);
	reader_check_books(reader);
	assert_int_equal(telem_sink_remove(id), -ENOENT);
	assert_int_equal(telem_sink_remove(-1), -ENOENT);
	assert_int_equal(telem_sink_remove(100000), -ENOENT);
}

static void with_a_listening_sink_go_those_it_let_in(void **state)
{
	const char *path = fixture_path(fixture, "own.sock");
	int id;

	(void)state;
	start(NULL);
	id = telem_sink_unix(path);
	reader = reader_unix(path);
	wait_until_greeted(reader);
	assert_int_equal(telem_sink_remove(id), 0);
	reader_to_end(reader);
	assert_true(reader->has_bye);
}

static void sinks_come_and_go_while_threads_emit(void **state)
{
	uint64_t counts[2];
	pthread_t threads[2];

	(void)state;
	start("flush=1ms");
	emitters_begin(threads, counts, 2);
	for (int i = 0; i < 20; i++) {
		struct reader *who;
		int id;

		who = attach_fd(&id);
		who->is_lossy = true;
		READ_UNTIL(who, who->event_count > 1000);
		assert_int_equal(telem_sink_remove(id), 0);
		reader_to_end(who);
		if (who->has_bye)
			reader_check_books(who);
		reader_free(who);
	}
	emitters_end(threads, 2);
}

static void a_redirected_sink_leaves_no_gap_between_the_two(void **state)
{
	struct reader *first;
	uint64_t last_of_first, first_of_second = UINT64_MAX;
	int id, ends[2];
	char address[32];

	(void)state;
	start(NULL);
	first = attach_fd(&id);
	first->keeps_events = true;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	snprintf(address, sizeof address, "fd:%d", ends[1]);
	for (uint64_t i = 0; i < 2000; i++) {
		TELEM_MARK(loud, "numbered", i);
		if (i == 1000)
			assert_true(telem_sink_redirect(id, address) >= 0);
	}
	reader = reader_new(ends[0]);
	reader->keeps_events = true;
	telem_stop();
	reader_to_end(first);
	reader_to_end(reader);
	last_of_first = first->events[first->event_count - 1].value;
	for (uint64_t i = 0; i < reader->event_count; i++)
		if (reader->events[i].value < first_of_second)
			first_of_second = reader->events[i].value;
	assert_true(last_of_first >= 1000);
	assert_true(first_of_second <= last_of_first + 1);
	assert_int_equal(reader->events[reader->event_count - 1].value, 1999);
	reader_check_books(first);
	reader_check_books(reader);
	reader_free(first);
	assert_true(telem_sink_redirect(0, "nowhere:") < 0);
}

static void sinks_need_a_start(void **state)
{
	(void)state;
	assert_int_equal(telem_sink_fd(1), -ENOTCONN);
	assert_int_equal(telem_sink_remove(0), -ENOENT);
	assert_int_equal(telem_flush(S), -ENOTCONN);
	telem_sync();
}

static void more_sinks_than_the_limit_are_refused(void **state)
{
	int ids[LIMIT_SINKS], count = 0, id;

	(void)state;
	start(NULL);
	while ((id = telem_sink_fifo(fixture_path(fixture, "f%d", count))) >= 0)
		ids[count++] = id;
	assert_int_equal(id, -ENOSPC);
	assert_int_equal(count, LIMIT_SINKS - 1);        /* and the discovery socket */
	assert_int_equal(telem_sink_remove(ids[5]), 0);
	assert_true(telem_sink_fifo(fixture_path(fixture, "again")) >= 0);
}

/* ---- requests ---- */

static uint64_t class_id(const char *name)
{
	return (uint64_t)(reader_class(reader, name) - reader->classes);
}

static void every_request_has_a_numbered_answer(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
	assert_int_equal(ASK(ATTACH, attach, { "me", 2 }), ACK_DONE);
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(ASK(TICK, tick, 100 * MS - 1), ACK_LIMIT);
	assert_int_equal(ASK(RING, ring, 128 << 10), ACK_DONE);
	assert_int_equal(ASK(RING, ring, 1), ACK_LIMIT);
	assert_int_equal(ASK(INTERVAL, interval, 20 * MS), ACK_DONE);
	assert_int_equal(ASK(INTERVAL, interval, 60 * S), ACK_LIMIT);
	assert_int_equal(ASK(POLICY, policy, TELEM_OVERWRITE, 0), ACK_DONE);
	assert_int_equal(ASK(POLICY, policy, TELEM_BLOCK, 0), ACK_DENIED);
	assert_int_equal(ASK(POLICY, policy, 9, 0), ACK_LIMIT);
	assert_int_equal(ASK(FLUSH, flush, ), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, 63, 0, LEVEL_ALL, 0), ACK_NO_SUCH);
	assert_int_equal(ASK(SET_LEVEL, set_level, 0, 60000, LEVEL_ALL, 0), ACK_NO_SUCH);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, 3, 0), ACK_BAD);
	assert_int_equal(ASK(ENABLE_ALL, enable_all, 17, 0), ACK_BAD);
}

static void an_unknown_request_is_answered_with_its_number(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	reader_send(reader, "\x93\x7f\x2a\xa1x", 5);     /* [127, 42, "x"] */
	READ_UNTIL(reader, reader->ack_count == 1);
	assert_int_equal(reader->ack_request, 42);
	assert_int_equal(reader->ack_code, ACK_UNKNOWN);
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
}

static void nonsense_closes_the_connection(void **state)
{
	static const struct { const char *bytes; size_t count; } nonsense[] = {
		{ "GET / HTTP/1.1\r\n\r\n", 18 }, { "\xc1", 1 }, { "\x16\x03\x01\x02", 4 }, { "\x90", 1 },
		{ "\xdd\xff\xff\xff\xff", 5 }, { "\x92\x40\xa1x", 4 }, { "\x91\x01", 2 },
	};

	(void)state;
	start(NULL);
	for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
		struct reader *who = attach_viewer();

		reader_send(who, nonsense[i].bytes, nonsense[i].count);
		reader_to_end(who);
		reader_free(who);
	}
	reader = attach_viewer();
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
}

static void a_request_in_pieces_is_one_request(void **state)
{
	static const uint8_t ping[] = { 0x92, 0xcd, 0x00, 0x48, 0xce, 0x00, 0x00, 0x00, 0x63 };

	(void)state;
	start(NULL);
	reader = attach_viewer();
	for (size_t i = 0; i < sizeof ping; i++) {
		assert_int_equal(reader->ack_count, 0);
		reader_send(reader, ping + i, 1);
		telem_flush(5 * S);
		reader_pump(reader);
	}
	READ_UNTIL(reader, reader->ack_count == 1);
	assert_int_equal(reader->ack_request, 99);
}

static void a_lease_holds_while_its_viewer_is_there(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(ATTACH, attach, { "looker", 6 }), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_ALL);
	READ_UNTIL(reader, reader_class(reader, "quiet")->level == TELEM_ALL && reader_class(reader, "quiet")->leases);
	assert_string_equal(reader_class(reader, "quiet")->by, "looker");
	assert_int_equal(reader_class(reader, "quiet")->leases, 1);
	assert_int_equal(reader_class(reader, "quiet")->own_level, TELEM_OFF);
	TELEM_COUNT(quiet, "leased", 1);
	telem_flush(5 * S);
	READ_UNTIL(reader, site("quiet.leased")->event_count == 1);
	reader_free(reader);
	reader = attach_viewer();
	READ_UNTIL(reader, telem_level_get("quiet") == TELEM_OFF);
}

static uint64_t passes, records_wanted;
static uint64_t want_record(void) { return __atomic_add_fetch(&records_wanted, 1, __ATOMIC_RELAXED); }

static void *pass_until_told(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&keep_emitting, __ATOMIC_RELAXED)) {
		TELEM_COUNT(quiet, "passed", want_record());
		__atomic_fetch_add(&passes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Until the place has been passed again, from its begin to its end. */
static void wait_for_passes(void)
{
	uint64_t before = __atomic_load_n(&passes, __ATOMIC_RELAXED);

	WAIT_UNTIL(__atomic_load_n(&passes, __ATOMIC_RELAXED) > before + 100, 5000);
}

static void a_place_first_passed_while_off_records_while_a_viewer_wants_it(void **state)
{
	uint64_t wanted;
	pthread_t thread;

	(void)state;
	start(NULL);
	__atomic_store_n(&keep_emitting, true, __ATOMIC_RELAXED);
	passes = records_wanted = 0;
	assert_int_equal(pthread_create(&thread, NULL, pass_until_told, NULL), 0);
	for (int round = 0; round < 3; round++) {
		wait_for_passes();
		wanted = __atomic_load_n(&records_wanted, __ATOMIC_RELAXED);
		wait_for_passes();
		assert_int_equal(__atomic_load_n(&records_wanted, __ATOMIC_RELAXED), wanted);
		reader = attach_viewer();
		reader->is_lossy = true;
		assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_ALL, 0), ACK_DONE);
		READ_UNTIL(reader, site("quiet.passed")->event_count > 100);
		reader_free(reader);
		reader = NULL;
		WAIT_UNTIL(telem_level_get("quiet") == TELEM_OFF, 5000);
	}
	emitters_end(&thread, 1);
}

static void a_kept_level_stays_when_its_viewer_leaves(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_SUM, 1), ACK_DONE);
	reader_free(reader);
	reader = attach_viewer();
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_SUM);
	assert_int_equal(reader_class(reader, "quiet")->own_level, TELEM_SUM);
}

static void the_latest_lease_wins_and_then_the_one_before_returns(void **state)
{
	struct reader *first, *second;

	(void)state;
	start(NULL);
	first = reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_SUM, 0), ACK_DONE);
	second = reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_ALL);
	reader_free(second);
	READ_UNTIL(first, telem_level_get("quiet") == TELEM_SUM);
	reader = first;
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_OWN, 0), ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
}

static void a_lease_of_a_site_leaves_its_class_alone(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, 0, site("quiet.alone")->id, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(telem_level_get("quiet.alone"), TELEM_ALL);
	assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
	READ_UNTIL(reader, site("quiet.alone")->level == TELEM_ALL);
}

static void count_beside(void) { TELEM_COUNT(quiet, "beside", 1); }

static void leases_of_a_class_are_counted_without_those_of_its_sites(void **state)
{
	(void)state;
	start(NULL);
	count_beside();
	reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, 0, site("quiet.alone")->id, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, 0, site("quiet.beside")->id, LEVEL_ALL, 0), ACK_DONE);
	hear(reader);                                    /* CLASS */
	assert_int_equal(reader_class(reader, "quiet")->leases, 0);
	telem_class_level(&telem_class_quiet, TELEM_SUM);
	READ_UNTIL(reader, reader_class(reader, "quiet")->level == TELEM_SUM);     /* LEVEL */
	assert_int_equal(reader_class(reader, "quiet")->leases, 0);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_SUM, 0), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_ALL, 0), ACK_DONE);
	READ_UNTIL(reader, reader_class(reader, "quiet")->level == TELEM_ALL);
	assert_int_equal(reader_class(reader, "quiet")->leases, 1);
}

static void a_sync_tells_everything_again_and_loses_nothing(void **state)
{
	uint64_t hellos;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	hellos = reader->kind_count[KIND_HELLO];
	for (int i = 0; i < 20; i++) {
		for (int event = 0; event < 100; event++)
			TELEM_COUNT(loud, "around syncs", 1);
		assert_int_equal(ASK(SYNC, sync, ), ACK_DONE);
	}
	READ_UNTIL(reader, reader->kind_count[KIND_HELLO] > hellos);
	stop_and_read(reader);
	assert_int_equal(site("loud.around syncs")->event_count, 2000);
	assert_int_equal(reader->bye.dropped, reader->bye.emitted - reader->bye.before - reader->event_count);
	reader_check_books(reader);
}

static void a_tick_of_ones_own_is_kept_to(void **state)
{
	uint64_t ticks;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	ticks = reader->kind_count[KIND_SNAPSHOT];
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] >= ticks + 3);
	assert_in_range(reader->snapshot.interval_ns, 50 * MS, 2 * S);
	assert_true(reader->snapshot.rss_bytes > 1 << 20);
}

static void whoever_comes_by_tcp_may_look_but_not_touch(void **state)
{
	uint16_t port = fixture_free_port();

	(void)state;
	start(NULL);
	assert_true(telem_sink_tcp_listen("127.0.0.1", port, false) >= 0);
	reader = reader_tcp(port);
	wait_until_greeted(reader);
	assert_int_equal(reader->control, 0);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, LEVEL_ALL, 0), ACK_DENIED);
	assert_int_equal(ASK(ENABLE_ALL, enable_all, LEVEL_ALL, 1), ACK_DENIED);
	assert_int_equal(ASK(RING, ring, 1 << 20), ACK_DENIED);
	assert_int_equal(ASK(POLICY, policy, 0, 0), ACK_DENIED);
	assert_int_equal(ASK(INTERVAL, interval, 20 * MS), ACK_DENIED);
	assert_int_equal(telem_level_get("net"), TELEM_SUM);
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
	assert_int_equal(ASK(SYNC, sync, ), ACK_DONE);
	assert_int_equal(ASK(TICK, tick, S), ACK_DONE);
}

static void with_control_tcp_may_set_levels(void **state)
{
	uint16_t port = fixture_free_port();

	(void)state;
	start(NULL);
	assert_true(telem_sink_tcp_listen("localhost", port, true) >= 0);
	reader = reader_tcp(port);
	wait_until_greeted(reader);
	assert_int_equal(reader->control, 1);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, LEVEL_ALL, 0), ACK_DONE);
}

static void only_this_machine_may_come_by_tcp(void **state)
{
	(void)state;
	start(NULL);
	assert_int_equal(telem_sink_tcp_listen("0.0.0.0", 0, false), -EACCES);
	assert_int_equal(telem_sink_tcp_listen("192.0.2.1", 0, false), -EACCES);
	assert_int_equal(telem_sink_tcp_listen("[::]", 0, false), -EACCES);
	assert_int_equal(telem_sink_tcp_connect("192.0.2.1", 9, true), -EACCES);
	assert_int_equal(telem_sink_tcp_listen("example.org", 0, false), -EINVAL);
	assert_true(telem_sink_tcp_listen("127.0.0.1", 0, false) >= 0);
}

static void a_flood_of_requests_is_slowed(void **state)
{
	uint8_t ping[3] = { 0x92, KIND_PING, 1 };
	int64_t begin = proc_now_ms();

	(void)state;
	start(NULL);
	reader = attach_viewer();
	for (int i = 0; i < 150; i++) {
		reader_send(reader, ping, sizeof ping);
		READ_UNTIL(reader, reader->ack_count == (uint64_t)i + 1);
	}
	assert_true(proc_now_ms() - begin > 500);
}

/* ---- books ---- */

static void the_books_are_even_for_every_task_and_class(void **state)
{
	uint64_t emitted = 0, dropped = 0, taken = 0;

	(void)state;
	start("net=all");
	reader = attach_fd(NULL);
	in_thread(named_thread, "one");
	in_thread(named_thread, "two");
	for (int i = 0; i < 3000; i++) {
		TELEM_COUNT(net, "booked", 1);
		TELEM_VALUE(loud, "booked too", 1ull << (i % 50), TELEM_NONE);
	}
	hear(reader);
	for (int i = 0; i < LIMIT_TASKS; i++)
		for (int c = 0; c < LIMIT_CLASSES; c++) {
			assert_int_equal(reader->tasks[i].books[c].emitted,
					 reader->tasks[i].books[c].dropped + reader->tasks[i].books[c].taken);
			if (i > TASK_ALL) {
				emitted += reader->tasks[i].books[c].emitted;
				dropped += reader->tasks[i].books[c].dropped;
				taken += reader->tasks[i].books[c].taken;
			}
		}
	for (int c = 0; c < LIMIT_CLASSES; c++) {
		emitted -= reader->tasks[TASK_ALL].books[c].emitted;
		dropped -= reader->tasks[TASK_ALL].books[c].dropped;
		taken -= reader->tasks[TASK_ALL].books[c].taken;
	}
	assert_int_equal(emitted | dropped | taken, 0);
	stop_and_read(reader);
	reader_check_books(reader);
	assert_int_equal(reader->event_count, reader->bye.delivered);
}

static int handled;
static void emit_in_handler(int number)
{
	(void)number;
	TELEM_COUNT(loud, "in handler", 1);
	__atomic_store_n(&handled, 1, __ATOMIC_RELAXED);
}

static void *flush_in_vain(void *arg)
{
	__atomic_store_n((pid_t *)arg, gettid(), __ATOMIC_RELAXED);
	telem_flush(30 * S);
	return NULL;
}

static bool is_asleep(const pid_t *thread)
{
	char path[64], *line;
	bool is;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)__atomic_load_n(thread, __ATOMIC_RELAXED));
	if (access(path, F_OK) < 0)
		return false;            /* it has not said its number yet */
	line = fixture_read(path, NULL);
	is = strstr(line, ") S ") != NULL;
	free(line);
	return is;
}

/* Its thread has no ring yet, and cannot make one: it is in the middle of a call. */
static void an_event_of_a_handler_that_interrupts_a_call_is_in_its_class_s_books(void **state)
{
	struct sigaction action = { .sa_handler = emit_in_handler, .sa_flags = SA_RESTART }, before;
	uint64_t dropped, emitted, loud;
	pthread_t thread;
	pid_t tid = 0;
	int ends[2];

	(void)state;
	start(NULL);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
	assert_true(telem_sink_fd(ends[1]) >= 0);
	reader = reader_new(ends[0]);
	wait_until_greeted(reader);
	hear(reader);
	loud = class_id("loud");
	emitted = reader->tasks[TASK_ALL].books[loud].emitted;
	dropped = reader->tasks[TASK_ALL].books[loud].dropped;
	sigaction(SIGUSR1, &action, &before);
	for (int i = 0; i < 10000; i++)          /* more than the pipe takes: a flush must wait */
		TELEM_COUNT(loud, "into a full pipe", 1);
	assert_int_equal(pthread_create(&thread, NULL, flush_in_vain, &tid), 0);
	WAIT_UNTIL(is_asleep(&tid), 5000);
	pthread_kill(thread, SIGUSR1);
	WAIT_UNTIL(__atomic_load_n(&handled, __ATOMIC_RELAXED), 5000);
	hear(reader);
	pthread_join(thread, NULL);
	sigaction(SIGUSR1, &before, NULL);
	assert_int_equal(site("loud.in handler")->count, 1);
	assert_int_equal(site("loud.in handler")->event_count, 0);
	assert_int_equal(reader->tasks[TASK_ALL].books[loud].emitted - emitted, 10001);
	assert_int_equal(reader->tasks[TASK_ALL].books[loud].dropped - dropped, 1);
	stop_and_read(reader);
	reader_check_books(reader);
}

static void a_slow_reader_loses_and_knows_how_much_and_a_fast_one_nothing(void **state)
{
	struct reader *slow, *fast;
	struct telem_statistics stats;

	(void)state;
	start("flush=1ms");
	slow = attach_fd(NULL);
	slow->is_lossy = true;
	fast = attach_viewer();
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 4000; i++)
			TELEM_COUNT(loud, "to slow and fast", 1);
		while (reader_pump(fast))
			;
		READ_UNTIL(fast, fast->event_count >= (uint64_t)(round + 1) * 4000);
	}
	hear(slow);              /* it is back, and greeted */
	stop_and_read(slow);
	reader_to_end(fast);
	reader_check_books(slow);
	reader_check_books(fast);
	assert_int_equal(fast->event_count, 400000);
	assert_int_equal(fast->bye.dropped, fast->bye.emitted - fast->bye.before - fast->bye.delivered);
	assert_true(slow->event_count < 400000);
	telem_stats(&stats);
	assert_int_equal(stats.emitted, stats.delivered + stats.dropped + stats.queued);
	assert_int_equal(stats.queued, 0);
	reader_free(slow);
	reader_free(fast);
}

static void what_waited_for_a_slow_reader_is_given_back_when_it_has_gone(void **state)
{
	uint64_t before;

	(void)state;
	start("flush=1ms");
	TELEM_COUNT(loud, "to a slow one", 1);           /* a ring, and a first step of blocks */
	reader = attach_fd(NULL);
	hear(reader);
	reader_free(reader);
	reader = NULL;
	WAIT_UNTIL(statistics().sinks == 0, 5000);
	before = statistics().memory_bytes;
	for (int round = 0; round < 5; round++) {
		uint64_t most = 0;

		reader = attach_fd(NULL);
		reader->is_lossy = true;
		for (int i = 0; i < 20; i++) {
			for (int event = 0; event < 20000; event++)
				TELEM_COUNT(loud, "to a slow one", 1);
			telem_flush(MS);
			most = statistics().memory_bytes > most ? statistics().memory_bytes : most;
			reader_pump(reader);
		}
		/* A full queue, and what may be queued for it alone. */
		assert_in_range(most, before + LIMIT_QUEUE_BLOCKS * LIMIT_BLOCK_BYTES / 2,
				before + 4 * LIMIT_QUEUE_BLOCKS * LIMIT_BLOCK_BYTES);
		reader_free(reader);
		reader = NULL;
		WAIT_UNTIL(statistics().sinks == 0 && statistics().memory_bytes <= before, 5000);
	}
}

static void the_statistics_are_even(void **state)
{
	struct telem_statistics before, after;

	(void)state;
	start(NULL);
	telem_stats(&before);
	assert_int_equal(before.emitted, before.delivered + before.dropped + before.queued);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "unheard", 1);
	telem_stats(&after);
	assert_int_equal(after.queued, 1000);
	reader = attach_fd(NULL);
	telem_flush(5 * S);
	telem_stats(&after);
	assert_int_equal(after.queued, 0);
	assert_int_equal(after.delivered - before.delivered, 1000);
	assert_int_equal(after.sinks, 1);
	assert_true(after.bytes_sent > before.bytes_sent && after.memory_bytes > 0 && after.threads >= 1);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "unheard", 1);
	telem_stop();
	telem_stats(&after);
	assert_int_equal(after.queued, 0);
	assert_int_equal(after.emitted - before.emitted, 2000);
}

static void what_nobody_heard_is_dropped_at_the_stop(void **state)
{
	struct telem_statistics before, after;

	(void)state;
	start(NULL);
	telem_stats(&before);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "unheard", 1);
	telem_stop();
	telem_stats(&after);
	assert_int_equal(after.dropped - before.dropped, 1000);
	assert_int_equal(after.queued, 0);
}

static void a_thread_that_ends_unheard_leaves_even_books(void **state)
{
	struct telem_statistics stats;
	uint64_t counts[1];
	pthread_t thread[1];

	(void)state;
	start(NULL);
	emitters_begin(thread, counts, 1);
	poll(NULL, 0, 5);                /* it emits what it can */
	emitters_end(thread, 1);
	telem_stats(&stats);
	assert_int_equal(stats.emitted, stats.delivered + stats.dropped + stats.queued);
	reader = attach_fd(NULL);
	stop_and_read(reader);
	reader_check_books(reader);
}

/* ---- policies ---- */

static void *overfill(void *arg)
{
	for (uint64_t i = 0; i < 20000; i++)
		TELEM_MARK(loud, "overfilled", i);
	*(bool *)arg = true;
	return NULL;
}

/* A fresh thread with the smallest ring, nobody listening; then a reader. */
static void overfill_and_read(enum telem_policy policy)
{
	uint64_t before;
	pthread_t thread;
	bool done = false;
	int id;

	telem_set_ring_bytes(64 << 10);
	telem_set_policy(policy, 0);
	start(NULL);
	/* The thread must be there still when the reader comes. */
	assert_int_equal(pthread_create(&thread, NULL, overfill, &done), 0);
	pthread_join(thread, NULL);
	assert_true(done);
	reader = attach_fd(&id);
	reader->keeps_events = true;
	before = reader->event_count;
	overfill(&done);                 /* on this one, which has its old ring */
	stop_and_read(reader);
	reader_check_books(reader);
	assert_true(reader->event_count > before);
}

static void dropping_loses_the_newest_and_the_books_are_even(void **state)
{
	(void)state;
	overfill_and_read(TELEM_DROP);
}

static void *fill_hear_and_go_on(void *arg)
{
	struct telem_statistics stats;
	bool done;

	(void)arg;
	/* It may be another thread's old ring, of any size. */
	do {
		overfill(&done);
		telem_stats(&stats);
	} while (stats.dropped == 0);
	reader = attach_fd(NULL);
	reader->keeps_events = true;
	hear(reader);
	TELEM_MARK(loud, "after it was drained", 1);
	hear(reader);
	return NULL;
}

static void a_full_ring_is_used_again_once_it_is_drained(void **state)
{
	pthread_t thread;

	(void)state;
	telem_set_ring_bytes(64 << 10);
	start(NULL);
	assert_int_equal(pthread_create(&thread, NULL, fill_hear_and_go_on, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(reader->event_count > 1000);
	assert_string_equal(reader->sites[reader->events[reader->event_count - 1].site].name, "after it was drained");
}

static void overwriting_loses_the_oldest_and_the_books_are_even(void **state)
{
	(void)state;
	overfill_and_read(TELEM_OVERWRITE);
	assert_int_equal(reader->events[reader->event_count - 1].value, 19999);
}

static void a_flight_recorder_gives_the_latest_to_whoever_comes(void **state)
{
	bool done;

	(void)state;
	telem_set_policy(TELEM_OVERWRITE, 0);
	start(NULL);
	for (int i = 0; i < 10; i++)
		overfill(&done);
	reader = attach_fd(NULL);
	reader->keeps_events = true;
	hear(reader);
	assert_true(reader->event_count > 10000);
	assert_int_equal(reader->events[reader->event_count - 1].value, 19999);
}

enum { RISING = 8000000 };

static void *emit_rising(void *arg)
{
	for (uint64_t i = 1; i <= RISING; i++)
		TELEM_MARK(loud, "rising", i);
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The producer gives up segments while they are being read. */
static void what_is_overwritten_while_it_is_sent_is_whole_or_lost(void **state)
{
	uint64_t last = 0, last_ns = 0;
	bool done = false;
	pthread_t thread;

	(void)state;
	telem_set_ring_bytes(256 << 10);
	telem_set_policy(TELEM_OVERWRITE, 0);
	start(NULL);
	reader = attach_fd(NULL);
	reader->keeps_events = reader->is_lossy = true;
	assert_int_equal(pthread_create(&thread, NULL, emit_rising, &done), 0);
	READ_UNTIL(reader, __atomic_load_n(&done, __ATOMIC_ACQUIRE));
	pthread_join(thread, NULL);
	hear(reader);
	stop_and_read(reader);
	reader_check_books(reader);
	assert_true(reader->event_count > 0);
	for (uint64_t i = 0; i < reader->event_count; i++) {
		assert_true(reader->events[i].value > last && reader->events[i].time_ns >= last_ns);
		last = reader->events[i].value;
		last_ns = reader->events[i].time_ns;
	}
}

static void *emit_blocking(void *arg)
{
	(void)arg;
	for (int i = 0; i < 50000; i++)
		TELEM_COUNT(loud, "blocking", 1);
	return NULL;
}

static void blocking_loses_nothing_while_the_ring_is_drained(void **state)
{
	pthread_t thread;
	uint64_t emitted;

	(void)state;
	telem_set_ring_bytes(64 << 10);
	start("policy=block:5s");
	reader = attach_fd(NULL);
	assert_int_equal(pthread_create(&thread, NULL, emit_blocking, NULL), 0);
	READ_UNTIL(reader, reader_site(reader, "loud.blocking") && site("loud.blocking")->event_count == 50000);
	pthread_join(thread, NULL);
	emitted = reader->event_count;
	stop_and_read(reader);
	reader_check_books(reader);
	assert_true(emitted >= 50000);
}

/* ---- flush and stop ---- */

static void a_flush_returns_while_others_go_on_emitting(void **state)
{
	uint64_t counts[2];
	pthread_t threads[2];

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	reader->is_lossy = true;
	emitters_begin(threads, counts, 2);
	reading_begin(reader);
	for (int i = 0; i < 200; i++) {
		TELEM_MARK(loud, "fenced", i);
		assert_int_equal(telem_flush(5 * S * (uint64_t)proc_slowness()), 0);
	}
	emitters_end(threads, 2);
	reading_end();
	hear(reader);
	assert_true(site("loud.fenced")->count >= 200);
	stop_and_read(reader);
	reader_check_books(reader);
}

static void after_a_flush_everything_before_it_has_been_delivered(void **state)
{
	(void)state;
	start("flush=10s");
	reader = attach_fd(NULL);
	for (uint64_t i = 1; i <= 200; i++) {
		TELEM_COUNT(loud, "flushed", 1);
		assert_int_equal(telem_flush(5 * S * (uint64_t)proc_slowness()), 0);
		while (reader_pump(reader))
			;
		assert_int_equal(reader->event_count, i);
	}
	assert_int_equal(telem_flush(UINT64_MAX), 0);
}

static void a_flush_with_a_stalled_reader_ends_in_its_time(void **state)
{
	int64_t begin;

	(void)state;
	start("flush=1ms");
	reader = attach_fd(NULL);
	for (int i = 0; i < 400000; i++)
		TELEM_COUNT(loud, "into a stall", 1);
	begin = proc_now_ms();
	telem_flush(S);
	begin = proc_now_ms();
	TELEM_COUNT(loud, "into a stall", 1);
	telem_flush(50 * MS);
	assert_in_range(proc_now_ms() - begin, 0, 300 * proc_slowness());
	reader->is_lossy = true;
}

static void a_stop_with_a_stalled_reader_ends_within_the_linger_time(void **state)
{
	struct telem_statistics stats;
	int64_t begin;

	(void)state;
	assert_int_equal(telem_start(&(struct telem_options){ .config = "flush=1ms", .linger_ns = 100 * MS }), 0);
	reader = attach_fd(NULL);
	for (int i = 0; i < 400000; i++)
		TELEM_COUNT(loud, "into a stall", 1);
	begin = proc_now_ms();
	telem_stop();
	assert_in_range(proc_now_ms() - begin, 0, 300 * proc_slowness());
	telem_stats(&stats);
	assert_int_equal(stats.emitted, stats.delivered + stats.dropped);
	reader->is_lossy = true;
}

/* A recording at path, whose end is clean and whose books are even. */
static void assert_whole(const char *path, const char *name, uint64_t events)
{
	uint64_t index_offset, index_count;
	size_t count;
	uint8_t *bytes = (uint8_t *)fixture_read(path, &count);
	struct reader *before = reader;

	reader = reader_new(-1);
	reader->at_end = true;
	reader_feed(reader, bytes, count);
	assert_true(recording_end_read(bytes + count - RECORDING_END_BYTES, &index_offset, &index_count));
	assert_int_equal(site(name)->event_count, events);
	reader_check_books(reader);
	reader_free(reader);
	reader = before;
	free(bytes);
}

static void a_stalled_reader_does_not_cost_the_others_their_goodbye(void **state)
{
	enum { AT_ONCE = 50000 };        /* find room in the ring, wherever its head is: 7 of 8 segments */
	const char *path = fixture_path(fixture, "beside.telem"), *first = fixture_path(fixture, "first.telem");
	int id, stuck;
	int64_t begin;

	(void)state;
	assert_int_equal(telem_start(&(struct telem_options){ .config = "flush=1ms", .linger_ns = 100 * MS }), 0);
	reader = attach_fd(&stuck);
	reader->is_lossy = true;
	id = telem_sink_file(first);
	assert_true(id >= 0 && telem_sink_file(path) >= 0);
	assert_int_equal(telem_flush(5 * S), 0);
	for (int i = 0; i < AT_ONCE; i++)
		TELEM_COUNT(loud, "beside a stall", 1);
	assert_int_equal(telem_sink_remove(id), 0);
	assert_whole(first, "loud.beside a stall", AT_ONCE);
	/* The stuck one takes its time, and no more. */
	begin = proc_now_ms();
	assert_int_equal(telem_sink_remove(stuck), 0);
	assert_in_range(proc_now_ms() - begin, 0, 300 * proc_slowness());
	reader_free(reader);
	reader = attach_fd(NULL);
	reader->is_lossy = true;
	for (int i = 0; i < AT_ONCE; i++)
		TELEM_COUNT(loud, "beside a stall", 1);
	telem_stop();
	assert_whole(path, "loud.beside a stall", 2 * AT_ONCE);
}

static void what_was_emitted_right_before_the_stop_arrives(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		start("flush=10s");
		reader = attach_fd(NULL);
		for (int event = 0; event < 500; event++)
			TELEM_COUNT(loud, "at last", 1);
		telem_stop();
		reader_to_end(reader);
		assert_int_equal(reader->event_count, 500);
		reader_check_books(reader);
		reader_free(reader);
	}
	reader = NULL;
}

static void stopping_while_threads_emit_leaves_even_books(void **state)
{
	uint64_t counts[2];
	pthread_t threads[2];

	(void)state;
	emitters_begin(threads, counts, 2);
	for (int i = 0; i < 30; i++) {
		struct telem_statistics stats;

		start("flush=1ms");
		reader = attach_fd(NULL);
		reader->is_lossy = true;
		READ_UNTIL(reader, reader->event_count > 1000);
		stop_and_read(reader);
		if (reader->has_bye)
			reader_check_books(reader);
		reader_free(reader);
		telem_stats(&stats);
		assert_true(stats.queued < 100);
	}
	reader = NULL;
	emitters_end(threads, 2);
}

/* Leaves the processor to whoever starts and stops. */
static void *emit_in_turn_until_told(void *arg)
{
	while (__atomic_load_n(&keep_emitting, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 20; i++)
			TELEM_COUNT(loud, "in turn", 1);
		*(uint64_t *)arg += 20;
		sched_yield();
	}
	return NULL;
}

static void starting_and_stopping_many_times_leaks_nothing(void **state)
{
	int cycles = 10000 / (int)proc_slowness();
	uint64_t counts[2], bytes_before = 0, bytes_after, mapped_before = 0, mapped_after;
	uint32_t fds_before = 0, threads_before = 0;
	struct telem_statistics before = statistics(), after;
	pthread_t threads[2];

	(void)state;
	__atomic_store_n(&keep_emitting, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++) {
		counts[i] = 0;
		assert_int_equal(pthread_create(&threads[i], NULL, emit_in_turn_until_told, &counts[i]), 0);
	}
	for (int i = 0; i < cycles; i++) {
		if (i == cycles / 10) {
			fds_before = fd_count();
			threads_before = (uint32_t)status_number("Threads:");
			bytes_before = status_number("VmRSS:");
			mapped_before = statistics().memory_bytes;
		}
		assert_int_equal(telem_start(NULL), 0);
		/* So that some is delivered, some is dropped, and some comes while it stops. */
		if (i % 8 == 0)
			assert_true(telem_sink_fd(open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0);
		telem_stop();
		/* But for what a thread was in the middle of. */
		assert_in_range(statistics().queued, 0, 2);
	}
	bytes_after = status_number("VmRSS:");
	mapped_after = statistics().memory_bytes;
	assert_int_equal(fd_count(), fds_before);
	assert_int_equal(status_number("Threads:"), threads_before);
	emitters_end(threads, 2);
	/* A sanitizer keeps what was freed. */
	assert_true(bytes_after < bytes_before + (proc_slowness() > 1 ? 512 << 10 : 4 << 10));
	assert_true(mapped_after < mapped_before + (1 << 20));
	after = statistics();
	assert_int_equal(after.queued, 0);
	assert_true(after.delivered > before.delivered && after.dropped > before.dropped);
	assert_in_range(after.emitted - before.emitted, 1, counts[0] + counts[1]);
}

static void *start_and_stop(void *arg)
{
	for (int i = 0; i < 200; i++) {
		int err = telem_start(NULL);

		if (err != 0 && err != -EALREADY)
			*(int *)arg = err;
		telem_flush(MS);
		telem_stop();
	}
	return NULL;
}

static void threads_may_start_and_stop_at_once(void **state)
{
	pthread_t threads[4];
	int err = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, start_and_stop, &err), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(err, 0);
}

static void *level_and_figures(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&keep_emitting, __ATOMIC_RELAXED)) {
		struct telem_statistics stats;

		telem_level_set("quiet", TELEM_ALL);
		telem_stats(&stats);
		telem_sync();
		count_alone();
		telem_level_set("quiet", TELEM_OFF);
		telem_set_policy(TELEM_OVERWRITE, 0);
		telem_set_ring_bytes(64 << 10);
		telem_set_flush_interval(2 * MS);
		telem_task_name("changer");
		telem_set_policy(TELEM_DROP, 0);
	}
	return NULL;
}

static void everything_may_be_called_from_any_thread_at_once(void **state)
{
	uint64_t counts[1];
	pthread_t emitter[1], changers[2];

	(void)state;
	start(NULL);
	reader = attach_viewer();
	reader->is_lossy = true;
	emitters_begin(emitter, counts, 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&changers[i], NULL, level_and_figures, NULL), 0);
	for (int i = 0; i < 15; i++) {
		int id;
		struct reader *who = attach_fd(&id);

		assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, LEVEL_ALL, 0), ACK_DONE);
		telem_sink_remove(id);
		reader_free(who);
	}
	emitters_end(emitter, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(changers[i], NULL);
	stop_and_read(reader);
	if (reader->has_bye)
		reader_check_books(reader);
}


int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(nothing_is_recorded_before_the_start_and_after_the_stop),
		BESIDE_TEST(a_site_that_is_off_does_not_evaluate_its_arguments),
		BESIDE_TEST(a_class_at_sum_sends_figures_and_no_events),
		BESIDE_TEST(a_class_at_all_sends_figures_and_every_event),
		BESIDE_TEST(a_class_that_is_off_sends_nothing),
		BESIDE_TEST(a_site_may_have_a_level_of_its_own),
		BESIDE_TEST(a_level_takes_effect_at_once_and_is_told),
		BESIDE_TEST(a_level_of_nothing_or_of_no_such_number_is_refused),
		BESIDE_TEST(the_last_words_tell_the_levels_that_were_and_a_second_start_has_them_again),
		BESIDE_TEST(enable_all_switches_every_class),
		BESIDE_TEST(the_variable_configures_the_program),
		BESIDE_TEST(the_variable_is_ignored_when_the_program_says_so),
		BESIDE_TEST(the_last_setting_of_a_class_counts),
		BESIDE_TEST(a_bad_setting_is_named_and_the_good_ones_hold),
		BESIDE_TEST(settings_out_of_their_bounds_are_refused),
		BESIDE_TEST(values_keep_count_sum_extremes_and_distribution),
		BESIDE_TEST(a_value_above_the_histogram_falls_into_its_last_bucket),
		BESIDE_TEST(a_gauge_is_what_the_last_thread_set),
		BESIDE_TEST(a_gauge_is_what_was_set_last_wherever_that_stands),
		BESIDE_TEST(every_change_is_told_at_the_next_tick),
		BESIDE_TEST(a_moved_gauge_is_the_sum_over_all_threads_also_ended_ones),
		BESIDE_TEST(allocations_and_frees_of_a_type_balance),
		BESIDE_TEST(allocations_of_any_size_are_counted_to_the_byte),
		BESIDE_TEST(the_allocator_wrappers_balance_across_threads),
		BESIDE_TEST(an_event_keeps_its_fields_whatever_their_type),
		BESIDE_TEST(a_field_that_places_of_one_name_put_differently_has_no_name),
		BESIDE_TEST(a_log_line_is_counted_at_sum_and_sent_at_all),
		BESIDE_TEST(a_long_log_line_is_cut_with_a_mark),
		BESIDE_TEST(a_long_log_line_is_cut_between_characters),
		BESIDE_TEST(marks_carry_their_key),
		BESIDE_TEST(a_span_ends_however_its_block_is_left),
		BESIDE_TEST(durations_are_nanoseconds_and_times_lie_in_the_run),
		BESIDE_TEST(a_wall_clock_that_is_set_changes_no_duration),
		BESIDE_TEST(a_latency_without_a_start_is_no_latency),
		BESIDE_TEST(a_latency_by_key_is_ended_by_any_thread),
		BESIDE_TEST(a_latency_begun_again_starts_anew),
		BESIDE_TEST(more_open_latencies_than_there_is_room_are_counted),
		BESIDE_TEST(latencies_of_many_threads_do_not_meet),
		BESIDE_TEST(a_collection_is_a_pause_and_what_it_left),
		BESIDE_TEST(a_reporter_is_asked_while_somebody_looks),
		BESIDE_TEST(without_a_reader_nothing_of_its_own_is_recorded),
		BESIDE_TEST(a_removed_reporter_is_in_use_no_more),
		BESIDE_TEST(a_stop_does_not_wait_for_a_reporter),
		BESIDE_TEST(what_nobody_claims_of_the_heap_is_told_also_below_0),
		BESIDE_TEST(malloc_and_the_process_report),
		BESIDE_TEST(a_provider_records_what_it_likes_while_somebody_looks),
		BESIDE_TEST(threads_report_their_processor_time_by_name),
		BESIDE_TEST(telemetry_tells_what_it_costs),
		BESIDE_TEST(places_of_one_name_are_one_site),
		BESIDE_TEST(one_format_with_two_severities_is_two_sites),
		BESIDE_TEST(a_gauge_that_is_set_and_one_that_is_moved_are_two_sites),
		BESIDE_TEST(events_belong_to_the_thread_that_made_them),
		BESIDE_TEST(events_belong_to_the_task_that_was_entered),
		BESIDE_TEST(what_threads_did_for_a_task_stays_its_own_when_they_end),
		BESIDE_TEST(tasks_may_end_while_others_enter_them),
		BESIDE_TEST(tasks_nest_to_a_bound_and_wrong_ids_are_refused),
		BESIDE_TEST(tasks_made_before_the_start_can_be_entered_after_it),
		BESIDE_TEST(many_short_tasks_keep_memory_flat_and_the_sums_whole),
		BESIDE_TEST(many_short_tasks_keep_memory_flat_while_nobody_listens),
		BESIDE_TEST(names_may_die_before_anybody_reads_them),
		BESIDE_TEST(several_sinks_hear_the_same),
		BESIDE_TEST(a_program_connects_to_a_reader_and_again_when_it_is_back),
		BESIDE_TEST(a_recording_is_the_stream_with_a_clean_end),
		BESIDE_TEST(a_sink_that_is_removed_at_once_has_all),
		BESIDE_TEST(what_is_made_is_its_users_alone_whatever_the_umask),
		BESIDE_TEST(a_file_that_is_there_is_not_written_over),
		BESIDE_TEST(a_sink_that_cannot_be_opened_says_why_in_words),
		BESIDE_TEST(a_fifo_has_a_way_back),
		BESIDE_TEST(a_fifo_nobody_reads_takes_no_requests),
		BESIDE_TEST(a_fifo_way_back_that_others_can_write_to_is_not_used),
		BESIDE_TEST(a_removed_sink_is_told_goodbye_with_even_books),
		BESIDE_TEST(with_a_listening_sink_go_those_it_let_in),
		BESIDE_TEST(sinks_come_and_go_while_threads_emit),
		BESIDE_TEST(a_redirected_sink_leaves_no_gap_between_the_two),
		BESIDE_TEST(sinks_need_a_start),
		BESIDE_TEST(more_sinks_than_the_limit_are_refused),
		BESIDE_TEST(every_request_has_a_numbered_answer),
		BESIDE_TEST(an_unknown_request_is_answered_with_its_number),
		BESIDE_TEST(nonsense_closes_the_connection),
		BESIDE_TEST(a_request_in_pieces_is_one_request),
		BESIDE_TEST(a_lease_holds_while_its_viewer_is_there),
		BESIDE_TEST(a_place_first_passed_while_off_records_while_a_viewer_wants_it),
		BESIDE_TEST(a_kept_level_stays_when_its_viewer_leaves),
		BESIDE_TEST(the_latest_lease_wins_and_then_the_one_before_returns),
		BESIDE_TEST(a_lease_of_a_site_leaves_its_class_alone),
		BESIDE_TEST(leases_of_a_class_are_counted_without_those_of_its_sites),
		BESIDE_TEST(a_sync_tells_everything_again_and_loses_nothing),
		BESIDE_TEST(a_tick_of_ones_own_is_kept_to),
		BESIDE_TEST(whoever_comes_by_tcp_may_look_but_not_touch),
		BESIDE_TEST(with_control_tcp_may_set_levels),
		BESIDE_TEST(only_this_machine_may_come_by_tcp),
		BESIDE_TEST(a_flood_of_requests_is_slowed),
		BESIDE_TEST(the_books_are_even_for_every_task_and_class),
		BESIDE_TEST(an_event_of_a_handler_that_interrupts_a_call_is_in_its_class_s_books),
		BESIDE_TEST(a_slow_reader_loses_and_knows_how_much_and_a_fast_one_nothing),
		BESIDE_TEST(what_waited_for_a_slow_reader_is_given_back_when_it_has_gone),
		BESIDE_TEST(the_statistics_are_even),
		BESIDE_TEST(what_nobody_heard_is_dropped_at_the_stop),
		BESIDE_TEST(a_thread_that_ends_unheard_leaves_even_books),
		BESIDE_TEST(dropping_loses_the_newest_and_the_books_are_even),
		BESIDE_TEST(a_full_ring_is_used_again_once_it_is_drained),
		BESIDE_TEST(overwriting_loses_the_oldest_and_the_books_are_even),
		BESIDE_TEST(a_flight_recorder_gives_the_latest_to_whoever_comes),
		BESIDE_TEST(what_is_overwritten_while_it_is_sent_is_whole_or_lost),
		BESIDE_TEST(blocking_loses_nothing_while_the_ring_is_drained),
		BESIDE_TEST(a_flush_returns_while_others_go_on_emitting),
		BESIDE_TEST(after_a_flush_everything_before_it_has_been_delivered),
		BESIDE_TEST(a_flush_with_a_stalled_reader_ends_in_its_time),
		BESIDE_TEST(a_stop_with_a_stalled_reader_ends_within_the_linger_time),
		BESIDE_TEST(a_stalled_reader_does_not_cost_the_others_their_goodbye),
		BESIDE_TEST(what_was_emitted_right_before_the_stop_arrives),
		BESIDE_TEST(stopping_while_threads_emit_leaves_even_books),
		BESIDE_TEST(starting_and_stopping_many_times_leaks_nothing),
		BESIDE_TEST(threads_may_start_and_stop_at_once),
		BESIDE_TEST(everything_may_be_called_from_any_thread_at_once),
	};

	if (getenv("TEST_FILTER"))
		cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests_name("emitter", tests, NULL, NULL);
}
