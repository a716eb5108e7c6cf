//! Snapshots of reports with objectives and truth tables.

use touchstone_base::{FileId, Id, IndexMap, Span};
use touchstone_criteria::{
    Bound, Campaign, Criterion, DecisionEvaluation, DecisionGraph, DecisionStep, DecisionTable, FunctionResult, Goal,
    Incomplete, IncompletePaths, Objective, ObjectiveCounts, Objectives, PairSearch, PairsStopped, PathCounts, PathsOf,
    Row, SolverUse, Status, WhyInfeasible, WhyUnknown, decision_tables,
};
use touchstone_ir::{
    BoolTree, CondId, Condition, DataType, Decision, DecisionId, DecisionKind, FuncId, Function, FunctionRole, Module,
};
use touchstone_report::{Detail, Style, Supplements, document, json_with, text};

fn span(line: u32) -> Span {
    Span::at(FileId::new(0), line, 9)
}

fn module() -> Module {
    let mut module = Module::default();
    module.files.push("src/control.c".into());
    module
}

fn criterion(name: &str) -> Criterion {
    name.parse().expect("a criterion")
}

fn result(name: &str, criterion_name: &str, [total, covered, infeasible, unknown]: [u64; 4]) -> FunctionResult {
    FunctionResult {
        name: name.into(),
        file: "src/control.c".into(),
        criterion: criterion(criterion_name),
        objectives: ObjectiveCounts { total, covered, infeasible, unknown, ..ObjectiveCounts::default() },
        paths: PathCounts { explored: 14, infeasible: 3, error: 0, incomplete: 0, longer: 0 },
        incomplete: Vec::new(),
        tests: 6,
        exhaustive: unknown == 0,
        assumptions: Vec::new(),
        seconds: 0.125,
        replay_seconds: 0.5,
        solver: SolverUse::default(),
    }
}

fn objective(id: &str, criterion: &str, line: u32, text: &str, status: Status) -> Objective {
    let text = text.to_string();
    Objective { id: id.into(), criterion: criterion.into(), function: "step".into(), span: span(line), text, status }
}

fn shown(campaign: &Campaign, extras: &Supplements, detail: Detail, style: Style) -> String {
    text(&document(campaign, &module(), extras), detail, style)
}

/// Compares the report, and checks that no line is wider than the style.
fn check(campaign: &Campaign, extras: &Supplements, style: Style, expected: &str) {
    let report = shown(campaign, extras, Detail::Short, style);
    assert_eq!(report, expected, "\n{report}");
    for line in report.lines() {
        assert!(line.chars().count() <= style.width, "too wide: {line}");
    }
}

#[test]
fn criteria_of_one_function_share_its_tests_and_times() {
    let mut other = result("limit_of_the_controller", "mcdc", [0, 0, 0, 0]);
    other.replay_seconds = 0.0;
    let functions = vec![
        result("step", "stmt", [12, 12, 0, 0]),
        result("step", "branch", [1000, 999, 0, 1]),
        result("step", "mcdc", [24, 13, 2, 9]),
        result("step", "wm", [300, 1, 0, 299]),
        result("step", "rte", [4, 0, 4, 0]),
        other,
    ];
    let campaign = Campaign { functions, ..Campaign::default() };
    check(
        &campaign,
        &Supplements::default(),
        Style { color: false, width: 120 },
        "\
function                 criterion   covered  infeasible  unknown  of feasible                 tests  explore  replay
step                     stmt          12/12           0        0  100% of 12        ████████      6     0.12    0.50
                         branch     999/1000           0        1   99% of 1000      ███████░
                         mcdc          13/24           2        9   59% of 22        ████░░░░
                         wm            1/300           0      299   <1% of 300       ░░░░░░░░
                         rte             0/4           4        0  -
limit_of_the_controller  mcdc            0/0           0        0  nothing to cover                6     0.12       -
",
    );
}

