#include "widgets/canvas.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "widgets/canvas_backing.h"
#include "widgets/text.h"

static const struct style plain = { .role = ROLE_TEXT };
static struct canvas_backing *backing;
static struct canvas canvas;

/* The canvas has 10 x 3 cells. */
static int setup(void **state)
{
	(void)state;
	backing = canvas_text_new(10, 3, GLYPHS_BLOCKS);
	canvas = canvas_of(backing);
	return 0;
}

static int setup_ascii(void **state)
{
	(void)state;
	backing = canvas_text_new(10, 3, GLYPHS_ASCII);
	canvas = canvas_of(backing);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	canvas_backing_free(backing);
	return 0;
}

static void check_shows(const char *expected)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	canvas_text_write(backing, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* Fails when one half of a wide character is without the other. */
static void check_whole(void)
{
	for (int y = 0; y < backing->height_cells; y++)
		for (int x = 0; x < backing->width_cells; x++) {
			const struct cell *cell = &backing->cells[y * backing->width_cells + x];
			bool wide = text_char_width(cell->ch) == 2;

			assert_true(cell->ch == 0 || text_char_width(cell->ch) > 0);
			assert_false(cell->ch == 0 && (x == 0 || text_char_width(cell[-1].ch) != 2));
			assert_false(wide && (x + 1 == backing->width_cells || cell[1].ch != 0));
		}
}

static void new_canvas_is_blank(void **state)
{
	(void)state;
	assert_int_equal(canvas.width_cells, 10);
	assert_int_equal(canvas.height_cells, 3);
	check_shows("\n\n\n");
}

static void negative_size_counts_as_zero(void **state)
{
	struct canvas_backing *empty = canvas_text_new(-4, -1, GLYPHS_BLOCKS);
	struct canvas nothing = canvas_of(empty);

	(void)state;
	assert_int_equal(nothing.width_cells, 0);
	assert_int_equal(nothing.height_cells, 0);
	canvas_put(&nothing, 0, 0, plain, 'x');
	canvas_clear(&nothing);
	canvas_row_attr(&nothing, 0, ATTR_BOLD);
	canvas_backing_free(empty);
	canvas_backing_free(NULL);
}

static void text_that_is_cut_ends_in_an_ellipsis_and_says_where_it_would_end(void **state)
{
	(void)state;
	assert_int_equal(canvas_text(&canvas, 2, 0, plain, "abc"), 5);
	assert_int_equal(canvas_text(&canvas, 8, 1, plain, "abcd"), 12);
	assert_int_equal(canvas_text(&canvas, -2, 2, plain, "abcd"), 2);
	assert_int_equal(canvas_text(&canvas, 0, 3, plain, "below"), 5);
	check_shows("  abc\n        a…\ncd\n");
}

static void text_to_the_right_ends_before_its_column(void **state)
{
	(void)state;
	assert_int_equal(canvas_text_right(&canvas, 10, 0, plain, "end"), 7);
	assert_int_equal(canvas_text_right(&canvas, 2, 1, plain, "long"), -2);
	check_shows("       end\nng\n\n");
}

static void printf_formats(void **state)
{
	(void)state;
	assert_int_equal(canvas_printf(&canvas, 1, 0, plain, "%d µ", 42), 5);
	check_shows(" 42 µ\n\n\n");
}

static void endless_printf_is_cut_between_code_points(void **state)
{
	char *text = malloc(9002);

	(void)state;
	for (int i = 0; i < 3000; i++)
		memcpy(text + 1 + 3 * i, "▁", 3);
	text[0] = 'x';
	text[9001] = '\0';
	assert_true(canvas_printf(&canvas, 0, 0, plain, "%s", text) <= 1334);
	/* When the end of the text is shown, its last character is whole. */
	canvas_clear(&canvas);
	canvas_printf(&canvas, 9 - 1332, 0, plain, "%s", text);
	assert_int_not_equal(backing->cells[8].ch, UTF8_INVALID);
	assert_int_not_equal(backing->cells[9].ch, UTF8_INVALID);
	free(text);
}

static void fill_is_clipped_at_both_ends(void **state)
{
	(void)state;
	canvas_fill(&canvas, -3, 0, plain, '-', 5);
	canvas_fill(&canvas, 8, 1, plain, '-', INT_MAX);
	canvas_fill(&canvas, 3, 2, plain, '-', -2);
	check_shows("--\n        --\n\n");
}

static void part_has_its_own_origin_and_clips(void **state)
{
	struct canvas part = canvas_part(&canvas, 2, 1, 3, 1);

	(void)state;
	canvas_text(&part, -1, 0, plain, "abcdef");
	canvas_text(&part, 0, 1, plain, "below");
	canvas_text(&part, 0, -1, plain, "above");
	check_shows("\n  bc…\n\n");
}

static void part_cannot_leave_its_canvas(void **state)
{
	struct canvas outer = canvas_part(&canvas, 2, 0, 4, 2);
	struct canvas inner = canvas_part(&outer, -1, -1, 100, 100);

	(void)state;
	assert_int_equal(inner.x, 2);
	assert_int_equal(inner.y, 0);
	assert_int_equal(inner.width_cells, 4);
	assert_int_equal(inner.height_cells, 2);
	inner = canvas_part(&outer, 1, 1, -5, -5);
	assert_int_equal(inner.width_cells, 0);
	assert_int_equal(inner.height_cells, 0);
	inner = canvas_part(&outer, 9, 9, 2, 2);
	assert_int_equal(inner.width_cells, 0);
	/* A part that is cut off at the left has less width. */
	inner = canvas_part(&outer, -2, 0, 3, 1);
	assert_int_equal(inner.width_cells, 1);
}

static void clear_blanks_the_part_only(void **state)
{
	struct canvas part = canvas_part(&canvas, 1, 0, 2, 1);

	(void)state;
	canvas_text(&canvas, 0, 0, STYLE(ROLE_BAD), "abcd");
	canvas_clear(&part);
	check_shows("a  d\n\n\n");
	assert_int_equal(backing->cells[1].style.role, ROLE_TEXT);
	assert_int_equal(backing->cells[0].style.role, ROLE_BAD);
}

static void row_attr_adds_to_what_is_there(void **state)
{
	(void)state;
	canvas_put(&canvas, 0, 1, STYLE(ROLE_OK, ATTR_BOLD), 'x');
	canvas_row_attr(&canvas, 1, ATTR_REVERSE);
	canvas_row_attr(&canvas, 7, ATTR_REVERSE);
	assert_int_equal(backing->cells[10].style.attrs, ATTR_BOLD | ATTR_REVERSE);
	assert_int_equal(backing->cells[19].style.attrs, ATTR_REVERSE);
	assert_int_equal(backing->cells[9].style.attrs, 0);
	assert_int_equal(backing->cells[20].style.attrs, 0);
}

static void wide_characters_fill_two_cells(void **state)
{
	(void)state;
	assert_int_equal(canvas_text(&canvas, 0, 0, plain, "日本x"), 5);
	assert_int_equal(backing->cells[1].ch, 0);
	assert_int_equal(canvas_text_width(&canvas, "日本x"), 5);
	check_shows("日本x\n\n\n");
	check_whole();
}

static void overwritten_half_takes_the_other_along(void **state)
{
	(void)state;
	canvas_text(&canvas, 0, 0, plain, "日本");
	canvas_put(&canvas, 1, 0, plain, 'x');
	check_shows(" x本\n\n\n");
	canvas_put(&canvas, 2, 0, plain, 'y');
	check_shows(" xy\n\n\n");
	canvas_text(&canvas, 0, 1, plain, "日本");
	canvas_text(&canvas, 1, 1, plain, "語");
	check_shows(" xy\n 語\n\n");
	check_whole();
}

static void wide_character_that_does_not_fit_is_a_blank(void **state)
{
	struct canvas part = canvas_part(&canvas, 2, 0, 3, 1);

	(void)state;
	canvas_text(&canvas, 0, 0, plain, "abcdefghij");
	canvas_put(&part, 2, 0, plain, 0x65E5);
	canvas_put(&part, -1, 0, plain, 0x65E5);
	check_shows("ab d fghij\n\n\n");
	check_whole();
}

static void cutting_a_wide_character_at_a_parts_edge_leaves_no_half(void **state)
{
	struct canvas part = canvas_part(&canvas, 1, 0, 2, 1);

	(void)state;
	canvas_text(&canvas, 0, 0, plain, "日本");
	canvas_clear(&part);
	check_shows("\n\n\n");
	check_whole();
}

static void what_must_not_reach_a_terminal_is_a_dot(void **state)
{
	(void)state;
	canvas_text(&canvas, 0, 0, plain, "a\x1b[1m\u202Eb\n");
	canvas_put(&canvas, 0, 1, plain, 0x9B);
	canvas_put(&canvas, 1, 1, plain, 0);
	canvas_put(&canvas, 2, 1, plain, UINT32_MAX);
	canvas_text(&canvas, 0, 2, plain, "\xff");
	check_shows("a·[1m·b·\n···\n\uFFFD\n");
}

static void ascii_canvas_shows_nothing_but_ascii(void **state)
{
	(void)state;
	assert_int_equal(canvas_glyphs(&canvas), GLYPHS_ASCII);
	assert_int_equal(canvas_text(&canvas, 0, 0, plain, "a→b 8µs ▁█"), 11);
	assert_int_equal(canvas_text_width(&canvas, "a→b"), 4);
	canvas_text(&canvas, 0, 1, plain, "é日\x1b\xff");
	canvas_put(&canvas, 0, 2, plain, 0x2502);
	canvas_put(&canvas, 1, 2, plain, 0x1F389);
	check_shows("a->b 8us ~\n????\n|?\n");
}

static void positions_may_be_anywhere(void **state)
{
	static const int extremes[] = { INT_MIN, INT_MIN + 1, -1, 0, 9, 10, INT_MAX - 1, INT_MAX };
	const size_t count = sizeof extremes / sizeof extremes[0];

	(void)state;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++) {
			int x = extremes[i], y = extremes[j];
			struct canvas part = canvas_part(&canvas, x, y, y, x);

			canvas_put(&canvas, x, y, plain, 'x');
			canvas_put(&canvas, x, y, plain, 0x65E5);
			canvas_text(&canvas, x, y, plain, "日本語 text");
			canvas_text_right(&canvas, x, y, plain, "日本語 text");
			canvas_fill(&canvas, x, 1, plain, 0x65E5, y);
			canvas_row_attr(&canvas, y, ATTR_DIM);
			canvas_text(&part, x, y, plain, "日本語 text");
			canvas_clear(&part);
			check_whole();
		}
}

