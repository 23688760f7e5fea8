//! Access to a table: directly through the store, or through a client to a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rowhouse_model::{
    Append, CompareOperator, Condition, Delete, Get, Increment, Mutation, MutationOutcome, Put,
    Row, RowMutations,
};
use rowhouse_store::Clock;
use tokio::runtime::Handle;

use super::account::{Account, Did};

/// A clock that advances by a millisecond with each reading. A delete marker hides writes in the
/// same millisecond, in HBase too, so real time would not work.
#[derive(Default)]
pub(crate) struct Ticks(AtomicI64);

impl Clock for Ticks {
    fn now_millis(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// A way to access a table.
pub(crate) enum Door {
    Store(Arc<rowhouse_store::Table>),
    Client(rowhouse::Table, Handle),
}

impl Door {
    /// Returns true if every write has a distinct timestamp, so that all write kinds can be mixed.
    pub(crate) fn has_own_times(&self) -> bool {
        matches!(self, Self::Store(_))
    }

    /// Performs the operation `did` on `row` and returns it with the result.
    pub(crate) fn make(&self, row: &str, did: Did) -> Did {
        let put = |text: &str| {
            let put = Put::new(row.to_owned()).unwrap().add("f", "text", text).unwrap();
            put.add("g", "copy", text).unwrap()
        };
        let increment =
            |by| Increment::new(row.to_owned()).unwrap().add("f", "number", by).unwrap();
        match did {
            Did::Get(_) => Did::Get(self.get(row)),
            Did::Put(text) => {
                self.mutate(put(&text));
                Did::Put(text)
            }
            Did::PutAll(text, number, note) => {
                let all = put(&text).add("f", "number", number.to_be_bytes()).unwrap();
                self.mutate(all.add("g", "note", &note).unwrap());
                Did::PutAll(text, number, note)
            }
            Did::Delete => {
                self.mutate(Delete::new(row.to_owned()).unwrap());
                Did::Delete
            }
            Did::Increment { by, .. } => {
                let row = self.mutate(increment(by)).row;
                Did::Increment { by, number: row.counter("f", "number").unwrap().unwrap() }
            }
            Did::Append { more, .. } => {
                let append = Append::new(row.to_owned()).unwrap().add("g", "note", &more).unwrap();
                let note = text(&self.mutate(append).row, "g", "note").unwrap();
                Did::Append { more, note }
            }
            Did::CheckAndPut { expected, text, .. } => {
                let done = self.mutate_if(&condition(&expected), put(&text).into());
                Did::CheckAndPut { expected, text, done }
            }
            Did::CheckAndMutate { expected, text, by, .. } => {
                let both = RowMutations::new(row.to_owned()).unwrap();
                let both = both.with(put(&text)).unwrap().with(increment(by)).unwrap();
                let outcome = self.mutate_row_if(&condition(&expected), both);
                let number =
                    outcome.map(|outcome| outcome.row.counter("f", "number").unwrap().unwrap());
                Did::CheckAndMutate { expected, text, by, number }
            }
        }
    }

    fn get(&self, row: &str) -> Account {
        let get = Get::new(row.to_owned()).unwrap();
        let row = match self {
            Self::Store(table) => table.get(&get),
            Self::Client(table, runtime) => runtime.block_on(table.get(&get)),
        };
        let row = row.unwrap();
        let seen = Account {
            text: text(&row, "f", "text"),
            number: row.counter("f", "number").unwrap(),
            note: text(&row, "g", "note"),
        };
        assert_eq!(text(&row, "g", "copy"), seen.text, "half a row: {row:?}");
        seen
    }

    fn mutate(&self, mutation: impl Into<Mutation>) -> MutationOutcome {
        let mutation = mutation.into();
        let outcome = match self {
            Self::Store(table) => table.mutate(&mutation),
            Self::Client(table, runtime) => runtime.block_on(table.mutate(mutation)),
        };
        outcome.unwrap()
    }

    fn mutate_if(&self, condition: &Condition, mutation: Mutation) -> bool {
        let outcome = match self {
            Self::Store(table) => table.mutate_if(condition, &mutation),
            Self::Client(table, runtime) => runtime.block_on(table.mutate_if(condition, mutation)),
        };
        outcome.unwrap().is_some()
    }

    fn mutate_row_if(
        &self,
        condition: &Condition,
        mutations: RowMutations,
    ) -> Option<MutationOutcome> {
        let outcome = match self {
            Self::Store(table) => table.mutate_row_if(condition, &mutations),
            Self::Client(table, runtime) => {
                runtime.block_on(table.mutate_row_if(condition, mutations))
            }
        };
        outcome.unwrap()
    }
}

fn condition(expected: &Option<String>) -> Condition {
    match expected {
        None => Condition::no_value("f", "text"),
        Some(text) => Condition::value("f", "text", CompareOperator::Equal, text.clone()),
    }
}

fn text(row: &Row, family: &str, qualifier: &str) -> Option<String> {
    let value = row.value(family, qualifier)?;
    Some(String::from_utf8(value.to_vec()).unwrap())
}
