//! The probes of a class by number, and what a hit of each implies.
//!
//! - Each path through a group of jumps has a probe, and so has each prefix of a path after which an exception may leave the group.
//! - Each target of a switch has a probe.
//! - Each check of values and each predicate has a probe (`predicates/`).
//! - Statement probes are placed at the start of blocks whose execution no jump probe implies, and at statements after an instruction that may
//!   throw. A hit implies the execution of all instructions up to the next one that may throw.

use crate::cfg::blocks::{MethodCfg, may_throw};
use crate::cfg::jump_groups::{GroupSuccessor, JumpGroup, PathPrefixes, groups};
use crate::encode::instructions::MAX_PROBES;
use crate::layout::probe_request::ProbeRequest;
use crate::layout::statement_ends::StatementEnds;
use crate::predicates::emit_predicates::PredicateProbes;
use crate::predicates::predicate_class::{PredicateMethod, predicate_class};
use crate::predicates::predicate_plan::{CodePoint, Formula, PredicatePlan};
use crate::predicates::value_checks::{CheckProbes, DomainPart, ValueCheck};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_classfile::{ClassFile, Code, Decoded, Insn, Member, access};

/// The reason why a method has no probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeaveFailure {
    /// Its code is malformed, or has subroutines (`jsr`), which compilers emit only before Java 6.
    Unreadable,
    /// With probes its code or its jumps would exceed the limits of class files.
    TooLong,
    /// Its tables (stack maps, local variables, annotations) are malformed.
    MalformedTables,
}

/// The probes of a class.
#[derive(Clone, Debug, Default)]
pub struct ProbeLayout {
    /// Maps the index of a method to its probes.
    pub methods: BTreeMap<usize, MethodProbes>,
    /// Maps the index of a method without probes to the reason.
    pub failures: BTreeMap<usize, WeaveFailure>,
    /// The number of probes.
    pub size: u32,
}

/// A target of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchTarget {
    /// The bytecode offset.
    pub target: usize,
    /// Its probe.
    pub probe: u32,
}

/// The probes of a method.
#[derive(Clone, Debug)]
pub struct MethodProbes {
    pub(crate) cfg: MethodCfg,
    /// The groups of jumps, each with the probe of its first path; those of the others follow.
    groups: Vec<(JumpGroup, u32)>,
    /// The path prefixes of each group, with their first probes.
    prefixes: Vec<Vec<(PathPrefixes, u32)>>,
    /// Maps a switch to its targets.
    pub(crate) switches: BTreeMap<usize, Vec<SwitchTarget>>,
    /// Maps an instruction to the statement probe before it.
    pub(crate) statements: BTreeMap<usize, u32>,
    /// Maps each instruction to the probes of which any implies that it was executed; empty if none does in every run.
    executed_by: Vec<Vec<u32>>,
    /// The checks of values.
    pub(crate) checks: CheckProbes,
    /// The predicates of a plan.
    pub(crate) predicates: Vec<PredicateProbes>,
}

impl ProbeLayout {
    /// Assigns probes to the methods of a class that are in its source.
    pub fn new(class: &ClassFile, request: ProbeRequest) -> ProbeLayout {
        let mut layout = ProbeLayout::default();
        for (index, method) in class.methods.iter().enumerate() {
            let Some(code) = method.code().filter(|_| is_in_source(method)) else { continue };
            match MethodCfg::new(code) {
                Some(cfg) => {
                    let mut numbers = ProbeNumbers(layout.size);
                    let probes = MethodProbes::new(cfg, class, method, code, request, &mut numbers);
                    layout.size = numbers.0;
                    layout.methods.insert(index, probes);
                }
                None => drop(layout.failures.insert(index, WeaveFailure::Unreadable)),
            }
        }
        layout
    }

    /// Adds the predicates of a plan. A method with too many predicates gets none, and no method gets any if the class that evaluates them would be
    /// too large.
    pub fn with_plan(mut self, plan: &PredicatePlan) -> ProbeLayout {
        let without = self.clone();
        let mut number = 0;
        for (method, list) in &plan.methods {
            let Some(probes) = self.methods.get_mut(&usize::from(*method)) else { continue };
            let count: usize = list.iter().map(|point| point.predicates.len()).sum();
            let Some(size) = u32::try_from(count).ok().and_then(|count| self.size.checked_add(count)) else {
                continue;
            };
            if size > MAX_PROBES {
                continue;
            }
            for point in list {
                probes.predicates.push(PredicateProbes { point: point.clone(), first: self.size, number });
                self.size += point.predicates.len() as u32;
                number += 1;
            }
        }
        match number == 0 || self.predicate_class("java/lang/Object", 0).is_some() {
            true => self,
            false => without,
        }
    }

    /// Returns the class that evaluates the predicates, or `None` if there are none. `first` is the number of the first probe.
    pub fn predicate_class(&self, hits_class: &str, first: u32) -> Option<Vec<u8>> {
        let all: Vec<PredicateMethod<'_>> = self
            .methods
            .values()
            .flat_map(|probes| &probes.predicates)
            .map(|one| PredicateMethod {
                values: one.point.values(),
                predicates: &one.point.predicates,
                first: one.first,
            })
            .collect();
        if all.is_empty() { None } else { predicate_class(hits_class, first, &all) }
    }
}

