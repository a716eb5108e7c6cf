//! Rules about assertions, evaluated once for each site: they match names against patterns.

use super::SiteRef;
use crate::state::{SiteKind, StateRecord, StateRules, StateSite};

/// The rules that apply to a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct SiteRule {
    /// True if a condition there is an assertion, or guards the report of a failure.
    pub asserts: bool,
    /// True if a write there modifies no state: it is part of an assertion or of a test framework.
    pub excluded: bool,
}

/// The rules of the sites that events named so far, by unit and by site.
#[derive(Debug, Default)]
pub(super) struct SiteRules {
    known: Vec<Vec<Option<SiteRule>>>,
}

impl SiteRules {
    /// Returns the rules of a site. `record` is the record of its unit, and `described` the site in it.
    pub fn of(&mut self, site: SiteRef, record: &StateRecord, described: &StateSite, rules: &StateRules) -> SiteRule {
        let (unit, index) = ((site >> 32) as usize, (site & 0xffff_ffff) as usize);
        if self.known.len() <= unit {
            self.known.resize_with(unit + 1, Vec::new);
        }
        let known = &mut self.known[unit];
        if known.len() <= index {
            known.resize((index + 1).max(record.sites.len()), None);
        }
        *known[index].get_or_insert_with(|| SiteRule::of(record, described, rules))
    }
}

impl SiteRule {
    fn of(record: &StateRecord, described: &StateSite, rules: &StateRules) -> SiteRule {
        let guards = match &described.kind {
            SiteKind::Branch { guards, .. } | SiteKind::Choice { guards } => guards.as_slice(),
            _ => &[],
        };
        let file = record.files.get(described.file as usize).map_or("", String::as_str);
        let in_assertion = described.in_macro.as_deref().is_some_and(|name| rules.asserts(name));
        SiteRule {
            asserts: in_assertion || guards.iter().any(|name| rules.reports_failure(name)),
            excluded: in_assertion || StateRules::is_framework(file),
        }
    }
}
