//! `generate`, `prove` and `explain` do not contradict each other: over the examples, and over functions whose verdicts need a
//! proof. `explain` looks for one objective only, so it may know what the others leave open.

use crate::support;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// No wall-clock limit: a bound that is hit must be hit every time.
const BOUNDS: [&str; 8] = ["--loop-bound", "3", "--max-paths", "200", "--timeout", "0", "--budget", "1"];

fn run(arguments: &[&str], files: &[PathBuf]) -> String {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(arguments).args(BOUNDS).arg("--quiet").arg("-o").arg(scratch.path().join("out")).args(files);
    let output = command.output().expect("touchstone runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?} {files:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Status and reason of every objective.
type Verdicts = BTreeMap<String, (String, String)>;

fn verdicts(verb: &str, criterion: &str, files: &[PathBuf]) -> Verdicts {
    let mut arguments = vec![verb, "-c", criterion, "--format", "json"];
    if verb == "generate" {
        arguments.push("--no-replay");
    }
    let json: serde_json::Value = serde_json::from_str(&run(&arguments, files)).expect("a JSON report");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    let all = json["objectives"].as_array().expect("objectives").iter();
    all.map(|objective| (text(&objective["id"]), (text(&objective["status"]), text(&objective["why"])))).collect()
}

/// Checks one criterion of a program; explains one objective of every function and verdict. Returns the verdicts, and
/// the number of explained ones.
fn check(criterion: &str, files: &[PathBuf]) -> (Verdicts, usize) {
    let generated = verdicts("generate", criterion, files);
    assert_eq!(generated, verdicts("prove", criterion, files), "{criterion} {files:?}");
    let mut explained = BTreeMap::new();
    for (id, (status, why)) in &generated {
        let function = id.split('.').next().unwrap_or_default();
        let kind = why.split(" at ").next().unwrap_or_default();
        explained.entry((function, status.as_str(), kind)).or_insert(id);
    }
    for ((_, status, _), id) in &explained {
        let (_, why) = &generated[*id];
        let text = run(&["explain", id, "-c", criterion], files);
        // A search for one objective alone may find more.
        let said = match *status {
            "infeasible" => vec![format!("infeasible ({why})")],
            "unknown" => ["unknown:", "covered:", "infeasible ("].map(str::to_string).to_vec(),
            status => vec![format!("{status}:")],
        };
        let says = |line: &str| said.iter().any(|said| line.starts_with(said));
        assert!(text.lines().any(says), "{id} is {status} ({why}), but\n{text}");
    }
    let count = explained.len();
    (generated, count)
}

#[test]
fn the_three_verbs_agree_on_the_examples() {
    let mut explained = 0;
    for example in support::examples() {
        let criteria: &[&str] = if support::long() { &["mcdc", "rte", "stmt", "idc"] } else { &["mcdc"] };
        for criterion in criteria {
            explained += check(criterion, &example.files).1;
        }
    }
    assert!(explained >= 20, "only {explained} objectives were explained");
}

#[test]
fn the_three_verbs_agree_where_a_proof_is_needed() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("loops.c");
    let text = "
int step(int n) {
  int i = 0, j = n;
  while (i < n) {
    if (i + j != n) return 1;
    if (i < 0) return 2;
    i++;
    j--;
  }
  return 0;
}
";
    std::fs::write(&file, text).expect("a writable scratch directory");
    let files = [file];
    let criteria: &[&str] = if support::long() { &["mcdc", "stmt", "rte", "idc"] } else { &["stmt"] };
    let found = criteria.iter().flat_map(|criterion| check(criterion, &files).0);
    let whys: Vec<String> = found.map(|(_, (_, why))| why).collect();
    assert!(whys.contains(&"static proof: induction".to_string()), "{whys:?}");
    assert!(whys.contains(&"static proof: intervals".to_string()), "{whys:?}");
}
