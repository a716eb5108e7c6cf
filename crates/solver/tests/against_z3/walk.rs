//! One random walk: values are computed, memory is read and written, and at each branch both solvers are asked.
//!
//! Everything that is random comes from a list of choices, and an exhausted list yields zeros; so a failing walk is
//! shrunk by shrinking its list.

use std::time::{Duration, Instant};

use touchstone_solver::{Config, Op, Path, Rel, Side, Solver, TermId, Why};
use z3::ast::{Ast, BV, Bool};
use z3::{Context, Params, SatResult};

use crate::twin::{Memory, Twins, Value};

/// The results of a walk. Times are those of the queries that both solvers answered.
#[derive(Default)]
pub struct Tally {
    pub questions: u64,
    pub feasible: u64,
    pub infeasible: u64,
    /// Questions that we gave up on, at the conflict limit.
    pub our_unknowns: u64,
    /// Questions that Z3 gave up on, at the resource limit.
    pub their_unknowns: u64,
    /// The number of those that we call infeasible and that Z3 did not decide at the second attempt either.
    pub unconfirmed: u64,
    /// Models of ours that were evaluated in Z3.
    pub models: u64,
    pub ranges: u64,
    pub values: u64,
    pub reads: u64,
    pub ours: Times,
    pub theirs: Times,
}

/// The times of all queries. The mean alone would describe only the few hard ones.
#[derive(Default, Clone, Debug)]
pub struct Times(Vec<Duration>);

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let (Some(&median), Some(&slowest)) = (sorted.get(sorted.len() / 2), sorted.last()) else {
            return write!(f, "never asked");
        };
        let mean = sorted.iter().sum::<Duration>() / sorted.len() as u32;
        write!(f, "median {median:.1?}, mean {mean:.1?}, at most {slowest:.1?}")
    }
}

impl Tally {
    /// Takes in another.
    pub fn add(&mut self, other: &Tally) {
        self.questions += other.questions;
        self.feasible += other.feasible;
        self.infeasible += other.infeasible;
        self.our_unknowns += other.our_unknowns;
        self.their_unknowns += other.their_unknowns;
        self.unconfirmed += other.unconfirmed;
        self.models += other.models;
        self.ranges += other.ranges;
        self.values += other.values;
        self.reads += other.reads;
        self.ours.0.extend(&other.ours.0);
        self.theirs.0.extend(&other.theirs.0);
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { questions, feasible, infeasible, our_unknowns, their_unknowns, unconfirmed, .. } = self;
        let Tally { models, ranges, values, reads, .. } = self;
        writeln!(f, "{questions} questions: {feasible} feasible, {infeasible} infeasible, {our_unknowns} unknown")?;
        writeln!(f, "  Z3: {their_unknowns} unknown, {unconfirmed} refutations of ours unconfirmed")?;
        writeln!(
            f,
            "  compared too: {models} models, {ranges} ranges, {values} lists of values; {reads} reads of memory"
        )?;
        writeln!(f, "  time, ours: {}", self.ours)?;
        write!(f, "  time, Z3:   {}", self.theirs)
    }
}

/// The source of everything random.
pub struct Choices<'a> {
    list: &'a [u16],
    next: usize,
}

impl<'a> Choices<'a> {
    pub fn new(list: &'a [u16]) -> Choices<'a> {
        Choices { list, next: 0 }
    }

    fn take(&mut self) -> u16 {
        self.next += 1;
        self.list.get(self.next - 1).copied().unwrap_or(0)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.take()) % bound
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn is_over(&self) -> bool {
        self.next >= self.list.len()
    }
}

/// The budget of Z3 for a query: a number of steps, so that the walk is the same on every machine.
const RESOURCES: u32 = 400_000;
/// Our budget for a query.
const CONFLICTS: u64 = 20_000;

const WIDTHS: [u8; 12] = [8, 32, 64, 16, 1, 5, 13, 24, 33, 63, 32, 64];
const OPS: [Op; 17] = [
    Op::Add,
    Op::Sub,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::Add,
    Op::Sub,
    Op::And,
    Op::Xor,
];
const RELS: [Rel; 5] = [Rel::Eq, Rel::Ult, Rel::Ule, Rel::Slt, Rel::Sle];

fn limited(context: &Context, resources: u32) -> z3::Solver<'_> {
    let solver = z3::Solver::new(context);
    let mut params = Params::new(context);
    params.set_u32("rlimit", resources);
    solver.set_params(&params);
    solver
}

