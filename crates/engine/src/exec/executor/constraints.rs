//! Path conditions: assumptions, checks that may fail, and preferences among the inputs of a path.

use crate::exec::executor::policy::CheckRecording;
use crate::exec::executor::{Check, Executor};
use crate::state::trail::Choice;
use crate::state::value::Scalar;
use crate::state::{PathEnd, State, Stop, unanswered};
use touchstone_base::Span;
use touchstone_criteria::{Bound, Incomplete};
use touchstone_ir::ErrorKind;
use touchstone_solver::{Op, Path, Rel, Side, TermId};

impl Executor<'_> {
    /// Returns the path on which a condition holds, if it is feasible. While a path is replayed its inputs decide, not
    /// the solver.
    pub fn assume(&mut self, path: &Path, cond: TermId) -> Side {
        match &self.replay {
            None => self.solver.assume(&mut self.terms, path, cond),
            Some(replay) => {
                let followed = self.solver.follow(&mut self.terms, path, cond, replay.model());
                followed.map_or(Side::Infeasible, Side::Feasible)
            }
        }
    }

    /// Returns both sides of a condition.
    pub fn both_sides(&mut self, path: &Path, cond: TermId) -> (Side, Side) {
        if self.replay.is_none() {
            return self.solver.branch(&mut self.terms, path, cond);
        }
        let otherwise = self.terms.not(cond);
        (self.assume(path, cond), self.assume(path, otherwise))
    }

    /// Continues only where `fine` holds; where it does not, the path ends with this error.
    pub fn require(&mut self, state: &mut State, fine: TermId, kind: ErrorKind, span: Span) -> Result<(), Stop> {
        self.require_near(state, fine, kind, span, Scalar::Const(0))
    }

    /// Like [`Self::require`]; the inputs of the error path prefer an offset close to zero, where the compiled program
    /// fails most visibly.
    pub fn require_near(
        &mut self,
        state: &mut State,
        fine: TermId,
        kind: ErrorKind,
        span: Span,
        offset: Scalar,
    ) -> Result<(), Stop> {
        if self.policy.checks == CheckRecording::Recorded && !state.is_folded() {
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
                let guided = self.replay.as_mut().and_then(|replay| replay.next(passed));
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

    /// Continues only within a bound; paths beyond it are given up.
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

    /// Narrows a state to inputs with a defined result, as long as the path has some.
    pub fn prefer(&mut self, state: &mut State, fine: TermId) {
        if state.is_folded() {
            return state.must(&mut self.terms, fine);
        }
        let avoided = self.replay.as_mut().is_none_or(|replay| replay.next(failed).is_none());
        match self.assume(&state.path, fine) {
            Side::Feasible(path) if avoided => state.path = path,
            _ => state.trail.choose(Choice::Check(false)),
        }
    }

    /// Narrows an error path to an offset near the object, where the compiled program fails most visibly.
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
