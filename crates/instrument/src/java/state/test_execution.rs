//! The heap and the dependence graph of one test's execution.

use super::container_contents::{ContainerContents, Contents};
use super::function_objects::FunctionObject;
use super::method_facts::MethodFacts;
use super::traced_classes::{FieldNumber, TracedClasses};
use crate::state::{Deps, Graph, ModifiedState, NONE, NodeId, StateLocation, StateTarget};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_base::stable_hash;

/// An object, by its identity hash code. 0 is null or an unknown object.
pub(super) type ObjectId = u32;

/// The origin of a reference: a field of an object, and the number of array indices after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct FieldOrigin {
    pub object: ObjectId,
    pub field: FieldNumber,
    pub depth: u32,
}

/// A value on the operand stack or in a local variable.
#[derive(Clone, Debug, Default)]
pub(super) struct TracedValue {
    /// The node that it depends on.
    pub node: Cell<NodeId>,
    /// The object that it refers to, once an event has identified it.
    pub object: Cell<ObjectId>,
    pub origin: Cell<Option<FieldOrigin>>,
    /// The activation that allocated the object.
    pub born: u64,
    /// The value itself, if it is a constant of the code that may be the key of a container.
    pub key: Option<ContainerKey>,
    /// The function object that it refers to.
    pub function: Option<Rc<FunctionObject>>,
    /// The copy that it refers to, until an event identifies it.
    pub copied: Option<Rc<ObjectCopy>>,
}

/// The fields and elements of an object, as they were when it was cloned.
#[derive(Debug, Default)]
pub(super) struct ObjectCopy {
    pub fields: Vec<(FieldNumber, NodeId)>,
    pub content: NodeId,
    pub elements: Vec<(u32, NodeId)>,
    /// True if the test allocated the original.
    pub is_of_test: bool,
    pub is_identified: Cell<bool>,
}

/// A constant that selects an element of a container.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ContainerKey {
    Number(i32),
    /// A string, in lower case: some containers ignore case.
    Text(Rc<str>),
}

impl ContainerKey {
    /// Returns a digest of this key and of others before it.
    pub fn digest(&self, before: u64) -> u64 {
        match self {
            ContainerKey::Number(number) => stable_hash(&(before, number)),
            ContainerKey::Text(text) => stable_hash(&(before, &**text)),
        }
    }
}

pub(super) type ValueRef = Rc<TracedValue>;

impl TracedValue {
    pub fn of(node: NodeId) -> ValueRef {
        Rc::new(TracedValue { node: Cell::new(node), ..TracedValue::default() })
    }

    /// Returns a value that may be a constant.
    pub fn constant(node: NodeId, key: Option<ContainerKey>) -> ValueRef {
        Rc::new(TracedValue { node: Cell::new(node), key, ..TracedValue::default() })
    }

    /// Returns the same value with other dependences.
    pub fn with(&self, node: NodeId) -> ValueRef {
        Rc::new(TracedValue { node: Cell::new(node), ..self.clone() })
    }
}

/// The location of an update.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum UpdatedLocation {
    Field(ObjectId, FieldNumber),
    Static(FieldNumber),
    /// An element of an array, or the contents of a container; `variable` is the name of the variable that holds it.
    Contents {
        object: ObjectId,
        variable: Option<String>,
        kind: ContentsKind,
        is_own: bool,
    },
}

/// The kind of the object whose contents are updated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ContentsKind {
    Array,
    /// A container of this class.
    Container(Arc<str>),
    /// Another object of a library.
    Other,
}

/// An update of state.
pub(super) struct HeapUpdate {
    pub method: Rc<MethodFacts>,
    pub insn: usize,
    pub changed: UpdatedLocation,
}

/// Distinguishes the graphs of different tests.
pub(super) type GraphIdentity = Rc<()>;

