//! The functions of JVMTI and JNI that the agent uses, by their positions in the function tables, which the specifications fix.
//!
//! All functions must be called in a thread in which the JVM called the agent, with the environments that it passed.

#![allow(missing_docs)]

use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use touchstone_classfile::Text;

/// A reference to an object, as JNI's `jobject`: local, global or null.
pub type JObject = *mut c_void;
/// A pointer to the function table of an interface.
pub type FunctionTable = *mut *const *const c_void;

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
    pub const FIND_CLASS: usize = 6;
    pub const GET_SUPERCLASS: usize = 10;
    pub const EXCEPTION_CLEAR: usize = 17;
    pub const PUSH_LOCAL_FRAME: usize = 19;
    pub const POP_LOCAL_FRAME: usize = 20;
    pub const NEW_GLOBAL_REF: usize = 21;
    pub const DELETE_GLOBAL_REF: usize = 22;
    pub const NEW_OBJECT_A: usize = 30;
    pub const GET_OBJECT_CLASS: usize = 31;
    pub const GET_METHOD_ID: usize = 33;
    pub const CALL_OBJECT_METHOD_A: usize = 36;
    pub const CALL_BOOLEAN_METHOD_A: usize = 39;
    pub const CALL_INT_METHOD_A: usize = 51;
    pub const CALL_VOID_METHOD_A: usize = 63;
    /// The first getter of fields: of references, booleans, bytes, chars, shorts, ints, longs, floats, doubles.
    pub const GET_FIELD: usize = 95;
    pub const GET_STATIC_METHOD_ID: usize = 113;
    pub const CALL_STATIC_VOID_METHOD_A: usize = 143;
    pub const GET_STATIC_FIELD_ID: usize = 144;
    /// The first getter of static fields, in the same order.
    pub const GET_STATIC_OBJECT_FIELD: usize = 145;
    pub const NEW_STRING_UTF: usize = 167;
    pub const GET_STRING_UTF_CHARS: usize = 169;
    pub const RELEASE_STRING_UTF_CHARS: usize = 170;
    pub const GET_ARRAY_LENGTH: usize = 171;
    pub const GET_OBJECT_ARRAY_ELEMENT: usize = 173;
    /// The first getter of parts of arrays, in the same order from booleans on.
    pub const GET_ARRAY_REGION: usize = 199;
    pub const SET_BYTE_ARRAY_REGION: usize = 208;
    pub const REGISTER_NATIVES: usize = 215;
    pub const GET_JAVA_VM: usize = 219;
    pub const EXCEPTION_CHECK: usize = 228;
}

/// The position of `GetEnv` in the table of the JVM.
const GET_ENV: usize = 6;

pub const VM_INIT: c_int = 50;
pub const CLASS_FILE_LOAD_HOOK: c_int = 54;
const ENABLE: c_int = 1;

/// The type of the callback for `VM_INIT`.
pub type OnInit = extern "C" fn(FunctionTable, FunctionTable, JObject);
/// The type of the callback for `CLASS_FILE_LOAD_HOOK`.
pub type OnLoad = extern "C" fn(
    FunctionTable,
    FunctionTable,
    JObject,
    JObject,
    *const c_char,
    JObject,
    c_int,
    *const c_uchar,
    *mut c_int,
    *mut *mut c_uchar,
);

/// The first callbacks in the order of JVMTI.
#[repr(C)]
struct Callbacks {
    init: OnInit,
    death: *const c_void,
    thread_start: *const c_void,
    thread_end: *const c_void,
    load: OnLoad,
}

/// Returns the function at a position of a table.
///
/// # Safety
/// `F` must be the type of that function, and the JVM must have passed the table.
pub unsafe fn function<F: Copy>(table: FunctionTable, position: usize) -> F {
    debug_assert_eq!(size_of::<F>(), size_of::<*const c_void>());
    // SAFETY: the caller guarantees that the table has a function of this type there.
    unsafe { std::mem::transmute_copy::<*const c_void, F>(&*(*table).add(position)) }
}

/// The JVM tool interface.
#[derive(Clone, Copy)]
pub struct Jvmti(pub FunctionTable);

// SAFETY: JVMTI may be used by every thread.
unsafe impl Send for Jvmti {}

impl Jvmti {
    /// Creates an environment.
    ///
    /// # Safety
    /// `vm` is the argument of `Agent_OnLoad`.
    pub unsafe fn new(vm: FunctionTable) -> Option<Jvmti> {
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: the signature is that of GetEnv, and it writes only to `env`.
        let result = unsafe {
            let get: extern "C" fn(FunctionTable, *mut *mut c_void, c_int) -> c_int = function(vm, GET_ENV);
            get(vm, &mut env, JVMTI_1_1)
        };
        (result == 0 && !env.is_null()).then_some(Jvmti(env.cast()))
    }

