//! Resumes an interrupted run: results of finished functions are taken from its document, if nothing has changed since.
//!
//! A function is identified by a fingerprint of: the meaning and the positions of the function and its callees, the
//! program's types and globals, the options, and the suites that the user edited. Only finished functions, including
//! replay, have one.
//!
//! Deliberately not here: partially explored functions. They start again.

use super::campaign_plan::{Plan, Task};
use crate::request::{Effort, ObjectiveScope, TestForm};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use touchstone_base::{Deadline, StableHasher};
use touchstone_emit::existing_suites;
use touchstone_engine::{Config, Entry};
use touchstone_ir::{Callee, FuncId, InstKind};
use touchstone_report::document::MEASURED;
use touchstone_report::{Document, join_forms};

/// The results of an interrupted run.
#[derive(Debug, Default)]
pub(crate) struct ResumedResults {
    /// Its document, restricted to finished functions.
    document: Document,
    /// All functions under test, in order.
    order: Vec<String>,
}

impl Plan {
    /// Removes the functions that a document has in their current form.
    pub(crate) fn resume(mut self, mut document: Document) -> Plan {
        let base = self.base();
        let order: Vec<String> = self.tasks.iter().map(|task| self.name(task).to_string()).collect();
        let limits = Limits::of(&document);
        let keys = document.functions.iter().filter_map(|function| Some((&function.name, function.key.as_ref()?)));
        let keys: BTreeSet<(&String, &String)> = keys.collect();
        let is_known = |(task, name): (&Task, &String)| {
            self.key(base, task, limits.of_function(name)).is_some_and(|key| keys.contains(&(name, &key)))
        };
        let finished: Vec<bool> = self.tasks.iter().zip(&order).map(is_known).collect();
        let names = order.iter().zip(&finished).filter(|(_, finished)| **finished).map(|(name, _)| name.clone());
        keep_only(&mut document, &names.collect());
        let mut finished = finished.into_iter();
        self.tasks.retain(|_| !finished.next().unwrap_or(false));
        self.resumed = ResumedResults { document, order };
        self
    }

    fn name(&self, task: &Task) -> &str {
        &self.program.module.functions[task.func].name
    }

    /// Returns the number of functions that are not explored again.
    pub fn finished_before(&self) -> usize {
        self.resumed.order.len().saturating_sub(self.tasks.len())
    }

    /// Records the fingerprints of finished functions if the run was interrupted.
    pub(crate) fn stamp(&self, document: &mut Document, unfinished: &BTreeSet<String>) {
        if unfinished.is_empty() {
            return;
        }
        let base = self.base();
        let limits = Limits::of(document);
        let key = |task: &Task| self.key(base, task, limits.of_function(self.name(task)));
        let keys: BTreeMap<&str, Option<String>> = self.tasks.iter().map(|task| (self.name(task), key(task))).collect();
        for function in document.functions.iter_mut().filter(|function| !unfinished.contains(&function.name)) {
            function.key = keys.get(function.name.as_str()).cloned().flatten();
        }
    }

