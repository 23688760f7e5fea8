//! Schemas of tables: HBase's TableSchemaModel.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, FamilyDescriptor, Result, TableDescriptor, TableName};
use serde_json::Value;

use super::decoded::{text, unreadable};
use super::xml::Reader;
use crate::gateway::rest::media::Media;
use crate::gateway::rest::proto;

/// A table's schema in a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::gateway::rest) struct SchemaModel {
    attributes: Vec<(String, String)>,
    pub(in crate::gateway::rest) families: Vec<FamilyModel>,
}

/// A family's schema in a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::gateway::rest) struct FamilyModel {
    name: String,
    attributes: Vec<(String, String)>,
}

/// What HBase shows as an attribute of every table, and nobody sets.
const SHOWN_ATTRIBUTES: [&str; 2] = ["IS_META", "IS_ROOT"];

/// What HBase's gateway writes into every family, unless the request has another value.
const FAMILY_DEFAULTS: [(&str, &str); 12] = [
    ("BLOCKCACHE", "true"),
    ("BLOCKSIZE", "65536"),
    ("BLOOMFILTER", "ROW"),
    ("COMPRESSION", "NONE"),
    ("DATA_BLOCK_ENCODING", "NONE"),
    ("INDEX_BLOCK_ENCODING", "NONE"),
    ("IN_MEMORY", "false"),
    ("KEEP_DELETED_CELLS", "FALSE"),
    ("MIN_VERSIONS", "0"),
    ("REPLICATION_SCOPE", "0"),
    ("TTL", "2147483647"),
    ("VERSIONS", "1"),
];

impl FamilyModel {
    /// Returns the family with HBase's defaults for what is not given.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid name or value.
    pub(in crate::gateway::rest) fn to_descriptor(&self) -> Result<FamilyDescriptor> {
        let family = FamilyDescriptor::new(self.name.clone())?;
        let family = FAMILY_DEFAULTS
            .iter()
            .fold(family, |family, (name, value)| family.attribute(*name, *value));
        Ok(self
            .attributes
            .iter()
            .fold(family, |family, (name, value)| family.attribute(name.clone(), value.clone())))
    }
}

impl SchemaModel {
    /// Returns the table with this name.
    ///
    /// # Errors
    /// As [`FamilyModel::to_descriptor`].
    pub(in crate::gateway::rest) fn to_descriptor(
        &self,
        name: TableName,
    ) -> Result<TableDescriptor> {
        let mut table = TableDescriptor::new(name);
        for family in &self.families {
            table = table.family(family.to_descriptor()?);
        }
        let attributes = self.attributes.iter();
        let set = attributes.filter(|(name, _)| !SHOWN_ATTRIBUTES.contains(&&name[..]));
        Ok(set.fold(table, |table, (name, value)| table.attribute(name.clone(), value.clone())))
    }
}

/// Reads a schema. The name in it has no meaning, as in HBase: that in the path counts.
///
/// # Errors
/// `InvalidRequest` for what is not of the media type.
pub(in crate::gateway::rest) fn schema(media: Media, body: &Bytes) -> Result<SchemaModel> {
    match media {
        Media::Json => of_json(text(body)?),
        Media::Xml => of_xml(body),
        Media::Protobuf | Media::ProtobufIetf => of_protobuf(body),
        Media::Text | Media::Binary => Err(unreadable(media)),
    }
}

/// Returns a value as the text that HBase stores.
fn written(name: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(Error::invalid(format!("{name} is no text and no number: {value}"))),
    }
}

fn of_json(body: &str) -> Result<SchemaModel> {
    let value: Value =
        serde_json::from_str(body).map_err(|error| Error::invalid(error.to_string()))?;
    let fields = value.as_object().ok_or_else(|| Error::invalid("a schema is an object"))?;
    let mut model = SchemaModel::default();
    for (name, value) in fields {
        match (&name[..], value) {
            ("name", _) => {}
            ("ColumnSchema", Value::Array(families)) => {
                model.families = families.iter().map(family_of_json).collect::<Result<_>>()?;
            }
            ("ColumnSchema", _) => {
                return Err(Error::invalid("ColumnSchema is a list of families"));
            }
            _ => model.attributes.push((name.clone(), written(name, value)?)),
        }
    }
    Ok(model)
}

