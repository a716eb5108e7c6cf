//! JUnit XML of the tests: a suite for each function. A test passes if its replay agreed, fails if it disagreed, and is
//! skipped if it can't be checked or was not run. A test of a measured suite was executed; its result is left to its
//! own runner.

use super::xml::escape;
use crate::document::{Document, MEASURED, Replay, Test};
use std::fmt::Write;

/// Returns the tests of the document as JUnit XML. Times are 0, so that the same document gives the same bytes.
pub fn junit(document: &Document) -> String {
    let mut suites: Vec<(&str, Vec<&Test>)> = Vec::new();
    for test in &document.tests {
        match suites.iter_mut().find(|(name, _)| *name == test.function) {
            Some((_, tests)) => tests.push(test),
            None => suites.push((&test.function, vec![test])),
        }
    }
    let counts = |tests: &[&Test]| {
        let judged = tests.iter().filter(|test| test.outcome != MEASURED);
        let of = |wanted: &[Replay]| judged.clone().filter(|test| wanted.contains(&test.replay)).count();
        let (failed, skipped) = (of(&[Replay::Disagreed]), of(&[Replay::NotCheckable, Replay::NotRun]));
        format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\" time=\"0\"", tests.len())
    };
    let all: Vec<&Test> = document.tests.iter().collect();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"touchstone\" {}>", counts(&all));
    for (function, tests) in suites {
        let name = if function.is_empty() { "touchstone" } else { function };
        let _ = writeln!(out, "  <testsuite name=\"{}\" {}>", escape(name), counts(&tests));
        for test in tests {
            case(&mut out, name, test);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(out: &mut String, suite: &str, test: &Test) {
    let _ = write!(out, "    <testcase name=\"{}\" classname=\"{}\" time=\"0\"", escape(&test.id), escape(suite));
    let why = escape(test.replay_why.as_deref().unwrap_or(""));
    if test.outcome == MEASURED {
        let (all, alone) = (test.covers.len(), test.covers_alone.len());
        let _ = writeln!(
            out,
            ">\n      <system-out>covers {all} objectives, {alone} of them alone</system-out>\n    </testcase>"
        );
        return;
    }
    let _ = match test.replay {
        Replay::Agreed => writeln!(out, "/>"),
        Replay::Disagreed => {
            let inputs = escape(&serde_json::Value::Object(test.inputs.members()).to_string());
            writeln!(
                out,
                ">\n      <failure type=\"disagreed\" message=\"{why}\">inputs: {inputs}</failure>\n    </testcase>"
            )
        }
        Replay::NotCheckable => writeln!(out, ">\n      <skipped message=\"not checkable: {why}\"/>\n    </testcase>"),
        Replay::NotRun => writeln!(out, ">\n      <skipped message=\"not replayed\"/>\n    </testcase>"),
    };
}
