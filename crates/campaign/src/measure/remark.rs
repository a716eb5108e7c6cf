//! What users must know to read the figures of a measured suite, as data. Who shows it decides how.

use crate::measure::selection::Selection;
use crate::measure::states::StateRemarks;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use touchstone_instrument::{EVENT_LIMIT_VARIABLE, MeasuredSuite, MeasuredUnit, ProbeObstacle, StateRules};

/// What users must know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remark {
    /// A file, or a function of it, has no probes.
    NotMeasured {
        /// The file.
        file: String,
        /// The function, if it is only one.
        function: Option<String>,
        /// Why.
        why: ProbeObstacle,
    },
    /// Files that don't belong to the project.
    Outside {
        /// How many.
        files: usize,
        /// Where the project is.
        root: PathBuf,
    },
    /// Tests that we wrote ourselves.
    OwnTests {
        /// How many files.
        files: usize,
    },
    /// What an older version of a file covered.
    Outdated {
        /// The file.
        file: String,
    },
    /// A file of a measurement that can't be read.
    Damaged {
        /// Which, and why.
        what: String,
    },
    /// Hits that no record explains.
    Unexplained {
        /// Of so many units.
        units: usize,
    },
    /// Nothing ran.
    NothingRan,
    /// Steps of programs could not be followed.
    StateUnfit {
        /// How many.
        steps: u64,
    },
    /// Executions were to be counted, and some files have only hits.
    NotCounted {
        /// How many files.
        files: usize,
    },
    /// No test came to an assertion that is known.
    NoAssertion,
    /// Traces that were full before their tests ended.
    CutOff {
        /// One of them.
        first: String,
        /// So many beside it.
        more: usize,
    },
    /// State of a file is not followed.
    NoState {
        /// The file.
        file: String,
        /// Why.
        why: ProbeObstacle,
    },
    /// State is not followed from one place on.
    StateLost {
        /// What.
        what: String,
        /// In this function
        function: String,
        /// of this file
        file: String,
        /// on this line.
        line: u32,
    },
}

/// What could not be measured of what counts, and what of it does not count.
pub(super) fn remarks(measured: &MeasuredSuite, selection: &Selection, state: StateRemarks) -> Vec<Remark> {
    let counts = |file: &str| selection.counts(Path::new(file));
    let mut found = Vec::new();
    for (file, why) in measured.untouched.iter().filter(|(file, _)| counts(file)) {
        found.push(Remark::NotMeasured { file: file.clone(), function: None, why: why.clone() });
    }
    let outside = |unit: &&MeasuredUnit| {
        let file = Path::new(&unit.record.file);
        // What build tools bring along to try a compiler is nobody's project.
        !file.starts_with(&selection.root) && !file.starts_with("/usr") && file.is_file()
    };
    let files: BTreeSet<&str> = measured.units.iter().filter(outside).map(|unit| unit.record.file.as_str()).collect();
    if !files.is_empty() {
        found.push(Remark::Outside { files: files.len(), root: selection.root.clone() });
    }
    for unit in measured.units.iter().filter(|unit| counts(&unit.record.file)) {
        let function = |(function, why): &(String, ProbeObstacle)| Remark::NotMeasured {
            file: unit.record.file.clone(),
            function: Some(function.clone()),
            why: why.clone(),
        };
        found.extend(unit.record.untouched.iter().map(function));
    }
    found.extend(measured.outdated.iter().map(|file| Remark::Outdated { file: file.clone() }));
    found.extend(measured.damaged.iter().map(|damaged| Remark::Damaged { what: damaged.to_string() }));
    if !measured.unexplained.is_empty() {
        found.push(Remark::Unexplained { units: measured.unexplained.len() });
    }
    if measured.processes == 0 && !measured.has_traces() {
        found.push(Remark::NothingRan);
    }
    of_state(&mut found, measured, state);
    found
}

fn of_state(found: &mut Vec<Remark>, measured: &MeasuredSuite, state: StateRemarks) {
    if state.no_assertion {
        found.push(Remark::NoAssertion);
    }
    if state.unfit > 0 {
        found.push(Remark::StateUnfit { steps: state.unfit });
    }
    if let Some((first, more)) = state.cut_off.split_first() {
        found.push(Remark::CutOff { first: first.clone(), more: more.len() });
    }
    for unit in measured.units.iter().filter(|unit| !StateRules::is_framework(&unit.record.file)) {
        let file = || unit.record.file.clone();
        found.extend(unit.record.no_state.iter().map(|why| Remark::NoState { file: file(), why: why.clone() }));
        for (function, line, what) in unit.record.state.iter().flat_map(|state| &state.lost) {
            let (what, function) = (what.clone(), function.clone());
            found.push(Remark::StateLost { what, function, file: file(), line: *line });
        }
    }
}

fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::NotMeasured { file, function: None, why } => write!(f, "not measured: {file}: {why}"),
            Remark::NotMeasured { file, function: Some(function), why } => {
                write!(f, "not measured: {function} in {file}: {why}")
            }
            Remark::Outside { files, root } => write!(
                f,
                "not counted: {} outside of {}; --root DIR says where the project is",
                counted(*files, "file", "files"),
                root.display()
            ),
            Remark::OwnTests { files } => {
                write!(f, "not counted: {} that Touchstone wrote", counted(*files, "test file", "test files"))
            }
            Remark::Outdated { file } => write!(f, "not counted: what an older version of {file} covered"),
            Remark::Damaged { what } => write!(f, "warning: {what}"),
            Remark::Unexplained { units } => write!(
                f,
                "warning: hits of {units} units that were compiled for another measurement; build and run under one \
                 `touchstone measure`"
            ),
            Remark::NothingRan => f.write_str("warning: no instrumented program ran: does the command run the tests?"),
            Remark::NotCounted { files } => write!(
                f,
                "not counted: how often {} ran: probes of Java say which tests came by, not how often",
                counted(*files, "file of Java", "files of Java")
            ),
            Remark::NoAssertion => write!(f, "state: {}", ProbeObstacle::NoAssertion),
            Remark::CutOff { first, more } => {
                let more = if *more == 0 { String::new() } else { format!(" and {more} more") };
                write!(
                    f,
                    "state: bound: {first}{more} did more than a trace holds; what no assertion looked at until then is \
                     unknown ({EVENT_LIMIT_VARIABLE}=NUMBER sets the most events of a process)"
                )
            }
            Remark::StateUnfit { steps } => write!(
                f,
                "state not followed: {} that fitted nothing (classes that others changed, or a trace that is damaged)",
                counted(usize::try_from(*steps).unwrap_or(usize::MAX), "step", "steps")
            ),
            Remark::NoState { file, why } => write!(f, "state not followed: {file}: {why}"),
            Remark::StateLost { what, function, file, line } => {
                write!(f, "state not followed: {what} in {function} ({file}:{line})")
            }
        }
    }
}
