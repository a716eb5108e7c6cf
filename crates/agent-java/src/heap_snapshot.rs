//! Snapshots of the objects that tests reach when their methods return, for suggested assertions. The file has one line for each item:
//!
//! ```text
//! end     METHOD INSN TEST          the method and instruction with the numbers of traces
//! slot    NUMBER ID                 a local variable refers to an object
//! object  ID CLASS                  an object: its fields or elements follow
//! field   CLASS NAME TYPE VALUE
//! static  CLASS NAME TYPE VALUE
//! element INDEX TYPE VALUE
//! size    NUMBER                    of an array or a container
//! shown   TEXT                      the result of `toString` of a container with strings and numbers only
//! ```
//!
//! Words are separated by tabs. Values are numbers (`F` and `D` by their bits), `null`, `@ID`, `"TEXT`, `%TYPE VALUE` for boxed numbers, and `!CLASS.NAME` for
//! constants of an enum. No code of the program runs: fields are read, and only methods of containers of the JDK are called.

use crate::jvm_interface::{FunctionTable, JObject, Jni, Jvmti};
use crate::measurement_files::create_unique;
use crate::object_reader::{HeapValue, ObjectReader, ReflectedField};
use crate::running_tests;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::{CStr, c_int, c_void};
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use touchstone_classfile::{ClassFile, Member, access};
use touchstone_probes_java::instantiate;
use touchstone_probes_java::trace_calls::{SNAPSHOT_CLASS, TAKE_SNAPSHOT};

/// Set by `touchstone measure --suggest`.
pub const VARIABLE: &str = "TOUCHSTONE_SUGGEST";

const TEMPLATE: &[u8] = include_bytes!("../java/java/lang/TouchstoneSnapshot.class");

/// The file that snapshots are written to.
struct SnapshotFile {
    jvmti: Jvmti,
    file: std::fs::File,
}

static SNAPSHOTS: Mutex<Option<SnapshotFile>> = Mutex::new(None);
/// The descriptors of classes with non-final static fields.
static CLASSES_WITH_STATICS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The maximum number of objects in a snapshot.
const MAX_OBJECTS: usize = 400;
/// The maximum number of references between a local variable and an object.
const MAX_DEPTH: usize = 4;
/// The maximum number of elements of an array or container.
const MAX_ELEMENTS: usize = 32;
/// The maximum length of a string in bytes.
const MAX_STRING_BYTES: usize = 2000;
/// The number of local variables of a test that are read.
const MAX_SLOTS: i32 = 256;

/// Containers of the JDK in `java/util`.
const CONTAINERS: [&str; 26] = [
    "ArrayList",
    "LinkedList",
    "ArrayDeque",
    "PriorityQueue",
    "Vector",
    "Stack",
    "HashSet",
    "LinkedHashSet",
    "TreeSet",
    "HashMap",
    "LinkedHashMap",
    "TreeMap",
    "Hashtable",
    "IdentityHashMap",
    "Arrays$ArrayList",
    "ImmutableCollections$ListN",
    "ImmutableCollections$List12",
    "ImmutableCollections$SetN",
    "ImmutableCollections$Set12",
    "ImmutableCollections$MapN",
    "ImmutableCollections$Map1",
    "concurrent/ConcurrentHashMap",
    "concurrent/CopyOnWriteArrayList",
    "concurrent/ConcurrentLinkedQueue",
    "concurrent/LinkedBlockingQueue",
    "concurrent/ArrayBlockingQueue",
];

/// Defines the class that takes snapshots, and creates the file. Returns true if both succeed.
pub fn define(jni: Jni, jvmti: Jvmti, hits: &Path) -> bool {
    let defined = jni.with_local_frame(|| {
        let class = jni.define(SNAPSHOT_CLASS, &instantiate(TEMPLATE, &[])?)?;
        // SAFETY: the function has the type that the JVM calls for a static method with two numbers.
        unsafe { jni.register(class, &[(TAKE_SNAPSHOT, take as *const c_void)]) }.then_some(())
    });
    let Some((file, _)) = defined.and_then(|()| create_unique(hits, "jends")) else { return false };
    let Ok(mut snapshots) = SNAPSHOTS.lock() else { return false };
    *snapshots = Some(SnapshotFile { jvmti, file });
    true
}

/// Registers a class that gets probes: snapshots have its static fields.
pub fn add_class(class: &ClassFile) {
    let is_mutable = |field: &Member| field.is(access::STATIC) && !field.is(access::FINAL);
    if class.fields.iter().any(is_mutable)
        && let Ok(mut classes) = CLASSES_WITH_STATICS.lock()
    {
        classes.insert(format!("L{};", class.name));
    }
}

