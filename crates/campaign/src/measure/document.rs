//! The document of a measured suite: the coverage of its tests, in the form that every report reads.

use crate::measure::error::MeasuringError;
use crate::measure::measured_files::Selection;
use crate::measure::remark::{Remark, remarks};
use crate::measure::states;
use crate::measure::suggest::SuggestionScope;
use crate::measure::variants::Variants;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use touchstone_base::{Files, Id, Span};
use touchstone_criteria::{MAX_ROWS_LISTED, Row, TableHead, WhyInfeasible};
use touchstone_instrument::{
    MeasuredSuite, MeasuredUnit, ProbedDecision, ProbedObjective, ProbedRow, SourceRange, StateRules,
};
use touchstone_ir::{CondId, Condition, DecisionId};
use touchstone_report::document::{
    Counts, NOT_MEASURED, Objective, Paths, ReportedFunction, ReportedRange, SolverUsage, SourceFile, Test, Verdict,
};
use touchstone_report::{Document, Name, decision, reported_range};

/// Returns the document of a measured suite, and remarks on it.
pub fn document(
    measured: &MeasuredSuite,
    selection: &Selection,
    rules: &StateRules,
    suggest: Option<SuggestionScope>,
) -> Result<(Document, Vec<Remark>), MeasuringError> {
    let own_tests = selection.own_tests(measured);
    let exclude = [&selection.exclude[..], &own_tests[..]].concat();
    let selection = &Selection { exclude, ..selection.clone() };
    let variants = Variants::new(measured, selection);
    let names = measured.tests.iter().map(Name::from).collect();
    let (files, document) = (Files::new(), Document::default());
    let mut made = DocumentBuilder { measured, names, selection, variants, files, document };
    let mut objectives: BTreeMap<(String, String), Objective> = BTreeMap::new();
    let mut order: Vec<(String, String)> = Vec::new();
    for unit in &measured.units {
        let counted = selection.counted(unit);
        for objective in
            unit.record.objectives.iter().filter(|objective| counted.holds(unit.record.shown(objective.place)))
        {
            let found = made.objective(unit, objective);
            let key = (found.at.file.clone().unwrap_or_default(), found.id.clone());
            match objectives.get_mut(&key) {
                Some(known) => merge(known, found),
                None => {
                    order.push(key.clone());
                    objectives.insert(key, found);
                }
            }
        }
    }
    made.document.objectives = order.iter().filter_map(|key| objectives.remove(key)).collect();
    let state = states::add(&mut made.document, measured, (selection, &made.variants), rules, suggest);
    made.decisions();
    made.functions();
    made.tests();
    made.sources()?;
    let mut document = made.document;
    touchstone_report::exclude(&mut document);
    let mut remarks = remarks(measured, selection, state);
    if !own_tests.is_empty() {
        remarks.insert(0, Remark::OwnTests { files: own_tests.len() });
    }
    Ok((document, remarks))
}

/// Joins an objective of a file that was compiled more than once: what one of its units covered is covered.
fn merge(known: &mut Objective, other: Objective) {
    let tests: BTreeSet<Name> = known.tests.drain(..).chain(other.tests).collect();
    known.tests = tests.into_iter().collect();
    known.count = match (known.count, other.count) {
        (Some(one), Some(two)) => Some(one.saturating_add(two)),
        (one, two) => one.or(two),
    };
    if known.status != Verdict::Covered && other.status != known.status {
        let better = matches!(other.status, Verdict::Covered)
            || (known.status == Verdict::Unknown && other.status == Verdict::Uncovered)
            || (known.status == Verdict::Infeasible);
        if better {
            (known.status, known.why, known.reason) = (other.status, other.why, other.reason);
        }
    }
}

/// Returns unique ids of objectives: with the file, where functions of several files share their name.
fn unambiguous(objectives: &[Objective]) -> Vec<Name> {
    let mut files: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    for objective in objectives {
        files.entry(&objective.id).or_default().insert(objective.at.file.as_deref());
    }
    let id = |objective: &Objective| match &objective.at.file {
        Some(file) if files.get(objective.id.as_str()).is_some_and(|files| files.len() > 1) => {
            format!("{file}:{}", objective.id).into()
        }
        _ => Name::from(&objective.id),
    };
    objectives.iter().map(id).collect()
}

