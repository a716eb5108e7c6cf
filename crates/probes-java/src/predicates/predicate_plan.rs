//! Predicates that code is asked for beyond what it says itself: whoever has the source tells them, and each has a probe.
//!
//! A predicate is a formula over values that are in the frame at a place of the code. A plan says all of a class, as bytes that whoever
//! puts probes in reads: it knows no source, so it takes a plan as it is. Whether values are where a plan says is for whoever makes it
//! ([`crate::Kinds`]).

use std::collections::BTreeMap;
use touchstone_classfile::SlotKind;

/// Where in the code something is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Before the instruction at a position.
    Before(u16),
    /// Behind it, where control does not jump.
    After(u16),
}

/// A value of the frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Held {
    /// A local variable.
    Local(u16, SlotKind),
    /// A local variable, as it was before the instruction at a position: in the same block, before the place or at it.
    Old(u16, SlotKind, u16),
    /// What the instruction at a position, in the same block before the place, left on top of the stack.
    Pushed(u16, SlotKind),
    /// A field of the object that the method is called on: its constant.
    Field(u16, SlotKind),
    /// A reference on the stack: the one on top, or the one below.
    Top(u16),
}

impl Held {
    /// What it is.
    pub fn kind(self) -> SlotKind {
        match self {
            Held::Local(_, kind) | Held::Old(_, kind, _) | Held::Pushed(_, kind) | Held::Field(_, kind) => kind,
            Held::Top(_) => SlotKind::Ref,
        }
    }
}

/// What is computed of one value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum One {
    /// An instruction that converts.
    Convert(u8),
    /// The bits of a `float` as an `int`,
    FloatBits,
    /// and the other way round.
    BitsFloat,
    /// The bits of a `double` as a `long`,
    DoubleBits,
    /// and the other way round.
    BitsDouble,
    /// Whether a reference is null.
    IsNull,
    /// Whether a truth value is false.
    Not,
}

/// How two values compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Relation {
    /// They are the same.
    Same,
    /// The first is less.
    Less,
    /// The first is less, or they are the same.
    LessOrSame,
}

/// What is computed of two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Two {
    /// An instruction that computes.
    Arith(u8),
    /// A truth value. What is no number is not even the same as itself.
    Compare(SlotKind, Relation),
    /// Both truth values; the second is asked only if the first is true.
    Both,
    /// One of the truth values; the second is asked only if the first is false.
    Either,
}

/// A formula. Truth values are the numbers 0 and 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Formula {
    /// A value of the frame.
    Held(Held),
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// Of one value.
    One(One, Box<Formula>),
    /// Of two.
    Two(Two, Box<(Formula, Formula)>),
    /// The second if the first is true, else the third.
    Choice(Box<(Formula, Formula, Formula)>),
}

impl Formula {
    /// The formulas that it is made of.
    pub fn parts(&self) -> Vec<&Formula> {
        match self {
            Formula::Held(_) | Formula::Int(_) | Formula::Long(_) => Vec::new(),
            Formula::One(_, a) => vec![a],
            Formula::Two(_, both) => vec![&both.0, &both.1],
            Formula::Choice(all) => vec![&all.0, &all.1, &all.2],
        }
    }

    /// The values of the frame in it, without repetition, at the end of a list.
    pub fn held(&self, found: &mut Vec<Held>) {
        if let Formula::Held(held) = self
            && !found.contains(held)
        {
            found.push(*held);
        }
        self.parts().into_iter().for_each(|part| part.held(found));
    }

    /// How many formulas it is made of, itself included.
    pub fn size(&self) -> usize {
        1 + self.parts().into_iter().map(Formula::size).sum::<usize>()
    }
}

/// What is asked in one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Where.
    pub place: Place,
    /// What.
    pub predicates: Vec<Formula>,
}

impl Planned {
    /// The values that the predicates need.
    pub fn held(&self) -> Vec<Held> {
        let mut found = Vec::new();
        self.predicates.iter().for_each(|predicate| predicate.held(&mut found));
        found
    }
}

/// What is asked of a class, by the number of a method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// In the order of their places.
    pub methods: BTreeMap<u16, Vec<Planned>>,
}

/// So many words the arguments of a method may have.
pub const MOST_WORDS: usize = 250;

/// How many words values are as arguments.
pub fn words(held: &[Held]) -> usize {
    held.iter().map(|held| if held.kind().is_wide() { 2 } else { 1 }).sum()
}

/// So deep formulas may be nested: whoever works on them recurses.
const DEEPEST: usize = 2_000;

const KINDS: [SlotKind; 5] = [SlotKind::Int, SlotKind::Long, SlotKind::Float, SlotKind::Double, SlotKind::Ref];
const RELATIONS: [Relation; 3] = [Relation::Same, Relation::Less, Relation::LessOrSame];
const ONES: [One; 6] = [One::FloatBits, One::BitsFloat, One::DoubleBits, One::BitsDouble, One::IsNull, One::Not];

