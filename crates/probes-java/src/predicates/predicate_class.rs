//! The class that evaluates the predicates of a plan: a generated static method for each point, which gets the values and hits the probes of
//! the predicates that hold. No method throws: a predicate that divides by zero does not hold.
//!
//! ```text
//! public final class HITSPredicates12 {
//!     public static void at0(int a, int b) {
//!         if (!HITS.isHit(12) && a + b != a - b) HITS.hit(12);
//!         ...
//!     }
//! }
//! ```
//!
//! A predicate that held before is not evaluated again. Methods are short enough for HotSpot to compile them.

use crate::encode::class_template::CLASS_VERSION;
use crate::encode::constant_pool::ConstantPoolBuilder;
use crate::encode::instructions::local;
use crate::predicates::predicate_plan::{BinaryOp, Formula, FrameValue, Relation, UnaryOp};
use std::collections::BTreeMap;
use touchstone_classfile::opcode as op;
use touchstone_classfile::{SlotKind, access};

/// A method that evaluates the predicates of a point.
#[derive(Clone, Debug)]
pub(crate) struct PredicateMethod<'p> {
    /// Its parameters.
    pub values: Vec<FrameValue>,
    /// The predicates.
    pub predicates: &'p [Formula],
    /// The probe of the first predicate; those of the others follow.
    pub first: u32,
}

/// Returns the name of the class that evaluates the predicates of a class whose probes begin with the number `first`.
pub fn predicate_class_name(hits_class: &str, first: u32) -> String {
    format!("{hits_class}Predicates{first}")
}

/// Returns the name and the descriptor of the method for a point.
pub(crate) fn predicate_method(number: usize, values: &[FrameValue]) -> (String, String) {
    let letter = |value: &FrameValue| match value.kind() {
        SlotKind::Int => "I",
        SlotKind::Long => "J",
        SlotKind::Float => "F",
        SlotKind::Double => "D",
        SlotKind::Ref => "Ljava/lang/Object;",
    };
    (format!("at{number}"), format!("({})V", values.iter().map(letter).collect::<String>()))
}

/// The length from which on a method is split: HotSpot never compiles methods of more than 8,000 bytes.
const MAX_METHOD_BYTES: usize = 7_000;

/// Emits the code of a method, and keeps track of the operand stack.
struct PredicateEmitter<'c> {
    pool: &'c mut ConstantPoolBuilder,
    /// Maps each parameter to its local.
    locals: &'c BTreeMap<FrameValue, u16>,
    /// The local that is 1 if the predicate has no value.
    undefined: u16,
    bytes: Vec<u8>,
    stack: usize,
    max_stack: usize,
}

