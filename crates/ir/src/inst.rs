//! Instructions and terminators.
//!
//! Integer arithmetic wraps. Division by zero, access outside an object, through null or into a dead object end the
//! path with an [`ErrorKind`]. The most negative number divided by -1 wraps (quotient itself, remainder 0). Shifts by the
//! width or more: the amount is taken modulo the width.
//!
//! There are no float registers: a float is its bits in an integer register, and [`touchstone_base::float`] says what its
//! operations compute.

use crate::{
    BlockId, CBuiltin, CondTag, FuncId, GlobalId, InputSource, JavaBuiltin, PointId, Reg, SlotId, Ty, sign_extend,
};
use std::fmt;
use touchstone_base::Span;
use touchstone_base::{float, math};

/// A source of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A constant, masked to its type's width; for `ptr` only 0 (null) is meaningful.
    Const(Ty, u64),
}

/// An instruction with its place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// The operation.
    pub kind: InstKind,
    /// The source position.
    pub span: Span,
}

/// The operation of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InstKind {
    /// `dst = src`.
    Copy {
        /// Target.
        dst: Reg,
        /// Source, same type.
        src: Operand,
    },
    /// `dst = a op b`, integers of one width.
    Bin {
        /// Target.
        dst: Reg,
        /// Operation.
        op: BinOp,
        /// Left.
        a: Operand,
        /// Right.
        b: Operand,
    },
    /// `dst: i1 = a op b`, integers of one width or pointers.
    Cmp {
        /// Target, `i1`.
        dst: Reg,
        /// Relation.
        op: CmpOp,
        /// Left.
        a: Operand,
        /// Right.
        b: Operand,
    },
    /// Change of width or between pointer and integer; the types are the registers'.
    Cast {
        /// Target.
        dst: Reg,
        /// The kind of cast.
        op: CastOp,
        /// Source.
        src: Operand,
    },
    /// `dst = op(args)` on floats as bit patterns; see [`touchstone_base::float::eval`].
    Float {
        /// Target, an integer of the result's width.
        dst: Reg,
        /// Operation.
        op: float::FloatOp,
        /// The format that it works in.
        format: float::Format,
        /// As many as the operation takes, integers of its arguments' width.
        args: Vec<Operand>,
    },
    /// `dst = address of a slot of this frame`.
    SlotAddr {
        /// Target, `ptr`.
        dst: Reg,
        /// The slot.
        slot: SlotId,
    },
    /// `dst = address of a global`.
    GlobalAddr {
        /// Target, `ptr`.
        dst: Reg,
        /// The global.
        global: GlobalId,
    },
    /// `dst = base + offset` in bytes; any offset is allowed, only the access is checked.
    PtrAdd {
        /// Target, `ptr`.
        dst: Reg,
        /// Base, `ptr`.
        base: Operand,
        /// Bytes, `i64`.
        offset: Operand,
    },
    /// `dst: i64 = a - b` in bytes.
    PtrDiff {
        /// Target, `i64`.
        dst: Reg,
        /// Left pointer.
        a: Operand,
        /// Right pointer.
        b: Operand,
    },
    /// `dst = *addr`, little-endian, of the register's type (never `i1`).
    Load {
        /// Target.
        dst: Reg,
        /// Address, `ptr`.
        addr: Operand,
    },
    /// `*addr = value` (value never `i1`).
    Store {
        /// Address, `ptr`.
        addr: Operand,
        /// Value.
        value: Operand,
    },
    /// Copies `size` bytes, overlapping allowed, undefined bytes included.
    MemCopy {
        /// Destination, `ptr`.
        dst: Operand,
        /// Source, `ptr`.
        src: Operand,
        /// Bytes, `i64`.
        size: Operand,
    },
    /// Sets `size` bytes to the low byte of `value`.
    MemSet {
        /// Destination, `ptr`.
        dst: Operand,
        /// The byte, `i8`.
        value: Operand,
        /// Bytes, `i64`.
        size: Operand,
    },
    /// A new life of a slot begins (its declaration is executed): contents undefined. Slots also die with their frame.
    SlotBegin {
        /// The slot.
        slot: SlotId,
    },
    /// The life of a slot ends: pointers to it dangle. If control gets to it again (its begin, or its address is taken),
    /// a new life begins.
    SlotEnd {
        /// The slot.
        slot: SlotId,
    },
    /// A place that coverage speaks of: does nothing.
    Point {
        /// The point.
        point: PointId,
    },
    /// Calls a function of the module. Aggregates are passed as the address of a copy that the caller made; an
    /// aggregate result is written through a hidden first parameter.
    Call {
        /// The register of the result.
        dst: Option<Reg>,
        /// The called function.
        callee: Callee,
        /// Arguments.
        args: Vec<Operand>,
    },
    /// Calls something that the interpreter and the engine implement themselves.
    Builtin {
        /// The register of the result.
        dst: Option<Reg>,
        /// The builtin.
        builtin: Builtin,
        /// Arguments.
        args: Vec<Operand>,
    },
}

