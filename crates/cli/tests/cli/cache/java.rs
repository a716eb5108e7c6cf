//! The same for Java.

use super::{Project, explored_once};

const CLASS: &str = "package shop;
public class Cart {
    private int total;
    private static int rate(int amount) { return amount > 100 ? 5 : 0; }
    static int discount(int amount, boolean member) { if (member && rate(amount) > 3) return 7; return 0; }
    static int other(int a, int b) { if (a > b && b != 3) return 1; return 0; }
    void add(int price) { if (price > 0) total += price; }
    int total() { return total; }
    static String word(int x) { if (x == 42) return \"answer\"; return \"none\"; }
}
";

const ASKED: [&str; 3] = ["generate", "Cart.java", "--no-replay"];

#[test]
fn what_is_unchanged_of_a_class_is_not_explored_again() {
    let project = Project::new();
    project.write("Cart.java", CLASS);
    let first = explored_once(&project.run(&ASKED).explored());
    assert!(first.len() >= 5, "{first:?}");
    assert_eq!(project.again(&ASKED), Vec::<String>::new());
    // Other lines.
    project.write("Cart.java", &CLASS.replace("    static", "\n    // what it is for\n    static"));
    assert_eq!(project.again(&ASKED), Vec::<String>::new());
    // A leaf.
    project.write("Cart.java", &CLASS.replace("? 5 : 0", "? 6 : 0"));
    let again = explored_once(&project.again(&ASKED));
    let about = |name: &str| again.iter().any(|function| function.contains(name));
    assert!(about("discount") && !about("other") && !about("word") && !about("add"), "{again:?}");
    // The observers that tests call after the call under test.
    project.write("Cart.java", &CLASS.replace("return total;", "return total + 1;"));
    let again = explored_once(&project.again(&ASKED));
    assert!(again.iter().any(|function| function.contains("add")), "{again:?}");
    assert!(!again.iter().any(|function| function.contains("other")), "{again:?}");
}

#[test]
fn a_replay_of_java_is_not_done_again_as_long_as_the_classes_are_the_same() {
    let project = Project::new();
    project.write("Cart.java", CLASS);
    let first = project.run(&["generate", "Cart.java", "-f", "other"]);
    let second = project.run(&["generate", "Cart.java", "-f", "other"]);
    assert_eq!(second.explored(), Vec::<String>::new());
    let seconds = |ran: &super::Ran| ran.document["functions"][0]["replay_seconds"].clone();
    assert_eq!(seconds(&first), seconds(&second), "it is what it took then");
    assert_eq!(first.lasting(), second.lasting());
    assert!(second.document["tests"].as_array().expect("tests").iter().all(|test| test["replay"] == "agreed"));
}
