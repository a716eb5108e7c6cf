//! The state of lowering one function: registers, slots, blocks, and the instructions appended to them.
//!
//! Lowering never fails. At an unsupported construct, the block ends with its name, and lowering continues in an
//! unreachable block with an arbitrary value. So the rest of the function, including its decision table, is as it would
//! be otherwise.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::error::FrontError;
use crate::lower::context::constants::{fold_bin, fold_cmp};
use crate::lower::context::lifetimes::{Lifetimes, ScopeMark, SourceBlock};
use crate::lower::context::point_table::PointTable;
use crate::lower::context::unit::Unit;
use crate::types::ctype::{Type, TypeKind};
use crate::types::tokens::{TypeToken, tokenize};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use touchstone_base::{Id, IndexMap, Span};
use touchstone_ir::{
    BinOp, Block, BlockId, CastOp, CmpOp, DecisionId, Function, GlobalId, Inst, InstKind, Operand, Reg, RegInfo, Slot,
    SlotId, TermKind, Terminator, Ty, mask, sign_extend,
};

/// The declaration style of a definition's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParamStyle {
    Prototype,
    /// K&R style, without a prototype.
    Old,
}

/// The storage of a local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Local {
    Register(Reg),
    Slot(SlotId),
    /// In the object that this register points to: a structure that the caller passed.
    Behind(Reg),
    Static(GlobalId),
    /// A variable-length array: the registers of its address and its number of bytes.
    Variable(Reg, Reg),
}

/// A block under construction.
#[derive(Default)]
pub(crate) struct BlockDraft {
    pub insts: Vec<Inst>,
    pub terminator: Option<Terminator>,
    /// The objects that are alive at its beginning, if lowering has reached it, and at its end.
    pub scope_in: Option<ScopeMark>,
    pub scope_out: ScopeMark,
    /// The source block of its label, if it has one.
    pub label: Option<SourceBlock>,
}

/// The lowering of one function.
pub(crate) struct Lowerer<'u, 'p> {
    pub unit: &'u mut Unit<'p>,
    pub function: Function,
    pub result: Type,
    pub locals: FxHashMap<u64, Local>,
    /// Types of variables with array lengths that were evaluated at their declaration, by clang's id (see `vla`).
    pub frozen_types: FxHashMap<u64, Type>,
    /// The registers of these lengths.
    pub lengths: Vec<Reg>,
    /// Blocks of labels, by clang's id of the label.
    pub labels: FxHashMap<u64, BlockId>,
    /// Blocks of `case` and `default`, by clang's id of the statement.
    pub cases: FxHashMap<u64, BlockId>,
    pub breaks: Vec<BlockId>,
    pub continues: Vec<BlockId>,
    /// Decisions by clang's id of the expression: code that is lowered twice has one decision.
    pub decisions: FxHashMap<u64, DecisionId>,
    /// The inferred pointee types of `void *` variables and members, by clang's id: the only type that the function
    /// casts each to; `None` if there are several.
    pub inferred_pointees: FxHashMap<u64, Option<Type>>,
    pub point_table: PointTable,
    pub lifetimes: Lifetimes,
    pub error: Option<FrontError>,
    facts: BodyFacts,
    blocks: Vec<BlockDraft>,
    current: BlockId,
}

/// Facts about a body, collected before it is lowered.
#[derive(Default)]
struct BodyFacts {
    /// Variables with an address taken by `&`, by clang's id.
    address_taken: FxHashSet<u64>,
    /// Variables that are, or contain, an array that decays to a pointer other than for indexing.
    decayed: FxHashSet<u64>,
    /// Ids of labels, in order.
    labels: Vec<u64>,
    /// True if a jump may bypass a declaration.
    jumps: bool,
}

impl BodyFacts {
    fn collect(&mut self, node: &AstNode) {
        if node.kind != K::ArraySubscriptExpr {
            let decays = node.inner.iter().filter(|inner| inner.cast == Cast::ArrayToPointerDecay);
            self.decayed.extend(decays.filter_map(variable_of));
        }
        match &node.kind {
            K::UnaryOperator if node.opcode == Opcode::Amp => {
                let mut operand = node.inner.first();
                while let Some(inner) = operand {
                    let through = matches!(inner.opcode, Opcode::Extension | Opcode::Real | Opcode::Imag);
                    if inner.kind == K::ParenExpr || (inner.kind == K::UnaryOperator && through) {
                        operand = inner.inner.first();
                    } else {
                        if inner.kind == K::DeclRefExpr {
                            self.address_taken.extend(inner.decl.as_ref().map(|decl| decl.id));
                        }
                        break;
                    }
                }
            }
            K::LabelStmt => {
                self.labels.push(node.link);
                self.jumps = true;
            }
            K::SwitchStmt => {
                let body = node.inner.last();
                let declares = |body: &AstNode| body.inner.iter().any(|inner| inner.kind == K::DeclStmt);
                self.jumps |= body.is_some_and(declares);
            }
            _ => {}
        }
        node.inner.iter().for_each(|inner| self.collect(inner));
        node.filler.iter().for_each(|inner| self.collect(inner));
    }
}

