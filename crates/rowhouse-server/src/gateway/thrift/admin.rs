//! Tables and regions.

use bytes::Bytes;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::{names, region, table};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::Call;
use rowhouse_format::thrift::{Answer, Args, ColumnDescriptor, Failure, Pairs, TRegionInfo};
use rowhouse_model::{
    BloomKind, Compression, Error, ErrorKind, FamilyDescriptor, RegionInfo, RowRange, Scan,
    ServerName, TableDescriptor, TableName, TableState, escape,
};

use super::call::{Outcome, Returned, required, split_column, table_name};
use super::failure::{Thrown, io, local, remote};
use crate::gateway::{GatewayScan, ScanOptions, Session, exception};

/// The kind of server: this one, and not that of Thrift 2.
pub(super) const THRIFT_1: i32 = 1;
/// The version of regions: HBase has had no other for long.
const REGION_VERSION: i8 = 1;

async fn master<M: Call>(
    session: &Session,
    message: &M,
    failed: fn(Exception) -> Failure,
) -> Outcome<M::Answer> {
    session.master(message).await.map_err(|exception| failed(exception).into())
}

pub(super) async fn enable(session: &Session, args: Args) -> Outcome<Returned> {
    let table_name = names::table_to_proto(&table_name(args.table)?);
    let message = proto::EnableTableRequest { table_name, ..Default::default() };
    master(session, &message, not_disabled).await?;
    Ok(Answer::Void.into())
}

/// HBase's client looks at the table's state itself before it enables a table.
fn not_disabled(mut exception: Exception) -> Failure {
    if let Some(state) = exception.message.strip_prefix("Not DISABLED; ") {
        exception.message = state.to_owned();
    }
    local(exception)
}

pub(super) async fn disable(session: &Session, args: Args) -> Outcome<Returned> {
    let table_name = names::table_to_proto(&table_name(args.table)?);
    let message = proto::DisableTableRequest { table_name, ..Default::default() };
    master(session, &message, remote).await?;
    Ok(Answer::Void.into())
}

pub(super) async fn is_enabled(session: &Session, args: Args) -> Outcome<Returned> {
    let is_enabled = state(session, &table_name(args.table)?).await? == TableState::Enabled;
    Ok(Answer::Bool(is_enabled).into())
}

async fn state(session: &Session, table: &TableName) -> Outcome<TableState> {
    let message = proto::GetTableStateRequest { table_name: names::table_to_proto(table) };
    let answer = master(session, &message, local).await?;
    Ok(names::state_from_proto(answer.table_state))
}

async fn table_names(session: &Session) -> Outcome<Vec<TableName>> {
    let answer = master(session, &proto::GetTableNamesRequest::default(), remote).await?;
    let names = answer.table_names.into_iter().map(names::table_from_proto);
    names.collect::<Result<_, Error>>().map_err(|error| remote(exception(error)).into())
}

fn bytes_of(table: &TableName) -> Bytes {
    table.to_string().into()
}

pub(super) async fn names(session: &Session) -> Outcome<Returned> {
    let names = table_names(session).await?;
    Ok(Answer::Names(names.iter().map(bytes_of).collect()).into())
}

pub(super) async fn states(session: &Session) -> Outcome<Returned> {
    let mut states = Vec::new();
    for table in table_names(session).await? {
        states.push((bytes_of(&table), state(session, &table).await? == TableState::Enabled));
    }
    Ok(Answer::States(Pairs(states)).into())
}

pub(super) async fn families(session: &Session, args: Args) -> Outcome<Returned> {
    let name = table_name(args.table)?;
    let message = proto::GetTableDescriptorsRequest {
        table_names: vec![names::table_to_proto(&name)],
        ..Default::default()
    };
    let answer = master(session, &message, local).await?;
    let Some(schema) = answer.table_schema.into_iter().next() else {
        let error = Error::new(ErrorKind::TableNotFound, name.to_string());
        return Err(local(exception(error)).into());
    };
    let descriptor = table::from_proto(schema).map_err(|error| local(exception(error)))?;
    let mut families: Vec<_> = descriptor.families().iter().map(family_to_thrift).collect();
    // As Java orders bytes, with their sign.
    families.sort_by(|(a, _), (b, _)| {
        a.iter().map(|&byte| byte as i8).cmp(b.iter().map(|&byte| byte as i8))
    });
    Ok(Answer::Families(Pairs(families)).into())
}

