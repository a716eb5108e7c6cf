//! The printer of the text form.

use super::lex::is_name_byte;
use super::points::signed_by_default;
use super::words::{ExprOp, Word};
use crate::{
    ArmName, Block, BoolTree, BranchRole, ByteWrites, Callee, DataType, Decision, Expr, ExprKind, Field, FuncId,
    Function, Global, GlobalId, Init, Inst, InstKind, Module, Operand, Point, PointKind, Pointee, Reg, RegInfo,
    StructKind, SwitchArm, TermKind, Ty, mask, sign_extend,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use touchstone_base::Span;

/// The text form of a module.
pub fn print(module: &Module) -> String {
    let mut printer = Printer { out: String::new(), module, functions: Names::new(), globals: Names::new() };
    for (id, function) in module.functions.iter() {
        printer.functions.entry(&function.name).or_default().push(id);
    }
    for (id, global) in module.globals.iter() {
        printer.globals.entry(&global.name).or_default().push(id);
    }
    printer.module();
    printer.out
}

type Names<'m, I> = BTreeMap<&'m str, Vec<I>>;

struct Printer<'m> {
    out: String,
    module: &'m Module,
    functions: Names<'m, FuncId>,
    globals: Names<'m, GlobalId>,
}

/// Appends formatted text; writing to a string cannot fail.
macro_rules! put {
    ($printer:expr, $($arg:tt)*) => {
        write!($printer.out, $($arg)*).expect("invariant: a string takes any text")
    };
}

impl<'m> Printer<'m> {
    fn module(&mut self) {
        for (id, path) in self.module.files.iter() {
            put!(self, "file {id} {}\n", quoted(path.as_bytes()));
        }
        for (id, data) in self.module.types.iter() {
            put!(self, "type {id} = ");
            self.data_type(data);
            self.out.push('\n');
        }
        if let Some(entry) = &self.module.entry {
            put!(self, "entry {}\n", at_name(entry));
        }
        if self.module.memory.byte_writes != ByteWrites::default() {
            put!(self, "memory byte_writes {}\n", self.module.memory.byte_writes.word());
        }
        for (id, Pointee { element, stands, same, part, shares }) in self.module.memory.rows() {
            put!(self, "memory {id} = {} {element} same {same} part {part} shares {}\n", stands.word(), shares.word());
        }
        if let Some(thrown) = self.module.thrown {
            put!(self, "thrown {thrown}\n");
        }
        for start in &self.module.startup {
            put!(self, "start {}\n", self.function_ref(*start));
        }
        for global in self.module.globals.values() {
            self.global(global);
        }
        for function in self.module.functions.values() {
            if !self.out.is_empty() {
                self.out.push('\n');
            }
            self.function(function);
        }
    }

