//! SARIF 2.1.0: uncovered objectives as results that code review tools show at their lines. Each criterion is a rule;
//! the fingerprint is an objective's file and id, so that a finding is recognised after edits elsewhere. Excluded
//! objectives are suppressed results with their reason. Infeasible and covered ones are no results.

use crate::analysis::figures::across_variants;
use crate::document::suggestions::{MissingAssertion, TextInsertion};
use crate::document::{Document, Objective, ReportedRange, Verdict};
use serde_json::{Value, json};
use touchstone_criteria::REGISTRY;

/// Returns the uncovered objectives of the document as SARIF.
pub fn sarif(document: &Document) -> String {
    let objectives = across_variants(document);
    let open = |objective: &&&Objective| {
        matches!(objective.status, Verdict::Unknown | Verdict::Uncovered) && objective.not_measured().is_none()
    };
    let found: Vec<&Objective> = objectives.iter().filter(open).copied().collect();
    let mut criteria: Vec<&str> = objectives.iter().map(|objective| objective.criterion.as_str()).collect();
    criteria.sort_unstable();
    criteria.dedup();
    let rules: Vec<Value> = criteria.iter().map(|criterion| rule(criterion)).collect();
    let result = |objective: &&Objective| {
        let index = criteria.iter().position(|criterion| *criterion == objective.criterion).unwrap_or(0);
        let mut result = result(objective, index);
        let file = objective.at.file.as_deref().unwrap_or_default();
        let fits = |assertion: &&MissingAssertion| assertion.has(file, &objective.id);
        let fixes: Vec<Value> = document.suggestions.assertions.iter().filter(fits).map(fix).collect();
        if !fixes.is_empty() {
            result["fixes"] = json!(fixes);
        }
        result
    };
    let results: Vec<Value> = found.iter().map(result).collect();
    let sarif = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "touchstone", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let text = serde_json::to_string_pretty(&sarif);
    text.expect("invariant: every key is a string") + "\n"
}

fn rule(criterion: &str) -> Value {
    let about = REGISTRY.iter().find(|known| known.name() == criterion).map_or("the criterion", |known| known.about());
    json!({
        "id": criterion,
        "shortDescription": { "text": format!("Not covered: {criterion}") },
        "fullDescription": { "text": format!("An objective of {criterion} that no test covers ({about}).") },
        "defaultConfiguration": { "level": "warning" },
    })
}

fn result(objective: &Objective, index: usize) -> Value {
    let what = match (&objective.why, objective.status) {
        (Some(why), Verdict::Unknown) => format!("unknown whether a test can cover it ({why})"),
        (None, Verdict::Unknown) => "unknown whether a test can cover it".to_string(),
        _ => "no test covers it".to_string(),
    };
    let file = objective.at.file.as_deref().unwrap_or_default();
    let variant = objective.variant.as_deref().map_or(String::new(), |variant| format!(" [{variant}]"));
    let mut result = json!({
        "ruleId": objective.criterion,
        "ruleIndex": index,
        "level": if objective.status == Verdict::Unknown { "note" } else { "warning" },
        "message": { "text": format!("{}: {}; in {}{variant}", objective.text, what, objective.function) },
        "locations": location(&objective.at, &objective.function).into_iter().collect::<Vec<_>>(),
        "partialFingerprints": { "touchstoneObjective/v2": format!("{file}:{}", objective.id) },
    });
    if let Some(reason) = &objective.excluded {
        result["suppressions"] = json!([{ "kind": "inSource", "justification": reason }]);
    }
    result
}

/// Returns a suggested assertion as a fix of the test's file.
fn fix(assertion: &MissingAssertion) -> Value {
    let replacement = |insertion: &TextInsertion| {
        let (line, column) = (insertion.line, insertion.column);
        let region = json!({ "startLine": line, "startColumn": column, "endLine": line, "endColumn": column });
        json!({ "deletedRegion": region, "insertedContent": { "text": insertion.text } })
    };
    let replacements: Vec<Value> = assertion.insertions.iter().map(replacement).collect();
    json!({
        "description": { "text": format!("Add {} to {}", assertion.statement, assertion.test) },
        "artifactChanges": [{ "artifactLocation": { "uri": uri(&assertion.file) }, "replacements": replacements }],
    })
}

fn location(at: &ReportedRange, function: &str) -> Option<Value> {
    let (file, line) = at.start()?;
    let mut region = json!({ "startLine": line });
    if let Some(column) = at.column {
        region["startColumn"] = json!(column);
        if let (Some(end_line), Some(end)) = (at.end_line, at.end_column)
            && (end_line, end) > (line, column)
        {
            region["endLine"] = json!(end_line);
            region["endColumn"] = json!(end);
        }
    }
    Some(json!({
        "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": region },
        "logicalLocations": [{ "name": function, "kind": "function" }],
    }))
}

/// Returns a path as a URI reference.
fn uri(path: &str) -> String {
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
