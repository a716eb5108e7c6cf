//! What is asked of values: before an instruction, whether it is going to throw; before a label, whether it holds; where a method
//! begins, which parts of their domains its arguments are in. Each answer that may be yes has a probe.

use crate::cfg::blocks::Flow;
use crate::layout::probe_layout::Numbers;
use crate::layout::probe_request::Wanted;
use crate::trace::events::{Called, Followed};
use std::collections::BTreeMap;
use touchstone_classfile::{Arith, ArrayKind, ClassFile, Desc, Insn, Member, MethodDesc, SlotKind, access};

/// The class whose method `label` marks labels.
const LABEL: &str = "touchstone/Label";

/// What is asked before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Question {
    /// Is the object null that it needs?
    Null,
    /// Is the index outside of the array?
    Outside,
    /// Does the array hold no such objects?
    Store,
    /// Is the divisor zero?
    Zero,
    /// Is a length negative?
    Negative,
    /// Is the object of another class?
    Cast,
    /// Does the label hold?
    Label,
}

/// A part of the domain of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DomainPart {
    /// Of a number.
    Negative,
    /// Of a number; of a truth value: false.
    Zero,
    /// Of a number; of a truth value: true.
    Positive,
    /// Of a number that is no float.
    Least,
    /// Of a number that is no float.
    Greatest,
    /// Of a float.
    NoNumber,
    /// Of a reference.
    Null,
    /// Of a reference.
    NotNull,
}

impl DomainPart {
    /// Which of the probes of its parameter it has.
    pub(crate) fn number(self) -> u32 {
        match self {
            DomainPart::Negative | DomainPart::Null => 0,
            DomainPart::Zero | DomainPart::NotNull => 1,
            DomainPart::Positive => 2,
            DomainPart::Least | DomainPart::NoNumber => 3,
            DomainPart::Greatest => 4,
        }
    }
}

/// So many probes has a parameter.
const PARTS: u32 = 5;

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Input {
    /// The local variable that it is when the method begins.
    pub local: usize,
    pub desc: Desc,
    /// The first of its probes.
    pub first: u32,
}

/// What a method is asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// By instruction: the questions, with their probes.
    pub before: BTreeMap<usize, Vec<(Question, u32)>>,
    /// The parameters, in order, without the object that the method is called on.
    pub inputs: Vec<Input>,
}

impl Asked {
    pub fn new(class: &ClassFile, method: &Member, flow: &Flow, wanted: Wanted, numbers: &mut Numbers) -> Asked {
        let mut asked = Asked::default();
        let asking = Asking::new(class, method, flow);
        for index in 0..flow.insns.len() {
            let wanted = |question: &Question| match question {
                Question::Label => wanted.labels,
                _ => wanted.errors,
            };
            let questions = asking.before(index).into_iter().filter(wanted);
            let questions: Vec<(Question, u32)> = questions.map(|question| (question, numbers.take(1))).collect();
            if !questions.is_empty() {
                asked.before.insert(index, questions);
            }
        }
        if let (true, Some(desc)) = (wanted.inputs, MethodDesc::parse(&method.desc)) {
            let mut local = usize::from(!method.is(access::STATIC));
            for param in desc.params {
                let wide = param.is_wide();
                asked.inputs.push(Input { local, desc: param, first: numbers.take(PARTS) });
                local += if wide { 2 } else { 1 };
            }
        }
        asked
    }

    /// The probe of a question before an instruction.
    pub fn probe(&self, insn: usize, question: Question) -> Option<u32> {
        self.before.get(&insn)?.iter().find(|(own, _)| *own == question).map(|(_, probe)| *probe)
    }
}

struct Asking<'m> {
    class: &'m ClassFile,
    flow: &'m Flow,
    /// Whether the first local is the object that the method is called on, all the time.
    keeps_this: bool,
    /// In a constructor: the call of another one. Before it, nobody but that may be given the object.
    constructor: Option<usize>,
}

impl Asking<'_> {
    fn new<'m>(class: &'m ClassFile, method: &Member, flow: &'m Flow) -> Asking<'m> {
        let stores = |insn: &Insn| matches!(insn, Insn::Store(_, 0));
        let constructor = match &*method.name {
            "<init>" => Followed::new(class, method).and_then(|followed| followed.own_constructor()),
            _ => None,
        };
        let keeps_this = !method.is(access::STATIC) && !flow.insns.iter().any(|insn| stores(&insn.insn));
        Asking { class, flow, keeps_this, constructor }
    }

    fn before(&self, index: usize) -> Vec<Question> {
        let insn = &self.flow.insns[index].insn;
        match insn {
            Insn::GetField(_) | Insn::ArrayLength | Insn::Throw | Insn::MonitorEnter if !self.is_on_this(index) => {
                vec![Question::Null]
            }
            Insn::PutField(field) if !self.makes_own(index, *field) => vec![Question::Null],
            Insn::ArrayStore(ArrayKind::Ref) => vec![Question::Null, Question::Outside, Question::Store],
            Insn::ArrayLoad(_) | Insn::ArrayStore(_) => vec![Question::Null, Question::Outside],
            Insn::Arith(Arith::Div | Arith::Rem, SlotKind::Int | SlotKind::Long) => vec![Question::Zero],
            Insn::NewArray(_) | Insn::NewRefArray(_) | Insn::NewMultiArray(..) => vec![Question::Negative],
            Insn::CheckCast(_) => vec![Question::Cast],
            _ => match Called::of(self.class, insn) {
                Some(called) if called.has_receiver => {
                    let is_this = called.desc.params.is_empty() && self.is_on_this(index);
                    if is_this { Vec::new() } else { vec![Question::Null] }
                }
                Some(called) if (&*called.member.class, &*called.member.name) == (LABEL, "label") => {
                    if called.desc.params.len() == 2 { vec![Question::Label] } else { Vec::new() }
                }
                _ => Vec::new(),
            },
        }
    }

    /// Whether what is on top of the stack is the object that the method is called on.
    fn is_on_this(&self, index: usize) -> bool {
        let before = index.checked_sub(1).filter(|before| self.flow.block_of(*before) == self.flow.block_of(index));
        self.keeps_this && before.is_some_and(|before| self.flow.insns[before].insn == Insn::Load(SlotKind::Ref, 0))
    }

    /// Whether a field may be one of an object that is none yet.
    fn makes_own(&self, index: usize, field: u16) -> bool {
        self.constructor.is_some_and(|call| index < call)
            && self.class.pool.field(field).is_ok_and(|field| field.class == self.class.name)
    }
}
