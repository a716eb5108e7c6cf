//! Weak mutation (Bardin et al., theorem 2): for every mutant of a side-effect-free expression, a run reaches it in a
//! state in which the mutant has another value. The label is `expr != expr'`, and for conditions `cond xor cond'`. For
//! a mutated left side `l'` of `l = e` it is `&l != &l' && (l != e || l' != e)`: the value is stored elsewhere, and the
//! difference is observable.
//!
//! The operators are in [`Mutator`] and can be selected by name. A condition is mutated once, where it is evaluated:
//! the enclosing decision or value only has the mutants of its own operators. The index of a left side is mutated as a
//! part of the left side. Not mutated: variables as left sides, left sides of compound assignments, expressions with
//! side effects. Two mutants of one point that compute the same are one.
//!
//! A function in which a thousand variables replace each other has a million mutants. The number is bounded ([`Room`]),
//! by a count and never by time, so the same source has the same objectives.

mod equivalence;
mod float;
mod variable;

use crate::criteria::wm::equivalence::{Distinct, same};
use crate::registry::{CountedItem, CriterionScope, GoalCriterion, ObjectiveSpec, PresetVerdict, RecordedEvent};
use crate::{Goal, Mutator};
use rustc_hash::{FxHashMap, FxHashSet};
use touchstone_base::{FileId, Span};
use touchstone_ir::{BinOp, CmpOp, DataType, DataTypeId, Expr, ExprKind, PointId, PointKind, Ty, mask};

pub(crate) struct Wm;

impl GoalCriterion for Wm {
    fn name(&self) -> &'static str {
        "wm"
    }
    fn about(&self) -> &'static str {
        "every mutant of an expression differs from it in some reached state"
    }
    fn recorded_events(&self) -> &'static [RecordedEvent] {
        &[RecordedEvent::Predicates]
    }
    fn asks_for_mutants(&self) -> bool {
        true
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let mutation = Mutation { scope };
        let read = variables(scope);
        let pointers = pointers(scope);
        let points = scope.function().points.iter();
        let left_sides: Vec<Span> = points
            .filter(|(_, point)| matches!(point.kind, PointKind::Store { .. }))
            .map(|(_, point)| point.span)
            .collect();
        let conditions = Conditions::new(scope);
        let (mut drafts, mut room) = (Vec::new(), Room::of_a_function());
        for (id, point) in scope.function().points.iter() {
            let variables = point.variables.as_deref().unwrap_or(&read);
            let mut before = FxHashMap::default();
            let mut add = |mutant: Mutant, predicate: Expr| {
                let text = format!("{} {} -> {}", mutant.operator, mutant.from, mutant.to);
                let again = before.get(text.as_str()).copied().unwrap_or(0usize);
                // A number distinguishes equal parts of an expression.
                let text = if again == 0 { text } else { format!("{text}{OCCURRENCE}{}", again + 1) };
                *before.entry(without_number(&text).to_string()).or_default() += 1;
                let goal = Goal::Label { func: scope.func, point: id, predicate: Some(predicate) };
                drafts.push(ObjectiveSpec { goal, span: point.span, text, known: None });
            };
            let made = match &point.kind {
                PointKind::Statement | PointKind::Label { .. } | PointKind::Hazard(_) => continue,
                PointKind::TooDeep => {
                    drafts.push(all_at_once(scope, id, "every mutant of", TOO_DEEP));
                    continue;
                }
                PointKind::Value(_) if left_sides.iter().any(|left| is_inside(point.span, *left)) => continue,
                PointKind::Value(expr) | PointKind::Decision(expr) | PointKind::Condition { value: expr, .. } => {
                    let depth = match point.kind {
                        PointKind::Decision(_) => Depth::Logic,
                        _ => Depth::All,
                    };
                    let conditions = &conditions.inside(id, point.span);
                    let around = Around { conditions, variables, pointers: &[], depth };
                    mutation.mutants(expr, &around, &mut room).map(|mutants| {
                        mutants.into_iter().for_each(|mutant| {
                            let predicate = differs(&bare(expr), &mutant.expr);
                            add(mutant, predicate);
                        });
                    })
                }
                PointKind::Store { address, value } => {
                    let around = Around { conditions: &[], variables, pointers: &pointers, depth: Depth::All };
                    mutation.mutants(address, &around, &mut room).map(|mutants| {
                        mutants.into_iter().for_each(|mutant| {
                            let predicate = lands_elsewhere(&bare(address), &mutant.expr, &bare(value));
                            let (from, to) = (format!("left side {}: {}", point.text, mutant.from), mutant.to.clone());
                            add(Mutant { from, to, ..mutant }, predicate);
                        });
                    })
                }
            };
            if made.is_err() {
                let known = PresetVerdict::TooMany { most: MAX_MUTANTS_PER_FUNCTION, of: CountedItem::Mutants };
                drafts.push(all_at_once(scope, id, "every mutant of", known));
            }
        }
        drafts
    }
}

