//! Where the inputs come in that a program asks for while it runs.
//!
//! Whoever makes an input says so, in the module; nobody reads it off a name.

/// Addresses that the program may write as numbers: what is there is a device's.
pub const REGISTERS: std::ops::Range<u64> = 1 << 16..1 << 32;

/// They are known in blocks of so many bytes.
pub const REGISTER_BLOCK: u64 = 1024;

/// Where an input comes in. The name that goes with it says which one it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum InputSource {
    /// The program asks: the name is the one that it gives.
    #[default]
    Request,
    /// The answer of a function that tests answer for: nobody defines it, or what it gives changes by itself; its name.
    External,
    /// A word of the command line; its number, from 1. No instruction asks for it: a program is called with it.
    Argument,
    /// All of standard input: a length (4 bytes, the lowest first), and that many bytes.
    Stdin,
    /// What the next file has that the program opens or first uses: a length and what fails ([`FILE_FAILURES`]; 2 bytes each, the
    /// lowest first), and that many bytes; there is no file if the length is by two more than there are bytes.
    File,
    /// What fails of standard output ([`FILE_FAILURES`], 2 bytes, the lowest first).
    Output,
    /// A variable of the environment, by its name: a byte that is not 0 if it is set, and its text.
    Variable,
    /// What a function that tests answer for leaves behind one of its pointers: `function.parameter`; no bytes for nothing.
    Written,
    /// What it leaves in a global: `function.global`.
    Changed,
    /// What a description leaves open of what such a function leaves: `function.place`. Tests say it by what is left.
    Chosen,
    /// That the allocation with this number (from 1) gets no memory; it has no bytes. No instruction asks for it: it is said
    /// before the run.
    Allocation,
    /// What a device gives at an address that the program writes as a number, in hexadecimal. Without name and bytes: there are such
    /// addresses.
    Register,
    /// What an object that others may change holds at one read: how the source names it. A test can't set it.
    Volatile,
}

/// What may fail of a file, by the bits of an input that is one. Its higher byte says how many writes succeed before.
pub const FILE_FAILURES: [&str; 5] = ["read", FILE_WRITES, "flush", "close", "seek"];
/// That of them that may succeed a few times.
pub const FILE_WRITES: &str = "write";