impl<'c> PredicateEmitter<'c> {
    fn new(
        pool: &'c mut ConstantPoolBuilder,
        locals: &'c BTreeMap<FrameValue, u16>,
        undefined: u16,
    ) -> PredicateEmitter<'c> {
        PredicateEmitter { pool, locals, undefined, bytes: Vec::new(), stack: 0, max_stack: 1 }
    }

    fn emit(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    fn pushed(&mut self, words: usize) {
        self.stack += words;
        self.max_stack = self.max_stack.max(self.stack);
    }

    fn popped(&mut self, words: usize) {
        self.stack -= words.min(self.stack);
    }

    fn local(&mut self, opcode: u8, index: u16) -> Option<()> {
        local(opcode, usize::from(index), &mut self.bytes)
    }

    fn int(&mut self, value: i32) {
        self.pushed(1);
        let bytes = self.pool.push_int(value);
        self.emit(&bytes);
    }

    fn long(&mut self, value: i64) {
        self.pushed(2);
        if let 0 | 1 = value {
            return self.emit(&[op::LCONST_0 + value as u8]);
        }
        let [high, low] = self.pool.long(value).to_be_bytes();
        self.emit(&[op::LDC2_W, high, low]);
    }

    fn call(&mut self, class: &str, name: &str, desc: &str) {
        let call = self.pool.call(class, (name, desc));
        self.emit(&call);
    }

    /// Emits a jump whose target is not known yet.
    fn jump(&mut self, opcode: u8) -> usize {
        let at = self.bytes.len();
        self.emit(&[opcode, 0, 0]);
        at
    }

    /// Sets the target of a jump to the current position, or returns `None` if that is too far.
    fn bind(&mut self, jump: usize) -> Option<()> {
        let distance = i16::try_from(self.bytes.len() - jump).ok()?.to_be_bytes();
        self.bytes.get_mut(jump + 1..jump + 3)?.copy_from_slice(&distance);
        Some(())
    }

    /// Pushes 1 if a jump is taken, else 0. The jump pops `words`.
    fn boolean(&mut self, jump: u8, words: usize) -> Option<()> {
        self.popped(words);
        let taken = self.jump(jump);
        self.emit(&[op::ICONST_0]);
        let done = self.jump(op::GOTO);
        self.bind(taken)?;
        self.emit(&[op::ICONST_1]);
        self.pushed(1);
        self.bind(done)
    }

    fn formula(&mut self, formula: &Formula) -> Option<()> {
        match formula {
            Formula::Value(value) => {
                let index = *self.locals.get(value)?;
                self.local(op::ILOAD + value.kind().opcode_offset(), index)?;
                self.pushed(usize::from(value.kind().words()));
            }
            Formula::Int(value) => self.int(*value),
            Formula::Long(value) => self.long(*value),
            Formula::Unary(operation, operand) => {
                self.formula(operand)?;
                self.unary(*operation)?;
            }
            Formula::Binary(operation @ (BinaryOp::And | BinaryOp::Or), both) => {
                self.formula(&both.0)?;
                self.emit(&[op::DUP]);
                self.pushed(1);
                let done = self.jump(if *operation == BinaryOp::And { op::IFEQ } else { op::IFNE });
                self.emit(&[op::POP]);
                self.popped(2);
                self.formula(&both.1)?;
                self.bind(done)?;
            }
            Formula::Binary(operation, both) => {
                self.formula(&both.0)?;
                self.formula(&both.1)?;
                self.binary(*operation)?;
            }
            Formula::If(all) => {
                self.formula(&all.0)?;
                self.popped(1);
                let stack = self.stack;
                let otherwise = self.jump(op::IFEQ);
                self.formula(&all.1)?;
                let done = self.jump(op::GOTO);
                self.bind(otherwise)?;
                self.stack = stack;
                self.formula(&all.2)?;
                self.bind(done)?;
            }
        }
        Some(())
    }

    fn unary(&mut self, operation: UnaryOp) -> Option<()> {
        match operation {
            UnaryOp::Convert(code @ (op::I2F | op::F2I | op::I2B..=op::I2S | op::L2D | op::D2L)) => self.emit(&[code]),
            UnaryOp::Convert(code @ (op::I2L | op::I2D | op::F2L | op::F2D)) => {
                self.emit(&[code]);
                self.pushed(1);
            }
            UnaryOp::Convert(code @ (op::L2I | op::L2F | op::D2I | op::D2F)) => {
                self.emit(&[code]);
                self.popped(1);
            }
            UnaryOp::Convert(_) => return None,
            UnaryOp::FloatBits => self.call("java/lang/Float", "floatToRawIntBits", "(F)I"),
            UnaryOp::BitsFloat => self.call("java/lang/Float", "intBitsToFloat", "(I)F"),
            UnaryOp::DoubleBits => self.call("java/lang/Double", "doubleToRawLongBits", "(D)J"),
            UnaryOp::BitsDouble => self.call("java/lang/Double", "longBitsToDouble", "(J)D"),
            UnaryOp::IsNull => self.boolean(op::IFNULL, 1)?,
            UnaryOp::Not => {
                self.emit(&[op::ICONST_1, op::IXOR]);
                self.pushed(1);
                self.popped(1);
            }
        }
        Some(())
    }

    fn binary(&mut self, operation: BinaryOp) -> Option<()> {
        match operation {
            BinaryOp::Arith(code @ (op::IDIV | op::IREM)) => {
                self.guard_divisor(op::DUP, 1, &[op::POP, op::ICONST_1])?;
                self.emit(&[code]);
                self.popped(1);
            }
            BinaryOp::Arith(code @ (op::LDIV | op::LREM)) => {
                self.guard_divisor(op::DUP2, 2, &[op::POP2, op::LCONST_1])?;
                self.emit(&[code]);
                self.popped(2);
            }
            // The opcodes of wide types are odd in these families.
            BinaryOp::Arith(code @ op::IADD..=op::DREM) => {
                self.emit(&[code]);
                self.popped(if code % 2 == 1 { 2 } else { 1 });
            }
            BinaryOp::Arith(code @ op::ISHL..=op::LUSHR) => {
                self.emit(&[code]);
                self.popped(1);
            }
            BinaryOp::Arith(code @ op::IAND..=op::LXOR) => {
                self.emit(&[code]);
                self.popped(if code % 2 == 1 { 2 } else { 1 });
            }
            BinaryOp::Arith(_) => return None,
            BinaryOp::Compare(SlotKind::Int, relation) => {
                let jump = [op::IF_ICMPEQ, op::IF_ICMPLT, op::IF_ICMPLE][relation as usize];
                self.boolean(jump, 2)?;
            }
            BinaryOp::Compare(SlotKind::Ref, Relation::Equal) => self.boolean(op::IF_ACMPEQ, 2)?,
            BinaryOp::Compare(SlotKind::Ref, _) => return None,
            BinaryOp::Compare(kind, relation) => {
                // NaN counts as greater.
                let (compare, words) = match kind {
                    SlotKind::Float => (op::FCMPG, 1),
                    SlotKind::Double => (op::DCMPG, 2),
                    _ => (op::LCMP, 2),
                };
                self.emit(&[compare]);
                self.popped(2 * words);
                self.pushed(1);
                let jump = [op::IFEQ, op::IFLT, op::IFLE][relation as usize];
                self.boolean(jump, 1)?;
            }
            BinaryOp::And | BinaryOp::Or => return None,
        }
        Some(())
    }

    /// Replaces a zero divisor on top of the stack by one, and sets the flag that the predicate has no value.
    fn guard_divisor(&mut self, copy: u8, words: usize, replace: &[u8]) -> Option<()> {
        self.emit(&[copy]);
        self.pushed(words);
        if words == 2 {
            self.emit(&[op::LCONST_0, op::LCMP]);
            self.pushed(2);
            self.popped(3);
        }
        let nonzero = self.jump(op::IFNE);
        self.popped(1);
        self.emit(replace);
        self.emit(&[op::ICONST_1]);
        self.pushed(1);
        self.local(op::ISTORE, self.undefined)?;
        self.popped(1);
        self.bind(nonzero)
    }
}

