//! The class with probes: every byte that is not about code stays what and where it was.

use crate::cfg::blocks::Flow;
use crate::encode::stack_maps::{self, Beginning, Frame, Held, Receiver};
use crate::layout::probe_layout::{Layout, MethodProbes, Untreated};
use crate::predicates::check_class::answers_name;
use crate::predicates::emit_checks::Questioning;
use crate::predicates::predicate_class::judge_name;
use crate::test_classes::is_test_method;
use crate::trace::emit_events::{Inserted, Telling};
use crate::trace::events::Followed;
use crate::weave::code_layout::{Hitting, Laid, MOST_PROBES, lay, push};
use crate::weave::position_tables::Moved;
use touchstone_classfile::opcode as op;
use touchstone_classfile::{ClassFile, Code, Constant, Cursor, MethodDesc, access};

/// A class that is to have probes.
#[derive(Clone, Copy, Debug)]
pub struct Weaving<'c> {
    /// Its bytes,
    pub bytes: &'c [u8],
    /// and the same as data.
    pub class: &'c ClassFile,
    /// The probes.
    pub layout: &'c Layout,
    /// The class that has the static method `hit`, which takes the number of a probe.
    pub holder: &'c str,
    /// The number of the first probe: those of several classes follow each other.
    pub first: u32,
    /// The number of the first method, if methods tell what they do.
    pub told_from: Option<u32>,
    /// Methods that are tests say when they end.
    pub ends: bool,
}

/// A class with probes, and methods that have none.
pub type Woven = (Vec<u8>, Vec<(usize, Untreated)>);

/// Stack maps are needed from this version of class files on.
const WITH_FRAMES: u16 = 50;

/// Puts probes into a class; `None` if it has no room for them.
pub fn weave(weaving: &Weaving<'_>) -> Option<Woven> {
    let Weaving { bytes, class, layout, holder, first, told_from, ends } = weaving;
    if first.checked_add(layout.size)? > MOST_PROBES {
        return None;
    }
    let mut pool = Added::new(class);
    let method = if layout.size == 0 { 0 } else { pool.method(holder, "hit", "(I)V") };
    let hitting = Hitting { method, first: *first };
    let (answers, judge) = (answers_name(holder), judge_name(holder, *first));
    let mut untreated: Vec<(usize, Untreated)> = layout.untreated.iter().map(|(index, why)| (*index, *why)).collect();
    // Methods follow each other in the file as in the class.
    let mut replaced: Vec<Replaced> = Vec::new();
    for (index, method) in class.methods.iter().enumerate() {
        let Some(code) = method.code() else { continue };
        let told = told_from.and_then(|first| Some((Followed::new(class, method)?, first + index as u32)));
        let none = told.as_ref().map(|(followed, _)| MethodProbes::none(followed.flow.clone()));
        let Some(probes) = layout.methods.get(&index).or(none.as_ref()) else { continue };
        let rewriting = Rewriting { bytes, class, index, code, flow: &probes.flow };
        let first_local = usize::from(code.max_locals) + probes.numbers();
        let inserted = match &told {
            Some((followed, number)) => {
                let ends = *ends && is_test_method(class, method);
                Telling { class, followed, number: *number, first_local, ends }.inserted(&mut pool)
            }
            None => Some(Inserted::default()),
        };
        let locals_taken = inserted.as_ref().map_or(0, |inserted| inserted.locals);
        let asking = Questioning { class, flow: &probes.flow, hitting, answers: &answers, first_local, locals_taken };
        let questions = asking.questions(&probes.asked, &mut pool).and_then(|mut questions| {
            asking.planned(&judge, &probes.planned, &mut pool, &mut questions)?;
            Some(questions)
        });
        let Some(questions) = questions else {
            untreated.push((index, Untreated::TooLong));
            continue;
        };
        let mut with = |inserted: Option<Inserted>| -> Result<Replaced, Untreated> {
            let laid = lay(probes, code, hitting, inserted.ok_or(Untreated::TooLong)?, questions.clone());
            let laid = laid.ok_or(Untreated::TooLong)?;
            rewriting.written(&laid, &mut pool).ok_or(Untreated::Tables)
        };
        // What does not fit with all that it would tell may fit with its probes.
        match with(inserted).or_else(|_| with(Some(Inserted::default()))) {
            Ok(new) => replaced.push(new),
            Err(why) => untreated.push((index, why)),
        }
    }
    untreated.sort_unstable_by_key(|(index, _)| *index);
    Some((assembled(bytes, &pool, replaced)?, untreated))
}

/// Bytes of a class that are replaced by others.
pub(crate) type Replaced = (std::ops::Range<usize>, Vec<u8>);

