//! Emission of program points for statements, values, conditions and labels (Bardin et al., section III).
//!
//! A point is immediately before the code that it refers to. Code that is lowered twice has one point with two
//! instructions. Library models have no points: they are not under test.

use crate::clang::ast_enums::{CastKind as Cast, Opcode, Storage};
use crate::clang::ast_queries::{has_effects, initialiser, shown};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::clang::source_text::shorten;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::lower::context::point_table::{LabelCall, PointSubject, label_call};
use crate::points::formulas::MAX_SOURCE_DEPTH;
use crate::types::ctype::TypeKind;
use touchstone_base::Span;
use touchstone_ir::{CmpOp, CondTag, DecisionId, Expr, ExprKind, InstKind, Operand, Point, PointKind, Ty};

impl Lowerer<'_, '_> {
    fn mark(&mut self, subject: PointSubject, make: impl FnOnce(&mut Self) -> Option<Point>) {
        if self.function.is_library() {
            return;
        }
        let known = self.point_table.known.get(&subject).copied();
        let point = known.unwrap_or_else(|| {
            let made = make(self);
            let point = made.map(|point| self.function.points.push(point));
            self.point_table.known.insert(subject, point);
            point
        });
        if let Some(point) = point {
            let span = self.function.points[point].span;
            self.emit(InstKind::Point { point }, span);
        }
    }

    /// Marks the beginning of a statement that is executed.
    pub fn mark_statement(&mut self, node: &AstNode) {
        let head = match &node.kind {
            K::CompoundStmt
            | K::NullStmt
            | K::Absent
            | K::CaseStmt
            | K::DefaultStmt
            | K::LabelStmt
            | K::AttributedStmt => return,
            K::DeclStmt if !node.inner.iter().any(is_initialised) => return,
            K::IfStmt | K::SwitchStmt | K::WhileStmt => Some(node.child(0)),
            K::ForStmt => Some(None),
            _ if is_label_call(node) => return,
            _ => None,
        };
        if self.point_table.hidden && self.unit.is_made_by_system(&node.begin) {
            return;
        }
        self.mark(PointSubject::Statement(node.id), |lowerer| {
            let (span, text) = match head {
                Some(condition) => lowerer.unit.head(node, condition),
                None if node.kind == K::DoStmt => lowerer.head_of_do(node),
                None => {
                    let text = lowerer.unit.short_text(node);
                    (lowerer.unit.span(node), text.strip_suffix(';').map(str::trim_end).unwrap_or(&text).to_string())
                }
            };
            Some(Point::new(PointKind::Statement, span, text))
        });
    }

    fn head_of_do(&mut self, node: &AstNode) -> (Span, String) {
        let (span, text) = self.unit.keyword(node);
        if self.unit.is_made_by_macro(&node.begin) {
            return (span, text);
        }
        let condition = node.child(1).map(|node| self.unit.short_text(shown(node))).unwrap_or_default();
        (span, shorten(format!("do … while ({condition})")))
    }

