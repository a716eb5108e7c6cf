//! The JSON form. Keys come in the order of the structures here, never in the order of a hash map.

use crate::Extras;
use crate::decisions::{DecisionJson, decision_json};
use crate::value::{Elements, Shown};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use touchstone_base::{Files, Span};
use touchstone_criteria::{
    Campaign, Covered, FunctionResult, IncompletePaths, ObjectInput, Objective, Outcome, Replay, SCHEMA_VERSION,
    Status, TestCase, TestKind, covered_by_test,
};
use touchstone_ir::{DataType, DataTypes, DataValue, Module, PointerTarget};

/// The whole campaign.
pub fn json(campaign: &Campaign, module: &Module) -> String {
    json_with(campaign, module, &Extras::default())
}

/// The whole campaign, with truth tables.
pub fn json_with(campaign: &Campaign, module: &Module, extras: &Extras) -> String {
    let files = &module.files;
    let by_test = covered_by_test(&campaign.objectives);
    let covered = |test: &TestCase| by_test.get(test.id.as_str()).map_or(&[][..], Vec::as_slice);
    let report = Report {
        schema_version: SCHEMA_VERSION,
        functions: campaign.functions.iter().map(|function| function_json(function, files)).collect(),
        objectives: campaign.objectives.iter().map(|objective| objective_json(objective, files)).collect(),
        decisions: extras.decisions.iter().map(|table| decision_json(table, files)).collect(),
        tests: campaign.tests.iter().map(|test| test_of(test, covered(test), module)).collect(),
    };
    let text = serde_json::to_string_pretty(&report);
    text.expect("invariant: every key is a string and nothing here refuses to be written")
}

/// One test alone, in one line, with what it covers.
pub fn test_json(test: &TestCase, covers: &[Covered<'_>], module: &Module) -> String {
    let text = serde_json::to_string(&test_of(test, covers, module));
    text.expect("invariant: every key is a string and nothing here refuses to be written")
}

#[derive(Serialize)]
struct Report<'a> {
    schema_version: u32,
    functions: Vec<FunctionJson<'a>>,
    objectives: Vec<ObjectiveJson<'a>>,
    decisions: Vec<DecisionJson<'a>>,
    tests: Vec<TestJson<'a>>,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    name: &'a str,
    file: &'a str,
    criterion: String,
    objectives: CountsJson,
    paths: PathsJson,
    tests: u64,
    exhaustive: bool,
    seconds: f64,
    replay_seconds: f64,
    solver: SolverJson,
    incomplete: Vec<IncompleteJson>,
}

#[derive(Serialize)]
struct CountsJson {
    total: u64,
    covered: u64,
    infeasible: u64,
    unknown: u64,
}

#[derive(Serialize)]
struct PathsJson {
    explored: u64,
    infeasible: u64,
    error: u64,
    incomplete: u64,
    longer: u64,
}

#[derive(Serialize)]
struct SolverJson {
    queries: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct IncompleteJson {
    why: String,
    #[serde(flatten)]
    at: PlaceJson,
    count: u64,
}

/// A position; all three are null where there is none.
#[derive(Serialize)]
pub(crate) struct PlaceJson {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

#[derive(Serialize)]
struct ObjectiveJson<'a> {
    id: &'a str,
    criterion: &'a str,
    function: &'a str,
    #[serde(flatten)]
    at: PlaceJson,
    text: &'a str,
    status: &'static str,
    why: Option<&'a str>,
    tests: &'a [String],
}

#[derive(Serialize)]
struct TestJson<'a> {
    id: &'a str,
    function: &'a str,
    description: &'a str,
    /// The path's identity, as text: not every reader of JSON keeps 64 bits.
    path: String,
    inputs: Inputs<'a>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorJson>,
    expected: ExpectedJson<'a>,
    /// Ids of the objectives that the test covers, and of those that no other test of its suite does.
    covers: Vec<&'a str>,
    covers_alone: Vec<&'a str>,
    /// Whether the real program did what was predicted; `replay` says more.
    replayed: bool,
    replay: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay_why: Option<&'a str>,
}

#[derive(Serialize)]
struct ErrorJson {
    kind: String,
    #[serde(flatten)]
    at: PlaceJson,
}

