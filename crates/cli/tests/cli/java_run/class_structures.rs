//! Random classes whose structure decides what they print: methods of all visibilities, overridden in two packages, and initialisers that
//! throw and leave objects behind.

use crate::support::rng::Rng;
use std::fmt::Write;

/// The number of hierarchies and of classes with initialisers in a program.
const COUNT: usize = 12;

/// Returns the files of a program, as paths and texts; its main class is `Main`.
pub fn program(seed: u64) -> Vec<(String, String)> {
    let mut rng = Rng::new(seed);
    let (mut files, mut main) = (Vec::new(), String::new());
    for number in 0..COUNT {
        hierarchy(&mut rng, number, &mut files, &mut main);
    }
    initialisers(&mut rng, &mut files, &mut main);
    let text = format!("public class Main {{ public static void main(String[] a) {{\n{main}}} }}");
    files.push(("Main.java".to_string(), text));
    files
}

/// The visibilities of methods, from the least to the greatest.
const VISIBILITIES: [&str; 3] = ["", "protected ", "public "];

/// A class of a chain, each of which extends the one before.
struct Link {
    package: &'static str,
    /// The visibility of its own method.
    declares: Option<usize>,
}

/// Adds a chain of classes. Each class has a method that calls the method `hook` as this class sees it.
fn hierarchy(rng: &mut Rng, number: usize, files: &mut Vec<(String, String)>, main: &mut String) {
    let mut chain: Vec<Link> = Vec::new();
    for depth in 0..2 + rng.below(4) {
        let package = *rng.pick(&["p", "q"]);
        // A method may not be less visible than those that it overrides.
        let inherited = chain.iter().filter_map(|above| {
            let visibility = above.declares?;
            (visibility > 0 || above.package == package).then_some(visibility)
        });
        let least = inherited.max().unwrap_or(0);
        let declares = (depth == 0 || rng.chance(75)).then(|| least + rng.below(VISIBILITIES.len() - least));
        chain.push(Link { package, declares });
    }
    for (depth, link) in chain.iter().enumerate() {
        let name = format!("H{number}x{depth}");
        let above = match depth.checked_sub(1) {
            Some(above) => format!(" extends {}.H{number}x{above}", chain[above].package),
            None => String::new(),
        };
        let hook = match link.declares {
            Some(visibility) => format!("{}int hook() {{ return {depth}; }} ", VISIBILITIES[visibility]),
            None => String::new(),
        };
        // The nearest declaration decides whether the class may call the method.
        let nearest = chain[..=depth].iter().rev().find(|above| above.declares.is_some());
        let is_accessible = nearest.is_some_and(|above| above.declares > Some(0) || above.package == link.package);
        let ask = match is_accessible {
            true => format!("public int ask{depth}() {{ return hook(); }} "),
            false => String::new(),
        };
        let text = format!("package {}; public class {name}{above} {{ {hook}{ask}}}", link.package);
        files.push((format!("{}/{name}.java", link.package), text));
        for (from, above) in chain[..=depth].iter().enumerate() {
            let asks = files.iter().any(|(file, text)| {
                *file == format!("{}/H{number}x{from}.java", above.package) && text.contains(&format!(" ask{from}("))
            });
            if asks {
                let _ = writeln!(
                    main,
                    "System.out.println(\"{name} {from} \" + new {}.{name}().ask{from}());",
                    link.package
                );
            }
        }
    }
}

/// Adds classes whose initialisers may throw, may create objects that others keep, and use each other.
fn initialisers(rng: &mut Rng, files: &mut Vec<(String, String)>, main: &mut String) {
    let mut kept = String::new();
    for number in 0..COUNT {
        let _ = write!(kept, "public static I{number} i{number}; ");
        let keeps = match rng.below(4) {
            0 => String::new(),
            1 => "Kept.iN = new IN(); ".to_string(),
            2 => "keep(); ".to_string(),
            _ => "value = (Kept.iN = new IN()).own(); ".to_string(),
        };
        let uses = match rng.chance(40) && number > 0 {
            true => format!("value += I{}.get(); ", rng.below(number)),
            false => String::new(),
        };
        let throws = match rng.below(5) {
            0 => "throw new IllegalStateException(); ",
            1 => "throw new Error(); ",
            2 => "fail(); ",
            3 => "value = 1 / (value - value); ",
            _ => "",
        };
        // The compiler rejects an initialiser that can't complete.
        let throws = if throws.is_empty() { String::new() } else { format!("if (value > -5) {{ {throws}}} ") };
        let (first, second) = if rng.chance(50) { (&keeps, &uses) } else { (&uses, &keeps) };
        let text = format!(
            "public class IN {{ static int value = {}; static {{ {first}{second}{throws}value += 2; }}
             static void keep() {{ Kept.iN = new IN(); }} static void fail() {{ throw new UnsupportedOperationException(); }}
             public static int get() {{ return value++; }} public int own() {{ return value++; }} }}",
            rng.below(9)
        );
        files.push((
            format!("I{number}.java"),
            text.replace("IN", &format!("I{number}")).replace("iN", &format!("i{number}")),
        ));
    }
    files.push(("Kept.java".to_string(), format!("public class Kept {{ {kept}}}")));
    for _ in 0..4 * COUNT {
        let number = rng.below(COUNT);
        let call = *rng.pick(&["I#.get()", "Kept.i#.own()", "new I#().own()"]);
        let call = call.replace('#', &number.to_string());
        let _ = writeln!(
            main,
            "try {{ System.out.println(\"{call} \" + {call}); }} catch (Throwable e) {{ System.out.println(\"{call} \" + e.getClass().getName()); }}"
        );
    }
}
