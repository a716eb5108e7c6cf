//! Probes of run-time errors. Each is evaluated immediately before the operation that may fail, so a crash right after
//! it loses no hit.
//!
//! A divisor is stored in a variable and compared with zero. Of an accessed object only the address is taken: an
//! address in the first page is a null pointer, and one outside of the variable that should contain the object is out
//! of bounds. Nothing is evaluated twice, and no memory is read that the program does not read.
//!
//! A compiled program can't determine where the pointee of a pointer ends, whether it is still alive and whether it is
//! initialised. These errors are not measured, and the record says so.

use crate::c::text::Insertions;
use crate::record::ProbeObstacle;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use touchstone_base::Span;
use touchstone_front_c::{AccessBase, Hazard, HazardKind, HazardObstacle, PrecedingAssignment};
use touchstone_ir::{BinOp, ErrorKind, Function, InstKind};

/// Ranks of insertions around one expression; the lower is the outer. All are inside of the probes of other criteria.
const RIGHT_RANK: usize = usize::MAX - 44;
const OPERAND_RANK: usize = usize::MAX - 43;
const WHOLE_RANK: usize = usize::MAX - 42;
const OBJECT_RANK: usize = usize::MAX - 41;

/// The function that checks an address: for null, and for the bounds of a variable.
pub(crate) const ERROR_RUNTIME: &str = "\
static __attribute__((__unused__, __noinline__, __no_instrument_function__)) int __touchstone_at(
    const volatile void *at, unsigned long long size, const volatile void *in, unsigned long long length,
    unsigned null, unsigned bounds) {
    unsigned long long address = (__typeof__(sizeof 0))at, offset = address - (__typeof__(sizeof 0))in;
    if (address < 4096) {
        if (null) __touchstone_h[null - 1] = 1;
        return 1;
    }
    if (!in || (offset <= length && size <= length - offset)) return 0;
    if (bounds) __touchstone_h[bounds - 1] = 1;
    return 1;
}
";

/// The probes of the run-time errors of one function.
pub(crate) struct ErrorProbes<'a> {
    by_place: BTreeMap<(usize, usize), Vec<&'a Hazard>>,
    placed: BTreeMap<(usize, usize), PlacedProbes>,
}

/// The probes at one expression.
#[derive(Clone, Copy, Default)]
struct PlacedProbes {
    division: Option<u32>,
    null: Option<u32>,
    bounds: Option<u32>,
}

