//! The fixture of one tested call: the receiver, the call itself, and the objects that may be symbolic heaps.

use crate::object::{ApiCall, Completeness, FixtureValue};

/// The value of an object's selector for which the object is not constructed but is itself an input, with unconstrained
/// fields. The number is larger than any number of constructions, and no simplification of inputs reaches it.
pub const SYMBOLIC_HEAP_CHOICE: u64 = 5_000;

/// How the receiver and the arguments of a tested method are constructed.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The receiver, if the tested method needs one.
    pub receiver: Option<FixtureValue>,
    /// The tested call.
    pub tested: TestedCall,
    /// The type of the result, as source writes it.
    pub result: String,
    /// Objects that may be inputs instead of being constructed.
    pub heaps: Vec<SymbolicHeap>,
    /// The names of all parameters of the entry function.
    pub parameters: Vec<String>,
}

impl Fixture {
    /// The name of a parameter; empty if there is no such parameter.
    pub fn parameter_name(&self, at: usize) -> &str {
        self.parameters.get(at).map_or("", String::as_str)
    }
}

/// The tested call: of the method itself, or of one of several entry points that transitively call it.
#[derive(Clone, Debug)]
pub struct TestedCall {
    /// The alternatives; all are of one class, and all need a receiver or none does.
    pub calls: Vec<ApiCall>,
    /// The completeness of the alternatives among all callers of the method.
    pub completeness: Completeness,
    /// The parameter that selects the call: 0 for the first. `None` if there is no choice.
    pub selector: Option<usize>,
    /// The uniqueness of the called method's name.
    pub overloading: Overloading,
    /// The class of the receiver in relation to the class of the called method.
    pub receiver_class: ReceiverClass,
}

/// The class of a receiver in relation to the class of the called method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiverClass {
    /// The class itself, or there is no receiver.
    Exact,
    /// Perhaps a subclass, which may override the method: a constant of an enumeration may have a body, and a factory
    /// method may return an object of a subclass.
    Subclass,
}

/// The uniqueness of a method's name in its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overloading {
    /// The class has one method of the name.
    Unique,
    /// The class has several methods of the name: the static types of arguments matter.
    Overloaded,
}

/// An object that may be an input instead of being constructed.
#[derive(Clone, Debug)]
pub struct SymbolicHeap {
    /// The number of the object in its fixture.
    pub object: usize,
    /// The selector of the object, which is [`SYMBOLIC_HEAP_CHOICE`] for this alternative.
    pub selector: usize,
    /// The parameter that holds the object.
    pub param: usize,
    /// The declared type in relation to the program.
    pub typing: HeapTyping,
}

/// The declared type of a symbolic object in relation to the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeapTyping {
    /// The declared type is a class of the program.
    ProgramClass,
    /// The declared type is wider: objects of other classes fit as well.
    WiderType,
}
