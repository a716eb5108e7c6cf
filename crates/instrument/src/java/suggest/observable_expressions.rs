//! What a test could look at where it ends: expressions that can be written there, the values that they had, and the state that they
//! depend on.

use super::observer_evaluation::Evaluation;
use super::test_end_state::{End, Seen};
use crate::java::state::{Classes, FollowedClass};
use crate::state::Piece;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use touchstone_front_java::classfile::{Attribute, Code, Desc, LocalVariable, Member, MethodDesc, access};

/// What an expression had for a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Found {
    Value(Seen),
    /// All elements of an array, with their type.
    Elements(Desc, Vec<Seen>),
    /// An object that another expression leads to as well.
    SameAs(String),
    /// Some object.
    Something,
}

/// Something that a test could look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reading {
    pub expression: String,
    /// The type that the compiler gives it.
    pub desc: Desc,
    pub found: Found,
    /// The state that it depends on.
    pub reads: BTreeSet<Piece>,
}

impl Reading {
    /// The less, the better it checks something: what says much, and depends on little else.
    pub fn rank(&self) -> (u8, usize, usize) {
        let kind = match &self.found {
            Found::Value(Seen::Null) | Found::SameAs(_) => 1,
            Found::Value(_) if self.desc == Desc::Boolean => 1,
            Found::Value(_) | Found::Elements(..) => 0,
            Found::Something => 2,
        };
        (kind, self.reads.len(), self.expression.len())
    }
}

/// Steps from a variable to what is looked at.
const MOST_STEPS: usize = 3;
/// So many expressions are looked at.
const MOST_READINGS: usize = 400;
/// Arrays with so many elements are compared as a whole.
const MOST_ELEMENTS: usize = 16;
/// Elements of arrays that are looked into.
const MOST_LOOKED_INTO: usize = 4;
/// A text that people still like to read.
const LONGEST_TEXT: usize = 200;

/// What classes a source sees by their simple names.
pub(super) trait Names {
    /// A class as the source writes it.
    fn written(&self, class: &str) -> String;
}

/// The end of a test, and what can be written there.
pub(super) struct View<'v> {
    pub classes: &'v Classes,
    pub end: &'v End,
    pub test: &'v FollowedClass,
    pub method: &'v Member,
    pub names: &'v dyn Names,
}

/// An expression that waits to be looked into.
struct Step {
    expression: String,
    desc: Desc,
    value: Seen,
    reads: BTreeSet<Piece>,
    depth: usize,
}