/// A walk under way.
pub struct Walk<'a, 'c> {
    choices: Choices<'a>,
    twins: Twins<'c>,
    values: Vec<Value<'c>>,
    conditions: Vec<Value<'c>>,
    memories: Vec<Memory<'c>>,
    offsets: Vec<Value<'c>>,
    solver: Solver,
    path: Path,
    z3: z3::Solver<'c>,
    taken: Vec<Bool<'c>>,
    pub tally: Tally,
}

impl<'a, 'c> Walk<'a, 'c> {
    pub fn new(context: &'c Context, choices: Choices<'a>, config: Config) -> Walk<'a, 'c> {
        Walk {
            choices,
            twins: Twins::new(context),
            values: Vec::new(),
            conditions: Vec::new(),
            memories: Vec::new(),
            offsets: Vec::new(),
            solver: Solver::new(Config { conflicts: Some(CONFLICTS), ..config }),
            path: Path::new(),
            z3: limited(context, RESOURCES),
            taken: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Walks until the choices are used up. The error says what disagrees, with both views of the path.
    pub fn run(&mut self) -> Result<(), String> {
        self.start();
        while !self.choices.is_over() {
            match self.choices.below(16) {
                0..=2 => {
                    let value = self.compute();
                    self.values.push(value);
                }
                3..=6 => self.step_read()?,
                7..=9 => self.step_store()?,
                10..=13 => self.step_branch()?,
                14 => self.step_assume()?,
                _ => self.step_bounds()?,
            }
        }
        Ok(())
    }

    /// Some variables, and some objects that hold variables, constants and values.
    fn start(&mut self) {
        for _ in 0..2 + self.choices.below(3) {
            let width = self.choices.of(&WIDTHS);
            let var = self.twins.var(width);
            self.values.push(var);
        }
        for _ in 0..self.choices.of(&[1, 1, 0, 2]) {
            let bytes = self.choices.of(&[1u8, 4, 2, 8, 3]);
            let mut contents = Vec::new();
            for _ in 0..1 + self.choices.below(7) {
                let width = 8 * if self.choices.below(16) == 15 { self.choices.of(&[1u8, 2, 4, 8]) } else { bytes };
                contents.push(match self.choices.below(4) {
                    0 => self.constant(width),
                    1 => self.operand(width),
                    _ => {
                        let var = self.twins.var(width);
                        self.values.push(var.clone());
                        var
                    }
                });
            }
            let memory = self.twins.memory(&contents);
            self.memories.push(memory);
        }
    }

    fn constant(&mut self, width: u8) -> Value<'c> {
        let value = match self.choices.below(8) {
            0..=3 => self.choices.below(10) as u64,
            4 => (self.choices.below(4) as u64).wrapping_neg(),
            5 => 1u64 << self.choices.below(usize::from(width)),
            6 => (1u64 << (width - 1)).wrapping_sub(self.choices.below(3) as u64),
            _ => (0..4).fold(0, |bits, _| bits << 16 | u64::from(self.choices.take())),
        };
        self.twins.constant(width, value)
    }

    /// Any value so far, the new ones more often.
    fn any(&mut self) -> Value<'c> {
        let count = self.values.len();
        let recent = self.choices.below(2) == 1;
        let back = self.choices.below(if recent { count.min(4) } else { count });
        self.values[count - 1 - back].clone()
    }

