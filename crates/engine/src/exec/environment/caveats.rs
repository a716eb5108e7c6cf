//! Caveats: behaviour outside the environment that tests create, which a proof must take into account.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::state::value::{ObjectId, Value};
use crate::state::{PathEnd, State, Stop};
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_base::Span;
use touchstone_criteria::{Caveat, Incomplete, Unspecified, Unsupported};
use touchstone_ir::{ErrorKind, GlobalId, Linkage, Operand, Reg, Ty};
use touchstone_solver::TermId;

impl Executor<'_> {
    /// Returns true if behaviour outside the testable environment must be taken into account. Otherwise records that it
    /// was excluded.
    pub(crate) fn considers(&mut self, caveat: Caveat) -> bool {
        if caveat.ruled_out_by().is_some_and(|assume| self.config.assume.contains(&assume)) {
            return false;
        }
        match self.policy.environment {
            Environment::Testable => {
                self.ledger.caveats.insert(caveat);
                false
            }
            Environment::Any => {
                if !self.effects.raised.contains(&caveat) {
                    self.effects.raised.push(caveat);
                }
                true
            }
        }
    }

    /// Moves the caveats that the last step raised to the state.
    pub(crate) fn keep_caveats(&mut self, state: &mut State) {
        for caveat in std::mem::take(&mut self.effects.raised) {
            if !state.caveats.contains(&caveat) {
                Rc::make_mut(&mut state.caveats).push(caveat);
            }
        }
    }

    /// Ends a path at a caveat that cannot be explored.
    pub(crate) fn stop_for_caveat(&mut self, caveat: Caveat, span: Span) -> Stop {
        Stop::End(PathEnd::Incomplete { why: Incomplete::Doubt(caveat), span })
    }

    /// Executes [`Unspecified`](touchstone_ir::Builtin::Unspecified): a result that the model of an operation fixes may
    /// differ, for example because the operation fails and sets an error number.
    pub(crate) fn step_unspecified(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let what = self.constant_string(state, args.first().copied(), span)?;
        let caveat = Caveat::Unspecified(Unspecified::named(what));
        let other = self.considers(caveat.clone());
        if other {
            self.havoc_error_number(state);
        }
        match (dst, args.get(1)) {
            (Some(dst), Some(&value)) => {
                let ty = self.reg_ty(state, dst);
                let value = match (other, ty) {
                    (false, _) => state.top().value(value),
                    (true, Ty::Int(bits)) => {
                        let any = self.terms.var(bits, "unspecified");
                        Value::term(&self.terms, any)
                    }
                    (true, Ty::Ptr) => return Err(self.stop_for_caveat(caveat, span)),
                };
                state.set(dst, value);
                Ok(())
            }
            _ if other => Err(self.stop_for_caveat(caveat, span)),
            _ => Ok(()),
        }
    }

    /// Returns the stop for a read of an input that cannot be materialised.
    pub(crate) fn unmaterialised_read(&mut self, object: ObjectId, span: Span) -> Stop {
        let global = self.module.globals.get(GlobalId::new(object.index()));
        match global {
            Some(global) if self.is_undefined_variable(object) => {
                Stop::unsupported(Unsupported::UndefinedVariable(global.name.clone()), span)
            }
            Some(global) if self.policy.environment == Environment::Any => {
                let caveat = match global.linkage {
                    Linkage::External => Caveat::OtherFiles(global.quoted_name()),
                    _ => Caveat::EarlierCalls(global.quoted_name()),
                };
                self.stop_for_caveat(caveat, span)
            }
            _ => Stop::unsupported(Unsupported::UnmadeInput, span),
        }
    }

    /// Raises a caveat at a read of uninitialised memory: it holds some value where reading it is not undefined
    /// behaviour (C11 6.3.2.1p2, 3.19.2), so a proof cannot end there.
    pub(crate) fn caveat_unwritten_read(&mut self, state: &State, span: Span) -> Result<(), Stop> {
        let caveat = Caveat::Unspecified(Unspecified::Unwritten);
        if !state.is_folded() && self.considers(caveat.clone()) {
            self.effects.ended.push((state.clone(), PathEnd::Error { kind: ErrorKind::Uninitialised, span }));
            return Err(self.stop_for_caveat(caveat, span));
        }
        Ok(())
    }

    /// Continues where bytes were written. A proof cannot end where they may be uninitialised (see
    /// [`Self::caveat_unwritten_read`]).
    pub(crate) fn require_written(&mut self, state: &mut State, fine: TermId, span: Span) -> Result<(), Stop> {
        let ended = self.effects.ended.len();
        let required = self.require(state, fine, ErrorKind::Uninitialised, span);
        if (required.is_err() || self.effects.ended.len() > ended) && !state.is_folded() {
            let caveat = Caveat::Unspecified(Unspecified::Unwritten);
            if self.considers(caveat.clone()) {
                self.give_up(Incomplete::Doubt(caveat), span, 1);
            }
        }
        required
    }
}
