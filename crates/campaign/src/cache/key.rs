//! The name under which the result for a function is kept: the function with all that it depends on, options, bounds. Limits of time
//! and memory are not part of it: they stand in the entry, which is for as much or less.
//!
//! There are two for each function. Where everything is covered or excluded, that depends on what the function runs. Where something
//! stayed open, or a test makes other calls first, the functions count as well that were run before it, or made its objects.

use crate::plan::Plan;
use crate::plan::Work;
use crate::program::precondition;
use crate::request::Effort;
use crate::reuse::dependency_closure::{Closure, Closures};
use std::collections::BTreeSet;
use std::hash::Hash;
use std::time::Duration;
use touchstone_base::{Deadline, WideHasher};
use touchstone_engine::{Config, heap_constructors, state_changers};
use touchstone_ir::{FuncId, ModuleItem};

/// Finds keys for the functions of a plan.
pub(crate) struct Keys<'p> {
    plan: &'p Plan,
    closures: Closures<'p>,
    /// What all functions share.
    options: u128,
}

/// A key, and what it is about.
pub(crate) struct Key {
    pub key: u128,
    pub closure: Closure,
}

impl<'p> Keys<'p> {
    pub fn new(plan: &'p Plan) -> Keys<'p> {
        Keys { plan, closures: Closures::new(&plan.program.module), options: options(plan) }
    }

    /// What is asked of a function, and what is known before.
    pub fn given(&self, work: &Work<'_>) -> u128 {
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
            ..work.task.config.clone()
        };
        hasher.debug(&(config, &work.task.criteria));
        let unnamed: BTreeSet<&String> =
            work.task.config.unnamed.iter().map(|global| &module.globals[*global].name).collect();
        unnamed.hash(&mut hasher);
        for (id, objective) in work.wanted.list.iter() {
            objective.id.hash(&mut hasher);
            hasher.debug(&(&objective.status, work.wanted.settled.contains(&id)));
        }
        // Tests of a suite are known by name, and what they evaluated by functions of theirs.
        for (test, (func, decision, row)) in &work.known {
            hasher.debug(&(test, &module.functions[*func].name, decision, row));
        }
        hasher.debug(&work.again.len());
        for inputs in &work.again {
            hasher.debug(&inputs);
        }
        if let Some(java) = &self.plan.program.java {
            hasher.debug(&java.looked_at(work.task.func).told);
            java.first_inputs(work.task.func, work.task.config.seed).feed(&mut hasher);
        }
        hasher.wide()
    }

    /// The key of what depends on the function alone.
    pub fn narrow(&self, work: &Work<'_>, given: u128) -> Key {
        self.known(given, "itself", self.own(work))
    }

    /// The key of what depends also on who is called before.
    pub fn wide(&self, work: &Work<'_>, given: u128) -> Key {
        let (module, func) = (work.module(), work.task.func);
        let mut others: Vec<FuncId> = state_changers(module, func);
        others.extend(heap_constructors(module, func));
        let names: BTreeSet<&String> = others.iter().map(|other| &module.functions[*other].name).collect();
        let mut roots = self.own(work);
        roots.extend(self.closures.named(names.iter().copied()));
        let helpers =
            names.iter().flat_map(|name| [precondition::SUFFIX, "_pre"].map(|suffix| format!("{name}{suffix}")));
        roots.extend(self.closures.named(helpers.collect::<Vec<String>>().iter()));
        self.known(given, "others", roots)
    }

    /// What tests of a function run anyway.
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
            roots.extend(java.looked_at(work.task.func).parts);
        }
        roots
    }

    fn known(&self, given: u128, about: &str, roots: Vec<ModuleItem>) -> Key {
        let closure = self.closures.of(&roots);
        let mut hasher = WideHasher::default();
        (given, about, closure.hash).hash(&mut hasher);
        Key { key: hasher.wide(), closure }
    }
}

/// What all functions of a plan share. The program's text is not part of it: what it became is.
fn options(plan: &Plan) -> u128 {
    let request = &plan.request;
    let mut hasher = WideHasher::default();
    let effort = Effort { timeout: None, memory: None, solver_timeout: None, ..request.effort.clone() };
    hasher.debug(&(plan.entry, request.purpose, &request.criteria, &request.mutators, request.objectives_of));
    hasher.debug(&(&request.inputs, effort, &request.assume));
    let module = &plan.program.module;
    hasher.debug(&(&module.entry, module.memory.byte_writes, plan.program.java.is_some(), plan.suite.is_some()));
    hasher.wide()
}