/// The verdict of an expression that is nested too deeply.
pub(super) const TOO_DEEP: PresetVerdict =
    PresetVerdict::TooMany { most: Expr::DEEPEST_SOURCE, of: CountedItem::Levels };

/// One objective for all that a point would have, which can't be listed.
pub(super) fn all_at_once(scope: &CriterionScope<'_>, id: PointId, what: &str, known: PresetVerdict) -> ObjectiveSpec {
    let point = &scope.function().points[id];
    ObjectiveSpec {
        // Nothing holds where truth is false: no test covers this.
        goal: Goal::Label { func: scope.func, point: id, predicate: Some(Expr::constant(Ty::I1, 0)) },
        span: point.span,
        text: format!("{what} {}", point.text),
        known: Some(known),
    }
}

/// The maximum number of mutants of one function; no function that people wrote reached it.
const MAX_MUTANTS_PER_FUNCTION: usize = 1 << 16;

/// So large are all mutants of a function together, in nodes: those of long expressions are large as well as many.
const MAX_MUTANT_NODES_PER_FUNCTION: usize = 1 << 21;

/// The remaining budget for the mutants of a function.
struct Room {
    mutants: usize,
    nodes: usize,
}

/// There is no room for the mutants of an expression.
struct TooMany;

impl Room {
    fn of_a_function() -> Room {
        Room { mutants: MAX_MUTANTS_PER_FUNCTION, nodes: MAX_MUTANT_NODES_PER_FUNCTION }
    }

    /// Takes budget for mutants with the given number of nodes each, or none if it does not suffice.
    fn take(&mut self, mutants: usize, nodes: usize) -> Result<(), TooMany> {
        let left = self.mutants.checked_sub(mutants).zip(self.nodes.checked_sub(mutants.saturating_mul(nodes)));
        let (mutants, nodes) = left.ok_or(TooMany)?;
        *self = Room { mutants, nodes };
        Ok(())
    }
}

/// The text before the number of a repeated part.
const OCCURRENCE: &str = ", occurrence ";

fn without_number(text: &str) -> &str {
    text.split(OCCURRENCE).next().unwrap_or_default()
}

/// The values differ.
fn differs(a: &Expr, b: &Expr) -> Expr {
    match a.format() {
        Some(format) => float::differs(format, a, b),
        None => Expr::cmp(CmpOp::Ne, a.clone(), b.clone()),
    }
}

/// `&l != &l' && (l != e || l' != e)`
fn lands_elsewhere(address: &Expr, other: &Expr, value: &Expr) -> Expr {
    let read = |address: &Expr| node(value, ExprKind::Load(Box::new(address.clone())));
    let changed = |address: &Expr| Box::new(Expr::cmp(CmpOp::Ne, read(address), value.clone()));
    let truth = |kind: ExprKind| Expr { kind, ty: Ty::I1, signed: false, text: String::new() };
    let elsewhere = Expr::cmp(CmpOp::Ne, address.clone(), other.clone());
    let shows = truth(ExprKind::Or(changed(address), changed(other)));
    truth(ExprKind::And(Box::new(elsewhere), Box::new(shows)))
}

/// Returns true if a span is a proper part of another.
fn is_inside(part: Span, whole: Span) -> bool {
    let (start, end) = ((part.line, part.column), (part.end_line, part.end_column));
    let (from, to) = ((whole.line, whole.column), (whole.end_line, whole.end_column));
    part.file == whole.file && from <= start && end <= to && (from, to) != (start, end)
}

/// A mutant of a whole expression.
struct Mutant {
    operator: Mutator,
    expr: Expr,
    /// The part that was changed, and what it became.
    from: String,
    to: String,
}

