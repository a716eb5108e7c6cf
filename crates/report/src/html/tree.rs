//! The tree of directories and files, with the figures of each directory.

use super::Site;
use super::shell::{bar, escape};
use crate::analysis::figures::Tally;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Default)]
struct Directory<'a> {
    directories: BTreeMap<&'a str, Directory<'a>>,
    files: BTreeMap<&'a str, (&'a str, Tally)>,
    sum: Tally,
}

pub(super) fn tree(site: &Site<'_>) -> String {
    let mut root = Directory::default();
    for (file, tallies) in &site.figures.files {
        let Some(slug) = site.slugs.get(file.as_str()) else { continue };
        let tally = tallies.sum();
        let mut parts: Vec<&str> = file.split('/').filter(|part| !part.is_empty()).collect();
        let Some(name) = parts.pop() else { continue };
        let mut at = &mut root;
        at.sum.join(&tally);
        for part in parts {
            at = at.directories.entry(part).or_default();
            at.sum.join(&tally);
        }
        at.files.insert(name, (slug, tally));
    }
    let mut out = String::new();
    push(&mut out, &root);
    out
}

/// Recursion is bounded by the depth of paths.
fn push(out: &mut String, directory: &Directory<'_>) {
    out.push_str("<ul>");
    for (name, inner) in &directory.directories {
        let _ = write!(out, "<li><details open><summary><span>{}/</span> {}</summary>", escape(name), bar(&inner.sum));
        push(out, inner);
        out.push_str("</details></li>\n");
    }
    for (name, (slug, tally)) in &directory.files {
        let _ = writeln!(out, "<li class=\"leaf\"><a href=\"f/{slug}.html\">{}</a> {}</li>", escape(name), bar(tally));
    }
    out.push_str("</ul>");
}
