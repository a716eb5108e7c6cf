//! Renderings of a document: the formats of other tools and the text overview byte for byte (`TOUCHSTONE_BLESS=1`
//! updates them), the HTML site by required and forbidden contents.
//!
//! Files of these kinds were accepted by LCOV 1.16 and 2.x (`--summary` and `genhtml`), xmllint, pycobertura,
//! junitparser and Microsoft's SARIF validator once, by hand; since the last update of `golden/` only LCOV was tried
//! again.

// Tests may access the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use touchstone_report::html::{self, Page};
use touchstone_report::{
    ChangedLines, Detail, Document, Figures, HistoryEntry, Style, Threshold, ThresholdResult, export, overview,
    restrict, text_hash,
};

const SOURCE: &str = include_str!("golden/gate.c");

fn document() -> Document {
    let text = include_str!("golden/campaign.json").replace("HASH", &text_hash(SOURCE));
    Document::parse(&text).expect("the document is one")
}

fn golden(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("TOUCHSTONE_BLESS").is_some() {
        std::fs::write(&path, found).expect("writable");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name}; TOUCHSTONE_BLESS=1 rewrites it");
}

#[test]
fn other_tools_formats_are_what_they_were() {
    let document = document();
    golden("lcov.info", &export::lcov(&document));
    golden("cobertura.xml", &export::cobertura(&document));
    golden("jacoco.xml", &export::jacoco(&document));
    golden("touchstone.sarif", &export::sarif(&document));
    golden("junit.xml", &export::junit(&document));
    golden("badge.svg", &export::badge(&document));
    golden("overview.txt", &overview(&document, Detail::Everything, Style::default()));
    golden("overview-narrow.txt", &overview(&document, Detail::Short, Style { color: false, width: 46 }));
}

#[test]
fn no_line_of_the_summary_is_wider_than_the_terminal() {
    for width in [46, 60, 80, 120] {
        let text = overview(&document(), Detail::Everything, Style { color: false, width });
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width, "{widest} > {width}\n{text}");
    }
}

#[test]
fn a_document_survives_being_stored() {
    let document = document();
    assert_eq!(Document::parse(&document.to_json()).expect("JSON"), document);
    let stored = document.to_stored();
    assert!(stored.starts_with("{\n  \"schema_version\""), "by this a directory is known as ours");
    assert_eq!(Document::parse(&stored).expect("JSON"), document);
    let test =
        document.objectives.iter().find_map(|objective| objective.tests.first()).expect("a test covers something");
    let covered_by = stored.lines().find(|line| line.trim_start().starts_with("\"covered_by\"")).expect("one line");
    assert_eq!(covered_by.matches(&format!("\"{test}\"")).count(), 1);
    for (right, wrong) in
        [("\"objectives\":[[", "\"objectives\":[[],["), ("\"names\":[\"", "\"names\":[],\"other\":[\"")]
    {
        assert!(covered_by.contains(right));
        assert!(Document::parse(&stored.replace(right, wrong)).is_err(), "{wrong}");
    }
    let newer = document.to_json().replace("\"schema_version\": 1", "\"schema_version\": 99");
    let error = Document::parse(&newer).expect_err("not readable").to_string();
    assert!(error.contains("schema_version 99"), "{error}");
    assert!(Document::parse("{").is_err());
}

#[test]
fn percentages_leave_out_what_is_infeasible_and_count_exclusions_apart() {
    let figures = Figures::new(&document());
    let tally = figures.total.get("branch").expect("asked for");
    assert_eq!((tally.total, tally.covered, tally.infeasible, tally.excluded), (4, 3, 1, 2));
    assert_eq!(tally.percent(), "100%");
    assert_eq!(figures.total.get("mcdc").expect("asked for").percent(), "66.6%");
    assert_eq!(figures.worst_first()[0].0, "lib/no such & file.c");
}

#[test]
fn thresholds_are_exact() {
    let figures = Figures::new(&document());
    let judge = |text: &str| text.parse::<Threshold>().expect("a threshold").judge(&figures, Some(&figures));
    assert_eq!(judge("branch=100"), ThresholdResult::Reached);
    // 6 of 9.
    assert_eq!(judge("mcdc=66.6"), ThresholdResult::Reached);
    assert!(matches!(judge("mcdc=66.7"), ThresholdResult::Below(what) if what.contains("6 of 9 feasible")));
    assert!(matches!(judge("wm=1"), ThresholdResult::NotAsked(what) if what.contains("stmt, branch, mcdc")));
    let mut asked = figures.clone();
    asked.request(&["wm".to_string()]);
    let judge = |text: &str, all: &Figures| {
        text.parse::<Threshold>().expect("a threshold").judge(&Figures::default(), Some(all))
    };
    assert!(
        matches!(judge("wm=1", &asked), ThresholdResult::Below(what) if what.contains("there are no wm objectives"))
    );
    assert!(
        matches!(judge("wm=1", &Figures::default()), ThresholdResult::Below(what) if what.contains("there are no objectives"))
    );
    // All branches are outside of the changed lines.
    assert_eq!(judge("branch=100", &figures), ThresholdResult::Reached);
    assert_eq!(judge("wm=0", &asked), ThresholdResult::Reached);
    for bad in ["mcdc", "mcdc=x", "mcdc=101", "mcdc=-1", "mcdc=NaN"] {
        assert!(bad.parse::<Threshold>().is_err(), "{bad}");
    }
}

