//! Checks of points and pure expressions.

use super::Verifier;
use super::function::{cast_fits, is_scalar};
use crate::{Expr, ExprKind, FuncId, Function, Module, PointKind, Ty, VerifyError, mask};
use touchstone_base::Id;

impl Expr {
    /// Every broken invariant of an expression over the registers and slots of a function, as [`crate::verify`] finds
    /// them in a module: for expressions that are made later, such as mutants.
    pub fn verify(&self, module: &Module, func: FuncId) -> Vec<VerifyError> {
        let mut verifier = Verifier::new(module);
        verifier.function = Some(func);
        match module.functions.get(func) {
            Some(function) => verifier.expression(function, self),
            None => verifier.error(format!("{func} is no function")),
        }
        verifier.errors
    }
}

impl Verifier<'_> {
    pub(super) fn points(&mut self, function: &Function) {
        for (id, point) in function.points.iter() {
            self.point = Some(id);
            self.span(point.span);
            for variable in point.variables.iter().flat_map(|variables| variables.iter()) {
                self.expression(function, variable);
            }
            match &point.kind {
                PointKind::Statement | PointKind::TooDeep => {}
                PointKind::Value(value) => self.expression(function, value),
                PointKind::Decision(value) | PointKind::Hazard(value) => {
                    self.expression(function, value);
                    self.is(value, Ty::I1);
                }
                PointKind::Store { address, value } => {
                    self.expression(function, address);
                    self.is(address, Ty::Ptr);
                    self.expression(function, value);
                    self.in_memory(Some(value.ty));
                }
                PointKind::Condition { tag, value } => {
                    self.tag(function, *tag);
                    self.expression(function, value);
                    self.is(value, Ty::I1);
                }
                PointKind::Label { predicate, .. } => {
                    self.expression(function, predicate);
                    self.is(predicate, Ty::I1);
                }
            }
        }
        self.point = None;
    }

    fn expression(&mut self, function: &Function, expr: &Expr) {
        let depth = expr.depth();
        self.check(depth <= Expr::MAX_DEPTH, || {
            format!("an expression is nested {depth} deep, more than {}", Expr::MAX_DEPTH)
        });
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            self.check(is_scalar(expr.ty), || format!("an expression has the type {}", expr.ty));
            self.node(function, expr);
            pending.extend(expr.parts().into_iter().rev());
        }
    }

    fn is(&mut self, expr: &Expr, expected: Ty) {
        self.same(Some(expr.ty), Some(expected));
    }

    /// An expression, its parts taken at their word.
    fn node(&mut self, function: &Function, expr: &Expr) {
        let ty = expr.ty;
        match &expr.kind {
            ExprKind::Const(value) => {
                self.check(!is_scalar(ty) || mask(*value, ty.bits()) == *value, || {
                    format!("the constant {value} is no {ty}")
                });
            }
            ExprKind::Reg(reg) => {
                let found = self.reg(function, *reg);
                self.same(found, Some(ty));
            }
            ExprKind::Slot(slot) => {
                self.slot(function, *slot);
                self.is(expr, Ty::Ptr);
            }
            ExprKind::Global(global) => {
                let known = global.index() < self.module.globals.len();
                self.check(known, || format!("{global} is no global"));
                self.is(expr, Ty::Ptr);
            }
            ExprKind::Load(address) => {
                self.in_memory(Some(ty));
                self.is(address, Ty::Ptr);
            }
            ExprKind::Bin(op, a, b) => {
                self.check(ty != Ty::Ptr, || format!("{op:?} of pointers"));
                self.is(a, ty);
                self.is(b, ty);
            }
            ExprKind::Cmp(_, a, b) => {
                self.is(expr, Ty::I1);
                self.is(b, a.ty);
            }
            ExprKind::Cast(op, a) => {
                self.check(cast_fits(*op, a.ty, ty), || format!("{op:?} from {} to {ty}", a.ty));
            }
            ExprKind::Float(op, format, args) => {
                self.check(args.len() == op.arity(), || format!("{op:?} takes {} arguments", op.arity()));
                self.is(expr, Ty::Int(op.result_bits(*format)));
                for arg in args {
                    self.is(arg, Ty::Int(op.argument_bits(*format)));
                }
            }
            ExprKind::AsFloat(format, a) => {
                self.is(expr, Ty::Int(format.bits()));
                self.is(a, ty);
            }
            ExprKind::PtrAdd(base, offset) => {
                self.is(expr, Ty::Ptr);
                self.is(base, Ty::Ptr);
                self.is(offset, Ty::I64);
            }
            ExprKind::Not(a) => {
                self.is(expr, Ty::I1);
                self.is(a, Ty::I1);
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.is(expr, Ty::I1);
                self.is(a, Ty::I1);
                self.is(b, Ty::I1);
            }
            ExprKind::Ite(condition, a, b) => {
                self.is(condition, Ty::I1);
                self.is(a, ty);
                self.is(b, ty);
            }
        }
    }
}
