#!/bin/sh
# Random programs of Debian's csmith in `touchstone run`, beside gcc: csmith.sh [programs] [first seed] [seconds].
# Every program must print gcc's checksum, be refused by name, or meet the time limit. Installs csmith if it is missing.
# Ends with a table, and with status 1 if a program printed something else or ended otherwise than gcc's.
set -eu

count=${1:-300}
first=${2:-1}
limit=${3:-60}
touchstone=${TOUCHSTONE:-target/release/touchstone}
include=/usr/include/csmith

if ! command -v csmith >/dev/null 2>&1 || [ ! -e $include/csmith.h ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get install -y -qq --no-install-recommends csmith libcsmith-dev >/dev/null
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/table"
wrong=0
seed=$first
while [ "$seed" -lt $((first + count)) ]; do
    csmith --seed "$seed" >"$scratch/program.c"
    gcc -w -O0 -I $include -o "$scratch/program" "$scratch/program.c"
    # A program that does not end soon says nothing.
    if ! timeout 5 "$scratch/program" >"$scratch/expected" 2>/dev/null; then
        result="not judged: gcc's program runs over 5 s"
    else
        status=0
        timeout "$limit" "$touchstone" run "$scratch/program.c" -I $include >"$scratch/found" 2>"$scratch/errors" ||
            status=$?
        if [ $status = 0 ] && cmp -s "$scratch/expected" "$scratch/found"; then
            result="equal"
        elif [ $status = 124 ]; then
            result="time limit of $limit s"
        elif [ $status != 0 ] && grep -q "unsupported: " "$scratch/errors"; then
            result=$(sed -n 's/.*\(unsupported: .*\) at [^ ]*$/\1/p' "$scratch/errors" | head -n 1)
        elif [ $status != 0 ] && grep -q "limit" "$scratch/errors"; then
            result="a limit of run"
        else
            wrong=$((wrong + 1))
            result="WRONG"
        fi
    fi
    [ "$result" = equal ] || echo "seed $seed: $result $(head -n 1 "$scratch/errors" 2>/dev/null)"
    echo "$result" >>"$scratch/table"
    seed=$((seed + 1))
done
echo "csmith $(csmith --version | sed -n 's/^csmith //p'), seeds $first to $((first + count - 1)):"
sort "$scratch/table" | uniq -c | sort -rn
[ $wrong = 0 ]