    /// Creates another environment. The JVM asks environments in the order of their creation to change classes.
    pub fn another(jni: Jni) -> Option<Jvmti> {
        let mut vm: FunctionTable = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification, and it writes only to `vm`.
        let result = unsafe {
            let get: extern "C" fn(FunctionTable, *mut FunctionTable) -> c_int = function(jni.0, jni::GET_JAVA_VM);
            get(jni.0, &mut vm)
        };
        if result != 0 || vm.is_null() {
            return None;
        }
        // SAFETY: the JVM returned its interface.
        unsafe { Jvmti::new(vm) }
    }

    /// Requests access to local variables. Returns true if it succeeds.
    pub fn request_locals(self) -> bool {
        // can_access_local_variables is the 15th bit.
        self.add_capabilities([1 << 14, 0, 0, 0])
    }

    /// Lets this environment change classes after those that can't retransform classes. Returns true if it succeeds.
    pub fn request_retransformation(self) -> bool {
        // can_retransform_classes is the 38th bit.
        self.add_capabilities([0, 1 << 5, 0, 0])
    }

    /// Registers callbacks for the start of the JVM and for loaded classes. Returns true if it succeeds.
    pub fn register_callbacks(self, init: OnInit, load: OnLoad) -> bool {
        let none = std::ptr::null();
        let callbacks = Callbacks { init, death: none, thread_start: none, thread_end: none, load };
        // can_generate_all_class_hook_events is the 27th bit.
        let can_change_classes = self.add_capabilities([1 << 26, 0, 0, 0]);
        // SAFETY: the signature is that of the specification; the arguments outlive the call.
        let registered = unsafe {
            let set: extern "C" fn(FunctionTable, *const Callbacks, c_int) -> c_int =
                function(self.0, jvmti::SET_EVENT_CALLBACKS);
            set(self.0, &callbacks, size_of::<Callbacks>() as c_int) == 0
        };
        can_change_classes && registered
    }

    fn add_capabilities(self, capabilities: [u32; 4]) -> bool {
        // SAFETY: the signature is that of the specification; the argument outlives the call.
        unsafe {
            let add: extern "C" fn(FunctionTable, *const u32) -> c_int = function(self.0, jvmti::ADD_CAPABILITIES);
            add(self.0, capabilities.as_ptr()) == 0
        }
    }

    /// Enables an event for all threads. Returns true if it succeeds.
    pub fn enable(self, event: c_int) -> bool {
        // SAFETY: the signature is that of the specification; a null thread means all threads.
        unsafe {
            let set: extern "C" fn(FunctionTable, c_int, c_int, JObject) -> c_int =
                function(self.0, jvmti::SET_EVENT_NOTIFICATION_MODE);
            set(self.0, ENABLE, event, std::ptr::null_mut()) == 0
        }
    }

    /// Copies bytes to memory that the JVM frees.
    pub fn allocate(self, bytes: &[u8]) -> Option<*mut c_uchar> {
        let mut memory: *mut c_uchar = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification; it allocates the requested number of bytes or returns an error.
        unsafe {
            let allocate: extern "C" fn(FunctionTable, i64, *mut *mut c_uchar) -> c_int =
                function(self.0, jvmti::ALLOCATE);
            if allocate(self.0, i64::try_from(bytes.len()).ok()?, &mut memory) != 0 || memory.is_null() {
                return None;
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len());
        }
        Some(memory)
    }

    /// Returns a system property.
    pub fn property(self, name: &CStr) -> Option<String> {
        let mut value: *mut c_char = std::ptr::null_mut();
        // SAFETY: the signatures are those of the specification; the value has a terminating zero, and is freed once.
        unsafe {
            let get: extern "C" fn(FunctionTable, *const c_char, *mut *mut c_char) -> c_int =
                function(self.0, jvmti::GET_SYSTEM_PROPERTY);
            if get(self.0, name.as_ptr(), &mut value) != 0 || value.is_null() {
                return None;
            }
            let text = CStr::from_ptr(value).to_string_lossy().into_owned();
            let free: extern "C" fn(FunctionTable, *mut c_uchar) -> c_int = function(self.0, jvmti::DEALLOCATE);
            free(self.0, value.cast());
            Some(text)
        }
    }
}

/// A global reference, which keeps its object alive until it is deleted.
pub struct GlobalRef(pub JObject);

