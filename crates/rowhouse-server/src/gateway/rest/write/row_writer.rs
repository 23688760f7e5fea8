//! Writes rows part by part: an encoded row takes several times the bytes of the cells, so that
//! only a part of it is in memory at once.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine;
use bytes::{BufMut, Bytes, BytesMut};
use prost::encoding::{encode_varint, encoded_len_varint};
use rowhouse_model::{KeyValue, Row};
use rowhouse_schema::KeySchema;

use super::key::decoded;
use crate::gateway::rest::row_spec::BASE64;
use crate::limits::{REST_FRAME_ROWS, REST_PART_BYTES};

/// The form of rows.
#[derive(Clone)]
pub(in crate::gateway::rest) enum Form {
    Xml,
    Json {
        /// The template by which keys are decoded, too.
        keys: Option<Arc<KeySchema>>,
    },
    /// One message.
    Protobuf,
    /// Messages of up to ten rows, each after two bytes with the length: stateless scans have this
    /// form in HBase.
    ///
    /// ```text
    /// length u16, big-endian | CellSet | length | CellSet | …
    /// ```
    ProtobufFrames {
        /// Whether no rows are an empty message. In HBase that depends on the limit.
        has_empty: bool,
    },
}

/// Values up to this length are encoded together with the cell.
const SMALL_VALUE_BYTES: usize = 16 << 10;
/// Value bytes that are encoded at once: a multiple of three.
const VALUE_PART_BYTES: usize = 48 << 10;

/// Encoded bytes, or a large value that is to be encoded.
enum Part {
    Encoded(Bytes),
    Base64(Bytes),
}

/// Writes rows in a form.
pub(super) struct RowWriter {
    form: Form,
    rows: VecDeque<Row>,
    /// How many of the first row's cells are written; `None` before the row.
    cell: Option<usize>,
    has_begun: bool,
    /// There are no more rows.
    is_last: bool,
    has_ended: bool,
    /// A row was written.
    has_rows: bool,
    buffer: BytesMut,
    parts: VecDeque<Part>,
}

/// A row cannot be represented in the form.
#[derive(Debug)]
pub(super) struct TooLongForFrame(pub(super) usize);

