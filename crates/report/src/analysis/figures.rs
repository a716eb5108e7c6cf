//! Coverage figures of a document by criterion, file and function, and thresholds.
//!
//! A percentage is always covered / (total − infeasible). Objectives that comments exclude are counted separately
//! regardless of their verdict, and so are those that were not measured. An objective of several explorations (a
//! function that is reached from several entries) counts once: covered if any exploration covers it, infeasible only if
//! all agree. So does an objective of several variants of one source.

use crate::document::{Counts, Document, Objective, Verdict};
use std::collections::BTreeMap;
use touchstone_criteria::REGISTRY;

/// Numbers of objectives by verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// All objectives that are neither excluded nor not measured.
    pub total: u64,
    /// The objectives that a test covers.
    pub covered: u64,
    /// The infeasible objectives.
    pub infeasible: u64,
    /// The objectives that a comment excludes.
    pub excluded: u64,
    /// The objectives that were not measured.
    pub unmeasured: u64,
    /// The objectives that a change does not affect.
    pub unaffected: u64,
    /// The covered objectives that only tests with an error cover.
    pub by_error: u64,
}

impl Tally {
    /// Returns the number of feasible objectives.
    pub fn feasible(&self) -> u64 {
        self.total.saturating_sub(self.infeasible)
    }

    /// Returns the number of feasible objectives that are not covered.
    pub fn missing(&self) -> u64 {
        self.feasible().saturating_sub(self.covered)
    }

    /// Returns the covered share of the feasible objectives in tenths of a percent, rounded down, so that only full
    /// coverage is 100 %; `None` if there are none.
    pub fn per_mille(&self) -> Option<u64> {
        let feasible = self.feasible();
        (feasible > 0).then(|| self.covered.min(feasible) * 1000 / feasible)
    }

    /// Returns the share as `97.5%`, `100%` or `–`.
    pub fn percent(&self) -> String {
        match self.per_mille() {
            None => "–".to_string(),
            Some(0) if self.covered > 0 => "<0.1%".to_string(),
            Some(tenths) if tenths % 10 == 0 => format!("{}%", tenths / 10),
            Some(tenths) => format!("{}.{}%", tenths / 10, tenths % 10),
        }
    }

    /// Returns true if there are no objectives.
    fn is_empty(&self) -> bool {
        self.total + self.excluded + self.unmeasured + self.unaffected == 0
    }

    fn add(&mut self, objective: &Objective) {
        if objective.excluded.is_some() {
            self.excluded += 1;
            return;
        }
        if objective.not_measured().is_some() {
            self.unmeasured += 1;
            return;
        }
        if objective.status == Verdict::Unaffected {
            self.unaffected += 1;
            return;
        }
        self.total += 1;
        self.by_error += u64::from(objective.by_error);
        match objective.status {
            Verdict::Covered => self.covered += 1,
            Verdict::Infeasible => self.infeasible += 1,
            Verdict::Unknown | Verdict::Uncovered | Verdict::Unaffected => {}
        }
    }

    pub(crate) fn join(&mut self, other: &Tally) {
        self.total += other.total;
        self.covered += other.covered;
        self.infeasible += other.infeasible;
        self.excluded += other.excluded;
        self.unmeasured += other.unmeasured;
        self.unaffected += other.unaffected;
        self.by_error += other.by_error;
    }
}

/// Tallies by criterion, in the order in which reports show criteria.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tallies {
    list: Vec<(String, Tally)>,
}

