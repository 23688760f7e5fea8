//! Declarations for tables, families and columns, and advice about them.
//!
//! What does a declared column hold, and is a key a good one?
//!
//! ```
//! use rowhouse::TableSpec;
//! use rowhouse::schema::{ColumnSchema, Compression, FamilyDescriptor, Rule};
//!
//! let columns = ColumnSchema::parse("d:s subject string; d:n size u32")?;
//! let cell = columns.encode("size", 20_000)?;
//! assert_eq!((&cell.family[..], &cell.qualifier[..]), (&b"d"[..], &b"n"[..]));
//!
//! let family = FamilyDescriptor::new("d")?.attribute("COMPRESSION", "ZSTD");
//! assert_eq!(family.compression(), Compression::Zstd);
//! let spec = TableSpec::new("mail").family_with(family).key("[at millis][user string]");
//! assert_eq!(spec.advice()[0].rule, Rule::LeadingTime);
//! # Ok::<(), rowhouse::Error>(())
//! ```

pub use crate::spec::with_indexes;
pub use rowhouse_model::{
    BloomKind, Compression, Coprocessor, DataBlockEncoding, FamilyDescriptor, KeepDeletedCells,
    SplitPolicy, SplitRestriction, TableDescriptor, TableName,
};
pub use rowhouse_store::{OBSERVERS_ATTRIBUTE, named_observers, with_observers};

pub use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, CellBytes, CellMismatch, Column, ColumnSchema, FamilySize, Finding,
    INDEXES_ATTRIBUTE, Index, IndexOf, IndexSchema, IndexState, KEY_ATTRIBUTE, NamedCell, Rule,
    check_table, is_former_key,
};