fn family_of_json(value: &Value) -> Result<FamilyModel> {
    let fields = value.as_object().ok_or_else(|| Error::invalid("a family is an object"))?;
    let mut model = FamilyModel::default();
    for (name, value) in fields {
        let value = written(name, value)?;
        match &name[..] {
            "name" => model.name = value,
            _ => model.attributes.push((name.clone(), value)),
        }
    }
    Ok(model)
}

fn of_xml(body: &[u8]) -> Result<SchemaModel> {
    fn named<'t>(tag: impl Iterator<Item = (&'t str, &'t str)>) -> (String, Vec<(String, String)>) {
        let mut name = String::new();
        let mut attributes = Vec::new();
        for (attribute, value) in tag {
            match attribute {
                "name" => name = value.to_owned(),
                _ => attributes.push((attribute.to_owned(), value.to_owned())),
            }
        }
        (name, attributes)
    }
    let mut reader = Reader::new(body)?;
    let root = reader.root("TableSchema")?;
    let (_, attributes) = named(root.attributes());
    let mut model = SchemaModel { attributes, ..SchemaModel::default() };
    while let Some(tag) = reader.child()? {
        if tag.name != "ColumnSchema" {
            return Err(Error::invalid(format!("unexpected element {}", tag.name)));
        }
        let (name, attributes) = named(tag.attributes());
        reader.text()?;
        model.families.push(FamilyModel { name, attributes });
    }
    reader.end()?;
    Ok(model)
}

fn of_protobuf(body: &Bytes) -> Result<SchemaModel> {
    let message = proto::TableSchema::decode(body.clone())
        .map_err(|error| Error::invalid(format!("not a schema in protobuf: {error}")))?;
    let pairs = |attributes: Vec<proto::Attribute>| -> Vec<_> {
        attributes.into_iter().map(|it| (it.name, it.value)).collect()
    };
    let mut attributes = pairs(message.attributes);
    attributes.extend(message.read_only.map(|flag| ("READONLY".to_owned(), flag.to_string())));
    let families = message.columns.into_iter().map(|family| {
        let mut attributes = pairs(family.attributes);
        attributes.extend(family.ttl.map(|ttl| ("TTL".to_owned(), ttl.to_string())));
        let versions = family.max_versions.map(|it| ("VERSIONS".to_owned(), it.to_string()));
        attributes.extend(versions);
        attributes.extend(family.compression.map(|it| ("COMPRESSION".to_owned(), it)));
        FamilyModel { name: family.name.unwrap_or_default(), attributes }
    });
    Ok(SchemaModel { attributes, families: families.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_the_same_in_every_media_type() {
        let json = r#"{"name":"t","ColumnSchema":[{"name":"a","VERSIONS":3}],"READONLY":"true"}"#;
        let json = schema(Media::Json, &Bytes::from(json)).unwrap();
        let xml = r#"<TableSchema name="t" READONLY="true"><ColumnSchema name="a" VERSIONS="3"/></TableSchema>"#;
        assert_eq!(schema(Media::Xml, &Bytes::from(xml)).unwrap(), json);
        let family = proto::ColumnSchema {
            name: Some("a".into()),
            max_versions: Some(3),
            ..proto::ColumnSchema::default()
        };
        let message = proto::TableSchema {
            name: Some("t".into()),
            columns: vec![family],
            read_only: Some(true),
            ..proto::TableSchema::default()
        };
        assert_eq!(schema(Media::ProtobufIetf, &message.encode_to_vec().into()).unwrap(), json);
        let table = json.to_descriptor(TableName::parse("other").unwrap()).unwrap();
        assert_eq!(table.name().to_string(), "other");
        assert_eq!((table.is_read_only(), table.families()[0].versions_max()), (true, 3));
    }

    #[test]
    fn other_objects_than_schemas_are_refused() {
        for body in ["", "[]", r#"{"ColumnSchema":{}}"#, r#"{"ColumnSchema":[1]}"#, r#"{"A":[]}"#] {
            assert!(schema(Media::Json, &Bytes::from(body)).is_err(), "{body}");
        }
        let nameless = schema(Media::Json, &Bytes::from(r#"{"ColumnSchema":[{}]}"#)).unwrap();
        assert!(nameless.to_descriptor(TableName::parse("t").unwrap()).is_err());
    }
}
