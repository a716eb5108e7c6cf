//! Annotation processors that a compiler loads in this JVM. Their class path is stored, so that `measure` can compile the sources again: a
//! build tool may give it to the compiler only.

use crate::class_selection::path_of;
use crate::jvm_interface::{JObject, Jni};
use std::path::PathBuf;
use touchstone_classfile::ClassFile;

const PACKAGE: &[u8] = b"javax/annotation/processing/";
const SUPERCLASS: &str = "javax/annotation/processing/AbstractProcessor";
const INTERFACE: &str = "javax/annotation/processing/Processor";

/// Returns true if a class is an annotation processor.
pub fn is_processor(bytes: &[u8]) -> bool {
    // Most classes do not name the package, and are not read.
    bytes.windows(PACKAGE.len()).any(|window| window == PACKAGE)
        && ClassFile::read(bytes).is_ok_and(|class| {
            class.superclass.as_deref() == Some(SUPERCLASS) || class.interfaces.iter().any(|name| &**name == INTERFACE)
        })
}

/// Returns the class path of a class loader, or `None` if it has none.
pub fn class_path_of(jni: Jni, loader: JObject) -> Option<Vec<PathBuf>> {
    jni.with_local_frame(|| {
        let mut path = Vec::new();
        let urls = jni.call(loader, c"getURLs", c"()[Ljava/net/URL;")?;
        for url in jni.elements(urls).into_iter().flatten() {
            let text = jni.string(jni.call(url, c"toString", c"()Ljava/lang/String;")?)?;
            path.extend(path_of(&text));
        }
        Some(path)
    })
}
