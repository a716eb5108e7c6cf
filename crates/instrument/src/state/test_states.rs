//! The results of state coverage: the state that each test modified, and whether its assertions depend on it.

use std::collections::BTreeMap;

/// The state that one test modified.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestStateCoverage {
    /// The name of the test.
    pub test: String,
    /// The modified state, in source order.
    pub uses: Vec<ModifiedState>,
    /// True if the trace is incomplete: state that seems unchecked may be checked.
    pub cut_off: bool,
    /// True if threads that belong to no known test ran during the test: state that seems unchecked may be checked.
    pub beside: bool,
    /// True if the test executed a known assertion.
    pub asserts: bool,
}

impl TestStateCoverage {
    /// Adds the results of another process that ran for the same test.
    pub(crate) fn merge(&mut self, uses: Vec<ModifiedState>, cut_off: bool, asserts: bool) {
        self.cut_off |= cut_off;
        self.asserts |= asserts;
        // An index, because a test may modify very many objects.
        let key = |used: &ModifiedState| (used.unit, used.id.clone(), used.object.clone());
        let known = self.uses.iter().enumerate().map(|(place, used)| (key(used), place));
        let mut known: BTreeMap<(usize, String, String), usize> = known.collect();
        for made in uses {
            match known.get(&key(&made)) {
                Some(place) => self.uses[*place].checked |= made.checked,
                None => {
                    known.insert(key(&made), self.uses.len());
                    self.uses.push(made);
                }
            }
        }
        self.uses.sort_by(|a, b| (&a.file, a.line, &a.name, &a.object).cmp(&(&b.file, b.line, &b.name, &b.object)));
    }
}

/// The location of a piece of state in the memory of the traced program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum StateLocation {
    /// An unknown location.
    Unknown,
    /// A location whose value depends on state from before the test, so that it may differ between runs.
    Inherited,
    /// A field of an object.
    Field {
        /// The identity of the object.
        object: u32,
        /// The class that declares the field.
        class: String,
        /// The name of the field.
        name: String,
    },
    /// A static field.
    Static {
        /// The class that declares the field.
        class: String,
        /// The name of the field.
        name: String,
    },
    /// C memory, identified by the numbers of the trace's last updates of it.
    Left(Vec<u32>),
    /// The contents of an array or a container.
    Contents {
        /// The identity of the array or container.
        object: u32,
    },
}

/// A piece of state that a test modified.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ModifiedState {
    /// The unit that modified it last, as an index into the measured units.
    pub unit: usize,
    /// The id of the objective.
    pub id: String,
    /// The function that modified it last.
    pub function: String,
    /// The name of the state, for example `q->count` or `Stack.size`.
    pub name: String,
    /// The object that contains it, or an empty string if it is unknown.
    pub object: String,
    /// Its location.
    pub piece: StateLocation,
    /// The file of the last modification, as an absolute path.
    pub file: String,
    /// The line of the last modification.
    pub line: u32,
    /// The column of the last modification, or 0 if it is unknown.
    pub column: u32,
    /// True if an assertion of the test depends on it.
    pub checked: bool,
}

/// The expressions that were observed at the end of a C test function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedTestEnd {
    /// The name of the test.
    pub test: String,
    /// The function that ended, as an index into the record's functions.
    pub function: u32,
    /// The unit of the function, as an index into the measured units.
    pub unit: usize,
    /// The observed expressions.
    pub seen: Vec<ObservedExpression>,
}

/// An expression that was observed at the end of a test function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedExpression {
    /// Its source text.
    pub text: String,
    /// The type of its value.
    pub form: touchstone_front_c::ValueForm,
    /// Its value as bytes of memory.
    pub bytes: Vec<u8>,
    /// The numbers of the updates that it reads.
    pub updates: Vec<u32>,
}
