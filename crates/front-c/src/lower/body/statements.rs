//! Statements and local declarations.

use crate::clang::ast_enums::Storage;
use crate::clang::ast_queries::initialiser;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::link::models;
use crate::lower::context::attributes::has_cleanup;
use crate::lower::context::func::{Local, Lowerer};
use crate::lower::context::lifetimes::ScopedObject;
use crate::lower::context::lvalue::Location;
use crate::lower::numbers::int128::Wide;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{
    BinOp, BlockId, BranchRole, CmpOp, DecisionKind, InstKind, Operand, SwitchArm, TermKind, Ty, mask, sign_extend,
};

impl Lowerer<'_, '_> {
    /// Lowers a statement with its program point.
    pub fn statement(&mut self, node: &AstNode) {
        self.mark_statement(node);
        let outside = self.point_table.hidden;
        let container =
            matches!(node.kind, K::CompoundStmt | K::CaseStmt | K::DefaultStmt | K::LabelStmt | K::AttributedStmt);
        self.point_table.hidden |= !container && self.unit.is_made_by_system(&node.begin);
        self.unmarked_statement(node);
        self.point_table.hidden = outside;
    }
    fn unmarked_statement(&mut self, node: &AstNode) {
        let span = self.unit.span(node);
        match &node.kind {
            K::CompoundStmt => {
                self.unit.push_scope();
                let (mark, around) = (self.lifetimes.mark(), self.lifetimes.enter());
                node.inner.iter().for_each(|inner| self.statement(inner));
                self.end_lifetimes(mark, span);
                self.lifetimes.leave(around);
                self.unit.pop_scope();
            }
            K::DeclStmt => node.inner.iter().for_each(|inner| self.declare(inner)),
            K::NullStmt | K::Absent => {}
            K::IfStmt => self.if_statement(node, span),
            K::WhileStmt => self.while_statement(node, span),
            K::DoStmt => self.do_statement(node, span),
            K::ForStmt => self.for_statement(node, span),
            K::SwitchStmt => self.switch_statement(node, span),
            K::CaseStmt | K::DefaultStmt => {
                match self.cases.get(&node.id).copied() {
                    Some(block) => self.enter(block, span),
                    None => self.unsupported(Construct::CaseOutsideSwitch, node),
                }
                node.inner.last().into_iter().for_each(|inner| self.statement(inner));
            }
            K::LabelStmt => {
                match self.labels.get(&node.link).copied() {
                    Some(block) => self.start_label(block, span),
                    None => self.unsupported(Construct::Label, node),
                }
                node.inner.last().into_iter().for_each(|inner| self.statement(inner));
            }
            K::GotoStmt => match self.labels.get(&node.link).copied() {
                Some(block) => self.stop(TermKind::Jump(block), span),
                None => self.unsupported(Construct::UnknownLabel, node),
            },
            K::BreakStmt => match self.breaks.last().copied() {
                Some(block) => self.stop(TermKind::Jump(block), span),
                None => self.unsupported(Construct::Break, node),
            },
            K::ContinueStmt => match self.continues.last().copied() {
                Some(block) => self.stop(TermKind::Jump(block), span),
                None => self.unsupported(Construct::Continue, node),
            },
            K::ReturnStmt => self.return_statement(node, span),
            K::AttributedStmt => node.inner.last().into_iter().for_each(|inner| self.statement(inner)),
            K::IndirectGotoStmt => self.computed_goto(node, span),
            K::GCCAsmStmt => self.assembly(node, span),
            K::MSAsmStmt => {
                self.unit.note_assembly();
                self.unsupported(Construct::InlineAssembly, node);
            }
            _ if node.kind.is_expression() => self.effect(node),
            kind => {
                self.unsupported(Construct::Node(kind.clone()), node);
            }
        }
    }

