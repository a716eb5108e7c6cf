//! What the tests of a suite changed, and what of it their assertions depend on.

use std::collections::BTreeMap;

/// What one test changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestStateCoverage {
    /// The test.
    pub test: String,
    /// What it changed, in the order of places.
    pub uses: Vec<ModifiedState>,
    /// Its trace was cut off: what is not checked may be.
    pub cut_off: bool,
    /// While it ran others worked of whom nobody knows for which test they did: what is not checked may be.
    pub beside: bool,
    /// It came to an assertion that is known.
    pub asserts: bool,
}

impl TestStateCoverage {
    /// Adds what another process did for the same test.
    pub(crate) fn merge(&mut self, uses: Vec<ModifiedState>, cut_off: bool, asserts: bool) {
        self.cut_off |= cut_off;
        self.asserts |= asserts;
        // A test may change very many objects.
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

/// What a piece of state is, as whoever looks at memory finds it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum StateLocation {
    /// That can't be told.
    Unknown,
    /// It depends on what was there before the test, so it may be something else each time.
    Inherited,
    /// A field of an object: the object, the class that declares the field, and its name.
    Field {
        /// The object.
        object: u32,
        /// The class.
        class: String,
        /// The field.
        name: String,
    },
    /// A static field.
    Static {
        /// The class.
        class: String,
        /// The field.
        name: String,
    },
    /// What updates of a trace left, by their numbers.
    Left(Vec<u32>),
    /// What is in an array or a container.
    Contents {
        /// It.
        object: u32,
    },
}

/// A piece of state that a test changed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ModifiedState {
    /// The unit that changed it last, as a position among the measured units.
    pub unit: usize,
    /// Its id.
    pub id: String,
    /// The function that changed it last.
    pub function: String,
    /// What it is.
    pub name: String,
    /// The object that it belongs to; empty if it can't be told.
    pub object: String,
    /// The same, as whoever looks at memory finds it.
    pub piece: StateLocation,
    /// The file of the last change, absolute.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Its column; 0 if it is not known.
    pub column: u32,
    /// An assertion of the test depends on it.
    pub checked: bool,
}

/// What could be looked at where a test ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedTestEnd {
    /// The test.
    pub test: String,
    /// The function that ended, as a position in the record.
    pub function: u32,
    /// Its unit.
    pub unit: usize,
    /// Expressions.
    pub seen: Vec<ObservedExpression>,
}

/// An expression that could be looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedExpression {
    /// It.
    pub text: String,
    /// What it stands for.
    pub form: touchstone_front_c::ValueForm,
    /// What it was, as memory has it.
    pub bytes: Vec<u8>,
    /// Updates that it shows, by number.
    pub updates: Vec<u32>,
}
