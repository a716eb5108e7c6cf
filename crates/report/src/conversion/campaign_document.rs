//! The conversion of a campaign to its document.

use crate::conversion::call_text::{brief, called};
use crate::conversion::decision_table::decision;
use crate::conversion::supplements::Supplements;
use crate::conversion::value_text::{Elements, Shown};
use crate::document::name::Name;
use crate::document::{self, Document, Json, Position, ReportedRange, Verdict};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::collections::{HashMap, HashSet};
use touchstone_base::{Files, Span};
use touchstone_criteria::{
    Campaign, CoveredObjective, EarlierCall, ErrorTests, FunctionResult, HeapTests, IncompletePaths, ObjectInput,
    Objective, Outcome, Replay, Status, TestCase, TestKind, objectives_by_test,
};
use touchstone_ir::{DataType, DataTypes, DataValue, Module, PointerTarget};

/// Returns the document of a campaign.
pub fn document(campaign: &Campaign, module: &Module, extras: &Supplements) -> Document {
    let files = &module.files;
    let by_test = objectives_by_test(&campaign.objectives);
    let kept = extras.kept.iter().flat_map(|suite| &suite.tests).filter(|test| test.expects_error);
    let errors = ErrorTests::among(&campaign.tests).and(kept.map(|test| test.name.as_str()));
    let covered = |test: &TestCase| by_test.get(test.id.as_str()).map_or(&[][..], Vec::as_slice);
    let heaps = HeapTests::among(&campaign.tests);
    let told = |given: &Objective| {
        let mut told = objective(given, errors.cover(given), files);
        if heaps.cover(given) {
            (told.why, told.reason) = said(Some((document::ON_ANY_HEAP.0.to_string(), document::ON_ANY_HEAP.1)));
        }
        told
    };
    let objectives: Vec<document::Objective> = campaign.objectives.iter().map(told).collect();
    Document {
        functions: campaign
            .functions
            .iter()
            .map(|result| document::ReportedFunction {
                cached: extras.cached.contains(&result.name),
                ..function(result, campaign, &errors, module)
            })
            .collect(),
        objectives,
        decisions: extras.decisions.iter().map(|table| decision(table, files)).collect(),
        tests: campaign.tests.iter().map(|test| test_of(test, covered(test), module)).collect(),
        unprotected_replay: extras.sandbox.clone(),
        kept: extras.kept.clone(),
        forms: extras.forms.clone(),
        change: extras.change.clone(),
        ..Document::default()
    }
}

/// Returns the campaign in the JSON form.
pub fn json(campaign: &Campaign, module: &Module) -> String {
    json_with(campaign, module, &Supplements::default())
}

/// Returns the campaign in the JSON form, with supplements.
pub fn json_with(campaign: &Campaign, module: &Module, extras: &Supplements) -> String {
    document(campaign, module, extras).to_json()
}

/// Returns the calls before the call under test and the inputs, like [`document::Test::given`] of the converted test.
pub fn test_inputs(test: &TestCase, module: &Module) -> String {
    let calls = test.earlier().iter().map(|call| called(call, objects_of(test), module));
    document::given(calls, Json::of(&Inputs { test, types: &module.types }).text())
}

