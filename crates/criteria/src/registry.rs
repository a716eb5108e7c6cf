//! The criteria by name. Adding one touches two places: its own file under `criteria/`, and the list here.

use crate::{DecisionGraph, Goal, Mutator};
use std::borrow::Cow;
use std::collections::BTreeMap;
use touchstone_base::{IndexMap, Span};
use touchstone_ir::{DecisionId, FuncId, Function, Module};

pub use crate::criteria::REGISTRY;

/// A criterion: which goals it wants of a function.
pub trait GoalCriterion: Sync + std::panic::RefUnwindSafe {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// Its requirement, in one line.
    fn about(&self) -> &'static str;
    /// Its objectives in a function, in source order.
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec>;
    /// Returns the text from which the id of an objective is derived. It must stay as it is if the wording changes.
    fn id_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }
    /// Returns true if a suite must call a function even if it has no objective: straight-line code has no MC/DC
    /// objective, but DO-178C asks that every entry is invoked. It is false if no test is good news, as for errors.
    fn requires_call(&self) -> bool {
        true
    }
    /// Returns true if a test covers an objective by a run-time error.
    fn asks_for_errors(&self) -> bool {
        false
    }
    /// Returns true if the objectives are mutants.
    fn asks_for_mutants(&self) -> bool {
        false
    }
    /// Returns true if each objective is a label: one program point with one predicate, which `annotate` can write.
    fn has_labels(&self) -> bool {
        true
    }
    /// Returns the events that probes in compiled code must record besides jumps and switches.
    fn recorded_events(&self) -> &'static [RecordedEvent] {
        &[]
    }
    /// Returns what a report of another tool must have to answer some of the objectives.
    fn coverage_source(&self) -> CoverageSource {
        CoverageSource::None
    }
    /// Returns the kind of coverage that reports show.
    fn coverage_kind(&self) -> CoverageKind {
        CoverageKind::Other
    }
    /// Returns the rank among the criteria that line-based formats can show as branches; the lowest one is shown.
    fn branch_rank(&self) -> Option<u8> {
        None
    }
    /// Returns the rank among the criteria that a badge can show; the highest one is shown.
    fn strength(&self) -> Option<u8> {
        None
    }
    /// Returns the name in headings.
    fn title(&self) -> String {
        format!("{} coverage", self.name())
    }
    /// Returns true if reports show the truth tables of decisions for it.
    fn shows_truth_tables(&self) -> bool {
        false
    }
}

/// A kind of event that probes in compiled code record on demand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RecordedEvent {
    /// The execution of statements.
    Statements,
    /// Exceptions that the language throws.
    Errors,
    /// Labels of the source whose predicate holds.
    Labels,
    /// Domain parts of parameters.
    Inputs,
    /// Predicates over the values of source expressions, which are planned from the source.
    Predicates,
    /// Domain parts of results.
    Results,
}

impl RecordedEvent {
    /// Returns the word for the kind in the options of an agent.
    pub fn word(self) -> &'static str {
        match self {
            RecordedEvent::Statements => "statements",
            RecordedEvent::Errors => "errors",
            RecordedEvent::Labels => "labels",
            RecordedEvent::Inputs => "inputs",
            RecordedEvent::Predicates => "predicates",
            RecordedEvent::Results => "results",
        }
    }
}

/// The part of a coverage report of another tool that can answer objectives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoverageSource {
    /// Nothing answers them.
    None,
    /// Execution counts of lines.
    Lines,
    /// Branches of conditions.
    Branches,
    /// MC/DC, and for decisions of one condition also branches.
    Mcdc,
}

/// The kind of coverage that a criterion measures, as reports show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoverageKind {
    /// Statements: shown as executed lines.
    Statements,
    /// Decisions and their conditions: a run through a decision covers some of them.
    Decisions,
    /// Anything else: an uncovered objective does not show that its line was not executed.
    Other,
}

/// Returns the kind of coverage of a criterion, given by name.
pub fn coverage_kind(name: &str) -> CoverageKind {
    criterion_named(name).map_or(CoverageKind::Other, |criterion| criterion.coverage_kind())
}

/// The input of a criterion.
pub struct CriterionScope<'m> {
    /// The program.
    pub module: &'m Module,
    /// The function.
    pub func: FuncId,
    /// Its decisions as graphs.
    pub graphs: IndexMap<DecisionId, DecisionGraph>,
    /// The options of the user.
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

/// The options of criteria.
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
    /// The goal that covers it.
    pub goal: Goal,
    /// The source position.
    pub span: Span,
    /// The text for people.
    pub text: String,
    /// The verdict without any search, if there is one.
    pub known: Option<PresetVerdict>,
}

/// The verdict of an objective without any search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PresetVerdict {
    /// It is impossible: constants rule it out.
    Constant,
    /// It represents more objectives than can be listed.
    TooMany {
        /// The maximum number.
        most: usize,
        /// The kind of item.
        of: CountedItem,
    },
}

/// A kind of item that there can be too many of.
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
