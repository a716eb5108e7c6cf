//! The checks that follow from the bytecode: whether an instruction is about to throw, whether a label holds, and in which part of its domain
//! each argument is. Each check has a probe.

use crate::cfg::blocks::MethodCfg;
use crate::cfg::call_target::{CallTarget, constructor_call};
use std::collections::BTreeMap;
use touchstone_classfile::{Arith, ArrayKind, ClassFile, Desc, Insn, Member, MethodDesc, SlotKind, access};

/// The class whose method `label` marks labels in the source.
const LABEL: &str = "touchstone/Label";

/// A check of operands before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ValueCheck {
    /// The dereferenced object is null.
    Null,
    /// The index is out of the bounds of the array.
    OutOfBounds,
    /// The array can't hold objects of that class.
    ArrayStore,
    /// The divisor is zero.
    Zero,
    /// The length of a new array is negative.
    NegativeLength,
    /// The object is of another class.
    ClassCast,
    /// The label holds.
    Label,
}

/// A part of the domain of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DomainPart {
    /// Negative numbers.
    Negative,
    /// Zero, or false.
    Zero,
    /// Positive numbers, or true.
    Positive,
    /// The smallest value of an integer type.
    Minimum,
    /// The largest value of an integer type.
    Maximum,
    /// NaN of a floating-point type.
    NaN,
    /// The null reference.
    Null,
    /// References to objects.
    NotNull,
}

impl DomainPart {
    /// The offset of its probe from the first probe of the parameter. `HitsValueChecks.java` has the same numbers.
    pub(crate) fn number(self) -> u32 {
        match self {
            DomainPart::Negative | DomainPart::Null => 0,
            DomainPart::Zero | DomainPart::NotNull => 1,
            DomainPart::Positive => 2,
            DomainPart::Minimum | DomainPart::NaN => 3,
            DomainPart::Maximum => 4,
        }
    }
}

/// The number of probes of a parameter or a result.
const PROBES_PER_DOMAIN: u32 = 5;

/// The probes of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct InputProbes {
    /// The local variable that holds it at the entry of the method.
    pub local: usize,
    pub desc: Desc,
    /// The first of its probes.
    pub first: u32,
}

/// The checks of a method, with their probes.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckProbes {
    /// Maps an instruction to the checks before it.
    pub before: BTreeMap<usize, Vec<(ValueCheck, u32)>>,
    /// The parameters in order, without the receiver.
    pub inputs: Vec<InputProbes>,
    /// The result, with the first of its probes.
    pub result: Option<(Desc, u32)>,
}

impl CheckProbes {
    /// Computes the checks before instructions that `is_requested` selects. `reserve` takes a number of new probes and returns the first.
    pub fn new(
        class: &ClassFile,
        method: &Member,
        cfg: &MethodCfg,
        is_requested: impl Fn(ValueCheck) -> bool,
        reserve: &mut impl FnMut(u32) -> u32,
    ) -> CheckProbes {
        let mut probes = CheckProbes::default();
        let finder = CheckFinder::new(class, method, cfg);
        for index in 0..cfg.insns.len() {
            let checks = finder.before(index).into_iter().filter(|check| is_requested(*check));
            let checks: Vec<(ValueCheck, u32)> = checks.map(|check| (check, reserve(1))).collect();
            if !checks.is_empty() {
                probes.before.insert(index, checks);
            }
        }
        probes
    }

    /// Adds probes for the domains of the parameters.
    pub fn add_inputs(&mut self, method: &Member, reserve: &mut impl FnMut(u32) -> u32) {
        let Some(desc) = MethodDesc::parse(&method.desc) else { return };
        let mut local = usize::from(!method.is(access::STATIC));
        for param in desc.params {
            let words = param.kind().words();
            self.inputs.push(InputProbes { local, desc: param, first: reserve(PROBES_PER_DOMAIN) });
            local += usize::from(words);
        }
    }

