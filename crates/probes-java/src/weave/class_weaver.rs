//! Classes with probes. Bytes that don't depend on code are copied.

use crate::cfg::blocks::MethodCfg;
use crate::encode::class_template::constant_length;
use crate::encode::constant_pool::{ConstantPoolBuilder, tag};
use crate::encode::instructions::{HitCall, MAX_PROBES};
use crate::encode::stack_maps::{self, InitialFrame, Receiver, StackMapFrame, VerificationType};
use crate::layout::probe_layout::{MethodProbes, ProbeLayout, WeaveFailure};
use crate::predicates::check_class::check_class_name;
use crate::predicates::emit_checks::CheckEmitter;
use crate::predicates::predicate_class::predicate_class_name;
use crate::test_classes::is_test_method;
use crate::trace::emit_events::{EventEmitter, InsertedCode};
use crate::trace::events::TracedMethod;
use crate::weave::code_rewriter::{RewrittenCode, rewrite};
use crate::weave::position_tables::PositionMap;
use touchstone_classfile::{ClassFile, Code, Cursor, MethodDesc, access};

/// A class and the probes that are woven into it.
#[derive(Clone, Copy, Debug)]
pub struct WeaveRequest<'c> {
    /// The class file.
    pub bytes: &'c [u8],
    /// The decoded class file.
    pub class: &'c ClassFile,
    /// The probes.
    pub layout: &'c ProbeLayout,
    /// The class with the hit array: its static method `hit` takes the number of a probe.
    pub hits_class: &'c str,
    /// The number of the first probe in that array, which several classes share.
    pub first_probe: u32,
    /// The number of the class's first method in the trace, or `None` if methods are not traced.
    pub first_traced_method: Option<u32>,
    /// True if traced tests take a snapshot when they return.
    pub takes_snapshots: bool,
}

/// A woven class, and the methods that have no probes.
pub type WovenClass = (Vec<u8>, Vec<(usize, WeaveFailure)>);

/// The last class-file version that needs no stack maps.
const LAST_VERSION_WITHOUT_FRAMES: u16 = 50;

/// Weaves probes into a class, or returns `None` if the hit array or the constant pool has no room for them.
pub fn weave(request: &WeaveRequest<'_>) -> Option<WovenClass> {
    let WeaveRequest { bytes, class, layout, hits_class, first_probe, .. } = *request;
    if first_probe.checked_add(layout.size)? > MAX_PROBES {
        return None;
    }
    let mut pool = ConstantPoolBuilder::extending(class);
    let method = if layout.size == 0 { 0 } else { pool.method(hits_class, "hit", "(I)V") };
    let mut weaver = ClassWeaver {
        request,
        pool,
        hit: HitCall { method, first: first_probe },
        check_class: check_class_name(hits_class),
        predicate_class: predicate_class_name(hits_class, first_probe),
    };
    let mut failures: Vec<(usize, WeaveFailure)> = layout.failures.iter().map(|(index, why)| (*index, *why)).collect();
    // Methods have the same order in the file as in the class.
    let mut replaced: Vec<ReplacedBytes> = Vec::new();
    for index in 0..class.methods.len() {
        match weaver.method(index) {
            None => {}
            Some(Ok(new)) => replaced.push(new),
            Some(Err(why)) => failures.push((index, why)),
        }
    }
    failures.sort_unstable_by_key(|(index, _)| *index);
    Some((assemble(bytes, &weaver.pool, replaced)?, failures))
}

struct ClassWeaver<'w, 'c> {
    request: &'w WeaveRequest<'c>,
    pool: ConstantPoolBuilder,
    hit: HitCall,
    check_class: String,
    predicate_class: String,
}