impl Tallies {
    /// Iterates over the criteria with their tallies.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tally)> {
        self.list.iter().map(|(name, tally)| (name.as_str(), tally))
    }

    /// Returns the tally of a criterion.
    pub fn get(&self, criterion: &str) -> Option<&Tally> {
        self.list.iter().find(|(name, _)| name == criterion).map(|(_, tally)| tally)
    }

    /// Returns true if there are no criteria.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the sum over all criteria.
    pub fn sum(&self) -> Tally {
        let mut sum = Tally::default();
        for (_, tally) in &self.list {
            sum.join(tally);
        }
        sum
    }

    fn entry(&mut self, criterion: &str) -> &mut Tally {
        let key = order(criterion);
        let index = match self.list.binary_search_by(|(name, _)| order(name).cmp(&key)) {
            Ok(index) => index,
            Err(index) => {
                self.list.insert(index, (criterion.to_string(), Tally::default()));
                index
            }
        };
        &mut self.list[index].1
    }
}

/// Returns the sort key of a criterion in reports: the order of the registry, then by name.
fn order(criterion: &str) -> (usize, &str) {
    let known = REGISTRY.iter().position(|known| known.name() == criterion);
    (known.unwrap_or(REGISTRY.len()), criterion)
}

/// The figures of a document.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Figures {
    /// The tallies of the whole document.
    pub total: Tallies,
    /// The tallies of each file.
    pub files: BTreeMap<String, Tallies>,
    /// The tallies of each file and function.
    pub functions: BTreeMap<(String, String), Tallies>,
}

impl Figures {
    /// Computes the figures of a document.
    pub fn new(document: &Document) -> Figures {
        let mut figures = Figures::default();
        let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
        for function in &document.functions {
            homes.entry(&function.name).or_insert(&function.file);
        }
        for objective in across_variants(document) {
            let home = homes.get(objective.function.as_str()).copied();
            let file = objective.at.file.as_deref().or(home).unwrap_or("").to_string();
            figures.total.entry(&objective.criterion).add(objective);
            let of_function = figures.functions.entry((file.clone(), objective.function.clone())).or_default();
            of_function.entry(&objective.criterion).add(objective);
            figures.files.entry(file).or_default().entry(&objective.criterion).add(objective);
        }
        // Path criteria have no objectives of their own; a criterion without objectives was still requested.
        for function in &document.functions {
            figures.total.entry(&function.criterion);
            if !function.counts_paths() {
                continue;
            }
            let counts = &function.objectives;
            let Counts { total, covered, infeasible, unaffected, .. } = *counts;
            let tally = Tally { total, covered, infeasible, unaffected, ..Tally::default() };
            let key = (function.file.clone(), function.name.clone());
            figures.total.entry(&function.criterion).join(&tally);
            figures.functions.entry(key).or_default().entry(&function.criterion).join(&tally);
            figures.files.entry(function.file.clone()).or_default().entry(&function.criterion).join(&tally);
        }
        figures
    }

    /// Adds criteria that were requested, also if they have no objectives.
    pub fn request(&mut self, criteria: &[String]) {
        for criterion in criteria {
            self.total.entry(criterion);
        }
    }

    /// Returns the files, lowest coverage first, then by the number of missing objectives, then by path.
    pub fn worst_first(&self) -> Vec<(&str, &Tallies)> {
        let mut files: Vec<(&str, &Tallies)> =
            self.files.iter().map(|(file, tallies)| (file.as_str(), tallies)).collect();
        let key = |tallies: &Tallies| {
            let sum = tallies.sum();
            (sum.per_mille().unwrap_or(1001), u64::MAX - sum.missing())
        };
        files.sort_by_key(|(_, tallies)| key(tallies));
        files
    }
}

/// Returns the objectives of a document without duplicates, by file and id.
pub fn merged(document: &Document) -> BTreeMap<(&str, &str), &Objective> {
    let mut list: BTreeMap<(&str, &str), &Objective> = BTreeMap::new();
    for objective in &document.objectives {
        let key = (objective.at.file.as_deref().unwrap_or(""), objective.id.as_str());
        let known = list.entry(key).or_insert(objective);
        if rank(objective) < rank(known) {
            *known = objective;
        }
    }
    list
}

