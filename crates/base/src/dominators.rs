//! Dominators, post-dominators and control dependence of a directed graph.
//!
//! The trees are computed by the iterative algorithm of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm",
//! 2001): near-linear on the graphs that compilers produce. Control dependence is that of Ferrante, Ottenstein and Warren
//! ("The program dependence graph and its use in optimization", 1987, section 3.1).
//!
//! A graph is a list of successor lists; nodes are indices into it. A successor may be listed more than once.
//!
//! Deliberately not here: basic blocks, and the choice of what an exit is (`ir/cfg.rs` makes it for functions).

/// The dominator tree of the nodes that are reachable from an entry, or the post-dominator tree of the nodes that reach an
/// exit. The other nodes are not in the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DominatorTree {
    nodes: Vec<Position>,
}

/// The position of a node in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Position {
    /// The node is not in the tree.
    Outside,
    /// The node has no parent: it is the entry, or only the virtual exit post-dominates it.
    Root,
    /// The node's parent is its immediate dominator.
    Below(usize),
}

impl DominatorTree {
    /// Computes the dominators of all nodes that are reachable from `entry`.
    pub fn dominators<S: AsRef<[usize]>>(successors: &[S], entry: usize) -> DominatorTree {
        let count = successors.len();
        let mut forward: Vec<Vec<usize>> = successors.iter().map(|targets| targets.as_ref().to_vec()).collect();
        // A virtual entry keeps both directions alike: the real entry may have predecessors.
        forward.push(vec![entry]);
        let mut backward = reverse(&forward, count + 1);
        backward[entry].push(count);
        DominatorTree::of(&forward, &backward)
    }

    /// Computes the post-dominators of all nodes that reach one of `exits`.
    ///
    /// A virtual exit follows every exit, so any number of them is served. Paths that end elsewhere or never (infinite
    /// loops) don't constrain where the others meet. An exit may have successors.
    pub fn post_dominators<S: AsRef<[usize]>>(successors: &[S], exits: &[usize]) -> DominatorTree {
        let count = successors.len();
        let mut forward: Vec<Vec<usize>> = successors.iter().map(|targets| targets.as_ref().to_vec()).collect();
        let mut backward = reverse(&forward, count + 1);
        for &exit in exits {
            forward[exit].push(count);
            backward[count].push(exit);
        }
        forward.push(Vec::new());
        DominatorTree::of(&backward, &forward)
    }

    /// Computes the tree whose virtual root is the last node.
    fn of(edges: &[Vec<usize>], reversed: &[Vec<usize>]) -> DominatorTree {
        let root = edges.len() - 1;
        let order = post_order(edges, root);
        let mut rank: Vec<Option<usize>> = vec![None; edges.len()];
        for (index, &node) in order.iter().enumerate() {
            rank[node] = Some(index);
        }
        // By rank. A dominator's rank is higher than the ranks of the nodes that it dominates.
        let top = order.len() - 1;
        let mut parents: Vec<Option<usize>> = vec![None; order.len()];
        parents[top] = Some(top);
        loop {
            let mut changed = false;
            for index in (0..top).rev() {
                let before = reversed[order[index]].iter().filter_map(|&node| rank[node]);
                let parent = before.filter(|&node| parents[node].is_some()).reduce(|a, b| meet(&parents, a, b));
                changed |= parents[index] != parent;
                parents[index] = parent;
            }
            if !changed {
                break;
            }
        }
        let position = |node: usize| match rank[node].and_then(|index| parents[index]) {
            None => Position::Outside,
            Some(parent) if parent == top => Position::Root,
            Some(parent) => Position::Below(order[parent]),
        };
        DominatorTree { nodes: (0..root).map(position).collect() }
    }

    /// Returns the immediate (post-)dominator of a node, or `None` if it has none or is not in the tree.
    pub fn immediate(&self, node: usize) -> Option<usize> {
        match self.nodes[node] {
            Position::Below(parent) => Some(parent),
            Position::Root | Position::Outside => None,
        }
    }

    /// Returns true if the node is reachable from the entry, or reaches an exit.
    pub fn contains(&self, node: usize) -> bool {
        self.nodes[node] != Position::Outside
    }

    /// Returns true if `above` (post-)dominates `below`. Every node of the tree dominates itself. The time is linear in
    /// the depth of `below`.
    pub fn dominates(&self, above: usize, below: usize) -> bool {
        self.contains(below) && self.chain(below).any(|node| node == above)
    }

