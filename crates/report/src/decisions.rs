//! Truth tables as JSON. Conditions and rows are named by their position, from 0.

use crate::json::{PlaceJson, place};
use serde::Serialize;
use touchstone_base::{Files, Id};
use touchstone_criteria::{DecisionTable, PairKind, PairSearch, Side, TableCondition, TableRow};

#[derive(Serialize)]
pub(crate) struct DecisionJson<'a> {
    function: &'a str,
    #[serde(flatten)]
    at: PlaceJson,
    text: &'a str,
    conditions: Vec<ConditionJson<'a>>,
    rows: Vec<RowJson<'a>>,
    pairs: Vec<PairJson>,
    /// Pairs that were found and are not listed.
    pairs_left_out: usize,
    /// The search for unique-cause pairs: how it ended, and why it was stopped.
    pair_search: SearchJson<'a>,
}

#[derive(Serialize)]
struct SearchJson<'a> {
    status: &'static str,
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct ConditionJson<'a> {
    text: &'a str,
    #[serde(flatten)]
    at: PlaceJson,
    /// What is known of it deciding with this value.
    r#true: SideJson<'a>,
    r#false: SideJson<'a>,
}

#[derive(Serialize)]
struct SideJson<'a> {
    status: &'static str,
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    /// One a condition; null where it was not evaluated.
    values: Vec<Option<bool>>,
    result: bool,
    shows: Vec<usize>,
    tests: &'a [String],
}

#[derive(Serialize)]
struct PairJson {
    condition: usize,
    kind: &'static str,
    rows: [usize; 2],
}

pub(crate) fn decision_json<'a>(table: &'a DecisionTable, files: &Files) -> DecisionJson<'a> {
    let condition = |condition: &'a TableCondition| ConditionJson {
        text: &condition.text,
        at: place(condition.span, files),
        r#true: side(&condition.sides[1]),
        r#false: side(&condition.sides[0]),
    };
    let row = |row: &'a TableRow| RowJson {
        values: row.values.values().copied().collect(),
        result: row.result,
        shows: row.shows.iter().map(|condition| condition.index()).collect(),
        tests: &row.tests,
    };
    let pairs = table.pairs.iter().map(|pair| PairJson {
        condition: pair.condition.index(),
        kind: match pair.kind {
            PairKind::UniqueCause => "unique_cause",
            PairKind::Masking => "masking",
        },
        rows: pair.rows,
    });
    DecisionJson {
        function: &table.function,
        at: place(table.span, files),
        text: &table.text,
        conditions: table.conditions.values().map(condition).collect(),
        rows: table.rows.iter().map(row).collect(),
        pairs: pairs.collect(),
        pairs_left_out: table.pairs_left_out,
        pair_search: search(&table.pair_search),
    }
}

fn search(search: &PairSearch) -> SearchJson<'_> {
    let (status, why) = match search {
        PairSearch::NotAsked => ("not_asked", None),
        PairSearch::Finished => ("finished", None),
        PairSearch::Stopped(why) => ("stopped", Some(why.as_str())),
    };
    SearchJson { status, why }
}

fn side(side: &Side) -> SideJson<'_> {
    let (status, why) = match side {
        Side::Shown => ("shown", None),
        Side::Infeasible(why) => ("infeasible", Some(why.as_str())),
        Side::Unknown(why) => ("unknown", Some(why.as_str())),
        Side::NotShown => ("not_shown", None),
    };
    SideJson { status, why }
}
