#!/bin/sh
# test_header.sh -- what a user's compiler and linker see of libtelem.
#
#   tests/test_header.sh [BUILD]     BUILD (else $B, else build) has libtelem.a and libtelem.so
#
# Every macro, in C and C++, without a warning; nothing left of it with -DTELEM_DISABLE;
# exactly the names of tests/symbols.txt exported; libc needed and nothing else; and the
# off path a compare and a branch.
set -eu

build=${1:-${B:-build}}
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

check() { # name command...
	name=$1
	shift
	if "$@" >"$dir/out" 2>&1; then
		printf 'ok    %s\n' "$name"
	else
		printf 'FAIL  %s\n' "$name"
		sed 's/^/      /' "$dir/out"
		failed=1
	fi
}

cat >"$dir/all.h" <<'END'
#include "emitter/telem.h"

struct thing { int a; };
END

# Every macro once, where a statement may stand.
cat >"$dir/uses.h" <<'END'
	int number = 3;
	short small = -1;
	float ratio = 0.5f;
	uint64_t stamp = telem_stamp();
	void *memory;
	struct telem_span span = telem_span_begin(TELEM_SPAN_SITE(mine, "by hand"));

	TELEM_SPAN(mine, "outer") {
		TELEM_SPAN(mine, "inner")
			number++;
		TELEM_SPAN_HERE(mine, "to the end");
		number++;
	}
	telem_span_end(&span);
	telem_span_abandon(&span);
	if (number)
		TELEM_COUNT(mine, "in an if", number);
	else
		TELEM_COUNT(mine, "in an else", 1);
	TELEM_LATENCY(mine, "latency", stamp);
	TELEM_LATENCY_BEGIN(mine, "by key", number);
	TELEM_LATENCY_END(mine, "by key", number);
	TELEM_MARK(mine, "mark", number);
	TELEM_GAUGE(mine, "gauge", -number);
	TELEM_GAUGE_ADD(mine, "moved", -1);
	TELEM_VALUE(mine, "value", sizeof number, TELEM_BYTES);
	TELEM_EVENT(mine, "event", TELEM_F("number", number), TELEM_F("small", small), TELEM_F("ratio", ratio),
		    TELEM_F("stamp", stamp), TELEM_F("flag", number > 3));
	TELEM_LOG(TELEM_WARN, "no arguments");
	TELEM_LOG(TELEM_ERROR, "%d of %s", number, "them");
	TELEM_ALLOC(struct thing, 10);
	TELEM_FREE(struct thing, 10);
	memory = telem_malloc(struct thing, 10);
	memory = telem_realloc(struct thing, memory, 20);
	telem_free(struct thing, memory);
	memory = telem_calloc(struct thing, 2, 10);
	telem_free(struct thing, memory);
	memory = telem_malloc_sized(struct thing, 10);
	telem_free_sized(struct thing, memory, 10);
	TELEM_ALLOC_AT(struct thing, &number, 10);
	TELEM_FREE_AT(struct thing, &number, 10);
	TELEM_ALLOC_TAG("a tag");
	struct thing *thing = TELEM_NEW(struct thing), *things = TELEM_NEW_ARRAY(struct thing, 3);
	TELEM_DELETE(struct thing, thing);
	TELEM_DELETE_ARRAY(struct thing, things, 3);
	telem_task_name("me");
	number = telem_task_new("task");
	telem_task_enter(number);
	telem_task_leave();
	telem_task_end(number);
END