/// A class with more constants, and with other bytes where something is replaced: in the order of the file.
pub(crate) fn assembled(bytes: &[u8], pool: &Added<'_>, replaced: Vec<Replaced>) -> Option<Vec<u8>> {
    let (count, pool_end) = (pool.count()?, pool_end(bytes)?);
    let mut out = Vec::with_capacity(bytes.len() * 2);
    out.extend(bytes.get(..8)?);
    out.extend(count.to_be_bytes());
    out.extend(bytes.get(10..pool_end)?);
    out.extend(&pool.bytes);
    let mut at = pool_end;
    for (range, new) in replaced {
        out.extend(bytes.get(at..range.start)?);
        out.extend(new);
        at = range.end;
    }
    out.extend(bytes.get(at..)?);
    Some(out)
}

/// Where the constants of a class end.
fn pool_end(bytes: &[u8]) -> Option<usize> {
    let mut cursor = Cursor::new(bytes, 0);
    cursor.take(8).ok()?;
    let count = cursor.u2().ok()?;
    let mut index = 1;
    while index < count {
        let (length, wide) = match cursor.u1().ok()? {
            1 => (usize::from(cursor.u2().ok()?), false),
            5 | 6 => (8, true),
            7 | 8 | 16 | 19 | 20 => (2, false),
            15 => (3, false),
            _ => (4, false),
        };
        cursor.take(length).ok()?;
        index += if wide { 2 } else { 1 };
    }
    Some(cursor.position())
}

/// Constants behind those that a class has.
pub(crate) struct Added<'c> {
    class: &'c ClassFile,
    bytes: Vec<u8>,
    next: usize,
    classes: std::collections::BTreeMap<String, u16>,
    methods: std::collections::BTreeMap<(String, String), u16>,
    numbers: std::collections::BTreeMap<i32, u16>,
}

impl<'c> Added<'c> {
    pub fn new(class: &'c ClassFile) -> Added<'c> {
        let mut classes = std::collections::BTreeMap::new();
        for index in 1..u16::try_from(class.pool.len()).unwrap_or(u16::MAX) {
            if let Ok(Constant::Class(_)) = class.pool.get(index)
                && let Ok(name) = class.pool.class(index)
            {
                classes.entry(name.to_string()).or_insert(index);
            }
        }
        Added {
            class,
            bytes: Vec::new(),
            next: class.pool.len(),
            classes,
            methods: Default::default(),
            numbers: Default::default(),
        }
    }

    /// How many there are then; `None` if these are too many.
    fn count(&self) -> Option<u16> {
        u16::try_from(self.next).ok()
    }

    fn add(&mut self, tag: u8, numbers: &[u16]) -> u16 {
        self.bytes.push(tag);
        numbers.iter().for_each(|number| self.bytes.extend(number.to_be_bytes()));
        self.next += 1;
        // Nobody uses it if there are too many.
        u16::try_from(self.next - 1).unwrap_or(0)
    }

    fn text(&mut self, text: &str) -> u16 {
        let index = self.add(1, &[u16::try_from(text.len()).unwrap_or(0)]);
        self.bytes.extend(text.as_bytes());
        index
    }

    fn class(&mut self, name: &str) -> u16 {
        if let Some(known) = self.classes.get(name) {
            return *known;
        }
        let text = self.text(name);
        let index = self.add(7, &[text]);
        self.classes.insert(name.to_string(), index);
        index
    }

    /// A static method. Of those of one class no two have the same name.
    pub fn method(&mut self, class: &str, name: &str, desc: &str) -> u16 {
        let key = (class.to_string(), name.to_string());
        if let Some(known) = self.methods.get(&key) {
            return *known;
        }
        let class = self.class(class);
        let (name, desc) = (self.text(name), self.text(desc));
        let both = self.add(12, &[name, desc]);
        let index = self.add(10, &[class, both]);
        self.methods.insert(key, index);
        index
    }

    /// Instructions that push a number; `None` if it is too large.
    pub fn number(&mut self, number: u32) -> Option<Vec<u8>> {
        i32::try_from(number).ok().map(|number| self.integer(number))
    }

    /// Instructions that push a number.
    pub fn integer(&mut self, number: i32) -> Vec<u8> {
        if let Some(short) = u32::try_from(number).ok().and_then(push) {
            return short;
        }
        let index = match self.numbers.get(&number) {
            Some(known) => *known,
            None => {
                let value = number.to_be_bytes();
                let halves = [u16::from_be_bytes([value[0], value[1]]), u16::from_be_bytes([value[2], value[3]])];
                let index = self.add(3, &halves);
                self.numbers.insert(number, index);
                index
            }
        };
        let [high, low] = index.to_be_bytes();
        vec![op::LDC_W, high, low]
    }

    fn own_class(&mut self) -> u16 {
        let name = self.class.name.clone();
        self.class(&name)
    }
}

/// The code of a method that is being laid out again.
pub(crate) struct Rewriting<'w> {
    pub bytes: &'w [u8],
    pub class: &'w ClassFile,
    pub index: usize,
    pub code: &'w Code,
    pub flow: &'w Flow,
}