/// Returns the variable that an expression denotes or denotes a part of.
fn variable_of(node: &AstNode) -> Option<u64> {
    match (&node.kind, node.inner.first()) {
        (K::DeclRefExpr, _) => node.decl.as_ref().map(|decl| decl.id),
        (K::MemberExpr, Some(_)) if node.is_arrow => None,
        (K::ParenExpr | K::MemberExpr | K::ImplicitCastExpr | K::ArraySubscriptExpr, Some(inner)) => variable_of(inner),
        _ => None,
    }
}

/// Lowers a function definition. `function` has its parameters and their registers.
pub(crate) fn lower(unit: &mut Unit<'_>, function: Function, node: &AstNode) -> Result<Function, FrontError> {
    let ty = unit.type_of(node);
    let result = match &ty.kind {
        crate::types::ctype::TypeKind::Function(signature) => signature.result.clone(),
        _ => Type::int(),
    };
    let mut facts = BodyFacts::default();
    facts.collect(node);
    let mut lowerer = Lowerer {
        unit,
        function,
        result,
        locals: FxHashMap::default(),
        frozen_types: FxHashMap::default(),
        lengths: Vec::new(),
        labels: FxHashMap::default(),
        cases: FxHashMap::default(),
        breaks: Vec::new(),
        continues: Vec::new(),
        decisions: FxHashMap::default(),
        inferred_pointees: FxHashMap::default(),
        point_table: PointTable::default(),
        lifetimes: Lifetimes::default(),
        error: None,
        facts,
        blocks: vec![BlockDraft::default()],
        current: BlockId::new(0),
    };
    lowerer.unit.push_scope();
    lowerer.type_void_parameters(node);
    lowerer.collect_void_casts(node);
    lowerer.parameters(node);
    lowerer.parameter_lengths(node);
    for label in std::mem::take(&mut lowerer.facts.labels) {
        let block = lowerer.new_block();
        lowerer.labels.insert(label, block);
        let number = lowerer.labels.len() as u64;
        lowerer.unit.label_numbers.insert(label, number);
    }
    if let Some(body) = node.inner.iter().find(|inner| inner.kind == K::CompoundStmt) {
        lowerer.statement(body);
        lowerer.fall_off_the_end(body);
    }
    lowerer.unit.pop_scope();
    match lowerer.error.take() {
        Some(error) => Err(error),
        None => Ok(lowerer.finish()),
    }
}

impl Lowerer<'_, '_> {
    fn parameters(&mut self, node: &AstNode) {
        let hidden = usize::from(self.function.aggregate_result);
        let params: Vec<&AstNode> = node.inner.iter().filter(|inner| inner.kind == K::ParmVarDecl).collect();
        for (index, param) in params.into_iter().enumerate() {
            let Some(info) = self.function.params.get(index + hidden) else { continue };
            let (reg, aggregate) = (info.reg, info.aggregate);
            let local = if aggregate {
                Local::Behind(reg)
            } else if self.facts.address_taken.contains(&param.id) {
                let ty = self.unit.type_of(param);
                let span = self.unit.span(param);
                let slot = self.new_slot(Some(param.name.clone()), &ty);
                self.emit(InstKind::SlotBegin { slot }, span);
                let addr = self.slot_address(slot, span);
                self.emit(InstKind::Store { addr, value: Operand::Reg(reg) }, span);
                Local::Slot(slot)
            } else {
                Local::Register(reg)
            };
            self.locals.insert(param.id, local);
            let ty = self.unit.type_of(param);
            self.unit.scopes.add_variable(&param.name, param.id, ty);
        }
    }

    /// Evaluates the lengths of `int a[n][m]`, after all parameters are declared.
    fn parameter_lengths(&mut self, node: &AstNode) {
        let params = node.inner.iter().filter(|inner| inner.kind == K::ParmVarDecl);
        let style = self.style(node);
        let effects = params.map(|param| self.enter_parameter(param, style)).sum();
        self.unit.evaluated_length_effects.insert(self.function.name.clone(), effects);
    }

