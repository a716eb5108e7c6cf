//! The source view: the lines of a file with their status, and with marked conditions.
//!
//! A line is one element with one letter of status; the style sheet draws its number. Lines are grouped into chunks
//! that the browser lays out only when they come into view.

use super::Site;
use super::marks::{Mark, MarkStatus, marks};
use super::shell::{Level, bar, escape, numbers, page as shell, push_escaped};
use super::tokens::{LexerState, TokenClass, tokens};
use crate::analysis::exclusions::text_hash;
use crate::analysis::executed_lines::ran;
use crate::document::{Decision, Document, Objective};
use std::collections::BTreeMap;
use std::fmt::Write;
use touchstone_criteria::{CoverageKind, coverage_kind};

/// The number of lines in a chunk, and the height of a line (as in the style sheet).
const LINES_PER_CHUNK: usize = 200;
const LINE_HEIGHT: usize = 20;
/// The number of objectives above which tooltips of covered ones are omitted to keep the page small.
const MAX_OBJECTIVES_WITH_TOOLTIPS: usize = 20_000;

pub(super) fn page(site: &Site<'_>, file: &str, decisions: &[&Decision], choices: &[VariantPage]) -> String {
    let slug = site.slugs.get(file).map_or("", String::as_str);
    let mut body = String::new();
    let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
    let slash = if directory.is_empty() { "" } else { "/" };
    let _ = writeln!(
        body,
        "<h1 class=\"file\"><span>{}{slash}</span>{}</h1>\n<div class=\"chips\">",
        escape(directory),
        escape(name)
    );
    for (criterion, tally) in site.figures.files.get(file).iter().flat_map(|tallies| tallies.iter()) {
        let _ = write!(
            body,
            "<span class=\"chip\" title=\"{}\"><b>{}</b> {}</span>",
            numbers(tally),
            escape(criterion),
            bar(tally)
        );
    }
    let _ = writeln!(body, "<a href=\"{slug}.o.html\">objectives and their tests</a></div>");
    variants(&mut body, choices);
    functions(&mut body, site, file);
    match site.sources.get(file) {
        None => {
            let _ = writeln!(
                body,
                "<p class=\"note\">The source could not be read where the report was made, so its text is not shown. \
                 What is known of it: <a href=\"{slug}.o.html\">objectives</a>.</p>"
            );
        }
        Some(text) => {
            let known = site.document.files.iter().find(|known| known.path == file);
            if known.is_some_and(|known| known.hash != text_hash(text)) {
                body.push_str(
                    "<p class=\"note\">This file has changed since the campaign: marks may be at wrong lines.</p>\n",
                );
            }
            let left_alone = if site.document.change.is_some() { "unaffected or excluded" } else { "excluded" };
            let _ = write!(
                body,
                "<p class=\"legend keys\"><b class=\"c\">covered</b> <b class=\"h\">partly</b> <b class=\"u\">not covered</b> \
                 <b class=\"i\">infeasible</b> <b class=\"m\">not measured</b> <b class=\"x\">{left_alone}</b> <span><kbd>n</kbd> <kbd>p</kbd> next, previous gap</span> \
                 ",
            );
            let counted = site.objectives_of(file).iter().any(|objective| objective.count.is_some());
            let meaning = if counted { "3× executed three times" } else { "3× reached by three tests" };
            let _ =
                writeln!(body, "<span>{meaning}</span> <span>a click on a condition opens its truth table</span></p>");
            lines(&mut body, text, (site.document, site.objectives_of(file)), decisions, slug);
        }
    }
    shell(file, Level::Folder, None, !site.document.state.is_empty(), &body)
}

/// A page that shows one variant of a file, or all.
pub(super) struct VariantPage {
    pub(super) name: String,
    /// The name of the page; `None` for the current one.
    pub(super) page: Option<String>,
}

/// Writes links to the pages of the variants.
fn variants(out: &mut String, choices: &[VariantPage]) {
    if choices.is_empty() {
        return;
    }
    out.push_str("<p class=\"variants\"><span class=\"dim\">variants</span>");
    for choice in choices {
        let _ = match &choice.page {
            Some(page) => write!(out, "<a href=\"{page}\">{}</a>", escape(&choice.name)),
            None => write!(out, "<b aria-current=\"page\">{}</b>", escape(&choice.name)),
        };
    }
    out.push_str("</p>\n");
}

