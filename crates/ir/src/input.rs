//! Sources of the inputs that a program requests while it runs.
//!
//! The instruction that creates an input carries its source; names have no meaning.

/// Addresses that the program may write as numbers: what is there is a device's.
pub const REGISTERS: std::ops::Range<u64> = 1 << 16..1 << 32;

/// The granularity of registers, in bytes.
pub const REGISTER_BLOCK: u64 = 1024;

/// The source of an input. The name of the input says which one it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum InputSource {
    /// The program asks: the name is the one that it gives.
    #[default]
    Request,
    /// The result of an external function, or of a function with results that change by themselves; its name.
    External,
    /// A word of the command line; its number, from 1. No instruction asks for it: a program is called with it.
    Argument,
    /// All of standard input: a length (4 bytes, the lowest first), and that many bytes.
    Stdin,
    /// The contents of the next file that the program opens or first uses: a length and the failing operations
    /// ([`FILE_FAILURES`]; 2 bytes each, little-endian), then the bytes. There is no file if the length exceeds the
    /// number of bytes by two.
    File,
    /// The failing operations of standard output ([`FILE_FAILURES`], 2 bytes, little-endian).
    Output,
    /// A variable of the environment, by its name: a byte that is not 0 if it is set, and its text.
    Variable,
    /// The side effect of a stubbed function on a pointee: `function.parameter`; no bytes for no effect.
    Written,
    /// The side effect of a stubbed function on a global: `function.global`.
    Changed,
    /// A value that the description of an external function leaves open: `function.place`. Tests contain only its
    /// effect.
    Chosen,
    /// The failure of the allocation with this number (from 1); it has no bytes. No instruction requests it: it is set
    /// before the run.
    Allocation,
    /// The value of a register at a fixed address, in hexadecimal. Without a name and bytes: the program has such
    /// addresses.
    Register,
    /// The value of one read of a volatile object, by its source name. A test cannot set it.
    Volatile,
}

/// The operations of a file that may fail, by bit of the input. The higher byte is the number of writes that succeed
/// before.
pub const FILE_FAILURES: [&str; 5] = ["read", FILE_WRITES, "flush", "close", "seek"];
/// The operation that may succeed a few times before it fails.
pub const FILE_WRITES: &str = "write";
