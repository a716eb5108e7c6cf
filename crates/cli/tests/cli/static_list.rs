//! `touchstone objectives` lists what `touchstone measure` counts, under the same ids.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const CRITERIA: &str = "stmt,branch,decision,condition,dcc,mcc,mcdc,wm,idc,rte,labels,state";

/// The ids in what a command prints as JSON: those of state, and the others, of one file.
fn ids(words: &[&str], folder: &Path, file: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(words)
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    assert!(run.status.success(), "{words:?}: {}", String::from_utf8_lossy(&run.stderr));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let ours = |objective: &&serde_json::Value| objective["file"].as_str().is_some_and(|name| name.ends_with(file));
    let id = |objective: &serde_json::Value| objective["id"].as_str().expect("an id").to_string();
    let all = report["objectives"].as_array().expect("objectives").iter().filter(ours).map(id);
    all.partition(|id| id.contains(".state."))
}

#[test]
fn the_static_list_has_the_ids_of_a_measurement() {
    let text = "#include <string.h>\n\
        struct box { int size, peak; char name[8]; };\n\
        static int total, table[3];\n\
        static int fill(struct box *box, int n) {\n\
        \x20 static int calls;\n  calls++;\n  box->size = n;\n  if (n > box->peak && n < 100) box->peak = n;\n\
        \x20 total += n;\n  table[n % 3] = n;\n  strcpy(box->name, \"x\");\n  return total / (n + 1);\n}\n\
        static void reset(struct box *box, int *out) { memset(box, 0, sizeof *box); *out = 7; }\n\
        int main(void) {\n  struct box box; int out;\n  reset(&box, &out);\n  return fill(&box, 3) + out > 100;\n}\n";
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("box.c"), text).expect("writable");
    let build = "cc -o box box.c && ./box";
    let measured =
        ids(&["measure", "-c", CRITERIA, "--format", "json", "--", "sh", "-c", build], scratch.path(), "box.c");
    // A `main` is listed where it is asked for.
    let functions = ["-f", "fill", "-f", "reset", "-f", "main"];
    let words = [&["objectives", "-c", CRITERIA, "--format", "json", "box.c"][..], &functions].concat();
    let listed = ids(&words, scratch.path(), "box.c");
    // What `reset` wrote to the box, `fill` wrote over.
    let only_listed: Vec<&String> = listed.0.symmetric_difference(&measured.0).collect();
    assert!(matches!(only_listed[..], [id] if id.starts_with("reset.state.1.")), "{only_listed:?}");
    let hashless: Vec<&str> = listed.0.iter().map(|id| id.rsplit_once('.').expect("a hash").0).collect();
    let expected = [
        "fill.state.1",
        "fill.state.2",
        "fill.state.3",
        "fill.state.4",
        "fill.state.5",
        "fill.state.6",
        "reset.state.1",
        "reset.state.2",
    ];
    assert_eq!(hashless, expected);
    let extra: Vec<&String> = measured.1.difference(&listed.1).collect();
    assert!(extra.is_empty(), "measured, and not listed: {extra:?}");
    // What no probe can see is left out of a measurement: some run-time errors.
    let missing: Vec<&String> = listed.1.difference(&measured.1).filter(|id| !id.contains(".rte.")).collect();
    assert!(missing.is_empty(), "listed, and not measured: {missing:?}");
    assert!(listed.1.len() > 100, "only {} objectives", listed.1.len());
}

#[test]
fn state_can_only_be_measured_and_generate_says_so() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("a.c"), "int a; void f(void) { a = 1; }\n").expect("writable");
    let check = |words: &[&str], expected: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        let run = command.args(words).current_dir(scratch.path()).output().expect("touchstone runs");
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(!run.status.success() && said.contains(expected), "{words:?}: {said}");
    };
    check(&["generate", "-c", "branch,state", "a.c"], "can only be measured: touchstone measure -c state");
    check(&["prove", "-c", "state", "a.c"], "can only be measured: touchstone measure -c state");
    check(&["annotate", "-c", "state", "a.c"], "`state` can't be written as labels");
    check(&["explain", "f.state.1.00000000", "a.c"], "is a piece of state: the report of");
}
