#!/bin/sh
# Random programs of Debian's csmith in `touchstone run`, beside gcc: csmith.sh [programs] [first seed] [seconds].
# Every program must print gcc's checksum, be refused by name, or meet the time limit. A program that does not end within
# 5 seconds when gcc compiled it is passed over. Installs csmith if it is missing. Ends with a table, and with status 1 if
# a program printed something else or ended otherwise than gcc's.
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
wrong=0 judged=0 passed_over=0
seed=$((first - 1))
while [ "$judged" -lt "$count" ]; do
    seed=$((seed + 1))
    # It leaves a description of the platform where it runs.
    (cd "$scratch" && csmith --seed "$seed" >program.c)
    gcc -w -O0 -I $include -o "$scratch/program" "$scratch/program.c"
    if ! timeout 5 "$scratch/program" >"$scratch/expected" 2>/dev/null; then
        passed_over=$((passed_over + 1))
        continue
    fi
    judged=$((judged + 1))
    status=0
    timeout "$limit" "$touchstone" run "$scratch/program.c" -I $include >"$scratch/found" 2>"$scratch/errors" ||
        status=$?
    if [ $status = 0 ] && cmp -s "$scratch/expected" "$scratch/found"; then
        result="equal"
    elif [ $status = 124 ]; then
        result="time limit of $limit s"
    elif [ $status != 0 ] && grep -q "unsupported: " "$scratch/errors"; then
        result=$(sed -n 's/.*\(unsupported: .*\) at [^ ]*$/\1/p' "$scratch/errors" | head -n 1)
    elif [ $status != 0 ] && grep -q "a limit of the interpreter" "$scratch/errors"; then
        result="a limit of the interpreter"
    else
        wrong=$((wrong + 1))
        result="WRONG"
    fi
    [ "$result" = equal ] || echo "seed $seed: $result: $(head -n 1 "$scratch/errors")"
    echo "$result" >>"$scratch/table"
done
version=$(csmith --version | sed -n 's/^csmith //p')
echo "csmith $version, seeds $first to $seed, $passed_over of them passed over:"
sort "$scratch/table" | uniq -c | sort -rn
[ $wrong = 0 ]
