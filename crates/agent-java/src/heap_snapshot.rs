//! What a test leaves behind: what its variables lead to when its method ends, as a file of lines.
//!
//! ```text
//! end     METHOD INSN TEST          the method and instruction as traces number them
//! slot    NUMBER ID                 a variable holds an object
//! object  ID CLASS                  an object: its fields or elements follow
//! field   CLASS NAME TYPE VALUE
//! static  CLASS NAME TYPE VALUE
//! element INDEX TYPE VALUE
//! size    NUMBER                    of an array or a container,
//! shown   TEXT                      and how the latter shows itself, if all that is in it are texts and numbers
//! ```
//!
//! Words are separated by tabs. Values are numbers (`F` and `D` by their bits), `null`, `@ID`, `"TEXT`, `%TYPE VALUE` for boxed numbers, and `!CLASS.NAME` for
//! constants of an enum. Nothing of the program runs for this: only fields are read, and methods of containers of the JDK are called.

use crate::jvm_interface::{Jni, Jvmti, Object, Table};
use crate::measurement_files::fresh;
use crate::object_reader::{Field, Held, Objects};
use crate::pool::{Pool, VERSION};
use std::collections::{BTreeSet, VecDeque};
use std::ffi::{CStr, c_int, c_void};
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use touchstone_classfile::{ClassFile, access};
use touchstone_probes_java::telling::{ENDS, ENDS_CLASS};

/// Set by `touchstone measure --suggest`.
pub const VARIABLE: &str = "TOUCHSTONE_SUGGEST";

/// Where ends are written.
struct Ends {
    jvmti: Jvmti,
    file: std::fs::File,
}

// SAFETY: the tool interface may be used by every thread.
unsafe impl Send for Ends {}

static ENDING: Mutex<Option<Ends>> = Mutex::new(None);
/// Descriptors of classes with static fields that change.
static WITH_STATICS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// So many objects of a test are looked at,
const MOST_OBJECTS: usize = 400;
/// so many steps away from its variables;
const DEEPEST: usize = 4;
/// so many elements of arrays and containers,
const MOST_ELEMENTS: usize = 32;
/// and so much of a text.
const LONGEST: usize = 2000;
/// Variables of a test.
const MOST_SLOTS: i32 = 256;

/// Containers whose methods are the JDK's own.
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

/// Defines the class that is told; whether that worked.
pub fn prepare(jni: Jni, jvmti: Jvmti, hits: &Path) -> bool {
    let made = jni.within_frame(|| {
        let class = jni.define(ENDS_CLASS, &class())?;
        // SAFETY: the function is what the JVM calls for a static method with two numbers.
        unsafe { jni.register(class, &[(ENDS, ends as *const c_void)]) }.then_some(())
    });
    let Some((file, _)) = made.and_then(|()| fresh(hits, "jends")) else { return false };
    let Ok(mut ending) = ENDING.lock() else { return false };
    *ending = Some(Ends { jvmti, file });
    true
}

/// A class gets probes: its static fields are of interest when tests end.
pub fn met(class: &ClassFile) {
    let changes = |field: &touchstone_classfile::Member| field.is(access::STATIC) && !field.is(access::FINAL);
    if class.fields.iter().any(changes)
        && let Ok(mut with_statics) = WITH_STATICS.lock()
    {
        with_statics.insert(format!("L{};", class.name));
    }
}

/// A class with one native method.
fn class() -> Vec<u8> {
    const PUBLIC_STATIC_NATIVE: u16 = 0x0109;
    const PUBLIC_FINAL_SUPER: u16 = 0x0031;
    let mut pool = Pool::default();
    let (own, above) = (pool.class(ENDS_CLASS), pool.class("java/lang/Object"));
    let (name, desc) = (pool.text(ENDS.0), pool.text(ENDS.1));
    let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
    let put = |numbers: &[u16], out: &mut Vec<u8>| numbers.iter().for_each(|n| out.extend(n.to_be_bytes()));
    put(&[0, VERSION, pool.count + 1], &mut out);
    out.extend(&pool.bytes);
    put(&[PUBLIC_FINAL_SUPER, own, above, 0, 0, 1, PUBLIC_STATIC_NATIVE, name, desc, 0, 0], &mut out);
    out
}

/// What a test calls when it ends.
extern "C" fn ends(jni: Table, _class: Object, method: c_int, insn: c_int) {
    let jni = Jni(jni);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let test = crate::running_tests::of_thread(jni).unwrap_or_default();
        let jvmti = ENDING.lock().ok()?.as_ref()?.jvmti;
        let with_statics = WITH_STATICS.lock().ok()?.clone();
        let lines = jni.within_frame(|| {
            let objects = Objects { jvmti, jni };
            let mut looking =
                Looking { objects, lines: String::new(), waiting: VecDeque::new(), seen: BTreeSet::new() };
            looking.line(&["end", &method.to_string(), &insn.to_string(), &test]);
            looking.look(&with_statics);
            Some(looking.lines)
        })?;
        let mut ending = ENDING.lock().ok()?;
        // What can't be written is missing later, and nothing else.
        ending.as_mut()?.file.write_all(lines.as_bytes()).ok()
    }));
}

/// A look at what is there.
struct Looking {
    objects: Objects,
    lines: String,
    waiting: VecDeque<(Object, u32, usize)>,
    seen: BTreeSet<u32>,
}

impl Looking {
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

