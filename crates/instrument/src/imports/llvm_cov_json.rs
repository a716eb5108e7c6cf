//! Reads `llvm-cov export`: segments, branches and MC/DC records, all with columns.

use super::imported_coverage::ImportedCoverage;
use serde_json::Value;

pub(super) fn read(json: &Value) -> Result<ImportedCoverage, String> {
    let data = json.get("data").and_then(Value::as_array).ok_or("it has no `data`")?;
    let mut outside = ImportedCoverage::default();
    for file in data.iter().filter_map(|part| part.get("files")?.as_array()).flatten() {
        let Some(name) = file.get("filename").and_then(Value::as_str) else { continue };
        let list = |key: &str| file.get(key).and_then(Value::as_array).into_iter().flatten();
        let seen = outside.file(name, None);
        for segment in list("segments") {
            let (Some(line), Some(column)) = (number(segment, 0), number(segment, 1)) else { continue };
            let counted = segment.get(3).and_then(Value::as_bool).unwrap_or(false);
            let count = segment.get(2).and_then(Value::as_u64);
            seen.regions.push(((line, column), count.filter(|_| counted).map(|count| count > 0)));
        }
        seen.regions.sort_by_key(|(place, _)| *place);
        for branch in list("branches") {
            let (Some(line), Some(column)) = (number(branch, 0), number(branch, 1)) else { continue };
            let taken = |at: usize| branch.get(at).and_then(Value::as_u64).is_some_and(|count| count > 0);
            // Branches in the expansion of a macro have positions of their own.
            if number(branch, 6) != number(branch, 7) {
                continue;
            }
            let known = seen.conditions.entry((line, column)).or_default();
            *known = (known.0 || taken(4), known.1 || taken(5));
        }
        for record in list("mcdc_records") {
            let (Some(line), Some(column)) = (number(record, 0), number(record, 1)) else { continue };
            let Some(shown) = record.as_array().and_then(|parts| parts.last()?.as_array()) else { continue };
            let shown: Vec<bool> = shown.iter().map(|shown| shown.as_bool().unwrap_or(false)).collect();
            let known = seen.decisions.entry((line, column)).or_insert_with(|| vec![false; shown.len()]);
            if known.len() == shown.len() {
                known.iter_mut().zip(shown).for_each(|(known, shown)| *known |= shown);
            }
        }
    }
    Ok(outside)
}

fn number(list: &Value, at: usize) -> Option<u32> {
    list.get(at).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
}
