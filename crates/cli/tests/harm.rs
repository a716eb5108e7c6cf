//! Nothing of the user's is harmed: no directory is cleared that we did not make, and no program that is measured, or build
//! that makes it, behaves differently because of us.

use std::path::Path;
use std::process::{Command, Output};

/// Runs touchstone in a folder.
fn touchstone(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_touchstone")).args(words).current_dir(folder).output().expect("touchstone runs")
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything that a command says.
fn said(run: &Output) -> String {
    text(&run.stdout) + &text(&run.stderr)
}

const PROGRAM: &str = "int main(int n, char **v) { if (n > 1) return 1; (void)v; return 0; }\n";

#[test]
fn directories_of_the_user_s_are_refused_and_stay_as_they_are() {
    let check = |files: &[(&str, &str)], words: &[&str]| {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let folder = scratch.path();
        write(folder, &[("a.c", PROGRAM)]);
        assert!(touchstone(folder, &["measure", "-o", "m", "--", "sh", "-c", "gcc a.c && ./a.out"]).status.success());
        write(folder, files);
        let run = touchstone(folder, words);
        assert_eq!(run.status.code(), Some(1), "{words:?}: {}", said(&run));
        assert!(said(&run).contains("written by"), "{words:?}: {}", said(&run));
        for (name, text) in files {
            let left = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert_eq!(left, *text, "{words:?}: {name}");
        }
    };
    let measure = ["measure", "-o", ".", "--", "sh", "-c", "gcc a.c && ./a.out"];
    let keep = ["measure", "--keep", "-o", ".", "--", "sh", "-c", "gcc a.c && ./a.out"];
    let merge = ["merge", "-o", ".", "m"];
    let generate = ["generate", "-o", ".", "--no-replay", "a.c"];
    for words in [&measure[..], &keep[..], &merge[..]] {
        check(&[("units/metre.json", "{}")], words);
        check(&[("hits/best.hits", "la la")], words);
        check(&[("units/metre.json", "{}"), ("hits/deep/song.state", "x")], words);
    }
    for words in [&measure[..], &merge[..], &generate[..]] {
        check(&[("campaign.json", "{\"votes\": 3}")], words);
        check(&[("history.jsonl", "long ago\n")], words);
    }
    check(&[("test_main.c", "int mine;\n")], &generate);
    check(&[("test_main.002.c", "int mine;\n")], &generate);
    check(&[("include/klee/klee.h", "#define KLEE_ITSELF\n")], &generate);
    check(&[("tests_main.jsonl", "mine\n")], &["generate", "-o", ".", "--no-replay", "--emit", "json", "a.c"]);
    let testcomp = ["generate", "-o", ".", "--no-replay", "--entry", "main", "--emit", "testcomp", "a.c"];
    check(&[("test-suite/metadata.xml", "<test-metadata/>\n")], &testcomp);
}

#[test]
fn what_we_wrote_is_replaced_and_what_lies_beside_it_stays() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("a.c", PROGRAM)]);
    let run = |words: &[&str]| {
        let run = touchstone(folder, words);
        assert!(run.status.success(), "{words:?}: {}", said(&run));
    };
    let count = |folder: &Path| std::fs::read_dir(folder).expect("a directory").count();
    for _ in 0..2 {
        run(&["measure", "-o", ".", "--", "sh", "-c", "gcc a.c && ./a.out"]);
        write(folder, &[("units/notes.txt", "mine")]);
        // Its marker and one hit file.
        assert_eq!(count(&folder.join("hits")), 2);
    }
    run(&["merge", "-o", "both", "."]);
    run(&["merge", "-o", "both", "."]);
    assert_eq!(count(&folder.join("both/hits")), 2);
    run(&["generate", "-o", ".", "--no-replay", "a.c"]);
    run(&["generate", "-o", ".", "--no-replay", "a.c"]);
    assert_eq!(std::fs::read_to_string(folder.join("units/notes.txt")).expect("there"), "mine");
}

#[test]
fn two_measurements_don_t_share_a_directory() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("a.c", PROGRAM)]);
    // The second one is started by the first.
    let inner = format!("gcc a.c && ./a.out && {} measure -o out -- true", env!("CARGO_BIN_EXE_touchstone"));
    let run = touchstone(folder, &["measure", "-o", "out", "--", "sh", "-c", &inner]);
    assert!(said(&run).contains("another touchstone is writing"), "{}", said(&run));
}
