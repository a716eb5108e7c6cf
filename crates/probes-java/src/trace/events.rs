//! The events that a method records while it runs.
//!
//! They are what an interpreter of the same bytecode needs to follow the run without values: the outcomes of branches, and the identities
//! of the objects that are accessed and passed. Locals and the operand stack follow from the code.

use crate::cfg::blocks::{MethodCfg, is_conditional};
use crate::cfg::call_target::{CallTarget, constructor_call};
use crate::trace::implied_events::implied_events;
use std::collections::BTreeSet;
use touchstone_classfile::{ClassFile, Decoded, Desc, Insn, Member, access};

/// The event that is recorded before an instruction is executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InsnEvent {
    /// No event: the effect of the instruction follows from the code.
    None,
    /// No event: the instruction accesses a field of the receiver of the method, or returns, and is always executed after the event before it.
    Implied,
    /// The instruction itself.
    Instruction,
    /// The instruction and the object whose field is accessed.
    Object,
    /// The instruction, the array and the index.
    Element,
    /// A call with the recorded references: positions in the list of the receiver and the arguments.
    Call(Vec<usize>),
}

/// A method whose runs are traced.
#[derive(Clone, Debug)]
pub struct TracedMethod {
    pub(crate) cfg: MethodCfg,
    /// The event of each instruction.
    events: Vec<InsnEvent>,
    /// The blocks that record that they begin.
    recorded_blocks: BTreeSet<usize>,
    /// In a constructor: the call of `this(...)` or `super(...)`. The receiver is not initialised before it.
    constructor_call: Option<usize>,
    has_receiver: bool,
}

/// Immutable classes: their objects have no state to follow.
const IMMUTABLE: [&str; 10] = [
    "java/lang/String",
    "java/lang/Class",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Short",
    "java/lang/Byte",
    "java/lang/Character",
    "java/lang/Boolean",
    "java/lang/Float",
    "java/lang/Double",
];

/// The maximum number of references that the event of a call has.
const MAX_RECORDED_REFERENCES: usize = 8;

impl TracedMethod {
    /// Computes the events of a method, or returns `None` if it has no code or malformed code.
    pub fn new(class: &ClassFile, method: &Member) -> Option<TracedMethod> {
        let cfg = MethodCfg::new(method.code()?)?;
        let handlers = cfg.blocks.iter().flat_map(|block| block.handlers.iter().copied());
        let mut recorded_blocks: BTreeSet<usize> = handlers.collect();
        for block in &cfg.blocks {
            let last = &cfg.insns[block.last].insn;
            if is_conditional(last) || matches!(last, Insn::Switch(..)) {
                recorded_blocks.extend(&block.next);
            }
        }
        let is_constructor = &*method.name == "<init>";
        let constructor_call = if is_constructor { constructor_call(class, &cfg) } else { None };
        let insns = cfg.insns.iter().enumerate();
        let mut events: Vec<InsnEvent> =
            insns.map(|(index, insn)| event(class, &insn.insn, index, constructor_call)).collect();
        let has_receiver = !method.is(access::STATIC) && !is_constructor;
        for insn in implied_events(class, method, &cfg, &events, &recorded_blocks) {
            events[insn] = InsnEvent::Implied;
        }
        Some(TracedMethod { events, recorded_blocks, constructor_call, has_receiver, cfg })
    }

    /// The instructions in the order of the code.
    pub fn insns(&self) -> &[Decoded] {
        &self.cfg.insns
    }

    /// Returns the index of the instruction at a bytecode offset.
    pub fn index(&self, at: usize) -> Option<usize> {
        self.cfg.index(at)
    }

    /// Returns the event of an instruction.
    pub fn event(&self, insn: usize) -> &InsnEvent {
        &self.events[insn]
    }

    /// Returns true if an instruction records an event before it is executed.
    pub fn records_event(&self, insn: usize) -> bool {
        !matches!(self.events[insn], InsnEvent::None | InsnEvent::Implied)
    }

