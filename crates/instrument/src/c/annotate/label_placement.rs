//! Placement of labels: finds the position of a goal in the text of its function, and the predicate to evaluate there.
//!
//! A position must be unambiguous. If a macro hides it, or a condition has a side effect, the label is not placed.

use super::predicate_renderer::PredicateRenderer;
use crate::c::text::{StatementLayout, TokenKind, TokenisedSource, find_body};
use crate::record::ProbeObstacle;
use touchstone_base::{FileId, Span};
use touchstone_criteria::{DecisionGraph, DecisionStep, Goal};
use touchstone_ir::{
    BlockId, CmpOp, CondId, CondTag, DecisionId, Expr, ExprKind, FuncId, Function, InstKind, Module, PointId,
    PointKind, TermKind, Ty,
};

/// The position of a label, in bytes of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LabelPosition {
    /// Before a statement in a block, or at the beginning of a block.
    Before(usize),
    /// Before a statement that has to be enclosed in braces.
    Braced(usize, usize),
    /// Before the evaluation of an expression.
    Wrapped(usize, usize),
}

/// A predicate over a row: the outcomes of its conditions and the outcome of the decision.
type RowPredicate<'h> = dyn Fn(&[(CondId, bool)], bool) -> bool + 'h;

/// A function in the text.
pub(crate) struct AnnotatedFunction<'a> {
    pub(crate) module: &'a Module,
    pub(crate) function: &'a Function,
    file: FileId,
    pub(crate) source: &'a TokenisedSource<'a>,
    /// The index of the body's opening brace, and the offset after it.
    pub(crate) body: Option<(usize, usize)>,
    pub(crate) layout: Option<StatementLayout>,
    pub(crate) graphs: Vec<DecisionGraph>,
    /// True if the text is preprocessed, so that what has the form of a call is one.
    preprocessed: bool,
}

