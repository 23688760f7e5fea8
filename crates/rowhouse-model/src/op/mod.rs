//! Client operations, one file per operation.

mod append;
mod cells;
mod columns;
mod condition;
mod delete;
mod get;
mod increment;
mod mutation;
mod put;
mod row_mutations;
mod scan;
mod time_range;

pub use append::Append;
pub use columns::{Columns, Qualifiers};
pub use condition::{ColumnCondition, Condition, FilterCondition, RowCondition};
pub use delete::Delete;
pub use get::Get;
pub use increment::{Increment, Nonce};
pub use mutation::{Durability, Mutation, MutationOutcome};
pub use put::Put;
pub use row_mutations::RowMutations;
pub use scan::Scan;
pub use time_range::TimeRange;
