//! How tests make values: as data, for whoever lowers it and for whoever writes it as source.
//!
//! Which way is taken, and all numbers and texts, are parameters of one function, so a search finds them as it finds other
//! inputs, and a test is a sequence of calls that its reader can follow.

use crate::classfile::Desc;
use crate::world::{ClassId, FieldRef, MethodRef};
use touchstone_ir::DataTypeId;

/// How a value is made.
#[derive(Clone, Debug)]
pub enum Making {
    /// It is a parameter of the scenario: a number, a string, an array of numbers.
    Given(usize),
    /// It is an object.
    Object(Box<Object>),
}

/// How an object is made.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its number among the objects of the scenario.
    pub number: usize,
    /// What its variable is called.
    pub name: String,
    /// Its type, as source writes it, with packages.
    pub ty: String,
    /// The parameter that says which way is taken: 0 for the first.
    pub selector: usize,
    /// The ways.
    pub ways: Vec<Way>,
    /// Whether these are all ways.
    pub all: All,
    /// What may fill it before other calls.
    pub many: Option<Many>,
    /// What may be called before it is used: as long as something is called.
    pub slots: Vec<Slot>,
}

/// Calls of one method with many numbers.
#[derive(Clone, Debug)]
pub struct Many {
    /// The parameter that says which: 1 for the first, 0 for none.
    pub selector: usize,
    /// The ways, by their places, after which there may be some.
    pub ways: Vec<usize>,
    /// What there is.
    pub all: Vec<Series>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) method: MethodRef,
    pub(crate) rule: usize,
    /// Where they stand.
    pub when: Standing,
    /// How many calls.
    pub count: u32,
    /// One call, as source writes it, with the number `i`, which counts from 0.
    pub text: String,
}

/// Where calls of one method stand among others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Before all others.
    First,
    /// After the first of the others, which prepares them. Without one there are none.
    AfterOneCall,
}

/// Whether the ways are all that a caller has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum All {
    /// They are.
    Known,
    /// A caller may have objects that are made in other ways.
    NotKnown,
}

/// One way to make an object.
#[derive(Clone, Debug)]
pub enum Way {
    /// None.
    Null,
    /// The object with this number, which was made before.
    Same(usize),
    /// A parameter of the scenario: a string, an array of numbers.
    Given(usize),
    /// A constructor.
    New(Call),
    /// A static method.
    Static(Call),
    /// `valueOf` of a box.
    Boxed(Call),
    /// A static field: a constant of an enumeration.
    Constant {
        /// Which field.
        field: FieldRef,
        /// As source writes it.
        text: String,
    },
    /// An array of references.
    Array {
        /// Its class.
        class: ClassId,
        /// The type of its elements, as source writes it.
        element: String,
        /// The parameter that says how long it is.
        size: usize,
        /// Elements, as many as it can have.
        elements: Vec<Making>,
    },
    /// A collection that is filled by calls.
    Filled {
        /// The constructor.
        create: Call,
        /// What adds an element, or a key with its value.
        add: MethodRef,
        /// Its name.
        adder: String,
        /// How source may write it.
        form: Form,
        /// The parameter that says how many there are.
        size: usize,
        /// Arguments of each call.
        elements: Vec<Vec<Making>>,
    },
    /// An object of a class that the test itself has.
    Stub {
        /// The class that stands for it.
        class: ClassId,
        /// The constructor of its superclass, if it has one.
        create: Option<Call>,
        /// Methods, in the order of the class's.
        methods: Vec<Answers>,
        /// Whether a lambda expression can be written.
        lambda: bool,
    },
}

/// How a collection can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// By what it holds: the constructor that takes a collection leaves the same.
    Listed,
    /// Call by call.
    Called,
}

/// What a method of a stub answers.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The method.
    pub name: String,
    /// Types of its parameters, as source writes them.
    pub params: Vec<String>,
    /// The type of its result.
    pub result: String,
    /// The answers: to the first call, and to later ones; none if there is no result.
    pub answers: Vec<Making>,
    /// What it may throw instead.
    pub throws: Option<Throws>,
    /// What it may do to the object whose method is tested.
    pub meddles: Option<Meddles>,
}

