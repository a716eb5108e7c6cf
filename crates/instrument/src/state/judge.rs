//! What a suite's tests changed, and what of it their assertions depend on.

use super::flow::{Flow, TestRun, Update};
use super::record::{SiteKind, StateRecord};
use super::rules::StateRules;
use super::trace::Trace;
use std::collections::BTreeMap;

/// What one test changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestStates {
    /// The test.
    pub test: String,
    /// What it changed, in the order of places.
    pub uses: Vec<StateUse>,
    /// Its trace was cut off: what is not checked may be.
    pub cut_off: bool,
    /// While it ran others worked of whom nobody knows for which test they did: what is not checked may be.
    pub beside: bool,
    /// It came to an assertion that is known.
    pub asserts: bool,
}

impl TestStates {
    /// Adds what another process did for the same test.
    pub(crate) fn merge(&mut self, uses: Vec<StateUse>, cut_off: bool, asserts: bool) {
        self.cut_off |= cut_off;
        self.asserts |= asserts;
        // A test may change very many objects.
        let key = |used: &StateUse| (used.unit, used.id.clone(), used.object.clone());
        let known = self.uses.iter().enumerate().map(|(place, used)| (key(used), place));
        let mut known: BTreeMap<(usize, String, String), usize> = known.collect();
        for made in uses {
            match known.get(&key(&made)) {
                Some(place) => self.uses[*place].checked |= made.checked,
                None => {
                    known.insert(key(&made), self.uses.len());
                    self.uses.push(made);
                }
            }
        }
        self.uses.sort_by(|a, b| (&a.file, a.line, &a.name, &a.object).cmp(&(&b.file, b.line, &b.name, &b.object)));
    }
}

/// What a piece of state is, as whoever looks at memory finds it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Piece {
    /// That can't be told.
    Unknown,
    /// It depends on what was there before the test, so it may be something else each time.
    Inherited,
    /// A field of an object: the object, the class that declares the field, and its name.
    Field {
        /// The object.
        object: u32,
        /// The class.
        class: String,
        /// The field.
        name: String,
    },
    /// A static field.
    Static {
        /// The class.
        class: String,
        /// The field.
        name: String,
    },
    /// What updates of a trace left, by their numbers.
    Left(Vec<u32>),
    /// What is in an array or a container.
    Inside {
        /// It.
        object: u32,
    },
}

/// A piece of state that a test changed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StateUse {
    /// The unit that changed it last, as a position among the measured units.
    pub unit: usize,
    /// Its id.
    pub id: String,
    /// The function that changed it last.
    pub function: String,
    /// What it is.
    pub name: String,
    /// The object that it belongs to; empty if it can't be told.
    pub object: String,
    /// The same, as whoever looks at memory finds it.
    pub piece: Piece,
    /// The file of the last change, absolute.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Its column; 0 if it is not known.
    pub column: u32,
    /// An assertion of the test depends on it.
    pub checked: bool,
}

/// What could be looked at where a test ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestEnd {
    /// The test.
    pub test: String,
    /// The function that ended, as a position in the record.
    pub function: u32,
    /// Its unit.
    pub unit: usize,
    /// Expressions.
    pub seen: Vec<SeenExpression>,
}

/// An expression that could be looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenExpression {
    /// It.
    pub text: String,
    /// What it stands for.
    pub form: touchstone_front_c::Form,
    /// What it was, as memory has it.
    pub bytes: Vec<u8>,
    /// Updates that it shows, by number.
    pub updates: Vec<u32>,
}

/// What the traces of a suite say.
#[derive(Default)]
pub(crate) struct Judgement {
    pub tests: Vec<TestStates>,
    pub ends: Vec<TestEnd>,
    /// Units that no record explains.
    pub unexplained: u64,
}

