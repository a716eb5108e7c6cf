//! Versions of two controllers with small changes, as paper 001 has them of TCAS (table III): a search that a change directs explores a part of what a full
//! one does, covers what it touches all the same, and tells versions apart exactly where some input does.

use super::version_pairs::{self, Judgement, Version};
use crate::support::lowering::lower_file;
use crate::support::{long, root};
use std::collections::BTreeMap;
use std::path::Path;
use touchstone_campaign::{
    CampaignResult, CollectedTests, ObjectiveScope, OldVersion, Plan, ReplayMode, Request, Subject, run_into,
};
use touchstone_criteria::{GoalCriterion, Status, criterion_named};
use touchstone_report::document::Behaviour;

/// A program, its function, the functions whose objectives count, the values of its inputs, and what is changed in each version.
struct Controller {
    file: &'static str,
    function: &'static str,
    scope: &'static [&'static str],
    domains: &'static [(&'static str, i128, i128)],
    changes: &'static [(&'static str, &'static str)],
}

const TCAS: Controller = Controller {
    file: "examples/tcas.c",
    function: "advise",
    scope: &["advise", "is_threat", "is_converging", "distance", "layer", "may_climb", "may_descend"],
    domains: &[
        ("sensors_valid", 0, 1),
        ("own_altitude", 0, 7),
        ("other_altitude", 0, 7),
        ("own_climb", -1, 1),
        ("other_climb", -1, 1),
        ("closing_speed", 0, 3),
        ("other_equipped", 0, 1),
        ("last_advice", 0, 2),
    ],
    changes: &[
        // Later and later in the function, so that less and less follows.
        ("if (!sensors_valid)", "if (sensors_valid == 0)"),
        ("closing_speed == 0", "closing_speed <= 0"),
        ("distance() < required)", "distance() <= required)"),
        ("closing_speed >= 2", "closing_speed >= 3"),
        ("{2, 3}", "{2, 4}"),
        ("last_advice == CLIMB &&", "last_advice != NO_ADVICE &&"),
        ("last_advice == DESCEND && may_descend()", "last_advice == DESCEND && may_descend() && !may_climb()"),
        ("own_altitude >= other_altitude", "own_altitude > other_altitude"),
        ("return may_descend() ? DESCEND : NO_ADVICE;", "return NO_ADVICE;"),
        ("return may_climb() ? CLIMB : NO_ADVICE;", "return may_climb() && closing_speed > 1 ? CLIMB : NO_ADVICE;"),
        ("return may_climb() ? CLIMB : NO_ADVICE;", "if (may_climb()) return CLIMB; return NO_ADVICE;"),
    ],
};

const BRAKES: Controller = Controller {
    file: "tests/change/brakes.c",
    function: "update",
    scope: &["update", "demanded", "follows"],
    domains: &[
        ("pedal", -1, 5),
        ("automatic", 0, 1),
        ("skid", 0, 1),
        ("command", 0, 4),
        ("alternate", 0, 1),
        ("latched", 0, 1),
        ("pressure", 0, 4),
    ],
    changes: &[
        ("pedal > 4", "pedal >= 5"),
        ("wanted - 2 : 0", "wanted - 1 : 0"),
        ("command - pressure > 3", "command - pressure > 2"),
        ("alternate && command > 0", "alternate && command > 1"),
        ("command >= 3 ? 3", "command > 3 ? 3"),
        ("command >= 3 ? 3", "command >= 4 ? 3"),
        ("return pressure + 1;", "return wanted;"),
    ],
};

/// Paths and branch sides that a search met, of a function with those that it calls.
fn states(finished: &CampaignResult) -> u64 {
    finished.campaign.functions.iter().map(|function| function.paths.explored + function.paths.infeasible).sum()
}

/// The exploration of a version.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// For what the change touches.
    Directed,
    /// For all objectives.
    Full,
    /// Every path, as the paper's symbolic execution.
    Paths,
}

