//! Constructs that symbolic execution does not support: one variant each, with its word and its sentence.
//!
//! Names that a front end or its library models use stay data.

use crate::{GoalId, Untestable};
use std::cmp::Ordering;

touchstone_base::reasons! {
    /// Something that a path does and that can't be followed.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
    pub enum Unsupported {
        /// The front end has no lowering for it, and names it.
        #[error("{0}")]
        "construct" => Construct(String),
        /// A model of the library that only real runs can use, by what it needs.
        #[error("{0}")]
        "run_only" => RunOnly(String),

        // Calls.
        /// A function that no given file defines.
        #[error("external function {0}")]
        "external_function" => ExternalFunction(String),
        /// A call whose arguments are not what the definition takes.
        #[error("call of `{0}` with other types than its definition")]
        "other_types" => OtherTypes(String),
        /// A call through an unknown pointer.
        #[error("call through an unknown pointer")]
        "undecided_callee" => UndecidedCallee,
        /// `longjmp` and the like.
        #[error("jump out of a call")]
        "jump_out_of_call" => JumpOutOfCall,
        /// The return address of a call, as a value.
        #[error("return address")]
        "return_address" => ReturnAddress,
        /// Something to be called when the program exits.
        #[error("atexit")]
        "at_exit" => AtExit,
        /// Variable arguments beyond those that a test passes.
        #[error("more variable arguments than a test passes")]
        "more_arguments" => MoreArguments,
        /// A variable argument that is taken as of two types, or of one that a test can't pass.
        #[error("a variable argument of another type")]
        "other_argument" => OtherArgument,
        /// The number of printed bytes.
        #[error("use of the value of an output function")]
        "output_value" => OutputValue,
        /// Standard input of a function under test.
        #[error("standard input")]
        "standard_input" => StandardInput,

        // Preconditions, which are folded into one formula.
        /// A precondition allocates.
        #[error("allocation in a precondition")]
        "allocation_in_precondition" => AllocationInPrecondition,
        /// A precondition reads memory that only some of its ways write.
        #[error("partly written memory in a precondition")]
        "partly_written_in_precondition" => PartlyWrittenInPrecondition,
        /// A precondition catches.
        #[error("a handler in a precondition")]
        "handler_in_precondition" => HandlerInPrecondition,
        /// A precondition asks for an input.
        #[error("input that a precondition asks for")]
        "input_in_precondition" => InputInPrecondition,
        /// An oracle can't be folded.
        #[error("oracle {0} can't be folded")]
        "oracle" => Oracle(String),

        // Sizes.
        /// More stack than programs have: how much it is, and what they have.
        #[error("stack of {0} bytes, where programs usually have {1}")]
        "large_stack" => LargeStack(u64, u64),
        /// An allocation that is too large.
        #[error("allocation of {0} bytes")]
        "large_allocation" => LargeAllocation(u64),
        /// A global that is too large, and its bytes.
        #[error("global {0} of {1} bytes")]
        "large_global" => LargeGlobal(String, u64),
        /// An input that is too large: its bytes, its name, and the most that one can have.
        #[error("input of {0} bytes, the pointee of `{1}` (at most {2} can be one)")]
        "large_input" => LargeInput(u64, String, u64),
        /// An argument that is too large: its bytes, its name, and the most that one can have.
        #[error("input of {0} bytes, `{1}` (at most {2} can be one)")]
        "large_argument" => LargeArgument(u64, String, u64),
        /// An index that depends on inputs, and the bytes of the object.
        #[error("index that depends on inputs into an object of {0} bytes")]
        "symbolic_index" => SymbolicIndex(u64),

        // Memory and pointers.
        /// Memory at an address that the program writes as a number.
        #[error("memory at the fixed address {0:#x} (registers of a device?)")]
        "fixed_address" => FixedAddress(u64),
        /// Memory at an address that the program computes.
        #[error("memory at an address that the program computes (registers of a device?)")]
        "computed_address" => ComputedAddress,
        /// A pointer made of an integer that is an input.
        #[error("access through a pointer made from an input integer")]
        "pointer_from_integer" => PointerFromInteger,
        /// The address of an object influences a decision.
        #[error("address of an object as a number")]
        "address_as_number" => AddressAsNumber,
        /// Pointers into different objects are ordered.
        #[error("order of pointers into different objects")]
        "pointer_order" => PointerOrder,
        /// The address of a pointer of which nothing is known.
        #[error("address of an unknown pointer")]
        "undecided_address" => UndecidedAddress,
        /// The distance from a pointer of which nothing is known.
        #[error("distance from an unknown pointer")]
        "undecided_distance" => UndecidedDistance,
        /// A copy through a pointer of which nothing is known.
        #[error("copy through an unknown pointer")]
        "undecided_copy" => UndecidedCopy,
        /// Pointers that are chosen twice.
        #[error("choice of choices of pointers")]
        "nested_choice" => NestedChoice,
        /// Some bytes of a pointer are used as one.
        #[error("access through a part of a pointer")]
        "access_through_part" => AccessThroughPart,
        /// Some bytes of a pointer are added to.
        #[error("sum with a part of a pointer")]
        "sum_with_part" => SumWithPart,
        /// A part of the bytes of a pointer is read at a symbolic offset.
        #[error("part of a pointer at an offset that depends on inputs")]
        "part_at_symbolic_offset" => PartAtSymbolicOffset,
        /// A pointer in memory that a write at an unknown place may have hit.
        #[error("pointer that another write may have changed")]
        "overwritten_pointer" => OverwrittenPointer,
        /// One of several pointers is freed.
        #[error("free of a pointer that depends on inputs")]
        "symbolic_free" => SymbolicFree,
        /// An object from program start is freed.
        #[error("the end of an object that was there at start")]
        "end_of_start_object" => EndOfStartObject,

        /// A test of which the reference interpreter says something else.
        #[error("the reference interpreter disagrees about a test")]
        "interpreter_disagrees" => InterpreterDisagrees,

        // Inputs.
        /// A variable that no given file defines.
        #[error("variable `{0}`, which no given file defines")]
        "undefined_variable" => UndefinedVariable(String),
        /// An input that is not made.
        #[error("input that is of an unknown type, far inside of a large object, or read across members of a union")]
        "unmade_input" => UnmadeInput,
        /// A pointer to a type of which nothing is known, by name.
        #[error("{0}")]
        "unknown_pointee" => UnknownPointee(String),
        /// An input pointer may point to a function outside of the program.
        #[error("pointee of `{0}`: a function that the program does not define")]
        "unknown_function" => UnknownFunction(String),
        /// An input pointer may point to an object of a type without a size.
        #[error("object that `{0}` points to, whose type has no known size")]
        "unsized_object" => UnsizedObject(String),
        /// A pointer to several objects of a type with variants.
        #[error("several objects that `{0}` points to, since `{1}` has variants")]
        "several_variants" => SeveralVariants(String, String),
        /// The length of an input array overlaps other data.
        #[error("length of the object that `{0}` points to, which overlaps others")]
        "shared_length" => SharedLength(String),
        /// The name of an input is none.
        #[error("name of an input that depends on inputs")]
        "symbolic_name" => SymbolicName,
        /// The environment that a program is given.
        #[error("the third argument of the program")]
        "third_argument" => ThirdArgument,
        /// The words that a program is given.
        #[error("arguments of the program (it is run without any; --argv makes them inputs)")]
        "program_arguments" => ProgramArguments,
        /// A module whose start-up functions have not run.
        #[error("start-up functions that have not run")]
        "start_up" => StartUp,
        /// A start of which something must be decided first.
        #[error("a start that can't be made")]
        "start" => Start,

        // Numbers as strings, mathematics.
        /// A long symbolic string is parsed as a number.
        #[error("a symbolic string with many digits, parsed as a number")]
        "symbolic_digits" => SymbolicDigits,
        /// A string that is parsed as a number is not one.
        #[error("a string that is not a decimal number")]
        "no_decimal" => NoDecimal,
        /// A symbolic float is formatted as a string.
        #[error("a symbolic float that is formatted as a string")]
        "symbolic_float_text" => SymbolicFloatText,
        /// A function of mathematics whose argument depends on inputs.
        #[error("{0} of a symbolic value")]
        "symbolic_mathematics" => SymbolicMathematics(String),

        // Tests.
        /// The engine's test does not reach its goal in the interpreter.
        #[error("an objective about which the engine and the reference interpreter disagree")]
        "disagreement" => Disagreement(GoalId),
        /// The test for a goal runs out of steps or needs what can't be run.
        #[error("a test for an objective does not end properly")]
        "no_proper_end" => NoProperEnd(GoalId),
        /// No test can make what the path needs.
        #[error("{0}")]
        "unmakeable" => Unmakeable(Untestable),
        /// A proof can't follow labels that fork.
        #[error("a fork on labels")]
        "label_fork" => LabelFork,
        /// A proof met a goal on a path that rests on nothing that tests leave out.
        #[error("a run that tests do not show")]
        "run_not_shown" => RunNotShown,
    }
}

/// In the order of their sentences: so they are listed.
impl Ord for Unsupported {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_string().cmp(&other.to_string()).then_with(|| self.word().cmp(other.word()))
    }
}

impl PartialOrd for Unsupported {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