/// An attribute of code, as the file has it.
struct RawAttribute {
    name: u16,
    bytes: Vec<u8>,
}

impl Rewriting<'_> {
    /// Before the code are the name and length of the attribute, two sizes, and the length of the code.
    fn begin(&self) -> Option<usize> {
        self.code.offset.checked_sub(14)
    }

    /// The attribute `Code` as it is laid out again, and where in the file the old one is.
    pub fn written(&self, laid: &Laid, pool: &mut Added<'_>) -> Option<Replaced> {
        let (bytes, begin) = (self.bytes, self.begin()?);
        let mut cursor = Cursor::new(bytes.get(begin..)?, 0);
        let (name, length) = (cursor.u2().ok()?, cursor.u4().ok()? as usize);
        let end = begin + 6 + length;
        cursor.take(8 + self.code.bytes.len()).ok()?;
        let flow = self.flow;
        let start = |at: usize| -> Option<u16> {
            let index = if at == self.code.bytes.len() { flow.insns.len() } else { flow.index(at)? };
            u16::try_from(laid.start[index]).ok()
        };
        let own = |at: usize| u16::try_from(laid.own[flow.index(at)?]).ok();
        let mut out = Vec::with_capacity(length * 2);
        out.extend(self.code.max_stack.checked_add(laid.stack)?.to_be_bytes());
        let locals = usize::from(self.code.max_locals) + laid.numbers + usize::from(laid.spilled);
        let locals = u16::try_from(locals).ok()?;
        out.extend(locals.to_be_bytes());
        out.extend(u32::try_from(laid.bytes.len()).ok()?.to_be_bytes());
        out.extend(&laid.bytes);
        let handlers = cursor.u2().ok()?;
        out.extend(handlers.to_be_bytes());
        for _ in 0..handlers {
            for _ in 0..3 {
                out.extend(start(usize::from(cursor.u2().ok()?))?.to_be_bytes());
            }
            out.extend(cursor.u2().ok()?.to_be_bytes());
        }
        let mut attributes = Vec::new();
        for _ in 0..cursor.u2().ok()? {
            let (name, length) = (cursor.u2().ok()?, cursor.u4().ok()? as usize);
            attributes.push(RawAttribute { name, bytes: cursor.take(length).ok()?.to_vec() });
        }
        let moved = Moved { start: &start, own: &own };
        let mut has_frames = false;
        for attribute in &mut attributes {
            let name = self.class.pool.name(attribute.name).ok()?;
            match &*name {
                "StackMapTable" => {
                    has_frames = true;
                    attribute.bytes = self.frames(&attribute.bytes, laid, pool)?;
                }
                _ => moved.attribute(&name, &mut attribute.bytes)?,
            }
        }
        // Older classes are verified without.
        if !laid.beside.is_empty() && !has_frames && self.class.major > WITH_FRAMES {
            return None;
        }
        out.extend(u16::try_from(attributes.len()).ok()?.to_be_bytes());
        for attribute in attributes {
            out.extend(attribute.name.to_be_bytes());
            out.extend(u32::try_from(attribute.bytes.len()).ok()?.to_be_bytes());
            out.extend(attribute.bytes);
        }
        let mut whole = name.to_be_bytes().to_vec();
        whole.extend(u32::try_from(out.len()).ok()?.to_be_bytes());
        whole.extend(out);
        Some((begin..end, whole))
    }

    fn frames(&self, table: &[u8], laid: &Laid, pool: &mut Added<'_>) -> Option<Vec<u8>> {
        let class = self.class;
        let member = &class.methods[self.index];
        let receiver = match (member.is(access::STATIC), &*member.name) {
            (true, _) => None,
            (false, "<init>") if &*class.name != "java/lang/Object" => Some(Receiver::New),
            (false, _) => Some(Receiver::Object(pool.own_class())),
        };
        let desc = MethodDesc::parse(&member.desc)?;
        let beginning = Beginning::new(&desc, receiver, &mut |name| pool.class(name));
        let flow = self.flow;
        let mut frames: Vec<Frame> = Vec::new();
        let mut at_insn: std::collections::BTreeMap<usize, usize> = Default::default();
        for mut frame in stack_maps::read(table, &beginning)? {
            let insn = flow.index(frame.at)?;
            frame.at = laid.start[insn];
            for held in frame.locals.iter_mut().chain(&mut frame.stack) {
                if let Held::New(at) = held {
                    *at = u16::try_from(laid.own[flow.index(usize::from(*at))?]).ok()?;
                }
            }
            if laid.numbers > 0 {
                frame.add_numbers(self.code.max_locals, laid.numbers);
            }
            at_insn.insert(insn, frames.len());
            frames.push(frame);
        }
        for (at, goes_on) in &laid.beside {
            let there = &frames[*at_insn.get(goes_on)?];
            frames.push(Frame { at: *at, ..there.clone() });
        }
        stack_maps::write(&frames, &beginning)
    }
}