// SAFETY: every thread may use a global reference.
unsafe impl Send for GlobalRef {}
// SAFETY: likewise.
unsafe impl Sync for GlobalRef {}

/// The native interface of the current thread.
#[derive(Clone, Copy)]
pub struct Jni(pub FunctionTable);

impl Jni {
    /// Returns the identity of the current thread: each thread has its own interface.
    pub fn thread(self) -> usize {
        self.0 as usize
    }

    /// Defines a class of the boot loader, or returns `None` if that fails.
    pub fn define(self, name: &str, bytes: &[u8]) -> Option<JObject> {
        let (Ok(name), Ok(length)) = (CString::new(name), c_int::try_from(bytes.len())) else { return None };
        // SAFETY: the signature is that of the specification; a null loader is the boot loader.
        let class = unsafe {
            let define: extern "C" fn(FunctionTable, *const c_char, JObject, *const u8, c_int) -> JObject =
                function(self.0, jni::DEFINE_CLASS);
            define(self.0, name.as_ptr(), std::ptr::null_mut(), bytes.as_ptr(), length)
        };
        (!self.threw() && !class.is_null()).then_some(class)
    }

    /// Registers the functions of native methods, each with its name and descriptor. Returns true if it succeeds.
    ///
    /// # Safety
    /// Each function must have the type that the JVM calls for a method with that descriptor.
    pub unsafe fn register(self, class: JObject, natives: &[((&str, &str), *const c_void)]) -> bool {
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
        // SAFETY: the signature is that of the specification; the strings outlive the call.
        let result = unsafe {
            let register: extern "C" fn(FunctionTable, JObject, *const Native, c_int) -> c_int =
                function(self.0, jni::REGISTER_NATIVES);
            register(self.0, class, table.as_ptr(), table.len() as c_int)
        };
        !self.threw() && result == 0
    }

    /// Returns a global reference to the object in a static field.
    pub fn static_field(self, class: JObject, (name, desc): (&str, &str)) -> Option<GlobalRef> {
        let (name, desc) = (CString::new(name).ok()?, CString::new(desc).ok()?);
        // SAFETY: the signatures are those of the specification; the descriptor is that of a reference.
        unsafe {
            let find: extern "C" fn(FunctionTable, JObject, *const c_char, *const c_char) -> JObject =
                function(self.0, jni::GET_STATIC_FIELD_ID);
            let field = find(self.0, class, name.as_ptr(), desc.as_ptr());
            if self.threw() || field.is_null() {
                return None;
            }
            let get: extern "C" fn(FunctionTable, JObject, JObject) -> JObject =
                function(self.0, jni::GET_STATIC_OBJECT_FIELD);
            let value = get(self.0, class, field);
            if value.is_null() { None } else { self.new_global_ref(value) }
        }
    }

    /// Creates a global reference.
    pub fn new_global_ref(self, object: JObject) -> Option<GlobalRef> {
        // SAFETY: the signature is that of the specification; the JVM created the reference.
        unsafe {
            let create: extern "C" fn(FunctionTable, JObject) -> JObject = function(self.0, jni::NEW_GLOBAL_REF);
            Some(create(self.0, object)).filter(|created| !created.is_null()).map(GlobalRef)
        }
    }

    /// Calls a static method that takes integers and returns nothing.
    pub fn call_static_void(self, class: JObject, (name, desc): (&CStr, &CStr), arguments: &[u64]) {
        // SAFETY: the signatures are those of the specification; there are as many arguments as parameters, each a `jvalue` of 8 bytes.
        unsafe {
            let find: extern "C" fn(FunctionTable, JObject, *const c_char, *const c_char) -> JObject =
                function(self.0, jni::GET_STATIC_METHOD_ID);
            let method = find(self.0, class, name.as_ptr(), desc.as_ptr());
            if self.threw() || method.is_null() {
                return;
            }
            let call: extern "C" fn(FunctionTable, JObject, JObject, *const u64) =
                function(self.0, jni::CALL_STATIC_VOID_METHOD_A);
            call(self.0, class, method, arguments.as_ptr());
            self.threw();
        }
    }

    /// Sets an element of a byte array.
    pub fn set_byte(self, array: JObject, index: u32, byte: i8) {
        // SAFETY: the signature is that of the specification; one byte is read. The JVM checks the index.
        unsafe {
            let set: extern "C" fn(FunctionTable, JObject, c_int, c_int, *const i8) =
                function(self.0, jni::SET_BYTE_ARRAY_REGION);
            set(self.0, array, index as c_int, 1, &byte);
        }
    }