cat >"$dir/calls.h" <<'END'
static inline int handle(const struct telem_happening *what, void *config)
{
	double sum = 0;

	for (uint32_t i = 0; i < what->field_count; i++)
		sum += telem_field_double(&what->fields[i]) + (double)telem_field_int(&what->fields[i]);
	return config && what->phase == TELEM_STOPPED && what->value > (uint64_t)sum;
}
static inline void provide(void *arg) { (void)arg; }
static inline int report(void *arg, int64_t *value)
{
	*value = arg != NULL;
	return 0;
}
static inline void hear(const struct telem_allocation *allocation, void *arg) { (void)allocation; (void)arg; }
static inline void over_budget(const struct telem_frame_info *frame, void *arg) { *(int *)arg += frame->broken != 0; }
static int calls(void)
{
	struct telem_budget budget = { 1000000, 0, 0, NULL, 0, false };
	char path[256];
	struct telem_frame_info frame;
	struct telem_allocation allocation;
	struct telem_class_statistics of_class;
	struct telem_options options = { sizeof(struct telem_options), "name", NULL, 0, false, true };
	struct telem_statistics statistics;
	const char *name = "mine.span";
	int sum = telem_start(&options);

	sum += telem_class_level(&telem_class_mine, TELEM_ALL) + telem_level_set("mine", TELEM_SUM);
	sum += telem_level_get("mine") + telem_sink_add("fd:1") + telem_sink_fifo("f") + telem_sink_unix("u");
	sum += telem_sink_tcp_listen("localhost", 0, false) + telem_sink_tcp_connect("localhost", 1, false);
	sum += telem_sink_file("x") + telem_sink_fd(7) + telem_sink_remove(1) + telem_sink_redirect(1, "fd:1");
	sum += telem_flush(1) + telem_set_flush_interval(1) + telem_set_ring_bytes(1) + telem_set_policy(TELEM_DROP, 0);
	sum += telem_set_latency_expiry(1000000);
	sum += telem_attach("id", "mine.event", handle, NULL) + telem_detach("id") + telem_detach_async("id");
	sum += telem_attach_many("id", &name, 1, handle, NULL, 0);
	sum += (int)telem_list_handlers("", NULL, 0) + (int)telem_execute("made.up", NULL, 0);
	telem_persist();
	telem_unpersist();
	sum += telem_reporter("a/b", TELEM_REPORT_HEAP, TELEM_BYTES, report, NULL) + telem_reporter_remove("a/b");
	sum += telem_provider("engine", provide, NULL);
	sum += telem_report_malloc() + telem_report_process();
	telem_frame("f");
	telem_frame_begin("f");
	sum += telem_dump("why", path, sizeof path) + telem_dump_directory("/tmp") + telem_dump_on_signal(11);
	sum += telem_alloc_hook(hear, NULL) + (int)telem_allocations(0, &allocation, 1);
	TELEM_REALLOC(struct node, name, 1, path, 2);
	telem_heap_alloc(TELEM_TYPE(struct node), path, 1);
	telem_heap_realloc(TELEM_TYPE(struct node), path, 1, path, 2);
	telem_heap_free(path, 2);
	{
		struct telem_site *named = telem_site_new("mine", TELEM_KIND_SPAN, TELEM_NS, name);
		TELEM_ALLOC_TAG_OF(telem_site_new("mem", TELEM_KIND_TAG, TELEM_BYTES, name));
		TELEM_SPAN_OF_HERE(named);
		TELEM_SPAN_OF(named)
			sum++;
		telem_count(telem_site_new("mine", TELEM_KIND_COUNTER, TELEM_NONE, name), 1);
		telem_gauge(telem_site_new("mine", TELEM_KIND_GAUGE, TELEM_BYTES, name), -1);
		telem_gauge_add(telem_site_new("mine", TELEM_KIND_MOVED_GAUGE, TELEM_NONE, name), -1);
		telem_value(telem_site_new("mine", TELEM_KIND_VALUE, TELEM_BYTES, name), 1);
		named = telem_site_new("mine", TELEM_KIND_LATENCY, TELEM_NS, name);
		telem_latency(named, telem_stamp());
		telem_latency_begin(named, 1);
		telem_latency_end(named, 1);
		telem_mark(telem_site_new("mine", TELEM_KIND_MARK, TELEM_NONE, name), 1);
		telem_log(telem_site_new("log", TELEM_KIND_WARN_LOG, TELEM_NONE, name), "%d", sum);
	}
	TELEM_LOG_AT(__FILE__, __LINE__, TELEM_WARN, "%d", sum);
	TELEM_COUNT_BYTES(mine, "bytes", 5);
	TELEM_COUNT_NS(mine, "time", 5);
	TELEM_GAUGE_BYTES(mine, "size", 5);
	TELEM_GAUGE_NS(mine, "age", 5);
	TELEM_GAUGE_ADD_BYTES(mine, "moved size", 5);
	sum += (int)telem_frames("f", &frame, 1) + telem_frame_counter("f", "mine.in an if");
	sum += telem_budget("f", &budget, over_budget, &sum);
	telem_watch(TELEM_INSPECTION, true);
	sum += telem_log_burst("log", 1000);
	sum += telem_class_limit("mine", 10, 1000) + telem_span_every("mine.outer", 16);
	TELEM_GC_BEGIN(0);
	TELEM_GC_END(0, NULL);
	telem_enable_all(false);
	telem_sync();
	telem_stats(&statistics);
	sum += (int)telem_class_stats(&of_class, 1) + telem_report_telemetry();
	telem_stop();
	return sum + (telem_error()[0] != 0) + (int)statistics.sinks;
}
END

