//! Bodies of external functions that have a specification by cases.
//!
//! A specification is compiled with the program as small helper functions (`helper_name`): they return the case of a call
//! and its result, the constraint on its unconstrained values and the number of written bytes, and they do the writing.
//! The body that is generated here requests the result as an input, calls the helpers to find its case, performs the
//! case and records the effects for the emitted test.
//!
//! Deliberately not here: parsing of specifications, and the checks that cases are complete and disjoint (`campaign`).

use crate::clang::options::{ExternalSpec, WriteTarget, helper_name};
use crate::link::externals::{is_bytes, is_runner_function, text};
use crate::link::linked_program::LinkedProgram;
use std::collections::BTreeSet;
use touchstone_base::{IndexMap, Span};
use touchstone_ir::{
    Block, BlockId, BranchRole, Builtin, Callee, CmpOp, DataType, FuncId, Function, FunctionRole, GlobalId,
    InputSource, Inst, InstKind, Operand, Reg, RegInfo, TermKind, Terminator, Ty,
};

/// Gives external functions with a specification a body that implements it.
pub(crate) fn add_spec_bodies(program: &mut LinkedProgram, external_specs: &[ExternalSpec]) {
    for said in external_specs {
        let prefix = helper_name(&said.function, "");
        program.functions.values_mut().filter(|function| function.name.starts_with(&prefix)).for_each(|function| {
            function.role = FunctionRole::Model;
        });
        let id = program.functions.iter().find(|(_, function)| function.name == said.function).map(|(id, _)| id);
        let open = |id: &FuncId| !program.functions[*id].is_defined() && !is_runner_function(program, &said.function);
        let Some(id) = id.filter(open) else { continue };
        if let Some(blocks) = BodyBuilder::new(program, id).body(said) {
            let role = match program.system_functions.contains(&said.function) {
                true => FunctionRole::Library,
                false => FunctionRole::External,
            };
            let function = &mut program.functions[id];
            function.role = role;
            function.blocks = blocks;
        }
    }
}

struct BodyBuilder<'p> {
    program: &'p mut LinkedProgram,
    id: FuncId,
    span: Span,
    title: Reg,
    insts: Vec<Inst>,
    /// The arguments of helpers: the parameters and the result.
    args: Vec<Operand>,
}

