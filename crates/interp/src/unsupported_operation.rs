//! Operations that the interpreter does not support: one variant each, with its word and its sentence.

use std::fmt;
use touchstone_ir::Builtin;

touchstone_base::reasons! {
    /// An operation of a run that the interpreter does not support.
    #[derive(Clone, PartialEq, Eq, thiserror::Error)]
    pub enum UnsupportedOperation {
        /// The front end names a construct that it does not lower.
        #[error("{0}")]
        "construct" => Construct(String),

        // Calls.
        /// A function that the module only declares.
        #[error("external function {0}")]
        "external_function" => ExternalFunction(String),
        /// A call has more or fewer arguments than the function has parameters.
        #[error("call of {0} with another number of arguments")]
        "other_number_of_arguments" => OtherNumberOfArguments(String),
        /// The argument types of a call differ from those of the definition.
        #[error("call of `{0}` with other types than its definition")]
        "other_types" => OtherTypes(String),
        /// A builtin lacks an argument.
        #[error("{0:?} with too few arguments")]
        "too_few_arguments" => TooFewArguments(Builtin),
        /// A variadic argument was not passed, or has another type.
        #[error("a variable argument that was not passed")]
        "no_such_argument" => NoSuchArgument,
        /// A jump by a value that is not a mark.
        #[error("jump to where no mark is")]
        "no_mark" => NoMark,
        /// A jump to a call that has returned.
        #[error("jump to a call that has ended")]
        "ended_call" => EndedCall,

        /// The result of a call that should construct an object is null, or an object that exists already.
        #[error("a constructing call without a new object")]
        "no_new_object" => NoNewObject,

        // Memory.
        /// A variable that the module only declares.
        #[error("external variable {0}")]
        "external_variable" => ExternalVariable(String),
        /// The end of an object that existed at program start is unknown.
        #[error("the end of an object that was there at start")]
        "end_of_start_object" => EndOfStartObject,
        /// The run reveals addresses of objects.
        #[error("address of an object as a number")]
        "address_as_number" => AddressAsNumber,
        /// The run reveals the order of objects.
        #[error("order of pointers into different objects")]
        "pointer_order" => PointerOrder,

        // Strings.
        /// A string that should be a number is not one.
        #[error("a string that is not a decimal number")]
        "no_decimal" => NoDecimal,
        /// A conversion lacks its argument.
        #[error("printf with too few arguments")]
        "printf_too_few_arguments" => PrintfTooFewArguments,
        /// The format ends inside of a conversion.
        #[error("printf with an incomplete conversion")]
        "printf_incomplete" => PrintfIncomplete,
        /// The conversion, with its length modifier, is not supported.
        #[error("printf %{0}")]
        "printf_conversion" => PrintfConversion(String),
        /// `%La` has a rounding of its own.
        #[error("printf %La with a precision")]
        "printf_long_hexadecimal" => PrintfLongHexadecimal,
        /// The field is wider than any realistic one.
        #[error("printf with a huge field width")]
        "printf_width" => PrintfWidth,

        // Start-up.
        /// The start-up functions have not run.
        #[error("start-up functions that have not run")]
        "start_up" => StartUp,
        /// Start-up must have no effect outside of memory.
        #[error("output at start-up")]
        "output_at_start" => OutputAtStart,
        /// Start-up must be deterministic.
        #[error("an input at start-up")]
        "input_at_start" => InputAtStart,
        /// Start-up must return.
        #[error("a function for the program's end at start-up")]
        "end_at_start" => EndAtStart,
        /// The result of start-up must not depend on addresses.
        #[error("an address as a number at start-up")]
        "address_at_start" => AddressAtStart,
        /// The result of start-up must be defined.
        #[error("bytes that were not written at start-up")]
        "unwritten_at_start" => UnwrittenAtStart,
        /// The result of start-up must not contain dangling pointers.
        #[error("a pointer to something that no longer exists at start-up")]
        "dangling_at_start" => DanglingAtStart,
        /// The result of start-up must not contain parts of pointers.
        #[error("a part of a pointer at start-up")]
        "part_of_pointer_at_start" => PartOfPointerAtStart,
    }
}

/// Prints the sentence, because [`End`](crate::End) is shown to users.
impl fmt::Debug for UnsupportedOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}
