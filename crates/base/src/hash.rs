//! Hashing whose result is the same on every machine, in every run and in every release.
//!
//! FNV-1a, 64 bits. Objective ids and test names are built from it, so it must never change. Where two things with one hash would
//! be a wrong answer, and not only an odd name, 128 bits.

use std::fmt;
use std::hash::{Hash, Hasher};

/// FNV-1a over bytes; integers are fed little-endian, so results do not depend on the host.
#[derive(Clone)]
pub struct StableHasher(u64);

impl Default for StableHasher {
    fn default() -> Self {
        StableHasher(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for StableHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    fn write_u16(&mut self, value: u16) {
        self.write(&value.to_le_bytes());
    }
    fn write_u32(&mut self, value: u32) {
        self.write(&value.to_le_bytes());
    }
    fn write_u64(&mut self, value: u64) {
        self.write(&value.to_le_bytes());
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// The stable hash of a value.
pub fn stable_hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = StableHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// FNV-1a with 128 bits, for what is known by its hash alone. What has no `Hash` is written to it as text.
#[derive(Clone)]
pub struct WideHasher(u128);

impl WideHasher {
    /// The hash of all that was fed.
    pub fn wide(&self) -> u128 {
        self.0
    }

    /// Feeds what `Debug` says of a value: all its fields, for derived ones. The end of each text is part of it.
    pub fn debug(&mut self, value: &dyn fmt::Debug) {
        // To write into a hash can't fail.
        let _ = fmt::write(self, format_args!("{value:?}\u{ff}"));
    }
}

impl Default for WideHasher {
    fn default() -> Self {
        WideHasher(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl fmt::Write for WideHasher {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text.as_bytes());
        Ok(())
    }
}

impl Hasher for WideHasher {
    fn finish(&self) -> u64 {
        self.0 as u64
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
    fn write_u16(&mut self, value: u16) {
        self.write(&value.to_le_bytes());
    }
    fn write_u32(&mut self, value: u32) {
        self.write(&value.to_le_bytes());
    }
    fn write_u64(&mut self, value: u64) {
        self.write(&value.to_le_bytes());
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    #[test]
    fn a_wide_hash_is_the_one_that_is_published() {
        let mut hasher = super::WideHasher::default();
        hasher.write(b"a");
        assert_eq!(hasher.wide(), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }

    #[test]
    fn the_hash_of_a_text_never_changes() {
        assert_eq!(super::stable_hash("touchstone"), 17_364_583_572_906_572_758);
    }
}
