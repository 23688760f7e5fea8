//! Scanners to open: HBase's ScannerModel.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, Result, RowRange, Scan};
use serde_json::Value;

use super::decoded::{base64, text, unreadable};
use super::filter;
use super::xml::Reader;
use crate::gateway::rest::media::Media;
use crate::gateway::rest::proto;
use crate::gateway::rest::row_spec::{selected, time_range, versions};

/// A scanner to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway::rest) struct ScannerModel {
    start: Bytes,
    end: Bytes,
    columns: Vec<Bytes>,
    /// Cells in an answer.
    pub(in crate::gateway::rest) batch: u32,
    start_time: i64,
    end_time: i64,
    max_versions: u32,
    /// In JSON.
    filter: Option<String>,
    caching: Option<u32>,
    labels: Vec<String>,
    cache_blocks: bool,
}

impl Default for ScannerModel {
    fn default() -> Self {
        Self {
            start: Bytes::new(),
            end: Bytes::new(),
            columns: Vec::new(),
            batch: i32::MAX as u32,
            start_time: 0,
            end_time: i64::MAX,
            max_versions: i32::MAX as u32,
            filter: None,
            caching: None,
            labels: Vec::new(),
            cache_blocks: true,
        }
    }
}

impl ScannerModel {
    /// Returns the scan.
    ///
    /// # Errors
    /// `InvalidRequest` for what no scan has; `Unsupported` for visibility labels and unknown
    /// filters.
    pub(in crate::gateway::rest) fn to_scan(&self) -> Result<Scan> {
        if !self.labels.is_empty() {
            let labels = self.labels.join(",");
            return Err(Error::unsupported(format!("there are no visibility labels: {labels}")));
        }
        let mut scan = Scan::new(RowRange::new(self.start.clone(), self.end.clone()));
        scan.columns = selected(&self.columns)?;
        scan.time_range = time_range(self.start_time, self.end_time)?;
        scan.cache_blocks = self.cache_blocks;
        scan.caching = self.caching;
        let filter = self.filter.as_deref().filter(|filter| !filter.is_empty());
        scan.filter = filter.map(filter::parse).transpose()?.map(Box::new);
        Ok(scan.versions(versions(self.max_versions)?))
    }

    /// Sets a field by the name in JSON and XML.
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "startRow" => self.start = base64(value)?,
            "endRow" => self.end = base64(value)?,
            "batch" => self.batch = count(number(name, value)?).unwrap_or(1),
            "startTime" => self.start_time = number(name, value)?,
            "endTime" => self.end_time = number(name, value)?,
            "maxVersions" => self.max_versions = count(number(name, value)?).unwrap_or(0),
            "caching" => self.caching = count(number(name, value)?),
            "cacheBlocks" => self.cache_blocks = value.trim() == "true",
            "column" => self.columns.push(base64(value)?),
            "labels" => self.labels.push(value.to_owned()),
            "filter" => self.filter = Some(value.to_owned()),
            other => return Err(Error::invalid(format!("unknown field of a scanner: {other:?}"))),
        }
        Ok(())
    }
}

fn number(name: &str, value: &str) -> Result<i64> {
    value.trim().parse().map_err(|_| Error::invalid(format!("{name} is no number: {value:?}")))
}

/// Returns a count within Java's int; `None` for one that is not positive.
fn count(number: i64) -> Option<u32> {
    (number > 0).then(|| number.min(i32::MAX.into()) as u32)
}

/// Reads a scanner.
///
/// # Errors
/// `InvalidRequest` for what is not of the media type.
pub(in crate::gateway::rest) fn scanner(media: Media, body: &Bytes) -> Result<ScannerModel> {
    match media {
        Media::Json => of_json(text(body)?),
        Media::Xml => of_xml(body),
        Media::Protobuf | Media::ProtobufIetf => of_protobuf(body),
        Media::Text | Media::Binary => Err(unreadable(media)),
    }
}

