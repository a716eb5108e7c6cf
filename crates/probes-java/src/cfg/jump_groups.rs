//! Groups of conditional jumps that may be the conditions of one decision, and the paths through them.
//!
//! Bytecode has no decisions: `if (a && b)` and `if (a) if (b)` compile to the same code. So jumps are grouped wherever they could be
//! conditions of one decision: one successor of the first is the second, the other one is a successor of the second. A group may contain
//! more than one decision of the source. Nothing is lost by this: every path through a group has a number, from which a reader that knows
//! the source derives the outcomes of each decision.
//!
//! A run computes the number of its path as in Ball and Larus, "Efficient path profiling" (1996): a taken jump adds the number of paths from
//! its other successor. A group is formed only if every execution of its jumps is part of an execution that began at the first one, so that a
//! number is never the sum of two executions.

use crate::cfg::blocks::MethodCfg;
use std::collections::BTreeSet;
use touchstone_base::DominatorTree;

/// The maximum number of jumps of a group. Their positions are bits of a word.
const MAX_GROUP_JUMPS: usize = 60;
/// The maximum number of paths through a group.
const MAX_GROUP_PATHS: u32 = 1024;
/// The maximum number of probes for prefixes of the paths through a group.
const MAX_PREFIX_PROBES: usize = 256;
/// The maximum number of post-dominators that are searched for the next jump of a group.
const MAX_JUMPS_FOLLOWED: usize = 12;

/// The successor of a jump in its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupSuccessor {
    /// The path leaves the group.
    Exit,
    /// Another jump, by its position in the group. Jumps of other groups may be executed before it.
    Jump(usize),
}

/// A conditional jump of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupJump {
    /// The index of the instruction.
    pub insn: usize,
    /// The successors if the jump is not taken, and if it is.
    pub successors: [GroupSuccessor; 2],
}

/// Jumps that may be the conditions of one decision. Every path begins at the first one, and each jump has only later ones as successors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JumpGroup {
    /// The jumps.
    pub jumps: Vec<GroupJump>,
}

impl JumpGroup {
    /// Returns the number of paths through the group.
    pub fn path_count(&self) -> u32 {
        self.path_counts().first().copied().unwrap_or(0)
    }

    /// Maps each jump to the number of paths that begin with it.
    fn path_counts(&self) -> Vec<u32> {
        let mut counts = vec![0u32; self.jumps.len()];
        for index in (0..self.jumps.len()).rev() {
            let paths_from = |successor: GroupSuccessor| match successor {
                GroupSuccessor::Exit => 1,
                GroupSuccessor::Jump(next) => counts[next],
            };
            let [one, two] = self.jumps[index].successors.map(paths_from);
            counts[index] = one.saturating_add(two);
        }
        counts
    }

    /// Maps each jump to the number that is added to the number of the path if the jump is taken.
    pub fn increments(&self) -> Vec<u32> {
        let counts = self.path_counts();
        let paths_if_not_taken = |jump: &GroupJump| match jump.successors[0] {
            GroupSuccessor::Exit => 1,
            GroupSuccessor::Jump(next) => counts[next],
        };
        self.jumps.iter().map(paths_if_not_taken).collect()
    }

    /// Returns all paths in the order of their numbers.
    pub fn paths(&self) -> Vec<JumpOutcomes> {
        let mut paths = Vec::new();
        let mut pending = vec![(0, Vec::new())];
        while let Some((jump, path)) = pending.pop() {
            for taken in [true, false] {
                let mut path: Vec<(usize, bool)> = path.clone();
                path.push((jump, taken));
                match self.jumps[jump].successors[usize::from(taken)] {
                    GroupSuccessor::Jump(next) => pending.push((next, path)),
                    GroupSuccessor::Exit => paths.push(path),
                }
            }
        }
        let increments = self.increments();
        let number = |path: &Vec<(usize, bool)>| -> u32 {
            path.iter().filter(|(_, taken)| *taken).map(|(jump, _)| increments[*jump]).sum()
        };
        paths.sort_by_key(number);
        paths
    }
}

/// The path prefixes that end with one outcome of a jump, if an exception may be thrown before the next jump of the group. They have probes of
/// their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathPrefixes {
    /// The position of the jump in the group.
    pub jump: usize,
    /// True if the jump is taken.
    pub taken: bool,
    /// The smallest number of a path prefix that ends here.
    pub least: u32,
    /// The prefixes by their numbers, from `least` on; `None` if no prefix has that number.
    pub paths: Vec<Option<JumpOutcomes>>,
}

