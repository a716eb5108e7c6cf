//! The body of a method: the code of the stack machine becomes blocks over registers.
//!
//! A local variable is one register for each type that it has. The operand stack is tracked symbolically within a
//! block; between blocks a value is in a register for its depth and type. Neither the class file's stack maps nor type
//! inference is needed.

use crate::classes::layout::register_ty;
use crate::classes::{ClassId, LoweringError, MethodRef};
use crate::classfile::{ClassFile, Code, Decoded, Desc, MethodDesc, access, decode};
use crate::coverage::definite_assignment::DefiniteAssignment;
use crate::coverage::implicit_exceptions::ImplicitException;
use crate::coverage::method_decisions::{DecisionSource, MethodDecisions, PointLocations};
use crate::coverage::value_locations::PointPosition;
use crate::lower::builder::Builder;
use crate::lower::context::{ANY, Lowering, result_ty};
use crate::lower::null_messages::ValueOrigin;
use crate::lower::points::decision_points::DecisionStarts;
use crate::lower::points::value_points::BlockExpressions;
use crate::lower::points::value_sources::Sources;
use crate::lower::symbols::FuncKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use touchstone_base::{FileId, Id, Span};
use touchstone_ir::{BlockId, BranchRole, DataTypeId, Function, FunctionRole, Operand, Reg, Ty};

/// A method that is being lowered.
pub(crate) struct Body<'w> {
    pub lowering: &'w mut Lowering,
    pub b: Builder,
    pub class: ClassId,
    pub file: Rc<ClassFile>,
    pub code: &'w Code,
    pub insns: &'w [Decoded],
    source: FileId,
    /// The blocks that begin at offsets, with the types on the stack there.
    blocks: FxHashMap<usize, (BlockId, Vec<Ty>)>,
    worklist: Vec<usize>,
    pub stack: Vec<Operand>,
    locals: FxHashMap<(u16, Ty), Reg>,
    stack_regs: FxHashMap<(usize, Ty), Reg>,
    /// The landing pads of lists of handlers.
    landing_pads: FxHashMap<Vec<usize>, BlockId>,
    thrown: Option<Reg>,
    /// References that are known not to be null in this block.
    not_null: FxHashSet<Reg>,
    /// The origins of values, for the messages of null pointer exceptions.
    pub origins: FxHashMap<Reg, Rc<ValueOrigin>>,
    /// Offset of the current instruction.
    pub position: usize,
    /// The position of emitted points relative to the current instruction.
    pub when: PointPosition,
    pub is_static: bool,
    pub result: Option<Ty>,
    pub returned: Desc,
    pub params: u16,
    /// Classes that are known to be initialised in this block.
    pub initialised: FxHashSet<ClassId>,
    /// The receiver, if local variable 0 is never overwritten.
    this: Option<Reg>,
    /// The decisions and points of the method.
    pub table: MethodDecisions,
    /// The source expressions of values.
    pub expressions: BlockExpressions,
    pub decision_starts: DecisionStarts,
    /// The locations of values in the JVM frame.
    pub sources: Sources,
    /// The fields of the receiver that decision points read: from the offset in memory to the index in the constant
    /// pool.
    pub own_fields: BTreeMap<u64, u16>,
}

