//! A reference semantics of random tests: a plain interpreter that carries with every value the updates that it depends
//! on. It implements the rules of docs/state.md on a tree instead of a trace.

use super::language::{Form, GLOBALS, Statement, Test, Value, Variable, Way};
use std::collections::BTreeSet;

/// Updates of globals, by number.
type Updates = BTreeSet<usize>;

#[derive(Clone, Default)]
struct Seen {
    value: u32,
    from: Updates,
}

enum End {
    Goes,
    /// A loop is left; what that depends on.
    Breaks(Updates),
    Returns(Seen),
}

/// A run of a test.
#[derive(Default)]
struct Run {
    globals: Vec<Seen>,
    locals: Vec<Seen>,
    /// By global: its last update.
    last: Vec<Option<usize>>,
    updates: usize,
    /// An update that gets another value: by how much.
    changed: Option<(usize, u32)>,
    form: Form,
}

/// The expected state coverage of a global at the end of a test.
#[derive(Debug)]
pub struct Truth {
    pub global: usize,
    /// Another last value of it changes what is asserted.
    pub shows: bool,
    /// True if an assertion depends on the last value.
    pub depends: bool,
}

/// The value that a test asserts something about, and what is true of the globals that it changed.
pub fn truth(test: &Test, form: Form) -> (u32, Vec<Truth>) {
    let (run, seen) = run(test, None, form);
    let truths = run.last.iter().enumerate().filter_map(|(global, last)| {
        let last = (*last)?;
        let others = (0..32).flat_map(|bit| [1u32 << bit, 3 << bit, (1u32 << bit).wrapping_neg()]);
        let shows = others.into_iter().any(|by| self::run(test, Some((last, by)), form).1.value != seen.value);
        Some(Truth { global, shows, depends: seen.from.contains(&last) })
    });
    (seen.value, truths.collect())
}

fn run((statements, asserted): &Test, changed: Option<(usize, u32)>, form: Form) -> (Run, Seen) {
    let value = |value| Seen { value, from: Updates::new() };
    let mut run = Run {
        globals: (0..GLOBALS.len() as u32).map(|global| value(global + 2)).collect(),
        locals: [1, 2, 3].map(value).to_vec(),
        last: vec![None; GLOBALS.len()],
        updates: 0,
        changed,
        form,
    };
    let mut control = Updates::new();
    let seen = match run.block(statements, &mut control) {
        End::Returns(seen) => seen,
        End::Goes | End::Breaks(_) => run.eval(asserted).and(&control),
    };
    (run, seen)
}

impl Seen {
    fn and(mut self, more: &Updates) -> Seen {
        self.from.extend(more);
        self
    }
}

impl Run {
    fn eval(&self, value: &Value) -> Seen {
        let both = |left: &Value, right: &Value, compute: &dyn Fn(u32, u32) -> u32| {
            let (left, right) = (self.eval(left), self.eval(right));
            Seen { value: compute(left.value, right.value), from: right.from }.and(&left.from)
        };
        match value {
            Value::Global(global) => self.globals[*global].clone(),
            Value::Local(local) => self.locals[*local].clone(),
            Value::Constant(value) => Seen { value: *value, from: Updates::new() },
            Value::Add(left, right) => both(left, right, &u32::wrapping_add),
            Value::Xor(left, right) => both(left, right, &|left, right| left ^ right),
            Value::Triple(inner) => {
                let inner = self.eval(inner);
                Seen { value: inner.value.wrapping_mul(3), ..inner }
            }
            Value::Choose(condition, chosen) => {
                let condition = self.eval(condition);
                let chosen =
                    if condition.value & 1 == 1 { self.eval(chosen) } else { Seen { value: 4, ..Seen::default() } };
                chosen.and(&condition.from)
            }
            Value::Both(left, right) => {
                let left = self.eval(left);
                let right = if left.value < 5 { self.eval(right) } else { Seen::default() };
                Seen { value: u32::from(left.value < 5 && right.value > 2), from: right.from }.and(&left.from)
            }
            Value::Help(left, right) => both(left, right, &|left, right| {
                if left & 1 == 1 { left.wrapping_add(right) } else { (right & 3) ^ left }
            }),
            Value::Pair(left, right) if self.form == Form::Java => {
                let (left, right) = (self.eval(left), self.eval(right));
                let chosen = if left.value != 0 { right } else { Seen { value: 7, from: Updates::new() } };
                chosen.and(&left.from)
            }
            Value::Lambda(left, global) => both(left, &Value::Global(*global), &u32::wrapping_add),
            Value::Reference(left) => both(left, &Value::Global(4), &u32::wrapping_add),
            Value::Clone(global) => self.globals[*global].clone(),
            Value::Element(left, _) | Value::Through(left) => self.eval(left),
            Value::Dispatch(left) => {
                let left = self.eval(left);
                Seen { value: if left.value & 1 == 1 { 1 } else { 2 }, ..left }
            }
            // An object that is passed is passed as a whole.
            Value::Pair(left, right) => both(left, right, &|left, right| if left != 0 { right } else { 7 }),
        }
    }

