//! Any bytes as a class file: read or refused, never a panic; the same of the code of its methods.

#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstone_front_java::classfile::{ClassFile, decode};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(class) = ClassFile::read(bytes) {
        for code in class.methods.iter().filter_map(|method| method.code()) {
            let _ = decode(&code.bytes, code.offset);
        }
    }
});
