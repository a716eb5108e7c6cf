//! Terms as expressions of C with wrapping arithmetic: `x + 1`, `lo <= x`, `c ? a : b`.
//!
//! A printed expression has the value of its term if it is evaluated like C: operands have the types of the named
//! inputs, are promoted and converted. `<u`, `/u` and `>>u` are the unsigned operators on the common type, and a number
//! that an `int` can hold is one. A conversion is printed only where the value depends on it: terms are congruences modulo
//! a power of two, so most operators need none.

use crate::terms::semantics::signed;
use crate::terms::term::{Op, Rel, Term, TermId, VarId};
use crate::terms::term_store::Terms;
use std::collections::BTreeMap;
use touchstone_base::Id;

/// Deeper parts are left out.
const MAX_DEPTH: usize = 16;

/// The signedness of the types of inputs. Conversions of others are always printed.
pub type Signedness = BTreeMap<VarId, bool>;

/// The integer that a bit vector stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum View {
    Signed,
    Unsigned,
}

/// A printed expression. Its value is congruent to the term modulo 2 to the power of its width.
struct Expression {
    text: String,
    /// True if it is an operand without parentheses.
    atomic: bool,
    /// True if its C type has 64 bits, and not 32.
    wide: bool,
    /// True if its C type is unsigned.
    unsigned: bool,
    /// True if its value is the signed value of the term.
    is_signed_value: bool,
    /// True if its value is the unsigned value of the term.
    is_unsigned_value: bool,
}

impl Expression {
    fn new(text: String) -> Expression {
        let plain = |char: char| char.is_alphanumeric() || "_.[]->*…".contains(char);
        let atomic =
            text.chars().all(plain) || text.starts_with('-') && text[1..].chars().all(|char| char.is_alphanumeric());
        Expression { text, atomic, wide: false, unsigned: false, is_signed_value: false, is_unsigned_value: false }
    }

    /// An `int` that has the value of the term in both views.
    fn small(text: String) -> Expression {
        Expression { is_signed_value: true, is_unsigned_value: true, ..Expression::new(text) }
    }

    fn part(&self) -> String {
        if self.atomic { self.text.clone() } else { format!("({})", self.text) }
    }

    fn is(&self, view: View) -> bool {
        if view == View::Signed { self.is_signed_value } else { self.is_unsigned_value }
    }

    /// Converts it to a type of 64 bits; its value stays.
    fn widened(self) -> Expression {
        if self.wide {
            return self;
        }
        Expression { text: format!("(long){}", self.part()), atomic: true, wide: true, unsigned: false, ..self }
    }

    /// Converts it to a type with this number of bits.
    fn cast(&self, width: u8, view: View) -> Expression {
        let name = match (width, view) {
            (8, View::Signed) => "signed char",
            (8, View::Unsigned) => "unsigned char",
            (16, View::Signed) => "short",
            (16, View::Unsigned) => "unsigned short",
            (32, View::Signed) => "int",
            (32, View::Unsigned) => "unsigned",
            (64, View::Signed) => "long",
            (64, View::Unsigned) => "unsigned long",
            _ => return self.masked(width, view),
        };
        Expression {
            text: format!("({name}){}", self.part()),
            atomic: true,
            wide: width == 64,
            unsigned: width >= 32 && view == View::Unsigned,
            is_signed_value: view == View::Signed,
            is_unsigned_value: view == View::Unsigned,
        }
    }

    /// Cuts it to a width that no type has.
    fn masked(&self, width: u8, view: View) -> Expression {
        let low = format!("{} & {:#x}", self.part(), ones(width));
        let text = match view {
            View::Unsigned => low,
            View::Signed => format!("(({low}) ^ {:#x}) - {:#x}", 1u64 << (width - 1), 1u64 << (width - 1)),
        };
        let (wide, value) = (width >= 32, Expression::new(text));
        Expression { wide, is_signed_value: view == View::Signed, is_unsigned_value: view == View::Unsigned, ..value }
    }

    /// Sets the value flags of a result in the type of the expression.
    fn in_its_type(self, width: u8) -> Expression {
        let whole = width == if self.wide { 64 } else { 32 };
        Expression { is_signed_value: whole && !self.unsigned, is_unsigned_value: whole && self.unsigned, ..self }
    }
}

