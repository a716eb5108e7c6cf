//! Variants of measured code: one function that was compiled in several ways (other macros, another including file). An
//! objective belongs to the variant in which it was compiled; objectives of a function with one variant keep their
//! plain id.

use crate::measure::measured_files::Selection;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_instrument::{MeasuredSuite, MeasuredUnit};

/// A function, by file and name.
type Home = (String, String);

/// The variants of functions that have several.
#[derive(Default)]
pub(super) struct Variants {
    /// The names of variants, by function and fingerprint.
    names: BTreeMap<Home, BTreeMap<String, String>>,
}

/// One of several variants.
pub(super) struct Variant<'v> {
    /// The name for users: `-DMODE=2`, `in test_a.c`.
    pub name: &'v str,
    /// The suffix of its objectives' ids.
    pub suffix: String,
    /// The fingerprint that distinguishes it from the others.
    pub meaning: &'v str,
}

impl Variants {
    pub fn new(measured: &MeasuredSuite, selection: &Selection) -> Variants {
        let mut found: BTreeMap<Home, BTreeMap<String, Vec<&MeasuredUnit>>> = BTreeMap::new();
        for unit in &measured.units {
            for (function, place) in &unit.record.functions {
                let Some(meaning) = unit.record.meanings.get(function) else { continue };
                let file = unit.record.files.get(place.file as usize).cloned().unwrap_or_default();
                let units = found.entry((file, function.clone())).or_default();
                units.entry(meaning.clone()).or_default().push(unit);
            }
        }
        found.retain(|_, variants| variants.len() > 1);
        let names = found.into_iter().map(|(home, variants)| (home, named(&variants, selection)));
        Variants { names: names.collect() }
    }

    /// Returns the variant of a function in a unit, or `None` if it has only one.
    pub fn of<'v>(&'v self, unit: &'v MeasuredUnit, function: &str) -> Option<Variant<'v>> {
        let (_, place) = unit.record.functions.iter().find(|(name, _)| name == function)?;
        let file = unit.record.files.get(place.file as usize)?;
        let meaning = unit.record.meanings.get(function)?;
        let name = self.names.get(&(file.clone(), function.to_string()))?.get(meaning)?;
        Some(Variant { name, suffix: format!("~{}", meaning.get(8..).unwrap_or(meaning)), meaning })
    }
}

/// Names variants by the macros that not all of them have, or else by the compiled file.
fn named(variants: &BTreeMap<String, Vec<&MeasuredUnit>>, selection: &Selection) -> BTreeMap<String, String> {
    let macros = |unit: &MeasuredUnit| -> BTreeSet<String> { unit.record.macros.iter().cloned().collect() };
    let all: Vec<BTreeSet<String>> = variants.values().flatten().map(|unit| macros(unit)).collect();
    let common: BTreeSet<String> = match all.split_first() {
        Some((first, rest)) => {
            first.iter().filter(|word| rest.iter().all(|own| own.contains(*word))).cloned().collect()
        }
        None => BTreeSet::new(),
    };
    let sources: BTreeSet<&str> = variants.values().flatten().map(|unit| unit.record.file.as_str()).collect();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = BTreeMap::new();
    for (meaning, units) in variants {
        let mut own: BTreeSet<String> = units.first().map(|unit| macros(unit)).unwrap_or_default();
        units.iter().for_each(|unit| own = own.intersection(&macros(unit)).cloned().collect());
        let own: Vec<String> = own.difference(&common).cloned().collect();
        let source = units.first().map(|unit| selection.shown(&unit.record.file)).unwrap_or_default();
        let plain = match (own.is_empty(), sources.len() > 1) {
            (false, _) => own.join(" "),
            (true, true) => format!("in {source}"),
            (true, false) if all.iter().any(|macros| macros.len() > common.len()) => "no macros of its own".to_string(),
            (true, false) => "same macros".to_string(),
        };
        let mut name = plain.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{plain} ({number})");
            number += 1;
        }
        names.insert(meaning.clone(), name);
    }
    names
}
