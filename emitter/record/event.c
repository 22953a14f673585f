/* event.c -- events that have a payload in the stream: those with fields, and log lines. */
#include "emitter/core/api.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/record/cell_shared.h"
#include "emitter/record/dispatch.h"
#include "emitter/record/place.h"
#include "emitter/record/record.h"
#include "emitter/record/thread.h"

static void event_record(struct telem_site *site, uint8_t level, const struct telem_field *fields, uint32_t field_count)
{
	struct telem_cell *cell = telem_cell_(site);
	uint64_t payload[1 + LIMIT_FIELDS];

	if (!cell)
		cell = telem_cell_make_(site);
	if (!cell) {
		cell_shared_add(site, 1, 0, 0, 0);
		return;
	}
	if (level != TELEM_ALL) {
		telem_add_(&cell->count, 1);
		return;
	}
	if (field_count > LIMIT_FIELDS)
		field_count = LIMIT_FIELDS;
	if (!place_has_fields(site) && !thread_is_inside) {
		thread_is_inside++;
		place_fields(site, fields, field_count);
		thread_is_inside--;
	}
	/* The payload is two bits of type for each field, then the values. */
	payload[0] = 0;
	for (uint32_t i = 0; i < field_count; i++) {
		payload[0] |= (uint64_t)fields[i].type << (2 * i);
		payload[1 + i] = fields[i].bits;
	}
	record_payload(site, cell, payload, (1 + field_count) * 8);
}

static __attribute__((noinline)) void event_happened(struct telem_site *site, uint8_t level,
						     const struct telem_field *fields, uint32_t field_count)
{
	uint8_t recorded = record_level(site, level);

	if (recorded != TELEM_OFF)
		event_record(site, recorded, fields, field_count);
	if (__builtin_expect(level & TELEM_HANDLED_, 0))
		handlers_call(site, TELEM_HAPPENED, 0, fields, field_count);
}

/* Both branches are tail calls, so no register is saved here. */
void telem_event_(struct telem_site *site, const struct telem_field *fields, uint32_t field_count)
{
	uint8_t level = telem_level_(site);

	if (level == TELEM_HANDLED_)
		handlers_call(site, TELEM_HAPPENED, 0, fields, field_count);
	else
		event_happened(site, level, fields, field_count);
}

/* Returns whether this line is beyond the limit of texts a second, and is only counted. In the cell of a log, min
 * is when the present second began, and max how many lines came since then. */
static bool is_folded(struct telem_cell *cell)
{
	uint64_t now = telem_stamp();

	if (clock_duration_ns(now - cell->min) >= LIMIT_LOG_BURST_NS) {
		cell->min = now;
		cell->max = 0;
	}
	if (cell->max++ < LIMIT_LOG_BURST)
		return false;
	telem_add_(&cell->sum, 1);
	telem_add_(&cell->folded, 1);
	return true;
}

void telem_log_(struct telem_site *site, const char *format, ...)
{
	struct telem_cell *cell = telem_cell_(site);
	struct { uint32_t folded; char text[LIMIT_TEXT_BYTES + 1]; } line;
	int saved = errno, length;
	va_list arguments;

	if (!cell)
		cell = telem_cell_make_(site);
	if (!cell) {
		cell_shared_add(site, 1, 0, 0, 0);
		return;
	}
	if (my_thread && site->detail < SEVERITY_COUNT)
		telem_add_(&my_thread->logs[site->detail], 1);
	if (record_level(site, telem_level_(site)) != TELEM_ALL || is_folded(cell)) {
		telem_add_(&cell->count, 1);
		return;
	}
	va_start(arguments, format);
	length = vsnprintf(line.text, sizeof line.text, format, arguments);
	va_end(arguments);
	line.folded = (uint32_t)cell->folded;
	cell->folded = 0;
	/* A text of LIMIT_TEXT_BYTES + 1 says that it was cut. */
	if (length >= 0 &&
	    !record_payload(site, cell, &line, (uint32_t)sizeof line.folded +
			    ((uint32_t)length < sizeof line.text ? (uint32_t)length : (uint32_t)sizeof line.text)))
		telem_add_(&cell->folded, line.folded); /* the next line to be streamed carries it */
	errno = saved;
}
