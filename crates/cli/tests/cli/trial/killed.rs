//! Runs that are killed at any moment: the last campaign is there as a whole, and the next run works.

use crate::trial::room::{Numbers, Room, rounds};
use std::process::Stdio;
use std::time::{Duration, Instant};

const PROGRAM: &str = "
int kind(int x) { if (x > 100) return 3; if (x > 10 && x % 3) return 2; return x < 0 ? -1 : x == 7; }
int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n && i < 3; i++) if (a[i] > s) s += a[i]; return s; }
int last(unsigned char c) { switch (c) { case 'a': return 1; case 'b': case 'c': return 2; default: return c > 200; } }
";

#[test]
fn a_killed_run_loses_nothing_and_leaves_nothing_torn() {
    let room = Room::new();
    room.file("program.c", PROGRAM);
    let words = ["generate", "program.c", "-o", "out", "--html", "site", "--json", "all.json", "--len", "a=3", "-q"];
    let started = Instant::now();
    assert!(room.touchstone(&words).status.success(), "a run that is not killed");
    let whole = started.elapsed();
    let mut numbers = Numbers::new(7);
    let mut killed = 0;
    for _ in 0..rounds(10, 120) {
        let mut child = room.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        let delay = whole.as_micros() as usize * 11 / 10;
        std::thread::sleep(Duration::from_micros(numbers.below(delay) as u64));
        killed += u32::from(matches!(child.try_wait(), Ok(None)));
        let _ = child.kill();
        let _ = child.wait();
        let again = room.touchstone(&["report", "out"]);
        let said = String::from_utf8_lossy(&again.stderr).into_owned();
        assert!(again.status.success() && again.stdout.len() > 100, "the campaign is whole: {said}");
        let copy = room.read("all.json");
        assert!(serde_json::from_str::<serde_json::Value>(&copy).is_ok(), "a report is whole");
        let page = room.read("site/index.html");
        assert!(page.trim_end().ends_with("</html>"), "a page is whole");
    }
    assert!(killed >= 2, "only {killed} runs were killed");
    assert!(room.touchstone(&words).status.success(), "the next run works");
    let left = std::fs::read_dir(room.path().join("out")).expect("a directory").filter_map(Result::ok);
    let parts: Vec<_> =
        left.map(|entry| entry.file_name()).filter(|name| name.to_string_lossy().ends_with(".part")).collect();
    assert!(parts.is_empty(), "what killed runs left is gone: {parts:?}");
}