/// Joins two operands; the type is that of the usual arithmetic conversions.
fn join(left: &Expression, sign: &str, right: &Expression) -> Expression {
    let unsigned = match left.wide == right.wide {
        true => left.unsigned || right.unsigned,
        false => left.wide && left.unsigned || right.wide && right.unsigned,
    };
    let text = format!("{} {sign} {}", left.part(), right.part());
    Expression { wide: left.wide || right.wide, unsigned, ..Expression::new(text) }
}

/// Converts an operand so that the usual arithmetic conversions keep the values of both.
fn keep_values(left: Expression, right: Expression) -> (Expression, Expression) {
    match (left.unsigned, right.unsigned) {
        (true, false) if left.wide || !right.wide => (as_long(left), right),
        (false, true) if right.wide || !left.wide => (left, as_long(right)),
        _ => (left, right),
    }
}

fn as_long(value: Expression) -> Expression {
    let text = format!("(long){}", value.part());
    Expression { text, atomic: true, wide: true, unsigned: false, ..value }
}

impl Terms {
    /// Prints a condition. Deep parts are cut.
    pub fn infix(&self, term: TermId, signedness: &Signedness) -> String {
        Infix { terms: self, signedness }.condition(term, MAX_DEPTH)
    }

    /// Prints the value of a term, as a signed or unsigned number.
    pub fn infix_value(&self, term: TermId, is_signed: bool, signedness: &Signedness) -> String {
        let view = if is_signed { View::Signed } else { View::Unsigned };
        Infix { terms: self, signedness }.value(term, view, MAX_DEPTH).text
    }
}

struct Infix<'t> {
    terms: &'t Terms,
    signedness: &'t Signedness,
}