impl ClassWeaver<'_, '_> {
    /// Weaves probes and events into a method. Returns `None` if it gets neither.
    fn method(&mut self, index: usize) -> Option<Result<ReplacedBytes, WeaveFailure>> {
        let WeaveRequest { bytes, class, layout, first_traced_method, .. } = *self.request;
        let method = &class.methods[index];
        let code = method.code()?;
        let traced =
            first_traced_method.and_then(|first| Some((TracedMethod::new(class, method)?, first + index as u32)));
        let none = traced.as_ref().map(|(traced, _)| MethodProbes::none(traced.cfg.clone()));
        let probes = layout.methods.get(&index).or(none.as_ref())?;
        let rewrite_of = MethodRewrite { bytes, class, index, code, cfg: &probes.cfg };
        let first_local = usize::from(code.max_locals) + probes.path_locals();
        let events = match &traced {
            Some((method, number)) => {
                let takes_snapshot = self.request.takes_snapshots && is_test_method(class, &class.methods[index]);
                EventEmitter { class, method, number: *number, first_local, takes_snapshot }.emit(&mut self.pool)
            }
            None => Some(InsertedCode::default()),
        };
        let emitter = CheckEmitter {
            class,
            cfg: &probes.cfg,
            hit: self.hit,
            check_class: &self.check_class,
            first_local,
            locals_taken: events.as_ref().map_or(0, |events| events.locals),
        };
        let checks = emitter.emit(&probes.checks, &mut self.pool).and_then(|mut checks| {
            emitter.emit_predicates(&self.predicate_class, &probes.predicates, &mut self.pool, &mut checks)?;
            Some(checks)
        });
        let Some(checks) = checks else { return Some(Err(WeaveFailure::TooLong)) };
        let mut with = |events: Option<InsertedCode>| -> Result<ReplacedBytes, WeaveFailure> {
            let rewritten = rewrite(probes, code, self.hit, events.ok_or(WeaveFailure::TooLong)?, checks.clone());
            let rewritten = rewritten.ok_or(WeaveFailure::TooLong)?;
            rewrite_of.write(&rewritten, &mut self.pool).ok_or(WeaveFailure::MalformedTables)
        };
        // A method that is too long with its events may fit without them.
        Some(with(events).or_else(|_| with(Some(InsertedCode::default()))))
    }
}

/// A range of a class file, and the bytes that replace it.
pub(crate) type ReplacedBytes = (std::ops::Range<usize>, Vec<u8>);

/// Returns a class file with added constants and replaced ranges, which are in the order of the file.
pub(crate) fn assemble(bytes: &[u8], pool: &ConstantPoolBuilder, replaced: Vec<ReplacedBytes>) -> Option<Vec<u8>> {
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

/// Returns the offset of the end of the constant pool.
fn pool_end(bytes: &[u8]) -> Option<usize> {
    let mut cursor = Cursor::new(bytes, 0);
    cursor.take(8).ok()?;
    let count = cursor.u2().ok()?;
    let mut index = 1;
    while index < count {
        let tag = cursor.u1().ok()?;
        let length = if tag == tag::UTF8 { usize::from(cursor.u2().ok()?) } else { constant_length(tag) };
        cursor.take(length).ok()?;
        index += if matches!(tag, tag::LONG | tag::DOUBLE) { 2 } else { 1 };
    }
    Some(cursor.position())
}

/// A method whose code is rewritten.
pub(crate) struct MethodRewrite<'w> {
    pub bytes: &'w [u8],
    pub class: &'w ClassFile,
    pub index: usize,
    pub code: &'w Code,
    pub cfg: &'w MethodCfg,
}

/// An attribute of code that is not decoded.
struct RawAttribute {
    name: u16,
    bytes: Vec<u8>,
}