    fn set(&mut self, variable: Variable, mut seen: Seen) {
        match variable {
            Variable::Local(local) => self.locals[local] = seen,
            Variable::Global(global) => {
                if let Some((_, by)) = self.changed.filter(|(update, _)| *update == self.updates) {
                    seen.value = seen.value.wrapping_add(by);
                }
                seen.from.insert(self.updates);
                self.last[global] = Some(self.updates);
                self.updates += 1;
                self.globals[global] = seen;
            }
        }
    }

    /// Makes everything that the statement may assign depend on the condition, even if it is not assigned.
    fn touch(&mut self, statement: &Statement, control: &Updates) {
        let mut assigned = BTreeSet::new();
        assigns(statement, &mut assigned);
        for variable in assigned {
            let seen = match variable {
                Variable::Global(global) => &mut self.globals[global],
                Variable::Local(local) => &mut self.locals[local],
            };
            seen.from.extend(control);
        }
    }

    fn block(&mut self, statements: &[Statement], control: &mut Updates) -> End {
        for statement in statements {
            let end = self.statement(statement, control);
            if !matches!(end, End::Goes) {
                return end;
            }
        }
        End::Goes
    }

    fn statement(&mut self, statement: &Statement, control: &mut Updates) -> End {
        let mut inner = control.clone();
        match statement {
            Statement::Set(variable, value, way) => {
                let seen = self.eval(value).and(control);
                if *way == Way::Each {
                    self.set(*variable, Seen { value: 1, ..seen.clone() });
                }
                self.set(*variable, seen);
                return End::Goes;
            }
            Statement::BreakIf(condition) => {
                let condition = self.eval(condition);
                inner.extend(condition.from);
                if condition.value & 1 == 1 {
                    return End::Breaks(inner);
                }
            }
            Statement::ReturnIf(condition, value) => {
                let condition = self.eval(condition);
                inner.extend(condition.from);
                if condition.value & 1 == 1 {
                    return End::Returns(self.eval(value).and(&inner));
                }
            }
            Statement::If(condition, then, otherwise) => {
                let condition = self.eval(condition);
                inner.extend(condition.from);
                let end = self.block(if condition.value & 1 == 1 { then } else { otherwise }, &mut inner);
                if !matches!(end, End::Goes) {
                    return end;
                }
            }
            Statement::Loop(rounds, body) => {
                let mut round = 0;
                loop {
                    let rounds = self.eval(rounds);
                    inner.extend(rounds.from);
                    if round >= rounds.value & 3 {
                        break;
                    }
                    match self.block(body, &mut inner) {
                        End::Goes => {}
                        End::Breaks(because) => {
                            inner = because;
                            break;
                        }
                        End::Returns(seen) => return End::Returns(seen),
                    }
                    round += 1;
                }
            }
            Statement::Switch(value) => {
                let value = self.eval(value);
                inner.extend(value.from);
                let (l0, l1) = (self.locals[0].clone(), self.locals[1].clone());
                match value.value & 3 {
                    0 => self.locals[0] = Seen { value: l0.value.wrapping_add(1), ..l0 }.and(&inner),
                    which => {
                        if which == 1 {
                            let more = self.globals[1].clone();
                            let value = l1.value.wrapping_add(more.value);
                            self.locals[1] = Seen { value, ..l1 }.and(&more.from).and(&inner);
                        }
                        self.locals[2] = self.globals[2].clone().and(&inner);
                    }
                }
            }
        }
        self.touch(statement, &inner);
        // What was not left here would not be reached if it had been.
        if leaves(statement) {
            control.extend(inner);
        }
        End::Goes
    }
}

/// Returns true if a statement can leave the enclosing loop or test.
fn leaves(statement: &Statement) -> bool {
    match statement {
        Statement::BreakIf(_) | Statement::ReturnIf(..) => true,
        Statement::If(_, then, otherwise) => then.iter().chain(otherwise).any(leaves),
        Statement::Loop(_, body) => body.iter().any(returns),
        Statement::Set(..) | Statement::Switch(_) => false,
    }
}

fn returns(statement: &Statement) -> bool {
    match statement {
        Statement::ReturnIf(..) => true,
        Statement::If(_, then, otherwise) => then.iter().chain(otherwise).any(returns),
        Statement::Loop(_, body) => body.iter().any(returns),
        Statement::Set(..) | Statement::Switch(_) | Statement::BreakIf(_) => false,
    }
}

/// Collects the variables that a statement assigns.
fn assigns(statement: &Statement, found: &mut BTreeSet<Variable>) {
    match statement {
        Statement::Set(variable, _, Way::Assign) => {
            found.insert(*variable);
        }
        Statement::If(_, then, otherwise) => then.iter().chain(otherwise).for_each(|inner| assigns(inner, found)),
        Statement::Loop(_, body) => body.iter().for_each(|inner| assigns(inner, found)),
        Statement::Switch(_) => found.extend((0..3).map(Variable::Local)),
        Statement::Set(..) | Statement::BreakIf(_) | Statement::ReturnIf(..) => {}
    }
}
