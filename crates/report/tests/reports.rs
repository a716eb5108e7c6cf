//! Snapshots of the reports of a small campaign.

use touchstone_base::{FileId, Id, IndexMap, Span};
use touchstone_criteria::{
    Bound, Campaign, Criterion, Disagreement, EnvironmentInput, Expected, FunctionResult, Incomplete, IncompletePaths,
    NamedValue, NotCheckable, ObjectInput, ObjectOrigin, Objective, ObjectiveCounts, Outcome, PathCounts, PathsOf,
    Replay, SolverUse, Status, TestCase, TestKind, Unsupported, WhyInfeasible, WhyUnknown,
};
use touchstone_ir::{
    DataType, DataTypeId, DataValue, EnumItem, ErrorKind, Field, Function, FunctionRole, InputSource, IntKind, Module,
    PointerTarget,
};
use touchstone_report::{Detail, Style, Supplements, document, json, test_json, text};

struct Types {
    int: DataTypeId,
    char: DataTypeId,
    byte: DataTypeId,
    bool: DataTypeId,
    color: DataTypeId,
    pointer: DataTypeId,
    node: DataTypeId,
}

fn module() -> (Module, Types) {
    let mut module = Module::default();
    module.files.push("src/max3.c".into());
    let integer = |name: &str, bits, signed| {
        let kind = if name == "char" { IntKind::Character } else { IntKind::Number };
        DataType::Int { name: name.into(), bits, signed, kind }
    };
    let int = module.types.push(integer("int", 32, true));
    let char = module.types.push(integer("char", 8, true));
    let byte = module.types.push(integer("uint8_t", 8, false));
    let bool = module.types.push(DataType::Bool { name: "_Bool".into() });
    let items = vec![EnumItem { name: "RED".into(), value: 0 }, EnumItem { name: "GREEN".into(), value: 5 }];
    let color = module.types.push(DataType::Enum { name: "enum color".into(), bits: 32, signed: false, items });
    let pointer = module.types.push(DataType::Pointer { pointee: int, to_const: false });
    let field = |name: &str, offset, ty| Field { name: name.into(), offset, ty };
    let fields = vec![field("value", 0, int), field("next", 8, pointer)];
    let node = module.types.push(DataType::Struct {
        name: "struct node".into(),
        fields,
        size: 16,
        align: 8,
        kind: touchstone_ir::StructKind::Record,
    });
    module.functions.push(Function {
        name: "max3".into(),
        span: span(1),
        internal: false,
        role: FunctionRole::Program,
        variadic: false,
        left_open: Default::default(),
        params: Vec::new(),
        result: None,
        result_data: int,
        aggregate_result: false,
        regs: IndexMap::new(),
        slots: IndexMap::new(),
        decisions: IndexMap::new(),
        points: IndexMap::new(),
        blocks: IndexMap::new(),
    });
    (module, Types { int, char, byte, bool, color, pointer, node })
}

fn span(line: u32) -> Span {
    Span::at(FileId::new(0), line, 7)
}

fn int(value: i64) -> DataValue {
    DataValue::Int(touchstone_ir::mask(value as u64, 32))
}

fn to(object: usize, offset: i64) -> DataValue {
    DataValue::Pointer(PointerTarget::Object { object, offset })
}

fn null() -> DataValue {
    DataValue::Pointer(PointerTarget::Null)
}

fn named(name: &str, data: DataTypeId, value: DataValue) -> NamedValue {
    NamedValue { name: name.into(), data, value }
}

fn test(id: &str, params: Vec<NamedValue>, objects: Vec<ObjectInput>) -> TestCase {
    TestCase {
        id: id.into(),
        function: "max3".into(),
        kind: TestKind::Function { earlier: Vec::new(), params, globals: Vec::new(), objects },
        answers: Vec::new(),
        outcome: Outcome::Returned,
        expected: Expected::default(),
        oracle: None,
        description: "a > b".into(),
        path: 0xabc,
        covers: vec![],
        heap: touchstone_criteria::HeapOrigin::Made,
        needs_initial_state: false,
        older: None,
        replayed: Replay::Agreed,
    }
}