    /// Iterates over a node, its immediate (post-)dominator, and so on to the root of the tree.
    pub fn chain(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&node| self.immediate(node))
    }
}

/// Returns for every node, in ascending order, the branch nodes on which it is control dependent.
///
/// A node without a path to one of `exits` has no post-dominators. To give such a region a meaning, its last node in
/// `order` (reverse post-order fits) counts as one more exit, as in LLVM's post-dominator tree.
pub fn control_dependence<S: AsRef<[usize]>>(successors: &[S], exits: &[usize], order: &[usize]) -> Vec<Vec<usize>> {
    let forward: Vec<&[usize]> = successors.iter().map(AsRef::as_ref).collect();
    let backward = reverse(&forward, successors.len());
    let mut is_exit = vec![false; successors.len()];
    exits.iter().for_each(|&exit| is_exit[exit] = true);
    let is_branch = |node: usize| is_exit[node] || forward[node].iter().any(|next| *next != forward[node][0]);
    let mut all_exits = exits.to_vec();
    let mut exiting = vec![false; successors.len()];
    mark(&backward, all_exits.clone(), &mut exiting);
    for &node in order.iter().rev() {
        if !exiting[node] {
            all_exits.push(node);
            mark(&backward, vec![node], &mut exiting);
        }
    }
    let tree = DominatorTree::post_dominators(&forward, &all_exits);
    let mut branches: Vec<Vec<usize>> = vec![Vec::new(); successors.len()];
    for (branch, targets) in forward.iter().enumerate().filter(|(node, _)| tree.contains(*node) && is_branch(*node)) {
        let end = tree.immediate(branch);
        for &target in targets.iter().filter(|target| tree.contains(**target)) {
            for node in tree.chain(target).take_while(|node| Some(*node) != end) {
                if branches[node].last() != Some(&branch) {
                    branches[node].push(branch);
                }
            }
        }
    }
    branches
}

/// Marks the nodes that are reachable from `pending` without passing a marked node.
fn mark(edges: &[Vec<usize>], mut pending: Vec<usize>, marked: &mut [bool]) {
    while let Some(node) = pending.pop() {
        if !std::mem::replace(&mut marked[node], true) {
            pending.extend(&edges[node]);
        }
    }
}

/// Returns the predecessors of every node of a graph with `count` nodes.
fn reverse<S: AsRef<[usize]>>(edges: &[S], count: usize) -> Vec<Vec<usize>> {
    let mut reversed: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, targets) in edges.iter().enumerate() {
        targets.as_ref().iter().filter(|to| **to < count).for_each(|&to| reversed[to].push(from));
    }
    reversed
}

/// Returns the nearest common ancestor of two nodes, given by rank.
fn meet(parents: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    let up = |from: usize| parents[from].expect("invariant: only nodes with a parent are compared");
    while a != b {
        if a < b { a = up(a) } else { b = up(b) }
    }
    a
}

