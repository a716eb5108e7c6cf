//! `tests/decisions/differs.txt`: where a judge's definition is not ours. One line each:
//!
//!     PROGRAM FUNCTION MEASURE FOUND/TOTAL REASON
//!
//! MEASURE is `mcdc` or `branches` (llvm-cov) or `gcov`. REASON is a heading of `docs/mcdc.md`.

use std::collections::BTreeMap;

/// One line.
pub struct Difference {
    pub share: String,
    pub reason: String,
}

impl Difference {
    /// Returns true if conditions cannot change independently, so that llvm-cov finds no pair.
    pub fn is_coupled(&self) -> bool {
        self.reason == "coupled"
    }
}

/// By program, function and measure.
pub type Differences = BTreeMap<(String, String, String), Difference>;

/// Reads the file.
pub fn differences(text: &str) -> Differences {
    let mut all = Differences::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [program, function, measure, share, reason] = words[..] else { panic!("{line}: five words expected") };
        assert!(["mcdc", "branches", "gcov"].contains(&measure), "{line}: no such measure");
        let key = (program.to_string(), function.to_string(), measure.to_string());
        let difference = Difference { share: share.to_string(), reason: reason.to_string() };
        assert!(measure == "mcdc" || !difference.is_coupled(), "{line}: no pairs are needed here");
        assert!(all.insert(key, difference).is_none(), "{line}: twice");
    }
    all
}
