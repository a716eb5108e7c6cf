//! The HTML report in a real browser: search, file view, truth table, gaps, themes. A script that only this test adds
//! to the page simulates keys and clicks, and records the visible result.
//!
//! Needs Chromium (`setup.sh` installs it; `TOUCHSTONE_CHROMIUM` names another). Without it the test is skipped with a
//! message; with `CI=true` it fails.

// Tests may access the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use touchstone_report::{Document, Figures, HistoryEntry, html, text_hash};

const SOURCE: &str = include_str!("golden/gate.c");

fn chromium() -> Option<String> {
    let named = std::env::var("TOUCHSTONE_CHROMIUM").ok();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].map(str::to_string);
    let runs = |name: &String| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    let found = named.into_iter().chain(names).find(runs);
    if found.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no Chromium: run setup.sh, or set TOUCHSTONE_CHROMIUM");
        eprintln!("skipped: there is no Chromium; setup.sh installs it");
    }
    found
}

fn write_site(dir: &Path) {
    let document = Document::parse(&include_str!("golden/campaign.json").replace("HASH", &text_hash(SOURCE)));
    let document = document.expect("a document");
    let figures = Figures::new(&document);
    let history = [HistoryEntry::new(1_000_000, &figures), HistoryEntry::new(2_000_000, &figures)];
    let sources = BTreeMap::from([("src/gate.c".to_string(), SOURCE.to_string())]);
    for page in html::site(&html::SiteInput { document: &document, sources: &sources, history: &history }) {
        let path = dir.join(&page.path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, page.text).expect("writable");
    }
}

/// Runs steps in the browser and returns their result as JSON. They are the body of an asynchronous function that
/// returns it.
fn drive(browser: &str, dir: &Path, page: &str, steps: &str) -> serde_json::Value {
    let path = dir.join(page);
    let text = std::fs::read_to_string(&path).expect("the page");
    let driver = format!(
        "<script>window.addEventListener('load', async () => {{
           const wait = ms => new Promise(done => setTimeout(done, ms));
           const until = async what => {{ for (let i = 0; i < 100 && !what(); i++) await wait(20); }};
           const key = name => (document.activeElement || document.body).dispatchEvent(new KeyboardEvent('keydown', {{key: name, bubbles: true, cancelable: true}}));
           const $ = selector => document.querySelector(selector);
           const $$ = selector => [...document.querySelectorAll(selector)];
           let seen;
           try {{ seen = await (async () => {{ {steps} }})(); }} catch (error) {{ seen = {{error: String(error)}}; }}
           const out = document.createElement('pre');
           out.id = 'seen';
           out.textContent = encodeURIComponent(JSON.stringify(seen));
           document.body.append(out);
         }});</script></body>"
    );
    let driven = path.with_extension("driven.html");
    std::fs::write(&driven, text.replace("</body>", &driver)).expect("writable");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg("--window-size=1280,900")
        .arg(format!("file://{}", driven.display()))
        .output()
        .expect("Chromium runs");
    let dom = String::from_utf8_lossy(&output.stdout);
    let seen = dom.split("<pre id=\"seen\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let seen = seen.unwrap_or_else(|| panic!("nothing seen: {}\n{dom}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(&decode(seen)).expect("JSON")
}

/// Decodes `encodeURIComponent`.
fn decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits: String = rest.by_ref().take(2).map(char::from).collect();
                bytes.push(u8::from_str_radix(&digits, 16).expect("two digits"));
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn search_file_view_and_truth_table_work_in_chromium() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    write_site(dir.path());

    let seen = drive(
        &browser,
        dir.path(),
        "f/src-gate.c.html",
        "const seen = {};
         seen.number = getComputedStyle($('#L10'), '::before').content;
         key('n'); const first = $('.src p.at').id; key('n'); const second = $('.src p.at').id; key('p');
         seen.gaps = [first, second, $('.src p.at').id, document.activeElement.className];
         key('Enter'); await until(() => $('#panel'));
         seen.text = $('#panel h2').textContent;
         seen.rows = $$('#panel .wide tbody tr').map(row => [...row.cells].map(cell => cell.textContent).join(' '));
         seen.conditions = $$('#panel .cond tr').map(row => row.cells[2].textContent.trim());
         $('#panel button.pairs').click();
         seen.pair = $$('#panel tr.pair').length;
         seen.test = $('#panel .wide a').getAttribute('href');
         key('Escape'); seen.closed = $('#panel').hidden;
         $('b[data-d=\"2\"]').click(); await until(() => !$('#panel').hidden);
         seen.never = $('#panel').textContent.includes('No test evaluated');
         const theme = () => getComputedStyle(document.body).backgroundColor;
         const before = theme(); key('t'); seen.theme = before !== theme();
         return seen;",
    );
    assert_eq!(
        seen,
        serde_json::json!({
            "number": "counter(l)",
            "gaps": ["L3", "L8", "L3", "h"],
            "text": "a > 0 && (b < 3 || s[0] == '<')",
            "rows": ["1 F · · F t3", "2 T F T T t2", "3 T T · T t1"],
            "conditions": ["true ✓ false ✓", "true ✓ false ✓", "true ✓ false: not shown"],
            "pair": 2,
            "test": "../tests.html#t-t3",
            "closed": true,
            "never": true,
            "theme": true,
        })
    );

    let seen = drive(
        &browser,
        dir.path(),
        "index.html",
        "const seen = {};
         const files = () => $$('table.sort tbody td.path').map(cell => cell.textContent);
         seen.worst = files(); $('table.sort th').click(); $('table.sort th').click(); seen.sorted = files();
         key('/'); await until(() => $('dialog li'));
         const type = text => { $('dialog input').value = text; $('dialog input').dispatchEvent(new Event('input')); };
         const found = () => $$('dialog li').map(item => item.querySelector('code').textContent);
         type('GATE'); seen.function = [found()[0], $('dialog li a').getAttribute('href')];
         type('such file'); seen.file = found()[0];
         type('mcdc s[0] false'); seen.objective = found();
         key('ArrowDown'); seen.chosen = $$('dialog li[aria-selected=true]').length;
         type('nothing like this'); seen.none = $('dialog p').textContent;
         seen.wide = document.documentElement.scrollWidth <= innerWidth;
         return seen;",
    );
    assert_eq!(
        seen,
        serde_json::json!({
            "worst": ["lib/no such & file.c", "src/gate.c"],
            "sorted": ["src/gate.c", "lib/no such & file.c"],
            "function": ["gate", "f/src-gate.c.html#L2"],
            "file": "lib/no such & file.c",
            "objective": ["mcdc s[0] == '<' is false and independently affects the outcome"],
            "chosen": 1,
            "none": "Nothing found",
            "wide": true,
        })
    );
}