/// The jumps of a path by their positions in the group, each with true if it is taken.
pub type JumpOutcomes = Vec<(usize, bool)>;

impl JumpGroup {
    /// Returns the prefixes after which an exception may leave the group, or nothing if there are too many. `may_throw` says it for the code
    /// between two jumps.
    pub(crate) fn path_prefixes(&self, may_throw: impl Fn(usize, usize) -> bool) -> Vec<PathPrefixes> {
        let increments = self.increments();
        // Maps each jump to the path prefixes that end before it, with their numbers.
        let mut prefixes: Vec<Vec<(u32, JumpOutcomes)>> = vec![Vec::new(); self.jumps.len()];
        prefixes[0].push((0, Vec::new()));
        let (mut found, mut size) = (Vec::new(), 0);
        for (position, jump) in self.jumps.iter().enumerate() {
            for taken in [false, true] {
                let GroupSuccessor::Jump(next) = jump.successors[usize::from(taken)] else { continue };
                let by = if taken { increments[position] } else { 0 };
                let mut here: Vec<(u32, JumpOutcomes)> = Vec::new();
                for (number, path) in &prefixes[position] {
                    let path = [path.as_slice(), &[(position, taken)]].concat();
                    here.push((number + by, path));
                }
                if may_throw(jump.insn, self.jumps[next].insn) {
                    let least = here.iter().map(|(number, _)| *number).min().unwrap_or(0);
                    let most = here.iter().map(|(number, _)| *number).max().unwrap_or(0);
                    let mut paths = vec![None; (most - least) as usize + 1];
                    size += paths.len();
                    here.iter().for_each(|(number, path)| paths[(number - least) as usize] = Some(path.clone()));
                    found.push(PathPrefixes { jump: position, taken, least, paths });
                }
                prefixes[next].extend(here);
            }
        }
        if size > MAX_PREFIX_PROBES { Vec::new() } else { found }
    }
}

/// A group that is being built, with the blocks that follow its jumps.
#[derive(Clone, Debug)]
struct GroupBuilder {
    group: JumpGroup,
    /// Maps each jump to its two successor blocks.
    blocks: Vec<[usize; 2]>,
}

impl GroupBuilder {
    /// Returns true if a path leaves the group to `block`.
    fn exits_to(&self, block: usize) -> bool {
        self.group.jumps.iter().zip(&self.blocks).any(|(jump, blocks)| {
            (0..2).any(|way| jump.successors[way] == GroupSuccessor::Exit && blocks[way] == block)
        })
    }

    fn position(&self, insn: usize) -> Option<usize> {
        self.group.jumps.iter().position(|jump| jump.insn == insn)
    }

    fn exits(&self) -> Vec<usize> {
        let jumps = self.group.jumps.iter().zip(&self.blocks);
        let mut exits: Vec<usize> = jumps
            .flat_map(|(jump, blocks)| {
                (0..2).filter(|way| jump.successors[*way] == GroupSuccessor::Exit).map(|way| blocks[way])
            })
            .collect();
        exits.sort_unstable();
        exits.dedup();
        exits
    }
}

/// Partitions the conditional jumps of a method into groups, in the order of the code.
pub(crate) fn groups(cfg: &MethodCfg) -> Vec<JumpGroup> {
    // In `(a && b) || c` the group of `b` and `c` is also entered at `c`; only with `a` it is entered at its first jump alone. So groups are first
    // built as if the code before them belonged to them, and rebuilt if it does not.
    let candidates = grouped(cfg, |_| true, is_entered_at_first_from_there);
    let (mut groups, others): (Vec<JumpGroup>, Vec<JumpGroup>) =
        candidates.into_iter().partition(|group| is_entered_at_first(cfg, group));
    let left: BTreeSet<usize> = others.iter().flat_map(|group| &group.jumps).map(|jump| jump.insn).collect();
    groups.extend(grouped(cfg, |insn| left.contains(&insn), is_entered_at_first));
    groups.sort_by_key(|group| group.jumps.first().map(|jump| jump.insn));
    groups
}

