//! Terms that are built twice: by our smart constructors, and plainly in Z3.
//!
//! The Z3 side never sees what our rewriting made of a term, so a wrong rewrite is a mismatch too. It spells out where
//! our semantics differ from SMT-LIB: a shift amount is taken modulo the width, and an access that runs over the end of
//! the address space doesn't wrap (hence indices of 65 bits).

use touchstone_solver::{ArrayId, Element, Op, Rel, Term, TermId, Terms, VarId};
use z3::ast::{Array, Ast, BV, Bool};
use z3::{Context, Sort};

/// A term here and there.
#[derive(Clone)]
pub struct Value<'c> {
    pub ours: TermId,
    pub theirs: BV<'c>,
    pub width: u8,
}

/// The contents of a memory object here and there.
#[derive(Clone)]
pub struct Memory<'c> {
    pub ours: ArrayId,
    pub theirs: Array<'c>,
    pub size: u64,
}

/// Builds both.
pub struct Twins<'c> {
    pub terms: Terms,
    pub context: &'c Context,
    /// Every variable, in the order of their ids.
    pub variables: Vec<(VarId, BV<'c>)>,
}

impl<'c> Twins<'c> {
    pub fn new(context: &'c Context) -> Twins<'c> {
        Twins { terms: Terms::new(), context, variables: Vec::new() }
    }

    pub fn var(&mut self, width: u8) -> Value<'c> {
        let name = format!("x{}", self.variables.len());
        let ours = self.terms.var(width, &name);
        let Term::Var { var, .. } = *self.terms.get(ours) else { panic!("a variable is a variable") };
        let theirs = BV::new_const(self.context, name, u32::from(width));
        self.variables.push((var, theirs.clone()));
        Value { ours, theirs, width }
    }