cat >"$dir/use.c" <<'END'
#include "all.h"
TELEM_CLASS(mine, "a class", TELEM_SUM);
TELEM_CLASS_DECLARE(elsewhere);
#include "calls.h"
static inline int in_an_inline_function(void)
{
#include "uses.h"
	return number;
}
int main(void)
{
#include "uses.h"
	for (int i = 0; i < 2; i++)
		TELEM_SPAN(mine, "in a loop")
			continue;
	switch (number) {
	case 1:
		TELEM_COUNT(mine, "in a switch", 1);
		break;
	default:
		break;
	}
	if (number == 12345)
		return calls();
	return in_an_inline_function() == 12345;
}
END

cat >"$dir/use.cc" <<'END'
#include "all.h"
TELEM_CLASS(mine, "a class", TELEM_SUM);
TELEM_CLASS_DECLARE(elsewhere);
#include "calls.h"
namespace inner {
inline int in_an_inline_function()
{
#include "uses.h"
	return number;
}
template <class T> T in_a_template(T)
{
#include "uses.h"
	return static_cast<T>(number);
}
struct object {
	int member;
	object() : member(0)
	{
#include "uses.h"
		member = number;
	}
	template <class T> int in_a_member_template() const
	{
#include "uses.h"
		return number + static_cast<int>(sizeof(T));
	}
	~object() { TELEM_COUNT(mine, "destroyed", 1); }
};
}
int main()
{
	auto in_a_lambda = [](int from) {
#include "uses.h"
		return number + from;
	};
	int sum = inner::in_an_inline_function() + inner::in_a_template<int>(1) + inner::in_a_template<long>(2L) > 0;
	inner::object object;
	try {
		TELEM_SPAN(mine, "thrown out of")
			throw 1;
	} catch (int thrown) {
		sum += thrown;
	}
	TELEM_EVENT(mine, "fields", TELEM_F("bool", sum > 1), TELEM_F("double", 0.5), TELEM_F("size", sizeof sum));
	if (sum == 12345)
		return calls();
	return in_a_lambda(sum) + object.in_a_member_template<int>() == 12345;
}
END

cat >"$dir/new.cc" <<'END'
#include <telem_new.h>
#include <memory>
#include <string>
#include <vector>
struct alignas(64) wide { char bytes[64]; };
static uint64_t heard;
static bool is_wrong;
static int count(const struct telem_happening *, void *) { return !++heard; }
int main()
{
	struct telem_options options = { sizeof options, "new", "mem=all", 0, true, true };
	struct telem_statistics before, after;

	if (telem_start(&options) != 0 || telem_attach("id", "mem.sampled", count, nullptr) != 0)
		return 1;
	telem_stats(&before);
	{
		std::vector<std::string> strings(1000, std::string(100, 'x'));
		auto aligned = std::make_unique<wide[]>(10);
		int *one = new (std::nothrow) int(3);

		is_wrong = reinterpret_cast<uintptr_t>(aligned.get()) % 64 != 0 || *one != 3;
		delete one;
	}
	telem_stats(&after);
	telem_stop();
	/* As many frees as allocations, and more than the thousand strings; a sampled one is
	 * heard of twice, which are events as well. */
	uint64_t events = after.emitted - before.emitted - heard;
	return is_wrong || heard == 0 || heard % 2 || events < 2000 || events % 2;
}
END

