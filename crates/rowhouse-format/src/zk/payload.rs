//! What HBase's nodes contain.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;
use rowhouse_model::{Error, ErrorKind, Result, ServerName, TableName, TableState, Timestamp};

use super::Znodes;
use crate::convert::names::{server_from_proto, server_to_proto, state_from_proto, state_to_proto};
use crate::convert::region::PBUF;
use crate::proto;
use crate::rpc::decode_message;

/// The first byte in every payload.
const MAGIC: u8 = 0xFF;

/// The cluster information that clients read from ZooKeeper.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'a> {
    /// The parent for all other nodes: `/hbase` unless configured otherwise.
    pub parent: &'a str,
    /// A UUID as text, which is the same after restarts.
    pub cluster_id: &'a str,
    /// The active master.
    pub master: &'a ServerName,
    /// The port on which the master's web UI is, if it has one.
    pub info_port: Option<u16>,
    /// The server that holds `hbase:meta`.
    pub meta_server: &'a ServerName,
    /// Every region server, including the server that holds `hbase:meta`.
    pub region_servers: &'a [ServerName],
}

/// Builds the nodes that clients read. `zxid` must not decrease across restarts ([`Znodes`]).
///
/// # Errors
/// `InvalidRequest` if the parent is not a valid path.
pub fn znodes(cluster: Cluster<'_>, zxid: i64, at: Timestamp) -> Result<Znodes> {
    let id = format!("master:{}", cluster.master.port);
    let cluster_id = proto::ClusterId { cluster_id: cluster.cluster_id.to_owned() };
    let master = proto::Master {
        master: server_to_proto(cluster.master),
        rpc_version: Some(0),
        // Without a web UI, Apache writes -1 into this unsigned field.
        info_port: Some(cluster.info_port.map_or(u32::MAX, u32::from)),
    };
    let mut nodes = Znodes::new(zxid);
    let path = |name: &str| format!("{}/{name}", cluster.parent);
    nodes.set(&path("hbaseid"), wrap(&id, &cluster_id), at)?;
    nodes.set(&path("master"), wrap(&id, &master), at)?;
    set_servers(&mut nodes, cluster, at)?;
    Ok(nodes)
}

/// Updates the nodes for the region servers and for the server that holds `hbase:meta`.
///
/// # Errors
/// `InvalidRequest` if the parent is not a valid path.
pub fn set_servers(nodes: &mut Znodes, cluster: Cluster<'_>, at: Timestamp) -> Result<()> {
    let id = format!("master:{}", cluster.master.port);
    let meta_server = proto::MetaRegionServer {
        server: server_to_proto(cluster.meta_server),
        rpc_version: Some(0),
        state: Some(proto::region_state::State::Open.into()),
    };
    let path = format!("{}/meta-region-server", cluster.parent);
    nodes.set(&path, wrap(&id, &meta_server), at)?;
    let folder = format!("{}/rs", cluster.parent);
    nodes.set(&folder, Bytes::new(), at)?;
    let live: BTreeSet<_> = cluster.region_servers.iter().map(ServerName::to_string).collect();
    let gone: Vec<_> =
        nodes.children(&folder).filter(|name| !live.contains(*name)).map(str::to_owned).collect();
    for name in gone {
        nodes.remove(&format!("{folder}/{name}"))?;
    }
    live.iter().try_for_each(|name| nodes.set(&format!("{folder}/{name}"), Bytes::new(), at))
}

/// Updates the nodes under `table` to all tables' states; HBase 1 clients read them.
///
/// # Errors
/// `InvalidRequest` if the parent is not a valid path.
pub fn set_table_states(
    nodes: &mut Znodes,
    cluster: Cluster<'_>,
    tables: impl IntoIterator<Item = (TableName, TableState)>,
    at: Timestamp,
) -> Result<()> {
    let id = format!("master:{}", cluster.master.port);
    let folder = format!("{}/table", cluster.parent);
    let states = tables.into_iter().map(|(table, state)| (table.to_string(), state));
    let states: BTreeMap<_, _> = states.collect();
    nodes.set(&folder, Bytes::new(), at)?;
    let names = nodes.children(&folder).map(str::to_owned);
    let dropped: Vec<_> = names.filter(|name| !states.contains_key(name)).collect();
    for name in dropped {
        nodes.remove(&format!("{folder}/{name}"))?;
    }
    for (name, state) in states {
        // HBase's DeprecatedTableState has the same encoding as TableState.
        nodes.set(&format!("{folder}/{name}"), wrap(&id, &state_to_proto(state)), at)?;
    }
    Ok(())
}

/// Parses a table's state from the data in its node under `table`.
///
/// # Errors
/// `Protocol` for malformed data.
pub fn read_table_state(data: &Bytes) -> Result<TableState> {
    Ok(state_from_proto(decode_message(unwrap(data)?)?))
}

/// Parses the cluster id from the data in `hbaseid`.
///
/// # Errors
/// `Protocol` for malformed data.
pub fn read_cluster_id(data: &Bytes) -> Result<String> {
    Ok(decode_message::<proto::ClusterId>(unwrap(data)?)?.cluster_id)
}

/// Parses the active master from the data in `master`.
///
/// # Errors
/// `Protocol` for malformed data, or a port above 65,535.
pub fn read_master(data: &Bytes) -> Result<ServerName> {
    server_from_proto(decode_message::<proto::Master>(unwrap(data)?)?.master)
}