    /// Adds probes for the domain of the result.
    pub fn add_result(&mut self, method: &Member, reserve: &mut impl FnMut(u32) -> u32) {
        let Some(desc) = MethodDesc::parse(&method.desc) else { return };
        self.result = (desc.result != Desc::Void).then(|| (desc.result, reserve(PROBES_PER_DOMAIN)));
    }

    /// Returns the probe of a check before an instruction.
    pub fn probe(&self, insn: usize, check: ValueCheck) -> Option<u32> {
        self.before.get(&insn)?.iter().find(|(own, _)| *own == check).map(|(_, probe)| *probe)
    }
}

struct CheckFinder<'m> {
    class: &'m ClassFile,
    cfg: &'m MethodCfg,
    /// True if the first local always holds the receiver.
    keeps_receiver: bool,
    /// In a constructor: the call of `this(...)` or `super(...)`. Before it, the receiver can't be passed to another method.
    constructor_call: Option<usize>,
}

impl CheckFinder<'_> {
    fn new<'m>(class: &'m ClassFile, method: &Member, cfg: &'m MethodCfg) -> CheckFinder<'m> {
        let stores = |insn: &Insn| matches!(insn, Insn::Store(_, 0));
        let constructor_call = if &*method.name == "<init>" { constructor_call(class, cfg) } else { None };
        let keeps_receiver = !method.is(access::STATIC) && !cfg.insns.iter().any(|insn| stores(&insn.insn));
        CheckFinder { class, cfg, keeps_receiver, constructor_call }
    }

    /// Returns the checks before an instruction. Receivers that are `this` are not checked.
    fn before(&self, index: usize) -> Vec<ValueCheck> {
        let insn = &self.cfg.insns[index].insn;
        match insn {
            Insn::GetField(_) | Insn::ArrayLength | Insn::Throw | Insn::MonitorEnter if !self.is_on_this(index) => {
                vec![ValueCheck::Null]
            }
            Insn::PutField(field) if !self.writes_uninitialised(index, *field) => vec![ValueCheck::Null],
            Insn::ArrayStore(ArrayKind::Ref) => {
                vec![ValueCheck::Null, ValueCheck::OutOfBounds, ValueCheck::ArrayStore]
            }
            Insn::ArrayLoad(_) | Insn::ArrayStore(_) => vec![ValueCheck::Null, ValueCheck::OutOfBounds],
            Insn::Arith(Arith::Div | Arith::Rem, SlotKind::Int | SlotKind::Long) => vec![ValueCheck::Zero],
            Insn::NewArray(_) | Insn::NewRefArray(_) | Insn::NewMultiArray(..) => vec![ValueCheck::NegativeLength],
            Insn::CheckCast(_) => vec![ValueCheck::ClassCast],
            _ => match CallTarget::of(self.class, insn) {
                Some(target) if target.has_receiver => {
                    let is_this = target.desc.params.is_empty() && self.is_on_this(index);
                    if is_this { Vec::new() } else { vec![ValueCheck::Null] }
                }
                Some(target) if (&*target.member.class, &*target.member.name) == (LABEL, "label") => {
                    if target.desc.params.len() == 2 { vec![ValueCheck::Label] } else { Vec::new() }
                }
                _ => Vec::new(),
            },
        }
    }

    /// Returns true if the operand on top of the stack is the receiver.
    fn is_on_this(&self, index: usize) -> bool {
        let before = index.checked_sub(1).filter(|before| self.cfg.block_of(*before) == self.cfg.block_of(index));
        self.keeps_receiver && before.is_some_and(|before| self.cfg.insns[before].insn == Insn::Load(SlotKind::Ref, 0))
    }

    /// Returns true if the instruction may write a field of the uninitialised receiver.
    fn writes_uninitialised(&self, index: usize, field: u16) -> bool {
        self.constructor_call.is_some_and(|call| index < call)
            && self.class.pool.field(field).is_ok_and(|field| field.class == self.class.name)
    }
}