# Programs that were compiled with an older header have these layouts in them.
cat >"$dir/layout.c" <<'END'
#include "all.h"
#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
SIZE(telem_class, 24); AT(telem_class, own_level, 16); AT(telem_class, id, 17); AT(telem_class, reserved, 18);
SIZE(telem_site, 64); AT(telem_site, kind, 1); AT(telem_site, unit, 2); AT(telem_site, detail, 3); AT(telem_site, id, 4);
AT(telem_site, cls, 8); AT(telem_site, name, 16); AT(telem_site, file, 24); AT(telem_site, line, 32);
AT(telem_site, skip_mask, 36); AT(telem_site, fields_known, 36); AT(telem_site, owner, 40); AT(telem_site, handlers, 40);
SIZE(telem_cell, 64); AT(telem_cell, sum, 8); AT(telem_cell, min, 16); AT(telem_cell, free_count, 16);
AT(telem_cell, max, 24); AT(telem_cell, freed_bytes, 24); AT(telem_cell, buckets, 32); AT(telem_cell, streamed, 40);
AT(telem_cell, begun, 48); AT(telem_cell, dropped, 56);
SIZE(telem_thread_, 64); AT(telem_thread_, cell_count, 8); AT(telem_thread_, shard, 12); AT(telem_thread_, ring, 16);
AT(telem_thread_, heap_moved, 24); AT(telem_thread_, heap_step, 32); AT(telem_thread_, alloc_count, 40);
AT(telem_thread_, tag, 48); AT(telem_thread_, unsampled, 56);
SIZE(telem_module_, 40); SIZE(telem_field, 24); SIZE(telem_span, 24);
_Static_assert(TELEM_ABI_ == 1, "a new ABI has layouts of its own");
END

root=$(cd "$here/.." && pwd)
warn="-Wall -Wextra -Wshadow -Wpedantic -Werror -I$root -I$dir"
sane="-Wconversion -Wsign-conversion -Wcast-qual -Wstrict-prototypes"
build=$(cd "$build" && pwd)

for cc in gcc clang; do
	command -v $cc >/dev/null || { printf 'skip  no %s\n' $cc; continue; }
	for std in c11 gnu17; do
		check "$cc -std=$std compiles every macro without a warning" \
			$cc -std=$std -pedantic $warn $sane -O2 -c "$dir/use.c" -o "$dir/c-$cc.o"
		check "$cc -std=$std compiles every macro away without a warning" \
			$cc -std=$std -pedantic $warn -O2 -DTELEM_DISABLE -c "$dir/use.c" -o "$dir/off-$cc.o"
	done
	check "$cc: a wrong log format is a warning" \
		sh -c "printf '#include \"all.h\"\nvoid f(void) { TELEM_LOG(TELEM_INFO, \"%%d\", \"x\"); }\n' >'$dir/bad.c'
		! $cc -std=c11 $warn -c '$dir/bad.c' -o /dev/null 2>'$dir/err' && grep -q format '$dir/err'"
	for i in 1 2; do
		printf '#include "all.h"\nTELEM_CLASS(both, "h", TELEM_SUM);\nvoid f%d(void) { TELEM_COUNT(both, "n", 1); }\n' $i \
			>"$dir/both$i.c"
	done
	printf 'void f1(void); void f2(void); int main(void) { f1(); f2(); return 0; }\n' >"$dir/both.c"
	check "$cc: two files may define one class" \
		$cc -std=c11 -I"$root" -I"$dir" "$dir/both.c" "$dir/both1.c" "$dir/both2.c" "$build/libtelem.so" -o "$dir/both-$cc"
	check "$cc: -DTELEM_DISABLE leaves no name of ours" sh -c "! nm '$dir/off-$cc.o' | grep -i telem"
	check "$cc: a program in C links with the archive and runs" \
		sh -c "$cc '$dir/c-$cc.o' '$build/libtelem.a' -pthread -o '$dir/c-$cc' && '$dir/c-$cc'"