    /// Returns the declaration style of the parameters, which clang's types don't reveal: an old-style list has only
    /// names.
    fn style(&self, node: &AstNode) -> ParamStyle {
        let first = node.inner.iter().find(|inner| inner.kind == K::ParmVarDecl).map(|param| param.name.as_str());
        let list = || {
            let at = node.loc.expansion?;
            let text = self.unit.program.sources.text(self.unit.names.get(at.file as usize)?);
            let rest = text.get(at.offset as usize..)?;
            let end = rest.iter().position(|&byte| byte == b')')?;
            Some(tokenize(&String::from_utf8_lossy(&rest[..=end])))
        };
        match list().as_deref() {
            Some([_, open, TypeToken::Word(word), next, ..])
                if open.is("(") && first == Some(word) && (next.is(",") || next.is(")")) =>
            {
                ParamStyle::Old
            }
            _ => ParamStyle::Prototype,
        }
    }

    /// Emits the return at the closing brace.
    fn fall_off_the_end(&mut self, body: &AstNode) {
        let span = self.unit.point(&body.end);
        let value = match self.function.result {
            Some(ty) if self.function.name == "main" => Some(Operand::Const(ty, 0)),
            // Allowed if the caller does not use the value.
            _ => None,
        };
        self.terminate(TermKind::Return(value), span);
    }

    /// Returns true if the function takes a variable's address.
    pub fn is_address_taken(&self, id: u64) -> bool {
        self.facts.address_taken.contains(&id)
    }
    /// Returns true if jumps may bypass declarations, so that slots must exist from the start.
    pub fn has_jumps(&self) -> bool {
        self.facts.jumps
    }

    /// Creates a block.
    pub fn new_block(&mut self) -> BlockId {
        self.blocks.push(BlockDraft::default());
        BlockId::new(self.blocks.len() - 1)
    }
    /// Returns the block that instructions are appended to.
    pub fn here(&self) -> BlockId {
        self.current
    }
    /// Continues in a block.
    pub fn start(&mut self, block: BlockId) {
        self.current = block;
        self.blocks[block.index()].scope_in.get_or_insert(self.lifetimes.mark());
    }
    /// Continues in the block of a label that a `goto` may target.
    pub fn start_label(&mut self, block: BlockId, span: Span) {
        self.blocks[block.index()].label = Some(self.lifetimes.nest());
        if self.current != block {
            self.flow_into(block, span);
        }
    }
    /// Appends an instruction.
    pub fn emit(&mut self, kind: InstKind, span: Span) {
        self.blocks[self.current.index()].insts.push(Inst { kind, span });
    }
    /// Inserts an instruction at the start of the function.
    pub fn emit_first(&mut self, kind: InstKind, span: Span) {
        self.blocks[0].insts.insert(0, Inst { kind, span });
    }
    /// Ends the block unless it has ended.
    pub fn terminate(&mut self, kind: TermKind, span: Span) {
        let block = &mut self.blocks[self.current.index()];
        if block.terminator.is_none() {
            block.terminator = Some(Terminator { kind, span });
            block.scope_out = self.lifetimes.mark();
        }
    }
    /// Ends the block and continues in an unreachable one.
    pub fn stop(&mut self, kind: TermKind, span: Span) {
        self.terminate(kind, span);
        let dead = self.new_block();
        self.start(dead);
    }
    /// Jumps to a block and continues there.
    pub fn flow_into(&mut self, block: BlockId, span: Span) {
        self.terminate(TermKind::Jump(block), span);
        self.start(block);
    }
    /// Ends the block at an unsupported construct.
    pub fn unsupported(&mut self, construct: Construct, node: &AstNode) {
        let span = self.unit.span(node);
        self.stop(TermKind::Unsupported(construct.to_string()), span);
    }
    /// Ends the block at an unsupported expression; the returned value is only used in unreachable code.
    pub fn unsupported_value(&mut self, construct: Construct, node: &AstNode) -> Operand {
        self.unsupported(construct, node);
        let ty = self.unit.type_of(node);
        Operand::Const(self.unit.program.types.scalar(&ty), 0)
    }