    /// Lowers `goto *address` as a switch over the numbers of the labels.
    fn computed_goto(&mut self, node: &AstNode, span: Span) {
        // Labels have numbers instead of addresses, which only this function knows.
        let address = node.inner.first().filter(|address| self.holds_own_labels(address));
        let Some(address) = address else { return self.unsupported(Construct::ComputedGoto, node) };
        let address = self.rvalue(address);
        let value = self.resize(address, Ty::I64, false, span);
        let number = |label: &u64| self.unit.label_numbers.get(label).copied();
        let mut arms: Vec<SwitchArm> = self
            .labels
            .iter()
            .filter_map(|(label, &target)| number(label).map(|low| SwitchArm { low, high: low, signed: false, target }))
            .collect();
        arms.sort_by_key(|arm| arm.low);
        let default = self.new_block();
        self.stop(TermKind::Switch { value, arms, default, role: BranchRole::Condition, names: Vec::new() }, span);
        self.start(default);
        self.stop(TermKind::Unreachable, span);
    }

    /// Returns true if a jump's address comes from variables of this function, and from no parameter or global, which
    /// tests would have to set.
    fn holds_own_labels(&self, node: &AstNode) -> bool {
        match &node.kind {
            K::DeclRefExpr => {
                node.decl.as_ref().is_some_and(|decl| decl.kind == K::VarDecl && self.locals.contains_key(&decl.id))
            }
            K::AddrLabelExpr => true,
            // The index chooses among the labels of a table.
            K::ArraySubscriptExpr => node.inner.first().is_some_and(|base| self.holds_own_labels(base)),
            K::CallExpr => false,
            _ => {
                let mut operands = node.inner.iter().filter(|inner| inner.kind.is_expression()).peekable();
                let has_operands = operands.peek().is_some();
                has_operands
                    && operands.filter(|inner| !self.is_number(inner)).all(|inner| self.holds_own_labels(inner))
            }
        }
    }

    /// Returns true for an operand of integer type, such as an offset between labels.
    fn is_number(&self, node: &AstNode) -> bool {
        matches!(self.unit.type_of(node).kind, TypeKind::Int { .. } | TypeKind::Enum(_) | TypeKind::Bool)
    }

    /// Falls through to a labelled block, unless a preceding label already did.
    fn enter(&mut self, block: BlockId, span: Span) {
        if self.here() != block {
            self.flow_into(block, span);
        }
    }

    fn if_statement(&mut self, node: &AstNode, span: Span) {
        let (Some(condition), Some(yes)) = (node.child(0), node.child(1)) else {
            return self.unsupported(Construct::If, node);
        };
        let no = if node.has_else { node.child(2) } else { None };
        let (then_block, join) = (self.new_block(), self.new_block());
        let else_block = if no.is_some() { self.new_block() } else { join };
        self.decide(condition, DecisionKind::If, then_block, else_block);
        self.start(then_block);
        self.statement(yes);
        self.terminate(TermKind::Jump(join), span);
        if let Some(no) = no {
            self.start(else_block);
            self.statement(no);
            self.terminate(TermKind::Jump(join), span);
        }
        self.start(join);
    }

