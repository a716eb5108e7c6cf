//! What objects of the program are and hold, as the JVM's interfaces tell it: nothing of the program runs for it.

use crate::jvm_interface::{Jni, Jvmti, Object, Table, function, jni, jvmti};
use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};

/// A field, as its class declares it.
pub struct Field {
    id: *mut c_void,
    pub name: String,
    pub desc: String,
    pub is_static: bool,
    pub is_final: bool,
}

/// What a field, a variable or an element holds.
#[derive(Clone, Copy)]
pub enum Held {
    /// A number, as its type's letter says.
    Number(u8, u64),
    /// An object; null is none.
    Object(Object),
}

/// The letters of types, in the order of the JVM's functions for them.
const LETTERS: [u8; 9] = [b'L', b'Z', b'B', b'C', b'S', b'I', b'J', b'F', b'D'];

fn place_of(desc: &str) -> Option<usize> {
    let first = *desc.as_bytes().first()?;
    let letter = if first == b'[' { b'L' } else { first };
    LETTERS.iter().position(|known| *known == letter)
}

/// The interfaces, on the thread whose test ends.
#[derive(Clone, Copy)]
pub struct Objects {
    pub jvmti: Jvmti,
    pub jni: Jni,
}

const STATIC: c_int = 0x0008;
const FINAL: c_int = 0x0010;

impl Objects {
    /// What a variable of a method of this thread holds, by its number and by how many methods run above; null is none.
    pub fn local(self, depth: i32, slot: i32) -> Option<Object> {
        let mut found: Object = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification; no thread is this one. A number that is none is refused.
        let result = unsafe {
            let get: extern "C" fn(Table, Object, c_int, c_int, *mut Object) -> c_int =
                function(self.jvmti.0, jvmti::GET_LOCAL_OBJECT);
            get(self.jvmti.0, std::ptr::null_mut(), depth, slot, &mut found)
        };
        (result == 0 && !found.is_null()).then_some(found)
    }

    /// What tells objects apart, as `System.identityHashCode` does.
    pub fn id(self, object: Object) -> u32 {
        let mut hash: c_int = 0;
        // SAFETY: the signature is that of the specification; the object is one that the JVM gave.
        unsafe {
            let get: extern "C" fn(Table, Object, *mut c_int) -> c_int =
                function(self.jvmti.0, jvmti::GET_OBJECT_HASH_CODE);
            get(self.jvmti.0, object, &mut hash);
        }
        hash as u32
    }

    pub fn class_of(self, object: Object) -> Object {
        // SAFETY: the signature is that of the specification; the object is one that the JVM gave.
        unsafe {
            let get: extern "C" fn(Table, Object) -> Object = function(self.jni.0, jni::GET_OBJECT_CLASS);
            get(self.jni.0, object)
        }
    }

    pub fn superclass(self, class: Object) -> Option<Object> {
        // SAFETY: the signature is that of the specification; the class is one that the JVM gave.
        let above = unsafe {
            let get: extern "C" fn(Table, Object) -> Object = function(self.jni.0, jni::GET_SUPERCLASS);
            get(self.jni.0, class)
        };
        (!above.is_null()).then_some(above)
    }

    /// The descriptor of a class: `Lcom/acme/Sum;`, `[I`.
    pub fn signature(self, class: Object) -> Option<String> {
        let mut text: *mut c_char = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification; what is not asked for may be null.
        let result = unsafe {
            let get: extern "C" fn(Table, Object, *mut *mut c_char, *mut *mut c_char) -> c_int =
                function(self.jvmti.0, jvmti::GET_CLASS_SIGNATURE);
            get(self.jvmti.0, class, &mut text, std::ptr::null_mut())
        };
        (result == 0).then(|| self.owned(text))
    }

    /// Whether a class belongs to the JVM itself.
    pub fn is_of_jvm(self, class: Object) -> bool {
        let mut loader: Object = std::ptr::null_mut();
        // SAFETY: the signature is that of the specification.
        let result = unsafe {
            let get: extern "C" fn(Table, Object, *mut Object) -> c_int =
                function(self.jvmti.0, jvmti::GET_CLASS_LOADER);
            get(self.jvmti.0, class, &mut loader)
        };
        result != 0 || loader.is_null()
    }

    /// Whether a class is initialised: the fields of others can't be asked for without running something.
    pub fn is_initialised(self, class: Object) -> bool {
        const INITIALISED: c_int = 4;
        let mut status: c_int = 0;
        // SAFETY: the signature is that of the specification.
        let result = unsafe {
            let get: extern "C" fn(Table, Object, *mut c_int) -> c_int =
                function(self.jvmti.0, jvmti::GET_CLASS_STATUS);
            get(self.jvmti.0, class, &mut status)
        };
        result == 0 && status & INITIALISED != 0
    }

    /// All classes that are loaded.
    pub fn classes(self) -> Vec<Object> {
        let (mut count, mut list): (c_int, *mut Object) = (0, std::ptr::null_mut());
        // SAFETY: the signature is that of the specification; it gives as many as it says, in memory that is freed once.
        unsafe {
            let get: extern "C" fn(Table, *mut c_int, *mut *mut Object) -> c_int =
                function(self.jvmti.0, jvmti::GET_LOADED_CLASSES);
            if get(self.jvmti.0, &mut count, &mut list) != 0 || list.is_null() {
                return Vec::new();
            }
            let found = std::slice::from_raw_parts(list, count.max(0) as usize).to_vec();
            self.free(list.cast());
            found
        }
    }