    /// Any value so far, brought to a width.
    fn operand(&mut self, width: u8) -> Value<'c> {
        if self.choices.below(5) == 4 {
            return self.constant(width);
        }
        let value = self.any();
        self.fit(&value, width)
    }

    fn fit(&mut self, value: &Value<'c>, width: u8) -> Value<'c> {
        if value.width == width {
            value.clone()
        } else if value.width > width {
            let low = if self.choices.below(2) == 0 { 0 } else { self.choices.below(usize::from(value.width - width)) };
            self.twins.extract(value, low as u8, width)
        } else if self.choices.below(2) == 0 {
            self.twins.zext(value, width)
        } else {
            self.twins.sext(value, width)
        }
    }

    fn compute(&mut self) -> Value<'c> {
        let a = self.any();
        match self.choices.below(12) {
            0..=6 => {
                let op = self.choices.of(&OPS);
                // Products and quotients of wide variables are hard for every solver; a few of them suffice.
                let hard = matches!(op, Op::Mul | Op::UDiv | Op::SDiv | Op::URem | Op::SRem) && a.width > 16;
                let easy = hard && self.choices.below(16) != 15;
                let b = if easy { self.constant(a.width) } else { self.operand(a.width) };
                if self.choices.below(4) == 3 { self.twins.bin(op, &b, &a) } else { self.twins.bin(op, &a, &b) }
            }
            7 => self.twins.not(&a),
            8 => {
                let (condition, b) = (self.condition(), self.operand(a.width));
                self.twins.ite(&condition, &a, &b)
            }
            9 => {
                let width = self.choices.of(&WIDTHS);
                self.fit(&a, width)
            }
            10 if a.width < 64 => {
                let width = 1 + self.choices.below(usize::from(64 - a.width)) as u8;
                let low = self.operand(width);
                self.twins.concat(&a, &low)
            }
            _ => {
                let condition = self.condition();
                self.fit(&condition, a.width)
            }
        }
    }

    /// A new condition, or one of the old ones again, joined or negated.
    fn condition(&mut self) -> Value<'c> {
        let kind = self.choices.below(10);
        let condition = if kind < 7 || self.conditions.is_empty() {
            let a = self.any();
            let b = if self.choices.below(3) == 0 { self.constant(a.width) } else { self.operand(a.width) };
            let rel = self.choices.of(&RELS);
            if self.choices.below(2) == 0 { self.twins.cmp(rel, &a, &b) } else { self.twins.cmp(rel, &b, &a) }
        } else {
            let (x, y) = (self.choices.below(self.conditions.len()), self.choices.below(self.conditions.len()));
            let (x, y) = (self.conditions[x].clone(), self.conditions[y].clone());
            let op = self.choices.of(&[Op::And, Op::Or, Op::Xor]);
            if kind < 9 { self.twins.bin(op, &x, &y) } else { self.twins.not(&x) }
        };
        self.conditions.push(condition.clone());
        condition
    }

    /// A memory, an offset into it, a size of access, and whether the access is in bounds.
    fn place(&mut self) -> Option<(usize, Value<'c>, u8, Value<'c>)> {
        if self.memories.is_empty() {
            return None;
        }
        let at = self.choices.below(self.memories.len());
        let mut bytes = self.choices.of(&[1u8, 4, 2, 8, 3]);
        if u64::from(bytes) > self.memories[at].size && self.choices.below(8) != 7 {
            bytes = 1;
        }
        // Accesses that meet earlier ones, exactly or by a part, are where mistakes hide.
        let mut offset = if self.choices.below(2) == 1 && !self.offsets.is_empty() {
            let earlier = self.choices.below(self.offsets.len());
            self.offsets[earlier].clone()
        } else {
            let index = self.any();
            let index = self.fit(&index, 64);
            let scale = self.choices.of(&[1, u64::from(bytes), u64::from(bytes), u64::from(bytes)]);
            let scale = self.twins.constant(64, scale);
            self.twins.bin(Op::Mul, &index, &scale)
        };
        if self.choices.below(3) == 2 {
            let shift = self.choices.below(9) as u64;
            let shift = self.twins.constant(64, shift.wrapping_sub(4));
            offset = self.twins.bin(Op::Add, &offset, &shift);
        }
        self.offsets.push(offset.clone());
        let inside = match self.memories[at].size.checked_sub(u64::from(bytes)) {
            Some(last) => {
                let last = self.twins.constant(64, last);
                self.twins.cmp(Rel::Ule, &offset, &last)
            }
            None => self.twins.constant(1, 0),
        };
        Some((at, offset, bytes, inside))
    }

    /// A read of which the bounds were assumed, or one that only matters in bounds.
    fn step_read(&mut self) -> Result<(), String> {
        let Some((at, offset, bytes, inside)) = self.place() else { return Ok(()) };
        self.tally.reads += 1;
        let value = if self.choices.below(4) == 3 {
            let other = self.operand(bytes * 8);
            let read = self.twins.read(&self.memories[at].clone(), &offset, bytes);
            self.twins.ite(&inside, &read, &other)
        } else {
            if !self.assume(&inside)? {
                return Ok(());
            }
            self.twins.read(&self.memories[at].clone(), &offset, bytes)
        };
        self.values.push(value);
        Ok(())
    }

    /// A write of which the bounds were assumed, or one that may be dropped.
    fn step_store(&mut self) -> Result<(), String> {
        let Some((at, offset, bytes, inside)) = self.place() else { return Ok(()) };
        if self.choices.below(4) != 3 && !self.assume(&inside)? {
            return Ok(());
        }
        let value = self.operand(bytes * 8);
        self.memories[at] = self.twins.store(&self.memories[at].clone(), &offset, &value);
        Ok(())
    }

    fn step_branch(&mut self) -> Result<(), String> {
        let condition = self.condition();
        let negated = self.twins.not(&condition);
        let start = Instant::now();
        let (yes, no) = self.solver.branch(&mut self.twins.terms, &self.path, condition.ours);
        self.spent(start.elapsed(), 2);
        let yes = self.compare("branch, true", yes, &condition)?;
        let no = self.compare("branch, false", no, &negated)?;
        let first = self.choices.below(2) == 0;
        match (yes, no) {
            (Some(path), None) => self.go(path, &condition),
            (None, Some(path)) => self.go(path, &negated),
            (Some(path), Some(_)) if first => self.go(path, &condition),
            (Some(_), Some(path)) => self.go(path, &negated),
            (None, None) => {}
        }
        Ok(())
    }

    fn step_assume(&mut self) -> Result<(), String> {
        let condition = self.condition();
        self.assume(&condition).map(|_| ())
    }

    /// Takes a condition into the path, if it is possible.
    fn assume(&mut self, condition: &Value<'c>) -> Result<bool, String> {
        let start = Instant::now();
        let side = self.solver.assume(&mut self.twins.terms, &self.path, condition.ours);
        self.spent(start.elapsed(), 1);
        let path = self.compare("assume", side, condition)?;
        let possible = path.is_some();
        if let Some(path) = path {
            self.go(path, condition);
        }
        Ok(possible)
    }

    /// No value of a term is outside of its range, and the values that are listed are its values.
    fn step_bounds(&mut self) -> Result<(), String> {
        let value = self.any();
        let range = self.solver.range(&self.twins.terms, &self.path, value.ours);
        let width = u32::from(value.width);
        let constant = |bits: u64| BV::from_i64(self.twins.context, bits as i64, 64).extract(width - 1, 0);
        let outside = Bool::or(
            self.twins.context,
            &[
                &value.theirs.bvult(&constant(range.unsigned.0)),
                &value.theirs.bvugt(&constant(range.unsigned.1)),
                &value.theirs.bvslt(&constant(range.signed.0 as u64)),
                &value.theirs.bvsgt(&constant(range.signed.1 as u64)),
            ],
        );
        self.tally.ranges += 1;
        if self.ask(&outside) == SatResult::Sat {
            return Err(self.report(&format!("a value is outside of {range:?}"), value.ours));
        }
        let listed = self.solver.values(&mut self.twins.terms, &self.path, value.ours, 4);
        self.tally.values += 1;
        let constant = |bits: u64| BV::from_u64(self.twins.context, bits, width);
        let equal: Vec<Bool<'c>> = listed.values.iter().map(|&v| value.theirs._eq(&constant(v))).collect();
        for (is, bits) in equal.iter().zip(&listed.values) {
            if self.ask(is) == SatResult::Unsat {
                return Err(self.report(&format!("{bits} is not a value"), value.ours));
            }
        }
        let any = Bool::or(self.twins.context, &equal.iter().collect::<Vec<_>>());
        if listed.complete && self.ask(&any.not()) == SatResult::Sat {
            return Err(self.report(&format!("{:?} are not all values", listed.values), value.ours));
        }
        Ok(())
    }

    fn go(&mut self, path: Path, condition: &Value<'c>) {
        let truth = self.twins.truth(condition);
        self.z3.assert(&truth);
        self.taken.push(truth);
        self.path = path;
    }

    fn spent(&mut self, time: Duration, questions: u32) {
        self.tally.ours.0.extend((0..questions).map(|_| time / questions));
    }

    fn ask(&self, condition: &Bool<'c>) -> SatResult {
        self.z3.push();
        self.z3.assert(condition);
        let answer = self.z3.check();
        self.z3.pop(1);
        answer
    }

    /// Asks a solver that has not seen the path grow, so that it may preprocess, and lets it spend more.
    fn ask_again(&self, condition: &Bool<'c>) -> SatResult {
        let fresh = limited(self.twins.context, 20 * RESOURCES);
        self.taken.iter().chain([condition]).for_each(|c| fresh.assert(c));
        fresh.check()
    }

    /// Our answer to "path and condition", against Z3's. The path, if the condition is possible.
    fn compare(&mut self, what: &str, side: Side, condition: &Value<'c>) -> Result<Option<Path>, String> {
        let truth = self.twins.truth(condition);
        let start = Instant::now();
        let theirs = self.ask(&truth);
        self.tally.theirs.0.push(start.elapsed());
        self.tally.questions += 1;
        self.tally.their_unknowns += u64::from(theirs == SatResult::Unknown);
        match side {
            Side::Feasible(path) => {
                self.tally.feasible += 1;
                if theirs == SatResult::Unsat {
                    return Err(self.report(&format!("{what}: feasible here, unsat in Z3"), condition.ours));
                }
                self.confirm(&path, &truth).map_err(|why| self.report(&format!("{what}: {why}"), condition.ours))?;
                Ok(Some(path))
            }
            Side::Infeasible => {
                self.tally.infeasible += 1;
                let theirs = if theirs == SatResult::Unknown { self.ask_again(&truth) } else { theirs };
                self.tally.unconfirmed += u64::from(theirs == SatResult::Unknown);
                match theirs {
                    SatResult::Sat => Err(self.report(&format!("{what}: infeasible here, sat in Z3"), condition.ours)),
                    _ => Ok(None),
                }
            }
            Side::Unknown(Why::Conflicts) => {
                self.tally.our_unknowns += 1;
                Ok(None)
            }
            Side::Unknown(why) => Err(self.report(&format!("{what}: unknown here: {why:?}"), condition.ours)),
        }
    }

    /// Checks that our model of the new path satisfies all conditions that Z3 received.
    fn confirm(&mut self, path: &Path, last: &Bool<'c>) -> Result<(), String> {
        let model = path.model();
        let values: Vec<BV<'c>> = self
            .twins
            .variables
            .iter()
            .map(|(var, theirs)| BV::from_u64(self.twins.context, model.value(*var), theirs.get_size()))
            .collect();
        let pairs: Vec<(&BV<'c>, &BV<'c>)> = self.twins.variables.iter().map(|v| &v.1).zip(&values).collect();
        self.tally.models += 1;
        for condition in self.taken.iter().chain([last]) {
            if condition.substitute(&pairs).simplify().as_bool() != Some(true) {
                return Err(format!("the model {pairs:?} breaks {condition} in Z3"));
            }
        }
        Ok(())
    }

    fn report(&self, what: &str, term: TermId) -> String {
        let ours: Vec<String> =
            self.path.constraints().iter().map(|&c| self.twins.terms.display(c).to_string()).collect();
        format!("{what}\nterm: {}\npath:\n  {}\nin Z3:\n{}", self.twins.terms.display(term), ours.join("\n  "), self.z3)
    }
}
