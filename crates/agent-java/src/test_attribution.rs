//! Attribution of hits to tests: the class `java/java/lang/TouchstoneTestAttribution.java`, and the native methods that it calls.

use crate::hit_log_writer::CHILD_THREAD;
use crate::jvm_interface::{FunctionTable, GlobalRef, JObject, Jni};
use crate::{HIT_LOG, running_tests};
use std::ffi::{CStr, c_int, c_uchar, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use touchstone_probes_java::instantiate;

const TEMPLATE: &[u8] = include_bytes!("../java/java/lang/TouchstoneTestAttribution.class");
const CLASS: &str = "java/lang/TouchstoneTestAttribution";
const LOG_HIT: (&str, &str) = ("logHit", "(III)Z");
const REGISTER_THREAD: (&str, &str) = ("registerThread", "(ILjava/lang/Object;)I");

/// The class, or `None` if it could not be defined.
static DEFINED: OnceLock<Option<GlobalRef>> = OnceLock::new();

/// Defines the class once. Returns true if it is defined.
///
/// Hit arrays, test events and traces need it. It must be defined while a class is loaded: otherwise the JVM warns of native methods.
pub fn define_once(jni: Jni) -> bool {
    let define = || {
        jni.with_local_frame(|| {
            let class = jni.define(CLASS, &instantiate(TEMPLATE, &[])?)?;
            let natives = [(LOG_HIT, log_hit as *const c_void), (REGISTER_THREAD, register_thread as *const c_void)];
            // SAFETY: the functions have the types that the JVM calls for static methods with these descriptors.
            unsafe { jni.register(class, &natives) }.then(|| jni.new_global_ref(class)).flatten()
        })
    };
    DEFINED.get_or_init(define).is_some()
}

/// Attributes the current thread to a test.
pub fn begin_test(jni: Jni, id: u32) {
    call(jni, c"beginTest", c"(I)V", &[u64::from(id)]);
}

/// Attributes the current thread to its owner before the test.
pub fn end_test(jni: Jni, id: u32) {
    call(jni, c"endTest", c"(I)V", &[u64::from(id)]);
}

/// From now on tests run concurrently.
pub fn set_concurrent(jni: Jni) {
    call(jni, c"setConcurrent", c"()V", &[]);
}

fn call(jni: Jni, name: &CStr, desc: &CStr, arguments: &[u64]) {
    if let Some(Some(class)) = DEFINED.get() {
        jni.call_static_void(class.0, (name, desc), arguments);
    }
}

/// Logs the first hit of a probe by an owner. Returns 1 if the owner needs not log it again.
extern "C" fn log_hit(jni: FunctionTable, _class: JObject, array: c_int, probe: c_int, owner: c_int) -> c_uchar {
    if let (Ok(mut log), Ok(array), Ok(probe)) = (HIT_LOG.lock(), u16::try_from(array), u32::try_from(probe))
        && let Some(log) = log.as_mut()
    {
        return u8::from(log.hit(Jni(jni), array, probe, owner as u32));
    }
    1
}

/// Registers a thread that a test started, and returns its number as an owner of hits.
extern "C" fn register_thread(jni: FunctionTable, _class: JObject, test: c_int, thread: JObject) -> c_int {
    let register = || running_tests::register_thread(Jni(jni), test as u32, thread) | CHILD_THREAD;
    catch_unwind(AssertUnwindSafe(register)).map_or(0, |id| id as c_int)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hit_arrays::PROBES;
    use touchstone_classfile::{ClassFile, Constant, access};
    use touchstone_probes_java::trace_calls::RECORDER;

    #[test]
    fn the_class_has_the_methods_that_the_agent_registers_and_calls() {
        let file = ClassFile::read(&instantiate(TEMPLATE, &[]).expect("an instance")).expect("a class file");
        assert_eq!(&*file.name, CLASS);
        for ((name, desc), is_native) in [
            (("firstHit", "(II)V"), false),
            (("markThread", "()V"), false),
            (("beginTest", "(I)V"), false),
            (("endTest", "(I)V"), false),
            (("setConcurrent", "()V"), false),
            (LOG_HIT, true),
            (REGISTER_THREAD, true),
        ] {
            let method = file.method(name, desc).map(|index| &file.methods[index]).expect(name);
            assert!(method.is(access::STATIC) && method.is(access::NATIVE) == is_native, "{name}");
        }
        let field = file.fields.iter().find(|field| &*field.name == "PROBES").and_then(|field| field.constant());
        assert_eq!(field.map(|index| file.pool.get(index)), Some(Ok(&Constant::Integer(PROBES as i32))));
        let calls = |index: u16| file.pool.method(index).is_ok_and(|(method, _)| &*method.class == RECORDER);
        assert!((1..file.pool.len() as u16).any(calls));
    }
}