/// The variables that expressions of the function read, each once.
fn variables(scope: &CriterionScope<'_>) -> Vec<Expr> {
    collected(scope, &|expr| variable::is_number(expr) || float::is_variable(expr))
}

/// The pointer variables that expressions of the function read, with what they point to as far as that is known.
fn pointers(scope: &CriterionScope<'_>) -> Vec<(Expr, DataTypeId)> {
    let found = collected(scope, &|expr| expr.ty == Ty::Ptr && variable::is_named(expr));
    found.into_iter().filter_map(|expr| Some((pointee(scope, &expr)?, expr))).map(|(data, expr)| (expr, data)).collect()
}

fn collected(scope: &CriterionScope<'_>, wanted: &dyn Fn(&Expr) -> bool) -> Vec<Expr> {
    fn collect(expr: &Expr, wanted: &dyn Fn(&Expr) -> bool, known: &mut FxHashSet<String>, found: &mut Vec<Expr>) {
        if wanted(expr) && known.insert(expr.text.clone()) {
            found.push(expr.clone());
        }
        for part in expr.parts() {
            collect(part, wanted, known, found);
        }
    }
    let (mut known, mut found) = (FxHashSet::default(), Vec::new());
    for point in scope.function().points.values() {
        if !matches!(point.kind, PointKind::Label { .. }) {
            point.kind.exprs().into_iter().for_each(|expr| collect(expr, wanted, &mut known, &mut found));
        }
    }
    found
}

/// Returns the pointee type of a pointer variable.
fn pointee(scope: &CriterionScope<'_>, expr: &Expr) -> Option<DataTypeId> {
    let function = scope.function();
    let data = match &expr.kind {
        ExprKind::Reg(reg) => function.params.iter().find(|param| param.reg == *reg && !param.aggregate)?.data,
        ExprKind::Load(address) => match address.kind {
            ExprKind::Slot(slot) => function.slots[slot].data,
            ExprKind::Global(global) => scope.module.globals[global].data,
            _ => return None,
        },
        _ => return None,
    };
    match scope.module.types[data] {
        DataType::Pointer { pointee, .. } => Some(pointee),
        DataType::Array { element, .. } => Some(element),
        _ => None,
    }
}

/// Returns an expression as people read it: an implicit conversion is shown as its operand.
pub(crate) fn shown(expr: &Expr) -> String {
    if !expr.text.is_empty() {
        return expr.text.clone();
    }
    expr.parts().into_iter().map(shown).find(|text| !text.is_empty()).unwrap_or_default()
}

/// An operand beside an operator that binds as strongly as those of `own` or more, in parentheses if it needs them.
fn operand(expr: &Expr, own: &dyn Fn(&ExprKind) -> bool) -> String {
    let mut inner = expr;
    while let (true, [only, ..]) = (inner.text.is_empty(), inner.parts().as_slice()) {
        inner = only;
    }
    let text = shown(inner);
    if own(&inner.kind) { format!("({text})") } else { text }
}

fn is_logical(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Ite(..))
}
fn is_relation(kind: &ExprKind) -> bool {
    is_logical(kind) || matches!(kind, ExprKind::Cmp(..))
}
fn is_arithmetic(kind: &ExprKind) -> bool {
    is_relation(kind) || matches!(kind, ExprKind::Bin(..))
}

/// The conditions of a function, in the order in which they begin.
struct Conditions<'m>(Vec<(PointId, Span, &'m Expr)>);

impl<'m> Conditions<'m> {
    fn new(scope: &CriterionScope<'m>) -> Conditions<'m> {
        let points = scope.function().points.iter();
        let mut all: Vec<_> = points
            .filter_map(|(id, point)| match &point.kind {
                PointKind::Condition { value, .. } => Some((id, point.span, value)),
                _ => None,
            })
            .collect();
        all.sort_by_key(|(_, span, _)| begin(*span));
        Conditions(all)
    }

    /// Returns the expressions inside of a point's expression that have points of their own.
    fn inside(&self, id: PointId, whole: Span) -> Vec<&'m Expr> {
        let first = self.0.partition_point(|(_, span, _)| begin(*span) < begin(whole));
        let end = (whole.file, whole.end_line, whole.end_column);
        let near = self.0[first..].iter().take_while(|(_, span, _)| begin(*span) <= end);
        let inside = |span: Span| span == whole || is_inside(span, whole);
        near.filter(|(other, span, _)| *other != id && inside(*span)).map(|(_, _, value)| *value).collect()
    }
}

