//! Limit on the length of functions.

use super::*;

pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the functions of a file: the line with the name, and the number of lines. Relies on the
/// formatter: a function ends at the next line with the indentation of its first line.
fn functions(file: &File) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = file.text.lines().collect();
    let heads = (0..lines.len()).filter_map(|at| {
        let (head, lines) = (lines[at].trim_start(), &lines[at..]);
        match file.is_rust() {
            true => is_rust_head(head).then(|| (at, rust_length(lines))),
            false => is_python_head(head).then(|| (at, python_length(lines))),
        }
    });
    heads.collect()
}

pub(super) fn is_rust_head(line: &str) -> bool {
    let before = line.find("fn ").map(|at| line[..at].split_whitespace());
    let qualifier = |word: &str| {
        word.starts_with("pub") || ["const", "async", "unsafe", "extern"].contains(&word)
    };
    before.is_some_and(|mut words| words.all(qualifier))
}

fn rust_length(lines: &[&str]) -> usize {
    let ends = |line: &str| line.trim() == "}" || line.ends_with(';') || line.ends_with("{}");
    if ends(lines[0]) || lines[0].ends_with('}') {
        return 1;
    }
    let same = |line: &str| indent(line) == indent(lines[0]);
    1 + lines.iter().skip(1).position(|line| same(line) && ends(line)).map_or(0, |at| at + 1)
}

fn is_python_head(line: &str) -> bool {
    line.starts_with("def ") || line.starts_with("async def ")
}

fn python_length(lines: &[&str]) -> usize {
    let deeper = |line: &str| indent(line) > indent(lines[0]) || line.trim_start().starts_with(')');
    let inside = |line: &&&str| line.trim().is_empty() || deeper(line);
    let body: Vec<_> = lines[1..].iter().take_while(inside).collect();
    let blank = body.iter().rev().take_while(|line| line.trim().is_empty()).count();
    1 + body.len() - blank
}

#[test]
fn functions_are_short() {
    let (mut violations, mut found) = (vec![], 0);
    for file in everything() {
        for (at, lines) in functions(&file) {
            found += 1;
            let is_test = file.name.contains("tests/");
            let limit = if is_test { TEST_LINES_MAX } else { FUNCTION_LINES_MAX };
            if lines > limit {
                let place = format!("{}:{}", file.name, at + 1);
                violations.push(format!("{place}: a function of {lines} lines, at most {limit}"));
            }
        }
    }
    assert!(found > 300, "only {found} functions were found");
    report(&violations);
}

#[test]
fn a_function_is_as_long_as_it_looks() {
    let check = |name: &str, text: &str, expected: &[(usize, usize)]| {
        let file = File { name: name.into(), text: text.into() };
        assert_eq!(functions(&file), expected, "{text}");
    };
    check("a.rs", "fn a() {\n    b();\n}\n", &[(0, 3)]);
    check(
        "a.rs",
        "impl A {\n    pub(crate) const fn a(\n        b: u8,\n    ) {\n    }\n}\n",
        &[(1, 4)],
    );
    check("a.rs", "trait A {\n    fn a();\n    fn b() {}\n}\n", &[(1, 1), (2, 1)]);
    check("a.py", "def a():\n    b()\n\n    c()\n\n\nd()\n", &[(0, 4)]);
    check("a.py", "def a(\n    b,\n):\n    c()\n", &[(0, 4)]);
}
