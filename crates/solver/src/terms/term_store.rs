//! The term store: hash-consing, facts. Equal terms have equal ids, for as long as the store lives.
//!
//! Nothing here rewrites; the smart constructors of `rewrite` and `memory` do, and end in [`Terms::intern`].

use rustc_hash::FxHashMap;
use touchstone_base::float::{FloatOp, Format};
use touchstone_base::{IndexMap, WorkKind, spend};

use crate::terms::facts::{self, Facts};
use crate::terms::float_facts;
use crate::terms::path_bounds::parts_of;
use crate::terms::semantics::mask;
use crate::terms::support::{SupportId, Supports};
use crate::terms::term::{Array, ArrayId, Term, TermId, VarId};

struct Node {
    term: Term,
    support: SupportId,
    facts: Facts,
    /// True if it contains a float operation (reads are not inspected).
    float: bool,
}

struct Variable {
    width: u8,
    name: String,
    /// The format in which some operation takes it as a float.
    float: Option<Format>,
}

/// An array with what is derived from it.
pub(crate) struct ArrayNode {
    pub(crate) array: Array,
    pub(crate) size: u64,
    pub(crate) support: SupportId,
    /// Facts about any aligned element, where all pieces have this many bytes.
    pub(crate) uniform: Option<(u8, Facts)>,
}

/// All terms and arrays of a session.
pub struct Terms {
    nodes: IndexMap<TermId, Node>,
    ids: FxHashMap<Term, TermId>,
    variables: IndexMap<VarId, Variable>,
    pub(crate) arrays: IndexMap<ArrayId, ArrayNode>,
    pub(crate) array_ids: FxHashMap<Array, ArrayId>,
    pub(crate) supports: Supports,
}

impl Default for Terms {
    fn default() -> Self {
        Terms::new()
    }
}

impl Terms {
    /// An empty store.
    pub fn new() -> Terms {
        Terms {
            nodes: IndexMap::new(),
            ids: FxHashMap::default(),
            variables: IndexMap::new(),
            arrays: IndexMap::new(),
            array_ids: FxHashMap::default(),
            supports: Supports::new(),
        }
    }

    /// A fresh variable.
    pub fn var(&mut self, width: u8, name: &str) -> TermId {
        assert!((1..=64).contains(&width), "invariant: width 1..=64");
        let var = self.variables.push(Variable { width, name: name.to_string(), float: None });
        self.intern(Term::Var { width, var })
    }

    /// A constant; bits above the width are dropped.
    pub fn constant(&mut self, width: u8, value: u64) -> TermId {
        self.intern(Term::Const { width, value: value & mask(width) })
    }

    /// A truth value.
    pub fn truth(&mut self, value: bool) -> TermId {
        self.constant(1, u64::from(value))
    }

    /// The shape of a term.
    pub fn get(&self, term: TermId) -> &Term {
        &self.nodes[term].term
    }

    /// The width of a term in bits.
    pub fn width(&self, term: TermId) -> u8 {
        self.nodes[term].facts.width
    }