    /// Returns true if a block records that it begins, as all successors of branches and all exception handlers do.
    pub fn records_block(&self, block: usize) -> bool {
        self.recorded_blocks.contains(&block)
    }

    /// The number of basic blocks.
    pub fn blocks(&self) -> usize {
        self.cfg.blocks.len()
    }

    /// Returns the block that contains an instruction.
    pub fn block_of(&self, insn: usize) -> usize {
        self.cfg.block_of(insn)
    }

    /// Returns the first and the last instruction of a block.
    pub fn block_range(&self, block: usize) -> (usize, usize) {
        (self.cfg.blocks[block].first, self.cfg.blocks[block].last)
    }

    /// Returns the successors of a block, without exception handlers.
    pub fn next(&self, block: usize) -> &[usize] {
        &self.cfg.blocks[block].next
    }

    /// Maps each block to its immediate post-dominator, or to `None` if only the exit of the method post-dominates it.
    pub fn post_dominators(&self) -> Vec<Option<usize>> {
        let tree = self.cfg.post_dominators();
        (0..self.blocks()).map(|block| tree.immediate(block)).collect()
    }

    /// In a constructor: the call of `this(...)` or `super(...)`.
    pub fn constructor_call(&self) -> Option<usize> {
        self.constructor_call
    }

    /// Returns true if the method records its receiver when it begins.
    pub fn records_receiver(&self) -> bool {
        self.has_receiver
    }
}

fn event(class: &ClassFile, insn: &Insn, index: usize, constructor_call: Option<usize>) -> InsnEvent {
    let own_field = |field: u16| class.pool.field(field).is_ok_and(|field| field.class == class.name);
    match insn {
        Insn::GetField(_) => InsnEvent::Object,
        // Before the constructor call only the receiver can be written, and it may not be passed to the recorder.
        Insn::PutField(field) if constructor_call.is_some_and(|call| index < call) && own_field(*field) => {
            InsnEvent::None
        }
        Insn::PutField(_) => InsnEvent::Object,
        Insn::ArrayLoad(_) | Insn::ArrayStore(_) => InsnEvent::Element,
        Insn::PutStatic(_) | Insn::Return(_) => InsnEvent::Instruction,
        _ => match CallTarget::of(class, insn) {
            Some(target) => InsnEvent::Call(references(class, insn, &target)),
            None => InsnEvent::None,
        },
    }
}

/// Returns the references that the event of a call has. A call of a known method of the same class needs none: that method is traced, too.
fn references(class: &ClassFile, insn: &Insn, target: &CallTarget) -> Vec<usize> {
    let CallTarget { member, desc, has_receiver } = target;
    let is_own = member.class == class.name && class.method(&member.name, &member.desc).is_some();
    match insn {
        Insn::InvokeStatic(_) | Insn::InvokeSpecial(_) if is_own => return Vec::new(),
        Insn::InvokeDynamic(index) if creates_lambda(class, *index) => return Vec::new(),
        _ => {}
    }
    let is_mutable = |name: &str| !IMMUTABLE.contains(&name);
    let mut recorded = Vec::new();
    if *has_receiver && is_mutable(&member.class) {
        recorded.push(0);
    }
    // The receiver of a constructor has a position as well.
    let first = usize::from(!matches!(insn, Insn::InvokeStatic(_) | Insn::InvokeDynamic(_)));
    let params = desc.params.iter().enumerate();
    recorded.extend(params.filter_map(|(number, param)| match param {
        Desc::Ref(name) if is_mutable(name) => Some(first + number),
        _ => None,
    }));
    recorded.truncate(MAX_RECORDED_REFERENCES);
    recorded
}

/// Returns true if a dynamic call site creates the object of a lambda expression or method reference.
fn creates_lambda(class: &ClassFile, index: u16) -> bool {
    let bootstrap = class.pool.call_site(index).ok().and_then(|(bootstrap, ..)| class.bootstrap(bootstrap));
    let handle = bootstrap.and_then(|bootstrap| class.pool.handle(bootstrap.method).ok());
    handle.is_some_and(|handle| &*handle.member.class == "java/lang/invoke/LambdaMetafactory")
}
