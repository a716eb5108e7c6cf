//! Forks: the possible outcomes where inputs decide, and taking one of them.
//!
//! Every driver receives a [`Fork`] from a step, asks for its outcomes, and takes those that it needs. The choice is
//! recorded on the path's trail, so that the path can be replayed (`search/prefix.rs`).

use crate::exec::executor::Executor;
use crate::exec::instructions::step::{BranchResult, Flow, StepResult};
use crate::state::trail::Choice;
use crate::state::value::LazyPointerId;
use crate::state::{FixedFor, PathEnd, PointerUse, State, Stop, Unfixed, unanswered};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{GoalId, Incomplete};
use touchstone_ir::{BlockId, BranchRole, CondTag, mask};
use touchstone_solver::{Path, Rel, Side, TermId, Values};

/// The reason why a path does not simply continue.
pub(crate) enum Fork {
    /// A branch or a switch with an outcome that depends on inputs.
    Outcome(OutcomeFork),
    /// Labels to fork on (direct mode only); the state is already past the point.
    Labels { forks: Vec<(GoalId, TermId)>, span: Span },
    /// A symbolic pointer must be materialised first; then the instruction is executed again.
    Shape { id: LazyPointerId, purpose: PointerUse },
    /// A term must be fixed to each of its values first; then the instruction is executed again.
    Value(Unfixed),
}

/// A branch or a switch with an outcome that depends on inputs.
#[derive(Clone)]
pub(crate) enum OutcomeFork {
    /// A branch on a condition.
    Branch {
        cond: TermId,
        then_block: BlockId,
        else_block: BlockId,
        role: BranchRole,
        tag: Option<CondTag>,
        span: Span,
    },
    /// A condition for each target; exactly one of them holds.
    Switch { targets: Vec<(BlockId, TermId)>, role: BranchRole, span: Span },
}

impl OutcomeFork {
    pub fn span(&self) -> Span {
        match self {
            OutcomeFork::Branch { span, .. } | OutcomeFork::Switch { span, .. } => *span,
        }
    }

    pub fn role(&self) -> BranchRole {
        match self {
            OutcomeFork::Branch { role, .. } | OutcomeFork::Switch { role, .. } => *role,
        }
    }
}

/// The maximum number of values of a term that are enumerated in one fork.
const MAX_VALUES_AT_ONCE: usize = 8;
/// The upper limits up to which larger sets of values are enumerated step by step.
const VALUE_RANGE_ENDS: [u64; 4] = [8, 64, 512, 4096];

/// The small values of a term that has many.
pub(crate) struct SmallerValues {
    pub values: Values,
    /// The state in which the term has a greater value, if there is one.
    pub rest: Result<Option<State>, Incomplete>,
}

/// One outcome, its condition, and its feasibility on the path.
pub(crate) struct ForkOutcome {
    pub choice: Choice,
    pub cond: TermId,
    pub side: Side,
}

