#!/bin/sh
# check_cycles.sh -- the emitter's folders need each other in one direction only: no object of core/
# needs a symbol of record/ or deliver/, and none of record/ one of deliver/. Read with nm off the
# objects of libtelem. Prints the size of the largest cycle of objects inside each folder. Then the
# check is checked: a cycle and a need that goes upwards must be found.
set -u
build=${B:-build}/guest/emitter

# Lines "OBJECT U|D SYMBOL" in; offences and sizes out. Exit status 1 if there is an offence.
check() {
	python3 -c '
import sys

ORDER = ["core", "record", "deliver"]
defined, needed = {}, {}
for line in sys.stdin:
    name, kind, symbol = line.split()
    needed.setdefault(name, set())
    if kind == "U":
        needed[name].add(symbol)
    else:
        defined[symbol] = name

graph = {a: {defined[s] for s in needed[a] if s in defined} - {a} for a in needed}
folder = lambda name: name.split("/")[0]
offences = sorted((a, b) for a in graph for b in graph[a] if ORDER.index(folder(a)) < ORDER.index(folder(b)))
for a, b in offences:
    print(f"{a} needs a symbol of {b}")


def reach(start, graph):
    seen, todo = set(), [start]
    while todo:
        for b in graph[todo.pop()]:
            if b not in seen:
                seen.add(b)
                todo.append(b)
    return seen


for f in ORDER:
    inside = {a: {b for b in graph[a] if folder(b) == f} for a in graph if folder(a) == f}
    reached = {a: reach(a, inside) for a in inside}
    cycle = max(([b for b in reached[a] if a in reached[b]] for a in sorted(inside)), key=len, default=[])
    print(f"{f}: {len(inside)} objects, the largest cycle has {len(cycle)}", *sorted(cycle))
sys.exit(1 if offences else 0)
'
}

# The symbols of the objects as lines for check().
symbols() {
	for source in emitter/core/*.c emitter/record/*.c emitter/deliver/*.c; do
		object=${source#emitter/}
		object=${object%.c}
		nm "$build/$object.o" | awk -v object="$object" '
			$1 == "U" || $1 == "w" { print object, "U", $2; next }
			$2 ~ /^[A-Z]$/ && $2 != "U" { print object, "D", $3 }'
	done
}

[ -d "$build/core" ] || { echo "no objects in $build"; exit 1; }
failed=0
symbols | check || failed=1

# must_find WORDS LINE...
must_find() {
	words=$1
	shift
	printf '%s\n' "$@" | check | grep -q "$words" || { echo "not found: $words"; failed=1; }
}
must_find 'core/a needs a symbol of record/b' 'core/a U f' 'record/b D f'
must_find 'record/b needs a symbol of deliver/c' 'record/b U f' 'deliver/c D f'
must_find 'record: 2 objects, the largest cycle has 2' 'record/a U f' 'record/a D g' 'record/b U g' 'record/b D f'
must_find 'deliver: 1 objects, the largest cycle has 0' 'record/a D f' 'deliver/b U f'
exit $failed
