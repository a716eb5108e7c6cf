//! What one test did: what the memory of its program holds, and what its assertions depend on.

use super::container_contents::{ContainerContents, Contents};
use super::library_models::is_container;
use super::method_facts::{InsnOperand, MethodFacts};
use super::traced_classes::{FieldNumber, TracedClasses};
use crate::state::{Deps, Graph, ModifiedState, NONE, NodeId, StateLocation, StateRules, StateTarget};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// An object, as its identity hash code names it; 0 is null, or one that nobody told.
pub(super) type ObjectId = u32;

/// Where a reference was read from: a field of an object, and how many indices behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct FieldOrigin {
    pub object: ObjectId,
    pub field: FieldNumber,
    pub depth: u32,
}

/// A value of the stack or of a local.
#[derive(Clone, Debug, Default)]
pub(super) struct TracedValue {
    /// What it depends on.
    pub node: Cell<NodeId>,
    /// Which object it is, once that was told.
    pub object: Cell<ObjectId>,
    pub origin: Cell<Option<FieldOrigin>>,
    /// The run of a method that made the object.
    pub born: u64,
    /// What it is, if it is a constant of the code: containers may be asked for it.
    pub key: Option<ContainerKey>,
}

/// A constant that says which element of a container is meant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ContainerKey {
    Number(i32),
    /// In small letters: some containers don't tell others apart.
    Text(Rc<str>),
}

pub(super) type ValueRef = Rc<TracedValue>;

impl TracedValue {
    pub fn of(node: NodeId) -> ValueRef {
        Rc::new(TracedValue { node: Cell::new(node), ..TracedValue::default() })
    }

    /// A value that is a constant, if it is one.
    pub fn constant(node: NodeId, key: Option<ContainerKey>) -> ValueRef {
        Rc::new(TracedValue { node: Cell::new(node), key, ..TracedValue::default() })
    }

    /// The same value, depending on something else.
    pub fn with(&self, node: NodeId) -> ValueRef {
        Rc::new(TracedValue { node: Cell::new(node), ..self.clone() })
    }
}

/// What is changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum UpdatedLocation {
    Field(ObjectId, FieldNumber),
    Static(FieldNumber),
    /// An element of an array, or what is in a container; and the name of the variable that holds it, if there is one.
    Contents {
        object: ObjectId,
        variable: Option<String>,
        is_array: bool,
        is_own: bool,
    },
}

/// A change of state.
pub(super) struct HeapUpdate {
    pub method: Rc<MethodFacts>,
    pub insn: usize,
    pub changed: UpdatedLocation,
}

/// What one test did.
#[derive(Default)]
pub(super) struct TestExecution {
    /// The test; none before the first one begins.
    pub name: Option<String>,
    pub graph: Graph,
    updates: Vec<HeapUpdate>,
    pub fields: FxHashMap<(ObjectId, FieldNumber), NodeId>,
    pub statics: FxHashMap<FieldNumber, NodeId>,
    /// What is in arrays, and in objects whose methods are not followed.
    pub contents: ContainerContents,
    /// Which fields hold objects,
    pub holders: FxHashMap<ObjectId, FieldOrigin>,
    /// and the other way round: by object, or none for static ones, and field.
    pub held_objects: FxHashMap<(ObjectId, FieldNumber), ObjectId>,
    /// Conditions that could have changed a field of an object that such a field holds, of which nobody told yet which it is.
    pub unresolved_conditions: FxHashMap<(ObjectId, FieldNumber), Vec<(FieldNumber, NodeId)>>,
    /// Objects that the test made.
    pub made: FxHashSet<ObjectId>,
    /// What was there before the test and is not known.
    before: NodeId,
    /// What assertions depend on.
    pub asserted: Vec<NodeId>,
    /// Objects whose next call is an assertion.
    pub verified_mocks: BTreeSet<ObjectId>,
    /// Something was asserted.
    pub asserts: bool,
    /// Not all that it did was told.
    pub is_cut_off: bool,
    /// Somebody worked beside it who may have worked for it.
    pub has_unattributed_threads: bool,
}

impl TestExecution {
    /// Of a test that begins, with objects that were made for it.
    pub fn of(test: String, made: FxHashSet<ObjectId>) -> TestExecution {
        TestExecution { name: Some(test), made, ..TestExecution::default() }
    }

    /// What depends on all of these.
    pub fn all(&mut self, deps: Deps) -> NodeId {
        self.graph.node(deps, 0)
    }