    fn data_type(&mut self, data: &DataType) {
        match data {
            DataType::Void => put!(self, "void"),
            DataType::Int { name, bits, signed, kind } => {
                put!(self, "int {} {bits} {}", quoted(name.as_bytes()), signedness(*signed));
                self.unless_usual(*kind);
            }
            DataType::Float { name, format } => put!(self, "float {} {}", quoted(name.as_bytes()), format.word()),
            DataType::Bool { name } => put!(self, "bool {}", quoted(name.as_bytes())),
            DataType::Enum { name, bits, signed, items } => {
                put!(self, "enum {} {bits} {} {{", quoted(name.as_bytes()), signedness(*signed));
                for (index, item) in items.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    put!(self, "{comma} {} = {}", quoted(item.name.as_bytes()), item.value);
                }
                put!(self, " }}");
            }
            DataType::Bits { first, width, signed } => {
                put!(self, "bits {first} width {width} {}", signedness(*signed));
            }
            DataType::Pointer { pointee, to_const } => {
                put!(self, "pointer {}{pointee}", if *to_const { "const " } else { "" });
            }
            DataType::Array { element, length } => put!(self, "array {element} length {length}"),
            DataType::Struct { name, fields, size, align, kind } => {
                put!(self, "struct {} size {size} align {align}", quoted(name.as_bytes()));
                match kind {
                    StructKind::Record => {}
                    StructKind::Halves => put!(self, " halves"),
                    StructKind::Open => put!(self, " open"),
                    StructKind::Counted { by } => put!(self, " counted {by}"),
                }
                self.fields(fields);
            }
            DataType::Union { name, members, size, align } => {
                put!(self, "union {} size {size} align {align}", quoted(name.as_bytes()));
                self.fields(members);
            }
            DataType::OneOf { name, tag, variants } => {
                put!(self, "one_of {} tag {} {} {{", quoted(name.as_bytes()), tag.offset, tag.bits);
                for (index, variant) in variants.iter().enumerate() {
                    put!(self, "{} {}: {}", if index == 0 { "" } else { "," }, variant.tag, variant.ty);
                }
                put!(self, " }}");
            }
            DataType::Opaque { name, size, align } => {
                put!(self, "opaque {} size {size} align {align}", quoted(name.as_bytes()));
            }
        }
    }

    fn fields(&mut self, fields: &[Field]) {
        put!(self, " {{");
        for (index, field) in fields.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            put!(self, "{comma} {}: {} at {}", quoted(field.name.as_bytes()), field.ty, field.offset);
        }
        put!(self, " }}");
    }

    fn global(&mut self, global: &Global) {
        let Global { name, span, data, size, constant, linkage, role, display_name, function, init } = global;
        put!(self, "global {}: {data} size {size} {}", at_name(name), linkage.word());
        put!(self, "{}", if *constant { " constant" } else { "" });
        self.unless_usual(*role);
        if let Some(function) = function {
            put!(self, " of {}", self.function_ref(*function));
        }
        if let Some(display_name) = display_name {
            put!(self, " as {}", quoted(display_name.as_bytes()));
        }
        self.span(*span);
        if let Some(init) = init {
            put!(self, " = {{");
            for (index, piece) in init.iter().enumerate() {
                put!(self, "{}", if index == 0 { " " } else { ", " });
                match piece {
                    Init::Bytes { offset, bytes } => put!(self, "{offset}: {}", quoted(bytes)),
                    Init::GlobalAddr { offset, global, addend } => {
                        put!(self, "{offset}: {}", self.global_ref(*global));
                        match addend {
                            0 => {}
                            ..0 => put!(self, " - {}", addend.unsigned_abs()),
                            _ => put!(self, " + {addend}"),
                        }
                    }
                }
            }
            put!(self, " }}");
        }
        self.out.push('\n');
    }

    /// A word that is only written where it is not the usual one.
    fn unless_usual<W: Word + Default + PartialEq>(&mut self, value: W) {
        if value != W::default() {
            put!(self, " {}", value.word());
        }
    }

    fn global_ref(&self, id: GlobalId) -> String {
        let name = self.module.globals.get(id).map(|global| global.name.as_str());
        match name {
            Some(name) if self.globals.get(name).is_some_and(|same| same.len() == 1) => at_name(name),
            _ => id.to_string(),
        }
    }

    fn function_ref(&self, id: FuncId) -> String {
        let name = self.module.functions.get(id).map(|function| function.name.as_str());
        match name {
            Some(name) if self.functions.get(name).is_some_and(|same| same.len() == 1) => at_name(name),
            _ => id.to_string(),
        }
    }

    fn span(&mut self, span: Span) {
        let Span { file, line, column, end_line, end_column } = span;
        if span != Span::none() {
            put!(self, " @{file}:{line}:{column}");
            if (end_line, end_column) != (line, column) {
                put!(self, "-{end_line}:{end_column}");
            }
        }
    }

    fn function(&mut self, function: &Function) {
        put!(self, "func {}(", at_name(&function.name));
        for (index, param) in function.params.iter().enumerate() {
            let ty = function.regs.get(param.reg).map_or(Ty::I32, |info| info.ty);
            let comma = if index == 0 { "" } else { ", " };
            let name =
                if param.name.is_empty() { String::new() } else { format!(" {}", quoted(param.name.as_bytes())) };
            let aggregate = if param.aggregate { " aggregate" } else { "" };
            put!(self, "{comma}{}{name}: {ty} {}{aggregate}", param.reg, param.data);
        }
        match function.result {
            Some(ty) => put!(self, ") -> {ty} {}", function.result_data),
            None => put!(self, ") -> void {}", function.result_data),
        }
        put!(self, "{}", if function.internal { " internal" } else { "" });
        self.unless_usual(function.role);
        put!(self, "{}", if function.aggregate_result { " aggregate_result" } else { "" });
        put!(self, "{}", if function.variadic { " variadic" } else { "" });
        for what in &function.left_open {
            put!(self, " left_open {}", quoted(what.as_bytes()));
        }
        self.span(function.span);
        let declared = registers_to_declare(function);
        let tables = [function.slots.is_empty(), function.decisions.is_empty(), function.points.is_empty()];
        if !declared.is_empty() || tables.contains(&false) || function.is_defined() {
            put!(self, " {{\n");
            self.function_body(function, &declared);
            put!(self, "}}");
        }
        self.out.push('\n');
    }

    fn function_body(&mut self, function: &Function, declared: &[Reg]) {
        for &reg in declared {
            let RegInfo { ty, name } = &function.regs[reg];
            put!(self, "  reg {reg}{}: {ty}\n", optional_name(name));
        }
        for (id, slot) in function.slots.iter() {
            put!(self, "  slot {id}{}: {} size {}\n", optional_name(&slot.name), slot.data, slot.size);
        }
        for (id, decision) in function.decisions.iter() {
            put!(self, "  decision {id} ");
            self.decision(decision);
        }
        for (id, point) in function.points.iter() {
            put!(self, "  point {id} ");
            self.point(point);
        }
        for (id, block) in function.blocks.iter() {
            put!(self, "{id}:\n");
            self.block(function, block);
        }
    }

    fn decision(&mut self, decision: &Decision) {
        put!(self, "{} {}", decision.kind.word(), quoted(decision.text.as_bytes()));
        self.span(decision.span);
        put!(self, " = ");
        self.tree(&decision.tree);
        put!(self, " {{\n");
        for (id, condition) in decision.conditions.iter() {
            put!(self, "    {id} {}", quoted(condition.text.as_bytes()));
            self.span(condition.span);
            self.out.push('\n');
        }
        put!(self, "  }}\n");
    }

    fn tree(&mut self, tree: &BoolTree) {
        let (word, parts): (&str, Vec<&BoolTree>) = match tree {
            BoolTree::Cond(condition) => return put!(self, "{condition}"),
            BoolTree::Const(value) => return put!(self, "{value}"),
            BoolTree::Not(a) => ("not", vec![a]),
            BoolTree::And(a, b) => ("and", vec![a, b]),
            BoolTree::Or(a, b) => ("or", vec![a, b]),
            BoolTree::Xor(a, b) => ("xor", vec![a, b]),
            BoolTree::Iff(a, b) => ("iff", vec![a, b]),
            BoolTree::Ite(a, b, c) => ("ite", vec![a, b, c]),
        };
        put!(self, "{word}(");
        for (index, part) in parts.into_iter().enumerate() {
            put!(self, "{}", if index == 0 { "" } else { ", " });
            self.tree(part);
        }
        self.out.push(')');
    }

    fn point(&mut self, point: &Point) {
        match &point.kind {
            PointKind::Statement => put!(self, "statement"),
            PointKind::TooDeep => put!(self, "deep"),
            PointKind::Value(value) => {
                put!(self, "value ");
                self.expr(value);
            }
            PointKind::Decision(value) => {
                put!(self, "decision ");
                self.expr(value);
            }
            PointKind::Hazard(predicate) => {
                put!(self, "hazard ");
                self.expr(predicate);
            }
            PointKind::Store { address, value } => {
                put!(self, "store ");
                self.expr(address);
                self.out.push(' ');
                self.expr(value);
            }
            PointKind::Condition { tag, value } => {
                put!(self, "condition {}.{} ", tag.decision, tag.condition);
                self.expr(value);
            }
            PointKind::Label { name, predicate } => {
                put!(self, "label {} ", quoted(name.as_bytes()));
                self.expr(predicate);
            }
        }
        put!(self, " {}", quoted(point.text.as_bytes()));
        if let Some(variables) = &point.variables {
            put!(self, " among");
            for variable in variables.iter() {
                self.out.push(' ');
                self.expr(variable);
            }
        }
        self.span(point.span);
        self.out.push('\n');
    }

    fn expr(&mut self, expr: &Expr) {
        let Expr { kind, ty, signed, text } = expr;
        self.out.push('(');
        if let Some(op) = ExprOp::of(kind) {
            put!(self, "{} ", op.word());
        }
        put!(self, "{ty}");
        if *signed != signed_by_default(*ty) {
            put!(self, " {}", signedness(*signed));
        }
        match kind {
            ExprKind::Const(value) => put!(self, " {}", constant(*value, ty.bits())),
            ExprKind::Reg(reg) => put!(self, " {reg}"),
            ExprKind::Slot(slot) => put!(self, " {slot}"),
            ExprKind::Global(global) => put!(self, " {}", self.global_ref(*global)),
            _ => {}
        }
        for part in expr.parts() {
            self.out.push(' ');
            self.expr(part);
        }
        if !text.is_empty() {
            put!(self, " {}", quoted(text.as_bytes()));
        }
        self.out.push(')');
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for inst in &block.insts {
            put!(self, "  ");
            self.inst(function, inst);
            self.span(inst.span);
            self.out.push('\n');
        }
        put!(self, "  ");
        self.terminator(function, &block.terminator.kind);
        self.span(block.terminator.span);
        self.out.push('\n');
    }

    fn inst(&mut self, function: &Function, inst: &Inst) {
        let ty_of = |reg: Reg| function.regs.get(reg).map(|info| info.ty);
        let of = |operand: Operand| operand_ty(function, operand);
        if let Some(dst) = inst.kind.dst() {
            match ty_of(dst) {
                Some(ty) => put!(self, "{dst}: {ty} = "),
                None => put!(self, "{dst} = "),
            }
        }
        match &inst.kind {
            InstKind::Copy { dst, src } => put!(self, "copy {}", operand(*src, ty_of(*dst))),
            InstKind::Bin { dst, op, a, b } => {
                let ty = ty_of(*dst);
                put!(self, "{} {}, {}", op.word(), operand(*a, ty), operand(*b, ty));
            }
            InstKind::Cmp { op, a, b, .. } => {
                let left = if matches!(b, Operand::Reg(_)) { of(*b) } else { None };
                put!(self, "cmp {} {}, {}", op.word(), operand(*a, left), operand(*b, of(*a)));
            }
            InstKind::Cast { op, src, .. } => put!(self, "{} {}", op.word(), operand(*src, None)),
            InstKind::Float { op, format, args, .. } => {
                let ty = Some(Ty::Int(op.argument_bits(*format)));
                let args: Vec<String> = args.iter().map(|&arg| operand(arg, ty)).collect();
                put!(self, "float {} {} {}", format.word(), op.word(), args.join(", "));
            }
            InstKind::SlotAddr { slot, .. } => put!(self, "slot_addr {slot}"),
            InstKind::GlobalAddr { global, .. } => put!(self, "global_addr {}", self.global_ref(*global)),
            InstKind::PtrAdd { base, offset, .. } => {
                put!(self, "ptr_add {}, {}", operand(*base, Some(Ty::Ptr)), operand(*offset, Some(Ty::I64)));
            }
            InstKind::PtrDiff { a, b, .. } => {
                put!(self, "ptr_diff {}, {}", operand(*a, Some(Ty::Ptr)), operand(*b, Some(Ty::Ptr)));
            }
            InstKind::Load { addr, .. } => put!(self, "load {}", operand(*addr, Some(Ty::Ptr))),
            InstKind::Store { addr, value } => {
                put!(self, "store {}, {}", operand(*addr, Some(Ty::Ptr)), operand(*value, None));
            }
            InstKind::MemCopy { dst, src, size } => {
                let (dst, src) = (operand(*dst, Some(Ty::Ptr)), operand(*src, Some(Ty::Ptr)));
                put!(self, "mem_copy {dst}, {src}, {}", operand(*size, Some(Ty::I64)));
            }
            InstKind::MemSet { dst, value, size } => {
                let (dst, value) = (operand(*dst, Some(Ty::Ptr)), operand(*value, Some(Ty::I8)));
                put!(self, "mem_set {dst}, {value}, {}", operand(*size, Some(Ty::I64)));
            }
            InstKind::SlotBegin { slot } => put!(self, "slot_begin {slot}"),
            InstKind::SlotEnd { slot } => put!(self, "slot_end {slot}"),
            InstKind::Point { point } => put!(self, "point {point}"),
            InstKind::Call { callee: Callee::Direct(callee), args, .. } => {
                put!(self, "call {}({})", self.function_ref(*callee), operands(args));
            }
            InstKind::Call { callee: Callee::Indirect(callee), args, .. } => {
                put!(self, "call_indirect {}({})", operand(*callee, Some(Ty::Ptr)), operands(args));
            }
            InstKind::Builtin { builtin, args, .. } => put!(self, "builtin {}({})", builtin.word(), operands(args)),
        }
    }

    fn terminator(&mut self, function: &Function, kind: &TermKind) {
        match kind {
            TermKind::Jump(target) => put!(self, "jump {target}"),
            TermKind::Branch { cond, then_block, else_block, role, tag } => {
                let (role, cond) = (role_prefix(*role), operand(*cond, Some(Ty::I1)));
                put!(self, "branch {role}{cond}, {then_block}, {else_block}");
                if let Some(tag) = tag {
                    put!(self, " [{}.{}]", tag.decision, tag.condition);
                }
            }
            TermKind::Switch { value, arms, default, role, names } => {
                let bits = operand_ty(function, *value).map(Ty::bits);
                put!(self, "switch {}{} {{ ", role_prefix(*role), operand(*value, None));
                for arm in arms {
                    put!(self, "{}, ", switch_arm(arm, bits));
                }
                put!(self, "else => {default} }}");
                for ArmName { target, name } in names {
                    put!(self, " named {target} {}", quoted(name.as_bytes()));
                }
            }
            TermKind::Return(Some(value)) => put!(self, "return {}", operand(*value, function.result)),
            TermKind::Return(None) => put!(self, "return"),
            TermKind::Throw(value) => put!(self, "throw {}", operand(*value, Some(Ty::Ptr))),
            TermKind::Catch { thrown, handler, next } => {
                let ty = function.regs.get(*thrown).map_or(String::new(), |info| format!(": {}", info.ty));
                put!(self, "catch {thrown}{ty} => {handler}, else => {next}");
            }
            TermKind::Unsupported(what) => put!(self, "unsupported {}", quoted(what.as_bytes())),
            TermKind::Unreachable => put!(self, "unreachable"),
        }
    }
}

