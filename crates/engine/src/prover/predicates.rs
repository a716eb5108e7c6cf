//! Evaluation of pure expressions on abstract states: whether the predicate of a label can hold.

use crate::prover::abstract_state::{AbstractCell, AbstractState, Dead};
use crate::prover::abstract_value::{AbstractPointer, AbstractValue, Base, PointsTo};
use crate::prover::function_facts::FunctionFacts;
use crate::prover::interval_domain;
use crate::prover::transfer::{binary, cast, divides};
use touchstone_ir::{BinOp, CastOp, CmpOp, Expr, ExprKind, Operand, Ty};
use touchstone_solver::Facts;

/// The maximum nesting depth up to which alternatives are evaluated separately: each level may double the work.
const MAX_SPLIT_DEPTH: u32 = 8;

/// The maximum depth of a predicate; deeper ones are assumed to hold.
const MAX_PREDICATE_DEPTH: usize = 200;

impl FunctionFacts<'_> {
    /// Returns true if a predicate can be defined and true.
    pub fn can_hold(&self, state: &AbstractState, predicate: &Expr) -> bool {
        if predicate.depth() > MAX_PREDICATE_DEPTH {
            return true;
        }
        let mut state = state.clone();
        self.suppose(&mut state, predicate, true, MAX_SPLIT_DEPTH).is_ok()
    }

    /// Returns the possible values of an expression; `Dead` if it is certainly undefined.
    fn eval(&self, state: &AbstractState, expr: &Expr) -> Result<AbstractValue, Dead> {
        Ok(match &expr.kind {
            ExprKind::Const(value) => AbstractValue::constant(expr.ty, *value),
            ExprKind::Reg(reg) => state.reg(*reg),
            ExprKind::Slot(slot) => AbstractValue::Ptr(AbstractPointer::start(Base::Slot(*slot))),
            ExprKind::Global(global) => AbstractValue::Ptr(AbstractPointer::start(Base::Global(*global))),
            ExprKind::Load(addr) => {
                let pointer = self.eval(state, addr)?.pointer();
                if pointer == AbstractPointer::NULL {
                    return Err(Dead);
                }
                self.read(state, &pointer, expr.ty).0
            }
            ExprKind::Bin(op, a, b) => {
                let (x, y) = (self.eval(state, a)?.facts(), self.eval(state, b)?.facts());
                if divides(*op) && y.singleton() == Some(0) {
                    return Err(Dead);
                }
                AbstractValue::Int(binary(*op, &x, &y, is_same(a, b), expr.ty.bits()))
            }
            ExprKind::Cmp(op, a, b) => {
                let (x, y) = (self.eval(state, a)?, self.eval(state, b)?);
                self.compare(*op, &x, &y, is_same(a, b))
            }
            ExprKind::Cast(op, a) => cast(*op, &self.eval(state, a)?, expr.ty),
            ExprKind::Float(op, format, args) => {
                let args =
                    args.iter().map(|arg| Ok(self.eval(state, arg)?.facts())).collect::<Result<Vec<_>, Dead>>()?;
                AbstractValue::Int(interval_domain::float(*op, *format, &args))
            }
            ExprKind::AsFloat(_, a) => self.eval(state, a)?,
            ExprKind::PtrAdd(base, offset) => {
                let (base, by) = (self.eval(state, base)?.pointer(), self.eval(state, offset)?.facts());
                AbstractValue::Ptr(base.advanced(&by, |base| self.size(base)))
            }
            ExprKind::Not(a) => match truth(&self.eval(state, a)?) {
                Some(known) => truth_value(!known),
                None => AbstractValue::top(Ty::I1),
            },
            ExprKind::And(a, b) => self.short_circuit(state, a, b, false)?,
            ExprKind::Or(a, b) => self.short_circuit(state, a, b, true)?,
            ExprKind::Ite(c, a, b) => match truth(&self.eval(state, c)?) {
                Some(true) => self.eval(state, a)?,
                Some(false) => self.eval(state, b)?,
                None => match (self.eval(state, a), self.eval(state, b)) {
                    (Ok(a), Ok(b)) => a.join(&b).unwrap_or(AbstractValue::top(expr.ty)),
                    (Ok(one), Err(Dead)) | (Err(Dead), Ok(one)) => one,
                    (Err(Dead), Err(Dead)) => return Err(Dead),
                },
            },
        })
    }

    /// Evaluates `and` (stop at false) or `or` (stop at true).
    fn short_circuit(&self, state: &AbstractState, a: &Expr, b: &Expr, stop: bool) -> Result<AbstractValue, Dead> {
        let first = truth(&self.eval(state, a)?);
        if first == Some(stop) {
            return Ok(truth_value(stop));
        }
        let second = self.eval(state, b);
        match (first, second) {
            (Some(_), second) => second,
            // Only runs that stop at the first operand have a value.
            (None, Err(Dead)) => Ok(truth_value(stop)),
            (None, Ok(second)) if truth(&second) == Some(stop) => Ok(truth_value(stop)),
            (None, Ok(_)) => Ok(AbstractValue::top(Ty::I1)),
        }
    }

    /// Refines the state to where a predicate has this value; `Dead` if it never has.
    fn suppose(&self, state: &mut AbstractState, expr: &Expr, value: bool, alternatives: u32) -> Result<(), Dead> {
        if truth(&self.eval(state, expr)?) == Some(!value) {
            return Err(Dead);
        }
        match &expr.kind {
            ExprKind::Not(a) => self.suppose(state, a, !value, alternatives),
            ExprKind::And(a, b) if value => {
                self.suppose(state, a, true, alternatives)?;
                self.suppose(state, b, true, alternatives)
            }
            ExprKind::Or(a, b) if !value => {
                self.suppose(state, a, false, alternatives)?;
                self.suppose(state, b, false, alternatives)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) if alternatives > 0 => {
                let less = alternatives - 1;
                let stopped = self.narrowed(state, |state| self.suppose(state, a, value, less));
                let went_on = self.narrowed(state, |state| {
                    self.suppose(state, a, !value, less)?;
                    self.suppose(state, b, value, less)
                });
                either(state, stopped, went_on)
            }
            ExprKind::Ite(c, a, b) if alternatives > 0 => {
                let less = alternatives - 1;
                let way = |cond: bool, part: &Expr| {
                    self.narrowed(state, |state| {
                        self.suppose(state, c, cond, less)?;
                        self.suppose(state, part, value, less)
                    })
                };
                let (yes, no) = (way(true, a), way(false, b));
                either(state, yes, no)
            }
            ExprKind::Cmp(op, a, b) => self.relate(state, *op, a, b, value),
            ExprKind::Reg(reg) => state.assume(Operand::Reg(*reg), value),
            _ => Ok(()),
        }
    }

    fn narrowed(
        &self,
        state: &AbstractState,
        by: impl FnOnce(&mut AbstractState) -> Result<(), Dead>,
    ) -> Option<AbstractState> {
        let mut state = state.clone();
        by(&mut state).ok().map(|()| state)
    }

    fn relate(&self, state: &mut AbstractState, op: CmpOp, a: &Expr, b: &Expr, value: bool) -> Result<(), Dead> {
        let (x, y) = (self.eval(state, a)?, self.eval(state, b)?);
        match (x, y) {
            (AbstractValue::Int(x), AbstractValue::Int(y)) if x.width == y.width => {
                let (x, y) = interval_domain::refine_by(op, &x, &y, value);
                self.is_one_of(state, a, &x)?;
                self.is_one_of(state, b, &y)
            }
            (AbstractValue::Ptr(_), AbstractValue::Ptr(_)) => match (&a.kind, &b.kind) {
                (ExprKind::Reg(reg), ExprKind::Const(0)) | (ExprKind::Const(0), ExprKind::Reg(reg)) => {
                    state.assume_cmp(op, Operand::Reg(*reg), Operand::Const(Ty::Ptr, 0), value)
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Refines the operands of an expression to where its value is one of these.
    fn is_one_of(&self, state: &mut AbstractState, expr: &Expr, facts: &Facts) -> Result<(), Dead> {
        if facts.is_empty() {
            return Err(Dead);
        }
        match &expr.kind {
            ExprKind::Reg(reg) => state.assume_facts(Operand::Reg(*reg), facts),
            ExprKind::Cast(CastOp::Zext | CastOp::Sext, a) => {
                self.is_one_of(state, a, &interval_domain::trunc(facts, a.ty.bits()))
            }
            ExprKind::Bin(BinOp::Add, a, b) => match &b.kind {
                ExprKind::Const(amount) => {
                    let before = interval_domain::bin(BinOp::Sub, facts, &Facts::constant(facts.width, *amount));
                    self.is_one_of(state, a, &before)
                }
                _ => Ok(()),
            },
            ExprKind::Load(addr) => {
                let pointer = self.eval(state, addr)?.pointer();
                match pointer.object {
                    PointsTo::Known(base, offset) => match offset.singleton() {
                        Some(offset) => {
                            let cell = AbstractCell { base, offset, bytes: expr.ty.bytes() };
                            state.narrow_cell(cell, facts)
                        }
                        None => Ok(()),
                    },
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Returns the truth value, if it is certain.
fn truth(value: &AbstractValue) -> Option<bool> {
    value.facts().singleton().map(|value| value != 0)
}

fn truth_value(value: bool) -> AbstractValue {
    AbstractValue::Int(Facts::constant(1, u64::from(value)))
}

/// Joins two refinements.
fn either(state: &mut AbstractState, a: Option<AbstractState>, b: Option<AbstractState>) -> Result<(), Dead> {
    *state = match (a, b) {
        (Some(a), Some(b)) => a.join(&b, None),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return Err(Dead),
    };
    Ok(())
}

/// Returns true if two expressions are the same register.
fn is_same(a: &Expr, b: &Expr) -> bool {
    matches!((&a.kind, &b.kind), (ExprKind::Reg(a), ExprKind::Reg(b)) if a == b)
}
