//! Terms as people write them: `x + 1`, `lo <= x`, `c ? a : b`.
//!
//! Comparisons and divisions of unsigned numbers have a `u` behind them where it matters; conversions that keep the value are not shown.

use crate::terms::semantics::signed;
use crate::terms::term::{Op, Rel, Term, TermId};
use crate::terms::term_store::Terms;
use touchstone_base::Id;

/// Deeper parts are left out.
const MAX_DEPTH: usize = 16;

impl Terms {
    /// As people write it. Deep parts are cut.
    pub fn infix(&self, term: TermId) -> String {
        self.written(term, MAX_DEPTH)
    }

    /// The same as a part of something else.
    fn part(&self, term: TermId, depth: usize) -> String {
        let text = self.written(term, depth);
        let plain = |char: char| char.is_alphanumeric() || "_.[]->*…".contains(char);
        match text.chars().all(plain) || text.starts_with('-') && text[1..].chars().all(char::is_numeric) {
            true => text,
            false => format!("({text})"),
        }
    }

    fn written(&self, term: TermId, depth: usize) -> String {
        let Some(depth) = depth.checked_sub(1) else { return "…".to_string() };
        let part = |term: TermId| self.part(term, depth);
        match *self.get(term) {
            Term::Const { width: 1, value } => if value == 1 { "true" } else { "false" }.to_string(),
            Term::Const { width, value } => signed(width, value).to_string(),
            Term::Var { var, .. } => match self.var_name(var) {
                "" => format!("v{}", var.index()),
                name => name.to_string(),
            },
            Term::Not(inner) if self.width(inner) == 1 => self.negated(inner, depth),
            Term::Not(inner) => format!("~{}", part(inner)),
            Term::Bin(Op::Add, a, b) => match (self.as_const(a), self.as_const(b)) {
                (_, Some(value)) if signed(self.width(b), value) < 0 => {
                    format!("{} - {}", part(a), signed(self.width(b), value).unsigned_abs())
                }
                (Some(_), None) => self.added(b, a, depth),
                _ => format!("{} + {}", part(a), part(b)),
            },
            Term::Bin(op, a, b) if self.width(term) == 1 && matches!(op, Op::And | Op::Or) => {
                format!("{} {} {}", part(a), if op == Op::And { "&&" } else { "||" }, part(b))
            }
            Term::Bin(op, a, b) => format!("{} {} {}", part(a), sign(op), part(b)),
            Term::Cmp(rel, a, b) => self.compared(rel, false, (a, b), depth),
            Term::Ite(c, a, b) => format!("{} ? {} : {}", part(c), part(a), part(b)),
            Term::Extract { term, low: 0, width } if self.keeps(term, width) => self.written(term, depth),
            Term::Extract { term, low: 0, width } => format!("{} & {:#x}", part(term), ones(width)),
            Term::Extract { term, low, width } => format!("({} >> {low}) & {:#x}", part(term), ones(width)),
            Term::Concat { high, low } => format!("{} : {}", part(high), part(low)),
            Term::ZExt { term, .. } | Term::SExt { term, .. } => self.written(term, depth),
            Term::Float(op, _, args) => {
                let args: Vec<String> = args[..op.arity()].iter().map(|arg| self.written(*arg, depth)).collect();
                format!("{op:?}({})", args.join(", ")).to_lowercase()
            }
            Term::Read { array, offset, bytes } => format!("{array}[{}; {bytes}]", self.written(offset, depth)),
        }
    }

    /// Returns a comparison, with a constant on its right.
    fn compared(&self, rel: Rel, negated: bool, (a, b): (TermId, TermId), depth: usize) -> String {
        let turned = self.as_const(a).is_some() && self.as_const(b).is_none();
        let (left, right) = if turned { (b, a) } else { (a, b) };
        let sign = match (turned, relation(rel, negated)) {
            (true, "<") => ">",
            (true, "<=") => ">=",
            (true, ">") => "<",
            (true, ">=") => "<=",
            (true, "<u") => ">u",
            (true, "<=u") => ">=u",
            (true, ">u") => "<u",
            (true, ">=u") => "<=u",
            (_, sign) => sign,
        };
        format!("{} {sign} {}", self.part(left, depth), self.part(right, depth))
    }

    /// A constant behind what it is added to.
    fn added(&self, term: TermId, constant: TermId, depth: usize) -> String {
        let value = signed(self.width(constant), self.as_const(constant).unwrap_or_default());
        let sign = if value < 0 { '-' } else { '+' };
        format!("{} {sign} {}", self.part(term, depth), value.unsigned_abs())
    }

    /// Returns true if the truncation undoes a conversion.
    fn keeps(&self, term: TermId, width: u8) -> bool {
        match *self.get(term) {
            Term::ZExt { term, .. } | Term::SExt { term, .. } => self.width(term) <= width,
            _ => false,
        }
    }

    fn negated(&self, term: TermId, depth: usize) -> String {
        match *self.get(term) {
            Term::Cmp(rel, a, b) => self.compared(rel, true, (a, b), depth),
            _ => format!("!{}", self.part(term, depth)),
        }
    }
}

fn ones(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::UDiv => "/u",
        Op::SDiv => "/",
        Op::URem => "%u",
        Op::SRem => "%",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::LShr => ">>u",
        Op::AShr => ">>",
    }
}

fn relation(rel: Rel, negated: bool) -> &'static str {
    match (rel, negated) {
        (Rel::Eq, false) => "==",
        (Rel::Eq, true) => "!=",
        (Rel::Ult, false) => "<u",
        (Rel::Ult, true) => ">=u",
        (Rel::Ule, false) => "<=u",
        (Rel::Ule, true) => ">u",
        (Rel::Slt, false) => "<",
        (Rel::Slt, true) => ">=",
        (Rel::Sle, false) => "<=",
        (Rel::Sle, true) => ">",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_written_as_people_write_them() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(32, "x"), terms.var(32, "p->y"));
        let one = terms.constant(32, 1);
        let minus = terms.constant(32, u64::from(u32::MAX));
        let sum = terms.bin(Op::Add, x, one);
        let less = terms.bin(Op::Add, y, minus);
        let below = terms.cmp(Rel::Slt, sum, y);
        let above = terms.not(below);
        let either = terms.ite(below, x, less);
        assert_eq!(terms.infix(below), "(x + 1) < p->y");
        assert_eq!(terms.infix(above), "p->y <= (x + 1)");
        let positive = terms.cmp(Rel::Slt, one, x);
        assert_eq!(terms.infix(positive), "x > 1");
        assert_eq!(terms.infix(less), "p->y - 1");
        assert_eq!(terms.infix(either), "((x + 1) < p->y) ? x : (p->y - 1)");
    }
}
