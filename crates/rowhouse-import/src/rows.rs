//! All files' rows, one after the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rowhouse::key::KeySchema;
use rowhouse::{Error, Result};

use crate::mapping::{Mapping, Origin};
use crate::progress::{Reporter, Step};
use crate::rejects::Original;
use crate::row::{NewRow, Notations, RowConverter};
use crate::source::{Datum, Next, Reading, Record, RecordPosition, Source};
use crate::targets::Targets;
use crate::times::{FormCounts, Times};

/// An import's files, each with the converter for the rows in it.
pub(crate) struct Inputs {
    reading: Reading,
    ignored_names: Option<Vec<String>>,
    expected_names: Vec<String>,
    key: KeySchema,
    files: Vec<Input>,
}

struct Input {
    path: PathBuf,
    len: u64,
    /// Whether reading it from any position on does not read what comes before.
    is_seekable: bool,
    maker: RowConverter,
}

impl Inputs {
    /// Opens every file and matches its fields with the table's, before any row is read.
    pub(crate) fn new(
        paths: &[PathBuf],
        reading: &Reading,
        mapping: &Mapping,
        targets: &Targets,
    ) -> Result<Self> {
        let expected_names = mapping.expected_names(targets)?;
        let times = mapping.times(targets)?;
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let source = Source::open(path, reading, &expected_names)?;
            let origins = mapping.origins(source.names(), targets, source.allows_unknown_names());
            let notations = Notations { times: times.clone(), numbers: source.number_marks() };
            let maker =
                origins.and_then(|origins| RowConverter::new(targets, &origins, &notations));
            let is_known =
                |name: &String| expected_names.contains(name) || mapping.skips.contains(name);
            let maker = maker.map_err(|error| {
                if source.names().iter().any(is_known) {
                    in_file(path, &source, error)
                } else {
                    in_file(path, &source, advised(&source, error))
                }
            })?;
            let path = path.clone();
            let len = source.len();
            let is_seekable = source.is_seekable();
            files.push(Input { path, len, is_seekable, maker });
        }
        let reading = reading.clone();
        let ignored_names = mapping.ignored_names();
        Ok(Self { reading, ignored_names, expected_names, key: targets.key.clone(), files })
    }

    /// Reads the times whose form is not declared, and recognizes the form for each column in a
    /// file. Returns a remark for each form that differs from the printed one. Files without such
    /// columns are not read.
    ///
    /// # Errors
    /// `Io` and `Corruption`; `InvalidRequest` if two forms match equally many values.
    pub(crate) fn recognize_times(&mut self, reporter: &mut Reporter) -> Result<Vec<String>> {
        let mut remarks = Vec::new();
        let mut bytes_done = 0;
        for nth in 0..self.files.len() {
            let mut columns: BTreeMap<String, (Origin, FormCounts)> = BTreeMap::new();
            for (name, origin, times) in self.files[nth].maker.times() {
                if matches!(times, Times::Unknown) {
                    columns.insert(name.to_owned(), (origin.clone(), FormCounts::default()));
                }
            }
            if !columns.is_empty() {
                self.look_at_times(nth, &mut columns, bytes_done, reporter)?;
            }
            bytes_done += self.files[nth].len;
            let Input { path, maker, .. } = &mut self.files[nth];
            for (name, (_, looks)) in columns {
                let most = looks.most(&name).map_err(|error| error.with_context(path.display()))?;
                let Some((form, first)) = most else { continue };
                let recognized = Times::Recognized(form.clone());
                if recognized.differs_from_printed() {
                    let path = path.display();
                    remarks
                        .push(format!("times of `{name}` in {path} are read as {form}: {first}"));
                }
                for (_, _, times) in maker.times().filter(|(known, ..)| *known == name) {
                    *times = recognized.clone();
                }
            }
        }
        Ok(remarks)
    }

    fn look_at_times(
        &self,
        nth: usize,
        columns: &mut BTreeMap<String, (Origin, FormCounts)>,
        bytes_before: u64,
        reporter: &mut Reporter,
    ) -> Result<()> {
        let mut rows = Rows { inputs: self, file: nth, source: None, record: Record::default() };
        rows.open(None)?;
        let (Some(source), record) = (&mut rows.source, &mut rows.record) else { return Ok(()) };
        let mut count = 0;
        loop {
            match source.next(record)? {
                Next::End => return Ok(()),
                // The survey rejects it.
                Next::Broken(..) => continue,
                Next::Row(_) => {}
            }
            for (origin, looks) in columns.values_mut() {
                match origin.datum(record) {
                    Ok(Datum::Text(text)) => looks.note(&text),
                    Ok(Datum::Bytes(bytes)) => {
                        std::str::from_utf8(&bytes).iter().for_each(|text| looks.note(text));
                    }
                    Ok(_) | Err(_) => {}
                }
            }
            count += 1;
            reporter.report(Step::Times, count, bytes_before + source.bytes_done());
        }
    }

    /// Returns the key template.
    pub(crate) fn key(&self) -> &KeySchema {
        &self.key
    }

    /// Returns the total size of all files in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.len).sum()
    }

    /// Returns how many files there are.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns true if reading any file from any position on does not read what comes before.
    pub(crate) fn are_seekable(&self) -> bool {
        self.files.iter().all(|file| file.is_seekable)
    }

    /// Returns a file by number, from 0.
    pub(crate) fn path(&self, file: usize) -> &Path {
        self.files.get(file).map_or(Path::new(""), |file| &file.path)
    }

    /// Returns a position for messages.
    pub(crate) fn shown(&self, position: &InputPosition) -> String {
        format!("{}, line {}", self.path(position.file).display(), position.place.line)
    }

    /// Returns the rows from a position on.
    pub(crate) fn rows(&self, from: InputPosition) -> Result<Rows<'_>> {
        let mut rows =
            Rows { inputs: self, file: from.file, source: None, record: Record::default() };
        rows.open(Some(from.place).filter(|place| *place != RecordPosition::default()))?;
        Ok(rows)
    }
}

