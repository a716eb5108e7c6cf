//! Recognises configure checks: sources that build tools compile only to test the compiler. They must be compiled
//! without probes.
//!
//! Common tools have known names for them. A hand-written `configure` has its own, so there the source must have been
//! written after the script began, and be compiled by the script itself.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The directories in which tools run such checks.
const FOLDERS: [&str; 5] = ["CMakeTmp", "CMakeScratch", "CompilerIdC", "CompilerIdCXX", "meson-private"];

/// Returns true if a source is a configure check.
pub(crate) fn is_configure_check(source: &str) -> bool {
    let path = std::path::absolute(source).unwrap_or_else(|_| PathBuf::from(source));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let inside = |path: &Path| path.iter().any(|part| FOLDERS.iter().any(|folder| part == *folder));
    // Some sources belong to the tool and are in its installation.
    inside(&path)
        || std::env::current_dir().is_ok_and(|folder| inside(&folder))
        || name.starts_with("conftest.")
        || is_written_by_script(&path)
}

/// Returns true if a script called `configure` has just written the source that it compiles.
fn is_written_by_script(source: &Path) -> bool {
    let written = std::fs::metadata(source).and_then(|meta| meta.modified()).ok();
    let age = written.and_then(|written| SystemTime::now().duration_since(written).ok());
    age.is_some_and(|age| age_of_script().is_some_and(|script| age < script))
}

/// Returns the running time of the script called `configure` that runs this process.
fn age_of_script() -> Option<Duration> {
    let mut id = std::os::unix::process::parent_id();
    let mut found = None;
    // A part of the script may run in its own, younger shell.
    while is_configure(&std::fs::read(format!("/proc/{id}/cmdline")).ok()?) {
        let process = process(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
        found = Some(process.started);
        id = process.parent;
    }
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime = Duration::try_from_secs_f64(uptime.split(' ').next()?.parse().ok()?).ok()?;
    uptime.checked_sub(found?)
}

/// Returns true if a command line, with words that end in zero, is a shell that runs such a script.
fn is_configure(command: &[u8]) -> bool {
    let script = command.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    script.rsplit(|byte| *byte == b'/').next() == Some(b"configure")
}

struct Process {
    parent: u32,
    /// The start time, since the boot of the machine.
    started: Duration,
}

/// Parses a line of `/proc/PID/stat`.
fn process(stat: &str) -> Option<Process> {
    // The kernel uses hundredths of a second towards programs.
    const TICK: Duration = Duration::from_millis(10);
    // The name before the fields may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let started = TICK.checked_mul(fields.get(19)?.parse().ok()?)?;
    Some(Process { parent: fields.get(1)?.parse().ok()?, started })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_known_by_the_names_that_they_give() {
        for (source, expected) in [
            ("conftest.c", true),
            ("build/CMakeFiles/CMakeScratch/TryCompile-x/src.c", true),
            ("build/meson-private/tmp1/testfile.c", true),
            ("src/conf.c", false),
            ("configure.c", false),
        ] {
            assert_eq!(is_configure_check(source), expected, "{source}");
        }
    }

    #[test]
    fn a_script_is_known_by_its_command_line() {
        assert!(is_configure(b"/bin/sh\0./configure\0--static\0"));
        assert!(is_configure(b"bash\0/src/configure\0"));
        assert!(!is_configure(b"/bin/sh\0-c\0./configure\0") && !is_configure(b"make\0configure.o\0"));
        assert!(!is_configure(b""));
    }

    #[test]
    fn the_kernel_says_whose_child_a_process_is_and_since_when() {
        let line = "12 (a) b) S 7 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 350 1 1";
        let found = process(line).expect("a line");
        assert_eq!((found.parent, found.started), (7, Duration::from_millis(3500)));
        assert!(process("nothing").is_none());
    }
}