impl InstKind {
    /// The register that the instruction writes.
    pub fn dst(&self) -> Option<Reg> {
        match self {
            InstKind::Copy { dst, .. }
            | InstKind::Bin { dst, .. }
            | InstKind::Cmp { dst, .. }
            | InstKind::Cast { dst, .. }
            | InstKind::Float { dst, .. }
            | InstKind::SlotAddr { dst, .. }
            | InstKind::GlobalAddr { dst, .. }
            | InstKind::PtrAdd { dst, .. }
            | InstKind::PtrDiff { dst, .. }
            | InstKind::Load { dst, .. } => Some(*dst),
            InstKind::Call { dst, .. } | InstKind::Builtin { dst, .. } => *dst,
            InstKind::Store { .. }
            | InstKind::MemCopy { .. }
            | InstKind::MemSet { .. }
            | InstKind::SlotBegin { .. }
            | InstKind::SlotEnd { .. }
            | InstKind::Point { .. } => None,
        }
    }
}

/// The target of a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A function of the module; one without body is an unmodelled external.
    Direct(FuncId),
    /// The function that a `ptr` is the address of (a global with [`crate::Global::function`]). Anything else, and a
    /// function with other parameters or another result, ends the path.
    Indirect(Operand),
}

/// Operations that the interpreter and the engine implement, for all languages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Builtin {
    /// `(ptr address, i64 size, ptr name)`: the bytes become inputs. The name is a NUL-terminated constant string.
    MakeSymbolic(InputSource),
    /// `(ptr name) -> iN or ptr`: a fresh input of the result's type; a pointer is null or unknown.
    FreshInt(InputSource),
    /// `(i1)`: a path on which it is false is no path of the program (not a branch, not counted, no test).
    Assume,
    /// `(i1)`: false ends the path with [`ErrorKind::Assert`]. Not a branch.
    Assert,
    /// `(i64 size) -> ptr`: a fresh zeroed heap object. It never fails. A size that depends on inputs stays a term:
    /// symbolic execution forks on sizes only where the program does.
    Allocate,
    /// `(ptr) -> i64`: the bytes of the object that the pointer points into.
    ObjectSize,
    /// `(ptr, i64 size)`: uninitialised bytes become zero. For fields that share bytes with others (bit-fields).
    ZeroUninitialised,
    /// `(ptr union, i64 size, i64 member)`: the next access observes this member of a union of the given size. A
    /// concrete run ignores it; creation of inputs creates that member.
    ObserveMember,
    /// `(ptr, i64 type)`: the next access casts the pointer to one to this type, the number of a [`crate::DataTypeId`],
    /// independent of its declaration. A concrete run ignores it; creation of inputs may create such objects.
    CastPointee,
    /// `(ptr address, i64 size)`: the next read returns a value of a device, if the address is a register's
    /// ([`crate::REGISTERS`]).
    Refresh,
    /// `(i32 stream, ptr bytes, i64 size)`: writes bytes to standard output (1) or standard error (2).
    Write,
    /// `() -> i32`: the next byte of standard input, -1 at its end.
    ReadByte,
    /// `(ptr name)`: the code after it is defined only for one run of a whole program (for example the state of a
    /// random generator). A concrete run continues; symbolic execution stops as unsupported with this name.
    RunOnly,
    /// `(ptr name)`: the function with this name may have written memory. A path continues as if nothing was written;
    /// what a write could reach is unknown.
    MayWrite,
    /// `(ptr name, ptr to, i64 size)`: havocs the pointee of a parameter: the function with this name
    /// (`function.parameter`) may write an input of at most the given size there, of the pointee type, or nothing. `to`
    /// is a parameter of the enclosing function.
    HavocPointee,
    /// `(ptr name, …)`: an external function with this name is called with these arguments. A run records them; the
    /// side effects are unknown.
    Called,
    /// As `Called`, for a function with a description: the instructions that follow are its only effects.
    CalledAsSpecified,
    /// `(ptr name, ptr to, i64 size)`: records a described side effect: the bytes that an external function has written.
    /// There is no other effect. The sources are [`InputSource::Written`] and [`InputSource::Changed`].
    RecordEffect(InputSource),
    /// `(ptr what, T value) -> T`: the value, which is unspecified: a real program may have another one, for the named
    /// reason. `(ptr what)`: the same for everything that follows. A concrete run continues; proofs take it into account.
    Unspecified,
    /// `()`: the run never continues, and has no further effect.
    Hang,
    /// `(i32)`: ends the program with this status.
    Exit,
    /// `()`: ends the path with [`ErrorKind::Abort`].
    Abort,
    /// `(ptr text, i64 length) -> float`, as bits: the value of a decimal number, rounded once.
    ParseFloat(float::Format),
    /// `(float…) -> float`, as bits: a mathematical function whose values are the host library's.
    Math(math::MathFunction, float::Format),
    /// A builtin of C only.
    C(CBuiltin),
    /// A builtin of Java only.
    Java(JavaBuiltin),
}