/// Registers that neither a parameter nor a definition declares as they are.
fn registers_to_declare(function: &Function) -> Vec<Reg> {
    let mut by_params: BTreeMap<Reg, Option<&str>> = BTreeMap::new();
    for param in &function.params {
        let name = if param.name.is_empty() { None } else { Some(param.name.as_str()) };
        by_params.insert(param.reg, name);
    }
    let dsts = |block: &Block| -> Vec<Reg> {
        block.insts.iter().filter_map(|inst| inst.kind.dst()).chain(block.terminator.kind.dst()).collect()
    };
    let defined: BTreeSet<Reg> = function.blocks.values().flat_map(dsts).collect();
    let needs_line = |(reg, info): &(Reg, &RegInfo)| match by_params.get(reg) {
        Some(name) => *name != info.name.as_deref(),
        None => info.name.is_some() || !defined.contains(reg),
    };
    function.regs.iter().filter(needs_line).map(|(reg, _)| reg).collect()
}

fn operand_ty(function: &Function, operand: Operand) -> Option<Ty> {
    match operand {
        Operand::Reg(reg) => function.regs.get(reg).map(|info| info.ty),
        Operand::Const(ty, _) => Some(ty),
    }
}

/// An operand; a constant of the `expected` type is bare.
fn operand(operand: Operand, expected: Option<Ty>) -> String {
    match operand {
        Operand::Reg(reg) => reg.to_string(),
        Operand::Const(Ty::Ptr, 0) => "null".to_string(),
        Operand::Const(ty, value) if expected == Some(ty) => constant(value, ty.bits()),
        Operand::Const(ty, value) => format!("{ty} {}", constant(value, ty.bits())),
    }
}

