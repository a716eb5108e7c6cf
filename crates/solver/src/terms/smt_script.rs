//! Constraints as SMT-LIB 2 scripts, for other solvers.
//!
//! Every term is defined once, after its parts, so a script is as large as the shared graph of its terms, and equal
//! graphs have equal scripts. A truth value is a bit vector of width 1. Contents of memory are arrays of bytes whose
//! indices have 65 bits, so that an access at the end of the address space does not wrap; an array is read only within
//! its size, so writes outside of it have no effect, as in our semantics. Floats are in `smt_floats.rs`.
//!
//! Deliberately not here: the commands around the constraints (`set-info`, `check-sat`), and files.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};
use touchstone_base::Id;

use crate::terms::path_bounds::parts_of;
use crate::terms::term::{Array, ArrayId, Op, Rel, Term, TermId};
use crate::terms::term_store::Terms;

/// The width of the indices of arrays: that of offsets and a bit for the carry.
const INDEX_BITS: u8 = 65;

/// Constraints in SMT-LIB 2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SmtScript {
    /// The logic: `QF_BV`, with arrays `QF_ABV`, and with floats `QF_BVFP` or `QF_ABVFP`.
    pub logic: &'static str,
    /// The declarations, definitions and assertions.
    pub text: String,
    /// The operations that have no counterpart in SMT-LIB. Their results are unconstrained in the script: if it is
    /// unsatisfiable, so are the constraints, but not the other way round.
    pub unconstrained: BTreeSet<&'static str>,
}

impl Terms {
    /// Returns the conjunction of constraints (1 bit each) as a script.
    pub fn smt_script(&self, constraints: &[TermId]) -> SmtScript {
        let mut writer = ScriptWriter {
            terms: self,
            names: FxHashMap::default(),
            arrays: FxHashMap::default(),
            symbols: FxHashSet::default(),
            definitions: 0,
            text: String::new(),
            floats: false,
            unconstrained: BTreeSet::new(),
        };
        for &constraint in constraints {
            writer.define(Node::Term(constraint));
            let name = writer.operand(constraint);
            writer.line(format_args!("(assert (= {name} #b1))"));
        }
        let logic = match (writer.arrays.is_empty(), writer.floats) {
            (true, false) => "QF_BV",
            (false, false) => "QF_ABV",
            (true, true) => "QF_BVFP",
            (false, true) => "QF_ABVFP",
        };
        SmtScript { logic, text: writer.text, unconstrained: writer.unconstrained }
    }
}

/// A node of the graph that is defined.
#[derive(Clone, Copy)]
enum Node {
    Term(TermId),
    Array(ArrayId),
}

/// A script that is being written.
pub(crate) struct ScriptWriter<'t> {
    pub(crate) terms: &'t Terms,
    /// The names of terms that are defined, and literals.
    names: FxHashMap<TermId, String>,
    arrays: FxHashMap<ArrayId, String>,
    /// The symbols of variables.
    symbols: FxHashSet<String>,
    definitions: usize,
    text: String,
    pub(crate) floats: bool,
    pub(crate) unconstrained: BTreeSet<&'static str>,
}