/// Returns true if a method is declared in the source or is the body of a lambda expression.
fn is_in_source(method: &Member) -> bool {
    !method.is(access::SYNTHETIC) || (method.is(access::PRIVATE) && method.name.starts_with("lambda$"))
}

/// The number of the next probe.
struct ProbeNumbers(u32);

impl ProbeNumbers {
    /// Reserves probes and returns the first one.
    fn reserve(&mut self, count: u32) -> u32 {
        let first = self.0;
        self.0 += count;
        first
    }
}

impl MethodProbes {
    fn new(
        cfg: MethodCfg,
        class: &ClassFile,
        method: &Member,
        code: &Code,
        request: ProbeRequest,
        numbers: &mut ProbeNumbers,
    ) -> MethodProbes {
        let mut groups_with_probes: Vec<(JumpGroup, u32)> = Vec::new();
        for group in groups(&cfg) {
            let first = numbers.reserve(group.path_count());
            groups_with_probes.push((group, first));
        }
        let throws = |from: usize, to: usize| (from + 1..=to).any(|insn| may_throw(&cfg.insns[insn].insn));
        let mut prefixes: Vec<Vec<(PathPrefixes, u32)>> = Vec::new();
        for (group, _) in &groups_with_probes {
            let mut numbered = |prefix: PathPrefixes| {
                let first = numbers.reserve(prefix.paths.len() as u32);
                (prefix, first)
            };
            prefixes.push(group.path_prefixes(throws).into_iter().map(&mut numbered).collect());
        }
        let mut switches: BTreeMap<usize, Vec<SwitchTarget>> = BTreeMap::new();
        for (index, insn) in cfg.insns.iter().enumerate() {
            if matches!(insn.insn, Insn::Switch(..)) {
                let targets: BTreeSet<usize> = insn.insn.targets().into_iter().collect();
                let targets = targets.into_iter().map(|target| SwitchTarget { target, probe: numbers.reserve(1) });
                switches.insert(index, targets.collect());
            }
        }
        let ends = StatementEnds::new(class, method, code, &cfg);
        let mut probes = MethodProbes { groups: groups_with_probes, prefixes, switches, ..MethodProbes::none(cfg) };
        probes.place_statement_probes(&ends, request, numbers);
        if request.checks_values() {
            let is_requested = |check: ValueCheck| match check {
                ValueCheck::Label => request.labels,
                _ => request.errors,
            };
            let mut reserve = |count: u32| numbers.reserve(count);
            probes.checks = CheckProbes::new(class, method, &probes.cfg, is_requested, &mut reserve);
            if request.inputs {
                probes.checks.add_inputs(method, &mut reserve);
            }
            if request.results {
                probes.checks.add_result(method, &mut reserve);
            }
        }
        probes
    }

    /// A method without probes.
    pub(crate) fn none(cfg: MethodCfg) -> MethodProbes {
        MethodProbes {
            groups: Vec::new(),
            prefixes: Vec::new(),
            switches: BTreeMap::new(),
            statements: BTreeMap::new(),
            executed_by: vec![Vec::new(); cfg.insns.len()],
            checks: CheckProbes::default(),
            predicates: Vec::new(),
            cfg,
        }
    }

    /// Returns the number of locals that hold numbers of paths.
    pub(crate) fn path_locals(&self) -> usize {
        self.groups.iter().filter(|(group, _)| group.jumps.len() > 1).count()
    }

    /// The groups of jumps, each with the probe of its first path; those of the others follow.
    pub fn groups(&self) -> impl Iterator<Item = (&JumpGroup, u32)> {
        self.groups.iter().map(|(group, first)| (group, *first))
    }

    /// The path prefixes of each group, in the same order, with the probe of the least number; those of the others follow.
    pub fn path_prefixes(&self) -> impl Iterator<Item = &[(PathPrefixes, u32)]> {
        self.prefixes.iter().map(Vec::as_slice)
    }

    /// Returns the bytecode offset of an instruction.
    pub fn position(&self, insn: usize) -> usize {
        self.cfg.insns[insn].at
    }

    /// Returns the targets of the switch at a bytecode offset.
    pub fn switch(&self, at: usize) -> Option<&[SwitchTarget]> {
        self.switches.get(&self.cfg.index(at)?).map(Vec::as_slice)
    }

    /// All switches: the bytecode offset, the targets of values, and the default target.
    pub fn switches(&self) -> impl Iterator<Item = (usize, &[(i32, usize)], usize)> {
        self.switches.keys().filter_map(|insn| match &self.cfg.insns[*insn] {
            Decoded { at, insn: Insn::Switch(default, cases), .. } => Some((*at, cases.as_slice(), *default)),
            _ => None,
        })
    }

