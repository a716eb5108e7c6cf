//! Aligns the code of a method with the code that another agent made of it, for example with another tool's probes.
//!
//! The alignment maps each instruction to one of the same kind, in the same order. It is only returned if both control-flow graphs are
//! equal, apart from inserted code without branches: each instruction is executed exactly when the one that it is mapped to is. The
//! condition of a jump may be negated, constants may have other numbers, and local variables may be added in one place.
//!
//! Deliberately not here: code with inserted branches. It has no alignment.

use crate::classfile::{Code, Cond, Decoded, Insn, decode};
use rustc_hash::FxHashMap;

/// Returns the offset in the changed code of each instruction of a method, by its offset, or `None` if the code cannot be aligned.
pub(crate) fn changed_offsets(compiled: &Code, changed: &Code) -> Option<FxHashMap<usize, usize>> {
    let added_locals = changed.max_locals.checked_sub(compiled.max_locals)?;
    let max_locals = compiled.max_locals;
    let compiled = decode(&compiled.bytes, compiled.offset).ok()?;
    let changed = decode(&changed.bytes, changed.offset).ok()?;
    // New local variables are usually the first after the parameters, or the last.
    (0..=max_locals).rev().find_map(|first| {
        let locals = AddedLocals { first, count: added_locals };
        let alignment = Alignment::new(&compiled, &changed, locals)?;
        let is_equal =
            alignment.first(0) == Some(0) && (0..compiled.len()).all(|insn| alignment.has_same_successors(insn));
        let offset = |(insn, to): (&Decoded, &usize)| (insn.at, changed[*to].at);
        is_equal.then(|| compiled.iter().zip(&alignment.positions).map(offset).collect())
    })
}

/// Local variables that were added to a method.
#[derive(Clone, Copy)]
struct AddedLocals {
    first: u16,
    count: u16,
}

impl AddedLocals {
    /// Returns the number of a variable in the changed code.
    fn renumber(self, local: u16) -> u16 {
        if local < self.first { local } else { local.saturating_add(self.count) }
    }
}

/// An order-preserving map from instructions to instructions.
struct Alignment<'c> {
    compiled: &'c [Decoded],
    changed: &'c [Decoded],
    /// For each instruction of the compiled code, its index in the changed code.
    positions: Vec<usize>,
    /// The inverse.
    origins: FxHashMap<usize, usize>,
}

impl<'c> Alignment<'c> {
    /// Aligns from the end: code is usually inserted before an instruction.
    fn new(compiled: &'c [Decoded], changed: &'c [Decoded], locals: AddedLocals) -> Option<Alignment<'c>> {
        let mut positions = Vec::with_capacity(compiled.len());
        let mut end = changed.len();
        for insn in compiled.iter().rev() {
            let wanted = kind(&insn.insn, |local| locals.renumber(local));
            end = changed[..end].iter().rposition(|other| kind(&other.insn, |local| local) == wanted)?;
            positions.push(end);
        }
        positions.reverse();
        let origins = positions.iter().enumerate().map(|(from, to)| (*to, from)).collect();
        Some(Alignment { compiled, changed, positions, origins })
    }

    /// Returns the first aligned instruction from an instruction of the changed code on, as an index of the compiled code. `None` if
    /// inserted code branches before.
    fn first(&self, mut at: usize) -> Option<usize> {
        for _ in 0..self.changed.len() {
            if let Some(origin) = self.origins.get(&at) {
                return Some(*origin);
            }
            at = match &self.changed.get(at)?.insn {
                Insn::Goto(target) => index(self.changed, *target)?,
                insn if insn.ends() || !insn.targets().is_empty() => return None,
                _ => at + 1,
            };
        }
        None
    }

    /// Returns true if the aligned successors of an instruction are aligned with its own.
    fn has_same_successors(&self, from: usize) -> bool {
        let to = self.positions[from];
        let (own, other) = (&self.compiled[from].insn, &self.changed[to].insn);
        let targets = |code: &[Decoded], insn: &Insn| -> Option<Vec<usize>> {
            insn.targets().iter().map(|target| index(code, *target)).collect()
        };
        let (Some(mut wanted), Some(mut found)) = (targets(self.compiled, own), targets(self.changed, other)) else {
            return false;
        };
        if !own.ends() {
            wanted.push(from + 1);
            found.push(to + 1);
            if condition(own) != condition(other) {
                found.reverse();
            }
        }
        wanted.len() == found.len()
            && wanted.iter().zip(found).all(|(wanted, found)| self.first(found) == Some(*wanted))
    }
}

/// Returns the index of the instruction at an offset.
fn index(code: &[Decoded], at: usize) -> Option<usize> {
    code.binary_search_by_key(&at, |insn| insn.at).ok()
}

