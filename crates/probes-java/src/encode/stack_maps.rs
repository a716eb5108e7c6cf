//! The `StackMapTable` attribute: the verification types of locals and operands at the targets of jumps.
//!
//! The attribute encodes most frames as differences to the frame before. Here every frame is complete, so that frames can be inserted.

use touchstone_classfile::{Cursor, SlotKind};

/// The type of a local variable or operand (JVM specification, section 4.7.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VerificationType {
    /// A type that consists of a tag: numbers, null, `uninitializedThis`, `top`.
    Tag(u8),
    /// A reference; the index of the class constant.
    Object(u16),
    /// An object before its constructor call; the offset of the `new` instruction.
    Uninitialized(u16),
}

pub(crate) const TOP: VerificationType = VerificationType::Tag(0);
pub(crate) const INT: VerificationType = VerificationType::Tag(1);
const LONG: VerificationType = VerificationType::Tag(4);
const DOUBLE: VerificationType = VerificationType::Tag(3);
const UNINITIALIZED_THIS: VerificationType = VerificationType::Tag(6);

impl VerificationType {
    fn read(cursor: &mut Cursor<'_>) -> Option<VerificationType> {
        Some(match cursor.u1().ok()? {
            tag @ 0..=6 => VerificationType::Tag(tag),
            7 => VerificationType::Object(cursor.u2().ok()?),
            8 => VerificationType::Uninitialized(cursor.u2().ok()?),
            _ => return None,
        })
    }

    fn write(self, out: &mut Vec<u8>) {
        match self {
            VerificationType::Tag(tag) => out.push(tag),
            VerificationType::Object(class) => {
                out.push(7);
                out.extend(class.to_be_bytes());
            }
            VerificationType::Uninitialized(at) => {
                out.push(8);
                out.extend(at.to_be_bytes());
            }
        }
    }

    /// Returns the kind of slot, or `None` if the value can't be used.
    pub fn kind(self) -> Option<SlotKind> {
        match self {
            VerificationType::Tag(1) => Some(SlotKind::Int),
            VerificationType::Tag(2) => Some(SlotKind::Float),
            DOUBLE => Some(SlotKind::Double),
            LONG => Some(SlotKind::Long),
            VerificationType::Tag(5 | 6) | VerificationType::Object(_) => Some(SlotKind::Ref),
            VerificationType::Tag(_) | VerificationType::Uninitialized(_) => None,
        }
    }

    fn is_wide(self) -> bool {
        self == LONG || self == DOUBLE
    }
}

/// The types at a bytecode offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StackMapFrame {
    pub at: usize,
    pub locals: Vec<VerificationType>,
    pub stack: Vec<VerificationType>,
}

impl StackMapFrame {
    /// Adds `int` locals after all locals of the method.
    pub fn add_ints(&mut self, max_locals: u16, count: usize) {
        let slots: usize = self.locals.iter().map(|own| if own.is_wide() { 2 } else { 1 }).sum();
        self.locals.extend(std::iter::repeat_n(TOP, usize::from(max_locals).saturating_sub(slots)));
        self.locals.extend(std::iter::repeat_n(INT, count));
    }
}

/// The types of the locals at the entry of a method.
pub(crate) struct InitialFrame {
    pub locals: Vec<VerificationType>,
}

impl InitialFrame {
    /// Computes them from the descriptor; `class` returns the index of a class constant.
    pub fn new(
        desc: &touchstone_classfile::MethodDesc,
        receiver: Option<Receiver>,
        class: &mut dyn FnMut(&str) -> u16,
    ) -> InitialFrame {
        use touchstone_classfile::Desc;
        let mut locals = Vec::new();
        match receiver {
            Some(Receiver::Uninitialized) => locals.push(UNINITIALIZED_THIS),
            Some(Receiver::Object(own)) => locals.push(VerificationType::Object(own)),
            None => {}
        }
        for param in &desc.params {
            locals.push(match param {
                Desc::Long => LONG,
                Desc::Double => DOUBLE,
                Desc::Float => VerificationType::Tag(2),
                Desc::Ref(name) => VerificationType::Object(class(name)),
                _ => INT,
            });
        }
        InitialFrame { locals }
    }
}

