//! Evaluation of terms over many points at a time: a list of instructions over registers, each register a block of
//! values, one per point. What `Model::eval` does for one point, this does for a block, and must agree with it.

use rustc_hash::FxHashMap;
use touchstone_base::float::{self, FloatOp, Format};
use touchstone_base::{WorkKind, spend};

use crate::models::model::{in_bounds, overlap, shifted, spread};
use crate::terms::path_bounds::parts_of;
use crate::terms::semantics::{apply, holds, mask, signed};
use crate::terms::term::{Array, Op, Rel, Term, TermId};
use crate::terms::term_store::Terms;

/// Points evaluated together; registers of this size stay in the first-level cache.
pub(crate) const BLOCK: usize = 512;

/// The source of an operand.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Const(u64),
    Reg(usize),
}

struct Write {
    offset: Operand,
    value: Operand,
    bytes: u8,
}

struct ReadPlan {
    offset: Operand,
    bytes: u8,
    size: u64,
    writes: Vec<Write>,
    /// (offset, bytes, value)
    elements: Vec<(u64, u8, Operand)>,
    /// All elements have the size of the read and there are no writes.
    uniform: bool,
}

enum Step {
    Not(Operand),
    Bin(Op, Operand, Operand),
    /// The width is that of the operands.
    Cmp(Rel, u8, Operand, Operand),
    Ite(Operand, Operand, Operand),
    Extract(Operand, u8),
    Concat(Operand, Operand, u8),
    Copy(Operand),
    SExt(Operand, u8),
    Read(Box<ReadPlan>),
    Float(FloatOp, Format, [Operand; 3]),
}

struct Instruction {
    target: usize,
    width: u8,
    step: Step,
}

/// Instructions that compute some terms from others, the inputs.
pub(crate) struct TermProgram {
    /// The terms that must be loaded into registers first.
    pub(crate) inputs: Vec<(TermId, usize)>,
    /// The computed terms, lowest first.
    pub(crate) computed: Vec<(TermId, usize)>,
    instructions: Vec<Instruction>,
    registers: Vec<Vec<u64>>,
    home: FxHashMap<TermId, usize>,
}

impl TermProgram {
    /// A program that computes the roots. `is_input` says which terms are given; variables must be among them.
    pub(crate) fn new(terms: &Terms, roots: &[TermId], mut is_input: impl FnMut(TermId) -> bool) -> TermProgram {
        let mut program = TermProgram {
            inputs: Vec::new(),
            computed: Vec::new(),
            instructions: Vec::new(),
            registers: Vec::new(),
            home: FxHashMap::default(),
        };
        let mut stack: Vec<TermId> = roots.to_vec();
        while let Some(&top) = stack.last() {
            if program.home.contains_key(&top) || terms.as_const(top).is_some() {
                stack.pop();
                continue;
            }
            if is_input(top) {
                let register = program.allocate(top);
                program.inputs.push((top, register));
                stack.pop();
                continue;
            }
            let before = stack.len();
            let missing = |id: TermId| terms.as_const(id).is_none() && !program.home.contains_key(&id);
            stack.extend(parts_of(terms.get(top)).into_iter().flatten().filter(|&id| missing(id)));
            if let Term::Read { array, .. } = *terms.get(top) {
                contents(terms, array, |id| {
                    if missing(id) {
                        stack.push(id);
                    }
                });
            }
            if stack.len() == before {
                stack.pop();
                program.emit(terms, top);
            }
        }
        program
    }

    fn allocate(&mut self, term: TermId) -> usize {
        let register = self.registers.len();
        self.registers.push(vec![0; BLOCK]);
        self.home.insert(term, register);
        register
    }

    fn operand(&self, terms: &Terms, term: TermId) -> Operand {
        match (terms.as_const(term), self.home.get(&term)) {
            (Some(value), _) => Operand::Const(value),
            (None, Some(&register)) => Operand::Reg(register),
            (None, None) => Operand::Const(0),
        }
    }

