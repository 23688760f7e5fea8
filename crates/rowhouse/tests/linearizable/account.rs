//! One row as an object: what can be done to it and what must come of it.

use todc_utils::Specification;

/// A row with a text, a number and a note. The text has a copy in another family.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Account {
    pub(crate) text: Option<String>,
    pub(crate) number: Option<i64>,
    pub(crate) note: Option<String>,
}

/// What was done, with what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    Get(Account),
    /// Put text and copy.
    Put(String),
    /// Put the three of them.
    PutAll(String, i64, String),
    Delete,
    Increment {
        by: i64,
        number: i64,
    },
    Append {
        more: String,
        note: String,
    },
    /// Put text and copy, if the text was `expected`.
    CheckAndPut {
        expected: Option<String>,
        text: String,
        done: bool,
    },
    /// The same with an increment, as one.
    CheckAndMutate {
        expected: Option<String>,
        text: String,
        by: i64,
        number: Option<i64>,
    },
}

/// The order in which a row may have been changed.
pub(crate) struct OneByOne;

impl Specification for OneByOne {
    type State = Account;
    type Operation = Did;

    fn init() -> Account {
        Account::default()
    }

    fn apply(did: &Did, before: &Account) -> (bool, Account) {
        let mut after = before.clone();
        let fits = match did {
            Did::Get(seen) => seen == before,
            Did::Put(text) => {
                after.text = Some(text.clone());
                true
            }
            Did::PutAll(text, number, note) => {
                after = Account {
                    text: Some(text.clone()),
                    number: Some(*number),
                    note: Some(note.clone()),
                };
                true
            }
            Did::Delete => {
                after = Account::default();
                true
            }
            Did::Increment { by, number } => {
                after.number = Some(before.number.unwrap_or(0).wrapping_add(*by));
                after.number == Some(*number)
            }
            Did::Append { more, note } => {
                after.note = Some(before.note.clone().unwrap_or_default() + more);
                after.note.as_ref() == Some(note)
            }
            Did::CheckAndPut { expected, text, done } => {
                if *done {
                    after.text = Some(text.clone());
                }
                (*expected == before.text) == *done
            }
            Did::CheckAndMutate { expected, text, by, number } => {
                if number.is_some() {
                    after.text = Some(text.clone());
                    after.number = Some(before.number.unwrap_or(0).wrapping_add(*by));
                }
                match number {
                    None => *expected != before.text,
                    Some(_) => *expected == before.text && after.number == *number,
                }
            }
        };
        (fits, after)
    }
}