    /// Returns the hash of what all functions share: version, options, types and globals.
    fn base(&self) -> u64 {
        let (request, module) = (&self.request, &self.program.module);
        let mut hasher = StableHasher::default();
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        let options = (&request.compilation, request.purpose, &request.criteria, &request.mutators, &request.inputs);
        format!("{options:?}").hash(&mut hasher);
        let effort =
            Effort { budget: None, timeout: None, memory: None, solver_timeout: None, ..request.effort.clone() };
        format!("{:?}", (effort, &request.assume, &request.emit, request.replay)).hash(&mut hasher);
        format!("{:?}", (&module.types, &self.suite)).hash(&mut hasher);
        for global in module.globals.values() {
            format!("{:?}", (&global.name, global.size, global.constant, &global.init)).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Returns the fingerprint of a function, or `None` if its results may concern other functions.
    fn key(&self, base: u64, task: &Task, limits: Limit) -> Option<String> {
        if self.entry != Entry::Function || self.request.objectives_of != ObjectiveScope::Own {
            return None;
        }
        let module = &self.program.module;
        let config = match limits {
            Limit::Matters => task.config.clone(),
            Limit::Never => {
                let proof_time = Config::default().proof_time;
                Config { memory: None, solver_timeout: None, proof_time, ..task.config.clone() }
            }
        };
        let config = Config {
            deadline: Deadline::NEVER,
            first_round: Deadline::NEVER,
            interrupt: None,
            query_log: None,
            cores: None,
            ..config
        };
        let mut hasher = StableHasher::default();
        (base, format!("{config:?}{:?}", task.criteria)).hash(&mut hasher);
        let effort = &self.request.effort;
        (limits == Limit::Matters).then_some((effort.budget, effort.timeout)).hash(&mut hasher);
        for func in self.reached(task) {
            let span = module.functions[func].span;
            (module.function_hash(func), span.line, span.column, module.files.get(span.file)).hash(&mut hasher);
        }
        for form in [TestForm::C, TestForm::Unity, TestForm::Cmocka, TestForm::Gtest] {
            let folder = if form == TestForm::C { "" } else { form.word() };
            for suite in existing_suites(&self.out.path().join(folder), self.name(task)).ok()? {
                let text = std::fs::read(&suite.path).ok().filter(|_| suite.edited);
                text.hash(&mut hasher);
            }
        }
        Some(format!("{:016x}", hasher.finish()))
    }

    /// Returns the functions that the result of a task depends on: all of them if the callees are unknown.
    fn reached(&self, task: &Task) -> BTreeSet<FuncId> {
        let module = &self.program.module;
        let mut reached: BTreeSet<FuncId> = self.program.with_callees(task.func).into_iter().collect();
        for helper in [&task.config.precondition, &task.config.oracle].into_iter().flatten() {
            reached.extend(module.function_named(helper).into_iter().flat_map(|func| self.program.with_callees(func)));
        }
        let is_open = |kind: &InstKind| match kind {
            InstKind::Call { callee, .. } => !matches!(callee, Callee::Direct(_)),
            _ => false,
        };
        let has_indirect_calls = |func: &FuncId| {
            module.functions[*func].blocks.values().flat_map(|block| &block.insts).any(|inst| is_open(&inst.kind))
        };
        match reached.iter().any(has_indirect_calls) {
            true => module.functions.ids().collect(),
            false => reached,
        }
    }
}

/// Says whether limits on time and memory influenced the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Matters,
    Never,
}

/// Functions with open results: another limit may decide them.
struct Limits(BTreeSet<String>);

impl Limits {
    fn of(document: &Document) -> Limits {
        let open = document.functions.iter().filter(|function| {
            function.objectives.unknown > 0 || !function.incomplete.is_empty() || !function.exhaustive
        });
        Limits(open.map(|function| function.name.clone()).collect())
    }

    fn of_function(&self, name: &str) -> Limit {
        if self.0.contains(name) { Limit::Matters } else { Limit::Never }
    }
}

/// Removes everything that does not concern these functions.
fn keep_only(document: &mut Document, names: &BTreeSet<String>) {
    document.functions.retain(|function| names.contains(&function.name));
    document.objectives.retain(|objective| names.contains(&objective.function));
    document.decisions.retain(|decision| names.contains(&decision.function));
    document.kept.retain(|suite| names.contains(&suite.function));
    let named = document.objectives.iter().flat_map(|objective| &objective.tests);
    let used: BTreeSet<&str> = named.map(|name| name.as_str()).collect();
    let measured = |id: &str, outcome: &str| outcome == MEASURED && used.contains(id);
    document.tests.retain(|test| names.contains(&test.function) || measured(&test.id, &test.outcome));
}

impl ResumedResults {
    /// Adds the earlier results to a document, in the order of the functions under test.
    pub(crate) fn join(&self, document: &mut Document) {
        if self.document.functions.is_empty() {
            return;
        }
        let earlier = self.document.clone();
        document.functions.extend(earlier.functions);
        document.objectives.extend(earlier.objectives);
        document.decisions.extend(earlier.decisions);
        document.kept.extend(earlier.kept);
        join_forms(&mut document.forms, earlier.forms);
        document.tests.extend(earlier.tests);
        let places: BTreeMap<&str, usize> =
            self.order.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let place = |name: &str| places.get(name).copied().unwrap_or(usize::MAX);
        document.functions.sort_by_key(|function| place(&function.name));
        document.objectives.sort_by_key(|objective| place(&objective.function));
        document.decisions.sort_by_key(|decision| place(&decision.function));
        document.tests.sort_by_key(|test| place(&test.function));
        document.unprotected_replay = document.unprotected_replay.take().or(earlier.unprotected_replay);
    }
}