/// Returns a family by the name with a colon.
fn family_to_thrift(family: &FamilyDescriptor) -> (Bytes, ColumnDescriptor) {
    let name = Bytes::from([family.name(), &b":"[..]].concat());
    let seconds = family.ttl().and_then(|ttl| i32::try_from(ttl.as_secs()).ok());
    let descriptor = ColumnDescriptor {
        name: Some(name.clone()),
        max_versions: i32::try_from(family.versions_max()).unwrap_or(i32::MAX),
        compression: Some(family.compression().name().into()),
        in_memory: family.in_memory(),
        bloom_filter_type: Some(family.bloom().name().into()),
        bloom_filter_vector_size: 0,
        bloom_filter_hashes: 0,
        block_cache_enabled: family.block_cache(),
        time_to_live: seconds.unwrap_or(i32::MAX),
    };
    (name, descriptor)
}

/// HBase's compressions beside [`Compression::ALL`], which the store refuses by name.
const OTHER_COMPRESSIONS: [&str; 4] = ["lzo", "bzip2", "lzma", "brotli"];

fn family_from_thrift(declared: ColumnDescriptor) -> Outcome<FamilyDescriptor> {
    let illegal = |message: String| Thrown::IllegalArgument(message);
    let compression = required(declared.compression, "compression")?.to_lowercase();
    let is_known = Compression::from_name(&compression.to_uppercase()).is_some();
    if !is_known && !OTHER_COMPRESSIONS.contains(&&*compression) {
        return Err(illegal(format!("Unsupported compression algorithm name: {compression}")));
    }
    let bloom = required(declared.bloom_filter_type, "bloomFilterType")?;
    if BloomKind::from_name(&bloom).is_none() {
        return Err(illegal(format!(
            "No enum constant org.apache.hadoop.hbase.regionserver.BloomType.{bloom}"
        )));
    }
    let Some(name) = declared.name.filter(|name| !name.is_empty()) else {
        return Err(Failure::IllegalArgument("column name is empty".into()).into());
    };
    let (name, _) = split_column(&name);
    let family = FamilyDescriptor::new(name).map_err(|error| Thrown::illegal(&error))?;
    if declared.max_versions <= 0 {
        return Err(illegal("Maximum versions must be positive".into()));
    }
    let life = if declared.time_to_live > 0 { declared.time_to_live } else { i32::MAX };
    Ok(family
        .attribute("VERSIONS", declared.max_versions.to_string())
        .attribute("COMPRESSION", compression.to_uppercase())
        .attribute("IN_MEMORY", declared.in_memory.to_string())
        .attribute("BLOCKCACHE", declared.block_cache_enabled.to_string())
        .attribute("TTL", life.to_string())
        .attribute("BLOOMFILTER", bloom))
}

pub(super) async fn create(session: &Session, args: Args) -> Outcome<Returned> {
    let name = match table_name(args.table) {
        // Unlike the other arguments' this exception is not declared.
        Err(Thrown::IllegalArgument(message)) => return Err(Thrown::Unexpected(message)),
        name => name?,
    };
    if table_names(session).await?.contains(&name) {
        return Err(Failure::AlreadyExists("table name already in use".into()).into());
    }
    let mut descriptor = TableDescriptor::new(name);
    for declared in required(args.families, "columnFamilies")? {
        let family = family_from_thrift(declared)?;
        if descriptor.families().iter().any(|other| other.name() == family.name()) {
            let name = escape(family.name());
            let message = format!("Family '{name}' already exists so cannot be added");
            return Err(Thrown::IllegalArgument(message));
        }
        descriptor = descriptor.family(family);
    }
    let message = proto::CreateTableRequest {
        table_schema: table::to_proto(&descriptor),
        ..Default::default()
    };
    master(session, &message, remote).await?;
    Ok(Answer::Void.into())
}

