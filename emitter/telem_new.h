/* telem_new.h -- operator new and delete of a C++17 program, counted as the type "operator new".
 *
 * Include it in one source file, at file scope: it replaces the global operators, all forms.
 * What they give comes from malloc() and counts with the size malloc() really gave; frees,
 * lifetimes and tags (TELEM_ALLOC_TAG) as for telem_malloc(). What TELEM_NEW counts by its
 * type counts here as well: use one of the two. */
#ifndef TELEM_NEW_H
#define TELEM_NEW_H

#include <telem.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace telem_detail_ {
inline void *take(std::size_t bytes, std::size_t alignment)
{
	for (;;) {
		void *memory = nullptr;

		if (alignment <= alignof(std::max_align_t))
			memory = std::malloc(bytes ? bytes : 1);
		else if (posix_memalign(&memory, alignment, bytes ? bytes : 1) != 0)
			memory = nullptr;
		if (memory) {
			TELEM_ALLOC_AT(operator new, memory, malloc_usable_size(memory));
			return memory;
		}
		std::new_handler handler = std::get_new_handler();
		if (!handler)
			return nullptr;
		handler();
	}
}
inline void *take_or_null(std::size_t bytes, std::size_t alignment) noexcept
{
#ifdef __cpp_exceptions
	try {
		return take(bytes, alignment);
	} catch (...) {                 /* a new_handler's */
		return nullptr;
	}
#else
	return take(bytes, alignment);
#endif
}
inline void *take_or_throw(std::size_t bytes, std::size_t alignment)
{
	void *memory = take(bytes, alignment);

#ifdef __cpp_exceptions
	if (!memory)
		throw std::bad_alloc();
#else
	if (!memory)
		std::abort();
#endif
	return memory;
}
inline void give(void *memory) noexcept
{
	if (memory)
		TELEM_FREE_AT(operator new, memory, malloc_usable_size(memory));
	std::free(memory);
}
}

void *operator new(std::size_t n) { return telem_detail_::take_or_throw(n, 0); }
void *operator new[](std::size_t n) { return telem_detail_::take_or_throw(n, 0); }
void *operator new(std::size_t n, std::align_val_t a)
{
	return telem_detail_::take_or_throw(n, static_cast<std::size_t>(a));
}
void *operator new[](std::size_t n, std::align_val_t a)
{
	return telem_detail_::take_or_throw(n, static_cast<std::size_t>(a));
}
void *operator new(std::size_t n, const std::nothrow_t &) noexcept { return telem_detail_::take_or_null(n, 0); }
void *operator new[](std::size_t n, const std::nothrow_t &) noexcept { return telem_detail_::take_or_null(n, 0); }
void *operator new(std::size_t n, std::align_val_t a, const std::nothrow_t &) noexcept
{
	return telem_detail_::take_or_null(n, static_cast<std::size_t>(a));
}
void *operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t &) noexcept
{
	return telem_detail_::take_or_null(n, static_cast<std::size_t>(a));
}
void operator delete(void *p) noexcept { telem_detail_::give(p); }
void operator delete[](void *p) noexcept { telem_detail_::give(p); }
void operator delete(void *p, std::size_t) noexcept { telem_detail_::give(p); }
void operator delete[](void *p, std::size_t) noexcept { telem_detail_::give(p); }
void operator delete(void *p, std::align_val_t) noexcept { telem_detail_::give(p); }
void operator delete[](void *p, std::align_val_t) noexcept { telem_detail_::give(p); }
void operator delete(void *p, std::size_t, std::align_val_t) noexcept { telem_detail_::give(p); }
void operator delete[](void *p, std::size_t, std::align_val_t) noexcept { telem_detail_::give(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { telem_detail_::give(p); }
void operator delete[](void *p, const std::nothrow_t &) noexcept { telem_detail_::give(p); }
void operator delete(void *p, std::align_val_t, const std::nothrow_t &) noexcept { telem_detail_::give(p); }
void operator delete[](void *p, std::align_val_t, const std::nothrow_t &) noexcept { telem_detail_::give(p); }

#endif
