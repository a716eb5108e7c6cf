//! Specifications of methods without code, as data.

/// The user's specification of an abstract or native method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodSpec {
    /// The method.
    pub method: SpecifiedMethod,
    /// The class with the compiled specification (`package/Class`).
    pub spec_class: String,
    /// The classes of exceptions that it may throw (`package/Class`), in the order of the specification's `throws`
    /// methods.
    pub throws: Vec<String>,
}

/// A method that has a specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecifiedMethod {
    /// Its class (`package/Class`).
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub desc: String,
    /// The types of its parameters, as source writes them.
    pub params: Vec<String>,
    /// The type of its result, as source writes it.
    pub result: String,
}
