//! The data flow of a unit: reads, writes, calls, returns and conditions, as byte ranges of the preprocessed text.
//!
//! State coverage inserts its probes around these ranges. The input is clang's AST; the result is flat and refers to no
//! node. Positions and macro names come from the original source: both texts are the same program, so the nodes of a
//! function correspond in order. Where they don't (the preprocessors of compilers see different code), positions are
//! those of the preprocessed text's line markers, and macro names are unknown.
//!
//! Deliberately not here: probes and their meaning.

use crate::clang::kind::NodeKind;
use std::collections::BTreeMap;
use std::ops::Range;

/// The data flow of a unit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnitDataFlow {
    /// The functions, in the order of the text.
    pub functions: Vec<FunctionDataFlow>,
    /// The variables with static storage that the unit defines at file scope.
    pub globals: Vec<String>,
    /// The observable state of variables at file scope: the offset of the declaration, the name, and the expressions.
    pub visible: Vec<(usize, String, Vec<Observable>)>,
}

/// An expression that reads observable state where a function returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observable {
    /// The text of the expression.
    pub text: String,
    /// The kind of its value.
    pub form: ValueForm,
}

/// The kind of an observable value.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ValueForm {
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A boolean.
    Bool,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
    /// An enumeration, with the names and values of its constants.
    Enum(Vec<(String, i64)>),
    /// A string in an array.
    Text,
    /// A string that a pointer points to.
    PointedText,
    /// Another pointer.
    Pointer,
}

/// The data flow of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionDataFlow {
    /// The name of the function.
    pub name: String,
    /// The named parameters, by position.
    pub parameters: Vec<(usize, String)>,
    /// The offset after the brace that opens the body.
    pub body: usize,
    /// The offset at which a last statement can be inserted: before the closing brace, or before a last `return`.
    pub last: Option<usize>,
    /// The observable state of its own variables at that offset.
    pub visible: Vec<Observable>,
    /// The names of all variables in the outermost scope of the body.
    pub names: Vec<String>,
    /// The ranges of `register` keywords, which must be removed because the variables get an address.
    pub registers: Vec<Range<usize>>,
    /// The actions of the function, in no particular order.
    pub actions: Vec<Action>,
    /// Constructs that are not analysed: the line of the source, and a description.
    pub lost: Vec<(u32, String)>,
}

/// A position in the original source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceOrigin {
    /// The file; empty if it is unknown.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The macro that it comes from, if it is spelled in the body of one.
    pub in_macro: Option<String>,
}

/// An expression that designates an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lvalue {
    /// The range of its text.
    pub at: Range<usize>,
    /// True if evaluating it twice is equivalent to evaluating it once.
    pub pure: bool,
    /// For a bit-field: the range of the expression that it is a member of, true if that is a pointer, and its number
    /// in the unit.
    pub bits: Option<(Range<usize>, bool, u32)>,
}

/// The target of a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenObject {
    /// True if it outlives the function: a global, or reached through a pointer.
    pub is_state: bool,
    /// The name in messages: `counter`, `stack.size`, `*out of divide`.
    pub name: String,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallArgument {
    /// The range of its text.
    pub at: Range<usize>,
    /// True if it reads an object or calls a function.
    pub asks: bool,
    /// True if its value can be saved in a variable: a pointer or an integer that is no constant and contains no
    /// temporary.
    pub kept: bool,
    /// The size of the pointee, if it is a pointer.
    pub size: Option<PointeeSize>,
    /// True if the pointee can be written through the parameter.
    pub writable: bool,
    /// The pointee.
    pub target: WrittenObject,
    /// The value, if it is an integer constant.
    pub constant: Option<u64>,
}

/// The size of an argument's pointee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointeeSize {
    /// The size of the argument's own array.
    Array,
    /// The size of one element.
    Element,
    /// An unknown size.
    Unknown,
}

/// The type of a call's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultForm {
    /// No result.
    Void,
    /// A pointer to an object.
    Pointer,
    /// An integer.
    Integer,
    /// A `float` or `double`.
    Float,
    /// Anything else.
    Value,
}

/// The target of a jump out of a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Escape {
    /// The end of the function.
    Function,
    /// The loop at this depth.
    Loop(u32),
}

