//! Suggests assertions that would check the state that a Java test leaves unchecked.
//!
//! The agent records a snapshot of the objects that are reachable from a test's variables when it ends
//! (`test_end_state.rs`). From it the expressions that the test could contain are enumerated, with their values and the
//! state that they read (`observable_expressions.rs`); observers are evaluated on the snapshot
//! (`observer_evaluation.rs`). The best expression for a piece of state becomes an assertion in the test's own
//! framework (`assertion_style.rs`), at the end of its method (`test_source.rs`).
//!
//! `assertion_style.rs`, `observable_expressions.rs` and `test_source.rs` form a circle: the source implements the
//! traits by which the other two write names.

mod assertion_style;
mod observable_expressions;
mod observer_evaluation;
mod test_end_state;
mod test_source;

use crate::java::state::{JavaTrace, TracedClass, TracedClasses};
use crate::state::{
    ModifiedState, NoSuggestion, StateLocation, SuggestedAssertion, SuggestionOutcome, TestStateCoverage,
};
use assertion_style::AssertionFramework;
use observable_expressions::{Observation, TestEndView};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use test_end_state::TestEndSnapshot;
use test_source::TestSource;
use touchstone_front_java::classfile::{Constant, Insn, Member, decode};

/// A test method, with all of its recorded runs.
struct TestMethod {
    class: Rc<TracedClass>,
    /// The line in which it ends.
    line: u32,
    style: Option<AssertionFramework>,
    /// For each run, the test and the expressions that could be observed.
    runs: Vec<(String, Vec<Observation>)>,
}

/// The sources of tests that were read so far.
type Sources = BTreeMap<String, Option<Rc<TestSource>>>;

/// Suggests assertions for the state that tests left unchecked. `ends` are snapshot files of the same processes as
/// `traces`.
pub(crate) fn suggest(tests: &[&TestStateCoverage], traces: &[PathBuf], ends: &[PathBuf]) -> Vec<SuggestionOutcome> {
    let mut sources = Sources::new();
    let mut methods: BTreeMap<(String, String, String), TestMethod> = BTreeMap::new();
    for path in traces {
        let Some(trace) = JavaTrace::head(path) else { continue };
        let units = path.parent().and_then(Path::parent).unwrap_or(Path::new("")).join("units");
        let classes = TracedClasses::new(&units, &trace.classes);
        let is_of = |file: &&PathBuf| file.parent() == path.parent() && process_prefix(file) == process_prefix(path);
        for end in ends.iter().filter(is_of).flat_map(|file| TestEndSnapshot::read(file)) {
            let Some((class, member)) = classes.member(end.method) else { continue };
            let Some(source) = source_of(&mut sources, &class.source) else { continue };
            let view = TestEndView { classes: &classes, end: &end, test: class, method: member, names: &*source };
            let key = (class.class.name.to_string(), member.name.to_string(), member.desc.to_string());
            let known = methods.entry(key).or_insert_with(|| TestMethod {
                class: class.clone(),
                line: line(member, end.insn),
                style: style_of(&classes, class, member),
                runs: Vec::new(),
            });
            known.runs.push((end.test.clone(), view.observations()));
        }
    }
    let by_test: BTreeMap<&str, &TestMethod> =
        methods.values().flat_map(|method| method.runs.iter().map(move |(test, _)| (test.as_str(), method))).collect();
    let mut found = Vec::new();
    for test in tests {
        for used in test.uses.iter().filter(|used| !used.checked && used.piece != StateLocation::Unknown) {
            let made = match by_test.get(test.test.as_str()) {
                _ if test.cut_off => Err(NoSuggestion::CutOff),
                _ if test.beside => Err(NoSuggestion::Beside),
                _ if used.piece == StateLocation::Inherited => Err(NoSuggestion::Inherited),
                Some(method) => method.suggestion(&test.test, used, &mut sources),
                None => Err(NoSuggestion::NoEnd),
            };
            found.push(SuggestionOutcome { test: test.test.clone(), unit: used.unit, id: used.id.clone(), made });
        }
    }
    found
}

