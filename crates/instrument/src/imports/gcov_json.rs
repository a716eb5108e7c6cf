//! Reads `gcov --json-format`: lines with their branches, and from GCC 14 on their conditions.

use super::imported_coverage::{ImportedCoverage, LineCoverage};
use serde_json::Value;

pub(super) fn read(json: &Value) -> Result<ImportedCoverage, String> {
    let files = json.get("files").and_then(Value::as_array).ok_or("it has no `files`")?;
    let folder = json.get("current_working_directory").and_then(Value::as_str);
    let mut outside = ImportedCoverage::default();
    for file in files {
        let Some(name) = file.get("file").and_then(Value::as_str) else { continue };
        let seen = outside.file(name, folder);
        for line in file.get("lines").and_then(Value::as_array).into_iter().flatten() {
            let number = line.get("line_number").and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
            let Some(number) = number else { continue };
            let count = line.get("count").and_then(Value::as_u64).unwrap_or(0);
            let whole = line.get("unexecuted_block").and_then(Value::as_bool) == Some(false);
            let state = match count {
                0 => LineCoverage::Not,
                _ if whole => LineCoverage::All,
                _ => LineCoverage::Some,
            };
            // A line may occur once for each function that contains it.
            seen.lines.entry(number).and_modify(|known| *known = both(*known, state)).or_insert(state);
            let list = |key: &str| line.get(key).and_then(Value::as_array).into_iter().flatten();
            let taken = |branch: &Value| branch.get("count").and_then(Value::as_u64).is_some_and(|count| count > 0);
            seen.branches.entry(number).or_default().extend(list("branches").map(taken));
            for decision in list("conditions") {
                let outcomes = decision.get("count").and_then(Value::as_u64).unwrap_or(0);
                let conditions = usize::try_from(outcomes / 2).unwrap_or(0).min(1 << 10);
                let missing = |key: &str, index: usize| {
                    let list = decision.get(key).and_then(Value::as_array).into_iter().flatten();
                    list.into_iter().any(|missing| missing.as_u64() == Some(index as u64))
                };
                let shown = |index| (!missing("not_covered_true", index), !missing("not_covered_false", index));
                seen.add_decision(number, (0..conditions).map(shown).collect());
            }
        }
        seen.branches.retain(|_, branches| !branches.is_empty());
    }
    Ok(outside)
}

/// Merges two entries of a line.
fn both(a: LineCoverage, b: LineCoverage) -> LineCoverage {
    match (a, b) {
        (LineCoverage::All, LineCoverage::All) => LineCoverage::All,
        (LineCoverage::Not, LineCoverage::Not) => LineCoverage::Not,
        _ => LineCoverage::Some,
    }
}