fn function(name: &str, seconds: f64) -> FunctionResult {
    FunctionResult {
        name: name.into(),
        file: "src/max3.c".into(),
        criterion: Criterion::Paths(PathsOf::Any),
        objectives: ObjectiveCounts::default(),
        paths: PathCounts { explored: 4, infeasible: 2, error: 0, incomplete: 0, longer: 0 },
        incomplete: Vec::new(),
        tests: 4,
        exhaustive: true,
        assumptions: Vec::new(),
        seconds,
        replay_seconds: 0.25,
        solver: SolverUse { queries: 9, seconds: 0.0104 },
    }
}

fn shown(campaign: &Campaign, module: &Module, style: Style) -> String {
    text(&document(campaign, module, &Supplements::default()), Detail::Short, style)
}

#[test]
fn a_clean_run_is_one_line_a_function() {
    let (module, types) = module();
    let mut long = function("get_order_of_all", 1.5);
    long.tests = 12345;
    long.criterion = Criterion::Paths(PathsOf::Iterations(3));
    long.paths.longer = 8;
    let tests = vec![test("max3_1", vec![named("a", types.int, int(1))], Vec::new())];
    let campaign = Campaign { functions: vec![function("max3", 0.0), long], objectives: Vec::new(), tests };
    let expected = "\
function          criterion  tests  paths  infeasible  errors  incomplete  explore  replay
max3              paths          4      4           2       0           0     0.00    0.25  complete
get_order_of_all  paths:3    12345      4           2       0           0     1.50    0.25  complete (8 with more iterations left out)

replay: 1 agreed
";
    assert_eq!(shown(&campaign, &module, Style::default()), expected);
}

#[test]
fn what_needs_a_look_follows_the_table() {
    let (module, types) = module();
    let node = |value, next| DataValue::Struct(vec![int(value), next]);
    let list = ObjectInput {
        name: "list".into(),
        element: types.node,
        values: vec![node(5, to(1, 0))],
        is_array: false,
        on_heap: false,
        origin: ObjectOrigin::Values,
    };
    let next = ObjectInput {
        name: "list_next".into(),
        element: types.int,
        values: vec![int(-1)],
        is_array: false,
        on_heap: false,
        origin: ObjectOrigin::Values,
    };
    let a = ObjectInput {
        name: "a".into(),
        element: types.int,
        values: vec![int(0), int(-7)],
        is_array: true,
        on_heap: false,
        origin: ObjectOrigin::Values,
    };
    let s = ObjectInput {
        name: "s".into(),
        element: types.char,
        values: vec![DataValue::Int(104), DataValue::Int(105), DataValue::Int(0)],
        is_array: true,
        on_heap: false,
        origin: ObjectOrigin::Values,
    };
    let error = |id, params, objects, kind, line| {
        let mut test = test(id, params, objects);
        test.outcome = Outcome::Error { kind, span: span(line) };
        test
    };
    let pointer = |name, object| named(name, types.pointer, to(object, 0));
    let mut unseen = error("max3_3", vec![pointer("s", 0)], vec![s], ErrorKind::Uninitialised, 30);
    unseen.replayed = Replay::NotCheckable(NotCheckable::Uninitialised);
    let mut rejected = test("max3_4", vec![named("c", types.color, int(5)), named("p", types.pointer, null())], vec![]);
    rejected.outcome = Outcome::OracleRejected;
    rejected.expected.result = Some(int(-2));
    let mut wrong = test("max3_5", Vec::new(), Vec::new());
    wrong.replayed = Replay::Disagreed(Disagreement::CheckFailed("result: expected 5, got 6".into()));
    let tests = vec![
        error("max3_1", vec![pointer("list", 0)], vec![list, next], ErrorKind::NullPointer, 9),
        error(
            "max3_2",
            vec![pointer("a", 0), named("i", types.int, int(2))],
            vec![a.clone()],
            ErrorKind::OutOfBounds,
            12,
        ),
        error("max3_2b", vec![pointer("a", 0), named("i", types.int, int(9))], vec![a], ErrorKind::OutOfBounds, 12),
        unseen,
        rejected,
        wrong,
    ];
    let mut result = function("max3", 0.0);
    result.exhaustive = false;
    result.paths.error = 4;
    result.paths.incomplete = 4;
    let given_up = |why, line, count| IncompletePaths { why, span: span(line), count };
    result.incomplete = vec![
        given_up(Incomplete::Bound(Bound::LoopBound), 14, 3),
        given_up(Incomplete::Unsupported(Unsupported::Construct("floating point".into())), 12, 1),
        IncompletePaths { why: Incomplete::Bound(Bound::Timeout), span: Span::none(), count: 7 },
    ];
    let campaign = Campaign { functions: vec![result], objectives: Vec::new(), tests };
    let expected = "\
function  criterion  tests  paths  infeasible  errors  incomplete  explore  replay
max3      paths          4      4           2       4           4     0.00    0.25  incomplete

errors
  null pointer        src/max3.c:9:7             list = {5, &list_next}, list_next = {-1}
  out of bounds       src/max3.c:12:7 (2 paths)  a = {0, -7}, i = 2
  uninitialised read  src/max3.c:30:7            s = \"hi\"

rejected by the oracle
  max3_4  c = GREEN, p = NULL -> -2

incomplete
  max3: bound hit at src/max3.c:14:7; raise --loop-bound (3 paths)
  max3: unsupported: floating point at src/max3.c:12:7 (1 path)
  max3: bound hit; raise --timeout (7 paths)

the real program disagrees
  max3_5: result: expected 5, got 6

replay: 4 agreed, 1 disagreed, 1 not checkable
  1 not checkable: the replay can't see reads of uninitialised memory
";
    assert_eq!(shown(&campaign, &module, Style::default()), expected);
    let narrow = shown(&campaign, &module, Style { color: false, width: 60 });
    assert!(narrow.contains("  null pointer        src/max3.c:9:7             list = {5,…\n"), "{narrow}");
    let colored = shown(&campaign, &module, Style { color: true, width: 100 });
    assert!(colored.contains("\x1b[31merrors\x1b[0m"), "{colored}");
}