/// Returns the common prefix of the files of one process, which is followed by a time and a number; merged files have
/// another number.
fn process_prefix(file: &Path) -> Option<&str> {
    file.file_name()?.to_str()?.rsplitn(3, '-').nth(2)
}

impl TestMethod {
    fn suggestion(
        &self,
        test: &str,
        used: &ModifiedState,
        sources: &mut Sources,
    ) -> Result<SuggestedAssertion, NoSuggestion> {
        let style = self.style.ok_or(NoSuggestion::NoStyle)?;
        let source = source_of(sources, &self.class.source).ok_or(NoSuggestion::NoSource)?;
        let own = self.runs.iter().filter(|(run, _)| run == test);
        let mut fitting: Vec<&Observation> = own
            .flat_map(|(_, observations)| observations)
            .filter(|reading| reading.reads.contains(&used.piece))
            .collect();
        if fitting.is_empty() {
            return Err(NoSuggestion::NotReachable);
        }
        fitting.retain(|reading| self.runs.iter().all(|(_, others)| says_the_same(others, reading)));
        fitting.sort_by_key(|reading| (reading.rank(), reading.expression.clone()));
        for reading in &fitting {
            let Some(assertion) = style.assertion(reading, &*source) else { continue };
            let Some(end) = source.at_end(self.line, &assertion.statement) else { return Err(NoSuggestion::NoPlace) };
            let mut insertions = source.missing_imports(&assertion.uses);
            insertions.push(end);
            return Ok(SuggestedAssertion {
                file: self.class.source.clone(),
                line: self.line,
                statement: assertion.statement,
                insertions,
                checks: reading.reads.iter().cloned().collect(),
            });
        }
        Err(NoSuggestion::Differs)
    }
}

fn says_the_same(run: &[Observation], reading: &Observation) -> bool {
    run.iter().any(|other| other.expression == reading.expression && other.found == reading.found)
}

fn source_of(sources: &mut Sources, file: &str) -> Option<Rc<TestSource>> {
    let read = || {
        let text = std::fs::read_to_string(file).ok().filter(|_| file.ends_with(".java"))?;
        Some(Rc::new(TestSource::new(&text)))
    };
    sources.entry(file.to_string()).or_insert_with(read).clone()
}

fn line(member: &Member, insn: usize) -> u32 {
    let Some(code) = member.code() else { return 0 };
    let insns = decode(&code.bytes, code.offset).unwrap_or_default();
    insns.get(insn).map_or(0, |insn| code.line(insn.at))
}

/// Determines the assertion framework: that of the method, else that of its class, else the one of its test annotation.
fn style_of(classes: &TracedClasses, class: &TracedClass, member: &Member) -> Option<AssertionFramework> {
    let code = member.code()?;
    let called = decode(&code.bytes, code.offset).unwrap_or_default().into_iter().filter_map(|insn| match insn.insn {
        Insn::InvokeStatic(index) | Insn::InvokeVirtual(index) => class.class.pool.method(index).ok(),
        _ => None,
    });
    let own = called.map(|(member, _)| member).filter(|member| member.name.starts_with("assert")).find_map(|member| {
        // The assertions of JUnit 3 are inherited.
        let inherits =
            || classes.inherits(&member.class, "junit/framework/TestCase").then_some(AssertionFramework::JUnit3);
        AssertionFramework::of_class(&member.class).or_else(inherits)
    });
    let pool = &class.class.pool;
    let constants = 1..u16::try_from(pool.len()).unwrap_or(u16::MAX);
    let of_class = || {
        constants.clone().find_map(|index| match pool.get(index) {
            Ok(Constant::Class(_)) => AssertionFramework::of_class(&pool.class(index).ok()?),
            _ => None,
        })
    };
    let of_annotation =
        || constants.clone().find_map(|index| AssertionFramework::of_annotation(pool.text(index).ok()?.text()));
    own.or_else(of_class).or_else(of_annotation)
}