#[test]
fn a_narrow_table_has_a_short_bar_or_none() {
    let campaign = Campaign { functions: vec![result("step", "mcdc", [24, 11, 2, 11])], ..Campaign::default() };
    let bar = |width: usize| {
        let report = shown(&campaign, &Supplements::default(), Detail::Short, Style { color: false, width });
        report.chars().filter(|c| matches!(c, '█' | '░')).count()
    };
    assert_eq!([bar(100), bar(94), bar(91), bar(70)], [8, 6, 0, 0]);
}

#[test]
fn paths_and_goals_are_tables_of_their_own() {
    let mut paths = result("step", "paths", [0, 0, 0, 0]);
    paths.criterion = Criterion::Paths(PathsOf::Any);
    let campaign = Campaign { functions: vec![paths, result("step", "stmt", [3, 3, 0, 0])], ..Campaign::default() };
    check(
        &campaign,
        &Supplements::default(),
        Style::default(),
        "\
function  criterion  tests  paths  infeasible  errors  incomplete  explore  replay
step      paths          6     14           3       0           0     0.12    0.50  complete

function  criterion  covered  infeasible  unknown  of feasible            tests  explore  replay
step      stmt           3/3           0        0  100% of 3    ████████      6     0.12    0.50
",
    );
}

/// Returns a campaign with gaps.
fn unfinished() -> Campaign {
    let exhaustive = || Status::Infeasible(WhyInfeasible::Exhaustive);
    let bound = || {
        let place = "src/control.c:30:9".to_string();
        Status::Unknown(WhyUnknown::GivenUp { why: vec![Incomplete::Bound(Bound::LoopBound)], place })
    };
    let mut functions = vec![result("step", "condition", [9, 2, 5, 2]), result("step", "mcdc", [2, 1, 0, 1])];
    for function in &mut functions {
        let why = Incomplete::Bound(Bound::LoopBound);
        function.incomplete = vec![IncompletePaths { why, span: span(30), count: 2 }];
    }
    let long = "speed_of_the_left_wheel_in_rounds_per_minute > speed_of_the_right_wheel is true and independently affects the outcome";
    let objectives = vec![
        objective("step.condition.1.0badcafe", "condition", 3, "a is true", Status::Covered(vec!["step_1".into()])),
        objective("step.condition.2.0badcafe", "condition", 4, "b is true", exhaustive()),
        objective(
            "step.condition.3.0badcafe",
            "condition",
            12,
            "c is true",
            Status::Infeasible(WhyInfeasible::Constant),
        ),
        objective("step.condition.4.0badcafe", "condition", 13, "c is false", exhaustive()),
        objective("step.condition.5.0badcafe", "condition", 13, "d is true", exhaustive()),
        objective("step.condition.6.0badcafe", "condition", 14, "d is false", exhaustive()),
        objective("step.condition.7.0badcafe", "condition", 31, "i < n is false", bound()),
        objective("step.condition.18.0badcafe", "condition", 32, "n is odd", Status::Unknown(WhyUnknown::NotTried)),
        objective("step.mcdc.1.0badcafe", "mcdc", 31, long, bound()),
    ];
    Campaign { functions, objectives, tests: Vec::new() }
}

#[test]
fn infeasible_objectives_are_counted_and_unknown_ones_are_listed() {
    check(
        &unfinished(),
        &Supplements::default(),
        Style::default(),
        "\
function  criterion  covered  infeasible  unknown  of feasible            tests  explore  replay
step      condition      2/9           5        2   50% of 4    ████░░░░      6     0.12    0.50
          mcdc           1/2           0        1   50% of 2    ████░░░░

infeasible
  condition: 1 constant, 4 exhaustive
    step.condition.2.0badcafe  src/control.c:4:9   b is true
    step.condition.3.0badcafe  src/control.c:12:9  c is true
    step.condition.4.0badcafe  src/control.c:13:9  c is false
    … and 2 more; --verbose lists them

unknown
  bound: --loop-bound at src/control.c:30:9 (2 objectives)
    step.condition.7.0badcafe  src/control.c:31:9  i < n is false
    step.mcdc.1.0badcafe       src/control.c:31:9  speed_of_the_left_wheel_in_rounds_per_minute > s…
  not tried
    step.condition.18.0badcafe  src/control.c:32:9  n is odd

incomplete
  step: bound hit at src/control.c:30:9; raise --loop-bound (2 paths)
",
    );
    let all = shown(&unfinished(), &Supplements::default(), Detail::Everything, Style::default());
    assert!(all.contains("step.condition.6.0badcafe") && !all.contains("more"), "{all}");
}

