//! The body of a method: the stack machine's code becomes blocks over registers.
//!
//! A local variable is a register for each type that it has. What is on the stack is followed symbolically within a block, and
//! stands in a register for its depth and type between blocks; so neither the class file's stack maps nor an
//! inference of classes is needed.

use crate::classes::layout::ty_of;
use crate::classes::{ClassId, MethodRef, Refusal};
use crate::classfile::{ClassFile, Code, Decoded, Desc, MethodDesc, access, decode};
use crate::coverage::decisions::{AllPlaced, Known, Table};
use crate::coverage::definite_assignment::Assigned;
use crate::coverage::implicit_exceptions::Implicit;
use crate::coverage::value_locations::When;
use crate::lower::builder::Builder;
use crate::lower::context::{ANY, World, result_ty};
use crate::lower::null_messages::Origin;
use crate::lower::points::decision_points::Beginnings;
use crate::lower::points::value_points::Formulas;
use crate::lower::points::value_sources::Sources;
use crate::lower::symbols::Func;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use touchstone_base::{FileId, Id, Span};
use touchstone_ir::{BlockId, BranchRole, DataTypeId, Function, FunctionRole, Operand, Reg, Ty};

/// A method in the making.
pub(crate) struct Body<'w> {
    pub world: &'w mut World,
    pub b: Builder,
    pub class: ClassId,
    pub file: Rc<ClassFile>,
    pub code: &'w Code,
    pub insns: &'w [Decoded],
    source: FileId,
    /// Blocks that instructions begin, and what is on the stack there.
    blocks: FxHashMap<usize, (BlockId, Vec<Ty>)>,
    waiting: Vec<usize>,
    pub stack: Vec<Operand>,
    locals: FxHashMap<(u16, Ty), Reg>,
    stack_regs: FxHashMap<(usize, Ty), Reg>,
    /// Where exceptions go that a list of handlers may catch.
    landings: FxHashMap<Vec<usize>, BlockId>,
    thrown: Option<Reg>,
    /// References that are known not to be null in this block.
    not_null: FxHashSet<Reg>,
    /// Where values come from, for messages.
    pub origins: FxHashMap<Reg, Rc<Origin>>,
    /// The instruction that is being lowered.
    pub position: usize,
    /// Whether that is done, and control is about to go on.
    pub when: When,
    pub is_static: bool,
    pub result: Option<Ty>,
    pub returned: Desc,
    pub params: u16,
    /// Classes that are known to be initialised in this block.
    pub initialised: FxHashSet<ClassId>,
    /// The receiver, if nothing is ever stored there.
    this: Option<Reg>,
    /// What the code is to its source.
    pub table: Table,
    /// What values are, as the source writes them.
    pub formulas: Formulas,
    pub beginnings: Beginnings,
    /// Where values are in a frame of the JVM.
    pub sources: Sources,
    /// Fields of the receiver that decisions ask for beforehand: where memory has them, and their constants.
    pub own_fields: BTreeMap<u64, u16>,
}