impl Lowering {
    /// Lowers a method with code.
    pub fn lower_body(&mut self, method: MethodRef, name: &str) -> Result<Function, LoweringError> {
        let file = self.classes.get(method.class).file().cloned();
        let Some(file) = file else { return Err(LoweringError::NoMethod(name.to_string())) };
        let member = &file.methods[usize::from(method.index)];
        let title = self.method_title(method);
        let Some(code) = member.code() else {
            let what = if member.is(access::NATIVE) { "native method" } else { "abstract method" };
            return Err(LoweringError::Unsupported(format!("{what} {title}")));
        };
        let insns = decode(&code.bytes, code.offset)
            .map_err(|error| LoweringError::Malformed(format!("{}: {error}", file.name)))?;
        let desc = MethodDesc::parse(&member.desc).ok_or_else(|| LoweringError::Malformed(title.clone()))?;
        let (params, _) = self.signature(method);
        let known = self.decision_source(method);
        let (source, table) = self.table_of(&known, &file, code, &insns);
        let assigned = match known {
            DecisionSource::Library => DefiniteAssignment::default(),
            _ => DefiniteAssignment::new(member.access, &desc, code, &insns),
        };
        let expressions = BlockExpressions::new(assigned);
        let leaders: FxHashSet<usize> = leaders(code, &insns).collect();
        let mut body = Body {
            lowering: self,
            b: Builder::new(&params),
            class: method.class,
            file: file.clone(),
            code,
            insns: &insns,
            source,
            blocks: FxHashMap::default(),
            worklist: Vec::new(),
            stack: Vec::new(),
            locals: FxHashMap::default(),
            stack_regs: FxHashMap::default(),
            landing_pads: FxHashMap::default(),
            thrown: None,
            not_null: FxHashSet::default(),
            origins: FxHashMap::default(),
            position: 0,
            when: PointPosition::Before,
            is_static: member.is(access::STATIC),
            result: result_ty(&desc.result),
            returned: desc.result.clone(),
            params: 0,
            initialised: FxHashSet::default(),
            this: None,
            table,
            expressions,
            decision_starts: DecisionStarts::default(),
            sources: Sources::default(),
            own_fields: BTreeMap::new(),
        };
        body.parameters(member.is(access::STATIC), &desc);
        body.find_decision_starts(&leaders);
        body.continue_at(0);
        while let Some(at) = body.worklist.pop() {
            body.lower_block(at, &leaders);
        }
        let role = match body.lowering.is_library(method.class) {
            true => FunctionRole::Model,
            false => FunctionRole::Program,
        };
        let (result, table, own_fields) = (result_ty(&desc.result), body.table, body.own_fields);
        let mut function = body.b.finish(format!("{name} {title}"), result, DataTypeId::new(ANY), role);
        let point_locations = PointLocations { own_fields, ..table.attach(&mut function) };
        if !point_locations.is_empty() {
            self.point_locations.insert(method, point_locations);
        }
        if role == FunctionRole::Program {
            self.apply_source_names(method, code, &desc, &mut function);
        }
        Ok(function)
    }
}

impl Lowering {
    /// Returns the decision table of a method, and its source file.
    fn table_of(
        &mut self,
        known: &DecisionSource,
        class: &ClassFile,
        code: &Code,
        insns: &[Decoded],
    ) -> (FileId, MethodDecisions) {
        let source = match known {
            DecisionSource::Source(marks) => marks.file.as_str().into(),
            _ => class.source_file().cloned().unwrap_or_else(|| class.name.clone()),
        };
        let source = self.file(&source);
        (source, MethodDecisions::new(known, source, code, insns))
    }

    /// Returns the decision table of a method with this code.
    pub fn table(&mut self, method: MethodRef, class: &ClassFile, code: &Code, insns: &[Decoded]) -> MethodDecisions {
        let known = self.decision_source(method);
        self.table_of(&known, class, code, insns).1
    }
}

/// Returns the offsets at which basic blocks begin.
fn leaders<'a>(code: &'a Code, insns: &'a [Decoded]) -> impl Iterator<Item = usize> + 'a {
    let targets = insns.iter().flat_map(|insn| {
        let behind = (!insn.insn.targets().is_empty()).then_some(insn.next);
        insn.insn.targets().into_iter().chain(behind)
    });
    let handlers = code.handlers.iter().map(|handler| usize::from(handler.handler));
    std::iter::once(0).chain(targets).chain(handlers)
}

