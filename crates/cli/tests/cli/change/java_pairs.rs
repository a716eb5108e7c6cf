//! The same for Java: random static methods with exceptions, a static field and helpers, edited at random, judged by all inputs of a small domain.

use super::version_pairs::{Figures, Version, labellings, said};
use crate::support::long;
use crate::support::rng::Rng;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;
use touchstone_campaign::{CollectedTests, Effort, OldVersion, Plan, ReplayMode, Request, run_into};
use touchstone_criteria::Criterion;

const METHODS: usize = 5;
const NAMES: [&str; 3] = ["a", "b", "c"];
const MAX_DEPTH: usize = 3;

/// Pairs of words that replace each other.
const WORDS: [(&str, &str); 11] = [
    (" < ", " <= "),
    (" > ", " >= "),
    (" == ", " != "),
    (" + ", " - "),
    (" && ", " || "),
    (" = ", " = 1 + "),
    ("return ", "return 1 + "),
    ("if (", "if (1 < 2 && "),
    (" / ", " % "),
    ("catch (ArithmeticException", "catch (RuntimeException"),
    ("; ", ";\n        // the same\n        "),
];

fn expression(rng: &mut Rng, depth: usize) -> String {
    match rng.below(if depth >= 2 { 3 } else { 7 }) {
        0 => rng.below(5).to_string(),
        1 => "field".to_string(),
        2 => (*rng.pick(&["a", "b", "c", "x", "y"])).to_string(),
        3 => format!("({} / {})", expression(rng, depth + 1), expression(rng, depth + 1)),
        4 => format!("helper({})", expression(rng, depth + 1)),
        5 => format!("table[{} & 3]", expression(rng, depth + 1)),
        _ => {
            let op = *rng.pick(&["+", "-", "*"]);
            format!("({} {op} {})", expression(rng, depth + 1), expression(rng, depth + 1))
        }
    }
}

fn condition(rng: &mut Rng) -> String {
    let one = |rng: &mut Rng| {
        let op = *rng.pick(&["<", ">", "==", "!="]);
        format!("{} {op} {}", expression(rng, 1), expression(rng, 1))
    };
    match rng.below(3) {
        0 => format!("{} && {}", one(rng), one(rng)),
        1 => format!("{} || {}", one(rng), one(rng)),
        _ => one(rng),
    }
}

fn block(rng: &mut Rng, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + rng.below(3) {
        let target = *rng.pick(&["x", "y", "field", "a"]);
        let _ = match rng.below(if depth >= MAX_DEPTH { 2 } else { 8 }) {
            0 | 1 => write!(text, "{target} = {}; ", expression(rng, 0)),
            2 => write!(text, "if ({}) {{ {}}} ", condition(rng), block(rng, depth + 1)),
            3 => write!(
                text,
                "if ({}) {{ {}}} else {{ {}}} ",
                condition(rng),
                block(rng, depth + 1),
                block(rng, depth + 1)
            ),
            4 => write!(
                text,
                "for (int i{depth} = 0; i{depth} < {}; i{depth}++) {{ {}}} ",
                rng.below(3),
                block(rng, depth + 1)
            ),
            5 => write!(
                text,
                "try {{ {}}} catch (ArithmeticException e{depth}) {{ {}}} ",
                block(rng, depth + 1),
                block(rng, depth + 1)
            ),
            6 => write!(text, "if ({}) throw new IllegalStateException(); ", condition(rng)),
            _ => write!(text, "if ({}) return {}; ", condition(rng), expression(rng, 0)),
        };
    }
    text
}

fn class(rng: &mut Rng) -> String {
    let mut text =
        "public class P {\n    static int field;\n    static final int[] table = {3, 0, -1, 2};\n".to_string();
    let _ = writeln!(
        text,
        "    static int helper(int n) {{ if (n > {}) return n + 1; return {}; }}",
        rng.below(4),
        rng.below(3)
    );
    for number in 0..METHODS {
        let body = block(rng, 0);
        let _ = writeln!(
            text,
            "    static int m{number}(int a, int b, int c) {{ int x = 0; int y = 1; {body}return x + y + field; }}"
        );
    }
    text + "}\n"
}

