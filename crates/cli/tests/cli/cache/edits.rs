//! Random programs with random edits: verdicts with the cache of the program before the edit are those of a run without any.

use super::Project;
use crate::soundness::random_program;
use crate::support::rng::Rng;
use crate::support::seeds;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

const ASKED: [&str; 8] = ["prove", "p.c", "-c", "mcdc,branch", "--max-paths", "200", "--timeout", "4"];
/// The same with more time.
const PATIENT: [&str; 8] = ["prove", "p.c", "-c", "mcdc,branch", "--max-paths", "4000", "--timeout", "20"];
/// Edits of one program, each of the last.
const EDITS: usize = 3;

/// Pairs of words that replace each other.
const WORDS: [(&str, &str); 12] = [
    (" < ", " <= "),
    (" > ", " >= "),
    (" == ", " != "),
    (" + ", " - "),
    (" && ", " || "),
    (" = 0;", " = 1;"),
    ("static int ", "static long "),
    ("int ", "unsigned "),
    ("return ", "return 1 + "),
    ("if (", "if (!"),
    ("static ", ""),
    (";\n", "; /* the same */\n\n"),
];

/// Another program, that is one: a number or a word is another.
pub(crate) fn edited(text: &str, rng: &mut Rng) -> Option<String> {
    for _ in 0..20 {
        let begin = text.find("\nint ").or_else(|| text.find("\nstatic ")).unwrap_or(0);
        let at = begin + rng.below(text.len() - begin);
        if !text.is_char_boundary(at) {
            continue;
        }
        let (before, after) = text.split_at(at);
        let new = if rng.chance(40) {
            let Some(digit) = after.find(|char: char| char.is_ascii_digit()) else { continue };
            format!("{before}{}{}{}", &after[..digit], rng.below(10), &after[digit + 1..])
        } else {
            let (from, to) = *rng.pick(&WORDS);
            format!("{before}{}", after.replacen(from, to, 1))
        };
        let checked = tempfile::Builder::new().suffix(".c").tempfile().expect("a file");
        std::fs::write(checked.path(), &new).expect("writable");
        let compiled = Command::new("cc").args(["-fsyntax-only", "-w"]).arg(checked.path()).output().expect("cc runs");
        if new != text && compiled.status.success() {
            return Some(new);
        }
    }
    None
}

fn verdicts(document: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let objectives = document["objectives"].as_array().expect("objectives").iter();
    objectives.map(|objective| (text(&objective["id"]), text(&objective["status"]))).collect()
}

#[test]
fn verdicts_of_edited_random_programs_are_those_of_a_run_without_a_cache() {
    let (mut asked, mut known) = (0, 0);
    for seed in seeds(1..2, 1..101) {
        let mut rng = Rng::new(seed ^ 0xcac4e);
        let mut text = random_program(seed);
        let project = Project::new();
        project.write("p.c", &text);
        project.run(&ASKED);
        for _ in 0..EDITS {
            let Some(new) = edited(&text, &mut rng) else { break };
            text = new;
            project.write("p.c", &text);
            let warm = project.run(&ASKED);
            let cold = verdicts(&project.cold(&ASKED).document);
            let functions = warm.document["functions"].as_array().expect("functions").len();
            asked += functions;
            known += functions - warm.explored().len();
            let warm = verdicts(&warm.document);
            assert_eq!(warm.keys().collect::<Vec<_>>(), cold.keys().collect::<Vec<_>>());
            if warm == cold {
                continue;
            }
            // A timeout influences which objectives are unknown, with and without a cache. The run with more time is
            // the reference.
            let more = verdicts(&project.cold(&PATIENT).document);
            for (id, status) in warm.iter().filter(|(id, status)| cold[*id] != **status && *status != "unknown") {
                let right = [&cold[id], &more[id]].into_iter().all(|other| other == "unknown" || other == status);
                let told = format!("seed {seed}: {id} is {status}, without a cache {} and {}", cold[id], more[id]);
                assert!(right, "{told}\n{text}");
            }
        }
    }
    assert!(known * 3 > asked, "only {known} of {asked} functions came from the cache");
}
