#include "emitter/core/settings.h"

#include <errno.h>
#include <stdio.h>

#include "protocol/name.h"

struct settings settings;

void settings_begin(const struct telem_options *options)
{
	if (!settings.flush_ns)
		settings.flush_ns = LIMIT_FLUSH_NS_DEFAULT;
	if (!settings.ring_bytes)
		settings.ring_bytes = LIMIT_RING_BYTES_DEFAULT;
	settings.options = options ? *options : (struct telem_options){ 0 };
	if (settings.options.linger_ns == 0)
		settings.options.linger_ns = LIMIT_LINGER_NS_DEFAULT;
	if (settings.options.linger_ns > LIMIT_LINGER_NS_MAX)
		settings.options.linger_ns = LIMIT_LINGER_NS_MAX;
	if (settings.options.name)
		name_copy(settings.name, sizeof settings.name, settings.options.name);
}

void settings_name(void)
{
	if (!settings.name[0])
		snprintf(settings.name, sizeof settings.name, "%s", program_invocation_short_name);
}

int telem_set_flush_interval(uint64_t ns)
{
	if (ns < LIMIT_FLUSH_NS_MIN || ns > LIMIT_FLUSH_NS_MAX)
		return -EINVAL;
	__atomic_store_n(&settings.flush_ns, ns, __ATOMIC_RELAXED);
	return 0;
}

int telem_set_ring_bytes(size_t bytes)
{
	size_t rounded = LIMIT_RING_BYTES_MIN;

	if (bytes < LIMIT_RING_BYTES_MIN || bytes > LIMIT_RING_BYTES_MAX)
		return -EINVAL;
	while (rounded < bytes)
		rounded *= 2;
	__atomic_store_n(&settings.ring_bytes, rounded, __ATOMIC_RELAXED);
	return 0;
}

int telem_set_policy(enum telem_policy policy, uint64_t timeout_ns)
{
	if (policy > TELEM_BLOCK || timeout_ns > LIMIT_BLOCK_WAIT_NS_MAX)
		return -EINVAL;
	__atomic_store_n(&settings.block_wait_ns, timeout_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&settings.policy, policy, __ATOMIC_RELAXED);
	__atomic_store_n(&settings.is_policy_chosen, true, __ATOMIC_RELAXED);
	return 0;
}

void settings_want_dumps(void)
{
	if (!__atomic_load_n(&settings.is_policy_chosen, __ATOMIC_RELAXED))
		__atomic_store_n(&settings.policy, TELEM_OVERWRITE, __ATOMIC_RELAXED);
}
