//! Splits a text into runs: characters that belong together.

use std::ops::Range;

use super::characters::{Class, push_folded};

/// Letters and digits, or Chinese characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Word,
    Han,
}

/// A run: characters of one kind that follow each other. It begins and ends with a visible
/// character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) kind: Kind,
    /// The text bytes.
    pub(super) bytes: Range<usize>,
}

/// Returns the first run that begins at or after byte `from` of `text`.
///
/// With `splits_han`, Chinese characters are separate runs; without, they are letters.
pub(super) fn next_run(text: &str, from: usize, splits_han: bool) -> Option<Run> {
    let kind_of = |class| match class {
        Class::Letter => Some(Kind::Word),
        Class::Han if splits_han => Some(Kind::Han),
        Class::Han => Some(Kind::Word),
        Class::Mark | Class::Invisible | Class::Separator => None,
    };
    let bytes = text.as_bytes();
    let mut start = from;
    let kind = loop {
        let &byte = bytes.get(start)?;
        // Most separators are ASCII: they are passed without decoding a character.
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            start += 1;
            continue;
        }
        let c = text[start..].chars().next()?;
        match kind_of(Class::of(c)) {
            Some(kind) => break kind,
            None => start += c.len_utf8(),
        }
    };
    // `at` is after the characters that were looked at, `end` after the last visible one.
    let mut at = start;
    let mut end = start;
    loop {
        while kind == Kind::Word && bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
            at += 1;
            end = at;
        }
        let Some(c) = text[at..].chars().next() else { break };
        let class = Class::of(c);
        match class {
            Class::Invisible => {}
            Class::Mark => end = at + c.len_utf8(),
            _ if kind_of(class) == Some(kind) => end = at + c.len_utf8(),
            _ => break,
        }
        at += c.len_utf8();
    }
    Some(Run { kind, bytes: start..end })
}

/// Replaces `term` by the form that a run of letters and digits has in the index. Returns false,
/// with only part of the form, if it is longer than `bytes_max`.
pub(super) fn fold(run: &str, term: &mut String, bytes_max: usize) -> bool {
    term.clear();
    if run.is_ascii() {
        let fits = run.len() <= bytes_max;
        if fits {
            term.push_str(run);
            term.make_ascii_lowercase();
        }
        return fits;
    }
    for c in run.chars().filter(|&c| Class::of(c) != Class::Invisible) {
        push_folded(term, c);
        if term.len() > bytes_max {
            return false;
        }
    }
    true
}
