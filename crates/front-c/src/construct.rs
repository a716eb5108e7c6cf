//! Constructs that the front end does not support.
//!
//! A construct becomes a [`TermKind::Unsupported`](touchstone_ir::TermKind::Unsupported) with the sentence that `Display`
//! gives. Reports contain these sentences, so that they are stable.
//!
//! Deliberately not here: constructs that clang itself rejects (`error.rs`), and code that only symbolic execution does not
//! support (`Builtin::RunOnly`).

use crate::clang::ast_enums::{CastKind, Opcode};
use crate::clang::kind::NodeKind;

/// A construct that is not lowered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Construct {
    // Types.
    #[error("unknown type")]
    UnknownType,
    #[error("incomplete type")]
    IncompleteType,
    #[error("variable-length array")]
    VariableLengthArray,
    /// A type with lengths that are not tracked through this expression.
    #[error("variable-length array of this form")]
    VariableLengthArrayForm,
    #[error("typeof of this expression")]
    TypeofExpression,
    #[error("block pointer")]
    BlockPointer,
    /// A vector attribute that is not understood.
    #[error("vector type")]
    VectorType,
    #[error("vector of very many elements")]
    LongVector,
    #[error("vector of such elements")]
    VectorElement,
    #[error("_BitInt")]
    BitInt,
    #[error("_Atomic")]
    Atomic,
    #[error("_Float16")]
    Float16,
    #[error("__float128")]
    Float128,
    #[error("128-bit bit-field")]
    Int128BitField,
    #[error("type with its own alignment")]
    AlignedTypedef,
    #[error("#pragma pack")]
    PragmaPack,
    #[error("unknown function")]
    UnknownFunction,

    // Values of types that are not scalar, where a scalar is expected.
    #[error("128-bit integer here")]
    Int128Scalar,
    #[error("long double here")]
    LongDoubleScalar,
    #[error("vector here")]
    VectorScalar,
    #[error("complex number here")]
    ComplexScalar,
    #[error("structure value")]
    StructureScalar,

    // Statements.
    #[error("case label outside of a switch")]
    CaseOutsideSwitch,
    #[error("case label that is no constant of 64 bits")]
    CaseValue,
    #[error("switch with labels for all of 64 bits")]
    FullSwitch,
    #[error("label")]
    Label,
    #[error("goto to an unknown label")]
    UnknownLabel,
    #[error("computed goto")]
    ComputedGoto,
    #[error("break")]
    Break,
    #[error("continue")]
    Continue,
    #[error("if")]
    If,
    #[error("while")]
    While,
    #[error("do")]
    Do,
    #[error("for")]
    For,
    #[error("switch")]
    Switch,
    #[error("inline assembly")]
    InlineAssembly,

    // Expressions.
    /// A kind of node without a lowering.
    #[error("{0}")]
    Node(NodeKind),
    /// An expression without the expected operands.
    #[error("expression")]
    MalformedExpression,
    #[error("literal")]
    Literal,
    #[error("string literal")]
    StringLiteral,
    #[error("compound literal")]
    CompoundLiteral,
    #[error("statement expression")]
    StatementExpression,
    #[error("_Generic")]
    GenericSelection,
    #[error("__builtin_choose_expr")]
    ChooseExpression,
    #[error("type trait")]
    TypeTrait,
    #[error("offsetof")]
    OffsetOf,
    #[error("sizeof of this type")]
    SizeOf,
    #[error("alignof of this expression")]
    AlignOf,
    #[error("address of a label")]
    LabelAddress,
    #[error("address of a compiler's function")]
    BuiltinAddress,
    #[error("variable of an unknown kind")]
    UnknownVariable,
    #[error("member of an unknown type")]
    UnknownMember,
    #[error("member of a scalar")]
    ScalarMember,
    #[error("cast {0}")]
    Cast(CastKind),
    #[error("operator {0}")]
    Operator(Opcode),
    #[error("compound assignment")]
    CompoundAssignment,
    #[error("union")]
    Union,
    #[error("difference of pointers to empty objects")]
    EmptyPointeeDifference,
    #[error("array length with an effect in a cast")]
    LengthEffectInCast,
    #[error("array length with an effect in a parameter")]
    LengthEffectInParameter,

    // Numbers.
    #[error("128-bit {0}")]
    Int128Node(NodeKind),
    #[error("128-bit cast {0}")]
    Int128Cast(CastKind),
    #[error("128-bit operator {0}")]
    Int128Operator(Opcode),
    #[error("cast of a 128-bit integer")]
    CastOfInt128,
    #[error("128-bit complex number")]
    Int128Complex,
    #[error("128-bit compound assignment with a float")]
    Int128CompoundWithFloat,
    #[error("compound assignment of a 128-bit integer to a float")]
    FloatCompoundWithInt128,
    #[error("128-bit integer as a long double")]
    Int128ToLongDouble,
    #[error("long double as a 128-bit integer")]
    LongDoubleToInt128,
    #[error("long double literal")]
    LongDoubleLiteral,
    #[error("operator {0} of long double")]
    LongDoubleOperator(Opcode),
    #[error("vector")]
    Vector,
    #[error("vector cast {0}")]
    VectorCast(CastKind),
    #[error("vector operator {0}")]
    VectorOperator(Opcode),
    #[error("__builtin_shufflevector")]
    ShuffleVector,
    #[error("__builtin_convertvector")]
    ConvertVector,
    #[error("complex number")]
    Complex,
    #[error("complex operator {0}")]
    ComplexOperator(Opcode),
    /// An operator on parts that are no floats.
    #[error("complex operator")]
    ComplexPartOperator,
    #[error("complex number of mixed parts")]
    MixedComplex,
    #[error("comparison of complex numbers of mixed parts")]
    MixedComplexComparison,
    #[error("overflow of a bit-field of more than 32 bits, where compilers differ")]
    WideBitField,

    // Calls.
    /// A compiler builtin without a lowering, by its name.
    #[error("{0}")]
    Builtin(String),
    /// A construct that a library model names.
    #[error("{0}")]
    Model(String),
    #[error("overflow builtin")]
    OverflowBuiltin,
    #[error("nan with a text")]
    NanPayload,
    #[error("classification of nothing")]
    EmptyClassification,
    #[error("__builtin_fpclassify")]
    Fpclassify,
    #[error("klee_range")]
    KleeRange,
    #[error("va_start")]
    VaStart,
    #[error("va_arg")]
    VaArg,
    #[error("__builtin_va_arg_pack")]
    VaArgPack,
    #[error("variable arguments of a function under test")]
    VariableArguments,
    #[error("call of `{0}` with other types than its definition")]
    MismatchedCall(String),
    #[error("call of `{0}`, which is not defined")]
    UndefinedCallee(String),

    // Initialisers and globals.
    #[error("initialiser")]
    Initialiser,
    #[error("array initialiser {0}")]
    ArrayInitialiser(NodeKind),
    #[error("very large initialiser")]
    LargeInitialiser,
    #[error("128-bit initialiser")]
    Int128Initialiser,
    #[error("long double initialiser")]
    LongDoubleInitialiser,
    #[error("complex initialiser")]
    ComplexInitialiser,
    #[error("vector initialiser")]
    VectorInitialiser,
    #[error("bit-field")]
    BitFieldInitialiser,
    #[error("address in a narrow integer")]
    NarrowAddress,
    #[error("weakref attribute")]
    WeakRef,
    #[error("structure in a file with scalar_storage_order")]
    StorageOrder,
    #[error("structure with another layout (ms_struct, scalar_storage_order)")]
    RecordLayout,
    #[error("printf %n")]
    PrintfStore,
    #[error("variable in a machine register")]
    MachineRegister,
    #[error("function that runs at the end of a variable's scope (attribute cleanup)")]
    CleanupFunction,

    // The program as a whole.
    #[error("constructor whose priority a macro hides")]
    ConstructorPriority,
    #[error("constructor with parameters")]
    ConstructorParameters,
    #[error("constructor in a program that calls main")]
    ConstructorWithRecursiveMain,
    #[error("-finstrument-functions")]
    InstrumentFunctions,

    // Labels for coverage.
    #[error("label without a condition")]
    LabelWithoutCondition,
    #[error("this kind of expression in a label")]
    LabelExpression,
}
