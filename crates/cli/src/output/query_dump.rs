//! `--dump-queries DIR`: the solver queries that reach the SAT solver, as SMT-LIB 2 files.
//!
//! A file is named after its constraints, so the same command writes the same files, and equal queries share one. Of
//! several answers to one query the file has the decided one, and the one with the least work.

use crate::output::thread_time::thread_cpu_time;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use touchstone_base::{WideHasher, write_atomically};
use touchstone_engine::{LoggedQuery, QueryLog, Satisfiability};

const UNPOISONED: &str = "invariant: no thread panics with the lock";

/// The extension of the files.
const EXTENSION: &str = "smt2";

/// A directory that receives queries.
#[derive(Debug)]
pub struct QueryDump {
    directory: PathBuf,
    state: Mutex<DumpState>,
}

#[derive(Debug, Default)]
struct DumpState {
    /// The written queries, by the hash of their constraints.
    queries: BTreeMap<u128, WrittenQuery>,
    /// The first failure of a write.
    failure: Option<(PathBuf, io::Error)>,
}

/// A written query. Of two, the lesser is the better answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct WrittenQuery {
    answer: Satisfiability,
    work: Duration,
    /// True if the script lacks the meaning of an operation.
    unconstrained: bool,
}

/// The number of written queries by answer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DumpSummary {
    pub sat: usize,
    pub unsat: usize,
    pub unknown: usize,
    /// The queries among them with operations that SMT-LIB lacks.
    pub unconstrained: usize,
}

impl QueryDump {
    /// Creates the directory and deletes the queries of an earlier run.
    pub fn create(directory: &Path) -> Result<QueryDump> {
        let context =
            || format!("can't write queries to {}; choose another directory for --dump-queries", directory.display());
        std::fs::create_dir_all(directory).with_context(context)?;
        for entry in std::fs::read_dir(directory).with_context(context)? {
            let path = entry.with_context(context)?.path();
            if is_query(&path) {
                std::fs::remove_file(&path).with_context(context)?;
            }
        }
        Ok(QueryDump { directory: directory.to_path_buf(), state: Mutex::default() })
    }

    /// Returns the summary, or the first error of a write.
    pub fn finish(&self) -> Result<DumpSummary> {
        let mut state = self.state.lock().expect(UNPOISONED);
        if let Some((path, error)) = state.failure.take() {
            return Err(error).with_context(|| format!("can't write the query {}", path.display()));
        }
        let count = |answer| state.queries.values().filter(|query| query.answer == answer).count();
        Ok(DumpSummary {
            sat: count(Satisfiability::Sat),
            unsat: count(Satisfiability::Unsat),
            unknown: count(Satisfiability::Unknown),
            unconstrained: state.queries.values().filter(|query| query.unconstrained).count(),
        })
    }
}

/// Returns true if a file has a name that a query gets.
fn is_query(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_hash = stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && path.extension().is_some_and(|extension| extension == EXTENSION)
}

impl QueryLog for QueryDump {
    fn cpu_time(&self) -> Duration {
        thread_cpu_time()
    }

    fn record(&self, query: &LoggedQuery<'_>) {
        let mut hasher = WideHasher::default();
        hasher.write(query.script.logic.as_bytes());
        hasher.write(query.script.text.as_bytes());
        let hash = hasher.wide();
        let unconstrained = !query.script.unconstrained.is_empty();
        let new = WrittenQuery { answer: query.answer, work: query.work, unconstrained };
        // The lock is held during the write, so that the better answer stays.
        let mut state = self.state.lock().expect(UNPOISONED);
        if state.failure.is_some() || state.queries.get(&hash).is_some_and(|old| *old <= new) {
            return;
        }
        state.queries.insert(hash, new);
        let path = self.directory.join(format!("{hash:032x}.{EXTENSION}"));
        if let Err(error) = write_atomically(&path, text(query)) {
            state.failure = Some((path, error));
        }
    }
}