pub(crate) fn place(span: Span, files: &Files) -> PlaceJson {
    let file = files.get(span.file).filter(|_| span.is_some());
    PlaceJson { file: file.cloned(), line: file.map(|_| span.line), column: file.map(|_| span.column) }
}

fn function_json<'a>(function: &'a FunctionResult, files: &Files) -> FunctionJson<'a> {
    let (objectives, paths) = (&function.objectives, &function.paths);
    let incomplete = |paths: &IncompletePaths| IncompleteJson {
        why: paths.why.to_string(),
        at: place(paths.span, files),
        count: paths.count,
    };
    FunctionJson {
        name: &function.name,
        file: &function.file,
        criterion: function.criterion.to_string(),
        objectives: CountsJson {
            total: objectives.total,
            covered: objectives.covered,
            infeasible: objectives.infeasible,
            unknown: objectives.unknown,
        },
        paths: PathsJson {
            explored: paths.explored,
            infeasible: paths.infeasible,
            error: paths.error,
            incomplete: paths.incomplete,
            longer: paths.longer,
        },
        tests: function.tests,
        exhaustive: function.exhaustive,
        seconds: finite(function.seconds),
        replay_seconds: finite(function.replay_seconds),
        solver: SolverJson { queries: function.solver.queries, seconds: finite(function.solver.seconds) },
        incomplete: function.incomplete.iter().map(incomplete).collect(),
    }
}

/// Milliseconds are enough, and what is no number has no JSON.
fn finite(seconds: f64) -> f64 {
    if seconds.is_finite() { (seconds * 1e3).round() / 1e3 } else { 0.0 }
}

fn objective_json<'a>(objective: &'a Objective, files: &Files) -> ObjectiveJson<'a> {
    let (status, why, tests) = match &objective.status {
        Status::Covered(tests) => ("covered", None, tests.as_slice()),
        Status::Infeasible(why) => ("infeasible", Some(why.as_str()), &[][..]),
        Status::Unknown(why) => ("unknown", Some(why.as_str()), &[][..]),
    };
    ObjectiveJson {
        id: &objective.id,
        criterion: &objective.criterion,
        function: &objective.function,
        at: place(objective.span, files),
        text: &objective.text,
        status,
        why,
        tests,
    }
}

fn test_of<'a>(test: &'a TestCase, covers: &[Covered<'a>], module: &'a Module) -> TestJson<'a> {
    let (outcome, exit_status, error) = match &test.outcome {
        Outcome::Returned => ("returned", None, None),
        Outcome::OracleRejected => ("oracle_rejected", None, None),
        Outcome::Exited(status) => ("exited", Some(*status), None),
        Outcome::Error { kind, span } => {
            ("error", None, Some(ErrorJson { kind: kind.to_string(), at: place(*span, &module.files) }))
        }
    };
    let (replay, replay_why) = match &test.replayed {
        Replay::NotRun => ("not_run", None),
        Replay::Agreed => ("agreed", None),
        Replay::Disagreed(why) => ("disagreed", Some(why.as_str())),
        Replay::NotCheckable(why) => ("not_checkable", Some(why.as_str())),
    };
    let alone = covers.iter().filter(|covered| covered.alone);
    TestJson {
        id: &test.id,
        function: &test.function,
        description: &test.description,
        path: format!("{:016x}", test.path),
        inputs: Inputs { test, types: &module.types },
        outcome,
        exit_status,
        error,
        expected: ExpectedJson { test, module },
        covers: covers.iter().map(|covered| covered.objective.id.as_str()).collect(),
        covers_alone: alone.map(|covered| covered.objective.id.as_str()).collect(),
        replayed: test.replayed == Replay::Agreed,
        replay,
        replay_why,
    }
}

fn objects_of(test: &TestCase) -> &[ObjectInput] {
    match &test.kind {
        TestKind::Function { objects, .. } => objects,
        TestKind::Program { .. } => &[],
    }
}

/// Parameters, globals and made inputs by name. An array parameter is shown as its elements; objects behind other pointers
/// come last, under `objects`. A parameter without a name is known by its position, a repeated name gets a number.
struct Inputs<'a> {
    test: &'a TestCase,
    types: &'a DataTypes,
}

