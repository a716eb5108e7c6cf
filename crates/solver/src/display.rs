//! Terms as readable s-expressions.

use std::fmt;

use touchstone_base::Id;

use crate::semantics::signed;
use crate::term::{Op, Rel, Term, TermId};
use crate::terms::Terms;

/// Deeper than this a term is shown by its id.
const DEPTH: usize = 24;

/// A term with its store, for printing.
pub struct DisplayTerm<'a> {
    terms: &'a Terms,
    term: TermId,
    depth: usize,
}

impl Terms {
    /// A readable form, such as `(slt x 10)`. Deep parts are cut and shown as ids.
    pub fn display(&self, term: TermId) -> DisplayTerm<'_> {
        DisplayTerm { terms: self, term, depth: DEPTH }
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