impl Body<'_> {
    fn parameters(&mut self, is_static: bool, desc: &MethodDesc) {
        let mut local = 0;
        let mut index = 0;
        if !is_static {
            self.locals.insert((0, Ty::Ptr), Reg::new(0));
            (local, index) = (1, 1);
            let stores =
                |insn: &Decoded| matches!(insn.insn, crate::classfile::Insn::Store(crate::classfile::SlotKind::Ref, 0));
            if !self.insns.iter().any(stores) {
                self.this = Some(Reg::new(0));
            }
        }
        for param in &desc.params {
            self.locals.insert((local, register_ty(param)), Reg::new(index));
            index += 1;
            local += if param.is_wide() { 2 } else { 1 };
        }
        self.params = local;
    }

    pub fn span(&self, at: usize) -> Span {
        match self.code.line(at) {
            0 => Span::none(),
            line => Span::at(self.source, line, 1),
        }
    }

    // Registers.

    pub fn local(&mut self, index: u16, ty: Ty) -> Reg {
        if let Some(reg) = self.locals.get(&(index, ty)) {
            return *reg;
        }
        let reg = self.b.reg(ty);
        self.locals.insert((index, ty), reg);
        reg
    }

    /// Returns the local variable that a register holds.
    pub fn local_of(&self, reg: Reg) -> Option<u16> {
        self.locals.iter().find(|(_, local)| **local == reg).map(|((index, _), _)| *index)
    }

    fn stack_reg(&mut self, depth: usize, ty: Ty) -> Reg {
        if let Some(reg) = self.stack_regs.get(&(depth, ty)) {
            return *reg;
        }
        let reg = self.b.reg(ty);
        self.stack_regs.insert((depth, ty), reg);
        reg
    }

    pub fn push(&mut self, value: Operand) {
        self.stack.push(value);
    }

    pub fn pop(&mut self) -> Result<Operand, LoweringError> {
        self.stack.pop().ok_or_else(|| LoweringError::Malformed("a pop from an empty operand stack".to_string()))
    }

    /// Pops a value, which must have this type.
    pub fn pop_ty(&mut self, ty: Ty) -> Result<Operand, LoweringError> {
        let value = self.pop()?;
        match self.b.ty(value) == ty {
            true => Ok(value),
            false => Err(LoweringError::Malformed("an operand of the wrong type".to_string())),
        }
    }

    /// Writes a local variable; values on the stack keep the old value.
    pub fn set_local(&mut self, index: u16, value: Operand) {
        let ty = self.b.ty(value);
        let reg = self.local(index, ty);
        self.preserve_old_value(reg);
        let known = self.is_not_null(value);
        self.b.copy(reg, value);
        self.not_null.remove(&reg);
        if known {
            self.not_null.insert(reg);
        }
    }

    /// Returns the receiver, if local variable 0 is never overwritten.
    pub fn this(&self) -> Option<Reg> {
        self.this
    }

    // Null checks and class initialisation.

    pub fn is_not_null(&self, value: Operand) -> bool {
        matches!(value, Operand::Reg(reg) if self.this == Some(reg) || self.not_null.contains(&reg))
    }

    pub fn assume_not_null(&mut self, value: Operand) {
        if let Operand::Reg(reg) = value {
            self.not_null.insert(reg);
        }
    }

    /// Continues if a reference is not null, else throws; the message of the exception names the action and the
    /// reference.
    pub fn null_check(&mut self, value: Operand, action: &str) {
        if !self.is_not_null(value) {
            let message = match self.null_reason(value) {
                Some(because) => format!("{action} because {because} is null"),
                None => action.to_string(),
            };
            // Variables without a name are the compiler's, and never null.
            if !message.contains("because \"<local") {
                self.mark_failure(ImplicitException::NullPointer, &message);
            }
            self.lowering.null_check_with(&mut self.b, value, Some(&message));
            self.assume_not_null(value);
        }
    }

    pub fn ensure_init(&mut self, class: ClassId) {
        let own = class == self.class
            || self.lowering.classes.is_subtype(self.class, class)
                && !self.lowering.classes.get(class).is(access::INTERFACE);
        if (!own || self.lowering.objects_outlive_init(class)) && self.initialised.insert(class) {
            let of_program = !self.lowering.classes.get(class).of_jdk;
            if of_program && !own && self.lowering.needs_init(class) && self.lowering.init_uses_other_classes(class) {
                self.lowering.note_nondeterminism(
                    &mut self.b,
                    "whether a class, whose initialiser uses other classes, is already initialised",
                );
            }
            self.lowering.ensure_init(&mut self.b, class);
        }
    }

    // Blocks.

    /// Returns the block at an offset, after the operand stack has been written to its registers.
    pub fn target(&mut self, at: usize) -> BlockId {
        self.flush();
        let types: Vec<Ty> = self.stack.iter().map(|value| self.b.ty(*value)).collect();
        self.block_at(at, types)
    }

    fn block_at(&mut self, at: usize, types: Vec<Ty>) -> BlockId {
        if let Some((block, known)) = self.blocks.get(&at) {
            if *known == types {
                return *block;
            }
            let (back, wrong) = (self.b.current_block(), self.b.block());
            self.b.at(wrong);
            self.b.unsupported(format!("{}: the operand stacks of two predecessors differ", self.file.name));
            self.b.at(back);
            return wrong;
        }
        let block = self.b.block();
        self.blocks.insert(at, (block, types));
        self.worklist.push(at);
        block
    }

    /// Writes the operand stack to the registers that other blocks read.
    fn flush(&mut self) {
        self.mark_stack_uses();
        let depth = self.stack.len();
        let homes: Vec<Reg> = (0..depth)
            .map(|index| {
                let ty = self.b.ty(self.stack[index]);
                self.stack_reg(index, ty)
            })
            .collect();
        for index in 0..depth {
            let value = self.stack[index];
            let elsewhere = (0..depth).any(|other| other != index && Operand::Reg(homes[other]) == value);
            if elsewhere {
                self.stack[index] = self.b.copied(value);
            }
        }
        for (index, home) in homes.into_iter().enumerate() {
            self.b.copy(home, self.stack[index]);
            self.stack[index] = Operand::Reg(home);
        }
    }

    /// Jumps to an offset.
    pub fn continue_at(&mut self, at: usize) {
        let block = self.target(at);
        self.b.jump(block);
    }

    fn lower_block(&mut self, at: usize, leaders: &FxHashSet<usize>) {
        let (block, types) = self.blocks[&at].clone();
        self.b.at(block);
        self.b.reuse_temps();
        self.not_null.clear();
        self.origins.clear();
        self.expressions.forget();
        self.initialised.clear();
        self.stack.clear();
        for (depth, ty) in types.into_iter().enumerate() {
            let reg = self.stack_reg(depth, ty);
            self.stack.push(Operand::Reg(reg));
        }
        self.sources.forget(&self.stack);
        let Ok(mut index) = self.insns.binary_search_by_key(&at, |insn| insn.at) else { return };
        loop {
            let insn = &self.insns[index];
            self.b.span = self.span(insn.at);
            (self.position, self.when) = (insn.at, PointPosition::Before);
            self.b.landing_pad = None;
            self.set_landing_pad(insn.at);
            self.mark_statements(insn.at);
            self.mark_decisions(insn.at, leaders);
            self.virtual_machine_errors(insn);
            if let Err(error) = self.lower_insn(insn) {
                self.lowering.throw_linkage_error(&mut self.b, &error);
            }
            if self.b.is_terminated() {
                return;
            }
            self.note_pushed();
            if insn.insn.ends() || index + 1 == self.insns.len() {
                return;
            }
            if leaders.contains(&insn.next) {
                self.when = PointPosition::After;
                return self.continue_at(insn.next);
            }
            index += 1;
        }
    }

    // Handlers.

    /// Selects the landing pad for exceptions of the instruction at an offset.
    fn set_landing_pad(&mut self, at: usize) {
        let covers = |handler: &crate::classfile::ExceptionHandler| {
            usize::from(handler.start) <= at && at < usize::from(handler.end)
        };
        let handlers: Vec<usize> =
            (0..self.code.handlers.len()).filter(|index| covers(&self.code.handlers[*index])).collect();
        if handlers.is_empty() {
            return;
        }
        let thrown = match self.thrown {
            Some(thrown) => thrown,
            None => self.b.reg(Ty::Ptr),
        };
        self.thrown = Some(thrown);
        let pad = match self.landing_pads.get(&handlers) {
            Some(pad) => *pad,
            None => {
                let pad = self.make_landing_pad(thrown, &handlers);
                self.landing_pads.insert(handlers, pad);
                pad
            }
        };
        self.b.landing_pad = Some((thrown, pad));
    }

    fn make_landing_pad(&mut self, thrown: Reg, handlers: &[usize]) -> BlockId {
        let (back, pad) = (self.b.current_block(), self.b.block());
        self.b.at(pad);
        let object = Operand::Reg(thrown);
        for index in handlers {
            let handler = &self.code.handlers[*index];
            let target = self.block_at(usize::from(handler.handler), vec![Ty::Ptr]);
            let home = self.stack_reg(0, Ty::Ptr);
            let class = match &handler.class {
                None => {
                    self.b.copy(home, object);
                    self.b.jump(target);
                    break;
                }
                Some(class) => self.lowering.classes.load(class),
            };
            // A class that does not exist has no objects to catch.
            let Ok(class) = class else { continue };
            let test = self.lowering.latest_generation(|generation| FuncKind::InstanceOf(class, generation));
            let fits = self.b.call(test, vec![object], Some(Ty::I1));
            let (caught, next) = (self.b.block(), self.b.block());
            self.b.branch(fits, caught, next, BranchRole::Dispatch);
            self.b.at(caught);
            self.b.copy(home, object);
            self.b.jump(target);
            self.b.at(next);
        }
        if !self.b.is_terminated() {
            self.b.throw(object);
        }
        self.b.at(back);
        pad
    }
}
