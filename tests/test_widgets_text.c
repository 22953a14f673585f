#include "widgets/text.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

static void check_clean(const char *in, size_t in_bytes, enum glyphs glyphs, const char *expected)
{
	char out[256];

	assert_int_equal(text_clean(out, sizeof out, in, in_bytes, glyphs), strlen(expected));
	assert_string_equal(out, expected);
}

static void clean(const char *in, const char *expected, const char *expected_ascii)
{
	check_clean(in, strlen(in), GLYPHS_BLOCKS, expected);
	check_clean(in, strlen(in), GLYPHS_ASCII, expected_ascii);
}

static void plain_text_passes_unchanged(void **state)
{
	(void)state;
	clean("", "", "");
	clean("sql.query 100% ~", "sql.query 100% ~", "sql.query 100% ~");
	clean("größe 日本 🎉", "größe 日本 🎉", "gr??e ?? ?");
}

static void controls_become_dots(void **state)
{
	(void)state;
	clean("a\x1b[31mb", "a·[31mb", "a?[31mb");
	clean("a\tb\rc\nd\be\x7f", "a·b·c·d·e·", "a?b?c?d?e?");
	clean("a\xc2\x9b" "31mb\xc2\x80", "a·31mb·", "a?31mb?");
	check_clean("a\0b", 3, GLYPHS_BLOCKS, "a·b");
}

static void bidi_controls_and_line_breaks_become_dots(void **state)
{
	static const uint32_t bad[] = {
		0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069,
		0x061C, 0x2028, 0x2029, 0x85,
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char text[2 + UTF8_BYTES + 1] = "a";
		size_t bytes = 1 + utf8_encode(text + 1, bad[i]);

		text[bytes++] = 'b';
		check_clean(text, bytes, GLYPHS_BLOCKS, "a·b");
		check_clean(text, bytes, GLYPHS_ASCII, "a?b");
	}
}

static void what_hides_or_joins_becomes_a_dot(void **state)
{
	(void)state;
	clean("a\u200bb\ufeffc\u00add", "a·b·c·d", "a?b?c?d");          /* zero width, BOM, soft hyphen */
	clean("e\u0301", "e·", "e?");                                   /* combining acute */
	clean("\U0001F3F4\U000E0067\U000E007F", "\U0001F3F4··", "???"); /* tags */
	clean("\u3164x\ufffe", "·x·", "?x?");                           /* filler; a noncharacter */
}

static void invalid_utf8_becomes_replacement_characters(void **state)
{
	(void)state;
	clean("a\xff" "b", "a\uFFFDb", "a?b");
	clean("\xc0\xaf", "\uFFFD\uFFFD", "??");                        /* overlong '/' */
	clean("\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD", "???");             /* a surrogate */
	clean("\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD", "????");  /* past U+10FFFF */
	clean("\xe2\x82", "\uFFFD", "?");                               /* cut short: one */
	clean("\xe2\x82" "a\x80", "\uFFFDa\uFFFD", "?a?");
}

static void ascii_spells_our_glyphs_out(void **state)
{
	(void)state;
	clean("accept→reply 8 µs ≥ – …", "accept→reply 8 µs ≥ – …", "accept->reply 8 us >= - ~");
}

static void short_buffer_ends_between_code_points(void **state)
{
	char out[8];

	(void)state;
	for (size_t room = 1; room <= sizeof out; room++) {
		size_t bytes;

		memset(out, 'x', sizeof out);
		bytes = text_clean(out, room, "aé日🎉", strlen("aé日🎉"), GLYPHS_BLOCKS);
		assert_int_equal(bytes, strlen(out));
		assert_true(strlen(out) < room);
		assert_memory_equal(out, "aé日🎉", strlen(out));
		assert_true(strlen(out) == 0 || strlen(out) == 1 || strlen(out) == 3 || strlen(out) == 6);
		for (size_t i = room; i < sizeof out; i++)
			assert_int_equal(out[i], 'x');
	}
	assert_int_equal(text_clean(out, 0, "abc", 3, GLYPHS_BLOCKS), 0);
}