impl View<'_> {
    /// All that can be looked at.
    pub fn readings(&self) -> Vec<Reading> {
        let mut waiting: VecDeque<Step> = self.roots().into();
        let mut found: Vec<Reading> = Vec::new();
        let mut variables: BTreeMap<u32, String> = BTreeMap::new();
        let mut seen: BTreeSet<(u32, Desc)> = BTreeSet::new();
        while let Some(step) = waiting.pop_front() {
            if found.len() >= MOST_READINGS {
                break;
            }
            let Seen::Object(object) = step.value else {
                if step.depth > 0 && readable(&step.value) {
                    let Step { expression, desc, value, reads, .. } = step;
                    found.push(Reading { expression, desc, found: Found::Value(value), reads });
                }
                continue;
            };
            if step.depth > 0 {
                let same = variables.get(&object).cloned();
                let what = same.map_or(Found::Something, Found::SameAs);
                let (expression, desc, reads) = (step.expression.clone(), step.desc.clone(), step.reads.clone());
                found.push(Reading { expression, desc, found: what, reads });
            } else {
                variables.entry(object).or_insert_with(|| step.expression.clone());
            }
            // What was looked into as the same type before was so by a shorter way.
            if step.depth < MOST_STEPS && seen.insert((object, step.desc.clone())) {
                self.look_into(&step, object, &mut waiting, &mut found);
            }
        }
        found
    }

    /// Variables, the test's own fields, and static fields.
    fn roots(&self) -> Vec<Step> {
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
            let value = Seen::Object(*object);
            steps.push(Step { expression: variable.name.to_string(), desc, value, reads: BTreeSet::new(), depth: 0 });
        }
        for field in own.and_then(|own| self.end.objects.get(&own)).into_iter().flat_map(|object| &object.fields) {
            let declared = self.classes.named(&field.class).and_then(|class| class.field(&field.name).cloned());
            let is_seen = declared.is_some_and(|member| self.can_see(&field.class, member.access));
            let Some(desc) = Desc::parse(&field.desc).filter(|_| is_seen) else { continue };
            let is_hidden = names.contains(field.name.as_str());
            let expression = if is_hidden { format!("this.{}", field.name) } else { field.name.clone() };
            let (value, reads) = (field.value.clone(), BTreeSet::new());
            steps.push(Step { expression, desc, value, reads, depth: 0 });
        }
        for field in &self.end.statics {
            let Some(class) = self.classes.named(&field.class).filter(|class| self.can_name(class)) else { continue };
            let written = self.names.written(&field.class);
            if let Some(desc) = Desc::parse(&field.desc)
                && class.field(&field.name).is_some_and(|member| self.can_see(&field.class, member.access))
            {
                let reads = BTreeSet::from([Piece::Static { class: field.class.clone(), name: field.name.clone() }]);
                let expression = format!("{written}.{}", field.name);
                steps.push(Step { expression, desc, value: field.value.clone(), reads, depth: 1 });
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

    fn look_into(&self, step: &Step, object: u32, waiting: &mut VecDeque<Step>, found: &mut Vec<Reading>) {
        let (Some(seen), Desc::Ref(name)) = (self.end.objects.get(&object), &step.desc) else { return };
        if let Some(of) = name.strip_prefix('[') {
            let Some(of) = Desc::parse(of) else { return };
            let mut reads = step.reads.clone();
            reads.insert(Piece::Inside { object });
            if seen.size == Some(seen.elements.len()) && seen.elements.len() <= MOST_ELEMENTS {
                let is_plain = |value: &Seen| !matches!(value, Seen::Object(_)) && readable(value);
                let is_text = matches!(&of, Desc::Ref(name) if &**name == "java/lang/String");
                if (!of.is_ref() || is_text) && seen.elements.iter().all(is_plain) {
                    found.push(Reading {
                        expression: step.expression.clone(),
                        desc: step.desc.clone(),
                        found: Found::Elements(of.clone(), seen.elements.clone()),
                        reads: reads.clone(),
                    });
                }
            }
            for (index, value) in seen.elements.iter().take(MOST_LOOKED_INTO).enumerate() {
                waiting.push_back(Step {
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
                reads.insert(Piece::Field { object, class, name });
                let expression = format!("{}.{}", step.expression, field.name);
                steps.push(Step { expression, desc, value: value.value.clone(), reads, depth: step.depth + 1 });
            }
        }
        // An overriding method stands before what it overrides.
        let mut known = BTreeSet::new();
        waiting.extend(steps.into_iter().filter(|step| known.insert(step.expression.clone())));
    }

    fn container(&self, step: &Step, object: u32, size: usize, found: &mut Vec<Reading>) {
        let Desc::Ref(name) = &step.desc else { return };
        // A variable of any other type may not have these methods.
        if !name.starts_with("java/util/") {
            return;
        }
        let mut reads = step.reads.clone();
        reads.insert(Piece::Inside { object });
        let shown = self.end.objects.get(&object).and_then(|seen| seen.shown.clone());
        if let Some(shown) = shown.filter(|shown| shown.len() <= LONGEST_TEXT) {
            found.push(Reading {
                expression: format!("{}.toString()", step.expression),
                desc: Desc::Ref("java/lang/String".into()),
                found: Found::Value(Seen::Text(shown)),
                reads,
            });
        } else {
            found.push(Reading {
                expression: format!("{}.size()", step.expression),
                desc: Desc::Int,
                found: Found::Value(Seen::Int(i32::try_from(size).unwrap_or(i32::MAX))),
                reads,
            });
        }
    }

    /// A method that asks something, if it can be called and it can be said what it gives.
    fn query(
        &self,
        on: &str,
        class: &FollowedClass,
        method: &Member,
        object: Option<(u32, &str)>,
        (before, depth): (&BTreeSet<Piece>, usize),
        steps: &mut Vec<Step>,
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
        let mut evaluation = Evaluation::new(self.classes, self.end);
        let value = match object {
            None => evaluation.call(&class.class, &method.name, &method.desc, Vec::new(), 0),
            Some((object, runs)) => {
                let of = self.classes.with_method(runs, &method.name, &method.desc);
                let given = vec![Seen::Object(object)];
                of.and_then(|of| evaluation.call(&of.class, &method.name, &method.desc, given, 0))
            }
        };
        if let Some(value) = value.filter(|_| !evaluation.reads.is_empty()) {
            let reads = before.union(&evaluation.reads).cloned().collect();
            let expression = format!("{on}.{}()", method.name);
            steps.push(Step { expression, desc, value, reads, depth: depth + 1 });
        }
    }

    /// Whether the test can write a member of a class.
    fn can_see(&self, class: &str, flags: u16) -> bool {
        let test = &*self.test.class.name;
        let package = |name: &str| name.rsplit_once('/').map_or(String::new(), |(package, _)| package.to_string());
        if flags & access::PRIVATE != 0 {
            return outermost(class) == outermost(test);
        }
        flags & access::PUBLIC != 0 || package(class) == package(test)
    }

    /// Whether the test can write the name of a class.
    fn can_name(&self, class: &FollowedClass) -> bool {
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

/// Whether a value can be written as people write it, and is the same next time.
fn readable(value: &Seen) -> bool {
    match value {
        // Paths of temporary files, and objects that show their identity.
        Seen::Text(text) => {
            let shows_identity = text.split('@').skip(1).any(|rest| {
                let digits = rest.chars().take_while(char::is_ascii_hexdigit).count();
                digits >= 6
            });
            text.len() <= LONGEST_TEXT && !text.contains("/tmp") && !shows_identity
        }
        // Moments, in milliseconds: from 2001 to 2286.
        Seen::Long(value) => !(1_000_000_000_000..10_000_000_000_000).contains(value),
        _ => true,
    }
}
