#!/bin/sh
# check_adding.sh -- docs/ADDING.md keeps its word: its examples cost what it says, build without a warning, run, and
# fail no test.
#
#   tests/check_adding.sh [DOCUMENT]     $B (else build) has been made; nothing outside a temporary directory is written
#
# The examples do not touch each other, so all of them go into one copy of the tree, which is then built once; the
# objects that no example changes are copied, too. The document has this form:
#
#   ## SECTION
#   Cost: 1 new file, 2 rows, 3 pieces.     counts the examples below; "nothing in this tree" when there is none to count
#   Tests: `test_a`, `check_b`.             what has to pass: programs and scripts in tests/; or "none"
#
# An example is a line of one of these forms, an empty line, and a fenced block:
#
#   New file `PATH`:
#   Row in `PATH`, behind `ANCHOR`:         one line, to stand behind the only line of PATH that contains ANCHOR
#   Piece in `PATH`, before `ANCHOR`:       any number of lines, to stand before that line
#   Test in `PATH`, behind `ANCHOR`:        the same, but it does not count as a cost
#   Program `NAME`:                         a program of a user, outside of the tree
#
# "before" and "behind" may stand in each of the three. A block ```sh holds commands, which are run in the copy; a block
# ```console holds some for a terminal, which are not run. Every other block has to be an example.
set -eu
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.."
document=${1:-docs/ADDING.md}
B=${B:-build}
CC=${CC:-cc}
# The variables of the `make` that runs this test are not those of the `make` below.
unset MAKEFLAGS MFLAGS MAKELEVEL
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

say_failed() {
	echo "FAIL  $*"
	failed=1
}

# give_up WHAT -- what follows would only fail for the same reason.
give_up() {
	say_failed "$@"
	exit 1
}

# ---- the document ----

mkdir "$dir/examples" "$dir/commands"
# Writes examples/NUMBER with the lines of each example, and the list of them: NUMBER, section, what, path, side, anchor.
# Likewise commands/NUMBER and their list, and the sections with cost and tests. Fields are parted by "|".
awk -v dir="$dir" '
	function bad(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; is_bad = 1 }
	function close_section() {
		if (section != "" && has_cost != has_tests)
			bad("section \"" section "\" has only one of the lines Cost: and Tests:")
		if (section != "" && has_cost)
			print section "|" cost "|" tests >(dir "/sections")
	}
	in_block {
		if ($0 == "```") {
			in_block = 0
			close(out)
		} else if (out != "") {
			print >out
		}
		next
	}
	/^## / { close_section(); section = substr($0, 4); has_cost = has_tests = 0; next }
	/^Cost: / { cost = substr($0, 7); sub(/\.$/, "", cost); has_cost = 1; next }
	/^Tests: / { tests = substr($0, 8); gsub(/[`.,]/, "", tests); has_tests = 1; next }
	/^(New file|Program|Row in|Piece in|Test in) `/ {
		count = split($0, part, "`")
		side = part[3]
		gsub(/[ ,]/, "", side)
		what = $1
		is_good = count == 3 && part[3] == ":" && (what == "New" || what == "Program") ||
			count == 5 && part[5] == ":" && (side == "before" || side == "behind") && what ~ /^(Row|Piece|Test)$/
		if (!is_good)
			bad("an example is not announced in a known form: " $0)
		announced = FNR
		head = what "|" part[2] "|" (count == 5 ? side "|" part[4] : "|")
		next
	}
	/^```/ {
		in_block = 1
		out = ""
		if ($0 == "```sh") {
			out = dir "/commands/" ++commands
			print commands "|" section >(dir "/commands.list")
		} else if ($0 != "```console") {
			if (announced != FNR - 2)
				bad("a block that no line announces as an example")
			out = dir "/examples/" ++examples
			print examples "|" section "|" head >(dir "/examples.list")
			announced = 0
		}
		next
	}
	announced && FNR > announced + 1 { bad("no block behind the line that announces it"); announced = 0 }
	END {
		close_section()
		if (in_block)
			bad("a block has no end")
		if (!examples || !commands)
			bad("no examples, or no commands, were found")
		exit is_bad
	}' "$document" >"$dir/bad" || give_up "$(cat "$dir/bad")"

# ---- what the examples cost ----

# count SECTION WHAT ONE MANY -- "2 rows"; nothing when there is none.
count() {
	number=$(awk -F'|' -v section="$1" -v what="$2" '$2 == section && $3 == what' "$dir/examples.list" | wc -l)
	case $((number)) in
	0) ;;
	1) echo "1 $3" ;;
	*) echo "$((number)) $4" ;;
	esac
}