static void glyph_sets_are_complete(void **state)
{
	(void)state;
	for (int which = 0; which < GLYPH_COUNT; which++) {
		uint32_t block = glyph(GLYPHS_BLOCKS, (enum glyph)which);
		uint32_t ascii = glyph(GLYPHS_ASCII, (enum glyph)which);

		assert_int_equal(text_char_width(block), 1);
		assert_true(ascii > ' ' && ascii < 0x7F);
		assert_non_null(glyph_twin(block));
	}
	for (int eighths = 1; eighths <= 8; eighths++)
		assert_int_equal(glyph_twin(glyph_bar(GLYPHS_BLOCKS, eighths))[0], glyph_bar(GLYPHS_ASCII, eighths));
	assert_int_equal(glyph_bar(GLYPHS_BLOCKS, 1), 0x2581);
	assert_int_equal(glyph_shade(GLYPHS_BLOCKS, 4), 0x2588);
	assert_null(glyph_twin('a'));
}

static void bars_and_shades_are_clamped(void **state)
{
	(void)state;
	assert_int_equal(glyph_bar(GLYPHS_BLOCKS, -3), ' ');
	assert_int_equal(glyph_bar(GLYPHS_BLOCKS, 99), 0x2588);
	assert_int_equal(glyph_bar(GLYPHS_ASCII, 99), '#');
	assert_int_equal(glyph_shade(GLYPHS_BLOCKS, -1), ' ');
	assert_int_equal(glyph_shade(GLYPHS_ASCII, 99), '#');
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_canvas_is_blank),
		TEST(negative_size_counts_as_zero),
		TEST(text_that_is_cut_ends_in_an_ellipsis_and_says_where_it_would_end),
		TEST(text_to_the_right_ends_before_its_column),
		TEST(printf_formats),
		TEST(endless_printf_is_cut_between_code_points),
		TEST(fill_is_clipped_at_both_ends),
		TEST(part_has_its_own_origin_and_clips),
		TEST(part_cannot_leave_its_canvas),
		TEST(clear_blanks_the_part_only),
		TEST(row_attr_adds_to_what_is_there),
		TEST(wide_characters_fill_two_cells),
		TEST(overwritten_half_takes_the_other_along),
		TEST(wide_character_that_does_not_fit_is_a_blank),
		TEST(cutting_a_wide_character_at_a_parts_edge_leaves_no_half),
		TEST(what_must_not_reach_a_terminal_is_a_dot),
		cmocka_unit_test_setup_teardown(ascii_canvas_shows_nothing_but_ascii, setup_ascii, teardown),
		TEST(positions_may_be_anywhere),
		cmocka_unit_test(glyph_sets_are_complete),
		cmocka_unit_test(bars_and_shades_are_clamped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
