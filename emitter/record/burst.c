#include "emitter/record/burst.h"

#include <string.h>

#include "emitter/core/clock.h"

#define PROBES 4u
#define OVER_NS 250000000u           /* a burst is over when no line was left out for so long */

/* FNV-1a of all but the digits. */
static uint64_t key_of(uint32_t site, const char *text, uint32_t length)
{
	uint64_t hash = 14695981039346656037u ^ site;

	for (uint32_t i = 0; i < length; i++)
		if (text[i] < '0' || text[i] > '9')
			hash = (hash ^ (uint8_t)text[i]) * 1099511628211u;
	return hash | 1;
}

static bool is_past(const struct look *look, uint64_t now)
{
	return look->key == 0 || clock_duration_ns(now - look->from_ticks) >= LIMIT_LOG_BURST_NS;
}

static void text_put(struct look *look, const char *text, uint32_t length)
{
	uint64_t words[BURST_TEXT_BYTES / 8] = { 0 };
	uint32_t version = look->version;

	memcpy(words, text, length < BURST_TEXT_BYTES ? length : BURST_TEXT_BYTES);
	__atomic_store_n(&look->version, version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (uint32_t i = 0; i < BURST_TEXT_BYTES / 8; i++)
		__atomic_store_n(&look->text[i], words[i], __ATOMIC_RELAXED);
	__atomic_store_n(&look->version, version + 2, __ATOMIC_RELEASE);
}

/* Finds the look, or takes the place of the one that had the fewest lines and has none that nobody has told yet. */
struct look *burst_look(struct look *looks, uint32_t site, const char *text, uint32_t length, uint64_t now)
{
	struct look *taken = NULL;
	uint64_t key = key_of(site, text, length);

	for (uint32_t i = 0; looks && i < PROBES; i++) {
		struct look *look = &looks[((key >> 8) + i) & (BURST_LOOKS - 1)];

		if (look->key == key)
			return look;
		if (__atomic_load_n(&look->folded, __ATOMIC_RELAXED) != 0)
			continue;
		if (is_past(look, now))
			look->count = 0;
		if (!taken || look->count < taken->count)
			taken = look;
	}
	if (taken) {
		taken->key = key;
		taken->from_ticks = now;
		taken->count = 0;
		__atomic_store_n(&taken->site, site, __ATOMIC_RELAXED);
		text_put(taken, text, length);
	}
	return taken;
}

bool burst_folds(struct look *look, uint32_t most, uint64_t now, uint32_t *folded)
{
	*folded = 0;
	if (!look)
		return false;
	if (is_past(look, now)) {
		look->from_ticks = now;
		look->count = 0;
	}
	if (look->count++ < most) {
		*folded = __atomic_exchange_n(&look->folded, 0, __ATOMIC_RELAXED);
		return false;
	}
	burst_leave_out(look, 1, now);
	return true;
}

void burst_leave_out(struct look *look, uint32_t count, uint64_t now)
{
	if (!look || count == 0)
		return;
	__atomic_store_n(&look->last_ticks, now, __ATOMIC_RELAXED);
	__atomic_fetch_add(&look->folded, count, __ATOMIC_RELEASE);
}

bool burst_next(struct look *looks, uint32_t *at, uint64_t now, bool has_ended, struct burst_over *out)
{
	for (; looks && *at < BURST_LOOKS; ++*at) {
		struct look *look = &looks[*at];
		uint64_t words[BURST_TEXT_BYTES / 8], last;
		uint32_t version, folded = __atomic_load_n(&look->folded, __ATOMIC_ACQUIRE);

		last = __atomic_load_n(&look->last_ticks, __ATOMIC_RELAXED);
		if (folded == 0 || (!has_ended && (now < last || clock_duration_ns(now - last) < OVER_NS)))
			continue;
		version = __atomic_load_n(&look->version, __ATOMIC_ACQUIRE);
		out->site = __atomic_load_n(&look->site, __ATOMIC_RELAXED);
		for (uint32_t i = 0; i < BURST_TEXT_BYTES / 8; i++)
			words[i] = __atomic_load_n(&look->text[i], __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* Another burst has begun meanwhile; it is told when it is over. */
		if (version % 2 || __atomic_load_n(&look->version, __ATOMIC_RELAXED) != version)
			continue;
		memcpy(out->text, words, BURST_TEXT_BYTES);
		out->text[BURST_TEXT_BYTES] = '\0';
		out->folded = __atomic_exchange_n(&look->folded, 0, __ATOMIC_RELAXED);
		if (out->folded == 0)
			continue;
		++*at;
		return true;
	}
	return false;
}

void bursts_forget(struct look *looks)
{
	if (looks)
		memset(looks, 0, BURST_LOOKS * sizeof *looks);
}
