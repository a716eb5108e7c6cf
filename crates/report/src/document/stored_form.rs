//! The stored form of a document: the JSON form with coverage lists, measured tests and state updates in separate
//! tables, where every name and every repeated list occurs once. In a suite of thousands of tests, every objective may
//! refer to hundreds of tests, each of which refers to the objective; similar tests cover and change the same.
//!
//! Keys that are absent in files of older versions have a default; lists that are in place are read as they are.

use crate::document::name::Name;
use crate::document::{Document, Json, NoDocument, Position, ReportedUpdate, Test, TestState};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A document without the separated parts, and those parts.
#[derive(Serialize)]
struct Stored<'d> {
    #[serde(flatten)]
    document: &'d Document,
    /// [`CoveredBy`] in one line.
    covered_by: Json,
    /// [`StateByTest`] in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    state_by_test: Option<Json>,
}

/// The separated parts of a file.
#[derive(Deserialize)]
struct Apart {
    covered_by: Option<CoveredBy>,
    state_by_test: Option<StateByTest>,
}

/// The coverage relation, by numbers of names.
#[derive(Serialize, Deserialize)]
struct CoveredBy {
    /// The names of tests, and the ids of objectives.
    names: Vec<Name>,
    /// For each objective in order, the tests that cover it.
    objectives: Vec<List>,
    /// For each evaluated row of each decision in order, the tests that evaluated it.
    rows: Vec<List>,
    /// For each test in order, the objectives that it covers.
    covers: Vec<List>,
    /// For each test in order, the objectives that no other test covers.
    covers_alone: Vec<List>,
    /// Further tests of which only the name is known.
    #[serde(default)]
    measured: Vec<i64>,
}

/// A list of numbers; a repeated list is a reference.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum List {
    /// A list in the encoding of [`runs`].
    Own(Vec<i64>),
    /// The same as the list at this index.
    As(usize),
}

/// The state updates of all tests.
#[derive(Default, Serialize, Deserialize)]
struct StateByTest {
    kinds: Vec<Kind>,
    tests: Vec<StateOfTest>,
}

/// The state updates of a test.
#[derive(Serialize, Deserialize)]
struct StateOfTest {
    test: String,
    /// The number of updates, which bounds the memory that a damaged file can request.
    updates: u64,
    /// Numbers of kinds with object numbers in the encoding of [`runs`].
    kinds: Vec<(usize, Vec<i64>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unknown: Option<String>,
}

/// Updates that differ only in the number of an object.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Kind {
    /// The text before the number, or all of it.
    what: String,
    /// The text after the number, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    behind: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    checked: bool,
}

/// Lists of names.
type Lists<'d> = Vec<&'d mut Vec<Name>>;

/// Returns the separated lists, in the order of [`CoveredBy`].
fn lists(document: &mut Document) -> [Lists<'_>; 4] {
    let rows = document.decisions.iter_mut().flat_map(|decision| &mut decision.rows).map(|row| &mut row.tests);
    let (mut covers, mut covers_alone) = (Vec::new(), Vec::new());
    for test in &mut document.tests {
        covers.push(&mut test.covers);
        covers_alone.push(&mut test.covers_alone);
    }
    [document.objectives.iter_mut().map(|one| &mut one.tests).collect(), rows.collect(), covers, covers_alone]
}

/// Encodes numbers; consecutive ones become the first and the negated count of the others: `3, 4, 5, 9` is `3, -2, 9`.
fn runs(numbers: impl IntoIterator<Item = u32>) -> Vec<i64> {
    let mut written: Vec<i64> = Vec::new();
    let mut last = None;
    for number in numbers.into_iter().map(i64::from) {
        let follows = last == Some(number - 1);
        match written.last_mut() {
            Some(behind) if follows && *behind < 0 => *behind -= 1,
            _ if follows => written.push(-1),
            _ => written.push(number),
        }
        last = Some(number);
    }
    written
}

