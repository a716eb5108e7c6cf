//! The operand types, operators and conditions of instructions.

/// The computational type of a local variable or operand (JVM specification, section 2.11.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SlotKind {
    /// `int`, and the smaller types that are computed as `int`.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A reference, or the return address of a subroutine.
    Ref,
}

impl SlotKind {
    /// Returns the kind with a position in the order of the instruction set: int, long, float, double, reference.
    pub(crate) fn numbered(number: u8) -> SlotKind {
        [SlotKind::Int, SlotKind::Long, SlotKind::Float, SlotKind::Double, SlotKind::Ref][usize::from(number.min(4))]
    }

    /// The distance of the opcode for this kind from the one for `int`, in a family that has an opcode for each kind.
    pub fn opcode_offset(self) -> u8 {
        match self {
            SlotKind::Int => 0,
            SlotKind::Long => 1,
            SlotKind::Float => 2,
            SlotKind::Double => 3,
            SlotKind::Ref => 4,
        }
    }

    /// The number of slots that it takes on the stack or among the locals.
    pub fn words(self) -> u16 {
        if self.is_wide() { 2 } else { 1 }
    }

    /// True if it takes two slots.
    pub fn is_wide(self) -> bool {
        matches!(self, SlotKind::Long | SlotKind::Double)
    }
}

/// A binary arithmetic operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Ushr,
    And,
    Or,
    Xor,
}

/// A condition of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Cond {
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
}

impl Cond {
    /// Returns the condition with a position in the order of the instruction set.
    pub(crate) fn numbered(number: u8) -> Cond {
        [Cond::Eq, Cond::Ne, Cond::Lt, Cond::Ge, Cond::Gt, Cond::Le][usize::from(number.min(5))]
    }
}

/// A conversion between numeric types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Convert {
    /// A conversion between two kinds.
    Kinds(SlotKind, SlotKind),
    /// `i2b`.
    Byte,
    /// `i2c`.
    Char,
    /// `i2s`.
    Short,
}

impl Convert {
    /// Returns the kind of the operand.
    pub fn from(self) -> SlotKind {
        match self {
            Convert::Kinds(from, _) => from,
            Convert::Byte | Convert::Char | Convert::Short => SlotKind::Int,
        }
    }
}