done
for cxx in g++ clang++; do
	command -v $cxx >/dev/null || { printf 'skip  no %s\n' $cxx; continue; }
	for std in c++17 c++20; do
		check "$cxx -std=$std compiles every macro without a warning" \
			$cxx -std=$std -pedantic $warn -O2 -c "$dir/use.cc" -o "$dir/cc-$cxx.o"
		check "$cxx -std=$std compiles every macro away without a warning" \
			$cxx -std=$std -pedantic $warn -O2 -DTELEM_DISABLE -c "$dir/use.cc" -o "$dir/off-$cxx.o"
	done
	check "$cxx: -DTELEM_DISABLE leaves no name of ours" sh -c "! nm '$dir/off-$cxx.o' | grep -i telem"
	check "$cxx: telem_new.h counts what new gives" sh -c "
		$cxx -std=c++17 $warn -O2 -I'$dir' -I'$root/emitter' '$dir/new.cc' '$build/libtelem.so' -Wl,-rpath,'$build' -o '$dir/new-$cxx' &&
		'$dir/new-$cxx'"
	check "$cxx: a program in C++ links with the shared library and runs" \
		sh -c "$cxx '$dir/cc-$cxx.o' '$build/libtelem.so' -Wl,-rpath,'$build' -o '$dir/cc-$cxx' && '$dir/cc-$cxx'"
done

# A linker may drop sections that nothing refers to. lld does so by default.
cat >"$dir/kept.c" <<'END'
#include "all.h"
TELEM_CLASS(kept, "what a linker must keep", TELEM_SUM);
int main(void)
{
	struct telem_statistics stats;
	if (telem_start(NULL) != 0 || telem_level_get("kept") != TELEM_SUM)
		return 1;
	TELEM_COUNT(kept, "n", 1);
	telem_stats(&stats);
	return stats.sites < 1;
}
END
for cc in gcc clang; do
	for linker in bfd lld; do
		if ! command -v $cc >/dev/null || ! command -v ld.$linker >/dev/null; then
			printf 'skip  no %s or no ld.%s\n' $cc $linker
			continue
		fi
		check "$cc and $linker keep sites when they collect sections" sh -c "$cc -O2 -ffunction-sections -fdata-sections -I'$root' -I'$dir' \
			'$dir/kept.c' '$build/libtelem.a' -pthread -fuse-ld=$linker -Wl,--gc-sections -o '$dir/kept' && '$dir/kept'"
	done
done

# The version itself is an absolute symbol.
nm -D --defined-only "$build/libtelem.so" | awk '$2 != "A" { print $3 }' | sort >"$dir/versioned"
sed 's/@@.*//' "$dir/versioned" >"$dir/symbols"
check "the shared library exports the names of tests/symbols.txt and no others" diff "$here/symbols.txt" "$dir/symbols"
check "each has a version" sh -c "! grep -v '@@TELEM_' '$dir/versioned'"
nm --defined-only --extern-only "$build/libtelem.a" | awk 'NF == 3 { print $3 }' | sort >"$dir/archive"
check "so does the archive: its inner names are local" diff "$here/symbols.txt" "$dir/archive"
case $(nm -D "$build/libtelem.so") in
*__asan* | *__tsan*) printf 'skip  size and needs: a sanitizer is in it\n' ;;
*)
	check "the shared library needs libc only" \
		sh -c "! ldd '$build/libtelem.so' | grep -v -e linux-vdso -e 'libc\.so' -e ld-linux"
	check "it is at most 128 KiB" \
		sh -c "strip -o '$dir/stripped.so' '$build/libtelem.so' && ls -l '$dir/stripped.so' &&
		[ \$(wc -c <'$dir/stripped.so') -le 131072 ]"
	;;