    /// Deletes a global reference.
    pub fn delete_global_ref(self, reference: GlobalRef) {
        // SAFETY: the signature is that of the specification; the reference is consumed, so it is not used again.
        unsafe {
            let delete: extern "C" fn(FunctionTable, JObject) = function(self.0, jni::DELETE_GLOBAL_REF);
            delete(self.0, reference.0);
        }
    }

    /// Returns true if an exception is pending, and clears it.
    fn threw(self) -> bool {
        // SAFETY: the signatures are those of the specification.
        unsafe {
            let check: extern "C" fn(FunctionTable) -> c_uchar = function(self.0, jni::EXCEPTION_CHECK);
            let threw = check(self.0) != 0;
            if threw {
                let clear: extern "C" fn(FunctionTable) = function(self.0, jni::EXCEPTION_CLEAR);
                clear(self.0);
            }
            threw
        }
    }

    /// Runs an action in a new local frame: its local references are deleted afterwards.
    pub fn with_local_frame<T>(self, action: impl FnOnce() -> Option<T>) -> Option<T> {
        const CAPACITY: c_int = 16;
        // SAFETY: the signatures are those of the specification; no local reference leaves the frame.
        unsafe {
            let push: extern "C" fn(FunctionTable, c_int) -> c_int = function(self.0, jni::PUSH_LOCAL_FRAME);
            if push(self.0, CAPACITY) != 0 {
                self.threw();
                return None;
            }
            let result = action();
            let pop: extern "C" fn(FunctionTable, JObject) -> JObject = function(self.0, jni::POP_LOCAL_FRAME);
            pop(self.0, std::ptr::null_mut());
            result
        }
    }

    /// Returns the attribute of a jar's manifest, or `None` if it has none or can't be read.
    pub fn manifest_attribute(self, jar: &str, attribute: &str) -> Option<String> {
        let (jar, attribute) = (CString::new(jar).ok()?, CString::new(attribute).ok()?);
        self.with_local_frame(|| {
            let class = self.find_class(c"java/util/jar/JarFile")?;
            let opened = self.construct(class, self.new_string(&jar)?)?;
            let value = (|| {
                let manifest = self.call(opened, c"getManifest", c"()Ljava/util/jar/Manifest;")?;
                let attributes = self.call(manifest, c"getMainAttributes", c"()Ljava/util/jar/Attributes;")?;
                let desc = c"(Ljava/lang/String;)Ljava/lang/String;";
                let value = self.call_with(attributes, (c"getValue", desc), &[self.new_string(&attribute)?])?;
                self.string(value)
            })();
            self.call_void(opened, c"close");
            value
        })
    }

    /// Finds a class of the boot loader.
    fn find_class(self, name: &CStr) -> Option<JObject> {
        // SAFETY: the signature is that of the specification.
        let class = unsafe {
            let find: extern "C" fn(FunctionTable, *const c_char) -> JObject = function(self.0, jni::FIND_CLASS);
            find(self.0, name.as_ptr())
        };
        (!self.threw() && !class.is_null()).then_some(class)
    }

    /// Creates a string from modified UTF-8.
    fn new_string(self, text: &CStr) -> Option<JObject> {
        // SAFETY: the signature is that of the specification.
        let string = unsafe {
            let create: extern "C" fn(FunctionTable, *const c_char) -> JObject = function(self.0, jni::NEW_STRING_UTF);
            create(self.0, text.as_ptr())
        };
        (!self.threw() && !string.is_null()).then_some(string)
    }

    /// Calls the constructor of a class that takes a string.
    fn construct(self, class: JObject, argument: JObject) -> Option<JObject> {
        // SAFETY: the signatures are those of the specification; the constructor has one parameter.
        let object = unsafe {
            let method_of: extern "C" fn(FunctionTable, JObject, *const c_char, *const c_char) -> JObject =
                function(self.0, jni::GET_METHOD_ID);
            let method = method_of(self.0, class, c"<init>".as_ptr(), c"(Ljava/lang/String;)V".as_ptr());
            if self.threw() || method.is_null() {
                return None;
            }
            let create: extern "C" fn(FunctionTable, JObject, JObject, *const JObject) -> JObject =
                function(self.0, jni::NEW_OBJECT_A);
            create(self.0, class, method, &argument)
        };
        (!self.threw() && !object.is_null()).then_some(object)
    }

    /// Calls a method without parameters. Returns `None` if it returns null or throws.
    pub fn call(self, object: JObject, name: &CStr, desc: &CStr) -> Option<JObject> {
        self.call_with(object, (name, desc), &[])
    }