impl ScriptWriter<'_> {
    /// Defines a node and all of its parts, without recursion on the host stack.
    fn define(&mut self, node: Node) {
        let mut stack = vec![node];
        while let Some(&top) = stack.last() {
            let before = stack.len();
            if !self.is_defined(top) {
                let parts = self.parts(top);
                stack.extend(parts.into_iter().filter(|part| !self.is_defined(*part)));
            }
            if stack.len() == before {
                stack.pop();
                match top {
                    Node::Term(term) if !self.names.contains_key(&term) => self.define_term(term),
                    Node::Array(array) if !self.arrays.contains_key(&array) => self.define_array(array),
                    Node::Term(_) | Node::Array(_) => {}
                }
            }
        }
    }

    fn is_defined(&self, node: Node) -> bool {
        match node {
            Node::Term(term) => self.names.contains_key(&term),
            Node::Array(array) => self.arrays.contains_key(&array),
        }
    }

    /// The parts of a node, last first.
    fn parts(&self, node: Node) -> Vec<Node> {
        let mut parts: Vec<Node> = match node {
            Node::Term(term) => {
                let shape = self.terms.get(term);
                let array = match *shape {
                    Term::Read { array, .. } => Some(Node::Array(array)),
                    _ => None,
                };
                array.into_iter().chain(parts_of(shape).into_iter().flatten().map(Node::Term)).collect()
            }
            Node::Array(array) => match self.terms.array(array) {
                Array::Base { elements, .. } => elements.iter().map(|element| Node::Term(element.term)).collect(),
                Array::Store { array, offset, value, .. } => {
                    vec![Node::Array(*array), Node::Term(*offset), Node::Term(*value)]
                }
            },
        };
        parts.reverse();
        parts
    }

    pub(crate) fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // A string takes everything.
        let _ = writeln!(self.text, "{line}");
    }

    /// The name or literal of a term that has been defined.
    pub(crate) fn operand(&self, term: TermId) -> String {
        self.names.get(&term).cloned().unwrap_or_default()
    }

    /// Defines a name for an expression of a sort.
    pub(crate) fn name(&mut self, sort: &str, expression: &str) -> String {
        let name = self.new_name();
        self.line(format_args!("(define-fun {name} () {sort} {expression})"));
        name
    }

    /// Declares an unconstrained bit vector.
    pub(crate) fn unknown(&mut self, width: u8) -> String {
        let name = self.new_name();
        self.line(format_args!("(declare-const {name} {})", bit_vector(width)));
        name
    }

    fn new_name(&mut self) -> String {
        self.definitions += 1;
        format!("t{}", self.definitions)
    }

    fn define_term(&mut self, term: TermId) {
        let width = self.terms.width(term);
        let of = |id: TermId| self.operand(id);
        let expression = match *self.terms.get(term) {
            Term::Const { width, value } => {
                self.names.insert(term, literal(width, value));
                return;
            }
            Term::Var { var, .. } => {
                let symbol = self.symbol(self.terms.var_name(var), var.index());
                self.line(format_args!("(declare-const {symbol} {})", bit_vector(width)));
                self.names.insert(term, symbol);
                return;
            }
            Term::Not(a) => format!("(bvnot {})", of(a)),
            Term::Bin(op, a, b) => {
                let amount = match op {
                    Op::Shl | Op::LShr | Op::AShr => self.shift_amount(width, b),
                    _ => of(b),
                };
                format!("({} {} {amount})", operator(op), of(a))
            }
            Term::Cmp(rel, a, b) => format!("(ite ({} {} {}) #b1 #b0)", relation(rel), of(a), of(b)),
            Term::Ite(c, a, b) => format!("(ite (= {} #b1) {} {})", of(c), of(a), of(b)),
            Term::Extract { term, low, width } => format!("((_ extract {} {low}) {})", low + width - 1, of(term)),
            Term::Concat { high, low } => format!("(concat {} {})", of(high), of(low)),
            Term::ZExt { term: narrow, .. } => {
                format!("((_ zero_extend {}) {})", width - self.terms.width(narrow), of(narrow))
            }
            Term::SExt { term: narrow, .. } => {
                format!("((_ sign_extend {}) {})", width - self.terms.width(narrow), of(narrow))
            }
            Term::Read { array, offset, bytes } => self.read(array, offset, bytes),
            Term::Float(op, format, args) => {
                let args = args.map(of);
                self.float(op, format, &args)
            }
        };
        let name = self.name(&bit_vector(width), &expression);
        self.names.insert(term, name);
    }

    /// The symbol of a variable: its name in the program, made unique.
    fn symbol(&mut self, name: &str, number: usize) -> String {
        // Neither character may occur in a quoted symbol. The names of definitions are not quoted.
        let name: String = name.chars().map(|c| if matches!(c, '|' | '\\') { '_' } else { c }).collect();
        let mut symbol = if name.is_empty() { format!("|v{number}|") } else { format!("|{name}|") };
        let mut copies = 1;
        while is_definition(&symbol) || !self.symbols.insert(symbol.clone()) {
            copies += 1;
            symbol = format!("|{name}#{copies}|");
        }
        symbol
    }

    /// A shift amount modulo the width.
    fn shift_amount(&self, width: u8, amount: TermId) -> String {
        match self.terms.as_const(amount) {
            Some(value) => literal(width, value % u64::from(width)),
            None => format!("(bvurem {} {})", self.operand(amount), literal(width, u64::from(width))),
        }
    }

    /// The index of the byte `k` bytes after an offset.
    fn index(offset: &str, k: u8) -> String {
        let wide = format!("(concat #b0 {offset})");
        if k == 0 { wide } else { format!("(bvadd {wide} {})", index_literal(u64::from(k))) }
    }

    fn read(&self, array: ArrayId, offset: TermId, bytes: u8) -> String {
        let size = index_literal(self.terms.array_size(array));
        let contents = self.arrays.get(&array).cloned().unwrap_or_default();
        let offset = self.operand(offset);
        let mut joined = String::new();
        for k in 0..bytes {
            let index = Self::index(&offset, k);
            let byte = format!("(ite (bvult {index} {size}) (select {contents} {index}) #x00)");
            joined = if k == 0 { byte } else { format!("(concat {byte} {joined})") };
        }
        joined
    }

    fn define_array(&mut self, array: ArrayId) {
        let sort = format!("(Array {} {})", bit_vector(INDEX_BITS), bit_vector(8));
        let name = format!("m{}", self.arrays.len() + 1);
        match self.terms.array(array) {
            Array::Base { elements, .. } => {
                self.line(format_args!("(declare-const {name} {sort})"));
                for element in elements {
                    for k in 0..element.bytes {
                        let at = index_literal(element.offset + u64::from(k));
                        let byte = self.byte(element.term, k);
                        self.line(format_args!("(assert (= (select {name} {at}) {byte}))"));
                    }
                }
            }
            Array::Store { array: below, offset, value, bytes } => {
                let offset = self.operand(*offset);
                let mut contents = self.arrays.get(below).cloned().unwrap_or_default();
                for k in 0..*bytes {
                    let (index, byte) = (Self::index(&offset, k), self.byte(*value, k));
                    contents = format!("(store {contents} {index} {byte})");
                }
                self.line(format_args!("(define-fun {name} () {sort} {contents})"));
            }
        }
        self.arrays.insert(array, name);
    }

    /// A byte of a defined term, the lowest first.
    fn byte(&self, term: TermId, k: u8) -> String {
        match self.terms.as_const(term) {
            Some(value) => literal(8, value >> (8 * k) & 0xff),
            None if self.terms.width(term) == 8 => self.operand(term),
            None => format!("((_ extract {} {}) {})", 8 * k + 7, 8 * k, self.operand(term)),
        }
    }
}

