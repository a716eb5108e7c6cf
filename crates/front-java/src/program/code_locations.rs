//! Where in the code of a method its decisions and statements are: what probes in a class file mean.

use crate::classfile::decode;
use crate::coverage::decisions::PointLocation;
use crate::coverage::value_locations::ValuePointLocation;
use crate::lower::symbols::FuncKind;
use crate::program::Program;
use std::collections::BTreeMap;
use std::sync::Arc;
use touchstone_base::Span;
use touchstone_ir::{CondTag, FuncId, PointId};

/// A method's code and what of its source is where.
#[derive(Clone, Debug)]
pub struct CodeLocations {
    /// The class, by its internal name.
    pub class: Arc<str>,
    /// Which method of the class it is.
    pub method: usize,
    /// Conditional jumps that are conditions.
    pub jumps: Vec<ConditionJump>,
    /// Positions at which statements begin, and where the source has them.
    pub statements: Vec<(usize, Span)>,
    /// Switches that the source has, and where.
    switches: Vec<(usize, Span)>,
    /// Points that ask something of single instructions; known of methods that were lowered.
    pub points: Vec<(PointId, PointLocation)>,
    /// Points about values; known of methods that were lowered.
    pub values: Vec<(PointId, ValuePointLocation)>,
    /// Fields of the object that the method is called on that such points read: where memory has them, and their constants.
    pub own_fields: BTreeMap<u64, u16>,
    /// Instructions and their lines.
    lines: Vec<(usize, u32)>,
}

impl CodeLocations {
    /// The line of an instruction; 0 if nobody says.
    pub fn line(&self, at: usize) -> u32 {
        self.lines.iter().take_while(|(start, _)| *start <= at).last().map_or(0, |(_, line)| *line)
    }

    /// Whether the switch at a position is the one at a place; without source its line has to do.
    pub fn is_switch(&self, at: usize, place: Span) -> bool {
        let own = self.switches.iter().find(|(own, _)| *own == at);
        own.map_or_else(|| self.line(at) == place.line, |(_, own)| *own == place)
    }
}

/// A jump that is a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConditionJump {
    /// Position in the code.
    pub at: usize,
    /// The condition.
    pub tag: CondTag,
    /// What the condition is if the jump is taken.
    pub if_taken: bool,
}

impl Program {
    /// Where a method's decisions and statements are; `None` if the function is no method with code.
    pub fn code_locations(&self, func: FuncId) -> Option<CodeLocations> {
        let mut lowering = self.lowering.borrow_mut();
        let Some(FuncKind::Method(method)) = lowering.what(func).cloned() else { return None };
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
            points: point_locations.points,
            values: point_locations.values,
            own_fields: point_locations.own_fields,
            lines: insns.iter().map(|insn| (insn.at, code.line(insn.at))).collect(),
        })
    }
}
