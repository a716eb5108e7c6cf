//! The HTML report: a static site that needs neither a network nor a server.
//!
//! Every page is a plain file; the style sheet and the script stand beside them. What could get large (truth tables, the
//! search index) is loaded by the script when it is first needed, and the lines of a source are laid out by the browser
//! only as they come into view, so that a file of a quarter of a million lines stays usable. Everything that comes from
//! the user's program is escaped here or set as text by the script. Same input, same bytes.
//!
//! Deliberately not here: reading sources and writing pages.

mod chart;
mod data;
mod lists;
mod marks;
mod overview;
mod shell;
mod source;
mod tokens;
mod tree;

use crate::document::{Document, Objective};
use crate::figures::{Figures, merged};
use crate::history::Past;
use std::collections::BTreeMap;

/// What the site is made of.
pub struct Input<'a> {
    /// What was found.
    pub document: &'a Document,
    /// The texts of the source files that could be read, by path.
    pub sources: &'a BTreeMap<String, String>,
    /// Figures of campaigns, the oldest first; the last may be this one.
    pub history: &'a [Past],
}

/// A file of the site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// Its path inside the site.
    pub path: String,
    /// What it contains.
    pub text: String,
}

/// All that pages look things up in.
struct Site<'a> {
    document: &'a Document,
    sources: &'a BTreeMap<String, String>,
    history: &'a [Past],
    figures: Figures,
    /// Objectives, each once, by file; in a file by place.
    objectives: BTreeMap<&'a str, Vec<&'a Objective>>,
    /// The name of each file's pages.
    slugs: BTreeMap<&'a str, String>,
}

/// The whole site.
pub fn site(input: &Input<'_>) -> Vec<Page> {
    let site = Site::new(input);
    let mut pages = vec![
        Page { path: "style.css".into(), text: include_str!("html/style.css").into() },
        Page { path: "script.js".into(), text: include_str!("html/script.js").into() },
        Page { path: "index.html".into(), text: overview::page(&site) },
        Page { path: "functions.html".into(), text: lists::functions(&site) },
        Page { path: "tests.html".into(), text: lists::tests(&site) },
        Page { path: "objectives.html".into(), text: lists::objectives_index(&site) },
        Page { path: "search.js".into(), text: data::search(&site) },
    ];
    if !input.document.state.is_empty() {
        pages.push(Page { path: "state.html".into(), text: lists::state(&site) });
    }
    for (file, slug) in &site.slugs {
        let decisions = data::decisions_of(input.document, file);
        pages.push(Page { path: format!("f/{slug}.html"), text: source::page(&site, file, &decisions) });
        pages.push(Page { path: format!("f/{slug}.o.html"), text: lists::objectives(&site, file) });
        for (part, text) in data::parts(&decisions).into_iter().enumerate() {
            pages.push(Page { path: format!("d/{slug}-{part}.js"), text });
        }
    }
    pages
}

impl<'a> Site<'a> {
    fn new(input: &Input<'a>) -> Site<'a> {
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

/// A file name for a path: readable, plain, different from all others also where case doesn't count.
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
