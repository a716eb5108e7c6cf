//! Decoded functions: their instructions in a compact form for [`Machine::run_decoded`], decoded once for all runs.
//!
//! Every instruction and terminator of a function is one [`DecodedOp`]; points are left out for observers that watch
//! none. Operands are places in the frame of a call: its registers, and behind them the constants of the function.
//! Instructions that [`Machine::run_decoded`] leaves to [`Machine::step`] are [`DecodedOp::Other`].
//!
//! [`Machine::run_decoded`]: crate::machine::Machine::run_decoded
//! [`Machine::step`]: crate::machine::Machine::step

use crate::value::Value;
use rustc_hash::FxHashMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use touchstone_base::{Id, float};
use touchstone_ir::{
    BinOp, BlockId, BranchRole, Callee, CastOp, CmpOp, CondTag, FuncId, Function, GlobalId, Inst, InstKind, Operand,
    PointId, Reg, SlotId, SwitchArm, TermKind, Ty, mask,
};

/// An index into the registers and constants of a frame.
pub(crate) type Place = u32;

/// An instruction or terminator with resolved operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DecodedOp {
    Copy {
        dst: Place,
        src: Place,
    },
    Add32 {
        dst: Place,
        a: Place,
        b: Place,
    },
    Add64 {
        dst: Place,
        a: Place,
        b: Place,
    },
    Sub32 {
        dst: Place,
        a: Place,
        b: Place,
    },
    Sub64 {
        dst: Place,
        a: Place,
        b: Place,
    },
    Mul32 {
        dst: Place,
        a: Place,
        b: Place,
    },
    Mul64 {
        dst: Place,
        a: Place,
        b: Place,
    },
    /// Another operation that can't fail.
    Arithmetic {
        op: BinOp,
        bits: u8,
        dst: Place,
        a: Place,
        b: Place,
    },
    And {
        dst: Place,
        a: Place,
        b: Place,
    },
    Or {
        dst: Place,
        a: Place,
        b: Place,
    },
    Xor {
        dst: Place,
        a: Place,
        b: Place,
    },
    Divide {
        op: BinOp,
        bits: u8,
        dst: Place,
        a: Place,
        b: Place,
    },
    Compare {
        op: CmpOp,
        bits: u8,
        dst: Place,
        a: Place,
        b: Place,
    },
    ComparePointers {
        op: CmpOp,
        dst: Place,
        a: Place,
        b: Place,
    },
    /// A comparison of integers and the branch on its result.
    BranchEq {
        a: Place,
        b: Place,
        site: u32,
    },
    BranchNe {
        a: Place,
        b: Place,
        site: u32,
    },
    BranchUnsigned {
        op: CmpOp,
        a: Place,
        b: Place,
        site: u32,
    },
    BranchSigned {
        op: CmpOp,
        bits: u8,
        a: Place,
        b: Place,
        site: u32,
    },
    SignExtend {
        from: u8,
        to: u8,
        dst: Place,
        src: Place,
    },
    /// Every other cast between integers.
    Truncate {
        to: u8,
        dst: Place,
        src: Place,
    },
    Float {
        dst: Place,
        operation: u32,
    },
    SlotAddr {
        dst: Place,
        slot: SlotId,
    },
    SlotBegin {
        slot: SlotId,
    },
    GlobalAddr {
        dst: Place,
        global: GlobalId,
    },
    PtrAdd {
        dst: Place,
        base: Place,
        offset: Place,
    },
    /// A sign extension, the multiplication of its result, and the addition of that to a pointer.
    ElementAddr {
        site: u32,
    },
    PtrDiff {
        dst: Place,
        a: Place,
        b: Place,
    },
    Load8 {
        dst: Place,
        addr: Place,
    },
    Load32 {
        dst: Place,
        addr: Place,
    },
    Load64 {
        dst: Place,
        addr: Place,
    },
    /// A load of another type.
    Load {
        ty: Ty,
        dst: Place,
        addr: Place,
    },
    Store8 {
        addr: Place,
        value: Place,
    },
    Store32 {
        addr: Place,
        value: Place,
    },
    Store64 {
        addr: Place,
        value: Place,
    },
    /// A store of another type.
    Store {
        ty: Ty,
        addr: Place,
        value: Place,
    },
    Jump {
        target: u32,
    },
    Branch {
        cond: Place,
        site: u32,
    },
    Switch {
        value: Place,
        site: u32,
    },
    Point {
        point: PointId,
    },
    /// A direct call.
    Call {
        site: u32,
    },
    Return {
        site: u32,
    },
    Other,
}

