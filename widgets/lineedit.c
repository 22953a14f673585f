#include "widgets/lineedit.h"

#include <assert.h>
#include <string.h>

#include "widgets/text.h"

void lineedit_init(struct lineedit *edit, char *text, size_t text_bytes)
{
	assert(text_bytes > 0);
	edit->text = text;
	edit->text_bytes = text_bytes;
	edit->bytes = strlen(text);
	edit->cursor = edit->bytes;
}

/* The start of the character before byte offset at; after() is that of the character after it. */
static size_t before(const struct lineedit *edit, size_t at)
{
	if (at > 0)
		at--;
	while (at > 0 && ((unsigned char)edit->text[at] & 0xC0) == 0x80)
		at--;
	return at;
}

static size_t after(const struct lineedit *edit, size_t at)
{
	uint32_t ch;

	if (at == edit->bytes)
		return at;
	return at + utf8_decode(edit->text + at, edit->bytes - at, &ch);
}

/* Removes the bytes from start to end, and puts the cursor at start. */
static void cut(struct lineedit *edit, size_t start, size_t end)
{
	memmove(edit->text + start, edit->text + end, edit->bytes - end + 1);
	edit->bytes -= end - start;
	edit->cursor = start;
}

static void insert(struct lineedit *edit, uint32_t ch)
{
	char bytes[UTF8_BYTES];
	size_t count = utf8_encode(bytes, ch);

	if (text_char_width(ch) == 0 || edit->bytes + count >= edit->text_bytes)
		return;
	memmove(edit->text + edit->cursor + count, edit->text + edit->cursor, edit->bytes - edit->cursor + 1);
	memcpy(edit->text + edit->cursor, bytes, count);
	edit->bytes += count;
	edit->cursor += count;
}

enum lineedit_answer lineedit_key(struct lineedit *edit, int key)
{
	switch (key) {
	case KEYCODE_ENTER:
		return LINEEDIT_DONE;
	case KEYCODE_ESCAPE:
		return LINEEDIT_CANCELLED;
	case KEYCODE_BACKSPACE:
		cut(edit, before(edit, edit->cursor), edit->cursor);
		break;
	case KEYCODE_DELETE:
		cut(edit, edit->cursor, after(edit, edit->cursor));
		break;
	case KEYCODE_CTRL('U'):
		cut(edit, 0, edit->cursor);
		break;
	case KEYCODE_LEFT:
		edit->cursor = before(edit, edit->cursor);
		break;
	case KEYCODE_RIGHT:
		edit->cursor = after(edit, edit->cursor);
		break;
	case KEYCODE_HOME:
	case KEYCODE_CTRL('A'):
		edit->cursor = 0;
		break;
	case KEYCODE_END:
	case KEYCODE_CTRL('E'):
		edit->cursor = edit->bytes;
		break;
	default:
		/* Values below 0 or above Unicode are function keys, not characters. */
		if (key >= 0 && key < KEYCODE_HANGUP)
			insert(edit, (uint32_t)key);
		break;
	}
	return LINEEDIT_MORE;
}

/* The columns from byte offset start to the cursor. */
static int cells_before_cursor(const struct lineedit *edit, const struct canvas *canvas, size_t start)
{
	int width = 0;

	while (start < edit->cursor) {
		char ch[UTF8_BYTES + 1] = "";
		size_t end = after(edit, start);

		memcpy(ch, edit->text + start, end - start);
		width += canvas_text_width(canvas, ch);
		start = end;
	}
	return width;
}

int lineedit_draw(const struct lineedit *edit, const struct canvas *canvas, int x, int y, const char *prompt)
{
	size_t start = 0;
	int room;

	x = canvas_text(canvas, x, y, STYLE(ROLE_TITLE), prompt);
	room = canvas->width_cells - x;
	/* The cursor needs a cell of its own when it is at the end of the text. */
	while (start < edit->cursor && cells_before_cursor(edit, canvas, start) >= room)
		start = after(edit, start);
	canvas_text(canvas, x, y, STYLE(ROLE_TEXT), edit->text + start);
	return x + cells_before_cursor(edit, canvas, start);
}
