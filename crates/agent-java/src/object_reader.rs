//! Access to the objects of the program through JVMTI and JNI, without running code of the program.

use crate::jvm_interface::{FunctionTable, JObject, Jni, Jvmti, function, jni, jvmti};
use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};

/// A field of a class.
pub struct ReflectedField {
    id: *mut c_void,
    pub name: String,
    pub desc: String,
    pub is_static: bool,
    pub is_final: bool,
}

/// The value of a field, a local variable or an element.
#[derive(Clone, Copy)]
pub enum HeapValue {
    /// A primitive value: the letter of its type, and its bits.
    Primitive(u8, u64),
    /// A reference, which may be null.
    Reference(JObject),
}

/// The letters of types, in the order of the JNI functions for them.
const LETTERS: [u8; 9] = [b'L', b'Z', b'B', b'C', b'S', b'I', b'J', b'F', b'D'];

/// Returns the position of a type in `LETTERS`.
fn letter_index(desc: &str) -> Option<usize> {
    let first = *desc.as_bytes().first()?;
    let letter = if first == b'[' { b'L' } else { first };
    LETTERS.iter().position(|known| *known == letter)
}

/// The interfaces, in the thread of the test that returns.
#[derive(Clone, Copy)]
pub struct ObjectReader {
    pub jvmti: Jvmti,
    pub jni: Jni,
}

const STATIC: c_int = 0x0008;
const FINAL: c_int = 0x0010;

impl ObjectReader {
    /// Returns the reference in a local variable of the current thread, or `None` if the slot holds null or no reference. Depth 0 is the native
    /// method.
    pub fn local(self, depth: i32, slot: i32) -> Option<JObject> {
        let mut found: JObject = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification; a null thread is the current one. The JVM checks depth and slot.
        let result = unsafe {
            let get: extern "C" fn(FunctionTable, JObject, c_int, c_int, *mut JObject) -> c_int =
                function(self.jvmti.0, jvmti::GET_LOCAL_OBJECT);
            get(self.jvmti.0, std::ptr::null_mut(), depth, slot, &mut found)
        };
        (result == 0 && !found.is_null()).then_some(found)
    }

    /// Returns the identity hash code of an object.
    pub fn id(self, object: JObject) -> u32 {
        let mut hash: c_int = 0;
        // SAFETY: the signature is that of the specification; the JVM created the reference.
        unsafe {
            let get: extern "C" fn(FunctionTable, JObject, *mut c_int) -> c_int =
                function(self.jvmti.0, jvmti::GET_OBJECT_HASH_CODE);
            get(self.jvmti.0, object, &mut hash);
        }
        hash as u32
    }

    /// Returns the class of an object.
    pub fn class_of(self, object: JObject) -> JObject {
        // SAFETY: the signature is that of the specification; the JVM created the reference.
        unsafe {
            let get: extern "C" fn(FunctionTable, JObject) -> JObject = function(self.jni.0, jni::GET_OBJECT_CLASS);
            get(self.jni.0, object)
        }
    }

    /// Returns the superclass, or `None` for `Object` and interfaces.
    pub fn superclass(self, class: JObject) -> Option<JObject> {
        // SAFETY: the signature is that of the specification; the JVM created the reference.
        let above = unsafe {
            let get: extern "C" fn(FunctionTable, JObject) -> JObject = function(self.jni.0, jni::GET_SUPERCLASS);
            get(self.jni.0, class)
        };
        (!above.is_null()).then_some(above)
    }

    /// Returns the descriptor of a class, for example `Lcom/acme/Sum;` or `[I`.
    pub fn signature(self, class: JObject) -> Option<String> {
        let mut text: *mut c_char = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification; the generic signature is not requested.
        let result = unsafe {
            let get: extern "C" fn(FunctionTable, JObject, *mut *mut c_char, *mut *mut c_char) -> c_int =
                function(self.jvmti.0, jvmti::GET_CLASS_SIGNATURE);
            get(self.jvmti.0, class, &mut text, std::ptr::null_mut())
        };
        (result == 0).then(|| self.owned(text))
    }