    /// Marks the evaluation of a scalar value that is stored or used.
    pub fn mark_value(&mut self, node: &AstNode) {
        self.mark_formula(node, Self::formula);
    }
    /// Marks the evaluation of the value that a compound assignment stores.
    pub fn mark_compound(&mut self, node: &AstNode) {
        self.mark_formula(node, Self::formula_of_compound);
    }
    fn mark_formula(&mut self, node: &AstNode, formula: impl FnOnce(&mut Self, &AstNode) -> Option<Expr>) {
        if self.point_table.hidden && self.unit.is_made_by_system(&node.begin) {
            return;
        }
        let written = shown(node);
        // Addresses of strings have no objectives.
        if matches!(written.kind, K::StringLiteral | K::PredefinedExpr) {
            return;
        }
        self.mark(PointSubject::Value(node.id), |lowerer| {
            let kind = formula(lowerer, node).map(PointKind::Value).or_else(|| too_deep(node))?;
            Some(Point::new(kind, lowerer.unit.span(written), lowerer.unit.short_text(written)))
        });
    }
    /// Marks a `++` or `--` of a signed number that may overflow.
    pub fn mark_step(&mut self, node: &AstNode) {
        let Some(inner) = node.inner.first() else { return };
        let ty = self.unit.type_of(node);
        let TypeKind::Int { bits: bits @ (32 | 64), signed: true, .. } = ty.kind else { return };
        let limit = (1u64 << (bits - 1)) - u64::from(node.opcode == Opcode::Increment);
        self.mark_hazard(node, "overflows", |lowerer| {
            if lowerer.is_volatile(inner) {
                return None;
            }
            let spot = lowerer.spot(inner, MAX_SOURCE_DEPTH)?;
            let old = lowerer.read(spot, &ty, inner)?;
            let limit = Expr::constant(old.ty, limit);
            Some(Expr::cmp(CmpOp::Eq, old, limit))
        });
    }
    /// Marks a call of a builtin with an undefined value for 0.
    pub fn mark_zero(&mut self, node: &AstNode, argument: &AstNode) {
        if self.unit.const_int(argument).is_some_and(|value| value != 0) {
            return;
        }
        self.mark_hazard(node, "has no value for 0", |lowerer| {
            let value = lowerer.formula(argument)?;
            let zero = Expr::constant(value.ty, 0);
            Some(Expr::cmp(CmpOp::Eq, value, zero))
        });
    }
    fn mark_hazard(&mut self, node: &AstNode, what: &str, formula: impl FnOnce(&mut Self) -> Option<Expr>) {
        if self.point_table.hidden && self.unit.is_made_by_system(&node.begin) {
            return;
        }
        self.mark(PointSubject::Hazard(node.id), |lowerer| {
            let predicate = formula(lowerer)?;
            let text = format!("{} {what}", lowerer.unit.short_text(node));
            Some(Point::new(PointKind::Hazard(predicate), lowerer.unit.span(node), text))
        });
    }
    /// Marks an initialiser inside an aggregate's, unless it is a constant: tables have thousands.
    pub fn mark_element(&mut self, node: &AstNode) {
        let constant = self.unit.const_int(node).or_else(|| self.unit.const_float(node));
        if constant.is_none() && node.kind != K::ImplicitValueInitExpr {
            self.mark_value(node);
        }
    }

    /// Marks the value that an assignment stores, if the address is computed. The span is that of the left side.
    pub fn mark_store(&mut self, left: &AstNode, right: &AstNode) {
        if self.point_table.hidden && self.unit.is_made_by_system(&left.begin) {
            return;
        }
        self.mark(PointSubject::Store(left.id), |lowerer| {
            let written = shown(left);
            let Some(address) = lowerer.formula_of_address(left) else {
                let (span, text) = (lowerer.unit.span(written), lowerer.unit.short_text(written));
                return too_deep(left).map(|kind| Point::new(kind, span, text));
            };
            let value = lowerer.formula(right)?;
            let ty = lowerer.unit.program.types.scalar(&lowerer.unit.type_of(left));
            let computed = !matches!(address.kind, ExprKind::Slot(_) | ExprKind::Global(_));
            if !computed || value.ty != ty {
                return None;
            }
            let kind = PointKind::Store { address, value };
            Some(Point::new(kind, lowerer.unit.span(written), lowerer.unit.short_text(written)))
        });
    }

    /// Marks the evaluation of a decision that controls a branch, if it has several conditions.
    pub fn mark_decision(&mut self, decision: DecisionId, node: &AstNode) {
        if self.function.decisions[decision].conditions.len() < 2 {
            return;
        }
        self.mark(PointSubject::Decision(decision), |lowerer| {
            let kind = lowerer.formula_of_truth(node).map(PointKind::Decision).or_else(|| too_deep(node))?;
            let written = shown(node);
            Some(Point::new(kind, lowerer.unit.span(written), lowerer.unit.short_text(written)))
        });
    }