/// Returns the condition of a jump.
fn condition(insn: &Insn) -> Option<Cond> {
    match insn {
        Insn::If(cond, _) | Insn::IfInts(cond, _) | Insn::IfRefs(cond, _) | Insn::IfNull(cond, _) => Some(*cond),
        _ => None,
    }
}

/// Returns an instruction without its constant or target, with one of each pair of opposite conditions, and with another local variable.
fn kind(insn: &Insn, renumber: impl Fn(u16) -> u16) -> Insn {
    let either = |cond: Cond| match cond {
        Cond::Eq | Cond::Ne => Cond::Eq,
        Cond::Lt | Cond::Ge => Cond::Lt,
        Cond::Gt | Cond::Le => Cond::Gt,
    };
    match insn {
        Insn::Constant(_) => Insn::Constant(0),
        Insn::Load(kind, local) => Insn::Load(*kind, renumber(*local)),
        Insn::Store(kind, local) => Insn::Store(*kind, renumber(*local)),
        Insn::Increment(local, amount) => Insn::Increment(renumber(*local), *amount),
        Insn::If(cond, _) => Insn::If(either(*cond), 0),
        Insn::IfInts(cond, _) => Insn::IfInts(either(*cond), 0),
        Insn::IfRefs(cond, _) => Insn::IfRefs(either(*cond), 0),
        Insn::IfNull(cond, _) => Insn::IfNull(either(*cond), 0),
        Insn::Goto(_) => Insn::Goto(0),
        Insn::Jsr(_) => Insn::Jsr(0),
        Insn::Ret(_) => Insn::Ret(0),
        Insn::Switch(_, cases) => Insn::Switch(0, cases.iter().map(|(value, _)| (*value, 0)).collect()),
        Insn::GetStatic(_) => Insn::GetStatic(0),
        Insn::PutStatic(_) => Insn::PutStatic(0),
        Insn::GetField(_) => Insn::GetField(0),
        Insn::PutField(_) => Insn::PutField(0),
        Insn::InvokeVirtual(_) => Insn::InvokeVirtual(0),
        Insn::InvokeSpecial(_) => Insn::InvokeSpecial(0),
        Insn::InvokeStatic(_) => Insn::InvokeStatic(0),
        Insn::InvokeInterface(_) => Insn::InvokeInterface(0),
        Insn::InvokeDynamic(_) => Insn::InvokeDynamic(0),
        Insn::New(_) => Insn::New(0),
        Insn::NewRefArray(_) => Insn::NewRefArray(0),
        Insn::NewMultiArray(_, dimensions) => Insn::NewMultiArray(0, *dimensions),
        Insn::CheckCast(_) => Insn::CheckCast(0),
        Insn::InstanceOf(_) => Insn::InstanceOf(0),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8], max_locals: u16) -> Code {
        Code { max_stack: 1, max_locals, bytes: bytes.into(), offset: 0, handlers: Vec::new(), attributes: Vec::new() }
    }

    /// `return a ? 1 : 2`: iload_0, ifeq 7, iconst_1, ireturn, nop, iconst_2, ireturn.
    const COMPILED: [u8; 9] = [0x1a, 0x99, 0, 6, 0x04, 0xac, 0, 0x05, 0xac];

    #[test]
    fn inserted_code_and_a_negated_jump_are_aligned() {
        // iload_0, ifne 9, iconst_1 (inserted), pop, goto 12, …: `iconst_1` is not mapped to the inserted one.
        let changed = [0x1a, 0x9a, 0, 8, 0x04, 0x57, 0xa7, 0, 6, 0x04, 0xac, 0, 0x04, 0x57, 0x05, 0xac];
        let found = changed_offsets(&code(&COMPILED, 1), &code(&changed, 1)).expect("aligned");
        assert_eq!([0, 1, 4, 5, 7, 8].map(|at| found[&at]), [0, 1, 9, 10, 14, 15]);
        // A variable is added before the one that is tested.
        let with_local = [&[0x03, 0x3b, 0x1b], &changed[1..]].concat();
        let found = changed_offsets(&code(&COMPILED, 1), &code(&with_local, 2)).expect("aligned");
        assert_eq!([0, 1, 4].map(|at| found[&at]), [2, 3, 11]);
    }

    #[test]
    fn code_with_another_control_flow_is_not_aligned() {
        // The jump is negated, but its targets are not exchanged.
        let mut changed = COMPILED;
        changed[1] = 0x9a;
        assert_eq!(changed_offsets(&code(&COMPILED, 1), &code(&changed, 1)), None);
        // A jump is inserted: iload_0, ifeq 0 before the code.
        let inserted = [&[0x1a, 0x99, 0, 0], &COMPILED[..]].concat();
        assert_eq!(changed_offsets(&code(&COMPILED, 1), &code(&inserted, 1)), None);
    }
}
