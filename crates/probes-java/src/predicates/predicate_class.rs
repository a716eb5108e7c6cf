//! The class that judges the predicates of a plan, as bytes: a static method for each place, which takes the values that are needed there and
//! hits the probes of predicates that hold. None throws, and a predicate that can't be computed (a division by zero) does not hold.
//!
//! ```text
//! public final class HOLDERJudge12 {
//!     public static void at0(int a, int b) {
//!         if (!HOLDER.isHit(12) && a + b != a - b) HOLDER.hit(12);
//!         ...
//!     }
//! }
//! ```
//!
//! Predicates that were true before are not computed again. Methods stay shorter than what HotSpot still compiles.

use crate::encode::constant_pool::{METHOD, Pool, VERSION};
use crate::predicates::predicate_plan::{Formula, Held, One, Relation, Two};
use crate::weave::code_layout::push;
use std::collections::BTreeMap;
use touchstone_classfile::SlotKind;
use touchstone_classfile::opcode as op;

/// What a class is judged by.
#[derive(Clone, Debug)]
pub(crate) struct Judged<'p> {
    /// What a place gives.
    pub held: Vec<Held>,
    /// What is asked there.
    pub predicates: &'p [Formula],
    /// The probe of the first predicate; those of the others follow.
    pub first: u32,
}

/// The name of the class that judges, where probes begin with a number.
pub fn judge_name(holder: &str, first: u32) -> String {
    format!("{holder}Judge{first}")
}

/// The method that judges a place, by its number.
pub(crate) fn judge_method(number: usize, held: &[Held]) -> (String, String) {
    (format!("at{number}"), descriptor(held))
}

fn descriptor(held: &[Held]) -> String {
    let word = |held: &Held| match held.kind() {
        SlotKind::Int => "I",
        SlotKind::Long => "J",
        SlotKind::Float => "F",
        SlotKind::Double => "D",
        SlotKind::Ref => "Ljava/lang/Object;",
    };
    format!("({})V", held.iter().map(word).collect::<String>())
}

const PUBLIC_FINAL_SUPER: u16 = 0x0031;
const STATIC_PUBLIC: u16 = 0x0009;

/// HotSpot interprets methods that are longer than 8,000 bytes, however often they run.
const LONG: usize = 7_000;

/// The constants of the class.
struct Constants {
    pool: Pool,
    numbers: BTreeMap<i32, u16>,
    longs: BTreeMap<i64, u16>,
    methods: BTreeMap<(String, String), u16>,
    classes: BTreeMap<String, u16>,
    /// How many there really are: the pool counts in 16 bits.
    count: usize,
}

impl Constants {
    fn method(&mut self, class: &str, name: &str, desc: &str) -> u16 {
        let key = (format!("{class}.{name}"), desc.to_string());
        if let Some(known) = self.methods.get(&key) {
            return *known;
        }
        let class = match self.classes.get(class) {
            Some(known) => *known,
            None => {
                let index = self.pool.class(class);
                self.classes.insert(class.to_string(), index);
                self.count += 2;
                index
            }
        };
        self.count += 4;
        let index = self.pool.member(METHOD, class, name, desc);
        self.methods.insert(key, index);
        index
    }
}

/// Code in the making.
struct Code<'c> {
    constants: &'c mut Constants,
    /// By value: the local that it is.
    locals: &'c BTreeMap<Held, u16>,
    /// The local that says that something can't be computed.
    wrong: u16,
    bytes: Vec<u8>,
    stack: usize,
    deepest: usize,
}