impl Serialize for Inputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut names = Names::default();
        match &self.test.kind {
            TestKind::Function { params, globals, objects } => {
                let mut shown = vec![false; objects.len()];
                for named in params.iter().chain(globals) {
                    let name = names.unique(&named.name);
                    let whole = match (&self.types[named.data], &named.value) {
                        (DataType::Array { .. }, DataValue::Pointer(PointerTarget::Object { object, offset: 0 })) => {
                            Some(*object)
                        }
                        _ => None,
                    };
                    match whole.and_then(|index| Some((index, objects.get(index)?))) {
                        Some((index, object)) => {
                            shown[index] = true;
                            let (element, values) = (object.element, object.values.as_slice());
                            map.serialize_entry(&name, &Elements { types: self.types, objects, element, values })?;
                        }
                        None => {
                            let value = Shown { types: self.types, objects, ty: named.data, value: &named.value };
                            map.serialize_entry(&name, &value)?;
                        }
                    }
                }
                if shown.contains(&false) {
                    let rest = Objects { objects, values: None, types: self.types, leave_out: &shown };
                    map.serialize_entry("objects", &rest)?;
                }
            }
            TestKind::Program { inputs } => {
                for input in inputs {
                    map.serialize_entry(&names.unique(&input.name), &input.bytes)?;
                }
            }
        }
        map.end()
    }
}

/// Names that were given.
#[derive(Default)]
struct Names {
    given: Vec<String>,
}

impl Names {
    fn unique(&mut self, name: &str) -> String {
        let position = self.given.len() + 1;
        let plain = if name.is_empty() { format!("#{position}") } else { name.to_string() };
        let mut made = plain.clone();
        let mut number = 2;
        while self.given.contains(&made) {
            made = format!("{plain}#{number}");
            number += 1;
        }
        self.given.push(made.clone());
        made
    }
}

/// Named values as one object.
struct Named<'a> {
    list: &'a [touchstone_criteria::NamedValue],
    objects: &'a [ObjectInput],
    types: &'a DataTypes,
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.list.len()))?;
        for named in self.list {
            let value = Shown { types: self.types, objects: self.objects, ty: named.data, value: &named.value };
            map.serialize_entry(&named.name, &value)?;
        }
        map.end()
    }
}

/// Objects by name, with their own values or with others: an array as a list, a plain pointee as its value.
struct Objects<'a> {
    objects: &'a [ObjectInput],
    values: Option<&'a [Vec<DataValue>]>,
    types: &'a DataTypes,
    /// Objects that were shown already.
    leave_out: &'a [bool],
}

impl Serialize for Objects<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (index, object) in self.objects.iter().enumerate() {
            if self.leave_out.get(index) == Some(&true) {
                continue;
            }
            let values = match self.values {
                None => &object.values,
                Some(others) => match others.get(index) {
                    Some(values) => values,
                    None => continue,
                },
            };
            let (types, objects, element) = (self.types, self.objects, object.element);
            match values.as_slice() {
                [value] if !object.is_array => {
                    map.serialize_entry(&object.name, &Shown { types, objects, ty: element, value })?;
                }
                values => map.serialize_entry(&object.name, &Elements { types, objects, element, values })?,
            }
        }
        map.end()
    }
}

/// What must hold afterwards; only the keys that are known.
struct ExpectedJson<'a> {
    test: &'a TestCase,
    module: &'a Module,
}

impl Serialize for ExpectedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (expected, objects, types) = (&self.test.expected, objects_of(self.test), &self.module.types);
        let function = self.module.function_named(&self.test.function);
        let mut map = serializer.serialize_map(None)?;
        if let (Some(value), Some(function)) = (&expected.result, function) {
            let ty = self.module.functions[function].result_data;
            map.serialize_entry("result", &Shown { types, objects, ty, value })?;
        }
        if !expected.objects.is_empty() {
            map.serialize_entry(
                "objects",
                &Objects { objects, values: Some(&expected.objects), types, leave_out: &[] },
            )?;
        }
        if !expected.globals.is_empty() {
            map.serialize_entry("globals", &Named { list: &expected.globals, objects, types })?;
        }
        if let Some(output) = &expected.output {
            map.serialize_entry("output", &String::from_utf8_lossy(output))?;
        }
        map.end()
    }
}
