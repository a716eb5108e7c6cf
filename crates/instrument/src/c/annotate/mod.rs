//! Labelled C: the user's text with objectives as labels, for other tools (Bardin et al., sections IV and V).
//!
//! A label is a program point with a side-effect-free predicate. Here it is one macro call, whose two definitions are
//! the instrumentations of the paper: *direct* (figure 4) branches on the predicate; *tight* (figure 5) chooses
//! nondeterministically between asserting it and stopping, and continuing. Other tools replace the macro or the
//! functions that it calls.
//!
//! The label of a statement is inserted before the statement. Labels of values and decisions are inserted immediately
//! before their evaluation, in a comma expression: `while (x > 0)` becomes `while ((LABEL(…), x > 0))`. So they are
//! evaluated exactly where the program evaluates the expression, in every iteration. An outcome, a condition's value or
//! a row is a predicate over the conditions of its decision, evaluated in short-circuit order.
//!
//! Nothing else is changed, and lines keep their numbers. A label without an unambiguous position is listed with the
//! obstacle.
//!
//! Deliberately not here: criteria that relate runs or paths. A label sees one state of one run.

mod label_placement;
mod predicate_renderer;
mod result_labels;

pub(crate) use label_placement::{AnnotatedFunction, LabelPosition};
pub(crate) use result_labels::ResultType;

use crate::c::text::{Insertions, TokenisedSource};
use crate::record::ProbeObstacle;
use std::collections::BTreeMap;
use touchstone_base::FileId;
use touchstone_criteria::{Criterion, Objectives};
use touchstone_ir::{FuncId, Module};

/// The instrumentation of the paper that a label becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnnotateStyle {
    /// A branch on the predicate, after which the program continues (figure 4).
    Direct,
    /// A nondeterministic choice: assert the predicate and stop, or continue (figure 5).
    Tight,
}

/// A text with labels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnnotatedText {
    /// The text, which compiles like the original.
    pub text: String,
    /// The ids of the objectives that are labels in it.
    pub placed: Vec<String>,
    /// The ids of the other objectives, and the obstacles. The text ends with the same list.
    pub not_placed: Vec<(String, ProbeObstacle)>,
}

/// Returns the reason why the objectives of a criterion are no labels; `None` if they are.
pub fn not_labels(criterion: &str) -> Option<ProbeObstacle> {
    match criterion.parse() {
        Ok(Criterion::Goals(known)) if !known.has_labels() => Some(ProbeObstacle::Independence),
        Ok(Criterion::State) => Some(ProbeObstacle::State),
        Ok(Criterion::Paths(_)) => Some(ProbeObstacle::Path),
        Ok(Criterion::Goals(_)) | Err(_) => None,
    }
}

/// Inserts objectives as labels into `text`, the contents of `file`.
pub fn annotate(
    module: &Module,
    file: FileId,
    text: &str,
    objectives: &Objectives,
    style: AnnotateStyle,
) -> AnnotatedText {
    let source = TokenisedSource::new(text);
    let mut edits = LabelInsertions::default();
    let (mut placed, mut not_placed) = (Vec::new(), Vec::new());
    let mut places: BTreeMap<FuncId, AnnotatedFunction<'_>> = BTreeMap::new();
    for (id, objective) in objectives.list.iter() {
        let goal = &objectives.goals[id];
        let place =
            places.entry(goal.func()).or_insert_with(|| AnnotatedFunction::new(module, goal.func(), file, &source));
        match place.labels(goal) {
            Ok(labels) => {
                for (at, predicate) in labels {
                    edits.add(at, format!("TOUCHSTONE_LABEL({predicate}, \"{}\")", objective.id));
                }
                placed.push(objective.id.clone());
            }
            Err(why) => not_placed.push((objective.id.clone(), why)),
        }
    }
    let name = module.files.get(file).map_or("", String::as_str);
    let mut made = header(style);
    made += &format!("#line 1 \"{}\"\n", name.replace('\\', "\\\\").replace('"', "\\\""));
    made += &edits.apply(text);
    if !made.ends_with('\n') {
        made.push('\n');
    }
    made += &trailer(style, &not_placed);
    AnnotatedText { text: made, placed, not_placed }
}

/// The labels, by position.
#[derive(Default)]
struct LabelInsertions {
    labels: BTreeMap<LabelPosition, Vec<String>>,
}

