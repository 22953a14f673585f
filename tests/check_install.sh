#!/bin/sh
# check_install.sh -- what `make install` puts into a system, what a user's build makes of it through pkg-config, and
# that `make uninstall` removes all of it and nothing else.
#
#   tests/check_install.sh     $B (else build) has been made; nothing outside a temporary directory is written
set -eu
cd "$(dirname "$0")/.."
# The variables of the `make` that runs this test are not those of the `make install` that is tested.
unset MAKEFLAGS MFLAGS MAKELEVEL BINDIR LIBDIR INCLUDEDIR MANDIR PKGCONFIGDIR
B=${B:-build}
CC=${CC:-cc}
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

run_make() { # target DESTDIR PREFIX variable...
	target=$1 dest=$2 prefix=$3
	shift 3
	make -s B="$B" CC="$CC" "$target" DESTDIR="$dest" PREFIX="$prefix" "$@"
}

# What stands in a directory, except the directories: one path a line.
files_of() { (cd "$1" && find . ! -type d | LC_ALL=C sort); }

# ---- the usual places ----

dest=$dir/dest
check "install into a DESTDIR" run_make install "$dest" /opt/telem
LC_ALL=C sort >"$dir/expected" <<END
./opt/telem/bin/telem-demo
./opt/telem/bin/telemtop
$(ls emitter/telem*.h | sed 's|^emitter|./opt/telem/include|')
./opt/telem/lib/libtelem.a
./opt/telem/lib/libtelem.so
./opt/telem/lib/libtelem.so.0
./opt/telem/lib/pkgconfig/telem.pc
./opt/telem/share/man/man1/telemtop.1
./opt/telem/share/man/man3/telem.3
END
files_of "$dest" >"$dir/found"
check "these files are installed and no others" diff "$dir/expected" "$dir/found"

cat >"$dir/use.c" <<'END'
#include <telem.h>
TELEM_CLASS(mine, "a class of the user's", TELEM_SUM);
int main(void)
{
	int err = telem_start(NULL);
	TELEM_SPAN(mine, "a span")
		TELEM_COUNT(mine, "a counter", 1);
	telem_stop();
	return err != 0;
}
END
cat >"$dir/use.cc" <<'END'
#include <telem_new.h>
int main()
{
	delete new int(1);
	telem_stop();
}
END

# telem.pc names the places without DESTDIR; pkg-config puts it before them again.
export PKG_CONFIG_SYSROOT_DIR="$dest" PKG_CONFIG_LIBDIR="$dest/opt/telem/lib/pkgconfig"
of_shared=$(pkg-config --cflags --libs telem)
of_static=$(pkg-config --static --cflags --libs telem)
version=$(sed -n 's/^#define TELEM_VERSION "\(.*\)"/\1/p' emitter/telem.h)
warn="-std=c11 -Wall -Wextra -Werror"

check "telem.pc has the version of the header, $version" test "$(pkg-config --modversion telem)" = "$version"
check "a program compiles and links with the shared library" $CC $warn "$dir/use.c" $of_shared -o "$dir/shared"
check "it runs with what is installed" env TELEM=discovery=off LD_LIBRARY_PATH="$dest/opt/telem/lib" "$dir/shared"
check "it needs the library by its versioned name" \
	sh -c "LC_ALL=C readelf -d '$dir/shared' | grep -q 'NEEDED.*\[libtelem\.so\.0\]'"
check "a program compiles and links with the static library" $CC $warn -static "$dir/use.c" $of_static -o "$dir/static"
check "it runs" env TELEM=discovery=off "$dir/static"
if command -v c++ >/dev/null; then
	check "a program in C++ finds telem_new.h and runs" \
		sh -c "c++ -std=c++17 -Wall -Wextra -Werror '$dir/use.cc' $of_shared -o '$dir/new' &&
		LD_LIBRARY_PATH='$dest/opt/telem/lib' TELEM=discovery=off '$dir/new'"
fi
check "telemtop runs from where it is installed" "$dest/opt/telem/bin/telemtop" --version

: >"$dest/opt/telem/lib/somebody_elses.so"
check "uninstall" run_make uninstall "$dest" /opt/telem
check "it leaves what it did not put there, and that alone" \
	test "$(files_of "$dest")" = ./opt/telem/lib/somebody_elses.so
check "uninstall again, when nothing of ours is left" run_make uninstall "$dest" /opt/telem

# ---- each place given by itself, in a directory with a blank in its name ----

dest="$dir/an image"
places="BINDIR=/usr/games LIBDIR=/usr/lib/some-machine INCLUDEDIR=/usr/include/telem MANDIR=/opt/man PKGCONFIGDIR=/opt/pc"
check "install with each directory given" run_make install "$dest" /usr $places
LC_ALL=C sort >"$dir/expected" <<END
./opt/man/man1/telemtop.1
./opt/man/man3/telem.3
./opt/pc/telem.pc
./usr/games/telem-demo
./usr/games/telemtop
$(ls emitter/telem*.h | sed 's|^emitter|./usr/include/telem|')
./usr/lib/some-machine/libtelem.a
./usr/lib/some-machine/libtelem.so
./usr/lib/some-machine/libtelem.so.0
END
files_of "$dest" >"$dir/found"
check "these files are installed and no others" diff "$dir/expected" "$dir/found"
unset PKG_CONFIG_SYSROOT_DIR
export PKG_CONFIG_LIBDIR="$dest/opt/pc"
check "telem.pc names these places" \
	test "$(pkg-config --variable=libdir telem) $(pkg-config --variable=includedir telem)" = \
	"/usr/lib/some-machine /usr/include/telem"
check "its directories follow a prefix that is moved" \
	test "$(pkg-config --define-variable=prefix=/moved --variable=libdir telem)" = /moved/lib/some-machine
check "uninstall" run_make uninstall "$dest" /usr $places
check "nothing is left" test -z "$(files_of "$dest")"

exit $failed