/// The execution of one test.
#[derive(Default)]
pub(super) struct TestExecution {
    /// The name of the test, or `None` before the first test.
    pub name: Option<String>,
    pub graph: Graph,
    pub identity: GraphIdentity,
    pub updates: Vec<HeapUpdate>,
    pub fields: FxHashMap<(ObjectId, FieldNumber), NodeId>,
    pub statics: FxHashMap<FieldNumber, NodeId>,
    /// The contents of arrays and library objects.
    pub contents: ContainerContents,
    /// For each object, the field that holds it.
    pub holders: FxHashMap<ObjectId, FieldOrigin>,
    /// For each field of an object (0 for static fields), the object that it holds.
    pub held_objects: FxHashMap<(ObjectId, FieldNumber), ObjectId>,
    /// Conditions that may have prevented the update of a field, while the object that the outer field holds is still
    /// unknown.
    pub unresolved_conditions: FxHashMap<(ObjectId, FieldNumber), Vec<(FieldNumber, NodeId)>>,
    /// The objects that the test allocated.
    pub allocated: FxHashSet<ObjectId>,
    /// For each array or container, the activation that allocated it.
    pub allocators: FxHashMap<ObjectId, u64>,
    /// The node of the state from before the test, which is unknown.
    pub initial_state_node: NodeId,
    /// The nodes that assertions depend on directly: the slicing criterion.
    pub asserted: Vec<NodeId>,
    /// The mock objects whose next call is an assertion.
    pub verified_mocks: BTreeSet<ObjectId>,
    /// True if something was asserted.
    pub asserts: bool,
    /// True if events were dropped.
    pub is_cut_off: bool,
    /// True if threads that belong to no known test ran concurrently.
    pub has_unattributed_threads: bool,
    /// The number of repeated events that were interpreted.
    pub repeated_events: u64,
}

impl TestExecution {
    /// Returns the execution of a test that begins, with the objects that were allocated for it.
    pub fn of(test: String, allocated: FxHashSet<ObjectId>) -> TestExecution {
        TestExecution { name: Some(test), allocated, ..TestExecution::default() }
    }

    /// Returns a node that depends on all of `deps`.
    pub fn all(&mut self, deps: Deps) -> NodeId {
        self.graph.node(deps, 0)
    }

    pub fn both(&mut self, one: NodeId, other: NodeId) -> NodeId {
        match (one, other) {
            (NONE, NONE) => NONE,
            _ => self.all(vec![one, other]),
        }
    }

    /// Returns the node of the state from before the test.
    pub fn initial_state(&mut self) -> NodeId {
        if self.initial_state_node == NONE {
            self.initial_state_node = self.graph.source();
        }
        self.initial_state_node
    }

    /// Adds a node, which is an update of state if `update` is given.
    pub fn changed(&mut self, deps: Deps, update: Option<HeapUpdate>) -> NodeId {
        let number = update.map_or(0, |update| {
            self.updates.push(update);
            self.updates.len() as u32
        });
        self.graph.node(deps, number)
    }

    /// Lets the contents of an object depend on more than before, without a modification.
    pub fn influenced(&mut self, object: ObjectId, mut deps: Deps) {
        let old = self.contents.content(object);
        let update = self.graph.update(old);
        deps.push(old);
        let node = self.all(deps);
        if update != 0 && node != old {
            self.graph.looks_at(node, update);
        }
        self.contents.add_influence(object, node);
    }

    /// Copies the fields and elements of an object.
    pub fn copy_of(&mut self, object: ObjectId, fields: u32) -> ObjectCopy {
        let held = (0..fields).filter_map(|field| Some((field, *self.fields.get(&(object, field))?)));
        let held: Vec<(FieldNumber, NodeId)> = held.collect();
        // The copies depend on the updates and are none.
        let fields = held.into_iter().map(|(field, node)| (field, self.all(vec![node]))).collect();
        let (content, elements) = self.contents.array(object).unwrap_or_default();
        let elements = elements.into_iter().map(|(index, node)| (index, self.all(vec![node]))).collect();
        ObjectCopy {
            fields,
            content: self.all(vec![content]),
            elements,
            is_of_test: self.allocated.contains(&object),
            is_identified: Cell::new(false),
        }
    }

    /// Gives an object that an event has identified its fields and elements, if it is a copy.
    pub fn identify_copy(&mut self, value: &TracedValue, object: ObjectId) {
        let Some(copy) = value.copied.as_ref().filter(|copy| !copy.is_identified.replace(true)) else { return };
        self.fields.extend(copy.fields.iter().map(|(field, node)| ((object, *field), *node)));
        if copy.content != NONE || !copy.elements.is_empty() {
            self.contents.set_copied(object, copy.content, &copy.elements);
        }
        if copy.is_of_test {
            self.allocated.insert(object);
        }
    }

    /// Returns the node of a value that goes to a location where no event identifies it: a copy depends on all that it
    /// contains.
    pub fn whole(&mut self, value: &TracedValue) -> NodeId {
        match value.copied.as_ref().filter(|copy| !copy.is_identified.get()) {
            Some(copy) => {
                let parts =
                    copy.fields.iter().map(|(_, node)| *node).chain(copy.elements.iter().map(|(_, node)| *node));
                let all = parts.chain([copy.content, value.node.get()]).collect();
                self.all(all)
            }
            None => value.node.get(),
        }
    }

