//! Reads LCOV tracefiles: lines (`DA`), branches (`BRDA`) and, from LCOV 2 on, conditions (`MCDC`).

use super::imported_coverage::{ImportedCoverage, LineCoverage};
use std::collections::BTreeMap;

/// The conditions of a line, by the size of their group and their index: shown when true, shown when false, number of
/// entries.
type Conditions = BTreeMap<(u32, usize), BTreeMap<usize, (bool, bool, u32)>>;

pub(super) fn read(text: &str) -> Result<ImportedCoverage, String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_string());
    }
    let mut outside = ImportedCoverage::default();
    let mut file: Option<&str> = None;
    let mut conditions = Conditions::new();
    for line in text.lines() {
        let Some((kind, rest)) = line.trim_end().split_once(':') else {
            if line.trim_end() == "end_of_record" {
                finish(&mut outside, file.take(), std::mem::take(&mut conditions));
            }
            continue;
        };
        if kind == "SF" {
            file = Some(rest);
            outside.file(rest, None);
            continue;
        }
        let Some(name) = file else { continue };
        let fields: Vec<&str> = rest.split(',').collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.trim().parse::<u32>().ok());
        let taken = |at: usize| fields.get(at).is_some_and(|field| !["-", "0"].contains(&field.trim()));
        let Some(line) = number(0) else { continue };
        let seen = outside.file(name, None);
        match kind {
            "DA" if taken(1) => drop(seen.lines.insert(line, LineCoverage::Some)),
            "DA" => drop(seen.lines.entry(line).or_insert(LineCoverage::Not)),
            "BRDA" => seen.branches.entry(line).or_default().push(taken(3)),
            "MCDC" => {
                let (Some(size), Some(index)) = (number(1), number(4)) else { continue };
                let known = conditions.entry((line, size as usize)).or_default().entry(index as usize).or_default();
                match fields.get(2).map(|field| field.trim()) {
                    Some("t") => known.0 |= taken(3),
                    _ => known.1 |= taken(3),
                }
                known.2 += 1;
            }
            _ => {}
        }
    }
    finish(&mut outside, file, conditions);
    if outside.files.is_empty() {
        return Err("it is no JSON and no tracefile: no line begins with SF:".to_string());
    }
    Ok(outside)
}

/// Converts groups of conditions to decisions, where it is unambiguous which belong to one.
fn finish(outside: &mut ImportedCoverage, file: Option<&str>, conditions: Conditions) {
    let Some(file) = file else { return };
    let seen = outside.file(file, None);
    for ((line, size), group) in conditions {
        let plain =
            group.len() == size && group.keys().copied().eq(0..size) && group.values().all(|known| known.2 == 2);
        let shown = group.values().map(|known| (known.0, known.1)).collect();
        seen.decisions_in_line.insert((line, size), plain.then_some(shown));
    }
}
