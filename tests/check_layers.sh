#!/bin/sh
# check_layers.sh -- every folder knows only the folders below it: the table of docs/ARCHITECTURE.md,
# read off the includes, and who may read a clock. Then the check is checked: a file that breaks
# a row must be found.
set -u
failed=0

# offences MAY MUST_NOT WORDS FILE... -- the files' own includes that are not among MAY, system headers that begin with
# one of MUST_NOT, and lines with WORDS; all three are extended regular expressions.
offences() {
	export MAY="^($1)$" MUST_NOT="^($2)" WORDS="$3"
	shift 3
	awk '
		/^[ \t]*#[ \t]*include[ \t]*["<]/ {
			is_own = /include[ \t]*"/
			split($0, part, /["<>]/)
			if (is_own ? part[2] !~ ENVIRON["MAY"] : part[2] ~ ENVIRON["MUST_NOT"])
				print FILENAME ": includes " part[2]
		}
		$0 ~ ENVIRON["WORDS"] { print FILENAME ":" FNR ": " $0 }' "$@"
}

addresses='netinet|arpa|netdb|sys/un\.h'
sockets="sys/socket|$addresses"
files='fcntl|unistd|dirent|sys/stat|sys/file'
libraries='event2|msgpack|jansson|curses|term\.h'
reads='clock_gettime|gettimeofday|[^_a-z]time\(NULL\)'
clock="$reads|clock_(mono|real)_ns"
none='@none@'

# row FOLDER, its files: what it may include, must not include, must not say.
row() {
	case $1 in
	protocol) echo "protocol/[a-z0-9_]*\.(h|def) $sockets|$files|pthread|time|sys/time|event2|jansson|curses|poll $clock" ;;
	widgets) echo "widgets/[a-z_]*\.h $sockets|pthread|event2|msgpack|jansson $clock" ;;
	emitter) echo "emitter/telem[a-z_]*\.h|telem[a-z_]*\.h $libraries $none" ;;
	emitter/core) echo "emitter/(core/[a-z_]*|telem)\.h|protocol/(limits|message|name|histogram)\.h $addresses|$libraries $none" ;;
	emitter/record) echo "emitter/((core|record)/[a-z_]*|telem)\.h|protocol/[a-z0-9_]*\.(h|def) $sockets|poll|$libraries $none" ;;
	emitter/deliver) echo "emitter/((core|record|deliver)/[a-z_]*|telem)\.h|protocol/[a-z0-9_]*\.(h|def) $libraries $none" ;;
	monitor/model) echo "monitor/model/[a-z_]*\.h|protocol/[a-z_]*\.(h|def) $sockets|$files|time|sys/time|pthread|$libraries $clock" ;;
	monitor/format) echo "monitor/format/[a-z_]*\.(h|def)|protocol/[a-z0-9_]*\.(h|def) $sockets|$files|pthread|$libraries $clock" ;;
	monitor/source) echo "monitor/(source|format)/[a-z_]*\.(h|def)|protocol/[a-z0-9_]*\.(h|def)|widgets/(text|units)\.h msgpack|pthread|curses|term\.h|jansson $clock" ;;
	monitor/session) echo "monitor/(source|format|session|model)/[a-z_]*\.(h|def)|protocol/[a-z0-9_]*\.(h|def)|widgets/(text|units)\.h $sockets|pthread|$libraries $clock" ;;
	monitor/observe) echo "monitor/(session|model|observe)/[a-z_]*\.h|monitor/source/problem\.h|protocol/[a-z0-9_]*\.(h|def) $sockets|pthread|$libraries $clock" ;;
	monitor/screen/panels) echo "monitor/(model|screen/panels)/[a-z_]*\.h|widgets/[a-z_]*\.h|protocol/(histogram|limits|message)\.h $sockets|$files|sys/time|pthread|$libraries $clock" ;;
	monitor/screen | monitor/cli | monitor) echo "(monitor|monitor/(cli|source|format|session|model|observe|screen|screen/panels)|widgets|protocol)/[a-z0-9_]*\.(h|def) msgpack|pthread $reads" ;;
	demo) echo "demo/[a-z_]*\.h|emitter/telem\.h $libraries $none" ;;
	esac
}

# check FOLDER FILE... -- offences of the files against the row of the folder.
check() {
	rules=$(row "$1")
	shift
	printf '%s\n' "$rules" | { read -r may must_not words; offences "$may" "$must_not" "$words" "$@"; }
}