#[test]
fn a_test_is_natural_json() {
    let (module, types) = module();
    let node = DataValue::Struct(vec![int(-5), to(1, 4)]);
    let objects = vec![
        ObjectInput {
            name: "list".into(),
            element: types.node,
            values: vec![node],
            is_array: false,
            on_heap: false,
            origin: ObjectOrigin::Values,
        },
        ObjectInput {
            name: "a".into(),
            element: types.int,
            values: vec![int(1), DataValue::Undefined],
            is_array: true,
            on_heap: false,
            origin: ObjectOrigin::Values,
        },
    ];
    let mut test = test(
        "max3_1",
        vec![
            named("list", types.pointer, to(0, 0)),
            named("none", types.pointer, null()),
            named("byte", types.byte, DataValue::Int(255)),
            named("flag", types.bool, DataValue::Int(1)),
            named("", types.color, int(5)),
        ],
        objects,
    );
    test.expected.result = Some(int(-1));
    test.expected.objects = vec![vec![DataValue::Struct(vec![int(6), null()])], vec![int(1), int(2)]];
    test.expected.globals = vec![named("count", types.int, int(-3))];
    test.expected.output = Some(b"hi\n".to_vec());
    let expected = concat!(
        r#"{"id":"max3_1","function":"max3","description":"a > b","path":"0000000000000abc","#,
        r#""inputs":{"list":{"object":"list","offset":0},"none":null,"byte":255,"flag":true,"#,
        r##""#5":5,"objects":{"list":{"value":-5,"next":{"object":"a","offset":4}},"##,
        r#""a":[1,{"undefined":true}]}},"outcome":"returned","expected":{"result":-1,"#,
        r#""objects":{"list":{"value":6,"next":null},"a":[1,2]},"globals":{"count":-3},"output":"hi\n"},"#,
        r#""covers":[],"covers_alone":[],"replayed":true,"replay":"agreed"}"#,
    );
    assert_eq!(test_json(&test, &[], &module), expected);

    test.kind = TestKind::Program;
    test.answers = vec![EnvironmentInput::of_bytes(InputSource::Request, "x", vec![1, 0, 255, 0])];
    test.outcome = Outcome::Error { kind: ErrorKind::Assert, span: span(8) };
    test.expected = Expected::default();
    test.replayed = Replay::Disagreed(Disagreement::CheckFailed("no".into()));
    let expected = concat!(
        r#"{"id":"max3_1","function":"max3","description":"a > b","path":"0000000000000abc","#,
        r#""inputs":{"x":[1,0,255,0]},"brief":"x = 16711681","outcome":"error","#,
        r#""error":{"kind":"assertion failed","file":"src/max3.c","line":8,"column":7},"expected":{},"#,
        r#""covers":[],"covers_alone":[],"replayed":false,"replay":"disagreed","replay_why":"no","reason":"check_failed"}"#,
    );
    assert_eq!(test_json(&test, &[], &module), expected);
    test.outcome = Outcome::Exited(3);
    assert!(test_json(&test, &[], &module).contains(r#""outcome":"exited","exit_status":3,"#));
    test.outcome = Outcome::Threw { class: "java.lang.ArithmeticException".into() };
    let thrown = test_json(&test, &[], &module);
    assert!(thrown.contains(r#""outcome":"threw","threw":"java.lang.ArithmeticException","#), "{thrown}");
}

#[test]
fn the_whole_report_has_the_keys_of_the_contract() {
    let (module, types) = module();
    let mut result = function("max3", 1.23456);
    result.objectives =
        ObjectiveCounts { total: 3, covered: 1, infeasible: 1, unknown: 1, ..ObjectiveCounts::default() };
    result.incomplete = vec![IncompletePaths { why: Incomplete::Bound(Bound::Depth), span: span(14), count: 3 }];
    let objective = |id: &str, status| Objective {
        id: id.into(),
        criterion: "paths".into(),
        function: "max3".into(),
        span: span(2),
        text: "a > b".into(),
        status,
    };
    let campaign = Campaign {
        functions: vec![result],
        objectives: vec![
            objective("o1", Status::Covered(vec!["max3_1".into()])),
            objective("o2", Status::Infeasible(WhyInfeasible::Exhaustive)),
            objective("o3", Status::Unknown(WhyUnknown::NotFollowed)),
        ],
        tests: vec![test("max3_1", vec![named("a", types.int, int(-1))], Vec::new())],
    };
    let expected = r#"{
  "schema_version": 1,
  "functions": [
    {
      "name": "max3",
      "file": "src/max3.c",
      "line": 1,
      "end_line": 1,
      "criterion": "paths",
      "objectives": {
        "total": 3,
        "covered": 1,
        "infeasible": 1,
        "unknown": 1
      },
      "paths": {
        "explored": 4,
        "infeasible": 2,
        "error": 0,
        "incomplete": 0,
        "longer": 0
      },
      "tests": 4,
      "exhaustive": true,
      "seconds": 1.235,
      "replay_seconds": 0.25,
      "solver": {
        "queries": 9,
        "seconds": 0.01
      },
      "incomplete": [
        {
          "why": "bound: --depth",
          "reason": "depth",
          "file": "src/max3.c",
          "line": 14,
          "column": 7,
          "count": 3
        }
      ]
    }
  ],
  "objectives": [
    {
      "id": "o1",
      "criterion": "paths",
      "function": "max3",
      "file": "src/max3.c",
      "line": 2,
      "column": 7,
      "end_line": 2,
      "end_column": 7,
      "text": "a > b",
      "status": "covered",
      "why": null,
      "tests": [
        "max3_1"
      ]
    },
"#;
    let report = json(&campaign, &module);
    assert!(report.starts_with(expected), "{report}");
    let parsed: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(parsed["objectives"][1]["status"], "infeasible");
    assert_eq!(parsed["objectives"][2]["why"], "not followed to the end");
    assert_eq!(parsed["objectives"][2]["reason"], "not_followed");
    assert_eq!(parsed["objectives"][0]["reason"], serde_json::Value::Null);
    let older = touchstone_report::Document::parse(&report.replace("\"reason\"", "\"unheard_of\""));
    let older = older.expect("a document of a version that had no reasons");
    assert_eq!(
        (older.objectives[2].why.as_deref(), &older.objectives[2].reason),
        (Some("not followed to the end"), &None)
    );
    assert_eq!(parsed["tests"][0]["inputs"]["a"], -1);
    let empty: serde_json::Value = serde_json::from_str(&json(&Campaign::default(), &module)).expect("JSON");
    assert_eq!(
        empty,
        serde_json::json!({"schema_version": 1, "functions": [], "objectives": [], "decisions": [], "tests": []})
    );
}
