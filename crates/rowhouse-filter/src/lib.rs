//! Executes HBase's filters and comparators, with Java's regular expressions.
//!
//! [`FilterRun`] executes a [`Filter`](rowhouse_model::Filter) on one scanner's rows,
//! [`ComparisonRun`] a comparison on bytes. Filters as values, their text and their bytes are in
//! `rowhouse-model` and `rowhouse-format`: a client needs no more than that.
//!
//! ```
//! use rowhouse_filter::FilterRun;
//! use rowhouse_model::Filter;
//!
//! let filter = Filter::parse("RowFilter(=, 'regexstring:^user[0-9]+$')")?;
//! let mut run = FilterRun::new(&filter, false)?;
//! assert!(!run.filters_row_key(b"user17"));
//! run.reset();
//! assert!(run.filters_row_key(b"users"));
//! # Ok::<(), rowhouse_model::Error>(())
//! ```

mod charset;
mod comparison;
mod condition;
mod decimal;
mod depth;
mod regex;
mod run;

pub use comparison::ComparisonRun;
pub use condition::column_condition_holds;
pub use regex::{FullMatch, with_java_flags};
pub use run::{FilterRun, FilterVerdict, ValuePart};
