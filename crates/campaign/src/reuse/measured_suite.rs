//! What a measured suite covers already: a campaign can begin from it.
//!
//! It settles its objectives before the search, its rows count for pairs, and the reduction keeps no test for them.
//! Objectives are known by file and id, so a function that was changed since is simply not covered.

use super::foreign_coverage::Borrowed;
use crate::program::PlanError;
use crate::request::Notice;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Criterion, GoalCriterion, Objectives, Row, Status};
use touchstone_engine::EvaluatedRow;
use touchstone_instrument::{MeasuredSuite, read_measurements};
use touchstone_ir::{DecisionId, FuncId, Module};
use touchstone_report::Name;
use touchstone_report::document::{Document, MEASURED, Test, Verdict};

/// A test, and what it evaluated.
type TestRow = (String, DecisionId, Row);

/// A function as it was compiled: its file, its name, and what it does. With other macros it is another one.
type Compiled = (String, String, String);

/// A measured suite.
#[derive(Debug, Default)]
pub struct Suite {
    /// By function and id of an objective: the tests that cover it.
    covered: BTreeMap<(Compiled, String), BTreeSet<String>>,
    /// By function: what tests evaluated of its decisions.
    rows: BTreeMap<Compiled, Vec<TestRow>>,
    /// Functions with probes.
    functions: BTreeSet<Compiled>,
    /// What another tool measured instead.
    borrowed: Option<Borrowed>,
}

/// What a suite has of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// It was measured.
    Yes,
    /// It was measured, but as it is with other macros or types.
    OtherVariant,
    /// It was not.
    No,
}

