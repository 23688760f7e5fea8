//! Files with a JSON object in each line.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rowhouse::{Error, Result, Value};
use serde_json::{Map, Value as Json};

use super::lines::{BYTE_ORDER_MARK, ROW_LEN_MAX, unreadable, without_line_end};
use super::reading::Reading;
use super::record::{Datum, Next, Record, RecordPosition};
use super::text::TextInput;

/// An open JSON lines file.
pub(super) struct JsonLinesSource {
    path: PathBuf,
    names: Vec<String>,
    /// Members that are ignored; without a list, all unknown ones.
    ignored_names: Option<Vec<String>>,
    comment: Option<u8>,
    lines: BufReader<TextInput>,
    place: RecordPosition,
    line: Vec<u8>,
}

impl JsonLinesSource {
    /// Opens a file. `expected_names` are the allowed members' names. Others are refused when the
    /// first row has them, or with the row that does.
    pub(super) fn open(
        path: &Path,
        text: TextInput,
        reading: &Reading,
        expected_names: &[String],
    ) -> Result<Self> {
        let mut source = Self {
            path: path.to_owned(),
            names: expected_names.to_vec(),
            ignored_names: Some(Vec::new()),
            comment: reading.comment,
            lines: BufReader::with_capacity(BUFFER_LEN, text),
            place: START,
            line: Vec::new(),
        };
        // The first object's names are the best known names for the file.
        if source.fill()?.is_some()
            && let Ok(object) = serde_json::from_slice::<Map<String, Json>>(&source.line)
        {
            let others = object.into_iter().map(|(name, _)| name);
            let others: Vec<_> = others.filter(|name| !expected_names.contains(name)).collect();
            source.names.extend(others);
        }
        source.seek(&START)?;
        Ok(source)
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn ignore_names(&mut self, names: Option<Vec<String>>) {
        self.ignored_names = names;
    }

    pub(super) fn place(&self) -> RecordPosition {
        self.place
    }

    pub(super) fn is_seekable(&self) -> bool {
        self.lines.get_ref().is_seekable()
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.lines.get_ref().bytes_read()
    }

    /// Returns the last line that was read.
    pub(super) fn original(&self) -> Vec<u8> {
        without_line_end(&self.line).to_vec()
    }

    pub(super) fn seek(&mut self, place: &RecordPosition) -> Result<()> {
        let moved = self.lines.seek(SeekFrom::Start(place.byte));
        moved.map_err(|source| unreadable(&self.path, place.line, source))?;
        self.place = *place;
        Ok(())
    }

    pub(super) fn next(&mut self, record: &mut Record) -> Result<Next> {
        let Some(place) = self.fill()? else { return Ok(Next::End) };
        let object: Map<String, Json> = match serde_json::from_slice(&self.line) {
            Ok(object) => object,
            Err(error) => {
                return Ok(Next::Broken(place, not_an_object(&self.line, &error)));
            }
        };
        match self.data_of(object, record) {
            Ok(()) => Ok(Next::Row(place)),
            Err(why) => Ok(Next::Broken(place, why)),
        }
    }

    /// Converts an object to a record's data.
    fn data_of(&self, object: Map<String, Json>, record: &mut Record) -> Result<()> {
        record.data.clear();
        record.data.resize(self.names.len(), Datum::Null);
        for (name, json) in object {
            match self.names.iter().position(|known| *known == name) {
                Some(at) => record.data[at] = datum(&name, json)?,
                None if self.ignored_names.as_ref().is_none_or(|passed| passed.contains(&name)) => {
                }
                None => {
                    return Err(Error::invalid(format!(
                        "a field that the first row does not have and the table does not declare: \
                         field={name}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Reads the next line that is neither empty nor a comment, and returns the position.
    fn fill(&mut self) -> Result<Option<RecordPosition>> {
        loop {
            let place = self.place;
            self.line.clear();
            let mut bounded = (&mut self.lines).take(ROW_LEN_MAX);
            let read = bounded.read_until(b'\n', &mut self.line);
            let read = read.map_err(|source| unreadable(&self.path, place.line, source))? as u64;
            if read == 0 {
                return Ok(None);
            }
            if read == ROW_LEN_MAX && !self.line.ends_with(b"\n") {
                let source = io::ErrorKind::FileTooLarge.into();
                return Err(unreadable(&self.path, place.line, source));
            }
            self.place =
                RecordPosition { byte: place.byte + read, line: place.line + 1, record: 0 };
            if place.byte == 0 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            let is_comment = self.comment.is_some() && self.line.first() == self.comment.as_ref();
            if !is_comment && !self.line.trim_ascii().is_empty() {
                return Ok(Some(place));
            }
        }
    }
}

/// Returns the error for a line that is no JSON object.
fn not_an_object(line: &[u8], error: &serde_json::Error) -> Error {
    let advice = match line.trim_ascii_start().first() {
        Some(b'[') => "; jq -c '.[]' makes lines of an array",
        Some(b'{') if error.is_eof() => "; jq -c . makes a line of an object of several lines",
        _ => "",
    };
    let why = error.to_string();
    // The line number counts within the text, which is one line in the file.
    let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
    Error::invalid(format!(
        "expected a JSON object in a line{advice}: {why}: column={}",
        error.column()
    ))
}

/// Converts a member's value.
fn datum(name: &str, json: Json) -> Result<Datum<'static>> {
    Ok(match json {
        Json::Null => Datum::Null,
        Json::String(text) => Datum::Text(Cow::Owned(text)),
        Json::Bool(_) | Json::Number(_) => Datum::Text(Cow::Owned(json.to_string())),
        Json::Array(_) => Datum::List(list(name, &json)?),
        Json::Object(_) => {
            Datum::Foreign { what: "an object", shown: Cow::Owned(json.to_string()) }
        }
    })
}

/// Converts a `repeat`'s groups.
fn list(name: &str, json: &Json) -> Result<Value> {
    Ok(match json {
        Json::Array(items) => {
            Value::List(items.iter().map(|item| list(name, item)).collect::<Result<_>>()?)
        }
        Json::String(text) => text.as_str().into(),
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), ..) => number.into(),
            (_, Some(number), _) => number.into(),
            (_, _, Some(number)) => number.into(),
            (None, None, None) => return Err(no_value(name, json)),
        },
        Json::Null | Json::Object(_) => return Err(no_value(name, json)),
    })
}

fn no_value(name: &str, json: &Json) -> Error {
    Error::invalid(format!("field `{name}`: not a value of a field: json={json}"))
}

const START: RecordPosition = RecordPosition { byte: 0, line: 1, record: 0 };
const BUFFER_LEN: usize = 64 << 10;
