//! The same for what objects and arrays hold: random methods of a class with fields, and random methods that take and return arrays, edited at random. Methods
//! that make the objects from numbers, call one of these, and fold all that it leaves into a number are run on all inputs of a small domain.

use super::version_pairs::{self, Version, labellings, said};
use crate::support::long;
use crate::support::rng::Rng;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;
use touchstone_campaign::{CollectedTests, Effort, OldVersion, Plan, ReplayMode, Request, run_into};
use touchstone_criteria::Criterion;
use touchstone_report::document::Behaviour;

const METHODS: usize = 2;

/// Pairs of words that replace each other; about half of the replacements have no observable effect.
const WORDS: [(&str, &str); 9] = [
    (" < ", " <= "),
    (" + ", " - "),
    (" = ", " = 1 + "),
    (" = ", " = 0 + "),
    ("if (", "if (1 < 2 && "),
    ("if (", "if (1 > 2 || "),
    (" == ", " != "),
    ("; ", ";\n        // the same\n        "),
    ("new int[2]", "new int[3]"),
];

/// A number, of those that a method has.
fn number(rng: &mut Rng, places: &[&str], depth: usize) -> String {
    match rng.below(if depth > 1 { 2 } else { 4 }) {
        0 => rng.below(3).to_string(),
        1 => (*rng.pick(places)).to_string(),
        2 => format!("({} + {})", number(rng, places, depth + 1), number(rng, places, depth + 1)),
        _ => format!("({} * {})", number(rng, places, depth + 1), number(rng, places, depth + 1)),
    }
}

fn block(rng: &mut Rng, places: &[&str], depth: usize, others: &[&str]) -> String {
    let mut text = String::new();
    for _ in 0..1 + rng.below(3) {
        let _ = match rng.below(if depth > 1 { 2 } else { 5 }) {
            0 | 1 => write!(text, "{} = {}; ", rng.pick(places), number(rng, places, 0)),
            2 => write!(text, "{} ", rng.pick(others)),
            _ => {
                let op = *rng.pick(&["<", "==", "!="]);
                let (one, two) = (number(rng, places, 1), number(rng, places, 1));
                let inner = block(rng, places, depth + 1, others);
                write!(text, "if ({one} {op} {two}) {{ {inner}}} ")
            }
        };
    }
    text
}

fn class(rng: &mut Rng) -> String {
    let mut text = "public class Q {\n    int size;\n    int[] cells = new int[2];\n    Q() { }\n".to_string();
    for at in 0..METHODS {
        let places = ["a", "size", "cells[0]", "cells[1]"];
        let others = ["cells = new int[2];", "cells = null;", "if (size == 2) throw new IllegalStateException();"];
        let body = block(rng, &places, 0, &others);
        let _ = writeln!(text, "    int m{at}(int a) {{ {body}return a; }}");
        let places = ["a", "v[0]", "w[0]"];
        let others = ["w = v;", "v = new int[2];", "if (v == w) return w;", "if (v.length == 1) return null;"];
        let body = block(rng, &places, 0, &others);
        let _ = writeln!(text, "    static int[] s{at}(int[] v, int[] w, int a) {{ {body}return v; }}");
        let _ = writeln!(
            text,
            "    static int allM{at}(int a, int b, int c, int d) {{ Q q = new Q(); q.size = b; int[] k = q.cells; \
             if (d == 2) q.cells = null; if (d == 1) q.cells = new int[1]; if (d == 0) q.cells[1] = c; \
             if (q.cells != null) q.cells[0] = c; k = q.cells; int r = 0; \
             try {{ r = q.m{at}(a); }} catch (NullPointerException e) {{ r = 701; }} \
             catch (IllegalStateException e) {{ r = 703; }} catch (ArrayIndexOutOfBoundsException e) {{ r = 709; }} \
             return hash(hash(hash(r, q.size), of(q.cells)), q.cells == k ? 1 : 0) ; }}"
        );
        let _ = writeln!(
            text,
            "    static int allS{at}(int a, int b, int c, int d) {{ int[] v = new int[b & 1]; int[] w = d == 0 ? v : d == 1 ? \
             null : new int[2]; if (v.length > 0) v[0] = c; if (d == 2) w[0] = c + 1; int[] k = null; int r = 0; \
             try {{ k = s{at}(v, w, a); }} catch (NullPointerException e) {{ r = 701; }} \
             catch (ArrayIndexOutOfBoundsException e) {{ r = 709; }} \
             return hash(hash(hash(r, of(k)), hash(of(v), of(w))), (k == v ? 1 : 0) + (k == w ? 2 : 0)); }}"
        );
    }
    text + "    static int hash(int a, int b) { return a * 1000003 + b * 31 + 7; }\n    static int of(int[] a) { if (a == null) return 5; \
            int h = a.length; for (int i = 0; i < a.length; i++) h = hash(h, a[i]); return h; }\n}\n"
}

