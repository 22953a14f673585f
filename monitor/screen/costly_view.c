#include "monitor/screen/costly_view.h"

#include "monitor/screen/screen.h"

static bool is_leased(const struct screen *screen, uint32_t site)
{
	for (int i = 0; i < screen->costly_count; i++)
		if (screen->costly[i] == site)
			return true;
	return false;
}

static void give_back(struct screen *screen)
{
	const struct model *model = target_model(screen->target);

	for (int i = 0; i < screen->costly_count; i++) {
		const struct model_site *site = model_site_by_id(model, screen->costly[i]);

		/* The user may have given it back before us. */
		if (site && controls_wants_site(&screen->target->controls, site->id))
			controls_set_level(&screen->target->controls, site->class_id, site->id, LEVEL_OWN, NULL, NULL);
	}
	screen->costly_count = 0;
}

void costly_view_ask(struct screen *screen)
{
	const struct model *model = target_model(screen->target);
	struct panel_view *view = screen_view(screen);

	if (screen->costly_stream != model_target(model)->stream)
		screen->costly_count = 0;        /* another program, whose sites have other numbers */
	screen->costly_stream = model_target(model)->stream;
	if (!view->wants_costly) {
		give_back(screen);
		return;
	}
	if (!view->may_control || target_is_frozen(screen->target))
		return;
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		if (!model_is_costly(model, site) || site->level != LEVEL_OFF || is_leased(screen, site->id) ||
		    controls_wants_site(&screen->target->controls, site->id) || screen->costly_count == SCREEN_COSTLY_MAX)
			continue;
		if (controls_set_level(&screen->target->controls, site->class_id, site->id, LEVEL_SUM, NULL, NULL) == 0)
			screen->costly[screen->costly_count++] = site->id;
	}
}
