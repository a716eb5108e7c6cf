//! Evaluation of pure expressions (predicates of labels) in a state, without forking.

use crate::config::Labels;
use crate::exec::executor::Executor;
use crate::state::value::{Scalar, Value};
use crate::state::{PathEnd, State, Stop};
use touchstone_base::{Id, Span};
use touchstone_ir::{Expr, ExprKind, Ty};
use touchstone_solver::TermId;

impl Executor<'_> {
    /// Returns the condition that a predicate is well-defined and true in a state (of which only `proper` changes).
    pub(in crate::exec) fn evaluate(&mut self, scratch: &mut State, expr: &Expr) -> Result<TermId, Stop> {
        scratch.proper = Some(self.terms.truth(true));
        let value = self.expression(scratch, expr);
        match value {
            Ok(Value::Int(scalar)) => {
                let truth = scalar.term(&mut self.terms, 1);
                scratch.must(&mut self.terms, truth);
                Ok(scratch.proper.unwrap_or(truth))
            }
            // The predicate may hold; that is unknown and must be recorded.
            Err(Stop::End(PathEnd::Incomplete { why, span })) => {
                self.give_up(why, span, 1);
                Ok(self.terms.truth(false))
            }
            Ok(_) | Err(Stop::End(_)) => Ok(self.terms.truth(false)),
            Err(stop @ (Stop::Materialise(..) | Stop::Enumerate(_))) => Err(stop),
        }
    }

    fn expression(&mut self, state: &mut State, expr: &Expr) -> Result<Value, Stop> {
        let span = Span::none();
        match &expr.kind {
            ExprKind::Const(value) => Ok(Value::constant(*value)),
            ExprKind::Reg(reg) => match &state.top().regs[reg.index()] {
                Value::Undefined => Err(Stop::End(PathEnd::Assumed)),
                value => Ok(value.clone()),
            },
            ExprKind::Slot(slot) => Ok(Value::pointer(state.top().slots[slot.index()], 0)),
            ExprKind::Global(global) => Ok(Value::pointer(crate::state::memory::global_object(*global), 0)),
            ExprKind::Load(addr) => {
                let addr = self.expression(state, addr)?;
                match self.load(state, &addr, expr.ty, span)? {
                    Value::Undefined => Err(Stop::End(PathEnd::Assumed)),
                    value => Ok(value),
                }
            }
            ExprKind::Bin(op, a, b) => {
                let (a, b) = (self.expression(state, a)?, self.expression(state, b)?);
                self.binary(state, *op, &a, &b, expr.ty.bits(), span)
            }
            ExprKind::Cmp(op, a, b) => {
                let ty = a.ty;
                let (a, b) = (self.expression(state, a)?, self.expression(state, b)?);
                self.compare(state, *op, &a, &b, ty, span)
            }
            ExprKind::Cast(op, a) => {
                let from = a.ty;
                let a = self.expression(state, a)?;
                self.cast(state, *op, &a, from, expr.ty, span)
            }
            ExprKind::Float(op, format, args) => {
                let args = args.iter().map(|arg| self.expression(state, arg)).collect::<Result<Vec<_>, _>>()?;
                self.float(state, *op, *format, &args, span)
            }
            ExprKind::AsFloat(_, a) => self.expression(state, a),
            ExprKind::PtrAdd(base, offset) => {
                let (base, offset) = (self.expression(state, base)?, self.expression(state, offset)?);
                let offset = self.as_scalar(state, &offset, span)?;
                self.advance(state, &base, offset, span)
            }
            ExprKind::Not(a) => {
                let a = self.truth_of(state, a)?;
                let not = self.terms.not(a);
                Ok(Value::term(&self.terms, not))
            }
            ExprKind::And(a, b) => {
                let a = self.truth_of(state, a)?;
                let b = self.truth_under(state, b, a)?;
                let both = self.terms.and(a, b);
                Ok(Value::term(&self.terms, both))
            }
            ExprKind::Or(a, b) => {
                let a = self.truth_of(state, a)?;
                let otherwise = self.terms.not(a);
                let b = self.truth_under(state, b, otherwise)?;
                let either = self.terms.or(a, b);
                Ok(Value::term(&self.terms, either))
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.truth_of(state, c)?;
                let c = self.settled(state, c);
                let otherwise = self.terms.not(c);
                let yes = self.under(state, a, c)?;
                let no = self.under(state, b, otherwise)?;
                Ok(match (yes, no) {
                    (Some(yes), Some(no)) => self.select(c, &yes, &no, expr.ty),
                    (Some(only), None) | (None, Some(only)) => only,
                    (None, None) => return Err(Stop::End(PathEnd::Assumed)),
                })
            }
        }
    }

    fn truth_of(&mut self, state: &mut State, expr: &Expr) -> Result<TermId, Stop> {
        match self.expression(state, expr)? {
            Value::Int(scalar) => Ok(scalar.term(&mut self.terms, Ty::I1.bits())),
            _ => Err(Stop::End(PathEnd::Assumed)),
        }
    }

    /// Returns a condition, or its value if intervals alone determine it on this path: `abs(x)` is then just `x`. An
    /// explanation (direct mode) needs the condition itself.
    fn settled(&mut self, state: &State, cond: TermId) -> TermId {
        if self.config.labels != Labels::Idl || self.terms.as_const(cond).is_some() {
            return cond;
        }
        match self.solver.range(&self.terms, &state.path, cond).unsigned {
            (low, high) if low == high => self.terms.truth(low != 0),
            _ => cond,
        }
    }

    /// Evaluates a subexpression under a condition: it must be well-defined only there.
    fn under(&mut self, state: &mut State, expr: &Expr, cond: TermId) -> Result<Option<Value>, Stop> {
        if self.terms.as_const(cond) == Some(0) {
            return Ok(None);
        }
        let before = state.proper.replace(self.terms.truth(true));
        let value = self.expression(state, expr);
        let inner = match (&value, state.proper) {
            (Err(Stop::End(_)), _) | (_, None) => self.terms.truth(false),
            (_, Some(proper)) => proper,
        };
        let fine = self.guarded(Some(cond), inner);
        state.proper = before;
        state.must(&mut self.terms, fine);
        match value {
            Ok(value) => Ok(Some(value)),
            Err(Stop::End(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    fn truth_under(&mut self, state: &mut State, expr: &Expr, cond: TermId) -> Result<TermId, Stop> {
        match self.under(state, expr, cond)? {
            Some(Value::Int(Scalar::Const(value))) => Ok(self.terms.truth(value != 0)),
            Some(Value::Int(Scalar::Term(term))) => Ok(term),
            _ => Ok(self.terms.truth(false)),
        }
    }
}
