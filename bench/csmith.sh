#!/bin/sh
# Random programs of Debian's csmith in `touchstone run`, beside gcc: csmith.sh [programs] [first seed].
# Every program must print gcc's checksum or be refused by name. Installs csmith if it is missing.
set -eu

count=${1:-300}
first=${2:-1}
touchstone=${TOUCHSTONE:-target/release/touchstone}
include=/usr/include/csmith

if ! command -v csmith >/dev/null 2>&1 || [ ! -e $include/csmith.h ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get install -y -qq --no-install-recommends csmith libcsmith-dev >/dev/null
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
agreed=0 refused=0 long=0 wrong=0
seed=$first
while [ "$seed" -lt $((first + count)) ]; do
    csmith --seed "$seed" --no-float >"$scratch/program.c"
    gcc -w -O0 -I $include -o "$scratch/program" "$scratch/program.c"
    # A program that does not end soon says nothing.
    if ! timeout 5 "$scratch/program" >"$scratch/expected" 2>/dev/null; then
        long=$((long + 1))
    else
        status=0
        timeout 120 "$touchstone" run "$scratch/program.c" -I $include >"$scratch/found" 2>"$scratch/errors" || status=$?
        if [ $status = 0 ] && cmp -s "$scratch/expected" "$scratch/found"; then
            agreed=$((agreed + 1))
        elif [ $status = 124 ]; then
            long=$((long + 1))
        elif grep -q "unsupported: " "$scratch/errors"; then
            refused=$((refused + 1))
            echo "seed $seed: $(grep -m1 "unsupported: " "$scratch/errors")"
        else
            wrong=$((wrong + 1))
            echo "seed $seed: WRONG: $(head -n 1 "$scratch/errors")"
        fi
    fi
    seed=$((seed + 1))
done
echo "$count programs: $agreed agree with gcc, $refused refused by name, $long too long, $wrong wrong"
[ $wrong = 0 ]
