//! Exports tables to a cluster and imports them from one, as HFiles in the layout of HBase's bulk
//! load: a directory with a folder of HFiles for each family
//! (`docs/decisions/0040-tables-move-as-hfiles.md`).

mod export;
mod index;
mod load;
mod loading;
mod queued;
mod rows;

pub use export::{ExportOptions, ExportReport, ExportedCells};
pub use load::{LoadReport, files_to_load};

#[cfg(test)]
mod tests;