fn begin(span: Span) -> (FileId, u32, u32) {
    (span.file, span.line, span.column)
}

/// The context that influences the mutants of a point.
struct Around<'a> {
    /// Parts that are mutated elsewhere.
    conditions: &'a [&'a Expr],
    /// Variables that may take the place of others.
    variables: &'a [Expr],
    /// Pointers, with what they point to, that may take each other's place.
    pointers: &'a [(Expr, DataTypeId)],
    depth: Depth,
}

/// The parts of an expression that are mutated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    All,
    /// Only the logical operators.
    Logic,
}

/// The ingredients of mutants.
struct Mutation<'m> {
    scope: &'m CriterionScope<'m>,
}

/// A mutant of a part of an expression.
struct Candidate {
    /// The position of the part: the index of each operand from the root.
    path: Vec<usize>,
    /// The part's mutant.
    own: Mutant,
}

impl Mutation<'_> {
    /// The wanted mutants of an expression, no two the same, without texts.
    fn mutants(&self, expr: &Expr, around: &Around<'_>, room: &mut Room) -> Result<Vec<Mutant>, TooMany> {
        let mut all = Vec::new();
        self.mutate(expr, around, &mut Vec::new(), &mut |candidate| {
            all.push(candidate);
            if all.len() > room.mutants { Err(TooMany) } else { Ok(()) }
        })?;
        let original = bare(expr);
        room.take(all.len(), size(&original))?;
        let mut distinct = Distinct::default();
        distinct.insert(original.clone());
        let mut kept = Vec::new();
        for Candidate { path, own } in all {
            let mutant = with_part(original.clone(), &path, bare(&own.expr));
            if distinct.insert(mutant.clone()) {
                kept.push(Mutant { expr: mutant, ..own });
            }
        }
        Ok(kept)
    }

    /// All wanted mutants of an expression: of itself, and with one mutated part.
    fn mutate(
        &self,
        expr: &Expr,
        around: &Around<'_>,
        path: &mut Vec<usize>,
        found: &mut dyn FnMut(Candidate) -> Result<(), TooMany>,
    ) -> Result<(), TooMany> {
        if around.depth == Depth::Logic && !is_logical(&expr.kind) && !matches!(expr.kind, ExprKind::Not(_)) {
            return Ok(());
        }
        let mut own = Vec::new();
        own_mutants(expr, around.variables, &mut own);
        if let Some((_, data)) = around.pointers.iter().find(|(known, _)| known.kind == expr.kind) {
            let others = around.pointers.iter().filter(|(other, to)| to == data && other.kind != expr.kind);
            for (other, _) in others {
                own.push(made(Mutator::Vrp, expr, other.clone(), other.text.clone()));
            }
        }
        let wanted = &self.scope.options.mutators;
        for own in own.into_iter().filter(|own| wanted.is_empty() || wanted.contains(&own.operator)) {
            found(Candidate { path: path.clone(), own })?;
        }
        for (index, part) in expr.parts().into_iter().enumerate() {
            if !around.conditions.iter().any(|condition| same(condition, part)) {
                path.push(index);
                self.mutate(part, around, path, found)?;
                path.pop();
            }
        }
        Ok(())
    }
}

/// The number of nodes above which mutants have no texts: each part of a long sum has the text of all before it.
const MAX_NODES_WITH_TEXT: usize = 256;

/// The expression without the source's texts if it is long: what is computed needs none. Labels that people read are written
/// with them.
fn bare(expr: &Expr) -> Expr {
    if size(expr) <= MAX_NODES_WITH_TEXT {
        return expr.clone();
    }
    let mut made = Expr { text: String::new(), ..expr.clone() };
    let mut pending: Vec<&mut Expr> = made.parts_mut();
    while let Some(part) = pending.pop() {
        part.text = String::new();
        pending.extend(part.parts_mut());
    }
    made
}

/// Returns the number of nodes of an expression.
fn size(expr: &Expr) -> usize {
    let (mut nodes, mut pending) = (0, vec![expr]);
    while let Some(expr) = pending.pop() {
        nodes += 1;
        pending.extend(expr.parts());
    }
    nodes
}

