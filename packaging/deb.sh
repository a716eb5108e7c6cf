#!/bin/sh
# Builds a Debian package of a built program: deb.sh PROGRAM DIRECTORY VERSION. COMPRESSION is that of dpkg-deb (-Z).
set -eu
program=$1 directory=$2 version=$3
architecture=$(dpkg --print-architecture)
mkdir -p "$directory"
root=$(cd "$directory" && pwd)/deb
rm -rf "$root"
make --no-print-directory -s install-files TOUCHSTONE="$program" DESTDIR="$root" PREFIX=/usr
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
# Symbols are a package of their own in Debian.
rm -rf "$root/usr/lib/debug"
gzip -9n "$root"/usr/share/man/man1/*.1 "$root/usr/share/doc/touchstone/CHANGELOG.md"
cp LICENSE "$root/usr/share/doc/touchstone/copyright"
libc=$(dpkg-query -W -f '${Version}' libc6 | sed 's/-.*//')
mkdir -p "$root/DEBIAN"
cat > "$root/DEBIAN/control" <<END
Package: touchstone
Version: $version
Architecture: $architecture
Maintainer: The Touchstone authors <touchstone@example.org>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= $libc), gcc, clang-19 | clang (>= 1:14)
Section: devel
Priority: optional
Description: generate, measure and prove test coverage for C and Java
 Measures what a suite covers (statements, branches, MC/DC, weak mutants, state),
 generates the missing tests by symbolic execution, and proves which objectives
 no test can cover. Every test is compiled and replayed on the unmodified program.
END
dpkg-deb --root-owner-group -Z"${COMPRESSION:-xz}" --build "$root" "$directory/touchstone_${version}_$architecture.deb" >/dev/null
rm -rf "$root"
echo "$directory/touchstone_${version}_$architecture.deb"