/// Another version, of which only what is judged may differ.
fn edited(text: &str, rng: &mut Rng, folder: &Path) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let mut changed = false;
    for _ in 0..3 {
        let judged = |line: &&mut String| line.contains("int m") || line.contains("int[] s");
        let mut own: Vec<&mut String> = lines.iter_mut().filter(judged).collect();
        let at = rng.below(own.len());
        let begin = own[at].find('{').unwrap_or(0);
        let place = begin + rng.below(own[at].len() - begin);
        let (from, to) = *rng.pick(&WORDS);
        let new = format!("{}{}", &own[at][..place], own[at][place..].replacen(from, to, 1));
        let before = std::mem::replace(own[at], new.clone());
        std::fs::write(folder.join("Q.java"), lines.join("\n")).expect("written");
        let mut javac = crate::support::javac();
        javac.args(["-nowarn", "-proc:none", "-d"]).arg(folder.join("classes")).arg(folder.join("Q.java"));
        match new != before && javac.output().expect("javac").status.success() {
            true => changed = true,
            false => lines.iter_mut().filter(|line| **line == new).for_each(|line| line.clone_from(&before)),
        }
    }
    changed.then(|| lines.join("\n") + "\n")
}

/// Pairs by verdict, and the pairs that some input distinguishes although the verdict does not.
#[derive(Default, Debug)]
struct Figures {
    equivalent: usize,
    differs: usize,
    unknown: usize,
    missed: usize,
}

fn judge(seed: u64, figures: &mut Figures, wrong: &mut Vec<String>) {
    let mut rng = Rng::new(seed ^ 0x0b1ec7);
    let scratch = tempfile::tempdir().expect("a directory");
    let folder = |name: &str| scratch.path().join(name);
    for name in ["old", "new", "try"] {
        std::fs::create_dir_all(folder(name)).expect("a directory");
    }
    let old_text = class(&mut rng);
    let Some(new_text) = edited(&old_text, &mut rng, &folder("try")) else { return };
    let plan = |name: &str, text: &str, old: Option<OldVersion>| {
        let file = folder(name).join("Q.java");
        std::fs::write(&file, text).expect("written");
        let mut request = Request::new([file], folder(&format!("out-{name}")));
        request.criteria = vec!["branch".parse::<Criterion>().expect("known")];
        request.effort =
            Effort { budget: Some(Duration::from_millis(if long() { 700 } else { 150 })), ..request.effort };
        request.replay = ReplayMode::Off;
        request.old = old;
        Plan::new(&request).expect("a plan")
    };
    let before = plan("old", &old_text, None);
    let now =
        plan("new", &new_text, Some(OldVersion { name: "before".into(), root: folder("old"), of: folder("new") }));
    let finished = run_into(&now, &CollectedTests::default(), &()).expect("a run");
    let criteria = labellings(&now.request.criteria);
    let values = |name: &str| Some(if name == "d" { (0..=2).collect() } else { (-1..=2).collect() });
    for at in 0..METHODS {
        for (name, all) in [(format!("Q#m{at}"), format!("Q.allM{at}")), (format!("Q.s{at}"), format!("Q.allS{at}"))] {
            let change = finished.extras.change.as_ref().expect("it was asked for");
            if change.unaffected.contains(&name) {
                continue;
            }
            let (_, behaviour) = said(&finished, &name);
            let [old, new] =
                [&before, &now].map(|plan| Version::new(&plan.program.module, &all, &[&all], &values, &criteria));
            let differs = version_pairs::judge(&old, &new).expect("the same inputs").differs;
            match (behaviour, differs) {
                (Behaviour::Equivalent, Some(input)) => wrong
                    .push(format!("seed {seed}, {name}: not equivalent: {input}\nold:\n{old_text}\nnew:\n{new_text}")),
                (Behaviour::Equivalent, None) => figures.equivalent += 1,
                (Behaviour::Differs, _) => figures.differs += 1,
                (Behaviour::Unknown, differs) => {
                    figures.unknown += 1;
                    figures.missed += usize::from(differs.is_some());
                }
            }
        }
    }
}

#[test]
fn what_is_said_of_objects_and_arrays_holds_for_random_java_methods() {
    // By default, `java_pairs.rs` judges changes of Java.
    if !long() && std::env::var_os("TOUCHSTONE_SEED").is_none() {
        return;
    }
    let seeds = match std::env::var("TOUCHSTONE_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..60,
    };
    let (mut figures, mut wrong) = (Figures::default(), Vec::new());
    for seed in seeds {
        judge(seed, &mut figures, &mut wrong);
    }
    println!("{figures:?}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(3).cloned().collect::<Vec<_>>().join("\n"));
    let one = std::env::var_os("TOUCHSTONE_SEED").is_some();
    assert!(one || figures.equivalent > 0 && figures.differs > 0, "{figures:?}");
}
