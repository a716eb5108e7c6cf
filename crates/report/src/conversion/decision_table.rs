//! The conversion of truth tables.

use crate::conversion::campaign_document::{reported_range, said};
use crate::document::name::Name;
use crate::document::{
    Condition, ConditionVerdict, Decision, Pair, PairKind, ReportedPairSearch, ReportedRow, SearchStatus, SideStatus,
};
use touchstone_base::{Files, Id};
use touchstone_criteria::{DecisionTable, TableCondition, TableRow};

/// Converts the truth table of a decision.
pub fn decision(table: &DecisionTable, files: &Files) -> Decision {
    let condition = |condition: &TableCondition| Condition {
        text: condition.text.clone(),
        at: reported_range(condition.span, files),
        r#true: side(&condition.sides[1]),
        r#false: side(&condition.sides[0]),
    };
    let row = |row: &TableRow| ReportedRow {
        values: row.values.values().copied().collect(),
        result: row.result,
        shows: row.shows.iter().map(|condition| condition.index()).collect(),
        tests: row.tests.iter().map(Name::from).collect(),
    };
    let pairs = table.pairs.iter().map(|pair| Pair {
        condition: pair.condition.index(),
        kind: match pair.kind {
            touchstone_criteria::PairKind::UniqueCause => PairKind::UniqueCause,
            touchstone_criteria::PairKind::Masking => PairKind::Masking,
        },
        rows: pair.rows,
    });
    Decision {
        function: table.function.clone(),
        at: reported_range(table.span, files),
        text: table.text.clone(),
        conditions: table.conditions.values().map(condition).collect(),
        rows: table.rows.iter().map(row).collect(),
        needed: table.needed().into_iter().map(row).collect(),
        pairs: pairs.collect(),
        pairs_left_out: table.pairs_left_out,
        pair_search: search(&table.pair_search),
        variant: None,
    }
}

fn search(search: &touchstone_criteria::PairSearch) -> ReportedPairSearch {
    use touchstone_criteria::PairSearch as Known;
    let (status, why) = match search {
        Known::NotAsked => (SearchStatus::NotAsked, None),
        Known::Finished => (SearchStatus::Finished, None),
        Known::Stopped(why) => (SearchStatus::Stopped, Some((why.to_string(), why.word()))),
    };
    let (why, reason) = said(why);
    ReportedPairSearch { status, why, reason }
}

fn side(side: &touchstone_criteria::ValueStatus) -> ConditionVerdict {
    use touchstone_criteria::ValueStatus as Known;
    let (status, why) = match side {
        Known::Shown => (SideStatus::Shown, None),
        Known::Infeasible(why) => (SideStatus::Infeasible, Some((why.to_string(), why.word()))),
        Known::Unknown(why) => (SideStatus::Unknown, Some((why.to_string(), why.word()))),
        Known::NotShown => (SideStatus::NotShown, None),
    };
    let (why, reason) = said(why);
    ConditionVerdict { status, why, reason }
}