    pub fn both(&mut self, one: NodeId, other: NodeId) -> NodeId {
        match (one, other) {
            (NONE, NONE) => NONE,
            _ => self.all(vec![one, other]),
        }
    }

    /// What was there before the test.
    pub fn before(&mut self) -> NodeId {
        if self.before == NONE {
            self.before = self.graph.source();
        }
        self.before
    }

    /// A change of state, if it is one.
    pub fn changed(&mut self, deps: Deps, update: Option<HeapUpdate>) -> NodeId {
        let number = update.map_or(0, |update| {
            self.updates.push(update);
            self.updates.len() as u32
        });
        self.graph.node(deps, number)
    }

    /// Something is asserted of what these nodes are.
    pub fn assert(&mut self, nodes: &[NodeId]) {
        self.asserts = true;
        self.asserted.extend(nodes.iter().filter(|node| **node != NONE));
    }

    /// Another look at a piece of memory, from behind a condition that could have changed it.
    pub fn under_condition(&mut self, old: NodeId, condition: NodeId) -> NodeId {
        if condition == NONE || old == condition || self.graph.deps(old).contains(&condition) {
            return old;
        }
        let update = self.graph.update(old);
        let node = self.graph.node(vec![old, condition], 0);
        if node != old && node != condition {
            self.graph.looks_at(node, update);
        }
        node
    }

    /// A field turned out to hold an object, and did so since it got it.
    pub fn resolve_reference(&mut self, held: (ObjectId, FieldNumber), object: ObjectId) {
        self.held_objects.insert(held, object);
        for (field, condition) in self.unresolved_conditions.remove(&held).unwrap_or_default() {
            let old = self.fields.get(&(object, field)).copied().unwrap_or(NONE);
            // What was written later does not depend on it.
            if old < condition {
                let seen = self.under_condition(old, condition);
                self.fields.insert((object, field), seen);
            }
        }
    }

    /// What was changed last, and whether an assertion depends on it.
    pub fn uses(
        &self,
        classes: &TracedClasses,
        rules: &StateRules,
        unit_of: &dyn Fn(u64) -> usize,
    ) -> Vec<ModifiedState> {
        let checked = self.graph.updates_behind(&self.asserted, 0..self.graph.next());
        let held = self.fields.values().chain(self.statics.values()).copied();
        let held = held.chain(self.contents.iter().flat_map(|(_, inside)| inside.nodes()));
        let last = held.map(|node| (self.graph.update(node), node)).filter(|(update, _)| *update != 0);
        let last: BTreeMap<u32, NodeId> = last.collect();
        let inherited = if self.before == NONE { Vec::new() } else { self.graph.behind(self.before) };
        // A field that holds what was changed inside is changed by that, not by having got it.
        let is_changed = |inside: &Contents| {
            self.graph.update(inside.content) != 0 || !inside.elements.is_empty() || !inside.entries.is_empty()
        };
        let inside: FxHashSet<(ObjectId, FieldNumber)> = (self.contents.iter())
            .filter(|(_, inside)| is_changed(inside))
            .filter_map(|(object, _)| self.holders.get(&object).map(|home| (home.object, home.field)))
            .collect();
        let mut named =
            LocationNaming { execution: self, classes, rules, numbers: BTreeMap::new(), counts: BTreeMap::new() };
        let mut uses: BTreeMap<(String, String, ObjectId), ModifiedState> = BTreeMap::new();
        for (number, node) in last {
            let update = &self.updates[number as usize - 1];
            let is_inside = match update.changed {
                UpdatedLocation::Field(object, field) => inside.contains(&(object, field)),
                UpdatedLocation::Static(field) => inside.contains(&(0, field)),
                UpdatedLocation::Contents { .. } => false,
            };
            if is_inside {
                continue;
            }
            let Some((name, object)) = named.piece(update) else { continue };
            let class = &update.method.class;
            let function = format!("{}.{}", class.class.name.replace('/', "."), shown(&update.method));
            let made = ModifiedState {
                unit: unit_of(class.unit),
                id: StateTarget::named(&function, &name).id,
                function: function.clone(),
                name: name.clone(),
                object: named.object(&object),
                piece: match inherited.get(node as usize).is_some_and(|inherited| *inherited) {
                    true => StateLocation::Inherited,
                    false => named.seen_as(update),
                },
                file: class.source.clone(),
                line: update.method.line(update.insn),
                column: 0,
                checked: checked.contains(&number),
            };
            let known = uses.entry((function, name, object.1)).or_insert_with(|| made.clone());
            *known = ModifiedState { checked: made.checked || known.checked, ..made };
        }
        let counts = named.counts;
        let mut uses: Vec<ModifiedState> = uses.into_values().collect();
        for used in &mut uses {
            // One object of a class needs no number.
            if let Some((class, "1")) = used.object.rsplit_once(' ')
                && counts.get(class) == Some(&1)
            {
                used.object = class.to_string();
            }
        }
        uses
    }
}

