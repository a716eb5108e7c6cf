//! The class that knows for which test a thread works, where tests run at the same time; and the functions that it calls.
//!
//! ```text
//! public final class OWNER extends InheritableThreadLocal {
//!     private static final OWNER NOBODY = new OWNER(null, null, 0);      // and what threads are asked through
//!     private static volatile boolean together;
//!     private final OWNER test;                 // of a thread that a test started: the test
//!     private final OWNER outer;                // of a test: whoever the thread worked for before
//!     private int id, helpers;
//!     private boolean told;
//!     private byte[][] hit = new byte[0][];     // by holder and probe
//!
//!     public static void first(int holder, int probe) {
//!         try {
//!             if (!together && log(holder, probe, 0)) return;
//!             OWNER owner = (OWNER) NOBODY.get();
//!             byte[] hit = owner.of(holder);
//!             if (hit[probe] == 0 && log(holder, probe, owner.id)) hit[probe] = 1;
//!         } catch (Throwable t) { }             // a program that has no memory left notices nothing
//!     }
//!     public static void tells() {
//!         OWNER owner = (OWNER) NOBODY.get();
//!         if (!owner.told) { owner.told = true; if (owner.test != null) TRACE.mark(HELPS, 1, owner.number()); }
//!     }
//!     private int number() { if (test != null && id == 0) id = joins(test.id, Thread.currentThread()); return id; }
//!     private byte[] of(int holder) { number(); … }
//!     protected Object initialValue() { return NOBODY; }
//!     protected Object childValue(Object parent) { … new OWNER(test, null, 0) … }
//!     private static void begins(int id) { NOBODY.set(new OWNER(null, (OWNER) NOBODY.get(), id)); }
//!     private static void ends(int id) { if (NOBODY.get().id == id) NOBODY.set(NOBODY.get().outer); }
//!     private static void together() { together = true; }
//! }
//! ```
//!
//! While one test runs at a time nobody is asked for: `together` is false, and the log knows whose a hit is.

use crate::class_writer::{Code, Written, access, op};
use crate::hit_arrays::{BYTES, PROBES};
use crate::hit_log_writer::HELPER;
use crate::jvm_interface::{Jni, Object, Table};
use std::ffi::{c_int, c_uchar, c_void};
use std::sync::OnceLock;
use touchstone_probes_java::telling::RECORDER;

/// The name of the class,
pub const OWNER: &str = "java/lang/TouchstoneOwner";
/// the method that holders call,
pub const FIRST: (&str, &str) = ("first", "(II)V");
/// and the one that is called in threads that tell what they do.
pub const TELLS: (&str, &str) = ("tells", "()V");

const LOG: (&str, &str) = ("log", "(III)Z");
const JOINS: (&str, &str) = ("joins", "(ILjava/lang/Object;)I");
/// So many threads of one test are told apart. Others are nobody's.
const HELPERS: u8 = 64;

/// The class, for as long as the JVM runs.
struct Defined(Object);

// SAFETY: it is a reference that every thread may use.
unsafe impl Send for Defined {}
// SAFETY: likewise.
unsafe impl Sync for Defined {}

static DEFINED: OnceLock<Option<Defined>> = OnceLock::new();

/// Defines the class, if it is not there; whether it is. Holders, tests and what is told need it, whoever comes first, and while a class is loaded:
/// else the JVM warns of native methods.
pub fn prepare(jni: Jni) -> bool {
    let define = || {
        jni.within_frame(|| {
            let class = jni.define(OWNER, &class())?;
            let natives = [(LOG, on_hit as *const c_void), (JOINS, on_join as *const c_void)];
            // SAFETY: they are what the JVM calls for static methods of these types.
            unsafe { jni.register(class, &natives) }.then(|| jni.kept(class)).flatten().map(Defined)
        })
    };
    DEFINED.get_or_init(define).is_some()
}

/// The current thread works for a test from now on.
pub fn begins(jni: Jni, id: u32) {
    tell(jni, c"begins", c"(I)V", &[u64::from(id)]);
}

/// The current thread works for whoever it did before the test.
pub fn ends(jni: Jni, id: u32) {
    tell(jni, c"ends", c"(I)V", &[u64::from(id)]);
}