    fn emit(&mut self, terms: &Terms, term: TermId) {
        let of = |id: TermId| self.operand(terms, id);
        let step = match *terms.get(term) {
            Term::Const { value, .. } => Step::Copy(Operand::Const(value)),
            // An unknown variable is 0, as in a model.
            Term::Var { .. } => Step::Copy(Operand::Const(0)),
            Term::Not(a) => Step::Not(of(a)),
            Term::Bin(op, a, b) => Step::Bin(op, of(a), of(b)),
            Term::Cmp(rel, a, b) => Step::Cmp(rel, terms.width(a), of(a), of(b)),
            Term::Ite(c, a, b) => Step::Ite(of(c), of(a), of(b)),
            Term::Extract { term, low, .. } => Step::Extract(of(term), low),
            Term::Concat { high, low } => Step::Concat(of(high), of(low), terms.width(low)),
            Term::ZExt { term, .. } => Step::Copy(of(term)),
            Term::SExt { term, .. } => Step::SExt(of(term), terms.width(term)),
            Term::Read { mut array, offset, bytes } => {
                let mut plan = ReadPlan {
                    offset: of(offset),
                    bytes,
                    size: terms.array_size(array),
                    writes: Vec::new(),
                    elements: Vec::new(),
                    uniform: false,
                };
                loop {
                    match terms.array(array) {
                        Array::Store { array: below, offset, value, bytes } => {
                            plan.writes.push(Write { offset: of(*offset), value: of(*value), bytes: *bytes });
                            array = *below;
                        }
                        Array::Base { elements, .. } => {
                            plan.elements = elements.iter().map(|e| (e.offset, e.bytes, of(e.term))).collect();
                            break;
                        }
                    }
                }
                plan.uniform = plan.writes.is_empty() && plan.elements.iter().all(|e| e.1 == bytes);
                Step::Read(Box::new(plan))
            }
            Term::Float(op, format, args) => Step::Float(op, format, args.map(of)),
        };
        let target = self.allocate(term);
        self.computed.push((term, target));
        self.instructions.push(Instruction { target, width: terms.width(term), step });
    }

    /// The register of an input, to be filled before `run`.
    pub(crate) fn register_mut(&mut self, register: usize) -> &mut [u64] {
        &mut self.registers[register]
    }

    /// The values of a root or of any computed term.
    pub(crate) fn values(&self, register: usize) -> &[u64] {
        &self.registers[register]
    }

    /// The register of a term.
    pub(crate) fn register_of(&self, term: TermId) -> Option<usize> {
        self.home.get(&term).copied()
    }

    /// Computes everything for the first `count` points of the block.
    pub(crate) fn run(&mut self, count: usize) {
        spend(WorkKind::PointEvaluation, (count * self.instructions.len()) as u64);
        for instruction in &self.instructions {
            let mut target = std::mem::take(&mut self.registers[instruction.target]);
            let context = Context { registers: &self.registers };
            context.execute(instruction, &mut target[..count]);
            self.registers[instruction.target] = target;
        }
    }
}

/// All terms that an array's contents are made of, offsets of writes included.
fn contents(terms: &Terms, mut array: crate::terms::term::ArrayId, mut each: impl FnMut(TermId)) {
    loop {
        match terms.array(array) {
            Array::Store { array: below, offset, value, .. } => {
                each(*offset);
                each(*value);
                array = *below;
            }
            Array::Base { elements, .. } => {
                for element in elements {
                    each(element.term);
                }
                return;
            }
        }
    }
}

struct Context<'a> {
    registers: &'a [Vec<u64>],
}

