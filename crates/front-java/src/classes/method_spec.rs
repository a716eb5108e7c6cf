//! What is said of methods without code, as data.

/// What is said of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodSpec {
    /// The method.
    pub method: SpecifiedMethod,
    /// The class that says it (`package/Class`).
    pub spec_class: String,
    /// Classes of what it may throw (`package/Class`), in the order of the methods that say when.
    pub throws: Vec<String>,
}

/// A method that something is said of.
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
    /// The type of its result.
    pub result: String,
}