/// Builds groups of the jumps that `is_wanted` selects. Every intermediate group satisfies `fits`.
fn grouped(
    cfg: &MethodCfg,
    is_wanted: impl Fn(usize) -> bool,
    fits: fn(&MethodCfg, &JumpGroup) -> bool,
) -> Vec<JumpGroup> {
    let post_dominators = cfg.post_dominators();
    let mut groups: Vec<GroupBuilder> = Vec::new();
    for block in (0..cfg.blocks.len()).rev() {
        let Some(insn) = cfg.jump_of(block).filter(|insn| is_wanted(*insn)) else { continue };
        let [next, target] = cfg.blocks[block].next[..] else { continue };
        let blocks = [cfg.resolved(next), cfg.resolved(target)];
        let single = GroupBuilder {
            group: JumpGroup { jumps: vec![GroupJump { insn, successors: [GroupSuccessor::Exit; 2] }] },
            blocks: vec![blocks],
        };
        let jumps_after = blocks.map(|from| jumps_from(cfg, &post_dominators, from, insn));
        match join(&single, &jumps_after, &groups, |group| fits(cfg, group)) {
            Some((joined, merged)) => {
                let mut at = 0;
                groups.retain(|_| {
                    at += 1;
                    !merged.contains(&(at - 1))
                });
                groups.push(joined);
            }
            None => groups.push(single),
        }
    }
    groups.into_iter().map(|builder| builder.group).collect()
}

/// Returns the jumps after the jump `after` that post-dominate a block, in order.
fn jumps_from(cfg: &MethodCfg, post_dominators: &DominatorTree, from: usize, after: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = Some(from);
    for _ in 0..MAX_JUMPS_FOLLOWED {
        let Some(block) = at else { break };
        if let Some(jump) = cfg.jump_of(block)
            && jump > after
        {
            found.push(jump);
        }
        at = post_dominators.immediate(block);
    }
    found
}

/// Joins a jump with one or two of the groups that follow it. Returns the new group and the indices of these.
fn join(
    single: &GroupBuilder,
    jumps_after: &[Vec<usize>; 2],
    groups: &[GroupBuilder],
    fits: impl Fn(&JumpGroup) -> bool,
) -> Option<(GroupBuilder, Vec<usize>)> {
    let group_at = |jump: usize| groups.iter().position(|builder| builder.group.jumps[0].insn == jump);
    for way in [0, 1] {
        let other = 1 - way;
        for entry in &jumps_after[way] {
            let Some(first) = group_at(*entry) else { continue };
            let group = &groups[first];
            let exit = single.blocks[0][other];
            // If both successors reach the first jump of the group, the decision has ended before it.
            let inside = jumps_after[other].iter().find_map(|jump| group.position(*jump)).filter(|inside| *inside > 0);
            let mut candidates: Vec<(GroupBuilder, Vec<usize>)> = Vec::new();
            if group.exits_to(exit) {
                candidates.push((prepend(single, group, way, GroupSuccessor::Exit), vec![first]));
            }
            if let Some(inside) = inside {
                candidates.push((prepend(single, group, way, GroupSuccessor::Jump(inside + 1)), vec![first]));
            }
            // A conditional expression: both successors are groups with the same exits.
            for second in jumps_after[other].iter().filter_map(|jump| group_at(*jump)).filter(|second| *second != first)
            {
                if groups[second].exits() == group.exits() {
                    candidates
                        .push((prepend_to_both(single, [(way, group), (other, &groups[second])]), vec![first, second]));
                }
            }
            let is_within_bounds = |GroupBuilder { group, .. }: &GroupBuilder| {
                group.jumps.len() <= MAX_GROUP_JUMPS && group.path_count() <= MAX_GROUP_PATHS && fits(group)
            };
            if let Some(found) = candidates.into_iter().find(|(builder, _)| is_within_bounds(builder)) {
                return Some(found);
            }
        }
    }
    None
}

/// Prepends a jump to a group: `way` of its successors is the group, the other one is `rest`.
fn prepend(single: &GroupBuilder, group: &GroupBuilder, way: usize, rest: GroupSuccessor) -> GroupBuilder {
    let mut jumps = single.group.jumps.clone();
    jumps[0].successors[way] = GroupSuccessor::Jump(1);
    jumps[0].successors[1 - way] = rest;
    jumps.extend(shifted(&group.group.jumps, 1));
    GroupBuilder { group: JumpGroup { jumps }, blocks: [&single.blocks[..], &group.blocks].concat() }
}

/// Prepends a jump to two groups, one for each of its successors.
fn prepend_to_both(single: &GroupBuilder, groups: [(usize, &GroupBuilder); 2]) -> GroupBuilder {
    let mut joined = single.clone();
    for (way, group) in groups {
        let by = joined.group.jumps.len();
        joined.group.jumps[0].successors[way] = GroupSuccessor::Jump(by);
        joined.group.jumps.extend(shifted(&group.group.jumps, by));
        joined.blocks.extend_from_slice(&group.blocks);
    }
    joined
}

