//! The committed classes of `java/` are what `javac` of JDK 17 makes of their sources. `TOUCHSTONE_BLESS=1` rewrites them instead.

#[path = "../../probes-java/tests/javac/mod.rs"]
mod javac;

use std::path::Path;

#[test]
fn the_committed_classes_are_those_of_their_sources() {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("java");
    // They are compiled together: they call each other.
    let classes = [
        "java/lang/TouchstoneHits",
        "java/lang/TouchstoneSnapshot",
        "java/lang/TouchstoneTestAttribution",
        "java/lang/TouchstoneTestEvents",
        "java/lang/TouchstoneTrace",
    ];
    javac::check(&java.join("stubs"), &java, &classes);
}
