//! Terms as readable s-expressions.

use std::fmt;

use touchstone_base::Id;
use touchstone_base::float::{FloatOp, Rounding};

use crate::terms::semantics::signed;
use crate::terms::term::{Op, Rel, Term, TermId};
use crate::terms::term_store::Terms;

/// Deeper than this a term is shown by its id.
const MAX_DEPTH: usize = 24;

/// A term with its store, for printing.
pub struct DisplayTerm<'a> {
    terms: &'a Terms,
    term: TermId,
    depth: usize,
}

impl Terms {
    /// A readable form, such as `(slt x 10)`. Deep parts are cut and shown as ids.
    pub fn display(&self, term: TermId) -> DisplayTerm<'_> {
        DisplayTerm { terms: self, term, depth: MAX_DEPTH }
    }
}

fn op_name(op: Op) -> &'static str {
    match op {
        Op::Add => "add",
        Op::Sub => "sub",
        Op::Mul => "mul",
        Op::UDiv => "udiv",
        Op::SDiv => "sdiv",
        Op::URem => "urem",
        Op::SRem => "srem",
        Op::And => "and",
        Op::Or => "or",
        Op::Xor => "xor",
        Op::Shl => "shl",
        Op::LShr => "lshr",
        Op::AShr => "ashr",
    }
}

fn rel_name(rel: Rel) -> &'static str {
    match rel {
        Rel::Eq => "eq",
        Rel::Ult => "ult",
        Rel::Ule => "ule",
        Rel::Slt => "slt",
        Rel::Sle => "sle",
    }
}

fn float_name(op: FloatOp) -> String {
    let name = match op {
        FloatOp::Add => "add",
        FloatOp::Sub => "sub",
        FloatOp::Mul => "mul",
        FloatOp::Div => "div",
        FloatOp::Rem => "rem",
        FloatOp::Sqrt => "sqrt",
        FloatOp::Fma => "ma",
        FloatOp::Eq => "eq",
        FloatOp::Lt => "lt",
        FloatOp::Le => "le",
        FloatOp::Round(Rounding::Floor) => "floor",
        FloatOp::Round(Rounding::Ceil) => "ceil",
        FloatOp::Round(Rounding::Trunc) => "trunc",
        FloatOp::Round(Rounding::Even) => "rint",
        FloatOp::Round(Rounding::Away) => "round",
        FloatOp::Convert(to) => return format!("to.{to}"),
        FloatOp::FromSigned(bits) => return format!("from.s{bits}"),
        FloatOp::FromUnsigned(bits) => return format!("from.u{bits}"),
        FloatOp::ToSigned(bits) => return format!("to.s{bits}"),
        FloatOp::Saturate(bits) => return format!("sat.s{bits}"),
        FloatOp::ToUnsigned(bits) => return format!("to.u{bits}"),
    };
    name.to_string()
}

fn takes_float(op: FloatOp) -> bool {
    !matches!(op, FloatOp::FromSigned(_) | FloatOp::FromUnsigned(_))
}

impl fmt::Display for DisplayTerm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(depth) = self.depth.checked_sub(1) else { return write!(f, "{}", self.term) };
        let sub = |term: TermId| DisplayTerm { terms: self.terms, term, depth };
        match *self.terms.get(self.term) {
            Term::Const { width: 1, value } => f.write_str(if value == 1 { "true" } else { "false" }),
            Term::Const { width, value } => write!(f, "{}", signed(width, value)),
            Term::Var { var, .. } => {
                let name = self.terms.var_name(var);
                if name.is_empty() { write!(f, "v{}", var.index()) } else { f.write_str(name) }
            }
            Term::Not(a) => write!(f, "(not {})", sub(a)),
            Term::Bin(op, a, b) => write!(f, "({} {} {})", op_name(op), sub(a), sub(b)),
            Term::Cmp(rel, a, b) => write!(f, "({} {} {})", rel_name(rel), sub(a), sub(b)),
            Term::Ite(c, a, b) => write!(f, "(ite {} {} {})", sub(c), sub(a), sub(b)),
            Term::Extract { term, low, width } => write!(f, "(extract {low} {width} {})", sub(term)),
            Term::Concat { high, low } => write!(f, "(concat {} {})", sub(high), sub(low)),
            Term::ZExt { term, width } => write!(f, "(zext {width} {})", sub(term)),
            Term::SExt { term, width } => write!(f, "(sext {width} {})", sub(term)),
            Term::Float(op, format, args) => {
                write!(f, "(f{}.{format}", float_name(op))?;
                for &arg in &args[..op.arity()] {
                    match self.terms.as_const(arg) {
                        Some(bits) if op.argument_bits(format) == format.bits() && takes_float(op) => {
                            write!(f, " {:?}", format.value(bits))?;
                        }
                        _ => write!(f, " {}", sub(arg))?,
                    }
                }
                f.write_str(")")
            }
            Term::Read { array, offset, bytes } => write!(f, "(read {bytes} {array} {})", sub(offset)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_print_as_s_expressions() {
        let mut terms = Terms::new();
        let x = terms.var(32, "x");
        let ten = terms.constant(32, -10i64 as u64);
        let less = terms.cmp(Rel::Slt, x, ten);
        assert_eq!(terms.display(less).to_string(), "(slt x -10)");
    }
}
