//! Fixtures as Java source: constructors, factories and further calls, with variables where they are needed.

use crate::java::assertions::AssertionWriter;
use crate::java::class_names::ShortClassNames;
use crate::java::java_target::{any_heap, number};
use crate::java::objects::ObjectWriter;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::NamedValue;
use touchstone_fixture_java::{
    ApiCall, CallSlot, CollectionForm, Construction, FillLoop, Fixture, FixtureValue, ObjectPlan, Overloading,
    StubMethod,
};
use touchstone_ir::{DataValue, PointerTarget};

/// The admissible notations of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Notation {
    /// Any expression; the compiler may box and infer types.
    Plain,
    /// Any expression, but null has a cast.
    Single,
    /// An expression of exactly the declared type, as far as its construction tells.
    Exact,
    /// An expression with a cast to the declared type, unless it obviously has that type.
    Cast,
    /// A variable.
    Variable,
}

/// Writes the fixture of a test.
pub(crate) struct FixtureWriter<'t> {
    names: &'t ShortClassNames<'t>,
    params: &'t [NamedValue],
    arguments: &'t [String],
    objects: &'t ObjectWriter<'t>,
    /// The fixture, with its alternatives.
    fixture: &'t Fixture,
    /// Writes assertions about results of the set-up.
    checks: AssertionWriter<'t>,
    /// The lines of the set-up.
    pub lines: Vec<String>,
    /// The objects that need variables, because others alias them or the test observes them.
    pub shared: BTreeSet<usize>,
    /// The expressions of the objects written so far, by object number.
    pub expressions: BTreeMap<usize, String>,
    /// The declared types of variables.
    types: BTreeMap<String, String>,
}

