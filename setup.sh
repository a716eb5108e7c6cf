#!/bin/sh
# Installs the programs that the machine lacks. Idempotent, and silent if nothing is missing.
#
#   setup.sh         what Touchstone needs to build and run: clang (the C front end) and a C compiler
#   setup.sh test    also what the tests compare with: clang-19 with its profile runtime, llvm-cov-19, llvm-profdata-19 and gcov
#                    (coverage), Chromium (the HTML report), GoogleTest and CMake (emitted suites), a JDK (Java)
set -eu

has() { command -v "$1" >/dev/null 2>&1; }

has_clang() {
    if [ -n "${TOUCHSTONE_CLANG:-}" ] || has clang; then return 0; fi
    for version in 21 20 19 18 17 16 15 14; do
        if has "clang-$version"; then return 0; fi
    done
    return 1
}

# A package of its own, which clang-19 only recommends.
has_profile_runtime() {
    has clang-19 && [ -e "$(clang-19 --rtlib=compiler-rt -print-libgcc-file-name 2>/dev/null)" ]
}

has_chromium() { [ -n "${TOUCHSTONE_CHROMIUM:-}" ] || has chromium || has chromium-browser || has google-chrome; }

needed=""
has_clang || needed="$needed clang-19"
has cc || needed="$needed gcc libc6-dev"

judges=""
if [ "${1:-}" = test ]; then
    has clang-19 || judges="$judges clang-19"
    if ! has llvm-cov-19 || ! has llvm-profdata-19; then judges="$judges llvm-19"; fi
    has_profile_runtime || judges="$judges libclang-rt-19-dev"
    if ! has gcc || ! has gcov; then judges="$judges gcc libc6-dev"; fi
    has c++ || judges="$judges g++"
    [ -e /usr/include/gtest/gtest.h ] || judges="$judges libgtest-dev"
    has cmake || judges="$judges cmake"
    has_chromium || judges="$judges chromium"
    has javac || judges="$judges openjdk-17-jdk-headless"
fi

[ -z "$needed$judges" ] && exit 0

# Without the judges everything works, but tests that need them are skipped (with CI=true they fail).
without_judges() {
    echo "touchstone's tests also use:$judges; $1" >&2
    exit 0
}

if ! has apt-get; then
    [ -n "$needed" ] || without_judges "please install them with your package manager"
    echo "touchstone needs:$needed; please install them with your package manager" >&2
    exit 1
fi
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
install() { $sudo apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }

echo "installing$needed$judges" >&2
export DEBIAN_FRONTEND=noninteractive
if ! $sudo apt-get update -qq >/dev/null; then
    [ -n "$needed" ] || without_judges "the package lists could not be read"
    exit 1
fi
# shellcheck disable=SC2086
if [ -n "$needed" ] && ! install $needed; then
    # An older Debian has no clang-19; its default clang is new enough for the front end.
    install $(echo "$needed" | sed 's/clang-19/clang/') || {
        echo "could not install$needed" >&2
        exit 1
    }
fi
# shellcheck disable=SC2086
[ -z "$judges" ] || install $judges || without_judges "they could not be installed"
