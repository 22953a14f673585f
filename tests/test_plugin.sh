#!/bin/sh
# test_plugin.sh -- libtelem in programs that load and unload code.
#
#   tests/test_plugin.sh [BUILD]     BUILD (else $B, else build) has libtelem.a and libtelem.so
#
# A plugin's sites keep their names when it has gone; a second copy of libtelem in one
# process stays silent and says why; a plugin that brings its own copy may be unloaded.
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
	telem_stats(&stats);
	assert(stats.sites >= 1 && stats.queued == 0);
	telem_stop();
	telem_stats(&stats);
	fprintf(stderr, "%llu events\n", (unsigned long long)stats.emitted);
	assert(stats.emitted == (argv[2][0] == 'o' ? 20 : 100));
	return 0;
}
END

rpath="-Wl,-rpath,$build"
$cc "$dir/host.c" "$build/libtelem.so" $rpath -ldl -pthread -o "$dir/host"
$cc -fPIC -shared "$dir/plugin.c" "$dir/plugin2.c" "$build/libtelem.so" $rpath -o "$dir/shared.so"
$cc -fPIC -shared "$dir/plugin.c" "$dir/plugin2.c" "$build/libtelem.a" -pthread -o "$dir/static.so"
$cc -fPIC -shared "$dir/plugin.c" "$dir/plugin2.c" "$build/libtelem.a" -pthread -Wl,-Bsymbolic -o "$dir/own.so"

check "a plugin's sites come and go with it" "$dir/host" "$dir/shared.so" shared "$dir/shared.telem"
check "their names are told after it has gone" \
	sh -c "tail -c 8192 '$dir/shared.telem' | grep -a -q 'of the plugin' &&
	grep -a -q \"plugin's counter\" '$dir/shared.telem' && grep -a -q 'of another file' '$dir/shared.telem'"
check "a plugin linked with the archive joins the program's stream" "$dir/host" "$dir/static.so" archive "$dir/static.telem"
check "and is in it" grep -a -q "of the plugin" "$dir/static.telem"
check "a copy that is the plugin's own stays silent and says why" "$dir/host" "$dir/own.so" own "$dir/own.telem"
check "and is not in it" sh -c "! grep -a -q 'of the plugin' '$dir/own.telem'"
exit $failed