impl RowWriter {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            rows: VecDeque::new(),
            cell: None,
            has_begun: false,
            is_last: false,
            has_ended: false,
            has_rows: false,
            buffer: BytesMut::new(),
            parts: VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.rows.extend(rows.into_iter().filter(|row| !row.is_empty()));
    }

    /// Notes that there are no more rows than those that were pushed.
    pub(super) fn end(&mut self) {
        self.is_last = true;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended && self.parts.is_empty() && self.buffer.is_empty()
    }

    /// Returns the next part of the body; `None` if more rows are needed, or after the end.
    ///
    /// # Errors
    /// A row that is too long for [`Form::ProtobufFrames`].
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, TooLongForFrame> {
        loop {
            match self.parts.pop_front() {
                Some(Part::Encoded(bytes)) => return Ok(Some(bytes)),
                Some(Part::Base64(mut value)) => {
                    let part = value.split_to(value.len().min(VALUE_PART_BYTES));
                    if !value.is_empty() {
                        self.parts.push_front(Part::Base64(value));
                    }
                    return Ok(Some(BASE64.encode(part).into()));
                }
                None => {}
            }
            if !self.write()? {
                let rest = self.buffer.split().freeze();
                return Ok((!rest.is_empty()).then_some(rest));
            }
            if self.buffer.len() >= REST_PART_BYTES {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        if !self.buffer.is_empty() {
            self.parts.push_back(Part::Encoded(self.buffer.split().freeze()));
        }
    }

    /// Writes some cells. Returns false if there is nothing to write.
    fn write(&mut self) -> Result<bool, TooLongForFrame> {
        if !self.has_begun && (!self.rows.is_empty() || self.is_last) {
            self.has_begun = true;
            self.write_begin();
            return Ok(true);
        }
        let Some(row) = self.rows.front().cloned() else {
            if !self.is_last || self.has_ended {
                return Ok(false);
            }
            self.has_ended = true;
            self.write_end();
            return Ok(true);
        };
        if matches!(self.form, Form::ProtobufFrames { .. }) {
            self.write_frame()?;
            return Ok(true);
        }
        let from = match self.cell {
            Some(cell) => cell,
            None => {
                self.write_row_begin(&row);
                0
            }
        };
        let mut written = from;
        for cell in row.cells().skip(from) {
            self.write_cell(cell, written == 0);
            written += 1;
            if self.buffer.len() >= REST_PART_BYTES || !self.parts.is_empty() {
                break;
            }
        }
        if written < row.len() {
            self.cell = Some(written);
            return Ok(true);
        }
        self.cell = None;
        self.has_rows = true;
        self.rows.pop_front();
        match &self.form {
            Form::Xml => self.buffer.put_slice(b"</Row>"),
            Form::Json { .. } => self.buffer.put_slice(b"]}"),
            Form::Protobuf | Form::ProtobufFrames { .. } => {}
        }
        Ok(true)
    }

    fn write_begin(&mut self) {
        match &self.form {
            Form::Xml => {
                self.buffer.put_slice(super::describe::XML_HEADER.as_bytes());
                let is_empty = self.rows.is_empty();
                self.buffer.put_slice(if is_empty { b"<CellSet/>" } else { b"<CellSet>" });
            }
            Form::Json { .. } => self.buffer.put_slice(br#"{"Row":["#),
            Form::Protobuf | Form::ProtobufFrames { .. } => {}
        }
    }

    fn write_end(&mut self) {
        match &self.form {
            Form::Xml if self.has_rows => self.buffer.put_slice(b"</CellSet>"),
            Form::Json { .. } => self.buffer.put_slice(b"]}"),
            Form::ProtobufFrames { has_empty: true } if !self.has_rows => self.buffer.put_u16(0),
            Form::Xml | Form::Protobuf | Form::ProtobufFrames { .. } => {}
        }
    }

    fn write_row_begin(&mut self, row: &Row) {
        match &self.form {
            Form::Xml => {
                self.buffer.put_slice(b"<Row key=\"");
                put_base64(&mut self.buffer, row.key());
                self.buffer.put_slice(b"\">");
            }
            Form::Json { keys } => {
                let begin: &[u8] = if self.has_rows { b",{\"key\":\"" } else { b"{\"key\":\"" };
                self.buffer.put_slice(begin);
                put_base64(&mut self.buffer, row.key());
                self.buffer.put_slice(b"\",");
                if let Some(keys) = keys {
                    let fields = decoded(keys, row.key());
                    self.buffer.put_slice(format!("\"decoded\":{fields},").as_bytes());
                }
                self.buffer.put_slice(b"\"Cell\":[");
            }
            Form::Protobuf | Form::ProtobufFrames { .. } => put_row_begin(&mut self.buffer, row),
        }
    }

    fn write_cell(&mut self, cell: KeyValue<'_>, is_first: bool) {
        let value = cell.value();
        match &self.form {
            Form::Xml => {
                self.buffer.put_slice(b"<Cell column=\"");
                put_column(&mut self.buffer, cell);
                self.buffer.put_slice(b"\" timestamp=\"");
                put_number(&mut self.buffer, cell.timestamp().as_millis());
                self.buffer.put_slice(b"\">");
            }
            Form::Json { .. } => {
                let begin: &[u8] = if is_first { b"{\"column\":\"" } else { b",{\"column\":\"" };
                self.buffer.put_slice(begin);
                put_column(&mut self.buffer, cell);
                self.buffer.put_slice(b"\",\"timestamp\":");
                put_number(&mut self.buffer, cell.timestamp().as_millis());
                self.buffer.put_slice(b",\"$\":\"");
            }
            Form::Protobuf | Form::ProtobufFrames { .. } => {
                put_cell_begin(&mut self.buffer, cell);
                self.put_raw(cell);
                return;
            }
        }
        if value.len() <= SMALL_VALUE_BYTES {
            put_base64(&mut self.buffer, value);
        } else {
            self.flush();
            self.parts.push_back(Part::Base64(cell.value_bytes()));
        }
        let end: &[u8] = if matches!(self.form, Form::Xml) { b"</Cell>" } else { b"\"}" };
        self.buffer.put_slice(end);
    }

    fn put_raw(&mut self, cell: KeyValue<'_>) {
        if cell.value().len() <= SMALL_VALUE_BYTES {
            self.buffer.put_slice(cell.value());
        } else {
            self.flush();
            self.parts.push_back(Part::Encoded(cell.value_bytes()));
        }
    }

    /// Writes a message of several rows after the length.
    fn write_frame(&mut self) -> Result<(), TooLongForFrame> {
        let mut len = 0;
        let mut count = 0;
        for row in self.rows.iter().take(REST_FRAME_ROWS) {
            let row_len = frame_len(row);
            if count > 0 && len + row_len > usize::from(u16::MAX) {
                break;
            }
            len += row_len;
            count += 1;
        }
        let prefix = u16::try_from(len).map_err(|_| TooLongForFrame(len))?;
        self.buffer.put_u16(prefix);
        self.has_rows = true;
        for row in self.rows.drain(..count) {
            put_row_begin(&mut self.buffer, &row);
            for cell in row.cells() {
                put_cell_begin(&mut self.buffer, cell);
                self.buffer.put_slice(cell.value());
            }
        }
        Ok(())
    }
}

fn put_base64(out: &mut BytesMut, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    BASE64.encode_slice(bytes, &mut out[start..]).expect("the room is the encoded length");
}

/// Writes `family:qualifier` in Base64.
fn put_column(out: &mut BytesMut, cell: KeyValue<'_>) {
    let (family, qualifier) = (cell.family(), cell.qualifier());
    let len = family.len() + 1 + qualifier.len();
    let mut small = [0; 128];
    if let Some(column) = small.get_mut(..len) {
        column[..family.len()].copy_from_slice(family);
        column[family.len()] = b':';
        column[family.len() + 1..].copy_from_slice(qualifier);
        put_base64(out, column);
    } else {
        put_base64(out, &[family, b":", qualifier].concat());
    }
}

fn put_number(out: &mut BytesMut, number: i64) {
    use std::fmt::Write;
    write!(out, "{number}").expect("a BytesMut grows");
}

/// The field `rows` of CellSet, as a tag of protobuf.
const ROWS: u8 = 1 << 3 | 2;
/// The fields of CellSet.Row.
const KEY: u8 = 1 << 3 | 2;
const VALUES: u8 = 2 << 3 | 2;
/// The fields of Cell.
const COLUMN: u8 = 2 << 3 | 2;
const TIMESTAMP: u8 = 3 << 3;
const DATA: u8 = 4 << 3 | 2;

fn put_len(out: &mut BytesMut, tag: u8, len: usize) {
    out.put_u8(tag);
    encode_varint(len as u64, out);
}

/// Returns the length of bytes as a field.
fn field_len(len: usize) -> usize {
    1 + encoded_len_varint(len as u64) + len
}

fn cell_len(cell: KeyValue<'_>) -> usize {
    let column = cell.family().len() + 1 + cell.qualifier().len();
    let millis = cell.timestamp().as_millis();
    field_len(column) + 1 + encoded_len_varint(millis as u64) + field_len(cell.value().len())
}

/// Returns the length of a message with one row.
pub(super) fn frame_len(row: &Row) -> usize {
    field_len(row_len(row))
}

fn row_len(row: &Row) -> usize {
    field_len(row.key().len()) + row.cells().map(|cell| field_len(cell_len(cell))).sum::<usize>()
}

fn put_row_begin(out: &mut BytesMut, row: &Row) {
    put_len(out, ROWS, row_len(row));
    put_len(out, KEY, row.key().len());
    out.put_slice(row.key());
}

/// Writes a cell up to the value.
fn put_cell_begin(out: &mut BytesMut, cell: KeyValue<'_>) {
    put_len(out, VALUES, cell_len(cell));
    put_len(out, COLUMN, cell.family().len() + 1 + cell.qualifier().len());
    out.put_slice(cell.family());
    out.put_u8(b':');
    out.put_slice(cell.qualifier());
    out.put_u8(TIMESTAMP);
    encode_varint(cell.timestamp().as_millis() as u64, out);
    put_len(out, DATA, cell.value().len());
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{Cell, CellKind, Timestamp};

    use super::*;
    use crate::gateway::rest::media::Media;
    use crate::gateway::rest::model::Budget;
    use crate::gateway::rest::read;

    const FRAMES: Form = Form::ProtobufFrames { has_empty: false };

    fn row(key: &str, cells: &[(&str, i64, &[u8])]) -> Row {
        let cells = cells.iter().map(|(qualifier, at, value)| {
            let at = Timestamp::from_millis(*at).unwrap();
            Cell::new(key, "f", qualifier, at, CellKind::Put, value).unwrap()
        });
        Row::new(cells.collect())
    }

    fn written(form: Form, rows: Vec<Row>) -> Vec<u8> {
        // Values that are not encoded are shared.
        let part_max = match form {
            Form::Protobuf => usize::MAX,
            _ => 2 * REST_PART_BYTES,
        };
        let mut writer = RowWriter::new(form);
        writer.push(rows);
        writer.end();
        let mut body = Vec::new();
        while let Some(part) = writer.next().unwrap() {
            assert!(part.len() <= part_max, "{}", part.len());
            body.extend_from_slice(&part);
        }
        assert!(writer.has_ended());
        body
    }

    #[test]
    fn small_rows_have_hbases_form() {
        let rows =
            || vec![row("r1", &[("q", 100, b"v1"), ("r", 7, b"")]), row("r2", &[("q", 1, b"x")])];
        let text = |form| String::from_utf8(written(form, rows())).unwrap();
        assert_eq!(
            text(Form::Json { keys: None }),
            r#"{"Row":[{"key":"cjE=","Cell":[{"column":"Zjpx","timestamp":100,"$":"djE="},{"column":"Zjpy","timestamp":7,"$":""}]},{"key":"cjI=","Cell":[{"column":"Zjpx","timestamp":1,"$":"eA=="}]}]}"#
        );
        assert_eq!(
            text(Form::Xml),
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><CellSet><Row key=\"cjE=\"><Cell column=\"Zjpx\" timestamp=\"100\">djE=</Cell><Cell column=\"Zjpy\" timestamp=\"7\"></Cell></Row><Row key=\"cjI=\"><Cell column=\"Zjpx\" timestamp=\"1\">eA==</Cell></Row></CellSet>"
        );
        assert_eq!(
            written(Form::Protobuf, vec![row("r1", &[("q", 100, b"v1")])]),
            b"\x0a\x11\x0a\x02r1\x12\x0b\x12\x03f:q\x18\x64\x22\x02v1"
        );
        assert_eq!(
            written(FRAMES, vec![row("r1", &[("q", 100, b"v1")])]),
            b"\0\x13\x0a\x11\x0a\x02r1\x12\x0b\x12\x03f:q\x18\x64\x22\x02v1"
        );
    }

    #[test]
    fn no_rows_are_an_empty_set() {
        assert_eq!(written(Form::Json { keys: None }, vec![]), br#"{"Row":[]}"#);
        assert!(written(Form::Xml, vec![]).ends_with(b"<CellSet/>"));
        assert_eq!(written(Form::Protobuf, vec![]), b"");
        assert_eq!(written(FRAMES, vec![]), b"");
        assert_eq!(written(Form::ProtobufFrames { has_empty: true }, vec![]), b"\0\0");
    }

    #[test]
    fn large_rows_are_written_in_parts_and_read_back() {
        let large = vec![7; 200_000];
        let small: Vec<_> = (0..5000).map(|number| format!("q{number:05}")).collect();
        let mut cells: Vec<(&str, i64, &[u8])> =
            small.iter().map(|name| (&name[..], 1, &b"some value"[..])).collect();
        cells.push(("z", 2, &large));
        let rows = || vec![row("a", &cells), row("b", &[("q", 1, &large), ("r", 1, b"x")])];
        let forms = [
            (Form::Json { keys: None }, Media::Json),
            (Form::Xml, Media::Xml),
            (Form::Protobuf, Media::Protobuf),
        ];
        for (form, media) in forms {
            let body = Bytes::from(written(form, rows()));
            let read = read::cells(media, &body, &mut Budget::new(1 << 30)).unwrap();
            assert_eq!(read.len(), 2);
            for (read, row) in read.iter().zip(rows()) {
                assert_eq!(read.key.as_deref(), Some(row.key()));
                let values: Vec<_> = read.cells.iter().map(|cell| &cell.value[..]).collect();
                let expected: Vec<_> = row.cells().map(|cell| cell.value()).collect();
                assert_eq!(values, expected);
            }
        }
    }

    #[test]
    fn a_frame_has_as_many_rows_as_fit() {
        let value = vec![1; 30_000];
        let rows: Vec<_> = (0..4).map(|n| row(&format!("r{n}"), &[("q", 1, &value)])).collect();
        let body = written(FRAMES, rows);
        let first = usize::from(u16::from_be_bytes([body[0], body[1]]));
        assert!(first > 60_000 && body.len() == 2 * (2 + first), "{first} {}", body.len());
        let mut writer = RowWriter::new(FRAMES);
        writer.push([row("r", &[("q", 1, &[0; 70_000])])]);
        assert!(writer.next().is_err());
    }
}
