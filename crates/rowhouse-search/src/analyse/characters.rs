//! Character classes, and a character's form in a term.

use super::marks::is_mark;

/// The part that a character has in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// A letter or digit.
    Letter,
    /// A Chinese character.
    Han,
    /// A combining mark: belongs to the character before it.
    Mark,
    /// An invisible character: neither ends a run nor stands in a term.
    Invisible,
    /// Everything else separates runs.
    Separator,
}

impl Class {
    pub(crate) fn of(c: char) -> Self {
        if c.is_ascii() {
            return if c.is_ascii_alphanumeric() { Class::Letter } else { Class::Separator };
        }
        if is_han(c) {
            Class::Han
        } else if is_invisible(c) {
            Class::Invisible
        } else if c.is_alphanumeric() {
            Class::Letter
        } else if is_mark(c) {
            Class::Mark
        } else {
            Class::Separator
        }
    }
}

/// Returns true if `c` is a Chinese character: in the script Han, without the radicals that stand
/// for themselves. The Unicode planes 2 and 3 are reserved for such characters.
fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3005}' | '\u{3007}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3fffd}')
}

/// Returns true if `c` only affects how characters beside it are drawn: the soft hyphen, joiners,
/// the byte order mark, variation selectors.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// Appends `c` as it stands in a term: in lower case, full-width letters and digits as half-width.
///
/// Case is mapped for each character alone, so that the same letters give the same term at a word's
/// end and inside it (`Σ` is always `σ`).
pub(super) fn push_folded(term: &mut String, c: char) {
    let c = match c {
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
            char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c)
        }
        _ => c,
    };
    if c.is_ascii() {
        term.push(c.to_ascii_lowercase());
    } else {
        term.extend(c.to_lowercase());
    }
}
