//! Explanations that a person can read, however long the way is.

use crate::trial::room::Room;

/// Runs `explain` on the objective of `f` with a text.
fn explained(source: &str, objective: &str, options: &[&str]) -> String {
    let room = Room::new();
    room.file("f.c", source);
    let common = ["f.c", "-f", "f", "-c", "branch"];
    let with = |verb: &[&str]| -> String {
        let words: Vec<&str> = verb.iter().chain(&common).chain(options).copied().collect();
        String::from_utf8_lossy(&room.touchstone(&words).stdout).into_owned()
    };
    let listed = with(&["objectives"]);
    let line = listed.lines().find(|line| line.ends_with(objective)).unwrap_or_else(|| panic!("{listed}"));
    let id = line.split_whitespace().next().expect("an id");
    with(&["explain", id])
}

#[test]
fn iterations_of_a_loop_are_told_apart() {
    let source = "int f(int *a) { int s = 0; for (int i = 0; i < 3; i++) { if (a[i] > 0) s++; } if (s == 4) return 1; return 0; }";
    let said = explained(source, "s == 4 is true", &["--len", "a=3"]);
    assert!(said.contains("infeasible"), "{said}");
    assert!(said.contains("(the 1st time)") && said.contains("(the 3rd time)"), "{said}");
}

#[test]
fn a_long_way_is_cut() {
    let source = "int f(unsigned char *a) { int s = 0; for (int i = 0; i < 200; i++) { if (a[i] > 200) return 2; s++; } if (s == 7) return 1; return 0; }";
    let said = explained(source, "s == 7 is true", &["--len", "a=200", "--timeout", "20"]);
    assert!(said.contains("conditions before these"), "{said}");
    assert!(said.lines().count() < 100, "{} lines", said.lines().count());
}
