//! Assertions that would check what a test of Java leaves unchecked.
//!
//! The agent says what a test's variables led to when it ended (`ends.rs`). From there expressions that the test could write are
//! found, with the values that they had and the state that they depend on (`readings.rs`); methods that ask something are
//! executed on what was seen (`evaluate.rs`). The best one for a piece of state becomes an assertion in the test's own style
//! (`style.rs`), at the end of its method (`source.rs`).

mod assertion_style;
mod observable_expressions;
mod observer_evaluation;
mod test_end_state;
mod test_source;

use crate::java::state::JavaTrace;
use crate::java::state::{Classes, FollowedClass};
use crate::state::{Piece, StateUse, TestStates};
use crate::state::{Suggested, Suggestion, WhyNone};
use assertion_style::Style;
use observable_expressions::{Reading, View};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use test_end_state::End;
use test_source::Source;
use touchstone_front_java::classfile::{Constant, Insn, Member, decode};

/// The ends of one method: it may run more than once.
struct Method {
    class: Rc<FollowedClass>,
    /// The line that it ends in.
    line: u32,
    style: Option<Style>,
    /// By run: the test, and what could be looked at.
    runs: Vec<(String, Vec<Reading>)>,
}

/// Sources of tests, as far as they were read.
type Sources = BTreeMap<String, Option<Rc<Source>>>;

/// What would check the state that tests left unchecked. `ends` are files of the same processes as `traces`.
pub(crate) fn suggest(tests: &[&TestStates], traces: &[PathBuf], ends: &[PathBuf]) -> Vec<Suggested> {
    let mut sources = Sources::new();
    let mut methods: BTreeMap<(String, String, String), Method> = BTreeMap::new();
    for path in traces {
        let Some(trace) = JavaTrace::head(path) else { continue };
        let units = path.parent().and_then(Path::parent).unwrap_or(Path::new("")).join("units");
        let classes = Classes::new(&units, &trace.classes);
        let is_of = |file: &&PathBuf| file.parent() == path.parent() && process_of(file) == process_of(path);
        for end in ends.iter().filter(is_of).flat_map(|file| End::read(file)) {
            let Some((class, member)) = classes.member(end.method) else { continue };
            let Some(source) = source_of(&mut sources, &class.source) else { continue };
            let view = View { classes: &classes, end: &end, test: class, method: member, names: &*source };
            let key = (class.class.name.to_string(), member.name.to_string(), member.desc.to_string());
            let known = methods.entry(key).or_insert_with(|| Method {
                class: class.clone(),
                line: line(member, end.insn),
                style: style_of(&classes, class, member),
                runs: Vec::new(),
            });
            known.runs.push((end.test.clone(), view.readings()));
        }
    }
    let by_test: BTreeMap<&str, &Method> =
        methods.values().flat_map(|method| method.runs.iter().map(move |(test, _)| (test.as_str(), method))).collect();
    let mut found = Vec::new();
    for test in tests {
        for used in test.uses.iter().filter(|used| !used.checked && used.piece != Piece::Unknown) {
            let made = match by_test.get(test.test.as_str()) {
                _ if test.cut_off => Err(WhyNone::CutOff),
                _ if test.beside => Err(WhyNone::Beside),
                _ if used.piece == Piece::Inherited => Err(WhyNone::Inherited),
                Some(method) => method.suggestion(&test.test, used, &mut sources),
                None => Err(WhyNone::NoEnd),
            };
            found.push(Suggested { test: test.test.clone(), unit: used.unit, id: used.id.clone(), made });
        }
    }
    found
}

/// What files of one process have before the moment and the number in their names; what is merged has a number more.
fn process_of(file: &Path) -> Option<&str> {
    file.file_name()?.to_str()?.rsplitn(3, '-').nth(2)
}

impl Method {
    fn suggestion(&self, test: &str, used: &StateUse, sources: &mut Sources) -> Result<Suggestion, WhyNone> {
        let style = self.style.ok_or(WhyNone::NoStyle)?;
        let source = source_of(sources, &self.class.source).ok_or(WhyNone::NoSource)?;
        let own = self.runs.iter().filter(|(run, _)| run == test);
        let mut fitting: Vec<&Reading> =
            own.flat_map(|(_, readings)| readings).filter(|reading| reading.reads.contains(&used.piece)).collect();
        if fitting.is_empty() {
            return Err(WhyNone::NotReachable);
        }
        fitting.retain(|reading| self.runs.iter().all(|(_, others)| says_the_same(others, reading)));
        fitting.sort_by_key(|reading| (reading.rank(), reading.expression.clone()));
        for reading in &fitting {
            let Some(assertion) = style.assertion(reading, &*source) else { continue };
            let Some(end) = source.at_end(self.line, &assertion.statement) else { return Err(WhyNone::NoPlace) };
            let mut insertions = source.missing_imports(&assertion.uses);
            insertions.push(end);
            return Ok(Suggestion {
                file: self.class.source.clone(),
                line: self.line,
                statement: assertion.statement,
                insertions,
                checks: reading.reads.iter().cloned().collect(),
            });
        }
        Err(WhyNone::Differs)
    }
}

fn says_the_same(run: &[Reading], reading: &Reading) -> bool {
    run.iter().any(|other| other.expression == reading.expression && other.found == reading.found)
}

fn source_of(sources: &mut Sources, file: &str) -> Option<Rc<Source>> {
    let read = || {
        let text = std::fs::read_to_string(file).ok().filter(|_| file.ends_with(".java"))?;
        Some(Rc::new(Source::new(&text)))
    };
    sources.entry(file.to_string()).or_insert_with(read).clone()
}

fn line(member: &Member, insn: usize) -> u32 {
    let Some(code) = member.code() else { return 0 };
    let insns = decode(&code.bytes, code.offset).unwrap_or_default();
    insns.get(insn).map_or(0, |insn| code.line(insn.at))
}

/// Whose assertions a method uses; else its class; else those that come with what makes it a test.
fn style_of(classes: &Classes, class: &FollowedClass, member: &Member) -> Option<Style> {
    let code = member.code()?;
    let called = decode(&code.bytes, code.offset).unwrap_or_default().into_iter().filter_map(|insn| match insn.insn {
        Insn::InvokeStatic(index) | Insn::InvokeVirtual(index) => class.class.pool.method(index).ok(),
        _ => None,
    });
    let own = called.map(|(member, _)| member).filter(|member| member.name.starts_with("assert")).find_map(|member| {
        // JUnit 3's are inherited.
        let inherits = || classes.inherits(&member.class, "junit/framework/TestCase").then_some(Style::JUnit3);
        Style::of_class(&member.class).or_else(inherits)
    });
    let pool = &class.class.pool;
    let constants = 1..u16::try_from(pool.len()).unwrap_or(u16::MAX);
    let of_class = || {
        constants.clone().find_map(|index| match pool.get(index) {
            Ok(Constant::Class(_)) => Style::of_class(&pool.class(index).ok()?),
            _ => None,
        })
    };
    let of_annotation = || constants.clone().find_map(|index| Style::of_annotation(pool.text(index).ok()?.text()));
    own.or_else(of_class).or_else(of_annotation)
}
