//! LCOV tracefiles, according to geninfo(1) of LCOV 2; LCOV 1 skips the MC/DC records.
//!
//! LCOV distinguishes the groups of conditions on one line only by their size, so all decisions that begin on a line
//! form one group here.

use super::lines::{by_file, ratio};
use crate::document::Document;
use std::fmt::Write;

/// Returns the document as an LCOV tracefile.
pub fn lcov(document: &Document) -> String {
    let mut out = String::new();
    for (path, file) in by_file(document) {
        let _ = writeln!(out, "TN:touchstone\nSF:{}", one_line(path));
        for (line, name) in file.functions.keys() {
            let _ = writeln!(out, "FN:{line},{}", one_line(name));
        }
        for ((_, name), hits) in &file.functions {
            let _ = writeln!(out, "FNDA:{hits},{}", one_line(name));
        }
        let functions = ratio(file.functions.values().map(|hits| *hits > 0));
        let _ = writeln!(out, "FNF:{}\nFNH:{}", functions.found, functions.hit);
        for (line, groups) in &file.branches {
            for (block, group) in groups.iter().enumerate() {
                let evaluated = group.iter().any(|hits| *hits > 0);
                for (branch, hits) in group.iter().enumerate() {
                    let taken = if evaluated { hits.to_string() } else { "-".to_string() };
                    let _ = writeln!(out, "BRDA:{line},{block},{branch},{taken}");
                }
            }
        }
        let branches = file.branch_ratio();
        if branches.found > 0 {
            let _ = writeln!(out, "BRF:{}\nBRH:{}", branches.found, branches.hit);
        }
        for (line, group) in &file.conditions {
            for (index, (text, shown)) in group.iter().enumerate() {
                for (sense, shown) in ["f", "t"].into_iter().zip(shown) {
                    let (size, taken) = (group.len(), u8::from(*shown));
                    let _ = writeln!(out, "MCDC:{line},{size},{sense},{taken},{index},{}", one_line(text));
                }
            }
        }
        let conditions = ratio(file.conditions.values().flatten().flat_map(|(_, shown)| *shown));
        if conditions.found > 0 {
            let _ = writeln!(out, "MCF:{}\nMCH:{}", conditions.found, conditions.hit);
        }
        for (line, hits) in &file.lines {
            let _ = writeln!(out, "DA:{line},{hits}");
        }
        let lines = file.line_ratio();
        let _ = writeln!(out, "LF:{}\nLH:{}\nend_of_record", lines.found, lines.hit);
    }
    out
}

/// Replaces line breaks, since a record is one line.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
