#!/bin/sh
# check_form.sh -- what of the code's form can be held exactly; CONTRIBUTING.md tells the rest. Then the check is
# checked: a file that breaks a rule must be found.
#
# C: indentation by tabs, at most 125 columns, a file's own header included first (telem.h, as api.h, is the own header of
# the emitter's sources that have no other), include guards named after the path.
# Every text file: no blanks at the end of a line, one newline at the end of the file.
set -u
export LC_ALL=C
cd "$(dirname "$0")/.."
failed=0

# offences FILE... -- a line for each; the paths are those from the project's root.
offences() {
	awk '
		function say(what) { print file ":" FNR ": " what }
		function file_ends() {
			if (file == "")
				return
			if (previous == "")
				print file ": an empty line at the end"
			if (guard != "" && !guarded)
				print file ": no include guard " guard
		}
		# Columns, where a tab goes to the next multiple of 8 and a character of UTF-8 takes one.
		function columns(line,    parts, count, i, sum) {
			gsub(/[\200-\277]/, "", line)
			count = split(line, parts, "\t")
			for (i = 1; i < count; i++)
				sum += length(parts[i]) + 8 - (sum + length(parts[i])) % 8
			return sum + length(parts[count])
		}
		FNR == 1 {
			file_ends()
			file = FILENAME
			previous = own = guard = opened = ""
			guarded = has_own = include_count = 0
			is_c = file ~ /\.([ch]|def)$/
			# The public headers are for programs: the library sees them through headers that say it is the library.
			if (file ~ /\.c$/ && file !~ /^emitter\/telem/) {
				own = substr(file, 1, length(file) - 2) ".h"
				if ((getline line < own) < 0)
					own = ""
				close(own)
				has_own = own != ""
			}
			if (file ~ /\.h$/) {
				guard = toupper(substr(file, 1, length(file) - 2)) "_H"
				gsub("/", "_", guard)
				# The public headers are installed without their folder.
				if (!sub(/^EMITTER_TELEM_/, "TELEM_", guard))
					guard = "TELEM_" guard
			}
		}
		/[ \t]$/ { say("blanks at the end") }
		is_c && columns($0) > 125 { say("more than 125 columns") }
		# Up to 7 blanks align what goes on from the line before; behind the end of a statement they indent.
		is_c && (/^\t*        / || /^\t* +\t/ || (/^ [ ]*[^ *]/ && previous ~ /[;{}]$/)) { say("indented by blanks") }
		/^#include/ && include_count++ && !has_own && file ~ /^emitter\/.*\.c$/ && $2 == "\"emitter/core/api.h\"" {
			say("\"emitter/core/api.h\" is not the first include of a source without an own header")
		}
		own != "" && /^#include/ {
			if ($2 != "\"" own "\"")
				say("the first include is not \"" own "\"")
			own = ""
		}
		guard != "" && !guarded && opened == "" && /^#if/ {
			if ($0 == "#ifndef " guard || index($0, "#if !defined(" guard ")") == 1)
				opened = FNR
		}
		opened != "" && FNR == opened + 1 && $0 == "#define " guard { guarded = 1 }
		{ previous = $0 }
		END { file_ends() }
	' "$@"
	for file; do
		[ -z "$(tail -c 1 "$file")" ] || echo "$file: no newline at the end"
	done
}

files=$(find . -name build -prune -o -name .git -prune -o -path ./tests/data -prune -o -path ./tests/screens -prune -o \
	-path ./tests/streams -prune -o -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.map' -o -name '*.sh' -o \
	-name '*.md' -o -name '*.in' -o -name '*.[13]' -o -name Makefile -o -name run -o -path ./deps \) -print |
	sed 's|^\./||' | sort)
found=$(offences $files)
[ -z "$found" ] || { echo "$found"; failed=1; }

# ---- the check itself ----

temporary=$(mktemp -d) || exit 1
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/emitter" "$temporary/widgets"
cd "$temporary" || exit 1
: >widgets/chart.h
: >emitter/telem.h

# must FILE good|bad WHAT CONTENT -- FILE with this content, in the escapes of printf, is found when it is bad.
must() {
	printf "$4" >"$1"
	found=$(offences "$1")
	if [ "$2" = bad ] && [ -z "$found" ]; then
		echo "this is not found: $3"
		failed=1
	elif [ "$2" = good ] && [ -n "$found" ]; then
		echo "this is held against it: $3: $found"
		failed=1
	fi
	rm -f "$1"
}

long=$(printf '%0125d' 0)
must widgets/a.c good 'a function' 'int a(void)\n{\n\treturn 1;\n}\n'
must widgets/a.c bad 'four blanks of indentation' 'int a(void)\n{\n    return 1;\n}\n'
must widgets/a.c bad 'eight blanks of indentation' 'int a(void)\n{\n        return 1;\n}\n'
must widgets/a.c bad 'eight blanks behind a tab' 'int a(void)\n{\n\tif (b)\n\t        c();\n}\n'
must widgets/a.c bad 'a tab behind blanks' 'int a(void)\n{\n  \treturn 1;\n}\n'
must widgets/a.c good 'alignment by blanks' 'enum { A,\n       B };\nint a =\n\t    b();\n'
must widgets/a.c good 'a comment of several lines' '/* One\n * two. */\nint a;\n'
must widgets/a.c good 'a line of 125 columns' "//$(printf '%0123d' 0)\n"
must widgets/a.c bad 'a line of 126 columns' "/$long\n"
must widgets/a.c bad 'a line of 126 columns, of which 8 are a tab' "\t$(printf '%0118d' 0)\n"
must widgets/a.c good 'a line of 125 characters in more bytes' "$(printf '%0122d' 0)\303\244\342\224\200\342\226\207\n"
must widgets/a.c bad 'a blank at the end' 'int a; \n'
must widgets/a.c bad 'a tab on an empty line' 'int a;\n\t\nint b;\n'
must widgets/a.c bad 'no newline at the end' 'int a;'
must widgets/a.c bad 'two newlines at the end' 'int a;\n\n'
must widgets/chart.c good 'its own header first' '/* a */\n#include "widgets/chart.h"\n\n#include <stdio.h>\n'
must widgets/chart.c bad 'another header first' '#include <stdio.h>\n#include "widgets/chart.h"\n'
must emitter/gc.c good 'the API first' '#include "emitter/core/api.h"\n\n#include <stdio.h>\n'
must emitter/gc.c bad 'the API not first' '#include <stdio.h>\n#include "emitter/core/api.h"\n'
must emitter/telem.c good 'a public header not first' '#include <stdio.h>\n'
must widgets/a.c good 'no own header' '#include <stdio.h>\n'
must widgets/a.h good 'a guard named after the path' '/* a */\n#ifndef TELEM_WIDGETS_A_H\n#define TELEM_WIDGETS_A_H\n#endif\n'
must widgets/a.h bad 'a guard named otherwise' '#ifndef WIDGETS_A_H\n#define WIDGETS_A_H\n#endif\n'
must widgets/a.h bad 'a guard that is not defined' '#ifndef TELEM_WIDGETS_A_H\n#endif\n'
must widgets/a.h bad 'no guard' 'int a;\n'
must emitter/telem.h good 'the guard of a public header' '#ifndef TELEM_H\n#define TELEM_H\n#endif\n'
must emitter/telem_new.h good 'that of another' '#ifndef TELEM_NEW_H\n#define TELEM_NEW_H\n#endif\n'
must a.sh good 'a script' 'a\n  b\n'
must a.sh bad 'a script with a blank at the end of a line' 'a \nb\n'

exit $failed
