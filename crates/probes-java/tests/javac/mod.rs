//! Compares committed class files with the output of `javac`. Other JDKs may write other bytes, so only JDK 17 counts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles classes and compares them with the files beside their sources. Classes are paths from the source directory, without an extension.
pub fn check(stubs: &Path, sources: &Path, classes: &[&str]) {
    let Some(javac) = javac_17() else { return };
    let out = std::env::temp_dir().join(format!("touchstone-javac-{}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a directory");
    // The lowest release that JDK 17 supports. `-g:none` leaves out names of files and line numbers.
    let flags = ["--release", "7", "-g:none", "-proc:none", "-implicit:none", "-Xlint:-options", "-encoding", "UTF-8"];
    let output = Command::new(javac)
        .args(flags)
        .arg("-sourcepath")
        .arg(stubs)
        .arg("-d")
        .arg(&out)
        .args(classes.iter().map(|class| sources.join(format!("{class}.java"))))
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .expect("javac runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for class in classes {
        let committed = sources.join(format!("{class}.class"));
        let compiled = std::fs::read(out.join(format!("{class}.class"))).expect("javac wrote it");
        if std::env::var_os("TOUCHSTONE_BLESS").is_some() {
            std::fs::write(&committed, &compiled).expect("it is written");
        }
        let same = std::fs::read(&committed).is_ok_and(|committed| committed == compiled);
        assert!(same, "{} is not what javac makes of its source; TOUCHSTONE_BLESS=1 rewrites it", committed.display());
    }
    std::fs::remove_dir_all(&out).expect("it is removed");
}

/// Finds `javac` of JDK 17 on the path or under `/usr/lib/jvm`. In CI it must exist.
fn javac_17() -> Option<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let mut candidates: Vec<PathBuf> = homes.map(|home| home.path().join("bin/javac")).collect();
    candidates.sort();
    candidates.insert(0, PathBuf::from("javac"));
    let is_17 = |javac: &PathBuf| {
        let output = Command::new(javac).arg("-version").env_remove("JAVA_TOOL_OPTIONS").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with("javac 17."))
    };
    let found = candidates.into_iter().find(is_17);
    let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false" && value != "0");
    assert!(found.is_some() || !ci, "no javac of JDK 17: run setup.sh");
    if found.is_none() {
        eprintln!("skipped: JDK 17 is not installed (setup.sh installs it)");
    }
    found
}
