//! The HTML report: a static site that needs neither a network nor a server.
//!
//! Every page is a plain file; the style sheet and the script are next to them. Data that may be large (truth tables,
//! the search index) is loaded by the script on demand, and the browser lays out source lines only when they come into
//! view, so that a file of a quarter of a million lines stays usable. All text of the user's program is escaped here or
//! set as text by the script. The output is deterministic.
//!
//! Deliberately not here: reading sources and writing pages.

mod chart;
mod lists;
mod marks;
mod overview;
mod script_data;
mod shell;
mod source;
mod tokens;
mod tree;

use crate::analysis::figures::{Figures, merged};
use crate::analysis::history::HistoryEntry;
use crate::analysis::variants::{keep_variant, variants_of};
use crate::document::{Document, Objective};
use std::collections::{BTreeMap, BTreeSet};

/// The input of the site.
pub struct SiteInput<'a> {
    /// The document.
    pub document: &'a Document,
    /// The texts of the readable source files, by path.
    pub sources: &'a BTreeMap<String, String>,
    /// The figures of past campaigns, the oldest first; the last may be the current one.
    pub history: &'a [HistoryEntry],
}

/// A file of the site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The path inside the site.
    pub path: String,
    /// The contents.
    pub text: String,
}

/// The indices that pages use.
struct Site<'a> {
    document: &'a Document,
    sources: &'a BTreeMap<String, String>,
    history: &'a [HistoryEntry],
    figures: Figures,
    /// The objectives by file without duplicates, in the order of the source.
    objectives: BTreeMap<&'a str, Vec<&'a Objective>>,
    /// The base name of each file's pages.
    slugs: BTreeMap<&'a str, String>,
}

/// Renders the whole site.
pub fn site(input: &SiteInput<'_>) -> Vec<Page> {
    let site = Site::new(input);
    let mut pages = vec![
        Page { path: "style.css".into(), text: include_str!("style.css").into() },
        Page { path: "script.js".into(), text: include_str!("script.js").into() },
        Page { path: "index.html".into(), text: overview::page(&site) },
        Page { path: "functions.html".into(), text: lists::functions(&site) },
        Page { path: "tests.html".into(), text: lists::tests(&site) },
        Page { path: "objectives.html".into(), text: lists::objectives_index(&site) },
        Page { path: "search.js".into(), text: script_data::search(&site) },
    ];
    if !input.document.state.is_empty() {
        pages.push(Page { path: "state.html".into(), text: lists::state(&site) });
    }
    for file in site.slugs.keys() {
        let variants = variants_of(input.document, Some(file));
        pages.extend(of_file(&site, file, &choices(&site, file, &variants, None)));
        for (number, name) in variants.iter().enumerate() {
            let mut only = input.document.clone();
            keep_variant(&mut only, name);
            let mut one = Site::new(&SiteInput { document: &only, ..*input });
            let slug = variant_slug(&site, file, number);
            one.slugs.insert(file, slug);
            pages.extend(of_file(&one, file, &choices(&site, file, &variants, Some(number))));
        }
    }
    pages
}

/// Returns true if an existing file is an older version of a page, or a truncated one.
pub fn is_page(path: &str, text: &str, there: &str) -> bool {
    const THEME_KEY: &str = "touchstone-theme";
    const SAME_CHARACTERS: usize = 16;
    let begins = |text: &str| text.chars().take(SAME_CHARACTERS).collect::<String>();
    match path.ends_with(".html") {
        true => there.contains(THEME_KEY) || text.starts_with(there),
        false => begins(there) == begins(text) || text.starts_with(there),
    }
}

/// Renders the pages of a file.
fn of_file(site: &Site<'_>, file: &str, choices: &[source::VariantPage]) -> Vec<Page> {
    let slug = site.slugs.get(file).map_or("", String::as_str);
    let decisions = script_data::decisions_of(site.document, file);
    let mut pages = vec![
        Page { path: format!("f/{slug}.html"), text: source::page(site, file, &decisions, choices) },
        Page { path: format!("f/{slug}.o.html"), text: lists::objectives(site, file) },
    ];
    for (part, text) in script_data::parts(&decisions).into_iter().enumerate() {
        pages.push(Page { path: format!("d/{slug}-{part}.js"), text });
    }
    pages
}

/// Returns the base name of the pages of one variant. It differs from every file's own, which contains no `~`.
fn variant_slug(site: &Site<'_>, file: &str, number: usize) -> String {
    format!("{}~v{}", site.slugs.get(file).map_or("", String::as_str), number + 1)
}

/// Returns the pages of a file: all variants, and each single one. `here` is the current page.
fn choices(site: &Site<'_>, file: &str, variants: &BTreeSet<&str>, here: Option<usize>) -> Vec<source::VariantPage> {
    if variants.is_empty() {
        return Vec::new();
    }
    let slug = site.slugs.get(file).map_or("", String::as_str);
    let all = source::VariantPage { name: "all".to_string(), page: here.is_some().then(|| format!("{slug}.html")) };
    let each = variants.iter().enumerate().map(|(number, name)| source::VariantPage {
        name: name.to_string(),
        page: (here != Some(number)).then(|| format!("{}.html", variant_slug(site, file, number))),
    });
    std::iter::once(all).chain(each).collect()
}

impl<'a> Site<'a> {
    fn new(input: &SiteInput<'a>) -> Site<'a> {
        let mut objectives: BTreeMap<&str, Vec<&Objective>> = BTreeMap::new();
        for ((file, _), objective) in merged(input.document) {
            objectives.entry(file).or_default().push(objective);
        }
        for list in objectives.values_mut() {
            let order = |o: &&Objective| (o.at.line, o.at.column, o.criterion.clone(), position(&o.id));
            list.sort_by_cached_key(order);
        }
        let figures = Figures::new(input.document);
        let mut slugs: BTreeMap<&str, String> = BTreeMap::new();
        let known = input.document.functions.iter().map(|function| function.file.as_str());
        let mut taken: Vec<String> = Vec::new();
        let mut all: Vec<&str> = objectives.keys().copied().chain(known).filter(|file| !file.is_empty()).collect();
        all.sort_unstable();
        all.dedup();
        for file in all {
            let slug = slug(file, &taken);
            taken.push(slug.to_lowercase());
            slugs.insert(file, slug);
        }
        Site { document: input.document, sources: input.sources, history: input.history, figures, objectives, slugs }
    }

    fn objectives_of(&self, file: &str) -> &[&'a Objective] {
        self.objectives.get(file).map_or(&[], Vec::as_slice)
    }
}

fn position(id: &str) -> usize {
    crate::export::position(id)
}

/// Returns a file name for a path: readable, portable, and unique even without case.
fn slug(path: &str, taken: &[String]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c } else { '-' };
    let base: String = path.chars().map(plain).collect::<String>().trim_matches(['-', '.']).to_string();
    let base: String = base.chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
    let mut made = if base.is_empty() { "file".to_string() } else { base.clone() };
    let mut number = 2;
    while taken.contains(&made.to_lowercase()) {
        made = format!("{base}-{number}");
        number += 1;
    }
    made
}
