/* picker.h -- which of several programs? */
#ifndef TELEM_MONITOR_SCREEN_PICKER_H
#define TELEM_MONITOR_SCREEN_PICKER_H

#include "monitor/source/discovery.h"
#include "widgets/canvas.h"

#define PICKER_MAX 256

struct picker {
	struct found found[PICKER_MAX];
	int count, cursor, top;
	char filter[32];             /* typed after / */
	bool is_filtering;
	int chosen;                  /* -1: none yet */
	bool quit;
	int cursor_y;                /* out */
};

void picker_scan(struct picker *picker);
void picker_draw(struct picker *picker, const struct canvas *canvas);
void picker_key(struct picker *picker, int key);
#endif