pub(super) async fn delete(session: &Session, args: Args) -> Outcome<Returned> {
    let name = table_name(args.table)?;
    if !table_names(session).await?.contains(&name) {
        return Err(io("table does not exist").into());
    }
    let table_name = names::table_to_proto(&name);
    let message = proto::DeleteTableRequest { table_name, ..Default::default() };
    master(session, &message, remote).await?;
    Ok(Answer::Void.into())
}

/// A table's regions, and the servers that have them.
type Regions = Vec<(RegionInfo, Option<ServerName>)>;

fn regions_of(session: &Session, table: &TableName) -> Result<Regions, Exception> {
    let cluster = session.cluster();
    if let Some(region) = cluster.system_region(table) {
        return Ok(vec![(region, Some(cluster.meta_server().name.clone()))]);
    }
    let stored = cluster.store.table(table).map_err(exception)?;
    let regions = stored.regions().iter().map(|region| {
        let server = cluster.members.live_number(region.assignment().server);
        (region.info().clone(), server.map(|server| server.name.clone()))
    });
    Ok(regions.collect())
}

/// Lists a table's regions; none of a table that does not exist.
pub(super) fn regions(session: &Session, args: Args) -> Outcome<Returned> {
    let regions = regions_of(session, &table_name(args.table)?).unwrap_or_default();
    let regions = regions.into_iter().map(|(region, server)| region_to_thrift(&region, server));
    Ok(Answer::Regions(regions.collect()).into())
}

fn region_to_thrift(region: &RegionInfo, server: Option<ServerName>) -> TRegionInfo {
    TRegionInfo {
        start_key: Some(region.range.start.clone()),
        end_key: Some(region.range.stop.clone()),
        id: i64::try_from(region.id).unwrap_or(i64::MAX),
        name: Some(region.name().full),
        version: REGION_VERSION,
        port: server.as_ref().map_or(0, |server| server.port.into()),
        server_name: server.map(|server| server.host.into()),
    }
}

/// Requests compactions of the region with this full or encoded name, or of a table's regions.
pub(super) async fn compact(session: &Session, args: Args, is_major: bool) -> Outcome<Returned> {
    let name = required(args.table, "tableNameOrRegionName")?;
    let regions = match region_named(session, &name) {
        Some(region) => vec![region],
        None => {
            let table = table_name(Some(name))?;
            let regions = regions_of(session, &table).map_err(local)?;
            regions.into_iter().map(|(region, _)| region).collect()
        }
    };
    for RegionInfo { table, range, .. } in regions {
        let make = |region: RegionRef| {
            let region = region.to_proto();
            Ok(proto::CompactRegionRequest { region, major: Some(is_major), family: None })
        };
        session.at_row(&table, &range.start, make).await.map_err(local)?;
    }
    Ok(Answer::Void.into())
}

fn region_named(session: &Session, name: &[u8]) -> Option<RegionInfo> {
    let tables = session.cluster().store.tables();
    let mut regions = tables.iter().flat_map(|table| table.regions().to_vec());
    let named = regions.find(|region| {
        let own = region.name();
        own.full == name || own.encoded.as_bytes() == name
    });
    named.map(|region| region.info().clone())
}

/// Finds the region before a row of `hbase:meta`.
pub(super) async fn region_of_row(session: &Session, args: Args) -> Outcome<Returned> {
    let row = required(args.row, "row")?;
    let missing = || io(&format!("Cannot find row in hbase:meta, row={}", escape(&row)));
    // Up to and including the row.
    let range = RowRange::new("", [&row[..], &[0]].concat());
    let scan = Scan::new(range).reversed().family("info");
    let mut scan = GatewayScan::new(TableName::meta(), scan, ScanOptions::default());
    let scanned = scan.next(session, 1, None).await.map_err(remote)?;
    scan.end(session).await;
    let found = scanned.rows.into_iter().next().ok_or_else(missing)?;
    let info = found.value("info", "regioninfo").ok_or_else(missing)?;
    let info = region::from_pbuf(&info).map_err(|error| local(exception(error)))?;
    let server = found.value("info", "server").and_then(|address| {
        let (host, port) = ServerName::parse_address(std::str::from_utf8(&address).ok()?).ok()?;
        Some(ServerName { host, port, start_code: 0 })
    });
    Ok(Answer::Region(region_to_thrift(&info, server)).into())
}
