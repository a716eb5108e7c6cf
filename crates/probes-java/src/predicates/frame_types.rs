//! What is where in a frame of the JVM, as far as the JVM itself is sure of it: code that looks elsewhere would be refused.

use crate::cfg::blocks::Flow;
use crate::encode::stack_maps::{self, Beginning, Receiver};
use crate::trace::events::{Called, Followed};
use std::collections::BTreeMap;
use touchstone_classfile::{
    ArrayKind, Attribute, ClassFile, Convert, Desc, Insn, Member, MethodDesc, SlotKind, access,
};

/// The locals that hold something.
type Locals = BTreeMap<u16, SlotKind>;

/// What is where in the frames of a method.
#[derive(Debug)]
pub struct Kinds {
    flow: Flow,
    /// By instruction: before it,
    before: Vec<Locals>,
    /// and behind it.
    after: Vec<Locals>,
    /// The object that the method is called on is one behind this instruction: in a constructor, the call of another one.
    made_by: Option<usize>,
    is_constructor: bool,
    has_receiver: bool,
}

/// The kind of what has a type.
pub fn kind_of(desc: &Desc) -> SlotKind {
    match desc {
        Desc::Long => SlotKind::Long,
        Desc::Float => SlotKind::Float,
        Desc::Double => SlotKind::Double,
        Desc::Ref(_) => SlotKind::Ref,
        _ => SlotKind::Int,
    }
}

fn of_frame(held: &[stack_maps::Held]) -> Locals {
    let mut locals = Locals::new();
    let mut next = 0;
    for held in held {
        let kind = held.kind();
        if let Some(kind) = kind {
            locals.insert(next, kind);
        }
        next += if kind.is_some_and(SlotKind::is_wide) { 2 } else { 1 };
    }
    locals
}

impl Kinds {
    /// Of a method; `None` if it has no code, or if its class has no stack maps, and so is nothing that today's compilers make.
    pub fn new(class: &ClassFile, method: &Member) -> Option<Kinds> {
        let code = method.code()?;
        let flow = Flow::new(code)?;
        let receiver = match (method.is(access::STATIC), &*method.name) {
            (true, _) => None,
            (false, "<init>") => Some(Receiver::New),
            (false, _) => Some(Receiver::Object(0)),
        };
        let beginning = Beginning::new(&MethodDesc::parse(&method.desc)?, receiver, &mut |_| 0);
        let table = code.attributes.iter().find_map(|attribute| match attribute {
            Attribute::Other { name, bytes } if &**name == "StackMapTable" => Some(bytes),
            _ => None,
        });
        let frames = match table {
            Some(table) => stack_maps::read(table, &beginning)?,
            None if class.major < 51 => return None,
            None => Vec::new(),
        };
        let frames: BTreeMap<usize, Locals> = frames.iter().map(|frame| (frame.at, of_frame(&frame.locals))).collect();
        let mut now = of_frame(&beginning.locals);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for insn in &flow.insns {
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
        let made_by = Followed::new(class, method).and_then(|followed| followed.own_constructor());
        Some(Kinds { flow, before, after, made_by, is_constructor, has_receiver: receiver.is_some() })
    }

    /// Whether a local holds something of this kind before the instruction at a position.
    pub fn before(&self, at: usize, local: u16, kind: SlotKind) -> bool {
        self.flow
            .index(at)
            .is_some_and(|insn| self.before[insn].get(&local) == Some(&kind) && self.is_made(insn, local))
    }

    /// The same behind it.
    pub fn after(&self, at: usize, local: u16, kind: SlotKind) -> bool {
        self.flow.index(at).is_some_and(|insn| self.after[insn].get(&local) == Some(&kind) && self.is_made(insn, local))
    }

    /// Whether the first local is the object that the method is called on, and a constructor has made it.
    pub fn has_object(&self, at: usize) -> bool {
        let stores = |insn: &Insn| matches!(insn, Insn::Store(_, 0));
        self.has_receiver && self.before(at, 0, SlotKind::Ref) && !self.flow.insns.iter().any(|insn| stores(&insn.insn))
    }

    fn is_made(&self, insn: usize, local: u16) -> bool {
        local != 0 || !self.is_constructor || self.made_by.is_some_and(|call| call < insn)
    }

    /// The number that the instruction at a position leaves on top of the stack; `None` if it leaves none.
    pub fn pushed(&self, class: &ClassFile, at: usize) -> Option<SlotKind> {
        let insn = &self.flow.insns[self.flow.index(at)?].insn;
        let kind = match insn {
            Insn::Arith(_, kind) | Insn::Neg(kind) => *kind,
            Insn::Convert(Convert::Kinds(_, to)) => *to,
            Insn::Convert(_) | Insn::Compare(..) | Insn::ArrayLength | Insn::InstanceOf(_) => SlotKind::Int,
            Insn::GetField(field) | Insn::GetStatic(field) => {
                kind_of(&Desc::parse(&class.pool.field(*field).ok()?.desc)?)
            }
            Insn::ArrayLoad(array) => match array {
                ArrayKind::Long => SlotKind::Long,
                ArrayKind::Float => SlotKind::Float,
                ArrayKind::Double => SlotKind::Double,
                ArrayKind::Ref => SlotKind::Ref,
                _ => SlotKind::Int,
            },
            _ => match Called::of(class, insn)?.desc.result {
                Desc::Void => return None,
                result => kind_of(&result),
            },
        };
        (kind != SlotKind::Ref).then_some(kind)
    }

    /// Whether two instructions stand in the same block, in this order.
    pub fn in_order(&self, first: usize, second: usize) -> bool {
        match (self.flow.index(first), self.flow.index(second)) {
            (Some(first), Some(second)) => first <= second && self.flow.block_of(first) == self.flow.block_of(second),
            _ => false,
        }
    }
}

fn store(locals: &mut Locals, index: u16, kind: SlotKind) {
    // Half of what was wide is nothing.
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
