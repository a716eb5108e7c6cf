//! Remarks that users need to interpret the figures of a measured suite, as data. The caller decides how to show them.

use crate::measure::measured_files::Selection;
use crate::measure::states::StateRemarks;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use touchstone_instrument::{EVENT_LIMIT_VARIABLE, MeasuredSuite, MeasuredUnit, ProbeObstacle, StateRules};

/// A remark on a measured suite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remark {
    /// A file, or a function of it, has no probes.
    NotMeasured {
        /// The file.
        file: String,
        /// The function, if it is only one.
        function: Option<String>,
        /// The reason.
        why: ProbeObstacle,
    },
    /// Objectives of a file are those of its bytecode.
    FromBytecode {
        /// The file.
        file: String,
        /// The reason.
        why: String,
    },
    /// Some files don't belong to the project.
    Outside {
        /// The number of files.
        files: usize,
        /// The root of the project.
        root: PathBuf,
    },
    /// Some files are tests that Touchstone generated.
    OwnTests {
        /// The number of files.
        files: usize,
    },
    /// Some hits concern an older version of a file.
    Outdated {
        /// The file.
        file: String,
    },
    /// A file of the measurement cannot be read.
    Damaged {
        /// The file, and the reason.
        what: String,
    },
    /// Some hits have no record.
    Unexplained {
        /// The number of their units.
        units: usize,
    },
    /// No instrumented code ran.
    NothingRan,
    /// Steps of programs could not be followed.
    StateUnfit {
        /// The number of steps.
        steps: u64,
    },
    /// Execution counts were requested, and some files have only hits.
    NotCounted {
        /// The number of files.
        files: usize,
    },
    /// No test reached a known assertion.
    NoAssertion,
    /// Some traces were full before their tests ended.
    CutOff {
        /// One of the tests.
        first: String,
        /// The number of others.
        more: usize,
    },
    /// The state of a file is not followed.
    NoState {
        /// The file.
        file: String,
        /// The reason.
        why: ProbeObstacle,
    },
    /// State is not followed from some location on.
    StateLost {
        /// The construct.
        what: String,
        /// The function.
        function: String,
        /// The file.
        file: String,
        /// The line.
        line: u32,
    },
}

/// Returns remarks on files that count and could not be measured, and on files that don't count.
pub(super) fn remarks(measured: &MeasuredSuite, selection: &Selection, state: StateRemarks) -> Vec<Remark> {
    let counts = |file: &str| selection.counts(Path::new(file));
    let mut found = Vec::new();
    for (file, why) in measured.untouched.iter().filter(|(file, _)| counts(file)) {
        found.push(Remark::NotMeasured { file: file.clone(), function: None, why: why.clone() });
    }
    let outside = |unit: &&MeasuredUnit| {
        let file = Path::new(&unit.record.file);
        // Files with which build tools try a compiler belong to no project.
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
    let from_bytecode: BTreeMap<&String, &String> = measured
        .units
        .iter()
        .filter(|unit| counts(&unit.record.file))
        .filter_map(|unit| Some((&unit.record.file, unit.record.from_bytecode.as_ref()?)))
        .collect();
    let named = |(file, why): (&String, &String)| Remark::FromBytecode { file: file.clone(), why: why.clone() };
    found.extend(from_bytecode.into_iter().map(named));
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
            Remark::FromBytecode { file, why } => write!(f, "measured from bytecode: {file}: {why}"),
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
                    "state: bound: the trace of {first}{more} reached its limit; state that no assertion checked before is \
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
