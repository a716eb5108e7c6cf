//! Groups: conditional jumps that may be conditions of one decision, and the ways through them.
//!
//! Bytecode does not say what a decision is: `if (a && b)` and `if (a) if (b)` are the same. So jumps are put together wherever
//! they could be conditions of one: a way out of the first leads to the second, the other one to where the second
//! leads. That puts more together than the source does, and nothing is lost by it: every way through a group has a number, and whoever
//! knows the source reads from it what each decision inside did.
//!
//! A run computes the number of its way as Ball and Larus do: the second way out of a jump adds the number of ways behind the
//! first. A group is only made where every visit of its jumps is a part of a visit that began at the first of them, so that a number
//! never comes from two visits.

use crate::cfg::blocks::Flow;
use std::collections::BTreeSet;

/// A group has at most so many jumps,
const MOST_NODES: usize = 60;
/// and so many ways.
const MOST_WAYS: u32 = 1024;
/// So many numbers its parts may have.
const MOST_PARTS: usize = 256;
/// So many jumps are looked at for one that goes on.
const MOST_LOOKED_AT: usize = 12;

/// Where a jump of a group leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Out of the group.
    Out,
    /// To another jump of the group, perhaps after jumps that are none of it.
    To(usize),
}

/// A conditional jump of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The instruction, by number.
    pub insn: usize,
    /// Where it leads if it is not taken, and if it is.
    pub ways: [Way; 2],
}

/// Jumps that may be conditions of one decision. The first is where it begins; each leads only to later ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The jumps.
    pub nodes: Vec<Node>,
}

impl Group {
    /// How many ways there are through it.
    pub fn ways(&self) -> u32 {
        self.counts().first().copied().unwrap_or(0)
    }

    /// By jump: how many ways there are from it on.
    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0u32; self.nodes.len()];
        for index in (0..self.nodes.len()).rev() {
            let behind = |way: Way| match way {
                Way::Out => 1,
                Way::To(next) => counts[next],
            };
            let [one, two] = self.nodes[index].ways.map(behind);
            counts[index] = one.saturating_add(two);
        }
        counts
    }

    /// By jump: what its being taken adds to the number of the way.
    pub fn adds(&self) -> Vec<u32> {
        let counts = self.counts();
        let behind = |node: &Node| match node.ways[0] {
            Way::Out => 1,
            Way::To(next) => counts[next],
        };
        self.nodes.iter().map(behind).collect()
    }

    /// All ways by number: jumps by their position in the group, and whether they are taken.
    pub fn paths(&self) -> Vec<Vec<(usize, bool)>> {
        let mut paths = Vec::new();
        let mut waiting = vec![(0, Vec::new())];
        while let Some((node, path)) = waiting.pop() {
            // What is not taken comes first.
            for taken in [true, false] {
                let mut path: Vec<(usize, bool)> = path.clone();
                path.push((node, taken));
                match self.nodes[node].ways[usize::from(taken)] {
                    Way::To(next) => waiting.push((next, path)),
                    Way::Out => paths.push(path),
                }
            }
        }
        let adds = self.adds();
        let number = |path: &Vec<(usize, bool)>| -> u32 {
            path.iter().filter(|(_, taken)| *taken).map(|(node, _)| adds[*node]).sum()
        };
        paths.sort_by_key(number);
        paths
    }
}

/// A way that goes on inside of a group, where something may be thrown before the next jump: what was decided so far has probes of its
/// own, or it would be lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The jump, by its position in the group.
    pub node: usize,
    /// Whether it is taken.
    pub taken: bool,
    /// The smallest number that runs have there; those of others follow it.
    pub least: u32,
    /// By number from there on: the way so far, if there is one with that number.
    pub paths: Vec<Option<Steps>>,
}

/// Jumps by their position in the group, and whether they are taken.
pub type Steps = Vec<(usize, bool)>;

impl Group {
    /// What is decided where a way goes on inside; empty if these are too many.
    pub(crate) fn parts(&self, may_throw: impl Fn(usize, usize) -> bool) -> Vec<Part> {
        let adds = self.adds();
        // By jump: the ways to it, with their numbers.
        let mut ways: Vec<Vec<(u32, Steps)>> = vec![Vec::new(); self.nodes.len()];
        ways[0].push((0, Vec::new()));
        let (mut parts, mut size) = (Vec::new(), 0);
        for (position, node) in self.nodes.iter().enumerate() {
            for taken in [false, true] {
                let Way::To(next) = node.ways[usize::from(taken)] else { continue };
                let by = if taken { adds[position] } else { 0 };
                let mut here: Vec<(u32, Steps)> = Vec::new();
                for (number, path) in &ways[position] {
                    let path = [path.as_slice(), &[(position, taken)]].concat();
                    here.push((number + by, path));
                }
                if may_throw(node.insn, self.nodes[next].insn) {
                    let least = here.iter().map(|(number, _)| *number).min().unwrap_or(0);
                    let most = here.iter().map(|(number, _)| *number).max().unwrap_or(0);
                    let mut paths = vec![None; (most - least) as usize + 1];
                    size += paths.len();
                    here.iter().for_each(|(number, path)| paths[(number - least) as usize] = Some(path.clone()));
                    parts.push(Part { node: position, taken, least, paths });
                }
                ways[next].extend(here);
            }
        }
        if size > MOST_PARTS { Vec::new() } else { parts }
    }
}

