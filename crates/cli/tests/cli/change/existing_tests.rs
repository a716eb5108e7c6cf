//! Tests that an earlier run left are run first when a change is tested, and stay where they cover what it touches.

use super::{BANK, Project, behaviour};
use serde_json::Value;

const GRADE: &str = "int grade(int points, int bonus) {
    if (points > 90 && bonus < 5)
        return 1;
    if (points > 50)
        return 2;
    return 3;
}
struct pair { int *left; int right[2]; };
int alone(struct pair *p, const char *text) { if (p && p->left && *p->left > p->right[1]) return text && text[0] == 'x'; return 2; }
";

/// Inputs of all tests of a function, by their names.
fn inputs(document: &Value, list: &str, function: &str) -> Vec<(String, String)> {
    let all = document[list].as_array().map_or(&[][..], Vec::as_slice).iter();
    let own = all.filter(|test| test["function"] == function);
    own.map(|test| (test["id"].to_string(), test["inputs"].to_string())).collect()
}

fn there<'d>(document: &'d Value, function: &str) -> &'d Value {
    let kept = document["kept"].as_array().expect("suites").iter().find(|suite| suite["function"] == function);
    kept.unwrap_or_else(|| panic!("{function} in {}", document["kept"]))
}

impl Project {
    /// Replaces the inputs of existing tests by values that a search would not find.
    fn odd_inputs(&self, from: &str, to: &str) {
        let file = self.path().join("out/campaign.json");
        let text = std::fs::read_to_string(&file).expect("a document");
        assert!(text.contains(from), "{from} in {text}");
        std::fs::write(file, text.replace(from, to)).expect("written");
    }
}

#[test]
fn tests_that_are_there_are_run_first_and_stay_with_what_they_expect_now() {
    let project = Project::new("a.c", GRADE, GRADE);
    let first = project.document(&["generate", "a.c"]);
    project.odd_inputs("\"points\":100", "\"points\":97");
    project.write("a.c", &GRADE.replace("return 2;\n    return 3", "return 20;\n    return 3"));
    let document = project.document(&["generate", "a.c", "--old", "v1"]);
    assert_eq!(behaviour(&document, "grade"), "differs");
    let suite = there(&document, "grade");
    let tests = suite["tests"].as_array().expect("tests");
    let fails: Vec<&Value> = tests.iter().filter(|test| test["verdict"] == "fails").collect();
    assert!(!fails.is_empty() && fails.iter().all(|test| test["changes"][0]["got"] == "20"), "{suite}");
    assert!(tests.iter().any(|test| test["verdict"] == "passes"), "{suite}");
    assert!(suite["used_again"].as_u64() >= Some(1) && suite["edited"] == false, "{suite}");
    let text = std::fs::read_to_string(project.path().join("out/test_grade.c")).expect("tests");
    assert!(text.contains("int points = 97;"), "{text}");
    // What nothing touches stays as it is, and is known to the next run.
    assert_eq!(inputs(&document, "left_alone", "alone"), inputs(&first, "tests", "alone"));
    std::fs::create_dir_all(project.path().join("v2")).expect("a folder");
    std::fs::copy(project.path().join("a.c"), project.path().join("v2/a.c")).expect("copied");
    project.write("a.c", &GRADE.replace("return 2;\n    return 3", "return 20;\n    return 3").replace("'x'", "'y'"));
    let before = inputs(&first, "tests", "alone");
    let document = project.document(&["generate", "a.c", "--old", "v2"]);
    let now = inputs(&document, "tests", "alone");
    let same = now.iter().filter(|test| before.contains(test)).count() as u64;
    assert!(same >= 1 && there(&document, "alone")["used_again"] == same, "{before:?}\n{now:?}");
    let told = String::from_utf8(project.run(&["generate", "a.c", "--old", "v2"]).stdout).expect("text");
    assert!(told.contains("existing tests") && told.contains("with the inputs of "), "{told}");
}

#[test]
fn tests_of_java_that_are_there_are_run_first_too() {
    let project = Project::new("bank/Account.java", BANK, BANK);
    project.document(&["generate", "bank/Account.java"]);
    project.odd_inputs("\"amount\":-1}", "\"amount\":-4711}");
    project.write("bank/Account.java", &BANK.replace("amount < 0", "amount < 0 || amount == 7").replace("? 5", "? 6"));
    let document = project.document(&["generate", "bank/Account.java", "--old", "v1"]);
    let checked = there(&document, "bank.Account.checked");
    assert!(checked["used_again"].as_u64() >= Some(1), "{checked}");
    let verdicts = checked["tests"].as_array().expect("tests");
    assert!(!verdicts.is_empty() && verdicts.iter().all(|test| test["verdict"] == "passes"), "{checked}");
    // What it expects of the fee is another number now.
    let fee = there(&document, "bank.Account.fee");
    assert!(fee["tests"].as_array().expect("tests").iter().any(|test| test["verdict"] == "fails"), "{fee}");
    let class = std::fs::read_to_string(project.path().join("out/bank/AccountTouchstoneTest.java")).expect("tests");
    assert!(class.contains("Account.checked(-4711)"), "{class}");
    assert!(document["tests"].as_array().expect("tests").iter().all(|test| test["replay"] == "agreed"));
}