for folder in protocol widgets emitter emitter/core emitter/record emitter/deliver monitor/model monitor/source monitor/format monitor/session monitor/observe \
	monitor/screen/panels monitor/screen monitor/cli monitor demo; do
	set --
	for file in "$folder"/*.[ch] "$folder"/*.def; do
		[ ! -f "$file" ] || set -- "$@" "$file"
	done
	[ $# -gt 0 ] || continue
	# Lines that may speak of a clock: the functions that read it, the target, and how long ago a process started.
	found=$(check "$folder" "$@" | grep -Ev '^monitor/session/(clock\.[ch]|target\.c):[0-9]|^monitor/source/discovery\.c:[0-9].*CLOCK_BOOTTIME')
	[ -z "$found" ] || { echo "$found"; failed=1; }
done

# ---- the check itself ----

temporary=$(mktemp) || exit 1
trap 'rm -f "$temporary"' EXIT

# must FOLDER LINE good|bad
must() {
	printf '#include <stdint.h>\n%s\n' "$2" >"$temporary"
	found=$(check "$1" "$temporary")
	if [ "$3" = bad ] && [ -z "$found" ]; then
		echo "in $1 this is not found: $2"
		failed=1
	elif [ "$3" = good ] && [ -n "$found" ]; then
		echo "in $1 this is held against it: $2"
		failed=1
	fi
}

must protocol '#include "protocol/message.h"' good
must protocol '#include <msgpack/pack_template.h>' good
must protocol '#include "widgets/text.h"' bad
must protocol '#include "emitter/telem.h"' bad
must protocol '#include <sys/socket.h>' bad
must protocol '#include <pthread.h>' bad
must protocol '	clock_gettime(CLOCK_MONOTONIC, &now);' bad
must widgets '#include <curses.h>' good
must widgets '#include "protocol/limits.h"' bad
must widgets '#include "monitor/screen/screen.h"' bad
must widgets '#include <netinet/in.h>' bad
must emitter '#include "emitter/core/lock.h"' bad
must emitter '#include "protocol/message.h"' bad
must emitter/core '#include "emitter/core/lock.h"' good
must emitter/core '#include <pthread.h>' good
must emitter/core '#include "emitter/record/ring.h"' bad
must emitter/core '#include "emitter/deliver/sink.h"' bad
must emitter/core '#include "protocol/encode.h"' bad
must emitter/core '#include <sys/un.h>' bad
must emitter/record '#include "emitter/core/lock.h"' good
must emitter/record '#include "protocol/message.h"' good
must emitter/record '#include "emitter/deliver/sink.h"' bad
must emitter/record '#include <sys/socket.h>' bad
must emitter/record '#include <poll.h>' bad
must emitter/deliver '#include "emitter/record/ring.h"' good
must emitter/deliver '#include "protocol/encode.h"' good
must emitter/deliver '#include <sys/socket.h>' good
must emitter/deliver '#include <msgpack.h>' bad
must emitter/deliver '#include "monitor/model/model.h"' bad
must emitter/deliver '#include "widgets/text.h"' bad
must monitor/model '#include "protocol/histogram.h"' good
must monitor/model '#include "protocol/requests.def"' good
must monitor/model '#include "widgets/text.h"' bad
must monitor/model '#include "monitor/session/session.h"' bad
must monitor/model '#  include <event2/event.h>' bad
must monitor/model '#include <time.h>' bad
must monitor/screen/panels '#include "widgets/table.h"' good
must monitor/screen/panels '#include "protocol/decode.h"' bad
must monitor/screen/panels '#include "monitor/session/target.h"' bad
must monitor/screen/panels '#include <sys/un.h>' bad
must monitor/screen/panels '	uint64_t now = clock_mono_ns();' bad
must monitor/session '	uint64_t now = clock_mono_ns();' bad
must monitor/screen '	uint64_t now = clock_mono_ns();' good
must monitor/screen '	clock_gettime(CLOCK_MONOTONIC, &now);' bad
must monitor/format '#include "monitor/model/model.h"' bad
must monitor/source '#include "monitor/session/session.h"' bad
must monitor/session '#include <event2/event.h>' bad
must monitor '#include "monitor/screen/panels/panel.h"' good
must monitor '#include <event2/event.h>' good
must monitor '#include "emitter/telem.h"' bad
must monitor '#include <msgpack.h>' bad
must monitor/session '#include "monitor/source/source.h"' good
must monitor/session '#include "monitor/screen/screen.h"' bad
must monitor/session '#include "monitor/cli/options.h"' bad
must monitor/session '#include "monitor/observe/record.h"' bad
must monitor/session '#include <curses.h>' bad
must monitor/observe '#include "monitor/session/session.h"' good
must monitor/observe '#include <event2/event.h>' bad
must monitor/observe '#include "monitor/cli/options.h"' bad
must demo '#include "emitter/telem.h"' good
must demo '#include "emitter/telem_inline.h"' bad
must demo '#include "emitter/record/ring.h"' bad
must demo '#include "protocol/message.h"' bad
must demo '#include "telem.h"' bad

exit $failed