/* From any bytes text_clean() makes valid UTF-8 of which every character can be drawn. */
static void any_bytes_become_drawable(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char in[24], out[128], again[128];
		size_t at = 0, bytes;

		for (size_t i = 0; i < sizeof in; i++) {
			seed = seed * 1664525 + 1013904223;
			/* Most bytes look like the start of a character or sequence. */
			in[i] = (char)(seed & 0x100 ? 0xC0 | seed >> 25 : seed >> 24);
		}
		bytes = text_clean(out, sizeof out, in, sizeof in, round % 2 ? GLYPHS_ASCII : GLYPHS_BLOCKS);
		while (at < bytes) {
			uint32_t ch;

			at += utf8_decode(out + at, bytes - at, &ch);
			assert_true(text_char_width(ch) > 0);
			assert_true(round % 2 == 0 || ch < 0x7F);
		}
		/* Clean text stays as it is. */
		text_clean(again, sizeof again, out, bytes, round % 2 ? GLYPHS_ASCII : GLYPHS_BLOCKS);
		assert_string_equal(again, out);
	}
}

static void every_code_point_survives_utf8(void **state)
{
	(void)state;
	for (uint32_t ch = 0; ch <= 0x10FFFF; ch++) {
		char bytes[UTF8_BYTES];
		size_t count = utf8_encode(bytes, ch);
		uint32_t back;

		assert_int_equal(utf8_decode(bytes, count, &back), count);
		assert_int_equal(back, ch >= 0xD800 && ch <= 0xDFFF ? UTF8_INVALID : ch);
	}
}

static void encoding_no_code_point_gives_the_replacement(void **state)
{
	char bytes[UTF8_BYTES];

	(void)state;
	assert_int_equal(utf8_encode(bytes, 0x110000), 3);
	assert_memory_equal(bytes, "\uFFFD", 3);
	assert_int_equal(utf8_encode(bytes, UINT32_MAX), 3);
}

static void decoding_never_reads_past_the_end(void **state)
{
	uint32_t ch;
	char *one = strdup("\xf0");      /* ASan notices a read past its end */

	(void)state;
	one[1] = '\x9f';                 /* there is no NUL at the end */
	assert_int_equal(utf8_decode(one, 1, &ch), 1);
	assert_int_equal(ch, UTF8_INVALID);
	assert_int_equal(utf8_decode(one, 2, &ch), 2);
	assert_int_equal(ch, UTF8_INVALID);
	free(one);
}

static void width_needs_no_locale(void **state)
{
	(void)state;
	setlocale(LC_ALL, "C");
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("sql.query"), 9);
	assert_int_equal(text_width("größe"), 5);
	assert_int_equal(text_width("日本語"), 6);
	assert_int_equal(text_width("▁█▓─→µ…–"), 8);
	assert_int_equal(text_width("🎉"), 2);
}

static void width_of_bad_text_is_what_is_drawn(void **state)
{
	(void)state;
	assert_int_equal(text_width("\xff\xff"), 2);
	assert_int_equal(text_width("a\x1b" "b\u202E"), 4);
	assert_int_equal(text_char_width(0x1B), 0);
	assert_int_equal(text_char_width(0x7F), 0);
	assert_int_equal(text_char_width(0x202E), 0);
	assert_int_equal(text_char_width(0x0301), 0);
	assert_int_equal(text_char_width(0x110000), 0);
}

/* The widths are compared with those of the C library, for characters that it knows. Few may differ, except for those
 * that it makes wide by tradition and not by Unicode. */
static void widths_agree_with_the_c_library(void **state)
{
	int known = 0, differ = 0;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	for (uint32_t ch = 0x20; ch < 0x20000; ch++) {
		int theirs = wcwidth((wchar_t)ch);

		if (theirs <= 0 || text_char_width(ch) == 0)
			continue;
		known++;
		differ += theirs != text_char_width(ch);
	}
	setlocale(LC_CTYPE, "C");
	assert_true(known > 50000);
	assert_true(differ * 100 < known);
}

