//! Functions: registers, slots, blocks and the decision table.

use crate::{Builtin, DataTypeId, Decision, DecisionId, Inst, InstKind, Operand, Point, PointId, Terminator, Ty};
use std::collections::BTreeSet;
use touchstone_base::{IndexMap, Span, define_id};

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

/// What a function is to the program under test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FunctionRole {
    /// A function of the program, or one that it only declares.
    #[default]
    Program,
    /// A model of one that the language's library has.
    Model,
    /// A model of one whose answers are the world's: time, chance. Tests answer for it.
    World,
    /// A model of a harness's request for an input.
    Harness,
    /// Nobody defines it: it answers with inputs, and tests answer for it.
    External,
    /// The same, of the language's library, where nobody models it: it knows nothing of the program's globals.
    Library,
    /// It stands for any function of its type that the program does not have.
    Callback,
}

/// A function; without blocks it is only declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Name, unique in the module.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Visible only in its own file: a test must include the source to call it.
    pub internal: bool,
    /// What it is to the program under test.
    pub role: FunctionRole,
    /// Parameters in order. With `aggregate_result` the first one is the hidden result pointer.
    pub params: Vec<Param>,
    /// Type of the returned value; `None` for nothing (also with `aggregate_result`).
    pub result: Option<Ty>,
    /// Data type of the result ([`crate::DataType::Void`] for nothing).
    pub result_data: DataTypeId,
    /// The result is a structure, written through the first parameter.
    pub aggregate_result: bool,
    /// Its last parameter is the address of packed variable arguments; null where nobody passes any.
    pub variadic: bool,
    /// What its language leaves open and its code takes as one compiler does, in the front end's sentences.
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
    /// How it ends.
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
    /// Whether some instruction reads a register.
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
    /// Whether it is not of the user's program: never a function under test by itself.
    pub fn is_library(&self) -> bool {
        self.role != FunctionRole::Program
    }
    /// Whether it stands for any function of its type.
    pub fn is_callback(&self) -> bool {
        self.role == FunctionRole::Callback
    }
    /// Whether somebody says what it does, although nobody defines it.
    pub fn is_described(&self) -> bool {
        let mut insts = self.blocks.values().take(1).flat_map(|block| &block.insts);
        insts.any(|inst| matches!(inst.kind, InstKind::Builtin { builtin: Builtin::CalledAsSaid, .. }))
    }
    /// Whether there is a body.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }
}
