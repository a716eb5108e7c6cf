//! A measured suite that a campaign starts from.
//!
//! Objectives that it covers are settled before the search, its rows count for independence pairs, and the reduction
//! keeps no test for them. Objectives are identified by file and id, so a function that has changed is simply not
//! covered.

use super::foreign_coverage::ForeignCoverage;
use crate::program::PlanError;
use crate::request::Notice;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Criterion, GoalCriterion, Objectives, Row, Status, criterion_named};
use touchstone_engine::EvaluatedRow;
use touchstone_instrument::{MeasuredSuite, read_measurements};
use touchstone_ir::{DecisionId, FuncId, Module};
use touchstone_report::Name;
use touchstone_report::document::{Document, MEASURED, Test, Verdict};

/// A test, and a row that it evaluated.
type TestRow = (String, DecisionId, Row);

/// A function as it was compiled: file, name, and fingerprint. Other macros make another function.
type CompiledFunction = (String, String, String);

/// A measured suite.
#[derive(Debug, Default)]
pub struct BaselineSuite {
    /// The tests that cover an objective, by function and id.
    covered: BTreeMap<(CompiledFunction, String), BTreeSet<String>>,
    /// The rows that tests evaluated, by function.
    rows: BTreeMap<CompiledFunction, Vec<TestRow>>,
    /// Functions with probes.
    functions: BTreeSet<CompiledFunction>,
    /// The coverage of another tool, if the suite is one.
    foreign: Option<ForeignCoverage>,
}

/// Says whether a suite has a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuiteMembership {
    /// It was measured.
    Measured,
    /// It was measured with other macros or types.
    OtherVariant,
    /// It was not measured.
    NotMeasured,
}

impl BaselineSuite {
    /// Returns the criteria of a measurement; none if it is a coverage file of another tool.
    pub fn criteria(directory: &Path) -> Result<Vec<Criterion>, PlanError> {
        if directory.is_file() {
            return Ok(Vec::new());
        }
        let measured = read(directory)?;
        let objectives = measured.units.iter().flat_map(|unit| &unit.record.objectives);
        let names: BTreeSet<&str> = objectives.map(|objective| objective.criterion.as_str()).collect();
        Ok(names.into_iter().filter_map(criterion_named).map(Criterion::Goals).collect())
    }

