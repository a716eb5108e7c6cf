//! Variants: one source that was compiled in several ways, each with its own objectives. Reports show all of them; a
//! single one can be selected here. Code with only one variant belongs to every selection.

use crate::document::Document;
use std::collections::BTreeSet;

/// Returns the names of the variants of a file, or of the whole document.
pub fn variants_of<'d>(document: &'d Document, file: Option<&str>) -> BTreeSet<&'d str> {
    let here = |of: Option<&str>| file.is_none() || of == file;
    let objectives = document.objectives.iter().filter(|objective| here(objective.at.file.as_deref()));
    objectives.filter_map(|objective| objective.variant.as_deref()).collect()
}

/// Removes all other variants; returns true if the variant exists.
pub fn keep_variant(document: &mut Document, name: &str) -> bool {
    let known = variants_of(document, None).contains(name);
    let kept = |variant: &Option<String>| variant.as_deref().is_none_or(|variant| variant == name);
    document.objectives.retain(|objective| kept(&objective.variant));
    document.decisions.retain(|decision| kept(&decision.variant));
    known
}
