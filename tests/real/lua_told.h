/* lua_told.h -- goes into lauxlib.c behind l_alloc(): tells libtelem of each object. Lua says the type of a new object, and
 * the size of one that it frees. */
#ifndef TELEM_TESTS_REAL_LUA_TOLD_H
#define TELEM_TESTS_REAL_LUA_TOLD_H

#include <telem.h>

static struct telem_site *told_type(size_t tag)
{
	static const char *const names[] = { "other", "boolean", "pointer", "number", "string", "table", "function",
					     "userdata", "thread", "upvalue", "prototype" };
	static struct telem_site *sites[11];
	size_t which = tag < 11 ? tag : 0;

	if (!sites[which])
		sites[which] = telem_site_new("mem", TELEM_KIND_TYPE, TELEM_BYTES, names[which]);
	return sites[which];
}

static void *told_alloc(void *ud, void *ptr, size_t osize, size_t nsize)
{
	void *now;

	/* Before it is freed, because another thread may be given the address right after it. */
	if (ptr && nsize == 0)
		telem_heap_free(ptr, osize);
	now = l_alloc(ud, ptr, osize, nsize);
	if (now && ptr)
		telem_heap_realloc(told_type(0), ptr, osize, now, nsize);
	else if (now)
		telem_heap_alloc(told_type(osize), now, nsize);
	return now;
}
#endif
