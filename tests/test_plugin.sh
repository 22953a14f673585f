#!/bin/sh
# test_plugin.sh -- libtelem in programs that load and unload code.
#
#   tests/test_plugin.sh [BUILD]     BUILD (else $B, else build) has libtelem.a and libtelem.so
#
# A plugin's sites keep their names when it has gone; a second copy of libtelem in one
# process stays silent and says why; a plugin that brings its own copy may be unloaded.
# The library can be loaded late, where little thread-local storage is left, and into
# programs that know nothing of it.
set -eu

build=$(cd "${1:-${B:-build}}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
cc="${CC:-gcc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g ${SAN:-} -I$root"
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

cat >"$dir/plugin.c" <<'END'
#include "emitter/telem.h"
TELEM_CLASS(plugin, "a plugin's", TELEM_ALL);
void plugin_work(void);
int plugin_start(void);
const char *plugin_error(void);
void plugin_work(void)
{
	TELEM_SPAN(plugin, "of the plugin")
		TELEM_COUNT(plugin, "plugin's counter", 1);
}
int plugin_start(void) { return telem_start(NULL); }
const char *plugin_error(void) { return telem_error(); }
unsigned long plugin_memory(void);
unsigned long plugin_memory(void)
{
	struct telem_statistics stats;

	telem_stats(&stats);
	return (unsigned long)stats.memory_bytes;
}
END
cat >"$dir/plugin2.c" <<'END'
#include "emitter/telem.h"
TELEM_CLASS_DECLARE(plugin);
void plugin_more(void);
void plugin_more(void) { TELEM_COUNT(plugin, "of another file", 1); }
END
cat >"$dir/host.c" <<'END'
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "emitter/telem.h"
#undef assert
#define assert(c) do { if (!(c)) { fprintf(stderr, "line %d: %s\n", __LINE__, #c); return 1; } } while (0)
TELEM_CLASS(host, "the program's", TELEM_ALL);

static void *call(void *function)
{
	void (*work)(void);
	memcpy(&work, &function, sizeof work);
	work();
	return NULL;
}

int main(int argc, char **argv)
{
	struct telem_statistics stats;

	assert(argc == 4 && telem_start(NULL) == 0);
	assert(telem_sink_file(argv[3]) >= 0);
	for (int i = 0; i < 20; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *function;
		int (*start)(void);
		const char *(*error)(void);

		if (!plugin)
			fprintf(stderr, "%s\n", dlerror());
		assert(plugin);
		function = dlsym(plugin, "plugin_start");
		memcpy(&start, &function, sizeof start);
		function = dlsym(plugin, "plugin_error");
		memcpy(&error, &function, sizeof error);
		assert(start() == (argv[2][0] == 'o' ? -EBUSY : -EALREADY));
		if (argv[2][0] == 'o')
			assert(strstr(error(), "another copy"));
		function = dlsym(plugin, "plugin_work");
		call(function);
		pthread_t thread;
		assert(pthread_create(&thread, NULL, call, function) == 0);
		pthread_join(thread, NULL);
		if (i % 2)
			telem_flush(1000000000);
		assert(dlclose(plugin) == 0);
		TELEM_COUNT(host, "went on", 1);
		assert(telem_level_get("host") == TELEM_ALL);
		assert(telem_flush(1000000000) == 0);
	}
	telem_sync();
	/* One that comes when the plugin has gone. */
	char late[4096];
	snprintf(late, sizeof late, "%s.late", argv[3]);
	assert(telem_sink_file(late) >= 0);
	assert(telem_flush(1000000000) == 0);
	telem_stats(&stats);
	assert(stats.sites >= 1 && stats.queued == 0);
	telem_stop();
	telem_stats(&stats);
	fprintf(stderr, "%llu events\n", (unsigned long long)stats.emitted);
	/* o: its own copy's are not ours; q: quiet, its class is off. */
	assert(stats.emitted == (strchr("oq", argv[2][0]) ? 20 : 100));
	return 0;
}
END

# Takes what there is of static thread-local storage, then loads the plugin.
cat >"$dir/eaten.c" <<'END'
__thread char eaten[32] __attribute__((tls_model("initial-exec")));
char *eat(void);
char *eat(void) { return eaten; }
END
cat >"$dir/tls.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0, i;
	int (*start)(void);
	void (*work)(void);
	void *plugin, *function;
	char path[4096];

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/eaten%d.so", argv[1], i);
		if (!dlopen(path, RTLD_NOW))
			break;
	}
	printf("%d\n", i);
	if (argc < 4)
		return 0;
	plugin = dlopen(argv[3], RTLD_NOW);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	function = dlsym(plugin, "plugin_start");
	memcpy(&start, &function, sizeof start);
	function = dlsym(plugin, "plugin_work");
	memcpy(&work, &function, sizeof work);
	if (i != count || start() != 0)
		return 2;
	work();
	return 0;
}
END
cat >"$dir/large.c" <<'END'
#include "emitter/telem.h"
TELEM_CLASS(large, "of a program whose threads are large", TELEM_ALL);
static __thread char local[1 << 20];
int main(void)
{
	struct telem_statistics stats;
	local[4711] = 1;
	if (telem_start(NULL) != 0)
		return 1;
	TELEM_COUNT(large, "one", (unsigned)local[4711]);
	telem_stop();
	telem_stats(&stats);
	return !(stats.emitted == 1 && stats.queued == 0);
}
END
cat >"$dir/preloaded.c" <<'END'
#include <stdlib.h>
#include "emitter/telem.h"
TELEM_CLASS(early, "from before main()", TELEM_ALL);
__attribute__((constructor)) static void begin(void)
{
	telem_start(NULL);
	telem_free(char, telem_malloc(char, 100));
	TELEM_COUNT(early, "begun", 1);
}
END

