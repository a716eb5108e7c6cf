//! Predicates of the source that are evaluated in a class, and their binary format.
//!
//! A predicate is a formula over values of the frame at a point of the code. A plan has all predicates of a class. A tool that knows the
//! source makes the plan, and the agent, which knows only bytecode, reads it. The maker must ensure that the values are where the plan says
//! ([`crate::FrameTypes`]).

use std::collections::BTreeMap;
use touchstone_classfile::SlotKind;

/// A point in the code at which predicates are evaluated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CodePoint {
    /// Before the instruction at a bytecode offset.
    Before(u16),
    /// After it, if control falls through.
    After(u16),
}

/// A value of the frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FrameValue {
    /// A local variable.
    Local(u16, SlotKind),
    /// A local variable as it was before the instruction at an offset, which is in the same block and not after the point.
    SavedLocal(u16, SlotKind, u16),
    /// The result of the instruction at an offset, which is in the same block and before the point.
    Pushed(u16, SlotKind),
    /// A field of the receiver; the index of its constant.
    Field(u16, SlotKind),
    /// A reference on the operand stack: 0 is the one on top, 1 the one below it.
    StackRef(u16),
}

impl FrameValue {
    /// The kind of slot that holds it.
    pub fn kind(self) -> SlotKind {
        match self {
            FrameValue::Local(_, kind)
            | FrameValue::SavedLocal(_, kind, _)
            | FrameValue::Pushed(_, kind)
            | FrameValue::Field(_, kind) => kind,
            FrameValue::StackRef(_) => SlotKind::Ref,
        }
    }
}

/// An operation with one operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum UnaryOp {
    /// A conversion; its opcode.
    Convert(u8),
    /// The bits of a `float` as an `int`.
    FloatBits,
    /// The `float` with the bits of an `int`.
    BitsFloat,
    /// The bits of a `double` as a `long`.
    DoubleBits,
    /// The `double` with the bits of a `long`.
    BitsDouble,
    /// True if a reference is null.
    IsNull,
    /// Negation.
    Not,
}

/// A relation between two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Relation {
    /// They are equal.
    Equal,
    /// The first is less.
    Less,
    /// The first is less, or they are equal.
    LessOrEqual,
}

/// An operation with two operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BinaryOp {
    /// An arithmetic instruction; its opcode.
    Arith(u8),
    /// A comparison. NaN is not equal to itself.
    Compare(SlotKind, Relation),
    /// Short-circuit conjunction.
    And,
    /// Short-circuit disjunction.
    Or,
}

/// A formula. Booleans are the numbers 0 and 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Formula {
    /// A value of the frame.
    Value(FrameValue),
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// An operation with one operand.
    Unary(UnaryOp, Box<Formula>),
    /// An operation with two operands.
    Binary(BinaryOp, Box<(Formula, Formula)>),
    /// The second operand if the first is true, else the third.
    If(Box<(Formula, Formula, Formula)>),
}

impl Formula {
    /// Returns the operands.
    pub fn operands(&self) -> Vec<&Formula> {
        match self {
            Formula::Value(_) | Formula::Int(_) | Formula::Long(_) => Vec::new(),
            Formula::Unary(_, a) => vec![a],
            Formula::Binary(_, both) => vec![&both.0, &both.1],
            Formula::If(all) => vec![&all.0, &all.1, &all.2],
        }
    }

    /// Adds the values of the frame that it uses to a list, each once.
    pub fn collect_values(&self, found: &mut Vec<FrameValue>) {
        if let Formula::Value(value) = self
            && !found.contains(value)
        {
            found.push(*value);
        }
        self.operands().into_iter().for_each(|operand| operand.collect_values(found));
    }

    /// The number of formulas in it, itself included.
    pub fn size(&self) -> usize {
        1 + self.operands().into_iter().map(Formula::size).sum::<usize>()
    }
}

/// The predicates that are evaluated at one point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PointPredicates {
    /// The point.
    pub point: CodePoint,
    /// The predicates.
    pub predicates: Vec<Formula>,
}

impl PointPredicates {
    /// Returns the values that the predicates use.
    pub fn values(&self) -> Vec<FrameValue> {
        let mut found = Vec::new();
        self.predicates.iter().for_each(|predicate| predicate.collect_values(&mut found));
        found
    }
}