/// Returns true if a symbol, without its quotes, is a name that definitions may have.
fn is_definition(symbol: &str) -> bool {
    let name = symbol.trim_matches('|');
    let number = name.strip_prefix(['t', 'm']);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(crate) fn bit_vector(width: u8) -> String {
    format!("(_ BitVec {width})")
}

pub(crate) fn literal(width: u8, value: u64) -> String {
    if width.is_multiple_of(4) {
        format!("#x{value:0digits$x}", digits = usize::from(width / 4))
    } else {
        format!("#b{value:0digits$b}", digits = usize::from(width))
    }
}

fn index_literal(value: u64) -> String {
    format!("(_ bv{value} {INDEX_BITS})")
}

fn operator(op: Op) -> &'static str {
    match op {
        Op::Add => "bvadd",
        Op::Sub => "bvsub",
        Op::Mul => "bvmul",
        Op::UDiv => "bvudiv",
        Op::SDiv => "bvsdiv",
        Op::URem => "bvurem",
        Op::SRem => "bvsrem",
        Op::And => "bvand",
        Op::Or => "bvor",
        Op::Xor => "bvxor",
        Op::Shl => "bvshl",
        Op::LShr => "bvlshr",
        Op::AShr => "bvashr",
    }
}

fn relation(rel: Rel) -> &'static str {
    match rel {
        Rel::Eq => "=",
        Rel::Ult => "bvult",
        Rel::Ule => "bvule",
        Rel::Slt => "bvslt",
        Rel::Sle => "bvsle",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::term::Element;
    use touchstone_base::float::{FloatOp, Format};

    #[test]
    fn every_term_is_defined_once_after_its_parts() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(32, "x"), terms.var(32, "y"));
        let product = terms.mul(x, y);
        let target = terms.constant(32, 77);
        let (same, below) = (terms.cmp(Rel::Eq, product, target), terms.cmp(Rel::Ult, x, product));
        let script = terms.smt_script(&[same, below]);
        assert_eq!(script.logic, "QF_BV");
        assert!(script.unconstrained.is_empty());
        assert_eq!(
            script.text,
            "(declare-const |x| (_ BitVec 32))\n\
             (declare-const |y| (_ BitVec 32))\n\
             (define-fun t1 () (_ BitVec 32) (bvmul |x| |y|))\n\
             (define-fun t2 () (_ BitVec 1) (ite (= t1 #x0000004d) #b1 #b0))\n\
             (assert (= t2 #b1))\n\
             (define-fun t3 () (_ BitVec 1) (ite (bvult |x| t1) #b1 #b0))\n\
             (assert (= t3 #b1))\n"
        );
    }

    #[test]
    fn variables_with_one_name_or_that_of_a_definition_have_symbols_of_their_own() {
        let mut terms = Terms::new();
        let vars = ["x", "x", "t1", "a|b", ""].map(|name| terms.var(7, name));
        let zero = terms.constant(7, 0);
        let nonzero = vars.map(|var| terms.ne(var, zero));
        let text = terms.smt_script(&nonzero).text;
        for symbol in ["|x|", "|x#2|", "|t1#2|", "|a_b|", "|v4|"] {
            assert!(text.contains(&format!("(declare-const {symbol} (_ BitVec 7))")), "{symbol}: {text}");
        }
    }

    #[test]
    fn a_shift_amount_is_taken_modulo_the_width() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(32, "x"), terms.var(32, "y"));
        let five = terms.constant(32, 5);
        let (by_five, by_y) = (terms.bin(Op::Shl, x, five), terms.bin(Op::AShr, x, y));
        let same = terms.cmp(Rel::Slt, by_five, by_y);
        let text = terms.smt_script(&[same]).text;
        assert!(text.contains("(bvashr |x| (bvurem |y| #x00000020))"), "{text}");
    }

    #[test]
    fn memory_is_an_array_of_bytes_that_is_read_within_its_size() {
        let mut terms = Terms::new();
        let (a, i, j) = (terms.var(16, "a"), terms.var(64, "i"), terms.var(64, "j"));
        let seven = terms.constant(16, 0x0107);
        let elements = [a, seven].into_iter().enumerate();
        let elements = elements.map(|(at, term)| Element { offset: 2 * at as u64, bytes: 2, term }).collect();
        let base = terms.base_array(4, elements);
        let written = terms.store(base, i, a, 2);
        let read = terms.read(written, j, 1);
        let zero = terms.constant(8, 0);
        let condition = terms.cmp(Rel::Ult, zero, read);
        let script = terms.smt_script(&[condition]);
        assert_eq!(script.logic, "QF_ABV");
        for part in [
            "(assert (= (select m1 (_ bv1 65)) ((_ extract 15 8) |a|)))",
            "(assert (= (select m1 (_ bv2 65)) #x07))",
            "(store (store m1 (concat #b0 |i|) ((_ extract 7 0) |a|)) (bvadd (concat #b0 |i|) (_ bv1 65)) \
             ((_ extract 15 8) |a|))",
            "(ite (bvult (concat #b0 |j|) (_ bv4 65)) (select m2 (concat #b0 |j|)) #x00)",
        ] {
            assert!(script.text.contains(part), "{part} is missing in {}", script.text);
        }
    }

    #[test]
    fn the_remainder_of_floats_is_unconstrained_and_the_script_says_so() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(64, "x"), terms.var(64, "y"));
        let rest = terms.float(FloatOp::Rem, Format::F64, &[x, y]);
        let less = terms.float(FloatOp::Lt, Format::F64, &[rest, x]);
        let script = terms.smt_script(&[less]);
        assert_eq!((script.logic, script.unconstrained.len()), ("QF_BVFP", 1));
        assert!(script.text.contains("(fp.lt "), "{}", script.text);
    }
}
