//! Exceptions that the language throws.

/// Exceptions that the language throws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImplicitException {
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

impl ImplicitException {
    pub(crate) fn class(self) -> &'static str {
        match self {
            ImplicitException::NullPointer => "NullPointerException",
            ImplicitException::Arithmetic => "ArithmeticException",
            ImplicitException::Index => "ArrayIndexOutOfBoundsException",
            ImplicitException::Cast => "ClassCastException",
            ImplicitException::NegativeSize => "NegativeArraySizeException",
            ImplicitException::Store => "ArrayStoreException",
        }
    }
}
