//! The user's classes and JVM, and the tests that were written so far.

use crate::ReplayLimits;
use crate::java::confined::Keeping;
use crate::java::jvm::Jvm;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use touchstone_criteria::NamedValue;
use touchstone_ir::DataValue;

/// How the user's classes are called and run.
#[derive(Debug)]
pub struct JavaTarget {
    /// Directories and jars that have the classes under test and what they need.
    pub class_path: Vec<PathBuf>,
    /// What stands for JUnit where the class path has none.
    pub shim: PathBuf,
    /// Methods that tests call, by the name of their function.
    pub methods: BTreeMap<String, JavaMethod>,
    /// Static fields that tests set and look at, by the name of their global.
    pub fields: BTreeMap<String, JavaField>,
    /// Limits of the replay.
    pub limits: ReplayLimits,
    /// Runs tests.
    pub jvm: Jvm,
    /// By file: the tests that stand in it, by function.
    pub(crate) written: Mutex<BTreeMap<PathBuf, BTreeMap<String, Vec<String>>>>,
}

impl JavaTarget {
    /// The tests of a function that were written to a file.
    pub(crate) fn written_for(&self, suite: &Path, function: &str) -> Option<Vec<String>> {
        let written = self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        written.get(suite)?.get(function).cloned()
    }
}

/// A method that tests call.
#[derive(Clone, Debug)]
pub struct JavaMethod {
    /// The package of its tests; empty if they have none.
    pub package: String,
    /// The package of its class.
    pub home: String,
    /// The class without package, as source names it.
    pub class: String,
    /// The method's own name.
    pub method: String,
    /// How an object for it is made, if it needs one.
    pub scenario: Option<JavaScenario>,
}

/// How a value of a test is made. Numbers are places of parameters of the function under test.
#[derive(Clone, Debug)]
pub enum JavaMaking {
    /// A parameter as it is.
    Given(usize),
    /// An object.
    Object(Box<JavaObject>),
}

/// How an object is made.
#[derive(Clone, Debug)]
pub struct JavaObject {
    /// Its number among the objects of the test.
    pub number: usize,
    /// The name of its variable.
    pub name: String,
    /// Its type, with packages.
    pub ty: String,
    /// Says which way it is made: 0 for the first.
    pub selector: usize,
    /// The ways.
    pub ways: Vec<JavaWay>,
    /// What fills it before that.
    pub many: Option<JavaMany>,
    /// What is called before it is used, as long as something is: who says which (1 for the first), and the calls.
    pub slots: Vec<(usize, Vec<JavaCall>)>,
}

/// Calls of one method with many numbers.
#[derive(Clone, Debug)]
pub struct JavaMany {
    /// Says which: 1 for the first, 0 for none.
    pub selector: usize,
    /// The ways after which there may be some.
    pub ways: Vec<usize>,
    /// What there is.
    pub all: Vec<JavaSeries>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct JavaSeries {
    /// How many calls.
    pub count: u32,
    /// One of them, with the number `i`.
    pub call: String,
    /// How many other calls come before.
    pub after: usize,
}

/// One way to make an object.
#[derive(Clone, Debug)]
pub enum JavaWay {
    /// None.
    Null,
    /// An object that was made before.
    Same(usize),
    /// A parameter as it is.
    Given(usize),
    /// A constructor or a static method.
    Call(JavaCall),
    /// A box of a number.
    Boxed(JavaCall),
    /// A constant.
    Constant(String),
    /// An array.
    Array {
        /// The type of its elements.
        element: String,
        /// Says how long it is.
        size: usize,
        /// The elements.
        elements: Vec<JavaMaking>,
    },
    /// A collection.
    Filled {
        /// The constructor.
        create: JavaCall,
        /// What adds to it.
        adder: String,
        /// How it is written.
        form: JavaForm,
        /// Says how much it holds.
        size: usize,
        /// Arguments of each call.
        elements: Vec<Vec<JavaMaking>>,
    },
    /// An object of a class of the test.
    Stub {
        /// The constructor of its superclass.
        create: Option<JavaCall>,
        /// Methods.
        methods: Vec<JavaAnswers>,
        /// Whether a lambda expression will do.
        lambda: bool,
    },
}

/// How a collection is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JavaForm {
    /// By what it holds.
    Listed,
    /// Call by call.
    Called,
}

