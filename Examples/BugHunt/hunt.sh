#!/usr/bin/env bash
# Finds the error of the stocktaking: the commit, the rule that let it through, what the default policy would have done,
# and a failing test. Ends with 0 if the commit is the one in which the program planted it.
#   usage: hunt.sh PROGRAM [FOLDER]
# PROGRAM is the built warehouse, and strata is on the PATH. FOLDER is new, and keeps the store and the test.
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
store=$folder/Warehouse.strata
predicate="stock < opening + north + south"
wrong=(Article --where "$predicate" --user anna)

# show COMMAND…: prints the command, and runs it. 1 is an answer: something differs.
show() {
    echo
    echo "> $*"
    "$@" || (($? == 1))
}

planted=$("$1" "$store" | sed -n 's/^planted in commit //p')
found=$(strata bisect "$store" "${wrong[@]}" | sed -n 's/^commit \([0-9]*\) .*/\1/p' | head -n 1)
show strata query "$store" Article "$predicate" --user anna
show strata bisect "$store" "${wrong[@]}"
show strata explain "$store" "$found"
# The refusal that the program overrode comes after it.
show strata explain "$store" $((found + 1))
show strata what-if "$store" --policy "$found=if-server-record-unchanged" | tee "$folder/what-if.txt"
show strata minimize "$store" "${wrong[@]}" --at "$found" --test "$folder/WrongStock.swift"
show cat "$folder/WrongStock.swift"

echo
grep -q "^commit $found .* -> refused" "$folder/what-if.txt" || { echo "what-if did not refuse the save" >&2; exit 1; }
grep -q "savePolicy: .changedKeys" "$folder/WrongStock.swift" || { echo "the test lacks the save" >&2; exit 1; }
[[ $found == "$planted" ]] || { echo "bisect found commit $found, not $planted" >&2; exit 1; }
echo "commit $found has the stock from before another count: found"
