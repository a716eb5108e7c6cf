//! Checks that the cases of a specification are complete and disjoint.
//!
//! The helper functions for this (`never`, `twice`) are part of the program and are explored like others, for a short
//! time.

use super::java::JavaSpecs;
use super::specification::{FAILED_IN_JAVA, TOO_LARGE};
use super::{ExternalSpecs, FunctionSpec, SpecificationError};
use crate::request::Notice;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{Bound, Incomplete, Outcome, TestCase, TestKind};
use touchstone_engine::{Config, SearchEvent, Sink, explore};
use touchstone_front_c::helper_name;
use touchstone_ir::{DataType, DataValue, ErrorKind, FuncId, Module};

const CHECK_TIME: Duration = Duration::from_secs(1);
const MAX_PATHS: u64 = 4096;
/// The code for a failure of the expressions themselves.
const FAILED: u64 = 0;

impl ExternalSpecs {
    /// Explores the helpers of all specifications; returns a notice for each that could not be decided in time.
    pub fn check(&self, module: &Module, java: Option<&JavaSpecs>) -> Result<Vec<Notice>, SpecificationError> {
        let mut open = Vec::new();
        for (index, spec) in self.functions.iter().enumerate() {
            let mut decided = true;
            let mut explored = |what: &str| {
                let looked = first(module, entry(module, java, spec, index, what)?, what == "twice");
                decided &= looked.1;
                looked.0
            };
            let (never, twice) = (explored("never"), explored("twice"));
            if let Some((found, FAILED | FAILED_IN_JAVA)) = never.as_ref().or(twice.as_ref()) {
                let what = format!("the description of `{}` fails for {found}", spec.function);
                let help = "test a pointer before it is followed, and a divisor before a division: when p && *p > 0";
                return Err(spec.error_at(&spec.position_of(&spec.cases[0]), what, help));
            }
            if let Some((_, code)) = never.as_ref().filter(|(_, code)| *code >= TOO_LARGE) {
                let case = spec.cases.get((code - TOO_LARGE) as usize).unwrap_or(&spec.cases[0]);
                let what = format!("a value of this case of `{}` does not fit its type", spec.function);
                return Err(spec.error_at(&spec.position_of(case), what, "write a value that its type can hold"));
            }
            if let Some((found, _)) = never {
                let what = format!("there is no case for a call of `{}` with {found}", spec.function);
                let help = "add one; `otherwise` is for all others";
                return Err(spec.error_at(&spec.position_of(&spec.cases[0]), what, help));
            }
            if let Some((found, code)) = twice {
                let (one, other) = (code as usize / 1000, code as usize % 1000);
                return Err(overlap(spec, one, other, &found));
            }
            if !decided {
                let place = format!("{}:{}", spec.file.display(), spec.line);
                open.push(Notice::NotChecked { place, function: spec.function.clone() });
            }
        }
        Ok(open)
    }
}

/// Returns the helper function that performs a check.
fn entry(module: &Module, java: Option<&JavaSpecs>, spec: &FunctionSpec, index: usize, what: &str) -> Option<FuncId> {
    match java {
        None => module.function_named(&helper_name(&spec.function, what)),
        Some(java) => {
            let (_, class) = java.by.iter().find(|(at, _)| *at == index)?;
            java.checks.iter().find(|(by, method, _)| by == class && method == what).map(|(.., func)| *func)
        }
    }
}

fn overlap(spec: &FunctionSpec, one: usize, other: usize, found: &str) -> SpecificationError {
    let line = |case: usize| spec.cases.get(case - 1).map_or(spec.line, |case| case.line);
    let what = format!("two cases of `{}`, at lines {} and {}, are for {found}", spec.function, line(one), line(other));
    let at = spec.cases.get(other - 1).unwrap_or(&spec.cases[0]);
    spec.error_at(
        &spec.position_of(at),
        what,
        "narrow one of them: for each call, exactly one write or exception must apply",
    )
}

/// Returns a description of the first inputs for which a function does not return 0, with the returned value ([`WRONG`]
/// if it fails); and whether the exploration was complete.
fn first(module: &Module, func: FuncId, results: bool) -> (Option<(String, u64)>, bool) {
    let config =
        Config { deadline: Deadline::within(Some(CHECK_TIME)), max_paths: Some(MAX_PATHS), ..Config::default() };
    touchstone_base::on_deep_stack(|| {
        let mut found = Found { module, results, first: None };
        let explored = explore(module, func, &config, &mut found);
        let gives_up = |why: &Incomplete| {
            matches!(why, Incomplete::Bound(Bound::Budget | Bound::Timeout | Bound::MaxPaths) | Incomplete::Solver(_))
        };
        (found.first, !explored.incomplete.iter().any(|paths| gives_up(&paths.why)))
    })
}

struct Found<'m> {
    module: &'m Module,
    /// True if the description includes the result.
    results: bool,
    first: Option<(String, u64)>,
}

impl Sink for Found<'_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        let SearchEvent::Test(test) = event else { return };
        let code = match (&test.outcome, &test.expected.result) {
            (Outcome::Error { kind: ErrorKind::NullPointer | ErrorKind::DivisionByZero, .. }, _) => FAILED,
            (_, Some(DataValue::Int(code @ 1..))) => *code,
            _ => return,
        };
        if self.first.is_none() {
            self.first = Some((self.words(test), code));
        }
    }
}

impl Found<'_> {
    /// Describes the inputs of a test: `fd = -1, count = 0`.
    fn words(&self, test: &TestCase) -> String {
        let TestKind::Function { params, .. } = &test.kind else { return String::new() };
        let value = |data: &DataType, value: &DataValue| match (data, value) {
            (DataType::Int { bits, signed: true, .. }, DataValue::Int(number)) => {
                touchstone_ir::sign_extend(*number, *bits).to_string()
            }
            (_, DataValue::Int(number)) => number.to_string(),
            (_, DataValue::Pointer(touchstone_ir::PointerTarget::Null)) => "null".to_string(),
            (_, DataValue::Pointer(_)) => "an object".to_string(),
            _ => "…".to_string(),
        };
        // The result is not an argument of the call.
        let called = |name: &str| self.results || name != "result";
        let words = params
            .iter()
            .filter(|param| called(&param.name))
            .map(|param| format!("{} = {}", param.name, value(&self.module.types[param.data], &param.value)));
        let words: Vec<String> = words.collect();
        if words.is_empty() { "nothing".to_string() } else { words.join(", ") }
    }
}