impl Context<'_> {
    fn at(&self, operand: Operand, index: usize) -> u64 {
        match operand {
            Operand::Const(value) => value,
            Operand::Reg(register) => self.registers[register][index],
        }
    }

    fn unary(&self, a: Operand, target: &mut [u64], f: impl Fn(u64) -> u64) {
        match a {
            Operand::Const(x) => target.fill(f(x)),
            Operand::Reg(a) => {
                for (out, &x) in target.iter_mut().zip(&self.registers[a]) {
                    *out = f(x);
                }
            }
        }
    }

    fn binary(&self, a: Operand, b: Operand, target: &mut [u64], f: impl Fn(u64, u64) -> u64) {
        match (a, b) {
            (Operand::Const(x), Operand::Const(y)) => target.fill(f(x, y)),
            (Operand::Reg(a), Operand::Const(y)) => {
                for (out, &x) in target.iter_mut().zip(&self.registers[a]) {
                    *out = f(x, y);
                }
            }
            (Operand::Const(x), Operand::Reg(b)) => {
                for (out, &y) in target.iter_mut().zip(&self.registers[b]) {
                    *out = f(x, y);
                }
            }
            (Operand::Reg(a), Operand::Reg(b)) => {
                let pairs = self.registers[a].iter().zip(&self.registers[b]);
                for (out, (&x, &y)) in target.iter_mut().zip(pairs) {
                    *out = f(x, y);
                }
            }
        }
    }

    fn execute(&self, instruction: &Instruction, target: &mut [u64]) {
        let width = instruction.width;
        let m = mask(width);
        match &instruction.step {
            Step::Not(a) => self.unary(*a, target, |x| !x & m),
            Step::Copy(a) => self.unary(*a, target, |x| x),
            Step::Extract(a, low) => self.unary(*a, target, |x| x >> low & m),
            Step::SExt(a, from) => self.unary(*a, target, |x| signed(*from, x) as u64 & m),
            Step::Concat(h, l, low) => self.binary(*h, *l, target, |h, l| h << low | l),
            Step::Ite(c, a, b) => {
                for (i, out) in target.iter_mut().enumerate() {
                    *out = if self.at(*c, i) == 1 { self.at(*a, i) } else { self.at(*b, i) };
                }
            }
            // The common operations get loops of their own, which vectorise.
            Step::Bin(Op::Add, a, b) => self.binary(*a, *b, target, |x, y| x.wrapping_add(y) & m),
            Step::Bin(Op::Sub, a, b) => self.binary(*a, *b, target, |x, y| x.wrapping_sub(y) & m),
            Step::Bin(Op::Mul, a, b) => self.binary(*a, *b, target, |x, y| x.wrapping_mul(y) & m),
            Step::Bin(Op::And, a, b) => self.binary(*a, *b, target, |x, y| x & y),
            Step::Bin(Op::Or, a, b) => self.binary(*a, *b, target, |x, y| x | y),
            Step::Bin(Op::Xor, a, b) => self.binary(*a, *b, target, |x, y| x ^ y),
            Step::Bin(op, a, b) => self.binary(*a, *b, target, |x, y| apply(*op, width, x, y)),
            Step::Cmp(Rel::Eq, _, a, b) => self.binary(*a, *b, target, |x, y| u64::from(x == y)),
            Step::Cmp(Rel::Ult, _, a, b) => self.binary(*a, *b, target, |x, y| u64::from(x < y)),
            Step::Cmp(Rel::Ule, _, a, b) => self.binary(*a, *b, target, |x, y| u64::from(x <= y)),
            Step::Cmp(rel, w, a, b) => self.binary(*a, *b, target, |x, y| u64::from(holds(*rel, *w, x, y))),
            Step::Float(op, format, [a, b, c]) => {
                if op.arity() < 3 {
                    return self.binary(*a, *b, target, |x, y| float::eval(*op, *format, &[x, y]));
                }
                for (i, out) in target.iter_mut().enumerate() {
                    *out = float::eval(*op, *format, &[self.at(*a, i), self.at(*b, i), self.at(*c, i)]);
                }
            }
            Step::Read(plan) => {
                for (i, out) in target.iter_mut().enumerate() {
                    *out = self.read(plan, i);
                }
            }
        }
    }

    fn read(&self, plan: &ReadPlan, index: usize) -> u64 {
        let at = self.at(plan.offset, index);
        if plan.uniform && at.is_multiple_of(u64::from(plan.bytes)) {
            let element = usize::try_from(at / u64::from(plan.bytes)).ok().and_then(|i| plan.elements.get(i));
            return element.map_or(0, |e| self.at(e.2, index));
        }
        let mut open = in_bounds(at, plan.bytes, plan.size);
        let mut result = 0;
        for write in &plan.writes {
            if open == 0 {
                return result;
            }
            let start = self.at(write.offset, index);
            let hit = open & overlap(at, plan.bytes, start, write.bytes);
            if hit != 0 {
                result |= spread(hit) & shifted(self.at(write.value, index), at, start);
                open &= !hit;
            }
        }
        while open != 0 {
            let position = at + u64::from(open.trailing_zeros());
            let after = plan.elements.partition_point(|e| e.0 <= position);
            let Some(&(offset, bytes, value)) = after.checked_sub(1).and_then(|i| plan.elements.get(i)) else { break };
            let hit = open & overlap(at, plan.bytes, offset, bytes);
            if hit == 0 {
                break;
            }
            result |= spread(hit) & shifted(self.at(value, index), at, offset);
            open &= !hit;
        }
        result
    }
}
