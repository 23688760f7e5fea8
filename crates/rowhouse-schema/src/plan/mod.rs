//! Query planning: from a query to the row ranges that hold the rows, in four steps without side
//! effects.
//!
//! [`parse`] parses the query, [`bind`] turns it into one value [`set`] for each field, [`walk`]
//! goes through the template from the left and pins bytes as far as it can, and [`explain`] prints
//! the result. The walk gets from [`matching`] the ranges for a field's requested values, or the
//! single values; each codec kind has a file for this. Qualifier fields are planned the same way in
//! [`qualifiers`], and [`parts`] turns their ranges into reads.

mod age;
mod bind;
mod buckets;
mod columns;
mod constant;
mod cover;
mod estimate;
mod explain;
mod fixed;
mod hints;
mod key_ranges;
mod matching;
mod merge;
mod number;
mod of_key;
mod open;
mod order;
mod page;
mod parse;
mod parts;
mod predicate;
mod qualifiers;
mod query_plan;
mod ranges;
mod row_conditions;
mod separated;
mod sequence;
mod set;
mod shortest;
mod stored_test;
mod streams;
mod terminated;
mod walk;

pub use columns::ColumnFilter;
pub use estimate::{Estimate, EstimatedRows, Statistics};
pub(crate) use explain::{RANGES_SHOWN, ShownAs};
pub use merge::StreamMerge;
pub use order::{OrderedField, PlanOrder, RowSequence};
pub use page::Direction;
pub use parts::PlanPart;
pub use predicate::Predicate;
pub(crate) use predicate::{Comparison, Condition, Test};
pub use qualifiers::{QualifierPlan, QualifierRange};
pub use query_plan::{Plan, PlanStream, Residual};
pub use ranges::RANGES_MAX;
pub(crate) use row_conditions::RowConditions;
