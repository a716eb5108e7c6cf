//! Objects that hold a lot: one method is called many times, with numbers that follow a rule, or without. A few single calls never fill
//! what grows, make deep trees and long chains, or let something happen only after a while.
//!
//! The numbers are constants, so such an object costs a search no questions. Single calls come after them, and one may come before:
//! somebody has passed a gate before it is pushed too often.

use super::builder::{Builder, int};
use super::generics::Types;
use super::planning::Planner;
use super::world::{Func, World};
use crate::classfile::{Desc, Generic, MethodDesc};
use crate::world::{ClassId, MethodRef, Refusal};
use std::ops::Range;
use touchstone_fixture_java::{ApiCall, Construction, FillLoop, FillLoops, FillPosition, FixtureValue};
use touchstone_ir::{BinOp, BlockId, BranchRole, CastOp, CmpOp, Operand, Reg, Ty};

/// So many methods are called often.
const MOST_METHODS: usize = 2;

/// A rule: how many numbers, and what the number at `i` is.
struct Rule {
    count: u32,
    factor: i32,
    modulus: Option<i32>,
    text: &'static str,
}

const RULES: [Rule; 8] = [
    Rule { count: 20, factor: 1, modulus: None, text: "i" },
    Rule { count: 20, factor: -1, modulus: None, text: "-i" },
    // In no order.
    Rule { count: 40, factor: 37, modulus: Some(64), text: "i * 37 % 64" },
    // The same place in tables of hash codes.
    Rule { count: 120, factor: 64, modulus: None, text: "i * 64" },
    // So few that such a place is about to be something else.
    Rule { count: 8, factor: 64, modulus: None, text: "i * 64" },
    // Of methods that take nothing.
    Rule { count: 3, factor: 0, modulus: None, text: "" },
    Rule { count: 6, factor: 0, modulus: None, text: "" },
    Rule { count: 12, factor: 0, modulus: None, text: "" },
];

/// The rules of methods that take numbers, and of those that take nothing.
const OF_NUMBERS: Range<usize> = 0..5;
const OF_NOTHING: Range<usize> = 5..8;

impl Planner<'_> {
    /// What fills an object that is made in one of these ways, if something does.
    pub(super) fn many(&mut self, methods: &[MethodRef], types: &Types, ways: &[Construction]) -> Option<FillLoops> {
        let simple: Vec<usize> = (0..ways.len()).filter(|at| is_simple(&ways[*at])).collect();
        let first = ways.iter().position(|way| matches!(way, Construction::New(_)));
        let ways = if simple.is_empty() { first.into_iter().collect() } else { simple };
        let takes = |method: &MethodRef| {
            let mut takes = self.method_types(*method, types);
            takes.pop();
            (*method, takes)
        };
        let simple: Vec<(MethodRef, Vec<Generic>)> =
            methods.iter().map(takes).filter(|(_, takes)| takes.iter().all(is_number)).collect();
        let (repeated, filling): (Vec<_>, Vec<_>) = simple.into_iter().partition(|(_, takes)| takes.is_empty());
        let filling = filling.into_iter().take(MOST_METHODS).map(|method| (method, OF_NUMBERS));
        let repeated = repeated.into_iter().take(MOST_METHODS).map(|method| (method, OF_NOTHING));
        let chosen: Vec<_> = filling.chain(repeated).collect();
        if ways.is_empty() || chosen.is_empty() {
            return None;
        }
        let selector = self.param("many", Desc::Int);
        let mut all = Vec::new();
        for ((method, takes), rules) in chosen {
            let name = self.world.classes.method(method).name.to_string();
            for rule in rules {
                let number = &RULES[rule];
                let cast = |taken: &Generic| match taken.erased() {
                    Desc::Int | Desc::Ref(_) | Desc::Long => number.text.to_string(),
                    small => format!("({}) ({})", Generic::of(&small).text(), number.text),
                };
                let arguments: Vec<String> = takes.iter().map(cast).collect();
                let call = format!("{name}({})", arguments.join(", "));
                all.push(FillLoop { method, rule, position: FillPosition::First, count: number.count, call });
            }
        }
        // What takes numbers mostly finds an empty object; what takes nothing needs some state to change.
        let repeated = all.iter().filter(|series| OF_NOTHING.contains(&series.rule)).cloned();
        let later: Vec<FillLoop> =
            repeated.map(|series| FillLoop { position: FillPosition::AfterOneCall, ..series }).collect();
        all.extend(later);
        Some(FillLoops { selector, constructions: ways, loops: all })
    }
}