/// Returns the objectives of a document in which those of several variants of one source count once: covered if a
/// variant covers it.
pub fn across_variants(document: &Document) -> Vec<&Objective> {
    let mut found: Vec<&Objective> = Vec::new();
    let mut places: BTreeMap<_, usize> = BTreeMap::new();
    for objective in merged(document).into_values() {
        if objective.variant.is_none() {
            found.push(objective);
            continue;
        }
        let at = (&objective.at.file, objective.at.line, objective.at.column);
        let place = (at, &objective.function, &objective.criterion, &objective.text);
        match places.get(&place) {
            Some(index) if rank(objective) < rank(found[*index]) => found[*index] = objective,
            Some(_) => {}
            None => {
                places.insert(place, found.len());
                found.push(objective);
            }
        }
    }
    found
}

/// Returns the precedence of a verdict among several for one objective: an objective that is infeasible from one entry
/// may be unknown from another.
fn rank(objective: &Objective) -> u8 {
    match objective.status {
        Verdict::Covered => 0,
        Verdict::Uncovered => 1,
        Verdict::Unknown => 2,
        Verdict::Infeasible => 3,
        Verdict::Unaffected => 4,
    }
}

/// A minimum share for a criterion.
#[derive(Clone, PartialEq, Debug)]
pub struct Threshold {
    /// The criterion.
    pub criterion: String,
    /// The minimum percentage.
    pub percent: f64,
}

impl std::str::FromStr for Threshold {
    type Err = String;
    fn from_str(text: &str) -> Result<Threshold, String> {
        let (criterion, percent) = text.split_once('=').ok_or("expected CRITERION=PERCENT, for example mcdc=90")?;
        match percent.trim_end_matches('%').parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => {
                Ok(Threshold { criterion: criterion.to_string(), percent })
            }
            _ => Err(format!("`{percent}` is not a percentage; expected a number from 0 to 100")),
        }
    }
}

/// The result of checking a threshold.
#[derive(Clone, PartialEq, Debug)]
pub enum ThresholdResult {
    /// It is reached, or there is nothing to cover.
    Reached,
    /// It is not reached; the message.
    Below(String),
    /// The document lacks the criterion; the message.
    NotAsked(String),
}

impl Threshold {
    /// Checks the whole document. `all` are its figures before it was restricted to changed lines or a variant: a restricted document may
    /// have no objectives, but a threshold for objectives that never existed is not reached. Without `all`, the document may be empty.
    pub fn judge(&self, figures: &Figures, all: Option<&Figures>) -> ThresholdResult {
        let Threshold { criterion: name, percent } = self;
        let whole = &all.unwrap_or(figures).total;
        match whole.get(name) {
            Some(tally) if tally.is_empty() && all.is_some() && *percent > 0.0 => {
                return ThresholdResult::Below(format!("there are no {name} objectives, below {percent}%"));
            }
            None if whole.is_empty() && all.is_some() && *percent > 0.0 => {
                return ThresholdResult::Below(format!("there are no objectives, below {name}={percent}%"));
            }
            None if !whole.is_empty() => {
                let known: Vec<&str> = whole.iter().map(|(name, _)| name).collect();
                return ThresholdResult::NotAsked(format!(
                    "--fail-under {name}: this campaign has no {name} objectives, only {}; add it to -c",
                    known.join(", ")
                ));
            }
            _ => {}
        }
        let tally = figures.total.get(name).copied().unwrap_or_default();
        if tally.feasible() == 0 && tally.unmeasured > 0 && *percent > 0.0 {
            let count = tally.unmeasured;
            return ThresholdResult::Below(format!(
                "{name} could not be measured ({count} objectives), below {percent}%"
            ));
        }
        let (covered, feasible) = (tally.covered as f64, tally.feasible() as f64);
        if covered * 100.0 >= percent * feasible {
            return ThresholdResult::Reached;
        }
        ThresholdResult::Below(format!(
            "{name} is {} ({} of {} feasible), below {percent}%",
            tally.percent(),
            tally.covered,
            tally.feasible(),
        ))
    }
}
