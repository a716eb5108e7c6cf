//! The class that methods tell what they do, and the file that it writes to.
//!
//! ```text
//! public final class TouchstoneTrace {
//!     private static TouchstoneTrace LAST;               // the thread that told something last
//!     private static long LIMIT;                         // bytes of slots that the test may use
//!     private final Thread thread;
//!     private final long bits;
//!     public static void at(int method, int insn) { put(AT, method, insn, 0); }
//!     public static void on(Object o, int method, int insn) { put(ON, method, insn, id(o)); }
//!     …
//!     private static TouchstoneTrace other(Thread thread) { LAST = new TouchstoneTrace(thread, …); OWNER.tells(); return LAST; }
//!     private static void put(long kind, int method, int insn, long what) {
//!         TouchstoneTrace who = LAST;
//!         Thread thread = Thread.currentThread();
//!         if (who.thread != thread) who = other(thread);
//!         if (UNSAFE.getLong(POSITION) >= LIMIT) { UNSAFE.getAndAddLong(null, LEFT, 1); return; }
//!         long at = UNSAFE.getAndAddLong(null, POSITION, 16);
//!         UNSAFE.putLong(SLOTS + at + 8, what);
//!         UNSAFE.putLong(SLOTS + at, kind | who.bits | (long) method << 16 | insn);
//!     }
//! }
//! ```
//!
//! The file: 8 bytes magic; process id (32 bits); number of classes (32 bits); next slot, room for slots, both in bytes, and how much had
//! no room (64 bits each); at 64 the test, at 576 the command line, as in hit files; at 4096 a table of classes (64 bits identity, 32 bits number of the first
//! method, 32 bits how many); from `SLOTS` on slots of 16 bytes. What has no room any more is only counted.

use crate::class_writer::{Code, Written, access, op};
use crate::jvm_interface::{Jni, Object};
use crate::mapped_file::Mapped;
use crate::measurement_files::{Process, fresh, words_of};
use crate::pool::METHOD;
use crate::test_attribution;
use std::path::Path;
use touchstone_probes_java::telling::{AT, BLOCK, ENTER, IN, INIT, MORE, ON, RECORDER, TWO};

const MAGIC: &[u8; 8] = b"TSJAVA01";
const CLASSES: usize = 12;
const POSITION: usize = 16;
const LIMIT: usize = 24;
const LEFT: usize = 32;
const TEST: usize = 64;
const COMMAND: usize = 576;
const TABLE: usize = 4096;
const ENTRY: usize = 16;
const SLOTS: usize = 1 << 20;
const SLOT: u64 = 16;
/// Numbers of methods have so many bits.
const MOST_METHODS: u32 = 1 << 20;
/// So many events are kept if nobody says how many,
const EVENTS: u64 = 32_000_000;
/// and this part of them for one test: one that does much takes nothing from the others.
const SHARE: u64 = 32;
/// Threads that find room at the same time may all use it.
const SPARE: u64 = 1024 * SLOT;
/// The variable that says it.
const EVENTS_VARIABLE: &str = "TOUCHSTONE_STATE_EVENTS";

/// What methods tell.
pub struct Recorder {
    mapped: Mapped,
    room: u64,
    classes: usize,
    methods: u32,
}

impl Recorder {
    /// A new file in a directory.
    pub fn new(directory: &Path, process: &Process) -> Option<Recorder> {
        let given = std::env::var(EVENTS_VARIABLE).ok().and_then(|text| text.parse::<u64>().ok());
        let room = given.unwrap_or(EVENTS).checked_mul(SLOT)?;
        let mut mapped = Mapped::sparse(&fresh(directory, "jstate")?.0, SLOTS + usize::try_from(room + SPARE).ok()?)?;
        mapped.put(8, &std::process::id().to_le_bytes());
        mapped.put(LIMIT, &room.to_le_bytes());
        let (test, words) = words_of(process, COMMAND - TEST, TABLE - COMMAND);
        mapped.put(TEST, &test);
        mapped.put(COMMAND, &words);
        mapped.put(0, MAGIC);
        Some(Recorder { mapped, room, classes: 0, methods: 0 })
    }