impl Plan {
    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend((self.methods.len() as u32).to_be_bytes());
        for (method, planned) in &self.methods {
            out.extend(method.to_be_bytes());
            out.extend((planned.len() as u32).to_be_bytes());
            for one in planned {
                let (tag, at) = match one.place {
                    Place::Before(at) => (0, at),
                    Place::After(at) => (1, at),
                };
                out.push(tag);
                out.extend(at.to_be_bytes());
                out.extend((one.predicates.len() as u32).to_be_bytes());
                one.predicates.iter().for_each(|predicate| write(predicate, &mut out));
            }
        }
        out
    }

    /// The same from bytes; `None` if they are none.
    pub fn read(bytes: &[u8]) -> Option<Plan> {
        let mut reader = Reader(bytes);
        let mut plan = Plan::default();
        for _ in 0..reader.u4()? {
            let method = reader.u2()?;
            let mut list = Vec::new();
            for _ in 0..reader.u4()? {
                let place = match reader.u1()? {
                    0 => Place::Before(reader.u2()?),
                    1 => Place::After(reader.u2()?),
                    _ => return None,
                };
                let mut predicates = Vec::new();
                for _ in 0..reader.u4()? {
                    predicates.push(reader.formula(0)?);
                }
                list.push(Planned { place, predicates });
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
        Formula::Held(held) => {
            out.push(0);
            match held {
                Held::Local(local, of) => {
                    out.extend([0, kind(of)]);
                    out.extend(local.to_be_bytes());
                }
                Held::Old(local, of, at) => {
                    out.extend([1, kind(of)]);
                    out.extend(local.to_be_bytes());
                    out.extend(at.to_be_bytes());
                }
                Held::Pushed(at, of) => {
                    out.extend([2, kind(of)]);
                    out.extend(at.to_be_bytes());
                }
                Held::Field(field, of) => {
                    out.extend([3, kind(of)]);
                    out.extend(field.to_be_bytes());
                }
                Held::Top(below) => {
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
        Formula::One(One::Convert(code), _) => out.extend([3, *code]),
        Formula::One(one, _) => out.extend([4, number(&ONES, one)]),
        Formula::Two(Two::Arith(code), _) => out.extend([5, *code]),
        Formula::Two(Two::Compare(of, relation), _) => out.extend([6, kind(of), number(&RELATIONS, relation)]),
        Formula::Two(Two::Both, _) => out.push(7),
        Formula::Two(Two::Either, _) => out.push(8),
        Formula::Choice(_) => out.push(9),
    }
    formula.parts().into_iter().for_each(|part| write(part, out));
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
        if depth > DEEPEST {
            return None;
        }
        let below = depth + 1;
        Some(match self.u1()? {
            0 => {
                let (tag, kind) = (self.u1()?, self.kind()?);
                Formula::Held(match tag {
                    0 => Held::Local(self.u2()?, kind),
                    1 => Held::Old(self.u2()?, kind, self.u2()?),
                    2 => Held::Pushed(self.u2()?, kind),
                    3 => Held::Field(self.u2()?, kind),
                    4 => Held::Top(self.u2()?),
                    _ => return None,
                })
            }
            1 => Formula::Int(i32::from_be_bytes(self.take()?)),
            2 => Formula::Long(i64::from_be_bytes(self.take()?)),
            3 => Formula::One(One::Convert(self.u1()?), Box::new(self.formula(below)?)),
            4 => Formula::One(*ONES.get(usize::from(self.u1()?))?, Box::new(self.formula(below)?)),
            5 => self.two(Two::Arith, depth)?,
            6 => {
                let (kind, relation) = (self.kind()?, *RELATIONS.get(usize::from(self.u1()?))?);
                Formula::Two(Two::Compare(kind, relation), Box::new((self.formula(below)?, self.formula(below)?)))
            }
            7 => Formula::Two(Two::Both, Box::new((self.formula(below)?, self.formula(below)?))),
            8 => Formula::Two(Two::Either, Box::new((self.formula(below)?, self.formula(below)?))),
            9 => Formula::Choice(Box::new((self.formula(below)?, self.formula(below)?, self.formula(below)?))),
            _ => return None,
        })
    }

    fn two(&mut self, made: impl Fn(u8) -> Two, depth: usize) -> Option<Formula> {
        let code = self.u1()?;
        Some(Formula::Two(made(code), Box::new((self.formula(depth + 1)?, self.formula(depth + 1)?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_as_it_was_written() {
        let held = |held| Box::new(Formula::Held(held));
        let sum = Formula::Two(
            Two::Arith(96),
            Box::new((Formula::Held(Held::Local(3, SlotKind::Int)), Formula::Held(Held::Old(2, SlotKind::Int, 9)))),
        );
        let bits = Formula::One(One::FloatBits, held(Held::Pushed(7, SlotKind::Float)));
        let differ = Formula::Two(Two::Compare(SlotKind::Int, Relation::Less), Box::new((sum, bits)));
        let null = Formula::One(One::IsNull, held(Held::Top(1)));
        let wide = Formula::One(One::Convert(136), Box::new(Formula::Long(-5)));
        let field = Formula::Held(Held::Field(12, SlotKind::Int));
        let choice = Formula::Choice(Box::new((null, wide, field)));
        let both =
            Formula::Two(Two::Both, Box::new((differ.clone(), Formula::One(One::Not, Box::new(Formula::Int(1))))));
        let either = Formula::Two(Two::Either, Box::new((both, choice)));
        let planned = [
            Planned { place: Place::Before(4), predicates: vec![differ] },
            Planned { place: Place::After(9), predicates: vec![either] },
        ];
        let plan = Plan { methods: BTreeMap::from([(2, planned.to_vec())]) };
        let bytes = plan.bytes();
        assert_eq!(Plan::read(&bytes), Some(plan));
        for end in 0..bytes.len() {
            assert_eq!(Plan::read(&bytes[..end]), None);
        }
    }
}