# A program that has made many thread-specific keys before it loads the plugin, and whose calloc() must not be called.
cat >"$dir/keys.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

extern void *__libc_calloc(size_t count, size_t bytes);
static __thread int is_event;
static int calls;
void *calloc(size_t count, size_t bytes)
{
	calls += is_event;
	return __libc_calloc(count, bytes);
}

static void (*work)(void);
static void *run(void *arg)
{
	is_event = 1;
	work();
	is_event = 0;
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long (*memory)(void), before = 0;
	int (*start)(void);
	void *plugin, *function;
	pthread_key_t key;

	for (int i = 0; i < 40; i++)
		pthread_key_create(&key, NULL);
	plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!plugin)
		return 1;
	function = dlsym(plugin, "plugin_start");
	memcpy(&start, &function, sizeof start);
	function = dlsym(plugin, "plugin_work");
	memcpy(&work, &function, sizeof work);
	function = dlsym(plugin, "plugin_memory");
	memcpy(&memory, &function, sizeof memory);
	if (start() != 0)
		return 2;
	for (int i = 0; i < 3000; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL) != 0)
			return 3;
		pthread_join(thread, NULL);
		if (i == 100)
			before = memory();
	}
	printf("%d calls, %lu bytes, then %lu\n", calls, before, memory());
	return calls > 0 || memory() > before + (2 << 20);
}
END

cat >"$dir/unload.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static long mapped_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file && fgets(line, sizeof line, file))
		sscanf(line, "VmSize: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}

int main(int argc, char **argv)
{
	long before = 0;

	for (int i = 0; argc > 1 && i < 40; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW), *function;
		int (*start)(void);
		void (*work)(void);

		if (!plugin)
			return 2;
		function = dlsym(plugin, "plugin_start");
		memcpy(&start, &function, sizeof start);
		function = dlsym(plugin, "plugin_work");
		memcpy(&work, &function, sizeof work);
		if (start() != 0)
			return 3;
		work();
		dlclose(plugin);
		if (i == 10)
			before = mapped_kib();
	}
	printf("%ld KiB, then %ld KiB\n", before, mapped_kib());
	return mapped_kib() > before;
}
END

