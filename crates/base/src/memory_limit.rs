//! How much memory the process may have.

/// At most so many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryLimit(u64);

impl MemoryLimit {
    /// So many bytes.
    pub fn bytes(most: u64) -> MemoryLimit {
        MemoryLimit(most)
    }

    /// Whether the process has as much. Where the system does not tell, it never has.
    pub fn is_met(self) -> bool {
        !self.has_room(0)
    }

    /// Whether three quarters are taken: time to free what can be made again.
    pub fn is_near(self) -> bool {
        !self.has_room(self.0 / 4)
    }

    /// Whether the process may have so many bytes more. Where the system does not tell, it may.
    pub fn has_room(self, more: u64) -> bool {
        resident().is_none_or(|bytes| bytes.saturating_add(more) < self.0)
    }

    /// How many bytes it may have.
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