    /// Reads the output of `touchstone measure -o DIR`, or a coverage file of another tool.
    pub fn read(directory: &Path, criteria: &[&'static dyn GoalCriterion]) -> Result<BaselineSuite, PlanError> {
        if directory.is_file() {
            return Ok(BaselineSuite { foreign: Some(ForeignCoverage::read(directory)?), ..BaselineSuite::default() });
        }
        let measured = read(directory)?;
        let directory = directory.to_path_buf();
        for criterion in criteria {
            let mut asked = measured.units.iter().flat_map(|unit| &unit.record.objectives);
            if !asked.any(|objective| objective.criterion == criterion.name()) {
                return Err(PlanError::NotMeasuredFor { directory, criterion: Criterion::Goals(*criterion) });
            }
        }
        Ok(BaselineSuite::of(&measured))
    }

    pub(crate) fn of(measured: &MeasuredSuite) -> BaselineSuite {
        let mut suite = BaselineSuite::default();
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
            let homes: BTreeMap<String, CompiledFunction> = record.functions.iter().map(compiled).collect();
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

    /// Returns whether a translation unit of the suite's program has this function.
    pub fn knows(&self, module: &Module, func: FuncId) -> SuiteMembership {
        if let Some(foreign) = &self.foreign {
            return if foreign.knows(module, func) { SuiteMembership::Measured } else { SuiteMembership::NotMeasured };
        }
        let own = self.key(module, func);
        if self.functions.contains(&without_fingerprint(&own)) {
            return SuiteMembership::Measured;
        }
        let same = |(file, name, _): &&CompiledFunction| (file, name) == (&own.0, &own.1);
        match self.functions.contains(&own) {
            true => SuiteMembership::Measured,
            false if self.functions.iter().any(|known| same(&known)) => SuiteMembership::OtherVariant,
            false => SuiteMembership::NotMeasured,
        }
    }

    /// Returns notices for users.
    pub(crate) fn notices(&self, module: &Module, criteria: &[&str]) -> Vec<Notice> {
        self.foreign.as_ref().map_or_else(Vec::new, |foreign| foreign.notices(module, criteria))
    }

    /// Marks the objectives that the suite covers, so that they are not searched for.
    pub(crate) fn settle(&self, module: &Module, objectives: &mut Objectives) {
        if let Some(foreign) = &self.foreign {
            return foreign.settle(module, objectives);
        }
        let mut homes: BTreeMap<FuncId, CompiledFunction> = BTreeMap::new();
        for id in objectives.list.ids().collect::<Vec<_>>() {
            let func = objectives.goals[id].func();
            let home = homes.entry(func).or_insert_with(|| self.key(module, func)).clone();
            let objective = &mut objectives.list[id];
            let any = (without_fingerprint(&home), objective.id.clone());
            if let Some(tests) = self.covered.get(&(home, objective.id.clone())).or_else(|| self.covered.get(&any)) {
                objective.status = Status::Covered(tests.iter().cloned().collect());
                objectives.settled.insert(id);
            }
        }
    }

    /// Returns the rows of a function's decisions that the suite evaluated, with the test.
    pub(crate) fn rows(&self, module: &Module, func: FuncId) -> Vec<(String, EvaluatedRow)> {
        let own = self.key(module, func);
        let rows =
            self.rows.get(&own).or_else(|| self.rows.get(&without_fingerprint(&own))).map_or(&[][..], Vec::as_slice);
        rows.iter().map(|(test, decision, row)| (test.clone(), (func, *decision, row.clone()))).collect()
    }

    fn key(&self, module: &Module, func: FuncId) -> CompiledFunction {
        let function = &module.functions[func];
        (file_of(module, function.span), function.name.clone(), format!("{:016x}", module.function_hash(func)))
    }
}

fn read(directory: &Path) -> Result<MeasuredSuite, PlanError> {
    let directory = directory.to_path_buf();
    match directory.join("units").is_dir() {
        true => Ok(read_measurements(std::slice::from_ref(&directory))?),
        false => Err(PlanError::NoMeasurement { directory }),
    }
}

/// Removes the fingerprint: without macros, file and name identify a function.
fn without_fingerprint((file, name, _): &CompiledFunction) -> CompiledFunction {
    (file.clone(), name.clone(), String::new())
}

/// Adds the suite's tests to a document, as far as its objectives name them.
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

/// The gain of new tests over a suite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SuiteGain {
    /// The number of objectives that the suite covers.
    pub before: usize,
    /// The number of objectives that only new tests cover.
    pub new: usize,
    /// The number of feasible objectives that no test covers.
    pub missing: usize,
}

impl SuiteGain {
    /// Computes the gain from the document of a campaign that started from a suite.
    pub fn of(document: &Document) -> SuiteGain {
        let suite: BTreeSet<&str> =
            document.tests.iter().filter(|test| test.outcome == MEASURED).map(|test| test.id.as_str()).collect();
        let covered = document.objectives.iter().filter(|objective| objective.status == Verdict::Covered);
        let (before, new): (Vec<_>, Vec<_>) =
            covered.partition(|objective| objective.tests.iter().any(|test| suite.contains(test.as_str())));
        let missing = document.objectives.iter().filter(|objective| objective.status == Verdict::Uncovered).count();
        SuiteGain { before: before.len(), new: new.len(), missing }
    }
}

/// Marks the objectives that only the exploration covers as uncovered: no test of the suite covers them.
pub(crate) fn mark_uncovered_by_suite(objectives: &mut Objectives) {
    for id in objectives.list.ids().collect::<Vec<_>>() {
        let objective = &mut objectives.list[id];
        if matches!(objective.status, Status::Covered(_)) && !objectives.settled.contains(&id) {
            objective.status = Status::Uncovered;
        }
    }
}

fn file_of(module: &Module, span: Span) -> String {
    module.files.get(span.file).map(|file| canonical(file)).unwrap_or_default()
}

/// Returns the canonical path of a file.
fn canonical(file: &str) -> String {
    let path = std::fs::canonicalize(file).ok();
    path.and_then(|path| path.to_str().map(ToString::to_string)).unwrap_or_else(|| file.to_string())
}