/// Shifts the positions of jumps in their group.
fn shifted(jumps: &[GroupJump], by: usize) -> impl Iterator<Item = GroupJump> + '_ {
    jumps.iter().map(move |jump| {
        let successors = jump.successors.map(|way| match way {
            GroupSuccessor::Jump(next) => GroupSuccessor::Jump(next + by),
            GroupSuccessor::Exit => GroupSuccessor::Exit,
        });
        GroupJump { insn: jump.insn, successors }
    })
}

/// Returns true if every execution enters the group at its first jump and reaches its other jumps only from their predecessors in the group.
fn is_entered_at_first(cfg: &MethodCfg, group: &JumpGroup) -> bool {
    is_entered_from(cfg, group, 0)
}

/// Returns the same for executions that begin at the first jump: code before it may still join the group.
fn is_entered_at_first_from_there(cfg: &MethodCfg, group: &JumpGroup) -> bool {
    is_entered_from(cfg, group, cfg.block_of(group.jumps[0].insn))
}

/// Returns true if executions that begin at a block, and don't jump back before it, enter the group only at its first jump.
fn is_entered_from(cfg: &MethodCfg, group: &JumpGroup, begin: usize) -> bool {
    /// Control is outside of the group; the higher bits: control is on a path to that jump.
    const OUTSIDE: u64 = 1;
    let mut jump_of_block = vec![None; cfg.blocks.len()];
    for (position, jump) in group.jumps.iter().enumerate() {
        jump_of_block[cfg.block_of(jump.insn)] = Some(position);
    }
    let mut state = vec![0u64; cfg.blocks.len()];
    state[begin] = OUTSIDE;
    let mut pending = vec![begin];
    while let Some(block) = pending.pop() {
        let here = state[block];
        let mut reach = |next: usize, with: u64| {
            if next >= begin && state[next] | with != state[next] {
                state[next] |= with;
                pending.push(next);
            }
        };
        let next = &cfg.blocks[block].next;
        match jump_of_block[block] {
            Some(position) => {
                // An execution that enters the group again before it has left it would lose the number of its path.
                let expected = if position == 0 { OUTSIDE } else { OUTSIDE << (position + 1) };
                if here != expected {
                    return false;
                }
                for (way, next) in group.jumps[position].successors.iter().zip(next) {
                    let with = match way {
                        GroupSuccessor::Exit => OUTSIDE,
                        GroupSuccessor::Jump(to) => OUTSIDE << (to + 1),
                    };
                    reach(*next, with);
                }
            }
            None => next.iter().for_each(|next| reach(*next, here)),
        }
        cfg.blocks[block].handlers.iter().for_each(|handler| reach(*handler, OUTSIDE));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_numbered_as_a_run_computes_them() {
        let jump = |insn, no, yes| GroupJump { insn, successors: [no, yes] };
        // (a && b) || c, as javac has it.
        let group = JumpGroup {
            jumps: vec![
                jump(1, GroupSuccessor::Jump(1), GroupSuccessor::Jump(2)),
                jump(3, GroupSuccessor::Jump(2), GroupSuccessor::Exit),
                jump(5, GroupSuccessor::Exit, GroupSuccessor::Exit),
            ],
        };
        assert_eq!(group.path_count(), 5);
        let increments = group.increments();
        for (number, path) in group.paths().iter().enumerate() {
            let sum: u32 = path.iter().filter(|(_, taken)| *taken).map(|(jump, _)| increments[*jump]).sum();
            assert_eq!(sum as usize, number, "{path:?}");
        }
        // An exception in c has two prefixes: a and not b, or not a.
        let prefixes = group.path_prefixes(|_, next| next == 5);
        let known: Vec<_> = prefixes.iter().flat_map(|prefix| prefix.paths.iter().flatten().cloned()).collect();
        assert_eq!(known, [vec![(0, true)], vec![(0, false), (1, false)]]);
        for prefix in &prefixes {
            for (number, path) in (prefix.least..).zip(&prefix.paths) {
                let sum =
                    |path: &Vec<(usize, bool)>| path.iter().filter(|(_, t)| *t).map(|(n, _)| increments[*n]).sum();
                assert!(path.as_ref().is_none_or(|path| number == sum(path)), "{prefix:?}");
            }
        }
    }
}
