//! Table names, server names, namespaces, table states and durabilities.

use bytes::Bytes;
use rowhouse_model::{Durability, Error, Namespace, Result, ServerName, TableName, TableState};

use crate::proto;

/// Encodes a table name.
pub fn table_to_proto(table: &TableName) -> proto::TableName {
    proto::TableName {
        namespace: Bytes::copy_from_slice(table.namespace().as_bytes()),
        qualifier: Bytes::copy_from_slice(table.qualifier().as_bytes()),
    }
}

/// Decodes a table name.
///
/// # Errors
/// `InvalidRequest` for an invalid name.
pub fn table_from_proto(table: proto::TableName) -> Result<TableName> {
    TableName::new(text(&table.namespace, "namespace")?, text(&table.qualifier, "table name")?)
}

/// Encodes a server name.
pub fn server_to_proto(server: &ServerName) -> proto::ServerName {
    proto::ServerName {
        host_name: server.host.clone(),
        port: Some(server.port.into()),
        start_code: Some(server.start_code),
    }
}

/// Decodes a server name.
///
/// # Errors
/// `InvalidRequest` for a port above 65,535.
pub fn server_from_proto(server: proto::ServerName) -> Result<ServerName> {
    let port = server.port.unwrap_or(0);
    Ok(ServerName {
        port: u16::try_from(port)
            .map_err(|_| Error::invalid(format!("port too large: port={port}, max=65535")))?,
        host: server.host_name,
        start_code: server.start_code.unwrap_or(0),
    })
}

/// Encodes a namespace.
pub fn namespace_to_proto(namespace: &Namespace) -> proto::NamespaceDescriptor {
    proto::NamespaceDescriptor {
        name: Bytes::copy_from_slice(namespace.name().as_bytes()),
        configuration: namespace
            .configuration
            .iter()
            .map(|(name, value)| proto::NameStringPair { name: name.clone(), value: value.clone() })
            .collect(),
    }
}

/// Decodes a namespace.
///
/// # Errors
/// `InvalidRequest` for an invalid name.
pub fn namespace_from_proto(namespace: proto::NamespaceDescriptor) -> Result<Namespace> {
    let mut read = Namespace::new(text(&namespace.name, "namespace")?)?;
    read.configuration =
        namespace.configuration.into_iter().map(|pair| (pair.name, pair.value)).collect();
    Ok(read)
}

/// Encodes a table's state.
pub fn state_to_proto(state: TableState) -> proto::TableState {
    use proto::table_state::State;
    let state = match state {
        TableState::Enabled => State::Enabled,
        TableState::Disabled => State::Disabled,
    };
    proto::TableState { state: state.into() }
}

/// Decodes a table's state. A table in transition counts as disabled.
pub fn state_from_proto(state: proto::TableState) -> TableState {
    use proto::table_state::State;
    match state.state() {
        State::Enabled => TableState::Enabled,
        State::Disabled | State::Disabling | State::Enabling => TableState::Disabled,
    }
}

/// Encodes a durability.
pub fn durability_to_proto(durability: Durability) -> proto::mutation_proto::Durability {
    use proto::mutation_proto::Durability as Wire;
    match durability {
        Durability::UseDefault => Wire::UseDefault,
        Durability::SkipWal => Wire::SkipWal,
        Durability::AsyncWal => Wire::AsyncWal,
        Durability::SyncWal => Wire::SyncWal,
        Durability::FsyncWal => Wire::FsyncWal,
    }
}

/// Decodes a durability.
pub fn durability_from_proto(durability: proto::mutation_proto::Durability) -> Durability {
    use proto::mutation_proto::Durability as Wire;
    match durability {
        Wire::UseDefault => Durability::UseDefault,
        Wire::SkipWal => Durability::SkipWal,
        Wire::AsyncWal => Durability::AsyncWal,
        Wire::SyncWal => Durability::SyncWal,
        Wire::FsyncWal => Durability::FsyncWal,
    }
}

fn text<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| {
        Error::invalid(format!("{what} is not UTF-8: {}", rowhouse_model::escape(bytes)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for table in [TableName::parse("t").unwrap(), TableName::meta()] {
            assert_eq!(table_from_proto(table_to_proto(&table)).unwrap(), table);
        }
        let server = ServerName { host: "h".into(), port: 16020, start_code: 7 };
        assert_eq!(server_from_proto(server_to_proto(&server)).unwrap(), server);
        let mut namespace = Namespace::new("ns").unwrap();
        namespace.configuration.insert("a".into(), "b".into());
        assert_eq!(namespace_from_proto(namespace_to_proto(&namespace)).unwrap(), namespace);
    }

    #[test]
    fn malformed_name_is_an_error() {
        let bad = proto::TableName { namespace: "ns".into(), qualifier: vec![0xFF].into() };
        assert!(table_from_proto(bad).is_err());
        let bad = proto::ServerName { host_name: "h".into(), port: Some(70000), start_code: None };
        assert!(server_from_proto(bad).is_err());
    }
}