/// From now on tests run at the same time.
pub fn together(jni: Jni) {
    tell(jni, c"together", c"()V", &[]);
}

fn tell(jni: Jni, name: &std::ffi::CStr, desc: &std::ffi::CStr, numbers: &[u64]) {
    if let Some(Some(Defined(class))) = DEFINED.get() {
        jni.tell(*class, (name, desc), numbers);
    }
}

/// A probe is hit that its owner has not hit yet. Whether it is the owner's now, and needs not be told again.
extern "C" fn on_hit(jni: Table, _class: Object, holder: c_int, probe: c_int, owner: c_int) -> c_uchar {
    if let (Ok(mut log), Ok(holder), Ok(probe)) = (crate::LOG.lock(), u16::try_from(holder), u32::try_from(probe))
        && let Some(log) = log.as_mut()
    {
        return u8::from(log.hit(Jni(jni), holder, probe, owner as u32));
    }
    1
}

/// A thread that a test started works for it: the number that it has from now on.
extern "C" fn on_join(jni: Table, _class: Object, test: c_int, thread: Object) -> c_int {
    let joined = || crate::running_tests::joins(Jni(jni), test as u32, thread) | HELPER;
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(joined)).map_or(0, |id| id as c_int)
}

/// The bytes of the class.
fn class() -> Vec<u8> {
    const ABOVE: &str = "java/lang/InheritableThreadLocal";
    const PRIVATE_STATIC: u16 = access::PRIVATE | access::STATIC;
    const HIT_DESC: &str = "[[B";
    let desc = format!("L{OWNER};");
    let made_desc = format!("({desc}{desc}I)V");
    let mut class = Written::new(OWNER, ABOVE);
    let own = class.own();
    let nobody = class.field(PRIVATE_STATIC | access::FINAL, "NOBODY", &desc);
    let together = class.field(PRIVATE_STATIC | access::VOLATILE, "together", "Z");
    let test = class.field(access::PRIVATE | access::FINAL, "test", &desc);
    let outer = class.field(access::PRIVATE | access::FINAL, "outer", &desc);
    let id = class.field(access::PRIVATE, "id", "I");
    let helpers = class.field(access::PRIVATE, "helpers", "I");
    let hit = class.field(access::PRIVATE, "hit", HIT_DESC);
    let told = class.field(access::PRIVATE, "told", "Z");
    let [log, joins] = [LOG, JOINS].map(|(name, desc)| class.named(name, desc));
    let (made, of) = (class.named("<init>", &made_desc), class.named("of", "(I)[B"));
    let number = class.named("number", "()I");
    let pool = &mut class.pool;
    let method = |pool: &mut crate::pool::Pool, class: &str, name: &str, desc: &str| {
        let class = pool.class(class);
        pool.member(crate::pool::METHOD, class, name, desc)
    };
    let above_made = method(pool, ABOVE, "<init>", "()V");
    let get = method(pool, "java/lang/ThreadLocal", "get", "()Ljava/lang/Object;");
    let set = method(pool, "java/lang/ThreadLocal", "set", "(Ljava/lang/Object;)V");
    let current = method(pool, "java/lang/Thread", "currentThread", "()Ljava/lang/Thread;");
    let longer = method(pool, "java/util/Arrays", "copyOf", "([Ljava/lang/Object;I)[Ljava/lang/Object;");
    let mark = method(pool, RECORDER, "mark", "(IIJ)V");
    let (bytes, arrays) = (pool.class("[B"), pool.class(HIT_DESC));
    let now = || Code::default().with(op::GETSTATIC, nobody).with(op::INVOKEVIRTUAL, get).with(op::CHECKCAST, own);

    const ASKED: usize = 0;
    const DONE: usize = 1;
    let (holder, probe) = (op::ILOAD_0, op::ILOAD_1);
    let alone = Code::default().with(op::GETSTATIC, together).jump(op::IFNE, ASKED);
    let alone = alone.does(&[holder, probe, op::ICONST_0]).with(op::INVOKESTATIC, log).jump(op::IFNE, DONE);
    let asked = alone.label(ASKED).with(op::GETSTATIC, nobody).with(op::INVOKEVIRTUAL, get).with(op::CHECKCAST, own);
    let asked = asked.does(&[op::ASTORE_2, op::ALOAD_2, holder]).with(op::INVOKESPECIAL, of).does(&[op::ASTORE_3]);
    let asked = asked.does(&[op::ALOAD_3, probe, op::BALOAD]).jump(op::IFNE, DONE);
    let asked = asked.does(&[holder, probe, op::ALOAD_2]).with(op::GETFIELD, id).with(op::INVOKESTATIC, log);
    let asked = asked.jump(op::IFEQ, DONE).does(&[op::ALOAD_3, probe, op::ICONST_1, op::BASTORE]);
    let first = asked.label(DONE).does(&[op::RETURN]).catches_all().does(&[op::POP, op::RETURN]);
    class.method(access::PUBLIC | access::STATIC, FIRST.0, FIRST.1, first.stays_a_call());

    const KNOWN: usize = 0;
    const LONG: usize = 1;
    const THERE: usize = 2;
    const HELPS: u8 = 5;
    let (this, holder) = (op::ALOAD_0, op::ILOAD_1);
    let tells = now().does(&[op::ASTORE_0, this]).with(op::GETFIELD, told).jump(op::IFNE, KNOWN);
    let tells = tells.does(&[this, op::ICONST_1]).with(op::PUTFIELD, told);
    let tells = tells.does(&[this]).with(op::GETFIELD, test).jump(op::IFNULL, KNOWN);
    let tells = tells.does(&[op::BIPUSH, HELPS, op::ICONST_1, this]).with(op::INVOKESPECIAL, number);
    let tells = tells.does(&[op::I2L]).with(op::INVOKESTATIC, mark).label(KNOWN).does(&[op::RETURN]);
    class.method(access::PUBLIC | access::STATIC, TELLS.0, TELLS.1, tells.catches_all().does(&[op::POP, op::RETURN]));
    let joined = Code::default().does(&[this]).with(op::GETFIELD, id).jump(op::IFNE, KNOWN);
    let joined = joined.does(&[this]).with(op::GETFIELD, test).does(&[op::ASTORE_2, op::ALOAD_2]);
    let joined = joined.jump(op::IFNULL, KNOWN).does(&[this, op::ALOAD_2]).with(op::GETFIELD, id);
    let joined = joined.with(op::INVOKESTATIC, current).with(op::INVOKESTATIC, joins).with(op::PUTFIELD, id);
    let joined = joined.label(KNOWN).does(&[this]).with(op::GETFIELD, id).does(&[op::IRETURN]);
    class.method(access::PRIVATE, "number", "()I", joined);
    let all = Code::default().does(&[this]).with(op::INVOKESPECIAL, number).does(&[op::POP]);
    let all = all.does(&[this]).with(op::GETFIELD, hit).does(&[op::ASTORE_2]);
    let all = all.does(&[holder, op::ALOAD_2, op::ARRAYLENGTH]).jump(op::IF_ICMPLT, LONG);
    let all = all.does(&[op::ALOAD_2, holder, op::ICONST_1, op::IADD]).with(op::INVOKESTATIC, longer);
    let all = all.with(op::CHECKCAST, arrays).does(&[op::ASTORE_2, this, op::ALOAD_2]).with(op::PUTFIELD, hit);
    let one = all.label(LONG).does(&[op::ALOAD_2, holder, op::AALOAD, op::ASTORE_3, op::ALOAD_3]);
    let one = one.jump(op::IFNONNULL, THERE).with(op::SIPUSH, PROBES as u16).does(&[op::NEWARRAY, BYTES, op::ASTORE_3]);
    let one = one.does(&[op::ALOAD_2, holder, op::ALOAD_3, op::AASTORE]);
    class.method(access::PRIVATE, "of", "(I)[B", one.label(THERE).does(&[op::ALOAD_3, op::ARETURN]));

    let give = Code::default().with(op::GETSTATIC, nobody).does(&[op::ARETURN]);
    class.method(access::PROTECTED, "initialValue", "()Ljava/lang/Object;", give);
    const STARTED: usize = 0;
    const NONE: usize = 1;
    let whose = Code::default().does(&[op::ALOAD_1]).with(op::CHECKCAST, own).does(&[op::ASTORE_2, op::ALOAD_2]);
    let whose = whose.with(op::GETFIELD, test).jump(op::IFNULL, STARTED);
    let whose = whose.does(&[op::ALOAD_2]).with(op::GETFIELD, test).does(&[op::ASTORE_2]).label(STARTED);
    let whose = whose.does(&[op::ALOAD_2]).with(op::GETFIELD, id).jump(op::IFEQ, NONE);
    let few = whose.does(&[op::ALOAD_2]).with(op::GETFIELD, helpers).does(&[op::BIPUSH, HELPERS]);
    let few = few.jump(op::IF_ICMPGE, NONE).does(&[op::ALOAD_2, op::ALOAD_2]).with(op::GETFIELD, helpers);
    let few = few.does(&[op::ICONST_1, op::IADD]).with(op::PUTFIELD, helpers);
    let helper = few.with(op::NEW, own).does(&[op::DUP, op::ALOAD_2, op::ACONST_NULL, op::ICONST_0]);
    let helper = helper.with(op::INVOKESPECIAL, made).does(&[op::ARETURN]).label(NONE);
    let helper = helper.with(op::GETSTATIC, nobody).does(&[op::ARETURN]);
    class.method(access::PROTECTED, "childValue", "(Ljava/lang/Object;)Ljava/lang/Object;", helper);

    let begins = Code::default().with(op::GETSTATIC, nobody).with(op::NEW, own).does(&[op::DUP, op::ACONST_NULL]);
    let begins = begins.with(op::GETSTATIC, nobody).with(op::INVOKEVIRTUAL, get).with(op::CHECKCAST, own);
    let begins = begins.does(&[op::ILOAD_0]).with(op::INVOKESPECIAL, made).with(op::INVOKEVIRTUAL, set);
    class.method(PRIVATE_STATIC, "begins", "(I)V", begins.does(&[op::RETURN]));
    const OTHER: usize = 0;
    let ends = now().with(op::GETFIELD, id).does(&[op::ILOAD_0]).jump(op::IF_ICMPNE, OTHER);
    let ends = ends.with(op::GETSTATIC, nobody).with(op::GETSTATIC, nobody).with(op::INVOKEVIRTUAL, get);
    let ends = ends.with(op::CHECKCAST, own).with(op::GETFIELD, outer).with(op::INVOKEVIRTUAL, set);
    class.method(PRIVATE_STATIC, "ends", "(I)V", ends.label(OTHER).does(&[op::RETURN]));
    let now_together = Code::default().does(&[op::ICONST_1]).with(op::PUTSTATIC, together).does(&[op::RETURN]);
    class.method(PRIVATE_STATIC, "together", "()V", now_together);

    let given = |code: Code, load: u8, field: u16| code.does(&[this, load]).with(op::PUTFIELD, field);
    let begin = Code::default().does(&[this]).with(op::INVOKESPECIAL, above_made);
    let begin = given(given(given(begin, op::ALOAD_1, test), op::ALOAD_2, outer), op::ILOAD_3, id);
    let begin = begin.does(&[this, op::ICONST_0]).with(op::ANEWARRAY, bytes).with(op::PUTFIELD, hit);
    class.method(access::PRIVATE, "<init>", &made_desc, begin.does(&[op::RETURN]));
    let begin = Code::default().with(op::NEW, own).does(&[op::DUP, op::ACONST_NULL, op::ACONST_NULL, op::ICONST_0]);
    let begin = begin.with(op::INVOKESPECIAL, made).with(op::PUTSTATIC, nobody).does(&[op::RETURN]);
    class.method(access::STATIC, "<clinit>", "()V", begin);
    class.native(PRIVATE_STATIC, LOG.0, LOG.1);
    class.native(PRIVATE_STATIC, JOINS.0, JOINS.1);
    class.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::{ClassFile, decode};

    #[test]
    fn the_owner_is_a_class_file_whose_jumps_lead_to_instructions() {
        let file = ClassFile::read(&class()).expect("a class file");
        assert_eq!((&*file.name, file.methods.len(), file.fields.len()), (OWNER, 13, 8));
        for code in file.methods.iter().filter_map(|method| method.code()) {
            let insns = decode(&code.bytes, code.offset).expect("instructions");
            let is_there = |at: usize| insns.iter().any(|insn| insn.at == at);
            assert!(insns.iter().all(|insn| insn.insn.targets().into_iter().all(is_there)));
        }
    }
}