#[test]
fn an_objective_that_two_explorations_speak_of_is_infeasible_only_if_both_say_so() {
    let mut document = document();
    let mut again = document.objectives.clone();
    for objective in &mut again {
        objective.status = touchstone_report::document::Verdict::Infeasible;
    }
    document.objectives.splice(0..0, again);
    assert_eq!(Figures::new(&document), Figures::new(&self::document()));
}

#[test]
fn only_changed_lines_stay() {
    let mut document = document();
    let changed = ChangedLines::parse("--- gate.c\n+++ gate.c\n@@ -5,2 +5,2 @@\n-x\n-y\n+x\n+y\n");
    restrict(&mut document, &changed, |path| path.trim_start_matches("src/").to_string());
    let ids: Vec<&str> =
        document.objectives.iter().map(|objective| objective.id.split(".0").next().unwrap_or("")).collect();
    assert_eq!(ids, ["gate.stmt.3", "gate.stmt.4", "gate.branch.3", "gate.branch.4", "gate.mcdc.7", "gate.mcdc.8"]);
    assert_eq!(document.decisions.len(), 1);
    let counts = &document.functions.iter().find(|f| f.criterion == "branch").expect("kept").objectives;
    assert_eq!((counts.total, counts.covered, counts.infeasible), (2, 1, 1));
    assert!(document.functions.iter().all(|function| function.name == "gate"));
}

fn site() -> Vec<Page> {
    let document = document();
    let sources = BTreeMap::from([("src/gate.c".to_string(), SOURCE.to_string())]);
    let figures = Figures::new(&document);
    let history = [HistoryEntry::new(1_000_000, &figures), HistoryEntry::new(2_000_000, &figures)];
    html::site(&html::SiteInput { document: &document, sources: &sources, history: &history })
}

#[test]
fn the_site_says_what_nothing_kept_the_replay_from() {
    let mut document = document();
    let sources = BTreeMap::new();
    for told in [None, Some("nothing kept tests from <processes> of others")] {
        document.unprotected_replay = told.map(str::to_string);
        let pages = html::site(&html::SiteInput { document: &document, sources: &sources, history: &[] });
        for path in ["index.html", "tests.html"] {
            let said = page(&pages, path).contains("nothing kept tests from &lt;processes&gt; of others");
            assert_eq!(said, told.is_some(), "{path}");
        }
    }
}

#[test]
fn a_test_that_ends_by_a_throw_says_what_is_thrown() {
    let mut document = document();
    let test = document.tests.first_mut().expect("the document has tests");
    (test.outcome, test.threw) = ("threw".to_string(), Some("List<Early>".to_string()));
    (test.error, test.exit_status) = (None, None);
    let stored = Document::parse(&document.to_json()).expect("JSON");
    assert_eq!(stored, document);
    let sources = BTreeMap::new();
    let pages = html::site(&html::SiteInput { document: &stored, sources: &sources, history: &[] });
    assert!(page(&pages, "tests.html").contains("throws List&lt;Early&gt;"));
}

fn page<'p>(pages: &'p [Page], path: &str) -> &'p str {
    let paths: Vec<&str> = pages.iter().map(|page| page.path.as_str()).collect();
    &pages.iter().find(|page| page.path == path).unwrap_or_else(|| panic!("{path} is not among {paths:?}")).text
}

#[test]
fn the_same_document_gives_the_same_site() {
    assert_eq!(site(), site());
}

#[test]
fn nothing_of_the_program_gets_into_a_page_unescaped() {
    for page in site().iter().filter(|page| page.path.ends_with(".html")) {
        for bad in ["<script>alert", "<b>\"", "x<y>", "last<error>", "<but>", "such & file"] {
            assert!(!page.text.contains(bad), "{bad} in {}", page.path);
        }
    }
}