/// Adds the file to an error, and the line with the names, if it has one.
fn in_file(path: &Path, source: &Source, error: Error) -> Error {
    let line = source.heading_line().map(|line| format!(", line {line}")).unwrap_or_default();
    let message = format!("{error}\n  in {}{line}", path.display());
    error.with_message(message)
}

/// Adds the advice for a file whose names are all missing from the table.
fn advised(source: &Source, error: Error) -> Error {
    match source.advice() {
        Some(advice) => {
            let message = format!("{advice}\n  {error}");
            error.with_message(message)
        }
        None => error,
    }
}

/// A position in a file; the default is the first file's beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct InputPosition {
    /// The file, counted from 0.
    pub(crate) file: usize,
    /// The position in it; the default is the beginning.
    pub(crate) place: RecordPosition,
}

/// A row from a file, or the reason why it is invalid.
pub(crate) struct Read {
    /// The file, counted from 0.
    pub(crate) file: usize,
    pub(crate) place: RecordPosition,
    pub(crate) row: Result<NewRow>,
}

/// An iterator over rows, which reads them on demand.
pub(crate) struct Rows<'i> {
    inputs: &'i Inputs,
    file: usize,
    source: Option<Source>,
    record: Record,
}

impl Rows<'_> {
    /// Returns the next row; `None` after the last file's last row.
    ///
    /// # Errors
    /// `Io`, and `Corruption` for a file that cannot be read any further.
    pub(crate) fn next(&mut self) -> Result<Option<Read>> {
        while let Some(source) = &mut self.source {
            let input = &self.inputs.files[self.file];
            let (place, row) = match source.next(&mut self.record)? {
                Next::Row(place) => (place, input.maker.row(&self.record)),
                Next::Broken(place, why) => (place, Err(why)),
                Next::End => {
                    self.file += 1;
                    self.open(None)?;
                    continue;
                }
            };
            return Ok(Some(Read { file: self.file, place, row }));
        }
        Ok(None)
    }

    /// Returns the position after the last row that was read.
    pub(crate) fn reached(&self) -> InputPosition {
        let place = self.source.as_ref().map(Source::place);
        InputPosition { file: self.file, place: place.unwrap_or_default() }
    }

    /// Returns about how many bytes have been read from all files.
    pub(crate) fn bytes_done(&self) -> u64 {
        let before = self.inputs.files.iter().take(self.file).map(|file| file.len).sum::<u64>();
        before + self.source.as_ref().map_or(0, Source::bytes_done)
    }

    /// Returns the last row that was read as it stands in the file.
    pub(crate) fn original(&self, place: &RecordPosition) -> Result<Original> {
        let Some(source) = &self.source else { return Ok(Original::default()) };
        let heading = source.heading()?.unwrap_or_default();
        let row = source.original(place, &self.record);
        Ok(Original { heading, line: place.line, row })
    }

    /// Opens the next file.
    fn open(&mut self, place: Option<RecordPosition>) -> Result<()> {
        self.source = None;
        let Some(input) = self.inputs.files.get(self.file) else { return Ok(()) };
        let mut source =
            Source::open(&input.path, &self.inputs.reading, &self.inputs.expected_names)?;
        source.ignore_names(self.inputs.ignored_names.clone());
        if let Some(place) = place {
            source.seek(&place)?;
        }
        self.source = Some(source);
        Ok(())
    }
}
