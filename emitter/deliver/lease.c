#include "emitter/deliver/lease.h"

#include <assert.h>

#include "emitter/record/level.h"
#include "emitter/record/site.h"

/* The leases, in the order in which they were taken. */
static struct lease { const struct sink *sink; uint32_t site; uint8_t class_id, level; } leases[LIMIT_LEASES];
static uint32_t lease_total;

static void push(void)
{
	for (uint32_t i = 0; i < class_table.count; i++)
		class_table.rows[i].leased_level = LEVEL_NONE;
	for (uint32_t i = 1; i < site_table.count; i++)
		site_table.rows[i].leased_level = LEVEL_NONE;
	for (uint32_t i = 0; i < lease_total; i++)
		if (leases[i].site)
			site_table.rows[leases[i].site].leased_level = leases[i].level;
		else
			class_table.rows[leases[i].class_id].leased_level = leases[i].level;
}

/* Removes every lease that matches. Site UINT32_MAX matches every site and class. */
static bool remove_matching(const struct sink *sink, uint8_t class_id, uint32_t site)
{
	uint32_t kept = 0, before = lease_total;

	for (uint32_t i = 0; i < lease_total; i++)
		if (leases[i].sink != sink ||
		    (site != UINT32_MAX && (leases[i].site != site || leases[i].class_id != class_id)))
			leases[kept++] = leases[i];
	lease_total = kept;
	if (kept == before)
		return false;
	push();
	return true;
}

bool lease_take(const struct sink *sink, uint8_t class_id, uint32_t site, uint8_t level)
{
	assert(class_id < class_table.count);
	remove_matching(sink, class_id, site);
	if (lease_total == LIMIT_LEASES)
		return false;
	leases[lease_total++] = (struct lease){ sink, site, class_id, level };
	push();
	return true;
}

void lease_return(const struct sink *sink, uint8_t class_id, uint32_t site)
{
	remove_matching(sink, class_id, site);
}

uint32_t lease_count(uint8_t class_id)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < lease_total; i++)
		count += leases[i].class_id == class_id && leases[i].site == 0;
	return count;
}

void leases_drop(const struct sink *sink)
{
	if (remove_matching(sink, 0, UINT32_MAX))
		levels_apply("a viewer that left");
}

void leases_forget(void)
{
	lease_total = 0;
	push();
}