while IFS='|' read -r section cost tests; do
	counted=$({
		count "$section" New "new file" "new files"
		count "$section" Row row rows
		count "$section" Piece piece pieces
	} | paste -sd, - | sed 's/,/, /g')
	[ "$cost" = "${counted:-nothing in this tree}" ] ||
		say_failed "$section: it says that it costs $cost; counted are: ${counted:-nothing in this tree}"
done <"$dir/sections"
[ "$failed" = 0 ] || exit 1

# ---- the copy ----

copy=$dir/copy
case $B in
/*) build=build ;;                        # its dependencies name another tree: the copy is built from scratch
*) build=$B ;;
esac
mkdir -p "$copy/$build"
for entry in *; do
	[ "$entry" = "${build%%/*}" ] || cp -a "$entry" "$copy"
done

# add NUMBER SECTION WHAT PATH SIDE ANCHOR -- puts an example into the copy.
add() {
	body=$dir/examples/$1 file=$copy/$4
	case $3 in
	New | Program)
		if [ -e "$file" ]; then
			say_failed "$2: $4 is there already"
		else
			cp "$body" "$file"
		fi
		return
		;;
	esac
	[ -f "$file" ] || { say_failed "$2: there is no $4"; return; }
	ANCHOR=$6 awk -v body="$body" -v what="$3" -v side="$5" -v path="$4" '
		BEGIN {
			while ((getline line <body) > 0)
				text = text line "\n"
			if (what == "Row" && gsub(/\n/, "\n", text) != 1) {
				print "a row in " path " has not one line" >"/dev/stderr"
				exit is_bad = 1
			}
		}
		{
			is_here = index($0, ENVIRON["ANCHOR"]) > 0
			found += is_here
			if (is_here && side == "before")
				printf "%s", text
			print
			if (is_here && side == "behind")
				printf "%s", text
		}
		END {
			if (!is_bad && found != 1)
				printf "%d lines in %s, not one, have the anchor \"%s\"\n", found, path,
					ENVIRON["ANCHOR"] >"/dev/stderr"
			exit is_bad || found != 1
		}' "$file" >"$dir/changed" 2>"$dir/bad" || { say_failed "$2: $(cat "$dir/bad")"; return; }
	# The file keeps its rights.
	cat "$dir/changed" >"$file"
}

while IFS='|' read -r number section what path side anchor; do
	add "$number" "$section" "$what" "$path" "$side" "$anchor"
done <"$dir/examples.list"
[ "$failed" = 0 ] || exit 1

# ---- the check itself, as far as it needs no building ----

# must_find WORDS EXPRESSION -- the document, changed by sed, is refused with these words.
must_find() {
	sed -e "$2" "$document" >"$dir/broken.md"
	if tests/check_adding.sh "$dir/broken.md" >"$dir/log" 2>&1 || ! grep -q -e "$1" "$dir/log"; then
		cat "$dir/log"
		say_failed "this is not found: $1"
	fi
}

if [ $# -eq 0 ]; then
	must_find 'not announced in a known form' 's/^New file `\(.*\)`:$/New file `\1`, which is short:/'
	must_find 'no line announces' 's/^Row in /A row in /'
	must_find 'no block behind' 's/^```c$/The code:/'
	must_find 'A panel: it says that it costs 2 new files' 's/^Cost: 1 new file, 1 row\.$/Cost: 2 new files, 1 row./'
	must_find 'A subcommand: 0 lines in monitor/cli/subcommands.def' 's/`SUBCOMMAND(held)`/`SUBCOMMAND(hold)`/'
fi

# ---- building ----

# Lines "SECTION: test" for each test that is named.
while IFS='|' read -r section cost tests; do
	for test in $tests; do
		[ "$test" = none ] || echo "$section|$test"
	done
done <"$dir/sections" >"$dir/tests.list"

programs=
scripts="check_form check_layers"
for test in $(cut -d'|' -f2 "$dir/tests.list" | sort -u); do
	if [ -f "tests/$test.c" ]; then
		programs="$programs $build/tests/$test"
	elif [ -f "tests/$test.sh" ]; then
		case " $scripts " in
		*" $test "*) ;;
		*) scripts="$scripts $test" ;;
		esac
	else
		say_failed "$(grep -F "|$test" "$dir/tests.list" | cut -d'|' -f1): there is no test $test"
	fi
done
[ "$failed" = 0 ] || exit 1

if [ "$build" = "$B" ]; then
	# A build directory may hold those of other compilers and sanitizers.
	for entry in "$B"/*; do
		[ -d "$entry/guest" ] || [ "$entry" = "$B/bench" ] || cp -a "$entry" "$copy/$B"
	done
fi
cd "$copy"
# Without optimisation the compiler is faster, and warns of the same things in code that is as short as this.
if ! make -s -j"$(nproc)" B="$build" CC="$CC" WERROR=1 CFLAGS=-O0 all $programs >"$dir/log" 2>&1; then
	cat "$dir/log"
	# The sections whose files the compiler complains about.
	while IFS='|' read -r number section what path side anchor; do
		grep -q -F "$path:" "$dir/log" && echo "FAIL  $section: $path does not build with the example"
	done <"$dir/examples.list" | sort -u
	give_up "the examples do not build"
fi
if grep -q warning "$dir/log"; then
	cat "$dir/log"
	say_failed "the examples do not build without a warning"
fi

# ---- tests ----

# run_test NAME COMMAND... -- says which sections named a test that fails.
run_test() {
	name=$1
	shift
	if B="$build" CC="$CC" "$@" >"$dir/log" 2>&1; then
		echo "ok    $name"
	else
		cat "$dir/log"
		sections=$(grep "|$name\$" "$dir/tests.list" | cut -d'|' -f1 | paste -sd, - | sed 's/,/, /g')
		say_failed "$name, with the examples in the tree; named by: ${sections:-all}"
	fi
}

# The document says that this file is written anew when a kind comes.
GOLDEN=1 "$build/tests/test_message" >"$dir/log" 2>&1 || :
for program in $programs; do
	run_test "${program##*/}" "$program"
