//! Tables that go to a cluster and come from one, as HFiles in the directory that HBase's bulk load takes: a folder for
//! each family, HFiles in it (`docs/decisions/0040-handing-over-as-hfiles.md`).

mod export;
mod load;
mod loading;
mod rows;

pub use export::{ExportOptions, ExportReport, ExportedCells};
pub use load::{LoadReport, files_to_load};

#[cfg(test)]
mod tests;