/// Writes links to the functions; those with gaps are marked.
fn functions(out: &mut String, site: &Site<'_>, file: &str) {
    let mut listed: BTreeMap<(u32, &str), &'static str> = BTreeMap::new();
    for function in site.document.functions.iter().filter(|function| function.file == file) {
        let key = (file.to_string(), function.name.clone());
        let class = site.figures.functions.get(&key).map_or("n", |tallies| super::shell::level_of(&tallies.sum()));
        listed.insert((function.line.unwrap_or(0), &function.name), class);
    }
    if listed.len() < 2 {
        return;
    }
    let _ = write!(out, "<details class=\"fns\"><summary>{} functions</summary>", listed.len());
    for ((line, name), class) in listed {
        let _ = write!(out, "<a class=\"t{class}\" href=\"#L{line}\">{}</a> ", escape(name));
    }
    out.push_str("</details>\n");
}

/// The gutter of a line.
#[derive(Default)]
struct Gutter<'a> {
    statements: Vec<&'a Objective>,
    others: Vec<&'a Objective>,
}

impl Gutter<'_> {
    /// Returns the status of the line by its statements; an executed line with a gap is half covered.
    fn state(&self) -> Option<MarkStatus> {
        let others = MarkStatus::of(&self.others);
        match MarkStatus::of(&self.statements) {
            None => others,
            Some(MarkStatus::Covered) => match others {
                Some(MarkStatus::Half | MarkStatus::Uncovered) => Some(MarkStatus::Half),
                _ => Some(MarkStatus::Covered),
            },
            other => other,
        }
    }
}

/// Returns the number of executions of each line, if it is known: by its statements, otherwise by other objectives.
fn hits(document: &Document, objectives: &[&Objective]) -> BTreeMap<u32, u64> {
    let others: Vec<&Objective> =
        objectives.iter().filter(|o| coverage_kind(&o.criterion) != CoverageKind::Statements).copied().collect();
    let file = objectives.first().and_then(|objective| objective.at.file.as_deref());
    let mut found = BTreeMap::new();
    for ran in [ran(document, objectives), ran(document, &others)] {
        for ((_, line), ran) in ran.into_iter().filter(|((path, _), _)| Some(*path) == file) {
            found.entry(line).or_insert(ran.hits());
        }
    }
    found
}

fn lines(
    out: &mut String,
    text: &str,
    (document, objectives): (&Document, &[&Objective]),
    decisions: &[&Decision],
    slug: &str,
) {
    let hits = hits(document, objectives);
    let mut gutters: BTreeMap<u32, Gutter<'_>> = BTreeMap::new();
    for objective in objectives {
        let Some(line) = objective.at.line else { continue };
        let gutter = gutters.entry(line).or_default();
        let list = match coverage_kind(&objective.criterion) {
            CoverageKind::Statements => &mut gutter.statements,
            CoverageKind::Decisions | CoverageKind::Other => &mut gutter.others,
        };
        list.push(objective);
    }
    let marks = marks(objectives, decisions);
    let mut writer = LineWriter {
        marks: &marks,
        next: 0,
        stack: Vec::new(),
        open: LexerState::default(),
        brief: objectives.len() > MAX_OBJECTIVES_WITH_TOOLTIPS,
    };
    let all: Vec<&str> = text.lines().collect();
    let _ = write!(out, "<div class=\"src\" data-slug=\"{slug}\">");
    for (number, chunk) in all.chunks(LINES_PER_CHUNK).enumerate() {
        let first = number * LINES_PER_CHUNK;
        let _ = write!(out, "<div class=k style=\"contain-intrinsic-size:auto {}px\">", chunk.len() * LINE_HEIGHT);
        for (index, line) in chunk.iter().enumerate() {
            let number = u32::try_from(first + index + 1).unwrap_or(u32::MAX);
            let _ = write!(out, "<p id=L{number}");
            if index == 0 {
                // Each chunk has its own counter, since the browser may not have laid out the preceding ones.
                let _ = write!(out, " style=\"counter-reset:l {first}\"");
            }
            if let Some(gutter) = gutters.get(&number) {
                let ran = hits.get(&number).copied();
                let state = match gutter.state() {
                    // The line was executed, and something on it is not covered.
                    Some(MarkStatus::Uncovered) if ran.is_some_and(|hits| hits > 0) => Some(MarkStatus::Half),
                    state => state,
                };
                if let Some(state) = state {
                    let _ = write!(out, " class={}", state.class());
                }
                // A line without a count has a sign instead.
                let counts = matches!(state, Some(MarkStatus::Covered | MarkStatus::Half | MarkStatus::Uncovered));
                if let Some(hits) = if counts { ran } else { Some(0) } {
                    let _ = write!(out, " data-h={hits}");
                }
            }
            out.push('>');
            writer.line(out, number, line);
            out.push_str("</p>\n");
        }
        out.push_str("</div>\n");
    }
    out.push_str("</div>\n");
}

