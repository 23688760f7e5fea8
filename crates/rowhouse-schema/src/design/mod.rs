//! Table designs, judged before there are rows: a workload is described, designs are proposed for
//! it, and their costs are estimated.
//!
//! [`parse`] reads a [`workload`], whose [`question`]s and [`distribution`]s print themselves;
//! [`made`] makes values from numbers, [`random`] the numbers from a seed, and a [`sample`] has
//! values from real rows, which [`of_table`] takes from a table. [`table_design`] is a key with
//! indexes, [`reading`] says how it reads a question, and [`spread`] counts the writes to its
//! [`regions`]. [`propose`] makes designs for the [`shape`]s of questions, [`estimate`] says what
//! they cost from how counts grow ([`growth`]), [`search`] combines keys with indexes, [`limits`]
//! says which limits a design breaks, and [`rank`] orders them. [`wide`] is a design with the last
//! key fields in qualifiers. [`commands`] are the shell's, that lead to a design.

mod commands;
mod distribution;
mod estimate;
mod growth;
mod limits;
mod made;
mod of_table;
mod parse;
mod parse_values;
mod piece;
mod propose;
mod question;
mod random;
mod rank;
mod reading;
mod regions;
mod sample;
mod search;
mod shape;
mod spread;
mod table_design;
mod wide;
mod words;
mod workload;

pub use distribution::{Distribution, Draw};
pub use estimate::{DesignEstimate, Estimator, QuestionEstimate, ROWS_PER_RANGE};
pub use of_table::RowSample;
pub use propose::{DesignKind, Proposal};
pub use question::Question;
pub use rank::two_digits;
pub use reading::{QuestionReading, Way};
pub use regions::{BusiestShares, RegionModel};
pub use spread::{ROWS_PER_WRITE, Spread, TableSpread};
pub use table_design::Design;
pub use wide::WideForm;
pub use workload::{Limits, Record, Workload};