    /// The value of a term that is a constant.
    pub fn as_const(&self, term: TermId) -> Option<u64> {
        match self.nodes[term].term {
            Term::Const { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns true if the term is the truth value `value`.
    pub fn is_truth(&self, term: TermId, value: bool) -> bool {
        self.nodes[term].term == Term::Const { width: 1, value: u64::from(value) }
    }

    /// Returns the facts about a term that hold on all paths.
    pub fn facts(&self, term: TermId) -> &Facts {
        &self.nodes[term].facts
    }

    /// Returns true if a term contains a float operation.
    pub(crate) fn has_float(&self, term: TermId) -> bool {
        self.nodes[term].float
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if there are no terms yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The contents of an array.
    pub fn array(&self, array: ArrayId) -> &Array {
        &self.arrays[array].array
    }

    /// The size of an array in bytes.
    pub fn array_size(&self, array: ArrayId) -> u64 {
        self.arrays[array].size
    }

    /// The name a variable was made with.
    pub fn var_name(&self, var: VarId) -> &str {
        &self.variables[var].name
    }

    /// The width of a variable in bits.
    pub fn var_width(&self, var: VarId) -> u8 {
        self.variables[var].width
    }

    /// The format of a variable that some operation takes as a float. A hint about which values are natural, no more.
    pub(crate) fn var_float(&self, var: VarId) -> Option<Format> {
        self.variables[var].float
    }

    /// Notes that a term is taken as a float.
    pub(crate) fn note_float(&mut self, term: TermId, format: Format) {
        if let Term::Var { var, .. } = *self.get(term) {
            self.variables[var].float = Some(format);
        }
    }

    /// Returns the number of variables.
    pub fn var_count(&self) -> usize {
        self.variables.len()
    }

    /// The term of a variable.
    pub fn var_term(&self, var: VarId) -> TermId {
        let term = Term::Var { width: self.variables[var].width, var };
        *self.ids.get(&term).expect("invariant: every variable has its term")
    }

    /// The variables that a term depends on, sorted.
    pub fn support(&self, term: TermId) -> &[VarId] {
        self.supports.vars(self.nodes[term].support)
    }

    pub(crate) fn support_vars(&self, support: SupportId) -> &[VarId] {
        self.supports.vars(support)
    }

    pub(crate) fn support_id(&self, term: TermId) -> SupportId {
        self.nodes[term].support
    }

    /// The id of a shape, made if it is new. A term of which only one value is possible becomes that constant.
    pub(crate) fn intern(&mut self, term: Term) -> TermId {
        if let Some(&id) = self.ids.get(&term) {
            return id;
        }
        spend(WorkKind::Term, 1);
        let facts = self.facts_of(&term, |id| self.nodes[id].facts);
        if let Some(value) = facts.singleton()
            && !matches!(term, Term::Const { .. })
        {
            return self.constant(facts.width, value);
        }
        let support = self.support_of(&term);
        let float = matches!(term, Term::Float(..)) || parts_of(&term).iter().flatten().any(|&p| self.has_float(p));
        let id = self.nodes.push(Node { term, support, facts, float });
        self.ids.insert(term, id);
        id
    }

    /// Facts about a shape, given facts about its parts.
    pub(crate) fn facts_of(&self, term: &Term, of: impl Fn(TermId) -> Facts) -> Facts {
        match *term {
            Term::Const { width, value } => Facts::constant(width, value),
            Term::Var { width, .. } => Facts::top(width),
            Term::Not(a) => facts::not(&of(a)),
            Term::Bin(op, a, b) => facts::bin(op, &of(a), &of(b)),
            Term::Cmp(rel, a, b) => facts::cmp(rel, &of(a), &of(b)),
            Term::Ite(c, a, b) => match of(c).singleton() {
                Some(1) => of(a),
                Some(_) => of(b),
                None => of(a).join(&of(b)),
            },
            Term::Extract { term, low, width } => facts::extract(&of(term), low, width),
            Term::Concat { high, low } => facts::concat(&of(high), &of(low)),
            Term::ZExt { term, width } => facts::zext(&of(term), width),
            Term::SExt { term, width } => facts::sext(&of(term), width),
            Term::Read { array, offset, bytes } => self.read_facts(array, &of(offset), bytes),
            Term::Float(FloatOp::Mul, format, [a, b, _]) if a == b => float_facts::square(format, &of(a)),
            Term::Float(op, format, [a, b, c]) => float_facts::float(op, format, &[of(a), of(b), of(c)]),
        }
    }

    /// An aligned read of an array whose pieces all have the size of the read yields one of them, or 0 outside.
    fn read_facts(&self, array: ArrayId, offset: &Facts, bytes: u8) -> Facts {
        match &self.arrays[array].uniform {
            Some((size, facts)) if *size == bytes && is_aligned(offset, bytes) => *facts,
            _ => Facts::top(bytes * 8),
        }
    }

    fn support_of(&mut self, term: &Term) -> SupportId {
        let of = |id: TermId| self.nodes[id].support;
        match *term {
            Term::Const { .. } => Supports::empty(),
            Term::Var { var, .. } => self.supports.intern(Box::new([var])),
            Term::Not(a) => of(a),
            Term::Extract { term, .. } | Term::ZExt { term, .. } | Term::SExt { term, .. } => of(term),
            Term::Bin(_, a, b) | Term::Cmp(_, a, b) | Term::Concat { high: a, low: b } => {
                let (a, b) = (of(a), of(b));
                self.supports.union(a, b)
            }
            Term::Ite(c, a, b) => {
                let (c, a, b) = (of(c), of(a), of(b));
                let ab = self.supports.union(a, b);
                self.supports.union(c, ab)
            }
            Term::Read { array, offset, .. } => {
                let (array, offset) = (self.arrays[array].support, of(offset));
                self.supports.union(array, offset)
            }
            Term::Float(_, _, [a, b, c]) => {
                let (a, b, c) = (of(a), of(b), of(c));
                let ab = self.supports.union(a, b);
                self.supports.union(ab, c)
            }
        }
    }
}

/// Returns true if an offset is certainly a multiple of an access size.
pub(crate) fn is_aligned(offset: &Facts, bytes: u8) -> bool {
    bytes.is_power_of_two() && offset.trailing_zeros() >= bytes.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::Id;

    #[test]
    fn equal_terms_have_equal_ids_and_variables_are_always_fresh() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(8, "x"), terms.var(8, "x"));
        assert_ne!(x, y);
        let (a, b) = (terms.add(x, y), terms.add(y, x));
        assert_eq!(a, b);
        assert_eq!(terms.support(a), &[VarId::new(0), VarId::new(1)]);
        assert_eq!(terms.var_term(VarId::new(1)), y);
    }
}
