//! Reasons for which C, or the framework that runs a test, cannot express the test or a part of it. The test is then
//! skipped, or a comment replaces the part; a wrong test is never written.

use touchstone_criteria::Untestable;
use touchstone_ir::ErrorKind;

touchstone_base::reasons! {
    /// The reason for which something cannot be written as a test.
    #[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
    pub enum EmitLimitation {
        /// No test can construct it.
        #[error("{0}")]
        "unmakeable" => Unmakeable(Untestable),

        // Types.
        /// A bit-field has no type of its own.
        #[error("a bit-field on its own")]
        "bit_field" => BitField,
        /// The type has variants.
        #[error("`{0}`, which has variants")]
        "variants" => Variants(String),
        /// Nothing in the source names the type.
        #[error("a type has no name")]
        "unnamed_type" => UnnamedType,
        /// A pointer value has a type that is not a pointer type.
        #[error("`{0}` is a pointer, but its type is not a pointer type")]
        "no_pointer_type" => NoPointerType(String),
        /// The test file does not declare the type that a stub returns.
        #[error("the file does not declare the type that it returns")]
        "unknown_result_type" => UnknownResultType,

        /// The run does not terminate.
        #[error("a run that does not terminate, which only the test form c can check")]
        "hangs" => Hangs,

        // ValueWriter.
        /// Some bytes of a number are not defined.
        #[error("a number is partly undefined")]
        "partly_undefined" => PartlyUndefined,
        /// An integer value has a type without integers.
        #[error("an integer value for a type without integers")]
        "integer_misfit" => IntegerMisfit,
        /// The value does not belong to its type.
        #[error("a value doesn't fit its type")]
        "misfit" => Misfit,
        /// A member has no name.
        #[error("an unnamed member that is not a structure")]
        "unnamed_member" => UnnamedMember,
        /// A structure lacks the array that it should end with.
        #[error("a structure without the array at its end")]
        "no_flexible_array" => NoFlexibleArray,
        /// The value of an object is unknown.
        #[error("an object without its value")]
        "no_value" => NoValue,
        /// A number is too wide for the rows of a table.
        #[error("a number too wide for a table")]
        "too_wide_for_table" => TooWideForTable,
        /// Rows of a table contain numbers only.
        #[error("not made of numbers only")]
        "not_only_numbers" => NotOnlyNumbers,
        /// An object has more elements than its type.
        #[error("an object that is longer than its type")]
        "longer_than_type" => LongerThanType,

        // Pointees.
        /// A pointer points to memory outside of the test.
        #[error("a pointer to memory outside of the test")]
        "elsewhere" => Elsewhere,
        /// A pointer points to an object that the test does not contain.
        #[error("a pointer to an object that isn't in the test")]
        "no_object" => NoObject,
        /// The program has no function of this name.
        #[error("there is no function `{0}`")]
        "no_function" => NoFunction(String),
        /// The program has no variable of this name.
        #[error("there is no global `{0}`")]
        "no_global" => NoGlobal(String),
        /// The name is not accessible from the test file.
        #[error("`{0}` is private to another file or function")]
        "private" => Private(String),
        /// No pointer points to the function.
        #[error("a function that nothing points to")]
        "nothing_points_to_it" => NothingPointsToIt,

        // Frameworks.
        /// The framework cannot provide inputs from the environment.
        #[error("it needs inputs from the environment, which only --emit c supports")]
        "inputs_from_outside" => InputsFromOutside,
        /// The call throws an exception of this class.
        #[error("the call throws `{0}`")]
        "throws" => Throws(String),
        /// The call ends the process, and with it the framework's.
        #[error("the call ends the process with exit status {0}")]
        "exits" => Exits(i32),
        /// The call ends in an error, at a line of a file.
        #[error("the call ends in an error: {0} at {1}:{2}")]
        "goes_wrong" => GoesWrong(ErrorKind, String, u32),
    }
}
