//! Assertions of a test beyond the plain result of its call: results of the set-up, observers of objects, and returned
//! objects.

use crate::java::class_names::ShortClassNames;
use crate::java::literal::literal;
use crate::java::objects::{NewObjectKind, new_result};
use std::collections::BTreeMap;
use touchstone_criteria::{Observation, ObservationPoint, ObservedValue, ObserverArgument};
use touchstone_ir::{DataType, DataTypeId, DataValue, Module};

/// Writes the assertions of a test.
#[derive(Clone, Copy)]
pub(crate) struct AssertionWriter<'t> {
    pub module: &'t Module,
    pub names: &'t ShortClassNames<'t>,
    /// The parameters of the test as Java expressions.
    pub arguments: &'t [String],
    /// The last argument of assertions about floating-point numbers.
    pub delta: &'t str,
    pub noticed: &'t [Observation],
}

impl<'t> AssertionWriter<'t> {
    /// Returns the objects that need variables, because the test observes them or passes them again.
    pub fn objects(&self) -> Vec<usize> {
        let again = |again: &ObserverArgument| match again {
            ObserverArgument::Object(number) => Some(*number),
            ObserverArgument::Param(_) | ObserverArgument::Number(..) => None,
        };
        let named = |noticed: &Observation| match &noticed.at {
            ObservationPoint::After { object, arguments, .. } => {
                object.iter().copied().chain(arguments.iter().flatten().filter_map(again)).collect()
            }
            ObservationPoint::Before(_) | ObservationPoint::Result => Vec::new(),
        };
        self.noticed.iter().flat_map(named).collect()
    }

    /// Returns a call of the set-up, with an assertion about its result if that is known.
    pub fn before(&self, selector: usize, call: &str, made: &BTreeMap<usize, String>) -> String {
        let noticed = self.noticed.iter().find(|noticed| noticed.at == ObservationPoint::Before(selector));
        let line = noticed.and_then(|noticed| self.line(&noticed.seen, call, made));
        line.unwrap_or_else(|| format!("{call};"))
    }

    /// Returns the tested call, with assertions about a result that is neither a number nor a string and about the
    /// state of that result; empty if there are none.
    pub fn result(&self, (variable, ty): (&str, &str), call: &str, made: &BTreeMap<usize, String>) -> Vec<String> {
        let seen =
            self.noticed.iter().find(|noticed| noticed.at == ObservationPoint::Result).map(|noticed| &noticed.seen);
        if let Some(seen @ (ObservedValue::Same(_) | ObservedValue::Boxed(..) | ObservedValue::Constant(_))) = seen
            && let Some(line) = self.line(seen, call, made)
        {
            return vec![line];
        }
        let members = self.members(variable, None, made);
        match members.is_empty() {
            true => members,
            false => std::iter::once(format!("{ty} {variable} = {call};")).chain(members).collect(),
        }
    }

    /// Returns the assertions about the objects after the call.
    pub fn after(&self, made: &BTreeMap<usize, String>) -> Vec<String> {
        let mut lines = Vec::new();
        for noticed in self.noticed {
            if let ObservationPoint::After { object: Some(number), .. } = noticed.at
                && let Some(name) = made.get(&number).filter(|name| is_variable(name))
            {
                lines.extend(self.member(name, noticed, made));
            }
        }
        lines
    }

    fn members(&self, name: &str, wanted: Option<usize>, made: &BTreeMap<usize, String>) -> Vec<String> {
        let own = self
            .noticed
            .iter()
            .filter(|noticed| matches!(&noticed.at, ObservationPoint::After { object, .. } if *object == wanted));
        own.filter_map(|noticed| self.member(name, noticed, made)).collect()
    }

    fn member(&self, name: &str, noticed: &Observation, made: &BTreeMap<usize, String>) -> Option<String> {
        let ObservationPoint::After { member, arguments, .. } = &noticed.at else { return None };
        let call = match arguments {
            None => format!("{name}.{member}"),
            Some(arguments) => {
                let arguments: Option<Vec<String>> = arguments.iter().map(|again| self.again(again, made)).collect();
                format!("{name}.{member}({})", arguments?.join(", "))
            }
        };
        let line = self.line(&noticed.seen, &call, made);
        // A call may have side effects that later observers depend on, so it is kept without an assertion; a field
        // access is not a statement.
        line.or_else(|| arguments.is_some().then(|| format!("{call};")))
    }

    fn again(&self, again: &ObserverArgument, made: &BTreeMap<usize, String>) -> Option<String> {
        match again {
            ObserverArgument::Param(at) => self.arguments.get(*at).cloned(),
            ObserverArgument::Object(number) => made.get(number).cloned(),
            ObserverArgument::Number(data, value) => self.number(*data, value),
        }
    }

    fn number(&self, data: DataTypeId, value: &DataValue) -> Option<String> {
        literal(&self.module.types[data], value)
    }

    /// Returns the assertion about the result of a call, or `None` if the result has no notation.
    fn line(&self, seen: &ObservedValue, call: &str, made: &BTreeMap<usize, String>) -> Option<String> {
        let delta = self.delta;
        Some(match seen {
            ObservedValue::Value(data, value) => match (&self.module.types[*data], self.number(*data, value)?) {
                (DataType::Bool { .. }, text) if text == "true" => format!("assertTrue({call});"),
                (DataType::Bool { .. }, _) => format!("assertFalse({call});"),
                (DataType::Float { .. }, text) => format!("assertEquals({text}, {call}{delta});"),
                (_, text) => format!("assertEquals({text}, {call});"),
            },
            ObservedValue::Built(reached) => match new_result(self.module, reached)? {
                (text, NewObjectKind::String) => format!("assertEquals({text}, {call});"),
                (text, NewObjectKind::Array) => format!("assertArrayEquals({text}, {call});"),
                (text, NewObjectKind::Floats) => format!("assertArrayEquals({text}, {call}{delta});"),
            },
            ObservedValue::Given(at) => match self.arguments.get(*at)? {
                text if text.starts_with('"') => format!("assertEquals({text}, {call});"),
                name if is_variable(name) => format!("assertSame({name}, {call});"),
                _ => return None,
            },
            ObservedValue::Null => format!("assertNull({call});"),
            ObservedValue::Same(number) => {
                format!("assertSame({}, {call});", made.get(number).filter(|name| is_variable(name))?)
            }
            ObservedValue::Boxed(class, data, value) => {
                let text = self.number(*data, value)?;
                format!("assertEquals({}.valueOf({text}), {call});", self.names.short(class))
            }
            ObservedValue::Constant(constant) => format!("assertSame({}, {call});", self.names.shortened(constant)),
            ObservedValue::Object => return None,
        })
    }
}

fn is_variable(text: &str) -> bool {
    text != "null"
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
