#!/bin/sh
# check_man.sh -- the manual pages are well formed, and telemtop.1 has every subcommand, option, setting and kind of
# target of `telemtop --help`. Then the check is checked: what is taken out of the page must be missed.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
B=${B:-build}
failed=0

# wanted HELP -- the words of the help, each behind the section of the page in which it has to stand.
wanted() {
	sed -n 's/^telemtop \([a-z][a-z]*\).*/SUBCOMMANDS \1/p' "$1"
	sed -n 's/.*(alias: \([a-z]*\)).*/SUBCOMMANDS \1/p' "$1"
	grep -E '^telemtop set ' "$1" | grep -oE '\b[a-z]+=' | sed 's/^/SUBCOMMANDS /'
	grep -oE '(^|[^a-zA-Z0-9-])--?[a-zA-Z][a-z-]*' "$1" | grep -oE -e '--?[a-zA-Z][a-z-]*$' | sed 's/^/OPTIONS /'
	sed -n '/^TARGET /,/^LEVEL /p' "$1" | grep -oE '\b[a-z]+:' | sed 's/^/TARGETS /'
}

# explained PAGE -- the words that stand at the head of a paragraph, where a page explains things, each behind its section.
explained() {
	sed -e 's/\\f.//g' -e 's/\\-/-/g' "$1" | awk '
		/^\.SH / { section = $2 }
		previous == ".TP" {
			gsub(/^\.[BRI]+ |"/, "")
			gsub(/[=:]/, "& ")
			gsub(/\[/, " ")
			count = split($0, words, /[ ,]+/)
			for (i = 1; i <= count; i++)
				print section, words[i]
		}
		{ previous = $0 }'
}

# missing HELP PAGE -- what the page has to explain and does not.
missing() {
	wanted "$1" | sort -u >"$temporary/wanted"
	explained "$2" | sort -u | comm -23 "$temporary/wanted" - | sed "s|^|$2 lacks |"
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
"$B/telemtop" --help >"$temporary/help"
missing "$temporary/help" man/telemtop.1 >"$temporary/missing"
[ ! -s "$temporary/missing" ] || { cat "$temporary/missing"; failed=1; }

for page in man/*.[0-9]; do
	if command -v groff >/dev/null; then
		groff -man -Tutf8 -ww -z "$page" >"$temporary/warnings" 2>&1 || failed=1
	elif command -v mandoc >/dev/null; then
		mandoc -T lint -W error "$page" >"$temporary/warnings" 2>&1 || failed=1
	else
		: >"$temporary/warnings"
	fi
	[ ! -s "$temporary/warnings" ] || { cat "$temporary/warnings"; failed=1; }
done

# ---- the check itself ----

# must_miss WORD EXPRESSION -- without the lines that match EXPRESSION the page lacks WORD.
must_miss() {
	grep -v -e "$2" man/telemtop.1 >"$temporary/page" || true
	missing "$temporary/help" "$temporary/page" | grep -q -e " $1\$" || { echo "a page without $1 passes"; failed=1; }
}

[ "$(wanted "$temporary/help" | sort -u | wc -l)" -ge 40 ] || { echo "the help is not understood"; failed=1; }
must_miss ps '^\.BR ps '
must_miss list '^\.BR ps '
must_miss held '^\.B held'
must_miss --keep '^\.B .*keep'
must_miss -d 'interval'
must_miss --interval 'interval'
must_miss --wait 'wait'
must_miss limit= 'limit='
must_miss listen: 'listen:'

exit $failed
