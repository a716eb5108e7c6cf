//! The committed class of `java/` is what `javac` of JDK 17 makes of its source. `TOUCHSTONE_BLESS=1` rewrites it instead.

mod javac;

use std::path::Path;

#[test]
fn the_committed_class_is_that_of_its_source() {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("java");
    javac::check(&java.join("stubs"), &java, &["HitsValueChecks"]);
}
