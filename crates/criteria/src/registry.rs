//! The criteria by name. Adding one touches two places: its own file under `criteria/`, and the list here.

use crate::{DecisionGraph, Goal, Mutator};
use std::collections::BTreeMap;
use touchstone_base::{IndexMap, Span};
use touchstone_ir::{DecisionId, FuncId, Function, Module};

pub use crate::criteria::REGISTRY;

/// A criterion: which goals it wants of a function.
pub trait GoalCriterion: Sync + std::panic::RefUnwindSafe {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// What it asks, in one line.
    fn about(&self) -> &'static str;
    /// Its objectives in a function, in source order.
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec>;
    /// Whether a suite must call a function even where nothing of it is to be covered: straight-line code has no MC/DC
    /// objective, but DO-178C asks that every entry is invoked. Not so where no test is good news, as for errors.
    fn requires_call(&self) -> bool {
        true
    }
    /// Whether what it asks for is that a run goes wrong.
    fn asks_for_errors(&self) -> bool {
        false
    }
}

/// What a criterion sees.
pub struct CriterionScope<'m> {
    /// The program.
    pub module: &'m Module,
    /// The function.
    pub func: FuncId,
    /// Its decisions as graphs.
    pub graphs: IndexMap<DecisionId, DecisionGraph>,
    /// What the user switched.
    pub options: &'m CriteriaOptions,
}

impl<'m> CriterionScope<'m> {
    /// The scope of a function.
    pub fn new(module: &'m Module, func: FuncId, options: &'m CriteriaOptions) -> CriterionScope<'m> {
        let graphs = module.functions[func].decisions.values().map(DecisionGraph::new).collect();
        CriterionScope { module, func, graphs, options }
    }
    /// The function.
    pub fn function(&self) -> &'m Function {
        &self.module.functions[self.func]
    }
}

/// What users switch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CriteriaOptions {
    /// Mutation operators to use; empty means all.
    pub mutators: Vec<Mutator>,
    /// Partitions of inputs for `idc`: for each input its inclusive ranges, with their text.
    pub partitions: BTreeMap<String, Vec<(i128, i128)>>,
}

/// An objective before it has its identity.
#[derive(Clone, PartialEq, Debug)]
pub struct ObjectiveSpec {
    /// What covers it.
    pub goal: Goal,
    /// Where it stands.
    pub span: Span,
    /// What it asks, for people.
    pub text: String,
    /// What is known of it without any search.
    pub known: Option<PresetVerdict>,
}

/// What is known of an objective without any search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PresetVerdict {
    /// It is impossible: constants rule it out.
    Constant,
    /// It stands for more objectives than can be listed.
    TooMany {
        /// So many would have been.
        most: usize,
        /// What they are.
        of: CountedItem,
    },
}

/// What there can be too many of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountedItem {
    /// Combinations of conditions.
    Combinations,
    /// Mutants of expressions.
    Mutants,
    /// Levels of an expression.
    Levels,
}

impl std::fmt::Display for CountedItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CountedItem::Combinations => "combinations",
            CountedItem::Mutants => "mutants in the function",
            CountedItem::Levels => "levels of nesting",
        })
    }
}

impl PresetVerdict {
    /// Ruled out by constants if that holds.
    pub fn constant(holds: bool) -> Option<PresetVerdict> {
        holds.then_some(PresetVerdict::Constant)
    }
}

/// The criterion with this name.
pub fn criterion_named(name: &str) -> Option<&'static dyn GoalCriterion> {
    REGISTRY.iter().copied().find(|criterion| criterion.name() == name)
}
