//! A deserialiser for the compact AST format of the resident clang (`compact.c`).
//!
//! A document is `START`, its object, and sixteen hexadecimal digits: the number of bytes before them. An object
//! consists of keys (`FIRST_KEY` plus the index in [`JsonKey::KNOWN`](super::json_keys::Key::KNOWN)) with their values, up
//! to `OBJECT_END`. Numbers are incremented by one and encoded in seven bits a byte, the lowest first. Values that are
//! likely to recur are numbered at their first occurrence and later referred to by number: strings, objects, and the
//! entries of a position, which are then written in place of the first key. Every position has a file and a line.

use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Error;
use std::ops::Range;

const START: u8 = 0x7f;
const FIRST_KEY: u8 = 0x20;
/// The number of digits after a document.
const LENGTH: usize = 16;

const OBJECT: u8 = 1;
const OBJECT_END: u8 = 2;
const ARRAY: u8 = 3;
const ARRAY_END: u8 = 4;
const TRUE: u8 = 5;
const FALSE: u8 = 6;
const INTEGER: u8 = 7;
const UNSIGNED: u8 = 8;
const TEXT: u8 = 9;
const NODE: u8 = 10;
const NEW_WORD: u8 = 11;
const WORD: u8 = 12;
const NEW_OBJECT: u8 = 13;
const SAME_OBJECT: u8 = 14;
const NOTHING: u8 = 15;
const NEW_PLACE: u8 = 16;
const SAME_PLACE: u8 = 17;

/// Returns true if clang's output is in this format.
pub(super) fn is_compact(said: &[u8]) -> bool {
    said.first() == Some(&START)
}

/// Returns the ranges of the documents of an output, from the last to the first.
pub(super) fn documents(said: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let mut end = said.len();
    while end > 0 {
        let behind = end.checked_sub(LENGTH)?;
        let digits = std::str::from_utf8(&said[behind..end]).ok()?;
        let start = behind.checked_sub(usize::from_str_radix(digits, 16).ok()?)?;
        is_compact(&said[start..behind]).then_some(())?;
        found.push(start..end);
        end = start;
    }
    Some(found)
}

/// The state of reading a document.
pub(super) struct Compact<'de> {
    bytes: &'de [u8],
    at: usize,
    words: Vec<&'de str>,
    /// The offsets of numbered objects.
    objects: Vec<usize>,
    /// The offsets of numbered entries of positions.
    places: Vec<usize>,
    /// Everything before this offset has its numbers.
    numbered: usize,
    reading: Reading,
}

/// The reading mode. An object that is read again refers to no other numbered one, so that reading terminates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    First,
    Again,
}

fn damaged() -> Error {
    Error::custom("what clang says can't be read")
}