impl LabelInsertions {
    fn add(&mut self, spot: LabelPosition, label: String) {
        self.labels.entry(spot).or_default().push(label);
    }

    fn apply(&self, text: &str) -> String {
        let mut insertions = Insertions::default();
        for (spot, labels) in &self.labels {
            let statements = || labels.iter().map(|label| format!("{label}; ")).collect::<String>();
            match *spot {
                LabelPosition::Before(start) => insertions.before(start, statements()),
                LabelPosition::Braced(start, end) => insertions.brace(start, end, &statements()),
                LabelPosition::Wrapped(start, end) => {
                    insertions.wrap(start, end, 0, format!("({}, ", labels.join(", ")), ")".to_string());
                }
            }
        }
        insertions.apply(text)
    }
}

const TYPES: &str = "\
#ifndef TOUCHSTONE_TYPES
#define TOUCHSTONE_TYPES
#ifdef __GNUC__
#define TOUCHSTONE_ALIAS __attribute__((__may_alias__))
#define TOUCHSTONE_WEAK __attribute__((__weak__))
#else
#define TOUCHSTONE_ALIAS
#define TOUCHSTONE_WEAK
#endif
typedef unsigned char TOUCHSTONE_ALIAS touchstone_u8;
typedef unsigned short TOUCHSTONE_ALIAS touchstone_u16;
typedef unsigned int TOUCHSTONE_ALIAS touchstone_u32;
typedef unsigned long long TOUCHSTONE_ALIAS touchstone_u64;
typedef char *TOUCHSTONE_ALIAS touchstone_pointer;
#endif
";

const DIRECT: &str = "\
#ifndef TOUCHSTONE_LABEL
#ifndef touchstone_cover
void touchstone_cover(const char *id);
#endif
#define TOUCHSTONE_LABEL(predicate, id) ((predicate) ? touchstone_cover(id) : (void)0)
#endif
";

const TIGHT: &str = "\
#ifndef TOUCHSTONE_LABEL
#ifndef touchstone_nondet
int touchstone_nondet(void);
#endif
#ifndef touchstone_assert_label
void touchstone_assert_label(int holds, const char *id);
#endif
void exit(int);
#define TOUCHSTONE_LABEL(predicate, id) \\
    (touchstone_nondet() ? (touchstone_assert_label((predicate), id), exit(0)) : (void)0)
#endif
";

fn header(style: AnnotateStyle) -> String {
    let (about, macros) = match style {
        AnnotateStyle::Direct => (
            "A label calls touchstone_cover(id) where its predicate holds. Define TOUCHSTONE_LABEL(predicate, id),",
            DIRECT,
        ),
        AnnotateStyle::Tight => (
            "A label is a free choice: assert its predicate and stop, or go on. Define TOUCHSTONE_LABEL(predicate, id),",
            TIGHT,
        ),
    };
    let functions = match style {
        AnnotateStyle::Direct => "touchstone_cover",
        AnnotateStyle::Tight => "touchstone_nondet and touchstone_assert_label",
    };
    format!(
        "/* Labels written by Touchstone. {about}\n * or {functions} (macros or functions), for the tool that reads this. */\n{TYPES}{macros}"
    )
}

fn trailer(style: AnnotateStyle, not_placed: &[(String, ProbeObstacle)]) -> String {
    let defaults = match style {
        AnnotateStyle::Direct => {
            "#ifndef touchstone_cover\nTOUCHSTONE_WEAK void touchstone_cover(const char *id) { (void)id; }\n#endif\n"
        }
        AnnotateStyle::Tight => {
            "#ifndef touchstone_nondet\nTOUCHSTONE_WEAK int touchstone_nondet(void) { return 0; }\n#endif\n\
             #ifndef touchstone_assert_label\nTOUCHSTONE_WEAK void touchstone_assert_label(int holds, const char *id) \
             { (void)holds; (void)id; }\n#endif\n"
        }
    };
    let mut made = format!("\n#ifndef TOUCHSTONE_NO_DEFAULTS\n{defaults}#endif\n");
    for (id, why) in not_placed {
        let why = why.to_string().replace("*/", "* /").replace("/*", "/ *");
        made += &format!("/* not placed: {id} {why} */\n");
    }
    made
}
