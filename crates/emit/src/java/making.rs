//! The objects of a test as Java source: constructors and calls, in variables where that is needed.

use crate::java::names::Names;
use crate::java::noticed::Checks;
use crate::java::objects::Objects;
use crate::java::target::{
    JavaAnswers, JavaCall, JavaForm, JavaMaking, JavaNaming, JavaObject, JavaScenario, JavaSeries, JavaWay, number,
};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::NamedValue;
use touchstone_ir::{DataValue, PointerTarget};

/// How an object may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum As {
    /// Any expression; boxes are those that the compiler makes.
    Plain,
    /// The same, but null has its type.
    Single,
    /// An expression of just its type.
    Exact,
    /// A variable.
    Variable,
}

/// Makes the objects of a test.
pub(crate) struct Making<'t> {
    names: &'t Names<'t>,
    params: &'t [NamedValue],
    arguments: &'t [String],
    objects: &'t Objects<'t>,
    /// Says which objects are inputs as they are.
    any: &'t JavaScenario,
    /// What calls that prepare objects return.
    checks: Checks<'t>,
    /// What makes them.
    pub lines: Vec<String>,
    /// Objects that have names: others are them, too, or tests look at them.
    pub shared: BTreeSet<usize>,
    /// Objects that were made: how they are written, by their numbers.
    pub made: BTreeMap<usize, String>,
}

