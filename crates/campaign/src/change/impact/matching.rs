//! Matches the instructions of two versions of a function: a longest common subsequence over instructions with their
//! names and constants, and inside each gap another one over instruction kinds alone, so that `x = 1` and `x = 2` are
//! one statement that changed.
//!
//! A poor matching makes the impact of a change larger, never smaller: the relational walk checks every pair.

use std::collections::BTreeMap;
use touchstone_base::{Id, stable_hash};
use touchstone_ir::{BlockId, Callee, Cfg, Function, InstKind, Linkage, Module, Operand, TermKind};

/// A location in a function: an instruction of a block, or, behind the last one, the terminator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct CodeLocation {
    pub block: BlockId,
    pub index: usize,
}

impl CodeLocation {
    /// Returns the first location of a block.
    pub fn first(block: BlockId) -> CodeLocation {
        CodeLocation { block, index: 0 }
    }

    /// Returns the location behind this one, in the same block.
    pub fn next(self) -> CodeLocation {
        CodeLocation { index: self.index + 1, ..self }
    }
}

/// Pairs of matched locations.
#[derive(Default, Debug)]
pub(crate) struct Matching {
    to_new: BTreeMap<CodeLocation, CodeLocation>,
    to_old: BTreeMap<CodeLocation, CodeLocation>,
}

impl Matching {
    pub fn new(old: (&Module, &Function), new: (&Module, &Function)) -> Matching {
        let (before, now) = (tokens(old.0, old.1), tokens(new.0, new.1));
        let mut found = Matching::default();
        let exact = longest_common_subsequence(&before, &now, |token| token.exact);
        let mut gap = (0, 0);
        for (one, other) in exact.into_iter().chain([(before.len(), now.len())]) {
            let (left, right) = (&before[gap.0..one], &now[gap.1..other]);
            for (a, b) in longest_common_subsequence(left, right, |token| token.kind) {
                found.add(left[a].location, right[b].location);
            }
            if let (Some(one), Some(other)) = (before.get(one), now.get(other)) {
                found.add(one.location, other.location);
            }
            gap = (one + 1, other + 1);
        }
        found
    }

    fn add(&mut self, old: CodeLocation, new: CodeLocation) {
        self.to_new.insert(old, new);
        self.to_old.insert(new, old);
    }

    /// Returns the new location that matches an old one.
    pub fn new_of(&self, old: CodeLocation) -> Option<CodeLocation> {
        self.to_new.get(&old).copied()
    }

    /// Returns the old location that matches a new one.
    pub fn old_of(&self, new: CodeLocation) -> Option<CodeLocation> {
        self.to_old.get(&new).copied()
    }
}

/// A location as it is compared.
struct Token {
    location: CodeLocation,
    /// The hash of the instruction with its constants and names.
    exact: u64,
    /// The hash of the instruction kind.
    kind: u64,
}

/// Returns the tokens of a function in reverse post-order. Jumps have none.
fn tokens(module: &Module, function: &Function) -> Vec<Token> {
    let mut tokens = Vec::new();
    for &block in Cfg::new(function).reverse_post_order() {
        let body = &function.blocks[block];
        for (index, inst) in body.insts.iter().enumerate() {
            let (kind, names) = instruction(module, function, &inst.kind);
            let operands: Vec<String> = inst.kind.operands().iter().map(|operand| named(function, *operand)).collect();
            let target = inst.kind.dst().and_then(|dst| function.regs[dst].name.clone());
            tokens.push(token(CodeLocation { block, index }, &kind, &format!("{names} {operands:?} {target:?}")));
        }
        let end = &body.terminator.kind;
        let kind = match end {
            TermKind::Jump(_) => continue,
            TermKind::Branch { role, .. } => format!("branch {role:?}"),
            TermKind::Switch { arms, .. } => {
                let ranges: Vec<_> = arms.iter().map(|arm| (arm.low, arm.high, arm.signed)).collect();
                format!("switch {ranges:?}")
            }
            TermKind::Return(_) => "return".into(),
            TermKind::Throw(_) => "throw".into(),
            TermKind::Catch { .. } => "catch".into(),
            TermKind::Unsupported(what) => format!("unsupported {what}"),
            TermKind::Unreachable => "unreachable".into(),
        };
        let operands: Vec<String> = end.operands().iter().map(|operand| named(function, *operand)).collect();
        let location = CodeLocation { block, index: body.insts.len() };
        tokens.push(token(location, &kind, &format!("{operands:?} {}", asked(function, end))));
    }
    tokens
}

fn token(location: CodeLocation, kind: &str, names: &str) -> Token {
    Token { location, exact: stable_hash(format!("{kind} {names}").as_str()), kind: stable_hash(kind) }
}

