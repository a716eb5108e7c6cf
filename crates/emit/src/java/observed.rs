//! What a test looks at after its call: getters and fields of objects, and which object the result is.

use crate::java::literal::literal;
use crate::java::names::Names;
use crate::java::target::{JavaLook, JavaObserved, JavaScenario};
use touchstone_criteria::{NamedValue, TestCase};
use touchstone_ir::{DataType, DataValue, Module};

/// What was seen.
pub(crate) struct Seen<'t> {
    module: &'t Module,
    scenario: &'t JavaScenario,
    seen: Vec<(&'t JavaObserved, &'t NamedValue)>,
}

impl<'t> Seen<'t> {
    pub fn new(module: &'t Module, scenario: &'t JavaScenario, test: &'t TestCase) -> Seen<'t> {
        let known = |value: &'t NamedValue| Some((scenario.observed.get(&value.name)?, value));
        Seen { module, scenario, seen: test.expected.globals.iter().filter_map(known).collect() }
    }

    /// Objects that are looked at.
    pub fn objects(&self) -> impl Iterator<Item = usize> + '_ {
        self.seen.iter().filter_map(|(observed, _)| observed.object)
    }

    /// What must hold of the objects afterwards. `made` says how an object is written.
    pub fn checks(&self, made: &dyn Fn(usize) -> Option<String>, delta: &str) -> Vec<String> {
        let line = |(observed, value): &(&JavaObserved, &NamedValue)| {
            let name = made(observed.object?).filter(|name| is_variable(name))?;
            self.member(&name, observed, value, delta)
        };
        let mut lines: Vec<String> = self.seen.iter().filter_map(line).collect();
        // An object may stand for several.
        let mut distinct = Vec::new();
        lines.retain(|line| {
            let is_new = !distinct.contains(line);
            distinct.push(line.clone());
            is_new
        });
        lines
    }

    fn member(&self, name: &str, observed: &JavaObserved, value: &NamedValue, delta: &str) -> Option<String> {
        let JavaLook::Member(member) = &observed.look else { return None };
        let data = &self.module.types[value.data];
        let text = literal(data, &value.value)?;
        Some(match data {
            DataType::Bool { .. } if text == "true" => format!("assertTrue({name}.{member});"),
            DataType::Bool { .. } => format!("assertFalse({name}.{member});"),
            DataType::Float { .. } => format!("assertEquals({text}, {name}.{member}{delta});"),
            _ => format!("assertEquals({text}, {name}.{member});"),
        })
    }

    /// The call with what its result must be, in a variable where that is needed; nothing if the result was not looked at.
    pub fn result(
        &self,
        (variable, call): (&str, &str),
        made: &dyn Fn(usize) -> Option<String>,
        names: &Names<'_>,
        delta: &str,
    ) -> Vec<String> {
        let of_result = || self.seen.iter().filter(|(observed, _)| observed.object.is_none());
        for (observed, value) in of_result() {
            let DataValue::Int(number) = value.value else { continue };
            match &observed.look {
                JavaLook::Same => {
                    if let Some(other) =
                        (number as usize).checked_sub(1).and_then(made).filter(|name| is_variable(name))
                    {
                        return vec![format!("assertSame({other}, {call});")];
                    }
                }
                JavaLook::Boxed(class) => {
                    if let Some(text) = literal(&self.module.types[value.data], &value.value) {
                        return vec![format!("assertEquals({}.valueOf({text}), {call});", names.short(class))];
                    }
                }
                JavaLook::Constant(constants) => {
                    if let Some(constant) = constants.get(number as usize) {
                        return vec![format!("assertSame({}, {call});", names.shortened(constant))];
                    }
                }
                JavaLook::Member(_) => {}
            }
        }
        let members: Vec<String> =
            of_result().filter_map(|(observed, value)| self.member(variable, observed, value, delta)).collect();
        match members.is_empty() {
            true => Vec::new(),
            false => {
                let ty = names.shortened(&self.scenario.result);
                std::iter::once(format!("{ty} {variable} = {call};")).chain(members).collect()
            }
        }
    }
}

fn is_variable(text: &str) -> bool {
    text != "null" && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
