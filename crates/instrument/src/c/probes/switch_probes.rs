//! Probes of switches. A switch sets a flag when it jumps, and the first case label after it records its target.

use super::decision_probes::DECISION_RANK;
use super::function_probes::FunctionProbes;
use crate::c::text::TokenisedSource;
use crate::record::ProbeObstacle;
use std::collections::BTreeMap;
use touchstone_base::Id;
use touchstone_ir::{BlockId, TermKind};

impl FunctionProbes<'_, '_, '_> {
    pub(super) fn switch(&mut self, block: BlockId) {
        if !self.switches.contains_key(&block) {
            let made = self.switch_probes(block);
            self.switches.insert(block, made);
        }
    }

    fn switch_probes(&mut self, block: BlockId) -> Result<BTreeMap<BlockId, u32>, ProbeObstacle> {
        let place = self.place;
        let source = place.source;
        let TermKind::Switch { arms, default, .. } = &place.function.blocks[block].terminator.kind else {
            return Err(ProbeObstacle::Internal("no switch".to_string()));
        };
        let (start, _) = place.bytes(place.function.blocks[block].terminator.span)?;
        let keyword = source.first_token_from(start);
        if source.word(keyword) != "switch" || source.word(keyword + 1) != "(" {
            return Err(ProbeObstacle::SwitchNotFound);
        }
        let open = source.after_bracket(keyword + 1).ok_or(ProbeObstacle::Brackets)?;
        if source.word(open) != "{" {
            return Err(ProbeObstacle::SwitchWithoutBraces);
        }
        let after = source.after_bracket(open).ok_or(ProbeObstacle::Brackets)?;
        let labels = case_labels(source, open, after);
        let cases = labels.iter().filter(|label| label.case).count();
        if cases != arms.len() || labels.iter().any(|label| !label.in_block) {
            return Err(ProbeObstacle::CaseLabels);
        }
        let mut probes: BTreeMap<BlockId, u32> = BTreeMap::new();
        let targets = label_targets(&labels, arms.iter().map(|arm| arm.target).collect(), *default)
            .ok_or(ProbeObstacle::CaseLabels)?;
        let flag = format!("__touchstone_s{}", block.index());
        let mark = |probe: u32| format!(" if ({flag}) __touchstone_h[{probe}] = 1; {flag} = 0; ");
        let mut has_default = false;
        for (label, target) in labels.iter().zip(targets) {
            has_default |= !label.case;
            let probe = match probes.get(&target) {
                Some(probe) => *probe,
                None => self.fresh(1),
            };
            probes.insert(target, probe);
            self.unit.insertions.before(label.after, mark(probe));
        }
        if !has_default {
            let probe = self.fresh(1);
            probes.insert(*default, probe);
            let text = format!(" default: if ({flag}) __touchstone_h[{probe}] = 1; {flag} = 0; ");
            self.unit.insertions.before(source.tokens[after - 1].start, text);
        }
        let (from, to) = (source.tokens[keyword + 1].end, source.tokens[open - 1].start);
        self.unit.insertions.wrap(from, to, DECISION_RANK, format!("({flag} = 1), ("), ")".to_string());
        self.declarations += &format!("unsigned char {flag}; ");
        Ok(probes)
    }
}

/// A label of a switch.
struct CaseLabel {
    case: bool,
    /// The offset after its colon.
    after: usize,
    /// True if it is in a position where a statement may be inserted.
    in_block: bool,
    /// True if it follows another label directly.
    shares: bool,
}

/// Returns the targets of the labels, in source order. Arms are ordered by value, but their blocks are numbered in
/// source order, one for labels that follow each other directly.
fn label_targets(labels: &[CaseLabel], mut arms: Vec<BlockId>, default: BlockId) -> Option<Vec<BlockId>> {
    arms.sort_unstable();
    let mut arms = arms.into_iter();
    let mut targets: Vec<BlockId> = Vec::new();
    for label in labels {
        let target = if label.case { arms.next()? } else { default };
        if targets.last().is_some_and(|before| (*before == target) != label.shares) {
            return None;
        }
        targets.push(target);
    }
    Some(targets)
}

/// Returns the labels of the switch whose body is between two tokens, in source order.
fn case_labels(source: &TokenisedSource<'_>, open: usize, after: usize) -> Vec<CaseLabel> {
    let mut labels = Vec::new();
    let mut at = open + 1;
    // The index of the statement after the last label.
    let mut ended = None;
    while at < after {
        match source.word(at) {
            "switch" => {
                // The labels of a nested switch belong to that one.
                let inner = source.after_bracket(at + 1).filter(|inner| source.word(*inner) == "{");
                at = inner.and_then(|inner| source.after_bracket(inner)).unwrap_or(at + 1);
                // Anything may follow what is skipped.
                continue;
            }
            word @ ("case" | "default") => {
                let in_block = matches!(source.word(at - 1), "{" | "}" | ";" | ":");
                let Some(next) = source.after_case(at).filter(|next| *next < after) else { return labels };
                // `default :` of a `_Generic` is followed by an expression, not by a statement.
                let shares = ended == Some(at);
                let colon = source.tokens[next - 1].end;
                labels.push(CaseLabel { case: word == "case", after: colon, in_block, shares });
                at = next;
                ended = Some(at);
            }
            _ => at += 1,
        }
    }
    labels
}
