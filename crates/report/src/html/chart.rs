//! A line chart of past figures.

use super::shell::escape;
use crate::analysis::history::HistoryEntry;
use std::fmt::Write;

/// The maximum number of campaigns in the chart.
const MAX_CAMPAIGNS: usize = 40;
const WIDTH: u64 = 720;
const HEIGHT: u64 = 160;
const LEFT: u64 = 48;
const TOP: u64 = 8;

/// Returns the chart, if there are at least two campaigns.
pub(super) fn chart(history: &[HistoryEntry]) -> Option<String> {
    let shown = &history[history.len().saturating_sub(MAX_CAMPAIGNS)..];
    if shown.len() < 2 {
        return None;
    }
    let mut criteria: Vec<&str> = Vec::new();
    for figure in shown.iter().flat_map(|past| &past.figures) {
        if !criteria.contains(&figure.criterion.as_str()) {
            criteria.push(&figure.criterion);
        }
    }
    let lowest = shown.iter().flat_map(|past| &past.figures).filter_map(|figure| figure.per_mille()).min()?;
    // The axis starts at the quarter below the lowest value.
    let floor = if lowest == 1000 { 750 } else { lowest / 250 * 250 };
    let y = |per_mille: u64| TOP + (1000 - per_mille) * HEIGHT / (1000 - floor);
    let x = |index: usize| LEFT + 8 + index as u64 * (WIDTH - LEFT - 24) / (shown.len() as u64 - 1);
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"Percentages of past campaigns\">",
        HEIGHT + TOP + 26
    );
    for step in 0..=5 {
        let value = floor + (1000 - floor) * step / 5;
        let at = y(value);
        let _ = write!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at}\" y2=\"{at}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}%</text>",
            LEFT - 5,
            at + 4,
            value / 10
        );
    }
    for (number, criterion) in criteria.iter().enumerate() {
        let values: Vec<(usize, u64)> = shown
            .iter()
            .enumerate()
            .filter_map(|(index, past)| {
                let figure = past.figures.iter().find(|figure| figure.criterion == *criterion)?;
                Some((index, figure.per_mille()?))
            })
            .collect();
        let points: Vec<String> = values.iter().map(|(index, value)| format!("{},{}", x(*index), y(*value))).collect();
        let _ = write!(out, "<g class=\"s{}\"><polyline points=\"{}\"/>", number % 6, points.join(" "));
        for (index, value) in values {
            let _ = write!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"3\"><title>{} {}.{}%, {}</title></circle>",
                x(index),
                y(value),
                escape(criterion),
                value / 10,
                value % 10,
                date(shown[index].time)
            );
        }
        out.push_str("</g>");
    }
    let bottom = TOP + HEIGHT + 20;
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{bottom}\">{}</text><text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">{}</text></svg>",
        LEFT,
        date(shown[0].time),
        WIDTH - 8,
        date(shown[shown.len() - 1].time)
    );
    out.push_str("<p class=\"legend\">");
    for (number, criterion) in criteria.iter().enumerate() {
        let _ = write!(out, "<span class=\"s{}\"><i></i>{}</span>", number % 6, escape(criterion));
    }
    out.push_str("</p>");
    Some(out)
}

/// Formats a time as `2026-11-15` in UTC (from days since 1970 to a date of the Gregorian calendar, by eras of 400
/// years).
fn date(time: u64) -> String {
    let days = time / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (era * 400 + year, month + 3) } else { (era * 400 + year + 1, month - 9) };
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (time, expected) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_794_700_799, "2026-11-14"),
            (1_794_700_800, "2026-11-15"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(super::date(time), expected);
        }
    }
}