/// What a method of a stub answers.
#[derive(Clone, Debug)]
pub struct JavaAnswers {
    /// The method.
    pub name: String,
    /// Types of its parameters.
    pub params: Vec<String>,
    /// The type of its result.
    pub result: String,
    /// To the first call, and to later ones.
    pub answers: Vec<JavaMaking>,
    /// What it throws instead.
    pub throws: Option<JavaThrows>,
    /// What it may do to an object: who says whether it does (1 for yes, 2 for not when it is called first), the object's number,
    /// and the call.
    pub meddles: Option<(usize, usize, String)>,
}

/// What a method of a stub throws.
#[derive(Clone, Debug)]
pub struct JavaThrows {
    /// Says which exception: 0 for none, 1 for the first.
    pub selector: usize,
    /// The exceptions: `new IllegalStateException()`.
    pub exceptions: Vec<String>,
}

/// A call.
#[derive(Clone, Debug)]
pub struct JavaCall {
    /// What stands before the arguments: `new p.Node`, `push`.
    pub text: String,
    /// The object that a new one is inside of.
    pub outer: Option<JavaMaking>,
    /// Arguments.
    pub arguments: Vec<JavaMaking>,
}

/// The call that is tested.
#[derive(Clone, Debug)]
pub struct JavaTested {
    /// The method's own, or calls that lead to it.
    pub calls: Vec<JavaCall>,
    /// Says which call is made: 0 for the first; there is none where there is no choice.
    pub selector: Option<usize>,
    /// Whether the name says which method is meant.
    pub naming: JavaNaming,
}

/// Whether a name says which method is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JavaNaming {
    /// It does.
    Plain,
    /// Others have it, too.
    Overloaded,
}

/// How the arguments of a method, and the object that it is called on, are made.
#[derive(Clone, Debug)]
pub struct JavaScenario {
    /// The object.
    pub receiver: Option<JavaMaking>,
    /// What is called then.
    pub tested: JavaTested,
    /// The type of the result, with packages.
    pub result: String,
    /// Objects that may be inputs as they are.
    pub heaps: Vec<JavaHeap>,
}

/// An object that may be an input as it is.
#[derive(Clone, Debug)]
pub struct JavaHeap {
    /// Its number.
    pub object: usize,
    /// What says which way it is made, and what that is for this one.
    pub selector: (usize, u64),
    /// The parameter that it is then.
    pub param: usize,
}

impl JavaScenario {
    /// The parameter that an object is, if nothing makes it.
    pub(crate) fn any_heap(&self, object: &JavaObject, params: &[NamedValue]) -> Option<usize> {
        let heap = self.heaps.iter().find(|heap| heap.object == object.number)?;
        (number(params, heap.selector.0) == heap.selector.1).then_some(heap.param)
    }
}

/// The number that a parameter is.
pub(crate) fn number(params: &[NamedValue], at: usize) -> u64 {
    match params.get(at).map(|param| &param.value) {
        Some(DataValue::Int(number)) => *number,
        _ => 0,
    }
}

/// A static field that tests set.
#[derive(Clone, Debug)]
pub struct JavaField {
    /// The class, as source names it.
    pub class: String,
    /// The field's own name.
    pub field: String,
    /// Whether tests have to go through reflection.
    pub private: bool,
}

impl JavaTarget {
    /// A target without any test yet.
    pub fn new(
        class_path: Vec<PathBuf>,
        helper: PathBuf,
        java: PathBuf,
        limits: ReplayLimits,
        keeping: Keeping,
    ) -> JavaTarget {
        JavaTarget {
            class_path,
            shim: helper.join("shim"),
            methods: BTreeMap::new(),
            fields: BTreeMap::new(),
            limits,
            jvm: Jvm::new(java, helper, keeping),
            written: Mutex::default(),
        }
    }
}
