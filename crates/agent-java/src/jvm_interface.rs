//! The few functions of JVMTI and JNI that the agent needs, by their places in the JVM's tables, which never change.
//!
//! Everything here is called on a thread that the JVM called us on, with the environments that it gave us.

#![allow(missing_docs)]

use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use touchstone_classfile::Text;

/// A reference to an object, of any kind; null is none.
pub type Object = *mut c_void;
/// A table of functions, behind a pointer, as both interfaces have it.
pub type Table = *mut *const *const c_void;

const JVMTI_1_1: c_int = 0x3001_0100;

pub mod jvmti {
    pub const SET_EVENT_NOTIFICATION_MODE: usize = 1;
    pub const GET_LOCAL_OBJECT: usize = 20;
    pub const ALLOCATE: usize = 45;
    pub const DEALLOCATE: usize = 46;
    pub const GET_CLASS_SIGNATURE: usize = 47;
    pub const GET_CLASS_STATUS: usize = 48;
    pub const GET_CLASS_FIELDS: usize = 52;
    pub const GET_CLASS_LOADER: usize = 56;
    pub const GET_OBJECT_HASH_CODE: usize = 57;
    pub const GET_FIELD_NAME: usize = 59;
    pub const GET_FIELD_MODIFIERS: usize = 61;
    pub const GET_LOADED_CLASSES: usize = 77;
    pub const SET_EVENT_CALLBACKS: usize = 121;
    pub const GET_SYSTEM_PROPERTY: usize = 130;
    pub const ADD_CAPABILITIES: usize = 141;
}

pub mod jni {
    pub const DEFINE_CLASS: usize = 5;
    pub const GET_SUPERCLASS: usize = 10;
    pub const EXCEPTION_CLEAR: usize = 17;
    pub const PUSH_LOCAL_FRAME: usize = 19;
    pub const POP_LOCAL_FRAME: usize = 20;
    pub const NEW_GLOBAL_REF: usize = 21;
    pub const DELETE_GLOBAL_REF: usize = 22;
    pub const GET_OBJECT_CLASS: usize = 31;
    pub const GET_METHOD_ID: usize = 33;
    pub const CALL_OBJECT_METHOD_A: usize = 36;
    pub const CALL_BOOLEAN_METHOD_A: usize = 39;
    pub const CALL_INT_METHOD_A: usize = 51;
    /// Getters of fields: of objects, booleans, bytes, chars, shorts, ints, longs, floats, doubles,
    pub const GET_FIELD: usize = 95;
    pub const GET_STATIC_METHOD_ID: usize = 113;
    pub const CALL_STATIC_VOID_METHOD_A: usize = 143;
    pub const GET_STATIC_FIELD_ID: usize = 144;
    /// of static ones in the same order,
    pub const GET_STATIC_OBJECT_FIELD: usize = 145;
    pub const GET_STRING_UTF_CHARS: usize = 169;
    pub const RELEASE_STRING_UTF_CHARS: usize = 170;
    pub const GET_ARRAY_LENGTH: usize = 171;
    pub const GET_OBJECT_ARRAY_ELEMENT: usize = 173;
    /// and of parts of arrays, beginning with booleans.
    pub const GET_ARRAY_REGION: usize = 199;
    pub const SET_BYTE_ARRAY_REGION: usize = 208;
    pub const REGISTER_NATIVES: usize = 215;
    pub const EXCEPTION_CHECK: usize = 228;
}

/// `GetEnv` of the JVM itself.
const GET_ENV: usize = 6;

pub const VM_INIT: c_int = 50;
pub const CLASS_FILE_LOAD_HOOK: c_int = 54;
const ENABLE: c_int = 1;

/// What is called when the JVM has started.
pub type OnInit = extern "C" fn(Table, Table, Object);
/// What is called when a class file is loaded.
pub type OnLoad = extern "C" fn(
    Table,
    Table,
    Object,
    Object,
    *const c_char,
    Object,
    c_int,
    *const c_uchar,
    *mut c_int,
    *mut *mut c_uchar,
);

/// Callbacks as JVMTI orders them; those behind are none.
#[repr(C)]
struct Callbacks {
    init: OnInit,
    death: *const c_void,
    thread_start: *const c_void,
    thread_end: *const c_void,
    load: OnLoad,
}

/// The function at a place of a table.
///
/// # Safety
/// `F` must be the type of that function, and the table one that the JVM gave us.
pub unsafe fn function<F: Copy>(table: Table, place: usize) -> F {
    debug_assert_eq!(size_of::<F>(), size_of::<*const c_void>());
    // SAFETY: the caller says that a function of this type is there.
    unsafe { std::mem::transmute_copy::<*const c_void, F>(&*(*table).add(place)) }
}

