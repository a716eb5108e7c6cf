//! Verdicts about Java, judged by brute force: random methods whose behaviour depends on few bits of their inputs are called
//! with all of them on the JVM, in a version of the source that records what is met. Nothing that is met there may be infeasible, every
//! test does what it claims, and interpreter, engine and JVM give the same results.
//!
//! Seeded: a failure names its class, and prints it. `TOUCHSTONE_LONG=1` tries many more, `TOUCHSTONE_SEED=N` begins elsewhere,
//! `TOUCHSTONE_COUNT=N` says how many classes.

mod marks;
mod methods;

use self::marks::{Kind, Mark, Marked};
use self::methods::Owner;
use crate::support;
use crate::verdicts::definition;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use touchstone_base::Id;
use touchstone_ir::CondId;

/// Methods of a class: a process for each would cost more than the methods do.
const METHODS: [Owner; 4] = [Owner::Class, Owner::Class, Owner::Class, Owner::Object];
/// Bodies inside of other classes and expressions.
const INSIDE: [Owner; 4] = [Owner::Inner, Owner::Anonymous, Owner::Local, Owner::Lambda];

pub fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn run(command: &mut Command) -> Output {
    command.env("LC_ALL", "C.UTF-8").output().expect("it starts")
}

pub fn javac(to: &Path, class_path: &Path, files: &[PathBuf]) {
    let mut command = crate::support::javac();
    command.args(["-nowarn", "-proc:none", "-encoding", "UTF-8", "-cp"]).arg(class_path).arg("-d").arg(to).args(files);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

pub fn write(file: PathBuf, text: &str) -> PathBuf {
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(&file, text).expect("a written file");
    file
}

/// The marks that were reached, by test or by all calls.
pub type Met = BTreeMap<String, BTreeSet<String>>;

pub fn met(output: &str) -> Met {
    let lines = output.lines().filter_map(|line| line.strip_prefix("met "));
    let each = lines.map(|line| {
        let mut fields = line.split('\t').map(str::to_string);
        (fields.next().unwrap_or_default(), fields.collect())
    });
    each.collect()
}

/// The request of an objective, in terms of `Seen`; `None` if it refers to something without a mark.
enum Asked {
    Plain(String),
    /// The condition decides in an evaluation of its decision.
    Deciding {
        decision: usize,
        own: CondId,
        value: bool,
    },
    /// The switch goes to an arm: one of its own labels, or none of all of them.
    Arm {
        selector: usize,
        own: Vec<String>,
        all: Vec<String>,
    },
}

/// The labels of an arm: `case 1, case 2 ... 3, default`.
fn labels(objective: &Value) -> Vec<String> {
    let text = objective["text"].as_str().and_then(|text| text.strip_prefix("switch: ")).unwrap_or_default();
    let mut labels = Vec::new();
    for label in text.split(", ") {
        let label = label.strip_prefix("case ").unwrap_or(label);
        match label.split_once(" ... ").map(|(low, high)| (low.parse::<i64>(), high.parse::<i64>())) {
            Some((Ok(low), Ok(high))) => labels.extend((low..=high).map(|number| number.to_string())),
            _ => labels.push(label.to_string()),
        }
    }
    labels
}

struct Class {
    name: String,
    source: Marked,
    calls: String,
}

impl Class {
    fn mark(&self, objective: &Value, is: impl Fn(&Kind) -> bool) -> Option<(usize, &Mark)> {
        let at = |key: &str| objective[key].as_u64().map(|number| number as usize);
        let (line, column) = (at("line"), at("column"));
        let mut marks = self.source.marks.iter().enumerate();
        marks.find(|(_, mark)| is(&mark.kind) && Some(mark.line) == line && Some(mark.column) == column)
    }

    /// Returns the request of a switch arm; nothing if several switches are on its line.
    fn arm(&self, objective: &Value, all: &[Value]) -> Option<Asked> {
        let is_here = |mark: &Mark| mark.kind == Kind::Selector && objective["line"].as_u64() == Some(mark.line as u64);
        let mut marks = self.source.marks.iter().enumerate().filter(|(_, mark)| is_here(mark));
        let (selector, _) = marks.next().filter(|_| marks.next().is_none())?;
        let is_sibling = |other: &&Value| other["criterion"] == "branch" && other["line"] == objective["line"];
        let all = all.iter().filter(is_sibling).flat_map(labels).collect();
        Some(Asked::Arm { selector, own: labels(objective), all })
    }

    fn asked(&self, objective: &Value, all: &[Value]) -> Option<Asked> {
        let shown = objective["text"].as_str()?;
        let value =
            !shown.ends_with(" is false") && !shown.ends_with(" is false and independently affects the outcome");
        let sign = if value { '+' } else { '-' };
        let is_condition = |kind: &Kind| matches!(kind, Kind::Condition { .. });
        match objective["criterion"].as_str()? {
            "stmt" => {
                self.mark(objective, |kind| *kind == Kind::Statement).map(|(mark, _)| Asked::Plain(format!("{mark}-")))
            }
            "branch" | "decision" if shown.ends_with(" is true") || shown.ends_with(" is false") => {
                let (mark, _) = self.mark(objective, |kind| *kind == Kind::Decision)?;
                Some(Asked::Plain(format!("{mark}{sign}")))
            }
            "branch" if shown.starts_with("switch: ") => self.arm(objective, all),
            "condition" => {
                let (mark, _) = self.mark(objective, is_condition)?;
                Some(Asked::Plain(format!("{mark}{sign}")))
            }
            "mcdc" => match self.mark(objective, is_condition)?.1.kind {
                Kind::Condition { decision, own } => Some(Asked::Deciding { decision, own, value }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if the reached marks satisfy the request.
    fn did(&self, met: &BTreeSet<String>, asked: &Asked) -> bool {
        match asked {
            Asked::Plain(word) => met.contains(word),
            Asked::Arm { selector, own, all } => {
                let prefix = format!("w{selector} ");
                let values = met.iter().filter_map(|word| word.strip_prefix(&prefix)).map(str::to_string);
                let has_default = own.iter().any(|label| label == "default");
                let mut values = values.filter(|value| value != "none");
                values.any(|value| own.contains(&value) || has_default && !all.contains(&value))
            }
            Asked::Deciding { decision, own, value } => {
                let tree = self.source.marks[*decision].tree.as_ref().expect("a decision has a tree");
                let prefix = format!("e{decision} ");
                met.iter().filter_map(|word| word.strip_prefix(&prefix)).any(|evaluation| {
                    let outcome = |word: &str| {
                        let (number, sign) = word.split_at(word.len() - 1);
                        (CondId::new(number.parse().expect("a number")), sign == "+")
                    };
                    let values: BTreeMap<CondId, bool> = evaluation.split(' ').map(outcome).collect();
                    values.get(own) == Some(value) && definition::decides(tree, *own, &values)
                })
            }
        }
    }
}

/// Classes, compiled with what records.
struct Trial {
    scratch: tempfile::TempDir,
    classes: Vec<Class>,
}

/// Counts of verdicts.
#[derive(Default, Debug)]
struct Tally {
    covered: usize,
    infeasible: usize,
    /// Neither, though some input does it.
    missed: usize,
    open: usize,
}

impl Trial {
    fn new(seeds: std::ops::Range<u64>, owners: &[Owner]) -> Trial {
        let scratch = tempfile::tempdir().expect("a directory");
        let class = |seed: u64| {
            let name = format!("V{seed}");
            let (source, calls) = methods::class(seed, &name, owners);
            Class { name, source, calls }
        };
        let trial = Trial { scratch, classes: seeds.map(class).collect() };
        let here = trial.scratch.path();
        let own = support::root().join("crates/cli/tests/cli/java_verdicts/Seen.java");
        let shim = support::root().join("crates/front-java/helper/shim");
        let api = ["Assertions", "Test", "DisplayName", "function/Executable"];
        let api = api.map(|class| shim.join(format!("org/junit/jupiter/api/{class}.java")));
        let shim = [&[shim.join("touchstone/junit/Checks.java")], &api[..]].concat();
        javac(&here.join("seen"), here, &[std::slice::from_ref(&own), &shim[..]].concat());
        let mut files = vec![own];
        for class in &trial.classes {
            write(here.join(format!("plain/{}.java", class.name)), &class.source.plain);
            files.push(write(here.join(format!("recording/{}.java", class.name)), &class.source.recording));
        }
        files.push(write(here.join("recording/All.java"), &trial.driver()));
        javac(&here.join("recorded"), &here.join("seen"), &files);
        trial
    }

    /// Calls everything with everything.
    fn driver(&self) -> String {
        let mut driver = "public class All {\n  public static void main(String[] args) {\n".to_string();
        let calls: String =
            self.classes.iter().map(|class| format!("    {0}(); Seen.done(\"{0}\");\n", class.name)).collect();
        driver.push_str(&format!("{calls}  }}\n"));
        for Class { name, calls, .. } in &self.classes {
            driver.push_str(&format!("  static {name} made{name}({name} it, int t) {{ try {{ if (t > 0) it.grow(t); if (t > 1) it.grow(-t); }} catch (RuntimeException e) {{ }} return it; }}\n"));
            driver.push_str(&format!("  static void {name}() {{\n{calls}  }}\n"));
        }
        driver + "}\n"
    }

    fn path(&self) -> String {
        let here = self.scratch.path();
        format!("{}:{}", here.join("recorded").display(), here.join("seen").display())
    }

    /// Runs all inputs on the JVM and in the interpreter.
    fn truth(&self) -> Met {
        let java = run(Command::new("java").args(["-cp", &self.path(), "All"]));
        let expected = text(&java.stdout);
        assert!(java.status.success() && expected.contains("met "), "{}", text(&java.stderr));
        let here = self.scratch.path();
        let ours = run(Command::new(env!("CARGO_BIN_EXE_touchstone")).arg("run").arg(here.join("recorded/All.class")));
        let got = text(&ours.stdout);
        for (wanted, got) in expected.lines().zip(got.lines().chain(std::iter::repeat("<nothing>"))) {
            assert_eq!(got, wanted, "the interpreter; {}", text(&ours.stderr));
        }
        met(&expected)
    }

    fn judge(&self, class: &Class, truth: &BTreeSet<String>, tally: &mut Tally) -> Vec<String> {
        let here = self.scratch.path();
        let out = here.join(format!("out/{}", class.name));
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.arg("generate").arg(here.join(format!("plain/{}.java", class.name))).arg("-o").arg(&out);
        command.args(["--format", "json", "-q", "-c", "stmt,branch,condition,mcdc"]);
        command.args(["--timeout", if support::long() { "2" } else { "1" }]);
        let output = run(&mut command);
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        let mut wrong = Vec::new();
        for test in report["tests"].as_array().expect("tests") {
            if test["replay"] != "agreed" {
                wrong.push(format!("engine and JVM: {test:#}"));
            }
        }
        let by_tests = self.tests(class, &out, &mut wrong);
        let objectives = report["objectives"].as_array().expect("objectives");
        for objective in objectives {
            let Some(asked) = class.asked(objective, objectives) else { continue };
            let (is_met, status) = (class.did(truth, &asked), objective["status"].as_str().unwrap_or_default());
            match status {
                "covered" => tally.covered += 1,
                "infeasible" => tally.infeasible += 1,
                _ if is_met => tally.missed += 1,
                _ => tally.open += 1,
            }
            if status == "infeasible" && is_met {
                wrong.push(format!("INFEASIBLE, but some input does it: {objective:#}"));
            }
            let tests = objective["tests"].as_array().expect("tests");
            if status == "covered" && tests.is_empty() {
                wrong.push(format!("covered by nothing: {objective:#}"));
            }
            for test in tests.iter().filter_map(Value::as_str) {
                let met = by_tests.iter().find(|(name, _)| *name == test || name.starts_with(&format!("{test}_")));
                if !met.is_some_and(|(_, met)| class.did(met, &asked)) {
                    wrong.push(format!("COVERED, but {test} does not do it: {objective:#}"));
                }
            }
        }
        wrong
    }

    /// Returns the marks that each test of a class and of its inner classes reaches; tests have the names of the
    /// reports.
    fn tests(&self, class: &Class, out: &Path, wrong: &mut Vec<String>) -> Met {
        let here = self.scratch.path();
        let (path, recorded) = (PathBuf::from(self.path()), here.join("recorded"));
        let mut all = Met::new();
        let files = std::fs::read_dir(out).into_iter().flatten().flatten().map(|entry| entry.path());
        for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "java")) {
            let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let tested = name.strip_suffix("TouchstoneTest").unwrap_or(&class.name).to_string();
            javac(&recorded, &path, &[file]);
            let output =
                run(Command::new("java").arg("-cp").arg(here.join("seen")).arg("Seen").arg(&recorded).arg(name));
            let said = text(&output.stdout);
            assert!(output.status.success(), "{}", text(&output.stderr));
            let failed = said.lines().filter(|line| line.starts_with("test ") && line.contains(" failed "));
            wrong.extend(failed.map(str::to_string));
            // Reports write some characters of names in another way.
            let named = |test: String| format!("{tested}_{test}").replace('$', "_");
            all.extend(met(&said).into_iter().map(|(test, met)| (named(test), met)));
        }
        all
    }
}

#[test]
fn no_input_does_what_is_infeasible_and_every_test_does_what_it_covers() {
    judged(if support::long() { &METHODS } else { &METHODS[3..] });
}

#[test]
fn nor_does_any_in_inner_local_and_anonymous_classes_and_lambda_expressions() {
    // The bodies are those of the test above.
    if support::long() {
        judged(&INSIDE);
    }
}

fn judged(owners: &[Owner]) {
    let first = number("TOUCHSTONE_SEED").unwrap_or(1);
    let count = number("TOUCHSTONE_COUNT").unwrap_or(if support::long() { 40 } else { 1 });
    let trial = Trial::new(first..first + count, owners);
    let truth = trial.truth();
    let mut tally = Tally::default();
    let mut wrong = String::new();
    for class in &trial.classes {
        for line in trial.judge(class, &truth[&class.name], &mut tally) {
            wrong.push_str(&format!("{}: {line}\n", class.name));
        }
    }
    eprintln!("{tally:?}");
    let kept = trial.scratch.keep();
    assert!(wrong.is_empty(), "{wrong}\nin {}", kept.display());
    std::fs::remove_dir_all(kept).expect("removed");
    assert!(tally.covered > 20 * count as usize, "{tally:?}");
}