/// Parses the server that holds `hbase:meta` from the data in `meta-region-server`.
///
/// # Errors
/// `Protocol` for malformed data, or a port above 65,535.
pub fn read_meta_server(data: &Bytes) -> Result<ServerName> {
    server_from_proto(decode_message::<proto::MetaRegionServer>(unwrap(data)?)?.server)
}

fn wrap(id: &str, message: &impl Message) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(MAGIC);
    bytes.put_u32(id.len() as u32);
    bytes.put_slice(id.as_bytes());
    bytes.put_slice(PBUF);
    message.encode_raw(&mut bytes);
    bytes.freeze()
}

fn unwrap(data: &Bytes) -> Result<Bytes> {
    let malformed = || {
        let start = rowhouse_model::escape(&data[..data.len().min(16)]);
        Error::new(
            ErrorKind::Protocol,
            format!("malformed znode: data={start}, len={}", data.len()),
        )
    };
    let mut rest = data.clone();
    if rest.first() == Some(&MAGIC) {
        if rest.len() < 5 {
            return Err(malformed());
        }
        rest.advance(1);
        let id_len = rest.get_u32() as usize;
        if id_len > rest.len() {
            return Err(malformed());
        }
        rest.advance(id_len);
    }
    if !rest.starts_with(PBUF) {
        return Err(malformed());
    }
    rest.advance(PBUF.len());
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn server(port: u16) -> ServerName {
        ServerName { host: "hbase.test".into(), port, start_code: 1_795_220_131_100 }
    }

    #[test]
    fn clients_read_payloads_of_servers() {
        let master = server(16000);
        let meta = server(16020);
        let cluster = Cluster {
            parent: "/hbase",
            cluster_id: "id",
            master: &master,
            info_port: None,
            meta_server: &meta,
            region_servers: std::slice::from_ref(&meta),
        };
        let nodes = znodes(cluster, 7, Timestamp::MIN).unwrap();
        let data = |name| &nodes.get(&format!("/hbase/{name}")).unwrap().data;
        assert_eq!(read_cluster_id(data("hbaseid")).unwrap(), "id");
        assert_eq!(read_master(data("master")).unwrap(), master);
        assert_eq!(read_meta_server(data("meta-region-server")).unwrap(), meta);
        let children: Vec<_> = nodes.children("/hbase").collect();
        assert_eq!(children, ["hbaseid", "master", "meta-region-server", "rs"]);
        assert!(znodes(Cluster { parent: "hbase", ..cluster }, 7, Timestamp::MIN).is_err());
    }

    #[test]
    fn nodes_of_servers_follow_those_that_live() {
        let servers = [server(1), server(2)];
        let of =
            |live: &'static [usize]| live.iter().map(|&at| server(at as u16)).collect::<Vec<_>>();
        let all = of(&[1, 2]);
        let second = of(&[2]);
        let cluster = Cluster {
            parent: "/hbase",
            cluster_id: "id",
            master: &servers[0],
            info_port: None,
            meta_server: &servers[0],
            region_servers: &all,
        };
        let mut nodes = znodes(cluster, 7, Timestamp::MIN).unwrap();
        let names = |nodes: &Znodes| nodes.children("/hbase/rs").count();
        assert_eq!(names(&nodes), 2);
        let before = nodes.zxid();
        let later = Cluster { meta_server: &servers[1], region_servers: &second, ..cluster };
        set_servers(&mut nodes, later, Timestamp::MIN).unwrap();
        assert_eq!(names(&nodes), 1);
        assert!(nodes.zxid() > before);
        let meta = &nodes.get("/hbase/meta-region-server").unwrap().data;
        assert_eq!(read_meta_server(meta).unwrap(), servers[1]);
        let before = nodes.zxid();
        set_servers(&mut nodes, later, Timestamp::MIN).unwrap();
        assert_eq!(nodes.zxid(), before);
        set_servers(&mut nodes, cluster, Timestamp::MIN).unwrap();
        assert_eq!(names(&nodes), 2);
    }

    #[test]
    fn nodes_of_tables_follow_their_states() {
        let master = server(16000);
        let cluster = Cluster {
            parent: "/hbase",
            cluster_id: "id",
            master: &master,
            info_port: None,
            meta_server: &master,
            region_servers: &[],
        };
        let mut nodes = znodes(cluster, 7, Timestamp::MIN).unwrap();
        let mut set = |tables: &[(&str, TableState)]| {
            let tables =
                tables.iter().map(|&(name, state)| (TableName::parse(name).unwrap(), state));
            set_table_states(&mut nodes, cluster, tables, Timestamp::MIN).unwrap();
            let names: Vec<_> = nodes.children("/hbase/table").map(str::to_owned).collect();
            let state = |name: &String| {
                read_table_state(&nodes.get(&format!("/hbase/table/{name}")).unwrap().data).unwrap()
            };
            names.iter().map(|name| (name.clone(), state(name))).collect::<Vec<_>>()
        };
        use TableState::{Disabled, Enabled};
        assert_eq!(set(&[]), []);
        let both = set(&[("t", Enabled), ("ns:t", Disabled)]);
        assert_eq!(both, [("ns:t".to_owned(), Disabled), ("t".to_owned(), Enabled)]);
        assert_eq!(set(&[("t", Disabled)]), [("t".to_owned(), Disabled)]);
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(mut bytes: Vec<u8>, magic: bool) {
            if magic {
                bytes.insert(0, MAGIC);
            }
            let bytes = bytes.into();
            let _ = (read_cluster_id(&bytes), read_master(&bytes), read_meta_server(&bytes));
            let _ = read_table_state(&bytes);
        }
    }
}
