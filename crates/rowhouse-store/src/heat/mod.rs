//! Table heat: where the requests are, by key range and minute, and which rows are hottest
//! (decision 0074).
//!
//! A region counts requests and their bytes exactly ([`SharedLoad`]). A table also has a
//! [`TableHeat`], which the regions share. It records requests, at a high rate a sample, in the
//! column for the current minute (`grid`): key ranges whose bounds follow the load. A column whose
//! minute is over is encoded (`column`) and retained in the `history`, which makes old columns
//! coarser in time and keys, so that it fits its share of 16 MiB. Each column has a `sample` of its
//! requests in the order in which they came, from which verdicts are made. `hot_rows` has the
//! hottest rows in the last minutes, with an error bound. All parts are pure: time is passed in.
//!
//! [`Heat`] has the heats of all tables. It writes their columns into a file every ten minutes and
//! when the store is closed (`file`). Heat is not data: if the file is damaged or cannot be
//! written, this is logged, and nothing fails.

mod budget;
mod column;
mod column_sets;
mod file;
mod grid;
mod history;
mod hot_rows;
mod key;
mod load;
mod number;
mod random;
mod rate;
mod report;
mod sample;
mod table;
mod tables;
#[cfg(test)]
mod verdict_tests;

pub(crate) use load::{Load, SharedLoad};
pub(crate) use table::TableHeat;
pub(crate) use tables::Heat;