done
for script in $scripts; do
	run_test "$script" "tests/$script.sh"
done

# ---- commands ----

export XDG_RUNTIME_DIR="$dir"

# run_commands SECTION -- what the commands of a section write goes to $dir/out.
run_commands() {
	number=$(grep "|$1\$" "$dir/commands.list" | cut -d'|' -f1)
	[ -n "$number" ] || { say_failed "$1: the document has no commands for it"; return; }
	{
		echo 'set -eu'
		sed -e "s|build/|$build/|g" -e 's|^make$|:|' "$dir/commands/$number"
	} >"$dir/try"
	if timeout 60 sh "$dir/try" >"$dir/out" 2>"$dir/log"; then
		echo "ok    $1: its commands run"
	else
		cat "$dir/out" "$dir/log"
		say_failed "$1: its commands fail"
	fi
}

# must_show SECTION PATTERN -- the commands have written a line that the pattern matches.
must_show() {
	grep -q -e "$2" "$dir/out" || { cat "$dir/out"; say_failed "$1: its commands do not show \"$2\""; }
}

run_commands "A subcommand"
must_show "A subcommand" '^mem  *sum  *typed allocations$'
run_commands "A source"
must_show "A source" ' live '
run_commands "A format"
must_show "A format" ' live '
must_show "A format" ' replay '
run_commands "A sink"
must_show "A sink" ' replay '
run_commands "A class"
must_show "A class" '"class":"cache","name":"hits"'
must_show "A class" '"class":"cache","name":"miss"'
run_commands "A class of the library"
must_show "A class of the library" '"class":"lock","name":"wait for the mutex"'
run_commands "A reporter"
must_show "A reporter" '"value":[123]0$'
while IFS='|' read -r number section; do
	grep -q "^run_commands \"$section\"\$" "$OLDPWD/tests/check_adding.sh" ||
		say_failed "$section: tests/check_adding.sh does not run its commands"
done <"$dir/commands.list"

# What the commands do not show: rows reach the help, the errors and the library's names, and a message its viewer.
"$build/telemtop" --help | grep -q '^telemtop classes TARGET ' || say_failed "A subcommand: --help does not have it"
"$build/telemtop" --help | grep -q ' exec:COMMAND' || say_failed "A source: --help does not have it"
TELEM="sink=file:$dir/error.telem;sink=nowhere" "$build/telem-demo" --once README.md >"$dir/log" 2>&1 || :
grep -q 'sink nowhere: no such kind of address (.*dir:DIRECTORY.*)' "$dir/log" ||
	say_failed "A sink: the error that lists all schemes does not have it"
grep -q 'sink nowhere: no such kind of address' "$dir/error.telem" ||
	say_failed "A message kind: it is not in the stream"

nm -D --defined-only "$build/libtelem.so" | sed -n 's/.* \([a-z_]*\)@@.*/\1/p' | sort | diff tests/symbols.txt - ||
	say_failed "A class of the library: tests/symbols.txt does not have the library's names"

exit $failed