fn cond(index: usize) -> Box<BoolTree> {
    Box::new(BoolTree::Cond(CondId::new(index)))
}

/// Returns the table of a decision over conditions with these texts, from tests with their values (`TF-`).
fn table(text: &str, tree: BoolTree, conditions: &[&str], tests: &[(&str, &str)]) -> DecisionTable {
    let condition = |text: &&str| Condition { span: span(7), text: text.to_string() };
    let conditions = conditions.iter().map(condition).collect();
    let decision = Decision { kind: DecisionKind::If, span: span(7), text: text.into(), tree, conditions };
    let graph = DecisionGraph::new(&decision);
    let row = |values: &str| -> Row {
        let mut walk = DecisionEvaluation::default();
        loop {
            match walk.at(&graph) {
                DecisionStep::Done(result) => return walk.row(result),
                DecisionStep::Node(node) => {
                    let value = values.chars().nth(graph.nodes[node].condition.index());
                    walk.step(&graph, value == Some('T'));
                }
            }
        }
    };
    let test = |(id, values): &(&str, &str)| {
        let rows = values.split(' ').map(|values| (DecisionId::new(0), row(values)));
        (id.to_string(), if values.is_empty() { Vec::new() } else { rows.collect() })
    };
    let tests: Vec<_> = tests.iter().map(test).collect();
    let mut module = module();
    let result_data = module.types.push(DataType::Bool { name: "_Bool".into() });
    let function = Function {
        name: "step".into(),
        span: span(1),
        internal: false,
        role: FunctionRole::Program,
        variadic: false,
        left_open: Default::default(),
        params: Vec::new(),
        result: None,
        result_data,
        aggregate_result: false,
        regs: IndexMap::new(),
        slots: IndexMap::new(),
        decisions: [decision].into_iter().collect(),
        points: IndexMap::new(),
        blocks: IndexMap::new(),
    };
    decision_tables(&function, &tests).remove(0)
}

fn and(a: Box<BoolTree>, b: Box<BoolTree>) -> Box<BoolTree> {
    Box::new(BoolTree::And(a, b))
}

fn or(a: Box<BoolTree>, b: Box<BoolTree>) -> Box<BoolTree> {
    Box::new(BoolTree::Or(a, b))
}

/// Returns a complete table, one with a proved gap, one with shown values but without a pair, and one that was never
/// evaluated.
fn tables() -> Vec<DecisionTable> {
    let complete = table(
        "on && hot",
        *and(cond(0), cond(1)),
        &["on", "hot"],
        &[("step_1", "TT"), ("step_2", "TF TF"), ("step_3", "FF")],
    );
    let mut gap = table(
        "(on && !late) || late",
        *or(and(cond(0), Box::new(BoolTree::Not(cond(1)))), cond(2)),
        &["on", "late", "late"],
        &[
            ("step_1", "TFF TTT"),
            ("step_2", "FTT"),
            ("step_3", "FFF"),
            ("step_4", "TFF"),
            ("step_5", "TFF"),
            ("step_6", "TFF"),
        ],
    );
    let func = FuncId::new(0);
    let mut objectives = Objectives::default();
    let decision = DecisionId::new(0);
    objectives.goals.push(Goal::Independent { func, decision, condition: CondId::new(1), value: true });
    objectives.list.push(objective("o", "mcdc", 7, "", Status::Infeasible(WhyInfeasible::Exhaustive)));
    gap.judge(func, &objectives);
    let no_pair = table(
        "left != right",
        BoolTree::Xor(cond(0), cond(1)),
        &["left", "right"],
        &[("step_1", "TF"), ("step_2", "FT")],
    );
    let unseen = table("never", *cond(0), &["never"], &[("step_1", "")]);
    vec![complete, gap, no_pair, unseen]
}