/// Judges the traces of a suite. `units` are all units with their identities; `name` is what a process without a test's name
/// is called.
pub(crate) fn judge(
    units: &[(u64, &StateRecord)],
    traces: impl Iterator<Item = Trace>,
    rules: &StateRules,
    name: &dyn Fn(&Trace) -> String,
) -> Judgement {
    type Key = (usize, String, String, String);
    let mut found: BTreeMap<String, (BTreeMap<Key, StateUse>, bool, bool)> = BTreeMap::new();
    let (mut unexplained, mut ends) = (0, Vec::new());
    for trace in traces {
        let flow = Flow::new(units, rules, &trace);
        unexplained += flow.unexplained;
        for (index, run) in flow.tests.iter().enumerate() {
            let marked = flow.checked(run);
            let mut finals = run.finals.clone();
            finals.sort_unstable();
            finals.dedup();
            let test = run.name.clone().unwrap_or_else(|| name(&trace));
            let found_ends = run_ends(&flow, run, &test);
            let inherited = if found_ends.is_empty() { Default::default() } else { flow.inherited(run) };
            ends.extend(found_ends);
            let cut_off = trace.left_out > 0 && index + 1 == flow.tests.len();
            let (uses, known_cut, asserts) = found.entry(test).or_default();
            *known_cut |= cut_off;
            *asserts |= !run.roots.is_empty();
            for node in finals {
                let Some(update) = flow.update(node) else { continue };
                let number = flow.update_number(node);
                let Some(mut made) = described(&flow, update, marked.contains(&number)) else { continue };
                let key = (made.unit, made.function.clone(), made.name.clone(), made.object.clone());
                let known = uses.get(&key);
                made.checked |= known.is_some_and(|known| known.checked);
                made.piece = match known.map(|known| &known.piece) {
                    _ if inherited.contains(&number) || flow.adds_up(number, run) => Piece::Inherited,
                    Some(Piece::Inherited) => Piece::Inherited,
                    Some(Piece::Left(numbers)) => Piece::Left(numbers.iter().copied().chain([number]).collect()),
                    _ => Piece::Left(vec![number]),
                };
                uses.insert(key, made);
            }
        }
    }
    let tests = found.into_iter().map(|(test, (uses, cut_off, asserts))| {
        let mut uses: Vec<StateUse> = uses.into_values().collect();
        uses.sort_by(|a, b| (&a.file, a.line, &a.name, &a.object).cmp(&(&b.file, b.line, &b.name, &b.object)));
        TestStates { test, uses, cut_off, beside: false, asserts }
    });
    Judgement { tests: tests.collect(), ends, unexplained }
}

/// What a test said where its functions ended, function by function.
fn run_ends(flow: &Flow<'_>, run: &TestRun, test: &str) -> Vec<TestEnd> {
    let mut found: Vec<TestEnd> = Vec::new();
    for seen in &run.seen {
        let Some((_, site)) = flow.site(seen.site) else { continue };
        let SiteKind::Seen { text, form } = &site.kind else { continue };
        let (unit, function) = ((seen.site >> 32) as usize, site.function);
        let expression = SeenExpression {
            text: text.clone(),
            form: form.clone(),
            bytes: seen.bytes.clone(),
            updates: seen.updates.clone(),
        };
        match found.iter_mut().find(|end| (end.unit, end.function) == (unit, function)) {
            Some(end) => end.seen.push(expression),
            None => found.push(TestEnd { test: test.to_string(), function, unit, seen: vec![expression] }),
        }
    }
    found
}

fn described(flow: &Flow<'_>, update: &Update, checked: bool) -> Option<StateUse> {
    let (record, site) = flow.site(update.site)?;
    let target = record.targets.get(update.target.1 as usize)?;
    Some(StateUse {
        unit: update.target.0 as usize,
        id: target.id.clone(),
        function: target.function.clone(),
        name: target.name.clone(),
        object: flow.objects.get(update.object as usize).map_or(String::new(), |object| object.name.clone()),
        piece: Piece::Unknown,
        file: record.files.get(site.file as usize).cloned().unwrap_or_default(),
        line: site.line,
        column: site.column,
        checked,
    })
}
