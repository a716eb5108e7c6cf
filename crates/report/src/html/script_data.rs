//! Data that the script loads on demand: truth tables by file, and the search index. Compact JSON inside a call.

use super::Site;
use crate::document::name::Name;
use crate::document::{ConditionVerdict, Decision, Document, PairKind, ReportedRow, SideStatus};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The number of truth tables in one script.
const TABLES_PER_SCRIPT: usize = 256;
/// The maximum number of rows of a table, and of tests of a row.
const MAX_ROWS: usize = 256;
const MAX_TESTS_OF_ROW: usize = 12;

/// Returns the decisions of a file in the order of the source.
pub(super) fn decisions_of<'d>(document: &'d Document, file: &str) -> Vec<&'d Decision> {
    let mut list: Vec<&Decision> =
        document.decisions.iter().filter(|decision| decision.at.file.as_deref() == Some(file)).collect();
    list.sort_by_key(|decision| (decision.at.line, decision.at.column));
    list
}

/// Returns the scripts with the truth tables.
pub(super) fn parts(decisions: &[&Decision]) -> Vec<String> {
    let part = |(number, part): (usize, &[&Decision])| {
        let tables: Vec<Value> = part.iter().map(|decision| table(decision)).collect();
        format!("touchstone.tables({number},{});\n", script(&Value::from(tables)))
    };
    decisions.chunks(TABLES_PER_SCRIPT).enumerate().map(part).collect()
}

/// Returns JSON that is also valid JavaScript.
fn script(value: &Value) -> String {
    value.to_string().replace("</", "<\\/").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn table(decision: &Decision) -> Value {
    let side = |side: &ConditionVerdict| match side.status {
        SideStatus::Shown => json!(["shown"]),
        SideStatus::Infeasible => json!(["infeasible", side.why]),
        SideStatus::Unknown => json!(["unknown", side.why]),
        SideStatus::NotShown => json!(["not shown"]),
    };
    let conditions: Vec<Value> = decision
        .conditions
        .iter()
        .map(|condition| json!([condition.text, side(&condition.r#true), side(&condition.r#false)]))
        .collect();
    let row = |row: &ReportedRow| {
        let letters: String = row.values.iter().map(|value| letter(*value)).collect();
        let tests: Vec<&Name> = row.tests.iter().take(MAX_TESTS_OF_ROW).collect();
        json!([letters, row.result, row.shows, tests, row.tests.len()])
    };
    let rows: Vec<Value> = decision.rows.iter().take(MAX_ROWS).map(row).collect();
    let needed: Vec<Value> = decision.needed.iter().take(MAX_ROWS).map(row).collect();
    let pairs: Vec<Value> = decision
        .pairs
        .iter()
        .map(|pair| json!([pair.condition, pair.kind == PairKind::UniqueCause, pair.rows[0], pair.rows[1]]))
        .collect();
    json!({
        "text": decision.text,
        "function": match &decision.variant {
            Some(variant) => format!("{} [{variant}]", decision.function),
            None => decision.function.clone(),
        },
        "line": decision.at.line,
        "conditions": conditions,
        "rows": rows,
        "needed": needed,
        "more": decision.rows.len().saturating_sub(MAX_ROWS),
        "pairs": pairs,
    })
}

fn letter(value: Option<bool>) -> char {
    match value {
        Some(true) => 'T',
        Some(false) => 'F',
        None => '-',
    }
}

/// Returns the search index: files, functions and objectives by name.
pub(super) fn search(site: &Site<'_>) -> String {
    let files: Vec<Value> = site.slugs.iter().map(|(path, slug)| json!([path, slug])).collect();
    let number = |file: &str| site.slugs.keys().position(|path| *path == file);
    let mut functions = Vec::new();
    let mut seen = BTreeSet::new();
    for function in &site.document.functions {
        if let (Some(file), true) = (number(&function.file), seen.insert((&function.file, &function.name))) {
            functions.push(json!([function.name, file, function.line]));
        }
    }
    let mut objectives = Vec::new();
    for (file, list) in &site.objectives {
        let Some(file) = number(file) else { continue };
        for objective in list {
            let text = format!("{} {}", objective.criterion, objective.text);
            let state = super::marks::MarkStatus::of([objective]).map_or("", |state| state.class());
            objectives.push(json!([text, file, objective.at.line, state, objective.id]));
        }
    }
    let index = json!({ "files": files, "functions": functions, "objectives": objectives });
    format!("touchstone.index({});\n", script(&index))
}