/// A branch: its targets, and what an event says of it.
#[derive(Clone, Copy)]
pub(crate) struct BranchSite {
    pub block: BlockId,
    pub role: BranchRole,
    pub tag: Option<CondTag>,
    /// The op of the block that is next if the condition is 1, or if it is 0.
    pub then_op: u32,
    pub else_op: u32,
    /// The register of the condition.
    pub cond: Place,
}

/// A switch, with its ranges in ascending order of unsigned values.
pub(crate) struct SwitchSite {
    pub block: BlockId,
    pub role: BranchRole,
    ranges: Vec<(RangeInclusive<u64>, ArmTarget)>,
    default: ArmTarget,
}

/// A target of a switch.
#[derive(Clone, Copy)]
pub(crate) struct ArmTarget {
    pub block: BlockId,
    /// The index of the first arm with this target, or the number of arms if there is none.
    pub arm: usize,
    /// The first op of the block.
    pub op: u32,
}

impl SwitchSite {
    /// Returns the target for a value.
    pub fn target(&self, value: u64) -> ArmTarget {
        let next = self.ranges.partition_point(|(range, _)| *range.end() < value);
        self.ranges.get(next).filter(|(range, _)| range.contains(&value)).map_or(self.default, |(_, target)| *target)
    }
}

/// The address of an element of an array, as three ops.
#[derive(Clone, Copy)]
pub(crate) struct ElementSite {
    pub from: u8,
    pub index: Place,
    pub extended: Place,
    pub size: Place,
    pub offset: Place,
    pub base: Place,
    pub dst: Place,
}

/// An operation on floats.
#[derive(Clone, Copy)]
pub(crate) struct FloatOperation {
    pub op: float::FloatOp,
    pub format: float::Format,
    pub args: [Place; 3],
    pub count: usize,
}

/// A direct call.
pub(crate) struct CallSite {
    pub callee: FuncId,
    pub args: Box<[Place]>,
    pub result: Option<Reg>,
}

/// A return, and the operand that it returns.
#[derive(Clone, Copy)]
pub(crate) struct ReturnSite {
    pub value: Option<(Place, Operand)>,
}

/// The decoded form of a function.
pub(crate) struct DecodedFunction {
    /// The function, as an address: a module that grows may replace a function by one that knows more cases.
    source: usize,
    pub ops: Vec<DecodedOp>,
    pub branches: Vec<BranchSite>,
    pub switches: Vec<SwitchSite>,
    pub floats: Vec<FloatOperation>,
    pub elements: Vec<ElementSite>,
    pub calls: Vec<CallSite>,
    pub returns: Vec<ReturnSite>,
    /// The registers that arguments are passed in, with their types.
    pub params: Vec<(Place, Ty)>,
    /// The values of a new frame: undefined registers, then the constants of the function.
    pub initial: Vec<Value>,
    /// The number of instructions and terminators before each block.
    starts: Vec<u32>,
    /// The op of each instruction and terminator; for a point that is left out, the next one.
    indices: Vec<u32>,
    /// The position of each op: its block, and the index of the instruction.
    positions: Vec<(BlockId, u32)>,
}