#[test]
fn decisions_that_are_not_fully_shown_have_their_table() {
    let campaign = Campaign { functions: vec![result("step", "mcdc", [12, 10, 1, 1])], ..Campaign::default() };
    let extras = Supplements { decisions: tables(), ..Supplements::default() };
    check(
        &campaign,
        &extras,
        Style::default(),
        "\
function  criterion  covered  infeasible  unknown  of feasible            tests  explore  replay
step      mcdc         10/12           1        1   90% of 11   ███████░      6     0.12    0.50

decisions
  step  src/control.c:7:9  5 of 6 shown
    (on && !late) || late
       c1 c2 c3  result  shows  tests
    1   F  -  F  F       c1 c3  step_3
    2   F  -  T  T       c3     step_2
    3   T  F  -  T       c1 c2  step_1 step_4 step_5 +1
    4   T  T  T  T       c3     step_1
    c1  on    rows 1 and 3 (unique cause)
    c2  late  true: infeasible (exhaustive)
    c3  late  rows 1 and 2 (unique cause)

  step  src/control.c:7:9  4 of 4 shown
    left != right
       c1 c2  result  shows  tests
    1   F  T  T       c1 c2  step_2
    2   T  F  T       c1 c2  step_1
    ?   T  T  F       c1 c2  needed
    c1  left   both values shown, but never with different results
    c2  right  both values shown, but never with different results

  step  src/control.c:7:9  0 of 2 shown
    never
    no test evaluates it
       c1  result  shows  tests
    ?   T  T       c1     needed
    ?   F  F       c1     needed
    c1  never  both values: not shown
",
    );
    let verbose = shown(&campaign, &extras, Detail::Everything, Style::default());
    assert!(verbose.contains("4 of 4 shown\n    on && hot\n"), "{verbose}");
    let other = Campaign { functions: vec![result("step", "stmt", [1, 1, 0, 0])], ..Campaign::default() };
    let other = shown(&other, &extras, Detail::Short, Style::default());
    assert!(!other.contains("decisions"), "MC/DC was not requested: {other}");
}

#[test]
fn a_condition_without_unique_cause_pair_says_how_the_search_for_one_ended() {
    let campaign = Campaign { functions: vec![result("step", "mcdc", [8, 8, 0, 0])], ..Campaign::default() };
    let and = |first: usize| Box::new(BoolTree::And(cond(first), cond(first + 1)));
    let rows = [("step_1", "FFFF"), ("step_2", "TTFF"), ("step_3", "TFTF"), ("step_4", "TFTT")];
    let table = table("(a && b) || (c && d)", BoolTree::Or(and(0), and(2)), &["a", "b", "c", "d"], &rows);
    let check = |pair_search: PairSearch, detail: Detail, expected: Option<&str>| {
        let decisions = vec![DecisionTable { pair_search, ..table.clone() }];
        let report = shown(&campaign, &Supplements { decisions, ..Supplements::default() }, detail, Style::default());
        let line = report.lines().find(|line| line.starts_with("    c3  c")).map(str::trim);
        assert_eq!(line, expected, "{report}");
    };
    check(PairSearch::Finished, Detail::Short, None);
    check(PairSearch::NotAsked, Detail::Everything, Some("c3  c  rows 1 and 3 (masking)"));
    check(
        PairSearch::Finished,
        Detail::Everything,
        Some("c3  c  rows 1 and 3 (masking; no inputs found for a unique-cause pair)"),
    );
    let stopped = || PairSearch::Stopped(PairsStopped::Incomplete(Incomplete::Bound(Bound::PairQueries)));
    let expected = "c3  c  rows 1 and 3 (masking; search for a unique-cause pair stopped, bound: --pair-queries)";
    check(stopped(), Detail::Short, Some(expected));
    check(stopped(), Detail::Everything, Some(expected));
}