    fn while_statement(&mut self, node: &AstNode, span: Span) {
        let [condition, body] = node.inner.as_slice() else { return self.unsupported(Construct::While, node) };
        let (test, inside, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.flow_into(test, span);
        self.controlling(|this| this.decide(condition, DecisionKind::While, inside, exit));
        self.start(inside);
        self.body(body, exit, test);
        self.terminate(TermKind::Jump(test), span);
        self.start(exit);
    }
    fn do_statement(&mut self, node: &AstNode, span: Span) {
        let [body, condition] = node.inner.as_slice() else { return self.unsupported(Construct::Do, node) };
        let (inside, test, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.flow_into(inside, span);
        self.body(body, exit, test);
        self.flow_into(test, span);
        self.controlling(|this| this.decide(condition, DecisionKind::DoWhile, inside, exit));
        self.start(exit);
    }
    fn for_statement(&mut self, node: &AstNode, span: Span) {
        let Some(body) = node.child(4) else { return self.unsupported(Construct::For, node) };
        let (test, inside, step, exit) = (self.new_block(), self.new_block(), self.new_block(), self.new_block());
        self.unit.push_scope();
        let mark = self.lifetimes.mark();
        if let Some(first) = node.child(0) {
            // A part of the loop and no statement of its own.
            self.unmarked_statement(first);
        }
        self.flow_into(test, span);
        match node.child(2) {
            Some(condition) => self.controlling(|this| this.decide(condition, DecisionKind::For, inside, exit)),
            None => self.terminate(TermKind::Jump(inside), span),
        }
        self.start(inside);
        self.body(body, exit, step);
        self.flow_into(step, span);
        if let Some(next) = node.child(3) {
            self.controlling(|this| this.effect(next));
        }
        self.terminate(TermKind::Jump(test), span);
        self.lifetimes.reset(mark);
        self.unit.pop_scope();
        self.start(exit);
    }
    fn body(&mut self, body: &AstNode, exit: BlockId, next: BlockId) {
        self.breaks.push(exit);
        self.continues.push(next);
        // The body is a block even without braces.
        let around = self.lifetimes.enter();
        self.statement(body);
        self.lifetimes.leave(around);
        self.continues.pop();
        self.breaks.pop();
    }

    fn switch_statement(&mut self, node: &AstNode, span: Span) {
        let [value, body] = node.inner.as_slice() else { return self.unsupported(Construct::Switch, node) };
        let ty = self.unit.type_of(value);
        let signed = self.unit.program.types.is_signed(&ty);
        let scalar = if ty.is_two_words() { Ty::I64 } else { self.unit.program.types.scalar(&ty) };
        let bits = scalar.bits();
        self.mark_value(value);
        let wide = ty.wide().map(|_| self.wide(value));
        let narrow = match wide {
            Some(_) => Operand::Const(scalar, 0),
            None => self.rvalue(value),
        };
        let exit = self.new_block();
        let mut arms = Vec::new();
        let mut default = None;
        self.collect_cases(body, None, (bits, signed), &mut arms, &mut default);
        if signed {
            arms.sort_by_key(|arm| sign_extend(arm.low, bits));
        } else {
            arms.sort_by_key(|arm| arm.low);
        }
        let operand = match wide {
            Some(wide) => self.without_high_half(wide, signed, &arms, node),
            None => narrow,
        };
        self.stop(
            TermKind::Switch {
                value: operand,
                arms,
                default: default.unwrap_or(exit),
                role: BranchRole::Condition,
                names: Vec::new(),
            },
            span,
        );
        self.breaks.push(exit);
        self.statement(body);
        self.breaks.pop();
        self.flow_into(exit, span);
    }
    /// Creates a block for every label of a switch; consecutive labels share one.
    fn collect_cases(
        &mut self,
        node: &AstNode,
        shared: Option<BlockId>,
        of: (u8, bool),
        arms: &mut Vec<SwitchArm>,
        default: &mut Option<BlockId>,
    ) {
        let is_label = node.kind == K::CaseStmt || node.kind == K::DefaultStmt;
        if node.kind == K::SwitchStmt {
            return;
        }
        if !is_label {
            node.inner.iter().for_each(|inner| self.collect_cases(inner, None, of, arms, default));
            return;
        }
        let block = match (shared, self.cases.get(&node.id)) {
            (Some(block), _) => block,
            (None, Some(&known)) => known,
            (None, None) => self.new_block(),
        };
        self.cases.insert(node.id, block);
        if node.kind == K::DefaultStmt {
            *default = Some(block);
        } else {
            self.collect_arm(node, block, of, arms);
        }
        if let Some(inner) = node.inner.last() {
            self.collect_cases(inner, Some(block), of, arms, default);
        }
    }
    /// Truncates a 128-bit operand of a switch to 64 bits; a value that does not fit becomes one that no label has.
    fn without_high_half(&mut self, value: Wide, signed: bool, arms: &[SwitchArm], node: &AstNode) -> Operand {
        let span = self.unit.span(node);
        let has = |arm: &SwitchArm, value: u64| match signed {
            true => (arm.low as i64..=arm.high as i64).contains(&(value as i64)),
            false => (arm.low..=arm.high).contains(&value),
        };
        let mut candidates = std::iter::once(0).chain(arms.iter().map(|arm| arm.high.wrapping_add(1)));
        let Some(none) = candidates.find(|value| !arms.iter().any(|arm| has(arm, *value))) else {
            return self.unsupported_value(Construct::FullSwitch, node);
        };
        let word = |value: u64| Operand::Const(Ty::I64, value);
        let sign = if signed { self.bin(BinOp::AShr, value.low, word(63), span) } else { word(0) };
        let fits = self.cmp(CmpOp::Eq, value.high, sign, span);
        let fits = self.resize(fits, Ty::I64, false, span);
        let mask = self.bin(BinOp::Sub, word(0), fits, span);
        let differing = self.bin(BinOp::Xor, value.low, word(none), span);
        let kept = self.bin(BinOp::And, differing, mask, span);
        self.bin(BinOp::Xor, kept, word(none), span)
    }
    /// Returns the value of a label; `None` if it is no constant of 64 bits.
    fn label_value(&self, node: &AstNode, signed: bool) -> Option<i64> {
        if self.unit.type_of(node).wide().is_none() {
            return self.unit.const_signed(node);
        }
        let value = self.unit.const_wide(node)?;
        match signed {
            true => i64::try_from(value as i128).ok(),
            false => u64::try_from(value).ok().map(|value| value as i64),
        }
    }
    fn collect_arm(&mut self, node: &AstNode, target: BlockId, (bits, signed): (u8, bool), arms: &mut Vec<SwitchArm>) {
        let low = node.inner.first().and_then(|value| self.label_value(value, signed));
        let high =
            if node.is_gnu_range { node.inner.get(1).and_then(|value| self.label_value(value, signed)) } else { low };
        let (Some(low), Some(high)) = (low, high) else {
            return self.unsupported(Construct::CaseValue, node);
        };
        let (low, high) = (mask(low as u64, bits), mask(high as u64, bits));
        let ordered = if signed { sign_extend(low, bits) <= sign_extend(high, bits) } else { low <= high };
        if ordered {
            arms.push(SwitchArm { low, high, signed, target });
        }
    }

    fn return_statement(&mut self, node: &AstNode, span: Span) {
        let value = match node.child(0) {
            None => None,
            Some(value) if self.function.aggregate_result => {
                let ty = self.result.clone();
                let dst = Operand::Reg(self.function.params[0].reg);
                self.aggregate(value, &ty, dst);
                None
            }
            Some(value) if self.function.result.is_none() => {
                self.effect(value);
                None
            }
            Some(value) => {
                self.mark_value(value);
                Some(self.rvalue(value))
            }
        };
        self.stop(TermKind::Return(value), span);
    }

    fn declare(&mut self, node: &AstNode) {
        self.unit.note_alignment(node);
        match &node.kind {
            K::VarDecl if node.storage == Storage::Extern => {
                if let Err(error) = self.unit.global_declaration(node) {
                    self.error.get_or_insert(error);
                }
            }
            K::VarDecl if node.storage == Storage::Static => self.declare_static(node),
            K::VarDecl => self.declare_local(node),
            K::FunctionDecl => {
                if let Err(error) = self.unit.function_declaration(node.clone()) {
                    self.error.get_or_insert(error);
                }
            }
            _ => {
                self.unit.type_declaration(node);
                if node.kind == K::TypedefDecl {
                    self.freeze_typedef(node);
                }
            }
        }
    }
    fn declare_static(&mut self, node: &AstNode) {
        if self.locals.contains_key(&node.id) {
            return;
        }
        let ty = self.unit.type_of(node);
        self.unit.scopes.add_variable(&node.name, node.id, ty.clone());
        let span = self.unit.point(&node.loc);
        let name = format!("{}.{}", self.function.name, node.name);
        let file = self.unit.file.clone();
        let global = self.unit.program.static_local(&name, &ty, span, &file);
        if self.unit.is_library() {
            models::describe(&mut self.unit.program.globals[global], &name);
        }
        self.unit.note_attributes(node, global);
        self.unit.static_locals.insert(node.id, global);
        self.locals.insert(node.id, Local::Static(global));
        if let Some(value) = initialiser(node) {
            let init = self.unit.global_init(global, value, &ty);
            self.unit.program.globals[global].init = Some(init);
        }
    }
    fn declare_local(&mut self, node: &AstNode) {
        self.declare_automatic(node);
        // A program that is only analysed is not executed to the end of the scope.
        if has_cleanup(node) && self.unit.program.executes {
            self.unsupported(Construct::CleanupFunction, node);
        }
    }
    fn declare_automatic(&mut self, node: &AstNode) {
        let ty = self.unit.type_of(node);
        let span = self.unit.span(node);
        self.unit.scopes.add_variable(&node.name, node.id, ty.clone());
        if ty.has_variable_size() {
            return self.declare_variable_array(node, &ty, span);
        }
        self.freeze_variable(node.id, &ty, span);
        if let Some(what) = self.unit.program.types.unsupported(&ty)
            && self.unit.program.types.size(&ty) == 0
        {
            return self.unsupported(what, node);
        }
        let local = match self.locals.get(&node.id).copied() {
            Some(local) => local,
            None => self.new_local(node, &ty, span),
        };
        let place = match local {
            Local::Register(reg) => Location::Register(reg),
            Local::Slot(slot) => {
                self.emit(InstKind::SlotBegin { slot }, span);
                self.lifetimes.declare(ScopedObject::Slot(slot));
                match initialiser(node) {
                    Some(_) => Location::Memory(self.slot_address(slot, span), 0),
                    None => return,
                }
            }
            Local::Behind(_) | Local::Static(_) | Local::Variable(..) => return,
        };
        if let Some(value) = initialiser(node) {
            self.initialise(value, &ty, place);
        }
    }
    fn new_local(&mut self, node: &AstNode, ty: &Type, span: Span) -> Local {
        let in_memory = ty.is_record() || matches!(ty.kind, TypeKind::Array(..)) || self.is_address_taken(node.id);
        let local = if in_memory {
            let slot = self.new_slot(Some(node.name.clone()), ty);
            if self.has_jumps() {
                self.emit_first(InstKind::SlotBegin { slot }, span);
            }
            Local::Slot(slot)
        } else {
            let scalar = self.unit.program.types.scalar(ty);
            Local::Register(self.variable(scalar, &node.name))
        };
        self.locals.insert(node.id, local);
        local
    }

    /// Lowers a statement expression up to its last expression, which is returned. Leaves its scope open.
    pub fn statement_expression_body<'n>(&mut self, node: &'n AstNode) -> Option<&'n AstNode> {
        self.unit.push_scope();
        let body = node.inner.first()?;
        let (last, before) = body.inner.split_last()?;
        let outside = std::mem::replace(&mut self.point_table.hidden, true);
        before.iter().for_each(|inner| self.statement(inner));
        if last.kind.is_expression() {
            self.mark_statement(last);
        } else {
            self.statement(last);
        }
        self.point_table.hidden = outside;
        last.kind.is_expression().then_some(last)
    }
    /// Evaluates a statement expression.
    pub fn statement_expression(&mut self, node: &AstNode, scalar: Ty) -> Operand {
        let value = match self.statement_expression_body(node) {
            Some(last) if self.unit.type_of(node).kind == TypeKind::Void => {
                self.effect(last);
                None
            }
            Some(last) => Some(self.rvalue(last)),
            None => None,
        };
        self.unit.pop_scope();
        value.unwrap_or(Operand::Const(scalar, 0))
    }
    /// Evaluates a statement expression for its side effects.
    pub fn statement_expression_effect(&mut self, node: &AstNode) {
        if let Some(last) = self.statement_expression_body(node) {
            self.effect(last);
        }
        self.unit.pop_scope();
    }
}
