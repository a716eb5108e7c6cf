//! The call graph and its strongly connected components.

use crate::{Callee, FuncId, Function, InstKind, Module, Operand, Reg};
use std::collections::BTreeSet;
use touchstone_base::IndexMap;

/// The call graph of a module.
#[derive(Clone, Debug)]
pub struct CallGraph {
    callees: IndexMap<FuncId, Vec<FuncId>>,
    components: Vec<Vec<FuncId>>,
    component: IndexMap<FuncId, usize>,
}

impl CallGraph {
    /// The call graph of a module that the verifier accepts.
    pub fn new(module: &Module) -> CallGraph {
        let callees: IndexMap<FuncId, Vec<FuncId>> = module
            .functions
            .values()
            .map(|function| {
                let mut called = BTreeSet::new();
                for inst in function.blocks.values().flat_map(|block| &block.insts) {
                    if let InstKind::Call { dst, callee, args } = &inst.kind {
                        called.extend(possible_callees(module, function, *dst, callee, args));
                    }
                }
                called.into_iter().collect()
            })
            .collect();
        let components = components(&callees);
        let mut component: IndexMap<FuncId, usize> = callees.values().map(|_| 0).collect();
        for (index, members) in components.iter().enumerate() {
            for &member in members {
                component[member] = index;
            }
        }
        CallGraph { callees, components, component }
    }

    /// Returns the direct callees of a function, each once, in order of ids.
    pub fn callees(&self, function: FuncId) -> &[FuncId] {
        &self.callees[function]
    }

    /// The strongly connected components, callees before callers; members in order of ids.
    pub fn components(&self) -> &[Vec<FuncId>] {
        &self.components
    }

    /// Index of a function's component.
    pub fn component_of(&self, function: FuncId) -> usize {
        self.component[function]
    }

    /// Returns true if a function can call itself, directly or indirectly.
    pub fn is_recursive(&self, function: FuncId) -> bool {
        self.components[self.component[function]].len() > 1 || self.callees[function].contains(&function)
    }

    /// The functions that a function can reach by calls, itself included.
    pub fn reachable_from(&self, function: FuncId) -> BTreeSet<FuncId> {
        let mut reached = BTreeSet::from([function]);
        let mut pending = vec![function];
        while let Some(function) = pending.pop() {
            pending.extend(self.callees[function].iter().filter(|&&callee| reached.insert(callee)));
        }
        reached
    }
}

/// Returns the functions that calls from these functions can reach, these included. Only functions that are reached are read.
pub fn reachable_functions(module: &Module, roots: impl IntoIterator<Item = FuncId>) -> BTreeSet<FuncId> {
    let mut pending: Vec<FuncId> = roots.into_iter().collect();
    let mut reached: BTreeSet<FuncId> = pending.iter().copied().collect();
    while let Some(id) = pending.pop() {
        let function = &module.functions[id];
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let InstKind::Call { dst, callee, args } = &inst.kind {
                let callees = possible_callees(module, function, *dst, callee, args);
                pending.extend(callees.into_iter().filter(|callee| reached.insert(*callee)));
            }
        }
    }
    reached
}

/// The functions that a call may call: for one through a pointer, all whose address is taken and that fit.
pub fn possible_callees(
    module: &Module,
    caller: &Function,
    dst: Option<Reg>,
    callee: &Callee,
    args: &[Operand],
) -> Vec<FuncId> {
    match callee {
        Callee::Direct(callee) => vec![*callee],
        Callee::Indirect(_) => {
            let result = dst.map(|dst| caller.regs[dst].ty);
            let types = || args.iter().map(|arg| caller.operand_ty(*arg));
            module.addressed_functions().filter(|&callee| module.can_call(callee, types(), result)).collect()
        }
    }
}

/// Tarjan's algorithm with its own stack: a component is complete when its first member is left.
fn components(callees: &IndexMap<FuncId, Vec<FuncId>>) -> Vec<Vec<FuncId>> {
    #[derive(Clone, Copy)]
    struct Visit {
        index: usize,
        low: usize,
        open: bool,
    }
    let mut visits: IndexMap<FuncId, Option<Visit>> = callees.values().map(|_| None).collect();
    let (mut components, mut open, mut count) = (Vec::new(), Vec::new(), 0);
    for root in callees.ids() {
        let mut stack: Vec<(FuncId, usize)> = if visits[root].is_none() { vec![(root, 0)] } else { Vec::new() };
        while let Some(&mut (function, ref mut next)) = stack.last_mut() {
            let mut visit = visits[function].unwrap_or_else(|| {
                count += 1;
                open.push(function);
                Visit { index: count, low: count, open: true }
            });
            if let Some(&callee) = callees[function].get(*next) {
                match visits[callee] {
                    _ if callee == function => *next += 1,
                    // Come back to this callee when it is done, and take its low number then.
                    None => stack.push((callee, 0)),
                    Some(other) => {
                        *next += 1;
                        if other.open {
                            visit.low = visit.low.min(other.low);
                        }
                    }
                }
                visits[function] = Some(visit);
                continue;
            }
            visits[function] = Some(visit);
            stack.pop();
            if visit.low == visit.index {
                let mut members = Vec::new();
                while let Some(member) = open.pop() {
                    if let Some(visit) = &mut visits[member] {
                        visit.open = false;
                    }
                    members.push(member);
                    if member == function {
                        break;
                    }
                }
                members.sort_unstable();
                components.push(members);
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use touchstone_base::Id;

    /// A module of functions where `n` calls `calls[n]`.
    fn module(calls: &[&[usize]]) -> Module {
        let text: String = calls
            .iter()
            .enumerate()
            .map(|(index, callees)| {
                let body: String = callees.iter().map(|callee| format!("call fn{callee}() ")).collect();
                format!("func @f{index}() {{ b0: {body}return }}\n")
            })
            .collect();
        parse(&text).expect("well-formed")
    }

    fn check(calls: &[&[usize]], expected: &[&[usize]]) {
        let graph = CallGraph::new(&module(calls));
        let found: Vec<Vec<usize>> =
            graph.components().iter().map(|members| members.iter().map(|member| member.index()).collect()).collect();
        assert_eq!(found, expected, "{calls:?}");
    }

    #[test]
    fn components_come_callees_first() {
        check(&[&[1], &[2], &[]], &[&[2], &[1], &[0]]);
        check(&[&[1], &[0, 2], &[2]], &[&[2], &[0, 1]]);
        check(&[&[1, 3], &[2], &[1], &[2]], &[&[1, 2], &[3], &[0]]);
        check(&[&[1], &[2], &[3, 0], &[1], &[0]], &[&[0, 1, 2, 3], &[4]]);
        check(&[&[2], &[], &[1, 0, 3], &[]], &[&[1], &[3], &[0, 2]]);
    }

    #[test]
    fn recursion_and_reachability_are_known() {
        let module = module(&[&[1], &[0, 2], &[2], &[2]]);
        let graph = CallGraph::new(&module);
        let recursive: Vec<bool> = (0..4).map(|index| graph.is_recursive(FuncId::new(index))).collect();
        assert_eq!(recursive, [true, true, true, false]);
        assert_eq!(graph.reachable_from(FuncId::new(3)), BTreeSet::from([FuncId::new(2), FuncId::new(3)]));
        assert_eq!(reachable_functions(&module, [FuncId::new(3)]), graph.reachable_from(FuncId::new(3)));
        assert_eq!(graph.callees(FuncId::new(1)), [FuncId::new(0), FuncId::new(2)]);
        assert_eq!(graph.component_of(FuncId::new(0)), graph.component_of(FuncId::new(1)));
    }
}
