//! What the text of a unit does to data: where values are read, written, passed, returned and asked for in conditions, as
//! byte ranges of the preprocessed text.
//!
//! This is what state coverage puts its probes around. The tree is clang's; the result is flat and names no node of it.
//! Positions and macro names come from the text as the user wrote it: the two are the same program, so the nodes of a
//! function correspond in order. Where they don't (the compilers' preprocessors see different code), places are those of
//! the preprocessed text's own line markers, and no macro names are known.
//!
//! Deliberately not here: probes, and what they mean.

use crate::clang::kind::NodeKind;
use std::collections::BTreeMap;
use std::ops::Range;

/// What a unit does to data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Followed {
    /// Its functions, in the order of the text.
    pub functions: Vec<FollowedFunction>,
    /// Variables with static storage that it defines at file scope.
    pub globals: Vec<String>,
    /// What can be looked at of variables at file scope: where they are declared, their names, and the expressions.
    pub visible: Vec<(usize, String, Vec<Visible>)>,
}

/// An expression that can be looked at where a function ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Visible {
    /// It.
    pub text: String,
    /// What it stands for.
    pub form: Form,
}

/// What an expression stands for.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Form {
    /// A number with a sign,
    Signed,
    /// or without one.
    Unsigned,
    /// True or false.
    Bool,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
    /// A constant of an enumeration: their names and numbers.
    Enum(Vec<(String, i64)>),
    /// A text in an array,
    Text,
    /// or behind a pointer.
    PointedText,
    /// Another pointer.
    Pointer,
}

/// What a function does to data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FollowedFunction {
    /// Its name.
    pub name: String,
    /// Its parameters that have names, by position.
    pub parameters: Vec<(usize, String)>,
    /// The byte after the brace that opens its body.
    pub body: usize,
    /// Where a last statement can stand: before the closing brace, or before a last `return`.
    pub last: Option<usize>,
    /// What can be looked at there of its own variables; and their names.
    pub visible: Vec<Visible>,
    /// Names of all that it declares for its whole body.
    pub names: Vec<String>,
    /// `register` keywords: what they declare has an address after all.
    pub registers: Vec<Range<usize>>,
    /// What it does, in no particular order.
    pub actions: Vec<Action>,
    /// What could not be followed: the line of the source, and what.
    pub lost: Vec<(u32, String)>,
}

/// Where something stands in the source as the user wrote it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The file; empty if it is not known.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The macro whose body wrote it.
    pub in_macro: Option<String>,
}

/// An expression that designates an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lvalue {
    /// Its text.
    pub at: Range<usize>,
    /// Evaluating it twice does the same as evaluating it once.
    pub pure: bool,
    /// A bit-field: the text of what it is a member of, whether that is a pointer, and its number among the unit's.
    pub bits: Option<(Range<usize>, bool, u32)>,
}

/// What is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenState {
    /// It outlives the function that writes: a global, or reached through a pointer.
    pub is_state: bool,
    /// What people call it: `counter`, `stack.size`, `*out of divide`.
    pub name: String,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Its text.
    pub at: Range<usize>,
    /// It reads or calls something.
    pub asks: bool,
    /// Its value can be kept in a variable: it is a pointer or an integer, no constant, and nothing in it dies with a scope.
    pub kept: bool,
    /// A pointer, and how big what it points to is: an expression.
    pub size: Option<PointeeSize>,
    /// It can be written through the parameter.
    pub writable: bool,
    /// What it points to.
    pub target: WrittenState,
    /// The value, if it is an integer constant.
    pub constant: Option<u64>,
}

/// How big what an argument points to is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointeeSize {
    /// The size of the argument's own array.
    Array,
    /// The size of one element.
    Element,
    /// Not known.
    Unknown,
}

/// What becomes of a call's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// There is none.
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

/// A jump out of a statement, by what it leaves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Escape {
    /// The function.
    Function,
    /// The loop at this depth.
    Loop(u32),
}

