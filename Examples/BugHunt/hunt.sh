#!/usr/bin/env bash
# Hunts the lost update of docs/guide/lost-update.md without help: the commit, the rule that accepted it, the default
# policy's answer, and a failing test. Ends with 0 if the commit is one that the default policy refuses.
#   usage: hunt.sh PROGRAM [FOLDER]
# PROGRAM is the built lost-ticket, and strata is on the PATH. FOLDER is new, and keeps the store and the test.
set -euo pipefail

(($# == 1 || $# == 2)) || { echo "usage: hunt.sh PROGRAM [FOLDER]" >&2; exit 2; }
command -v strata >/dev/null || { echo "there is no strata on the PATH: swift build --product strata" >&2; exit 2; }
if (($# == 2)); then
    folder=$2
    mkdir "$folder"
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
store=$folder/Theater.strata
predicate="free > seats - door - office"
wrong=(Show --where "$predicate" --user anna)

# show COMMAND…: prints the command, and runs it. 1 is an answer: something differs.
show() {
    echo
    echo "> $*"
    "$@" || (($? == 1))
}

"$1" "$store"
found=$(strata bisect "$store" "${wrong[@]}" | sed -n 's/^commit \([0-9]*\) .*/\1/p' | head -n 1) || true
[[ $found ]] || { echo "no commit makes the predicate hold" >&2; exit 1; }
show strata query "$store" Show "$predicate" --user anna
show strata bisect "$store" "${wrong[@]}"
show strata explain "$store" "$found"
show strata what-if "$store" --policy "$found=if-server-record-unchanged" | tee "$folder/what-if.txt"
show strata minimize "$store" "${wrong[@]}" --at "$found" --test "$folder/LostTicket.swift"
show cat "$folder/LostTicket.swift"

echo
grep -q "^commit $found .* -> refused" "$folder/what-if.txt" || { echo "what-if did not refuse the save" >&2; exit 1; }
grep -q "savePolicy: .changedKeys" "$folder/LostTicket.swift" || { echo "the test lacks the save" >&2; exit 1; }
echo "commit $found overwrote another sale: found"
