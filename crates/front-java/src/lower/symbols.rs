//! The symbols of a program: the kinds of its functions and globals.
//!
//! The variants' names are part of the names of functions and globals in the IR.

use crate::classes::{ClassId, FieldRef, MethodRef};
use std::hash::Hash;
use std::rc::Rc;
use touchstone_ir::Ty;

/// The kind of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum FuncKind {
    /// A method, or the intrinsic that replaces it.
    Method(MethodRef),
    /// The bytecode of a method that an intrinsic replaces.
    Original(MethodRef),
    /// A virtual call. A later generation covers classes that were loaded after the earlier one was lowered.
    Dispatch(MethodRef, u32),
    /// `(ptr) -> i1`: true if an object is an instance of a class.
    InstanceOf(ClassId, u32),
    /// `(ptr)`: throws the exception of a failed cast to a class.
    CastFailed(ClassId, u32),
    /// `(ptr array, ptr value)`: throws unless the array may hold the value.
    StoreCheck(u32),
    /// Initialises a class.
    Init(ClassId),
    /// `(ptr message)`: throws an exception of a class of the JDK.
    Throw(ClassId),
    /// `(ptr message)`: throws a null pointer exception with a detail message.
    ThrowNull,
    /// `(i32 index, i32 length)`: throws an index exception.
    ThrowIndex,
    /// `(i32 size)`: throws a negative size exception.
    ThrowNegative,
    /// `(i32 length) -> ptr`: allocates an array.
    NewArray(ClassId),
    /// `(i32…) -> ptr`: allocates an array of arrays.
    MultiArray(ClassId, u8),
    /// `(ptr) -> ptr`: returns the `Class` object of an object.
    Mirror(u32),
    /// `(i32 class, …)`: a query of a class that is given by its class word.
    Ask(ClassQuery, u32),
    /// `(i32 class, ptr name) -> i64`: returns the offset of a field of the class.
    FieldOffset(ClassId),
    /// The functional method of a lambda object.
    Lambda(ClassId, usize),
    /// A method of a stub.
    Stub(ClassId, usize),
    /// An `invokedynamic` call site.
    Site(ClassId, u16),
    /// A helper of native methods, by name.
    Helper(&'static str),
    /// The start of the program.
    Main(ClassId),
    /// `(ptr, ptr) -> i1`: true if two objects represent the same cached wrapper object.
    SameBox,
    /// The entry function of a method: constructs a fixture and calls the method.
    Scenario(MethodRef),
    /// The set-up of a fixture without the tested call: the arguments are recorded.
    Prepared(MethodRef),
    /// `(parameters of the entry function, and the result) -> i32`: the recorded outcome of the postcondition.
    Judged(MethodRef),
    /// `(parameters of the entry function) -> i32`: nonzero if the arguments are well-formed.
    Possible(MethodRef),
    /// The same, and the precondition holds.
    Allowed(MethodRef),
}

/// A property of a class that is given by its class word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ClassQuery {
    /// `(i32 class, ptr object) -> i1`: true if the object, which is not null, is an instance.
    IsInstance,
    /// `(i32 class, i32 length) -> ptr`: allocates an array of the class.
    NewArrayOf,
    /// `(i32 class, ptr name) -> i64`: the offset of an instance field, or -1.
    FieldOffset,
    /// `(i32 class) -> ptr`: the constants of an enumeration.
    EnumConstants,
    /// `(i32 class)`: initialises it.
    Initialise,
    /// `(i32 class, i32 other) -> i1`: true if the other class is a subclass.
    IsSubclass,
    /// `(i32 class) -> i32`: the size of an element in bytes; negative for references, 0 if the class is not an array
    /// class.
    ElementSize,
    /// `(i32 class) -> ptr`: the name without package.
    SimpleName,
    /// `(i32 class) -> ptr`: the class if it implements `Comparable` of itself, else null.
    ComparableClass,
    /// `(i32 class) -> ptr`: an object from the constructor without parameters.
    NewInstance,
    /// `(i32 class) -> ptr`: the canonical name, or null.
    CanonicalName,
}

/// The kind of a global.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum GlobalKind {
    /// A string constant, in UTF-16.
    Literal(Rc<[u16]>),
    /// The byte array of a string constant.
    LiteralBytes(Rc<[u16]>),
    /// A static field.
    Static(FieldRef),
    /// The state of a class's initialisation: 0 not started, 1 started or done, 2 failed.
    InitFlag(ClassId),
    /// The `Class` object of a class.
    Mirror(ClassId),
    /// The arguments of the program.
    Arguments,
    /// An object of the JVM, by name.
    Named(&'static str),
    /// An eight-byte cell of the JVM, by name.
    Cell(&'static str),
    /// A value that the set-up of a method's fixture records.
    Kept(MethodRef, FixtureRecord),
    /// A zero-terminated string for messages.
    Text(&'static str),
}

/// A recorded value of a fixture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum FixtureRecord {
    /// An object, by its number.
    Object(usize),
    /// An argument, the receiver included.
    Argument(usize),
    /// The result of the call that a slot's parameter selects.
    Call(usize),
    /// The outcome of the postcondition.
    Answer,
}

impl FuncKind {
    /// Returns the earlier generations of a function.
    pub fn earlier_generations(&self) -> Vec<FuncKind> {
        let (generation, of): (u32, Box<dyn Fn(u32) -> FuncKind>) = match self.clone() {
            FuncKind::Dispatch(method, generation) => (generation, Box::new(move |g| FuncKind::Dispatch(method, g))),
            FuncKind::InstanceOf(class, generation) => (generation, Box::new(move |g| FuncKind::InstanceOf(class, g))),
            FuncKind::CastFailed(class, generation) => (generation, Box::new(move |g| FuncKind::CastFailed(class, g))),
            FuncKind::StoreCheck(generation) => (generation, Box::new(FuncKind::StoreCheck)),
            FuncKind::Mirror(generation) => (generation, Box::new(FuncKind::Mirror)),
            FuncKind::Ask(question, generation) => (generation, Box::new(move |g| FuncKind::Ask(question, g))),
            _ => return Vec::new(),
        };
        (0..generation).map(of).collect()
    }
}

impl ClassQuery {
    pub fn shape(self) -> (Vec<Ty>, Option<Ty>) {
        match self {
            ClassQuery::IsInstance => (vec![Ty::I32, Ty::Ptr], Some(Ty::I1)),
            ClassQuery::NewArrayOf => (vec![Ty::I32, Ty::I32], Some(Ty::Ptr)),
            ClassQuery::FieldOffset => (vec![Ty::I32, Ty::Ptr], Some(Ty::I64)),
            ClassQuery::EnumConstants => (vec![Ty::I32], Some(Ty::Ptr)),
            ClassQuery::Initialise => (vec![Ty::I32], None),
            ClassQuery::IsSubclass => (vec![Ty::I32, Ty::I32], Some(Ty::I1)),
            ClassQuery::ElementSize => (vec![Ty::I32], Some(Ty::I32)),
            ClassQuery::SimpleName
            | ClassQuery::CanonicalName
            | ClassQuery::ComparableClass
            | ClassQuery::NewInstance => (vec![Ty::I32], Some(Ty::Ptr)),
        }
    }
}