    /// The fields that a class declares.
    pub fn fields(self, class: Object) -> Vec<Field> {
        let (mut count, mut list): (c_int, *mut *mut c_void) = (0, std::ptr::null_mut());
        // SAFETY: as above.
        let ids = unsafe {
            let get: extern "C" fn(Table, Object, *mut c_int, *mut *mut *mut c_void) -> c_int =
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

    fn field(self, class: Object, id: *mut c_void) -> Option<Field> {
        let (mut name, mut desc): (*mut c_char, *mut c_char) = (std::ptr::null_mut(), std::ptr::null_mut());
        let mut access: c_int = 0;
        // SAFETY: signatures are those of the specification; the field is one of the class.
        unsafe {
            let get: extern "C" fn(
                Table,
                Object,
                *mut c_void,
                *mut *mut c_char,
                *mut *mut c_char,
                *mut *mut c_char,
            ) -> c_int = function(self.jvmti.0, jvmti::GET_FIELD_NAME);
            if get(self.jvmti.0, class, id, &mut name, &mut desc, std::ptr::null_mut()) != 0 {
                return None;
            }
            let flags: extern "C" fn(Table, Object, *mut c_void, *mut c_int) -> c_int =
                function(self.jvmti.0, jvmti::GET_FIELD_MODIFIERS);
            flags(self.jvmti.0, class, id, &mut access);
        }
        Some(Field {
            id,
            name: self.owned(name),
            desc: self.owned(desc),
            is_static: access & STATIC != 0,
            is_final: access & FINAL != 0,
        })
    }

    /// What a field of an object holds, or, if it is static, of a class.
    pub fn held(self, of: Object, field: &Field) -> Option<Held> {
        let place = place_of(&field.desc)?;
        let first = if field.is_static { jni::GET_STATIC_OBJECT_FIELD } else { jni::GET_FIELD };
        // SAFETY: every type has a function of its own, which gives just that type; the field is one of the object's.
        unsafe {
            macro_rules! got {
                ($type:ty) => {{
                    let get: extern "C" fn(Table, Object, *mut c_void) -> $type = function(self.jni.0, first + place);
                    get(self.jni.0, of, field.id)
                }};
            }
            Some(match LETTERS[place] {
                b'L' => Held::Object(got!(Object)),
                b'Z' => Held::Number(b'Z', u64::from(got!(c_uchar) != 0)),
                b'B' => Held::Number(b'B', got!(i8) as u64),
                b'C' => Held::Number(b'C', u64::from(got!(u16))),
                b'S' => Held::Number(b'S', got!(i16) as u64),
                b'I' => Held::Number(b'I', got!(i32) as u64),
                b'J' => Held::Number(b'J', got!(i64) as u64),
                b'F' => Held::Number(b'F', u64::from(got!(f32).to_bits())),
                _ => Held::Number(b'D', got!(f64).to_bits()),
            })
        }
    }

    pub fn length(self, array: Object) -> usize {
        // SAFETY: the signature is that of the specification; the object is an array.
        let length = unsafe {
            let get: extern "C" fn(Table, Object) -> c_int = function(self.jni.0, jni::GET_ARRAY_LENGTH);
            get(self.jni.0, array)
        };
        length.max(0) as usize
    }

    /// The first elements of an array, whose type is that of its descriptor without the first bracket.
    pub fn elements(self, array: Object, of: &str, most: usize) -> Vec<Held> {
        let Some(place) = place_of(of) else { return Vec::new() };
        let count = self.length(array).min(most);
        if place == 0 {
            // SAFETY: the signature is that of the specification; only elements that are there are asked for.
            return unsafe {
                let get: extern "C" fn(Table, Object, c_int) -> Object =
                    function(self.jni.0, jni::GET_OBJECT_ARRAY_ELEMENT);
                (0..count).map(|index| Held::Object(get(self.jni.0, array, index as c_int))).collect()
            };
        }
        // SAFETY: every type has a function of its own, which writes so many elements of just that type.
        unsafe {
            macro_rules! region {
                ($type:ty, $bits:expr) => {{
                    let mut part = vec![<$type>::default(); count];
                    let get: extern "C" fn(Table, Object, c_int, c_int, *mut $type) =
                        function(self.jni.0, jni::GET_ARRAY_REGION + place - 1);
                    get(self.jni.0, array, 0, count as c_int, part.as_mut_ptr());
                    part.into_iter().map(|value| Held::Number(LETTERS[place], $bits(value))).collect()
                }};
            }
            match LETTERS[place] {
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

    /// A text of the JVM's, which is freed.
    fn owned(self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: the JVM gave it, it ends with a zero, and nobody else frees it.
        unsafe {
            let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
            self.free(text.cast());
            owned
        }
    }

    /// # Safety
    /// The JVM gave it, and nobody else frees it.
    unsafe fn free(self, memory: *mut c_uchar) {
        // SAFETY: the signature is that of the specification, and the caller says the rest.
        unsafe {
            let free: extern "C" fn(Table, *mut c_uchar) -> c_int = function(self.jvmti.0, jvmti::DEALLOCATE);
            free(self.jvmti.0, memory);
        }
    }
}