    /// Numbers for the methods of a class: the first one.
    pub fn take(&mut self, unit: u64, count: u32) -> Option<u32> {
        let first = self.methods;
        let entry = TABLE + ENTRY * self.classes;
        if entry + ENTRY > SLOTS || first.checked_add(count)? > MOST_METHODS {
            return None;
        }
        self.mapped.put(entry, &unit.to_le_bytes());
        self.mapped.put(entry + 8, &first.to_le_bytes());
        self.mapped.put(entry + 12, &count.to_le_bytes());
        (self.classes, self.methods) = (self.classes + 1, first + count);
        self.mapped.put(CLASSES, &(self.classes as u32).to_le_bytes());
        Some(first)
    }

    /// The bytes of the class that writes to this file.
    fn class(&self, unsafe_class: &str) -> Vec<u8> {
        let base = self.mapped.address();
        Assembling {
            unsafe_class,
            position: base + POSITION as u64,
            left: base + LEFT as u64,
            slots: base + SLOTS as u64,
            room: self.room,
        }
        .class()
    }
}

/// The class that is told, for as long as the JVM runs, and what it counts.
struct Told {
    class: Object,
    /// Where it counts what has no room.
    left: *const std::sync::atomic::AtomicU64,
    /// The count when the last test began.
    before: std::sync::atomic::AtomicU64,
    share: u64,
}

// SAFETY: every thread may use the reference, and what is counted is mapped for as long as the process lives.
unsafe impl Send for Told {}
// SAFETY: likewise.
unsafe impl Sync for Told {}

static TOLD: std::sync::OnceLock<Told> = std::sync::OnceLock::new();

impl Recorder {
    /// Defines the class that is told; whether that worked.
    pub fn define(&self, jni: Jni, unsafe_class: &str) -> bool {
        let kept = jni.within_frame(|| jni.kept(jni.define(RECORDER, &self.class(unsafe_class))?));
        let left = (self.mapped.address() + LEFT as u64) as *const std::sync::atomic::AtomicU64;
        let share = (self.room / SHARE).max(SLOT);
        kept.is_some_and(|class| TOLD.set(Told { class, left, before: 0.into(), share }).is_ok())
    }
}

/// What marks say, with numbers of owners and of threads that work for them.
mod mark {
    pub const BEGINS: u64 = 1;
    pub const CUT_OFF: u64 = 2;
    pub const OWNS: u64 = 3;
    pub const ENDS: u64 = 4;
    pub const OVER: u64 = 6;
    pub const TOGETHER: u64 = 7;
}

/// Tells what becomes of tests.
fn tell_mark(jni: Jni, words: &[u64; 3]) {
    if let Some(told) = TOLD.get() {
        jni.tell(told.class, (c"mark", c"(IIJ)V"), words);
    }
}

/// A test begins in this thread.
pub fn begins(jni: Jni, name: &str, owner: u32) {
    use std::sync::atomic::Ordering::Relaxed;
    let Some(told) = TOLD.get() else { return };
    jni.tell(told.class, (c"share", c"(J)V"), &[told.share]);
    // SAFETY: it is mapped, and stays.
    let left = unsafe { (*told.left).load(Relaxed) };
    if told.before.swap(left, Relaxed) != left {
        tell_mark(jni, &[mark::CUT_OFF, 1, left]);
    }
    let mut parts = name.as_bytes().chunks(8).peekable();
    while let Some(part) = parts.next() {
        let mut bytes = [0; 8];
        bytes[..part.len()].copy_from_slice(part);
        tell_mark(jni, &[mark::BEGINS, u64::from(parts.peek().is_none()), u64::from_le_bytes(bytes)]);
    }
    tell_mark(jni, &[mark::OWNS, 1, u64::from(owner)]);
}

