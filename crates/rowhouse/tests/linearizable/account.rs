//! A row as an object with a sequential specification: the operations and their required results.

use todc_utils::Specification;

/// A row with a text, a number and a note. The text has a copy in another family.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Account {
    pub(crate) text: Option<String>,
    pub(crate) number: Option<i64>,
    pub(crate) note: Option<String>,
}

/// An operation with the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    Get(Account),
    /// Puts text and copy.
    Put(String),
    /// Puts text, copy, number and note.
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
    /// Puts text and copy if the text equals `expected`.
    CheckAndPut {
        expected: Option<String>,
        text: String,
        done: bool,
    },
    /// As `CheckAndPut`, with an increment, atomically.
    CheckAndMutate {
        expected: Option<String>,
        text: String,
        by: i64,
        number: Option<i64>,
    },
}

/// The sequential specification: some order in which the row was changed.
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
