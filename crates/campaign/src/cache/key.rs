//! The cache key of a function's results: its dependency closure, options and bounds. Limits on time and memory are not
//! part of it: they are in the entry, which serves the same or lower limits.
//!
//! There are two keys per function. If every goal is covered or excluded, the results depend only on what the function
//! executes. If goals are open, or a test makes other calls first, the functions that were called before it or
//! constructed its objects count as well.

use crate::plan::Plan;
use crate::plan::Work;
use crate::program::precondition;
use crate::request::Effort;
use crate::reuse::dependency_closure::{DependencyClosure, DependencyClosures};
use std::collections::BTreeSet;
use std::hash::Hash;
use std::time::Duration;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_base::{Deadline, WideHasher};
use touchstone_engine::{Config, heap_constructors, state_changers};
use touchstone_ir::{FuncId, ModuleItem};

/// Computes the keys of a plan's functions.
pub(crate) struct CacheKeys<'p> {
    plan: &'p Plan,
    closures: DependencyClosures<'p>,
    /// The hash of everything that all functions share.
    options: u128,
}

/// A key with its closure.
pub(crate) struct CacheKey {
    pub key: u128,
    pub closure: DependencyClosure,
}

impl<'p> CacheKeys<'p> {
    pub fn new(plan: &'p Plan) -> CacheKeys<'p> {
        CacheKeys { plan, closures: DependencyClosures::new(&plan.program.module), options: options(plan) }
    }

    /// Hashes the request for a function, and what is known in advance.
    pub fn request_hash(&self, work: &Work<'_>) -> u128 {
        let mut hasher = WideHasher::default();
        (self.options, work.name(), self.plan.program.helper(work.name(), "_pre")).hash(&mut hasher);
        let module = work.module();
        let config = Config {
            deadline: Deadline::NEVER,
            first_round: Deadline::NEVER,
            interrupt: None,
            memory: None,
            solver_timeout: None,
            proof_time: Duration::ZERO,
            unnamed: BTreeSet::new(),
            query_log: None,
            cores: None,
            ..work.task.config.clone()
        };
        hasher.debug(&(config, &work.task.criteria));
        let unnamed: BTreeSet<&String> =
            work.task.config.unnamed.iter().map(|global| &module.globals[*global].name).collect();
        unnamed.hash(&mut hasher);
        for (id, objective) in work.objectives.list.iter() {
            objective.id.hash(&mut hasher);
            hasher.debug(&(&objective.status, work.objectives.settled.contains(&id)));
        }
        // Tests of a suite are identified by name, and their rows by function names.
        for (test, (func, decision, row)) in &work.suite_rows {
            hasher.debug(&(test, &module.functions[*func].name, decision, row));
        }
        hasher.debug(&work.earlier_inputs.len());
        for inputs in &work.earlier_inputs {
            hasher.debug(&inputs);
        }
        if let Some(java) = &self.plan.program.java {
            hasher.debug(&java.observer_dependencies(work.task.func).description);
            java.initial_inputs(work.task.func, work.task.config.options.seed).feed(&mut hasher);
        }
        hasher.wide()
    }

    /// Returns the key of results that depend on the function alone.
    pub fn narrow(&self, work: &Work<'_>, request_hash: u128) -> CacheKey {
        self.key(request_hash, "itself", self.own(work))
    }

    /// Returns the key of results that also depend on functions called before.
    pub fn wide(&self, work: &Work<'_>, request_hash: u128) -> CacheKey {
        let (module, func) = (work.module(), work.task.func);
        let mut others: Vec<FuncId> = state_changers(module, func);
        others.extend(heap_constructors(module, func));
        let names: BTreeSet<&String> = others.iter().map(|other| &module.functions[*other].name).collect();
        let mut roots = self.own(work);
        roots.extend(self.closures.named(names.iter().copied()));
        let helpers =
            names.iter().flat_map(|name| [precondition::SUFFIX, "_pre"].map(|suffix| format!("{name}{suffix}")));
        roots.extend(self.closures.named(helpers.collect::<Vec<String>>().iter()));
        self.key(request_hash, "others", roots)
    }

    /// Returns the parts that every test of the function executes.
    fn own(&self, work: &Work<'_>) -> Vec<ModuleItem> {
        let module = work.module();
        let mut roots = vec![ModuleItem::Function(work.task.func)];
        roots.extend(work.task.functions.iter().copied().map(ModuleItem::Function));
        roots.extend(module.startup.iter().copied().map(ModuleItem::Function));
        let config = &work.task.config;
        roots.extend(self.closures.named([&config.precondition, &config.oracle].into_iter().flatten()));
        roots.extend(module.thrown.map(ModuleItem::Type));
        roots.extend(module.error_number().map(ModuleItem::Global));
        if let Some(java) = &self.plan.program.java {
            roots.extend(java.observer_dependencies(work.task.func).parts);
        }
        roots
    }

    fn key(&self, request_hash: u128, about: &str, roots: Vec<ModuleItem>) -> CacheKey {
        let closure = self.closures.of(&roots);
        let mut hasher = WideHasher::default();
        let closure_hash = if is_injected(Fault::StaleCacheKey) { 0 } else { closure.hash };
        (request_hash, about, closure_hash).hash(&mut hasher);
        CacheKey { key: hasher.wide(), closure }
    }
}

/// Hashes what all functions of a plan share. The program's text is not part of it; its closure is.
fn options(plan: &Plan) -> u128 {
    let request = &plan.request;
    let mut hasher = WideHasher::default();
    let effort = Effort { budget: None, timeout: None, memory: None, solver_timeout: None, ..request.effort.clone() };
    hasher.debug(&(plan.entry, request.purpose, &request.criteria, &request.mutators, request.objectives_of));
    hasher.debug(&(&request.inputs, effort, &request.assume));
    let module = &plan.program.module;
    hasher.debug(&(&module.entry, module.memory.byte_writes, plan.program.java.is_some(), plan.suite.is_some()));
    hasher.wide()
}