    /// Marks the evaluation of a condition.
    pub fn mark_condition(&mut self, tag: CondTag, node: &AstNode) {
        self.mark(PointSubject::Condition(tag), |lowerer| {
            let condition = |value| PointKind::Condition { tag, value };
            let kind = lowerer.formula_of_truth(node).map(condition).or_else(|| too_deep(node))?;
            let written = shown(node);
            Some(Point::new(kind, lowerer.unit.span(written), lowerer.unit.short_text(written)))
        });
    }

    /// Marks a label; the call has no other effect than those of its condition.
    pub fn mark_label(&mut self, call: LabelCall, node: &AstNode) {
        let args = node.inner.get(1..).unwrap_or_default();
        let (id, condition) = match call {
            LabelCall::IdFirst => (args.first(), args.get(1)),
            LabelCall::ConditionFirst => (args.get(1), args.first()),
        };
        let Some(condition) = condition else { return self.unsupported(Construct::LabelWithoutCondition, node) };
        let formula = if has_effects(condition) { None } else { self.formula_of_truth(condition) };
        let predicate = match formula {
            Some(formula) => formula,
            // An argument of the call: it is evaluated as code, with its calls and side effects.
            None => {
                let span = self.unit.span(condition);
                let truth = self.assumed_truth(condition);
                let Operand::Reg(reg) = self.keep(truth, span) else {
                    return self.unsupported(Construct::LabelExpression, node);
                };
                self.written(condition, ExprKind::Reg(reg), Ty::I1, false)
            }
        };
        self.mark(PointSubject::Label(node.id), |lowerer| {
            lowerer.point_table.labels += 1;
            let number = lowerer.point_table.labels;
            let name = id.and_then(|id| lowerer.label_name(id)).unwrap_or_else(|| number.to_string());
            let kind = PointKind::Label { name, predicate };
            Some(Point::new(kind, lowerer.unit.span(node), lowerer.unit.short_text(node)))
        });
    }
    /// Returns the id of a label as spelled in the source; a number if it comes from a macro.
    fn label_name(&mut self, id: &AstNode) -> Option<String> {
        let written = shown(id);
        let text = self.unit.short_text(written);
        let value = self.unit.const_signed(written).map(|value| value.to_string());
        let name = if self.unit.is_made_by_macro(&written.begin) { value.unwrap_or(text) } else { text };
        Some(name).filter(|name| !name.is_empty())
    }
}

/// Returns the kind of an expression without a formula because of its nesting. Expressions with side effects never have
/// one.
fn too_deep(node: &AstNode) -> Option<PointKind> {
    (is_deeper(node, MAX_SOURCE_DEPTH) && !has_effects(node)).then_some(PointKind::TooDeep)
}

/// Returns true if an expression has more than this number of levels.
fn is_deeper(node: &AstNode, levels: u32) -> bool {
    match levels.checked_sub(1) {
        Some(left) => node.inner.iter().any(|part| is_deeper(part, left)),
        None => true,
    }
}

/// Returns true if a declaration has an initialiser that is executed.
fn is_initialised(node: &AstNode) -> bool {
    node.kind == K::VarDecl && !matches!(node.storage, Storage::Static | Storage::Extern) && initialiser(node).is_some()
}

/// Returns true if an expression statement is only a label.
fn is_label_call(node: &AstNode) -> bool {
    match (&node.kind, node.inner.first()) {
        (K::ParenExpr | K::ConstantExpr, Some(inner)) => is_label_call(inner),
        (K::ImplicitCastExpr | K::CStyleCastExpr, Some(inner)) if node.cast == Cast::ToVoid => is_label_call(inner),
        (K::CallExpr, _) => crate::clang::ast_queries::callee_name(node).and_then(label_call).is_some(),
        _ => false,
    }
}