impl MethodRewrite<'_> {
    /// Returns the offset of the attribute `Code`: its name and length, the two sizes and the length of the code take 14 bytes.
    fn begin(&self) -> Option<usize> {
        self.code.offset.checked_sub(14)
    }

    /// Writes the attribute `Code` with rewritten code, or returns `None` if a table is malformed or too large.
    pub fn write(&self, rewritten: &RewrittenCode, pool: &mut ConstantPoolBuilder) -> Option<ReplacedBytes> {
        let (bytes, begin) = (self.bytes, self.begin()?);
        let mut cursor = Cursor::new(bytes.get(begin..)?, 0);
        let (name, length) = (cursor.u2().ok()?, cursor.u4().ok()? as usize);
        let end = begin + 6 + length;
        cursor.take(8 + self.code.bytes.len()).ok()?;
        let cfg = self.cfg;
        let start = |at: usize| -> Option<u16> {
            let index = if at == self.code.bytes.len() { cfg.insns.len() } else { cfg.index(at)? };
            u16::try_from(rewritten.start[index]).ok()
        };
        let own = |at: usize| u16::try_from(rewritten.own[cfg.index(at)?]).ok();
        let mut out = Vec::with_capacity(length * 2);
        out.extend(self.code.max_stack.checked_add(rewritten.stack)?.to_be_bytes());
        let locals = usize::from(self.code.max_locals) + rewritten.path_locals + usize::from(rewritten.spill_locals);
        let locals = u16::try_from(locals).ok()?;
        out.extend(locals.to_be_bytes());
        out.extend(u32::try_from(rewritten.bytes.len()).ok()?.to_be_bytes());
        out.extend(&rewritten.bytes);
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
        let moved = PositionMap { start: &start, own: &own };
        let mut has_frames = false;
        for attribute in &mut attributes {
            let name = self.class.pool.name(attribute.name).ok()?;
            match &*name {
                "StackMapTable" => {
                    has_frames = true;
                    attribute.bytes = self.frames(&attribute.bytes, rewritten, pool)?;
                }
                _ => moved.attribute(&name, &mut attribute.bytes)?,
            }
        }
        // The verifier needs a frame at each target of a jump, except in older classes.
        if !rewritten.out_of_line.is_empty() && !has_frames && self.class.major > LAST_VERSION_WITHOUT_FRAMES {
            return None;
        }
        out.extend(u16::try_from(attributes.len()).ok()?.to_be_bytes());
        for attribute in attributes {
            out.extend(attribute.name.to_be_bytes());
            out.extend(u32::try_from(attribute.bytes.len()).ok()?.to_be_bytes());
            out.extend(attribute.bytes);
        }
        let mut attribute = name.to_be_bytes().to_vec();
        attribute.extend(u32::try_from(out.len()).ok()?.to_be_bytes());
        attribute.extend(out);
        Some((begin..end, attribute))
    }

    fn frames(&self, table: &[u8], rewritten: &RewrittenCode, pool: &mut ConstantPoolBuilder) -> Option<Vec<u8>> {
        let class = self.class;
        let member = &class.methods[self.index];
        let receiver = match (member.is(access::STATIC), &*member.name) {
            (true, _) => None,
            (false, "<init>") if &*class.name != "java/lang/Object" => Some(Receiver::Uninitialized),
            (false, _) => Some(Receiver::Object(pool.class(&class.name))),
        };
        let desc = MethodDesc::parse(&member.desc)?;
        let initial = InitialFrame::new(&desc, receiver, &mut |name| pool.class(name));
        let cfg = self.cfg;
        let mut frames: Vec<StackMapFrame> = Vec::new();
        let mut at_insn: std::collections::BTreeMap<usize, usize> = Default::default();
        for mut frame in stack_maps::read(table, &initial)? {
            let insn = cfg.index(frame.at)?;
            frame.at = rewritten.start[insn];
            for own in frame.locals.iter_mut().chain(&mut frame.stack) {
                if let VerificationType::Uninitialized(at) = own {
                    *at = u16::try_from(rewritten.own[cfg.index(usize::from(*at))?]).ok()?;
                }
            }
            if rewritten.path_locals > 0 {
                frame.add_ints(self.code.max_locals, rewritten.path_locals);
            }
            at_insn.insert(insn, frames.len());
            frames.push(frame);
        }
        for (at, target) in &rewritten.out_of_line {
            let there = &frames[*at_insn.get(target)?];
            frames.push(StackMapFrame { at: *at, ..there.clone() });
        }
        stack_maps::write(&frames, &initial)
    }
}
