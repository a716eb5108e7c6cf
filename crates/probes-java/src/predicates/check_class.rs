//! The class that answers what code with probes asks of values, as bytes: static methods that hit a probe if the answer is yes, and never throw.
//!
//! ```text
//! public final class HOLDERAnswers {
//!     public static void isZero(int divisor, int probe) { if (divisor == 0) HOLDER.hit(probe); }
//!     ...
//! }
//! ```

use crate::encode::constant_pool::{METHOD, Pool, VERSION};
use crate::predicates::value_checks::DomainPart;
use touchstone_classfile::opcode as op;

/// Its name.
pub fn answers_name(holder: &str) -> String {
    format!("{holder}Answers")
}

/// Its methods: each takes the number of a probe last, or of the first one.
pub(crate) mod method {
    pub const NULL: (&str, &str) = ("isNull", "(Ljava/lang/Object;I)V");
    pub const OUTSIDE: (&str, &str) = ("isOutside", "(Ljava/lang/Object;II)V");
    pub const STORE: (&str, &str) = ("isRefused", "(Ljava/lang/Object;ILjava/lang/Object;I)V");
    pub const ZERO: (&str, &str) = ("isZero", "(II)V");
    pub const ZERO_LONG: (&str, &str) = ("isZeroLong", "(JI)V");
    pub const NEGATIVE: (&str, &str) = ("isNegative", "(II)V");
    /// Behind the object stands whether it is of the class.
    pub const CAST: (&str, &str) = ("isOther", "(Ljava/lang/Object;II)V");
    pub const LABEL: (&str, &str) = ("holds", "(II)V");
    /// Behind the number stand the least and the greatest of its type.
    pub const INT_PARTS: (&str, &str) = ("ofInt", "(IIII)V");
    pub const LONG_PARTS: (&str, &str) = ("ofLong", "(JI)V");
    pub const DOUBLE_PARTS: (&str, &str) = ("ofDouble", "(DI)V");
    pub const REFERENCE_PARTS: (&str, &str) = ("ofReference", "(Ljava/lang/Object;I)V");
}

const PUBLIC_FINAL_SUPER: u16 = 0x0031;
const STATIC_PUBLIC: u16 = 0x0009;

/// Methods that answers call.
struct Called {
    hit: [u8; 3],
    length: [u8; 3],
    class_of: [u8; 3],
    element: [u8; 3],
    is_instance: [u8; 3],
    least: [u8; 3],
    greatest: [u8; 3],
}

impl Called {
    fn new(pool: &mut Pool, holder: &str) -> Called {
        let with = |opcode: u8, index: u16| [opcode, index.to_be_bytes()[0], index.to_be_bytes()[1]];
        let mut of = |opcode: u8, class: &str, name: &str, desc: &str| {
            let class = pool.class(class);
            with(opcode, pool.member(METHOD, class, name, desc))
        };
        let class = "java/lang/Class";
        Called {
            hit: of(op::INVOKESTATIC, holder, "hit", "(I)V"),
            length: of(op::INVOKESTATIC, "java/lang/reflect/Array", "getLength", "(Ljava/lang/Object;)I"),
            class_of: of(op::INVOKEVIRTUAL, "java/lang/Object", "getClass", "()Ljava/lang/Class;"),
            element: of(op::INVOKEVIRTUAL, class, "getComponentType", "()Ljava/lang/Class;"),
            is_instance: of(op::INVOKEVIRTUAL, class, "isInstance", "(Ljava/lang/Object;)Z"),
            least: with(op::LDC2_W, pool.long(i64::MIN as u64)),
            greatest: with(op::LDC2_W, pool.long(i64::MAX as u64)),
        }
    }
}

/// The code of an answer in the making.
struct Answer<'a> {
    called: &'a Called,
    bytes: Vec<u8>,
    /// Jumps to what comes next.
    open: Vec<usize>,
}

impl Answer<'_> {
    fn does(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    /// Compares the number with zero.
    fn of_long(self) -> Self {
        self.does(&[op::LLOAD_0, op::LCONST_0, op::LCMP])
    }

    /// The same.
    fn of_double(self, compare: u8) -> Self {
        self.does(&[op::DLOAD_0, op::DCONST_0, compare])
    }

    /// Jumps to behind the next hit.
    fn no_if(mut self, jump: u8) -> Self {
        self.open.push(self.bytes.len());
        self.does(&[jump, 0, 0])
    }

    /// Jumps over so many bytes.
    fn over(self, jump: u8, bytes: u8) -> Self {
        self.does(&[jump, 0, 3 + bytes])
    }

    /// Hits a probe: the number is an argument, and behind it more may follow.
    fn hits(mut self, argument: u8, part: u8) -> Self {
        self.bytes.push(op::ILOAD_0 + argument);
        if part > 0 {
            self.bytes.extend([op::ICONST_0 + part, op::IADD]);
        }
        self.bytes.extend(self.called.hit);
        let end = self.bytes.len();
        for jump in std::mem::take(&mut self.open) {
            let distance = ((end - jump) as u16).to_be_bytes();
            self.bytes[jump + 1..jump + 3].copy_from_slice(&distance);
        }
        self
    }

    /// The same for a part of a domain.
    fn is(self, argument: u8, part: DomainPart) -> Self {
        self.hits(argument, part.number() as u8)
    }
}