/// A group in the making, with the blocks that it leads to.
#[derive(Clone, Debug)]
struct Made {
    group: Group,
    /// By jump: the blocks behind it, as control comes to them.
    behind: Vec<[usize; 2]>,
}

impl Made {
    /// Blocks that the group leads to.
    fn leads_to(&self, block: usize) -> bool {
        self.group
            .nodes
            .iter()
            .zip(&self.behind)
            .any(|(node, behind)| (0..2).any(|way| node.ways[way] == Way::Out && behind[way] == block))
    }

    fn position(&self, insn: usize) -> Option<usize> {
        self.group.nodes.iter().position(|node| node.insn == insn)
    }

    fn outs(&self) -> Vec<usize> {
        let nodes = self.group.nodes.iter().zip(&self.behind);
        let mut outs: Vec<usize> = nodes
            .flat_map(|(node, behind)| (0..2).filter(|way| node.ways[*way] == Way::Out).map(|way| behind[way]))
            .collect();
        outs.sort_unstable();
        outs.dedup();
        outs
    }
}

/// The groups of a method's jumps, in the order of the code. Every conditional jump is in one.
pub(crate) fn groups(flow: &Flow) -> Vec<Group> {
    // `(a && b) || c`: only with `a` is it known that nobody comes to `c` but from the group.
    let hopeful = grouped(flow, |_| true, begins_at_first_behind_it);
    let (mut groups, others): (Vec<Group>, Vec<Group>) =
        hopeful.into_iter().partition(|group| begins_always_at_first(flow, group));
    let left: BTreeSet<usize> = others.iter().flat_map(|group| &group.nodes).map(|node| node.insn).collect();
    groups.extend(grouped(flow, |insn| left.contains(&insn), begins_always_at_first));
    groups.sort_by_key(|group| group.nodes.first().map(|node| node.insn));
    groups
}

/// Groups of some jumps, of which each step fits.
fn grouped(flow: &Flow, is_wanted: impl Fn(usize) -> bool, fits: fn(&Flow, &Group) -> bool) -> Vec<Group> {
    let passed = flow.passed_by_all();
    let mut made: Vec<Made> = Vec::new();
    for block in (0..flow.blocks.len()).rev() {
        let Some(insn) = flow.jump_of(block).filter(|insn| is_wanted(*insn)) else { continue };
        let [next, target] = flow.blocks[block].next[..] else { continue };
        let behind = [flow.resolved(next), flow.resolved(target)];
        let alone = Made { group: Group { nodes: vec![Node { insn, ways: [Way::Out; 2] }] }, behind: vec![behind] };
        let met = behind.map(|from| jumps_from(flow, &passed, from, insn));
        match joined(&alone, &met, &made, |group| fits(flow, group)) {
            Some((joined, parts)) => {
                let mut at = 0;
                made.retain(|_| {
                    at += 1;
                    !parts.contains(&(at - 1))
                });
                made.push(joined);
            }
            None => made.push(alone),
        }
    }
    made.into_iter().map(|made| made.group).collect()
}

/// Jumps behind another that every way from a block comes to, in order.
fn jumps_from(flow: &Flow, passed: &[Option<usize>], from: usize, behind: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = Some(from);
    for _ in 0..MOST_LOOKED_AT {
        let Some(block) = at else { break };
        if let Some(jump) = flow.jump_of(block)
            && jump > behind
        {
            found.push(jump);
        }
        at = passed[block];
    }
    found
}

/// A jump together with groups that it leads to, and which these are.
fn joined(
    alone: &Made,
    met: &[Vec<usize>; 2],
    made: &[Made],
    fits: impl Fn(&Group) -> bool,
) -> Option<(Made, Vec<usize>)> {
    let begins = |jump: usize| made.iter().position(|made| made.group.nodes[0].insn == jump);
    for way in [0, 1] {
        let other = 1 - way;
        for entry in &met[way] {
            let Some(first) = begins(*entry) else { continue };
            let group = &made[first];
            let out = alone.behind[0][other];
            // Where both ways lead to the same jump, the decision has ended.
            let inside = met[other].iter().find_map(|jump| group.position(*jump)).filter(|inside| *inside > 0);
            let mut candidates: Vec<(Made, Vec<usize>)> = Vec::new();
            if group.leads_to(out) {
                candidates.push((append(alone, group, way, Way::Out), vec![first]));
            }
            if let Some(inside) = inside {
                candidates.push((append(alone, group, way, Way::To(inside + 1)), vec![first]));
            }
            // A choice: both ways lead to a group, and these to the same.
            for second in met[other].iter().filter_map(|jump| begins(*jump)).filter(|second| *second != first) {
                if made[second].outs() == group.outs() {
                    candidates.push((choice(alone, [(way, group), (other, &made[second])]), vec![first, second]));
                }
            }
            let is_one =
                |Made { group, .. }: &Made| group.nodes.len() <= MOST_NODES && group.ways() <= MOST_WAYS && fits(group);
            if let Some(found) = candidates.into_iter().find(|(made, _)| is_one(made)) {
                return Some(found);
            }
        }
    }
    None
}