/// The effect of a builtin besides its arguments and its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuiltinEffect {
    /// None: its result depends only on its arguments, or is an object that it allocates.
    Nothing,
    /// It continues or ends the run, depending only on its arguments.
    Ends,
    /// It reads from the environment, or writes its arguments to it.
    Environment,
    /// It writes the contents of memory to the environment.
    OutputsMemory,
    /// Anything.
    Anything,
}

impl Builtin {
    /// Returns the effect besides arguments and result.
    pub fn effect(self) -> BuiltinEffect {
        match self {
            Builtin::Math(..)
            | Builtin::ObjectSize
            | Builtin::ObserveMember
            | Builtin::CastPointee
            | Builtin::Unspecified => BuiltinEffect::Nothing,
            Builtin::Allocate => BuiltinEffect::Nothing,
            Builtin::Assume | Builtin::Assert | Builtin::Exit | Builtin::Abort | Builtin::Hang => BuiltinEffect::Ends,
            Builtin::FreshInt(_) | Builtin::ReadByte | Builtin::Called | Builtin::CalledAsSpecified => {
                BuiltinEffect::Environment
            }
            Builtin::Write | Builtin::RecordEffect(_) => BuiltinEffect::OutputsMemory,
            Builtin::C(builtin) => builtin.effect(),
            Builtin::Java(builtin) => builtin.effect(),
            Builtin::MakeSymbolic(_)
            | Builtin::ZeroUninitialised
            | Builtin::Refresh
            | Builtin::RunOnly
            | Builtin::MayWrite
            | Builtin::HavocPointee
            | Builtin::ParseFloat(_) => BuiltinEffect::Anything,
        }
    }
}

/// Binary integer operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
}

