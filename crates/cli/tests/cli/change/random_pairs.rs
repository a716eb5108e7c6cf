//! Random functions with random edits, judged by all inputs of a small domain: what is unaffected is reached by the same inputs in both
//! versions, versions that are equivalent leave the same, and an input that tells them apart does.
//!
//! `TOUCHSTONE_LONG=1` tries a thousand pairs, `TOUCHSTONE_SEED=N` one batch, `N..M` some.

use super::version_pairs::{Figures, Version, judge as judge_pair, labellings, said};
use crate::cache::edits::edited;
use crate::random_programs::functions::{RandomUnit, Style, unit};
use crate::support::lowering::lower_file;
use crate::support::rng::Rng;
use crate::support::{long, seeds};
use std::time::Duration;
use touchstone_campaign::{CollectedTests, Effort, OldVersion, Plan, ReplayMode, Request, run_into};
use touchstone_criteria::Criterion;
use touchstone_report::document::Behaviour;

/// Functions of one file.
const BATCH: u64 = 10;

const STYLE: Style = Style { divisions: true, bounds: true, uninitialised: false, points: 200 };

#[test]
fn what_is_said_of_a_change_holds_for_all_inputs_of_random_functions() {
    let mut figures = Figures::default();
    let mut wrong = Vec::new();
    let batches = seeds(0..3, 0..100);
    for seed in batches.clone() {
        judge(seed, &mut figures, &mut wrong);
    }
    println!("{figures:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if batches.end - batches.start < 3 {
        return;
    }
    assert!(figures.unaffected > figures.pairs, "{figures:?}");
    assert!(figures.hidden > 0, "{figures:?}");
    assert!(figures.moved > 0 && figures.differs > 0 && figures.equivalent > 0, "{figures:?}");
    // What brute force tells apart is mostly found.
    assert!(figures.missed * 5 <= figures.differs, "{figures:?}");
}

fn judge(seed: u64, figures: &mut Figures, wrong: &mut Vec<String>) {
    let mut rng = Rng::new(seed ^ 0xd1ff);
    let mut pairs: Vec<(RandomUnit, String)> = Vec::new();
    for number in 0..BATCH {
        let number = seed * BATCH + number;
        let unit = unit(number + (7 << 33), &format!("f{number}"), STYLE);
        // An edit may rename the function, which leaves no pair.
        let keeps_name = |new: &String| new.contains(&format!(" {}(", unit.name));
        if let Some(new) = edited(&unit.text, &mut rng).filter(keeps_name) {
            pairs.push((unit, new));
        }
    }
    let scratch = tempfile::tempdir().expect("a directory");
    let write = |folder: &str, text: String| {
        std::fs::create_dir_all(scratch.path().join(folder)).expect("a directory");
        let file = scratch.path().join(folder).join("f.c");
        std::fs::write(&file, text).expect("written");
        file
    };
    // Assembly without an effect: all that follows it is not lowered for the analysis, but it is for the judge.
    let hides = |unit: &RandomUnit| unit.name.ends_with('7');
    let hidden = |unit: &RandomUnit, text: &str| match hides(unit) {
        true => with_assembly(text, &unit.name),
        false => text.to_string(),
    };
    write("judged_old", pairs.iter().map(|(unit, _)| unit.text.as_str()).collect());
    write("judged_new", pairs.iter().map(|(_, new)| new.as_str()).collect());
    write("old", pairs.iter().map(|(unit, _)| hidden(unit, &unit.text)).collect());
    let file = write("new", pairs.iter().map(|(unit, new)| hidden(unit, new)).collect());
    let mut request = Request::new([file], scratch.path().join("out"));
    let folder = |name: &str| scratch.path().join(name);
    request.old = Some(OldVersion { name: "before".into(), root: folder("old"), of: folder("new") });
    let names: &[&str] = if long() { &["stmt", "branch", "mcdc", "wm"] } else { &["stmt", "branch", "mcdc"] };
    request.criteria = names.iter().map(|name| name.parse::<Criterion>().expect("known")).collect();
    request.replay = ReplayMode::Off;
    request.effort = Effort { budget: Some(Duration::from_secs(7)), ..request.effort };
    let criteria = labellings(&request.criteria);
    let plan = Plan::new(&request).expect("a plan");
    let finished = run_into(&plan, &CollectedTests::default(), &()).expect("a run");
    let (old, new) = (lower_file(&folder("judged_old").join("f.c")), lower_file(&folder("judged_new").join("f.c")));
    for (unit, text) in &pairs {
        let values = |name: &str| {
            let found = unit.domains.iter().find(|(domain, ..)| domain == name)?;
            Some((found.1..=found.2).map(i128::from).collect())
        };
        let version = |module| Version::new(module, &unit.name, &[&unit.name], &values, &criteria);
        let (statuses, behaviour) = said(&finished, &unit.name);
        if hides(unit) {
            // Its objectives have other numbers.
            figures.hidden += 1;
            let differs = judge_pair(&version(&old), &version(&new)).and_then(|judged| judged.differs);
            if let (Behaviour::Equivalent, Some(input)) = (behaviour, differs) {
                wrong.push(format!(
                    "batch {seed}, {}: not equivalent: {input}\nold:\n{}\nnew:\n{text}",
                    unit.name, unit.text
                ));
            }
            continue;
        }
        let complaints = figures.compare((&version(&old), &version(&new)), &statuses, behaviour);
        let told =
            |complaint: String| format!("batch {seed}, {}: {complaint}\nold:\n{}\nnew:\n{text}", unit.name, unit.text);
        wrong.extend(complaints.into_iter().take(2).map(told));
    }
}

/// Puts assembly that does nothing at the start of a function.
fn with_assembly(text: &str, function: &str) -> String {
    let header = text.rfind(&format!(" {function}(")).expect("the function");
    let body = header + text[header..].find('{').expect("its body") + 1;
    format!("{} __asm__ volatile(\"nop\");{}", &text[..body], &text[body..])
}