impl Suite {
    /// Reads what `touchstone measure -o DIR` left, or a file of another tool.
    pub fn read(directory: &Path, criteria: &[&'static dyn GoalCriterion]) -> Result<Suite, PlanError> {
        if directory.is_file() {
            return Ok(Suite { borrowed: Some(Borrowed::read(directory)?), ..Suite::default() });
        }
        let directory = directory.to_path_buf();
        if !directory.join("units").is_dir() {
            return Err(PlanError::NoMeasurement { directory });
        }
        let measured = read_measurements(std::slice::from_ref(&directory))?;
        for criterion in criteria {
            let mut asked = measured.units.iter().flat_map(|unit| &unit.record.objectives);
            if !asked.any(|objective| objective.criterion == criterion.name()) {
                return Err(PlanError::NotMeasuredFor { directory, criterion: Criterion::Goals(*criterion) });
            }
        }
        Ok(Suite::of(&measured))
    }

    pub(crate) fn of(measured: &MeasuredSuite) -> Suite {
        let mut suite = Suite::default();
        let names = |tests: &BTreeSet<u32>| -> Vec<String> {
            tests.iter().map(|test| measured.tests[*test as usize].clone()).collect()
        };
        for unit in &measured.units {
            let record = &unit.record;
            let file = |index: u32| record.files.get(index as usize).map(|file| canonical(file)).unwrap_or_default();
            let compiled = |(name, place): &(String, touchstone_instrument::SourceRange)| {
                let meaning = record.meanings.get(name).cloned().unwrap_or_default();
                (name.clone(), (file(place.file), name.clone(), meaning))
            };
            let homes: BTreeMap<String, Compiled> = record.functions.iter().map(compiled).collect();
            suite.functions.extend(homes.values().cloned());
            for objective in &record.objectives {
                let tests = unit.covered(objective);
                if let Some(home) = homes.get(&objective.function).filter(|_| !tests.is_empty()) {
                    let key = (home.clone(), objective.id.clone());
                    suite.covered.entry(key).or_default().extend(names(&tests));
                }
            }
            for decision in &record.decisions {
                let Some(home) = homes.get(&decision.function) else { continue };
                for (index, row) in decision.rows.iter().enumerate() {
                    let tests = unit.row(decision, index);
                    let rows = suite.rows.entry(home.clone()).or_default();
                    let id = DecisionId::new(decision.decision as usize);
                    rows.extend(names(&tests).into_iter().map(|test| (test, id, row.row())));
                }
            }
        }
        suite
    }

    /// Whether some unit of the suite's program has this function.
    pub fn knows(&self, module: &Module, func: FuncId) -> Known {
        if let Some(borrowed) = &self.borrowed {
            return if borrowed.knows(module, func) { Known::Yes } else { Known::No };
        }
        let own = self.key(module, func);
        if self.functions.contains(&unmeant(&own)) {
            return Known::Yes;
        }
        let same = |(file, name, _): &&Compiled| (file, name) == (&own.0, &own.1);
        match self.functions.contains(&own) {
            true => Known::Yes,
            false if self.functions.iter().any(|known| same(&known)) => Known::OtherVariant,
            false => Known::No,
        }
    }

    /// What users should know of it.
    pub(crate) fn notices(&self, module: &Module, criteria: &[&str]) -> Vec<Notice> {
        self.borrowed.as_ref().map_or_else(Vec::new, |borrowed| borrowed.notices(module, criteria))
    }

    /// Objectives that the suite covers are covered, and nobody searches for them.
    pub(crate) fn settle(&self, module: &Module, wanted: &mut Objectives) {
        if let Some(borrowed) = &self.borrowed {
            return borrowed.settle(module, wanted);
        }
        let mut homes: BTreeMap<FuncId, Compiled> = BTreeMap::new();
        for id in wanted.list.ids().collect::<Vec<_>>() {
            let func = wanted.goals[id].func();
            let home = homes.entry(func).or_insert_with(|| self.key(module, func)).clone();
            let objective = &mut wanted.list[id];
            let any = (unmeant(&home), objective.id.clone());
            if let Some(tests) = self.covered.get(&(home, objective.id.clone())).or_else(|| self.covered.get(&any)) {
                objective.status = Status::Covered(tests.iter().cloned().collect());
                wanted.settled.insert(id);
            }
        }
    }

    /// What the suite evaluated of a function's decisions, with the test.
    pub(crate) fn rows(&self, module: &Module, func: FuncId) -> Vec<(String, EvaluatedRow)> {
        let own = self.key(module, func);
        let rows = self.rows.get(&own).or_else(|| self.rows.get(&unmeant(&own))).map_or(&[][..], Vec::as_slice);
        rows.iter().map(|(test, decision, row)| (test.clone(), (func, *decision, row.clone()))).collect()
    }

    fn key(&self, module: &Module, func: FuncId) -> Compiled {
        let function = &module.functions[func];
        (file_of(module, function.span), function.name.clone(), format!("{:016x}", module.function_hash(func)))
    }
}

/// A function whatever it does: of a language that has no macros, its file and its name say everything.
fn unmeant((file, name, _): &Compiled) -> Compiled {
    (file.clone(), name.clone(), String::new())
}

/// The suite's own tests, as far as a document's objectives name them, join its tests.
pub(crate) fn add_tests(document: &mut Document) {
    let known: BTreeSet<&str> = document.tests.iter().map(|test| test.id.as_str()).collect();
    let mut covers: BTreeMap<Name, (Vec<Name>, Vec<Name>)> = BTreeMap::new();
    for objective in &document.objectives {
        for test in objective.tests.iter().filter(|test| !known.contains(test.as_str())) {
            let (all, alone) = covers.entry(test.clone()).or_default();
            all.push(Name::from(&objective.id));
            if objective.tests.len() == 1 {
                alone.push(Name::from(&objective.id));
            }
        }
    }
    let tests = covers.into_iter().map(|(id, (covers, alone))| Test::measured(id.to_string(), covers, alone));
    document.tests.extend(tests.collect::<Vec<_>>());
}

/// What was there before, and what is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OnTop {
    /// Objectives that the suite covers.
    pub before: usize,
    /// Objectives that only new tests cover.
    pub new: usize,
    /// Objectives that a test can cover, and none does.
    pub missing: usize,
}

impl OnTop {
    /// Of a document of a campaign that began from a suite.
    pub fn of(document: &Document) -> OnTop {
        let suite: BTreeSet<&str> =
            document.tests.iter().filter(|test| test.outcome == MEASURED).map(|test| test.id.as_str()).collect();
        let covered = document.objectives.iter().filter(|objective| objective.status == Verdict::Covered);
        let (before, new): (Vec<_>, Vec<_>) =
            covered.partition(|objective| objective.tests.iter().any(|test| suite.contains(test.as_str())));
        let missing = document.objectives.iter().filter(|objective| objective.status == Verdict::Uncovered).count();
        OnTop { before: before.len(), new: new.len(), missing }
    }
}

/// Objectives that only an exploration covers: no test of the suite does.
pub(crate) fn keep_only_the_suite(wanted: &mut Objectives) {
    for id in wanted.list.ids().collect::<Vec<_>>() {
        let objective = &mut wanted.list[id];
        if matches!(objective.status, Status::Covered(_)) && !wanted.settled.contains(&id) {
            objective.status = Status::Uncovered;
        }
    }
}

fn file_of(module: &Module, span: Span) -> String {
    module.files.get(span.file).map(|file| canonical(file)).unwrap_or_default()
}

/// One name for a file, however it was given.
fn canonical(file: &str) -> String {
    let path = std::fs::canonicalize(file).ok();
    path.and_then(|path| path.to_str().map(ToString::to_string)).unwrap_or_else(|| file.to_string())
}