/// The tool interface.
#[derive(Clone, Copy)]
pub struct Jvmti(pub Table);

impl Jvmti {
    /// An environment of our own.
    ///
    /// # Safety
    /// `vm` is what the JVM gave the agent.
    pub unsafe fn new(vm: Table) -> Option<Jvmti> {
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: the signature is that of GetEnv, and it writes to what it is given.
        let result = unsafe {
            let get: extern "C" fn(Table, *mut *mut c_void, c_int) -> c_int = function(vm, GET_ENV);
            get(vm, &mut env, JVMTI_1_1)
        };
        (result == 0 && !env.is_null()).then_some(Jvmti(env.cast()))
    }

    /// Asks to be called when the JVM has started, and when classes are loaded, and maybe for the right to see variables of methods.
    pub fn listen(self, init: OnInit, load: OnLoad, sees_locals: bool) -> bool {
        // Classes that the JVM brings along are loaded before anything of the user's, and need no hook.
        let none = std::ptr::null();
        let callbacks = Callbacks { init, death: none, thread_start: none, thread_end: none, load };
        // can_generate_all_class_hook_events is the 27th bit, can_access_local_variables, without which variables are not seen, the 15th.
        let (capabilities, locals): ([u32; 4], [u32; 4]) = ([1 << 26, 0, 0, 0], [1 << 14, 0, 0, 0]);
        // SAFETY: signatures are those of the specification; what is pointed to lives until the calls are over.
        unsafe {
            let add: extern "C" fn(Table, *const u32) -> c_int = function(self.0, jvmti::ADD_CAPABILITIES);
            let set: extern "C" fn(Table, *const Callbacks, c_int) -> c_int =
                function(self.0, jvmti::SET_EVENT_CALLBACKS);
            if sees_locals {
                add(self.0, locals.as_ptr());
            }
            add(self.0, capabilities.as_ptr()) == 0
                && set(self.0, &callbacks, size_of::<Callbacks>() as c_int) == 0
                && self.enable(VM_INIT)
        }
    }

    /// Switches an event on.
    pub fn enable(self, event: c_int) -> bool {
        // SAFETY: the signature is that of the specification; no thread means all of them.
        unsafe {
            let set: extern "C" fn(Table, c_int, c_int, Object) -> c_int =
                function(self.0, jvmti::SET_EVENT_NOTIFICATION_MODE);
            set(self.0, ENABLE, event, std::ptr::null_mut()) == 0
        }
    }

    /// Memory that the JVM frees.
    pub fn allocate(self, bytes: &[u8]) -> Option<*mut c_uchar> {
        let mut memory: *mut c_uchar = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification; it gives as many bytes as are asked for, or an error.
        unsafe {
            let allocate: extern "C" fn(Table, i64, *mut *mut c_uchar) -> c_int = function(self.0, jvmti::ALLOCATE);
            if allocate(self.0, i64::try_from(bytes.len()).ok()?, &mut memory) != 0 || memory.is_null() {
                return None;
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len());
        }
        Some(memory)
    }

    /// A property that the JVM was started with.
    pub fn property(self, name: &CStr) -> Option<String> {
        let mut value: *mut c_char = std::ptr::null_mut();
        // SAFETY: signatures are those of the specification; the value ends with a zero, and is freed once.
        unsafe {
            let get: extern "C" fn(Table, *const c_char, *mut *mut c_char) -> c_int =
                function(self.0, jvmti::GET_SYSTEM_PROPERTY);
            if get(self.0, name.as_ptr(), &mut value) != 0 || value.is_null() {
                return None;
            }
            let text = CStr::from_ptr(value).to_string_lossy().into_owned();
            let free: extern "C" fn(Table, *mut c_uchar) -> c_int = function(self.0, jvmti::DEALLOCATE);
            free(self.0, value.cast());
            Some(text)
        }
    }
}

/// The native interface, of the current thread.
#[derive(Clone, Copy)]
pub struct Jni(pub Table);

impl Jni {
    /// What tells threads apart: each has an interface of its own.
    pub fn thread(self) -> usize {
        self.0 as usize
    }

    /// Defines a class of the JVM's own loader.
    pub fn define(self, name: &str, bytes: &[u8]) -> Option<Object> {
        let (Ok(name), Ok(length)) = (CString::new(name), c_int::try_from(bytes.len())) else { return None };
        // SAFETY: the signature is that of the specification; no loader is the JVM's own.
        let class = unsafe {
            let define: extern "C" fn(Table, *const c_char, Object, *const u8, c_int) -> Object =
                function(self.0, jni::DEFINE_CLASS);
            define(self.0, name.as_ptr(), std::ptr::null_mut(), bytes.as_ptr(), length)
        };
        (!self.threw() && !class.is_null()).then_some(class)
    }

