//! Values and objects of a fixture, and the constructions between which a selector chooses.

use crate::fill_loop::FillLoops;
use crate::handle::{ClassId, FieldRef, MethodRef};
use crate::stub::StubMethod;

/// A value of a fixture. Numbers are positions of parameters of the entry function.
#[derive(Clone, Debug)]
pub enum FixtureValue {
    /// A parameter itself: a number, a string, an array of numbers.
    Parameter(usize),
    /// An object.
    Object(Box<ObjectPlan>),
}

/// An object of a fixture.
#[derive(Clone, Debug)]
pub struct ObjectPlan {
    /// Its number among the objects of the fixture.
    pub number: usize,
    /// The name of its variable.
    pub name: String,
    /// Its type as source writes it, with packages.
    pub ty: String,
    /// The parameter that selects the construction: 0 for the first.
    pub selector: usize,
    /// The alternatives.
    pub constructions: Vec<Construction>,
    /// The completeness of the alternatives among all objects that a caller can pass.
    pub completeness: Completeness,
    /// Loops that fill the object before the calls of `slots`.
    pub fill_loops: Option<FillLoops>,
    /// Calls that change the object before it is used; the first empty slot ends them.
    pub slots: Vec<CallSlot>,
}

/// The completeness of a list of alternatives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completeness {
    /// There are no other alternatives.
    Complete,
    /// Callers may use other alternatives: no verdict may conclude that there are none.
    Incomplete,
}

/// One way to construct an object.
#[derive(Clone, Debug)]
pub enum Construction {
    /// The null reference.
    Null,
    /// The object with this number, which was constructed before.
    Same(usize),
    /// A parameter itself, which is not null: a string, an array of numbers.
    Parameter(usize),
    /// A constructor.
    New(ApiCall),
    /// A static factory method.
    Factory(ApiCall),
    /// `valueOf` of a wrapper class.
    Boxed(ApiCall),
    /// A static field, for example a constant of an enumeration.
    Constant {
        /// The field.
        field: FieldRef,
        /// The field as source writes it.
        text: String,
    },
    /// An array of references.
    Array {
        /// The class of the array.
        class: ClassId,
        /// The type of its elements, as source writes it.
        element: String,
        /// The parameter that holds the length.
        size: usize,
        /// The elements of the longest array; a shorter one has a prefix of them.
        elements: Vec<FixtureValue>,
    },
    /// A collection that is filled by calls.
    Collection {
        /// The constructor.
        create: ApiCall,
        /// The method that adds an element, or a key with its value.
        add: MethodRef,
        /// The name of that method.
        adder: String,
        /// The form in which source may write the collection.
        form: CollectionForm,
        /// The parameter that holds the number of elements.
        size: usize,
        /// The arguments of each call of `add`.
        elements: Vec<Vec<FixtureValue>>,
    },
    /// An object of a class that the test itself declares.
    Stub {
        /// The class in the front end's class table.
        class: ClassId,
        /// The constructor of its superclass; `None` for an interface.
        create: Option<ApiCall>,
        /// The stub methods, in the order of the class's methods.
        methods: Vec<StubMethod>,
        /// True if source may write the stub as a lambda expression.
        lambda: bool,
    },
}

/// The form in which source writes a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionForm {
    /// A list of elements as the argument of the constructor, which leaves the same state as the calls.
    ElementList,
    /// One call for each element.
    CallByCall,
}

/// A call of a constructor or a method.
#[derive(Clone, Debug)]
pub struct ApiCall {
    /// The called method.
    pub method: MethodRef,
    /// The source before the arguments: `new p.Node`, `java.lang.Integer.valueOf`, `push`.
    pub callee: String,
    /// The enclosing instance, if the call constructs an object of an inner class: `outer.new Inner()`.
    pub enclosing: Option<FixtureValue>,
    /// The arguments, without the enclosing instance.
    pub arguments: Vec<FixtureValue>,
}

/// A position in an API sequence that at most one call fills.
#[derive(Clone, Debug)]
pub struct CallSlot {
    /// The parameter that selects the call: 1 for the first, 0 for none, which also leaves all later slots empty.
    pub selector: usize,
    /// The alternatives.
    pub calls: Vec<ApiCall>,
}
