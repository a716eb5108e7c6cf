//! Weak mutation (seed 002, theorem 2): for every mutant of a side-effect-free expression, a run reaches it in a state in
//! which the mutant's value differs. The label is `expr != expr'`, and for conditions `cond xor cond'`.
//!
//! Operators, each switchable by name: ABS (absolute value), AOR (arithmetic operator), ROR (relation), COR (logical
//! operator, also called LCR), UOI (unary operator inserted, AOIU), CRP (constant), VRP (variable).
//! Mutants of a left side, and mutants with side effects, are not made.

mod float;

use crate::Goal;
use crate::registry::{Draft, Labelling, Scope};
use touchstone_ir::{BinOp, CmpOp, Expr, ExprKind, PointKind, Ty, mask};

pub(crate) struct Wm;

impl Labelling for Wm {
    fn name(&self) -> &'static str {
        "wm"
    }
    fn about(&self) -> &'static str {
        "every mutant of an expression differs from it in some reached state"
    }
    fn objectives(&self, scope: &Scope<'_>) -> Vec<Draft> {
        let variables = variables(scope);
        let mut drafts = Vec::new();
        for (id, point) in scope.function().points.iter() {
            let expr = match &point.kind {
                PointKind::Value(expr) | PointKind::Condition { value: expr, .. } => expr,
                PointKind::Statement | PointKind::Label { .. } => continue,
            };
            let mut mutants = Vec::new();
            mutate(expr, &variables, &mut mutants);
            for mutant in mutants {
                let wanted = &scope.options.mutators;
                if !wanted.is_empty() && !wanted.iter().any(|name| name.eq_ignore_ascii_case(mutant.operator)) {
                    continue;
                }
                let predicate = match expr.format() {
                    Some(format) => float::differs(format, expr, &mutant.expr),
                    None => Expr::cmp(CmpOp::Ne, expr.clone(), mutant.expr),
                };
                drafts.push(Draft {
                    goal: Goal::Label { func: scope.func, point: id, predicate: Some(predicate) },
                    span: point.span,
                    text: format!("{} {} -> {}", mutant.operator, mutant.from, mutant.to),
                    known: None,
                });
            }
        }
        drafts
    }
}

/// A mutant of a whole expression.
struct Mutant {
    operator: &'static str,
    expr: Expr,
    /// The part that was changed, and what it became.
    from: String,
    to: String,
}

/// The variables that expressions of the function read, each once.
fn variables(scope: &Scope<'_>) -> Vec<Expr> {
    fn collect(expr: &Expr, found: &mut Vec<Expr>) {
        if (is_variable(expr) || float::is_variable(expr)) && !found.iter().any(|known| known.text == expr.text) {
            found.push(expr.clone());
        }
        for part in expr.parts() {
            collect(part, found);
        }
    }
    let mut found = Vec::new();
    for point in scope.function().points.values() {
        if let PointKind::Value(expr) | PointKind::Condition { value: expr, .. } = &point.kind {
            collect(expr, &mut found);
        }
    }
    found
}

/// A plain variable: its text is one identifier.
fn is_variable(expr: &Expr) -> bool {
    let plain = !expr.text.is_empty() && expr.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain && matches!(expr.kind, ExprKind::Reg(_) | ExprKind::Load(_)) && matches!(expr.ty, Ty::Int(bits) if bits > 1)
}

/// All mutants of an expression: of itself, and with one mutated part.
fn mutate(expr: &Expr, variables: &[Expr], mutants: &mut Vec<Mutant>) {
    own_mutants(expr, variables, mutants);
    for index in 0..expr.parts().len() {
        let mut inner = Vec::new();
        mutate(expr.parts()[index], variables, &mut inner);
        for mutant in inner {
            mutants.push(Mutant { expr: with_part(expr, index, mutant.expr), ..mutant });
        }
    }
}

