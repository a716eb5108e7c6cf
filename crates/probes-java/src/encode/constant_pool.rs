//! Constants that are appended to the constant pool of a class, or that form the pool of a new one.

use crate::encode::instructions::push;
use std::collections::BTreeMap;
use touchstone_classfile::opcode as op;
use touchstone_classfile::{ClassFile, Constant};

/// Tags of constants (JVM specification, table 4.4-A).
pub(crate) mod tag {
    pub const UTF8: u8 = 1;
    pub const INTEGER: u8 = 3;
    pub const LONG: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const STRING: u8 = 8;
    pub const METHOD_REF: u8 = 10;
    pub const NAME_AND_TYPE: u8 = 12;
    pub const METHOD_HANDLE: u8 = 15;
    pub const METHOD_TYPE: u8 = 16;
    pub const MODULE: u8 = 19;
    pub const PACKAGE: u8 = 20;
}

/// Constants with their indices. Each constant is added once.
pub(crate) struct ConstantPoolBuilder {
    /// The constants, as the class file has them.
    pub bytes: Vec<u8>,
    /// The index of the next constant. It exceeds 16 bits if there are too many; the indices of these are 0 and must not be used.
    next: usize,
    classes: BTreeMap<String, u16>,
    /// By class and name.
    methods: BTreeMap<(String, String), u16>,
    ints: BTreeMap<i32, u16>,
    longs: BTreeMap<i64, u16>,
}

impl ConstantPoolBuilder {
    /// An empty pool.
    pub fn new() -> ConstantPoolBuilder {
        ConstantPoolBuilder {
            bytes: Vec::new(),
            next: 1,
            classes: BTreeMap::new(),
            methods: BTreeMap::new(),
            ints: BTreeMap::new(),
            longs: BTreeMap::new(),
        }
    }

    /// Constants that follow those of a class.
    pub fn extending(class: &ClassFile) -> ConstantPoolBuilder {
        let mut pool = ConstantPoolBuilder { next: class.pool.len(), ..ConstantPoolBuilder::new() };
        for index in 1..u16::try_from(class.pool.len()).unwrap_or(u16::MAX) {
            if let Ok(Constant::Class(_)) = class.pool.get(index)
                && let Ok(name) = class.pool.class(index)
            {
                pool.classes.entry(name.to_string()).or_insert(index);
            }
        }
        pool
    }

    /// Returns `constant_pool_count` of the class, or `None` if it has too many constants.
    pub fn count(&self) -> Option<u16> {
        u16::try_from(self.next).ok()
    }

    fn add(&mut self, tag: u8, numbers: &[u16]) -> u16 {
        self.bytes.push(tag);
        numbers.iter().for_each(|number| self.bytes.extend(number.to_be_bytes()));
        self.next += 1;
        u16::try_from(self.next - 1).unwrap_or(0)
    }

    /// Adds a string of ASCII characters.
    pub fn utf8(&mut self, text: &str) -> u16 {
        let index = self.add(tag::UTF8, &[u16::try_from(text.len()).unwrap_or(0)]);
        self.bytes.extend(text.as_bytes());
        index
    }

    /// Adds a class by its internal name.
    pub fn class(&mut self, name: &str) -> u16 {
        if let Some(known) = self.classes.get(name) {
            return *known;
        }
        let text = self.utf8(name);
        let index = self.add(tag::CLASS, &[text]);
        self.classes.insert(name.to_string(), index);
        index
    }

    /// Adds a method. No two methods of one class have the same name here.
    pub fn method(&mut self, class: &str, name: &str, desc: &str) -> u16 {
        let key = (class.to_string(), name.to_string());
        if let Some(known) = self.methods.get(&key) {
            return *known;
        }
        let class = self.class(class);
        let (name, desc) = (self.utf8(name), self.utf8(desc));
        let name_and_type = self.add(tag::NAME_AND_TYPE, &[name, desc]);
        let index = self.add(tag::METHOD_REF, &[class, name_and_type]);
        self.methods.insert(key, index);
        index
    }

    /// Adds a `long`.
    pub fn long(&mut self, value: i64) -> u16 {
        if let Some(known) = self.longs.get(&value) {
            return *known;
        }
        let index = self.add(tag::LONG, &[]);
        self.bytes.extend(value.to_be_bytes());
        // It takes two indices.
        self.next += 1;
        self.longs.insert(value, index);
        index
    }

    /// Returns the call of a static method.
    pub fn call(&mut self, class: &str, (name, desc): (&str, &str)) -> [u8; 3] {
        let [high, low] = self.method(class, name, desc).to_be_bytes();
        [op::INVOKESTATIC, high, low]
    }

    /// Returns instructions that push a number, or `None` if it exceeds 31 bits.
    pub fn push_number(&mut self, number: u32) -> Option<Vec<u8>> {
        i32::try_from(number).ok().map(|number| self.push_int(number))
    }

    /// Returns instructions that push an `int`.
    pub fn push_int(&mut self, value: i32) -> Vec<u8> {
        if let Some(short) = u32::try_from(value).ok().and_then(push) {
            return short;
        }
        let index = match self.ints.get(&value) {
            Some(known) => *known,
            None => {
                let index = self.add(tag::INTEGER, &[]);
                self.bytes.extend(value.to_be_bytes());
                self.ints.insert(value, index);
                index
            }
        };
        let [high, low] = index.to_be_bytes();
        vec![op::LDC_W, high, low]
    }
}