fn explore(controller: &Controller, folder: &Path, way: Way) -> CampaignResult {
    let mut request = Request::new([folder.join("new/f.c")], folder.join("out"));
    request.subject = Subject::Functions(vec![controller.function.to_string()]);
    request.objectives_of = ObjectiveScope::Callees;
    request.replay = ReplayMode::Off;
    if way == Way::Paths {
        request.criteria = vec!["paths".parse().expect("known")];
    }
    if way == Way::Directed {
        request.old = Some(OldVersion { name: "old".into(), root: folder.join("old"), of: folder.join("new") });
    }
    run_into(&Plan::new(&request).expect("a plan"), &CollectedTests::default(), &()).expect("a run")
}

/// States of the directed search, of the full one, and of all paths.
fn check(controller: &Controller, from: &str, to: &str) -> [u64; 3] {
    let text = std::fs::read_to_string(root().join(controller.file)).expect("the program");
    assert!(text.contains(from), "{from}");
    let scratch = tempfile::tempdir().expect("a directory");
    for (version, text) in [("old", text.clone()), ("new", text.replacen(from, to, 1))] {
        std::fs::create_dir_all(scratch.path().join(version)).expect("a directory");
        std::fs::write(scratch.path().join(version).join("f.c"), text).expect("written");
    }
    let told = format!("{}: `{from}` became `{to}`", controller.file);
    let [directed, full, paths] =
        [Way::Directed, Way::Full, Way::Paths].map(|way| explore(controller, scratch.path(), way));
    let all: BTreeMap<&str, &Status> =
        full.campaign.objectives.iter().map(|objective| (objective.id.as_str(), &objective.status)).collect();
    for objective in &directed.campaign.objectives {
        let same = match (&objective.status, all[objective.id.as_str()]) {
            (Status::Unaffected, _) => true,
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        };
        assert!(same, "{told}: {} is {:?}, and was {:?}", objective.id, objective.status, all[objective.id.as_str()]);
    }
    // All inputs judge it.
    let mcdc: Vec<&'static dyn GoalCriterion> = criterion_named("mcdc").into_iter().collect();
    let (old, new) = (lower_file(&scratch.path().join("old/f.c")), lower_file(&scratch.path().join("new/f.c")));
    let values = |name: &str| {
        let found = controller.domains.iter().find(|(domain, ..)| *domain == name)?;
        Some((found.1..=found.2).collect())
    };
    let version = |module| Version::new(module, controller.function, controller.scope, &values, &mcdc);
    let (old, new) = (version(&old), version(&new));
    let Judgement { moved, differs } = version_pairs::judge(&old, &new).expect("the same inputs");
    let unaffected = |id: &str| {
        directed.campaign.objectives.iter().any(|known| known.id == id && known.status == Status::Unaffected)
    };
    for id in moved {
        let objective = &new.wanted.list[id];
        assert!(!unaffected(&objective.id), "{told}: {} `{}` is not unaffected", objective.id, objective.text);
    }
    let change = directed.extras.change.as_ref().expect("it was asked for");
    let behaviour = change.functions.iter().find(|function| function.name == controller.function);
    let behaviour = behaviour.map_or(Behaviour::Equivalent, |function| function.behaviour);
    match (&differs, behaviour) {
        (Some(input), Behaviour::Differs) => println!("{told}: differs, as on {input}"),
        (None, Behaviour::Equivalent | Behaviour::Unknown) => println!("{told}: {behaviour:?}"),
        (judged, said) => panic!("{told}: {said:?}, and {judged:?}"),
    }
    let counted = [&directed, &full, &paths].map(states);
    println!("    {counted:?} states");
    counted
}

#[test]
fn a_change_directs_the_search_and_is_told_where_inputs_tell_it() {
    let mut shares: [Vec<f64>; 2] = Default::default();
    for controller in [TCAS, BRAKES] {
        for (from, to) in controller.changes.iter().step_by(if long() { 1 } else { 3 }) {
            let [directed, full, paths] = check(&controller, from, to);
            shares[0].push(directed as f64 / full as f64);
            shares[1].push(directed as f64 / paths as f64);
        }
    }
    let [full, paths] = shares.map(|shares| shares.iter().sum::<f64>() / shares.len() as f64);
    println!("in the mean {full:.2} of a full search for MC/DC, {paths:.2} of all paths");
    // Early changes touch nearly everything that follows; a full search for MC/DC is short already.
    assert!(full <= 0.9 && paths <= 0.4, "{full} {paths}");
}