/// The class of a holder.
pub fn answers(holder: &str) -> Vec<u8> {
    use op::*;
    let mut pool = Pool::default();
    let (own, above) = (pool.class(&answers_name(holder)), pool.class("java/lang/Object"));
    let called = Called::new(&mut pool, holder);
    let code = pool.text("Code");
    let new = || Answer { called: &called, bytes: Vec::new(), open: Vec::new() };
    let (iload, aload) = (|local: u8| ILOAD_0 + local, |local: u8| ALOAD_0 + local);
    let methods = [
        (method::NULL, new().does(&[ALOAD_0]).no_if(IFNONNULL).hits(1, 0)),
        (method::OUTSIDE, {
            let inside = new().does(&[ALOAD_0]).no_if(IFNULL);
            // A negative index is not compared with the length.
            let inside = inside.does(&[iload(1)]).over(IFLT, 8).does(&[iload(1), ALOAD_0]).does(&called.length);
            inside.no_if(IF_ICMPLT).hits(2, 0)
        }),
        (method::STORE, {
            let answer = new().does(&[ALOAD_0]).no_if(IFNULL).does(&[aload(2)]).no_if(IFNULL);
            let answer = answer.does(&[iload(1)]).no_if(IFLT);
            let answer = answer.does(&[iload(1), ALOAD_0]).does(&called.length).no_if(IF_ICMPGE);
            let answer = answer.does(&[ALOAD_0]).does(&called.class_of).does(&called.element);
            answer.does(&[aload(2)]).does(&called.is_instance).no_if(IFNE).hits(3, 0)
        }),
        (method::ZERO, new().does(&[ILOAD_0]).no_if(IFNE).hits(1, 0)),
        (method::ZERO_LONG, new().of_long().no_if(IFNE).hits(2, 0)),
        (method::NEGATIVE, new().does(&[ILOAD_0]).no_if(IFGE).hits(1, 0)),
        (method::CAST, new().does(&[ALOAD_0]).no_if(IFNULL).does(&[iload(1)]).no_if(IFNE).hits(2, 0)),
        (method::LABEL, new().does(&[ILOAD_0]).no_if(IFEQ).hits(1, 0)),
        (method::INT_PARTS, {
            let answer = new().does(&[ILOAD_0]).no_if(IFGE).is(3, DomainPart::Negative);
            let answer = answer.does(&[ILOAD_0]).no_if(IFNE).is(3, DomainPart::Zero);
            let answer = answer.does(&[ILOAD_0]).no_if(IFLE).is(3, DomainPart::Positive);
            let answer = answer.does(&[ILOAD_0, iload(1)]).no_if(IF_ICMPNE).is(3, DomainPart::Least);
            answer.does(&[ILOAD_0, iload(2)]).no_if(IF_ICMPNE).is(3, DomainPart::Greatest)
        }),
        (method::LONG_PARTS, {
            let answer = new().of_long().no_if(IFGE).is(2, DomainPart::Negative);
            let answer = answer.of_long().no_if(IFNE).is(2, DomainPart::Zero);
            let answer = answer.of_long().no_if(IFLE).is(2, DomainPart::Positive);
            let answer = answer.does(&[LLOAD_0]).does(&called.least).does(&[LCMP]);
            let answer = answer.no_if(IFNE).is(2, DomainPart::Least);
            let answer = answer.does(&[LLOAD_0]).does(&called.greatest).does(&[LCMP]);
            answer.no_if(IFNE).is(2, DomainPart::Greatest)
        }),
        (method::DOUBLE_PARTS, {
            // What is no number is neither less nor equal nor greater.
            let answer = new().of_double(DCMPG).no_if(IFGE).is(2, DomainPart::Negative);
            let answer = answer.of_double(DCMPL).no_if(IFNE).is(2, DomainPart::Zero);
            let answer = answer.of_double(DCMPL).no_if(IFLE).is(2, DomainPart::Positive);
            let answer = answer.does(&[DLOAD_0, DLOAD_0, DCMPL]);
            answer.no_if(IFEQ).is(2, DomainPart::NoNumber)
        }),
        (method::REFERENCE_PARTS, {
            let answer = new().does(&[ALOAD_0]).no_if(IFNONNULL).is(1, DomainPart::Null);
            answer.does(&[ALOAD_0]).no_if(IFNULL).is(1, DomainPart::NotNull)
        }),
    ];
    let methods = methods.map(|((name, desc), answer)| {
        let body = answer.does(&[RETURN]).bytes;
        let mut out = Vec::new();
        // One attribute; stack, locals; no handlers, no attributes of the code.
        for number in [STATIC_PUBLIC, pool.text(name), pool.text(desc), 1, code] {
            out.extend(number.to_be_bytes());
        }
        out.extend((body.len() as u32 + 12).to_be_bytes());
        out.extend([0, 4, 0, 4]);
        out.extend((body.len() as u32).to_be_bytes());
        out.extend(body);
        out.extend([0, 0, 0, 0]);
        out
    });
    let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
    out.extend([0, 0]);
    out.extend(VERSION.to_be_bytes());
    out.extend((pool.count + 1).to_be_bytes());
    out.extend(&pool.bytes);
    // No interfaces, no fields; no attributes.
    for number in [PUBLIC_FINAL_SUPER, own, above, 0, 0, methods.len() as u16] {
        out.extend(number.to_be_bytes());
    }
    methods.iter().for_each(|method| out.extend(method));
    out.extend([0, 0]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::{ClassFile, Insn, decode};

    #[test]
    fn answers_are_a_class_file_whose_jumps_lead_to_instructions() {
        let file = ClassFile::read(&answers("java/lang/Holder")).expect("a class file");
        assert_eq!((&*file.name, file.methods.len()), ("java/lang/HolderAnswers", 12));
        for code in file.methods.iter().filter_map(|method| method.code()) {
            let insns = decode(&code.bytes, code.offset).expect("instructions");
            let is_there = |at: usize| insns.iter().any(|insn| insn.at == at);
            assert!(insns.iter().all(|insn| insn.insn.targets().into_iter().all(is_there)));
            assert_eq!(insns.last().map(|insn| &insn.insn), Some(&Insn::Return(None)));
        }
    }
}