fn of_json(body: &str) -> Result<ScannerModel> {
    let value: Value =
        serde_json::from_str(body).map_err(|error| Error::invalid(error.to_string()))?;
    let Value::Object(fields) = value else {
        return Err(Error::invalid("not an object with a scanner"));
    };
    let mut model = ScannerModel::default();
    for (name, value) in &fields {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            Value::Null => &[],
            value => std::slice::from_ref(value),
        };
        for value in values {
            match value {
                Value::String(text) => model.set(name, text)?,
                Value::Number(_) | Value::Bool(_) => model.set(name, &value.to_string())?,
                _ => return Err(Error::invalid(format!("{name} is no text and no number"))),
            }
        }
    }
    Ok(model)
}

fn of_xml(body: &[u8]) -> Result<ScannerModel> {
    let mut reader = Reader::new(body)?;
    let root = reader.root("Scanner")?;
    let mut model = ScannerModel::default();
    for (name, value) in root.attributes() {
        model.set(name, value)?;
    }
    while let Some(tag) = reader.child()? {
        let value = reader.text()?;
        model.set(&tag.name, &value)?;
    }
    reader.end()?;
    Ok(model)
}

fn of_protobuf(body: &Bytes) -> Result<ScannerModel> {
    let message = proto::Scanner::decode(body.clone())
        .map_err(|error| Error::invalid(format!("not a scanner in protobuf: {error}")))?;
    let default = ScannerModel::default();
    Ok(ScannerModel {
        start: message.start_row.unwrap_or_default(),
        end: message.end_row.unwrap_or_default(),
        columns: message.columns,
        batch: message.batch.map_or(default.batch, |batch| count(batch.into()).unwrap_or(1)),
        start_time: message.start_time.unwrap_or(default.start_time),
        end_time: message.end_time.unwrap_or(default.end_time),
        max_versions: message
            .max_versions
            .map_or(default.max_versions, |versions| count(versions.into()).unwrap_or(0)),
        filter: message.filter,
        caching: message.caching.and_then(|caching| count(caching.into())),
        labels: message.labels,
        cache_blocks: message.cache_blocks.unwrap_or(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scanner_is_the_same_in_every_media_type() {
        let json = r#"{"startRow":"YQ==","endRow":"eg==","column":["Zjpx"],"batch":5,
            "startTime":1,"endTime":9,"maxVersions":3,"caching":7,"cacheBlocks":false,
            "filter":"{\"type\":\"FirstKeyOnlyFilter\"}"}"#;
        let json = scanner(Media::Json, &Bytes::from(json)).unwrap();
        let xml = r#"<Scanner startRow="YQ==" endRow="eg==" batch="5" startTime="1" endTime="9"
            maxVersions="3" caching="7" cacheBlocks="false"><column>Zjpx</column>
            <filter>{"type":"FirstKeyOnlyFilter"}</filter></Scanner>"#;
        assert_eq!(scanner(Media::Xml, &Bytes::from(xml)).unwrap(), json);
        let message = proto::Scanner {
            start_row: Some("a".into()),
            end_row: Some("z".into()),
            columns: vec!["f:q".into()],
            batch: Some(5),
            start_time: Some(1),
            end_time: Some(9),
            max_versions: Some(3),
            filter: json.filter.clone(),
            caching: Some(7),
            labels: Vec::new(),
            cache_blocks: Some(false),
        };
        let message = message.encode_to_vec().into();
        assert_eq!(scanner(Media::Protobuf, &message).unwrap(), json);
        let scan = json.to_scan().unwrap();
        assert_eq!((scan.versions, scan.caching, scan.cache_blocks), (3, Some(7), false));
        assert_eq!(scan.filter.as_deref(), Some(&rowhouse_model::Filter::FirstKeyOnly));
    }

    #[test]
    fn an_empty_scanner_reads_all() {
        let empty = scanner(Media::Xml, &Bytes::from("<Scanner/>")).unwrap();
        assert_eq!(empty, ScannerModel::default());
        let scan = empty.to_scan().unwrap();
        assert_eq!((scan.range, scan.filter), (RowRange::all(), None));
        for body in ["[]", "{\"batch\":{}}", "{\"what\":1}", "{\"startTime\":\"x\"}"] {
            assert!(scanner(Media::Json, &Bytes::from(body)).is_err(), "{body}");
        }
        let labelled = scanner(Media::Json, &Bytes::from(r#"{"labels":["secret"]}"#)).unwrap();
        assert!(labelled.to_scan().is_err());
    }
}
