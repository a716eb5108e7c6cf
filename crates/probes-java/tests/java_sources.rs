//! The committed classes of `java/` are what `javac` of JDK 17 makes of their sources. `TOUCHSTONE_BLESS=1` rewrites them instead.

mod javac;

use std::path::Path;

#[test]
fn the_committed_classes_are_those_of_their_sources() {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("java");
    javac::check(&java.join("stubs"), &java, &["HitsValueChecks", "ReplayHits"]);
}