    /// Creates a register for a temporary.
    pub fn temp(&mut self, ty: Ty) -> Reg {
        self.function.regs.push(RegInfo { ty, name: None })
    }
    /// Creates a register for a variable.
    pub fn variable(&mut self, ty: Ty, name: &str) -> Reg {
        self.function.regs.push(RegInfo { ty, name: Some(name.to_string()) })
    }
    /// Creates a slot.
    pub fn new_slot(&mut self, name: Option<String>, ty: &Type) -> SlotId {
        let data = self.unit.program.types.data(ty);
        let size = self.unit.program.types.size(ty);
        self.function.slots.push(Slot { name, data, size })
    }
    /// Creates a slot of a number of bytes.
    pub fn new_bytes(&mut self, size: u64) -> SlotId {
        let byte = Rc::new(Type::plain(TypeKind::Int { name: "unsigned char", bits: 8, signed: false }));
        self.new_slot(None, &Type::plain(TypeKind::Array(byte, size)))
    }
    /// Emits the address of a slot.
    pub fn slot_address(&mut self, slot: SlotId, span: Span) -> Operand {
        let dst = self.temp(Ty::Ptr);
        self.emit(InstKind::SlotAddr { dst, slot }, span);
        Operand::Reg(dst)
    }
    /// Emits the address of a global.
    pub fn global_address(&mut self, global: GlobalId, span: Span) -> Operand {
        let dst = self.temp(Ty::Ptr);
        self.emit(InstKind::GlobalAddr { dst, global }, span);
        Operand::Reg(dst)
    }
    /// Returns true if the address of a local may have escaped.
    pub fn has_address(&self, id: u64) -> bool {
        self.facts.address_taken.contains(&id) || self.facts.decayed.contains(&id)
    }
    /// Creates and begins a slot for an unnamed value; returns its address.
    pub fn temporary(&mut self, ty: &Type, span: Span) -> Operand {
        let slot = self.new_slot(None, ty);
        self.emit(InstKind::SlotBegin { slot }, span);
        self.slot_address(slot, span)
    }

    /// Returns the type of an operand.
    pub fn ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.function.regs[reg].ty,
            Operand::Const(ty, _) => ty,
        }
    }
    /// Emits `a op b`, or folds it.
    pub fn bin(&mut self, op: BinOp, a: Operand, b: Operand, span: Span) -> Operand {
        let ty = self.ty(a);
        if let (Operand::Const(_, x), Operand::Const(_, y)) = (a, b)
            && let Some(value) = fold_bin(op, x, y, ty.bits())
        {
            return Operand::Const(ty, value);
        }
        let dst = self.temp(ty);
        self.emit(InstKind::Bin { dst, op, a, b }, span);
        Operand::Reg(dst)
    }
    /// Emits the comparison `a op b`, an `i1`, or folds it.
    pub fn cmp(&mut self, op: CmpOp, a: Operand, b: Operand, span: Span) -> Operand {
        if let (Operand::Const(ty, x), Operand::Const(_, y)) = (a, b) {
            return Operand::Const(Ty::I1, u64::from(fold_cmp(op, x, y, ty.bits())));
        }
        let dst = self.temp(Ty::I1);
        self.emit(InstKind::Cmp { dst, op, a, b }, span);
        Operand::Reg(dst)
    }
    /// Converts an integer to another width.
    pub fn resize(&mut self, operand: Operand, to: Ty, signed: bool, span: Span) -> Operand {
        let from = self.ty(operand);
        if from == to {
            return operand;
        }
        if let (Operand::Const(_, value), Ty::Int(bits)) = (operand, to) {
            let wide = if signed { sign_extend(value, from.bits()) as u64 } else { value };
            return Operand::Const(to, mask(wide, bits));
        }
        let op = match (from, to) {
            (Ty::Ptr, _) => CastOp::PtrToInt,
            (_, Ty::Ptr) => CastOp::IntToPtr,
            _ if to.bits() < from.bits() => CastOp::Trunc,
            _ if signed => CastOp::Sext,
            _ => CastOp::Zext,
        };
        let dst = self.temp(to);
        self.emit(InstKind::Cast { dst, op, src: operand }, span);
        Operand::Reg(dst)
    }
    /// Emits `base + offset` bytes.
    pub fn offset(&mut self, base: Operand, offset: Operand, span: Span) -> Operand {
        if let Operand::Const(_, 0) = offset {
            return base;
        }
        let dst = self.temp(Ty::Ptr);
        self.emit(InstKind::PtrAdd { dst, base, offset }, span);
        Operand::Reg(dst)
    }
    /// Assigns a register. If the last instruction computed the value, it writes the register directly.
    pub fn assign(&mut self, dst: Reg, src: Operand, span: Span) {
        if let Operand::Reg(temp) = src
            && self.function.regs[temp].name.is_none()
            && self.function.regs[temp].ty == self.function.regs[dst].ty
            && let Some(last) = self.blocks[self.current.index()].insts.last_mut()
            && let Some(target) = target_mut(&mut last.kind)
            && *target == temp
        {
            *target = dst;
            return;
        }
        self.emit(InstKind::Copy { dst, src }, span);
    }
    /// Returns a value that later assignments don't change, a copy if necessary.
    pub fn keep(&mut self, operand: Operand, span: Span) -> Operand {
        match operand {
            Operand::Reg(reg) if self.function.regs[reg].name.is_some() => {
                let dst = self.temp(self.function.regs[reg].ty);
                self.emit(InstKind::Copy { dst, src: operand }, span);
                Operand::Reg(dst)
            }
            _ => operand,
        }
    }

    /// Returns the finished function, without empty blocks that are unreachable.
    fn finish(mut self) -> Function {
        crate::lower::context::empty_loops::mark(&mut self.blocks);
        crate::lower::context::lifetimes::end_on_jumps(&mut self.blocks, &self.function, &self.lifetimes);
        let mut kept = vec![false; self.blocks.len()];
        let mut work: Vec<usize> = Vec::new();
        for (index, draft) in self.blocks.iter().enumerate() {
            let tagged = matches!(
                draft.terminator,
                Some(Terminator { kind: TermKind::Branch { .. } | TermKind::Switch { .. }, .. })
            );
            if index == 0 || !draft.insts.is_empty() || tagged {
                kept[index] = true;
                work.push(index);
            }
        }
        while let Some(index) = work.pop() {
            let Some(terminator) = &mut self.blocks[index].terminator else { continue };
            for target in targets_mut(&mut terminator.kind) {
                let target = target.index();
                if !kept[target] {
                    kept[target] = true;
                    work.push(target);
                }
            }
        }
        let mut new_ids = FxHashMap::default();
        for (index, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
            let next = BlockId::new(new_ids.len());
            new_ids.insert(BlockId::new(index), next);
        }
        let mut blocks = IndexMap::new();
        for (draft, _) in self.blocks.into_iter().zip(kept).filter(|(_, kept)| *kept) {
            let unreachable = || Terminator { kind: TermKind::Unreachable, span: Span::none() };
            let mut terminator = draft.terminator.unwrap_or_else(unreachable);
            for target in targets_mut(&mut terminator.kind) {
                *target = new_ids[target];
            }
            blocks.push(Block { insts: draft.insts, terminator });
        }
        self.function.blocks = blocks;
        crate::link::cleanup::drop_unused_registers(&mut self.function);
        self.function
    }
}

