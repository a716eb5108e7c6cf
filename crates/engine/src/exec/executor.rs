//! The executor: everything that executing one instruction needs, whoever drives it.
//!
//! Drivers are the searches (`search/`), the proof by induction (`prover/`) and folding (`fold.rs`). They differ in which
//! ways of a fork they take; instructions are the same. What a step did comes back as [`Stepped`](super::step::Stepped).

use crate::config::Config;
use crate::exec::again::FoundBefore;
use crate::exec::compose::Composing;
use crate::exec::graph::Graph;
use crate::exec::guide::{Guide, InputKey};
use crate::exec::ledger::Ledger;
use crate::exec::machines::Machines;
use crate::exec::used_globals::{FunctionsByType, InitialGlobals, UsedGlobals};
use crate::exec::world::World;
use crate::goals::coverage::Coverage;
use crate::goals::watching::{Hit, Watching};
use crate::state::memory::{Cell, Pointers};
use crate::state::trail::Choice;
use crate::state::value::Scalar;
use crate::state::{PathEnd, State, Stop, unanswered};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Bound, Doubt, Incomplete, IncompletePaths};
use touchstone_ir::{ErrorKind, FuncId, GlobalId, Module};
use touchstone_solver::{Op, Path, Rel, Side, Solver, Term, TermId, Terms};

/// What drivers differ in, said once when the executor is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Policy {
    pub world: World,
    pub labels: LabelQuestions,
    pub checks: Checks,
    pub effort: Effort,
}

/// How long the solver thinks about one question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// As long as the user lets it.
    Time,
    /// For so many conflicts: the same on every machine.
    Conflicts(u64),
}

/// When a question for a label that is not easily answered is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LabelQuestions {
    /// When nothing else is left: another path may cover the label.
    Wait,
    /// At once.
    AtOnce,
}

/// Whether a step tells the checks that it made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Checks {
    Told,
    Untold,
}

impl Policy {
    /// A search for tests.
    pub const TESTS: Policy =
        Policy { world: World::Tested, labels: LabelQuestions::Wait, checks: Checks::Untold, effort: Effort::Time };
    /// A proof: in any world, and nothing waits.
    pub const PROOF: Policy = Policy { world: World::Any, labels: LabelQuestions::AtOnce, ..Policy::TESTS };
    /// An explanation wants to know what was checked.
    pub const EXPLANATION: Policy = Policy { checks: Checks::Told, ..Policy::TESTS };

    /// A proof whose questions may cost so many conflicts each.
    pub const fn proof_within(conflicts: u64) -> Policy {
        Policy { effort: Effort::Conflicts(conflicts), ..Policy::PROOF }
    }
}

/// A check of an instruction: what must hold, and the error if it does not.
pub(crate) struct Check {
    pub fine: TermId,
    pub kind: ErrorKind,
    pub span: Span,
}

/// What a step does beside moving its state; the step hands it out.
#[derive(Default)]
pub(super) struct Effects {
    /// Paths that a check has ended.
    pub ended: Vec<(State, PathEnd)>,
    /// Goals that were reached.
    pub hits: Vec<Hit>,
    /// What was given up.
    pub gave_up: Vec<IncompletePaths>,
    /// Checks that were made, if they are told.
    pub checks: Vec<Check>,
    /// What the step rests on in a wider world; it goes to the state.
    pub raised: Vec<Doubt>,
}

impl Effects {
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
            && self.hits.is_empty()
            && self.gave_up.is_empty()
            && self.checks.is_empty()
            && self.raised.is_empty()
    }
}

/// Everything that executing one instruction needs.
pub(crate) struct Executor<'m> {
    pub module: &'m Module,
    pub config: &'m Config,
    pub policy: Policy,
    pub terms: Terms,
    pub solver: Solver,
    pub pointers: Pointers,
    pub watching: Watching,
    pub ledger: Ledger,
    /// Addresses that are null and an index: there is nothing, in any world.
    pub null_based: FxHashSet<TermId>,
    /// Globals that input pointers may lead to.
    pub reachable_globals: BTreeSet<GlobalId>,
    pub used_globals: Option<Rc<UsedGlobals>>,
    pub initial_globals: InitialGlobals,
    /// Once they are asked for.
    pub functions_by_type: OnceCell<FunctionsByType>,
    /// Globals that are no inputs and in which calls leave something, if there are several calls.
    pub left: Vec<GlobalId>,
    /// What was found there before calls.
    pub(super) found_before: FxHashMap<Vec<u8>, Vec<FoundBefore>>,
    pub(super) composing: Composing,
    pub(super) effects: Effects,
    /// Variables of inputs by their number on their path, width and name.
    input_vars: FxHashMap<InputKey, TermId>,
    /// The path that is followed, if it is known.
    pub guide: Option<Guide>,
    graphs: Vec<Option<Graph>>,
    /// What tests are confirmed on.
    pub machines: Machines<'m>,
}

