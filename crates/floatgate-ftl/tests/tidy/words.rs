//! Comments in plain sentences, and identifiers that are words of the field.

use super::{File, everything, report};

/// Words that no identifier of a crate or a fuzzer contains, and their replacements.
const PRIVATE: &[(&str, &str)] = &[
    ("told", "reported or attributed"),
    ("untold", "unreported"),
    ("kept_by", "last_blocker"),
    ("held_by", "blocked_by"),
    ("guest", "external"),
    ("Guest", "External"),
    ("beside", "what it is next to, or extra"),
    ("spared", "saved"),
    ("stand_still", "freeze"),
    ("stands_still", "is_frozen"),
];

/// Files that name the Python package `floatgate.guests` or its arguments.
const NAMES_GUESTS: &str = "floatgate-py/src";

/// A config value that users write (`tlllp.prefetch`).
const VALUE: &str = "= \"beside\"";

/// Starts of sentences that leave out the noun.
const HEADLESS: &[&str] = &["What", "Who", "Those of", "That of", "The same"];

/// Passives that leave out the actor, and a conjunction for "except".
const AGENTLESS: &[&str] = &["told", "said", "held", "asked"];
const EXCEPT: &str = "but for";

/// Yields the paragraphs of comments: their first lines, and their texts as one line.
fn comments(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = vec![];
    let mut last = (0, "");
    for (at, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let marks = ["///", "//!", "//"].into_iter().find(|marks| line.starts_with(marks));
        let Some(marks) = marks else { continue };
        let words = line[marks.len()..].trim();
        let continues = last == (at - 1, marks) && !words.is_empty();
        match paragraphs.last_mut().filter(|_| continues) {
            Some((_, text)) => *text += &format!(" {words}"),
            None => paragraphs.push((at, words.to_owned())),
        }
        last = (at, marks);
    }
    paragraphs
}

/// Returns the habits in a comment that make it hard to read.
fn habits(comment: &str) -> Vec<String> {
    let is_word = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    let mut found = vec![];
    for sentence in comment.split(". ") {
        let starts = |start: &&&str| sentence.strip_prefix(**start).is_some_and(is_word);
        let question = sentence.ends_with('?');
        found.extend(HEADLESS.iter().filter(starts).filter(|_| !question).map(|w| w.to_string()));
    }
    let words: Vec<&str> = comment.split(|c: char| !c.is_alphanumeric()).collect();
    for pair in words.windows(2) {
        if ["is", "are", "was", "were"].contains(&pair[0]) && AGENTLESS.contains(&pair[1]) {
            found.push(pair.join(" "));
        }
    }
    found.extend(comment.contains(EXCEPT).then(|| EXCEPT.to_owned()));
    found
}

/// Returns the files of all crates and fuzzers, except these tests.
fn rust() -> impl Iterator<Item = File> {
    let is_other = |file: &File| file.is_rust() && !file.name.contains("tests/tidy");
    everything().into_iter().filter(is_other)
}

#[test]
fn comments_have_nouns_and_actors() {
    let mut violations = vec![];
    for file in rust() {
        for (at, comment) in comments(&file.text) {
            let found = habits(&comment).into_iter();
            violations.extend(found.map(|habit| format!("{}:{at}: `{habit}`", file.name)));
        }
    }
    report(&violations);
}

#[test]
fn habits_are_found() {
    for comment in ["What waits.", "A die. Who asks.", "It is told.", "All but for one."] {
        assert_eq!(habits(comment).len(), 1, "{comment}");
    }
    for comment in ["What is its use?", "Whole pages.", "A lock is free.", "Whose turn it is."] {
        assert!(habits(comment).is_empty(), "{comment}");
    }
    let text = "/// One\n/// two.\nfn three() {}\n// Four.";
    assert_eq!(comments(text), [(1, "One two.".to_owned()), (4, "Four.".to_owned())]);
}

#[test]
fn identifiers_are_words_of_the_field() {
    let mut violations = vec![];
    for file in rust() {
        let excused = file.name.contains(NAMES_GUESTS);
        for (at, line) in (1..).zip(file.text.lines()) {
            let line = line.replace(VALUE, "");
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let has = |word: &str| {
                let part = |name: &&str| name.split('_').any(|part| part == word);
                words.iter().any(|name| *name == word || part(name))
            };
            let banned = PRIVATE.iter().filter(|(word, _)| has(word));
            for (word, instead) in banned.filter(|_| !excused) {
                violations.push(format!("{}:{at}: not `{word}`, but {instead}", file.name));
            }
        }
    }
    report(&violations);
}