impl DecodedFunction {
    /// Decodes a function, with its points or without.
    fn new(function: &Function, points: bool) -> DecodedFunction {
        let is_left_out = |inst: &Inst| !points && matches!(inst.kind, InstKind::Point { .. });
        let (mut starts, mut indices, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for (id, block) in function.blocks.iter() {
            starts.push(indices.len() as u32);
            for (index, inst) in block.insts.iter().enumerate() {
                indices.push(positions.len() as u32);
                if !is_left_out(inst) {
                    positions.push((id, index as u32));
                }
            }
            indices.push(positions.len() as u32);
            positions.push((id, block.insts.len() as u32));
        }
        let decoded = DecodedFunction {
            source: address(function),
            ops: Vec::with_capacity(positions.len()),
            branches: Vec::new(),
            switches: Vec::new(),
            floats: Vec::new(),
            elements: Vec::new(),
            calls: Vec::new(),
            returns: Vec::new(),
            params: function.params.iter().map(|it| (it.reg.index() as Place, function.regs[it.reg].ty)).collect(),
            initial: vec![Value::Undefined; function.regs.len()],
            starts,
            indices,
            positions,
        };
        let mut decoder = Decoder { function, known: FxHashMap::default(), decoded };
        for (id, block) in function.blocks.iter() {
            for inst in block.insts.iter().filter(|inst| !is_left_out(inst)) {
                let op = decoder.instruction(&inst.kind);
                decoder.decoded.ops.push(op);
                decoder.join_element(id);
            }
            decoder.terminator(id, &block.terminator.kind);
        }
        decoder.decoded
    }

    /// Returns the op of a position: an instruction of a block, or its terminator.
    #[inline]
    pub fn op_at(&self, block: BlockId, index: usize) -> usize {
        self.indices[self.starts[block.index()] as usize + index] as usize
    }

    /// Returns the position of an op.
    #[inline]
    pub fn position(&self, op: usize) -> (BlockId, usize) {
        let (block, index) = self.positions[op];
        (block, index as usize)
    }
}

/// Decodes one function.
struct Decoder<'f> {
    function: &'f Function,
    /// The places of the constants.
    known: FxHashMap<u64, Place>,
    decoded: DecodedFunction,
}