    /// Gives native methods of a class (each with its name and type) what they do; whether that worked.
    ///
    /// # Safety
    /// Each function must be one that the JVM may call for a method of that type.
    pub unsafe fn register(self, class: Object, natives: &[((&str, &str), *const c_void)]) -> bool {
        #[repr(C)]
        struct Native(*const c_char, *const c_char, *const c_void);
        let texts: Option<Vec<(CString, CString)>> = natives
            .iter()
            .map(|((name, desc), _)| Some((CString::new(*name).ok()?, CString::new(*desc).ok()?)))
            .collect();
        let Some(texts) = texts else { return false };
        let table: Vec<Native> = texts
            .iter()
            .zip(natives)
            .map(|((name, desc), (_, function))| Native(name.as_ptr(), desc.as_ptr(), *function))
            .collect();
        // SAFETY: the signature is that of the specification; texts live until the call is over.
        let result = unsafe {
            let register: extern "C" fn(Table, Object, *const Native, c_int) -> c_int =
                function(self.0, jni::REGISTER_NATIVES);
            register(self.0, class, table.as_ptr(), table.len() as c_int)
        };
        !self.threw() && result == 0
    }

    /// What a static field of a class holds, for as long as the JVM runs.
    pub fn held_by(self, class: Object, (name, desc): (&str, &str)) -> Option<Object> {
        let (name, desc) = (CString::new(name).ok()?, CString::new(desc).ok()?);
        // SAFETY: signatures are those of the specification; the field is asked for by its type.
        unsafe {
            let find: extern "C" fn(Table, Object, *const c_char, *const c_char) -> Object =
                function(self.0, jni::GET_STATIC_FIELD_ID);
            let field = find(self.0, class, name.as_ptr(), desc.as_ptr());
            if self.threw() || field.is_null() {
                return None;
            }
            let get: extern "C" fn(Table, Object, Object) -> Object = function(self.0, jni::GET_STATIC_OBJECT_FIELD);
            let held = get(self.0, class, field);
            let keep: extern "C" fn(Table, Object) -> Object = function(self.0, jni::NEW_GLOBAL_REF);
            (!held.is_null()).then(|| keep(self.0, held)).filter(|kept| !kept.is_null())
        }
    }

    /// An object, for as long as the JVM runs.
    pub fn kept(self, object: Object) -> Option<Object> {
        // SAFETY: the signature is that of the specification; the object is one that the JVM gave.
        unsafe {
            let keep: extern "C" fn(Table, Object) -> Object = function(self.0, jni::NEW_GLOBAL_REF);
            Some(keep(self.0, object)).filter(|kept| !kept.is_null())
        }
    }

    /// Calls a static method that gives nothing and takes numbers, as its type says.
    pub fn tell(self, class: Object, (name, desc): (&CStr, &CStr), numbers: &[u64]) {
        // SAFETY: signatures are those of the specification; there are as many numbers as the type has parameters, each of 8 bytes.
        unsafe {
            let find: extern "C" fn(Table, Object, *const c_char, *const c_char) -> Object =
                function(self.0, jni::GET_STATIC_METHOD_ID);
            let method = find(self.0, class, name.as_ptr(), desc.as_ptr());
            if self.threw() || method.is_null() {
                return;
            }
            let call: extern "C" fn(Table, Object, Object, *const u64) =
                function(self.0, jni::CALL_STATIC_VOID_METHOD_A);
            call(self.0, class, method, numbers.as_ptr());
            self.threw();
        }
    }

    /// Sets a byte of an array.
    pub fn set(self, array: Object, index: u32, byte: i8) {
        // SAFETY: the signature is that of the specification; one byte is read. An index that is not there throws.
        unsafe {
            let set: extern "C" fn(Table, Object, c_int, c_int, *const i8) =
                function(self.0, jni::SET_BYTE_ARRAY_REGION);
            set(self.0, array, index as c_int, 1, &byte);
        }
    }

    /// An object that was kept is not needed any more.
    pub fn forget(self, kept: Object) {
        // SAFETY: the signature is that of the specification; who gives a reference back does not use it again.
        unsafe {
            let forget: extern "C" fn(Table, Object) = function(self.0, jni::DELETE_GLOBAL_REF);
            forget(self.0, kept);
        }
    }

    /// Whether something was thrown; it is forgotten.
    fn threw(self) -> bool {
        // SAFETY: signatures are those of the specification.
        unsafe {
            let check: extern "C" fn(Table) -> c_uchar = function(self.0, jni::EXCEPTION_CHECK);
            let threw = check(self.0) != 0;
            if threw {
                let clear: extern "C" fn(Table) = function(self.0, jni::EXCEPTION_CLEAR);
                clear(self.0);
            }
            threw
        }
    }