impl Infix<'_> {
    /// Prints a term of one bit.
    fn condition(&self, term: TermId, depth: usize) -> String {
        let Some(deeper) = depth.checked_sub(1) else { return "…".to_string() };
        let part = |term: TermId| Expression::new(self.condition(term, deeper)).part();
        match *self.terms.get(term) {
            _ if self.terms.width(term) != 1 => self.natural(term, depth).text,
            Term::Const { value, .. } => if value == 1 { "true" } else { "false" }.to_string(),
            Term::Var { .. } => self.variable(term).text,
            Term::Not(inner) => match *self.terms.get(inner) {
                Term::Cmp(rel, a, b) => self.compared(rel, true, (a, b), deeper),
                _ => format!("!{}", part(inner)),
            },
            Term::Cmp(rel, a, b) => self.compared(rel, false, (a, b), deeper),
            Term::Bin(Op::And | Op::Mul, a, b) => format!("{} && {}", part(a), part(b)),
            Term::Bin(Op::Or, a, b) => format!("{} || {}", part(a), part(b)),
            Term::Bin(Op::Xor | Op::Add | Op::Sub, a, b) => format!("{} != {}", part(a), part(b)),
            Term::Ite(c, a, b) => format!("{} ? {} : {}", part(c), part(a), part(b)),
            _ => {
                let natural = self.natural(term, depth);
                if natural.is_unsigned_value { natural.text } else { natural.masked(1, View::Unsigned).text }
            }
        }
    }

    /// Prints a term so that it has exactly its signed or unsigned value.
    fn value(&self, term: TermId, view: View, depth: usize) -> Expression {
        let width = self.terms.width(term);
        if let Some(value) = self.terms.as_const(term) {
            return constant(width, value, view);
        }
        let natural = self.natural(term, depth);
        match view {
            _ if natural.is(view) => natural,
            View::Signed if width == 1 => {
                Expression { is_signed_value: true, ..Expression::new(format!("-{}", natural.part())) }
            }
            _ => natural.cast(width, view),
        }
    }

    fn variable(&self, term: TermId) -> Expression {
        let Term::Var { var, width } = *self.terms.get(term) else { return Expression::new(String::new()) };
        let name = match self.terms.var_name(var) {
            "" => format!("v{}", var.index()),
            name => name.to_string(),
        };
        let known = self.signedness.get(&var).copied();
        Expression {
            wide: width > 32,
            unsigned: width >= 32 && known == Some(false),
            is_signed_value: known == Some(true),
            is_unsigned_value: known == Some(false) || width == 1,
            ..Expression::new(name)
        }
    }

    /// Prints a term without conversions that no bit of it depends on.
    fn natural(&self, term: TermId, depth: usize) -> Expression {
        let Some(depth) = depth.checked_sub(1) else { return Expression::small("…".to_string()) };
        let width = self.terms.width(term);
        // An operand of an operator on `width` bits.
        let operand = |term: TermId| self.natural(term, depth);
        let sized = |term: TermId| if width > 32 { operand(term).widened() } else { operand(term) };
        let value = |term: TermId, view: View| self.value(term, view, depth);
        let has_type = width == 32 || width == 64;
        match *self.terms.get(term) {
            Term::Const { value, .. } => constant(width, value, View::Signed),
            Term::Var { .. } => self.variable(term),
            Term::Not(_) | Term::Bin(..) | Term::Cmp(..) | Term::Ite(..) if width == 1 => {
                Expression { is_unsigned_value: true, ..Expression::new(self.condition(term, depth + 1)) }
            }
            Term::Not(inner) => {
                let inner = sized(inner);
                let is_signed_value = inner.is_signed_value && !inner.unsigned;
                let text = format!("~{}", inner.part());
                let result = Expression { text, ..inner }.in_its_type(width);
                Expression { atomic: true, is_signed_value: is_signed_value || result.is_signed_value, ..result }
            }
            Term::Bin(op @ (Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor), a, b) => {
                self.modular(op, (a, b), width, depth)
            }
            Term::Bin(Op::Shl, a, b) => {
                let left = sized(a);
                let text = format!("{} << {}", left.part(), value(b, View::Unsigned).part());
                Expression { wide: left.wide, unsigned: left.unsigned, ..Expression::new(text) }.in_its_type(width)
            }
            Term::Bin(Op::LShr, a, b) => {
                let (left, sign) = match has_type {
                    true => (sized(a), ">>u"),
                    false => (value(a, View::Unsigned), ">>"),
                };
                let text = format!("{} {sign} {}", left.part(), value(b, View::Unsigned).part());
                let shifted = self.terms.as_const(b).is_some_and(|amount| amount > 0);
                Expression {
                    wide: left.wide,
                    unsigned: has_type,
                    is_unsigned_value: true,
                    is_signed_value: shifted,
                    ..Expression::new(text)
                }
            }
            Term::Bin(Op::AShr, a, b) => {
                let left = value(a, View::Signed);
                let left = if width > 32 { left.widened() } else { left };
                let text = format!("{} >> {}", left.part(), value(b, View::Unsigned).part());
                Expression { wide: left.wide, unsigned: left.unsigned, is_signed_value: true, ..Expression::new(text) }
            }
            Term::Bin(op @ (Op::UDiv | Op::URem), a, b) => {
                let (left, right, sign) = match has_type {
                    true => (sized(a), operand(b), if op == Op::UDiv { "/u" } else { "%u" }),
                    false => {
                        (value(a, View::Unsigned), value(b, View::Unsigned), if op == Op::UDiv { "/" } else { "%" })
                    }
                };
                Expression { is_unsigned_value: true, unsigned: has_type, ..join(&left, sign, &right) }
            }
            Term::Bin(op @ (Op::SDiv | Op::SRem), a, b) => {
                let left = value(a, View::Signed);
                let left = if width > 32 { left.widened() } else { left };
                let (left, right) = keep_values(left, value(b, View::Signed));
                let result = join(&left, if op == Op::SDiv { "/" } else { "%" }, &right);
                let is_signed_value = has_type || op == Op::SRem;
                Expression { is_signed_value, ..result }
            }
            Term::Cmp(..) => Expression::small(self.condition(term, depth)),
            Term::Ite(c, a, b) => {
                let condition = Expression::new(self.condition(c, depth)).part();
                let (mut left, mut right) = (operand(a), operand(b));
                let (is_signed_value, is_unsigned_value) =
                    (left.is_signed_value && right.is_signed_value, left.is_unsigned_value && right.is_unsigned_value);
                if is_signed_value {
                    (left, right) = keep_values(left, right);
                } else if width > 32 && !is_unsigned_value {
                    left = left.widened();
                }
                let typed = join(&left, "", &right);
                let text = format!("{condition} ? {} : {}", left.part(), right.part());
                let result = Expression { wide: typed.wide, unsigned: typed.unsigned, ..Expression::new(text) };
                match is_signed_value || is_unsigned_value {
                    true => Expression { is_signed_value, is_unsigned_value, ..result },
                    false => result.in_its_type(width),
                }
            }
            Term::Extract { term: inner, low: 0, .. } => {
                let inner = operand(inner);
                match inner.wide && width <= 32 {
                    true if width == 32 => inner.cast(32, View::Signed),
                    true => Expression { is_signed_value: false, ..inner.cast(32, View::Signed) },
                    false => inner.in_its_type(width),
                }
            }
            Term::Extract { term: inner, low, .. } => {
                let natural = operand(inner);
                let view = if natural.is_signed_value { View::Signed } else { View::Unsigned };
                let from = value(inner, view);
                let from = if self.terms.width(inner) > 32 { from.widened() } else { from };
                let text = format!("{} >> {low}", from.part());
                let shifted = Expression { wide: from.wide, unsigned: from.unsigned, ..Expression::new(text) };
                match shifted.wide && width <= 32 {
                    true if width == 32 => shifted.cast(32, View::Signed),
                    true => Expression { is_signed_value: false, ..shifted.cast(32, View::Signed) },
                    false => shifted,
                }
            }
            Term::Concat { high, low } => {
                let shift = self.terms.width(low);
                let (high, low) = (sized(high), value(low, View::Unsigned));
                let text = format!("({} << {shift}) | {}", high.part(), low.part());
                let (wide, unsigned) = (high.wide, high.unsigned || low.unsigned && !high.wide);
                Expression { wide, unsigned, ..Expression::new(text) }.in_its_type(width)
            }
            Term::ZExt { term, .. } => {
                let inner = value(term, View::Unsigned);
                Expression { is_signed_value: true, is_unsigned_value: true, ..inner }
            }
            Term::SExt { term, .. } => {
                let inner = value(term, View::Signed);
                Expression { is_signed_value: true, is_unsigned_value: false, ..inner }
            }
            Term::Float(op, _, args) => {
                let args: Vec<String> = args[..op.arity()].iter().map(|arg| operand(*arg).text).collect();
                let text = format!("{op:?}({})", args.join(", ")).to_lowercase();
                Expression { wide: width > 32, ..Expression::small(text) }
            }
            Term::Read { array, offset, bytes } => {
                let text = format!("{array}[{}; {bytes}]", operand(offset).text);
                Expression { wide: width > 32, ..Expression::small(text) }
            }
        }
    }

    /// Prints an operator whose result modulo a power of two depends only on its operands modulo that power.
    fn modular(&self, op: Op, (a, b): (TermId, TermId), width: u8, depth: usize) -> Expression {
        let (a, b) = match (op, self.terms.as_const(a), self.terms.as_const(b)) {
            // A constant follows what it is added to.
            (Op::Add, Some(_), None) => (b, a),
            _ => (a, b),
        };
        let (left, right) = (self.natural(a, depth), self.natural(b, depth));
        let left = if width > 32 && !right.wide { left.widened() } else { left };
        let mut result = join(&left, sign(op), &right);
        if let (Op::Add, Some(value)) = (op, self.terms.as_const(b).filter(|value| signed(width, *value) < 0)) {
            let text = format!("{} - {}", left.part(), signed(width, value).unsigned_abs());
            result = Expression { wide: result.wide, unsigned: result.unsigned, ..Expression::new(text) };
        }
        let is_mask = |term: TermId| self.terms.as_const(term).is_some_and(|value| signed(width, value) >= 0);
        match op == Op::And && (is_mask(a) || is_mask(b)) {
            true => Expression { is_signed_value: true, is_unsigned_value: true, ..result },
            false => result.in_its_type(width),
        }
    }

    /// Prints a comparison, with a constant on its right.
    fn compared(&self, rel: Rel, negated: bool, (a, b): (TermId, TermId), depth: usize) -> String {
        let width = self.terms.width(a);
        let turned = self.terms.as_const(a).is_some() && self.terms.as_const(b).is_none();
        let (a, b) = if turned { (b, a) } else { (a, b) };
        let has_type = width == 32 || width == 64;
        let (left, right) = match rel {
            Rel::Eq => self.equal_operands((a, b), width, depth),
            Rel::Slt | Rel::Sle => keep_values(self.value(a, View::Signed, depth), self.value(b, View::Signed, depth)),
            Rel::Ult | Rel::Ule if has_type => {
                let left = self.natural(a, depth);
                let right = match self.terms.as_const(b) {
                    Some(value) => constant(width, value, View::Unsigned),
                    None => self.natural(b, depth),
                };
                let exact = left.is_unsigned_value && right.is_unsigned_value;
                match width == 64 && !left.wide && !right.wide && !exact {
                    true => (left.widened(), right),
                    false => (left, right),
                }
            }
            Rel::Ult | Rel::Ule => (self.value(a, View::Unsigned, depth), self.value(b, View::Unsigned, depth)),
        };
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
        // Narrower operands are promoted, and then none is negative.
        let sign = if has_type { sign } else { sign.trim_end_matches('u') };
        format!("{} {sign} {}", left.part(), right.part())
    }

    fn equal_operands(&self, (a, b): (TermId, TermId), width: u8, depth: usize) -> (Expression, Expression) {
        let (left, right) = (self.natural(a, depth), self.natural(b, depth));
        let is_constant = self.terms.as_const(b).is_some();
        if left.is_signed_value && (right.is_signed_value || is_constant) {
            return keep_values(left, self.value(b, View::Signed, depth));
        }
        if left.is_unsigned_value && (right.is_unsigned_value || is_constant) {
            return (left, self.value(b, View::Unsigned, depth));
        }
        // Equal in a type of this width.
        if width == 32 || width == 64 && (left.wide || right.wide) {
            return (left, right);
        }
        (self.value(a, View::Unsigned, depth), self.value(b, View::Unsigned, depth))
    }
}

