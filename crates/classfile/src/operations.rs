//! What instructions are made of.

/// What a register of the stack machine holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
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

impl Kind {
    /// The kind with this number in the order of the instruction set: int, long, float, double, reference.
    pub(crate) fn numbered(number: u8) -> Kind {
        [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Ref][usize::from(number.min(4))]
    }

    /// Whether it takes two places on the stack.
    pub fn is_wide(self) -> bool {
        matches!(self, Kind::Long | Kind::Double)
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
    Kinds(Kind, Kind),
    /// `i2b`.
    Byte,
    /// `i2c`.
    Char,
    /// `i2s`.
    Short,
}

impl Convert {
    /// What is converted.
    pub fn from(self) -> Kind {
        match self {
            Convert::Kinds(from, _) => from,
            Convert::Byte | Convert::Char | Convert::Short => Kind::Int,
        }
    }
}
