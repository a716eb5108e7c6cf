//! The same command gives the same verdicts, tests and order, also on a busy machine, although limits end its searches.

use crate::support;
use serde_json::Value;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Removes times, which are measured.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !matches!(name.as_str(), "seconds" | "replay_seconds" | "solver"));
            fields.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

fn report(file: &str, options: &[&str], jobs: &str) -> Value {
    let scratch = tempfile::tempdir().expect("a directory");
    let output = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["generate", "-c", "mcdc,wm", "--budget", "0.05", "--timeout", "0", "--no-replay", "--cache", "off"])
        .args(["--format", "json", "-j", jobs, "-o", "out"])
        .args(options)
        .arg(support::root().join(file))
        .current_dir(scratch.path())
        .output()
        .expect("touchstone runs");
    let mut report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{file}: {}", String::from_utf8_lossy(&output.stderr)));
    without_times(&mut report);
    report
}

#[test]
fn a_budget_ends_searches_at_the_same_place_on_a_busy_machine() {
    let java: &[&str] = &["-f", "RingQueue.poll"];
    let cases = [("examples/glob.c", &[][..]), ("examples/java/RingQueue.java", java)];
    for (file, options) in cases.into_iter().take(if support::long() { 2 } else { 1 }) {
        let alone = report(file, options, "1");
        assert!(alone.to_string().contains("bound: --budget"), "{file}: no search is cut off: {alone:#}");
        let stop = AtomicBool::new(false);
        let busy = std::thread::scope(|scope| {
            for _ in 0..if support::long() { 3 } else { 1 } {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop()
                    }
                });
            }
            let busy = report(file, options, "2");
            stop.store(true, Ordering::Relaxed);
            busy
        });
        assert!(alone == busy, "{file}: {alone:#}\n{busy:#}");
    }
}