impl Decoder<'_> {
    fn terminator(&mut self, id: BlockId, kind: &TermKind) {
        let op = match kind {
            TermKind::Jump(target) => DecodedOp::Jump { target: self.start(*target) },
            TermKind::Catch { next, .. } => DecodedOp::Jump { target: self.start(*next) },
            TermKind::Branch { cond, then_block, else_block, role, tag } => {
                let cond = self.place(*cond);
                let (then_op, else_op) = (self.start(*then_block), self.start(*else_block));
                let site = self.decoded.branches.len() as u32;
                self.decoded.branches.push(BranchSite { block: id, role: *role, tag: *tag, then_op, else_op, cond });
                self.join_comparison(id, cond, site);
                DecodedOp::Branch { cond, site }
            }
            TermKind::Switch { value, arms, default, role, .. } => {
                let bits = self.ty(*value).bits();
                let site = self.switch(id, bits, arms, *default, *role);
                self.decoded.switches.push(site);
                DecodedOp::Switch { value: self.place(*value), site: self.decoded.switches.len() as u32 - 1 }
            }
            TermKind::Return(value) => {
                let value = value.map(|operand| (self.place(operand), operand));
                self.decoded.returns.push(ReturnSite { value });
                DecodedOp::Return { site: self.decoded.returns.len() as u32 - 1 }
            }
            _ => DecodedOp::Other,
        };
        self.decoded.ops.push(op);
    }

    /// Joins the last three ops of a block if they compute the address of an element.
    fn join_element(&mut self, block: BlockId) {
        let begin = self.start(block) as usize;
        let &[
            ..,
            DecodedOp::SignExtend { from, to: 64, dst: extended, src: index },
            DecodedOp::Mul64 { dst: offset, a, b: size },
            DecodedOp::PtrAdd { dst, base, offset: added },
        ] = &self.decoded.ops[begin..]
        else {
            return;
        };
        // The fused op reads all of its operands first.
        let is_chain = a == extended && added == offset && size != extended && base != extended && base != offset;
        if is_chain {
            let first = self.decoded.ops.len() - 3;
            self.decoded.ops[first] = DecodedOp::ElementAddr { site: self.decoded.elements.len() as u32 };
            self.decoded.elements.push(ElementSite { from, index, extended, size, offset, base, dst });
        }
    }

    /// Joins a branch with the comparison before it, if that is what it tests.
    fn join_comparison(&mut self, block: BlockId, cond: Place, site: u32) {
        let is_in_block = self.decoded.ops.len() > self.start(block) as usize;
        let Some(DecodedOp::Compare { op, bits, dst, a, b }) = self.decoded.ops.last().copied() else { return };
        if let Some(last) = self.decoded.ops.last_mut()
            && dst == cond
            && is_in_block
        {
            *last = match op {
                CmpOp::Eq => DecodedOp::BranchEq { a, b, site },
                CmpOp::Ne => DecodedOp::BranchNe { a, b, site },
                CmpOp::Ult | CmpOp::Ule => DecodedOp::BranchUnsigned { op, a, b, site },
                CmpOp::Slt | CmpOp::Sle => DecodedOp::BranchSigned { op, bits, a, b, site },
            };
        }
    }

    fn switch(&self, id: BlockId, bits: u8, arms: &[SwitchArm], default: BlockId, role: BranchRole) -> SwitchSite {
        let target = |block: BlockId| {
            let arm = arms.iter().position(|arm| arm.target == block).unwrap_or(arms.len());
            ArmTarget { block, arm, op: self.start(block) }
        };
        let mut ranges = Vec::with_capacity(arms.len());
        for arm in arms {
            let target = target(arm.target);
            // No range is empty. In unsigned order, one from a negative to another number consists of two.
            match arm.low <= arm.high {
                true => ranges.push((arm.low..=arm.high, target)),
                false => ranges.extend([(arm.low..=mask(u64::MAX, bits), target), (0..=arm.high, target)]),
            }
        }
        ranges.sort_by_key(|(range, _)| *range.start());
        SwitchSite { block: id, role, ranges, default: target(default) }
    }

    fn start(&self, block: BlockId) -> u32 {
        self.decoded.op_at(block, 0) as u32
    }

    fn place(&mut self, operand: Operand) -> Place {
        match operand {
            Operand::Reg(reg) => reg.index() as Place,
            Operand::Const(_, value) => {
                let next = self.decoded.initial.len() as Place;
                let place = *self.known.entry(value).or_insert(next);
                if place == next {
                    self.decoded.initial.push(Value::Int(value));
                }
                place
            }
        }
    }

    fn ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.function.regs[reg].ty,
            Operand::Const(ty, _) => ty,
        }
    }

    fn instruction(&mut self, inst: &InstKind) -> DecodedOp {
        match inst {
            InstKind::Copy { dst, src } => DecodedOp::Copy { dst: dst.index() as Place, src: self.place(*src) },
            InstKind::Bin { dst, op, a, b } => {
                let bits = self.function.regs[*dst].ty.bits();
                let (op, dst, a, b) = (*op, dst.index() as Place, self.place(*a), self.place(*b));
                match op {
                    BinOp::Add if bits == 32 => DecodedOp::Add32 { dst, a, b },
                    BinOp::Add if bits == 64 => DecodedOp::Add64 { dst, a, b },
                    BinOp::Sub if bits == 32 => DecodedOp::Sub32 { dst, a, b },
                    BinOp::Sub if bits == 64 => DecodedOp::Sub64 { dst, a, b },
                    BinOp::Mul if bits == 32 => DecodedOp::Mul32 { dst, a, b },
                    BinOp::Mul if bits == 64 => DecodedOp::Mul64 { dst, a, b },
                    BinOp::And => DecodedOp::And { dst, a, b },
                    BinOp::Or => DecodedOp::Or { dst, a, b },
                    BinOp::Xor => DecodedOp::Xor { dst, a, b },
                    BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl | BinOp::LShr | BinOp::AShr => {
                        DecodedOp::Arithmetic { op, bits, dst, a, b }
                    }
                    BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => DecodedOp::Divide { op, bits, dst, a, b },
                }
            }
            InstKind::Cmp { dst, op, a, b } => {
                let (op, dst, ty) = (*op, dst.index() as Place, self.ty(*a));
                let (a, b) = (self.place(*a), self.place(*b));
                match ty {
                    Ty::Int(bits) => DecodedOp::Compare { op, bits, dst, a, b },
                    Ty::Ptr => DecodedOp::ComparePointers { op, dst, a, b },
                }
            }
            InstKind::Cast { dst, op, src } => {
                let (from, to) = (self.ty(*src).bits(), self.function.regs[*dst].ty.bits());
                let (dst, src) = (dst.index() as Place, self.place(*src));
                match op {
                    CastOp::Sext => DecodedOp::SignExtend { from, to, dst, src },
                    CastOp::Zext | CastOp::Trunc | CastOp::PtrToInt => DecodedOp::Truncate { to, dst, src },
                    CastOp::IntToPtr => DecodedOp::Other,
                }
            }
            InstKind::Float { dst, op, format, args } if args.len() <= 3 => {
                let mut places = [0; 3];
                for (place, arg) in places.iter_mut().zip(args) {
                    *place = self.place(*arg);
                }
                let operation = FloatOperation { op: *op, format: *format, args: places, count: args.len() };
                self.decoded.floats.push(operation);
                DecodedOp::Float { dst: dst.index() as Place, operation: self.decoded.floats.len() as u32 - 1 }
            }
            InstKind::SlotAddr { dst, slot } => DecodedOp::SlotAddr { dst: dst.index() as Place, slot: *slot },
            InstKind::Point { point } => DecodedOp::Point { point: *point },
            InstKind::SlotBegin { slot } => DecodedOp::SlotBegin { slot: *slot },
            InstKind::GlobalAddr { dst, global } => {
                DecodedOp::GlobalAddr { dst: dst.index() as Place, global: *global }
            }
            InstKind::PtrAdd { dst, base, offset } => {
                DecodedOp::PtrAdd { dst: dst.index() as Place, base: self.place(*base), offset: self.place(*offset) }
            }
            InstKind::PtrDiff { dst, a, b } => {
                DecodedOp::PtrDiff { dst: dst.index() as Place, a: self.place(*a), b: self.place(*b) }
            }
            InstKind::Load { dst, addr } => {
                let (ty, dst, addr) = (self.function.regs[*dst].ty, dst.index() as Place, self.place(*addr));
                match ty {
                    Ty::I8 => DecodedOp::Load8 { dst, addr },
                    Ty::I32 => DecodedOp::Load32 { dst, addr },
                    Ty::I64 => DecodedOp::Load64 { dst, addr },
                    _ => DecodedOp::Load { ty, dst, addr },
                }
            }
            InstKind::Store { addr, value } => {
                let (ty, addr, value) = (self.ty(*value), self.place(*addr), self.place(*value));
                match ty {
                    Ty::I8 => DecodedOp::Store8 { addr, value },
                    Ty::I32 => DecodedOp::Store32 { addr, value },
                    Ty::I64 => DecodedOp::Store64 { addr, value },
                    _ => DecodedOp::Store { ty, addr, value },
                }
            }
            InstKind::Call { dst, callee: Callee::Direct(callee), args } => {
                let args = args.iter().map(|arg| self.place(*arg)).collect();
                self.decoded.calls.push(CallSite { callee: *callee, args, result: *dst });
                DecodedOp::Call { site: self.decoded.calls.len() as u32 - 1 }
            }
            _ => DecodedOp::Other,
        }
    }
}

