//! The form in which a document is kept for later reports: as the JSON form, but who covers what stands apart, and every name once. Of a suite of thousands
//! of tests every objective may name hundreds, and each of them names the objective.

use crate::document::{Document, Json, NoDocument};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A document that says nothing of who covers what, and what says so.
#[derive(Serialize)]
struct Stored<'d> {
    #[serde(flatten)]
    document: &'d Document,
    /// As [`CoveredBy`], in one line.
    covered_by: Json,
}

/// Who covers what, by the numbers of names.
#[derive(Serialize, Deserialize)]
struct CoveredBy {
    /// Tests, and ids of objectives.
    names: Vec<String>,
    /// By objective, in order: tests that cover it.
    objectives: Vec<Vec<u32>>,
    /// By decision and row that was seen, in order: tests that evaluated it.
    rows: Vec<Vec<u32>>,
    /// By test, in order: what it covers,
    covers: Vec<Vec<u32>>,
    /// and what no other covers.
    covers_alone: Vec<Vec<u32>>,
}

/// Lists of names.
type Lists<'d> = Vec<&'d mut Vec<String>>;

/// The lists that stand apart, in the order of [`CoveredBy`].
fn lists(document: &mut Document) -> [Lists<'_>; 4] {
    let rows = document.decisions.iter_mut().flat_map(|decision| &mut decision.rows).map(|row| &mut row.tests);
    let (mut covers, mut covers_alone) = (Vec::new(), Vec::new());
    for test in &mut document.tests {
        covers.push(&mut test.covers);
        covers_alone.push(&mut test.covers_alone);
    }
    [document.objectives.iter_mut().map(|one| &mut one.tests).collect(), rows.collect(), covers, covers_alone]
}

/// Gives names numbers.
#[derive(Default)]
struct Numbers {
    known: HashMap<String, u32>,
    names: Vec<String>,
}

impl Numbers {
    fn of(&mut self, name: String) -> u32 {
        let next = self.names.len() as u32;
        *self.known.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }
}

/// The form of a document that is kept.
pub(crate) fn stored(document: &Document) -> String {
    let mut document = document.clone();
    let mut numbers = Numbers::default();
    let [objectives, rows, covers, covers_alone] = lists(&mut document).map(|lists| {
        let mut numbered = |list: &mut Vec<String>| -> Vec<u32> {
            std::mem::take(list).into_iter().map(|name| numbers.of(name)).collect()
        };
        lists.into_iter().map(&mut numbered).collect::<Vec<_>>()
    });
    let covered_by = Json::of(&CoveredBy { names: numbers.names, objectives, rows, covers, covers_alone });
    let text = serde_json::to_string_pretty(&Stored { document: &document, covered_by });
    text.expect("invariant: every key is a string and nothing here refuses to be written")
}

/// Gives a document that was read what stands apart, if anything does.
pub(crate) fn completed(mut document: Document, text: &str) -> Result<Document, NoDocument> {
    #[derive(Deserialize)]
    struct Apart {
        covered_by: Option<CoveredBy>,
    }
    let apart: Apart = serde_json::from_str(text).map_err(|error| NoDocument(error.to_string()))?;
    let Some(CoveredBy { names, objectives, rows, covers, covers_alone }) = apart.covered_by else {
        return Ok(document);
    };
    let wrong = || NoDocument("covered_by does not fit the rest of it".to_string());
    for (lists, numbers) in lists(&mut document).into_iter().zip([objectives, rows, covers, covers_alone]) {
        if lists.len() != numbers.len() {
            return Err(wrong());
        }
        for (list, numbers) in lists.into_iter().zip(numbers) {
            let named = numbers.into_iter().map(|number| names.get(number as usize).cloned());
            *list = named.collect::<Option<_>>().ok_or_else(wrong)?;
        }
    }
    Ok(document)
}
