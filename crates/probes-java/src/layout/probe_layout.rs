//! The probes of a class, by number, and what each says of the code.
//!
//! - A way through a group of jumps has a probe, and so has a part of one behind which something may be thrown.
//! - So has each place that a switch leads to.
//! - So has each question about values (`asked.rs`).
//! - Places: where blocks begin that no jump with probes says everything of, and behind statements in which something may be
//!   thrown. From a place on everything is executed up to the next instruction that may throw.

use crate::cfg::blocks::{Flow, may_throw};
use crate::cfg::jump_groups::{Group, Part, Way, groups};
use crate::layout::probe_request::Wanted;
use crate::predicates::emit_predicates::PlannedProbes;
use crate::predicates::predicate_class::{Judged, judge};
use crate::predicates::predicate_plan::{Formula, Place, Plan};
use crate::predicates::value_checks::{Asked, DomainPart, Question};
use crate::weave::code_layout::MOST_PROBES;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_classfile::{Attribute, ClassFile, Code, Insn, Member, access};

/// Why a method has no probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Untreated {
    /// Its code can't be read, or has subroutines (`jsr`), which no compiler makes since Java 6.
    Code,
    /// With probes it would be longer than code may be, or its jumps would be.
    TooLong,
    /// Its tables (stack maps, variables, annotations) are not what they should be.
    Tables,
}

/// The probes of a class.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// By method: its probes.
    pub methods: BTreeMap<usize, MethodProbes>,
    /// Methods without probes.
    pub untreated: BTreeMap<usize, Untreated>,
    /// How many probes there are.
    pub size: u32,
}

/// One of the places that a switch leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    /// The position in the code.
    pub target: usize,
    /// The probe.
    pub probe: u32,
}

/// The probes of a method.
#[derive(Clone, Debug)]
pub struct MethodProbes {
    pub(crate) flow: Flow,
    /// Jumps, with the probe of the first way; the others follow.
    groups: Vec<(Group, u32)>,
    /// By group: parts of its ways, each with its first probe.
    parts: Vec<Vec<(Part, u32)>>,
    /// By instruction: where a switch leads to.
    pub(crate) switches: BTreeMap<usize, Vec<Side>>,
    /// Places by instruction.
    pub(crate) places: BTreeMap<usize, u32>,
    /// By instruction: any of these probes says that it began; empty if none does for sure.
    said: Vec<Vec<u32>>,
    /// Questions about values.
    pub(crate) asked: Asked,
    /// What whoever has the source asks for.
    pub(crate) planned: Vec<PlannedProbes>,
}

/// The flag of what compilers add.
const SYNTHETIC: u16 = 0x1000;

/// The probes of a class.
pub fn layout(class: &ClassFile, wanted: Wanted) -> Layout {
    let mut layout = Layout::default();
    for (index, method) in class.methods.iter().enumerate() {
        let Some(code) = method.code().filter(|_| is_of_source(method)) else { continue };
        match Flow::new(code) {
            Some(flow) => {
                let mut numbers = Numbers(layout.size);
                let probes = MethodProbes::new(flow, class, method, code, wanted, &mut numbers);
                layout.size = numbers.0;
                layout.methods.insert(index, probes);
            }
            None => drop(layout.untreated.insert(index, Untreated::Code)),
        }
    }
    layout
}

impl Layout {
    /// The same, with what a plan asks for besides. A method whose predicates are too many is left as it is, and so are all if nobody could
    /// judge them.
    pub fn with_plan(mut self, plan: &Plan) -> Layout {
        let without = self.clone();
        let mut number = 0;
        for (method, list) in &plan.methods {
            let Some(probes) = self.methods.get_mut(&usize::from(*method)) else { continue };
            let wanted: usize = list.iter().map(|planned| planned.predicates.len()).sum();
            let Some(size) = u32::try_from(wanted).ok().and_then(|wanted| self.size.checked_add(wanted)) else {
                continue;
            };
            if size > MOST_PROBES {
                continue;
            }
            for planned in list {
                probes.planned.push(PlannedProbes { planned: planned.clone(), first: self.size, number });
                self.size += planned.predicates.len() as u32;
                number += 1;
            }
        }
        match number == 0 || self.judge("java/lang/Object", 0).is_some() {
            true => self,
            false => without,
        }
    }