/// The expression with another part at this place.
fn with_part(mut expr: Expr, path: &[usize], part: Expr) -> Expr {
    let mut place = &mut expr;
    for &index in path {
        place = place.parts_mut().swap_remove(index);
    }
    *place = part;
    expr
}

fn own_mutants(expr: &Expr, variables: &[Expr], mutants: &mut Vec<Mutant>) {
    // What the source does not write is not mutated.
    if expr.text.is_empty() {
        return;
    }
    float::mutants(expr, variables, mutants);
    match &expr.kind {
        ExprKind::Bin(op, a, b) => arithmetic(expr, *op, a, b, mutants),
        ExprKind::Cmp(op, a, b) if a.ty != Ty::Ptr => relations(expr, *op, a, b, mutants),
        ExprKind::And(a, b) | ExprKind::Or(a, b) => logical(expr, a, b, mutants),
        ExprKind::Const(value) if expr.ty == Ty::I1 => {
            let other = 1 - value;
            mutants.push(made(Mutator::Crp, expr, Expr::constant(Ty::I1, other), (other == 1).to_string()));
        }
        ExprKind::Const(value) if matches!(expr.ty, Ty::Int(_)) => constants(expr, *value, mutants),
        _ => {}
    }
    if variable::is_number(expr) || variable::is_truth(expr) {
        for other in variables.iter().filter(|other| variable::is_alike(expr, other)) {
            mutants.push(made(Mutator::Vrp, expr, other.clone(), other.text.clone()));
        }
    }
    if variable::is_read_truth(expr) {
        truths(expr, mutants);
    }
    let is_number = matches!(expr.ty, Ty::Int(bits) if bits > 1) && expr.format().is_none();
    let computes = variable::is_read(expr) || matches!(expr.kind, ExprKind::Bin(..));
    if is_number && computes {
        let minus = negated(expr);
        if expr.signed {
            let negative = Expr::cmp(CmpOp::Slt, expr.clone(), Expr::constant(expr.ty, 0));
            let absolute =
                node(expr, ExprKind::Ite(Box::new(negative), Box::new(minus.clone()), Box::new(expr.clone())));
            mutants.push(made(Mutator::Abs, expr, absolute.clone(), format!("abs({})", expr.text)));
            mutants.push(made(Mutator::Abs, expr, negated(&absolute), format!("-abs({})", expr.text)));
        }
        mutants.push(made(Mutator::Uoi, expr, minus, format!("-({})", expr.text)));
    }
    if expr.ty == Ty::I1 && matches!(expr.kind, ExprKind::Cmp(..)) {
        let not = node(expr, ExprKind::Not(Box::new(expr.clone())));
        mutants.push(made(Mutator::Uoi, expr, not, format!("!({})", expr.text)));
    }
}

fn node(like: &Expr, kind: ExprKind) -> Expr {
    Expr { kind, ty: like.ty, signed: like.signed, text: String::new() }
}

fn negated(expr: &Expr) -> Expr {
    let zero = Expr::constant(expr.ty, 0);
    node(expr, ExprKind::Bin(BinOp::Sub, Box::new(zero), Box::new(expr.clone())))
}

fn made(operator: Mutator, from: &Expr, to: Expr, text: String) -> Mutant {
    Mutant { operator, expr: to, from: from.text.clone(), to: text }
}

fn arithmetic(expr: &Expr, op: BinOp, a: &Expr, b: &Expr, mutants: &mut Vec<Mutant>) {
    let (divide, remainder) = if expr.signed { (BinOp::SDiv, BinOp::SRem) } else { (BinOp::UDiv, BinOp::URem) };
    let family = [(BinOp::Add, "+"), (BinOp::Sub, "-"), (BinOp::Mul, "*"), (divide, "/"), (remainder, "%")];
    let (left, right) = (operand(a, &is_arithmetic), operand(b, &is_arithmetic));
    // The minus of a negation has no left side to keep.
    if !family.iter().any(|(known, _)| *known == op) || left.is_empty() {
        return;
    }
    for (other, sign) in family.into_iter().filter(|(other, _)| *other != op) {
        let kind = ExprKind::Bin(other, Box::new(a.clone()), Box::new(b.clone()));
        mutants.push(made(Mutator::Aor, expr, node(expr, kind), format!("{left} {sign} {right}")));
    }
}

