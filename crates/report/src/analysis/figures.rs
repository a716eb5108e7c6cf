//! What a document adds up to: how much of each criterion is covered, as a whole and by file, and whether that is enough.
//!
//! A percentage is always covered / (total − infeasible). Objectives that comments exclude count apart, whatever is known
//! of them, and so do those that a measurement can say nothing about: they are neither covered nor uncovered. An objective that several explorations speak of (one function reached from several entries) counts once:
//! covered if any says so, infeasible only if all say so.

use crate::document::{Counts, Document, Objective, Verdict};
use std::collections::BTreeMap;
use touchstone_criteria::REGISTRY;

/// Objectives by what is known of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Without those that are excluded or not measured.
    pub total: u64,
    /// Some test covers them.
    pub covered: u64,
    /// No test can cover them.
    pub infeasible: u64,
    /// Excluded by a comment.
    pub excluded: u64,
    /// A measurement can say nothing about them.
    pub unmeasured: u64,
    /// Of the covered ones, those that only tests cover which end in an error.
    pub by_error: u64,
}

impl Tally {
    /// What a test could cover.
    pub fn feasible(&self) -> u64 {
        self.total.saturating_sub(self.infeasible)
    }

    /// What is still to be covered.
    pub fn missing(&self) -> u64 {
        self.feasible().saturating_sub(self.covered)
    }

    /// Covered of the feasible in tenths of a percent, rounded down so that only all is 100 %; `None` if there is nothing.
    pub fn per_mille(&self) -> Option<u64> {
        let feasible = self.feasible();
        (feasible > 0).then(|| self.covered.min(feasible) * 1000 / feasible)
    }

    /// `97.5%`, `100%`, `–`.
    pub fn percent(&self) -> String {
        match self.per_mille() {
            None => "–".to_string(),
            Some(0) if self.covered > 0 => "<0.1%".to_string(),
            Some(tenths) if tenths % 10 == 0 => format!("{}%", tenths / 10),
            Some(tenths) => format!("{}.{}%", tenths / 10, tenths % 10),
        }
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
        self.by_error += other.by_error;
    }
}

/// Tallies by criterion, in the order in which reports show criteria.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tallies {
    list: Vec<(String, Tally)>,
}

impl Tallies {
    /// Each criterion with its tally.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tally)> {
        self.list.iter().map(|(name, tally)| (name.as_str(), tally))
    }

    /// The tally of a criterion.
    pub fn get(&self, criterion: &str) -> Option<&Tally> {
        self.list.iter().find(|(name, _)| name == criterion).map(|(_, tally)| tally)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All criteria together.
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

/// The position of a criterion in reports: as in the registry, others behind by name.
fn order(criterion: &str) -> (usize, &str) {
    let known = REGISTRY.iter().position(|known| known.name() == criterion);
    (known.unwrap_or(REGISTRY.len()), criterion)
}

/// What a document adds up to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Figures {
    /// Everything.
    pub total: Tallies,
    /// By file, in the order of their paths.
    pub files: BTreeMap<String, Tallies>,
    /// By file and function.
    pub functions: BTreeMap<(String, String), Tallies>,
}

impl Figures {
    /// Adds a document up.
    pub fn new(document: &Document) -> Figures {
        let mut figures = Figures::default();
        let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
        for function in &document.functions {
            homes.entry(&function.name).or_insert(&function.file);
        }
        for objective in merged(document).values() {
            let home = homes.get(objective.function.as_str()).copied();
            let file = objective.at.file.as_deref().or(home).unwrap_or("").to_string();
            figures.total.entry(&objective.criterion).add(objective);
            let of_function = figures.functions.entry((file.clone(), objective.function.clone())).or_default();
            of_function.entry(&objective.criterion).add(objective);
            figures.files.entry(file).or_default().entry(&objective.criterion).add(objective);
        }
        // Criteria that count paths have no objectives of their own; one that found nothing to ask was still asked for.
        for function in &document.functions {
            figures.total.entry(&function.criterion);
            if !function.counts_paths() {
                continue;
            }
            let counts = &function.objectives;
            let Counts { total, covered, infeasible, .. } = *counts;
            let tally = Tally { total, covered, infeasible, ..Tally::default() };
            let key = (function.file.clone(), function.name.clone());
            figures.total.entry(&function.criterion).join(&tally);
            figures.functions.entry(key).or_default().entry(&function.criterion).join(&tally);
            figures.files.entry(function.file.clone()).or_default().entry(&function.criterion).join(&tally);
        }
        figures
    }

    /// Files, those with most to do first: the smallest share covered, then the most missing, then by path.
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

/// The objectives of a document, each once, by identity and file.
pub fn merged(document: &Document) -> BTreeMap<(&str, &str), &Objective> {
    let mut list: BTreeMap<(&str, &str), &Objective> = BTreeMap::new();
    // Covered beats all; what is only infeasible from one entry may be unknown from another.
    let rank = |objective: &Objective| match objective.status {
        Verdict::Covered => 0,
        Verdict::Uncovered => 1,
        Verdict::Unknown => 2,
        Verdict::Infeasible => 3,
        Verdict::Unaffected => 4,
    };
    for objective in &document.objectives {
        let key = (objective.at.file.as_deref().unwrap_or(""), objective.id.as_str());
        let known = list.entry(key).or_insert(objective);
        if rank(objective) < rank(known) {
            *known = objective;
        }
    }
    list
}

/// A least share that a criterion must reach.
#[derive(Clone, PartialEq, Debug)]
pub struct Threshold {
    /// The criterion.
    pub criterion: String,
    /// The least percentage.
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

/// What a threshold says of a document.
#[derive(Clone, PartialEq, Debug)]
pub enum Judged {
    /// It is reached (or there is nothing to cover).
    Reached,
    /// It is not; in words.
    Below(String),
    /// The document doesn't speak of the criterion; in words.
    NotAsked(String),
}

impl Threshold {
    /// Whether the whole document reaches it.
    pub fn judge(&self, figures: &Figures) -> Judged {
        let Some(tally) = figures.total.get(&self.criterion) else {
            if figures.total.is_empty() {
                return Judged::Reached;
            }
            let known: Vec<&str> = figures.total.iter().map(|(name, _)| name).collect();
            return Judged::NotAsked(format!(
                "--fail-under {}: this campaign has no {} objectives, only {}; add it to -c",
                self.criterion,
                self.criterion,
                known.join(", ")
            ));
        };
        if tally.feasible() == 0 && tally.unmeasured > 0 && self.percent > 0.0 {
            let (name, count) = (&self.criterion, tally.unmeasured);
            return Judged::Below(format!(
                "{name} could not be measured ({count} objectives), below {}%",
                self.percent
            ));
        }
        let (covered, feasible) = (tally.covered as f64, tally.feasible() as f64);
        if covered * 100.0 >= self.percent * feasible {
            return Judged::Reached;
        }
        Judged::Below(format!(
            "{} is {} ({} of {} feasible), below {}%",
            self.criterion,
            tally.percent(),
            tally.covered,
            tally.feasible(),
            self.percent
        ))
    }
}