    /// Returns true if the boot loader defined a class.
    pub fn is_in_jdk(self, class: JObject) -> bool {
        let mut loader: JObject = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification.
        let result = unsafe {
            let get: extern "C" fn(FunctionTable, JObject, *mut JObject) -> c_int =
                function(self.jvmti.0, jvmti::GET_CLASS_LOADER);
            get(self.jvmti.0, class, &mut loader)
        };
        result != 0 || loader.is_null()
    }

    /// Returns true if a class is initialised: reading a static field of another class would run its initialiser.
    pub fn is_initialised(self, class: JObject) -> bool {
        const INITIALISED: c_int = 4;
        let mut status: c_int = 0;
        // SAFETY: the signature is that of the specification.
        let result = unsafe {
            let get: extern "C" fn(FunctionTable, JObject, *mut c_int) -> c_int =
                function(self.jvmti.0, jvmti::GET_CLASS_STATUS);
            get(self.jvmti.0, class, &mut status)
        };
        result == 0 && status & INITIALISED != 0
    }

    /// Returns all loaded classes.
    pub fn classes(self) -> Vec<JObject> {
        let (mut count, mut list): (c_int, *mut JObject) = (0, std::ptr::null_mut());
        // SAFETY: the signature is that of the specification; it returns an array of `count` classes, which is freed once.
        unsafe {
            let get: extern "C" fn(FunctionTable, *mut c_int, *mut *mut JObject) -> c_int =
                function(self.jvmti.0, jvmti::GET_LOADED_CLASSES);
            if get(self.jvmti.0, &mut count, &mut list) != 0 || list.is_null() {
                return Vec::new();
            }
            let found = std::slice::from_raw_parts(list, count.max(0) as usize).to_vec();
            self.free(list.cast());
            found
        }
    }

    /// Returns the fields that a class declares.
    pub fn fields(self, class: JObject) -> Vec<ReflectedField> {
        let (mut count, mut list): (c_int, *mut *mut c_void) = (0, std::ptr::null_mut());
        // SAFETY: as above.
        let ids = unsafe {
            let get: extern "C" fn(FunctionTable, JObject, *mut c_int, *mut *mut *mut c_void) -> c_int =
                function(self.jvmti.0, jvmti::GET_CLASS_FIELDS);
            if get(self.jvmti.0, class, &mut count, &mut list) != 0 || list.is_null() {
                return Vec::new();
            }
            let ids = std::slice::from_raw_parts(list, count.max(0) as usize).to_vec();
            self.free(list.cast());
            ids
        };
        ids.into_iter().filter_map(|id| self.field(class, id)).collect()
    }

    fn field(self, class: JObject, id: *mut c_void) -> Option<ReflectedField> {
        let (mut name, mut desc): (*mut c_char, *mut c_char) = (std::ptr::null_mut(), std::ptr::null_mut());
        let mut access: c_int = 0;
        // SAFETY: signatures are those of the specification; the field belongs to the class.
        unsafe {
            let get: extern "C" fn(
                FunctionTable,
                JObject,
                *mut c_void,
                *mut *mut c_char,
                *mut *mut c_char,
                *mut *mut c_char,
            ) -> c_int = function(self.jvmti.0, jvmti::GET_FIELD_NAME);
            if get(self.jvmti.0, class, id, &mut name, &mut desc, std::ptr::null_mut()) != 0 {
                return None;
            }
            let flags: extern "C" fn(FunctionTable, JObject, *mut c_void, *mut c_int) -> c_int =
                function(self.jvmti.0, jvmti::GET_FIELD_MODIFIERS);
            flags(self.jvmti.0, class, id, &mut access);
        }
        Some(ReflectedField {
            id,
            name: self.owned(name),
            desc: self.owned(desc),
            is_static: access & STATIC != 0,
            is_final: access & FINAL != 0,
        })
    }

