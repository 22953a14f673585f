/* picker.h -- the list of running programs to choose one from. */
#ifndef TELEM_MONITOR_SCREEN_PICKER_H
#define TELEM_MONITOR_SCREEN_PICKER_H

#include "monitor/source/discovery.h"
#include "widgets/canvas.h"
#include "widgets/lineedit.h"

#define PICKER_MAX 256

struct picker {
	struct found found[PICKER_MAX];
	int count;
	int rows[PICKER_MAX], row_count;     /* indices into found[]: what the filter lets through */
	int cursor, top;             /* rows */
	char filter[64];             /* the text typed behind / */
	struct lineedit edit;        /* of the filter */
	bool is_filtering;
	int chosen;                  /* into found[]; -1: none is chosen yet */
	bool quit;
	int cursor_y;                /* out: the row of the terminal's cursor */
};

void picker_scan(struct picker *picker);
void picker_draw(struct picker *picker, const struct canvas *canvas);
void picker_key(struct picker *picker, int key);
/* Whether the key quits where no program is shown yet. */
bool picker_key_quits(int key);
#endif
