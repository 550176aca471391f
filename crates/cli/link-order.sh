#!/bin/sh
# Writes link-order.ld anew: the functions that our own cases call, in front those that most of them call.
# Needs valgrind and a release build with symbols: CARGO_PROFILE_RELEASE_STRIP=none cargo build --release
set -eu
cd "$(dirname "$0")/../.."
program=$PWD/target/release/ytterby
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call FOLDER ARGUMENT...: notes the number of this run with each function that it calls, by a name without the hashes that
# change from build to build.
run=0
call() {
    run=$((run + 1))
    cp -r "$1" "$work/$run"
    shift
    (cd "$work/$run" && eval "valgrind --tool=callgrind --demangle=no --callgrind-out-file=$work/profile \"$program\" $*") \
        >"$work/out" 2>&1 </dev/null || true
    sed -n -e "s/'[0-9]*\$//" -e 's/17h[0-9a-f]\{16\}E/17h*E/' -e 's/Cs[0-9A-Za-z]*_/Cs*_/g' \
        -e 's/^c\{0,1\}fn=([0-9]*) \(main$\|_ZN\|_R\)/\1/p' "$work/profile" | sort -u | sed "s/^/$run /" >>"$work/calls"
}

call examples/hello -f . --output-files out
for area in text-template template data-values schema overlay library files yaml-io stdlib validations design-documents; do
    for cmd in tests/cases/$area/*/cmd; do
        arguments=$(sed -n 's/^ytterby //p;q' "$cmd")
        [ -z "$arguments" ] || [ ! -d "${cmd%cmd}in" ] || call "${cmd%cmd}in" "$arguments"
    done
done

# First what more than half of the runs call, then the rest in the order of the runs.
awk -v runs="$run" '
    !($2 in count) { first[$2] = $1; name[++n] = $2 }
    { count[$2]++ }
    END { for (i = 1; i <= n; i++) { f = name[i]; print (count[f] * 2 > runs ? 0 : first[f]), f } }
' "$work/calls" | sort -s -k1,1n | {
    echo "/* Written by link-order.sh; docs/decisions/link-order.md tells what for. */"
    echo "SECTIONS {"
    echo "  .text.first : {"
    sed 's/^[0-9]* \(.*\)$/    *(.text*.\1)/'
    echo "  }"
    echo "}"
    echo "INSERT BEFORE .text;"
} >crates/cli/link-order.ld