/// Relations. `ne`, `gt`, `ge` are written with swapped operands or outcomes where the front end wants them, except
/// `Ne`, which is here because it is so common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum CmpOp {
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
}

/// Casts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CastOp {
    /// Widen with zeros.
    Zext,
    /// Widen with the sign.
    Sext,
    /// Drop high bits.
    Trunc,
    /// Pointer to `i64` (or narrower) address.
    PtrToInt,
    /// `i64` to pointer; only null and addresses made by `PtrToInt` can be dereferenced afterwards.
    IntToPtr,
}

/// The end of a block with its place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terminator {
    /// The operation.
    pub kind: TermKind,
    /// The source position.
    pub span: Span,
}

/// The operation that ends a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TermKind {
    /// Goes on.
    Jump(BlockId),
    /// Evaluates a condition. Whether its outcome is one of the path is up to its role.
    Branch {
        /// `i1`.
        cond: Operand,
        /// The target if the condition is 1.
        then_block: BlockId,
        /// The target if the condition is 0.
        else_block: BlockId,
        /// The role in the source.
        role: BranchRole,
        /// The source condition; only if the role is a condition.
        tag: Option<CondTag>,
    },
    /// Goes to the arm whose range holds the value. Its outcome is the arm's target block, so several ranges with one
    /// target are one arm; whether it is an outcome of the path is up to its role.
    Switch {
        /// An integer.
        value: Operand,
        /// Disjoint ranges.
        arms: Vec<SwitchArm>,
        /// The target of all other values.
        default: BlockId,
        /// The role in the source.
        role: BranchRole,
        /// The source names of the arms, if these are not numbers; targets without a name are not in the source then.
        names: Vec<ArmName>,
    },
    /// Returns from the function. Without a value in a function with a result, the result is undefined and must not be
    /// used.
    Return(Option<Operand>),
    /// Leaves the function by throwing an object (`ptr`), and so every function on the way to the innermost call whose block
    /// ends in a [`TermKind::Catch`]; locals die as in a return. Where there is none, the run ends: the class of the
    /// object is read then, which is its tag in [`crate::Module::thrown`].
    Throw(Operand),
    /// The block's last instruction is a call. If it throws, the object is in `thrown`, the call's result register stays as
    /// it was, and control goes to the handler; else it goes on. A `Throw` of the function itself is not caught: what
    /// happens inside a function is a jump.
    Catch {
        /// Gets the object, `ptr`.
        thrown: Reg,
        /// The block that handles the exception.
        handler: BlockId,
        /// The target if the call returned.
        next: BlockId,
    },
    /// An unsupported construct: execution stops with this name.
    Unsupported(String),
    /// Control never gets here (after a call that does not return, or by the language's rules).
    Unreachable,
}

/// The role of a branch or a switch in the source. Only a condition is an outcome of the path, and only a condition has
/// objectives: paths that differ only in checks and dispatches are one path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BranchRole {
    /// The source asks.
    #[default]
    Condition,
    /// The language asks whether an operation may be done; where it may not, it goes wrong in a defined way.
    Check,
    /// The language looks which of several implementations is meant.
    Dispatch,
}

impl BranchRole {
    /// Returns true if its outcome is one of the path.
    pub fn is_outcome(self) -> bool {
        self == BranchRole::Condition
    }
}

/// A range of a switch, inclusive, as masked constants of the switched width; compared signed or unsigned is the same
/// because ranges never wrap in the interpretation that `signed` names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchArm {
    /// Lowest value.
    pub low: u64,
    /// Highest value.
    pub high: u64,
    /// True if `low..=high` is a signed range.
    pub signed: bool,
    /// The target.
    pub target: BlockId,
}

/// The source name of a switch arm: `RED`, `"stop"`, `default`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArmName {
    /// The target of the arm; it may have several names.
    pub target: BlockId,
    /// Its name.
    pub name: String,
}

