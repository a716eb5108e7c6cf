//! A deterministic random generator.

/// A random generator with reproducible results (xorshift64*).
pub struct RandomGenerator(u64);

impl RandomGenerator {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> RandomGenerator {
        RandomGenerator(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a random index below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.bits() >> 16) % (end.max(1) as u64)) as usize
    }

    /// Returns true with a probability of one in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns a random element, or `None` if the list is empty.
    pub fn of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}