impl World {
    /// The function of a method that has code.
    pub fn lower_body(&mut self, method: MethodRef, name: &str) -> Result<Function, Refusal> {
        let file = self.classes.get(method.class).file().cloned();
        let Some(file) = file else { return Err(Refusal::NoMethod(name.to_string())) };
        let member = &file.methods[usize::from(method.index)];
        let title = self.method_title(method);
        let Some(code) = member.code() else {
            let what = if member.is(access::NATIVE) { "native method" } else { "abstract method" };
            return Err(Refusal::Unsupported(format!("{what} {title}")));
        };
        let insns =
            decode(&code.bytes, code.offset).map_err(|error| Refusal::Malformed(format!("{}: {error}", file.name)))?;
        let desc = MethodDesc::parse(&member.desc).ok_or_else(|| Refusal::Malformed(title.clone()))?;
        let (params, _) = self.signature(method);
        let known = self.known_of(method);
        let (source, table) = self.table_of(&known, &file, code, &insns);
        let assigned = match known {
            Known::Library => Assigned::default(),
            _ => Assigned::new(member.access, &desc, code, &insns),
        };
        let formulas = Formulas::new(assigned);
        let leaders: FxHashSet<usize> = leaders(code, &insns).collect();
        let mut body = Body {
            world: self,
            b: Builder::new(&params),
            class: method.class,
            file: file.clone(),
            code,
            insns: &insns,
            source,
            blocks: FxHashMap::default(),
            waiting: Vec::new(),
            stack: Vec::new(),
            locals: FxHashMap::default(),
            stack_regs: FxHashMap::default(),
            landings: FxHashMap::default(),
            thrown: None,
            not_null: FxHashSet::default(),
            origins: FxHashMap::default(),
            position: 0,
            when: When::Before,
            is_static: member.is(access::STATIC),
            result: result_ty(&desc.result),
            returned: desc.result.clone(),
            params: 0,
            initialised: FxHashSet::default(),
            this: None,
            table,
            formulas,
            beginnings: Beginnings::default(),
            sources: Sources::default(),
            own_fields: BTreeMap::new(),
        };
        body.parameters(member.is(access::STATIC), &desc);
        body.find_beginnings(&leaders);
        body.go_on_at(0);
        while let Some(at) = body.waiting.pop() {
            body.lower_block(at, &leaders);
        }
        let role = match body.world.is_library(method.class) {
            true => FunctionRole::Model,
            false => FunctionRole::Program,
        };
        let (result, table, own_fields) = (result_ty(&desc.result), body.table, body.own_fields);
        let mut function = body.b.finish(format!("{name} {title}"), result, DataTypeId::new(ANY), role);
        let placed = AllPlaced { own_fields, ..table.give(&mut function) };
        if !placed.is_empty() {
            self.placed.insert(method, placed);
        }
        if role == FunctionRole::Program {
            self.present(method, code, &desc, &mut function);
        }
        Ok(function)
    }
}

impl World {
    /// What a method's code is to its source, and the file that it is of.
    fn table_of(&mut self, known: &Known, class: &ClassFile, code: &Code, insns: &[Decoded]) -> (FileId, Table) {
        let source = match known {
            Known::Source(marks) => marks.file.as_str().into(),
            _ => class.source_file().cloned().unwrap_or_else(|| class.name.clone()),
        };
        let source = self.file(&source);
        (source, Table::new(known, source, code, insns))
    }

    /// The same of a method with this code.
    pub fn table(&mut self, method: MethodRef, class: &ClassFile, code: &Code, insns: &[Decoded]) -> Table {
        let known = self.known_of(method);
        self.table_of(&known, class, code, insns).1
    }
}

