//! Offline weaving: inserts probes into a tree of class files before they are loaded, for programs that can't run with
//! the agent. The woven classes need holder classes that record the hits, which are generated as source
//! (`runtime/java/Hits.java`).

use super::agent_attachment::probe_words;
use std::ops::Range;
use std::path::Path;
use touchstone_base::StableHasher;
use touchstone_front_java::classfile::ClassFile;
use touchstone_probes_java::{
    PredicatePlan, ProbeLayout, ProbeRequest, WeaveRequest, check_class, check_class_name, has_known_source,
    planned_unit, predicate_class_name, unit, weave,
};

const HOLDER_TEMPLATE: &str = include_str!("../../../runtime/java/Hits.java");
/// The maximum number of probes of a holder: `sipush` pushes their numbers.
const MAX_PROBES_PER_HOLDER: u32 = 32_767;
/// The maximum number of units of a holder: its table of units is code of the class initialiser, whose length is
/// limited.
const MAX_UNITS_PER_HOLDER: usize = 1_500;
/// The prefix of the holders' package.
const HOLDER_PACKAGE_PREFIX: &str = "touchstone/hits_";

/// Weaves a tree of classes.
#[derive(Debug)]
pub struct OfflineWeaver {
    /// The beginning of the holders' names. Each tree has its own package, because several may be on one class path.
    holder: String,
    wanted: ProbeRequest,
    /// For each holder, its units and the number of probes of each.
    holders: Vec<Vec<(u64, u32)>>,
    used: u32,
    /// The classes that evaluate planned predicates: file name and bytes.
    judges: Vec<(String, Vec<u8>)>,
}

/// A class with probes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstrumentedClass {
    /// The identity of the instrumented class.
    pub unit: u64,
    /// The woven class file.
    pub bytes: Vec<u8>,
    /// The number of the holder of its hits.
    pub(super) holder: usize,
    /// The numbers of its probes there.
    pub(super) probes: Range<u32>,
}

/// The source of a holder class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HitHolderSource {
    /// The file, relative to the root of sources.
    pub file: String,
    /// The source text.
    pub text: String,
}

impl OfflineWeaver {
    /// Creates a weaver for the tree at a path.
    pub fn new(tree: &Path, criteria: &[String]) -> OfflineWeaver {
        let mut hash = StableHasher::default();
        std::hash::Hasher::write(&mut hash, tree.as_os_str().as_encoded_bytes());
        let package = format!("{HOLDER_PACKAGE_PREFIX}{:016x}", std::hash::Hasher::finish(&hash));
        OfflineWeaver::with_holders(format!("{package}/Hits"), criteria.iter().map(String::as_str))
    }

    /// Creates a weaver whose holders have names that begin with `holder`.
    pub(super) fn with_holders<'c>(holder: String, criteria: impl IntoIterator<Item = &'c str>) -> OfflineWeaver {
        let wanted = ProbeRequest::from_words(probe_words(criteria));
        OfflineWeaver { holder, wanted, holders: Vec::new(), used: 0, judges: Vec::new() }
    }

    /// Returns true if a file of a tree is a holder, so that the tree is already woven.
    pub fn is_holder(file: &str) -> bool {
        file.starts_with(HOLDER_PACKAGE_PREFIX)
    }

    /// Weaves a class, with the probes of a plan. Returns `None` if the class has nothing to measure, no source in
    /// a measured language, or can't be woven.
    pub fn class(&mut self, bytes: &[u8], plan: Option<&[u8]>) -> Option<InstrumentedClass> {
        let class = ClassFile::read(bytes).ok().filter(has_known_source)?;
        self.weave(bytes, &class, plan)
    }

    /// Weaves a class of any compiler.
    pub(super) fn weave(&mut self, bytes: &[u8], class: &ClassFile, plan: Option<&[u8]>) -> Option<InstrumentedClass> {
        let (mut layout, mut unit) = (ProbeLayout::new(class, self.wanted), unit(bytes, self.wanted));
        if let Some(plan) = plan
            && let Some(read) = PredicatePlan::read(plan)
        {
            layout = layout.with_plan(&read);
            unit = planned_unit(unit, plan);
        }
        if layout.size == 0 || layout.size > MAX_PROBES_PER_HOLDER {
            return None;
        }
        let full = self.holders.last().is_none_or(|units| units.len() == MAX_UNITS_PER_HOLDER);
        if full || self.used + layout.size > MAX_PROBES_PER_HOLDER {
            self.holders.push(Vec::new());
            self.used = 0;
        }
        let number = self.holders.len() - 1;
        let holder = self.name(number);
        let weaving = WeaveRequest {
            bytes,
            class,
            layout: &layout,
            hits_class: &holder,
            first_probe: self.used,
            first_traced_method: None,
            takes_snapshots: false,
        };
        let (woven, _) = weave(&weaving)?;
        let judge = layout.predicate_class(&holder, self.used);
        self.judges.extend(judge.map(|judge| (format!("{}.class", predicate_class_name(&holder, self.used)), judge)));
        self.holders.last_mut()?.push((unit, layout.size));
        let probes = self.used..self.used + layout.size;
        self.used = probes.end;
        Some(InstrumentedClass { unit, bytes: woven, holder: number, probes })
    }

    /// Returns the name of a holder.
    fn name(&self, number: usize) -> String {
        format!("{}{number}", self.holder)
    }

    /// Returns the names of the holders.
    pub(super) fn holder_names(&self) -> impl Iterator<Item = String> {
        (0..self.holders.len()).map(|number| self.name(number))
    }

    /// Returns the helper classes that woven code calls: file name relative to the root of classes, and bytes.
    pub fn answers(&self) -> Vec<(String, Vec<u8>)> {
        let holders = 0..if self.wanted.checks_values() { self.holders.len() } else { 0 };
        let named = holders.map(|number| self.name(number));
        let answers = named.map(|holder| (format!("{}.class", check_class_name(&holder)), check_class(&holder)));
        answers.chain(self.judges.iter().cloned()).collect()
    }

    /// Returns the sources of the holders. They write their hits to a directory unless an environment variable names
    /// another one.
    pub fn holders(&self, hits: &Path) -> Vec<HitHolderSource> {
        let quoted: String = hits
            .to_string_lossy()
            .encode_utf16()
            .map(|unit| match char::from_u32(unit.into()) {
                Some(plain @ (' ' | '/' | '.' | '-' | '_' | '0'..='9' | 'a'..='z' | 'A'..='Z')) => plain.to_string(),
                _ => format!("\\u{unit:04x}"),
            })
            .collect();
        // The compiler decodes Unicode escapes before it recognises string literals.
        let quoted = quoted.replace("\\u0022", "\\\"").replace("\\u005c", "\\\\").replace("\\u000a", "\\n");
        let source = |(number, units): (usize, &Vec<(u64, u32)>)| {
            let list = |texts: Vec<String>| texts.join(", ");
            let path = self.name(number);
            let (package, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let text = HOLDER_TEMPLATE
                .replace("PACKAGE", &package.replace('/', "."))
                .replace("HOLDER", name)
                .replace("ROOM", &units.iter().map(|(_, size)| size).sum::<u32>().to_string())
                .replace("IDENTITIES", &list(units.iter().map(|(unit, _)| format!("0x{unit:016x}L")).collect()))
                .replace("COUNTS", &list(units.iter().map(|(_, size)| size.to_string()).collect()))
                .replace("DIRECTORY", &format!("\"{quoted}\""));
            HitHolderSource { file: format!("{path}.java"), text }
        };
        self.holders.iter().enumerate().map(source).collect()
    }
}
