//! Locations of decisions, statements and points in the bytecode of a method: the meaning of probes in a class file.

use crate::classfile::decode;
use crate::coverage::method_decisions::PointLocation;
use crate::coverage::value_locations::ValuePointLocation;
use crate::lower::symbols::FuncKind;
use crate::program::LazyProgram;
use std::collections::BTreeMap;
use std::sync::Arc;
use touchstone_base::Span;
use touchstone_ir::{CondTag, FuncId, PointId};

/// The locations of a method's decisions, statements and points in its code.
#[derive(Clone, Debug)]
pub struct CodeLocations {
    /// The internal name of the class.
    pub class: Arc<str>,
    /// Index of the method in its class.
    pub method: usize,
    /// The conditional jumps that evaluate conditions.
    pub jumps: Vec<ConditionJump>,
    /// The offsets at which statements begin, with their source positions.
    pub statements: Vec<(usize, Span)>,
    /// Decisions that are not observed, with their texts: a condition is compiled to something other than a jump.
    pub skipped: Vec<(Span, String)>,
    /// The switches of the source, with their positions.
    switches: Vec<(usize, Span)>,
    /// Points with a predicate on a single instruction; only of lowered methods.
    pub points: Vec<(PointId, PointLocation)>,
    /// Points about values; only of lowered methods.
    pub values: Vec<(PointId, ValuePointLocation)>,
    /// The fields of the receiver that points read: from the offset in memory to the index in the constant pool.
    pub own_fields: BTreeMap<u64, u16>,
    /// The offsets and lines of all instructions.
    lines: Vec<(usize, u32)>,
}

impl CodeLocations {
    /// Returns the line of an instruction; 0 if it is unknown.
    pub fn line(&self, at: usize) -> u32 {
        self.lines.iter().take_while(|(start, _)| *start <= at).last().map_or(0, |(_, line)| *line)
    }

    /// Returns true if the switch at an offset has a source position; without source, the line is compared.
    pub fn is_switch(&self, at: usize, place: Span) -> bool {
        let own = self.switches.iter().find(|(own, _)| *own == at);
        own.map_or_else(|| self.line(at) == place.line, |(_, own)| *own == place)
    }
}

/// A jump that evaluates a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConditionJump {
    /// Offset of the jump.
    pub at: usize,
    /// The condition.
    pub tag: CondTag,
    /// The outcome of the condition if the jump is taken.
    pub if_taken: bool,
}

impl LazyProgram {
    /// Returns the locations of a method; `None` if the function is not a method with code.
    pub fn code_locations(&self, func: FuncId) -> Option<CodeLocations> {
        let mut lowering = self.lowering.borrow_mut();
        let Some(FuncKind::Method(method)) = lowering.func_kind(func).cloned() else { return None };
        let file = lowering.classes.get(method.class).file().cloned()?;
        let code = file.methods.get(usize::from(method.index))?.code()?;
        let insns = decode(&code.bytes, code.offset).ok()?;
        let table = lowering.table(method, &file, code, &insns);
        let jumps = table.jumps().map(|(at, tag, opcode)| {
            let if_taken = code.bytes.get(at) == Some(&opcode);
            ConditionJump { at, tag, if_taken }
        });
        let point_locations = lowering.point_locations.get(&method).cloned().unwrap_or_default();
        Some(CodeLocations {
            class: file.name.clone(),
            method: usize::from(method.index),
            jumps: jumps.collect(),
            statements: table.statement_starts().map(|(at, point)| (at, point.span)).collect(),
            switches: table.switches().collect(),
            skipped: table.skipped,
            points: point_locations.points,
            values: point_locations.values,
            own_fields: point_locations.own_fields,
            lines: insns.iter().map(|insn| (insn.at, code.line(insn.at))).collect(),
        })
    }
}
