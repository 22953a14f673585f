#include "monitor/screen/held_view.h"

#include "monitor/screen/screen.h"

/* An answer has at most some MiB, and ages of seconds are old enough after this time. */
#define HELD_NS 2000000000u

static void answered(void *arg, const struct request *request)
{
	struct screen *screen = arg;

	screen->held_ns = screen->now_ns;
	screen->has_held = request->code == ACK_DONE;
}

void held_view_ask(struct screen *screen)
{
	if (!screen_view(screen)->wants_held || screen->held.is_asking || !screen_view(screen)->may_control ||
	    (screen->held_ns && screen->now_ns - screen->held_ns < HELD_NS))
		return;
	/* An answer replaces the one before it when it is complete. */
	screen->has_held = false;
	if (held_ask(&screen->held, &screen->target->controls, answered, screen) < 0)
		screen->held_ns = screen->now_ns;
}

void held_view_fill(struct screen *screen)
{
	struct panel_view *view = screen_view(screen);

	view->held_samples = screen->has_held ? screen->held.samples : NULL;
	view->held_count = screen->has_held ? screen->held.count : 0;
}
