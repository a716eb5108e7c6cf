//! `tests/decisions/differs.txt`: where a judge's definition is not ours. One line each:
//!
//!     PROGRAM FUNCTION MEASURE FOUND/TOTAL REASON
//!
//! MEASURE is `mcdc` or `branches` (llvm-cov) or `gcov`. For the reason `pairs`, which depends on the suite, `-` stands
//! for the share. REASON is a heading of `docs/mcdc.md`.

use std::collections::BTreeMap;

/// One line.
pub struct Difference {
    /// `None`: less than expected, until the suite has all combinations.
    pub share: Option<String>,
    pub reason: String,
}

/// By program, function and measure.
pub type Differences = BTreeMap<(String, String, String), Difference>;

/// Reads the file.
pub fn differences(text: &str) -> Differences {
    let mut all = Differences::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [program, function, measure, share, reason] = words[..] else { panic!("{line}: five words expected") };
        assert_eq!(share == "-", reason == "pairs", "{line}: `-` goes with `pairs`");
        assert!(["mcdc", "branches", "gcov"].contains(&measure), "{line}: no such measure");
        let share = (share != "-").then(|| share.to_string());
        let key = (program.to_string(), function.to_string(), measure.to_string());
        let old = all.insert(key, Difference { share, reason: reason.to_string() });
        assert!(old.is_none(), "{line}: twice");
    }
    all
}