#[test]
fn every_link_of_the_site_leads_to_a_page_and_an_anchor_of_it() {
    let pages = site();
    let mut checked = 0;
    for from in pages.iter().filter(|page| page.path.ends_with(".html")) {
        for href in from.text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let (path, anchor) = href.split_once('#').unwrap_or((href, ""));
            let folder = if from.path.starts_with("f/") { "f/" } else { "" };
            let target = match path.strip_prefix("../") {
                _ if path.is_empty() => from.path.clone(),
                Some(rest) => rest.to_string(),
                None => format!("{folder}{path}"),
            };
            let text = page(&pages, &target);
            // A file without a readable text has no lines to link to.
            let no_text = target.contains("no-such");
            let found = [format!("id=\"{anchor}\""), format!("id={anchor}>"), format!("id={anchor} ")];
            assert!(
                anchor.is_empty() || no_text || found.iter().any(|id| text.contains(id)),
                "{href} in {}",
                from.path
            );
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked} links");
}

#[test]
fn conditions_are_marked_in_the_text_inside_their_decision() {
    let pages = site();
    let text = page(&pages, "f/src-gate.c.html");
    let line = |number: u32| {
        let start = text.find(&format!("<p id=L{number}")).expect("the line");
        let line = text[start..].split("</p>").next().unwrap_or("");
        // Tooltips are tested elsewhere.
        let mut plain = String::new();
        for (index, part) in line.split(" title=\"").enumerate() {
            plain.push_str(if index == 0 { part } else { part.split_once('"').map_or("", |(_, rest)| rest) });
        }
        plain
    };
    assert_eq!(
        line(3),
        "<p id=L3 class=h data-h=3>    <i class=w>if</i> (<b class=c data-d=0><b class=c data-d=0>a &gt; <i class=o>0</i></b> \
         &amp;&amp; (<b class=c data-d=0>b &lt; <i class=o>3</i></b> || <b class=h data-d=0 tabindex=0>s[<i class=o>0</i>] == \
         <i class=t>&#39;&lt;&#39;</i></b>)</b>)"
    );
    assert_eq!(line(5), "<p id=L5 class=c data-h=1>    <i class=w>if</i> (<b class=c data-d=1>a != a</b>)");
    assert_eq!(line(6), "<p id=L6 class=i data-h=0>        <i class=w>return</i> <i class=o>2</i>;");
    assert!(line(7).starts_with("<p id=L7 class=x data-h=0>"), "{}", line(7));
    // A range over two lines is closed and reopened.
    assert_eq!(
        line(8),
        "<p id=L8 class=u data-h=0>        <i class=w>return</i> <b class=u data-d=2 tabindex=0>b &gt;</b>"
    );
    assert_eq!(line(9), "<p id=L9><b class=u data-d=2 tabindex=0>               a</b>;");
    assert!(text.contains("✗ mcdc: s[0] == &#39;&lt;&#39; is false and independently affects the outcome"), "{text}");
    assert!(!text.contains("has changed since"));
}

#[test]
fn a_source_that_is_gone_or_has_changed_is_said_to_be() {
    let pages = site();
    let gone = pages.iter().find(|page| page.path.starts_with("f/lib-no-such")).expect("a page all the same");
    assert!(gone.text.contains("could not be read"), "{}", gone.text);
    let document = document();
    let sources = BTreeMap::from([("src/gate.c".to_string(), "int x;".to_string())]);
    let pages = html::site(&html::SiteInput { document: &document, sources: &sources, history: &[] });
    assert!(page(&pages, "f/src-gate.c.html").contains("has changed since"));
    assert!(!page(&pages, "index.html").contains("<svg class=\"chart\""), "one campaign is no history");
}

#[test]
fn truth_tables_and_index_are_what_the_script_reads() {
    let pages = site();
    let call = |path: &str, name: &str| -> serde_json::Value {
        let text = page(&pages, path).trim_end();
        let inner =
            text.strip_prefix(name).and_then(|rest| rest.strip_suffix(");")).unwrap_or_else(|| panic!("{text}"));
        serde_json::from_str(inner).expect("JSON")
    };
    let tables = call("d/src-gate.c-0.js", "touchstone.tables(0,");
    assert_eq!(tables[0]["rows"][1], serde_json::json!(["TFT", true, [0, 2], ["t2"], 1]));
    assert_eq!(tables[0]["pairs"][0], serde_json::json!([0, true, 0, 1]));
    let index = call("search.js", "touchstone.index(");
    assert_eq!(index["files"][1], serde_json::json!(["src/gate.c", "src-gate.c"]));
    assert_eq!(index["functions"].as_array().map(Vec::len), Some(2));
}

#[test]
fn state_has_a_page_only_if_there_is_some() {
    let pages = site();
    assert!(page(&pages, "state.html").contains("1 of 2 checked"));
    let document = Document { state: Vec::new(), ..document() };
    let pages = html::site(&html::SiteInput { document: &document, sources: &BTreeMap::new(), history: &[] });
    assert!(!pages.iter().any(|page| page.path == "state.html" || page.text.contains("state.html")));
}
