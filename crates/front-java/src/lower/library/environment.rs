//! What the machine, the time and chance say: known of one run, and of no other. Whoever speaks of all runs stops there by name.

use crate::classes::MethodRef;
use crate::lower::builder::Builder;
use crate::lower::context::Lowering;
use crate::lower::symbols::{FuncKind, GlobalKind};
use touchstone_ir::Builtin;

/// What a method of the JDK tells that is another in every run, if it does.
fn nondeterministic_result(class: &str, name: &str) -> Option<&'static str> {
    Some(match (class, name) {
        ("java/lang/System", "getProperty" | "getProperties" | "getenv") => "the properties of the machine",
        ("java/lang/Thread", "getName" | "getId" | "threadId" | "toString") => "which thread runs",
        (
            "java/lang/Thread",
            "interrupted" | "isInterrupted" | "isDaemon" | "getPriority" | "getState" | "isVirtual",
        ) => "which thread runs",
        ("java/lang/Math" | "java/lang/StrictMath", "random") => "a random number",
        ("java/util/Random", "seedUniquifier") => "a random number",
        ("java/util/concurrent/ThreadLocalRandom", "current") => "a random number",
        ("java/util/SplittableRandom", "<init>") | ("java/util/UUID", "randomUUID") => "a random number",
        // They begin somewhere else in every run, so that nobody relies on it.
        ("java/util/ImmutableCollections$SetN$SetNIterator", "<init>")
        | ("java/util/ImmutableCollections$MapN$MapNIterator", "<init>") => "the order of an unmodifiable set or map",
        _ => return None,
    })
}

impl Lowering {
    /// What follows is only known of one run.
    pub fn note_nondeterminism(&mut self, b: &mut Builder, what: &'static str) {
        let name = self.global_id(GlobalKind::Text(what));
        let name = b.global(name);
        b.builtin(Builtin::RunOnly, vec![name], None);
    }

    /// A method that tells something of the surroundings: the method itself, with a word about it.
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
