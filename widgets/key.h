/* key.h -- every key is one int: a Unicode code point, or one of the constants above all code
 * points.
 *
 * A control key is its code point: ^U is 0x15, Tab is '\t'. */
#ifndef TELEM_WIDGETS_KEY_H
#define TELEM_WIDGETS_KEY_H

#define KEYCODE_CTRL(letter) ((letter) & 0x1F)

enum keycode {
	KEYCODE_NONE = -1,           /* no key is waiting */
	KEYCODE_HANGUP = 0x110000,   /* the terminal is gone */
	KEYCODE_RESIZE,              /* the terminal's size has changed */
	KEYCODE_ENTER, KEYCODE_ESCAPE, KEYCODE_BACKSPACE, KEYCODE_DELETE, KEYCODE_INSERT, KEYCODE_BACKTAB,
	KEYCODE_UP, KEYCODE_DOWN, KEYCODE_LEFT, KEYCODE_RIGHT,
	KEYCODE_HOME, KEYCODE_END, KEYCODE_PAGE_UP, KEYCODE_PAGE_DOWN,
	KEYCODE_UNKNOWN,             /* a key that no part of the program uses */
	KEYCODE_F0                   /* KEYCODE_F0 + n is Fn, up to F12 */
};
#endif
