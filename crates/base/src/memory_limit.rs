//! A limit on the memory of the process.

/// A limit in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryLimit(u64);

impl MemoryLimit {
    /// Creates a limit of a number of bytes.
    pub fn bytes(most: u64) -> MemoryLimit {
        MemoryLimit(most)
    }

    /// Returns true if the process has reached the limit. Returns false if the system does not report its memory.
    pub fn is_met(self) -> bool {
        !self.has_room(0)
    }

    /// Returns true if three quarters of the limit are used: caches should be freed.
    pub fn is_near(self) -> bool {
        !self.has_room(self.0 / 4)
    }

    /// Returns true if the process may allocate more bytes, or if the system does not report its memory.
    pub fn has_room(self, more: u64) -> bool {
        resident().is_none_or(|bytes| bytes.saturating_add(more) < self.0)
    }

    /// Returns the limit in bytes.
    pub fn most(self) -> u64 {
        self.0
    }
}

/// The memory that the process has, in bytes, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_some_memory_and_not_all_there_is() {
        assert!(resident().is_none() || MemoryLimit::bytes(1).is_met());
        assert!(!MemoryLimit::bytes(u64::MAX).is_met());
        assert!(resident().is_none() || !MemoryLimit::bytes(1 << 40).has_room(1 << 40));
        assert!(MemoryLimit::bytes(1 << 40).has_room(1 << 20));
    }
}
