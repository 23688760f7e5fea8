//! Indexes: templates over a table's rows, whose keys are stored in a separate table.
//!
//! [`parse`] parses declarations, [`names`] resolves the names in them, and [`full_form`] derives
//! the entry template. [`entries`] turns a row into entries and an entry back into the row key,
//! [`header`] is an entry's value, [`copy`] is a table under another key, and [`plan`] reads an
//! index for a query. [`search`] is a full-text index, [`parse_search`] parses its declaration, and
//! [`search_plan`] plans a query by it.

mod analyser;
mod cells;
mod change;
mod check;
mod copy;
mod cost;
mod declaration;
mod entries;
mod full_form;
mod header;
mod intent;
mod names;
mod parse;
mod parse_search;
mod plan;
mod schema;
mod search;
mod search_plan;
mod state;
mod table;

pub use analyser::Analyser;
pub use change::ChangeReads;
pub use check::{check_altered_declarations, check_buffered_columns, check_declarations};
pub use copy::{FORMER_KEY_ATTRIBUTE, LAYOUT_ATTRIBUTE, Promotion, is_former_key, layout_of};
pub use cost::{COLLECTED_ENTRIES_MAX, CheapestWay, IndexCost};
pub use declaration::Index;
pub use entries::{Covered, Entry};
pub use header::EntryHeader;
pub use intent::{CLIENT_MAINTAINER, INDEX_MAINTAINER_ATTRIBUTE, Intent, SERVER_MAINTAINER};
pub use plan::{IndexPlan, WhyNot};
pub use schema::{INDEXES_ATTRIBUTE, IndexSchema};
pub use search::{Search, SearchField};
pub use search_plan::SearchPlan;
pub use state::{INDEX_DAMAGE_ATTRIBUTE, INDEX_STATE_ATTRIBUTE, IndexState, index_damage};
pub use table::{ENTRY_FAMILY, IndexOf, LIST_FAMILY, QUEUE_FAMILY, SEGMENT_FAMILY};