impl<'m> Executor<'m> {
    pub fn new(module: &'m Module, config: &'m Config, policy: Policy, goals: Option<Coverage>) -> Executor<'m> {
        let usual = touchstone_solver::Config::default();
        let (timeout, conflicts) = match policy.effort {
            Effort::Time => (config.solver_timeout, usual.conflicts),
            Effort::Conflicts(most) => (usual.timeout, Some(most)),
        };
        let solver = Solver::new(touchstone_solver::Config {
            timeout,
            conflicts,
            deadline: config.deadline,
            interrupt: config.interrupt.clone(),
            // What is remembered saves time only; most memory is for what has to be kept.
            remembered: config
                .memory
                .map_or(usual.remembered, |limit| usual.remembered.min((limit.most() / 8) as usize)),
            memory: config.memory,
            seed: config.seed,
            ..usual
        });
        Executor {
            module,
            config,
            policy,
            terms: Terms::new(),
            solver,
            pointers: Pointers::default(),
            composing: Composing::of(
                module,
                config.summaries,
                goals.as_ref().map(|coverage| Rc::clone(&coverage.watch)),
            ),
            watching: Watching::new(goals),
            ledger: Ledger::default(),
            null_based: FxHashSet::default(),
            reachable_globals: BTreeSet::new(),
            used_globals: None,
            initial_globals: InitialGlobals::default(),
            functions_by_type: OnceCell::new(),
            left: Vec::new(),
            found_before: FxHashMap::default(),
            effects: Effects::default(),
            input_vars: FxHashMap::default(),
            guide: None,
            graphs: module.functions.values().map(|_| None).collect(),
            machines: Machines::of(module),
        }
    }

    /// The control flow of a function, computed once.
    pub fn graph(&mut self, func: FuncId) -> &Graph {
        let module = self.module;
        self.graphs[func.index()].get_or_insert_with(|| Graph::of(&module.functions[func]))
    }

    /// The variable of an input. Paths whose inputs came up in the same order share the variables: their number, and with it the
    /// size of a path, is that of the inputs of one path, however many paths there are.
    pub fn variable(&mut self, number: u32, width: u8, name: &str) -> TermId {
        let key: InputKey = (number, width, name.into());
        let terms = &mut self.terms;
        let term = *self.input_vars.entry(key.clone()).or_insert_with(|| terms.var(width, name));
        if let (Some(guide), Term::Var { var, .. }) = (&mut self.guide, self.terms.get(term)) {
            guide.meet(&key, *var);
        }
        term
    }

    /// The inputs that have a value other than zero in a model of a path.
    pub fn input_values(&self, path: &Path) -> Vec<(InputKey, u64)> {
        let model = path.model();
        let value = |(key, term): (&InputKey, &TermId)| {
            let value = model.eval(&self.terms, *term);
            (value != 0).then(|| (key.clone(), value))
        };
        let mut values: Vec<(InputKey, u64)> = self.input_vars.iter().filter_map(value).collect();
        values.sort_unstable();
        values
    }

    /// Remembers that paths were given up.
    pub fn give_up(&mut self, why: Incomplete, span: Span, count: u64) {
        self.effects.gave_up.push(IncompletePaths { why: why.clone(), span, count });
        self.ledger.give_up(why, span, count);
    }

    /// Whether objects of so many bytes may still be made; `Err` if there is no memory for them. Asked before they are
    /// there: a byte of the program takes several of ours.
    pub fn room_for(&self, bytes: u64, span: Span) -> Result<(), Stop> {
        match self.has_room(bytes, std::mem::size_of::<Cell>() as u64) {
            true => Ok(()),
            false => Err(Stop::bound(Bound::Memory, span)),
        }
    }

    /// Whether there is memory for so many things of this size.
    pub fn has_room(&self, things: u64, size: u64) -> bool {
        /// To ask the system takes as long as to make so many things.
        const FEW: u64 = 1 << 16;
        /// So many times what is made stays free.
        const LEFT_FREE: u64 = 4;
        let limit = self.config.memory.filter(|_| things > FEW);
        // Up to half of the memory is for all that is not large, or one path with large objects would end the others. Where others
        // took much already, what is small beside that is still made.
        let bytes = things.saturating_mul(size);
        limit.is_none_or(|limit| {
            let rest = bytes.saturating_mul(LEFT_FREE).min(limit.most() / 2);
            limit.has_room(bytes.saturating_add(rest))
        })
    }

    /// The side of a condition where it is true.
    pub fn assume(&mut self, path: &Path, cond: TermId) -> Side {
        match &self.guide {
            None => self.solver.assume(&mut self.terms, path, cond),
            Some(guide) => {
                let followed = self.solver.follow(&mut self.terms, path, cond, guide.model());
                followed.map_or(Side::Infeasible, Side::Feasible)
            }
        }
    }

    /// Both sides of a condition.
    pub fn both_sides(&mut self, path: &Path, cond: TermId) -> (Side, Side) {
        if self.guide.is_none() {
            return self.solver.branch(&mut self.terms, path, cond);
        }
        let otherwise = self.terms.not(cond);
        (self.assume(path, cond), self.assume(path, otherwise))
    }

    /// Goes on only where `fine` holds; where it doesn't, the path ends with this error.
    pub fn require(&mut self, state: &mut State, fine: TermId, kind: ErrorKind, span: Span) -> Result<(), Stop> {
        self.require_near(state, fine, kind, span, Scalar::Const(0))
    }

    /// Like [`Self::require`]; the error's example prefers an offset close to zero, which a real program shows better.
    pub fn require_near(
        &mut self,
        state: &mut State,
        fine: TermId,
        kind: ErrorKind,
        span: Span,
        offset: Scalar,
    ) -> Result<(), Stop> {
        if self.policy.checks == Checks::Told && !state.is_folded() {
            self.effects.checks.push(Check { fine, kind, span });
        }
        match self.terms.as_const(fine) {
            Some(0) if state.is_folded() => return Err(Stop::End(PathEnd::Assumed)),
            Some(0) => {
                self.prefer_near(state, offset);
                return Err(Stop::error(kind, span));
            }
            Some(_) => return Ok(()),
            None => {}
        }
        if state.is_folded() {
            state.must(&mut self.terms, fine);
            return Ok(());
        }
        let (yes, no) = self.both_sides(&state.path, fine);
        let failed = match no {
            Side::Feasible(path) => {
                let mut failed = State { path, ..state.clone() };
                failed.trail.choose(Choice::Check(false));
                self.prefer_near(&mut failed, offset);
                Some(failed)
            }
            Side::Infeasible => None,
            Side::Unknown(why) => {
                self.give_up(unanswered(why), span, 1);
                None
            }
        };
        match yes {
            Side::Feasible(path) => {
                let guided = self.guide.as_mut().and_then(|guide| guide.next(passed));
                if failed.is_some() || guided == Some(true) {
                    state.trail.choose(Choice::Check(true));
                }
                self.effects.ended.extend(failed.map(|failed| (failed, PathEnd::Error { kind, span })));
                state.path = path;
                Ok(())
            }
            Side::Infeasible => match failed {
                Some(failed) => {
                    *state = failed;
                    Err(Stop::error(kind, span))
                }
                None => Err(Stop::End(PathEnd::Assumed)),
            },
            Side::Unknown(why) => {
                self.effects.ended.extend(failed.map(|failed| (failed, PathEnd::Error { kind, span })));
                let why = unanswered(why);
                Err(Stop::End(PathEnd::Incomplete { why, span }))
            }
        }
    }

    /// Goes on only where a bound is kept; where it isn't, paths are given up.
    pub fn stay_within(&mut self, state: &mut State, kept: TermId, bound: Bound, span: Span) -> Result<(), Stop> {
        if state.is_folded() {
            return Err(Stop::bound(bound, span));
        }
        let (yes, no) = self.both_sides(&state.path, kept);
        match (yes, no) {
            (Side::Feasible(path), beyond) => {
                state.path = path;
                match beyond {
                    Side::Feasible(_) => self.give_up(Incomplete::Bound(bound), span, 1),
                    Side::Infeasible => {}
                    Side::Unknown(why) => self.give_up(unanswered(why), span, 1),
                }
                Ok(())
            }
            (Side::Infeasible, Side::Feasible(_)) => Err(Stop::bound(bound, span)),
            (Side::Infeasible, Side::Infeasible) => Err(Stop::End(PathEnd::Assumed)),
            (Side::Unknown(why), _) | (_, Side::Unknown(why)) => {
                Err(Stop::End(PathEnd::Incomplete { why: unanswered(why), span }))
            }
        }
    }

    /// Narrows a state to inputs for which something has a defined result, as long as the path has some.
    pub fn prefer(&mut self, state: &mut State, fine: TermId) {
        if state.is_folded() {
            return state.must(&mut self.terms, fine);
        }
        let avoided = self.guide.as_mut().is_none_or(|guide| guide.next(failed).is_none());
        match self.assume(&state.path, fine) {
            Side::Feasible(path) if avoided => state.path = path,
            _ => state.trail.choose(Choice::Check(false)),
        }
    }

    /// Narrows an error's example to an offset near the object, where a real program shows the error best.
    fn prefer_near(&mut self, state: &mut State, offset: Scalar) {
        let Scalar::Term(offset) = offset else { return };
        for reach in [16, 1 << 8, 1 << 12] {
            let shift = self.terms.constant(64, reach);
            let shifted = self.terms.bin(Op::Add, offset, shift);
            let limit = self.terms.constant(64, 2 * reach);
            let near = self.terms.cmp(Rel::Ult, shifted, limit);
            if let Side::Feasible(path) = self.assume(&state.path, near) {
                state.path = path;
                return;
            }
        }
    }
}

fn passed(choice: Choice) -> Option<bool> {
    (choice == Choice::Check(true)).then_some(true)
}

fn failed(choice: Choice) -> Option<()> {
    (choice == Choice::Check(false)).then_some(())
}
