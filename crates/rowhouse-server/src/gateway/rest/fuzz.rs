//! The parsers of paths and bodies, for the fuzz targets.

use bytes::Bytes;

use super::media::{self, Media};
use super::model::{Budget, CellSet};
use super::read;
use super::routes::is_resource;
use super::row_spec::{KeyEncoding, RowSpec};
use crate::limits::{REST_BYTES_PER_BODY_BYTE, REST_ROWS_BYTES_MIN};

/// Bodies in this media type.
const MEDIA: [Media; 3] = [Media::Json, Media::Xml, Media::Protobuf];

/// Parses input as every part of a request. `number` chooses the media type and the encoding of
/// keys.
///
/// # Panics
/// If rows take more memory than was reserved for them, or a scan is made of a path of one row.
#[cfg_attr(not(feature = "fuzzing"), allow(unreachable_pub, reason = "fuzz targets call it"))]
pub fn rest_request(number: u8, input: &[u8]) {
    let media = MEDIA[usize::from(number) % MEDIA.len()];
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = is_resource(text);
        let _ = Media::accepted(text, media::OF_CELLS);
        let encodings = [KeyEncoding::Text, KeyEncoding::Base64Url, KeyEncoding::Base64];
        let encoding = encodings[usize::from(number / 4) % encodings.len()];
        if let Ok(spec) = RowSpec::parse(text, encoding) {
            let read =
                if spec.end.is_some() { spec.to_scan().map(drop) } else { spec.to_get().map(drop) };
            let _ = read;
        }
    }
    let body = Bytes::copy_from_slice(input);
    let bytes = input.len() as u64 * REST_BYTES_PER_BODY_BYTE + REST_ROWS_BYTES_MIN;
    if let Ok(rows) = read::cells(media, &body, &mut Budget::new(bytes)) {
        assert!(bytes_of(&rows) <= bytes, "the rows take {} bytes, of {bytes}", bytes_of(&rows));
    }
    if let Ok(model) = read::scanner(media, &body) {
        let _ = model.to_scan();
    }
    if let Ok(model) = read::schema(media, &body) {
        let name = rowhouse_model::TableName::parse("t").expect("a name");
        let _ = model.to_descriptor(name);
    }
    let _ = read::properties(media, &body);
}

/// Returns the bytes that rows take in memory and in the store, without overheads.
fn bytes_of(rows: &CellSet) -> u64 {
    let of_row = |row: &super::model::RowModel| {
        let key = row.key.as_ref().map_or(0, Bytes::len);
        let cells = row
            .cells
            .iter()
            .map(|cell| key + cell.column.as_ref().map_or(0, Bytes::len) + cell.value.len());
        (key + cells.sum::<usize>()) as u64
    };
    rows.iter().map(of_row).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn random_requests_never_panic(number: u8, input: Vec<u8>) {
            rest_request(number, &input);
        }

        #[test]
        fn damaged_bodies_never_panic(
            number: u8,
            body in prop::sample::select(vec![
                br#"{"Row":[{"key":"cjE=","Cell":[{"column":"YTpx","timestamp":7,"$":"djE="}]}]}"#.to_vec(),
                br#"{"startRow":"YQ==","column":["Zjpx"],"batch":5,"filter":"{\"type\":\"PageFilter\",\"value\":\"1\"}"}"#.to_vec(),
                br#"<CellSet><Row key="cjE="><Cell column="YTpx" timestamp="7">djE=</Cell></Row></CellSet>"#.to_vec(),
                br#"<TableSchema name="t"><ColumnSchema name="a" VERSIONS="3"/></TableSchema>"#.to_vec(),
                b"\x0a\x11\x0a\x02r1\x12\x0b\x12\x03a:q\x18\x07\x22\x02v1".to_vec(),
                b"row*/f:q,g/1,9".to_vec(),
            ]),
            at: prop::sample::Index,
            byte: u8,
            cut: prop::sample::Index,
        ) {
            let mut body = body;
            let at = at.index(body.len());
            body[at] = byte;
            body.truncate(cut.index(body.len()) + 1);
            rest_request(number, &body);
        }
    }
}
