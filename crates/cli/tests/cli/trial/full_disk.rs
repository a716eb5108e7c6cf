//! A failed write is reported, and leaves existing files unchanged.

use crate::trial::room::{Room, no_bug};
use std::fs::OpenOptions;
use std::process::Stdio;

const SIGN: &str = "int sign(int x) { if (x > 0) return 1; return x < 0 ? -1 : 0; }\nint main(void) { return sign(1) - 1 + (puts(\"one\") < -9); }\n";

/// Runs a verb with a full standard output, which must be an error that says so.
fn check_full(room: &Room, words: &[&str]) {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("a device that is always full");
    let output = room.command(words).stdout(Stdio::from(full)).stderr(Stdio::piped()).output().expect("it runs");
    no_bug(words, &output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
    assert!(said.contains("can't write to standard output"), "{words:?}: {said}");
}

#[test]
fn a_full_standard_output_is_an_error_of_every_verb() {
    let room = Room::new();
    room.file("sign.c", format!("#include <stdio.h>\n{SIGN}"));
    for verb in ["generate", "prove", "objectives", "annotate"] {
        check_full(&room, &[verb, "sign.c", "-f", "sign", "-c", "branch"]);
    }
    assert!(room.read("touchstone-out/campaign.json").contains("\"sign\""), "the campaign is stored all the same");
    let listed = room.touchstone(&["objectives", "sign.c", "-f", "sign", "-c", "branch"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let objective = listed.split_whitespace().next().expect("an objective");
    check_full(&room, &["explain", objective, "sign.c"]);
    check_full(&room, &["run", "sign.c"]);
    check_full(&room, &["report", "--json", "again.json"]);
    assert!(room.read("again.json").contains("\"sign\""), "files are written all the same");
    check_full(&room, &["completions", "bash"]);
    check_full(&room, &["man"]);
    check_full(&room, &["--help"]);
    check_full(&room, &["--version"]);
    check_full(&room, &["measure", "-o", "m", "-q", "--", "sh", "-c", "cc -o sign sign.c && ./sign >/dev/null"]);
    check_full(&room, &["merge", "m", "-q", "-o", "both"]);
    check_full(&room, &["bench", "labels", "--quick"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let room = Room::new();
    room.file("sign.c", format!("#include <stdio.h>\n{SIGN}"));
    for words in [["run", "sign.c"], ["objectives", "sign.c"], ["generate", "sign.c"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = room.command(&words).stdout(writer).stderr(Stdio::piped()).output().expect("it runs");
        no_bug(&words, &output);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let room = Room::new();
    room.file("sign.c", format!("#include <stdio.h>\n{SIGN}"));
    let made = room.touchstone(&["generate", "sign.c", "-f", "sign", "-q", "--json", "all.json"]);
    assert!(made.status.success());
    let (campaign, copy) = (room.read("touchstone-out/campaign.json"), room.read("all.json"));
    let history = room.read("touchstone-out/history.jsonl");
    for first in ["trap '' XFSZ;", ""] {
        // No file may get longer than two kilobytes: a write fails, or the run is killed.
        let script = format!("{first} ulimit -f 4; exec \"$0\" \"$@\"");
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(room.path()).arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_touchstone"));
        let words = ["generate", "sign.c", "-f", "sign", "-q", "--no-replay", "--json", "all.json"];
        let output = shell.args(words).output().expect("it runs");
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{said}");
        assert!(first.is_empty() || said.contains("error"), "{said}");
        assert_eq!(room.read("touchstone-out/campaign.json"), campaign);
        assert_eq!(room.read("touchstone-out/history.jsonl"), history);
        assert_eq!(room.read("all.json"), copy);
        assert!(room.touchstone(&["report"]).status.success());
    }
    assert!(room.touchstone(&["generate", "sign.c", "-f", "sign", "-q"]).status.success(), "the next run works");
}