    /// The class that judges what a plan asks for, where probes begin with a number: `None` if nothing is.
    pub fn judge(&self, holder: &str, first: u32) -> Option<Vec<u8>> {
        let all: Vec<Judged<'_>> = self
            .methods
            .values()
            .flat_map(|probes| &probes.planned)
            .map(|one| Judged { held: one.planned.held(), predicates: &one.planned.predicates, first: one.first })
            .collect();
        if all.is_empty() { None } else { judge(holder, first, &all) }
    }
}

/// Whether a source has this method: what the compiler adds is nobody's, but for the bodies of lambda expressions.
fn is_of_source(method: &Member) -> bool {
    !method.is(SYNTHETIC) || (method.is(access::PRIVATE) && method.name.starts_with("lambda$"))
}

/// The next probe.
pub(crate) struct Numbers(u32);

impl Numbers {
    pub fn take(&mut self, count: u32) -> u32 {
        let first = self.0;
        self.0 += count;
        first
    }
}

impl MethodProbes {
    fn new(
        flow: Flow,
        class: &ClassFile,
        method: &Member,
        code: &Code,
        wanted: Wanted,
        numbers: &mut Numbers,
    ) -> MethodProbes {
        let groups: Vec<(Group, u32)> = groups(&flow)
            .into_iter()
            .map(|group| {
                let first = numbers.take(group.ways());
                (group, first)
            })
            .collect();
        let throws = |from: usize, to: usize| (from + 1..=to).any(|insn| may_throw(&flow.insns[insn].insn));
        let mut numbered = |part: Part| {
            let first = numbers.take(part.paths.len() as u32);
            (part, first)
        };
        let parts = groups.iter().map(|(group, _)| group.parts(throws).into_iter().map(&mut numbered).collect());
        let parts = parts.collect();
        let mut switches: BTreeMap<usize, Vec<Side>> = BTreeMap::new();
        for (index, insn) in flow.insns.iter().enumerate() {
            if matches!(insn.insn, Insn::Switch(..)) {
                let targets: BTreeSet<usize> = insn.insn.targets().into_iter().collect();
                let sides = targets.into_iter().map(|target| Side { target, probe: numbers.take(1) });
                switches.insert(index, sides.collect());
            }
        }
        let said = vec![Vec::new(); flow.insns.len()];
        let (places, asked, planned) = (BTreeMap::new(), Asked::default(), Vec::new());
        let mut probes = MethodProbes { flow, groups, parts, switches, places, said, asked, planned };
        let enders = Enders::new(class, method, &probes.flow);
        probes.find_places(&lines(code), &enders, wanted, numbers);
        if wanted.asks() {
            probes.asked = Asked::new(class, method, &probes.flow, wanted, numbers);
        }
        probes
    }

    /// Of a method without any.
    pub(crate) fn none(flow: Flow) -> MethodProbes {
        MethodProbes {
            groups: Vec::new(),
            parts: Vec::new(),
            switches: BTreeMap::new(),
            places: BTreeMap::new(),
            said: vec![Vec::new(); flow.insns.len()],
            asked: Asked::default(),
            planned: Vec::new(),
            flow,
        }
    }

    /// Locals that the ways through groups need.
    pub(crate) fn numbers(&self) -> usize {
        self.groups.iter().filter(|(group, _)| group.nodes.len() > 1).count()
    }

