#!/bin/sh
# An archive of a program that is built: archive.sh PROGRAM DIRECTORY NAME writes DIRECTORY/NAME.tar.gz. What is in it can be
# moved to any place: bin/touchstone needs nothing of the rest but, for Java programs that are measured, lib/touchstone.
set -eu
program=$1 directory=$2 name=$3
mkdir -p "$directory"
rm -rf "${directory:?}/$name"
make --no-print-directory -s install-files TOUCHSTONE="$program" DESTDIR="$(cd "$directory" && pwd)/$name" PREFIX=
tar -C "$directory" --owner=0 --group=0 --numeric-owner --sort=name -czf "$directory/$name.tar.gz" "$name"
rm -rf "${directory:?}/$name"
echo "$directory/$name.tar.gz"