/// Returns the file of a query.
fn text(query: &LoggedQuery<'_>) -> String {
    let LoggedQuery { script, answer, work, cpu } = query;
    let mut notes = format!(
        "; Touchstone's answer: {}, work {:.6} s, CPU {:.6} s\n",
        answer.word(),
        work.as_secs_f64(),
        cpu.as_secs_f64()
    );
    let mut status = *answer;
    if !script.unconstrained.is_empty() {
        let operations = script.unconstrained.iter().copied().collect::<Vec<_>>().join(", ");
        notes += &format!("; SMT-LIB lacks {operations}: the results are unconstrained here\n");
        // Without constraints on these results there may be a model.
        if status == Satisfiability::Unsat {
            status = Satisfiability::Unknown;
        }
    }
    format!(
        "{notes}(set-info :smt-lib-version 2.6)\n(set-info :status {})\n(set-logic {})\n{}(check-sat)\n(exit)\n",
        status.word(),
        script.logic,
        script.text
    )
}

impl fmt::Display for DumpSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DumpSummary { sat, unsat, unknown, unconstrained } = *self;
        let all = sat + unsat + unknown;
        let noun = if all == 1 { "query" } else { "queries" };
        write!(f, "{all} hard {noun}: {sat} sat, {unsat} unsat, {unknown} unknown")?;
        match unconstrained {
            0 => Ok(()),
            _ => {
                write!(f, "; {unconstrained} with operations that SMT-LIB lacks, which are unconstrained in the files")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_engine::SmtScript;

    fn query(text: &str) -> SmtScript {
        SmtScript { logic: "QF_BV", text: text.to_string(), unconstrained: Default::default() }
    }

    fn record(dump: &QueryDump, script: &SmtScript, answer: Satisfiability, work: u64) {
        let work = Duration::from_millis(work);
        dump.record(&LoggedQuery { script, answer, work, cpu: Duration::ZERO });
    }

    #[test]
    fn equal_queries_share_a_file_with_the_best_answer() {
        let scratch = tempfile::tempdir().expect("a directory");
        let dump = QueryDump::create(scratch.path()).expect("it is writable");
        let (one, two) = (query("(assert true)\n"), query("(assert false)\n"));
        record(&dump, &one, Satisfiability::Unknown, 1);
        record(&dump, &one, Satisfiability::Sat, 30);
        record(&dump, &one, Satisfiability::Sat, 20);
        record(&dump, &one, Satisfiability::Unknown, 1);
        record(&dump, &two, Satisfiability::Unsat, 5);
        let summary = dump.finish().expect("all is written");
        assert_eq!(summary, DumpSummary { sat: 1, unsat: 1, unknown: 0, unconstrained: 0 });
        let mut files: Vec<_> = std::fs::read_dir(scratch.path())
            .expect("a folder")
            .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("text"))
            .collect();
        files.sort();
        assert_eq!(files.len(), 2);
        assert!(files[0].starts_with("; Touchstone's answer: sat, work 0.020000 s"), "{}", files[0]);
        assert!(
            files[0].contains("(set-info :status sat)\n(set-logic QF_BV)\n(assert true)\n(check-sat)"),
            "{}",
            files[0]
        );
    }

    #[test]
    fn a_proof_with_an_unconstrained_operation_is_no_status_of_the_script() {
        let scratch = tempfile::tempdir().expect("a directory");
        let dump = QueryDump::create(scratch.path()).expect("it is writable");
        let script = SmtScript { unconstrained: ["fmod"].into(), ..query("") };
        record(&dump, &script, Satisfiability::Unsat, 1);
        let summary = dump.finish().expect("all is written");
        assert_eq!(
            summary.to_string(),
            "1 hard query: 0 sat, 1 unsat, 0 unknown; 1 with operations that SMT-LIB lacks, which are unconstrained in the files"
        );
        let path =
            std::fs::read_dir(scratch.path()).expect("a folder").next().expect("a file").expect("an entry").path();
        let text = std::fs::read_to_string(path).expect("text");
        assert!(text.contains("; SMT-LIB lacks fmod") && text.contains("(set-info :status unknown)"), "{text}");
    }

    #[test]
    fn only_queries_of_an_earlier_run_are_deleted() {
        let scratch = tempfile::tempdir().expect("a directory");
        let (own, foreign) = (scratch.path().join(format!("{:032x}.smt2", 7)), scratch.path().join("mine.smt2"));
        for path in [&own, &foreign] {
            std::fs::write(path, "(check-sat)").expect("written");
        }
        QueryDump::create(scratch.path()).expect("it is writable");
        assert!(!own.exists() && foreign.exists());
    }
}
