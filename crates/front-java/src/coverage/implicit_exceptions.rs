//! Exceptions that the language throws.

/// Exceptions that the language throws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Implicit {
    /// An object is needed, and there is none.
    NullPointer,
    /// A division by zero.
    Arithmetic,
    /// An index outside of an array.
    Index,
    /// An object of another class.
    Cast,
    /// An array with a negative length.
    NegativeSize,
    /// An object that an array does not hold.
    Store,
}

impl Implicit {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Implicit::NullPointer => "NullPointerException",
            Implicit::Arithmetic => "ArithmeticException",
            Implicit::Index => "ArrayIndexOutOfBoundsException",
            Implicit::Cast => "ClassCastException",
            Implicit::NegativeSize => "NegativeArraySizeException",
            Implicit::Store => "ArrayStoreException",
        }
    }
}