impl<'a> AnnotatedFunction<'a> {
    pub(crate) fn preprocessed(
        module: &'a Module,
        func: FuncId,
        file: FileId,
        source: &'a TokenisedSource<'a>,
    ) -> AnnotatedFunction<'a> {
        AnnotatedFunction { preprocessed: true, ..AnnotatedFunction::new(module, func, file, source) }
    }

    pub(super) fn new(
        module: &'a Module,
        func: FuncId,
        file: FileId,
        source: &'a TokenisedSource<'a>,
    ) -> AnnotatedFunction<'a> {
        let function = &module.functions[func];
        let here = function.span.file == file;
        let name = source.offset(function.span.line, function.span.column).filter(|_| here);
        let body = name.and_then(|offset| find_body(source, offset));
        let layout = body.and_then(|(brace, _)| StatementLayout::new(source, brace));
        let graphs = function.decisions.values().map(DecisionGraph::new).collect();
        AnnotatedFunction { module, function, file, source, body, layout, graphs, preprocessed: false }
    }

    /// Returns the name of the table that numbers the rows of a decision.
    pub(crate) fn table(&self, decision: usize) -> String {
        format!("__touchstone_t{decision}")
    }

    pub(crate) fn label(&self, goal: &Goal) -> Result<(LabelPosition, String), ProbeObstacle> {
        match goal {
            Goal::Label { point, predicate, .. } => self.point_label(*point, predicate.as_ref()),
            Goal::Entry { predicate, .. } => {
                let (_, open) = self.body.ok_or(ProbeObstacle::NoBody)?;
                let predicate = self.renderer(Some(predicate), &|_| true).predicate(predicate)?;
                Ok((LabelPosition::Before(open), predicate))
            }
            Goal::Arm { block, target, .. } => self.arm_label(*block, *target),
            Goal::Outcome { decision, value, .. } => self.decision_label(*decision, &|_, result| result == *value),
            Goal::Condition { decision, condition, value, .. } => {
                self.decision_label(*decision, &|outcomes, _| outcomes.contains(&(*condition, *value)))
            }
            Goal::Row { outcomes: row, .. } if row.is_empty() => Err(ProbeObstacle::TooManyCombinations),
            Goal::Row { decision, outcomes: row, .. } => {
                self.decision_label(*decision, &|outcomes, _| outcomes == row.as_slice())
            }
            // One label is not enough: see `labels`.
            Goal::Return { .. } => Err(ProbeObstacle::NoExpression),
            Goal::Independent { .. } | Goal::Partner { .. } => Err(ProbeObstacle::Independence),
            Goal::Error { .. } => Err(ProbeObstacle::Error),
        }
    }

    fn renderer<'r>(&'r self, own: Option<&'r Expr>, is_live: &'r dyn Fn(&str) -> bool) -> PredicateRenderer<'r> {
        PredicateRenderer { module: self.module, function: self.function, own, is_live, guards: self.preprocessed }
    }

    /// Returns the bytes of a span.
    pub(crate) fn bytes(&self, span: Span) -> Result<(usize, usize), ProbeObstacle> {
        if span.file != self.file {
            let other = self.module.files.get(span.file).map_or("another file", String::as_str);
            return Err(ProbeObstacle::OtherFile(other.to_string()));
        }
        let ends = (self.source.offset(span.line, span.column), self.source.offset(span.end_line, span.end_column));
        match ends {
            (Some(start), Some(end)) if start < end && end <= self.source.text.len() => Ok((start, end)),
            _ => Err(ProbeObstacle::NoPlace),
        }
    }

    fn point_label(&self, id: PointId, predicate: Option<&Expr>) -> Result<(LabelPosition, String), ProbeObstacle> {
        let point = &self.function.points[id];
        let (start, end) = self.bytes(point.span)?;
        let own = match &point.kind {
            PointKind::Statement | PointKind::TooDeep => None,
            PointKind::Value(expr) | PointKind::Decision(expr) | PointKind::Condition { value: expr, .. } => Some(expr),
            PointKind::Store { value, .. } => Some(value),
            PointKind::Label { predicate, .. } | PointKind::Hazard(predicate) => Some(predicate),
        };
        let spot = match &point.kind {
            PointKind::Statement => self.before_statement(start)?,
            PointKind::Label { .. } => self.before_statement(start).or_else(|_| self.wrap(start, end))?,
            PointKind::Value(expr) => {
                if matches!(expr.kind, ExprKind::Const(_)) && expr.ty == Ty::Ptr {
                    return Err(ProbeObstacle::NullConstant);
                }
                self.wrap_value(id, start, end)?
            }
            PointKind::Hazard(_) => self.wrap_value(id, start, end)?,
            PointKind::Decision(_) => self.wrap_decision(point.span, start, end)?,
            PointKind::Store { .. } => return Err(ProbeObstacle::ReadsMore),
            PointKind::TooDeep => return Err(ProbeObstacle::TooDeep),
            PointKind::Condition { tag, .. } => self.wrap_condition(*tag, start, end)?,
        };
        let Some(predicate) = predicate else { return Ok((spot, "1".to_string())) };
        let is_live = |name: &str| self.is_live(name, start);
        let renderer = self.renderer(own, &is_live);
        renderer.check_loads(predicate)?;
        Ok((spot, renderer.predicate(predicate)?))
    }

    fn is_live(&self, name: &str, at: usize) -> bool {
        let (Some(layout), Some((brace, _))) = (&self.layout, self.body) else { return false };
        let is_use = |index: usize| {
            let before = self.source.word(index - 1);
            self.source.word(index) == name
                && !matches!(before, "." | "->" | "struct" | "union" | "enum" | "goto")
                && self.source.word(index + 1) != ":"
        };
        let first = (brace + 1..self.source.first_token_from(at)).find(|&index| is_use(index));
        first.is_some_and(|index| layout.is_live(self.source, index, at))
    }

    pub(super) fn before_statement(&self, start: usize) -> Result<LabelPosition, ProbeObstacle> {
        let layout = self.layout.as_ref().ok_or(ProbeObstacle::StatementsHidden)?;
        let statement = layout.at(start).ok_or(ProbeObstacle::StatementInside)?;
        Ok(if statement.single { LabelPosition::Braced(start, statement.end) } else { LabelPosition::Before(start) })
    }

    /// Returns the position before the evaluation of an expression.
    pub(crate) fn wrap(&self, start: usize, end: usize) -> Result<LabelPosition, ProbeObstacle> {
        let (brace, open) = self.body.ok_or(ProbeObstacle::NoBody)?;
        let piece = &self.source.text[start..end];
        if start < open || piece.starts_with(['{', '.']) {
            return Err(ProbeObstacle::OutsideOfBody);
        }
        let first = self.source.first_token_from(start);
        let last = self.source.first_token_from(end);
        let on_tokens = self.source.tokens.get(first).is_some_and(|token| token.start == start)
            && last > first
            && self.source.tokens[last - 1].end == end;
        if !on_tokens {
            return Err(ProbeObstacle::DirectiveAround);
        }
        for name in self.source.calls_around(brace, start) {
            let keyword = matches!(name, "if" | "while" | "for" | "switch" | "return" | "assert" | "case" | "else");
            let known = self.preprocessed || self.module.function_named(name).is_some() || self.is_variable(name);
            if !keyword && (!known || self.source.macros.contains_key(name)) {
                return Err(ProbeObstacle::MacroArgument(name.to_string()));
            }
        }
        if self.source.tokens[first].kind == TokenKind::Word
            && self.layout.as_ref().and_then(|layout| layout.at(start)).is_some()
            && self.source.macros.contains_key(self.source.word(first))
        {
            return Err(ProbeObstacle::MacroStatement);
        }
        Ok(LabelPosition::Wrapped(start, end))
    }
    fn is_variable(&self, name: &str) -> bool {
        let in_regs = self.function.regs.values().any(|reg| reg.name.as_deref() == Some(name));
        in_regs || self.function.slots.values().any(|slot| slot.name.as_deref() == Some(name))
    }

    fn wrap_value(&self, id: PointId, start: usize, end: usize) -> Result<LabelPosition, ProbeObstacle> {
        let span = self.function.points[id].span;
        let twins =
            self.function.points.iter().filter(|(other, point)| {
                *other != id && point.span == span && matches!(point.kind, PointKind::Value(_))
            });
        if twins.count() > 0 {
            return Err(ProbeObstacle::MacroEvaluatesTwice);
        }
        // A macro may expand to only a part of the value.
        let piece = &self.source.text[start..end];
        let compound = self.function.points[id].text.contains('=');
        if self.source.uses_macro(piece) && !(self.source.is_effect_free(piece) || compound) {
            return Err(ProbeObstacle::MacroWithEffect);
        }
        if self.function.decisions.values().filter(|decision| decision.span == span).count() > 1 {
            return Err(ProbeObstacle::MacroWithDecisions);
        }
        self.wrap(start, end)
    }

    fn wrap_decision(&self, span: Span, start: usize, end: usize) -> Result<LabelPosition, ProbeObstacle> {
        if !self.source.is_effect_free(&self.source.text[start..end]) {
            return Err(ProbeObstacle::MacroWithEffect);
        }
        if self.function.decisions.values().filter(|decision| decision.span == span).count() > 1 {
            return Err(ProbeObstacle::MacroOfDecisions);
        }
        self.wrap(start, end)
    }

    fn wrap_condition(&self, tag: CondTag, start: usize, end: usize) -> Result<LabelPosition, ProbeObstacle> {
        let span = self.function.decisions[tag.decision].conditions[tag.condition].span;
        let decisions = self.function.decisions.values();
        let same = decisions.flat_map(|decision| decision.conditions.values()).filter(|other| other.span == span);
        if same.count() > 1 {
            return Err(ProbeObstacle::MacroOfConditions);
        }
        let piece = &self.source.text[start..end];
        if !self.source.is_effect_free(piece) {
            return Err(ProbeObstacle::MacroWithEffect);
        }
        self.wrap(start, end)
    }

    /// Returns the position before a decision, and a predicate over its conditions that is evaluated in the same order.
    fn decision_label(
        &self,
        id: DecisionId,
        holds: &RowPredicate<'_>,
    ) -> Result<(LabelPosition, String), ProbeObstacle> {
        let decision = &self.function.decisions[id];
        let (start, end) = self.bytes(decision.span)?;
        if !self.source.is_effect_free(&self.source.text[start..end]) {
            return Err(ProbeObstacle::Effect(decision.text.clone()));
        }
        if self.function.decisions.values().filter(|other| other.span == decision.span).count() > 1 {
            return Err(ProbeObstacle::MacroOfDecisions);
        }
        let spot = self.wrap(start, end)?;
        let mut outcomes = Vec::new();
        let mut left = MAX_PREDICATE_NODES;
        let predicate = self.walk(id, self.graphs[decision_index(id)].start, &mut outcomes, holds, &mut left)?;
        Ok((spot, predicate))
    }

    fn walk(
        &self,
        id: DecisionId,
        at: DecisionStep,
        outcomes: &mut Vec<(CondId, bool)>,
        holds: &RowPredicate<'_>,
        left: &mut u32,
    ) -> Result<String, ProbeObstacle> {
        *left = left.checked_sub(1).ok_or(ProbeObstacle::TooManyConditions)?;
        let node = match at {
            DecisionStep::Done(result) => return Ok(String::from(if holds(outcomes, result) { "1" } else { "0" })),
            DecisionStep::Node(node) => &self.graphs[decision_index(id)].nodes[node],
        };
        let mut sides = Vec::new();
        for value in [false, true] {
            outcomes.push((node.condition, value));
            sides.push(self.walk(id, node.edges[usize::from(value)].target, outcomes, holds, left)?);
            outcomes.pop();
        }
        let tag = CondTag { decision: id, condition: node.condition };
        let expr = self.condition(tag)?;
        let renderer = self.renderer(Some(expr), &|_| false);
        // The predicate is not guarded: if the condition faults, so does the program.
        let text = renderer.value(expr)?;
        let [no, yes] = sides.as_slice() else {
            return Err(ProbeObstacle::Internal("a condition has two sides".to_string()));
        };
        Ok(match (yes.as_str(), no.as_str()) {
            (yes, no) if yes == no && renderer.can_fault(expr) => format!("((void){text}, {yes})"),
            (yes, no) if yes == no => yes.to_string(),
            ("1", "0") => text,
            ("0", "1") => format!("!{text}"),
            (yes, "0") => format!("({text} && {yes})"),
            ("0", no) => format!("(!{text} && {no})"),
            ("1", no) => format!("({text} || {no})"),
            (yes, "1") => format!("(!{text} || {yes})"),
            (yes, no) => format!("({text} ? {yes} : {no})"),
        })
    }

    fn condition(&self, wanted: CondTag) -> Result<&Expr, ProbeObstacle> {
        let found = self.function.points.values().find_map(|point| match &point.kind {
            PointKind::Condition { tag, value } if *tag == wanted => Some(value),
            _ => None,
        });
        found.ok_or_else(|| {
            let text = &self.function.decisions[wanted.decision].conditions[wanted.condition].text;
            ProbeObstacle::NoPredicate(text.clone())
        })
    }

    /// Returns the position and predicate of a switch arm.
    fn arm_label(&self, block: BlockId, target: BlockId) -> Result<(LabelPosition, String), ProbeObstacle> {
        let content = &self.function.blocks[block];
        let TermKind::Switch { arms, default, .. } = &content.terminator.kind else {
            return Err(ProbeObstacle::Internal("no switch".to_string()));
        };
        let (start, _) = self.bytes(content.terminator.span)?;
        let switch = self.source.first_token_from(start);
        if self.source.word(switch) != "switch" || self.source.word(switch + 1) != "(" {
            return Err(ProbeObstacle::MacroSwitch);
        }
        let after = self.source.after_bracket(switch + 1).ok_or(ProbeObstacle::Parentheses)?;
        let head = (self.source.tokens[switch + 1].start, self.source.tokens[after - 1].end);
        let value = content.insts.iter().rev().find_map(|inst| match inst.kind {
            InstKind::Point { point } => match &self.function.points[point].kind {
                PointKind::Value(expr) => Some((point, expr)),
                _ => None,
            },
            _ => None,
        });
        let (point, expr) = value.ok_or(ProbeObstacle::SwitchValue)?;
        let (from, to) = self.bytes(self.function.points[point].span)?;
        let around =
            format!("{}{}", &self.source.text[head.0..from.max(head.0)], &self.source.text[to.min(head.1)..head.1]);
        let only_brackets = TokenisedSource::new(&around).tokens.iter().all(|token| token.kind == TokenKind::Sign);
        if from <= head.0 || head.1 <= to || !only_brackets {
            return Err(ProbeObstacle::SwitchValue);
        }
        let spot = self.wrap_value(point, from, to)?;
        let node = |kind: ExprKind| Expr { kind, ty: Ty::I1, signed: false, text: String::new() };
        let in_arm = |arm: &touchstone_ir::SwitchArm| {
            let bound = |value: u64| Expr { signed: arm.signed, ..Expr::constant(expr.ty, value) };
            if arm.low == arm.high {
                return Expr::cmp(CmpOp::Eq, expr.clone(), bound(arm.low));
            }
            let less_equal = if arm.signed { CmpOp::Sle } else { CmpOp::Ule };
            let above = Expr::cmp(less_equal, bound(arm.low), expr.clone());
            let below = Expr::cmp(less_equal, expr.clone(), bound(arm.high));
            node(ExprKind::And(Box::new(above), Box::new(below)))
        };
        let any = |to_target: bool| {
            let wanted = arms.iter().filter(|arm| (arm.target == target) == to_target).map(in_arm);
            wanted.reduce(|a, b| node(ExprKind::Or(Box::new(a), Box::new(b))))
        };
        let predicate =
            if target == *default { any(false).map(|other| node(ExprKind::Not(Box::new(other)))) } else { any(true) };
        let Some(predicate) = predicate else { return Ok((spot, "1".to_string())) };
        Ok((spot, self.renderer(Some(expr), &|_| false).predicate(&predicate)?))
    }
}

/// The maximum number of nodes of a decision graph that one predicate writes out.
const MAX_PREDICATE_NODES: u32 = 2000;

fn decision_index(id: DecisionId) -> usize {
    touchstone_base::Id::index(id)
}
