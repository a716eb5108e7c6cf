//! The parser of points and pure expressions.

use super::lex::Token;
use super::parse::{Parser, Result};
use super::words::ExprOp;
use crate::{CondTag, Expr, ExprKind, Point, PointKind, Reg, Ty};
use touchstone_base::Id;

/// Returns true if a value of this type is signed by default.
pub(super) fn signed_by_default(ty: Ty) -> bool {
    !matches!(ty, Ty::I1 | Ty::Ptr)
}

impl Parser {
    /// Parses the rest of a point after `point p0`.
    pub(super) fn point(&mut self) -> Result<Point> {
        let kind = if self.eat_word("statement") {
            PointKind::Statement
        } else if self.eat_word("deep") {
            PointKind::TooDeep
        } else if self.eat_word("value") {
            PointKind::Value(self.expr(1)?)
        } else if self.eat_word("decision") {
            PointKind::Decision(self.expr(1)?)
        } else if self.eat_word("hazard") {
            PointKind::Hazard(self.expr(1)?)
        } else if self.eat_word("store") {
            PointKind::Store { address: self.expr(1)?, value: self.expr(1)? }
        } else if self.eat_word("condition") {
            PointKind::Condition { tag: self.tag()?, value: self.expr(1)? }
        } else if self.eat_word("label") {
            PointKind::Label { name: self.text("the name of the label in quotes")?, predicate: self.expr(1)? }
        } else {
            return self
                .expected("a kind of point (statement, deep, value, decision, hazard, store, condition, label)");
        };
        let text = self.text("the text of the point in quotes")?;
        let variables = match self.eat_word("among") {
            true => {
                let mut variables = Vec::new();
                while self.is_sign("(") {
                    variables.push(self.expr(1)?);
                }
                Some(variables.into())
            }
            false => None,
        };
        Ok(Point { kind, text, variables, span: self.span() })
    }

    /// `d0.c1`
    pub(super) fn tag(&mut self) -> Result<CondTag> {
        let decision = self.id("d", "a decision (`d0`)")?;
        self.sign(".")?;
        Ok(CondTag { decision, condition: self.id("c", "a condition (`c0`)")? })
    }

    /// `(add i32 (i32 %0 "x") (i32 1) "x + 1")`
    fn expr(&mut self, depth: usize) -> Result<Expr> {
        if depth > Expr::MAX_DEPTH {
            return self.fail("expected an expression that is nested less deeply");
        }
        if !self.is_sign("(") {
            return self.expected("an expression in parentheses");
        }
        self.next();
        let op = self.expr_op()?;
        let ty = self.ty()?;
        let signed = self.eat_word("signed") || !self.eat_word("unsigned") && signed_by_default(ty);
        let kind = match op {
            Some(op) => self.compound(op, depth)?,
            None => self.leaf(ty)?,
        };
        let text = self.try_text().transpose()?.unwrap_or_default();
        self.sign(")")?;
        Ok(Expr { kind, ty, signed, text })
    }

    /// The operation; none before the type of a leaf.
    fn expr_op(&mut self) -> Result<Option<ExprOp>> {
        if let Token::Word(word) = self.peek()
            && let Some(op) = ExprOp::from_word(word)
        {
            self.next();
            return Ok(Some(op));
        }
        match self.peek() {
            Token::Word(word) if super::parse::ty_of_word(word).is_some() => Ok(None),
            _ => self.expected("an operation or the type of a leaf (`(i32 %0)`, `(i32 7)`, `(ptr s0)`, `(ptr @g)`)"),
        }
    }

    fn leaf(&mut self, ty: Ty) -> Result<ExprKind> {
        if let Token::Reg(reg) = *self.peek() {
            self.next();
            return Ok(ExprKind::Reg(Reg::new(reg as usize)));
        }
        if let Some(slot) = self.try_id("s") {
            return Ok(ExprKind::Slot(slot));
        }
        match self.peek() {
            Token::Name(_) | Token::Word(_) => Ok(ExprKind::Global(self.global_ref()?)),
            Token::Sign("-") | Token::Number(_) => Ok(ExprKind::Const(self.number("a number")?.bits(ty.bits()))),
            _ => self.expected("a register, a number, a slot or a global"),
        }
    }

    fn compound(&mut self, op: ExprOp, depth: usize) -> Result<ExprKind> {
        let mut part = || self.expr(depth + 1).map(Box::new);
        Ok(match op {
            ExprOp::Load => ExprKind::Load(part()?),
            ExprOp::Bin(op) => ExprKind::Bin(op, part()?, part()?),
            ExprOp::Cmp(op) => ExprKind::Cmp(op, part()?, part()?),
            ExprOp::Cast(op) => ExprKind::Cast(op, part()?),
            ExprOp::Float(op, format) => {
                let args = (0..op.arity()).map(|_| self.expr(depth + 1)).collect::<Result<Vec<_>>>()?;
                return Ok(ExprKind::Float(op, format, args));
            }
            ExprOp::AsFloat(format) => ExprKind::AsFloat(format, part()?),
            ExprOp::PtrAdd => ExprKind::PtrAdd(part()?, part()?),
            ExprOp::Not => ExprKind::Not(part()?),
            ExprOp::And => ExprKind::And(part()?, part()?),
            ExprOp::Or => ExprKind::Or(part()?, part()?),
            ExprOp::Ite => ExprKind::Ite(part()?, part()?, part()?),
        })
    }
}
