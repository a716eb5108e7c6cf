//! Weaving for the replay: the classes under test get probes before emitted tests run on them once more. The hits of a
//! test are bytes of a class ([`touchstone_probes_java::replay_hits_class`]) that the runner of the tests reads.

use super::class_record::{JavaClass, class_record};
use super::mutant_predicates::{class_plan, has_predicates};
use super::offline_weaving::OfflineWeaver;
use crate::record::{ProbeObstacle, UnitRecord};
use std::collections::BTreeSet;
use std::ops::Range;
use touchstone_criteria::GoalCriterion;
use touchstone_probes_java::replay_hits_class;

/// Weaves the classes of a program.
pub struct ReplayWeaver {
    weaver: OfflineWeaver,
    classes: Vec<ReplayedClass>,
}

/// A woven class.
struct ReplayedClass {
    record: UnitRecord,
    /// The number of the class with its hits.
    holder: u64,
    /// The numbers of its probes there.
    probes: Range<u32>,
}

impl ReplayWeaver {
    /// Creates a weaver. The names of the classes with the hits begin with `hits`.
    pub fn new(hits: &str, criteria: &[&'static dyn GoalCriterion]) -> ReplayWeaver {
        let names = criteria.iter().map(|criterion| criterion.name());
        ReplayWeaver { weaver: OfflineWeaver::with_holders(hits.to_string(), names), classes: Vec::new() }
    }

    /// Weaves a class and returns its bytes. Its unit and its plan are computed here.
    ///
    /// # Errors
    /// The obstacle, if the class can't be woven.
    pub fn add(&mut self, class: &JavaClass<'_>) -> Result<Vec<u8>, ProbeObstacle> {
        let plan = class.criteria.iter().any(|criterion| has_predicates(*criterion));
        let plan = plan.then(|| class_plan(class.class, class.module, class.methods, class.criteria, class.options));
        let woven = self.weaver.weave(class.bytes, class.class, plan.as_deref()).ok_or(ProbeObstacle::CodeTooLong)?;
        let (file, from_bytecode) = (class.file.clone(), class.from_bytecode.clone());
        let described = JavaClass { unit: woven.unit, plan: plan.as_deref(), file, from_bytecode, ..*class };
        let record = class_record(&described);
        self.classes.push(ReplayedClass { record, holder: woven.holder as u64, probes: woven.probes });
        Ok(woven.bytes)
    }

    /// Returns the classes that woven code uses: file names and bytes.
    pub fn helpers(&self) -> Vec<(String, Vec<u8>)> {
        let hits = self.weaver.holder_names().map(|name| (format!("{name}.class"), replay_hits_class(&name)));
        hits.chain(self.weaver.answers()).collect()
    }

    /// Returns the ids of the objectives that a test covered, from its hits: the number of the class with the hit, and
    /// the number of the probe.
    pub fn covered(&self, hits: &BTreeSet<(u64, u32)>) -> BTreeSet<&str> {
        let own = |class: &ReplayedClass| -> BTreeSet<u32> {
            let own = hits.range((class.holder, class.probes.start)..(class.holder, class.probes.end));
            own.map(|(_, probe)| probe - class.probes.start).collect()
        };
        self.classes.iter().flat_map(|class| class.record.covered_by(own(class))).collect()
    }

    /// Returns the ids of the objectives that have probes.
    pub fn probed(&self) -> impl Iterator<Item = &str> {
        self.classes.iter().flat_map(|class| class.record.probed())
    }

    /// Returns the obstacle to a probe for each objective with one, by id.
    pub fn unprobed(&self) -> impl Iterator<Item = (&str, &ProbeObstacle)> {
        self.classes.iter().flat_map(|class| class.record.unprobed())
    }
}