impl<'c> Code<'c> {
    fn new(constants: &'c mut Constants, locals: &'c BTreeMap<Held, u16>, wrong: u16) -> Code<'c> {
        Code { constants, locals, wrong, bytes: Vec::new(), stack: 0, deepest: 1 }
    }

    fn does(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    fn pushed(&mut self, words: usize) {
        self.stack += words;
        self.deepest = self.deepest.max(self.stack);
    }

    fn popped(&mut self, words: usize) {
        self.stack -= words.min(self.stack);
    }

    fn local(&mut self, opcode: u8, local: u16) {
        match u8::try_from(local) {
            Ok(local) => self.does(&[opcode, local]),
            Err(_) => {
                self.does(&[op::WIDE, opcode]);
                self.does(&local.to_be_bytes());
            }
        }
    }

    fn int(&mut self, value: i32) {
        self.pushed(1);
        match u32::try_from(value).ok().and_then(push) {
            Some(bytes) => self.does(&bytes),
            None => {
                let known = self.constants.numbers.get(&value).copied();
                let index = known.unwrap_or_else(|| {
                    self.constants.count += 1;
                    let halves = value.to_be_bytes();
                    let halves =
                        [u16::from_be_bytes([halves[0], halves[1]]), u16::from_be_bytes([halves[2], halves[3]])];
                    let index = self.constants.pool.of(3, &halves);
                    self.constants.numbers.insert(value, index);
                    index
                });
                self.does(&[op::LDC_W]);
                self.does(&index.to_be_bytes());
            }
        }
    }

    fn long(&mut self, value: i64) {
        self.pushed(2);
        if let 0 | 1 = value {
            return self.does(&[op::LCONST_0 + value as u8]);
        }
        let known = self.constants.longs.get(&value).copied();
        let index = known.unwrap_or_else(|| {
            self.constants.count += 2;
            let index = self.constants.pool.long(value as u64);
            self.constants.longs.insert(value, index);
            index
        });
        self.does(&[op::LDC2_W]);
        self.does(&index.to_be_bytes());
    }

    fn call(&mut self, class: &str, name: &str, desc: &str) {
        let [high, low] = self.constants.method(class, name, desc).to_be_bytes();
        self.does(&[op::INVOKESTATIC, high, low]);
    }

    /// A jump that is not closed yet.
    fn jump(&mut self, opcode: u8) -> usize {
        let at = self.bytes.len();
        self.does(&[opcode, 0, 0]);
        at
    }

    /// The jump leads here; `None` if that is too far.
    fn here(&mut self, jump: usize) -> Option<()> {
        let distance = i16::try_from(self.bytes.len() - jump).ok()?.to_be_bytes();
        self.bytes.get_mut(jump + 1..jump + 3)?.copy_from_slice(&distance);
        Some(())
    }

    /// One if a jump is taken, else zero.
    fn truth(&mut self, jump: u8, takes: usize) -> Option<()> {
        self.popped(takes);
        let yes = self.jump(jump);
        self.does(&[op::ICONST_0]);
        let done = self.jump(op::GOTO);
        self.here(yes)?;
        self.does(&[op::ICONST_1]);
        self.pushed(1);
        self.here(done)
    }

    fn formula(&mut self, formula: &Formula) -> Option<()> {
        match formula {
            Formula::Held(held) => {
                let local = *self.locals.get(held)?;
                let (number, words) = match held.kind() {
                    SlotKind::Int => (0, 1),
                    SlotKind::Long => (1, 2),
                    SlotKind::Float => (2, 1),
                    SlotKind::Double => (3, 2),
                    SlotKind::Ref => (4, 1),
                };
                self.local(op::ILOAD + number, local);
                self.pushed(words);
            }
            Formula::Int(value) => self.int(*value),
            Formula::Long(value) => self.long(*value),
            Formula::One(one, of) => {
                self.formula(of)?;
                self.one(*one)?;
            }
            Formula::Two(two @ (Two::Both | Two::Either), both) => {
                self.formula(&both.0)?;
                self.does(&[op::DUP]);
                self.pushed(1);
                let done = self.jump(if *two == Two::Both { op::IFEQ } else { op::IFNE });
                self.does(&[op::POP]);
                self.popped(2);
                self.formula(&both.1)?;
                self.here(done)?;
            }
            Formula::Two(two, both) => {
                self.formula(&both.0)?;
                self.formula(&both.1)?;
                self.two(*two)?;
            }
            Formula::Choice(all) => {
                self.formula(&all.0)?;
                self.popped(1);
                let stack = self.stack;
                let no = self.jump(op::IFEQ);
                self.formula(&all.1)?;
                let done = self.jump(op::GOTO);
                self.here(no)?;
                self.stack = stack;
                self.formula(&all.2)?;
                self.here(done)?;
            }
        }
        Some(())
    }

    fn one(&mut self, one: One) -> Option<()> {
        match one {
            One::Convert(code @ (op::I2F | op::F2I | op::I2B..=op::I2S | op::L2D | op::D2L)) => self.does(&[code]),
            One::Convert(code @ (op::I2L | op::I2D | op::F2L | op::F2D)) => {
                self.does(&[code]);
                self.pushed(1);
            }
            One::Convert(code @ (op::L2I | op::L2F | op::D2I | op::D2F)) => {
                self.does(&[code]);
                self.popped(1);
            }
            One::Convert(_) => return None,
            One::FloatBits => self.call("java/lang/Float", "floatToRawIntBits", "(F)I"),
            One::BitsFloat => self.call("java/lang/Float", "intBitsToFloat", "(I)F"),
            One::DoubleBits => self.call("java/lang/Double", "doubleToRawLongBits", "(D)J"),
            One::BitsDouble => self.call("java/lang/Double", "longBitsToDouble", "(J)D"),
            One::IsNull => self.truth(op::IFNULL, 1)?,
            One::Not => {
                self.does(&[op::ICONST_1, op::IXOR]);
                self.pushed(1);
                self.popped(1);
            }
        }
        Some(())
    }

    fn two(&mut self, two: Two) -> Option<()> {
        match two {
            Two::Arith(code @ (op::IDIV | op::IREM)) => {
                self.unless_zero(op::DUP, 1, &[op::POP, op::ICONST_1])?;
                self.does(&[code]);
                self.popped(1);
            }
            Two::Arith(code @ (op::LDIV | op::LREM)) => {
                self.unless_zero(op::DUP2, 2, &[op::POP2, op::LCONST_1])?;
                self.does(&[code]);
                self.popped(2);
            }
            // From `iadd` to `lxor`, without `ineg` to `dneg`: ints, longs, floats and doubles follow each other up to shifts.
            Two::Arith(code @ op::IADD..=op::DREM) => {
                self.does(&[code]);
                self.popped(if code % 2 == 1 { 2 } else { 1 });
            }
            Two::Arith(code @ op::ISHL..=op::LUSHR) => {
                self.does(&[code]);
                self.popped(1);
            }
            Two::Arith(code @ op::IAND..=op::LXOR) => {
                self.does(&[code]);
                self.popped(if code % 2 == 1 { 2 } else { 1 });
            }
            Two::Arith(_) => return None,
            Two::Compare(SlotKind::Int, relation) => {
                let jump = [op::IF_ICMPEQ, op::IF_ICMPLT, op::IF_ICMPLE][relation as usize];
                self.truth(jump, 2)?;
            }
            Two::Compare(SlotKind::Ref, Relation::Same) => self.truth(op::IF_ACMPEQ, 2)?,
            Two::Compare(SlotKind::Ref, _) => return None,
            Two::Compare(kind, relation) => {
                // What is no number counts as greater.
                let (compare, words) = match kind {
                    SlotKind::Float => (op::FCMPG, 1),
                    SlotKind::Double => (op::DCMPG, 2),
                    _ => (op::LCMP, 2),
                };
                self.does(&[compare]);
                self.popped(2 * words);
                self.pushed(1);
                let jump = [op::IFEQ, op::IFLT, op::IFLE][relation as usize];
                self.truth(jump, 1)?;
            }
            Two::Both | Two::Either => return None,
        }
        Some(())
    }

    /// Takes one instead of a zero on top, and notes that it was wrong.
    fn unless_zero(&mut self, copy: u8, words: usize, instead: &[u8]) -> Option<()> {
        self.does(&[copy]);
        self.pushed(words);
        if words == 2 {
            self.does(&[op::LCONST_0, op::LCMP]);
            self.pushed(2);
            self.popped(3);
        }
        let fine = self.jump(op::IFNE);
        self.popped(1);
        self.does(instead);
        self.does(&[op::ICONST_1]);
        self.pushed(1);
        self.local(op::ISTORE, self.wrong);
        self.popped(1);
        self.here(fine)
    }
}