/// Returns the kind of an instruction, and the names that it mentions.
fn instruction(module: &Module, function: &Function, kind: &InstKind) -> (String, String) {
    let slot = |id| format!("{:?} {}", function.slots[id].name, function.slots[id].size);
    match kind {
        InstKind::Copy { .. } => ("copy".into(), String::new()),
        InstKind::Bin { op, .. } => ("bin".into(), format!("{op:?}")),
        InstKind::Cmp { op, .. } => ("cmp".into(), format!("{op:?}")),
        InstKind::Cast { op, .. } => (format!("cast {op:?}"), String::new()),
        InstKind::Float { op, format, .. } => ("float".into(), format!("{op:?} {format:?}")),
        InstKind::SlotAddr { slot: id, .. } => ("slot".into(), slot(*id)),
        InstKind::GlobalAddr { global, .. } => {
            let global = &module.globals[*global];
            ("global".into(), if global.linkage == Linkage::Literal { String::new() } else { global.name.clone() })
        }
        InstKind::PtrAdd { .. } => ("ptradd".into(), String::new()),
        InstKind::PtrDiff { .. } => ("ptrdiff".into(), String::new()),
        InstKind::Load { .. } => ("load".into(), String::new()),
        InstKind::Store { .. } => ("store".into(), String::new()),
        InstKind::MemCopy { .. } => ("copy bytes".into(), String::new()),
        InstKind::MemSet { .. } => ("fill".into(), String::new()),
        InstKind::SlotBegin { slot: id } => (format!("begin {}", slot(*id)), String::new()),
        InstKind::SlotEnd { slot: id } => (format!("end {}", slot(*id)), String::new()),
        InstKind::Point { point } => {
            let point = &function.points[*point];
            (format!("point {:?}", std::mem::discriminant(&point.kind)), point.text.clone())
        }
        InstKind::Call { callee: Callee::Direct(callee), .. } => {
            (format!("call {}", module.functions[*callee].name), String::new())
        }
        InstKind::Call { callee: Callee::Indirect(_), .. } => ("call".into(), String::new()),
        InstKind::Builtin { builtin, .. } => (format!("builtin {builtin:?}"), String::new()),
    }
}

fn named(function: &Function, operand: Operand) -> String {
    match operand {
        Operand::Const(ty, value) => format!("{ty} {value}"),
        Operand::Reg(reg) => function.regs[reg].name.clone().unwrap_or_default(),
    }
}

/// Returns the source text of the condition that a branch evaluates.
fn asked(function: &Function, kind: &TermKind) -> String {
    let TermKind::Branch { tag: Some(tag), .. } = kind else { return String::new() };
    let condition = function.decisions.get(tag.decision).and_then(|it| it.conditions.get(tag.condition));
    condition.map(|condition| condition.text.clone()).unwrap_or_default()
}

/// The maximum number of comparisons of one subsequence computation. A larger gap is left unmatched.
const MAX_COMPARISONS: usize = 16_000_000;

/// Computes a longest common subsequence, as pairs of indices.
fn longest_common_subsequence(old: &[Token], new: &[Token], key: impl Fn(&Token) -> u64) -> Vec<(usize, usize)> {
    let same = |a: usize, b: usize| key(&old[a]) == key(&new[b]);
    let shortest = old.len().min(new.len());
    let before = (0..shortest).take_while(|&at| same(at, at)).count();
    let behind = (0..shortest - before).take_while(|&at| same(old.len() - 1 - at, new.len() - 1 - at)).count();
    let (rows, columns) = (old.len() - before - behind, new.len() - before - behind);
    let mut pairs: Vec<(usize, usize)> = (0..before).map(|at| (at, at)).collect();
    if rows.saturating_mul(columns) <= MAX_COMPARISONS {
        // The length of the longest common subsequence of both rests.
        let mut lengths = vec![0u32; (rows + 1) * (columns + 1)];
        let at = |row: usize, column: usize| row * (columns + 1) + column;
        for row in (0..rows).rev() {
            for column in (0..columns).rev() {
                lengths[at(row, column)] = match same(before + row, before + column) {
                    true => lengths[at(row + 1, column + 1)] + 1,
                    false => lengths[at(row + 1, column)].max(lengths[at(row, column + 1)]),
                };
            }
        }
        let (mut row, mut column) = (0, 0);
        while row < rows && column < columns {
            if same(before + row, before + column) {
                pairs.push((before + row, before + column));
                (row, column) = (row + 1, column + 1);
            } else if lengths[at(row + 1, column)] >= lengths[at(row, column + 1)] {
                row += 1;
            } else {
                column += 1;
            }
        }
    }
    pairs.extend((0..behind).rev().map(|at| (old.len() - 1 - at, new.len() - 1 - at)));
    pairs
}

impl std::fmt::Display for CodeLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b{}.{}", self.block.index(), self.index)
    }
}
