//! Tables and namespaces.

use std::fmt::Write;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Namespace, RegionInfo, TableDescriptor};
use serde_json::{Map, Value, json};

use super::base64;
use super::describe::{Describe, attribute, escaped};
use crate::gateway::rest::proto;

/// Names of tables.
pub(in crate::gateway::rest) struct TableNames(pub(in crate::gateway::rest) Vec<String>);

impl Describe for TableNames {
    fn text(&self) -> String {
        self.0.iter().map(|name| format!("{name}\n")).collect()
    }

    fn xml(&self) -> String {
        let tables = self.0.iter().map(|name| format!("<table{}/>", attribute("name", name)));
        element("TableList", tables)
    }

    fn json(&self) -> Value {
        let tables = self.0.iter().map(|name| json!({ "name": name }));
        json!({ "table": tables.collect::<Vec<_>>() })
    }

    fn protobuf(&self) -> Vec<u8> {
        proto::Names { names: self.0.clone() }.encode_to_vec()
    }
}

/// Writes an element without attributes.
fn element(name: &str, children: impl Iterator<Item = String>) -> String {
    let children: String = children.collect();
    if children.is_empty() { format!("<{name}/>") } else { format!("<{name}>{children}</{name}>") }
}

/// Names of namespaces.
pub(in crate::gateway::rest) struct NamespaceNames(pub(in crate::gateway::rest) Vec<String>);

impl Describe for NamespaceNames {
    fn text(&self) -> String {
        self.0.iter().map(|name| format!("{name}\n")).collect()
    }

    fn xml(&self) -> String {
        let names = self.0.iter().map(|name| format!("<Namespace>{}</Namespace>", escaped(name)));
        element("Namespaces", names)
    }

    fn json(&self) -> Value {
        json!({ "Namespace": self.0 })
    }

    fn protobuf(&self) -> Vec<u8> {
        proto::Names { names: self.0.clone() }.encode_to_vec()
    }
}

/// A namespace's properties.
pub(in crate::gateway::rest) struct Properties(pub(in crate::gateway::rest) Namespace);

impl Describe for Properties {
    fn text(&self) -> String {
        let mut text = format!("{{NAME => '{}'", self.0.name());
        for (name, value) in &self.0.configuration {
            let _ = write!(text, ", {name} => '{value}'");
        }
        text + "}"
    }

    fn xml(&self) -> String {
        let entries = self.0.configuration.iter().map(|(name, value)| {
            let (name, value) = (escaped(name), escaped(value));
            format!("<entry><key>{name}</key><value>{value}</value></entry>")
        });
        let entries: String = entries.collect();
        let list = (!entries.is_empty()).then(|| format!("<properties>{entries}</properties>"));
        element("NamespaceProperties", list.into_iter())
    }

    fn json(&self) -> Value {
        let properties = &self.0.configuration;
        json!({ "properties": (!properties.is_empty()).then_some(properties) })
    }

    fn protobuf(&self) -> Vec<u8> {
        let pairs = self
            .0
            .configuration
            .iter()
            .map(|(name, value)| proto::Attribute { name: name.clone(), value: value.clone() });
        proto::NamespaceProperties { properties: pairs.collect() }.encode_to_vec()
    }
}

/// A table's schema.
pub(in crate::gateway::rest) struct Schema(pub(in crate::gateway::rest) TableDescriptor);

/// A name and a value.
type Pair = (String, String);

impl Schema {
    /// Returns the table's attributes. HBase shows whether the table is `hbase:meta` as one.
    fn attributes(&self) -> Vec<Pair> {
        let is_meta = self.0.name() == &rowhouse_model::TableName::meta();
        let shown = ("IS_META".to_owned(), is_meta.to_string());
        std::iter::once(shown).chain(pairs(&self.0.attributes)).collect()
    }