rpath="-Wl,-rpath,$build"
$cc "$dir/host.c" "$build/libtelem.so" $rpath -ldl -pthread -o "$dir/host"
$cc -fPIC -shared "$dir/plugin.c" "$dir/plugin2.c" "$build/libtelem.so" $rpath -o "$dir/shared.so"
$cc -fPIC -shared "$dir/plugin.c" "$dir/plugin2.c" "$build/libtelem.a" -pthread -o "$dir/static.so"
$cc -fPIC -shared "$dir/plugin.c" "$dir/plugin2.c" "$build/libtelem.a" -pthread -Wl,-Bsymbolic -o "$dir/own.so"
$cc "$dir/tls.c" -ldl -o "$dir/tls"
$cc "$dir/keys.c" -ldl -pthread -o "$dir/keys"
$cc "$dir/unload.c" -ldl -o "$dir/unload"
$cc "$dir/large.c" "$build/libtelem.so" $rpath -pthread -o "$dir/large"
$cc -fPIC -shared "$dir/preloaded.c" "$build/libtelem.so" $rpath -o "$dir/preloaded.so"
$cc -fPIC -shared "$dir/eaten.c" -o "$dir/eaten.so"
for i in $(seq 0 255); do
	cp "$dir/eaten.so" "$dir/eaten$i.so"
done

check "a plugin's sites come and go with it" "$dir/host" "$dir/shared.so" shared "$dir/shared.telem"
check "their names are told after it has gone" \
	sh -c "tail -c 8192 '$dir/shared.telem' | grep -a -q 'of the plugin' &&
	grep -a -q \"plugin's counter\" '$dir/shared.telem' && grep -a -q 'of another file' '$dir/shared.telem'"
check "also to who comes when it has gone" \
	sh -c "grep -a -q 'of the plugin' '$dir/shared.telem.late' &&
	grep -a -q \"a plugin's\" '$dir/shared.telem.late'"
check "a level set before it is loaded holds" \
	env TELEM=plugin=off "$dir/host" "$dir/shared.so" quiet "$dir/quiet.telem"
check "a plugin linked with the archive joins the program's stream" "$dir/host" "$dir/static.so" archive "$dir/static.telem"
check "and is in it" grep -a -q "of the plugin" "$dir/static.telem"
check "a copy that is the plugin's own stays silent and says why" "$dir/host" "$dir/own.so" own "$dir/own.telem"
check "a plugin with a copy of its own takes all memory with it" "$dir/unload" "$dir/own.so"
check "and is not in it" sh -c "! grep -a -q 'of the plugin' '$dir/own.telem'"

# All but 128 bytes of what the loader keeps for such as us is taken.
taken=$(($("$dir/tls" "$dir" 256) - 4))
check "it can be loaded where $((taken * 32)) bytes of static thread-local storage are taken" \
	"$dir/tls" "$dir" "$taken" "$dir/shared.so"
check "so can a plugin that has it inside" "$dir/tls" "$dir" "$taken" "$dir/own.so"
check "an event allocates nothing, with 40 thread-specific keys made before" "$dir/keys" "$dir/own.so"
check "a program whose threads are larger than ours can start it" "$dir/large"

# In every process of a shell, from its constructors to its exit.
script='x=$(echo one | cat; echo two); echo "$x" | sort; (exit 3)'
cat >"$dir/preload.sh" <<'END'
sh -c "$SCRIPT" >"$DIR/plain" || plain=$?
LD_PRELOAD="$DIR/preloaded.so" sh -c "$SCRIPT" >"$DIR/preloaded" || preloaded=$?
cmp "$DIR/plain" "$DIR/preloaded" && [ "$plain" = 3 ] && [ "$preloaded" = 3 ] &&
LD_PRELOAD="$DIR/preloaded.so" ldd /bin/sh | grep -q 'libc'
END
check "preloaded into a shell and its children it changes nothing" \
	env DIR="$dir" SCRIPT="$script" sh "$dir/preload.sh"
exit $failed