/// Returns the class that evaluates predicates, or `None` if a limit of class files is exceeded.
pub(crate) fn predicate_class(hits_class: &str, first: u32, points: &[PredicateMethod<'_>]) -> Option<Vec<u8>> {
    let own_name = predicate_class_name(hits_class, first);
    let mut pool = ConstantPoolBuilder::new();
    let (own, superclass) = (pool.class(&own_name), pool.class("java/lang/Object"));
    let code_name = pool.utf8("Code");
    let mut methods = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let (name, desc) = predicate_method(number, &point.values);
        let mut locals = BTreeMap::new();
        let mut undefined = 0u16;
        for value in &point.values {
            locals.insert(*value, undefined);
            undefined += value.kind().words();
        }
        let mut parts = evaluate(point, hits_class, first, PredicateEmitter::new(&mut pool, &locals, undefined))?;
        let mut add = |pool: &mut ConstantPoolBuilder, name: &str, (body, max_stack): &(Vec<u8>, usize)| {
            let head = [access::PUBLIC | access::STATIC, pool.utf8(name), pool.utf8(&desc), 1, code_name];
            methods.push(method(head, body, *max_stack, undefined + 1));
        };
        if parts.len() == 1 {
            add(&mut pool, &name, &parts.pop()?);
            continue;
        }
        let mut emitter = PredicateEmitter::new(&mut pool, &locals, undefined);
        for part in 0..parts.len() {
            point.values.iter().try_for_each(|value| emitter.formula(&Formula::Value(*value)))?;
            emitter.call(&own_name, &format!("{name}_{part}"), &desc);
            emitter.stack = 0;
        }
        emitter.emit(&[op::RETURN]);
        let caller = (emitter.bytes, emitter.max_stack);
        add(&mut pool, &name, &caller);
        for (part, code) in parts.iter().enumerate() {
            add(&mut pool, &format!("{name}_{part}"), code);
        }
    }
    let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
    out.extend([0, 0]);
    out.extend(CLASS_VERSION.to_be_bytes());
    out.extend(pool.count()?.to_be_bytes());
    out.extend(&pool.bytes);
    let flags = access::PUBLIC | access::FINAL | access::SUPER;
    // No interfaces, no fields.
    for number in [flags, own, superclass, 0, 0, u16::try_from(methods.len()).ok()?] {
        out.extend(number.to_be_bytes());
    }
    out.extend(methods.concat());
    // No attributes.
    out.extend([0, 0]);
    Some(out)
}

