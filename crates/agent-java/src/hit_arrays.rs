//! The class that keeps what was hit, as bytes: one for so many probes.
//!
//! ```text
//! public final class HOLDER {
//!     private static final byte[] HIT = new byte[SIZE];
//!     public static boolean isHit(int probe) { return HIT[probe] != 0; }
//!     public static void hit(int probe) { if (HIT[probe] == 0) OWNER.first(NUMBER, probe); }
//! }
//! ```
//!
//! Every probe is a call of `hit`, which compilers of the JVM put into the code that is measured: so it is small, and needs little of the stack. What comes of
//! a first hit stays a call: in place of every probe it made methods so large that compilers left out what they would put into them otherwise.
//!
//! Only the first hit of a probe goes to the log, which sets its byte, so what was hit is never lost, and threads that hit the same probe don't take its
//! memory from each other. When another test begins, what was hit is forgotten, and counts again. While tests run at the same time no byte is
//! set: what each of them hit its owner knows. The class stands in the package `java.lang`, which every class can see, whatever its loader and its module.

use crate::class_writer::{Code, Written, access, op};
use crate::test_attribution;

/// So many probes a holder has: their numbers are pushed as one constant.
pub const PROBES: u32 = 32_767;

/// The name of a holder.
pub fn name(number: u16) -> String {
    format!("java/lang/TouchstoneHits{number}")
}

/// The field with a byte for each probe, and its type.
pub const HIT: (&str, &str) = ("HIT", "[B");

/// Arrays of bytes, as an instruction names them.
pub const BYTES: u8 = 8;

/// The bytes of a holder.
pub fn class(number: u16) -> Vec<u8> {
    const PUBLIC_STATIC: u16 = access::PUBLIC | access::STATIC;
    let mut class = Written::new(&name(number), "java/lang/Object");
    let hit = class.field(access::PRIVATE | access::STATIC | access::FINAL, HIT.0, HIT.1);
    let owner = class.pool.class(test_attribution::OWNER);
    let first = class.pool.member(crate::pool::METHOD, owner, test_attribution::FIRST.0, test_attribution::FIRST.1);
    let asked = || Code::default().with(op::GETSTATIC, hit).does(&[op::ILOAD_0, op::BALOAD]);
    const KNOWN: usize = 0;
    let body = asked().jump(op::IFNE, KNOWN).with(op::SIPUSH, number).does(&[op::ILOAD_0]);
    let body = body.with(op::INVOKESTATIC, first).label(KNOWN).does(&[op::RETURN]);
    class.method(PUBLIC_STATIC, "hit", "(I)V", body.within(2, 1));
    class.method(PUBLIC_STATIC, "isHit", "(I)Z", asked().does(&[op::IRETURN]).within(2, 1));
    let begin = Code::default().with(op::SIPUSH, PROBES as u16).does(&[op::NEWARRAY, BYTES]);
    class.method(access::STATIC, "<clinit>", "()V", begin.with(op::PUTSTATIC, hit).does(&[op::RETURN]));
    class.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::{ClassFile, decode};

    #[test]
    fn a_holder_is_a_class_file() {
        let file = ClassFile::read(&class(3)).expect("a class file");
        assert_eq!((&*file.name, file.methods.len(), file.fields.len()), ("java/lang/TouchstoneHits3", 3, 1));
        for code in file.methods.iter().filter_map(|method| method.code()) {
            decode(&code.bytes, code.offset).expect("instructions");
        }
        // HotSpot's first compiler puts nothing into its callers that needs more than ten.
        let hit = file.methods.iter().find(|method| &*method.name == "hit").and_then(|method| method.code());
        assert_eq!(hit.map(|code| (code.max_stack, code.max_locals)), Some((2, 1)));
    }
}
