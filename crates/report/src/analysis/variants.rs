//! Variants: one source that was compiled in several ways that differ, each with objectives of its own. Reports show all of
//! them together; here one is chosen. Code that has one variant only belongs to every choice.

use crate::document::Document;
use std::collections::BTreeSet;

/// The names of the variants of a file, or of the whole document.
pub fn variants_of<'d>(document: &'d Document, file: Option<&str>) -> BTreeSet<&'d str> {
    let here = |of: Option<&str>| file.is_none() || of == file;
    let objectives = document.objectives.iter().filter(|objective| here(objective.at.file.as_deref()));
    objectives.filter_map(|objective| objective.variant.as_deref()).collect()
}

/// Leaves only one variant of what has several; whether there is such a variant.
pub fn keep_variant(document: &mut Document, name: &str) -> bool {
    let known = variants_of(document, None).contains(name);
    let kept = |variant: &Option<String>| variant.as_deref().is_none_or(|variant| variant == name);
    document.objectives.retain(|objective| kept(&objective.variant));
    document.decisions.retain(|decision| kept(&decision.variant));
    known
}