/// The predicates of a class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PredicatePlan {
    /// Maps the index of a method to its predicates, in the order of their points.
    pub methods: BTreeMap<u16, Vec<PointPredicates>>,
}

/// The maximum number of words of the arguments of a generated method; the JVM allows 255.
pub const MAX_ARGUMENT_WORDS: usize = 250;

/// Returns the number of words that values take as arguments.
pub fn argument_words(values: &[FrameValue]) -> usize {
    values.iter().map(|value| usize::from(value.kind().words())).sum()
}

/// The maximum depth of nested formulas: functions on them are recursive.
const MAX_DEPTH: usize = 2_000;

const KINDS: [SlotKind; 5] = [SlotKind::Int, SlotKind::Long, SlotKind::Float, SlotKind::Double, SlotKind::Ref];
const RELATIONS: [Relation; 3] = [Relation::Equal, Relation::Less, Relation::LessOrEqual];
const UNARY_OPS: [UnaryOp; 6] =
    [UnaryOp::FloatBits, UnaryOp::BitsFloat, UnaryOp::DoubleBits, UnaryOp::BitsDouble, UnaryOp::IsNull, UnaryOp::Not];

impl PredicatePlan {
    /// Encodes the plan.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend((self.methods.len() as u32).to_be_bytes());
        for (method, points) in &self.methods {
            out.extend(method.to_be_bytes());
            out.extend((points.len() as u32).to_be_bytes());
            for one in points {
                let (tag, at) = match one.point {
                    CodePoint::Before(at) => (0, at),
                    CodePoint::After(at) => (1, at),
                };
                out.push(tag);
                out.extend(at.to_be_bytes());
                out.extend((one.predicates.len() as u32).to_be_bytes());
                one.predicates.iter().for_each(|predicate| write(predicate, &mut out));
            }
        }
        out
    }

    /// Decodes a plan, or returns `None` if the bytes are malformed.
    pub fn read(bytes: &[u8]) -> Option<PredicatePlan> {
        let mut reader = Reader(bytes);
        let mut plan = PredicatePlan::default();
        for _ in 0..reader.u4()? {
            let method = reader.u2()?;
            let mut list = Vec::new();
            for _ in 0..reader.u4()? {
                let point = match reader.u1()? {
                    0 => CodePoint::Before(reader.u2()?),
                    1 => CodePoint::After(reader.u2()?),
                    _ => return None,
                };
                let mut predicates = Vec::new();
                for _ in 0..reader.u4()? {
                    predicates.push(reader.formula(0)?);
                }
                list.push(PointPredicates { point, predicates });
            }
            plan.methods.insert(method, list);
        }
        reader.0.is_empty().then_some(plan)
    }
}

fn number<T: PartialEq>(list: &[T], one: &T) -> u8 {
    list.iter().position(|own| own == one).unwrap_or(0) as u8
}