fn operands(list: &[Operand]) -> String {
    list.iter().map(|&item| operand(item, None)).collect::<Vec<_>>().join(", ")
}

/// A constant, signed where that is the shorter reading.
fn constant(value: u64, bits: u8) -> String {
    if (2..=64).contains(&bits) && mask(value, bits) == value {
        sign_extend(value, bits).to_string()
    } else {
        value.to_string()
    }
}

/// The role of a branch, which is not written if it is the usual one.
fn role_prefix(role: BranchRole) -> String {
    match role {
        BranchRole::Condition => String::new(),
        other => format!("{} ", other.word()),
    }
}

fn switch_arm(arm: &SwitchArm, bits: Option<u8>) -> String {
    let show = |value: u64| match bits {
        Some(bits) if arm.signed => constant(value, bits),
        _ => value.to_string(),
    };
    let unsigned = if arm.signed { "" } else { "unsigned " };
    let range = if arm.low == arm.high { show(arm.low) } else { format!("{}..{}", show(arm.low), show(arm.high)) };
    format!("{unsigned}{range} => {}", arm.target)
}

fn signedness(signed: bool) -> &'static str {
    if signed { "signed" } else { "unsigned" }
}

fn optional_name(name: &Option<String>) -> String {
    name.as_ref().map_or(String::new(), |name| format!(" {}", quoted(name.as_bytes())))
}

/// `@name`, quoted where it does not look like one.
fn at_name(name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(is_name_byte);
    if plain { format!("@{name}") } else { format!("@{}", quoted(name.as_bytes())) }
}

/// A quoted text. What is valid UTF-8 stays readable, except for control characters.
fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\0' => out.push_str("\\0"),
                character if (character as u32) < 0x20 || character as u32 == 0x7f => {
                    out.push_str(&format!("\\x{:02x}", character as u32));
                }
                character => out.push(character),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out.push('"');
    out
}
