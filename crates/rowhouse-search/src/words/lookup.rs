//! A word or a phrase as one analyser looks for it.

use rowhouse_schema::{Analyser, Fault};

use super::node::{Form, Leaf};
use super::{FUZZY_CHARS_MAX, FUZZY_TERMS};
use crate::analyse::{Unfinished, searched, stem, unfinished};

/// The terms that make a text match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Lookup {
    /// All these terms, each at its distance from the first. At least one.
    Terms(Vec<(usize, String)>),
    /// A term that begins with `prefix`, or is `or_term`.
    Prefix { prefix: String, or_term: Option<String> },
    /// A term that so many changes turn into `word`: a change inserts, removes or replaces a
    /// character, or swaps two neighbours.
    Fuzzy { word: String, distance: u8 },
}

impl Lookup {
    /// Returns how `analyser` looks for `leaf`, and none if the analyser has no term for it.
    pub(crate) fn of(leaf: &Leaf, analyser: Analyser) -> Result<Option<Self>, Fault> {
        match &leaf.form {
            Form::Word(text) | Form::Phrase(text) => Ok(Self::of_text(text, analyser)),
            Form::Prefix(text) => match unfinished(analyser, text) {
                Unfinished::Word(prefix) => {
                    let or_term = Some(stem(&prefix))
                        .filter(|stem| analyser == Analyser::English && !stem.starts_with(&prefix));
                    Ok(Some(Lookup::Prefix { prefix, or_term }))
                }
                // Chinese words have no visible ends: text that goes on is text that is there.
                Unfinished::Han => Ok(Self::of_text(text, analyser)),
                Unfinished::SeveralWords => Err(leaf.several_words(analyser)),
                Unfinished::Nothing => Err(leaf.no_word(analyser)),
            },
            Form::Fuzzy(text, distance) => {
                let word = match unfinished(analyser, text) {
                    Unfinished::Word(word) if analyser == Analyser::English => stem(&word),
                    Unfinished::Word(word) => word,
                    Unfinished::Han => {
                        let form = &leaf.form;
                        let message = format!("`{form}`: `~` is not for Chinese characters");
                        return Err(Fault::new(leaf.at, message));
                    }
                    Unfinished::SeveralWords => return Err(leaf.several_words(analyser)),
                    Unfinished::Nothing => return Err(leaf.no_word(analyser)),
                };
                let chars = word.chars().count();
                if chars > FUZZY_CHARS_MAX {
                    let message = format!(
                        "a word with `~` is too long: chars={chars}, max={FUZZY_CHARS_MAX}"
                    );
                    return Err(Fault::new(leaf.at, message));
                }
                Ok(Some(Lookup::Fuzzy { word, distance: *distance }))
            }
        }
    }

    fn of_text(text: &str, analyser: Analyser) -> Option<Self> {
        let terms = searched(analyser, text);
        (!terms.is_empty()).then_some(Lookup::Terms(terms))
    }

    /// How many terms it counts for.
    pub(crate) fn terms(&self) -> usize {
        match self {
            Lookup::Terms(terms) => terms.len(),
            Lookup::Prefix { .. } => 1,
            Lookup::Fuzzy { .. } => FUZZY_TERMS,
        }
    }
}

impl Leaf {
    fn several_words(&self, analyser: Analyser) -> Fault {
        let message = format!("`{}` is several words for the analyser {analyser}", self.form);
        Fault::new(self.at, message).hint("`*` and `~` are for one word")
    }

    fn no_word(&self, analyser: Analyser) -> Fault {
        let message = format!("`{}` does not end in a word for the analyser {analyser}", self.form);
        Fault::new(self.at, message).hint("write a letter or digit before the `*` or `~`")
    }
}