/// Returns the successors in a terminator, to be renumbered.
fn targets_mut(kind: &mut TermKind) -> Vec<&mut BlockId> {
    match kind {
        TermKind::Jump(target) => vec![target],
        TermKind::Branch { then_block, else_block, .. } => vec![then_block, else_block],
        TermKind::Switch { arms, default, names, .. } => {
            let named = names.iter_mut().map(|name| &mut name.target);
            arms.iter_mut().map(|arm| &mut arm.target).chain(std::iter::once(default)).chain(named).collect()
        }
        TermKind::Catch { handler, next, .. } => vec![handler, next],
        TermKind::Return(_) | TermKind::Throw(_) | TermKind::Unsupported(_) | TermKind::Unreachable => Vec::new(),
    }
}

/// Returns the successors of a terminator.
pub(crate) fn targets(kind: &TermKind) -> Vec<BlockId> {
    match kind {
        TermKind::Jump(target) => vec![*target],
        TermKind::Branch { then_block, else_block, .. } => vec![*then_block, *else_block],
        TermKind::Switch { arms, default, .. } => arms.iter().map(|arm| arm.target).chain([*default]).collect(),
        TermKind::Catch { handler, next, .. } => vec![*handler, *next],
        TermKind::Return(_) | TermKind::Throw(_) | TermKind::Unsupported(_) | TermKind::Unreachable => Vec::new(),
    }
}

/// Returns the register that an instruction writes.
fn target_mut(kind: &mut InstKind) -> Option<&mut Reg> {
    match kind {
        InstKind::Copy { dst, .. }
        | InstKind::Bin { dst, .. }
        | InstKind::Cmp { dst, .. }
        | InstKind::Cast { dst, .. }
        | InstKind::Float { dst, .. }
        | InstKind::SlotAddr { dst, .. }
        | InstKind::GlobalAddr { dst, .. }
        | InstKind::PtrAdd { dst, .. }
        | InstKind::PtrDiff { dst, .. }
        | InstKind::Load { dst, .. } => Some(dst),
        InstKind::Call { dst, .. } | InstKind::Builtin { dst, .. } => dst.as_mut(),
        InstKind::Store { .. }
        | InstKind::MemCopy { .. }
        | InstKind::MemSet { .. }
        | InstKind::SlotBegin { .. }
        | InstKind::SlotEnd { .. }
        | InstKind::Point { .. } => None,
    }
}
