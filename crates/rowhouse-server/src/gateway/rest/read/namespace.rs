//! Properties of namespaces: HBase's NamespacesInstanceModel.

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, Result};
use serde_json::Value;

use super::decoded::{text, unreadable};
use super::xml::Reader;
use crate::gateway::rest::media::Media;
use crate::gateway::rest::proto;

/// Reads properties:
///
/// ```text
/// {"properties": {"NAME": "VALUE"}}
/// <NamespaceProperties><properties>
///   <entry><key>NAME</key><value>VALUE</value></entry>
/// </properties></NamespaceProperties>
/// ```
///
/// # Errors
/// `InvalidRequest` for what is not of the media type.
pub(in crate::gateway::rest) fn properties(
    media: Media,
    body: &Bytes,
) -> Result<BTreeMap<String, String>> {
    if body.is_empty() {
        return Ok(BTreeMap::new());
    }
    match media {
        Media::Json => of_json(text(body)?),
        Media::Xml => of_xml(body),
        Media::Protobuf | Media::ProtobufIetf => {
            let message = proto::NamespaceProperties::decode(body.clone())
                .map_err(|error| Error::invalid(format!("not properties in protobuf: {error}")))?;
            Ok(message.properties.into_iter().map(|it| (it.name, it.value)).collect())
        }
        Media::Text | Media::Binary => Err(unreadable(media)),
    }
}

fn of_json(body: &str) -> Result<BTreeMap<String, String>> {
    let value: Value =
        serde_json::from_str(body).map_err(|error| Error::invalid(error.to_string()))?;
    let fields = value.as_object().ok_or_else(|| Error::invalid("properties are an object"))?;
    if let Some(other) = fields.keys().find(|name| *name != "properties") {
        return Err(Error::invalid(format!("unknown field of a namespace: {other:?}")));
    }
    let properties = match fields.get("properties") {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(value) => {
            value.as_object().ok_or_else(|| Error::invalid("properties are an object"))?
        }
    };
    let pairs = properties.iter().map(|(name, value)| match value {
        Value::String(text) => Ok((name.clone(), text.clone())),
        Value::Number(_) | Value::Bool(_) => Ok((name.clone(), value.to_string())),
        _ => Err(Error::invalid(format!("{name} is no text and no number: {value}"))),
    });
    pairs.collect()
}

fn of_xml(body: &[u8]) -> Result<BTreeMap<String, String>> {
    let unexpected = |name: &str| Error::invalid(format!("unexpected element {name}"));
    let mut reader = Reader::new(body)?;
    reader.root("NamespaceProperties")?;
    let mut properties = BTreeMap::new();
    while let Some(list) = reader.child()? {
        if list.name != "properties" {
            return Err(unexpected(&list.name));
        }
        while let Some(entry) = reader.child()? {
            if entry.name != "entry" {
                return Err(unexpected(&entry.name));
            }
            let mut key = String::new();
            let mut value = String::new();
            while let Some(part) = reader.child()? {
                match &part.name[..] {
                    "key" => key = reader.text()?,
                    "value" => value = reader.text()?,
                    other => return Err(unexpected(other)),
                }
            }
            properties.insert(key, value);
        }
    }
    reader.end()?;
    Ok(properties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_the_same_in_every_media_type() {
        let expected = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
        let read = |media, body: &'static str| properties(media, &Bytes::from(body)).unwrap();
        assert_eq!(read(Media::Json, r#"{"properties":{"k":"v"}}"#), expected);
        let xml = "<NamespaceProperties><properties><entry><key>k</key><value>v</value></entry>\
                   </properties></NamespaceProperties>";
        assert_eq!(read(Media::Xml, xml), expected);
        let pair = proto::Attribute { name: "k".into(), value: "v".into() };
        let message = proto::NamespaceProperties { properties: vec![pair] };
        let message = message.encode_to_vec().into();
        assert_eq!(properties(Media::Protobuf, &message).unwrap(), expected);
        for (media, body) in
            [(Media::Json, ""), (Media::Json, "{}"), (Media::Xml, "<NamespaceProperties/>")]
        {
            assert_eq!(read(media, body), BTreeMap::new());
        }
        assert!(properties(Media::Json, &Bytes::from(r#"{"k":"v"}"#)).is_err());
    }
}
