//! What instructions are made of.

/// What a register of the stack machine holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SlotKind {
    /// `int` and all that is computed as one.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A reference, or the address of a subroutine's caller.
    Ref,
}

impl SlotKind {
    /// The kind with this number in the order of the instruction set: int, long, float, double, reference.
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

/// Arithmetic with two operands.
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

/// A relation.
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
    /// The relation with this number in the order of the instruction set.
    pub(crate) fn numbered(number: u8) -> Cond {
        [Cond::Eq, Cond::Ne, Cond::Lt, Cond::Ge, Cond::Gt, Cond::Le][usize::from(number.min(5))]
    }
}

/// A conversion to a type that is narrower than `int`, or between the four kinds of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Convert {
    /// Between kinds.
    Kinds(SlotKind, SlotKind),
    /// `i2b`.
    Byte,
    /// `i2c`.
    Char,
    /// `i2s`.
    Short,
}

impl Convert {
    /// What is converted.
    pub fn from(self) -> SlotKind {
        match self {
            Convert::Kinds(from, _) => from,
            Convert::Byte | Convert::Char | Convert::Short => SlotKind::Int,
        }
    }
}
