//! Queries of the state of a run at a point or at the entry of a function.
//!
//! Pure expressions compute exactly what the instructions of the same names compute (a test runs both). A query has no
//! side effects: it counts no step and allocates nothing. Therefore a slot has no address before the program first
//! takes it or begins its lifetime.

use crate::arith;
use crate::machine::{CallFrame, Machine};
use crate::value::{Pointer, Value};
use touchstone_base::float;
use touchstone_ir::{BinOp, CastOp, CmpOp, Expr, ExprKind, FuncId, Module, Ty};

/// The state of a run in its innermost function.
#[derive(Clone, Copy)]
pub struct StateView<'a> {
    pub(crate) machine: &'a Machine<'a>,
    pub(crate) frame: &'a CallFrame<'a>,
}

impl StateView<'_> {
    /// Returns the running function.
    pub fn func(&self) -> FuncId {
        self.frame.func
    }

    /// Returns the program.
    pub fn module(&self) -> &Module {
        self.machine.module()
    }

    /// Returns the number of active calls, including this one.
    pub fn depth(&self) -> usize {
        self.machine.depth()
    }

    /// Returns true if a predicate holds; one without a value does not hold.
    pub fn holds(&self, predicate: &Expr) -> bool {
        matches!(self.eval(predicate), Some(Value::Int(value)) if value != 0)
    }

    /// Returns the value of an expression over the function's registers and slots and the globals; never
    /// [`Value::Undefined`]. It is `None` if the computation would fail: by an undefined register or byte, an invalid
    /// address, a division by zero. Evaluation is lazy: the right operand of a short-circuit operation and the other
    /// result of a conditional may have no value.
    ///
    /// The expression must be free of [`Expr::verify`] errors. One over other registers, slots or globals has no value;
    /// the result of any other invalid expression is unspecified.
    pub fn eval(&self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Const(value) => Some(Value::Int(*value)),
            ExprKind::Reg(reg) => self.machine.register(self.frame, *reg).filter(|&value| value != Value::Undefined),
            ExprKind::Slot(slot) => Some(Value::ptr(self.machine.slot_object(self.frame, *slot)?, 0)),
            ExprKind::Global(global) => Some(Value::ptr(self.machine.known_global(*global)?, 0)),
            ExprKind::Load(address) => self.load(address, expr.ty),
            ExprKind::Bin(op, a, b) => self.binary(*op, a, b, expr.ty),
            ExprKind::Cmp(op, a, b) => self.relation(*op, a, b).map(truth),
            ExprKind::Cast(op, a) => self.cast(*op, a, expr.ty),
            ExprKind::Float(op, format, args) => {
                let args: Option<Vec<u64>> = args.iter().map(|arg| self.int(arg)).collect();
                Some(Value::Int(float::eval(*op, *format, &args?)))
            }
            ExprKind::AsFloat(_, a) => self.int(a).map(Value::Int),
            ExprKind::PtrAdd(base, offset) => self.ptr_add(base, offset),
            ExprKind::Not(a) => Some(truth(!self.truth(a)?)),
            ExprKind::And(a, b) => Some(truth(self.truth(a)? && self.truth(b)?)),
            ExprKind::Or(a, b) => Some(truth(self.truth(a)? || self.truth(b)?)),
            ExprKind::Ite(condition, a, b) => self.eval(if self.truth(condition)? { a } else { b }),
        }
    }

    /// Returns a value as an integer; a pointer is converted to its address.
    fn int(&self, expr: &Expr) -> Option<u64> {
        self.machine.memory.as_int(self.eval(expr)?).ok()
    }

    fn truth(&self, expr: &Expr) -> Option<bool> {
        Some(self.int(expr)? != 0)
    }

    fn load(&self, address: &Expr, ty: Ty) -> Option<Value> {
        let memory = &self.machine.memory;
        let place = memory.resolve(self.eval(address)?).ok()?;
        memory.load(place, ty).ok()
    }

    fn binary(&self, op: BinOp, a: &Expr, b: &Expr, ty: Ty) -> Option<Value> {
        arith::bin(op, self.int(a)?, self.int(b)?, ty.bits()).ok().map(Value::Int)
    }

    fn relation(&self, op: CmpOp, a: &Expr, b: &Expr) -> Option<bool> {
        match a.ty {
            Ty::Int(bits) => Some(arith::cmp(op, self.int(a)?, self.int(b)?, bits)),
            Ty::Ptr => self.machine.memory.compare(op, self.eval(a)?, self.eval(b)?).ok(),
        }
    }

    fn cast(&self, op: CastOp, source: &Expr, to: Ty) -> Option<Value> {
        let value = arith::cast(op, self.int(source)?, source.ty.bits(), to.bits());
        Some(if op == CastOp::IntToPtr { self.machine.memory.pointer_at(value) } else { Value::Int(value) })
    }

    fn ptr_add(&self, base: &Expr, offset: &Expr) -> Option<Value> {
        let base = self.eval(base)?;
        let bytes = self.int(offset)?;
        match base {
            Value::Ptr(Pointer { object, offset }) => Some(Value::ptr(object, offset.wrapping_add(bytes as i64))),
            Value::Int(address) => Some(Value::Int(address.wrapping_add(bytes))),
            Value::Undefined => None,
        }
    }
}

fn truth(holds: bool) -> Value {
    Value::Int(u64::from(holds))
}