/// A jump whose way `way` leads to a group, and whose other way leads to `rest`.
fn append(alone: &Made, group: &Made, way: usize, rest: Way) -> Made {
    let mut nodes = alone.group.nodes.clone();
    nodes[0].ways[way] = Way::To(1);
    nodes[0].ways[1 - way] = rest;
    nodes.extend(moved(&group.group.nodes, 1));
    Made { group: Group { nodes }, behind: [&alone.behind[..], &group.behind].concat() }
}

/// A jump of which each way leads to a group.
fn choice(alone: &Made, groups: [(usize, &Made); 2]) -> Made {
    let mut made = alone.clone();
    for (way, group) in groups {
        let by = made.group.nodes.len();
        made.group.nodes[0].ways[way] = Way::To(by);
        made.group.nodes.extend(moved(&group.group.nodes, by));
        made.behind.extend_from_slice(&group.behind);
    }
    made
}

/// Jumps whose positions in the group are others.
fn moved(nodes: &[Node], by: usize) -> impl Iterator<Item = Node> + '_ {
    nodes.iter().map(move |node| {
        let ways = node.ways.map(|way| match way {
            Way::To(next) => Way::To(next + by),
            Way::Out => Way::Out,
        });
        Node { insn: node.insn, ways }
    })
}

/// Whether control comes to each jump of a group only as the group says, from one of its jumps, beginning at the first.
fn begins_always_at_first(flow: &Flow, group: &Group) -> bool {
    is_entered_from(flow, group, 0)
}

/// The same, as far as what stands behind the first of them goes: what stands before it may join the group.
fn begins_at_first_behind_it(flow: &Flow, group: &Group) -> bool {
    is_entered_from(flow, group, flow.block_of(group.nodes[0].insn))
}

/// Whether all that begins at a block, and does not go back before it, comes to the jumps of a group as the group says.
fn is_entered_from(flow: &Flow, group: &Group, begin: usize) -> bool {
    /// Nobody is on a way through the group; bits behind it: on the way to that jump.
    const OUTSIDE: u64 = 1;
    let mut node_of = vec![None; flow.blocks.len()];
    for (position, node) in group.nodes.iter().enumerate() {
        node_of[flow.block_of(node.insn)] = Some(position);
    }
    let mut state = vec![0u64; flow.blocks.len()];
    state[begin] = OUTSIDE;
    let mut waiting = vec![begin];
    while let Some(block) = waiting.pop() {
        let here = state[block];
        let mut reach = |next: usize, with: u64| {
            if next >= begin && state[next] | with != state[next] {
                state[next] |= with;
                waiting.push(next);
            }
        };
        let next = &flow.blocks[block].next;
        match node_of[block] {
            Some(position) => {
                // Who begins again before the end of a way would lose it.
                let alone = if position == 0 { OUTSIDE } else { OUTSIDE << (position + 1) };
                if here != alone {
                    return false;
                }
                for (way, next) in group.nodes[position].ways.iter().zip(next) {
                    let with = match way {
                        Way::Out => OUTSIDE,
                        Way::To(to) => OUTSIDE << (to + 1),
                    };
                    reach(*next, with);
                }
            }
            None => next.iter().for_each(|next| reach(*next, here)),
        }
        flow.blocks[block].handlers.iter().for_each(|handler| reach(*handler, OUTSIDE));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_numbered_as_a_run_computes_them() {
        let node = |insn, no, yes| Node { insn, ways: [no, yes] };
        // (a && b) || c, as javac has it.
        let group = Group {
            nodes: vec![node(1, Way::To(1), Way::To(2)), node(3, Way::To(2), Way::Out), node(5, Way::Out, Way::Out)],
        };
        assert_eq!(group.ways(), 5);
        let adds = group.adds();
        for (number, path) in group.paths().iter().enumerate() {
            let sum: u32 = path.iter().filter(|(_, taken)| *taken).map(|(node, _)| adds[*node]).sum();
            assert_eq!(sum as usize, number, "{path:?}");
        }
        // What c throws is behind two ways: a and not b, or not a.
        let parts = group.parts(|_, next| next == 5);
        let known: Vec<_> = parts.iter().flat_map(|part| part.paths.iter().flatten().cloned()).collect();
        assert_eq!(known, [vec![(0, true)], vec![(0, false), (1, false)]]);
        for part in &parts {
            for (number, path) in (part.least..).zip(&part.paths) {
                let sum = |path: &Vec<(usize, bool)>| path.iter().filter(|(_, t)| *t).map(|(n, _)| adds[*n]).sum();
                assert!(path.as_ref().is_none_or(|path| number == sum(path)), "{part:?}");
            }
        }
    }
}