    /// Calls a method whose parameters are objects.
    fn call_with(self, object: JObject, (name, desc): (&CStr, &CStr), arguments: &[JObject]) -> Option<JObject> {
        let method = self.method(object, name, desc)?;
        // SAFETY: the signature is that of the specification; there are as many arguments as parameters, each a `jvalue` of 8 bytes.
        let result = unsafe {
            let call: extern "C" fn(FunctionTable, JObject, JObject, *const JObject) -> JObject =
                function(self.0, jni::CALL_OBJECT_METHOD_A);
            call(self.0, object, method, arguments.as_ptr())
        };
        (!self.threw() && !result.is_null()).then_some(result)
    }

    /// Calls a method without parameters that returns nothing.
    fn call_void(self, object: JObject, name: &CStr) {
        let Some(method) = self.method(object, name, c"()V") else { return };
        // SAFETY: the signature is that of the specification; the method has no parameters, so no arguments are read.
        unsafe {
            let call: extern "C" fn(FunctionTable, JObject, JObject, *const c_void) =
                function(self.0, jni::CALL_VOID_METHOD_A);
            call(self.0, object, method, std::ptr::null());
        }
        self.threw();
    }

    /// Calls a method without parameters that returns a boolean. Returns `None` if it throws.
    pub fn call_boolean(self, object: JObject, name: &CStr) -> Option<bool> {
        let method = self.method(object, name, c"()Z")?;
        // SAFETY: as above.
        let result = unsafe {
            let call: extern "C" fn(FunctionTable, JObject, JObject, *const c_void) -> c_uchar =
                function(self.0, jni::CALL_BOOLEAN_METHOD_A);
            call(self.0, object, method, std::ptr::null())
        };
        (!self.threw()).then_some(result != 0)
    }

    /// Calls a method without parameters that returns an `int`. Returns `None` if it throws.
    pub fn call_int(self, object: JObject, name: &CStr) -> Option<i32> {
        let method = self.method(object, name, c"()I")?;
        // SAFETY: as above.
        let result = unsafe {
            let call: extern "C" fn(FunctionTable, JObject, JObject, *const c_void) -> c_int =
                function(self.0, jni::CALL_INT_METHOD_A);
            call(self.0, object, method, std::ptr::null())
        };
        (!self.threw()).then_some(result)
    }

    fn method(self, object: JObject, name: &CStr, desc: &CStr) -> Option<JObject> {
        // SAFETY: the signatures are those of the specification; the JVM created the reference.
        let method = unsafe {
            let class_of: extern "C" fn(FunctionTable, JObject) -> JObject = function(self.0, jni::GET_OBJECT_CLASS);
            let method_of: extern "C" fn(FunctionTable, JObject, *const c_char, *const c_char) -> JObject =
                function(self.0, jni::GET_METHOD_ID);
            method_of(self.0, class_of(self.0, object), name.as_ptr(), desc.as_ptr())
        };
        (!self.threw() && !method.is_null()).then_some(method)
    }

    /// Returns the elements of an array of references; null is `None`.
    pub fn elements(self, array: JObject) -> Vec<Option<JObject>> {
        // SAFETY: the signatures are those of the specification; the indices are within the bounds.
        unsafe {
            let length: extern "C" fn(FunctionTable, JObject) -> c_int = function(self.0, jni::GET_ARRAY_LENGTH);
            let element: extern "C" fn(FunctionTable, JObject, c_int) -> JObject =
                function(self.0, jni::GET_OBJECT_ARRAY_ELEMENT);
            let one = |index| Some(element(self.0, array, index)).filter(|object| !object.is_null());
            (0..length(self.0, array)).map(one).collect()
        }
    }

    /// Returns the characters of a Java string.
    pub fn string(self, string: JObject) -> Option<String> {
        // SAFETY: the signatures are those of the specification; the characters have a terminating zero, and are released once.
        unsafe {
            let get: extern "C" fn(FunctionTable, JObject, *mut c_uchar) -> *const c_char =
                function(self.0, jni::GET_STRING_UTF_CHARS);
            let chars = get(self.0, string, std::ptr::null_mut());
            if chars.is_null() {
                self.threw();
                return None;
            }
            let bytes = CStr::from_ptr(chars);
            // JNI uses modified UTF-8.
            let text = match Text::decode(bytes.to_bytes()) {
                Ok(text) => text.text().to_string(),
                Err(_) => bytes.to_string_lossy().into_owned(),
            };
            let release: extern "C" fn(FunctionTable, JObject, *const c_char) =
                function(self.0, jni::RELEASE_STRING_UTF_CHARS);
            release(self.0, string, chars);
            Some(text)
        }
    }
}
