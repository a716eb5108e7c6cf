//! The kinds of values that frames hold, as the JVM's verifier derives them from stack maps. The verifier would reject code that reads other
//! locals.

use crate::cfg::blocks::MethodCfg;
use crate::cfg::call_target::{CallTarget, constructor_call};
use crate::encode::stack_maps::{self, InitialFrame, Receiver, VerificationType};
use std::collections::BTreeMap;
use touchstone_classfile::{
    ArrayKind, Attribute, ClassFile, Convert, Desc, Insn, Member, MethodDesc, SlotKind, access,
};

/// Maps local variables that hold a usable value to its kind.
type Locals = BTreeMap<u16, SlotKind>;

/// The kinds of the local variables of a method at each instruction.
#[derive(Debug)]
pub struct FrameTypes {
    cfg: MethodCfg,
    /// The locals before each instruction.
    before: Vec<Locals>,
    /// The locals after each instruction.
    after: Vec<Locals>,
    /// In a constructor: the call of `this(...)` or `super(...)`, after which the receiver is initialised.
    constructor_call: Option<usize>,
    is_constructor: bool,
    has_receiver: bool,
}

fn of_frame(types: &[VerificationType]) -> Locals {
    let mut locals = Locals::new();
    let mut next = 0;
    for own in types {
        let kind = own.kind();
        if let Some(kind) = kind {
            locals.insert(next, kind);
        }
        next += if kind.is_some_and(SlotKind::is_wide) { 2 } else { 1 };
    }
    locals
}

impl FrameTypes {
    /// Computes them, or returns `None` if the method has no code or its class is older than stack maps.
    pub fn new(class: &ClassFile, method: &Member) -> Option<FrameTypes> {
        let code = method.code()?;
        let cfg = MethodCfg::new(code)?;
        let receiver = match (method.is(access::STATIC), &*method.name) {
            (true, _) => None,
            (false, "<init>") => Some(Receiver::Uninitialized),
            (false, _) => Some(Receiver::Object(0)),
        };
        let initial = InitialFrame::new(&MethodDesc::parse(&method.desc)?, receiver, &mut |_| 0);
        let table = code.attributes.iter().find_map(|attribute| match attribute {
            Attribute::Other { name, bytes } if &**name == "StackMapTable" => Some(bytes),
            _ => None,
        });
        let frames = match table {
            Some(table) => stack_maps::read(table, &initial)?,
            None if class.major < 51 => return None,
            None => Vec::new(),
        };
        let frames: BTreeMap<usize, Locals> = frames.iter().map(|frame| (frame.at, of_frame(&frame.locals))).collect();
        let mut now = of_frame(&initial.locals);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for insn in &cfg.insns {
            if let Some(frame) = frames.get(&insn.at) {
                now = frame.clone();
            }
            before.push(now.clone());
            if let Insn::Store(kind, local) = insn.insn {
                store(&mut now, local, kind);
            }
            after.push(now.clone());
            if insn.insn.ends() {
                now = Locals::new();
            }
        }
        let is_constructor = &*method.name == "<init>";
        let constructor_call = if is_constructor { constructor_call(class, &cfg) } else { None };
        Some(FrameTypes { cfg, before, after, constructor_call, is_constructor, has_receiver: receiver.is_some() })
    }

    /// Returns true if a local holds a value of this kind before the instruction at an offset.
    pub fn holds_before(&self, at: usize, local: u16, kind: SlotKind) -> bool {
        self.cfg
            .index(at)
            .is_some_and(|insn| self.before[insn].get(&local) == Some(&kind) && self.is_initialised(insn, local))
    }

    /// Returns true if a local holds a value of this kind after the instruction at an offset.
    pub fn holds_after(&self, at: usize, local: u16, kind: SlotKind) -> bool {
        self.cfg
            .index(at)
            .is_some_and(|insn| self.after[insn].get(&local) == Some(&kind) && self.is_initialised(insn, local))
    }

    /// Returns true if the first local is the initialised receiver.
    pub fn has_receiver(&self, at: usize) -> bool {
        let stores = |insn: &Insn| matches!(insn, Insn::Store(_, 0));
        self.has_receiver
            && self.holds_before(at, 0, SlotKind::Ref)
            && !self.cfg.insns.iter().any(|insn| stores(&insn.insn))
    }

    fn is_initialised(&self, insn: usize, local: u16) -> bool {
        local != 0 || !self.is_constructor || self.constructor_call.is_some_and(|call| call < insn)
    }

    /// Returns the kind of the number that the instruction at an offset pushes, or `None` if it pushes none.
    pub fn pushed(&self, class: &ClassFile, at: usize) -> Option<SlotKind> {
        let insn = &self.cfg.insns[self.cfg.index(at)?].insn;
        let kind = match insn {
            Insn::Arith(_, kind) | Insn::Neg(kind) => *kind,
            Insn::Convert(Convert::Kinds(_, to)) => *to,
            Insn::Convert(_) | Insn::Compare(..) | Insn::ArrayLength | Insn::InstanceOf(_) => SlotKind::Int,
            Insn::GetField(field) | Insn::GetStatic(field) => Desc::parse(&class.pool.field(*field).ok()?.desc)?.kind(),
            Insn::ArrayLoad(array) => match array {
                ArrayKind::Long => SlotKind::Long,
                ArrayKind::Float => SlotKind::Float,
                ArrayKind::Double => SlotKind::Double,
                ArrayKind::Ref => SlotKind::Ref,
                _ => SlotKind::Int,
            },
            _ => match CallTarget::of(class, insn)?.desc.result {
                Desc::Void => return None,
                result => result.kind(),
            },
        };
        (kind != SlotKind::Ref).then_some(kind)
    }

    /// Returns true if two instructions are in the same block, in this order.
    pub fn in_order(&self, first: usize, second: usize) -> bool {
        match (self.cfg.index(first), self.cfg.index(second)) {
            (Some(first), Some(second)) => first <= second && self.cfg.block_of(first) == self.cfg.block_of(second),
            _ => false,
        }
    }
}

fn store(locals: &mut Locals, index: u16, kind: SlotKind) {
    // A wide value of which one half is overwritten can't be used.
    if let Some(below) = index.checked_sub(1)
        && locals.get(&below).is_some_and(|kind| kind.is_wide())
    {
        locals.remove(&below);
    }
    if kind.is_wide() {
        locals.remove(&index.saturating_add(1));
    }
    locals.insert(index, kind);
}
