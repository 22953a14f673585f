/* telem_new.h -- operator new and delete of a C++17 program, counted as the type "operator new".
 *
 * Include this file in one source file of the program, at file scope: it replaces all forms of the
 * global operators. They take their memory from malloc() and count the size that malloc() really
 * gave. Frees, sampled lifetimes and tags (TELEM_ALLOC_TAG) work as with telem_malloc(). An object
 * that TELEM_NEW counts by its type counts here as well, so use one of the two. With
 * -DTELEM_DISABLE the operators count nothing. */
#ifndef TELEM_NEW_H
#define TELEM_NEW_H

#include <telem.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace telem_detail_ {
/* Calls the program's new_handler until there is memory, as the standard asks. Returns NULL when there
 * is no handler. A request for 0 bytes gets an address of its own. */
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
	} catch (...) {                 /* The new_handler threw. */
		return nullptr;
	}
#else
	return take(bytes, alignment);
#endif
}
/* Without exceptions a program that has no memory left aborts. */
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