    /// Adds nodes to the slicing criterion.
    pub fn assert(&mut self, nodes: &[NodeId]) {
        self.asserts = true;
        self.asserted.extend(nodes.iter().filter(|node| **node != NONE));
    }

    /// Returns a node for the same update as `old` that also depends on a condition which could have prevented it.
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

    /// Records that a field holds an object, and has held it since its last assignment.
    pub fn resolve_reference(&mut self, held: (ObjectId, FieldNumber), object: ObjectId) {
        self.held_objects.insert(held, object);
        for (field, condition) in self.unresolved_conditions.remove(&held).unwrap_or_default() {
            let old = self.fields.get(&(object, field)).copied().unwrap_or(NONE);
            // Later assignments don't depend on the condition.
            if old < condition {
                let seen = self.under_condition(old, condition);
                self.fields.insert((object, field), seen);
            }
        }
    }

    /// Returns the state that the test modified last, and whether an assertion depends on it.
    pub fn uses(&self, classes: &TracedClasses, unit_of: &dyn Fn(u64) -> usize) -> Vec<ModifiedState> {
        let checked = self.graph.updates_behind(&self.asserted, 0..self.graph.next());
        let held = self.fields.values().chain(self.statics.values()).copied();
        let held = held.chain(self.contents.iter().flat_map(|(_, inside)| inside.nodes()));
        let last = held.map(|node| (self.graph.update(node), node)).filter(|(update, _)| *update != 0);
        let last: BTreeMap<u32, NodeId> = last.collect();
        let inherited =
            if self.initial_state_node == NONE { Vec::new() } else { self.graph.behind(self.initial_state_node) };
        // If the contents of a container were modified, the assignment of the field that holds it does not count.
        let is_changed = |inside: &Contents| {
            self.graph.update(inside.content) != 0 || !inside.elements.is_empty() || !inside.entries.is_empty()
        };
        let inside: FxHashSet<(ObjectId, FieldNumber)> = (self.contents.iter())
            .filter(|(_, inside)| is_changed(inside))
            .filter_map(|(object, _)| self.holders.get(&object).map(|home| (home.object, home.field)))
            .collect();
        let mut named = LocationNaming { execution: self, classes, numbers: BTreeMap::new(), counts: BTreeMap::new() };
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
            // A single object of a class needs no number.
            if let Some((class, "1")) = used.object.rsplit_once(' ')
                && counts.get(class) == Some(&1)
            {
                used.object = class.to_string();
            }
        }
        uses
    }
}

/// Returns the name of a method as in the source.
fn shown(method: &MethodFacts) -> String {
    match &**method.name() {
        "<init>" => simple(&method.class.class.name),
        name => name.to_string(),
    }
}

/// Returns the name of a class without its package and enclosing classes.
fn simple(class: &str) -> String {
    let last = class.rsplit('/').next().unwrap_or(class);
    last.rsplit('$').find(|part| !part.is_empty()).unwrap_or(last).to_string()
}

struct LocationNaming<'a> {
    execution: &'a TestExecution,
    classes: &'a TracedClasses,
    /// For each class and object, its number.
    numbers: BTreeMap<(String, ObjectId), u32>,
    /// For each class, the number of its objects so far.
    counts: BTreeMap<String, u32>,
}

impl LocationNaming<'_> {
    /// Returns the name of the updated state, and the class and the object that contain it; `None` if it does not
    /// count.
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
            UpdatedLocation::Contents { object, variable, kind, is_own } => {
                let home = self.execution.holders.get(object);
                let home = home.filter(|home| self.classes.fields[home.field as usize].is_state);
                if let Some(home) = home {
                    let (class, name) = field(home.field);
                    let indices = "[]".repeat(home.depth as usize + usize::from(*kind == ContentsKind::Array));
                    return Some((format!("{name}{indices}"), (class, home.object)));
                }
                // Contents that a method allocates for itself are no state, nor are those that only a test refers to.
                if *is_own || update.method.class.is_test {
                    return None;
                }
                let name = match kind {
                    ContentsKind::Array => format!("{}[]", variable.as_deref().unwrap_or("array")),
                    ContentsKind::Container(class) => variable.clone().unwrap_or_else(|| simple(class)),
                    ContentsKind::Other => return None,
                };
                Some((name, (String::new(), *object)))
            }
        }
    }

    /// Returns the location of an update.
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
                    holder => self.execution.allocated.contains(&holder),
                };
                // The contents may be from before the test.
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
