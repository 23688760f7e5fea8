//! A few rows as one object, changed by transactions.

use std::sync::Arc;

use rowhouse_model::{Error, ErrorKind, Get, Put, Result, Scan};
use rowhouse_store::{Store, Table, Transaction};
use todc_utils::Specification;

pub(crate) const ROWS: usize = 3;

/// The balance in each row.
pub(crate) type Balances = [i64; ROWS];

/// An operation, within a transaction or outside, with the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// Reads all rows in a transaction, with gets or with a scan.
    Look { by_scan: bool, seen: Balances },
    /// Reads one row outside transactions.
    Get { row: usize, seen: i64 },
    /// Puts a row outside transactions.
    Put { row: usize, balance: i64 },
    /// Moves an amount from one row to another, unless the sum over all rows is below `least`.
    Move { from: usize, to: usize, by: i64, least: i64, done: bool },
}

/// The sequential specification: some order in which the rows were changed.
pub(crate) struct OneByOne;

impl Specification for OneByOne {
    type State = Balances;
    type Operation = Did;

    fn init() -> Balances {
        [0; ROWS]
    }

    fn apply(did: &Did, before: &Balances) -> (bool, Balances) {
        let mut after = *before;
        let fits = match *did {
            Did::Look { seen, .. } => seen == *before,
            Did::Get { row, seen } => seen == before[row],
            Did::Put { row, balance } => {
                after[row] = balance;
                true
            }
            Did::Move { from, to, by, least, done } => {
                if done {
                    after[from] -= by;
                    after[to] += by;
                }
                done == (before.iter().sum::<i64>() >= least)
            }
        };
        (fits, after)
    }
}

/// Performs the operation `did` and returns it with the result.
pub(crate) fn make(store: &Store, table: &Arc<Table>, round: u64, did: &Did) -> Did {
    let key = |row: usize| format!("{round:06}-{row}");
    let put = |row: usize, balance: i64| {
        Put::new(key(row)).unwrap().add("f", "balance", balance.to_be_bytes()).unwrap()
    };
    let all = |transaction: &mut Transaction| -> Result<Balances> {
        let mut seen = [0; ROWS];
        for (row, seen) in seen.iter_mut().enumerate() {
            let row = transaction.get(table, &Get::new(key(row))?)?;
            *seen = row.counter("f", "balance")?.unwrap_or(0);
        }
        Ok(seen)
    };
    match *did {
        Did::Look { by_scan: false, .. } => {
            Did::Look { by_scan: false, seen: store.transact(all).unwrap() }
        }
        Did::Look { by_scan: true, .. } => {
            let range = rowhouse_model::RowRange::prefix(format!("{round:06}-").as_bytes());
            let seen = store.transact(|transaction| {
                let mut seen = [0; ROWS];
                let mut rows = transaction.scan(table, Scan::new(range.clone()))?;
                while let Some(row) = rows.next()? {
                    let at = usize::from(row.key()[row.key().len() - 1] - b'0');
                    seen[at] = row.counter("f", "balance")?.unwrap_or(0);
                }
                Ok(seen)
            });
            Did::Look { by_scan: true, seen: seen.unwrap() }
        }
        Did::Get { row, .. } => {
            let stored = table.get(&Get::new(key(row)).unwrap()).unwrap();
            Did::Get { row, seen: stored.counter("f", "balance").unwrap().unwrap_or(0) }
        }
        Did::Put { row, balance } => {
            table.mutate(&put(row, balance).into()).unwrap();
            did.clone()
        }
        Did::Move { from, to, by, least, .. } => {
            let done = store.transact(|transaction| {
                let seen = all(transaction)?;
                if seen.iter().sum::<i64>() < least {
                    return Err(Error::new(ErrorKind::InvalidRequest, "too little"));
                }
                transaction.mutate(table, put(from, seen[from] - by))?;
                // The transaction reads its own write.
                let has = transaction.get(table, &Get::new(key(to))?)?;
                let has = has.counter("f", "balance")?.unwrap_or(0);
                transaction.mutate(table, put(to, has + by))
            });
            match &done {
                Err(error) if error.message() != "too little" => panic!("{error}"),
                _ => Did::Move { from, to, by, least, done: done.is_ok() },
            }
        }
    }
}
