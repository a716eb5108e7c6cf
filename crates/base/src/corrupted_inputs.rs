//! Corrupted inputs for tests of readers: files may be truncated, damaged, or of another program.
//!
//! The inputs are seeded, so every run has the same ones. The fuzz targets generate them without an end.

/// Damaged copies of an input that is well-formed, without an end.
pub struct CorruptedInputs<'a> {
    whole: &'a [u8],
    state: u64,
}

impl<'a> CorruptedInputs<'a> {
    /// Copies of this input.
    pub fn of(whole: &'a [u8]) -> CorruptedInputs<'a> {
        CorruptedInputs { whole, state: 0x9e37_79b9_7f4a_7c15 }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % limit.max(1)
    }

    fn damage(&mut self, copy: &mut Vec<u8>) {
        const ODD: [&[u8]; 12] =
            [b"\"", b"{", b"]", b"\\", b"\0", b"\n", b"@", b"-1", b"9999999999999999999", b"\xff", b"\xe2\x82", b"="];
        let at = self.below(copy.len());
        let end = (at + 1 + self.below(16)).min(copy.len());
        match self.below(7) {
            0 => copy.truncate(at),
            1 => drop(copy.drain(at.min(end)..end)),
            2 => {
                let piece = copy[at.min(end)..end].to_vec();
                let to = self.below(copy.len() + 1);
                copy.splice(to..to, piece);
            }
            3 => {
                let odd = ODD[self.below(ODD.len())];
                copy.splice(at..at, odd.iter().copied());
            }
            4 => copy[at..end].fill(0xff),
            _ => {
                if let Some(byte) = copy.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
        }
    }
}

impl Iterator for CorruptedInputs<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut copy = self.whole.to_vec();
        for _ in 0..=self.below(3) {
            if !copy.is_empty() {
                self.damage(&mut copy);
            }
        }
        Some(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_differ_from_the_input_and_from_each_other_and_are_the_same_again() {
        let made: Vec<Vec<u8>> = CorruptedInputs::of(b"a = { b = 1 }").take(500).collect();
        let distinct: std::collections::BTreeSet<&Vec<u8>> = made.iter().collect();
        assert!(distinct.len() > 300, "only {}", distinct.len());
        assert!(made.iter().eq(&CorruptedInputs::of(b"a = { b = 1 }").take(500).collect::<Vec<_>>()));
        assert!(CorruptedInputs::of(b"").take(10).all(|copy| copy.is_empty()));
    }
}