fn relations(expr: &Expr, op: CmpOp, a: &Expr, b: &Expr, mutants: &mut Vec<Mutant>) {
    let (less, less_equal) = if expr.signed { (CmpOp::Slt, CmpOp::Sle) } else { (CmpOp::Ult, CmpOp::Ule) };
    let (left, right) = (operand(a, &is_relation), operand(b, &is_relation));
    // `a > b` is `b < a` here, but people read what they wrote.
    let turned = is_turned(&expr.text, &right);
    // (relation, operands swapped, sign, sign if the source has the operands the other way round)
    let family = [
        (CmpOp::Eq, false, "==", "=="),
        (CmpOp::Ne, false, "!=", "!="),
        (less, false, "<", ">"),
        (less_equal, false, "<=", ">="),
        (less, true, ">", "<"),
        (less_equal, true, ">=", "<="),
    ];
    let is_order = |other: CmpOp| other == less || other == less_equal;
    for (other, swapped, sign, turned_sign) in family {
        // Truth values have no order.
        if other == op && !swapped || a.ty == Ty::I1 && is_order(other) {
            continue;
        }
        let (x, y) = if swapped { (b, a) } else { (a, b) };
        let kind = ExprKind::Cmp(other, Box::new(x.clone()), Box::new(y.clone()));
        let text = if turned { format!("{right} {turned_sign} {left}") } else { format!("{left} {sign} {right}") };
        mutants.push(made(Mutator::Ror, expr, node(expr, kind), text));
    }
    for value in [1, 0] {
        mutants.push(made(Mutator::Ror, expr, Expr::constant(Ty::I1, value), (value == 1).to_string()));
    }
}

/// Returns true if a relation is written with this right operand first: `b > a` for `a < b`.
fn is_turned(text: &str, right: &str) -> bool {
    let open = |text: &str| text.trim_start_matches('(').to_string();
    let right = open(right).trim_end_matches(')').to_string();
    let text = open(text);
    let rest = text.strip_prefix(right.as_str()).unwrap_or_default();
    !right.is_empty() && rest.trim_start_matches([')', ' ']).starts_with('>')
}

fn logical(expr: &Expr, a: &Expr, b: &Expr, mutants: &mut Vec<Mutant>) {
    let (boxed_a, boxed_b) = (Box::new(a.clone()), Box::new(b.clone()));
    let (kind, sign) = match expr.kind {
        ExprKind::And(..) => (ExprKind::Or(boxed_a, boxed_b), "||"),
        _ => (ExprKind::And(boxed_a, boxed_b), "&&"),
    };
    let (left, right) = (operand(a, &is_logical), operand(b, &is_logical));
    mutants.push(made(Mutator::Cor, expr, node(expr, kind), format!("{left} {sign} {right}")));
    mutants.push(made(Mutator::Cor, expr, a.clone(), shown(a)));
    mutants.push(made(Mutator::Cor, expr, b.clone(), shown(b)));
    for value in [1, 0] {
        mutants.push(made(Mutator::Cor, expr, Expr::constant(Ty::I1, value), (value == 1).to_string()));
    }
}

/// Mutants of a truth value that is read as such.
fn truths(expr: &Expr, mutants: &mut Vec<Mutant>) {
    for value in [1, 0] {
        mutants.push(made(Mutator::Ror, expr, Expr::constant(Ty::I1, value), (value == 1).to_string()));
    }
    let not = node(expr, ExprKind::Not(Box::new(expr.clone())));
    mutants.push(made(Mutator::Uoi, expr, not, format!("!({})", expr.text)));
}

fn constants(expr: &Expr, value: u64, mutants: &mut Vec<Mutant>) {
    let bits = expr.ty.bits();
    let mut others = Vec::new();
    for other in [0, 1, u64::MAX, value.wrapping_add(1), value.wrapping_sub(1), value.wrapping_neg()] {
        let other = mask(other, bits);
        if other != value && !others.contains(&other) {
            others.push(other);
        }
    }
    for other in others {
        let shown = if expr.signed { touchstone_ir::sign_extend(other, bits).to_string() } else { other.to_string() };
        mutants.push(made(Mutator::Crp, expr, Expr::constant(expr.ty, other), shown));
    }
}
