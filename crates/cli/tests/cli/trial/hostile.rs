//! Hostile input: mutated programs and mutated results, odd names, other encodings. The answer is a result or a reason,
//! never a crash.

use crate::trial::room::{Numbers, Room, rounds};

const PROGRAM: &str = "
struct point { int x, y; char name[4]; struct point *next; };
static const int table[] = { 1, 2, 3, 5, 8 };
enum color { red, green = 3, blue };
int far(struct point *p, unsigned n) {
    int found = 0;
    while (p && n--) {
        if (p->x > table[n % 5] || (p->y < 0 && p->name[0] == 'a')) found++;
        switch (p->x) { case red: found += 2; break; case blue: return -1; default: break; }
        p = p->next;
    }
    return found ? found : (int)sizeof(struct point);
}
double half(float f, long l) { return l ? f / 2.0 + (l >> 1) : -f; }
";

#[test]
fn mutated_programs_are_read_or_refused() {
    let mut read = 0;
    let room = Room::new();
    for seed in 0..rounds(16, 400) {
        room.file("mutant.c", Numbers::new(seed).mutated(PROGRAM.as_bytes()));
        let limits = ["--timeout", "1", "--solver-timeout", "0.2", "--no-replay", "-q", "-o", "out"];
        let words: Vec<&str> = ["generate", "mutant.c"].into_iter().chain(limits).collect();
        let output = room.touchstone(&words);
        read += u32::from(output.status.success());
        assert!(output.status.success() || !output.stderr.is_empty(), "seed {seed}: a refusal has a reason");
    }
    assert!(read > 0, "some mutants are C");
}

#[test]
fn mutated_results_are_rendered_or_refused() {
    let room = Room::new();
    room.file("program.c", PROGRAM);
    let made = room.touchstone(&["generate", "program.c", "-f", "half", "-o", "out", "-q"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let whole = room.read("out/campaign.json").into_bytes();
    let history = room.read("out/history.jsonl").into_bytes();
    for seed in 0..rounds(40, 800) {
        let mut numbers = Numbers::new(seed);
        match seed % 4 {
            0 => room.file("out/history.jsonl", numbers.mutated(&history)),
            _ => room.file("out/campaign.json", numbers.mutated(&whole)),
        };
        let output = room.touchstone(&["report", "out", "--html", "site", "--lcov", "lcov.info", "--sarif", "s.json"]);
        assert!(output.status.success() || !output.stderr.is_empty(), "seed {seed}: a refusal has a reason");
    }
}

#[test]
fn names_of_files_may_be_odd() {
    let room = Room::new();
    for name in ["a'b.c", "a b.c", "a*b.c", "x;y.c", "$HOME.c", "%s.c", "<b>.c", "ünï.c", "back\\slash.c", "tab\t.c"]
    {
        room.file(name, "int f(int x) { return x > 3 ? 1 : 0; }\n");
        let words = ["generate", name, "-o", "out", "-q", "--no-replay", "--html", "site", "--json", "all.json"];
        let output = room.touchstone(&words);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let all: serde_json::Value = serde_json::from_str(&room.read("all.json")).expect("JSON");
        assert_eq!(all["functions"][0]["file"].as_str(), Some(name));
    }
}

#[test]
fn a_name_that_is_no_text_is_refused_with_the_reason() {
    use std::os::unix::ffi::OsStrExt;
    let room = Room::new();
    let name = std::ffi::OsStr::from_bytes(b"lat\xe9.c");
    std::fs::write(room.path().join(name), "int f(int x) { return x; }\n").expect("writable");
    let output = room.command(&["generate", "-q"]).arg(name).output().expect("it runs");
    crate::trial::room::no_bug(&["generate"], &output);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not UTF-8"));
}

#[test]
fn sources_may_have_a_byte_order_mark_or_latin_1_in_them() {
    let room = Room::new();
    room.file("bom.c", b"\xef\xbb\xbfint f(int x) { if (x > 3) return 1; return 0; }\n");
    room.file(
        "latin.c",
        b"/* caf\xe9 */ int f(int x) { const char *s = \"\xe9\"; return x > 3 && s[0] == (char)0xe9; }\n",
    );
    for name in ["bom.c", "latin.c"] {
        let output = room.touchstone(&["generate", name, "-o", "out", "-q", "--html", "site"]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let annotated = room.touchstone(&["annotate", "bom.c", "-c", "branch", "-q"]);
    let text = String::from_utf8_lossy(&annotated.stdout).into_owned();
    assert!(annotated.status.success() && !text.contains('\u{feff}'), "a mark in the middle does not compile");
    let refused = room.touchstone(&["annotate", "latin.c", "-c", "branch"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("UTF-8"));
}