/// Returns the nodes that are reachable from `start` in post-order. The stack is explicit: graphs may be deep.
fn post_order(edges: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut visited = vec![false; edges.len()];
    visited[start] = true;
    let (mut order, mut stack) = (Vec::new(), vec![(start, 0)]);
    while let Some((node, next)) = stack.last_mut() {
        match edges[*node].get(*next) {
            Some(&target) => {
                *next += 1;
                if !std::mem::replace(&mut visited[target], true) {
                    stack.push((target, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Returns true if a node of `to` is reachable from `from` without passing `without`.
    fn reaches(edges: &[Vec<usize>], from: usize, to: &[usize], without: Option<usize>) -> bool {
        let (mut pending, mut visited) = (vec![from], BTreeSet::new());
        while let Some(node) = pending.pop() {
            if Some(node) == without || !visited.insert(node) {
                continue;
            }
            if to.contains(&node) {
                return true;
            }
            pending.extend(&edges[node]);
        }
        false
    }

    /// Checks a tree against the definition: `cut(node, without)` is true if removing `without` cuts `node` off.
    fn check(tree: &DominatorTree, count: usize, inside: impl Fn(usize) -> bool, cut: impl Fn(usize, usize) -> bool) {
        for node in 0..count {
            assert_eq!(tree.contains(node), inside(node), "{node} is in the tree");
            let strict: Vec<usize> =
                (0..count).filter(|&above| above != node && inside(node) && cut(node, above)).collect();
            for above in 0..count {
                let expected = strict.contains(&above) || (above == node && inside(node));
                assert_eq!(tree.dominates(above, node), expected, "{above} dominates {node}");
            }
            // The immediate one is dominated by all the others.
            let immediate =
                strict.iter().copied().find(|&it| strict.iter().all(|&other| other == it || cut(it, other)));
            assert_eq!(tree.immediate(node), immediate, "immediate dominator of {node}");
        }
    }

    /// Random graphs, the same ones in every run: few nodes, several exits, unreachable nodes, infinite loops.
    fn graphs(count: usize) -> impl Iterator<Item = (Vec<Vec<usize>>, Vec<usize>)> {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 33) as usize % below
        };
        (0..count).map(move |_| {
            let size = 1 + random(10);
            let edges: Vec<Vec<usize>> = (0..size).map(|_| (0..random(4)).map(|_| random(size)).collect()).collect();
            let exits = (0..size).filter(|&node| if edges[node].is_empty() { random(4) > 0 } else { random(16) == 0 });
            let exits = exits.collect();
            (edges, exits)
        })
    }

    #[test]
    fn dominators_are_those_of_the_definition() {
        for (edges, _) in graphs(3000) {
            let tree = DominatorTree::dominators(&edges, 0);
            let inside = |node| reaches(&edges, 0, &[node], None);
            check(&tree, edges.len(), inside, |node, without| !reaches(&edges, 0, &[node], Some(without)));
        }
    }

    #[test]
    fn post_dominators_are_those_of_the_definition() {
        let mut immediate = 0;
        for (edges, exits) in graphs(3000) {
            let tree = DominatorTree::post_dominators(&edges, &exits);
            // A path may continue after an exit, so "passes" is decided up to the first exit.
            let inside = |node| reaches(&edges, node, &exits, None);
            check(&tree, edges.len(), inside, |node, without| !reaches(&edges, node, &exits, Some(without)));
            immediate += (0..edges.len()).filter(|&node| tree.immediate(node).is_some()).count();
        }
        assert!(immediate > 1000, "only {immediate}");
    }

    #[test]
    fn control_dependence_is_that_of_the_definition() {
        let mut dependent = 0;
        for (edges, exits) in graphs(3000) {
            if !(0..edges.len()).all(|node| reaches(&edges, node, &exits, None)) {
                continue;
            }
            let order: Vec<usize> = (0..edges.len()).collect();
            let found = control_dependence(&edges, &exits, &order);
            let tree = DominatorTree::post_dominators(&edges, &exits);
            for (node, branches) in found.iter().enumerate() {
                let depends = |&branch: &usize| {
                    let strictly = node != branch && tree.dominates(node, branch);
                    !strictly && edges[branch].iter().any(|&next| tree.dominates(node, next))
                };
                let expected: Vec<usize> = (0..edges.len()).filter(depends).collect();
                assert_eq!(*branches, expected, "{edges:?} {exits:?}: {node}");
                dependent += expected.len();
            }
        }
        assert!(dependent > 1000, "only {dependent}");
    }

    #[test]
    fn blocks_of_an_infinite_loop_depend_on_the_branch_that_enters_it() {
        // 0 branches to the loop 1 <-> 2 and to the exit 3.
        let edges = [vec![1, 3], vec![2], vec![1], vec![]];
        let found = control_dependence(&edges, &[3], &[0, 1, 2, 3]);
        assert_eq!(found, [vec![], vec![0], vec![0], vec![0]]);
        let tree = DominatorTree::post_dominators(&edges, &[3]);
        assert_eq!([0, 1, 2, 3].map(|node| tree.immediate(node)), [Some(3), None, None, None]);
    }

    #[test]
    fn long_chains_of_branches_take_linear_time() {
        // 100,000 diamonds in a row.
        let edges: Vec<Vec<usize>> = (0..100_000)
            .flat_map(|diamond| {
                let first = 3 * diamond;
                [vec![first + 1, first + 2], vec![first + 3], vec![first + 3]]
            })
            .chain([vec![]])
            .collect();
        let tree = DominatorTree::post_dominators(&edges, &[edges.len() - 1]);
        assert!((0..edges.len() - 1).all(|node| tree.immediate(node) == Some(node / 3 * 3 + 3)));
    }
}