/// Takes a snapshot of the test that called the native method.
extern "C" fn take(jni: FunctionTable, _class: JObject, method: c_int, insn: c_int) {
    let jni = Jni(jni);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let test = running_tests::of_current_thread(jni).unwrap_or_default();
        let jvmti = SNAPSHOTS.lock().ok()?.as_ref()?.jvmti;
        let with_statics = CLASSES_WITH_STATICS.lock().ok()?.clone();
        let lines = jni.with_local_frame(|| {
            let objects = ObjectReader { jvmti, jni };
            let mut writer =
                SnapshotWriter { objects, lines: String::new(), pending: VecDeque::new(), seen: BTreeSet::new() };
            writer.line(&["end", &method.to_string(), &insn.to_string(), &test]);
            writer.write(&with_statics);
            Some(writer.lines)
        })?;
        // A snapshot that can't be written is only missing.
        SNAPSHOTS.lock().ok()?.as_mut()?.file.write_all(lines.as_bytes()).ok()
    }));
}

/// Writes the lines of a snapshot.
struct SnapshotWriter {
    objects: ObjectReader,
    lines: String,
    /// Objects that are not written yet, with their identities and depths.
    pending: VecDeque<(JObject, u32, usize)>,
    seen: BTreeSet<u32>,
}

impl SnapshotWriter {
    fn line(&mut self, words: &[&str]) {
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                self.lines.push('\t');
            }
            for character in word.chars() {
                match character {
                    '\\' => self.lines.push_str("\\\\"),
                    '\t' => self.lines.push_str("\\t"),
                    '\n' => self.lines.push_str("\\n"),
                    '\r' => self.lines.push_str("\\r"),
                    other => self.lines.push(other),
                }
            }
        }
        self.lines.push('\n');
    }

    fn write(&mut self, with_statics: &BTreeSet<String>) {
        for slot in 0..MAX_SLOTS {
            // The caller of the native method is at depth 1.
            if let Some(object) = self.objects.local(1, slot) {
                let id = self.reference(object, 0);
                self.line(&["slot", &slot.to_string(), &id.to_string()]);
            }
        }
        if !with_statics.is_empty() {
            self.statics(with_statics);
        }
        while let Some((object, id, depth)) = self.pending.pop_front() {
            self.object(object, id, depth);
        }
    }

    fn statics(&mut self, with_statics: &BTreeSet<String>) {
        let objects = self.objects;
        for class in objects.classes() {
            let Some(signature) = objects.signature(class).filter(|name| with_statics.contains(name)) else { continue };
            if !objects.is_initialised(class) {
                continue;
            }
            for field in objects.fields(class).iter().filter(|field| field.is_static && !field.is_final) {
                self.field(class, field, "static", name_of(&signature), 0);
            }
        }
    }

    /// Returns the identity of an object, and enqueues it if it is new and within the bounds.
    fn reference(&mut self, object: JObject, depth: usize) -> u32 {
        let id = self.objects.id(object);
        if depth <= MAX_DEPTH && self.seen.len() < MAX_OBJECTS && self.seen.insert(id) {
            self.pending.push_back((object, id, depth));
        }
        id
    }

    fn object(&mut self, object: JObject, id: u32, depth: usize) {
        let objects = self.objects;
        let class = objects.class_of(object);
        let Some(signature) = objects.signature(class) else { return };
        self.line(&["object", &id.to_string(), name_of(&signature)]);
        if let Some(of) = signature.strip_prefix('[') {
            self.line(&["size", &objects.length(object).to_string()]);
            self.elements(object, of, depth);
        } else if objects.is_in_jdk(class) {
            if let Some(name) = signature.strip_prefix("Ljava/util/").and_then(|name| name.strip_suffix(';'))
                && CONTAINERS.contains(&name)
            {
                self.container(object, name);
            }
        } else {
            let above = std::iter::successors(Some(class), |class| objects.superclass(*class));
            for declaring in above.take_while(|class| !objects.is_in_jdk(*class)) {
                let Some(signature) = objects.signature(declaring) else { return };
                for field in objects.fields(declaring).iter().filter(|field| !field.is_static) {
                    self.field(object, field, "field", name_of(&signature), depth);
                }
            }
        }
    }

    fn field(&mut self, of: JObject, field: &ReflectedField, word: &str, class: &str, depth: usize) {
        if let Some(value) = self.objects.field_value(of, field) {
            let value = self.value(value, depth);
            self.line(&[word, class, &field.name, &field.desc, &value]);
        }
    }

    fn elements(&mut self, array: JObject, of: &str, depth: usize) {
        for (index, element) in self.objects.elements(array, of, MAX_ELEMENTS).into_iter().enumerate() {
            let value = self.value(element, depth);
            self.line(&["element", &index.to_string(), of, &value]);
        }
    }

    /// Writes the size of a container, and its string form if all elements are strings, numbers or constants.
    fn container(&mut self, object: JObject, name: &str) {
        let jni = self.objects.jni;
        let Some(size) = jni.call_int(object, c"size") else { return };
        self.line(&["size", &size.to_string()]);
        if usize::try_from(size).map_or(true, |size| size > MAX_ELEMENTS) {
            return;
        }
        const ARRAY: &CStr = c"()[Ljava/lang/Object;";
        let inside = match name.contains("Map") || name == "Hashtable" {
            true => {
                let keys = jni.call(object, c"keySet", c"()Ljava/util/Set;");
                let values = jni.call(object, c"values", c"()Ljava/util/Collection;");
                keys.into_iter().chain(values).filter_map(|part| jni.call(part, c"toArray", ARRAY)).collect()
            }
            false => jni.call(object, c"toArray", ARRAY).into_iter().collect::<Vec<_>>(),
        };
        let all: Vec<HeapValue> =
            inside.iter().flat_map(|array| self.objects.elements(*array, "Ljava/lang/Object;", MAX_ELEMENTS)).collect();
        let plain = all.iter().all(|element| match element {
            HeapValue::Reference(object) => object.is_null() || self.plain(*object).is_some(),
            HeapValue::Primitive(..) => true,
        });
        if plain
            && !inside.is_empty()
            && let Some(shown) =
                jni.call(object, c"toString", c"()Ljava/lang/String;").and_then(|text| jni.string(text))
            && shown.len() <= MAX_STRING_BYTES
        {
            self.line(&["shown", &shown]);
        }
    }

    fn value(&mut self, value: HeapValue, depth: usize) -> String {
        match value {
            HeapValue::Primitive(letter, bits) => number(letter, bits),
            HeapValue::Reference(object) if object.is_null() => "null".to_string(),
            HeapValue::Reference(object) => match self.plain(object) {
                Some(plain) => plain,
                None => format!("@{}", self.reference(object, depth + 1)),
            },
        }
    }

    /// Encodes a string, a boxed number or a constant of an enum. Returns `None` for other objects.
    fn plain(&self, object: JObject) -> Option<String> {
        let objects = self.objects;
        let class = objects.class_of(object);
        let signature = objects.signature(class)?;
        let boxed = match signature.as_str() {
            "Ljava/lang/String;" => {
                return objects
                    .jni
                    .string(object)
                    .filter(|text| text.len() <= MAX_STRING_BYTES)
                    .map(|text| format!("\"{text}"));
            }
            "Ljava/lang/Boolean;"
            | "Ljava/lang/Byte;"
            | "Ljava/lang/Character;"
            | "Ljava/lang/Short;"
            | "Ljava/lang/Integer;"
            | "Ljava/lang/Long;"
            | "Ljava/lang/Float;"
            | "Ljava/lang/Double;" => {
                objects.fields(class).into_iter().find(|field| field.name == "value" && !field.is_static)?
            }
            _ => return self.constant(object, class),
        };
        match objects.field_value(object, &boxed)? {
            HeapValue::Primitive(letter, bits) => Some(format!("%{}{}", char::from(letter), number(letter, bits))),
            HeapValue::Reference(_) => None,
        }
    }

    /// Encodes a constant of an enum. A constant with a body has a subclass of the enum as its class.
    fn constant(&self, object: JObject, class: JObject) -> Option<String> {
        let objects = self.objects;
        let above = objects.superclass(class)?;
        let is_enum = |class: JObject| {
            let above = objects.superclass(class).and_then(|above| objects.signature(above));
            above.as_deref() == Some("Ljava/lang/Enum;")
        };
        let of = [class, above].into_iter().find(|class| is_enum(*class))?;
        // `Enum.name` is final.
        let name = objects.jni.string(objects.jni.call(object, c"name", c"()Ljava/lang/String;")?)?;
        Some(format!("!{}.{name}", name_of(&objects.signature(of)?)))
    }
}

/// Returns the name of a class in a descriptor; an array keeps its descriptor.
fn name_of(signature: &str) -> &str {
    signature.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(signature)
}

/// Formats a number with its sign, or a floating-point number by its bits.
fn number(letter: u8, bits: u64) -> String {
    let mut text = String::new();
    let _ = match letter {
        b'F' | b'D' | b'C' | b'Z' => write!(text, "{bits}"),
        _ => write!(text, "{}", bits as i64),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_has_the_native_method_that_woven_tests_call() {
        let class = ClassFile::read(TEMPLATE).expect("a class file");
        let method = class.method(TAKE_SNAPSHOT.0, TAKE_SNAPSHOT.1).map(|index| &class.methods[index]);
        assert!(&*class.name == SNAPSHOT_CLASS && method.is_some_and(|method| method.is(access::NATIVE)));
    }
}