struct DocumentBuilder<'a> {
    measured: &'a MeasuredSuite,
    /// The names of the tests.
    names: Vec<Name>,
    selection: &'a Selection,
    variants: Variants,
    files: Files,
    document: Document,
}

impl<'a> DocumentBuilder<'a> {
    fn span(&mut self, unit: &MeasuredUnit, place: SourceRange) -> Span {
        let place = unit.record.shown(place);
        let file = unit.record.files.get(place.file as usize).map_or("", String::as_str);
        let shown = self.selection.shown(file);
        let known = self.files.iter().find(|(_, name)| **name == shown).map(|(id, _)| id);
        let file = known.unwrap_or_else(|| self.files.push(shown));
        let SourceRange { line, column, end_line, end_column, .. } = place;
        Span { file, line, column, end_line, end_column }
    }

    fn names(&self, tests: &BTreeSet<u32>) -> Vec<Name> {
        tests.iter().map(|test| self.names[*test as usize].clone()).collect()
    }

    fn objective(&mut self, unit: &MeasuredUnit, objective: &ProbedObjective) -> Objective {
        let tests = self.names(&unit.covered(objective));
        let (status, why) = match &objective.not_placed {
            _ if !tests.is_empty() => (Verdict::Covered, None),
            _ if objective.constant => {
                let why = WhyInfeasible::Constant;
                (Verdict::Infeasible, Some((why.to_string(), why.word())))
            }
            Some(why) => (Verdict::Unknown, Some((format!("{NOT_MEASURED}{why}"), why.word()))),
            None => (Verdict::Uncovered, None),
        };
        let (why, reason) = why.map(|(why, word)| (why, word.to_string())).unzip();
        let span = self.span(unit, objective.place);
        let variant = self.variants.of(unit, &objective.function);
        let suffix = variant.as_ref().map_or("", |variant| variant.suffix.as_str());
        Objective {
            by_error: false,
            id: format!("{}{suffix}", objective.id),
            criterion: objective.criterion.clone(),
            function: objective.function.clone(),
            at: reported_range(span, &self.files),
            text: objective.text.clone(),
            status,
            why,
            reason,
            tests,
            excluded: None,
            variant: variant.map(|variant| variant.name.to_string()),
            count: unit.count(objective),
        }
    }

    fn decisions(&mut self) {
        // Units of one file have the same rows.
        type Seen<'u> = Vec<(&'u MeasuredUnit, &'u ProbedDecision)>;
        let mut seen: BTreeMap<(String, String, u32, String), Seen<'_>> = BTreeMap::new();
        for unit in &self.measured.units {
            let counted = self.selection.counted(unit);
            for decision in
                unit.record.decisions.iter().filter(|decision| counted.holds(unit.record.shown(decision.place)))
            {
                let file = unit.record.files.get(decision.place.file as usize).cloned().unwrap_or_default();
                let variant = self.variants.of(unit, &decision.function);
                let meaning = variant.map_or(String::new(), |variant| variant.meaning.to_string());
                let key = (file, decision.function.clone(), decision.decision, meaning);
                seen.entry(key).or_default().push((unit, decision));
            }
        }
        for same in seen.into_values() {
            let Some((unit, first)) = same.first().copied() else { continue };
            let conditions = first
                .conditions
                .iter()
                .map(|(place, text)| Condition { span: self.span(unit, *place), text: text.clone() });
            let conditions = conditions.collect();
            let evaluated = first.rows.iter().flat_map(|row| &row.outcomes).map(|(c, _)| CondId::new(*c as usize));
            let head = TableHead {
                function: first.function.clone(),
                decision: DecisionId::new(first.decision as usize),
                span: self.span(unit, first.place),
                text: first.text.clone(),
                conditions,
                evaluated: evaluated.collect(),
                possible: match first.rows.len() <= MAX_ROWS_LISTED {
                    true => first.rows.iter().map(ProbedRow::row).collect(),
                    false => Vec::new(),
                },
            };
            let mut rows: BTreeMap<Row, BTreeSet<u32>> = BTreeMap::new();
            for (unit, decision) in same {
                for (index, row) in decision.rows.iter().enumerate() {
                    let tests = unit.row(decision, index);
                    if !tests.is_empty() {
                        rows.entry(row.row()).or_default().extend(tests);
                    }
                }
            }
            // Tables are computed with numbers of rows instead of test names, of which there may be hundreds per row.
            let rows: Vec<(Row, BTreeSet<u32>)> = rows.into_iter().collect();
            let table = head.with(rows.iter().enumerate().map(|(number, (row, _))| (row, vec![number.to_string()])));
            let mut decision = decision(&table, &self.files);
            for row in &mut decision.rows {
                let numbers = row.tests.iter().filter_map(|number| number.parse::<usize>().ok());
                row.tests = numbers.flat_map(|number| self.names(&rows[number].1)).collect();
            }
            decision.variant = self.variants.of(unit, &first.function).map(|variant| variant.name.to_string());
            self.document.decisions.push(decision);
        }
    }