/// Emits the code that evaluates the predicates of a point, split into methods that are not too long, each with its stack.
fn evaluate(
    point: &PredicateMethod<'_>,
    hits_class: &str,
    first: u32,
    mut emitter: PredicateEmitter<'_>,
) -> Option<Vec<(Vec<u8>, usize)>> {
    let mut parts: Vec<(Vec<u8>, usize)> = Vec::new();
    for (predicate, probe) in point.predicates.iter().zip(point.first..) {
        let probe = i32::try_from(first + probe).ok()?;
        if emitter.bytes.len() > MAX_METHOD_BYTES {
            emitter.emit(&[op::RETURN]);
            parts.push((std::mem::take(&mut emitter.bytes), emitter.max_stack));
        }
        let begin = emitter.bytes.len();
        emitter.int(probe);
        emitter.call(hits_class, "isHit", "(I)Z");
        let is_hit = emitter.jump(op::IFNE);
        emitter.popped(1);
        emitter.emit(&[op::ICONST_0]);
        emitter.local(op::ISTORE, emitter.undefined)?;
        emitter.formula(predicate)?;
        let is_false = emitter.jump(op::IFEQ);
        emitter.popped(1);
        emitter.local(op::ILOAD, emitter.undefined)?;
        let is_undefined = emitter.jump(op::IFNE);
        emitter.int(probe);
        emitter.call(hits_class, "hit", "(I)V");
        emitter.popped(1);
        for jump in [is_hit, is_false, is_undefined] {
            emitter.bind(jump)?;
        }
        if emitter.bytes.len() - begin > usize::from(u16::MAX) / 2 {
            return None;
        }
    }
    emitter.emit(&[op::RETURN]);
    parts.push((emitter.bytes, emitter.max_stack));
    Some(parts)
}

/// Encodes a method: `head` has its flags, name, descriptor, number of attributes and the name of the attribute `Code`.
fn method(head: [u16; 5], body: &[u8], max_stack: usize, max_locals: u16) -> Vec<u8> {
    let mut out: Vec<u8> = head.iter().flat_map(|number| number.to_be_bytes()).collect();
    out.extend((body.len() as u32 + 12).to_be_bytes());
    out.extend((max_stack as u16).to_be_bytes());
    out.extend(max_locals.to_be_bytes());
    out.extend((body.len() as u32).to_be_bytes());
    out.extend(body);
    // No exception handlers, no attributes of the code.
    out.extend([0, 0, 0, 0]);
    out
}