esac

if [ "$(uname -m)" = x86_64 ]; then
	check "what programs have compiled into them lies where it did" gcc -std=c11 -I"$root" -I"$dir" -fsyntax-only "$dir/layout.c"
	cat >"$dir/hot.c" <<'END'
#include "all.h"
TELEM_CLASS(mine, "a class", TELEM_OFF);
#ifdef __cplusplus
extern "C" {
#endif
void counter(uint64_t n) { TELEM_COUNT(mine, "counter", n); }
void span(void) { TELEM_SPAN(mine, "span") __asm__ volatile("nop"); }
#ifdef __cplusplus
}
#endif
END
	cp "$dir/hot.c" "$dir/hot.cc"
	# Instructions up to the first return: what runs while the site is off.
	path() {
		objdump -d --no-show-raw-insn --disassemble="$1" "$dir/hot.o" |
			awk '/^ *[0-9a-f]+:/ { n++; print; if ($2 ~ /^ret/) exit }'
	}
	# As users build: programs, and shared objects.
	for how in "gcc -std=c11 -O2|hot.c" "gcc -std=c11 -O2 -fPIC|hot.c" "g++ -std=c++17 -O2|hot.cc" \
		"g++ -std=c++17 -O2 -fPIC|hot.cc" "clang -std=c11 -O2|hot.c" "clang++ -std=c++17 -O2 -fPIC|hot.cc"; do
		command -v "${how%% *}" >/dev/null || continue
		${how%|*} -I"$root" -I"$dir" -c "$dir/${how#*|}" -o "$dir/hot.o"
		check "${how%|*}: a counter that is off is a compare and a branch" \
			sh -c "[ $(path counter | wc -l) -le 4 ] && [ $(path counter | grep -c -w call) -eq 0 ]"
		check "${how%|*}: a span that is off has no call" \
			sh -c "[ $(path span | wc -l) -le 12 ] && [ $(path span | grep -c -w call) -eq 0 ]"
	done
fi
# Every public name: exported, a macro of the manual, or a function that the manual declares.
manual=$root/emitter/telem.h
machinery=$root/emitter/telem_inline.h
# A class is no call; class telem has no row in classes.def, because only programs that use it have it.
classes=$(sed -n 's/^CLASS(\([a-z]*\),.*/\\|\1/p' "$root/protocol/classes.def" | tr -d '\n')
{
	grep -v -e '_$' -e "^telem_class_\(telem$classes\)$" "$here/symbols.txt"
	sed -n -e 's/^#define \([Tt][Ee][Ll][Ee][Mm]_[A-Za-z_]*[A-Za-z]\)(.*/\1/p' \
		-e 's/^TELEM_INLINE_ .*[ *]\(telem_[a-z_]*[a-z]\)(.*/\1/p' \
		-e 's/^static inline .*[ *]\(telem_[a-z_]*[a-z]\)(.*/\1/p' "$manual"
} | sort -u >"$dir/public"
check "telem.h declares or defines every public name" \
	sh -c "while read -r name; do grep -q -w \"\$name\" '$manual' || echo \"\$name\"; done <'$dir/public' | (! grep .)"
check "man/telem.3 names every public call" \
	sh -c "while read -r name; do grep -q -w \"\$name\" '$root/man/telem.3' || echo \"\$name\"; done <'$dir/public' | (! grep .)"
# What ends in no _ is the user's, so it stands in the manual: the machinery defines nothing of its own.
check "telem_inline.h defines no public name that telem.h does not have" \
	sh -c "sed -n -e 's/^#define \([A-Za-z_]*[A-Za-z]\)(.*/\1/p' -e 's/^TELEM_[A-Z]*_ .*[ *]\(telem_[a-z_]*[a-z]\)(.*/\1/p' '$machinery' |
	grep -v -x -f '$dir/public' | (! grep .)"
check "telem.h has one line of code a macro: no body stands in the manual" \
	sh -c "! grep -n '\\\\$' '$manual'"
exit $failed
