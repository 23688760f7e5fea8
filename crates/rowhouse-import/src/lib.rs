//! Imports row files, or HFiles, into rowhouse tables. `rowhouse import` is a command line for this
//! crate.
//!
//! [`Import`] reads CSV, JSON lines and, with the feature `parquet`, Apache Parquet.
//!
//! ```
//! use rowhouse::key::KeySchema;
//! use rowhouse::schema::{ColumnSchema, TableName};
//! use rowhouse::Scan;
//! use rowhouse_import::Import;
//!
//! # #[tokio::main]
//! # async fn main() -> rowhouse::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! let files = dir.path();
//! let rows = "carrier,day,number,delay\nUA,2013-01-01,1545,2\n";
//! std::fs::write(files.join("flights.csv"), rows).unwrap();
//! let database = rowhouse::open(files.join("data").display().to_string()).await?;
//!
//! let key = KeySchema::parse("[carrier string][number u16]")?;
//! let columns = ColumnSchema::parse("d:t day text; d:w late i32")?;
//! let summary = Import::new(&database, TableName::parse("flights")?)
//!     .file(files.join("flights.csv"))
//!     .declare(key, columns, None)
//!     .map("delay", "late")
//!     .rejects(files)
//!     .progress(files.join("flights.progress"))
//!     .run()
//!     .await?;
//! assert_eq!((summary.counts.rejected, summary.written), (0, 1));
//!
//! let flights = database.table("flights").await?;
//! let mut rows = flights.query("carrier = 'UA'").rows().await?;
//! assert_eq!(rows.next().await?.unwrap().key("number").unwrap().to_string(), "1545");
//! database.close().await
//! # }
//! ```
//!
//! [`Import::sort`] writes the rows as store files instead of as puts, and [`load_hfiles`] loads a
//! cluster's files.
//!
//! Parquet's reader panics on some damaged files. Such a panic becomes an error; to keep the panic
//! message from standard error, the first Parquet file that is read wraps the process's panic hook.

mod cells;
mod compose;
mod hfiles;
mod import;
mod journal;
mod lanes;
mod load;
mod making;
mod mapping;
#[cfg(test)]
mod notation_table;
mod numbers;
mod progress;
mod rejects;
mod row;
mod rows;
mod run;
mod sample;
mod sort;
mod sorted;
mod source;
mod summary;
mod survey;
mod targets;
mod time_pattern;
mod times;
mod write;

pub use hfiles::load_hfiles;
pub use import::Import;
pub use mapping::check_set;
pub use progress::{ImportProgress, Step};
pub use run::Duplicates;
pub use sample::{FileSample, read_sample};
pub use sorted::SortedRows;
pub use source::{Encoding, Format, Reading};
pub use summary::Summary;
pub use survey::Counts;
pub use time_pattern::TimePattern;
pub use times::{Precision, TimeForm};

pub use rowhouse_store::{LoadReport, Progress as LoadProgress};
