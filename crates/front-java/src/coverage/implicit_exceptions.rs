//! The exceptions that bytecode instructions throw by themselves.

/// An exception that an instruction throws by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImplicitException {
    /// A null reference is dereferenced.
    NullPointer,
    /// An integer is divided by zero.
    Arithmetic,
    /// An array index is out of bounds.
    Index,
    /// A cast fails.
    Cast,
    /// The length of a new array is negative.
    NegativeSize,
    /// The class of an array does not allow the stored element.
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