    /// Returns each family's name and attributes.
    fn families(&self) -> impl Iterator<Item = (String, Vec<Pair>)> {
        let families = self.0.families().iter();
        families.map(|family| (lossy(family.name()), pairs(&family.attributes)))
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn pairs(attributes: &std::collections::BTreeMap<Bytes, Bytes>) -> Vec<Pair> {
    attributes.iter().map(|(name, value)| (lossy(name), lossy(value))).collect()
}

fn json_of(pairs: Vec<Pair>) -> impl Iterator<Item = (String, Value)> {
    pairs.into_iter().map(|(name, value)| (name, value.into()))
}

fn messages(pairs: Vec<Pair>) -> Vec<proto::Attribute> {
    pairs.into_iter().map(|(name, value)| proto::Attribute { name, value }).collect()
}

fn value_of<T: std::str::FromStr>(pairs: &[Pair], name: &str) -> Option<T> {
    pairs.iter().find(|(of, _)| of == name)?.1.parse().ok()
}

impl Describe for Schema {
    fn text(&self) -> String {
        let listed = |pairs: Vec<Pair>| -> String {
            pairs.iter().map(|(name, value)| format!(", {name} => '{value}'")).collect()
        };
        let families = self
            .families()
            .map(|(name, attributes)| format!("{{ NAME => '{name}'{} }}", listed(attributes)));
        let families: Vec<_> = families.collect();
        let attributes = listed(self.attributes());
        let name = self.0.name();
        format!("{{ NAME=> '{name}'{attributes}, COLUMNS => [ {} ] }}", families.join(", "))
    }

    fn xml(&self) -> String {
        let listed = |pairs: Vec<Pair>| -> String {
            pairs.iter().map(|(name, value)| attribute(name, value)).collect()
        };
        let families = self.families().map(|(name, attributes)| {
            format!("<ColumnSchema{}{}/>", attribute("name", name), listed(attributes))
        });
        let families: String = families.collect();
        let attributes = attribute("name", self.0.name()) + &listed(self.attributes());
        format!("<TableSchema{attributes}>{families}</TableSchema>")
    }

    fn json(&self) -> Value {
        let families = self.families().map(|(name, attributes)| {
            let name = std::iter::once(("name".to_owned(), Value::from(name)));
            Value::Object(name.chain(json_of(attributes)).collect())
        });
        let families: Vec<_> = families.collect();
        let mut table = Map::new();
        table.insert("name".to_owned(), self.0.name().to_string().into());
        table.insert("ColumnSchema".to_owned(), families.into());
        table.extend(json_of(self.attributes()));
        Value::Object(table)
    }

    fn protobuf(&self) -> Vec<u8> {
        let columns = self.families().map(|(name, attributes)| proto::ColumnSchema {
            name: Some(name),
            ttl: value_of(&attributes, "TTL"),
            max_versions: value_of(&attributes, "VERSIONS"),
            compression: value_of(&attributes, "COMPRESSION"),
            attributes: messages(attributes),
        });
        let columns = columns.collect();
        let attributes = self.attributes();
        let message = proto::TableSchema {
            name: Some(self.0.name().to_string()),
            columns,
            in_memory: None,
            read_only: value_of(&attributes, "READONLY"),
            attributes: messages(attributes),
        };
        message.encode_to_vec()
    }
}

/// A table's regions, each with the server's address.
pub(in crate::gateway::rest) struct Regions {
    pub(in crate::gateway::rest) table: String,
    pub(in crate::gateway::rest) regions: Vec<(RegionInfo, String)>,
}

impl Describe for Regions {
    fn text(&self) -> String {
        let regions = self.regions.iter().map(|(region, location)| {
            format!(
                "{} [\n  id={}\n  startKey='{}'\n  endKey='{}'\n  location='{location}'\n]\n\n",
                lossy(&region.name().full),
                region.id,
                lossy(&region.range.start),
                lossy(&region.range.stop)
            )
        });
        regions.collect()
    }

    fn xml(&self) -> String {
        let regions = self.regions.iter().map(|(region, location)| {
            let attributes = [
                attribute("endKey", base64(&region.range.stop)),
                attribute("id", region.id),
                attribute("location", location),
                attribute("name", lossy(&region.name().full)),
                attribute("startKey", base64(&region.range.start)),
            ];
            format!("<Region{}/>", attributes.concat())
        });
        let regions: String = regions.collect();
        format!("<TableInfo{}>{regions}</TableInfo>", attribute("name", &self.table))
    }

    fn json(&self) -> Value {
        let regions = self.regions.iter().map(|(region, location)| {
            json!({
                "id": region.id,
                "startKey": base64(&region.range.start),
                "endKey": base64(&region.range.stop),
                "location": location,
                "name": lossy(&region.name().full),
            })
        });
        json!({ "name": self.table, "Region": regions.collect::<Vec<_>>() })
    }

    fn protobuf(&self) -> Vec<u8> {
        let regions = self.regions.iter().map(|(region, location)| proto::TableRegion {
            name: lossy(&region.name().full),
            start_key: Some(region.range.start.clone()),
            end_key: Some(region.range.stop.clone()),
            id: i64::try_from(region.id).ok(),
            location: Some(location.clone()),
        });
        let regions = regions.collect();
        proto::TableInfo { name: self.table.clone(), regions }.encode_to_vec()
    }
}
