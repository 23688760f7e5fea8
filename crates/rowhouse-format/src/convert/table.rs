//! Table and family declarations.

use std::collections::BTreeMap;

use bytes::Bytes;
use rowhouse_model::{Error, FamilyDescriptor, Result, TableDescriptor, escape};

use super::names;
use crate::proto;

/// Encodes a table declaration.
pub fn to_proto(table: &TableDescriptor) -> proto::TableSchema {
    proto::TableSchema {
        table_name: Some(names::table_to_proto(table.name())),
        attributes: attributes_to_proto(&table.attributes),
        column_families: table.families().iter().map(family_to_proto).collect(),
        configuration: configuration_to_proto(&table.configuration),
    }
}

/// Decodes a table declaration. [`TableDescriptor::check`] tests whether a store can hold it.
///
/// # Errors
/// `InvalidRequest` for invalid names.
pub fn from_proto(schema: proto::TableSchema) -> Result<TableDescriptor> {
    let name = names::table_from_proto(schema.table_name.unwrap_or_default())?;
    let mut table = TableDescriptor::new(name);
    for family in schema.column_families {
        let family = family_from_proto(family)?;
        if table.find_family(family.name()).is_ok() {
            let family = escape(family.name());
            return Err(Error::invalid(format!(
                "Family '{family}' already exists so cannot be added"
            )));
        }
        table = table.family(family);
    }
    table.attributes = attributes_from_proto(schema.attributes);
    table.configuration = configuration_from_proto(schema.configuration);
    Ok(table)
}

/// Encodes a family declaration.
pub fn family_to_proto(family: &FamilyDescriptor) -> proto::ColumnFamilySchema {
    proto::ColumnFamilySchema {
        name: family.name().clone(),
        attributes: attributes_to_proto(&family.attributes),
        configuration: configuration_to_proto(&family.configuration),
    }
}

/// Decodes a family declaration.
///
/// # Errors
/// `InvalidRequest` for an invalid name.
pub fn family_from_proto(schema: proto::ColumnFamilySchema) -> Result<FamilyDescriptor> {
    let mut family = FamilyDescriptor::new(schema.name)?;
    family.attributes = attributes_from_proto(schema.attributes);
    family.configuration = configuration_from_proto(schema.configuration);
    Ok(family)
}

fn attributes_to_proto(attributes: &BTreeMap<Bytes, Bytes>) -> Vec<proto::BytesBytesPair> {
    attributes
        .iter()
        .map(|(first, second)| proto::BytesBytesPair {
            first: first.clone(),
            second: second.clone(),
        })
        .collect()
}

fn attributes_from_proto(pairs: Vec<proto::BytesBytesPair>) -> BTreeMap<Bytes, Bytes> {
    // Copy: a descriptor outlives the frame by far.
    let own = |bytes: Bytes| Bytes::copy_from_slice(&bytes);
    pairs.into_iter().map(|pair| (own(pair.first), own(pair.second))).collect()
}

fn configuration_to_proto(configuration: &BTreeMap<String, String>) -> Vec<proto::NameStringPair> {
    configuration
        .iter()
        .map(|(name, value)| proto::NameStringPair { name: name.clone(), value: value.clone() })
        .collect()
}

fn configuration_from_proto(pairs: Vec<proto::NameStringPair>) -> BTreeMap<String, String> {
    pairs.into_iter().map(|pair| (pair.name, pair.value)).collect()
}

#[cfg(test)]
mod tests {
    use rowhouse_model::TableName;

    use super::*;

    #[test]
    fn tables_come_back() {
        let mut family = FamilyDescriptor::new("cf").unwrap().versions(3);
        family.configuration.insert("a".into(), "b".into());
        let mut table = TableDescriptor::new(TableName::parse("ns:t").unwrap())
            .family(family)
            .family(FamilyDescriptor::new("b").unwrap())
            .attribute("IS_META", "false");
        table.configuration.insert("c".into(), "d".into());
        assert_eq!(from_proto(to_proto(&table)).unwrap(), table);
    }

    #[test]
    fn names_that_are_none_are_errors() {
        assert!(from_proto(proto::TableSchema::default()).is_err());
        assert!(family_from_proto(proto::ColumnFamilySchema::default()).is_err());
    }
}