/// Returns one test with its coverage, as one line of JSON.
pub fn test_json(test: &TestCase, covers: &[CoveredObjective<'_>], module: &Module) -> String {
    let text = serde_json::to_string(&test_of(test, covers, module));
    text.expect("invariant: every key is a string and nothing here refuses to be written")
}

pub(crate) fn place(span: Span, files: &Files) -> Position {
    let file = files.get(span.file).filter(|_| span.is_some());
    Position { file: file.cloned(), line: file.map(|_| span.line), column: file.map(|_| span.column) }
}

/// Converts a span.
pub fn reported_range(span: Span, files: &Files) -> ReportedRange {
    let Position { file, line, column } = place(span, files);
    let known = file.is_some();
    ReportedRange {
        file,
        line,
        column,
        end_line: known.then_some(span.end_line),
        end_column: known.then_some(span.end_column),
    }
}

fn function(
    result: &FunctionResult,
    campaign: &Campaign,
    errors: &ErrorTests<'_>,
    module: &Module,
) -> document::ReportedFunction {
    let files = &module.files;
    let criterion = result.criterion.to_string();
    let own = |given: &&Objective| given.function == result.name && given.criterion == criterion;
    let by_error = campaign.objectives.iter().filter(own).filter(|given| errors.cover(given)).count() as u64;
    let (objectives, paths) = (&result.objectives, &result.paths);
    let incomplete = |paths: &IncompletePaths| document::IncompletePaths {
        why: paths.why.to_string(),
        reason: Some(paths.why.word().to_string()),
        at: place(paths.span, files),
        count: paths.count,
    };
    let span = module.function_named(&result.name).map(|id| module.functions[id].span).filter(Span::is_some);
    document::ReportedFunction {
        name: result.name.clone(),
        key: None,
        file: result.file.clone(),
        line: span.map(|span| span.line),
        end_line: span.map(|span| span.end_line),
        criterion: result.criterion.to_string(),
        objectives: document::Counts {
            total: objectives.total,
            covered: objectives.covered,
            infeasible: objectives.infeasible,
            unknown: objectives.unknown,
            uncovered: objectives.uncovered,
            by_error,
            unaffected: objectives.unaffected,
        },
        paths: document::Paths {
            explored: paths.explored,
            infeasible: paths.infeasible,
            error: paths.error,
            incomplete: paths.incomplete,
            longer: paths.longer,
        },
        tests: result.tests,
        exhaustive: result.exhaustive,
        seconds: finite(result.seconds),
        cached: false,
        replay_seconds: finite(result.replay_seconds),
        solver: document::SolverUsage { queries: result.solver.queries, seconds: finite(result.solver.seconds) },
        incomplete: result.incomplete.iter().map(incomplete).collect(),
        assumptions: result.assumptions.iter().map(assumption).collect(),
    }
}

fn assumption(assumption: &touchstone_criteria::Assumption) -> document::Assumption {
    document::Assumption { text: assumption.text.clone(), by: assumption.by.to_string() }
}

/// Rounds to milliseconds; infinities and NaNs have no JSON form.
fn finite(seconds: f64) -> f64 {
    if seconds.is_finite() { (seconds * 1e3).round() / 1e3 } else { 0.0 }
}

/// Separates a reason into its sentence and its stable word.
pub(crate) fn said(why: Option<(String, &'static str)>) -> (Option<String>, Option<String>) {
    why.map(|(sentence, word)| (sentence, word.to_string())).unzip()
}

fn objective(objective: &Objective, by_error: bool, files: &Files) -> document::Objective {
    let (status, why, tests) = match &objective.status {
        Status::Covered(tests) => (Verdict::Covered, None, tests.iter().map(Name::from).collect()),
        Status::Infeasible(why) => (Verdict::Infeasible, Some((why.to_string(), why.word())), Vec::new()),
        Status::Unknown(why) => (Verdict::Unknown, Some((why.to_string(), why.word())), Vec::new()),
        Status::Uncovered => (Verdict::Uncovered, None, Vec::new()),
        Status::Unaffected => (Verdict::Unaffected, None, Vec::new()),
    };
    let (why, reason) = said(why);
    document::Objective {
        id: objective.id.clone(),
        criterion: objective.criterion.clone(),
        function: objective.function.clone(),
        at: reported_range(objective.span, files),
        text: objective.text.clone(),
        status,
        why,
        reason,
        tests,
        by_error,
        excluded: None,
        variant: None,
        count: None,
    }
}

fn test_of(test: &TestCase, covers: &[CoveredObjective<'_>], module: &Module) -> document::Test {
    let (outcome, exit_status, error) = match &test.outcome {
        Outcome::Returned => ("returned", None, None),
        Outcome::OracleRejected => ("oracle_rejected", None, None),
        Outcome::Threw { .. } => ("threw", None, None),
        Outcome::Exited(status) => ("exited", Some(*status), None),
        Outcome::Hung => ("hung", None, None),
        Outcome::Error { kind, span } => {
            let at = place(*span, &module.files);
            ("error", None, Some(document::TestError { kind: kind.to_string(), at }))
        }
    };
    let (replay, replay_why) = match &test.replayed {
        Replay::NotRun => (document::Replay::NotRun, None),
        Replay::Agreed => (document::Replay::Agreed, None),
        Replay::Disagreed(why) => (document::Replay::Disagreed, Some((why.to_string(), why.word()))),
        Replay::NotCheckable(why) => (document::Replay::NotCheckable, Some((why.to_string(), why.word()))),
    };
    let (replay_why, reason) = said(replay_why);
    let id = |covered: &CoveredObjective<'_>| Name::from(&covered.objective.id);
    document::Test {
        id: test.id.clone(),
        function: test.function.clone(),
        description: test.description.clone(),
        heap: test.heap.remark().map(|_| document::ON_ANY_HEAP.1.to_string()),
        older: test.older.clone(),
        path: format!("{:016x}", test.path),
        earlier: test.earlier().iter().map(|call| earlier_of(call, objects_of(test), module)).collect(),
        inputs: Json::of(&Inputs { test, types: &module.types }),
        brief: brief(test, module),
        outcome: outcome.to_string(),
        exit_status,
        threw: match &test.outcome {
            Outcome::Threw { class } => Some(class.clone()),
            _ => None,
        },
        error,
        expected: Json::of(&ExpectedJson { test, module }),
        covers: covers.iter().map(id).collect(),
        covers_alone: covers.iter().filter(|covered| covered.alone).map(id).collect(),
        replayed: test.replayed == Replay::Agreed,
        replay,
        replay_why,
        reason,
    }
}

fn earlier_of(call: &EarlierCall, objects: &[ObjectInput], module: &Module) -> document::EarlierCall {
    let types = &module.types;
    let function = module.function_named(&call.function).map(|id| &module.functions[id]);
    let result = function.zip(call.result.as_ref()).and_then(|(function, value)| {
        serde_json::to_value(Shown { types, objects, ty: function.result_data, value }).ok()
    });
    document::EarlierCall {
        call: called(call, objects, module),
        function: call.function.clone(),
        inputs: Json::of(&Named { list: &call.params, objects, types }),
        result,
    }
}

fn objects_of(test: &TestCase) -> &[ObjectInput] {
    match &test.kind {
        TestKind::Function { objects, .. } => objects,
        TestKind::Program => &[],
    }
}

/// Parameters, globals and environment inputs by name. An array parameter is shown as its elements; objects that other
/// pointers point to come last, under `objects`. An unnamed parameter gets its position as a name, a repeated name a
/// number.
struct Inputs<'a> {
    test: &'a TestCase,
    types: &'a DataTypes,
}

impl Serialize for Inputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut names = Names::default();
        match &self.test.kind {
            TestKind::Function { params, globals, objects, .. } => {
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
            TestKind::Program => {}
        }
        for input in &self.test.answers {
            let name = names.unique(&input.title());
            match input.typed(self.types) {
                Some((ty, value)) => {
                    map.serialize_entry(&name, &Shown { types: self.types, objects: &[], ty, value: &value })?;
                }
                None => map.serialize_entry(&name, &input.bytes)?,
            }
        }
        map.end()
    }
}

/// A generator of unique names.
#[derive(Default)]
struct Names {
    given: HashSet<String>,
    /// For each requested name, the last number that was appended to it.
    numbers: HashMap<String, usize>,
}

impl Names {
    fn unique(&mut self, name: &str) -> String {
        let position = self.given.len() + 1;
        let plain = if name.is_empty() { format!("#{position}") } else { name.to_string() };
        let mut made = plain.clone();
        while !self.given.insert(made.clone()) {
            let number = self.numbers.entry(plain.clone()).or_insert(1);
            *number += 1;
            made = format!("{plain}#{number}");
        }
        made
    }
}

/// Named values as one JSON object.
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

/// Objects by name, with their own or with other values: an array as a list, a single pointee as its value.
struct Objects<'a> {
    objects: &'a [ObjectInput],
    values: Option<&'a [Vec<DataValue>]>,
    types: &'a DataTypes,
    /// Objects that are already shown.
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

/// The expected results; unknown ones are omitted.
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
        if let Some(calls) = expected.calls.as_ref().filter(|calls| !calls.is_empty()) {
            let calls: Vec<CallJson> =
                calls.iter().map(|call| CallJson { call, objects, module: self.module }).collect();
            map.serialize_entry("calls", &calls)?;
        }
        if let Some(output) = &expected.output {
            map.serialize_entry("output", &String::from_utf8_lossy(output))?;
        }
        map.end()
    }
}

/// A call of an external function: `{"function": "measure", "arguments": [3]}`.
struct CallJson<'a> {
    call: &'a touchstone_criteria::ExpectedCall,
    objects: &'a [ObjectInput],
    module: &'a Module,
}

impl Serialize for CallJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let function = self.module.function_named(&self.call.function).map(|id| &self.module.functions[id]);
        let params = function.map_or(&[][..], |function| function.own_params());
        let shown = |(param, value): (&touchstone_ir::Param, _)| Shown {
            types: &self.module.types,
            objects: self.objects,
            ty: param.data,
            value,
        };
        let arguments: Vec<Shown> = params.iter().zip(&self.call.arguments).map(shown).collect();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("function", &self.call.function)?;
        map.serialize_entry("arguments", &arguments)?;
        map.end()
    }
}
