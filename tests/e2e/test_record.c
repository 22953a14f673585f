/* test_record.c -- recordings: whole, cut, damaged, on a full disk, and replayed. */
#include <setjmp.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/e2e.h"

#define MS 5000

static const char *const fast[] = { "--rate", "200", NULL };

static int count_lines(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* Counts the lines of `telemtop lines` for a whole recording, without the header. */
static int ticks_in(struct said said)
{
	return count_lines(said.out) - 1;
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

static struct proc *start_record(const char *target, const char *path)
{
	struct proc *record = proc_start(.argv = PROC_LIST(bin("telemtop"), "record", "-d", "0.1", "-o", path, target),
					 .in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);

	proc_wait_line(record, PROC_ERR, fmt("telemtop: recording into %s; ^C ends it", path), MS);
	return record;
}

/* ---- whole ---- */

static void recording_shows_what_was_seen_live(void **state)
{
	enum { FIGURES = 53 };       /* columns time to ev/s */
	const char *path = fixture_path(*state, "r.telem");
	struct proc *demo = demo_start(*state, .args = fast);
	struct proc *live = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "-d", "0.1", pid_of(demo)),
				       .in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	struct said said;
	const char *line;
	int lines = 0;

	proc_wait_text(live, PROC_OUT, " live ", MS);
	said = telemtop("record", "-d", "0.1", "-o", path, "--for", "800ms", pid_of(demo));
	assert_code(said, 0);
	assert_string_equal(said.err, fmt("telemtop: recording into %s; ^C ends it\n", path));
	assert_int_equal(size_of(path) > 0, 1);
	said = telemtop("lines", path);
	assert_code(said, 0);
	assert_string_equal(said.err, "");
	/* The rates of the first tick cover only the time since the recording began. */
	for (line = strchr(strchr(said.out, '\n') + 1, '\n'); line && line[1]; line = strchr(line + 1, '\n'), lines++)
		proc_wait_text(live, PROC_OUT, fmt("%.*s", FIGURES, line + 1), MS);
	assert_true(lines >= 1);
}

static void program_records_itself_and_may_be_looked_at_meanwhile(void **state)
{
	const char *path = fixture_path(*state, "own.telem");
	struct proc *demo = demo_start(*state, .telem = fmt("sink=file:%s", path), .args = fast);
	struct said said;

	ASK_UNTIL(telemtop("lines", "-n", "1", path).code != 3 && ticks_in(telemtop("lines", path)) >= 2, MS);
	said = telemtop("lines", path);
	assert_code(said, 8);
	assert_has(said.err, "Showing ");
	proc_signal(demo, SIGTERM);
	assert_code(said_of(demo, MS), 0);
	said = telemtop("lines", path);
	assert_code(said, 0);
	assert_string_equal(said.err, "");
	assert_true(ticks_in(said) >= 2);
}

static void interrupted_record_is_whole(void **state)
{
	const char *path = fixture_path(*state, "r.telem");
	struct proc *demo = demo_start(*state, .args = fast), *record = start_record(pid_of(demo), path);
	struct stat st;

	WAIT_UNTIL(size_of(path) > 0, MS);
	proc_signal(record, SIGINT);
	assert_int_equal(proc_wait_exit(record, MS), 0);
	assert_code(telemtop("lines", path), 0);
	stat(path, &st);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void record_ends_at_its_size(void **state)
{
	const char *path = fixture_path(*state, "r.telem");
	struct proc *demo = demo_start(*state, .telem = "mem=all", .args = fast);

	assert_code(telemtop("record", "-d", "0.1", "-o", path, "--size", "100K", pid_of(demo)), 0);
	assert_in_range(size_of(path), 100 << 10, 400 << 10);
	assert_code(telemtop("lines", path), 0);
}

static void key_R_records_and_q_asks_once(void **state)
{
	struct fixture *fixture = *state;
	struct proc *demo = demo_start(fixture, .args = fast);
	struct term *term = term_start(.argv = PROC_LIST(bin("telemtop"), "-d", "0.1", pid_of(demo)), .dir = fixture->dir,
				       .cols = 80);
	glob_t found;

	term_wait_row_matches(term, 0, "LIVE", MS);
	term_keys(term, "R");
	term_wait_row_matches(term, 22, "Recording into telem-demo-[0-9]{8}-[0-9]{6}\\.telem\\. R ends it\\.", MS);
	term_wait_row_matches(term, 0, "^.* LIVE.* REC 00:0[0-9] [0-9.]+ [KM]iB  +[0-9:]{8}$", MS);
	term_keys(term, "R");
	term_wait_row_matches(term, 22, "Recording ended: telem-demo-.*, whole\\.", MS);
	term_wait_gone(term, " REC ", MS);
	assert_int_equal(glob(fixture_path(fixture, "telem-demo-*.telem"), 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_code(telemtop("lines", found.gl_pathv[0]), 0);
	unlink(found.gl_pathv[0]);
	globfree(&found);

	term_keys(term, "R");
	term_wait_row_matches(term, 0, " REC ", MS);
	term_keys(term, "q");
	term_wait_row_matches(term, 22, "Recording: q again ends it and quits \\(telem-demo-", MS);
	screen_quit(term);
	assert_int_equal(glob(fixture_path(fixture, "telem-demo-*.telem"), 0, NULL, &found), 0);
	assert_code(telemtop("lines", found.gl_pathv[0]), 0);
	globfree(&found);
}

static void files_are_not_overwritten_without_force(void **state)
{
	const char *path = fixture_path(*state, "precious"), *writing = fixture_path(*state, "writing");
	struct proc *demo = demo_start(*state, .args = fast), *record;
	struct term *term;
	struct said said;
	off_t bytes;
	char *kept;

	fixture_write(path, "precious", 8);
	said = telemtop("record", "-d", "0.1", "-o", path, "--for", "300ms", pid_of(demo));
	assert_code(said, 10);
	assert_string_equal(said.err,
			    fmt("telemtop: %s: the file is there already\n  Choose another name, or give --force.\n", path));
	term = screen_start(24, 120, "-d", "0.1", "-r", path, pid_of(demo));
	term_wait_row_matches(term, 22, "the file is there already", MS);
	screen_quit(term);
	kept = fixture_read(path, NULL);
	assert_string_equal(kept, "precious");
	free(kept);
	said = telemtop("record", "-d", "0.1", "-o", path, "--force", "--for", "300ms", pid_of(demo));
	assert_code(said, 0);
	assert_code(telemtop("lines", path), 0);
	/* A recording that is read is not emptied, whoever asks. */
	bytes = size_of(path);
	said = telemtop("record", "-o", path, "--force", path);
	assert_code(said, 10);
	assert_string_equal(said.err, fmt("telemtop: %s: it is being read, or another program is recording into it\n"
					  "  Choose another name.\n", path));
	assert_int_equal(size_of(path), bytes);
	said = run("/bin/sh", "-c", fmt("exec %s record -o %s --force - <%s", bin("telemtop"), path, path));
	assert_code(said, 10);
	assert_has(said.err, "it is being read");
	assert_int_equal(size_of(path), bytes);
	/* Others may read a recording while it is written. */
	record = start_record(pid_of(demo), writing);
	ASK_UNTIL(ticks_in(telemtop("lines", writing)) >= 1, MS);
	said = run("/bin/sh", "-c", fmt("exec %s lines - <%s", bin("telemtop"), writing));
	assert_true(ticks_in(said) >= 1);
	proc_signal(record, SIGINT);
	assert_int_equal(proc_wait_exit(record, MS), 0);
	/* The program does not overwrite the file either. */
	demo = demo_start(*state, .telem = fmt("sink=file:%s", path));
	proc_wait_text(demo, PROC_ERR, "File exists", MS);
}

/* ---- cut and damaged ---- */

/* Makes a recording of so many ticks, each of which is a tenth of a second. */
static const char *make_recording(struct fixture *fixture, int ticks)
{
	const char *path = fixture_path(fixture, "r.telem");
	struct proc *demo = demo_start(fixture, .args = fast), *record = start_record(pid_of(demo), path);

	ASK_UNTIL(ticks_in(telemtop("lines", path)) >= ticks, MS);
	proc_signal(record, SIGINT);
	assert_int_equal(proc_wait_exit(record, MS), 0);
	proc_end(demo);
	return path;
}

static void killed_writer_leaves_all_but_the_last_block(void **state)
{
	const char *path = fixture_path(*state, "r.telem"), *own = fixture_path(*state, "own.telem");
	struct proc *demo = demo_start(*state, .telem = fmt("sink=file:%s", own), .args = fast);
	struct proc *record = start_record(pid_of(demo), path);
	struct said said;

	ASK_UNTIL(ticks_in(telemtop("lines", path)) >= 3, MS);
	ASK_UNTIL(ticks_in(telemtop("lines", own)) >= 2, MS);
	proc_signal(record, SIGKILL);
	proc_signal(demo, SIGKILL);
	proc_wait_exit(record, MS);
	proc_wait_exit(demo, MS);
	said = telemtop("lines", path);
	assert_code(said, 8);
	assert_has(said.err, fmt("telemtop: %s: not closed cleanly; whole up to its end (", path));
	assert_true(ticks_in(said) >= 3);
	assert_code(telemtop("lines", own), 8);
	said = telemtop("once", "--json", own);
	assert_code(said, 8);
	assert_has(said.out, "{\"schema\":1,");
}

static void cut_recording_is_shown_up_to_the_cut_which_is_named(void **state)
{
	const char *path = make_recording(*state, 8);
	struct said whole = telemtop("lines", path), cut;
	off_t size = size_of(path);
	struct term *term;

	assert_code(whole, 0);
	assert_int_equal(truncate(path, size * 3 / 4), 0);
	cut = telemtop("lines", path);
	assert_code(cut, 8);
	assert_has(cut.err, fmt("telemtop: %s: truncated at byte ", path));
	assert_has(cut.err, " % before that are whole\n  Showing those. The writer was killed or the disk filled up.\n");
	assert_true(ticks_in(cut) >= ticks_in(whole) / 2 && ticks_in(cut) < ticks_in(whole));
	/* What is there is shown as before. */
	assert_int_equal(strncmp(whole.out, cut.out, strlen(cut.out)), 0);
	term = screen_start(24, 120, path);
	term_wait_row_matches(term, 22, "truncated at byte [0-9,]+ \\([0-9:]+\\); the [0-9.]+ % before that are whole", MS);
	screen_quit(term);
}

static void flipped_bytes_cost_their_block_and_are_named(void **state)
{
	const char *path = make_recording(*state, 8);
	struct said whole = telemtop("lines", path), said;
	size_t size;
	char *bytes = fixture_read(path, &size);

	for (size_t i = 0; i < 3; i++)
		bytes[size / 2 + i] = (char)~bytes[size / 2 + i];
	fixture_write(path, bytes, size);
	free(bytes);
	said = telemtop("lines", path);
	assert_code(said, 8);
	assert_has(said.err, fmt("telemtop: %s: damaged at byte ", path));
	assert_has(said.err, "; skipped ");
	assert_has(said.err, " bytes to the next marker (");
	assert_true(ticks_in(said) >= ticks_in(whole) - 2);
	assert_true(ticks_in(said) >= 3);
}

/* ---- a full disk ---- */

/* Mounts a small tmpfs, which ends with this process. */
static bool mount_small(const char *path)
{
	static bool is_apart;

	mkdir(path, 0700);
	if (!is_apart && (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
		return false;
	is_apart = true;
	return mount("tmpfs", path, "tmpfs", 0, "size=256k") == 0;
}

static void full_disk_stops_the_recording_at_a_block_until_there_is_room(void **state)
{
	const char *small = fixture_path(*state, "small"), *path = fixture_path(*state, "small/r.telem");
	const char *filler = fixture_path(*state, "small/filler");
	static char bytes[160 << 10];
	struct proc *demo;
	struct term *term;
	struct said said;
	off_t full;
	int ticks;

	if (!mount_small(small)) {
		print_message("no right to mount a small disk\n");
		skip();
	}
	fixture_write(filler, bytes, sizeof bytes);
	demo = demo_start(*state, .args = fast);
	term = screen_start(24, 160, "-d", "0.1", "-r", path, pid_of(demo));
	term_wait_row_matches(term, 22, "recording stopped: .*r\\.telem.* full; 0\\.[12] MiB saved", 10000);
	term_wait_row_matches(term, 0, "LIVE.* REC disk full", MS);
	term_keys(term, "8");
	term_wait_row_matches(term, -1, "^ lost +0 events", MS);
	said = telemtop("lines", path);
	assert_code(said, 8);
	assert_has(said.err, ": not closed cleanly; whole up to its end (");
	ticks = ticks_in(said);
	assert_true(ticks >= 1);

	full = size_of(path);
	unlink(filler);
	term_wait_row_matches(term, 0, " REC [0-9:]+ ", MS);
	WAIT_UNTIL(size_of(path) > full + (40 << 10), 10000);
	term_keys(term, "R");
	term_wait_row_matches(term, 22, "Recording ended: .*r\\.telem, with a gap where the disk was full", MS);
	screen_quit(term);
	said = telemtop("lines", path);
	assert_code(said, 0);
	assert_true(ticks_in(said) > ticks);
	unlink(path);

	said = telemtop("record", "-d", "0.1", "-c", "mem=all", "-o", path, pid_of(demo));
	assert_code(said, 10);
	assert_has(said.err, "telemtop: recording stopped: ");
	assert_has(said.err, "full; 0.2 MiB saved");
	umount2(small, MNT_DETACH);
}

static void programs_own_recording_goes_on_when_there_is_room_again(void **state)
{
	const char *small = fixture_path(*state, "small"), *path = fixture_path(*state, "small/own.telem");
	const char *filler = fixture_path(*state, "small/filler");
	static char bytes[160 << 10];
	struct proc *demo;
	struct said said;
	json_t *json;
	off_t full;

	if (!mount_small(small)) {
		print_message("no right to mount a small disk\n");
		skip();
	}
	fixture_write(filler, bytes, sizeof bytes);
	demo = demo_start(*state, .telem = fmt("mem=all;sink=file:%s", path), .args = fast);
	/* The disk is full, so the file does not grow any more. */
	WAIT_UNTIL(size_of(path) > (60 << 10), 10000);
	ASK_UNTIL(({ json = once(pid_of(demo)); int64_t files = figure(named(json, "spans", "read file"), "count");
		     json_decref(json); files > 100; }), MS);
	full = size_of(path);
	unlink(filler);
	WAIT_UNTIL(size_of(path) > full + (20 << 10), 10000);
	proc_signal(demo, SIGTERM);
	assert_code(said_of(demo, MS), 0);
	/* The recording can be replayed, and says what is missing. There was no room for a clean end. */
	said = telemtop("once", "--json", path);
	assert_true(said.code == 0 || said.code == 8);
	json = json_loads(said.out, 0, NULL);
	assert_true(figure(json, "lost") > 0);
	assert_true(figure(named(json, "classes", "mem"), "received") > 0);
	json_decref(json);
	umount2(small, MNT_DETACH);
}

/* ---- replay ---- */

/* Returns the time of day, in seconds, with which the row ends. */
static int clock_at_end(struct term *term, int row)
{
	const char *text = term_row(term, row);
	int hour, minute, second;

	if (strlen(text) < 8 || sscanf(text + strlen(text) - 8, "%d:%d:%d", &hour, &minute, &second) != 3)
		return -1;
	return (hour * 60 + minute) * 60 + second;
}

static const char *record_for(struct fixture *fixture, const char *length)
{
	const char *path = fixture_path(fixture, "r.telem");
	struct proc *demo = demo_start(fixture, .args = fast);

	assert_code(telemtop("record", "-d", "0.1", "-o", path, "--for", length, pid_of(demo)), 0);
	proc_end(demo);
	return path;
}

static void replay_plays_stops_steps_and_jumps(void **state)
{
	const char *path = record_for(*state, "2.5s");
	struct term *term = screen_start(24, 80, "replay", path);
	int first, hour, minute, second, clock;

	term_wait_row_matches(term, 0, "^telemtop  telem-demo [0-9]+ @.* REPLAY x1 ", MS);
	term_wait_row_matches(term, 0, " REPLAY at its end ", MS);
	term_wait_row_matches(term, 2, " 100 %$", MS);
	term_keys(term, "home");
	term_wait_row_matches(term, 2, " 0 %$", MS);
	term_wait_row_matches(term, 0, " REPLAY paused ", MS);
	assert_int_equal(sscanf(term_row(term, 2), " %d:%d:%d", &hour, &minute, &second), 3);
	first = (hour * 60 + minute) * 60 + second;
	/* Each key goes one second, which is one tick. */
	term_keys(term, "right");
	term_wait_row_matches(term, 2, " (3[5-9]|4[0-9]|50) %$", MS);
	term_keys(term, "right");
	term_wait_row_matches(term, 2, " (7[0-9]|8[0-9]|9[0-9]|100) %$", MS);
	term_wait_row_matches(term, 1, "^mem [1-9].* ev [1-9]", MS);
	term_keys(term, "left");
	term_wait_row_matches(term, 2, " (3[5-9]|4[0-9]|50) %$", MS);
	/* The user can give the time of day. */
	term_keys(term, "end");
	term_wait_row_matches(term, 2, " 100 %$", MS);
	term_keys(term, ":");
	term_wait_row_matches(term, 22, "^go to HH:MM:SS:", MS);
	term_type(term, fmt("%02d:%02d:%02d", (first + 1) / 3600 % 24, (first + 1) / 60 % 60, (first + 1) % 60));
	term_keys(term, "enter");
	/* The recording begins within the second before that time. */
	term_wait_row_matches(term, 2, " ([0-9]|[1-3][0-9]|4[0-2]) %$", MS);
	clock = clock_at_end(term, 0);
	assert_int_equal(clock, first + 1);
	term_keys(term, "> >");
	term_wait_row_matches(term, 22, "Speed x4", MS);
	term_keys(term, "space");
	term_wait_row_matches(term, 0, " REPLAY x4 | REPLAY at its end ", MS);
	term_wait_row_matches(term, 2, " 100 %$", MS);
	/* The panels work as in a live session, but a file gets no requests. */
	term_keys(term, "2");
	term_wait_row_matches(term, -1, "(tokenise|insert|query) +[0-9.]+k? */s", MS);
	term_keys(term, "R");
	term_wait_row_matches(term, 22, "No key \"R\" here|This is a recording already", MS);
	screen_quit(term);
}

static void replay_begins_where_it_is_told_to(void **state)
{
	const char *path = record_for(*state, "1.4s");
	struct term *term = screen_start(24, 80, "replay", "--at", "1", "--speed", "0.1", path);
	struct said said;

	term_wait_row_matches(term, 0, " REPLAY x0\\.1 ", MS);
	term_wait_row_matches(term, 2, " ([6-9][0-9]|100) %$", MS);
	screen_quit(term);
	said = telemtop("lines", "--at", "1", path);
	assert_code(said, 0);
	assert_in_range(ticks_in(said), 1, 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(recording_shows_what_was_seen_live),
		TEST(program_records_itself_and_may_be_looked_at_meanwhile),
		TEST(interrupted_record_is_whole),
		TEST(record_ends_at_its_size),
		TEST(key_R_records_and_q_asks_once),
		TEST(files_are_not_overwritten_without_force),
		TEST(killed_writer_leaves_all_but_the_last_block),
		TEST(cut_recording_is_shown_up_to_the_cut_which_is_named),
		TEST(flipped_bytes_cost_their_block_and_are_named),
		TEST(full_disk_stops_the_recording_at_a_block_until_there_is_room),
		TEST(programs_own_recording_goes_on_when_there_is_room_again),
		TEST(replay_plays_stops_steps_and_jumps),
		TEST(replay_begins_where_it_is_told_to),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
