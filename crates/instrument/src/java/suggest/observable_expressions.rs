//! Enumerates the expressions that a test could observe at its end, with their values and the state that they read.

use super::observer_evaluation::ObserverEvaluation;
use super::test_end_state::{SnapshotValue, TestEndSnapshot};
use crate::java::state::{TracedClass, TracedClasses};
use crate::state::StateLocation;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use touchstone_front_java::classfile::{Attribute, Code, Desc, LocalVariable, Member, MethodDesc, access};

/// The observed value of an expression.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ObservedResult {
    Value(SnapshotValue),
    /// All elements of an array, with their type.
    Elements(Desc, Vec<SnapshotValue>),
    /// The object that another expression also evaluates to.
    SameAs(String),
    /// Some object other than null.
    Something,
}

/// An expression that a test could observe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Observation {
    pub expression: String,
    /// The static type of the expression.
    pub desc: Desc,
    pub found: ObservedResult,
    /// The state that it reads.
    pub reads: BTreeSet<StateLocation>,
}

impl Observation {
    /// Orders observations; the smallest is the most specific one that depends on the least other state.
    pub fn rank(&self) -> (u8, usize, usize) {
        let kind = match &self.found {
            ObservedResult::Value(SnapshotValue::Null) | ObservedResult::SameAs(_) => 1,
            ObservedResult::Value(_) if self.desc == Desc::Boolean => 1,
            ObservedResult::Value(_) | ObservedResult::Elements(..) => 0,
            ObservedResult::Something => 2,
        };
        (kind, self.reads.len(), self.expression.len())
    }
}

/// The maximum number of member accesses from a variable.
const MAX_STEPS: usize = 3;
/// The maximum number of observations of a run.
const MAX_OBSERVATIONS: usize = 400;
/// The maximum length of an array that is compared as a whole.
const MAX_COMPARED_ELEMENTS: usize = 16;
/// The maximum number of elements of an array that are expanded.
const MAX_EXPANDED_ELEMENTS: usize = 4;
/// The maximum length of a string literal.
const MAX_STRING_BYTES: usize = 200;

/// The names of classes in a source file.
pub(super) trait ClassNames {
    /// Returns a class as the source can write it.
    fn written(&self, class: &str) -> String;
}

/// The end of a test with the names that are visible there.
pub(super) struct TestEndView<'v> {
    pub classes: &'v TracedClasses,
    pub end: &'v TestEndSnapshot,
    pub test: &'v TracedClass,
    pub method: &'v Member,
    pub names: &'v dyn ClassNames,
}

/// An expression that is still to be expanded.
struct Candidate {
    expression: String,
    desc: Desc,
    value: SnapshotValue,
    reads: BTreeSet<StateLocation>,
    depth: usize,
}