impl<'t> Making<'t> {
    pub fn new(
        any: &'t JavaScenario,
        params: &'t [NamedValue],
        objects: &'t Objects<'t>,
        checks: Checks<'t>,
    ) -> Making<'t> {
        let (lines, made) = (Vec::new(), BTreeMap::new());
        let shared = checks.objects().into_iter().collect();
        Making { names: checks.names, params, arguments: checks.arguments, objects, any, checks, lines, shared, made }
    }

    /// Makes all, and gives the call that is tested.
    pub fn call(&mut self) -> String {
        let scenario = self.any;
        let tested = &scenario.tested;
        let Some(call) = tested.calls.get(tested.selector.map_or(0, |at| self.number(at))) else {
            return String::new();
        };
        for making in scenario.receiver.iter().chain(&call.outer).chain(&call.arguments) {
            self.note_shared(making);
        }
        let receiver = scenario.receiver.as_ref().map(|making| self.value(making, As::Variable));
        let written = match tested.naming {
            JavaNaming::Plain => As::Plain,
            JavaNaming::Overloaded => As::Exact,
        };
        let text = self.begun(call);
        let arguments = self.values(&call.arguments, written);
        match receiver {
            Some(receiver) => format!("{receiver}.{text}({arguments})"),
            None => format!("{text}({arguments})"),
        }
    }

    fn number(&self, at: usize) -> usize {
        number(self.params, at) as usize
    }

    fn way<'o>(&self, object: &'o JavaObject) -> Option<&'o JavaWay> {
        object.ways.get(self.number(object.selector))
    }

    /// The calls before an object is used, with what chooses them.
    fn calls<'o>(&self, object: &'o JavaObject) -> Vec<(usize, &'o JavaCall)> {
        let called = |(selector, calls): &'o (usize, Vec<JavaCall>)| {
            let call = self.number(*selector).checked_sub(1).and_then(|at| calls.get(at));
            call.map(|call| (*selector, call))
        };
        match self.way(object) {
            Some(JavaWay::Call(_) | JavaWay::Stub { .. }) => object.slots.iter().map_while(called).collect(),
            _ => Vec::new(),
        }
    }

    /// What fills an object before these.
    fn many<'o>(&self, object: &'o JavaObject) -> Option<&'o JavaSeries> {
        let many = object.many.as_ref().filter(|many| many.ways.contains(&self.number(object.selector)))?;
        self.number(many.selector).checked_sub(1).and_then(|at| many.all.get(at))
    }

    /// Notes which objects others are.
    fn note_shared(&mut self, making: &JavaMaking) {
        let JavaMaking::Object(object) = making else { return };
        let inside: Vec<&JavaMaking> = match self.way(object) {
            Some(JavaWay::Same(other)) => {
                self.shared.insert(*other);
                return;
            }
            Some(JavaWay::Call(call)) => call.outer.iter().chain(&call.arguments).collect(),
            Some(JavaWay::Array { elements, .. }) => elements.iter().collect(),
            Some(JavaWay::Filled { elements, .. }) => elements.iter().flatten().collect(),
            _ => Vec::new(),
        };
        let called = self.calls(object).into_iter().flat_map(|(_, call)| &call.arguments);
        inside.into_iter().chain(called).for_each(|making| self.note_shared(making));
    }

    fn values(&mut self, makings: &[JavaMaking], written: As) -> String {
        let all: Vec<String> = makings.iter().map(|making| self.value(making, written)).collect();
        all.join(", ")
    }

    fn value(&mut self, making: &JavaMaking, written: As) -> String {
        match making {
            JavaMaking::Given(at) => {
                let given = self.arguments.get(*at).cloned().unwrap_or_default();
                if written == As::Plain && given == "(String) null" { "null".to_string() } else { given }
            }
            JavaMaking::Object(object) => self.object(object, written),
        }
    }

    fn object(&mut self, object: &JavaObject, written: As) -> String {
        let ty = self.names.shortened(&object.ty);
        let null = format!("({ty}) null");
        if let Some(at) = self.any.any_heap(object, self.params) {
            let text = self.input(at, &ty).unwrap_or(if written == As::Plain { "null".to_string() } else { null });
            self.made.insert(object.number, text.clone());
            return text;
        }
        let Some(way) = self.way(object) else { return null };
        let is_stub = matches!(way, JavaWay::Stub { .. });
        let mut adding = Vec::new();
        let text = match way {
            JavaWay::Null if written == As::Plain && !ty.ends_with(']') => "null".to_string(),
            JavaWay::Null => null.clone(),
            JavaWay::Same(other) => self.made.get(other).cloned().unwrap_or_else(|| null.clone()),
            JavaWay::Given(at) => self.arguments.get(*at).cloned().unwrap_or_default(),
            JavaWay::Boxed(call) if matches!(written, As::Plain | As::Single) => {
                self.values(&call.arguments, As::Exact)
            }
            JavaWay::Call(call) | JavaWay::Boxed(call) => self.called(call),
            JavaWay::Constant(text) => self.names.shortened(text),
            JavaWay::Array { element, size, elements } => {
                let size = self.number(*size).min(elements.len());
                let values = self.values(&elements[..size], As::Plain);
                format!("new {}[] {{{values}}}", self.names.shortened(element))
            }
            JavaWay::Filled { create, adder, form, size, elements } => {
                let held = &elements[..self.number(*size).min(elements.len())];
                let given = self.values(&create.arguments, As::Plain);
                let create = self.names.shortened(&create.text);
                // A single null would be taken for the array of all elements.
                let inside = if held.len() == 1 && *form == JavaForm::Listed { As::Single } else { As::Plain };
                let values: Vec<String> = held.iter().map(|call| self.values(call, inside)).collect();
                match form {
                    _ if held.is_empty() => format!("{create}({given})"),
                    JavaForm::Listed => {
                        let list = self.names.shortened("java.util.Arrays.asList");
                        format!("{create}({list}({}))", values.join(", "))
                    }
                    JavaForm::Called => {
                        adding = values.into_iter().map(|value| format!("{adder}({value})")).collect();
                        format!("{create}({given})")
                    }
                }
            }
            JavaWay::Stub { create, methods, lambda } => self.stub(&ty, create.as_ref(), methods, *lambda),
        };
        let calls: Vec<(usize, JavaCall)> =
            self.calls(object).into_iter().map(|(selector, call)| (selector, call.clone())).collect();
        let is_made = !matches!(way, JavaWay::Null | JavaWay::Same(_));
        let many = self.many(object).filter(|series| series.after <= calls.len()).cloned();
        // A class below its type may be meant by another method of the same name.
        let is_other = written == As::Exact && matches!(way, JavaWay::Filled { .. });
        let needed =
            is_other || many.is_some() || !calls.is_empty() || !adding.is_empty() || is_stub || written == As::Variable;
        let shared = self.shared.contains(&object.number) && is_made;
        if !(needed || shared) || !is_made {
            self.made.insert(object.number, text.clone());
            return text;
        }
        let name = self.variable(&object.name);
        self.lines.push(format!("{ty} {name} = {text};"));
        self.made.insert(object.number, name.clone());
        for add in adding {
            self.lines.push(format!("{name}.{add};"));
        }
        for (at, (selector, call)) in calls.iter().enumerate() {
            self.series(&name, many.as_ref().filter(|series| series.after == at));
            let call = format!("{name}.{}", self.called(call));
            self.lines.push(self.checks.before(*selector, &call, &self.made));
        }
        self.series(&name, many.as_ref().filter(|series| series.after == calls.len()));
        name
    }

    /// A loop of calls, if there is one here.
    fn series(&mut self, name: &str, series: Option<&JavaSeries>) {
        let Some(JavaSeries { count, call, .. }) = series else { return };
        let number = self.variable("i");
        self.lines.push(format!("for (int {number} = 0; {number} < {count}; {number}++) {{"));
        self.lines.push(format!("    {name}.{};", with_number(call, &number)));
        self.lines.push("}".to_string());
    }

    /// The variable of an object that is a parameter.
    fn input(&self, at: usize, ty: &str) -> Option<String> {
        let DataValue::Pointer(PointerTarget::Object { object, .. }) = self.params.get(at)?.value else { return None };
        let name = self.objects.name(object)?;
        Some(if self.objects.type_of_variable(object) == ty { name.to_string() } else { format!("(({ty}) {name})") })
    }

    fn variable(&self, name: &str) -> String {
        let mut name = name.to_string();
        while self.objects.has(&name) || self.made.values().any(|other| *other == name) {
            name.push('_');
        }
        name
    }

    fn called(&mut self, call: &JavaCall) -> String {
        let text = self.begun(call);
        let arguments = self.values(&call.arguments, As::Exact);
        format!("{text}({arguments})")
    }

    /// What stands before the arguments of a call.
    fn begun(&mut self, call: &JavaCall) -> String {
        let text = self.names.shortened(&call.text);
        match &call.outer {
            Some(outer) => format!("{}.{text}", self.value(outer, As::Variable)),
            None => text,
        }
    }

    fn stub(&mut self, ty: &str, create: Option<&JavaCall>, methods: &[JavaAnswers], lambda: bool) -> String {
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
            let meddling = method.meddles.as_ref().and_then(|(selector, object, call)| {
                let call = format!("{}.{call};", self.made.get(object)?);
                match self.number(*selector) {
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
            // Checked ones have to be declared, and others may be.
            let exception = body.strip_prefix(" throw new ").and_then(|rest| rest.split('(').next());
            let body = meddling.map_or(body.clone(), |meddling| format!(" {meddling}{body}"));
            let throws = exception.map_or(String::new(), |class| format!(" throws {class}"));
            bodies.push(format!("public {result} {}({}){throws} {{{body} }}", method.name, typed.join(", ")));
        }
        counters.extend(waits.then(|| "before".to_string()));
        let counter: String = counters.iter().map(|counter| format!("private int {counter}; ")).collect();
        let arguments = create.map_or(String::new(), |call| self.values(&call.arguments.clone(), As::Exact));
        match bodies.is_empty() {
            true => format!("new {ty}({arguments}) {{ }}"),
            false => format!("new {ty}({arguments}) {{ {counter}{} }}", bodies.join(" ")),
        }
    }

    /// An answer of a stub: always the same object.
    fn answer(&mut self, making: &JavaMaking) -> String {
        match making {
            JavaMaking::Given(_) => self.value(making, As::Plain),
            JavaMaking::Object(object) => match self.way(object) {
                Some(JavaWay::Null | JavaWay::Constant(_) | JavaWay::Given(_)) => self.value(making, As::Plain),
                _ => self.value(making, As::Variable),
            },
        }
    }
}

/// A call with the number that is counted, by its name.
fn with_number(call: &str, number: &str) -> String {
    match call.split_once('(') {
        Some((method, arguments)) => format!("{method}({}", arguments.replace('i', number)),
        None => call.to_string(),
    }
}