    /// Does something whose references are forgotten afterwards.
    pub fn within_frame<T>(self, what: impl FnOnce() -> Option<T>) -> Option<T> {
        const REFERENCES: c_int = 16;
        // SAFETY: signatures are those of the specification; nothing of the frame leaves it.
        unsafe {
            let push: extern "C" fn(Table, c_int) -> c_int = function(self.0, jni::PUSH_LOCAL_FRAME);
            if push(self.0, REFERENCES) != 0 {
                self.threw();
                return None;
            }
            let result = what();
            let pop: extern "C" fn(Table, Object) -> Object = function(self.0, jni::POP_LOCAL_FRAME);
            pop(self.0, std::ptr::null_mut());
            result
        }
    }

    /// What a method without parameters gives; none if it gives null, or throws.
    pub fn call(self, object: Object, name: &CStr, desc: &CStr) -> Option<Object> {
        let method = self.method(object, name, desc)?;
        // SAFETY: the signature is that of the specification; the method takes nothing, so that no arguments are read.
        let given = unsafe {
            let call: extern "C" fn(Table, Object, Object, *const c_void) -> Object =
                function(self.0, jni::CALL_OBJECT_METHOD_A);
            call(self.0, object, method, std::ptr::null())
        };
        (!self.threw() && !given.is_null()).then_some(given)
    }

    /// What a method without parameters gives that says yes or no.
    pub fn says(self, object: Object, name: &CStr) -> Option<bool> {
        let method = self.method(object, name, c"()Z")?;
        // SAFETY: as above.
        let given = unsafe {
            let call: extern "C" fn(Table, Object, Object, *const c_void) -> c_uchar =
                function(self.0, jni::CALL_BOOLEAN_METHOD_A);
            call(self.0, object, method, std::ptr::null())
        };
        (!self.threw()).then_some(given != 0)
    }

    /// What a method without parameters gives that counts.
    pub fn number(self, object: Object, name: &CStr) -> Option<i32> {
        let method = self.method(object, name, c"()I")?;
        // SAFETY: as above.
        let given = unsafe {
            let call: extern "C" fn(Table, Object, Object, *const c_void) -> c_int =
                function(self.0, jni::CALL_INT_METHOD_A);
            call(self.0, object, method, std::ptr::null())
        };
        (!self.threw()).then_some(given)
    }

    fn method(self, object: Object, name: &CStr, desc: &CStr) -> Option<Object> {
        // SAFETY: signatures are those of the specification; the object is one that the JVM gave.
        let method = unsafe {
            let class_of: extern "C" fn(Table, Object) -> Object = function(self.0, jni::GET_OBJECT_CLASS);
            let method_of: extern "C" fn(Table, Object, *const c_char, *const c_char) -> Object =
                function(self.0, jni::GET_METHOD_ID);
            method_of(self.0, class_of(self.0, object), name.as_ptr(), desc.as_ptr())
        };
        (!self.threw() && !method.is_null()).then_some(method)
    }

    /// The elements of an array of objects; null is none.
    pub fn elements(self, array: Object) -> Vec<Option<Object>> {
        // SAFETY: signatures are those of the specification; only elements that are there are asked for.
        unsafe {
            let length: extern "C" fn(Table, Object) -> c_int = function(self.0, jni::GET_ARRAY_LENGTH);
            let element: extern "C" fn(Table, Object, c_int) -> Object =
                function(self.0, jni::GET_OBJECT_ARRAY_ELEMENT);
            let one = |index| Some(element(self.0, array, index)).filter(|object| !object.is_null());
            (0..length(self.0, array)).map(one).collect()
        }
    }

    /// The text of a string.
    pub fn text(self, string: Object) -> Option<String> {
        // SAFETY: signatures are those of the specification; the text ends with a zero, and is released once.
        unsafe {
            let get: extern "C" fn(Table, Object, *mut c_uchar) -> *const c_char =
                function(self.0, jni::GET_STRING_UTF_CHARS);
            let chars = get(self.0, string, std::ptr::null_mut());
            if chars.is_null() {
                self.threw();
                return None;
            }
            let bytes = CStr::from_ptr(chars);
            // Characters beyond the first plane are written in a way of their own.
            let text = match Text::decode(bytes.to_bytes()) {
                Ok(text) => text.text().to_string(),
                Err(_) => bytes.to_string_lossy().into_owned(),
            };
            let release: extern "C" fn(Table, Object, *const c_char) = function(self.0, jni::RELEASE_STRING_UTF_CHARS);
            release(self.0, string, chars);
            Some(text)
        }
    }
}
