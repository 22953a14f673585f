#include "protocol/message.h"

#include <assert.h>

/* The fields of each struct lie one after the other without padding, so that encoder and decoder
 * find them by walking along the row. */
static_assert(sizeof(struct text) == 16 && sizeof(struct list) == 16, "fields are 8 or 16 bytes");
static_assert(sizeof(struct texts) == 16 && sizeof(struct events) == 16, "fields are 8 or 16 bytes");

#ifdef PROTOCOL_GUEST
#define NAMED(name)
#else
#define NAMED(name) #name,
#endif
#define F(type, name_) { NAMED(name_) FIELD_##type },
#define KIND(id, NAME, name_, fields_) static const struct field_row fields_of_##name_[] = { fields_ };
#include "protocol/kinds.def"
#undef KIND
#undef F

#define F(type, name_)
#define KIND(id_, NAME, name_, fields_) \
	{ id_, sizeof fields_of_##name_ / sizeof *fields_of_##name_, NAMED(name_) fields_of_##name_ },
const struct kind_row kind_rows[] = {
#include "protocol/kinds.def"
};
#undef KIND
#undef F

const size_t kind_row_count = sizeof kind_rows / sizeof *kind_rows;

const struct kind_row *kind_row(uint64_t id)
{
	for (size_t i = 0; i < kind_row_count; i++)
		if (kind_rows[i].id == id)
			return &kind_rows[i];
	return NULL;
}

size_t field_bytes(enum field_type type)
{
	return type == FIELD_UINT || type == FIELD_INT ? 8 : 16;
}

const char *site_kind_name(unsigned kind)
{
	static const char *const names[SITE_KIND_COUNT] = {
		[SITE_SPAN] = "span", [SITE_LATENCY] = "latency", [SITE_VALUE] = "value", [SITE_COUNTER] = "counter",
		[SITE_GAUGE] = "gauge", [SITE_ALLOC] = "alloc", [SITE_MARK] = "mark", [SITE_EVENT] = "event",
		[SITE_LOG] = "log", [SITE_TAG] = "tag",
	};

	return kind < SITE_KIND_COUNT && names[kind] ? names[kind] : "?";
}

const char *level_name(unsigned level)
{
	static const char *const names[] = { "off", "sum", "all" };

	return level <= LEVEL_ALL ? names[level] : level == LEVEL_OWN ? "own" : "?";
}

const char *severity_name(unsigned severity)
{
	static const char *const names[] = { "debug", "info", "warn", "error", "fatal" };

	return severity < SEVERITY_COUNT ? names[severity] : "?";
}
