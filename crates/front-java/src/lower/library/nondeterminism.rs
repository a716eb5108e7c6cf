//! Queries of the environment: results that differ between runs (properties, time, threads, random numbers). An
//! analysis of all runs stops there with a reason.

use crate::classes::MethodRef;
use crate::lower::builder::Builder;
use crate::lower::context::Lowering;
use crate::lower::symbols::{FuncKind, GlobalKind};
use touchstone_ir::Builtin;

/// Returns the nondeterministic source that a method of the JDK reads, if it is one.
fn nondeterministic_result(class: &str, name: &str) -> Option<&'static str> {
    Some(match (class, name) {
        ("java/lang/System", "getProperty" | "getProperties" | "getenv") => {
            "the system properties or environment variables"
        }
        ("java/lang/Thread", "getName" | "getId" | "threadId" | "toString") => "the current thread",
        (
            "java/lang/Thread",
            "interrupted" | "isInterrupted" | "isDaemon" | "getPriority" | "getState" | "isVirtual",
        ) => "the current thread",
        ("java/lang/Math" | "java/lang/StrictMath", "random") => "a random number",
        ("java/util/Random", "seedUniquifier") => "a random number",
        ("java/util/concurrent/ThreadLocalRandom", "current") => "a random number",
        ("java/util/SplittableRandom", "<init>") | ("java/util/UUID", "randomUUID") => "a random number",
        // Their iteration order is randomised at the start of the JVM.
        ("java/util/ImmutableCollections$SetN$SetNIterator", "<init>")
        | ("java/util/ImmutableCollections$MapN$MapNIterator", "<init>") => "the order of an unmodifiable set or map",
        _ => return None,
    })
}

impl Lowering {
    /// Marks the following code as valid for a single run only.
    pub fn note_nondeterminism(&mut self, b: &mut Builder, what: &'static str) {
        let name = self.global_id(GlobalKind::Text(what));
        let name = b.global(name);
        b.builtin(Builtin::RunOnly, vec![name], None);
    }

    /// Lowers a query of the environment as the method itself behind a mark; returns false for other methods.
    pub fn lower_environment_query(&mut self, b: &mut Builder, method: MethodRef, class: &str, name: &str) -> bool {
        let Some(what) = nondeterministic_result(class, name) else { return false };
        self.note_nondeterminism(b, what);
        let result = self.signature(method).1;
        let original = self.func(FuncKind::Original(method));
        let value = b.call(original, b.params(), result);
        b.ret(result.map(|_| value));
        true
    }
}
