//! Stack maps: what locals and the stack hold where jumps arrive. The JVM refuses code without them.
//!
//! The file says of each frame what differs from the one before. Here every frame stands for itself, so that frames can be added.

use touchstone_classfile::{Cursor, SlotKind};

/// What a local or a place of the stack holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// Numbers, null, `this` before its constructor, nothing: the tag says it.
    Tag(u8),
    /// An object of the class with this constant.
    Object(u16),
    /// What the instruction at this position made, before its constructor.
    New(u16),
}

pub(crate) const TOP: Held = Held::Tag(0);
pub(crate) const INT: Held = Held::Tag(1);
const LONG: Held = Held::Tag(4);
const DOUBLE: Held = Held::Tag(3);
const THIS: Held = Held::Tag(6);

impl Held {
    fn read(cursor: &mut Cursor<'_>) -> Option<Held> {
        Some(match cursor.u1().ok()? {
            tag @ 0..=6 => Held::Tag(tag),
            7 => Held::Object(cursor.u2().ok()?),
            8 => Held::New(cursor.u2().ok()?),
            _ => return None,
        })
    }

    fn write(self, out: &mut Vec<u8>) {
        match self {
            Held::Tag(tag) => out.push(tag),
            Held::Object(class) => {
                out.push(7);
                out.extend(class.to_be_bytes());
            }
            Held::New(at) => {
                out.push(8);
                out.extend(at.to_be_bytes());
            }
        }
    }

    /// What it is, if it may be used.
    pub fn kind(self) -> Option<SlotKind> {
        match self {
            Held::Tag(1) => Some(SlotKind::Int),
            Held::Tag(2) => Some(SlotKind::Float),
            DOUBLE => Some(SlotKind::Double),
            LONG => Some(SlotKind::Long),
            Held::Tag(5 | 6) | Held::Object(_) => Some(SlotKind::Ref),
            Held::Tag(_) | Held::New(_) => None,
        }
    }

    fn is_wide(self) -> bool {
        self == LONG || self == DOUBLE
    }
}

/// What is held at a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    pub at: usize,
    pub locals: Vec<Held>,
    pub stack: Vec<Held>,
}

impl Frame {
    /// Numbers in locals behind all that the method has.
    pub fn add_numbers(&mut self, max_locals: u16, numbers: usize) {
        let places: usize = self.locals.iter().map(|held| if held.is_wide() { 2 } else { 1 }).sum();
        self.locals.extend(std::iter::repeat_n(TOP, usize::from(max_locals).saturating_sub(places)));
        self.locals.extend(std::iter::repeat_n(INT, numbers));
    }
}

/// What the locals of a method hold when it begins.
pub(crate) struct Beginning {
    pub locals: Vec<Held>,
}

impl Beginning {
    /// Of a method with a descriptor; `class` finds the constant of a class, or makes it.
    pub fn new(
        desc: &touchstone_classfile::MethodDesc,
        receiver: Option<Receiver>,
        class: &mut dyn FnMut(&str) -> u16,
    ) -> Beginning {
        use touchstone_classfile::Desc;
        let mut locals = Vec::new();
        match receiver {
            Some(Receiver::New) => locals.push(THIS),
            Some(Receiver::Object(own)) => locals.push(Held::Object(own)),
            None => {}
        }
        for param in &desc.params {
            locals.push(match param {
                Desc::Long => LONG,
                Desc::Double => DOUBLE,
                Desc::Float => Held::Tag(2),
                Desc::Ref(name) => Held::Object(class(name)),
                _ => INT,
            });
        }
        Beginning { locals }
    }
}

/// The object that a method is called on.
#[derive(Clone, Copy)]
pub(crate) enum Receiver {
    /// In a constructor.
    New,
    /// Of the class with this constant.
    Object(u16),
}

/// Reads the frames of a table.
pub(crate) fn read(table: &[u8], beginning: &Beginning) -> Option<Vec<Frame>> {
    let mut cursor = Cursor::new(table, 0);
    let mut locals = beginning.locals.clone();
    let mut frames: Vec<Frame> = Vec::new();
    let mut last: Option<usize> = None;
    for _ in 0..cursor.u2().ok()? {
        let kind = cursor.u1().ok()?;
        let mut stack = Vec::new();
        let delta = match kind {
            0..=63 => u16::from(kind),
            64..=127 => {
                stack.push(Held::read(&mut cursor)?);
                u16::from(kind) - 64
            }
            247 => {
                let delta = cursor.u2().ok()?;
                stack.push(Held::read(&mut cursor)?);
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
                    locals.push(Held::read(&mut cursor)?);
                }
                delta
            }
            255 => {
                let delta = cursor.u2().ok()?;
                let list = |cursor: &mut Cursor<'_>| -> Option<Vec<Held>> {
                    let count = cursor.u2().ok()?;
                    (0..count).map(|_| Held::read(cursor)).collect()
                };
                locals = list(&mut cursor)?;
                stack = list(&mut cursor)?;
                delta
            }
            _ => return None,
        };
        let at = last.map_or(usize::from(delta), |last| last + usize::from(delta) + 1);
        frames.push(Frame { at, locals: locals.clone(), stack });
        last = Some(at);
    }
    (cursor.left() == 0).then_some(frames)
}

/// Writes frames, which are in order, as a table.
pub(crate) fn write(frames: &[Frame], beginning: &Beginning) -> Option<Vec<u8>> {
    let mut out = u16::try_from(frames.len()).ok()?.to_be_bytes().to_vec();
    let mut locals = &beginning.locals;
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
                    list.iter().for_each(|held| held.write(&mut out));
                }
            }
        }
        locals = &frame.locals;
        last = Some(frame.at);
    }
    Some(out)
}