/// From now on tests run at the same time.
pub fn together(jni: Jni) {
    tell_mark(jni, &[mark::TOGETHER, 1, 0]);
}

/// A test ends, and so did these threads of it before.
pub fn ends(jni: Jni, owner: u32, over: &[u32]) {
    over.iter().for_each(|helper| tell_mark(jni, &[mark::OVER, 1, u64::from(*helper) | u64::from(owner) << 32]));
    tell_mark(jni, &[mark::ENDS, 1, u64::from(owner)]);
}

struct Assembling<'a> {
    unsafe_class: &'a str,
    position: u64,
    left: u64,
    slots: u64,
    room: u64,
}

/// What a method that tells something gives on: by parameter before the last two, which are numbers.
enum Given {
    Nothing,
    Object,
    Element,
    Two,
}

/// Threads have so many bits.
const THREADS: u32 = 0xff_ffff;
/// Where the bits of threads and of methods begin.
const THREAD_AT: u8 = 36;
const METHOD_AT: u8 = 16;
const KIND_AT: u32 = 60;

impl Assembling<'_> {
    fn class(&self) -> Vec<u8> {
        const PRIVATE: u16 = access::PRIVATE;
        const STATIC: u16 = access::STATIC;
        const PUBLIC_STATIC: u16 = access::PUBLIC | STATIC;
        const PRIVATE_STATIC: u16 = PRIVATE | STATIC;
        let mut class = Written::new(RECORDER, "java/lang/Object");
        let own = class.own();
        let unsafe_desc = format!("L{};", self.unsafe_class);
        let own_desc = format!("L{RECORDER};");
        let unsafe_field = class.field(PRIVATE_STATIC | access::FINAL, "UNSAFE", &unsafe_desc);
        let last = class.field(PRIVATE_STATIC, "LAST", &own_desc);
        let limit = class.field(PRIVATE_STATIC, "LIMIT", "J");
        let thread_field = class.field(PRIVATE | access::FINAL, "thread", "Ljava/lang/Thread;");
        let bits = class.field(PRIVATE | access::FINAL, "bits", "J");
        let other_desc = format!("(Ljava/lang/Thread;){own_desc}");
        let other = class.named("other", &other_desc);
        let put = class.named("put", "(JIIJ)V");
        let made = class.named("<init>", "(Ljava/lang/Thread;J)V");
        let pool = &mut class.pool;
        let (above, unsafe_index) = (pool.class("java/lang/Object"), pool.class(self.unsafe_class));
        let (thread, system, math) =
            (pool.class("java/lang/Thread"), pool.class("java/lang/System"), pool.class("java/lang/Math"));
        let current = pool.member(METHOD, thread, "currentThread", "()Ljava/lang/Thread;");
        let hash = pool.member(METHOD, system, "identityHashCode", "(Ljava/lang/Object;)I");
        let get_unsafe = pool.member(METHOD, unsafe_index, "getUnsafe", &format!("(){unsafe_desc}"));
        let add = pool.member(METHOD, unsafe_index, "getAndAddLong", "(Ljava/lang/Object;JJ)J");
        let put_long = pool.member(METHOD, unsafe_index, "putLong", "(JJ)V");
        let get_long = pool.member(METHOD, unsafe_index, "getLong", "(J)J");
        let least = pool.member(METHOD, math, "min", "(JJ)J");
        let object_made = pool.member(METHOD, above, "<init>", "()V");
        let owner = pool.class(test_attribution::OWNER);
        let tells = pool.member(METHOD, owner, test_attribution::TELLS.0, test_attribution::TELLS.1);
        let threads = pool.of(3, &[(THREADS >> 16) as u16, THREADS as u16]);
        let (position, slots, behind) =
            (pool.long(self.position), pool.long(self.slots), pool.long(self.slots + SLOT / 2));
        let (slot, room, left) = (pool.long(SLOT), pool.long(self.room), pool.long(self.left));
        let with = |opcode: u8, index: u16| [opcode, index.to_be_bytes()[0], index.to_be_bytes()[1]];
        let method = |class: &mut Written, access: u16, name: &str, desc: &str, body: &[&[u8]]| {
            class.method(access, name, desc, Code::default().does(&body.concat()));
        };
        let id = with(op::INVOKESTATIC, hash);
        let told = [
            (AT, Given::Nothing),
            (BLOCK, Given::Nothing),
            (ON, Given::Object),
            (IN, Given::Element),
            (TWO, Given::Two),
            (MORE, Given::Two),
            (ENTER, Given::Object),
            (INIT, Given::Object),
        ];
        for (kind, ((name, desc), given)) in (1u64..).zip(told) {
            let kind = with(op::LDC2_W, class.pool.long(kind << KIND_AT));
            // Where the numbers are among the locals.
            let first = match given {
                Given::Nothing => 0,
                Given::Object => 1,
                Given::Element | Given::Two => 2,
            };
            let insn: &[u8] = if desc.ends_with("II)V") { &[op::ILOAD_0 + first + 1] } else { &[3] };
            let mut body: Vec<u8> = [&kind[..], &[op::ILOAD_0 + first], insn].concat();
            match given {
                Given::Nothing => body.push(op::LCONST_0),
                Given::Object => body.extend([&[op::ALOAD_0][..], &id, &[op::I2L]].concat()),
                Given::Element => body.extend(
                    [&[op::ALOAD_0][..], &id, &[op::I2L, op::ILOAD_0 + 1, op::I2L, op::BIPUSH, 32, op::LSHL, op::LOR]]
                        .concat(),
                ),
                Given::Two => body.extend(
                    [
                        &[op::ALOAD_0][..],
                        &id,
                        &[op::I2L, op::ALOAD_1],
                        &id,
                        &[op::I2L, op::BIPUSH, 32, op::LSHL, op::LOR],
                    ]
                    .concat(),
                ),
            }
            body.extend(with(op::INVOKESTATIC, put));
            body.push(op::RETURN);
            method(&mut class, PUBLIC_STATIC, name, desc, &[&body]);
        }
        // What tests are called, eight bytes at a time.
        let kind = with(op::LDC2_W, class.pool.long(MARK << KIND_AT));
        let give = with(op::INVOKESTATIC, put);
        let numbers = [op::ILOAD_0, op::ILOAD_0 + 1, op::LLOAD_2];
        method(&mut class, PUBLIC_STATIC, "mark", "(IIJ)V", &[&kind, &numbers, &give, &[op::RETURN]]);
        let (who, now, at) = (6, 7, 8);
        let unsafe_now = with(op::GETSTATIC, unsafe_field);
        let position_now = [&unsafe_now[..], &with(op::LDC2_W, position), &with(op::INVOKEVIRTUAL, get_long)].concat();
        method(
            &mut class,
            PUBLIC_STATIC,
            "share",
            "(J)V",
            &[
                &position_now,
                &[op::LLOAD_0, op::LADD],
                &with(op::LDC2_W, room),
                &with(op::INVOKESTATIC, least),
                &with(op::PUTSTATIC, limit),
                &[op::RETURN],
            ],
        );
        let count_left: Vec<u8> = [
            &unsafe_now[..],
            &[op::ACONST_NULL],
            &with(op::LDC2_W, left),
            &[op::LCONST_1],
            &with(op::INVOKEVIRTUAL, add),
            &[op::POP2, op::RETURN],
        ]
        .concat();
        let over = (3 + count_left.len() as u16).to_be_bytes();
        method(
            &mut class,
            PRIVATE_STATIC,
            "put",
            "(JIIJ)V",
            &[
                &with(op::GETSTATIC, last),
                &[op::ASTORE, who],
                &with(op::INVOKESTATIC, current),
                &[op::ASTORE, now, op::ALOAD, who],
                &with(op::GETFIELD, thread_field),
                // Over the next three.
                &[op::ALOAD, now, op::IF_ACMPEQ, 0, 10],
                &[op::ALOAD, now],
                &with(op::INVOKESTATIC, other),
                &[op::ASTORE, who],
                &position_now,
                &with(op::GETSTATIC, limit),
                &[op::LCMP, op::IFLT, over[0], over[1]],
                &count_left,
                &unsafe_now,
                &[op::ACONST_NULL],
                &with(op::LDC2_W, position),
                &with(op::LDC2_W, slot),
                &with(op::INVOKEVIRTUAL, add),
                &[op::LSTORE, at],
                &unsafe_now,
                &with(op::LDC2_W, behind),
                &[op::LLOAD, at, op::LADD, op::LLOAD, 4],
                &with(op::INVOKEVIRTUAL, put_long),
                &unsafe_now,
                &with(op::LDC2_W, slots),
                &[op::LLOAD, at, op::LADD, op::LLOAD_0, op::ALOAD, who],
                &with(op::GETFIELD, bits),
                &[op::LOR, op::ILOAD_2, op::I2L, op::BIPUSH, METHOD_AT, op::LSHL, op::LOR, op::ILOAD_3, op::I2L],
                &[op::LOR],
                &with(op::INVOKEVIRTUAL, put_long),
                &[op::RETURN],
            ],
        );
        method(
            &mut class,
            PRIVATE_STATIC,
            "other",
            &other_desc,
            &[
                &with(op::NEW, own),
                &[op::DUP, op::ALOAD_0, op::ALOAD_0],
                &with(op::INVOKESTATIC, hash),
                &with(op::LDC_W, threads),
                &[op::IAND, op::I2L, op::BIPUSH, THREAD_AT, op::LSHL],
                &with(op::INVOKESPECIAL, made),
                &[op::DUP],
                &with(op::PUTSTATIC, last),
                &[op::ALOAD_0],
                // Over the next one: the first of all is none.
                &[op::IFNULL, 0, 6],
                &with(op::INVOKESTATIC, tells),
                &[op::ARETURN],
            ],
        );
        method(
            &mut class,
            PRIVATE,
            "<init>",
            "(Ljava/lang/Thread;J)V",
            &[
                &[op::ALOAD_0],
                &with(op::INVOKESPECIAL, object_made),
                &[op::ALOAD_0, op::ALOAD_1],
                &with(op::PUTFIELD, thread_field),
                &[op::ALOAD_0, op::LLOAD_2],
                &with(op::PUTFIELD, bits),
                &[op::RETURN],
            ],
        );
        method(
            &mut class,
            STATIC,
            "<clinit>",
            "()V",
            &[
                &with(op::INVOKESTATIC, get_unsafe),
                &with(op::PUTSTATIC, unsafe_field),
                &with(op::LDC2_W, room),
                &with(op::PUTSTATIC, limit),
                &[op::ACONST_NULL],
                &with(op::INVOKESTATIC, other),
                &[op::POP, op::RETURN],
            ],
        );
        class.bytes()
    }
}

/// The kind of what says which test begins or ends; those of the others are their places in the list above.
const MARK: u64 = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::{ClassFile, decode};

    #[test]
    fn the_recorder_is_a_class_file() {
        let assembling =
            Assembling { unsafe_class: "jdk/internal/misc/Unsafe", position: 16, left: 24, slots: 64, room: 1600 };
        let bytes = assembling.class();
        let file = ClassFile::read(&bytes).expect("a class file");
        assert_eq!((&*file.name, file.methods.len(), file.fields.len()), (RECORDER, 14, 5));
        for method in &file.methods {
            let code = method.code().expect("code");
            decode(&code.bytes, code.offset).expect("instructions");
        }
    }
}