fn write(formula: &Formula, out: &mut Vec<u8>) {
    let kind = |kind: &SlotKind| number(&KINDS, kind);
    match formula {
        Formula::Value(value) => {
            out.push(0);
            match value {
                FrameValue::Local(local, of) => {
                    out.extend([0, kind(of)]);
                    out.extend(local.to_be_bytes());
                }
                FrameValue::SavedLocal(local, of, at) => {
                    out.extend([1, kind(of)]);
                    out.extend(local.to_be_bytes());
                    out.extend(at.to_be_bytes());
                }
                FrameValue::Pushed(at, of) => {
                    out.extend([2, kind(of)]);
                    out.extend(at.to_be_bytes());
                }
                FrameValue::Field(field, of) => {
                    out.extend([3, kind(of)]);
                    out.extend(field.to_be_bytes());
                }
                FrameValue::StackRef(below) => {
                    out.extend([4, 4]);
                    out.extend(below.to_be_bytes());
                }
            }
        }
        Formula::Int(value) => {
            out.push(1);
            out.extend(value.to_be_bytes());
        }
        Formula::Long(value) => {
            out.push(2);
            out.extend(value.to_be_bytes());
        }
        Formula::Unary(UnaryOp::Convert(code), _) => out.extend([3, *code]),
        Formula::Unary(one, _) => out.extend([4, number(&UNARY_OPS, one)]),
        Formula::Binary(BinaryOp::Arith(code), _) => out.extend([5, *code]),
        Formula::Binary(BinaryOp::Compare(of, relation), _) => out.extend([6, kind(of), number(&RELATIONS, relation)]),
        Formula::Binary(BinaryOp::And, _) => out.push(7),
        Formula::Binary(BinaryOp::Or, _) => out.push(8),
        Formula::If(_) => out.push(9),
    }
    formula.operands().into_iter().for_each(|operand| write(operand, out));
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u1(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u2(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn u4(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn kind(&mut self) -> Option<SlotKind> {
        KINDS.get(usize::from(self.u1()?)).copied()
    }

    fn formula(&mut self, depth: usize) -> Option<Formula> {
        if depth > MAX_DEPTH {
            return None;
        }
        let below = depth + 1;
        Some(match self.u1()? {
            0 => {
                let (tag, kind) = (self.u1()?, self.kind()?);
                Formula::Value(match tag {
                    0 => FrameValue::Local(self.u2()?, kind),
                    1 => FrameValue::SavedLocal(self.u2()?, kind, self.u2()?),
                    2 => FrameValue::Pushed(self.u2()?, kind),
                    3 => FrameValue::Field(self.u2()?, kind),
                    4 => FrameValue::StackRef(self.u2()?),
                    _ => return None,
                })
            }
            1 => Formula::Int(i32::from_be_bytes(self.take()?)),
            2 => Formula::Long(i64::from_be_bytes(self.take()?)),
            3 => Formula::Unary(UnaryOp::Convert(self.u1()?), Box::new(self.formula(below)?)),
            4 => Formula::Unary(*UNARY_OPS.get(usize::from(self.u1()?))?, Box::new(self.formula(below)?)),
            5 => self.binary(BinaryOp::Arith, depth)?,
            6 => {
                let (kind, relation) = (self.kind()?, *RELATIONS.get(usize::from(self.u1()?))?);
                Formula::Binary(
                    BinaryOp::Compare(kind, relation),
                    Box::new((self.formula(below)?, self.formula(below)?)),
                )
            }
            7 => Formula::Binary(BinaryOp::And, Box::new((self.formula(below)?, self.formula(below)?))),
            8 => Formula::Binary(BinaryOp::Or, Box::new((self.formula(below)?, self.formula(below)?))),
            9 => Formula::If(Box::new((self.formula(below)?, self.formula(below)?, self.formula(below)?))),
            _ => return None,
        })
    }

    fn binary(&mut self, operation: impl Fn(u8) -> BinaryOp, depth: usize) -> Option<Formula> {
        let code = self.u1()?;
        Some(Formula::Binary(operation(code), Box::new((self.formula(depth + 1)?, self.formula(depth + 1)?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::opcode as op;

    #[test]
    fn a_plan_is_decoded_as_it_was_encoded() {
        let value = |value| Box::new(Formula::Value(value));
        let sum = Formula::Binary(
            BinaryOp::Arith(op::IADD),
            Box::new((
                Formula::Value(FrameValue::Local(3, SlotKind::Int)),
                Formula::Value(FrameValue::SavedLocal(2, SlotKind::Int, 9)),
            )),
        );
        let bits = Formula::Unary(UnaryOp::FloatBits, value(FrameValue::Pushed(7, SlotKind::Float)));
        let differ = Formula::Binary(BinaryOp::Compare(SlotKind::Int, Relation::Less), Box::new((sum, bits)));
        let null = Formula::Unary(UnaryOp::IsNull, value(FrameValue::StackRef(1)));
        let wide = Formula::Unary(UnaryOp::Convert(op::L2I), Box::new(Formula::Long(-5)));
        let field = Formula::Value(FrameValue::Field(12, SlotKind::Int));
        let choice = Formula::If(Box::new((null, wide, field)));
        let both = Formula::Binary(
            BinaryOp::And,
            Box::new((differ.clone(), Formula::Unary(UnaryOp::Not, Box::new(Formula::Int(1))))),
        );
        let either = Formula::Binary(BinaryOp::Or, Box::new((both, choice)));
        let points = [
            PointPredicates { point: CodePoint::Before(4), predicates: vec![differ] },
            PointPredicates { point: CodePoint::After(9), predicates: vec![either] },
        ];
        let plan = PredicatePlan { methods: BTreeMap::from([(2, points.to_vec())]) };
        let bytes = plan.bytes();
        assert_eq!(PredicatePlan::read(&bytes), Some(plan));
        for end in 0..bytes.len() {
            assert_eq!(PredicatePlan::read(&bytes[..end]), None);
        }
    }
}
