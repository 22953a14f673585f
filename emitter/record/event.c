/* event.c -- events that have a payload in the stream: those with fields, and log lines. */
#include "emitter/core/api.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/record/burst.h"
#include "emitter/record/cell_shared.h"
#include "emitter/record/dispatch.h"
#include "emitter/record/place.h"
#include "emitter/record/record.h"
#include "emitter/record/site.h"
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

/* So many times the limit of texts of one look a second, a place's lines are looked at; the rest is only counted, for even
 * to make a text takes time. */
#define LOOKS_AT 16u

static uint32_t burst_of(const struct telem_site *site)
{
	uint32_t burst = __atomic_load_n(&class_table.rows[site->cls->id].limit.burst, __ATOMIC_RELAXED);

	return burst ? burst : LIMIT_LOG_BURST;
}

/* Returns whether this line is one of so many that its text is not even made. In the cell of a log, min is when the
 * present second began, and max how many lines came since then. */
static bool is_flooded(struct telem_cell *cell, uint32_t burst, uint64_t now)
{
	if (clock_duration_ns(now - cell->min) >= LIMIT_LOG_BURST_NS) {
		cell->min = now;
		cell->max = 0;
	}
	return cell->max++ >= (uint64_t)burst * LOOKS_AT;
}

static struct look *looks_of(struct thread *thread)
{
	struct look *made, *none = NULL;

	if (!thread || thread->looks || thread_is_inside)
		return thread ? thread->looks : NULL;
	made = memory_map(BURST_LOOKS * sizeof *made);
	/* A signal handler may have made them meanwhile. */
	if (made && !__atomic_compare_exchange_n(&thread->looks, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		memory_unmap(made, BURST_LOOKS * sizeof *made);
	return thread->looks;
}

/* Counts a line whose text is not made with those that look like the latest line of its place. The cell of a log keeps in
 * folded the number of that look, from 1. */
static void leave_out(const struct telem_site *site, const struct telem_cell *cell, uint64_t now)
{
	struct look *looks = my_thread && cell->folded ? my_thread->looks : NULL;

	if (looks && looks[cell->folded - 1].site == site->id)
		burst_leave_out(&looks[cell->folded - 1], 1, now);
}

static void count_folded(struct telem_cell *cell)
{
	telem_add_(&cell->sum, 1);
	telem_add_(&cell->count, 1);
}

void telem_log_(struct telem_site *site, const char *format, ...)
{
	struct telem_cell *cell = telem_cell_(site);
	struct { uint32_t folded; char text[LIMIT_TEXT_BYTES + 1]; } line;
	uint32_t burst, bytes;
	int saved = errno, length;
	struct look *looks, *look;
	va_list arguments;
	uint64_t now;

	if (!cell)
		cell = telem_cell_make_(site);
	if (!cell) {
		cell_shared_add(site, 1, 0, 0, 0);
		return;
	}
	if (my_thread && site->detail < SEVERITY_COUNT)
		telem_add_(&my_thread->logs[site->detail], 1);
	if (record_level(site, telem_level_(site)) != TELEM_ALL) {
		telem_add_(&cell->count, 1);
		return;
	}
	burst = burst_of(site);
	now = telem_stamp();
	if (is_flooded(cell, burst, now)) {
		count_folded(cell);
		leave_out(site, cell, now);
		return;
	}
	va_start(arguments, format);
	length = vsnprintf(line.text, sizeof line.text, format, arguments);
	va_end(arguments);
	/* A text of LIMIT_TEXT_BYTES + 1 says that it was cut. */
	bytes = length < 0 ? 0 : (size_t)length < sizeof line.text ? (uint32_t)length : (uint32_t)sizeof line.text;
	looks = looks_of(my_thread);
	look = burst_look(looks, site->id, line.text, bytes, now);
	if (look)
		cell->folded = (uint64_t)(look - looks) + 1;
	if (burst_folds(look, burst, now, &line.folded))
		count_folded(cell);
	else if (!record_payload(site, cell, &line, (uint32_t)sizeof line.folded + bytes))
		burst_leave_out(look, line.folded, now);
	errno = saved;
}
