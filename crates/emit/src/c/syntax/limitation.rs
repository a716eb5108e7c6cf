//! Why C, or the framework that runs tests, can't say a test or a part of one. It becomes a skipped test or a comment that
//! says so, never a wrong test.

use touchstone_criteria::Untestable;
use touchstone_ir::ErrorKind;

touchstone_base::reasons! {
    /// Why something can't be written.
    #[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
    pub enum EmitLimitation {
        /// No test can be made of it.
        #[error("{0}")]
        "unmakeable" => Unmakeable(Untestable),

        // Types.
        /// A bit-field has no type of its own.
        #[error("a bit-field on its own")]
        "bit_field" => BitField,
        /// A type that has variants.
        #[error("`{0}`, which has variants")]
        "variants" => Variants(String),
        /// Nothing in the source has a name for the type.
        #[error("a type has no name")]
        "unnamed_type" => UnnamedType,
        /// A pointer whose type is none.
        #[error("`{0}` is a pointer of no pointer type")]
        "no_pointer_type" => NoPointerType(String),
        /// The type that a stub returns is not known in the test's file.
        #[error("the file does not know the type that it returns")]
        "unknown_result_type" => UnknownResultType,

        /// It never ends.
        #[error("a run that hangs, which only tests of the form c can see")]
        "hangs" => Hangs,

        // ValueWriter.
        /// Some bytes of a number are not defined.
        #[error("a number is partly undefined")]
        "partly_undefined" => PartlyUndefined,
        /// An integer for something else.
        #[error("an integer for a type that has none")]
        "integer_misfit" => IntegerMisfit,
        /// Another value than the type has.
        #[error("a value doesn't fit its type")]
        "misfit" => Misfit,
        /// A member that can't be named.
        #[error("an unnamed member that is not a structure")]
        "unnamed_member" => UnnamedMember,
        /// A structure without the array that it should end with.
        #[error("a structure without the array at its end")]
        "no_flexible_array" => NoFlexibleArray,
        /// An object of which no value is known.
        #[error("an object without its value")]
        "no_value" => NoValue,
        /// A number that the rows of a table have no room for.
        #[error("a number too wide for a table")]
        "too_wide_for_table" => TooWideForTable,
        /// Rows of a table have numbers only.
        #[error("not made of numbers only")]
        "not_only_numbers" => NotOnlyNumbers,
        /// More elements than the type has.
        #[error("an object that is longer than its type")]
        "longer_than_type" => LongerThanType,

        // What pointers lead to.
        /// A pointer leads out of the test.
        #[error("a pointer to something that isn't part of the test")]
        "elsewhere" => Elsewhere,
        /// A pointer leads to an object that the test does not have.
        #[error("a pointer to an object that isn't in the test")]
        "no_object" => NoObject,
        /// A function that the program does not have.
        #[error("there is no function `{0}`")]
        "no_function" => NoFunction(String),
        /// A variable that the program does not have.
        #[error("there is no global `{0}`")]
        "no_global" => NoGlobal(String),
        /// Something that is out of reach.
        #[error("`{0}` is private to another file or function")]
        "private" => Private(String),
        /// A function that no pointer leads to.
        #[error("a function that nothing points to")]
        "nothing_points_to_it" => NothingPointsToIt,

        // Frameworks.
        /// The framework gives no inputs from outside.
        #[error("it needs inputs from outside of the program, which only --emit c can give")]
        "inputs_from_outside" => InputsFromOutside,
        /// The call throws this class.
        #[error("the call throws `{0}`")]
        "throws" => Throws(String),
        /// The call ends the process, and the framework's with it.
        #[error("the call ends the process with exit status {0}")]
        "exits" => Exits(i32),
        /// The call goes wrong, by an error in a line of a file.
        #[error("the call goes wrong: {0} at {1}:{2}")]
        "goes_wrong" => GoesWrong(ErrorKind, String, u32),
    }
}