impl Executor<'_> {
    /// Returns the outcomes of a branch (true first) or a switch.
    pub(crate) fn fork_outcomes(&mut self, state: &State, fork: &OutcomeFork) -> Vec<ForkOutcome> {
        match fork {
            OutcomeFork::Branch { cond, .. } => {
                let (yes, no) = self.both_sides(&state.path, *cond);
                let otherwise = self.terms.not(*cond);
                let yes = ForkOutcome { choice: Choice::Branch(true), cond: *cond, side: yes };
                vec![yes, ForkOutcome { choice: Choice::Branch(false), cond: otherwise, side: no }]
            }
            OutcomeFork::Switch { targets, .. } => {
                let way = |(target, cond): &(BlockId, TermId)| {
                    let side = self.assume(&state.path, *cond);
                    ForkOutcome { choice: Choice::Arm(target.index() as u32), cond: *cond, side }
                };
                targets.iter().map(way).collect()
            }
        }
    }

    /// Takes an outcome; `path` is the state's path with the outcome's condition.
    pub(crate) fn take_outcome(
        &mut self,
        state: &mut State,
        fork: &OutcomeFork,
        choice: Choice,
        path: Path,
    ) -> StepResult {
        state.path = path;
        let gone = self.follow_outcome(state, fork, choice);
        self.stepped(gone.map(|()| Flow::Next))
    }

    /// Takes an outcome, feasible or not.
    pub(crate) fn follow_outcome(&mut self, state: &mut State, fork: &OutcomeFork, choice: Choice) -> Result<(), Stop> {
        match (fork, choice) {
            (OutcomeFork::Branch { then_block, else_block, role, tag, span, .. }, Choice::Branch(taken)) => {
                // An outcome on the trail implies the choice; others are recorded explicitly.
                if !role.is_outcome() {
                    state.trail.choose(choice);
                }
                let target = if taken { *then_block } else { *else_block };
                self.take_branch(state, BranchResult { role: *role, tag: *tag, taken, chosen: true }, target, *span)
            }
            (OutcomeFork::Switch { role, span, .. }, Choice::Arm(target)) => {
                state.trail.choose(choice);
                self.take_arm(state, *role, BlockId::new(target as usize), *span)
            }
            // The choice does not belong to this fork.
            _ => Err(Stop::End(PathEnd::Assumed)),
        }
    }

    /// Returns a state for every possible target of a symbolic pointer, or the reason why there is none.
    pub(crate) fn pointer_targets(
        &mut self,
        state: &State,
        id: LazyPointerId,
        purpose: PointerUse,
    ) -> Vec<Result<State, PathEnd>> {
        let options = self.materialise(state, id, purpose);
        let numbered = options.into_iter().enumerate().map(|(number, option)| match option {
            Ok(mut state) => {
                state.trail.choose(Choice::Shape(number as u32));
                Ok(state)
            }
            Err(Stop::End(end)) => Err(end),
            // Materialisation does not depend on other pointers or terms.
            Err(Stop::Materialise(..) | Stop::Enumerate(_)) => Err(PathEnd::Assumed),
        });
        numbered.collect()
    }

    /// Returns the values that a term has on the path, up to the configured maximum.
    pub(crate) fn values(&mut self, state: &State, unfixed: Unfixed) -> Values {
        self.solver.values(&mut self.terms, &state.path, unfixed.term, self.config.options.max_values)
    }

    /// Returns the small values of a term that has many, and the state in which it has none of them: a search for goals
    /// often needs no others. `None` if few values, or only great ones, are left.
    pub(crate) fn smaller_values(&mut self, state: &State, unfixed: Unfixed) -> Option<SmallerValues> {
        if unfixed.role != FixedFor::Number {
            return None;
        }
        let before = match state.trail.last_choice() {
            Some(Choice::Beyond(end)) => end,
            _ if self.solver.values(&mut self.terms, &state.path, unfixed.term, MAX_VALUES_AT_ONCE).complete => {
                return None;
            }
            _ => 0,
        };
        let end = VALUE_RANGE_ENDS.into_iter().find(|end| *end > before)?;
        let within = self.at_most(unfixed.term, end);
        let values = match self.assume(&state.path, within) {
            Side::Feasible(path) => {
                self.solver.values(&mut self.terms, &path, unfixed.term, self.config.options.max_values)
            }
            Side::Infeasible => Values { values: Vec::new(), complete: true },
            Side::Unknown(_) => return None,
        };
        Some(SmallerValues { values, rest: self.beyond(state, unfixed, end) })
    }

    /// Returns the state in which a term is greater than a value, if that is feasible.
    pub(crate) fn beyond(&mut self, state: &State, unfixed: Unfixed, end: u64) -> Result<Option<State>, Incomplete> {
        let within = self.at_most(unfixed.term, end);
        let beyond = self.terms.not(within);
        match self.assume(&state.path, beyond) {
            Side::Feasible(path) => {
                let mut rest = State { path, ..state.clone() };
                rest.trail.choose(Choice::Beyond(end));
                Ok(Some(rest))
            }
            Side::Infeasible => Ok(None),
            Side::Unknown(why) => Err(unanswered(why)),
        }
    }

    fn at_most(&mut self, term: TermId, end: u64) -> TermId {
        let width = self.terms.width(term);
        if end >= mask(u64::MAX, width) {
            return self.terms.truth(true);
        }
        let end = self.terms.constant(width, end);
        self.terms.cmp(Rel::Ule, term, end)
    }

    /// Returns the state with a term fixed to a value, if that is feasible.
    pub(crate) fn fix(&mut self, state: &State, unfixed: Unfixed, value: u64) -> Option<State> {
        let Unfixed { term, role } = unfixed;
        let constant = self.terms.constant(self.terms.width(term), value);
        let here = self.terms.eq(term, constant);
        let Side::Feasible(path) = self.assume(&state.path, here) else { return None };
        let mut fixed = State { path, ..state.clone() };
        Rc::make_mut(&mut fixed.fixed).push((term, value));
        fixed.trail.choose(match role {
            FixedFor::Number => Choice::Value(value),
            FixedFor::Callee => Choice::Callee(value),
        });
        let settled = self.fix_variant(&mut fixed, term, value);
        match settled.and_then(|()| self.fix_union(&mut fixed, term, value)) {
            Ok(true) => Some(fixed),
            Ok(false) => None,
            Err(Stop::End(PathEnd::Incomplete { why, span })) => {
                self.give_up(why, span, 1);
                None
            }
            Err(_) => None,
        }
    }
}
