//! What a client asks for: one file per verb.

mod columns;
mod condition;
mod delete;
mod get;
mod increment;
mod mutation;
mod put;
mod scan;
mod time_range;

pub use columns::{Columns, Qualifiers};
pub use condition::{Condition, NoValue};
pub use delete::Delete;
pub use get::Get;
pub use increment::{Increment, Nonce};
pub use mutation::{Durability, Mutation, MutationOutcome};
pub use put::Put;
pub use scan::Scan;
pub use time_range::TimeRange;
