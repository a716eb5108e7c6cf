//! Taint analysis of start-up: objects whose contents depend on the environment of a run (time, properties, random
//! numbers).
//!
//! A start-up function is divided at its **statement boundaries**: positions that every run passes once and at which no
//! register is live. Between two boundaries the analysis is coarse: everything that is written after a source or a
//! tainted object was read is tainted. Nothing but memory passes a boundary, and control does not depend on what came
//! before it, so the taint of a statement ends there.
//!
//! A statement that ends in an unsupported operation is skipped if it can write nothing but globals, which are tainted
//! then, and objects that it creates.

use crate::machine::{CallFrame, Machine, Stop};
use crate::value::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_ir::{BlockId, Callee, Cfg, Exits, FuncId, Function, GlobalId, InstKind, Operand, Reg, TermKind, Ty};

/// The number of frames while a start-up function's own code runs: the function that runs it once, and itself.
const STATEMENT_DEPTH: usize = 2;

/// A position before an instruction.
type Position = (BlockId, usize);

/// A statement that is not executed.
#[derive(Clone)]
pub(crate) struct SkippedStatement {
    func: FuncId,
    from: Position,
    to: Position,
    written: BTreeSet<GlobalId>,
    source: String,
}

#[derive(Clone, Default)]
pub(crate) struct EnvironmentTaint {
    active: bool,
    /// The source that the current statement has read.
    source: Option<String>,
    /// The tainted objects, with their sources.
    pub objects: BTreeMap<ObjectId, String>,
    /// The tainted globals of skipped statements, with their sources.
    pub globals: BTreeMap<GlobalId, String>,
    boundaries: BTreeMap<FuncId, Vec<Position>>,
    /// The boundary that was passed last.
    last: Option<(FuncId, Position)>,
    pub skipped: Vec<SkippedStatement>,
    /// The statement that ended the run, if it can be skipped.
    pub unsupported: Option<SkippedStatement>,
}

impl EnvironmentTaint {
    /// Begins another start-up function. The library's own are not analysed: it is as in a new process.
    pub fn begin(&mut self, of_program: bool) {
        (self.source, self.last, self.unsupported) = (None, None, None);
        self.active = of_program;
    }

    pub fn load(&mut self, object: ObjectId) {
        if self.active && self.source.is_none() {
            self.source = self.objects.get(&object).cloned();
        }
    }

    pub fn store(&mut self, object: ObjectId) {
        if let Some(source) = &self.source {
            self.objects.insert(object, source.clone());
        }
    }

    /// Notes the position of the innermost frame. Returns the end of the statement if it is skipped.
    pub fn at(&mut self, depth: usize, func: FuncId, function: &Function, position: Position) -> Option<Position> {
        if !self.active || depth != STATEMENT_DEPTH {
            return None;
        }
        let boundaries = self.boundaries.entry(func).or_insert_with(|| statement_boundaries(function));
        if !boundaries.contains(&position) {
            return None;
        }
        (self.source, self.last) = (None, Some((func, position)));
        let skipped = self.skipped.iter().find(|one| one.func == func && one.from == position)?;
        self.globals.extend(skipped.written.iter().map(|global| (*global, skipped.source.clone())));
        Some(skipped.to)
    }

    /// Returns the boundaries before and after the statement that is being executed.
    fn current_statement(&self, func: FuncId) -> Option<(Position, Position)> {
        let (_, last) = self.last.filter(|(of, _)| *of == func)?;
        let boundaries = self.boundaries.get(&func)?;
        let index = boundaries.iter().position(|one| *one == last)?;
        Some((last, *boundaries.get(index + 1)?))
    }
}

impl<'m> Machine<'m> {
    /// Taints the current statement, unless an initialiser of the library runs.
    pub(crate) fn read_environment(&mut self, frame: &CallFrame<'m>, name: Operand) -> Result<(), Stop> {
        let name = String::from_utf8_lossy(&self.text(frame, name)?).into_owned();
        let of_library = |func: FuncId| self.grows().is_some_and(|module| module.is_library_initialiser(func));
        if !self.frames.iter().any(|frame| of_library(frame.func))
            && let Some(taint) = self.taint.as_mut().filter(|taint| taint.active)
        {
            taint.source.get_or_insert(name);
        }
        Ok(())
    }

    /// Notes the statement that the run ends in, if it can be skipped.
    pub(crate) fn note_unsupported_statement(&mut self, stop: &Stop) {
        let (Stop::Unsupported(what), Some(taint)) = (stop, &self.taint) else { return };
        let Some(frame) = self.frames.get(STATEMENT_DEPTH - 1) else { return };
        let Some((from, to)) = taint.current_statement(frame.func) else { return };
        let is_library = |callee: FuncId| self.function(callee).is_some_and(Function::is_library);
        let source = taint.source.clone().unwrap_or_else(|| what.to_string());
        let written = written_globals(frame.function, from, to, &is_library);
        let statement = written.map(|written| SkippedStatement { func: frame.func, from, to, written, source });
        if let Some(taint) = &mut self.taint {
            taint.unsupported = statement;
        }
    }
}