static void check_fit(const char *in, int width, enum glyphs glyphs, const char *expected, int expected_width)
{
	char out[256];

	assert_int_equal(text_fit(out, sizeof out, in, width, glyphs), expected_width);
	assert_string_equal(out, expected);
}

static void long_names_are_cut_in_the_middle(void **state)
{
	(void)state;
	check_fit("image.decode.jpeg.chroma", 16, GLYPHS_BLOCKS, "image.dec…chroma", 16);
	check_fit("image.decode.jpeg.chroma", 16, GLYPHS_ASCII, "image.dec~chroma", 16);
	check_fit("image.decode.jpeg.chroma", 24, GLYPHS_BLOCKS, "image.decode.jpeg.chroma", 24);
	check_fit("abcdef", 3, GLYPHS_BLOCKS, "ab…", 3);
	check_fit("abcdef", 1, GLYPHS_BLOCKS, "…", 1);
}

static void no_room_leaves_nothing(void **state)
{
	char out[4] = "xyz";

	(void)state;
	check_fit("abc", 0, GLYPHS_BLOCKS, "", 0);
	check_fit("abc", -5, GLYPHS_BLOCKS, "", 0);
	check_fit("", 5, GLYPHS_BLOCKS, "", 0);
	assert_int_equal(text_fit(out, 0, "abc", 2, GLYPHS_BLOCKS), 0);
	assert_string_equal(out, "xyz");
}

static void wide_characters_are_not_split(void **state)
{
	(void)state;
	check_fit("日本語日本語", 7, GLYPHS_BLOCKS, "日本…語", 7);
	check_fit("日本語日本語", 6, GLYPHS_BLOCKS, "日…語", 5);
	check_fit("日本", 1, GLYPHS_BLOCKS, "…", 1);
}

static void fit_counts_as_ascii_draws(void **state)
{
	(void)state;
	check_fit("a→b", 3, GLYPHS_BLOCKS, "a→b", 3);
	check_fit("a→b", 3, GLYPHS_ASCII, "a~", 2);
	check_fit("a→b", 4, GLYPHS_ASCII, "a→b", 4);
}

static void fit_never_passes_its_width_or_buffer(void **state)
{
	const char *in = "aé日🎉\xff→zz日ü";

	(void)state;
	for (int width = -1; width < 20; width++)
		for (size_t room = 1; room < 40; room++) {
			char out[40], clean_out[80];

			memset(out, 'x', sizeof out);
			text_fit(out, room, in, width, GLYPHS_BLOCKS);
			assert_true(strlen(out) < room);
			assert_true(text_width(out) <= (width > 0 ? width : 0));
			/* No code point was cut: only the \xff is replaced in it. */
			text_clean(clean_out, sizeof clean_out, out, strlen(out), GLYPHS_BLOCKS);
			assert_true(strlen(clean_out) == strlen(out) || strlen(clean_out) == strlen(out) + 2);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_passes_unchanged),
		cmocka_unit_test(controls_become_dots),
		cmocka_unit_test(bidi_controls_and_line_breaks_become_dots),
		cmocka_unit_test(what_hides_or_joins_becomes_a_dot),
		cmocka_unit_test(invalid_utf8_becomes_replacement_characters),
		cmocka_unit_test(ascii_spells_our_glyphs_out),
		cmocka_unit_test(short_buffer_ends_between_code_points),
		cmocka_unit_test(any_bytes_become_drawable),
		cmocka_unit_test(every_code_point_survives_utf8),
		cmocka_unit_test(encoding_no_code_point_gives_the_replacement),
		cmocka_unit_test(decoding_never_reads_past_the_end),
		cmocka_unit_test(width_needs_no_locale),
		cmocka_unit_test(width_of_bad_text_is_what_is_drawn),
		cmocka_unit_test(widths_agree_with_the_c_library),
		cmocka_unit_test(long_names_are_cut_in_the_middle),
		cmocka_unit_test(no_room_leaves_nothing),
		cmocka_unit_test(wide_characters_are_not_split),
		cmocka_unit_test(fit_counts_as_ascii_draws),
		cmocka_unit_test(fit_never_passes_its_width_or_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