    /// Jumps in groups, each with the probe of its first way; the others follow.
    pub fn groups(&self) -> impl Iterator<Item = (&Group, u32)> {
        self.groups.iter().map(|(group, first)| (group, *first))
    }

    /// By group, in the same order: parts of its ways, each with the probe of its least number; the others follow.
    pub fn parts(&self) -> impl Iterator<Item = &[(Part, u32)]> {
        self.parts.iter().map(Vec::as_slice)
    }

    /// The position of an instruction, by its number.
    pub fn position(&self, insn: usize) -> usize {
        self.flow.insns[insn].at
    }

    /// What a switch at a position leads to, each place with its probe.
    pub fn switch(&self, at: usize) -> Option<&[Side]> {
        self.switches.get(&self.flow.index(at)?).map(Vec::as_slice)
    }

    /// All switches: the position, what values lead where, and the default.
    pub fn switches(&self) -> impl Iterator<Item = (usize, &[(i32, usize)], usize)> {
        self.switches.keys().filter_map(|insn| match &self.flow.insns[*insn] {
            touchstone_classfile::Decoded { at, insn: Insn::Switch(default, cases), .. } => {
                Some((*at, cases.as_slice(), *default))
            }
            _ => None,
        })
    }

    /// Any of these probes says that the instruction at a position began; `None` if none says it for sure.
    pub fn said(&self, at: usize) -> Option<&[u32]> {
        let said = self.said.get(self.flow.index(at)?)?;
        (!said.is_empty()).then_some(said.as_slice())
    }

    /// The probe of a question before the instruction at a position.
    pub fn question(&self, at: usize, question: Question) -> Option<u32> {
        self.asked.probe(self.flow.index(at)?, question)
    }

    /// The probe of a part of the domain of a parameter; the object that the method is called on is none.
    pub fn input(&self, parameter: usize, part: DomainPart) -> Option<u32> {
        Some(self.asked.inputs.get(parameter)?.first + part.number())
    }

    /// The probe of a predicate of a plan.
    pub fn planned(&self, place: Place, predicate: &Formula) -> Option<u32> {
        let here = self.planned.iter().filter(|one| one.planned.place == place);
        let mut probes = here.flat_map(|one| one.planned.predicates.iter().zip(one.first..));
        probes.find(|(own, _)| *own == predicate).map(|(_, probe)| probe)
    }

    /// How many parameters have probes.
    pub fn inputs(&self) -> usize {
        self.asked.inputs.len()
    }

