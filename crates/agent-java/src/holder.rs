//! The class that keeps what was hit, as bytes: one for so many probes.
//!
//! ```text
//! public final class HOLDER {
//!     private static final byte[] HIT = new byte[SIZE];
//!     private static final Unsafe UNSAFE = Unsafe.getUnsafe();
//!     private static final long MAPPED = …;
//!     public static void hit(int probe) { if (HIT[probe] == 0) first(probe); }
//!     private static void first(int probe) { HIT[probe] = 1; UNSAFE.putByte(MAPPED + probe, (byte) 1); }
//! }
//! ```
//!
//! Only the first hit of a probe writes to the file that is mapped, so what was hit is never lost, and threads that hit the same
//! probe don't take its memory from each other. The class stands in the package `java.lang`, which every class can see, whatever its loader
//! and its module.

/// Class files of this version need no stack maps, and are read by every JVM.
pub(crate) const VERSION: u16 = 49;

/// So many probes a holder has: their numbers are pushed as one constant.
pub const PROBES: u32 = 32_767;

/// The name of a holder.
pub fn name(number: usize) -> String {
    format!("java/lang/TouchstoneHits{number}")
}

/// The constants of a class that is made here.
#[derive(Default)]
pub(crate) struct Pool {
    pub bytes: Vec<u8>,
    pub count: u16,
}

impl Pool {
    fn add(&mut self, tag: u8, content: &[u8]) -> u16 {
        self.bytes.push(tag);
        self.bytes.extend(content);
        self.count += 1;
        self.count
    }

    pub fn text(&mut self, text: &str) -> u16 {
        let length = (text.len() as u16).to_be_bytes();
        self.add(1, &[&length[..], text.as_bytes()].concat())
    }

    pub fn of(&mut self, tag: u8, numbers: &[u16]) -> u16 {
        let content: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        self.add(tag, &content)
    }

    pub fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.of(7, &[name])
    }

    pub fn member(&mut self, tag: u8, class: u16, name: &str, desc: &str) -> u16 {
        let (name, desc) = (self.text(name), self.text(desc));
        let both = self.of(12, &[name, desc]);
        self.of(tag, &[class, both])
    }

    pub fn long(&mut self, value: u64) -> u16 {
        let index = self.add(5, &value.to_be_bytes());
        // It takes two places.
        self.count += 1;
        index
    }
}

pub(crate) const FIELD: u8 = 9;
pub(crate) const METHOD: u8 = 10;
const STATIC_FINAL_PRIVATE: u16 = 0x001a;
const STATIC_PRIVATE: u16 = 0x000a;
const STATIC_PUBLIC: u16 = 0x0009;
const STATIC: u16 = 0x0008;
const PUBLIC_FINAL_SUPER: u16 = 0x0031;

/// The bytes of a holder whose probes are mapped from an address on. `unsafe_class` is what the JDK calls what stores there.
pub fn class(name: &str, unsafe_class: &str, mapped: u64) -> Vec<u8> {
    let mut pool = Pool::default();
    let unsafe_desc = format!("L{unsafe_class};");
    let (own, above, unsafe_index) = (pool.class(name), pool.class("java/lang/Object"), pool.class(unsafe_class));
    let hit_field = pool.member(FIELD, own, "HIT", "[B");
    let unsafe_field = pool.member(FIELD, own, "UNSAFE", &unsafe_desc);
    let first = pool.member(METHOD, own, "first", "(I)V");
    let put = pool.member(METHOD, unsafe_index, "putByte", "(JB)V");
    let get = pool.member(METHOD, unsafe_index, "getUnsafe", &format!("(){unsafe_desc}"));
    let mapped = pool.long(mapped);
    let [code, hit, hit_name, bytes_desc, unsafe_name, first_name, begin, number_desc, nothing_desc, unsafe_text] =
        ["Code", "hit", "HIT", "[B", "UNSAFE", "first", "<clinit>", "(I)V", "()V", &unsafe_desc]
            .map(|text| pool.text(text));
    let method = |access: u16, name: u16, desc: u16, body: &[u8]| -> Vec<u8> {
        let mut out = Vec::new();
        // One attribute; stack, locals; no handlers, no attributes of the code.
        for number in [access, name, desc, 1, code] {
            out.extend(number.to_be_bytes());
        }
        out.extend((body.len() as u32 + 12).to_be_bytes());
        out.extend([0, 6, 0, 1]);
        out.extend((body.len() as u32).to_be_bytes());
        out.extend(body);
        out.extend([0, 0, 0, 0]);
        out
    };
    let two = |index: u16| index.to_be_bytes();
    let with = |opcode: u8, index: u16| [opcode, two(index)[0], two(index)[1]];
    let (getstatic, putstatic, invokevirtual, invokestatic) = (178, 179, 182, 184);
    // getstatic HIT; iload_0; baload; ifne +7; iload_0; invokestatic first; return
    let hit_body =
        [&with(getstatic, hit_field)[..], &[26, 51, 154, 0, 7, 26], &with(invokestatic, first), &[177]].concat();
    // getstatic HIT; iload_0; iconst_1; bastore; getstatic UNSAFE; ldc2_w MAPPED; iload_0; i2l; ladd; iconst_1; putByte; return
    let first_body = [
        &with(getstatic, hit_field)[..],
        &[26, 4, 84],
        &with(getstatic, unsafe_field),
        &with(20, mapped),
        &[26, 133, 97, 4],
        &with(invokevirtual, put),
        &[177],
    ]
    .concat();
    // sipush SIZE; newarray byte; putstatic HIT; getUnsafe; putstatic UNSAFE; return
    let begin_body = [
        &with(17, PROBES as u16)[..],
        &[188, 8],
        &with(putstatic, hit_field),
        &with(invokestatic, get),
        &with(putstatic, unsafe_field),
        &[177],
    ]
    .concat();
    let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
    out.extend([0, 0]);
    out.extend(two(VERSION));
    out.extend(two(pool.count + 1));
    out.extend(&pool.bytes);
    for number in [PUBLIC_FINAL_SUPER, own, above, 0, 2] {
        out.extend(two(number));
    }
    for (name, desc) in [(hit_name, bytes_desc), (unsafe_name, unsafe_text)] {
        for number in [STATIC_FINAL_PRIVATE, name, desc, 0] {
            out.extend(two(number));
        }
    }
    out.extend(two(3));
    out.extend(method(STATIC_PUBLIC, hit, number_desc, &hit_body));
    out.extend(method(STATIC_PRIVATE, first_name, number_desc, &first_body));
    out.extend(method(STATIC, begin, nothing_desc, &begin_body));
    out.extend(two(0));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::{ClassFile, decode};

    #[test]
    fn a_holder_is_a_class_file() {
        let bytes = class(&name(3), "jdk/internal/misc/Unsafe", 0x7f00_1234_5678);
        let file = ClassFile::read(&bytes).expect("a class file");
        assert_eq!((&*file.name, file.methods.len(), file.fields.len()), ("java/lang/TouchstoneHits3", 3, 2));
        for method in &file.methods {
            let code = method.code().expect("code");
            decode(&code.bytes, code.offset).expect("instructions");
        }
    }
}