impl<'a> ErrorProbes<'a> {
    pub fn new(hazards: &'a [Hazard]) -> ErrorProbes<'a> {
        let mut by_place: BTreeMap<(usize, usize), Vec<&Hazard>> = BTreeMap::new();
        for hazard in hazards {
            by_place.entry((hazard.at.start, hazard.at.end)).or_default().push(hazard);
        }
        ErrorProbes { by_place, placed: BTreeMap::new() }
    }

    /// Fails unless an error can be observed at all of these expressions.
    pub fn check(&self, kind: ErrorKind, places: &BTreeSet<(usize, usize)>) -> Result<(), ProbeObstacle> {
        places.iter().try_for_each(|at| self.check_place(kind, *at))
    }

    fn check_place(&self, kind: ErrorKind, at: (usize, usize)) -> Result<(), ProbeObstacle> {
        match kind {
            ErrorKind::DivisionByZero | ErrorKind::NullPointer | ErrorKind::OutOfBounds => {}
            ErrorKind::Uninitialised => {
                return Err(ProbeObstacle::WrittenMemory);
            }
            _ => return Err(ProbeObstacle::LivingObjects),
        }
        let mut found = false;
        for hazard in self.by_place.get(&at).map_or(&[][..], Vec::as_slice) {
            found |= match hazard.kind.as_ref().map_err(|why| unaskable(*why))? {
                HazardKind::Division { .. } => kind == ErrorKind::DivisionByZero,
                HazardKind::Access { after: Some(PrecedingAssignment { divides: true, .. }), .. }
                    if kind == ErrorKind::DivisionByZero =>
                {
                    true
                }
                HazardKind::Fixed => kind != ErrorKind::DivisionByZero,
                HazardKind::Access { root, .. } if kind == ErrorKind::OutOfBounds => match root {
                    AccessBase::Variable(_) => true,
                    AccessBase::Pointer => {
                        return Err(ProbeObstacle::ObjectEnd);
                    }
                    AccessBase::Unknown => return Err(ProbeObstacle::ObjectSize),
                },
                HazardKind::Access { .. } => kind == ErrorKind::NullPointer,
            };
        }
        found.then_some(()).ok_or(ProbeObstacle::NotInSource)
    }

    /// Assigns a probe to an error at an expression.
    pub fn place(&mut self, kind: ErrorKind, at: (usize, usize), probe: u32) {
        let placed = self.placed.entry(at).or_default();
        match kind {
            ErrorKind::DivisionByZero => placed.division = Some(probe),
            ErrorKind::NullPointer => placed.null = Some(probe),
            _ => placed.bounds = Some(probe),
        }
    }

    /// Inserts all probes into the text. Returns true if there are any.
    pub fn write(&self, insertions: &mut Insertions) -> bool {
        for (at, placed) in &self.placed {
            for hazard in self.by_place.get(at).into_iter().flatten() {
                match &hazard.kind {
                    Ok(HazardKind::Division { left, right }) => divide(insertions, left.as_ref(), right, *placed),
                    Ok(HazardKind::Access { object, is_pointer, root, after }) => {
                        let access = AccessProbe { object, is_pointer: *is_pointer, root, placed: *placed };
                        access.write(insertions, after.as_ref());
                    }
                    Ok(HazardKind::Fixed) | Err(_) => {}
                }
            }
        }
        !self.placed.is_empty()
    }
}

fn unaskable(why: HazardObstacle) -> ProbeObstacle {
    match why {
        HazardObstacle::Temporary => ProbeObstacle::Temporary,
        HazardObstacle::OrderOfCalls => ProbeObstacle::OrderOfCalls,
        HazardObstacle::VectorPart => ProbeObstacle::VectorPart,
        HazardObstacle::BitFieldInParentheses => ProbeObstacle::BitFieldInParentheses,
    }
}

/// Returns the spans in the preprocessed text of the instructions of an error. A macro may put several of them at one
/// source position.
pub(crate) fn places(
    written: &Function,
    counterpart: &Function,
    kind: ErrorKind,
    span: Span,
) -> Result<Vec<Span>, ProbeObstacle> {
    let different = || ProbeObstacle::DifferentCode;
    let fails = |inst: &InstKind| match inst {
        InstKind::Bin { op: BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, .. } => {
            kind == ErrorKind::DivisionByZero
        }
        InstKind::Load { .. } | InstKind::Store { .. } | InstKind::MemCopy { .. } | InstKind::MemSet { .. } => {
            kind != ErrorKind::DivisionByZero
        }
        _ => false,
    };
    let mut found = Vec::new();
    if written.blocks.len() != counterpart.blocks.len() {
        return Err(different());
    }
    for (ours, theirs) in written.blocks.values().zip(counterpart.blocks.values()) {
        if ours.insts.len() != theirs.insts.len() {
            return Err(different());
        }
        for (ours, theirs) in ours.insts.iter().zip(&theirs.insts) {
            if std::mem::discriminant(&ours.kind) != std::mem::discriminant(&theirs.kind) {
                return Err(different());
            }
            if ours.span == span && fails(&ours.kind) {
                found.push(theirs.span);
            }
        }
    }
    if found.is_empty() { Err(different()) } else { Ok(found) }
}

fn hit(probe: u32) -> String {
    format!("__touchstone_h[{probe}] = 1")
}

/// Renders a barrier after which the compiler has no knowledge about a variable. Otherwise an operation that certainly
/// fails, for example after inlining, would be undefined behaviour that the compiler removes together with the probe.
fn settle(variable: &str) -> String {
    format!("__asm__ __volatile__(\"\" : \"+m\"({variable}));")
}

fn divide(
    insertions: &mut Insertions,
    left: Option<&(Range<usize>, Range<usize>)>,
    right: &Range<usize>,
    placed: PlacedProbes,
) {
    let Some(probe) = placed.division else { return };
    if let Some((whole, left)) = left {
        insertions.wrap(whole.start, whole.end, WHOLE_RANK, "({ ".to_string(), "; })".to_string());
        let open = "__auto_type __touchstone_l = +(".to_string();
        insertions.wrap(
            left.start,
            left.end,
            OPERAND_RANK,
            open,
            format!("); {} __touchstone_l", settle("__touchstone_l")),
        );
    }
    let settled = settle("__touchstone_v");
    let close = format!("); {settled} if (!__touchstone_v) {}; __touchstone_v; }})", hit(probe));
    insertions.wrap(right.start, right.end, OPERAND_RANK, "({ __auto_type __touchstone_v = +(".to_string(), close);
}

struct AccessProbe<'a> {
    object: &'a Range<usize>,
    is_pointer: bool,
    root: &'a AccessBase,
    placed: PlacedProbes,
}

impl AccessProbe<'_> {
    fn write(&self, insertions: &mut Insertions, after: Option<&PrecedingAssignment>) {
        let PlacedProbes { division, null, bounds } = self.placed;
        let (object, length) = match self.root {
            AccessBase::Variable(name) => (format!("&{name}"), format!("sizeof {name}")),
            AccessBase::Pointer | AccessBase::Unknown => ("0".to_string(), "0".to_string()),
        };
        let number = |probe: Option<u32>| probe.map_or(0, |probe| probe + 1);
        let asked = format!(
            "__touchstone_at(__touchstone_p, sizeof *__touchstone_p, {object}, {length}, {}, {})",
            number(null),
            number(bounds)
        );
        // The pointee, or the pointer itself.
        let (take, back) = if self.is_pointer { ("", "__touchstone_p") } else { ("&", "(*__touchstone_p)") };
        let keep = format!("__auto_type __touchstone_p = {take}(");
        let (pointer, value) = (settle("__touchstone_p"), settle("__touchstone_v"));
        let Range { start, end } = *self.object;
        let Some(PrecedingAssignment { whole, right, number, .. }) = after else {
            let open = format!("({}({{ {keep}", if self.is_pointer { "" } else { "*" });
            insertions.wrap(start, end, OBJECT_RANK, open, format!("); {pointer} {asked}; __touchstone_p; }}))"));
            return;
        };
        insertions.wrap(whole.start, whole.end, WHOLE_RANK, "({ ".to_string(), "; })".to_string());
        insertions.wrap(start, end, OBJECT_RANK, keep, format!("); {pointer} {back}"));
        let asked = match division {
            Some(probe) => format!("if (!{asked} && !__touchstone_v) {}", hit(probe)),
            None => asked,
        };
        let open = format!("({{ __auto_type __touchstone_v = {}(", if *number { "+" } else { "" });
        insertions.wrap(right.start, right.end, RIGHT_RANK, open, format!("); {value} {asked}; __touchstone_v; }})"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::runtime_source::with_counters;

    #[test]
    fn probes_of_errors_count_if_hits_are_counted() {
        assert!(!with_counters(super::ERROR_RUNTIME).contains("] = 1"));
    }
}