/// The expression with another part at this position.
fn with_part(expr: &Expr, index: usize, part: Expr) -> Expr {
    let mut made = expr.clone();
    let slot: &mut Expr = match (&mut made.kind, index) {
        (ExprKind::Float(_, _, args), _) if index < args.len() => &mut args[index],
        (ExprKind::Load(a) | ExprKind::Cast(_, a) | ExprKind::AsFloat(_, a) | ExprKind::Not(a), _) => a,
        (
            ExprKind::Bin(_, a, _)
            | ExprKind::Cmp(_, a, _)
            | ExprKind::PtrAdd(a, _)
            | ExprKind::And(a, _)
            | ExprKind::Or(a, _)
            | ExprKind::Ite(a, _, _),
            0,
        ) => a,
        (
            ExprKind::Bin(_, _, b)
            | ExprKind::Cmp(_, _, b)
            | ExprKind::PtrAdd(_, b)
            | ExprKind::And(_, b)
            | ExprKind::Or(_, b)
            | ExprKind::Ite(_, b, _),
            1,
        ) => b,
        (ExprKind::Ite(_, _, c), _) => c,
        _ => return made,
    };
    *slot = part;
    made
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
        ExprKind::Const(value) if matches!(expr.ty, Ty::Int(bits) if bits > 1) => constants(expr, *value, mutants),
        _ => {}
    }
    if is_variable(expr) {
        let fits = |other: &&Expr| other.ty == expr.ty && other.format().is_none() && other.text != expr.text;
        for other in variables.iter().filter(fits) {
            mutants.push(made("VRP", expr, other.clone(), other.text.clone()));
        }
    }
    let is_number = matches!(expr.ty, Ty::Int(bits) if bits > 1);
    let computes = is_variable(expr) || matches!(expr.kind, ExprKind::Bin(..) | ExprKind::Load(_));
    if is_number && computes {
        let minus = negated(expr);
        if expr.signed {
            let negative = Expr::cmp(CmpOp::Slt, expr.clone(), Expr::constant(expr.ty, 0));
            let absolute =
                node(expr, ExprKind::Ite(Box::new(negative), Box::new(minus.clone()), Box::new(expr.clone())));
            mutants.push(made("ABS", expr, absolute.clone(), format!("abs({})", expr.text)));
            mutants.push(made("ABS", expr, negated(&absolute), format!("-abs({})", expr.text)));
        }
        mutants.push(made("UOI", expr, minus, format!("-({})", expr.text)));
    }
    if expr.ty == Ty::I1 && matches!(expr.kind, ExprKind::Cmp(..)) {
        let not = node(expr, ExprKind::Not(Box::new(expr.clone())));
        mutants.push(made("UOI", expr, not, format!("!({})", expr.text)));
    }
}

fn node(like: &Expr, kind: ExprKind) -> Expr {
    Expr { kind, ty: like.ty, signed: like.signed, text: String::new() }
}

fn negated(expr: &Expr) -> Expr {
    let zero = Expr::constant(expr.ty, 0);
    node(expr, ExprKind::Bin(BinOp::Sub, Box::new(zero), Box::new(expr.clone())))
}

fn made(operator: &'static str, from: &Expr, to: Expr, text: String) -> Mutant {
    Mutant { operator, expr: to, from: from.text.clone(), to: text }
}

fn arithmetic(expr: &Expr, op: BinOp, a: &Expr, b: &Expr, mutants: &mut Vec<Mutant>) {
    let (divide, remainder) = if expr.signed { (BinOp::SDiv, BinOp::SRem) } else { (BinOp::UDiv, BinOp::URem) };
    let family = [(BinOp::Add, "+"), (BinOp::Sub, "-"), (BinOp::Mul, "*"), (divide, "/"), (remainder, "%")];
    // The minus of a negation has no left side to keep.
    if !family.iter().any(|(known, _)| *known == op) || a.text.is_empty() {
        return;
    }
    for (other, sign) in family.into_iter().filter(|(other, _)| *other != op) {
        let kind = ExprKind::Bin(other, Box::new(a.clone()), Box::new(b.clone()));
        mutants.push(made("AOR", expr, node(expr, kind), format!("{} {sign} {}", a.text, b.text)));
    }
}

fn relations(expr: &Expr, op: CmpOp, a: &Expr, b: &Expr, mutants: &mut Vec<Mutant>) {
    let (less, less_equal) = if expr.signed { (CmpOp::Slt, CmpOp::Sle) } else { (CmpOp::Ult, CmpOp::Ule) };
    // (relation, operands swapped, sign)
    let family = [
        (CmpOp::Eq, false, "=="),
        (CmpOp::Ne, false, "!="),
        (less, false, "<"),
        (less_equal, false, "<="),
        (less, true, ">"),
        (less_equal, true, ">="),
    ];
    for (other, swapped, sign) in family {
        if other == op && !swapped {
            continue;
        }
        let (x, y) = if swapped { (b, a) } else { (a, b) };
        let kind = ExprKind::Cmp(other, Box::new(x.clone()), Box::new(y.clone()));
        mutants.push(made("ROR", expr, node(expr, kind), format!("{} {sign} {}", a.text, b.text)));
    }
    for value in [1, 0] {
        mutants.push(made("ROR", expr, Expr::constant(Ty::I1, value), (value == 1).to_string()));
    }
}

fn logical(expr: &Expr, a: &Expr, b: &Expr, mutants: &mut Vec<Mutant>) {
    let (boxed_a, boxed_b) = (Box::new(a.clone()), Box::new(b.clone()));
    let (kind, sign) = match expr.kind {
        ExprKind::And(..) => (ExprKind::Or(boxed_a, boxed_b), "||"),
        _ => (ExprKind::And(boxed_a, boxed_b), "&&"),
    };
    mutants.push(made("COR", expr, node(expr, kind), format!("{} {sign} {}", a.text, b.text)));
    mutants.push(made("COR", expr, a.clone(), a.text.clone()));
    mutants.push(made("COR", expr, b.clone(), b.text.clone()));
    for value in [1, 0] {
        mutants.push(made("COR", expr, Expr::constant(Ty::I1, value), (value == 1).to_string()));
    }
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
        mutants.push(made("CRP", expr, Expr::constant(expr.ty, other), shown));
    }
}