impl SwitchArm {
    /// Returns true if a value with a number of bits is in the range.
    pub fn holds(&self, value: u64, bits: u8) -> bool {
        if self.signed {
            let signed = |value| sign_extend(value, bits);
            (signed(self.low)..=signed(self.high)).contains(&signed(value))
        } else {
            (self.low..=self.high).contains(&value)
        }
    }
}

/// The kind of a run-time error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum ErrorKind {
    /// Access outside an object.
    OutOfBounds,
    /// Access through null (or a small integer).
    NullPointer,
    /// Access to an object whose life has ended.
    Dangling,
    /// An access through a pointer without a valid target.
    InvalidPointer,
    /// Write to a constant object.
    ReadOnly,
    /// Division or remainder by zero.
    DivisionByZero,
    /// A read of uninitialised bytes.
    Uninitialised,
    /// `free` of something that is not the start of a live heap object.
    InvalidFree,
    /// A failed assertion.
    Assert,
    /// `abort` was called.
    Abort,
    /// Control reached a place that it must not reach.
    Unreachable,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [ErrorKind; 11] = [
        ErrorKind::OutOfBounds,
        ErrorKind::NullPointer,
        ErrorKind::Dangling,
        ErrorKind::InvalidPointer,
        ErrorKind::ReadOnly,
        ErrorKind::DivisionByZero,
        ErrorKind::Uninitialised,
        ErrorKind::InvalidFree,
        ErrorKind::Assert,
        ErrorKind::Abort,
        ErrorKind::Unreachable,
    ];
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::OutOfBounds => "out of bounds",
            ErrorKind::NullPointer => "null pointer",
            ErrorKind::Dangling => "dangling pointer",
            ErrorKind::InvalidPointer => "invalid pointer",
            ErrorKind::ReadOnly => "write to a constant",
            ErrorKind::DivisionByZero => "division by zero",
            ErrorKind::Uninitialised => "uninitialised read",
            ErrorKind::InvalidFree => "invalid free",
            ErrorKind::Assert => "assertion failed",
            ErrorKind::Abort => "abort",
            ErrorKind::Unreachable => "unreachable code reached",
        })
    }
}

impl InstKind {
    /// The values that the instruction reads.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            InstKind::Copy { src, .. } | InstKind::Cast { src, .. } => vec![*src],
            InstKind::Bin { a, b, .. } | InstKind::Cmp { a, b, .. } | InstKind::PtrDiff { a, b, .. } => vec![*a, *b],
            InstKind::SlotAddr { .. }
            | InstKind::GlobalAddr { .. }
            | InstKind::SlotBegin { .. }
            | InstKind::SlotEnd { .. }
            | InstKind::Point { .. } => vec![],
            InstKind::PtrAdd { base, offset, .. } => vec![*base, *offset],
            InstKind::Load { addr, .. } => vec![*addr],
            InstKind::Store { addr, value } => vec![*addr, *value],
            InstKind::MemCopy { dst, src, size } => vec![*dst, *src, *size],
            InstKind::MemSet { dst, value, size } => vec![*dst, *value, *size],
            InstKind::Call { callee: Callee::Indirect(callee), args, .. } => {
                std::iter::once(*callee).chain(args.iter().copied()).collect()
            }
            InstKind::Float { args, .. } | InstKind::Call { args, .. } | InstKind::Builtin { args, .. } => args.clone(),
        }
    }
}

impl TermKind {
    /// The register that the terminator may write.
    pub fn dst(&self) -> Option<Reg> {
        match self {
            TermKind::Catch { thrown, .. } => Some(*thrown),
            _ => None,
        }
    }

    /// The values that the terminator reads.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            TermKind::Branch { cond, .. } => vec![*cond],
            TermKind::Switch { value, .. } => vec![*value],
            TermKind::Return(value) => value.iter().copied().collect(),
            TermKind::Throw(value) => vec![*value],
            TermKind::Jump(_) | TermKind::Catch { .. } | TermKind::Unsupported(_) | TermKind::Unreachable => vec![],
        }
    }
}