impl<'de> Compact<'de> {
    /// Starts at the beginning of a document.
    pub fn new(document: &'de [u8]) -> Result<Compact<'de>, Error> {
        let bytes = document.len().checked_sub(LENGTH).map(|length| &document[..length]);
        let bytes = bytes.filter(|bytes| is_compact(bytes)).ok_or_else(damaged)?;
        Ok(Compact {
            bytes,
            at: 1,
            words: Vec::new(),
            objects: Vec::new(),
            places: Vec::new(),
            numbered: 0,
            reading: Reading::First,
        })
    }

    /// Fails unless the whole document was read.
    pub fn end(&self) -> Result<(), Error> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(damaged()) }
    }

    fn peek(&self) -> Result<u8, Error> {
        self.bytes.get(self.at).copied().ok_or_else(damaged)
    }

    fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64, Error> {
        let (mut made, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            let part = u64::from(byte & 127);
            if shift > 63 || (part << shift) >> shift != part {
                return Err(damaged());
            }
            made |= part << shift;
            shift += 7;
            if byte < 128 {
                return made.checked_sub(1).ok_or_else(damaged);
            }
        }
    }

    fn index(&mut self) -> Result<usize, Error> {
        usize::try_from(self.number()?).map_err(|_| damaged())
    }

    fn text(&mut self) -> Result<&'de str, Error> {
        let length = self.index()?;
        let end = self.at.checked_add(length).ok_or_else(damaged)?;
        let text = self.bytes.get(self.at..end).ok_or_else(damaged)?;
        self.at = end;
        std::str::from_utf8(text).map_err(|_| damaged())
    }

    /// Returns true if the numbered value at the current offset is read for the first time.
    fn is_new(&mut self) -> bool {
        let is_new = self.at > self.numbered;
        self.numbered = self.numbered.max(self.at);
        is_new
    }

    /// Continues at `start`, where a numbered value begins; returns the offset at which to resume.
    fn again(&mut self, start: usize) -> Result<usize, Error> {
        match std::mem::replace(&mut self.reading, Reading::Again) {
            Reading::First => Ok(std::mem::replace(&mut self.at, start)),
            Reading::Again => Err(damaged()),
        }
    }

    fn go_on(&mut self, behind: usize) {
        self.at = behind;
        self.reading = Reading::First;
    }

    /// Visits the entries of an object after its first byte.
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let value = visitor.visit_map(Entries { of: self, behind: None })?;
        if self.byte()? == OBJECT_END { Ok(value) } else { Err(damaged()) }
    }
}

impl<'de> Deserializer<'de> for &mut Compact<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.byte()? {
            OBJECT => self.object(visitor),
            NEW_OBJECT => {
                if self.is_new() {
                    self.objects.push(self.at);
                }
                self.object(visitor)
            }
            SAME_OBJECT => {
                let which = self.index()?;
                let start = *self.objects.get(which).ok_or_else(damaged)?;
                let behind = self.again(start)?;
                let value = self.object(visitor)?;
                self.go_on(behind);
                Ok(value)
            }
            ARRAY => {
                let value = visitor.visit_seq(Elements(self))?;
                if self.byte()? == ARRAY_END { Ok(value) } else { Err(damaged()) }
            }
            TRUE => visitor.visit_bool(true),
            FALSE => visitor.visit_bool(false),
            INTEGER => {
                let folded = self.number()?;
                visitor.visit_i64((folded >> 1).cast_signed() ^ -((folded & 1).cast_signed()))
            }
            UNSIGNED | NODE => visitor.visit_u64(self.number()?),
            TEXT => visitor.visit_borrowed_str(self.text()?),
            NEW_WORD => {
                let is_new = self.is_new();
                let word = self.text()?;
                if is_new {
                    self.words.push(word);
                }
                visitor.visit_borrowed_str(word)
            }
            WORD => {
                let which = self.index()?;
                visitor.visit_borrowed_str(self.words.get(which).ok_or_else(damaged)?)
            }
            NOTHING => visitor.visit_unit(),
            _ => Err(damaged()),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The entries of an object.
struct Entries<'r, 'de> {
    of: &'r mut Compact<'de>,
    /// The offset at which to resume after entries that were read again.
    behind: Option<usize>,
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let of = &mut *self.of;
        match of.peek()? {
            NEW_PLACE => {
                of.at += 1;
                if of.is_new() {
                    of.places.push(of.at);
                }
            }
            SAME_PLACE => {
                of.at += 1;
                let which = of.index()?;
                let start = *of.places.get(which).ok_or_else(damaged)?;
                self.behind = Some(of.again(start)?);
            }
            _ => {}
        }
        if of.peek()? == OBJECT_END {
            if let Some(behind) = self.behind.take() {
                of.go_on(behind);
            }
            return Ok(None);
        }
        let key = of.byte()?.checked_sub(FIRST_KEY).ok_or_else(damaged)?;
        seed.deserialize(u64::from(key).into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.of)
    }
}

/// The elements of an array.
struct Elements<'r, 'de>(&'r mut Compact<'de>);

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.0.peek()? == ARRAY_END {
            return Ok(None);
        }
        seed.deserialize(&mut *self.0).map(Some)
    }
}
