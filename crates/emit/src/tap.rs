//! Parses the output of the runner, which is TAP (Test Anything Protocol) with comments of our own.

use std::collections::BTreeSet;

/// The probes that a test hit: the identities of their units, and their numbers.
pub type ProbeHits = BTreeSet<(u64, u32)>;

/// The result of one test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TapResult {
    pub(crate) name: String,
    pub(crate) ok: bool,
    /// The reason, if the test was skipped.
    pub(crate) skipped: Option<String>,
    /// The first failure.
    pub(crate) message: String,
    /// Further failures.
    pub(crate) also: Vec<String>,
    /// The end of the process: `returned`, `exit 1`, `signal 6 (Aborted)`, `time-out`; empty for a test that passed.
    pub(crate) end: String,
    /// The lines that the test wrote to standard error.
    pub(crate) stderr: Vec<String>,
    /// The probes that the test hit, if the program is instrumented.
    pub(crate) hits: Option<ProbeHits>,
}

/// Collects lines into results: the line of a test, then the comment lines that belong to it.
#[derive(Default)]
pub(crate) struct TapReader {
    current: Option<TapResult>,
    /// The reason for which the runner stopped early.
    pub(crate) bailed_out: Option<String>,
}

impl TapReader {
    /// Reads a line. Returns the preceding result if this line completes it.
    pub(crate) fn line(&mut self, line: &str) -> Option<TapResult> {
        if let Some(next) = result_line(line) {
            return self.current.replace(next);
        }
        if let Some(why) = line.strip_prefix("Bail out!") {
            self.bailed_out = Some(why.trim().to_string());
        }
        if let Some(current) = &mut self.current {
            if let Some(end) = line.strip_prefix("# end: ") {
                current.end = end.to_string();
            } else if let Some(failure) = line.strip_prefix("# also: ") {
                current.also.push(failure.to_string());
            } else if let Some(text) = line.strip_prefix("# stderr: ") {
                current.stderr.push(text.to_string());
            } else if let Some(hits) = line.strip_prefix("# hits:") {
                current.hits = Some(hits.split_whitespace().filter_map(probe_hit).collect());
            }
        }
        None
    }

    /// Returns the last result.
    pub(crate) fn finish(&mut self) -> Option<TapResult> {
        self.current.take()
    }
}

/// Parses the unit and the number of a probe: `1f:17`.
fn probe_hit(word: &str) -> Option<(u64, u32)> {
    let (unit, probe) = word.split_once(':')?;
    Some((u64::from_str_radix(unit, 16).ok()?, probe.parse().ok()?))
}

/// Parses the line of a test: `ok 3 - max3_3`, `not ok 4 - max3_4: result: expected 5, got 6`, `ok 5 - max3_5 # SKIP
/// why`.
fn result_line(line: &str) -> Option<TapResult> {
    let (ok, rest) = match line.strip_prefix("not ") {
        Some(rest) => (false, rest),
        None => (true, line),
    };
    let (number, rest) = rest.strip_prefix("ok ")?.split_once(" - ")?;
    number.parse::<u64>().ok()?;
    let mut result = TapResult { ok, ..TapResult::default() };
    if let Some((name, why)) = rest.split_once(" # SKIP ") {
        result.name = name.to_string();
        result.skipped = Some(why.to_string());
    } else {
        let (name, message) = rest.split_once(": ").unwrap_or((rest, ""));
        result.name = name.to_string();
        result.message = message.to_string();
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_results_with_what_belongs_to_them() {
        let text = "1..3\nok 1 - a\nnot ok 2 - b: x: expected 5, got 6\n# end: returned\n# also: y: expected 1, got 2\n\
                    # stderr: oops\n# hits: a:3 1f:17\nok 3 - c # SKIP no way\nBail out! too late\n";
        let mut reader = TapReader::default();
        let mut results: Vec<TapResult> = text.lines().filter_map(|line| reader.line(line)).collect();
        results.extend(reader.finish());
        assert_eq!(results.len(), 3);
        assert_eq!(results[0], TapResult { name: "a".into(), ok: true, ..TapResult::default() });
        assert_eq!(
            results[1],
            TapResult {
                name: "b".into(),
                message: "x: expected 5, got 6".into(),
                also: vec!["y: expected 1, got 2".into()],
                end: "returned".into(),
                stderr: vec!["oops".into()],
                hits: Some(BTreeSet::from([(10, 3), (31, 17)])),
                ..TapResult::default()
            }
        );
        assert_eq!(results[2].skipped.as_deref(), Some("no way"));
        assert_eq!(reader.bailed_out.as_deref(), Some("too late"));
    }
}
