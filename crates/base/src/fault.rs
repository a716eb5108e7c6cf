//! Faults of Touchstone that tests inject on purpose: each breaks one rule that verdicts rest on, and some test that judges
//! verdicts must notice it (`crates/cli/tests/cli/faults.rs`).
//!
//! The environment variable `TOUCHSTONE_FAULT` names one, and only a build with debug assertions reads it: in a release build
//! [`is_injected`] is the constant `false`.

macro_rules! faults {
    ($($(#[doc = $effect:literal])+ $name:ident,)+) => {
        /// A rule that is broken.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Fault {
            $($(#[doc = $effect])+ $name,)+
        }

        impl Fault {
            /// All faults.
            pub const ALL: &[Fault] = &[$(Fault::$name),+];
        }
    };
}

faults! {
    /// A symbolic pointer never points to an existing object.
    DroppedAlias,
    /// A symbolic pointer is never null.
    DroppedNull,
    /// A fork follows only its first outcome.
    LostOutcome,
    /// Sign extensions of symbolic values fill with zeros.
    ZeroExtension,
    /// A signed comparison of terms is unsigned.
    UnsignedComparison,
    /// A comparison excludes one value too many from an interval.
    NarrowInterval,
    /// A truncation keeps the interval of the operand.
    TruncationKeepsRange,
    /// A loop leaves memory unchanged in proofs.
    LoopKeepsMemory,
    /// An external function leaves memory unchanged.
    ExternalKeepsMemory,
    /// A composed call has the side effects of one of its paths.
    OneSidedSummary,
    /// A write leaves overlapping objects of other types unchanged.
    NoOverlap,
    /// No pointer from outside holds the address of a constant.
    UnreachableConstants,
    /// Variables keep no state between calls.
    NoPersistentState,
    /// Allocations never fail.
    AllocationSucceeds,
    /// Later reads of a volatile variable return the same value.
    StableVolatile,
    /// A condition masks none before it.
    NothingMasked,
    /// The first successor of a block counts as its post-dominator.
    WrongPostDominator,
    /// Assembly has no effect.
    AssemblyIgnored,
    /// Attributes expose no variables.
    AttributesIgnored,
    /// A weak definition is the only one.
    WeakIsStrong,
    /// Compile flags have no effect.
    FlagsIgnored,
    /// Models of the C library fill memory where they copy it.
    WrongModel,
    /// The cache key of a function ignores what it depends on.
    StaleCacheKey,
    /// Code that is not lowered counts as unchanged.
    EqualText,
    /// Functions that changed leave the same state for later calls.
    EqualState,
    /// A store of another value than before a change keeps memory equal.
    KeptEqualities,
}

/// Returns true if a fault is injected into this process.
#[cfg(debug_assertions)]
pub fn is_injected(fault: Fault) -> bool {
    static INJECTED: std::sync::OnceLock<Option<Fault>> = std::sync::OnceLock::new();
    let read = || {
        let name = std::env::var("TOUCHSTONE_FAULT").ok()?;
        Fault::ALL.iter().copied().find(|fault| format!("{fault:?}") == name)
    };
    *INJECTED.get_or_init(read) == Some(fault)
}

/// Returns false: only builds with debug assertions can be broken.
#[cfg(not(debug_assertions))]
pub const fn is_injected(_: Fault) -> bool {
    false
}