/// What a method of a stub does to the object whose method is tested: nobody expects that, and some look whether somebody did.
#[derive(Clone, Debug)]
pub struct Meddles {
    /// The parameter that says whether it does: 0 for no, 1 for yes, 2 for not when it is called first.
    pub selector: usize,
    /// The number of that object.
    pub object: usize,
    /// The call.
    pub text: String,
}

/// What a method of a stub throws.
#[derive(Clone, Debug)]
pub struct Throws {
    /// The parameter that says which: 0 for nothing, 1 for the first.
    pub selector: usize,
    /// The exceptions, as source makes them.
    pub exceptions: Vec<String>,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    pub(crate) method: MethodRef,
    /// What stands before the arguments: `new p.Node`, `java.lang.Integer.valueOf`, `push`.
    pub text: String,
    /// The object that a new one is inside of, if its class is not static: `outer.new Inner()`.
    pub outer: Option<Making>,
    /// Arguments.
    pub arguments: Vec<Making>,
}

/// A place for a call that may be made.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The parameter that says which call is made: 1 for the first, 0 for none, and then there are no later ones.
    pub selector: usize,
    /// What can be called.
    pub calls: Vec<Call>,
}

/// The call that is tested: of the method itself, or of one of several that lead to it.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The calls, of methods that are alike.
    pub calls: Vec<Call>,
    /// Whether nobody else leads to the method.
    pub all: All,
    /// The parameter that says which call is made: 0 for the first. There is none if nobody has a choice.
    pub selector: Option<usize>,
    /// Whether the name alone says which method is meant.
    pub naming: Naming,
    /// What becomes of results.
    pub(crate) results: Results,
}

/// What becomes of the results of several calls of which one is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Results {
    /// All are of one type: the result is that of the call.
    OfOneType,
    /// They are not: nobody looks at them.
    Dropped,
}

/// Whether a name says which method is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Naming {
    /// It does.
    Plain,
    /// Others have it, too: the types of arguments matter.
    Overloaded,
}

impl Naming {
    pub(crate) fn of(is_overloaded: bool) -> Naming {
        if is_overloaded { Naming::Overloaded } else { Naming::Plain }
    }
}

/// What a selector is where an object is not made by calls: it is an input, with whatever its fields hold.
/// More than there are ways, and a number that nobody makes rounder.
pub const ANY_HEAP: u64 = 5_000;

/// Whether the type of an object says that it is one of the program's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Typed {
    /// It does.
    OfProgram,
    /// Others fit as well.
    Wider,
}

/// An object that may be an input.
#[derive(Clone, Debug)]
pub struct Heap {
    /// Its number among the objects of the scenario.
    pub object: usize,
    /// The parameter that says which way is taken: [`ANY_HEAP`] for this one.
    pub selector: usize,
    /// The parameter that it is.
    pub param: usize,
    /// Whether its type says so.
    pub typed: Typed,
    /// Its class, or one above it.
    pub(crate) class: ClassId,
    /// The type of the parameter.
    pub(crate) data: DataTypeId,
    /// The classes of objects that it may lead to.
    pub(crate) classes: Vec<ClassId>,
}

/// How the arguments of a method, and the object that it is called on, are made.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The object, if it needs one.
    pub receiver: Option<Making>,
    /// What is called then.
    pub tested: Tested,
    /// The type of the result, as source writes it.
    pub result: String,
    /// Objects that may be others after the call, with their classes.
    pub(crate) changing: Vec<(usize, ClassId)>,
    /// The class of the result, if tests can look at it.
    pub(crate) result_class: Option<ClassId>,
    /// Names and types of all parameters.
    pub(crate) params: Vec<(String, Desc)>,
    /// How many objects there are.
    pub(crate) objects: usize,
    /// Those that may be inputs.
    pub heaps: Vec<Heap>,
}

impl Scenario {
    /// The name of a parameter.
    pub fn param_name(&self, at: usize) -> &str {
        self.params.get(at).map_or("", |(name, _)| name)
    }

    /// What is called at last, or the first of several that are alike.
    pub(crate) fn called(&self) -> MethodRef {
        self.tested.calls[0].method
    }
}