/// Prints a constant.
fn constant(width: u8, value: u64, view: View) -> Expression {
    let number = signed(width, value);
    let negative = number < 0;
    if width == 1 {
        return Expression { is_unsigned_value: true, ..Expression::new(value.to_string()) };
    }
    let (text, unsigned) = match view {
        View::Unsigned if negative && width >= 32 => (format!("{value}u"), true),
        View::Unsigned => (value.to_string(), false),
        View::Signed => (number.to_string(), false),
    };
    let fits = if unsigned { value <= u64::from(u32::MAX) } else { i32::try_from(number).is_ok() };
    Expression {
        wide: width > 32 && !fits,
        unsigned,
        is_signed_value: !negative || view == View::Signed,
        is_unsigned_value: !negative || view == View::Unsigned,
        ..Expression::new(text)
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

    fn signedness(terms: &Terms, vars: &[(TermId, bool)]) -> Signedness {
        let known = vars.iter().filter_map(|(term, signed)| match *terms.get(*term) {
            Term::Var { var, .. } => Some((var, *signed)),
            _ => None,
        });
        known.collect()
    }

    #[test]
    fn terms_are_printed_as_c() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(32, "x"), terms.var(32, "p->y"));
        let one = terms.constant(32, 1);
        let minus = terms.constant(32, u64::from(u32::MAX));
        let sum = terms.bin(Op::Add, x, one);
        let less = terms.bin(Op::Add, y, minus);
        let below = terms.cmp(Rel::Slt, sum, y);
        let above = terms.not(below);
        let either = terms.ite(below, x, less);
        let known = signedness(&terms, &[(x, true), (y, true)]);
        assert_eq!(terms.infix(below, &known), "(x + 1) < p->y");
        assert_eq!(terms.infix(above, &known), "p->y <= (x + 1)");
        let positive = terms.cmp(Rel::Slt, one, x);
        assert_eq!(terms.infix(positive, &known), "x > 1");
        assert_eq!(terms.infix_value(less, true, &known), "p->y - 1");
        assert_eq!(terms.infix_value(either, true, &known), "((x + 1) < p->y) ? x : (p->y - 1)");
    }

    #[test]
    fn conversions_that_change_a_value_are_printed() {
        let mut terms = Terms::new();
        let (a, b) = (terms.var(8, "a"), terms.var(8, "b"));
        let known = signedness(&terms, &[(a, false), (b, false)]);
        let sum = terms.bin(Op::Add, a, b);
        let less = terms.cmp(Rel::Ult, sum, a);
        assert_eq!(terms.infix(less, &known), "(unsigned char)(a + b) < a");
        let wide = terms.zext(sum, 32);
        assert_eq!(terms.infix_value(wide, true, &known), "(unsigned char)(a + b)");
        let limit = terms.constant(8, 200);
        let above = terms.cmp(Rel::Ult, limit, a);
        assert_eq!(terms.infix(above, &known), "a > 200");
    }
}
