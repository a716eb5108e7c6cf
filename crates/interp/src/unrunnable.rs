//! What the interpreter can't run: one variant each, with its word and its sentence.

use std::fmt;
use touchstone_ir::Builtin;

touchstone_base::reasons! {
    /// Something that a run does and that the interpreter has no meaning for.
    #[derive(Clone, PartialEq, Eq, thiserror::Error)]
    pub enum Unrunnable {
        /// The front end has no lowering for it, and names it.
        #[error("{0}")]
        "construct" => Construct(String),

        // Calls.
        /// A function that the module only declares.
        #[error("external function {0}")]
        "external_function" => ExternalFunction(String),
        /// A call with more or fewer arguments than the function takes.
        #[error("call of {0} with another number of arguments")]
        "other_number_of_arguments" => OtherNumberOfArguments(String),
        /// A call whose arguments are not what the definition takes.
        #[error("call of `{0}` with other types than its definition")]
        "other_types" => OtherTypes(String),
        /// A builtin that lacks an argument.
        #[error("{0:?} with too few arguments")]
        "too_few_arguments" => TooFewArguments(Builtin),
        /// A variable argument that the test does not pass, or not of this type.
        #[error("a variable argument that was not passed")]
        "no_such_argument" => NoSuchArgument,
        /// A jump by what is no mark.
        #[error("jump to where no mark is")]
        "no_mark" => NoMark,
        /// A jump into a call that is over.
        #[error("jump to a call that has ended")]
        "ended_call" => EndedCall,

        // Memory.
        /// A variable that the module only declares.
        #[error("external variable {0}")]
        "external_variable" => ExternalVariable(String),
        /// What was there when the program started ends.
        #[error("the end of an object that was there at start")]
        "end_of_start_object" => EndOfStartObject,
        /// The run shows where objects lie.
        #[error("address of an object as a number")]
        "address_as_number" => AddressAsNumber,
        /// The run shows in which order objects lie.
        #[error("order of pointers into different objects")]
        "pointer_order" => PointerOrder,

        // Text.
        /// A text that should be a number is none.
        #[error("a text that is not a decimal number")]
        "no_decimal" => NoDecimal,
        /// A conversion without its argument.
        #[error("printf with too few arguments")]
        "printf_too_few_arguments" => PrintfTooFewArguments,
        /// A pattern that ends in the middle of a conversion.
        #[error("printf with an incomplete conversion")]
        "printf_incomplete" => PrintfIncomplete,
        /// A conversion that is not there, with its length.
        #[error("printf %{0}")]
        "printf_conversion" => PrintfConversion(String),
        /// `%La` is rounded in a way of its own.
        #[error("printf %La with a precision")]
        "printf_long_hexadecimal" => PrintfLongHexadecimal,
        /// More blanks than anybody wants.
        #[error("printf with a huge field width")]
        "printf_width" => PrintfWidth,

        // Start-up.
        /// The functions that run before all others have not.
        #[error("start-up functions that have not run")]
        "start_up" => StartUp,
        /// A start must leave nothing outside of memory.
        #[error("output at start-up")]
        "output_at_start" => OutputAtStart,
        /// A start must be the same every time.
        #[error("an input at start-up")]
        "input_at_start" => InputAtStart,
        /// A start must leave nothing but memory.
        #[error("a function for the program's end at start-up")]
        "end_at_start" => EndAtStart,
        /// What a start leaves must not depend on where objects lie.
        #[error("an address as a number at start-up")]
        "address_at_start" => AddressAtStart,
        /// What a start leaves must have values.
        #[error("bytes that were not written at start-up")]
        "unwritten_at_start" => UnwrittenAtStart,
        /// What a start leaves must lead somewhere.
        #[error("a pointer to something that no longer exists at start-up")]
        "dangling_at_start" => DanglingAtStart,
        /// What a start leaves must be whole.
        #[error("a part of a pointer at start-up")]
        "part_of_pointer_at_start" => PartOfPointerAtStart,
    }
}

/// The sentence: it stands in what people read of an [`End`](crate::End).
impl fmt::Debug for Unrunnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}