/// An action of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// A read of an object.
    Read(Lvalue),
    /// An assignment.
    Write {
        /// The range of the whole expression.
        at: Range<usize>,
        /// The left side.
        left: Lvalue,
        /// True if the old value is read, too.
        updates: bool,
        /// True if the right side is an object of the same type, which is copied.
        copies: bool,
        /// True if the value of the assignment is used.
        used: bool,
        /// True if evaluating the right side may change the object that the left side designates.
        disturbed: bool,
        /// True if the right side contains a temporary.
        temporary: bool,
        /// True if its evaluation depends on another part of the expression.
        guarded: bool,
        /// The target of the write.
        target: WrittenObject,
        /// The position in the source.
        origin: SourceOrigin,
    },
    /// An increment or decrement.
    Step {
        /// The range of the whole expression.
        at: Range<usize>,
        /// The object.
        left: Lvalue,
        /// True if the value is used.
        used: bool,
        /// The target of the write.
        target: WrittenObject,
        /// The position in the source.
        origin: SourceOrigin,
    },
    /// A declaration of variables.
    Declare {
        /// The range of the statement.
        at: Range<usize>,
        /// For each variable: its name, whether it has an initialiser, whether the initialiser is an object that is
        /// copied.
        variables: Vec<(String, bool, bool)>,
        /// True if other variables of the statement have their own [`Action::DeclareInHead`].
        shared: bool,
        /// The position in the source.
        origin: SourceOrigin,
    },
    /// A declaration of a variable in the head of a loop, or next to others.
    DeclareInHead {
        /// The range of its initialiser.
        at: Range<usize>,
        /// The name of the variable.
        name: String,
        /// True if the initialiser is an object that is copied.
        copies: bool,
        /// The position in the source.
        origin: SourceOrigin,
    },
    /// A call.
    Call {
        /// The range of the whole expression.
        at: Range<usize>,
        /// The callee of a direct call.
        callee: Option<String>,
        /// The range of the function pointer of an indirect call.
        pointer: Option<Range<usize>>,
        /// The arguments.
        arguments: Vec<CallArgument>,
        /// The type of the result.
        result: ResultForm,
        /// True if the result is used.
        used: bool,
        /// True if an argument contains a temporary.
        temporary: bool,
        /// True if its evaluation depends on another part of the expression.
        guarded: bool,
        /// The position in the source.
        origin: SourceOrigin,
    },
    /// A value that is passed to an assertion of GoogleTest.
    Assert {
        /// The range of the value.
        at: Range<usize>,
        /// The name of the assertion's macro.
        name: String,
        /// True if the pointees are compared.
        strings: bool,
    },
    /// A use of `va_arg`.
    Variadic(Range<usize>),
    /// A return of a value.
    Return(Range<usize>),
    /// A return of a constant: the range of the statement without its semicolon. A null pointer constant is only one as
    /// spelled.
    ReturnConstant(Range<usize>),
    /// A statement that a condition controls.
    Branch {
        /// The range of the statement.
        at: Range<usize>,
        /// True if the statement ends with the next semicolon, after its range.
        unfinished: bool,
        /// The range of the condition, if there is one.
        condition: Option<Range<usize>>,
        /// True for a switch: the condition is an integer.
        switch: bool,
        /// The number of enclosing controlled statements, itself included.
        depth: u32,
        /// The outermost target of the jumps that leave the statement, if any.
        escape: Option<Escape>,
        /// The functions that it calls directly, dependent on the condition only.
        guards: Vec<String>,
        /// The objects that it may assign, if they can be designated outside of it without reading memory: their values
        /// depend on the condition even if they are not assigned.
        assigns: Vec<Lvalue>,
        /// True if it contains a temporary.
        temporary: bool,
        /// The position in the source.
        origin: SourceOrigin,
    },
    /// The condition of `?:`, `&&` or `||`.
    Choice {
        /// The range of the condition.
        at: Range<usize>,
        /// The functions that are called directly, dependent on the condition only.
        guards: Vec<String>,
        /// The position in the source.
        origin: SourceOrigin,
    },
    /// A label after which a statement can be inserted.
    Label {
        /// The offset of the labelled statement.
        at: usize,
        /// The number of enclosing controlled statements.
        depth: u32,
    },
}

/// The nodes of each function in preorder, with their positions in the source.
pub(super) type NodeOrigins = BTreeMap<String, Vec<(NodeKind, SourceOrigin)>>;
