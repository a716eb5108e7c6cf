//! Functions: registers, slots, blocks and the decision table.

use crate::{Builtin, DataTypeId, Decision, DecisionId, Inst, InstKind, Operand, Point, PointId, Terminator, Ty};
use std::collections::BTreeSet;
use touchstone_base::{Id, IndexMap, Span, define_id};

define_id! {
    /// A register of a function.
    Reg, "%"
}
define_id! {
    /// A memory variable of a function's frame.
    SlotId, "s"
}
define_id! {
    /// A basic block of a function. `b0` is the entry.
    BlockId, "b"
}

/// The role of a function in the program under test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FunctionRole {
    /// A function of the program, or one that it only declares.
    #[default]
    Program,
    /// A model of a function of the language's library.
    Model,
    /// A model of a function whose results come from the environment: time, random numbers. Tests stub it.
    Environment,
    /// A model of a harness's request for an input.
    Harness,
    /// An external function: its results are inputs, and tests stub it.
    External,
    /// An external function of the language's library without a model: it does not access the program's globals.
    Library,
    /// A representative of all functions of its type that the program does not contain.
    Callback,
}

/// A function; without blocks it is only declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Name, unique in the module.
    pub name: String,
    /// The source position.
    pub span: Span,
    /// Visible only in its own file: a test must include the source to call it.
    pub internal: bool,
    /// The role in the program under test.
    pub role: FunctionRole,
    /// Parameters in order. With `aggregate_result` the first one is the hidden result pointer.
    pub params: Vec<Param>,
    /// Type of the returned value; `None` for nothing (also with `aggregate_result`).
    pub result: Option<Ty>,
    /// Data type of the result ([`crate::DataType::Void`] for nothing).
    pub result_data: DataTypeId,
    /// The result is a structure, written through the first parameter.
    pub aggregate_result: bool,
    /// True if the last parameter is the address of packed variadic arguments; it is null if there are none.
    pub variadic: bool,
    /// Choices that the language leaves open and that the code makes as one compiler does, in the front end's
    /// sentences.
    pub left_open: BTreeSet<String>,
    /// Registers; parameters come first.
    pub regs: IndexMap<Reg, RegInfo>,
    /// Memory variables.
    pub slots: IndexMap<SlotId, Slot>,
    /// Decisions of the source.
    pub decisions: IndexMap<DecisionId, Decision>,
    /// Places that coverage speaks of.
    pub points: IndexMap<PointId, Point>,
    /// Basic blocks; empty if only declared.
    pub blocks: IndexMap<BlockId, Block>,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Name as in the source (may be empty).
    pub name: String,
    /// Its register.
    pub reg: Reg,
    /// Its data type as declared: an array parameter keeps its declared array type here though the register holds a
    /// pointer to the first element.
    pub data: DataTypeId,
    /// A structure passed by value: the register holds the address of a private copy.
    pub aggregate: bool,
}

/// A register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegInfo {
    /// Its type.
    pub ty: Ty,
    /// The variable that it holds, if any.
    pub name: Option<String>,
}

/// A memory variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The variable's name, if any.
    pub name: Option<String>,
    /// Its data type.
    pub data: DataTypeId,
    /// Bytes.
    pub size: u64,
}

/// A basic block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Instructions.
    pub insts: Vec<Inst>,
    /// The terminator.
    pub terminator: Terminator,
}

impl Function {
    /// The type of an operand of one of its instructions.
    pub fn operand_ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.regs[reg].ty,
            Operand::Const(ty, _) => ty,
        }
    }
    /// Returns true if an instruction reads the register.
    pub fn reads(&self, reg: Reg) -> bool {
        let reads = |operand: &Operand| *operand == Operand::Reg(reg);
        self.blocks.values().any(|block| {
            block.insts.iter().any(|inst| inst.kind.operands().iter().any(reads))
                || block.terminator.kind.operands().iter().any(reads)
        })
    }
    /// The parameters that the source has: neither the hidden result nor packed variable arguments.
    pub fn own_params(&self) -> &[Param] {
        let end = self.params.len() - usize::from(self.variadic);
        &self.params[usize::from(self.aggregate_result)..end]
    }
    /// Returns true if it does not belong to the user's program; such a function is never under test.
    pub fn is_library(&self) -> bool {
        self.role != FunctionRole::Program
    }
    /// Returns true if it represents all functions of its type.
    pub fn is_callback(&self) -> bool {
        self.role == FunctionRole::Callback
    }
    /// Returns true if it is an external function with a description.
    pub fn is_described(&self) -> bool {
        let mut insts = self.blocks.values().take(1).flat_map(|block| &block.insts);
        insts.any(|inst| matches!(inst.kind, InstKind::Builtin { builtin: Builtin::CalledAsSpecified, .. }))
    }
    /// Returns true if there is a body.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }
    /// Returns the function without its body.
    pub fn declaration(&self) -> Function {
        let regs = self.params.iter().map(|param| param.reg.index() + 1).max().unwrap_or(0);
        Function {
            name: self.name.clone(),
            span: self.span,
            internal: self.internal,
            role: self.role,
            params: self.params.clone(),
            result: self.result,
            result_data: self.result_data,
            aggregate_result: self.aggregate_result,
            variadic: self.variadic,
            left_open: self.left_open.clone(),
            regs: self.regs.values().take(regs).cloned().collect(),
            slots: IndexMap::new(),
            decisions: IndexMap::new(),
            points: IndexMap::new(),
            blocks: IndexMap::new(),
        }
    }
}
