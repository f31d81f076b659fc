//! Limit on the methods of the traits between the engine, its policies and its users.

use super::functions::{indent, is_rust_head};
use super::*;

const METHODS_MAX: usize = 8;

/// Modules with such traits, and the most methods of one trait that have no default.
const REQUIRED_MAX: &[(&str, usize)] = &[
    ("policy", 0),
    ("mapping", 3),
    ("placement", 3),
    ("victim", 3),
    ("buffer", 3),
    ("log_block", 3),
    ("queue", 3),
    ("device", METHODS_MAX),
];

/// A trait: its line, the number of its methods, and the number of those without a default.
type Trait = (usize, usize, usize);

/// Returns the traits of a file. Relies on the formatter.
fn traits(file: &File) -> Vec<Trait> {
    let lines: Vec<(usize, &str)> = file.code().collect();
    let is_trait = |line: &str| line.starts_with("trait ") || line.starts_with("pub trait ");
    let heads = (0..lines.len()).filter(|&at| is_trait(lines[at].1));
    let counted = heads.map(|at| {
        let body: Vec<&str> = lines[at..].iter().map(|line| line.1).collect();
        let end = body.iter().position(|line| line.starts_with('}'));
        let end = if body[0].ends_with('}') { 0 } else { end.unwrap() };
        let is_head = |line: &str| indent(line) == 4 && is_rust_head(line.trim_start());
        let methods: Vec<usize> = (0..end).filter(|&at| is_head(body[at])).collect();
        let signature_ends = |line: &&&str| line.ends_with([';', '{', '}']);
        let is_required =
            |&&at: &&usize| body[at..].iter().find(signature_ends).unwrap().ends_with(';');
        (lines[at].0, methods.len(), methods.iter().filter(is_required).count())
    });
    counted.collect()
}

#[test]
fn traits_are_small() {
    let (mut violations, mut found) = (vec![], 0);
    for (module, file) in sources() {
        let first = module.split('/').next().unwrap();
        let Some((_, required_max)) = REQUIRED_MAX.iter().find(|(name, _)| *name == first) else {
            continue;
        };
        for (line, methods, required) in traits(&file) {
            found += 1;
            if methods > METHODS_MAX || required > *required_max {
                let limit = format!("at most {METHODS_MAX} and {required_max}");
                let count = format!("{methods} methods, {required} without a default");
                violations.push(format!("{}:{line}: a trait of {count}: {limit}", file.name));
            }
        }
    }
    assert!(found > 10, "only {found} traits were found");
    report(&violations);
}

#[test]
fn methods_of_a_trait_are_counted() {
    let text = "pub trait A {\n    const B: bool;\n    fn a();\n    #[inline]\n    fn b() {}\n\
                \n    fn c(\n        d: u8,\n    ) -> u8;\n\n    fn e() -> u8\n    where\n        \
                Self: Sized,\n    {\n        f(|g| g);\n        0\n    }\n}\n\ntrait H {}\n";
    let file = File { name: "a.rs".into(), text: text.into() };
    assert_eq!(traits(&file), [(1, 4, 2), (20, 0, 0)]);
}
