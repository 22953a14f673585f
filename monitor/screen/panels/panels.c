#include "monitor/screen/panels/panel.h"

#include <stddef.h>

const struct panel *const panels[] = {
	&panel_overview,
	&panel_memory,
	&panel_latency,
	&panel_classes,
	&panel_link,
	&panel_frames,
	NULL
};

const struct panel *panel_find(char key)
{
	for (int i = 0; panels[i]; i++)
		if (panels[i]->digit == key)
			return panels[i];
	return NULL;
}

void panel_view_init(struct panel_view *view)
{
	*view = (struct panel_view){ .cursor = -1, .cursor_x = -1, .cursor_y = -1 };
}