/// The class that judges places; `None` if it would not fit into one.
pub(crate) fn judge(holder: &str, first: u32, all: &[Judged<'_>]) -> Option<Vec<u8>> {
    let own_name = judge_name(holder, first);
    let mut constants = Constants {
        pool: Pool::default(),
        numbers: BTreeMap::new(),
        longs: BTreeMap::new(),
        methods: BTreeMap::new(),
        classes: BTreeMap::new(),
        count: 0,
    };
    let (own, above) = (constants.pool.class(&own_name), constants.pool.class("java/lang/Object"));
    let code_name = constants.pool.text("Code");
    constants.count += 5;
    let mut methods: Vec<Vec<u8>> = Vec::new();
    for (number, judged) in all.iter().enumerate() {
        let mut locals = BTreeMap::new();
        let mut next = 0u16;
        for held in &judged.held {
            locals.insert(*held, next);
            next += if held.kind().is_wide() { 2 } else { 1 };
        }
        let (name, desc) = judge_method(number, &judged.held);
        let mut parts: Vec<(Vec<u8>, usize)> = Vec::new();
        let mut code = Code::new(&mut constants, &locals, next);
        for (predicate, probe) in judged.predicates.iter().zip(judged.first..) {
            let probe = i32::try_from(first + probe).ok()?;
            if code.bytes.len() > LONG {
                code.does(&[op::RETURN]);
                parts.push((std::mem::take(&mut code.bytes), code.deepest));
            }
            let begin = code.bytes.len();
            code.int(probe);
            code.call(holder, "isHit", "(I)Z");
            let known = code.jump(op::IFNE);
            code.popped(1);
            code.does(&[op::ICONST_0]);
            code.local(op::ISTORE, next);
            code.formula(predicate)?;
            let no = code.jump(op::IFEQ);
            code.popped(1);
            code.local(op::ILOAD, next);
            let wrong = code.jump(op::IFNE);
            code.int(probe);
            code.call(holder, "hit", "(I)V");
            code.popped(1);
            for jump in [known, no, wrong] {
                code.here(jump)?;
            }
            if code.bytes.len() - begin > usize::from(u16::MAX) / 2 {
                return None;
            }
        }
        code.does(&[op::RETURN]);
        let last = (code.bytes, code.deepest);
        if parts.is_empty() {
            methods.push(method(&mut constants, code_name, (&name, &desc), &last.0, last.1, next + 1));
            continue;
        }
        parts.push(last);
        // One method calls those of the parts.
        let mut code = Code::new(&mut constants, &locals, next);
        for part in 0..parts.len() {
            judged.held.iter().try_for_each(|held| code.formula(&Formula::Held(*held)))?;
            code.call(&own_name, &format!("{name}_{part}"), &desc);
            code.stack = 0;
        }
        code.does(&[op::RETURN]);
        let whole = (code.bytes, code.deepest);
        methods.push(method(&mut constants, code_name, (&name, &desc), &whole.0, whole.1, next + 1));
        for (part, (bytes, deepest)) in parts.iter().enumerate() {
            let name = format!("{name}_{part}");
            methods.push(method(&mut constants, code_name, (&name, &desc), bytes, *deepest, next + 1));
        }
    }
    let count = u16::try_from(constants.count + 1).ok().filter(|count| *count < u16::MAX)?;
    debug_assert_eq!(count, constants.pool.count + 1);
    let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
    out.extend([0, 0]);
    out.extend(VERSION.to_be_bytes());
    out.extend(count.to_be_bytes());
    out.extend(&constants.pool.bytes);
    // No interfaces, no fields.
    for number in [PUBLIC_FINAL_SUPER, own, above, 0, 0, u16::try_from(methods.len()).ok()?] {
        out.extend(number.to_be_bytes());
    }
    out.extend(methods.concat());
    out.extend([0, 0]);
    Some(out)
}

fn method(
    constants: &mut Constants,
    code: u16,
    (name, desc): (&str, &str),
    body: &[u8],
    stack: usize,
    locals: u16,
) -> Vec<u8> {
    let (name, desc) = (constants.pool.text(name), constants.pool.text(desc));
    constants.count += 2;
    let mut out = Vec::new();
    // One attribute; no handlers, no attributes of the code.
    for number in [STATIC_PUBLIC, name, desc, 1, code] {
        out.extend(number.to_be_bytes());
    }
    out.extend((body.len() as u32 + 12).to_be_bytes());
    out.extend((stack as u16).to_be_bytes());
    out.extend(locals.to_be_bytes());
    out.extend((body.len() as u32).to_be_bytes());
    out.extend(body);
    out.extend([0, 0, 0, 0]);
    out
}
