#!/bin/sh
# Installs what the build and the tests need and the machine lacks: a clang (the C front end) and a C compiler.
# Idempotent, and silent when there is nothing to do.
set -eu

has_clang() {
    if [ -n "${TOUCHSTONE_CLANG:-}" ] || command -v clang >/dev/null 2>&1; then return 0; fi
    for version in 21 20 19 18 17 16 15 14; do
        if command -v "clang-$version" >/dev/null 2>&1; then return 0; fi
    done
    return 1
}

missing=""
has_clang || missing="$missing clang-19"
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "touchstone needs:$missing; please install them with your package manager" >&2
    exit 1
fi
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
echo "installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq >/dev/null
# shellcheck disable=SC2086
if ! $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1; then
    # An older Debian has no clang-19; its default clang is new enough.
    $sudo apt-get install -y -qq --no-install-recommends $(echo "$missing" | sed 's/clang-19/clang/') >/dev/null
fi
