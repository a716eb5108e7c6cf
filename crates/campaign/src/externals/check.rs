//! Whether what is said of a function has a case for every call, and no two for one.
//!
//! The functions that say so (`never`, `twice`) stand beside the program and are explored as others are, for a short time.

use super::java::Spoken;
use super::{Said, World, WorldError};
use crate::request::Notice;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{Bound, Incomplete, Outcome, TestCase, TestKind};
use touchstone_engine::{Config, SearchEvent, Sink, explore};
use touchstone_front_c::helper_name;
use touchstone_ir::{DataType, DataValue, ErrorKind, FuncId, Module};

const TIME: Duration = Duration::from_secs(3);
const MOST_PATHS: u64 = 4096;
/// What stands for no answer: the expressions themselves go wrong.
const WRONG: u64 = 0;

impl World {
    /// Explores what was added to the program for it; what there was no time for.
    pub fn check(&self, module: &Module, java: Option<&Spoken>) -> Result<Vec<Notice>, WorldError> {
        let mut open = Vec::new();
        for (index, said) in self.said.iter().enumerate() {
            let mut decided = true;
            let mut explored = |what: &str| {
                let looked = first(module, entry(module, java, said, index, what)?, what == "twice");
                decided &= looked.1;
                looked.0
            };
            let (never, twice) = (explored("never"), explored("twice"));
            if let Some((found, WRONG)) = never.as_ref().or(twice.as_ref()) {
                let what = format!("what is said of `{}` goes wrong for {found}", said.function);
                let help = "look whether a pointer is null before it is followed: when p && *p > 0";
                return Err(said.wrong(&said.place_of(&said.cases[0]), what, help));
            }
            if let Some((found, _)) = never {
                let what = format!("there is no case for a call of `{}` with {found}", said.function);
                let help = "add one; `otherwise` is for all others";
                return Err(said.wrong(&said.place_of(&said.cases[0]), what, help));
            }
            if let Some((found, code)) = twice {
                let (one, other) = (code as usize / 1000, code as usize % 1000);
                return Err(overlap(said, one, other, &found));
            }
            if !decided {
                let place = format!("{}:{}", said.file.display(), said.line);
                open.push(Notice::NotChecked { place, function: said.function.clone() });
            }
        }
        Ok(open)
    }
}

/// What is called to check what is said.
fn entry(module: &Module, java: Option<&Spoken>, said: &Said, index: usize, what: &str) -> Option<FuncId> {
    match java {
        None => module.function_named(&helper_name(&said.function, what)),
        Some(java) => {
            let (_, class) = java.by.iter().find(|(at, _)| *at == index)?;
            java.checks.iter().find(|(by, method, _)| by == class && method == what).map(|(.., func)| *func)
        }
    }
}

fn overlap(said: &Said, one: usize, other: usize, found: &str) -> WorldError {
    let line = |case: usize| said.cases.get(case - 1).map_or(said.line, |case| case.line);
    let what = format!("two cases of `{}`, at lines {} and {}, are for {found}", said.function, line(one), line(other));
    let at = said.cases.get(other - 1).unwrap_or(&said.cases[0]);
    said.wrong(&said.place_of(at), what, "narrow one of both: what is written or thrown has to be clear")
}

/// The first inputs for which a function does not return 0, in words, and what it returns, [`WRONG`] where it goes wrong; and whether all
/// were looked at.
fn first(module: &Module, func: FuncId, results: bool) -> (Option<(String, u64)>, bool) {
    let config = Config { deadline: Deadline::within(Some(TIME)), max_paths: Some(MOST_PATHS), ..Config::default() };
    touchstone_base::on_deep_stack(|| {
        let mut found = Found { module, results, first: None };
        let explored = explore(module, func, &config, &mut found);
        let gives_up = |why: &Incomplete| {
            matches!(why, Incomplete::Bound(Bound::Timeout | Bound::MaxPaths) | Incomplete::Solver(_))
        };
        (found.first, !explored.incomplete.iter().any(|paths| gives_up(&paths.why)))
    })
}

struct Found<'m> {
    module: &'m Module,
    /// What is returned is told as well.
    results: bool,
    first: Option<(String, u64)>,
}

impl Sink for Found<'_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        let SearchEvent::Test(test) = event else { return };
        let code = match (&test.outcome, &test.expected.result) {
            (Outcome::Error { kind: ErrorKind::NullPointer | ErrorKind::DivisionByZero, .. }, _) => WRONG,
            (_, Some(DataValue::Int(code @ 1..))) => *code,
            _ => return,
        };
        if self.first.is_none() {
            self.first = Some((self.words(test), code));
        }
    }
}

impl Found<'_> {
    /// `fd = -1, count = 0`
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
        // What is returned is nothing that a call is made with.
        let called = |name: &str| self.results || name != "result";
        let words = params
            .iter()
            .filter(|param| called(&param.name))
            .map(|param| format!("{} = {}", param.name, value(&self.module.types[param.data], &param.value)));
        let words: Vec<String> = words.collect();
        if words.is_empty() { "nothing".to_string() } else { words.join(", ") }
    }
}
