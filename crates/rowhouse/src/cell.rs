//! Cells with their versions and delete markers, and a column's history.
//!
//! Which versions does a column have?
//!
//! ```
//! use rowhouse::schema::FamilyDescriptor;
//! use rowhouse::{Get, Put, TableSpec, Timestamp};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> rowhouse::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
//! let spec = TableSpec::new("blog").family_with(FamilyDescriptor::new("cf")?.versions(3));
//! let blog = database.create_table(spec).await?;
//! for (millis, title) in [(1, "draft"), (2, "final")] {
//!     let at = Timestamp::from_millis(millis)?;
//!     blog.put(Put::new("7")?.add_at("cf", "title", at, title)?).await?;
//! }
//! let row = blog.get(&Get::new("7")?.versions(3)).await?;
//! let versions: Vec<_> = row.cells().map(|cell| cell.value()).collect();
//! assert_eq!(versions, [&b"final"[..], b"draft"]);
//! # database.close().await
//! # }
//! ```

pub use rowhouse_model::{
    Cell, CellEntry, CellHistory, CellKind, CellLocation, CellStatus, KeyValue,
};
