#!/bin/sh
# A Debian package of a program that is built: deb.sh PROGRAM DIRECTORY VERSION.
set -eu
program=$1 directory=$2 version=$3
architecture=$(dpkg --print-architecture)
mkdir -p "$directory"
root=$(cd "$directory" && pwd)/deb
rm -rf "$root"
make --no-print-directory -s install-files TOUCHSTONE="$program" DESTDIR="$root" PREFIX=/usr
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
strip --strip-debug "$root/usr/bin/touchstone" "$root"/usr/lib/touchstone/*.so
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
Description: judges tests of C programs, and writes the ones that are missing
 Measures what a suite covers (statements, branches, MC/DC, weak mutants, state),
 generates the missing tests by symbolic execution, and proves what no test can
 cover. Tests are plain C, compiled and replayed on the unmodified program.
END
dpkg-deb --root-owner-group --build "$root" "$directory/touchstone_${version}_$architecture.deb" >/dev/null
rm -rf "$root"
echo "$directory/touchstone_${version}_$architecture.deb"