    pub fn constant(&mut self, width: u8, value: u64) -> Value<'c> {
        let kept = if width == 64 { value } else { value & ((1 << width) - 1) };
        let theirs = BV::from_u64(self.context, kept, u32::from(width));
        Value { ours: self.terms.constant(width, value), theirs, width }
    }

    pub fn not(&mut self, a: &Value<'c>) -> Value<'c> {
        Value { ours: self.terms.not(a.ours), theirs: a.theirs.bvnot(), width: a.width }
    }

    pub fn bin(&mut self, op: Op, a: &Value<'c>, b: &Value<'c>) -> Value<'c> {
        let (x, y) = (&a.theirs, &b.theirs);
        let amount = || y.bvurem(&BV::from_u64(self.context, u64::from(a.width), u32::from(a.width)));
        let theirs = match op {
            Op::Add => x.bvadd(y),
            Op::Sub => x.bvsub(y),
            Op::Mul => x.bvmul(y),
            Op::UDiv => x.bvudiv(y),
            Op::SDiv => x.bvsdiv(y),
            Op::URem => x.bvurem(y),
            Op::SRem => x.bvsrem(y),
            Op::And => x.bvand(y),
            Op::Or => x.bvor(y),
            Op::Xor => x.bvxor(y),
            Op::Shl => x.bvshl(&amount()),
            Op::LShr => x.bvlshr(&amount()),
            Op::AShr => x.bvashr(&amount()),
        };
        Value { ours: self.terms.bin(op, a.ours, b.ours), theirs, width: a.width }
    }

    pub fn cmp(&mut self, rel: Rel, a: &Value<'c>, b: &Value<'c>) -> Value<'c> {
        let (x, y) = (&a.theirs, &b.theirs);
        let holds = match rel {
            Rel::Eq => x._eq(y),
            Rel::Ult => x.bvult(y),
            Rel::Ule => x.bvule(y),
            Rel::Slt => x.bvslt(y),
            Rel::Sle => x.bvsle(y),
        };
        Value { ours: self.terms.cmp(rel, a.ours, b.ours), theirs: self.bit(&holds), width: 1 }
    }

    pub fn ite(&mut self, condition: &Value<'c>, a: &Value<'c>, b: &Value<'c>) -> Value<'c> {
        let theirs = self.truth(condition).ite(&a.theirs, &b.theirs);
        Value { ours: self.terms.ite(condition.ours, a.ours, b.ours), theirs, width: a.width }
    }

    pub fn extract(&mut self, a: &Value<'c>, low: u8, width: u8) -> Value<'c> {
        let theirs = a.theirs.extract(u32::from(low + width - 1), u32::from(low));
        Value { ours: self.terms.extract(a.ours, low, width), theirs, width }
    }

    pub fn concat(&mut self, high: &Value<'c>, low: &Value<'c>) -> Value<'c> {
        let (ours, theirs) = (self.terms.concat(high.ours, low.ours), high.theirs.concat(&low.theirs));
        Value { ours, theirs, width: high.width + low.width }
    }

    pub fn zext(&mut self, a: &Value<'c>, width: u8) -> Value<'c> {
        let theirs = a.theirs.zero_ext(u32::from(width - a.width));
        Value { ours: self.terms.zext(a.ours, width), theirs, width }
    }

    pub fn sext(&mut self, a: &Value<'c>, width: u8) -> Value<'c> {
        let theirs = a.theirs.sign_ext(u32::from(width - a.width));
        Value { ours: self.terms.sext(a.ours, width), theirs, width }
    }

    /// An object made of whole-byte values, one after the other.
    pub fn memory(&mut self, contents: &[Value<'c>]) -> Memory<'c> {
        let zero = BV::from_u64(self.context, 0, 8);
        let mut theirs = Array::const_array(self.context, &Sort::bitvector(self.context, 65), &zero);
        let mut elements = Vec::new();
        let mut size = 0;
        for value in contents {
            let bytes = value.width / 8;
            elements.push(Element { offset: size, bytes, term: value.ours });
            let offset = BV::from_u64(self.context, size, 64);
            theirs = self.put(&theirs, &offset, &value.theirs, bytes);
            size += u64::from(bytes);
        }
        Memory { ours: self.terms.base_array(size, elements), theirs, size }
    }

    /// The object after a write, in bounds or not.
    pub fn store(&mut self, memory: &Memory<'c>, offset: &Value<'c>, value: &Value<'c>) -> Memory<'c> {
        let bytes = value.width / 8;
        let theirs = self.put(&memory.theirs, &offset.theirs, &value.theirs, bytes);
        Memory { ours: self.terms.store(memory.ours, offset.ours, value.ours, bytes), theirs, size: memory.size }
    }

    /// A read that promises to be in bounds where its value matters.
    pub fn read(&mut self, memory: &Memory<'c>, offset: &Value<'c>, bytes: u8) -> Value<'c> {
        let byte = |k: u8| {
            let at = self.index(&offset.theirs, k);
            memory.theirs.select(&at).as_bv().expect("the elements are bytes")
        };
        let theirs = (1..bytes).fold(byte(0), |lower, k| byte(k).concat(&lower));
        Value { ours: self.terms.read(memory.ours, offset.ours, bytes), theirs, width: bytes * 8 }
    }

    /// A truth value of ours as one of Z3's.
    pub fn truth(&self, condition: &Value<'c>) -> Bool<'c> {
        condition.theirs._eq(&BV::from_u64(self.context, 1, 1))
    }

    fn bit(&self, condition: &Bool<'c>) -> BV<'c> {
        condition.ite(&BV::from_u64(self.context, 1, 1), &BV::from_u64(self.context, 0, 1))
    }

    fn index(&self, offset: &BV<'c>, k: u8) -> BV<'c> {
        offset.zero_ext(1).bvadd(&BV::from_u64(self.context, u64::from(k), 65))
    }

    fn put(&self, array: &Array<'c>, offset: &BV<'c>, value: &BV<'c>, bytes: u8) -> Array<'c> {
        (0..bytes).fold(array.clone(), |array, k| {
            let low = u32::from(k) * 8;
            array.store(&self.index(offset, k), &value.extract(low + 7, low))
        })
    }
}
