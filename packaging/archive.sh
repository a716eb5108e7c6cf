#!/bin/sh
# Packs a built program: archive.sh PROGRAM DIRECTORY NAME writes DIRECTORY/NAME.tar.gz. The archive is relocatable:
# bin/touchstone needs only lib/touchstone, and that only to measure Java programs.
set -eu
program=$1 directory=$2 name=$3
mkdir -p "$directory"
rm -rf "${directory:?}/$name"
make --no-print-directory -s install-files TOUCHSTONE="$program" DESTDIR="$(cd "$directory" && pwd)/$name" PREFIX=
rm -rf "${directory:?}/$name/lib/debug"
tar -C "$directory" --owner=0 --group=0 --numeric-owner --sort=name -czf "$directory/$name.tar.gz" "$name"
rm -rf "${directory:?}/$name"
echo "$directory/$name.tar.gz"