fn address(function: &Function) -> usize {
    std::ptr::from_ref(function).addr()
}

/// The binary logarithm of the number of functions of a page.
const LOG2_PAGE: usize = 6;

/// The number of functions of a module that grows, beyond those that it begins with, that are decoded.
const MAX_LATE_FUNCTIONS: usize = 1 << 16;

type Page = Box<[OnceLock<DecodedFunction>]>;

/// The decoded functions of a module, each decoded at its first call. Copies of a machine share them.
pub(crate) struct DecodedFunctions {
    with_points: Vec<OnceLock<Page>>,
    without_points: Vec<OnceLock<Page>>,
}

impl DecodedFunctions {
    /// Creates an empty set for a module with this many functions.
    pub fn new(functions: usize, grows: bool) -> DecodedFunctions {
        let functions = functions + if grows { MAX_LATE_FUNCTIONS } else { 0 };
        let pages = functions.div_ceil(1 << LOG2_PAGE);
        let empty = || std::iter::repeat_with(OnceLock::new).take(pages).collect();
        DecodedFunctions { with_points: empty(), without_points: empty() }
    }

    /// Returns the decoded form of a function, or `None` if the function replaced one that was decoded already.
    #[inline]
    pub fn get(&self, id: FuncId, function: &Function, points: bool) -> Option<&DecodedFunction> {
        let pages = if points { &self.with_points } else { &self.without_points };
        let page = pages.get(id.index() >> LOG2_PAGE)?;
        let page = page.get_or_init(|| std::iter::repeat_with(OnceLock::new).take(1 << LOG2_PAGE).collect());
        let decoded = &page[id.index() & ((1 << LOG2_PAGE) - 1)];
        let decoded = decoded.get_or_init(|| DecodedFunction::new(function, points));
        (decoded.source == address(function)).then_some(decoded)
    }
}