    fn functions(&mut self) {
        let mut places: BTreeMap<(String, String), ReportedRange> = BTreeMap::new();
        for unit in &self.measured.units {
            let counted = self.selection.counted(unit);
            for (name, place) in
                unit.record.functions.iter().filter(|(_, place)| counted.holds(unit.record.shown(*place)))
            {
                let span = self.span(unit, *place);
                let at = reported_range(span, &self.files);
                places.insert((at.file.clone().unwrap_or_default(), name.clone()), at);
            }
        }
        let mut counts: BTreeMap<(String, String, String), (Counts, HashSet<&str>)> = BTreeMap::new();
        for objective in &self.document.objectives {
            let file = objective.at.file.clone().unwrap_or_default();
            let (count, tests) =
                counts.entry((file, objective.function.clone(), objective.criterion.clone())).or_default();
            if objective.status == Verdict::Unaffected {
                count.unaffected += 1;
                continue;
            }
            count.total += 1;
            match objective.status {
                Verdict::Covered => count.covered += 1,
                Verdict::Infeasible => count.infeasible += 1,
                Verdict::Unknown => count.unknown += 1,
                Verdict::Uncovered => count.uncovered += 1,
                Verdict::Unaffected => {}
            }
            tests.extend(objective.tests.iter().map(Name::as_str));
        }
        for ((file, name, criterion), (objectives, tests)) in counts {
            let at = places.get(&(file.clone(), name.clone()));
            self.document.functions.push(ReportedFunction {
                key: None,
                line: at.and_then(|at| at.line),
                end_line: at.and_then(|at| at.end_line),
                name,
                file,
                criterion,
                objectives,
                paths: Paths::default(),
                tests: tests.len() as u64,
                exhaustive: false,
                seconds: 0.0,
                cached: false,
                replay_seconds: 0.0,
                solver: SolverUsage::default(),
                assumptions: Vec::new(),
                incomplete: Vec::new(),
            });
        }
    }

    fn tests(&mut self) {
        type Covers = (Vec<Name>, Vec<Name>);
        let mut covers: HashMap<&str, Covers> = HashMap::new();
        // A process of a configure script is no test: it contained no file that counts.
        let counts = |unit: &MeasuredUnit| unit.record.files.iter().any(|file| self.selection.counts(Path::new(file)));
        let counted: BTreeSet<&str> =
            self.measured.units.iter().filter(|unit| counts(unit)).map(|unit| unit.record.unit.as_str()).collect();
        for (test, units) in self.measured.tests.iter().zip(&self.measured.linked) {
            if units.iter().any(|unit| counted.contains(unit.as_str())) {
                covers.insert(test, Default::default());
            }
        }
        let ids = unambiguous(&self.document.objectives);
        for (objective, id) in self.document.objectives.iter().zip(&ids) {
            for test in &objective.tests {
                let (all, alone) = covers.entry(test).or_default();
                all.push(id.clone());
                if objective.tests.len() == 1 {
                    alone.push(id.clone());
                }
            }
        }
        let covers: BTreeMap<&str, Covers> = covers.into_iter().collect();
        let tests = covers.into_iter().map(|(id, (covers, alone))| Test::measured(id.to_string(), covers, alone));
        self.document.tests = tests.collect();
    }

    fn sources(&mut self) -> Result<(), MeasuringError> {
        let mut files: Vec<SourceFile> = Vec::new();
        let paths: BTreeSet<String> = self.document.objectives.iter().filter_map(|o| o.at.file.clone()).collect();
        for path in paths {
            let full = self.selection.here.join(&path);
            let bytes = std::fs::read(&full).map_err(|source| MeasuringError::NotRead { path: full, source })?;
            files.push(touchstone_report::source_file(&path, &String::from_utf8_lossy(&bytes))?);
        }
        self.document.files = files;
        Ok(())
    }
}