/// The receiver of a method.
#[derive(Clone, Copy)]
pub(crate) enum Receiver {
    /// The uninitialised receiver of a constructor.
    Uninitialized,
    /// An object; the index of its class constant.
    Object(u16),
}

/// Reads the frames of a table, or returns `None` if it is malformed.
pub(crate) fn read(table: &[u8], initial: &InitialFrame) -> Option<Vec<StackMapFrame>> {
    let mut cursor = Cursor::new(table, 0);
    let mut locals = initial.locals.clone();
    let mut frames: Vec<StackMapFrame> = Vec::new();
    let mut last: Option<usize> = None;
    for _ in 0..cursor.u2().ok()? {
        let kind = cursor.u1().ok()?;
        let mut stack = Vec::new();
        let delta = match kind {
            0..=63 => u16::from(kind),
            64..=127 => {
                stack.push(VerificationType::read(&mut cursor)?);
                u16::from(kind) - 64
            }
            247 => {
                let delta = cursor.u2().ok()?;
                stack.push(VerificationType::read(&mut cursor)?);
                delta
            }
            248..=250 => {
                let delta = cursor.u2().ok()?;
                let left = locals.len().checked_sub(251 - usize::from(kind))?;
                locals.truncate(left);
                delta
            }
            251 => cursor.u2().ok()?,
            252..=254 => {
                let delta = cursor.u2().ok()?;
                for _ in 0..kind - 251 {
                    locals.push(VerificationType::read(&mut cursor)?);
                }
                delta
            }
            255 => {
                let delta = cursor.u2().ok()?;
                let list = |cursor: &mut Cursor<'_>| -> Option<Vec<VerificationType>> {
                    let count = cursor.u2().ok()?;
                    (0..count).map(|_| VerificationType::read(cursor)).collect()
                };
                locals = list(&mut cursor)?;
                stack = list(&mut cursor)?;
                delta
            }
            _ => return None,
        };
        let at = last.map_or(usize::from(delta), |last| last + usize::from(delta) + 1);
        frames.push(StackMapFrame { at, locals: locals.clone(), stack });
        last = Some(at);
    }
    (cursor.left() == 0).then_some(frames)
}

/// Writes frames, which are ordered by offset, as a table. Returns `None` if the table is too large.
pub(crate) fn write(frames: &[StackMapFrame], initial: &InitialFrame) -> Option<Vec<u8>> {
    let mut out = u16::try_from(frames.len()).ok()?.to_be_bytes().to_vec();
    let mut locals = &initial.locals;
    let mut last: Option<usize> = None;
    for frame in frames {
        let delta = last.map_or(Some(frame.at), |last| frame.at.checked_sub(last + 1))?;
        let delta = u16::try_from(delta).ok()?;
        match (frame.locals == *locals, frame.stack.as_slice()) {
            (true, []) if delta < 64 => out.push(delta as u8),
            (true, []) => {
                out.push(251);
                out.extend(delta.to_be_bytes());
            }
            (true, [only]) => {
                match delta < 64 {
                    true => out.push(64 + delta as u8),
                    false => {
                        out.push(247);
                        out.extend(delta.to_be_bytes());
                    }
                }
                only.write(&mut out);
            }
            _ => {
                out.push(255);
                out.extend(delta.to_be_bytes());
                for list in [&frame.locals, &frame.stack] {
                    out.extend(u16::try_from(list.len()).ok()?.to_be_bytes());
                    list.iter().for_each(|own| own.write(&mut out));
                }
            }
        }
        locals = &frame.locals;
        last = Some(frame.at);
    }
    Some(out)
}
