//! The class that keeps what was hit, as bytes: one for so many probes.
//!
//! ```text
//! public final class HOLDER {
//!     private static final byte[] HIT = new byte[SIZE];
//!     public static boolean isHit(int probe) { return HIT[probe] != 0; }
//!     public static void hit(int probe) { if (HIT[probe] == 0) first(probe); }
//!     private static void first(int probe) { HIT[probe] = 1; log(NUMBER, probe); }
//!     private static native void log(int holder, int probe);
//! }
//! ```
//!
//! Only the first hit of a probe goes to the log, so what was hit is never lost, and threads that hit the same probe don't take its
//! memory from each other. When another test begins, what was hit is forgotten, and counts again. The class stands in the
//! package `java.lang`, which every class can see, whatever its loader and its module.

use crate::pool::{FIELD, METHOD, Pool, VERSION};

/// So many probes a holder has: their numbers are pushed as one constant.
pub const PROBES: u32 = 32_767;

/// The name of a holder.
pub fn name(number: u16) -> String {
    format!("java/lang/TouchstoneHits{number}")
}

/// The field with a byte for each probe, and its type,
pub const HIT: (&str, &str) = ("HIT", "[B");
/// and the method that is told of first hits.
pub const LOG: (&str, &str) = ("log", "(II)V");

const STATIC_FINAL_PRIVATE: u16 = 0x001a;
const STATIC_PRIVATE: u16 = 0x000a;
const STATIC_PRIVATE_NATIVE: u16 = 0x010a;
const STATIC_PUBLIC: u16 = 0x0009;
const STATIC: u16 = 0x0008;
const PUBLIC_FINAL_SUPER: u16 = 0x0031;

/// The bytes of a holder.
pub fn class(number: u16) -> Vec<u8> {
    let mut pool = Pool::default();
    let (own, above) = (pool.class(&name(number)), pool.class("java/lang/Object"));
    let hit_field = pool.member(FIELD, own, HIT.0, HIT.1);
    let first = pool.member(METHOD, own, "first", "(I)V");
    let log = pool.member(METHOD, own, LOG.0, LOG.1);
    let [code, hit, hit_name, bytes_desc, first_name, begin, number_desc, nothing_desc, log_name, log_desc] =
        ["Code", "hit", HIT.0, HIT.1, "first", "<clinit>", "(I)V", "()V", LOG.0, LOG.1].map(|text| pool.text(text));
    let [is_hit, truth_desc] = ["isHit", "(I)Z"].map(|text| pool.text(text));
    let method = |access: u16, name: u16, desc: u16, body: &[u8]| -> Vec<u8> {
        let mut out = Vec::new();
        // One attribute; stack, locals; no handlers, no attributes of the code.
        for number in [access, name, desc, 1, code] {
            out.extend(number.to_be_bytes());
        }
        out.extend((body.len() as u32 + 12).to_be_bytes());
        out.extend([0, 3, 0, 1]);
        out.extend((body.len() as u32).to_be_bytes());
        out.extend(body);
        out.extend([0, 0, 0, 0]);
        out
    };
    let two = |index: u16| index.to_be_bytes();
    let with = |opcode: u8, index: u16| [opcode, two(index)[0], two(index)[1]];
    let (sipush, getstatic, putstatic, invokestatic) = (17, 178, 179, 184);
    // getstatic HIT; iload_0; baload; ifne +7; iload_0; invokestatic first; return
    let hit_body =
        [&with(getstatic, hit_field)[..], &[26, 51, 154, 0, 7, 26], &with(invokestatic, first), &[177]].concat();
    // getstatic HIT; iload_0; iconst_1; bastore; sipush NUMBER; iload_0; invokestatic log; return
    let first_body =
        [&with(getstatic, hit_field)[..], &[26, 4, 84], &with(sipush, number), &[26], &with(invokestatic, log), &[177]]
            .concat();
    // getstatic HIT; iload_0; baload; ireturn
    let is_hit_body = [&with(getstatic, hit_field)[..], &[26, 51, 172]].concat();
    // sipush SIZE; newarray byte; putstatic HIT; return
    let begin_body = [&with(sipush, PROBES as u16)[..], &[188, 8], &with(putstatic, hit_field), &[177]].concat();
    let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
    out.extend([0, 0]);
    out.extend(two(VERSION));
    out.extend(two(pool.count + 1));
    out.extend(&pool.bytes);
    // No interfaces; a field; five methods; nothing else.
    for number in [PUBLIC_FINAL_SUPER, own, above, 0, 1, STATIC_FINAL_PRIVATE, hit_name, bytes_desc, 0, 5] {
        out.extend(two(number));
    }
    out.extend(method(STATIC_PUBLIC, hit, number_desc, &hit_body));
    out.extend(method(STATIC_PUBLIC, is_hit, truth_desc, &is_hit_body));
    out.extend(method(STATIC_PRIVATE, first_name, number_desc, &first_body));
    out.extend(method(STATIC, begin, nothing_desc, &begin_body));
    for number in [STATIC_PRIVATE_NATIVE, log_name, log_desc, 0, 0] {
        out.extend(two(number));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::{ClassFile, decode};

    #[test]
    fn a_holder_is_a_class_file() {
        let file = ClassFile::read(&class(3)).expect("a class file");
        assert_eq!((&*file.name, file.methods.len(), file.fields.len()), ("java/lang/TouchstoneHits3", 5, 1));
        for code in file.methods.iter().filter_map(|method| method.code()) {
            decode(&code.bytes, code.offset).expect("instructions");
        }
    }
}