impl Planner<'_> {
    /// What else fills a collection that a method takes, if numbers do: a few elements never make what they are put into grow.
    pub(super) fn many_elements(&mut self, class: ClassId, ty: &Generic, ways: &[Construction]) -> Option<FillLoops> {
        let (at, add) = ways.iter().enumerate().find_map(|(at, way)| match way {
            Construction::Collection { add, .. } => Some((at, *add)),
            _ => None,
        })?;
        let Generic::Class(_, arguments) = ty else { return None };
        let member = self.world.classes.method(add);
        let (name, desc) = (member.name.clone(), member.desc.clone());
        // Tests have a variable of the type that the method names.
        self.world.classes.find_method(class, &name, &desc)?;
        if !arguments.iter().all(is_number) {
            return None;
        }
        let takes = MethodDesc::parse(&desc).map_or(0, |desc| desc.params.len());
        let number = &RULES[0];
        let call = format!("{name}({})", vec![number.text; takes].join(", "));
        let loops = vec![FillLoop { method: add, rule: 0, position: FillPosition::First, count: number.count, call }];
        Some(FillLoops { selector: self.param("many", Desc::Int), constructions: vec![at], loops })
    }
}

/// Whether an object that is made in a way is the same for every test, but for a few choices.
fn is_simple(way: &Construction) -> bool {
    let is_choice = |making: &FixtureValue| match making {
        FixtureValue::Parameter(_) => false,
        FixtureValue::Object(object) => object.constructions.iter().all(|way| {
            matches!(
                way,
                Construction::Null
                    | Construction::Factory(_)
                    | Construction::Constant { .. }
                    | Construction::Stub { .. }
            )
        }),
    };
    matches!(way, Construction::New(ApiCall { arguments, .. }) if arguments.iter().all(is_choice))
}

/// Whether tests pass numbers for a type.
fn is_number(ty: &Generic) -> bool {
    match ty {
        Generic::Class(name, _) => {
            matches!(&**name, "java/lang/Integer" | "java/lang/Object" | "java/lang/Comparable" | "java/lang/Number")
        }
        _ => matches!(ty.erased(), Desc::Byte | Desc::Short | Desc::Int | Desc::Long),
    }
}

impl World {
    /// Makes the calls that `chosen` says, if they stand here. Later it is asked again.
    pub(super) fn make_many(
        &mut self,
        b: &mut Builder,
        many: &FillLoops,
        (chosen, now): (Reg, FillPosition),
        object: Reg,
        others: BlockId,
    ) -> Result<(), Refusal> {
        let (entry, done) = (b.here(), b.block());
        let mut arms = vec![super::scenario::arm(0, done)];
        for (number, series) in many.loops.iter().enumerate() {
            if series.position != now {
                arms.push(super::scenario::arm(number + 1, done));
                continue;
            }
            let block = b.block();
            arms.push(super::scenario::arm(number + 1, block));
            b.at(block);
            self.make_series(b, series, object)?;
            b.jump(done);
        }
        b.at(entry);
        b.switch(Operand::Reg(chosen), arms, others, BranchRole::Check);
        b.at(done);
        Ok(())
    }

    fn make_series(&mut self, b: &mut Builder, series: &FillLoop, object: Reg) -> Result<(), Refusal> {
        let rule = &RULES[series.rule];
        let (counter, head, end) = (b.reg(Ty::I32), b.block(), b.block());
        b.copy(counter, int(0));
        b.jump(head);
        b.at(head);
        let more = b.cmp(CmpOp::Ult, Operand::Reg(counter), int(rule.count as i32));
        b.check(more, end);
        let product = b.bin(BinOp::Mul, Operand::Reg(counter), int(rule.factor));
        let number = match rule.modulus {
            Some(modulus) => b.bin(BinOp::URem, product, int(modulus)),
            None => product,
        };
        let number = b.kept(number);
        let (params, result) = self.signature(series.method);
        let mut arguments = vec![Operand::Reg(object)];
        let desc = MethodDesc::parse(&self.classes.method(series.method).desc);
        let taken = desc.map_or(Vec::new(), |desc| desc.params);
        debug_assert_eq!(params.len(), taken.len() + 1);
        for param in &taken {
            arguments.push(match param {
                Desc::Ref(_) => {
                    let method = self.jdk_method("java/lang/Integer", "valueOf", "(I)Ljava/lang/Integer;")?;
                    self.ensure_init(b, method.class);
                    let boxed = self.call_method(b, method, vec![number]);
                    b.kept(boxed)
                }
                Desc::Long => b.cast(CastOp::Sext, Ty::I64, number),
                Desc::Short => narrowed(b, number, Ty::I16),
                Desc::Byte => narrowed(b, number, Ty::I8),
                _ => number,
            });
        }
        let function = match self.is_fixed(series.method) {
            true => self.func(Func::Method(series.method)),
            false => self.newest(|generation| Func::Dispatch(series.method, generation)),
        };
        b.call(function, arguments, result);
        let next = b.bin(BinOp::Add, Operand::Reg(counter), int(1));
        b.copy(counter, next);
        b.jump(head);
        b.at(end);
        Ok(())
    }
}

/// A number as a smaller type has it.
fn narrowed(b: &mut Builder, number: Operand, ty: Ty) -> Operand {
    let small = b.cast(CastOp::Trunc, ty, number);
    b.cast(CastOp::Sext, Ty::I32, small)
}