#[test]
fn a_decision_with_many_conditions_and_rows_stays_readable() {
    let (mut tree, mut texts) = (*cond(0), vec!["condition_number_0 > 0".to_string()]);
    for index in 1..40 {
        tree = BoolTree::And(Box::new(tree), cond(index));
        texts.push(format!("condition_number_{index} > 0"));
    }
    let values: Vec<String> =
        (0..40).map(|zero| (0..40).map(|at| if at == zero { 'F' } else { 'T' }).collect()).collect();
    let tests: Vec<(&str, &str)> = values.iter().map(|values| ("step_1", values.as_str())).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let table = table(&texts.join(" && "), tree, &texts, &tests);
    let campaign = Campaign { functions: vec![result("step", "mcdc", [80, 40, 0, 40])], ..Campaign::default() };
    let extras = Supplements { decisions: vec![table], ..Supplements::default() };
    let report = shown(&campaign, &extras, Detail::Short, Style::default());
    let line = |start: &str| report.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_string();
    assert!(report.lines().all(|line| line.chars().count() <= 100), "{report}");
    assert!(line("  step  src").ends_with("  40 of 80 shown"), "{report}");
    assert!(line("    condition_number_0").ends_with(" && condition_number_…"), "{report}");
    assert_eq!(
        line("     2"),
        "     2  TF--------------------------------------  F       c2                     step_1"
    );
    assert!(report.contains("    … and 16 more rows\n"), "{report}");
    assert_eq!(line("    c40"), "    c40  condition_number_39 > 0  true: not shown");
}

#[test]
fn tables_are_json_with_positions() {
    let campaign = Campaign::default();
    let extras = Supplements { decisions: tables(), ..Supplements::default() };
    let report: serde_json::Value = serde_json::from_str(&json_with(&campaign, &module(), &extras)).expect("JSON");
    let shown = serde_json::json!({"status": "shown", "why": null});
    let condition = |text: &str, yes: &serde_json::Value, no: &serde_json::Value| serde_json::json!({"text": text, "file": "src/control.c", "line": 7, "column": 9, "end_line": 7, "end_column": 9, "true": yes, "false": no});
    let infeasible = serde_json::json!({"status": "infeasible", "why": "exhaustive", "reason": "exhaustive"});
    let expected = serde_json::json!({
        "function": "step", "file": "src/control.c", "line": 7, "column": 9,
        "end_line": 7, "end_column": 9, "text": "(on && !late) || late",
        "conditions": [
            condition("on", &shown, &shown), condition("late", &infeasible, &shown), condition("late", &shown, &shown),
        ],
        "rows": [
            {"values": [false, null, false], "result": false, "shows": [0, 2], "tests": ["step_3"]},
            {"values": [false, null, true], "result": true, "shows": [2], "tests": ["step_2"]},
            {"values": [true, false, null], "result": true, "shows": [0, 1],
             "tests": ["step_1", "step_4", "step_5", "step_6"]},
            {"values": [true, true, true], "result": true, "shows": [2], "tests": ["step_1"]},
        ],
        "pairs": [
            {"condition": 0, "kind": "unique_cause", "rows": [0, 2]},
            {"condition": 2, "kind": "unique_cause", "rows": [0, 1]},
            {"condition": 2, "kind": "masking", "rows": [0, 3]},
        ],
        "pairs_left_out": 0,
        "pair_search": {"status": "not_asked", "why": null},
    });
    assert_eq!(report["decisions"][1], expected);
    assert_eq!(report["decisions"][2]["pairs"], serde_json::json!([]));
    assert_eq!(report["decisions"][3]["conditions"][0]["true"]["status"], "not_shown");
    assert_eq!(report["decisions"].as_array().map(Vec::len), Some(4));
}