impl<'t> FixtureWriter<'t> {
    pub fn new(
        fixture: &'t Fixture,
        params: &'t [NamedValue],
        objects: &'t ObjectWriter<'t>,
        checks: AssertionWriter<'t>,
    ) -> FixtureWriter<'t> {
        let (lines, expressions) = (Vec::new(), BTreeMap::new());
        let shared = checks.objects().into_iter().collect();
        FixtureWriter {
            names: checks.names,
            params,
            arguments: checks.arguments,
            objects,
            fixture,
            checks,
            lines,
            shared,
            expressions,
            types: BTreeMap::new(),
        }
    }

    /// Writes the set-up, and returns the tested call.
    pub fn call(&mut self) -> String {
        let fixture = self.fixture;
        let tested = &fixture.tested;
        let Some(call) = tested.calls.get(tested.selector.map_or(0, |at| self.number(at))) else {
            return String::new();
        };
        for value in fixture.receiver.iter().chain(&call.enclosing).chain(&call.arguments) {
            self.note_shared(value);
        }
        let receiver = fixture.receiver.as_ref().map(|value| self.value(value, Notation::Variable));
        let notation = match tested.overloading {
            Overloading::Unique => Notation::Plain,
            Overloading::Overloaded => Notation::Cast,
        };
        let text = self.callee_text(call);
        let arguments = self.values(&call.arguments, notation);
        match receiver {
            Some(receiver) => format!("{receiver}.{text}({arguments})"),
            None => format!("{text}({arguments})"),
        }
    }

    fn number(&self, at: usize) -> usize {
        number(self.params, at) as usize
    }

    fn construction<'o>(&self, object: &'o ObjectPlan) -> Option<&'o Construction> {
        object.constructions.get(self.number(object.selector))
    }

    /// Returns the chosen calls that modify an object before its use, with their selectors.
    fn calls<'o>(&self, object: &'o ObjectPlan) -> Vec<(usize, &'o ApiCall)> {
        let called = |slot: &'o CallSlot| {
            let call = self.number(slot.selector).checked_sub(1).and_then(|at| slot.calls.get(at));
            call.map(|call| (slot.selector, call))
        };
        match self.construction(object) {
            Some(Construction::New(_) | Construction::Factory(_) | Construction::Stub { .. }) => {
                object.slots.iter().map_while(called).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the chosen loop that fills the object.
    fn fill_loop<'o>(&self, object: &'o ObjectPlan) -> Option<&'o FillLoop> {
        let fill_loops = object
            .fill_loops
            .as_ref()
            .filter(|fill_loops| fill_loops.constructions.contains(&self.number(object.selector)))?;
        self.number(fill_loops.selector).checked_sub(1).and_then(|at| fill_loops.loops.get(at))
    }

    /// Records the objects that others alias.
    fn note_shared(&mut self, value: &FixtureValue) {
        let FixtureValue::Object(object) = value else { return };
        let inside: Vec<&FixtureValue> = match self.construction(object) {
            Some(Construction::Same(other)) => {
                self.shared.insert(*other);
                return;
            }
            Some(Construction::New(call) | Construction::Factory(call)) => {
                call.enclosing.iter().chain(&call.arguments).collect()
            }
            Some(Construction::Array { elements, .. }) => elements.iter().collect(),
            Some(Construction::Collection { elements, .. }) => elements.iter().flatten().collect(),
            _ => Vec::new(),
        };
        let called = self.calls(object).into_iter().flat_map(|(_, call)| &call.arguments);
        inside.into_iter().chain(called).for_each(|value| self.note_shared(value));
    }

    fn values(&mut self, values: &[FixtureValue], notation: Notation) -> String {
        let all: Vec<String> = values.iter().map(|value| self.value(value, notation)).collect();
        all.join(", ")
    }

    fn value(&mut self, value: &FixtureValue, notation: Notation) -> String {
        match value {
            FixtureValue::Parameter(at) => {
                let given = self.arguments.get(*at).cloned().unwrap_or_default();
                if notation == Notation::Plain && given == "(String) null" { "null".to_string() } else { given }
            }
            FixtureValue::Object(object) if notation == Notation::Cast => {
                let text = self.object(object, Notation::Exact);
                let ty = self.names.shortened(&object.ty);
                let typed = [format!("({ty}) "), format!("new {ty}("), format!("new {ty} "), format!("{ty}.")];
                let is_typed = typed.iter().any(|prefix| text.starts_with(prefix))
                    || ty == "String" && text.starts_with('"')
                    || self.types.get(&text) == Some(&ty);
                if is_typed { text } else { format!("({ty}) {text}") }
            }
            FixtureValue::Object(object) => self.object(object, notation),
        }
    }

    fn object(&mut self, object: &ObjectPlan, notation: Notation) -> String {
        let ty = self.names.shortened(&object.ty);
        let null = format!("({ty}) null");
        if let Some(at) = any_heap(self.fixture, object, self.params) {
            let text =
                self.input(at, &ty).unwrap_or(if notation == Notation::Plain { "null".to_string() } else { null });
            self.expressions.insert(object.number, text.clone());
            return text;
        }
        let Some(way) = self.construction(object) else { return null };
        let is_stub = matches!(way, Construction::Stub { .. });
        let mut adding = Vec::new();
        let text = match way {
            Construction::Null if notation == Notation::Plain && !ty.ends_with(']') => "null".to_string(),
            Construction::Null => null.clone(),
            Construction::Same(other) => self.expressions.get(other).cloned().unwrap_or_else(|| null.clone()),
            Construction::Parameter(at) => self.arguments.get(*at).cloned().unwrap_or_default(),
            Construction::Boxed(call) if matches!(notation, Notation::Plain | Notation::Single) => {
                self.values(&call.arguments, Notation::Exact)
            }
            Construction::New(call) | Construction::Factory(call) | Construction::Boxed(call) => self.called(call),
            Construction::Constant { text, .. } => self.names.shortened(text),
            Construction::Array { element, size, elements, .. } => {
                let size = self.number(*size).min(elements.len());
                let values = self.values(&elements[..size], Notation::Plain);
                format!("new {}[] {{{values}}}", self.names.shortened(element))
            }
            Construction::Collection { create, adder, form, size, elements, .. } => {
                let held = &elements[..self.number(*size).min(elements.len())];
                let given = self.values(&create.arguments, Notation::Plain);
                let create = self.names.shortened(&create.callee);
                // A single null would be passed as the whole array of elements.
                let inside = if held.len() == 1 && *form == CollectionForm::ElementList {
                    Notation::Single
                } else {
                    Notation::Plain
                };
                let values: Vec<String> = held.iter().map(|call| self.values(call, inside)).collect();
                match form {
                    _ if held.is_empty() => format!("{create}({given})"),
                    CollectionForm::ElementList => {
                        let list = self.names.shortened("java.util.Arrays.asList");
                        format!("{create}({list}({}))", values.join(", "))
                    }
                    CollectionForm::CallByCall => {
                        adding = values.into_iter().map(|value| format!("{adder}({value})")).collect();
                        format!("{create}({given})")
                    }
                }
            }
            Construction::Stub { create, methods, lambda, .. } => self.stub(&ty, create.as_ref(), methods, *lambda),
        };
        let calls: Vec<(usize, ApiCall)> =
            self.calls(object).into_iter().map(|(selector, call)| (selector, call.clone())).collect();
        let is_made = !matches!(way, Construction::Null | Construction::Same(_));
        let fill_loops =
            self.fill_loop(object).filter(|series| series.position.preceding_calls() <= calls.len()).cloned();
        // The static type of a collection may select another overload than its declared type.
        let is_other = notation == Notation::Exact && matches!(way, Construction::Collection { .. });
        let needed = is_other
            || fill_loops.is_some()
            || !calls.is_empty()
            || !adding.is_empty()
            || is_stub
            || notation == Notation::Variable;
        let shared = self.shared.contains(&object.number) && is_made;
        if !(needed || shared) || !is_made {
            self.expressions.insert(object.number, text.clone());
            return text;
        }
        let name = self.variable(&object.name);
        self.lines.push(format!("{ty} {name} = {text};"));
        self.types.insert(name.clone(), ty.clone());
        self.expressions.insert(object.number, name.clone());
        for add in adding {
            self.lines.push(format!("{name}.{add};"));
        }
        for (at, (selector, call)) in calls.iter().enumerate() {
            self.write_fill_loop(&name, fill_loops.as_ref().filter(|series| series.position.preceding_calls() == at));
            let call = format!("{name}.{}", self.called(call));
            self.lines.push(self.checks.before(*selector, &call, &self.expressions));
        }
        self.write_fill_loop(
            &name,
            fill_loops.as_ref().filter(|series| series.position.preceding_calls() == calls.len()),
        );
        name
    }

    /// Writes a loop of calls, if there is one.
    fn write_fill_loop(&mut self, name: &str, series: Option<&FillLoop>) {
        let Some(FillLoop { count, call, .. }) = series else { return };
        let number = self.variable("i");
        self.lines.push(format!("for (int {number} = 0; {number} < {count}; {number}++) {{"));
        self.lines.push(format!("    {name}.{};", with_number(call, &number)));
        self.lines.push("}".to_string());
    }

    /// Returns the variable of a parameter that is a symbolic heap.
    fn input(&self, at: usize, ty: &str) -> Option<String> {
        let DataValue::Pointer(PointerTarget::Object { object, .. }) = self.params.get(at)?.value else { return None };
        let name = self.objects.name(object)?;
        Some(if self.objects.type_of_variable(object) == ty { name.to_string() } else { format!("(({ty}) {name})") })
    }

    fn variable(&self, name: &str) -> String {
        let mut name = name.to_string();
        while self.objects.has(&name) || self.expressions.values().any(|other| *other == name) {
            name.push('_');
        }
        name
    }

    fn called(&mut self, call: &ApiCall) -> String {
        let text = self.callee_text(call);
        let arguments = self.values(&call.arguments, Notation::Exact);
        format!("{text}({arguments})")
    }

    /// Returns the text before the arguments of a call.
    fn callee_text(&mut self, call: &ApiCall) -> String {
        let text = self.names.shortened(&call.callee);
        match &call.enclosing {
            Some(outer) => format!("{}.{text}", self.value(outer, Notation::Variable)),
            None => text,
        }
    }

    fn stub(&mut self, ty: &str, create: Option<&ApiCall>, methods: &[StubMethod], lambda: bool) -> String {
        let mut bodies = Vec::new();
        let (mut counters, mut waits): (Vec<String>, bool) = (Vec::new(), false);
        for method in methods {
            let thrown = method.throws.as_ref().and_then(|throws| {
                let at = self.number(throws.selector).checked_sub(1)?;
                throws.exceptions.get(at)
            });
            let thrown = thrown.map(|exception| format!("throw {};", self.names.shortened(exception)));
            let wanted = if thrown.is_some() { &[] } else { &method.answers[..] };
            let answers: Vec<String> = wanted.iter().map(|answer| self.answer(answer)).collect();
            let params = (1..=method.params.len()).map(|number| format!("arg{number}")).collect::<Vec<_>>();
            let answer = match answers.as_slice() {
                [] => None,
                [first, rest @ ..] if rest.iter().all(|other| other == first) => Some(first.clone()),
                [first, rest @ ..] => {
                    let number = if counters.is_empty() { String::new() } else { (counters.len() + 1).to_string() };
                    counters.push(format!("calls{number}"));
                    Some(format!("calls{number}++ == 0 ? {first} : {}", rest.join(", ")))
                }
            };
            let meddling = method.mutation.as_ref().and_then(|mutation| {
                let call = format!("{}.{};", self.expressions.get(&mutation.object)?, mutation.call);
                match self.number(mutation.selector) {
                    1 => Some(call),
                    2 => {
                        waits = true;
                        Some(format!("if (before++ > 0) {{ {call} }}"))
                    }
                    _ => None,
                }
            });
            if lambda && counters.is_empty() && !waits {
                let params = if params.len() == 1 { params.join("") } else { format!("({})", params.join(", ")) };
                let instead = || thrown.as_ref().map_or("{ }".to_string(), |thrown| format!("{{ {thrown} }}"));
                return match (meddling, answer) {
                    (None, answer) => format!("{params} -> {}", answer.unwrap_or_else(instead)),
                    (Some(meddling), Some(answer)) => format!("{params} -> {{ {meddling} return {answer}; }}"),
                    (Some(meddling), None) => {
                        let thrown = thrown.as_ref().map_or(String::new(), |thrown| format!(" {thrown}"));
                        format!("{params} -> {{ {meddling}{thrown} }}")
                    }
                };
            }
            let typed = method.params.iter().zip(&params);
            let typed: Vec<String> = typed.map(|(ty, name)| format!("{} {name}", self.names.shortened(ty))).collect();
            let instead = thrown.map_or(String::new(), |thrown| format!(" {thrown}"));
            let body = answer.map_or(instead, |answer| format!(" return {answer};"));
            let result = self.names.shortened(&method.result);
            // Checked exceptions must be declared; others may be.
            let exception = body.strip_prefix(" throw new ").and_then(|rest| rest.split('(').next());
            let body = meddling.map_or(body.clone(), |meddling| format!(" {meddling}{body}"));
            let throws = exception.map_or(String::new(), |class| format!(" throws {class}"));
            bodies.push(format!("public {result} {}({}){throws} {{{body} }}", method.name, typed.join(", ")));
        }
        counters.extend(waits.then(|| "before".to_string()));
        let counter: String = counters.iter().map(|counter| format!("private int {counter}; ")).collect();
        let arguments = create.map_or(String::new(), |call| self.values(&call.arguments.clone(), Notation::Exact));
        match bodies.is_empty() {
            true => format!("new {ty}({arguments}) {{ }}"),
            false => format!("new {ty}({arguments}) {{ {counter}{} }}", bodies.join(" ")),
        }
    }

    /// Returns the result of a stub's method, which is the same object in every call.
    fn answer(&mut self, value: &FixtureValue) -> String {
        match value {
            FixtureValue::Parameter(_) => self.value(value, Notation::Plain),
            FixtureValue::Object(object) => match self.construction(object) {
                Some(Construction::Null | Construction::Constant { .. } | Construction::Parameter(_)) => {
                    self.value(value, Notation::Plain)
                }
                _ => self.value(value, Notation::Variable),
            },
        }
    }
}

/// Returns a call with the loop variable in its arguments.
fn with_number(call: &str, number: &str) -> String {
    match call.split_once('(') {
        Some((method, arguments)) => format!("{method}({}", arguments.replace('i', number)),
        None => call.to_string(),
    }
}
