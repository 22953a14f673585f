#include "monitor/screen/panels/panel_memory.h"

#include <string.h>

#include "widgets/text.h"

enum { HOLDERS_MAX = 4 };            /* so many holders are named */

struct holder { uint32_t id; double bytes; bool is_rough; };

/* Adds a holder to a list that keeps only the biggest ones, at most `most`, biggest first. Returns the bytes of the holder
 * that has no place in it. */
static double holder_add(struct holder holders[HOLDERS_MAX], int most, int *count, struct holder holder)
{
	int at = *count;
	double left_over = 0;

	while (at > 0 && holders[at - 1].bytes < holder.bytes)
		at--;
	if (*count == most)
		left_over = at < most ? holders[most - 1].bytes : holder.bytes;
	else
		(*count)++;
	if (at >= most)
		return left_over;
	memmove(&holders[at + 1], &holders[at], (size_t)(*count - at - 1) * sizeof *holders);
	holders[at] = holder;
	return left_over;
}

/* Writes "Frame is held by: decoder 96.0 MiB, cache 25.0 MiB. Lifetime p50 12.1 ms." or "decoder holds: …"; it names at most
 * `most` holders. */
static void holders_text(char *out, size_t out_bytes, const struct memory_table *memory, const struct panel_row *row,
			 int most)
{
	const struct model_site *type = memory->tab == TAB_TASK ? NULL : model_site_by_id(memory->model, row->id);
	const struct model_site *lifetime = site_lifetime_of(memory->model, type);
	struct holder holders[HOLDERS_MAX];
	int count = 0, more = 0;
	double more_bytes = 0;
	char name[NAME_BYTES], fit[NAME_BYTES], bytes[UNITS_BYTES];
	struct style style;
	size_t used;

	for (uint32_t i = 0; i < model_task_site_count(memory->model); i++) {
		const struct task_site *pair = model_task_site(memory->model, i);
		const struct model_site *site = model_site_by_id(memory->model, pair->site);
		double live = pair->live.bytes;

		if (!site || site->kind != SITE_ALLOC || live < 1)
			continue;
		if ((memory->tab == TAB_TASK ? pair->task : pair->site) != row->id)
			continue;
		more += count == most;
		more_bytes += holder_add(holders, most, &count,
					 (struct holder){ memory->tab == TAB_TASK ? pair->site : pair->task, live,
						       pair->live.is_rough });
	}
	memory_row_name(memory, row, name, sizeof name, &style);
	text_fit(fit, sizeof fit, name, 24, memory->glyphs);
	used = (size_t)snprintf(out, out_bytes, memory->tab == TAB_TASK ? "%s holds" : "%s is held by", fit);
	used += (size_t)snprintf(out + used, out_bytes - used,
				 count ? ":" : memory->tab == TAB_TASK ? " nothing" : " no task");
	for (int i = 0; i < count && used < out_bytes; i++) {
		if (memory->tab == TAB_TASK)
			name_clean(name, sizeof name, model_site_by_id(memory->model, holders[i].id)->name, memory->glyphs);
		else
			task_name_clean(name, sizeof name, memory->model, holders[i].id, memory->glyphs);
		text_fit(fit, sizeof fit, name, 20, memory->glyphs);
		bytes_text(bytes, sizeof bytes, holders[i].bytes, holders[i].is_rough);
		used += (size_t)snprintf(out + used, out_bytes - used, "%s %s %s", i ? "," : "", fit, bytes);
	}
	if (more > 0 && used < out_bytes) {
		bytes_text(bytes, sizeof bytes, more_bytes, true);
		used += (size_t)snprintf(out + used, out_bytes - used, ", %d more %s", more, bytes);
	}
	if (used < out_bytes)
		used += (size_t)snprintf(out + used, out_bytes - used, ".");
	if (lifetime && used < out_bytes) {
		memory_lifetime_text(bytes, lifetime);
		snprintf(out + used, out_bytes - used, " Lifetime p50 %s.", bytes);
	}
}

void memory_draw_holders(const struct memory_table *memory, const struct panel_view *view, int y,
			 const struct canvas *canvas)
{
	char text[2048] = "A tag has what its blocks of code allocated; the types count it as well.";
	int row = view->cursor >= 0 ? view->cursor : 0;

	if (row >= memory->rows->count)
		return;
	/* Fewer holders are named until the row fits. */
	for (int most = HOLDERS_MAX; most > 0 && memory->tab != TAB_TAG; most--) {
		holders_text(text, sizeof text, memory, &memory->rows->rows[row], most);
		if (1 + canvas_text_width(canvas, text) <= canvas->width_cells)
			break;
	}
	canvas_text(canvas, 1, y, memory->tab == TAB_TAG ? STYLE(ROLE_DIM) : STYLE(ROLE_TEXT), text);
}
