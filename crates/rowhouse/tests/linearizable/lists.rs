//! Rows as lists of numbers. Clients append numbers, each number once, and read the lists.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use rowhouse_model::{Append, Get};
use todc_utils::{Action, Specification};
use tokio::runtime::Handle;

/// An operation with the result: the list that the client then saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListDid {
    Append { number: u64, list: Vec<u64> },
    Read { list: Vec<u64> },
}

/// The sequential specification: some order in which the numbers were appended.
pub(crate) struct InOrder;

impl Specification for InOrder {
    type State = Vec<u64>;
    type Operation = ListDid;

    fn init() -> Vec<u64> {
        Vec::new()
    }

    fn apply(did: &ListDid, before: &Vec<u64>) -> (bool, Vec<u64>) {
        let mut after = before.clone();
        let (ListDid::Append { list, .. } | ListDid::Read { list }) = did;
        if let ListDid::Append { number, .. } = did {
            after.push(*number);
        }
        (*list == after, after)
    }
}

/// Performs the operation `did` on `row` and returns it with the result.
pub(crate) fn make(table: &rowhouse::Table, runtime: &Handle, row: &str, did: ListDid) -> ListDid {
    let row = row.to_owned();
    match did {
        ListDid::Append { number, .. } => {
            let append = Append::new(row).unwrap().add("f", "list", format!("{number} ")).unwrap();
            let outcome = runtime.block_on(table.mutate(append.into())).unwrap();
            ListDid::Append { number, list: numbers(&outcome.row) }
        }
        ListDid::Read { .. } => {
            let row = runtime.block_on(table.get(&Get::new(row).unwrap())).unwrap();
            ListDid::Read { list: numbers(&row) }
        }
    }
}

fn numbers(row: &rowhouse_model::Row) -> Vec<u64> {
    let list = row.value("f", "list").unwrap_or_default();
    let list = String::from_utf8(list.to_vec()).unwrap();
    list.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// Appends a history to the file that `ROWHOUSE_ELLE_HISTORY` names, in the form that
/// [Elle](https://github.com/jepsen-io/elle) reads for its model `list-append`: an append and the
/// read of what it returned are one transaction. Each event has the name of its row.
pub(crate) fn write(events: &[(String, usize, Action<ListDid>)]) {
    let Ok(path) = std::env::var("ROWHOUSE_ELLE_HISTORY") else { return };
    let mut text = String::new();
    for (row, process, action) in events {
        let (kind, did, is_done) = match action {
            Action::Call(did) => ("invoke", did, false),
            Action::Response(did) => ("ok", did, true),
        };
        let (ListDid::Append { list, .. } | ListDid::Read { list }) = did;
        let read = if is_done { format!("{list:?}").replace(',', "") } else { "nil".into() };
        let append = match did {
            ListDid::Append { number, .. } => format!("[:append \"{row}\" {number}] "),
            ListDid::Read { .. } => String::new(),
        };
        let value = format!("[{append}[:r \"{row}\" {read}]]");
        writeln!(text, "{{:type :{kind}, :process {process}, :f :txn, :value {value}}}").unwrap();
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}