    /// Returns the probes of which any implies that the instruction at a bytecode offset was executed, or `None` if its execution may hit none.
    pub fn executed_by(&self, at: usize) -> Option<&[u32]> {
        let probes = self.executed_by.get(self.cfg.index(at)?)?;
        (!probes.is_empty()).then_some(probes.as_slice())
    }

    /// Returns the probe of a check before the instruction at a bytecode offset.
    pub fn check(&self, at: usize, check: ValueCheck) -> Option<u32> {
        self.checks.probe(self.cfg.index(at)?, check)
    }

    /// Returns the probe of a part of the domain of a parameter. The receiver is no parameter.
    pub fn input(&self, parameter: usize, part: DomainPart) -> Option<u32> {
        Some(self.checks.inputs.get(parameter)?.first + part.number())
    }

    /// Returns the probe of a predicate of the plan.
    pub fn predicate(&self, point: CodePoint, predicate: &Formula) -> Option<u32> {
        let here = self.predicates.iter().filter(|one| one.point.point == point);
        let mut probes = here.flat_map(|one| one.point.predicates.iter().zip(one.first..));
        probes.find(|(own, _)| *own == predicate).map(|(_, probe)| probe)
    }

    /// Returns the probe of a part of the domain of the result.
    pub fn result(&self, part: DomainPart) -> Option<u32> {
        Some(self.checks.result.as_ref()?.1 + part.number())
    }

    /// The number of parameters that have probes.
    pub fn inputs(&self) -> usize {
        self.checks.inputs.len()
    }

    /// Places statement probes, and derives for each instruction the probes that imply its execution.
    fn place_statement_probes(&mut self, ends: &StatementEnds, request: ProbeRequest, numbers: &mut ProbeNumbers) {
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); self.cfg.blocks.len()];
        for (index, block) in self.cfg.blocks.iter().enumerate() {
            block.next.iter().for_each(|next| predecessors[*next].push(index));
        }
        let handlers: BTreeSet<usize> = self.cfg.blocks.iter().flat_map(|block| &block.handlers).copied().collect();
        // Maps each block to the probes that imply that its end was reached.
        let mut at_end: Vec<Vec<u32>> = vec![Vec::new(); self.cfg.blocks.len()];
        for block in 0..self.cfg.blocks.len() {
            let (first, last) = (self.cfg.blocks[block].first, self.cfg.blocks[block].last);
            let mut implying = match block == 0 || handlers.contains(&block) {
                true => Vec::new(),
                false => self.entered(block, &predecessors[block], &at_end).unwrap_or_default(),
            };
            // True if control may not have come this far although a probe was hit.
            let mut uncertain = implying.is_empty();
            for insn in first..=last {
                let begins = insn == first || ends.may_begin(&self.cfg, insn);
                if uncertain && begins && request.statements {
                    let probe = numbers.reserve(1);
                    self.statements.insert(insn, probe);
                    (implying, uncertain) = (vec![probe], false);
                }
                if !uncertain {
                    self.executed_by[insn].clone_from(&implying);
                }
                uncertain |= may_throw(&self.cfg.insns[insn].insn);
            }
            if !uncertain {
                at_end[block] = implying;
            }
        }
    }

    /// Returns probes of which one is hit whenever a block is entered, or `None` if a predecessor has none.
    fn entered(&self, block: usize, predecessors: &[usize], at_end: &[Vec<u32>]) -> Option<Vec<u32>> {
        if predecessors.is_empty() {
            return None;
        }
        let mut probes = BTreeSet::new();
        for from in predecessors {
            let last = self.cfg.blocks[*from].last;
            match &self.cfg.insns[last].insn {
                Insn::Switch(..) => {
                    let target = self.cfg.insns[self.cfg.blocks[block].first].at;
                    let targets = self.switches.get(&last)?;
                    probes.insert(targets.iter().find(|own| own.target == target)?.probe);
                }
                _ if self.cfg.jump_of(*from).is_some() => probes.extend(self.exits_from(last, block)?),
                _ if at_end[*from].is_empty() => return None,
                _ => probes.extend(&at_end[*from]),
            }
        }
        Some(probes.into_iter().collect())
    }

    /// Returns the probes of the paths that leave their group from a jump to a block, or `None` if the paths continue there.
    fn exits_from(&self, jump: usize, to: usize) -> Option<Vec<u32>> {
        let (group, first) = self.groups.iter().find(|(group, _)| group.jumps.iter().any(|own| own.insn == jump))?;
        let position = group.jumps.iter().position(|own| own.insn == jump)?;
        let next = &self.cfg.blocks[self.cfg.block_of(jump)].next;
        let mut probes = Vec::new();
        for taken in [false, true] {
            if next.get(usize::from(taken)) != Some(&to) {
                continue;
            }
            if group.jumps[position].successors[usize::from(taken)] != GroupSuccessor::Exit {
                return None;
            }
            let paths = group.paths();
            let ending = paths.iter().enumerate().filter(|(_, path)| path.last() == Some(&(position, taken)));
            probes.extend(ending.map(|(number, _)| first + number as u32));
        }
        Some(probes)
    }
}