/// Where blocks begin.
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
            self.locals.insert((local, ty_of(param)), Reg::new(index));
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

    /// Which local variable a register holds.
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

    pub fn pop(&mut self) -> Result<Operand, Refusal> {
        self.stack.pop().ok_or_else(|| Refusal::Malformed("a value is taken from an empty stack".to_string()))
    }

    /// A value of the type that an instruction wants.
    pub fn pop_ty(&mut self, ty: Ty) -> Result<Operand, Refusal> {
        let value = self.pop()?;
        match self.b.ty(value) == ty {
            true => Ok(value),
            false => Err(Refusal::Malformed("a value of another type than the instruction takes".to_string())),
        }
    }

    /// Writes a local variable; what is on the stack keeps the old value.
    pub fn set_local(&mut self, index: u16, value: Operand) {
        let ty = self.b.ty(value);
        let reg = self.local(index, ty);
        self.keep_old(reg);
        let known = self.is_not_null(value);
        self.b.copy(reg, value);
        self.not_null.remove(&reg);
        if known {
            self.not_null.insert(reg);
        }
    }

    /// The receiver, if nothing is ever stored there.
    pub fn this(&self) -> Option<Reg> {
        self.this
    }

    // What is known.

    pub fn is_not_null(&self, value: Operand) -> bool {
        matches!(value, Operand::Reg(reg) if self.this == Some(reg) || self.not_null.contains(&reg))
    }

    pub fn know_not_null(&mut self, value: Operand) {
        if let Operand::Reg(reg) = value {
            self.not_null.insert(reg);
        }
    }

    /// Goes on if a reference is not null, else throws; the exception says what could not be done and why.
    pub fn null_check(&mut self, value: Operand, action: &str) {
        if !self.is_not_null(value) {
            let message = match self.because(value) {
                Some(because) => format!("{action} because {because} is null"),
                None => action.to_string(),
            };
            // What the compiler keeps in variables without a name is not null.
            if !message.contains("because \"<local") {
                self.wrong_is(Implicit::NullPointer, &message);
            }
            self.world.null_check_with(&mut self.b, value, Some(&message));
            self.know_not_null(value);
        }
    }

    pub fn ensure_init(&mut self, class: ClassId) {
        let own =
            self.world.classes.is_subtype(self.class, class) && !self.world.classes.get(class).is(access::INTERFACE);
        if !own && class != self.class && self.initialised.insert(class) {
            let of_program = !self.world.classes.get(class).of_jdk;
            if of_program && self.world.needs_init(class) && self.world.init_reaches_out(class) {
                self.world
                    .run_only(&mut self.b, "whether a class was initialised before, whose initialiser uses others");
            }
            self.world.ensure_init(&mut self.b, class);
        }
    }

    // Blocks.

    /// The block of an instruction, with what is on the stack now in its registers.
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
            let (back, wrong) = (self.b.here(), self.b.block());
            self.b.at(wrong);
            self.b.unsupported(format!("{}: the stack differs where control meets", self.file.name));
            self.b.at(back);
            return wrong;
        }
        let block = self.b.block();
        self.blocks.insert(at, (block, types));
        self.waiting.push(at);
        block
    }

    /// Puts what is on the stack into the registers that other blocks look into.
    fn flush(&mut self) {
        self.mark_left();
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
                self.stack[index] = self.b.kept(value);
            }
        }
        for (index, home) in homes.into_iter().enumerate() {
            self.b.copy(home, self.stack[index]);
            self.stack[index] = Operand::Reg(home);
        }
    }

    /// Goes on at an instruction.
    pub fn go_on_at(&mut self, at: usize) {
        let block = self.target(at);
        self.b.jump(block);
    }

    fn lower_block(&mut self, at: usize, leaders: &FxHashSet<usize>) {
        let (block, types) = self.blocks[&at].clone();
        self.b.at(block);
        self.b.forget_temps();
        self.not_null.clear();
        self.origins.clear();
        self.formulas.forget();
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
            (self.position, self.when) = (insn.at, When::Before);
            self.b.catcher = None;
            self.set_catcher(insn.at);
            self.mark_statements(insn.at);
            self.mark_decisions(insn.at, leaders);
            self.errors_of_the_machine(insn);
            if let Err(refusal) = self.lower_insn(insn) {
                self.world.refuse(&mut self.b, &refusal);
            }
            if self.b.ended() {
                return;
            }
            self.note_pushed();
            if insn.insn.ends() || index + 1 == self.insns.len() {
                return;
            }
            if leaders.contains(&insn.next) {
                self.when = When::After;
                return self.go_on_at(insn.next);
            }
            index += 1;
        }
    }

    // Handlers.

    /// Who catches what an instruction throws.
    fn set_catcher(&mut self, at: usize) {
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
        let landing = match self.landings.get(&handlers) {
            Some(landing) => *landing,
            None => {
                let landing = self.landing(thrown, &handlers);
                self.landings.insert(handlers, landing);
                landing
            }
        };
        self.b.catcher = Some((thrown, landing));
    }

    fn landing(&mut self, thrown: Reg, handlers: &[usize]) -> BlockId {
        let (back, landing) = (self.b.here(), self.b.block());
        self.b.at(landing);
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
                Some(class) => self.world.classes.load(class),
            };
            // A class that nobody has catches nothing.
            let Ok(class) = class else { continue };
            let test = self.world.newest(|generation| Func::InstanceOf(class, generation));
            let fits = self.b.call(test, vec![object], Some(Ty::I1));
            let (caught, next) = (self.b.block(), self.b.block());
            self.b.branch(fits, caught, next, BranchRole::Dispatch);
            self.b.at(caught);
            self.b.copy(home, object);
            self.b.jump(target);
            self.b.at(next);
        }
        if !self.b.ended() {
            self.b.throw(object);
        }
        self.b.at(back);
        landing
    }
}
