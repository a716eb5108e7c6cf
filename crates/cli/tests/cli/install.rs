//! The files that `make install`, `make dist` and `make deb` install, with the program under test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_touchstone");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.current_dir(root()).output().expect("it starts");
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8_lossy(&stdout).into_owned()
}

fn make(target: &str, below: &Path, prefix: &str) {
    run(Command::new("make")
        .args(["-s", target, &format!("TOUCHSTONE={PROGRAM}"), &format!("PREFIX={prefix}")])
        .arg(format!("DESTDIR={}", below.display())));
}

/// All files below a directory, as paths from it.
fn files(below: &Path) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![below.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(below).expect("inside").display().to_string()),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_installed_works_and_goes_away_again() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    make("install-files", scratch.path(), "/opt/tools");
    let there = files(scratch.path());
    for wanted in [
        "opt/tools/bin/touchstone",
        "opt/tools/lib/touchstone/libtouchstone_agent_java.so",
        "opt/tools/share/man/man1/touchstone.1",
        "opt/tools/share/man/man1/touchstone-generate.1",
        "opt/tools/share/bash-completion/completions/touchstone",
        "opt/tools/share/zsh/site-functions/_touchstone",
        "opt/tools/share/fish/vendor_completions.d/touchstone.fish",
        "opt/tools/share/doc/touchstone/README.md",
    ] {
        assert!(there.iter().any(|file| file == wanted), "{wanted} is not there: {there:#?}");
    }
    let installed = scratch.path().join("opt/tools/bin/touchstone");
    let version = run(Command::new(&installed).arg("--version"));
    assert!(version.starts_with("touchstone 0."), "{version}");
    let source = scratch.path().join("sign.c");
    std::fs::write(&source, "int sign(int x) { return x < 0 ? -1 : 1; }\n").expect("writable");
    let shown = run(Command::new(&installed).arg("generate").arg(&source).arg("-o").arg(scratch.path().join("out")));
    assert!(shown.contains("2/2") && shown.contains("2 agreed"), "{shown}");
    std::fs::remove_file(source).expect("there");
    std::fs::remove_dir_all(scratch.path().join("out")).expect("there");
    make("uninstall", scratch.path(), "/opt/tools");
    assert_eq!(files(scratch.path()), Vec::<String>::new());
}

#[test]
fn the_archive_and_the_package_have_the_program_with_its_pages() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let made = run(Command::new("packaging/archive.sh").arg(PROGRAM).arg(scratch.path()).arg("touchstone-test"));
    let list = run(Command::new("tar").arg("-tzf").arg(made.trim()));
    for wanted in [
        "touchstone-test/bin/touchstone",
        "touchstone-test/lib/touchstone/libtouchstone_agent_java.so",
        "touchstone-test/share/man/man1/touchstone-measure.1",
    ] {
        assert!(list.lines().any(|line| line == wanted), "{wanted} is not in it: {list}");
    }
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        return;
    }
    let made =
        run(Command::new("packaging/deb.sh").env("COMPRESSION", "none").arg(PROGRAM).arg(scratch.path()).arg("1.2.3"));
    let list = run(Command::new("dpkg-deb").arg("-c").arg(made.trim()));
    for wanted in
        ["./usr/bin/touchstone", "./usr/share/man/man1/touchstone.1.gz", "./usr/share/doc/touchstone/copyright"]
    {
        assert!(list.lines().any(|line| line.ends_with(wanted)), "{wanted} is not in it: {list}");
    }
    let control = run(Command::new("dpkg-deb").arg("-f").arg(made.trim()));
    assert!(control.contains("Version: 1.2.3") && control.contains("clang"), "{control}");
}
