//! HBase's filters, and every type that they and [`Condition`](crate::Condition)s hold.
//!
//! Which rows have a value, and how is a filter from HBase's shell used?
//!
//! ```
//! use rowhouse::filter::{Comparator, CompareOperator, Comparison, Filter};
//! use rowhouse::{Put, Scan, TableSpec};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> rowhouse::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
//! let orders = database.create_table(TableSpec::new("orders").family("o")).await?;
//! for (order, city) in [("1", "Leeds"), ("2", "York")] {
//!     orders.put(Put::new(order)?.add("o", "city", city)?).await?;
//! }
//! let filter = Filter::SingleColumnValue {
//!     family: "o".into(),
//!     qualifier: "city".into(),
//!     value: Comparison {
//!         operator: CompareOperator::Equal,
//!         comparator: Comparator::Binary("Leeds".into()),
//!     },
//!     filter_if_missing: true,
//!     latest_version_only: true,
//!     exclude: false,
//! };
//! let text = "SingleColumnValueFilter('o', 'city', =, 'binary:Leeds', true, true)";
//! assert_eq!(Filter::parse(text)?, filter);
//!
//! let found = orders.scan(Scan::all().filter(filter)).await?.collect().await?;
//! assert_eq!(found.len(), 1);
//! # database.close().await
//! # }
//! ```

pub use rowhouse_model::{
    BitOperator, ColumnCondition, ColumnOffset, Comparator, CompareOperator, Comparison,
    FILTER_DEPTH_MAX, Filter, FilterCondition, FilterRange, FuzzyKey, ListOperator, RegexEngine,
    RegexPattern,
};
