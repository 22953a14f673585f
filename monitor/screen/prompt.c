#include "monitor/screen/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "widgets/lineedit.h"
#include "widgets/units.h"

void prompt_open(struct screen *screen, enum prompt prompt, const char *text)
{
	screen->overlay = OVERLAY_PROMPT;
	screen->prompt = prompt;
	snprintf(screen->typed, sizeof screen->typed, "%s", text);
	lineedit_init(&screen->edit, screen->typed, sizeof screen->typed);
}

#define DAY_NS 86400000000000

/* Goes to HH:MM or HH:MM:SS on the day that the recording begins on, or on the next when it goes over midnight. */
static void go_to(struct screen *screen, const char *typed)
{
	struct cursor *cursor = &screen->target->cursor;
	const struct timeline *timeline = cursor->timeline;
	int64_t first = timeline_real_ns(timeline, timeline->first_ns), last = timeline_real_ns(timeline, timeline->last_ns);
	time_t day = (time_t)(first / 1000000000);
	int hour, minute, second = 0;
	char clock[UNITS_BYTES];
	struct tm when;
	int64_t wanted;

	if (sscanf(typed, "%d:%d:%d", &hour, &minute, &second) < 2 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
	    second < 0 || second > 60 || !localtime_r(&day, &when)) {
		screen_say(screen, "\"%s\" is not a time: give HH:MM or HH:MM:SS", typed);
		return;
	}
	when.tm_hour = hour;
	when.tm_min = minute;
	when.tm_sec = second;
	wanted = (int64_t)mktime(&when) * 1000000000;
	if (wanted < first - 1000000000 && wanted + DAY_NS <= last)
		wanted += DAY_NS;
	cursor->is_playing = false;
	/* A second is written without its fraction, so the whole second of the first tick is in the recording. */
	if (wanted < first - 1000000000 || wanted > last) {
		units_clock(clock, wanted < first ? first : last, 0);
		screen_say(screen, wanted < first ? "It begins at %s." : "It ends at %s.", clock);
	}
	cursor_seek(cursor, wanted > first ? timeline->first_ns + (uint64_t)(wanted - first) : timeline->first_ns);
}

static void set_interval(struct screen *screen, const char *typed)
{
	char *end;
	double seconds = strtod(typed, &end);
	int err;

	if (end == typed || *end || !(seconds >= 0.1 && seconds <= 60)) {
		screen_say(screen, "\"%s\" is not an interval: give 0.1 to 60 seconds", typed);
		return;
	}
	err = controls_set_interval(&screen->target->controls, (uint64_t)(seconds * 1e9));
	if (err < 0)
		screen_say_refused(screen, err, "nothing can be asked for");
	else
		screen_say(screen, "Interval %g s", seconds);
}

void prompt_key(struct screen *screen, int key)
{
	enum lineedit_answer answer = lineedit_key(&screen->edit, key);

	if (screen->prompt == PROMPT_FILTER)
		snprintf(screen_view(screen)->filter, sizeof screen_view(screen)->filter, "%s",
			 answer == LINEEDIT_CANCELLED ? "" : screen->typed);
	if (answer == LINEEDIT_MORE)
		return;
	screen->overlay = OVERLAY_NONE;
	if (answer == LINEEDIT_CANCELLED || !screen->typed[0])
		return;
	if (screen->prompt == PROMPT_INTERVAL)
		set_interval(screen, screen->typed);
	else if (screen->prompt == PROMPT_GO)
		go_to(screen, screen->typed);
}

void prompt_draw(struct screen *screen, const struct canvas *canvas, int y)
{
	static const char *const labels[] = { [PROMPT_FILTER] = "filter: ", [PROMPT_INTERVAL] = "interval in s: ",
					      [PROMPT_GO] = "go to HH:MM:SS: " };

	screen->cursor_x = lineedit_draw(&screen->edit, canvas, 0, y, labels[screen->prompt]);
	screen->cursor_y = y;
}