/// Returns the positions that every run passes once and at which no register is live, in the order of execution.
fn statement_boundaries(function: &Function) -> Vec<Position> {
    let cfg = Cfg::new(function);
    let post_dominators = cfg.post_dominators(function, Exits::Returns);
    let live = live_registers(function, &cfg);
    let mut found = Vec::new();
    let mut next = function.blocks.ids().next();
    while let Some(block) = next {
        next = post_dominators[block];
        if cfg.innermost_loop(block).is_some() {
            continue;
        }
        let mut now = live_at_end(function, &live, block);
        let insts = &function.blocks[block].insts;
        let mut own = Vec::new();
        for index in (0..=insts.len()).rev() {
            if let Some(inst) = insts.get(index) {
                step_back(&inst.kind, &mut now);
            }
            if now.is_empty() {
                own.push((block, index));
            }
        }
        found.extend(own.into_iter().rev());
    }
    found
}

/// Turns the registers that are live after an instruction into those that are live before it.
fn step_back(kind: &InstKind, live: &mut BTreeSet<Reg>) {
    if let Some(dst) = kind.dst() {
        live.remove(&dst);
    }
    live.extend(kind.operands().into_iter().filter_map(register));
}

fn register(operand: Operand) -> Option<Reg> {
    match operand {
        Operand::Reg(reg) => Some(reg),
        Operand::Const(..) => None,
    }
}

/// Returns the registers that are live before the terminator of a block.
fn live_at_end(function: &Function, live: &[BTreeSet<Reg>], block: BlockId) -> BTreeSet<Reg> {
    let kind = &function.blocks[block].terminator.kind;
    let mut now: BTreeSet<Reg> = match kind {
        TermKind::Catch { thrown, handler, next } => {
            let handled = live[handler.index()].iter().filter(|reg| *reg != thrown);
            handled.chain(&live[next.index()]).copied().collect()
        }
        other => touchstone_ir::successors(other).iter().flat_map(|next| live[next.index()].iter().copied()).collect(),
    };
    now.extend(kind.operands().into_iter().filter_map(register));
    now
}

/// Returns the registers that are live at the start of every block.
fn live_registers(function: &Function, cfg: &Cfg) -> Vec<BTreeSet<Reg>> {
    let mut live: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); function.blocks.len()];
    loop {
        let mut changed = false;
        for block in cfg.reverse_post_order().iter().rev() {
            let mut now = live_at_end(function, &live, *block);
            for inst in function.blocks[*block].insts.iter().rev() {
                step_back(&inst.kind, &mut now);
            }
            changed |= now != live[block.index()];
            live[block.index()] = now;
        }
        if !changed {
            return live;
        }
    }
}

/// Returns the globals that the code between two boundaries writes, or `None` if it may write other objects that exist
/// before: it reads references, or calls functions of the program.
fn written_globals(
    function: &Function,
    from: Position,
    to: Position,
    is_library: &dyn Fn(FuncId) -> bool,
) -> Option<BTreeSet<GlobalId>> {
    let mut addresses: BTreeMap<Reg, GlobalId> = BTreeMap::new();
    let (mut written, mut visited, mut worklist) = (BTreeSet::new(), BTreeSet::new(), vec![from]);
    while let Some((block, first)) = worklist.pop() {
        if !visited.insert((block, first)) {
            continue;
        }
        let content = &function.blocks[block];
        let end = if block == to.0 && first < to.1 { to.1 } else { content.insts.len() };
        for inst in &content.insts[first..end] {
            match &inst.kind {
                InstKind::GlobalAddr { dst, global } => {
                    let other = addresses.insert(*dst, *global);
                    if other.is_some_and(|other| other != *global) {
                        return None;
                    }
                }
                InstKind::Load { dst, .. } if function.regs[*dst].ty == Ty::Ptr => return None,
                InstKind::Store { addr, .. } => match register(*addr).and_then(|reg| addresses.get(&reg)) {
                    Some(global) => drop(written.insert(*global)),
                    None => return None,
                },
                InstKind::Call { callee: Callee::Direct(callee), .. } if is_library(*callee) => {}
                InstKind::Call { .. } | InstKind::MemCopy { .. } | InstKind::MemSet { .. } => return None,
                _ => {}
            }
        }
        if end == content.insts.len() && (block, end) != to {
            worklist.extend(
                touchstone_ir::successors(&content.terminator.kind)
                    .into_iter()
                    .filter_map(|next| ((next, 0) != to).then_some((next, 0))),
            );
        }
    }
    Some(written)
}