/// A writer of lines that tracks open marks.
struct LineWriter<'m> {
    marks: &'m [Mark],
    next: usize,
    stack: Vec<&'m Mark>,
    open: LexerState,
    brief: bool,
}

impl<'m> LineWriter<'m> {
    fn line(&mut self, out: &mut String, number: u32, text: &str) {
        let tokens = tokens(text, &mut self.open);
        for mark in &self.stack {
            self.begin(out, mark);
        }
        let mut token = 0;
        let mut at = 0;
        loop {
            while self.stack.last().is_some_and(|mark| offset(mark.extent.to, number, text) <= at) {
                out.push_str("</b>");
                self.stack.pop();
            }
            while let Some(mark) = self.marks.get(self.next) {
                if mark.extent.from.0 > number || offset(mark.extent.from, number, text) > at {
                    break;
                }
                self.next += 1;
                // A mark that ended before it could be shown (because the source has changed) is dropped.
                if offset(mark.extent.to, number, text) > at {
                    self.begin(out, mark);
                    self.stack.push(mark);
                }
            }
            if at >= text.len() {
                break;
            }
            while tokens.get(token + 1).is_some_and(|(start, _)| *start <= at) {
                token += 1;
            }
            let mut end = tokens.get(token + 1).map_or(text.len(), |(start, _)| *start);
            if let Some(mark) = self.stack.last() {
                end = end.min(offset(mark.extent.to, number, text));
            }
            if let Some(mark) = self.marks.get(self.next).filter(|mark| mark.extent.from.0 == number) {
                end = end.min(offset(mark.extent.from, number, text).max(at + 1));
            }
            while !text.is_char_boundary(end) {
                end += 1;
            }
            let kind = tokens.get(token).map_or(TokenClass::Plain, |(_, kind)| *kind);
            match kind.class() {
                None => push_escaped(out, &text[at..end]),
                Some(class) => {
                    let _ = write!(out, "<i class={class}>");
                    push_escaped(out, &text[at..end]);
                    out.push_str("</i>");
                }
            }
            at = end;
        }
        // A mark that continues is reopened on the next line.
        for _ in &self.stack {
            out.push_str("</b>");
        }
    }

    fn begin(&self, out: &mut String, mark: &Mark) {
        let _ = write!(out, "<b class={}", mark.state.class());
        if let Some(decision) = mark.decision {
            let _ = write!(out, " data-d={decision}");
        }
        if matches!(mark.state, MarkStatus::Uncovered | MarkStatus::Half) {
            out.push_str(" tabindex=0");
        }
        if !self.brief || mark.state != MarkStatus::Covered {
            let _ = write!(out, " title=\"{}\"", escape(&mark.title));
        }
        out.push('>');
    }
}

/// Returns the offset of a position in a line's text; positions on earlier lines are its start, those on later lines
/// its end.
fn offset((line, column): (u32, u32), number: u32, text: &str) -> usize {
    match line.cmp(&number) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Greater => usize::MAX,
        std::cmp::Ordering::Equal => {
            let mut at = (column.saturating_sub(1) as usize).min(text.len());
            while !text.is_char_boundary(at) {
                at += 1;
            }
            at
        }
    }
}
