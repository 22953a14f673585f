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
	/* Ages of now do not belong to a picture that stands still. */
	if (!screen_view(screen)->wants_held || !screen_view(screen)->may_control ||
	    target_is_frozen(screen->target) || screen->held.is_asking ||
	    (screen->held_ns && screen->now_ns - screen->held_ns < HELD_NS))
		return;
	if (held_ask(&screen->held, &screen->target->controls, answered, screen) < 0)
		screen->held_ns = screen->now_ns;
}

void held_view_fill(struct screen *screen)
{
	struct panel_view *view = screen_view(screen);

	view->held_samples = screen->has_held ? screen->held.samples : NULL;
	view->held_count = screen->has_held ? screen->held.count : 0;
}
