//! A badge: the strongest criterion of the document with its percentage, as a small SVG.

use super::xml::escape;
use crate::analysis::figures::Figures;
use crate::document::Document;
use touchstone_criteria::criterion_named;

/// Returns the badge of a document.
pub fn badge(document: &Document) -> String {
    let figures = Figures::new(document);
    let strength = |name: &str| criterion_named(name).and_then(|criterion| criterion.strength());
    let shown = figures.total.iter().filter(|(name, _)| strength(name).is_some());
    let strongest = shown.max_by_key(|(name, _)| strength(name));
    let (label, value, color) = match strongest.or_else(|| figures.total.iter().next()) {
        None => ("coverage".to_string(), "none".to_string(), GREY),
        Some((criterion, tally)) => {
            let title = criterion_named(criterion).map(|known| known.title());
            let label = title.unwrap_or_else(|| format!("{criterion} coverage"));
            (label, tally.percent(), tally.per_mille().map_or(GREY, color))
        }
    };
    let (left, right) = (width(&label) + 12, width(&value) + 12);
    let (all, label, value) = (left + right, escape(&label), escape(&value));
    let (label_at, value_at) = (left / 2, left + right / 2);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{label}: {value}\">\
         <title>{label}: {value}</title>\
         <clipPath id=\"r\"><rect width=\"{all}\" height=\"20\" rx=\"4\"/></clipPath>\
         <g clip-path=\"url(#r)\"><rect width=\"{left}\" height=\"20\" fill=\"#3b4048\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{color}\"/></g>\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\
         <text x=\"{label_at}\" y=\"14\">{label}</text><text x=\"{value_at}\" y=\"14\">{value}</text></g></svg>\n"
    )
}

const GREY: &str = "#6b7280";

/// Returns a colour from red over yellow to green.
fn color(per_mille: u64) -> &'static str {
    match per_mille {
        1000 => "#15803d",
        900.. => "#4d7c0f",
        750.. => "#a16207",
        500.. => "#c2410c",
        _ => "#b91c1c",
    }
}

/// Estimates the width of a text in Verdana at 11 pixels.
fn width(text: &str) -> u32 {
    let pixels = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | ':' | '/' | ' ' => 4,
        'm' | 'w' | 'M' | 'W' | '%' => 11,
        'A'..='Z' | '–' => 8,
        _ => 7,
    };
    text.chars().map(pixels).sum()
}