    fn find_places(&mut self, lines: &BTreeSet<usize>, enders: &Enders, wanted: Wanted, numbers: &mut Numbers) {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.flow.blocks.len()];
        for (index, block) in self.flow.blocks.iter().enumerate() {
            block.next.iter().for_each(|next| before[*next].push(index));
        }
        let caught: BTreeSet<usize> = self.flow.blocks.iter().flat_map(|block| &block.handlers).copied().collect();
        // By block: what says that its end was reached.
        let mut ends: Vec<Vec<u32>> = vec![Vec::new(); self.flow.blocks.len()];
        for block in 0..self.flow.blocks.len() {
            let (first, last) = (self.flow.blocks[block].first, self.flow.blocks[block].last);
            let mut surely = match block == 0 || caught.contains(&block) {
                true => Vec::new(),
                false => self.entered(block, &before[block], &ends).unwrap_or_default(),
            };
            let mut thrown = surely.is_empty();
            for insn in first..=last {
                let begins = insn == first || enders.has(insn - 1) || lines.contains(&self.flow.insns[insn].at);
                if thrown && begins && wanted.statements {
                    let probe = numbers.take(1);
                    self.places.insert(insn, probe);
                    (surely, thrown) = (vec![probe], false);
                }
                if !thrown {
                    self.said[insn].clone_from(&surely);
                }
                thrown |= may_throw(&self.flow.insns[insn].insn);
            }
            if !thrown {
                ends[block] = surely;
            }
        }
    }

    /// Probes of which one is hit whenever control comes to a block, if all ways to it have some.
    fn entered(&self, block: usize, before: &[usize], ends: &[Vec<u32>]) -> Option<Vec<u32>> {
        if before.is_empty() {
            return None;
        }
        let mut probes = BTreeSet::new();
        for from in before {
            let last = self.flow.blocks[*from].last;
            match &self.flow.insns[last].insn {
                Insn::Switch(..) => {
                    let target = self.flow.insns[self.flow.blocks[block].first].at;
                    let sides = self.switches.get(&last)?;
                    probes.insert(sides.iter().find(|side| side.target == target)?.probe);
                }
                _ if self.flow.jump_of(*from).is_some() => probes.extend(self.left_by(last, block)?),
                _ if ends[*from].is_empty() => return None,
                _ => probes.extend(&ends[*from]),
            }
        }
        Some(probes.into_iter().collect())
    }

    /// The probes of ways that leave their group from a jump to a block; `None` if the group goes on there.
    fn left_by(&self, jump: usize, to: usize) -> Option<Vec<u32>> {
        let (group, first) = self.groups.iter().find(|(group, _)| group.nodes.iter().any(|node| node.insn == jump))?;
        let position = group.nodes.iter().position(|node| node.insn == jump)?;
        let next = &self.flow.blocks[self.flow.block_of(jump)].next;
        let mut probes = Vec::new();
        for taken in [false, true] {
            if next.get(usize::from(taken)) != Some(&to) {
                continue;
            }
            if group.nodes[position].ways[usize::from(taken)] != Way::Out {
                return None;
            }
            let paths = group.paths();
            let ending = paths.iter().enumerate().filter(|(_, path)| path.last() == Some(&(position, taken)));
            probes.extend(ending.map(|(number, _)| first + number as u32));
        }
        Some(probes)
    }
}

/// Where lines begin.
fn lines(code: &Code) -> BTreeSet<usize> {
    let tables = code.attributes.iter().filter_map(|attribute| match attribute {
        Attribute::LineNumberTable(rows) => Some(rows),
        _ => None,
    });
    tables.flatten().map(|(start, _)| usize::from(*start)).collect()
}

/// Instructions that statements end with: what is behind them may begin another one.
struct Enders(Vec<bool>);

impl Enders {
    fn new(class: &ClassFile, method: &Member, flow: &Flow) -> Enders {
        let gives_nothing = |index: u16| class.pool.method(index).is_ok_and(|(method, _)| method.desc.ends_with(")V"));
        let is_constructor = |index: u16| class.pool.method(index).is_ok_and(|(method, _)| &*method.name == "<init>");
        // Of the object itself, if there is no other that is waiting for it.
        let mut waiting = 0;
        let mut ends = |insn: &Insn| match insn {
            Insn::Store(..)
            | Insn::ArrayStore(_)
            | Insn::Pop
            | Insn::Pop2
            | Insn::PutField(_)
            | Insn::PutStatic(_)
            | Insn::Increment(..)
            | Insn::MonitorEnter
            | Insn::MonitorExit => true,
            Insn::New(_) => {
                waiting += 1;
                false
            }
            Insn::InvokeSpecial(index) if is_constructor(*index) => {
                waiting -= 1;
                waiting < 0 && &*method.name == "<init>"
            }
            Insn::InvokeVirtual(index)
            | Insn::InvokeSpecial(index)
            | Insn::InvokeStatic(index)
            | Insn::InvokeInterface(index) => gives_nothing(*index),
            Insn::InvokeDynamic(index) => class.pool.call_site(*index).is_ok_and(|(_, _, desc)| desc.ends_with(")V")),
            _ => false,
        };
        Enders(flow.insns.iter().map(|insn| ends(&insn.insn)).collect())
    }

    fn has(&self, insn: usize) -> bool {
        self.0.get(insn).copied().unwrap_or(false)
    }
}