/// Decodes the encoding of [`runs`]; `None` if it is invalid or a number is not less than `end`.
fn numbers(written: &[i64], end: u32) -> Option<Vec<u32>> {
    let mut numbers: Vec<u32> = Vec::with_capacity(written.len());
    for one in written {
        let (first, last) = match u32::try_from(*one) {
            Ok(number) => (number, number),
            Err(_) => {
                let last = *numbers.last()?;
                (last + 1, u32::try_from(i64::from(last).checked_sub(*one)?).ok()?)
            }
        };
        if last >= end {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Numbers names.
#[derive(Default)]
struct Numbers {
    known: HashMap<Name, u32>,
    /// The numbers by the address of the text, since most names are clones.
    by_place: HashMap<*const u8, u32>,
    names: Vec<Name>,
}

impl Numbers {
    fn of(&mut self, name: &Name) -> u32 {
        if let Some(known) = self.by_place.get(&name.as_ptr()).filter(|known| self.names[**known as usize] == *name) {
            return *known;
        }
        let next = self.names.len() as u32;
        let number = *self.known.entry(name.clone()).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        self.by_place.insert(name.as_ptr(), number);
        number
    }

    fn lists(&mut self, lists: Lists<'_>) -> Vec<List> {
        let mut known: HashMap<Vec<i64>, usize> = HashMap::new();
        let mut written = Vec::with_capacity(lists.len());
        for list in lists {
            let own = runs(std::mem::take(list).iter().map(|name| self.of(name)));
            written.push(match known.get(&own) {
                Some(place) if !own.is_empty() => List::As(*place),
                _ => {
                    known.insert(own.clone(), written.len());
                    List::Own(own)
                }
            });
        }
        written
    }
}

/// Returns the stored form of a document.
pub(crate) fn stored(document: &Document) -> String {
    let mut document = document.clone();
    let mut numbers = Numbers::default();
    let [objectives, rows, covers, covers_alone] = lists(&mut document).map(|lists| numbers.lists(lists));
    let is_only_named = |test: &Test| *test == Test::measured(test.id.clone(), Vec::new(), Vec::new());
    let named = document.tests.iter().rev().take_while(|test| is_only_named(test)).count();
    let named = document.tests.split_off(document.tests.len() - named);
    let measured = runs(named.into_iter().map(|test| numbers.of(&test.id.into())));
    let covered_by = CoveredBy { names: numbers.names, objectives, rows, covers, covers_alone, measured };
    let state = std::mem::take(&mut document.state);
    let state_by_test = (!state.is_empty()).then(|| Json::of(&StateByTest::of(state)));
    let text =
        serde_json::to_string_pretty(&Stored { document: &document, covered_by: Json::of(&covered_by), state_by_test });
    text.expect("invariant: every key is a string and nothing here refuses to be written")
}

/// Restores the separated parts of a parsed document, if there are any.
pub(crate) fn completed(mut document: Document, text: &str) -> Result<Document, NoDocument> {
    let apart: Apart = serde_json::from_str(text).map_err(|error| NoDocument(error.to_string()))?;
    if let Some(covered_by) = apart.covered_by {
        covered_by.complete(&mut document).ok_or_else(|| wrong("covered_by"))?;
    }
    if let Some(state) = apart.state_by_test {
        document.state = state.tests().ok_or_else(|| wrong("state_by_test"))?;
    }
    Ok(document)
}

fn wrong(key: &str) -> NoDocument {
    NoDocument(format!("{key} does not fit the rest of it"))
}

impl CoveredBy {
    fn complete(self, document: &mut Document) -> Option<()> {
        let CoveredBy { names, objectives, rows, covers, covers_alone, measured } = self;
        let end = u32::try_from(names.len()).ok()?;
        let named = |written: &[i64]| -> Option<Vec<Name>> {
            Some(numbers(written, end)?.into_iter().map(|number| names[number as usize].clone()).collect())
        };
        for name in named(&measured)? {
            document.tests.push(Test::measured(name.to_string(), Vec::new(), Vec::new()));
        }
        for (lists, written) in lists(document).into_iter().zip([objectives, rows, covers, covers_alone]) {
            if lists.len() != written.len() {
                return None;
            }
            for (list, own) in lists.into_iter().zip(&written) {
                *list = match own {
                    List::Own(own) => named(own)?,
                    List::As(place) => match written.get(*place)? {
                        List::Own(own) => named(own)?,
                        List::As(_) => return None,
                    },
                };
            }
        }
        Some(())
    }
}

impl StateByTest {
    fn of(state: Vec<TestState>) -> StateByTest {
        let mut known: HashMap<Kind, usize> = HashMap::new();
        let mut stored = StateByTest::default();
        for TestState { test, updates, unknown } in state {
            let count = updates.len() as u64;
            let mut by_kind: Vec<(usize, Vec<u32>)> = Vec::new();
            for update in updates {
                let (kind, object) = Kind::of(update);
                let kind = *known.entry(kind).or_insert_with_key(|kind| {
                    stored.kinds.push(kind.clone());
                    stored.kinds.len() - 1
                });
                match by_kind.last_mut() {
                    Some((last, objects)) if *last == kind => objects.push(object),
                    _ => by_kind.push((kind, vec![object])),
                }
            }
            let kinds = by_kind.into_iter().map(|(kind, objects)| (kind, runs(objects))).collect();
            stored.tests.push(StateOfTest { test, updates: count, kinds, unknown });
        }
        stored
    }

    fn tests(self) -> Option<Vec<TestState>> {
        let StateByTest { kinds, tests } = self;
        let length = |one: &i64| if *one < 0 { one.unsigned_abs() } else { 1 };
        let state = |StateOfTest { test, updates: count, kinds: by_kind, unknown }| {
            let lengths = by_kind.iter().flat_map(|(_, objects): &(usize, Vec<i64>)| objects).map(length);
            if lengths.fold(0u64, u64::saturating_add) != count {
                return None;
            }
            let mut updates = Vec::new();
            for (kind, objects) in by_kind {
                let kind = kinds.get(kind)?;
                updates.extend(numbers(&objects, u32::MAX)?.into_iter().map(|object| kind.update(object)));
            }
            Some(TestState { test, updates, unknown })
        };
        tests.into_iter().map(state).collect()
    }
}

impl Kind {
    /// Returns the kind of an update and the number of its object: the last one in its name, 0 if it has none.
    fn of(update: ReportedUpdate) -> (Kind, u32) {
        let ReportedUpdate { what, at: Position { file, line, column }, checked } = update;
        let digit = |character: char| character.is_ascii_digit();
        let end = what.rfind(digit).map_or(0, |last| last + 1);
        let begin = what[..end].trim_end_matches(digit).len();
        // A number with another spelling than the canonical one is text.
        let number = what[begin..end].parse().ok().filter(|number: &u32| number.to_string() == what[begin..end]);
        match number.filter(|number| *number < u32::MAX) {
            Some(number) => {
                let (before, behind) = (what[..begin].to_string(), what[end..].to_string());
                (Kind { what: before, behind: Some(behind), file, line, column, checked }, number)
            }
            None => (Kind { what, behind: None, file, line, column, checked }, 0),
        }
    }

    fn update(&self, object: u32) -> ReportedUpdate {
        let what = match &self.behind {
            Some(behind) => format!("{}{object}{behind}", self.what),
            None => self.what.clone(),
        };
        let at = Position { file: self.file.clone(), line: self.line, column: self.column };
        ReportedUpdate { what, at, checked: self.checked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::CorruptedInputs;

    #[test]
    fn numbers_that_follow_each_other_are_written_as_a_run() {
        let check = |given: &[u32], expected: &[i64]| {
            assert_eq!(runs(given.iter().copied()), expected);
            assert_eq!(numbers(expected, 100).as_deref(), Some(given));
        };
        check(&[], &[]);
        check(&[3, 4, 5, 9], &[3, -2, 9]);
        check(&[0, 1, 1, 2, 0], &[0, -1, 1, -1, 0]);
        check(&[5, 4, 3], &[5, 4, 3]);
        for wrong in [&[-1][..], &[99, -1], &[100], &[0, i64::MIN], &[i64::MAX]] {
            assert_eq!(numbers(wrong, 100), None, "{wrong:?}");
        }
    }

    fn document() -> Document {
        let update = |what: &str, line: u32, checked: bool| ReportedUpdate {
            what: what.to_string(),
            at: Position { file: Some("A.java".to_string()), line: Some(line), column: None },
            checked,
        };
        let names = |names: &[&str]| names.iter().map(|name| Name::from(*name)).collect::<Vec<Name>>();
        let all = || names(&["o1", "o2", "o3"]);
        let tests = [("t1", all(), names(&["o2"])), ("t2", all(), names(&[])), ("t3", names(&["o3"]), names(&[]))];
        let mut tests: Vec<Test> =
            tests.map(|(id, covers, alone)| Test::measured(id.to_string(), covers, alone)).into();
        tests[0].description = "more is known of it".to_string();
        let whats = ["A.x (A 1)", "A.x (A 2)", "A.x (A 2)", "A.x (A 03)", "A.y", "B.z1", "A.x (A 4294967295)"];
        let updates = whats.iter().map(|what| update(what, 3, true)).chain([update("A.x (A 2)", 4, false)]);
        let state = vec![
            TestState { test: "t1".to_string(), updates: updates.collect(), unknown: Some("why".to_string()) },
            TestState { test: "t3".to_string(), updates: Vec::new(), unknown: None },
        ];
        Document { tests, state, ..Document::default() }
    }

    #[test]
    fn a_document_is_read_as_it_was_stored() {
        let document = document();
        let stored = document.to_stored();
        assert_eq!(Document::parse(&stored).as_ref(), Ok(&document));
        assert!(stored.contains(r#""covers":[[0,-2],0,[2]]"#), "{stored}");
        assert!(stored.contains(r#""updates":8,"kinds":[[0,[1,-1,2]],"#), "{stored}");
        // Tests of which only the name is known.
        assert_eq!(stored.matches("not_run").count(), 1, "{stored}");
    }

    #[test]
    fn a_document_of_an_older_version_is_read() {
        let document = document();
        let mut plain: serde_json::Value = serde_json::from_str(&document.to_json()).expect("JSON");
        for (test, key) in [(0, "covers"), (1, "covers"), (2, "covers"), (0, "covers_alone")] {
            plain["tests"][test][key] = serde_json::json!([]);
        }
        plain["covered_by"] = serde_json::json!({
            "names": ["o1", "o2", "o3"], "objectives": [], "rows": [],
            "covers": [[0, 1, 2], [0, 1, 2], [2]], "covers_alone": [[1], [], []],
        });
        assert_eq!(Document::parse(&plain.to_string()), Ok(document));
    }

    #[test]
    fn what_stands_apart_and_fits_nothing_is_an_error() {
        let stored = document().to_stored();
        let mut refused = 0;
        for damaged in CorruptedInputs::of(stored.as_bytes()).take(2000) {
            refused += usize::from(Document::parse(&String::from_utf8_lossy(&damaged)).is_err());
        }
        assert!(refused > 200, "{refused}");
        let far = stored.replace(r#""covers":[[0,-2],0,[2]]"#, r#""covers":[[0,-2],7,[2]]"#);
        assert_eq!(Document::parse(&far), Err(wrong("covered_by")));
        let many = stored.replace("[1,-1,2]", "[1,-4000000000,2]");
        assert_eq!(Document::parse(&many), Err(wrong("state_by_test")));
    }
}