/// The name of a method as people write it.
fn shown(method: &MethodFacts) -> String {
    match &**method.name() {
        "<init>" => simple(&method.class.class.name),
        name => name.to_string(),
    }
}

/// The name of a class without its package.
fn simple(class: &str) -> String {
    let last = class.rsplit('/').next().unwrap_or(class);
    last.rsplit('$').find(|part| !part.is_empty()).unwrap_or(last).to_string()
}

struct LocationNaming<'a> {
    execution: &'a TestExecution,
    classes: &'a TracedClasses,
    rules: &'a StateRules,
    /// By class and object: its number.
    numbers: BTreeMap<(String, ObjectId), u32>,
    /// By class: objects so far.
    counts: BTreeMap<String, u32>,
}

impl LocationNaming<'_> {
    /// The name of a piece of state, and the class and the object that it belongs to; `None` if it counts for nothing.
    fn piece(&self, update: &HeapUpdate) -> Option<(String, (String, ObjectId))> {
        let field = |field: FieldNumber| {
            let field = &self.classes.fields[field as usize];
            (simple(&field.class), format!("{}.{}", simple(&field.class), field.name))
        };
        match &update.changed {
            UpdatedLocation::Field(object, number) => {
                let (class, name) = field(*number);
                Some((name, (class, *object)))
            }
            UpdatedLocation::Static(number) => Some((field(*number).1, (String::new(), 0))),
            UpdatedLocation::Contents { object, variable, is_array, is_own } => {
                let home = self.execution.holders.get(object);
                let home = home.filter(|home| self.classes.fields[home.field as usize].is_state);
                if let Some(home) = home {
                    let (class, name) = field(home.field);
                    let indices = "[]".repeat(home.depth as usize + usize::from(*is_array));
                    return Some((format!("{name}{indices}"), (class, home.object)));
                }
                // What a method of the program makes for itself is its own.
                if *is_own && !update.method.class.is_test {
                    return None;
                }
                let InsnOperand::Call(call) = &update.method.sites[update.insn] else {
                    let name = variable.as_deref().unwrap_or("array");
                    let is_of_program = !update.method.class.is_test;
                    return is_of_program.then(|| (format!("{name}[]"), (String::new(), *object)));
                };
                let name = variable.clone().unwrap_or_else(|| simple(&call.member.class));
                let counts = *is_array || is_container(&call.member, self.rules);
                counts.then(|| (name, (String::new(), *object)))
            }
        }
    }

    /// What it is, as whoever looks at memory finds it.
    fn seen_as(&self, update: &HeapUpdate) -> StateLocation {
        let field = |field: FieldNumber| {
            let field = &self.classes.fields[field as usize];
            (field.class.to_string(), field.name.to_string())
        };
        match &update.changed {
            UpdatedLocation::Field(object, number) => {
                let (class, name) = field(*number);
                StateLocation::Field { object: *object, class, name }
            }
            UpdatedLocation::Static(number) => {
                let (class, name) = field(*number);
                StateLocation::Static { class, name }
            }
            UpdatedLocation::Contents { object, .. } => {
                let home = self.execution.holders.get(object);
                let is_of_test = |home: &FieldOrigin| match home.object {
                    0 => self
                        .execution
                        .statics
                        .get(&home.field)
                        .is_some_and(|node| self.execution.graph.update(*node) != 0),
                    holder => self.execution.made.contains(&holder),
                };
                // What is in it may have been there before the test.
                if home.is_none_or(is_of_test) {
                    StateLocation::Contents { object: *object }
                } else {
                    StateLocation::Inherited
                }
            }
        }
    }

    fn object(&mut self, (class, object): &(String, ObjectId)) -> String {
        if class.is_empty() || *object == 0 {
            return String::new();
        }
        let counts = &mut self.counts;
        let number = self.numbers.entry((class.clone(), *object)).or_insert_with(|| {
            let count = counts.entry(class.clone()).or_default();
            *count += 1;
            *count
        });
        format!("{class} {number}")
    }
}