impl TestEndView<'_> {
    /// Enumerates the observations, breadth-first.
    pub fn observations(&self) -> Vec<Observation> {
        let mut waiting: VecDeque<Candidate> = self.variables_and_fields().into();
        let mut found: Vec<Observation> = Vec::new();
        let mut variables: BTreeMap<u32, String> = BTreeMap::new();
        let mut seen: BTreeSet<(u32, Desc)> = BTreeSet::new();
        while let Some(step) = waiting.pop_front() {
            if found.len() >= MAX_OBSERVATIONS {
                break;
            }
            let SnapshotValue::Object(object) = step.value else {
                if step.depth > 0 && readable(&step.value) {
                    let Candidate { expression, desc, value, reads, .. } = step;
                    found.push(Observation { expression, desc, found: ObservedResult::Value(value), reads });
                }
                continue;
            };
            if step.depth > 0 {
                let same = variables.get(&object).cloned();
                let what = same.map_or(ObservedResult::Something, ObservedResult::SameAs);
                let (expression, desc, reads) = (step.expression.clone(), step.desc.clone(), step.reads.clone());
                found.push(Observation { expression, desc, found: what, reads });
            } else {
                variables.entry(object).or_insert_with(|| step.expression.clone());
            }
            // An earlier expression of the same type reads the object by a shorter path.
            if step.depth < MAX_STEPS && seen.insert((object, step.desc.clone())) {
                self.expand(&step, object, &mut waiting, &mut found);
            }
        }
        found
    }

    /// Returns the variables, the test's own fields and the static fields.
    fn variables_and_fields(&self) -> Vec<Candidate> {
        let mut steps = Vec::new();
        let mut own = None;
        let Some(code) = self.method.code() else { return steps };
        let names: BTreeSet<&str> = variables(code).map(|variable| &*variable.name).collect();
        for (slot, object) in &self.end.slots {
            let Some(variable) = self.variable(code, *slot) else { continue };
            let Some(desc) = Desc::parse(&variable.desc) else { continue };
            if &*variable.name == "this" {
                own = Some(*object);
                continue;
            }
            let value = SnapshotValue::Object(*object);
            steps.push(Candidate {
                expression: variable.name.to_string(),
                desc,
                value,
                reads: BTreeSet::new(),
                depth: 0,
            });
        }
        for field in own.and_then(|own| self.end.objects.get(&own)).into_iter().flat_map(|object| &object.fields) {
            let declared = self.classes.named(&field.class).and_then(|class| class.field(&field.name).cloned());
            let is_seen = declared.is_some_and(|member| self.can_see(&field.class, member.access));
            let Some(desc) = Desc::parse(&field.desc).filter(|_| is_seen) else { continue };
            let is_hidden = names.contains(field.name.as_str());
            let expression = if is_hidden { format!("this.{}", field.name) } else { field.name.clone() };
            let (value, reads) = (field.value.clone(), BTreeSet::new());
            steps.push(Candidate { expression, desc, value, reads, depth: 0 });
        }
        for field in &self.end.statics {
            let Some(class) = self.classes.named(&field.class).filter(|class| self.can_name(class)) else { continue };
            let written = self.names.written(&field.class);
            if let Some(desc) = Desc::parse(&field.desc)
                && class.field(&field.name).is_some_and(|member| self.can_see(&field.class, member.access))
            {
                let reads =
                    BTreeSet::from([StateLocation::Static { class: field.class.clone(), name: field.name.clone() }]);
                let expression = format!("{written}.{}", field.name);
                steps.push(Candidate { expression, desc, value: field.value.clone(), reads, depth: 1 });
            }
        }
        let with_statics: BTreeSet<&str> = self.end.statics.iter().map(|field| field.class.as_str()).collect();
        for name in with_statics {
            let Some(class) = self.classes.named(name).filter(|class| self.can_name(class)) else { continue };
            for method in class.class.methods.iter().filter(|method| method.is(access::STATIC)) {
                let on = self.names.written(name);
                self.query(&on, class, method, None, (&BTreeSet::new(), 0), &mut steps);
            }
        }
        steps
    }

    fn variable<'c>(&self, code: &'c Code, slot: u16) -> Option<&'c LocalVariable> {
        let insns = touchstone_front_java::classfile::decode(&code.bytes, code.offset).ok()?;
        let at = insns.get(self.end.insn)?.at;
        variables(code).find(|row| {
            let start = usize::from(row.start);
            row.index == slot && start <= at && at < start + usize::from(row.length)
        })
    }

    fn expand(&self, step: &Candidate, object: u32, waiting: &mut VecDeque<Candidate>, found: &mut Vec<Observation>) {
        let (Some(seen), Desc::Ref(name)) = (self.end.objects.get(&object), &step.desc) else { return };
        if let Some(of) = name.strip_prefix('[') {
            let Some(of) = Desc::parse(of) else { return };
            let mut reads = step.reads.clone();
            reads.insert(StateLocation::Contents { object });
            if seen.size == Some(seen.elements.len()) && seen.elements.len() <= MAX_COMPARED_ELEMENTS {
                let is_plain = |value: &SnapshotValue| !matches!(value, SnapshotValue::Object(_)) && readable(value);
                let is_text = matches!(&of, Desc::Ref(name) if &**name == "java/lang/String");
                if (!of.is_ref() || is_text) && seen.elements.iter().all(is_plain) {
                    found.push(Observation {
                        expression: step.expression.clone(),
                        desc: step.desc.clone(),
                        found: ObservedResult::Elements(of.clone(), seen.elements.clone()),
                        reads: reads.clone(),
                    });
                }
            }
            for (index, value) in seen.elements.iter().take(MAX_EXPANDED_ELEMENTS).enumerate() {
                waiting.push_back(Candidate {
                    expression: format!("{}[{index}]", step.expression),
                    desc: of.clone(),
                    value: value.clone(),
                    reads: reads.clone(),
                    depth: step.depth + 1,
                });
            }
            return;
        }
        if let Some(size) = seen.size {
            self.container(step, object, size, found);
            return;
        }
        let mut steps = Vec::new();
        for class in self.classes.above(name) {
            if !self.can_name(class) && class.class.name != *name {
                continue;
            }
            for method in class.class.methods.iter().filter(|method| !method.is(access::STATIC)) {
                let (on, from) = (&step.expression, (&step.reads, step.depth));
                self.query(on, class, method, Some((object, &seen.class)), from, &mut steps);
            }
            for field in class.class.fields.iter().filter(|field| !field.is(access::STATIC)) {
                if !self.can_see(&class.class.name, field.access) || field.name.contains('$') {
                    continue;
                }
                let value =
                    seen.fields.iter().find(|seen| *seen.class == *class.class.name && *seen.name == *field.name);
                let (Some(value), Some(desc)) = (value, Desc::parse(&field.desc)) else { continue };
                let mut reads = step.reads.clone();
                let (class, name) = (value.class.clone(), value.name.clone());
                reads.insert(StateLocation::Field { object, class, name });
                let expression = format!("{}.{}", step.expression, field.name);
                steps.push(Candidate { expression, desc, value: value.value.clone(), reads, depth: step.depth + 1 });
            }
        }
        // Overriding methods come before those that they override.
        let mut known = BTreeSet::new();
        waiting.extend(steps.into_iter().filter(|step| known.insert(step.expression.clone())));
    }

    fn container(&self, step: &Candidate, object: u32, size: usize, found: &mut Vec<Observation>) {
        let Desc::Ref(name) = &step.desc else { return };
        // A variable of any other type may lack these methods.
        if !name.starts_with("java/util/") {
            return;
        }
        let mut reads = step.reads.clone();
        reads.insert(StateLocation::Contents { object });
        let shown = self.end.objects.get(&object).and_then(|seen| seen.shown.clone());
        if let Some(shown) = shown.filter(|shown| shown.len() <= MAX_STRING_BYTES) {
            found.push(Observation {
                expression: format!("{}.toString()", step.expression),
                desc: Desc::Ref("java/lang/String".into()),
                found: ObservedResult::Value(SnapshotValue::Text(shown)),
                reads,
            });
        } else {
            found.push(Observation {
                expression: format!("{}.size()", step.expression),
                desc: Desc::Int,
                found: ObservedResult::Value(SnapshotValue::Int(i32::try_from(size).unwrap_or(i32::MAX))),
                reads,
            });
        }
    }

    /// Adds the call of an observer, if it is accessible and its result can be computed.
    fn query(
        &self,
        on: &str,
        class: &TracedClass,
        method: &Member,
        object: Option<(u32, &str)>,
        (before, depth): (&BTreeSet<StateLocation>, usize),
        steps: &mut Vec<Candidate>,
    ) {
        const SYNTHETIC: u16 = 0x1000;
        let asks = MethodDesc::parse(&method.desc).filter(|desc| desc.params.is_empty() && desc.result != Desc::Void);
        let Some(MethodDesc { result: desc, .. }) = asks else { return };
        let is_meant = !matches!(&*method.name, "hashCode" | "clone") && !method.name.contains('$');
        if !is_meant
            || method.is(SYNTHETIC)
            || !method.exceptions().is_empty()
            || !self.can_see(&class.class.name, method.access)
        {
            return;
        }
        let mut evaluation = ObserverEvaluation::new(self.classes, self.end);
        let value = match object {
            None => evaluation.call(&class.class, &method.name, &method.desc, Vec::new(), 0),
            Some((object, runs)) => {
                let of = self.classes.with_method(runs, &method.name, &method.desc);
                let given = vec![SnapshotValue::Object(object)];
                of.and_then(|of| evaluation.call(&of.class, &method.name, &method.desc, given, 0))
            }
        };
        if let Some(value) = value.filter(|_| !evaluation.reads.is_empty()) {
            let reads = before.union(&evaluation.reads).cloned().collect();
            let expression = format!("{on}.{}()", method.name);
            steps.push(Candidate { expression, desc, value, reads, depth: depth + 1 });
        }
    }

    /// Returns true if the test can access a member of a class.
    fn can_see(&self, class: &str, flags: u16) -> bool {
        let test = &*self.test.class.name;
        let package = |name: &str| name.rsplit_once('/').map_or(String::new(), |(package, _)| package.to_string());
        if flags & access::PRIVATE != 0 {
            return outermost(class) == outermost(test);
        }
        flags & access::PUBLIC != 0 || package(class) == package(test)
    }

    /// Returns true if the test can access a class by its name.
    fn can_name(&self, class: &TracedClass) -> bool {
        let name = &class.class.name;
        if outermost(name) == outermost(&self.test.class.name) {
            return true;
        }
        let flags = class.class.nesting().map(|inner| inner.access);
        class.class.nesting().all(|inner| inner.name.is_some())
            && self.can_see(name, class.class.access & !access::PRIVATE)
            && flags.into_iter().all(|flags| self.can_see(name, flags))
    }
}

fn variables(code: &Code) -> impl Iterator<Item = &LocalVariable> {
    let tables = code.attributes.iter().filter_map(|attribute| match attribute {
        Attribute::LocalVariableTable(rows) => Some(rows),
        _ => None,
    });
    tables.flatten()
}

fn outermost(class: &str) -> &str {
    class.split('$').next().unwrap_or(class)
}

/// Returns true if a value has a readable literal and is likely to be the same in the next run.
fn readable(value: &SnapshotValue) -> bool {
    match value {
        // Excludes paths of temporary files and strings with identity hash codes.
        SnapshotValue::Text(text) => {
            let shows_identity = text.split('@').skip(1).any(|rest| {
                let digits = rest.chars().take_while(char::is_ascii_hexdigit).count();
                digits >= 6
            });
            text.len() <= MAX_STRING_BYTES && !text.contains("/tmp") && !shows_identity
        }
        // Excludes times in milliseconds, from 2001 to 2286.
        SnapshotValue::Long(value) => !(1_000_000_000_000..10_000_000_000_000).contains(value),
        _ => true,
    }
}
