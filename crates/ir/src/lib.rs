//! The intermediate representation that everything meets at.
//!
//! A [`Module`] is a whole program: data types, globals, functions. A [`Function`] is a list of basic blocks over
//! *mutable registers*: variables whose address is never taken are registers, everything else lives in byte-addressed
//! memory objects. Registers are not in SSA form: lowering stays simple, and a symbolic state copies them either way.
//!
//! Every decision of the source has its tree in the function's decision table, and every branch that evaluates one of
//! its conditions carries a [`CondTag`]. That tag is the only link between executed code and source-level coverage.
//!
//! One circle: `module.rs` and `analysis/`. A module keeps the facts that analyses have computed about it
//! ([`Module::facts`]), so that each is computed once.
//!
//! Deliberately not here: any source language's name or rule, any IO, any symbolic value.

#![warn(missing_docs)]

mod analysis;
mod c;
mod data;
mod decision;
mod expr;
pub mod filetest;
mod function;
mod function_hash;
mod input;
mod inst;
mod item_structure;
mod java;
mod lazy_module;
mod module;
mod path;
mod point;
mod pointee;
mod text;
mod types;
mod verify;

pub use analysis::callgraph::{CallGraph, possible_callees, reachable_functions};
pub use analysis::cfg::{Cfg, EdgeKind, Exits, Loop, LoopId, successors};
pub use analysis::global_uses::{GlobalUses, ModuleFacts, derived_from};
pub use c::{CBuiltin, is_stream};
pub use data::{
    DataType, DataTypeId, DataTypes, DataValue, EnumItem, Field, FlexibleTail, IntKind, LengthField, MemberStep,
    PointerTarget, StructKind, TaggedVariant, VariantTag,
};
pub use decision::{BoolTree, CondId, CondTag, Condition, Decision, DecisionId, DecisionKind};
pub use expr::{Expr, ExprKind};
pub use function::{Block, BlockId, Function, FunctionRole, Param, Reg, RegInfo, Slot, SlotId};
pub use input::{FILE_FAILURES, FILE_WRITES, InputSource, REGISTER_BLOCK, REGISTERS};
pub use inst::{
    ArmName, BinOp, BranchRole, Builtin, BuiltinEffect, Callee, CastOp, CmpOp, ErrorKind, Inst, InstKind, Operand,
    SwitchArm, TermKind, Terminator,
};
pub use item_structure::{ItemStructure, ItemStructures, ModuleItem, without_location};
pub use java::JavaBuiltin;
pub use lazy_module::LazyModule;
pub use module::{FuncId, Global, GlobalId, GlobalRole, Init, Linkage, Module};
pub use path::PathHash;
pub use point::{Point, PointId, PointKind};
pub use pointee::{ByteWrites, MemoryRules, MemorySharing, Pointee, PointeeShape};
pub use text::{ParseError, parse, print};
pub use types::{Ty, mask, sign_extend};
pub use verify::{VerifyError, verify};
