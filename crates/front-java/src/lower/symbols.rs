//! The functions and globals of a program: what each is, by its id.

use crate::classes::{ClassId, FieldRef, MethodRef};
use std::hash::Hash;
use std::rc::Rc;
use touchstone_ir::Ty;

/// What a function is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum FuncKind {
    /// A method, or what stands for it.
    Method(MethodRef),
    /// The method itself where something stands for it.
    Original(MethodRef),
    /// A method of the receiver's class. A later generation knows classes that were not there before.
    Dispatch(MethodRef, u32),
    /// `(ptr) -> i1`: whether an object is of a class.
    InstanceOf(ClassId, u32),
    /// `(ptr)`: throws what a cast to the class throws.
    CastFailed(ClassId, u32),
    /// `(ptr array, ptr value)`: throws unless an array of this class may hold the value.
    StoreCheck(u32),
    /// Initialises a class.
    Init(ClassId),
    /// `(ptr message)`: throws an exception of a class of the JDK.
    Throw(ClassId),
    /// `(ptr message)`: throws a null pointer exception with what it says when it is asked.
    ThrowNull,
    /// `(i32 index, i32 length)`: throws.
    ThrowIndex,
    /// `(i32 size)`: throws.
    ThrowNegative,
    /// `(i32 length) -> ptr`: an array.
    NewArray(ClassId),
    /// `(i32…) -> ptr`: an array of arrays.
    MultiArray(ClassId, u8),
    /// `(ptr) -> ptr`: the class object of an object.
    Mirror(u32),
    /// What asks a class, by its number, for something: `(i32 class, …)`.
    Ask(ClassQuery, u32),
    /// `(i32 class, ptr name) -> i64`: where a field of the class stands.
    FieldOffset(ClassId),
    /// What the functional method of a lambda does.
    Lambda(ClassId, usize),
    /// What a method of a stub does.
    Stub(ClassId, usize),
    /// What an `invokedynamic` evaluates to.
    Site(ClassId, u16),
    /// A helper that natives share, by name.
    Helper(&'static str),
    /// Runs the program.
    Main(ClassId),
    /// `(ptr, ptr) -> i1`: whether two objects stand for the same box.
    SameBox,
    /// Makes an object, and calls a method of it: what tests of the method do.
    Scenario(MethodRef),
    /// The same without the last call: what it would get is kept.
    Prepared(MethodRef),
    /// `(parameters of what tests call, and the result) -> i32`: what the postcondition has said of that call.
    Judged(MethodRef),
    /// `(parameters of what tests call) -> i32`: whether these are values that a caller can have.
    Possible(MethodRef),
    /// The same, and whether its precondition allows them.
    Allowed(MethodRef),
}

/// What can be asked about a class that only its number is known of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ClassQuery {
    /// `(i32 class, ptr object) -> i1`: whether the object, which is not null, is of the class.
    IsInstance,
    /// `(i32 class, i32 length) -> ptr`: an array of the class.
    NewArrayOf,
    /// `(i32 class, ptr name) -> i64`: where a field of its objects stands, -1 if there is none.
    FieldOffset,
    /// `(i32 class) -> ptr`: the constants of an enumeration.
    EnumConstants,
    /// `(i32 class)`: initialises it.
    Initialise,
    /// `(i32 class, i32 other) -> i1`: whether the other is a subclass.
    IsSubclass,
    /// `(i32 class) -> i32`: bytes of an element of arrays of the class; negative for references, 0 if it is no array.
    ElementSize,
    /// `(i32 class) -> ptr`: the name without package.
    SimpleName,
    /// `(i32 class) -> ptr`: the class, if it says that its objects can be compared with each other, else null.
    ComparableClass,
    /// `(i32 class) -> ptr`: an object made by the constructor without parameters.
    NewInstance,
    /// `(i32 class) -> ptr`: the name as source writes it, or null.
    CanonicalName,
}

/// What a global is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum GlobalKind {
    /// A string constant, as UTF-16.
    Literal(Rc<[u16]>),
    /// The bytes of one.
    LiteralBytes(Rc<[u16]>),
    /// A static field.
    Static(FieldRef),
    /// How far the initialisation of a class is: 0 not begun, 1 begun or done, 2 failed.
    InitFlag(ClassId),
    /// The class object of a class.
    Mirror(ClassId),
    /// The arguments of the program.
    Arguments,
    /// An object that the machine makes, by name.
    Named(&'static str),
    /// A number of eight bytes that the machine keeps, by name.
    Cell(&'static str),
    /// What was prepared for a call of a method.
    Kept(MethodRef, FixtureRecord),
    /// A text for people, with a zero behind it.
    Text(&'static str),
}

/// What of a prepared call is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum FixtureRecord {
    /// An object, by its number.
    Object(usize),
    /// An argument, the receiver included.
    Argument(usize),
    /// What the call returned that a parameter chose.
    Call(usize),
    /// What the postcondition said of the result.
    Answer,
}

impl FuncKind {
    /// Functions that this one is a later generation of.
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
