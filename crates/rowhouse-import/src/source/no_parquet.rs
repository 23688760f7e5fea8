//! Refuses Parquet files, in builds without the feature `parquet`.

use std::fs::File;
use std::path::Path;

use rowhouse::{Error, Result};

use super::record::{Next, Record, RecordPosition};

/// A Parquet file that could be opened: there is none.
pub(super) enum ParquetSource {}

impl ParquetSource {
    pub(super) fn open(path: &Path, _file: File) -> Result<Self> {
        Err(Error::unsupported(format!(
            "Parquet is read with the feature `parquet` of rowhouse-import, which this program was built without: \
             file={}",
            path.display()
        )))
    }

    pub(super) fn names(&self) -> &[String] {
        match *self {}
    }

    pub(super) fn rows(&self) -> u64 {
        match *self {}
    }

    pub(super) fn place(&self) -> RecordPosition {
        match *self {}
    }

    pub(super) fn seek(&mut self, _place: &RecordPosition) -> Result<()> {
        match *self {}
    }

    pub(super) fn next(&mut self, _record: &mut Record) -> Result<Next> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use rowhouse::ErrorKind;

    use crate::source::{Reading, Source};

    #[test]
    fn a_parquet_file_is_refused_with_the_name_of_the_feature() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.parquet");
        std::fs::write(&path, b"PAR1").unwrap();
        let refused = Source::open(&path, &Reading::default(), &[]).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.message().contains("feature `parquet`"), "{refused}");
    }
}
