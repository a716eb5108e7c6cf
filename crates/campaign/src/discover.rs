//! Everything that is found of a function before its tests have names and files: the search, the tests that stay, what they look
//! at, proofs. It depends on the program and the options alone, so it is also what a cache keeps.

use crate::cache::Relies;
use crate::conclude::{Asked, Proofs};
use crate::error::CampaignError;
use crate::explore::{Explored, explore};
use crate::java::look_around;
use crate::reduce::{Reduced, reduce};
use crate::sink::TestSink;
use crate::watched::Watched;
use crate::watcher::FunctionWatcher;
use crate::work::Work;
use touchstone_criteria::{Covered, TestCase};
use touchstone_engine::{Found, PairsFound};

/// What was found of a function.
pub(crate) struct Discovery {
    pub found: Found,
    pub proofs: Proofs,
    /// What is known of independence pairs, if they were searched for.
    pub pairs: Option<PairsFound>,
    /// The tests that stay.
    pub tests: Vec<TestCase>,
    /// What they evaluate.
    pub watched: Watched,
    pub relies: Relies,
    /// An earlier run found it.
    pub cached: bool,
}

/// Finds all that there is to find. Tests go to the sink as they come.
pub(crate) fn discover<'s>(
    work: &Work<'_>,
    sink: Box<dyn TestSink + 's>,
    watcher: &mut dyn FunctionWatcher,
) -> Result<(Discovery, Box<dyn TestSink + 's>), CampaignError> {
    let Explored { mut found, mut proofs, pairs, tests, sink, relies } = explore(work, sink, watcher)?;
    let Reduced { mut tests, watched, not_called } = reduce(work, tests);
    if let Some(java) = &work.plan.program.java {
        look_around(work, java, &mut tests);
    }
    found.result.incomplete.extend(not_called);
    let (module, func) = (work.module(), work.task.func);
    let asked = Asked { module, func, watch: &work.watch, config: &work.config, wanted: &work.wanted };
    proofs.ask_about_open(&asked, &tests, &found);
    Ok((Discovery { found, proofs, pairs, tests, watched, relies, cached: false }, sink))
}

/// Gives the sink the tests that an earlier run found.
pub(crate) fn give(work: &Work<'_>, tests: &[TestCase], sink: &mut dyn TestSink) -> Result<(), CampaignError> {
    for test in tests {
        let covered = |id| Some(Covered { objective: work.wanted.list.get(id)?, alone: false });
        let covers: Vec<Covered<'_>> = test.covers.iter().filter_map(|id| covered(*id)).collect();
        sink.add(test, &covers)?;
    }
    Ok(())
}