fn edited(text: &str, rng: &mut Rng, folder: &Path) -> Option<String> {
    let mut text = text.to_string();
    let mut changed = false;
    for _ in 0..4 {
        let begin = text.find("static int helper").unwrap_or(0);
        let at = begin + rng.below(text.len() - begin);
        let (before, after) = text.split_at(at);
        let new = if rng.chance(30) {
            let Some(digit) = after.find(|char: char| char.is_ascii_digit()) else { continue };
            format!("{before}{}{}{}", &after[..digit], rng.below(5), &after[digit + 1..])
        } else {
            let (from, to) = *rng.pick(&WORDS);
            format!("{before}{}", after.replacen(from, to, 1))
        };
        std::fs::write(folder.join("P.java"), &new).expect("written");
        let mut javac = crate::support::javac();
        javac.args(["-nowarn", "-proc:none", "-d"]).arg(folder.join("classes")).arg(folder.join("P.java"));
        if new != text && javac.output().expect("javac").status.success() {
            text = new;
            changed = true;
        }
    }
    changed.then_some(text)
}

fn judge(seed: u64, figures: &mut Figures, wrong: &mut Vec<String>) {
    let mut rng = Rng::new(seed ^ 0x1a7a);
    let scratch = tempfile::tempdir().expect("a directory");
    let folder = |name: &str| scratch.path().join(name);
    for name in ["old", "new", "try"] {
        std::fs::create_dir_all(folder(name)).expect("a directory");
    }
    let old_text = class(&mut rng);
    let new_text = edited(&old_text, &mut rng, &folder("try")).unwrap_or_else(|| panic!("no edit of\n{old_text}"));
    let write = |name: &str, text: &str| {
        let file = folder(name).join("P.java");
        std::fs::write(&file, text).expect("written");
        file
    };
    let plan = |name: &str, text: &str, old: Option<OldVersion>| {
        let mut request = Request::new([write(name, text)], folder(&format!("out-{name}")));
        request.criteria = ["stmt", "branch", "mcdc"].map(|name| name.parse::<Criterion>().expect("known")).to_vec();
        request.effort =
            Effort { budget: Some(Duration::from_millis(if long() { 2000 } else { 150 })), ..request.effort };
        request.replay = ReplayMode::Off;
        request.old = old;
        Plan::new(&request).expect("a plan")
    };
    let before = plan("old", &old_text, None);
    let now =
        plan("new", &new_text, Some(OldVersion { name: "before".into(), root: folder("old"), of: folder("new") }));
    let finished = run_into(&now, &CollectedTests::default(), &()).expect("a run");
    let criteria = labellings(&now.request.criteria);
    let values = |name: &str| match NAMES.contains(&name) || name.contains("field") {
        true => Some((-1..=2).collect()),
        false => None,
    };
    for number in 0..METHODS {
        let name = format!("P.m{number}");
        let [old, new] =
            [&before, &now].map(|plan| Version::new(&plan.program.module, &name, &[&name], &values, &criteria));
        let (statuses, behaviour) = said(&finished, &name);
        let complaints = figures.compare((&old, &new), &statuses, behaviour);
        let told = |what: String| format!("seed {seed}, {name}: {what}\nold:\n{old_text}\nnew:\n{new_text}");
        wrong.extend(complaints.into_iter().map(told));
    }
}

#[test]
fn what_is_said_of_a_change_holds_for_all_inputs_of_random_java_methods() {
    let seeds = match std::env::var("TOUCHSTONE_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..if long() { 60 } else { 1 },
    };
    let (mut figures, mut wrong) = (Figures::default(), Vec::new());
    for seed in seeds {
        judge(seed, &mut figures, &mut wrong);
    }
    println!("{figures:?}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(3).cloned().collect::<Vec<_>>().join("\n"));
    let one = std::env::var_os("TOUCHSTONE_SEED").is_some();
    assert!(one || figures.unaffected > 0 && figures.moved > 0 && figures.differs > 0, "{figures:?}");
}