/// Something that a function does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Reads an object.
    Read(Lvalue),
    /// Assigns.
    Write {
        /// The whole expression.
        at: Range<usize>,
        /// Its left side.
        left: Lvalue,
        /// The old value is read, too.
        updates: bool,
        /// The right side is an object of the same type, copied.
        copies: bool,
        /// The value of the assignment is used.
        used: bool,
        /// Evaluating the right side may change what the left side designates.
        disturbed: bool,
        /// The right side has something in it that dies with a scope.
        temporary: bool,
        /// It is evaluated only if something else in its expression says so.
        guarded: bool,
        /// What it writes.
        target: WrittenState,
        /// Where.
        origin: Origin,
    },
    /// Adds or subtracts one.
    Step {
        /// The whole expression.
        at: Range<usize>,
        /// What is changed.
        left: Lvalue,
        /// The value is used.
        used: bool,
        /// What it writes.
        target: WrittenState,
        /// Where.
        origin: Origin,
    },
    /// Declares variables.
    Declare {
        /// The statement.
        at: Range<usize>,
        /// Each: its name, whether it has an initialiser, whether that is an object that is copied.
        variables: Vec<(String, bool, bool)>,
        /// Others of the statement have a [`Action::DeclareInHead`] of their own.
        shared: bool,
        /// Where.
        origin: Origin,
    },
    /// Declares a variable in the head of a loop, or beside others.
    DeclareInHead {
        /// Its initialiser.
        at: Range<usize>,
        /// Its name.
        name: String,
        /// The initialiser is an object that is copied.
        copies: bool,
        /// Where.
        origin: Origin,
    },
    /// Calls.
    Call {
        /// The whole expression.
        at: Range<usize>,
        /// The function, if it is named.
        callee: Option<String>,
        /// The pointer that says whom to call, if it is no name.
        pointer: Option<Range<usize>>,
        /// The arguments.
        arguments: Vec<Argument>,
        /// What it gives.
        result: Gives,
        /// It is used.
        used: bool,
        /// Something in it dies with a scope.
        temporary: bool,
        /// As for writes.
        guarded: bool,
        /// Where.
        origin: Origin,
    },
    /// Passes a value to an assertion of GoogleTest.
    Assert {
        /// The value.
        at: Range<usize>,
        /// What the assertion's macro is called.
        name: String,
        /// What the value points to is compared.
        strings: bool,
    },
    /// Takes a variable argument.
    Variadic(Range<usize>),
    /// Returns a value.
    Return(Range<usize>),
    /// Returns a constant: the statement without its semicolon. A null pointer is one only as it is written.
    ReturnConstant(Range<usize>),
    /// A statement that a condition controls.
    Branch {
        /// The statement.
        at: Range<usize>,
        /// Its end is the next semicolon.
        unfinished: bool,
        /// The condition, if there is one.
        condition: Option<Range<usize>>,
        /// It is a switch: the condition is a number.
        switch: bool,
        /// How many such statements it stands in, itself included.
        depth: u32,
        /// It can be left by jumps: what the farthest leaves.
        escape: Option<Escape>,
        /// The functions that it calls directly, depending on the condition only.
        guards: Vec<String>,
        /// What it may assign, as far as that can be named around it without reading memory: its value depends on the
        /// condition also where it is not assigned.
        assigns: Vec<Lvalue>,
        /// Something in it dies with the statement's scope.
        temporary: bool,
        /// Where.
        origin: Origin,
    },
    /// The condition of `?:`, `&&` or `||`.
    Choice {
        /// The condition.
        at: Range<usize>,
        /// The functions that are called directly, depending on it only.
        guards: Vec<String>,
        /// Where.
        origin: Origin,
    },
    /// A label that a statement may be put behind.
    Label {
        /// Where the labelled statement begins.
        at: usize,
        /// How many controlled statements it stands in.
        depth: u32,
    },
}

/// By function: the shape of its tree and where its nodes come from.
pub(super) type Origins = BTreeMap<String, Vec<(NodeKind, Origin)>>;