    fn look(&mut self, with_statics: &BTreeSet<String>) {
        for slot in 0..MOST_SLOTS {
            // The method that ends called ours.
            if let Some(object) = self.objects.local(1, slot) {
                let id = self.meet(object, 0);
                self.line(&["slot", &slot.to_string(), &id.to_string()]);
            }
        }
        if !with_statics.is_empty() {
            self.statics(with_statics);
        }
        while let Some((object, id, depth)) = self.waiting.pop_front() {
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
                self.held(class, field, "static", name_of(&signature), 0);
            }
        }
    }

    /// An object is to be looked at, if it was not.
    fn meet(&mut self, object: Object, depth: usize) -> u32 {
        let id = self.objects.id(object);
        if depth <= DEEPEST && self.seen.len() < MOST_OBJECTS && self.seen.insert(id) {
            self.waiting.push_back((object, id, depth));
        }
        id
    }

    fn object(&mut self, object: Object, id: u32, depth: usize) {
        let objects = self.objects;
        let class = objects.class_of(object);
        let Some(signature) = objects.signature(class) else { return };
        self.line(&["object", &id.to_string(), name_of(&signature)]);
        if let Some(of) = signature.strip_prefix('[') {
            self.line(&["size", &objects.length(object).to_string()]);
            self.elements(object, of, depth);
        } else if objects.is_of_jvm(class) {
            if let Some(name) = signature.strip_prefix("Ljava/util/").and_then(|name| name.strip_suffix(';'))
                && CONTAINERS.contains(&name)
            {
                self.container(object, name);
            }
        } else {
            let above = std::iter::successors(Some(class), |class| objects.superclass(*class));
            for declaring in above.take_while(|class| !objects.is_of_jvm(*class)) {
                let Some(signature) = objects.signature(declaring) else { return };
                for field in objects.fields(declaring).iter().filter(|field| !field.is_static) {
                    self.held(object, field, "field", name_of(&signature), depth);
                }
            }
        }
    }

    fn held(&mut self, of: Object, field: &Field, word: &str, class: &str, depth: usize) {
        if let Some(held) = self.objects.held(of, field) {
            let value = self.value(held, depth);
            self.line(&[word, class, &field.name, &field.desc, &value]);
        }
    }

    fn elements(&mut self, array: Object, of: &str, depth: usize) {
        for (index, held) in self.objects.elements(array, of, MOST_ELEMENTS).into_iter().enumerate() {
            let value = self.value(held, depth);
            self.line(&["element", &index.to_string(), of, &value]);
        }
    }

    /// What a container has, and how it shows itself.
    fn container(&mut self, object: Object, name: &str) {
        let jni = self.objects.jni;
        let Some(size) = jni.number(object, c"size") else { return };
        self.line(&["size", &size.to_string()]);
        if usize::try_from(size).map_or(true, |size| size > MOST_ELEMENTS) {
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
        let all: Vec<Held> = inside
            .iter()
            .flat_map(|array| self.objects.elements(*array, "Ljava/lang/Object;", MOST_ELEMENTS))
            .collect();
        let plain = all.iter().all(|held| match held {
            Held::Object(object) => object.is_null() || self.plain(*object).is_some(),
            Held::Number(..) => true,
        });
        if plain
            && !inside.is_empty()
            && let Some(shown) = jni.call(object, c"toString", c"()Ljava/lang/String;").and_then(|text| jni.text(text))
            && shown.len() <= LONGEST
        {
            self.line(&["shown", &shown]);
        }
    }

    fn value(&mut self, held: Held, depth: usize) -> String {
        match held {
            Held::Number(letter, bits) => number(letter, bits),
            Held::Object(object) if object.is_null() => "null".to_string(),
            Held::Object(object) => match self.plain(object) {
                Some(plain) => plain,
                None => format!("@{}", self.meet(object, depth + 1)),
            },
        }
    }

    /// Texts, boxed numbers and constants of enums.
    fn plain(&self, object: Object) -> Option<String> {
        let objects = self.objects;
        let class = objects.class_of(object);
        let signature = objects.signature(class)?;
        let boxed = match signature.as_str() {
            "Ljava/lang/String;" => {
                return objects.jni.text(object).filter(|text| text.len() <= LONGEST).map(|text| format!("\"{text}"));
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
        match objects.held(object, &boxed)? {
            Held::Number(letter, bits) => Some(format!("%{}{}", char::from(letter), number(letter, bits))),
            Held::Object(_) => None,
        }
    }

    /// A constant of an enum. Its class is one of the enum's own if the constant has a body.
    fn constant(&self, object: Object, class: Object) -> Option<String> {
        let objects = self.objects;
        let above = objects.superclass(class)?;
        let is_enum = |class: Object| {
            let above = objects.superclass(class).and_then(|above| objects.signature(above));
            above.as_deref() == Some("Ljava/lang/Enum;")
        };
        let of = [class, above].into_iter().find(|class| is_enum(*class))?;
        // Nobody can write another method of this name.
        let name = objects.jni.text(objects.jni.call(object, c"name", c"()Ljava/lang/String;")?)?;
        Some(format!("!{}.{name}", name_of(&objects.signature(of)?)))
    }
}

/// The name of a class in a descriptor; arrays keep theirs.
fn name_of(signature: &str) -> &str {
    signature.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(signature)
}

/// Numbers are written with their sign; floating ones by their bits.
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
    fn the_class_that_is_told_is_a_class_file() {
        let class = ClassFile::read(&class()).expect("a class file");
        assert_eq!((&*class.name, class.methods.len()), (ENDS_CLASS, 1));
    }
}