impl<'p> BodyBuilder<'p> {
    fn new(program: &'p mut LinkedProgram, id: FuncId) -> BodyBuilder<'p> {
        let span = program.functions[id].span;
        let title = program.functions[id].regs.push(RegInfo { ty: Ty::Ptr, name: None });
        let args = program.functions[id].own_params().iter().map(|param| Operand::Reg(param.reg)).collect();
        BodyBuilder { program, id, span, title, insts: Vec::new(), args }
    }

    fn function(&mut self) -> &mut Function {
        &mut self.program.functions[self.id]
    }

    fn body(mut self, said: &ExternalSpec) -> Option<IndexMap<BlockId, Block>> {
        let name = said.function.as_str();
        let title = text(self.program, name.to_string(), self.span);
        self.add(InstKind::GlobalAddr { dst: self.title, global: title });
        let told = std::iter::once(Operand::Reg(self.title)).chain(self.args.clone()).collect();
        self.builtin(Builtin::CalledAsSpecified, told);
        let result = self.result()?;
        self.args.extend(result);
        let which = self.call(&helper_name(name, "case"), &[])?;
        let known = self.compare(CmpOp::Ne, which, 0);
        self.builtin(Builtin::Assume, vec![known]);
        let mut blocks: IndexMap<BlockId, Block> = IndexMap::new();
        let entry = blocks.push(self.block(TermKind::Return(result)));
        let end = blocks.push(self.block(TermKind::Return(result)));
        let mut last = entry;
        for (index, case) in said.cases.iter().enumerate() {
            // Without a result, a test can't tell the calls apart: every call must record its effects, even empty ones.
            let silent = result.is_none() && said.cases.iter().any(|case| !case.written.is_empty());
            if case.written.is_empty() && !case.fails && !silent {
                continue;
            }
            let is_this = self.compare(CmpOp::Eq, which, index as u64 + 1);
            blocks[last].insts.append(&mut self.insts);
            self.case(said, index)?;
            let this = self.block(TermKind::Jump(end));
            let (this, next) = (blocks.push(this), blocks.push(self.block(TermKind::Return(result))));
            let role = BranchRole::Condition;
            let kind = TermKind::Branch { cond: is_this, then_block: this, else_block: next, role, tag: None };
            blocks[last].terminator.kind = kind;
            last = next;
        }
        Some(blocks)
    }

    /// Requests the result as an input.
    fn result(&mut self) -> Option<Option<Operand>> {
        let Some(ty) = self.function().result else { return Some(None) };
        let data = self.function().result_data;
        let types = &self.program.types.data;
        let is_truth = matches!(types[data], DataType::Bool { .. });
        let fits = match &types[data] {
            DataType::Pointer { .. } => ty == Ty::Ptr,
            known => ty != Ty::Ptr && is_bytes(types, data) && u64::from(ty.bytes()) == known.size(types),
        };
        if !fits {
            return None;
        }
        let value = self.fresh(InputSource::External, ty, self.title);
        if is_truth {
            let truth = self.reg(Ty::I1);
            self.add(InstKind::Cmp { dst: truth, op: CmpOp::Ule, a: value, b: Operand::Const(ty, 1) });
            self.builtin(Builtin::Assume, vec![Operand::Reg(truth)]);
        }
        Some(Some(value))
    }

    /// Emits the choices, the writes and the records of a case.
    fn case(&mut self, said: &ExternalSpec, index: usize) -> Option<()> {
        let (name, case, number) = (said.function.as_str(), &said.cases[index], index + 1);
        let mut chosen = Vec::new();
        if case.chosen > 0 {
            let within = helper_name(name, &format!("within_{number}"));
            let known = self.named(&within)?;
            let params = self.program.functions[known].own_params();
            let types: Vec<Ty> = params[params.len() - case.chosen..]
                .iter()
                .map(|param| self.program.functions[known].regs[param.reg].ty)
                .collect();
            for (at, ty) in types.into_iter().enumerate() {
                let title = self.title_of(format!("{name}.choice{}", at + 1));
                chosen.push(self.fresh(InputSource::Chosen, ty, title));
            }
            let fine = self.call(&within, &chosen)?;
            let fine = self.compare(CmpOp::Ne, fine, 0);
            self.builtin(Builtin::Assume, vec![fine]);
        }
        // Sizes are evaluated before any write: specifications refer to the state before the call.
        let mut sizes = Vec::new();
        for place in &case.written {
            sizes.push(match place {
                WriteTarget::Global(_) => None,
                WriteTarget::Object(param) | WriteTarget::Anything(param) => {
                    Some(self.call(&helper_name(name, &format!("size_{number}_{}", param + 1)), &[])?)
                }
            });
        }
        let writing = helper_name(name, &format!("write_{number}"));
        if self.named(&writing).is_some() {
            self.call(&writing, &chosen);
        }
        let written = |place: &WriteTarget| match place {
            WriteTarget::Object(param) | WriteTarget::Anything(param) => Some(*param),
            WriteTarget::Global(_) => None,
        };
        let globals: BTreeSet<&String> = said
            .cases
            .iter()
            .flat_map(|case| &case.written)
            .filter_map(|place| match place {
                WriteTarget::Global(global) => Some(global),
                WriteTarget::Object(_) | WriteTarget::Anything(_) => None,
            })
            .collect();
        for global in globals {
            let mine = case.written.contains(&WriteTarget::Global(global.clone()));
            if mine || self.function().result.is_none() {
                self.tell_global(name, global)?;
            }
        }
        let params = self.function().own_params().len();
        for param in 0..params {
            let mine = case.written.iter().zip(&sizes).find(|(place, _)| written(place) == Some(param));
            let others = || said.cases.iter().flat_map(|case| &case.written).any(|place| written(place) == Some(param));
            let (builtin, size) = match mine {
                Some((WriteTarget::Anything(_), Some(size))) => (Builtin::HavocPointee, *size),
                Some((_, Some(size))) => (Builtin::RecordEffect(InputSource::Written), *size),
                _ if self.function().result.is_none() && others() => {
                    (Builtin::RecordEffect(InputSource::Written), Operand::Const(Ty::I64, 0))
                }
                _ => continue,
            };
            let title = self.title_of(format!("{name}.{}", self.param_name(param)));
            self.builtin(builtin, vec![Operand::Reg(title), self.args[param], size]);
        }
        if case.fails {
            let title = self.title_of(format!("{name}.!"));
            let mark = self.title_of("\u{1}".to_string());
            let told = vec![Operand::Reg(title), Operand::Reg(mark), Operand::Const(Ty::I64, 1)];
            self.builtin(Builtin::RecordEffect(InputSource::Written), told);
            self.builtin(Builtin::Abort, Vec::new());
        }
        Some(())
    }

    fn tell_global(&mut self, function: &str, name: &str) -> Option<()> {
        let known = |(_, global): &(GlobalId, &touchstone_ir::Global)| {
            global.name == name || global.display_name.as_deref() == Some(name)
        };
        let (id, global) = self.program.globals.iter().find(known)?;
        let size = Operand::Const(Ty::I64, global.size);
        let title = self.title_of(format!("{function}.{name}"));
        let place = self.reg(Ty::Ptr);
        self.add(InstKind::GlobalAddr { dst: place, global: id });
        self.builtin(Builtin::RecordEffect(InputSource::Changed), vec![Operand::Reg(title), Operand::Reg(place), size]);
        Some(())
    }

    fn param_name(&self, index: usize) -> String {
        let param = &self.program.functions[self.id].own_params()[index];
        if param.name.is_empty() { format!("a{}", index + 1) } else { param.name.clone() }
    }

    fn named(&self, name: &str) -> Option<FuncId> {
        self.program.functions.iter().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }

    fn call(&mut self, name: &str, more: &[Operand]) -> Option<Operand> {
        let id = self.named(name)?;
        let dst = self.program.functions[id].result.map(|ty| self.reg(ty));
        let args = self.args.iter().chain(more).copied().collect();
        self.add(InstKind::Call { dst, callee: Callee::Direct(id), args });
        Some(dst.map_or(Operand::Const(Ty::I32, 0), Operand::Reg))
    }

    fn compare(&mut self, op: CmpOp, a: Operand, number: u64) -> Operand {
        let dst = self.reg(Ty::I1);
        self.add(InstKind::Cmp { dst, op, a, b: Operand::Const(Ty::I32, number) });
        Operand::Reg(dst)
    }

    fn fresh(&mut self, source: InputSource, ty: Ty, title: Reg) -> Operand {
        let dst = self.reg(ty);
        let args = vec![Operand::Reg(title)];
        self.add(InstKind::Builtin { dst: Some(dst), builtin: Builtin::FreshInt(source), args });
        Operand::Reg(dst)
    }

    fn title_of(&mut self, title: String) -> Reg {
        let global = text(self.program, title, self.span);
        let dst = self.reg(Ty::Ptr);
        self.add(InstKind::GlobalAddr { dst, global });
        dst
    }

    fn reg(&mut self, ty: Ty) -> Reg {
        self.function().regs.push(RegInfo { ty, name: None })
    }

    fn builtin(&mut self, builtin: Builtin, args: Vec<Operand>) {
        self.add(InstKind::Builtin { dst: None, builtin, args });
    }

    fn add(&mut self, kind: InstKind) {
        self.insts.push(Inst { kind, span: self.span });
    }

    /// Returns a block of the instructions that were added since the previous one.
    fn block(&mut self, kind: TermKind) -> Block {
        Block { insts: std::mem::take(&mut self.insts), terminator: Terminator { kind, span: self.span } }
    }
}