    /// Returns the value of a field of an object, or of a static field of a class.
    pub fn field_value(self, of: JObject, field: &ReflectedField) -> Option<HeapValue> {
        let index = letter_index(&field.desc)?;
        let first = if field.is_static { jni::GET_STATIC_OBJECT_FIELD } else { jni::GET_FIELD };
        // SAFETY: each type has its own function, which returns a value of that type; the field belongs to the object.
        unsafe {
            macro_rules! got {
                ($type:ty) => {{
                    let get: extern "C" fn(FunctionTable, JObject, *mut c_void) -> $type =
                        function(self.jni.0, first + index);
                    get(self.jni.0, of, field.id)
                }};
            }
            Some(match LETTERS[index] {
                b'L' => HeapValue::Reference(got!(JObject)),
                b'Z' => HeapValue::Primitive(b'Z', u64::from(got!(c_uchar) != 0)),
                b'B' => HeapValue::Primitive(b'B', got!(i8) as u64),
                b'C' => HeapValue::Primitive(b'C', u64::from(got!(u16))),
                b'S' => HeapValue::Primitive(b'S', got!(i16) as u64),
                b'I' => HeapValue::Primitive(b'I', got!(i32) as u64),
                b'J' => HeapValue::Primitive(b'J', got!(i64) as u64),
                b'F' => HeapValue::Primitive(b'F', u64::from(got!(f32).to_bits())),
                _ => HeapValue::Primitive(b'D', got!(f64).to_bits()),
            })
        }
    }

    /// Returns the length of an array.
    pub fn length(self, array: JObject) -> usize {
        // SAFETY: the signature is that of the specification; the object is an array.
        let length = unsafe {
            let get: extern "C" fn(FunctionTable, JObject) -> c_int = function(self.jni.0, jni::GET_ARRAY_LENGTH);
            get(self.jni.0, array)
        };
        length.max(0) as usize
    }

    /// Returns the first elements of an array. `element` is the descriptor of its elements.
    pub fn elements(self, array: JObject, element: &str, max: usize) -> Vec<HeapValue> {
        let Some(index) = letter_index(element) else { return Vec::new() };
        let count = self.length(array).min(max);
        if index == 0 {
            // SAFETY: the signature is that of the specification; the indices are within the bounds.
            return unsafe {
                let get: extern "C" fn(FunctionTable, JObject, c_int) -> JObject =
                    function(self.jni.0, jni::GET_OBJECT_ARRAY_ELEMENT);
                (0..count).map(|index| HeapValue::Reference(get(self.jni.0, array, index as c_int))).collect()
            };
        }
        // SAFETY: each type has its own function, which writes `count` elements of that type.
        unsafe {
            macro_rules! region {
                ($type:ty, $bits:expr) => {{
                    let mut part = vec![<$type>::default(); count];
                    let get: extern "C" fn(FunctionTable, JObject, c_int, c_int, *mut $type) =
                        function(self.jni.0, jni::GET_ARRAY_REGION + index - 1);
                    get(self.jni.0, array, 0, count as c_int, part.as_mut_ptr());
                    part.into_iter().map(|value| HeapValue::Primitive(LETTERS[index], $bits(value))).collect()
                }};
            }
            match LETTERS[index] {
                b'Z' => region!(u8, |value: u8| u64::from(value != 0)),
                b'B' => region!(i8, |value: i8| value as u64),
                b'C' => region!(u16, u64::from),
                b'S' => region!(i16, |value: i16| value as u64),
                b'I' => region!(i32, |value: i32| value as u64),
                b'J' => region!(i64, |value: i64| value as u64),
                b'F' => region!(f32, |value: f32| u64::from(value.to_bits())),
                _ => region!(f64, f64::to_bits),
            }
        }
    }

    /// Copies a C string that the JVM allocated, and frees it.
    fn owned(self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: the JVM allocated it with a terminating zero, and it is freed once.
        unsafe {
            let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
            self.free(text.cast());
            owned
        }
    }

    /// Frees memory of the JVM.
    ///
    /// # Safety
    /// The JVM allocated it, and it is freed once.
    unsafe fn free(self, memory: *mut c_uchar) {
        // SAFETY: the signature is that of the specification, and the caller guarantees the rest.
        unsafe {
            let free: extern "C" fn(FunctionTable, *mut c_uchar) -> c_int = function(self.jvmti.0, jvmti::DEALLOCATE);
            free(self.jvmti.0, memory);
        }
    }
}
