//! Tables: their list, schemas, regions and existence.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderValue, LOCATION};
use axum::response::{IntoResponse, Response};
use rowhouse_format::convert::{names, table};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, TableDescriptor, TableName};

use super::media::{OF_DESCRIPTIONS, OF_EXISTENCE, OF_ROWS};
use super::read::{self, SchemaModel};
use super::refusal::Refusal;
use super::request::Request;
use super::write::{Regions, Schema, TableNames, description};
use crate::gateway::Session;
use crate::limits::REST_MODEL_BYTES_MAX;

type Answer = Result<Response, Refusal>;

/// Marks an answer that no proxy may keep.
pub(super) fn uncached(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn kind(exception: &Exception) -> ErrorKind {
    exception.clone().into_error().kind()
}

/// Lists the tables.
pub(super) async fn list(request: &Request) -> Answer {
    let media = request.accepted(OF_DESCRIPTIONS)?;
    let answer = request.session.master(&proto::GetTableNamesRequest::default()).await?;
    let names = answer.table_names.into_iter().map(names::table_from_proto);
    let names = names.map(|name| name.map(|name| name.to_string()));
    Ok(uncached(description(media, &TableNames(names.collect::<Result<_, _>>()?))))
}

/// Returns a table's descriptor.
async fn descriptor(session: &Session, name: &TableName) -> Result<TableDescriptor, Refusal> {
    let request = proto::GetTableDescriptorsRequest {
        table_names: vec![names::table_to_proto(name)],
        include_sys_tables: Some(true),
        ..Default::default()
    };
    let answer = session.master(&request).await?;
    match answer.table_schema.into_iter().next() {
        Some(schema) => Ok(table::from_proto(schema)?),
        None => {
            let missing = Error::new(ErrorKind::TableNotFound, name.to_string());
            Err(Exception::from(&missing).into())
        }
    }
}

/// Returns true if the table is there.
async fn is_there(session: &Session, name: &TableName) -> Result<bool, Refusal> {
    match descriptor(session, name).await {
        Ok(_) => Ok(true),
        Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

pub(super) async fn exists(request: &Request, name: &TableName) -> Answer {
    request.accepted(OF_EXISTENCE)?;
    if !is_there(&request.session, name).await? {
        return Err(Refusal::not_found());
    }
    Ok(uncached(StatusCode::OK.into_response()))
}

pub(super) async fn regions(request: &Request, name: &TableName) -> Answer {
    let media = request.accepted(OF_DESCRIPTIONS)?;
    let cluster = request.session.cluster();
    let meta_server = cluster.meta_server().name.address();
    let regions = match cluster.system_region(name) {
        Some(region) => vec![(region, meta_server)],
        None => {
            let stored = cluster.store.table(name).map_err(|_| Refusal::not_found())?;
            let regions = stored.regions().iter().map(|region| {
                let server = cluster.members.live_number(region.assignment().server);
                let location = server.map(|server| server.name.address()).unwrap_or_default();
                (region.info().clone(), location)
            });
            regions.collect()
        }
    };
    Ok(uncached(description(media, &Regions { table: name.to_string(), regions })))
}

pub(super) async fn schema(request: &Request, name: TableName, body: Body) -> Answer {
    let session = &request.session;
    match request.method().as_str() {
        "GET" => {
            let media = request.accepted(OF_DESCRIPTIONS)?;
            Ok(uncached(description(media, &Schema(descriptor(session, &name).await?))))
        }
        "DELETE" => {
            let table_name = names::table_to_proto(&name);
            let disable =
                proto::DisableTableRequest { table_name: table_name.clone(), ..Default::default() };
            match session.master(&disable).await {
                Err(exception) if kind(&exception) != ErrorKind::TableNotEnabled => {
                    return Err(exception.into());
                }
                _ => {}
            }
            session.master(&proto::DeleteTableRequest { table_name, ..Default::default() }).await?;
            Ok(StatusCode::OK.into_response())
        }
        method => {
            let body = request.read(body, OF_ROWS, REST_MODEL_BYTES_MAX).await?;
            let model = read::schema(body.media, &body.bytes)?;
            let is_there = is_there(session, &name).await?;
            if method == "POST" && is_there {
                update(session, &name, &model).await?;
                return Ok(StatusCode::OK.into_response());
            }
            replace(session, name, &model, is_there).await?;
            Ok((StatusCode::CREATED, [(LOCATION, request.location(""))]).into_response())
        }
    }
}

/// Creates the table, or gives it this schema and no other families. HBase's gateway disables the
/// table meanwhile; that is not necessary.
async fn replace(
    session: &Session,
    name: TableName,
    model: &SchemaModel,
    is_there: bool,
) -> Result<(), Refusal> {
    let table_name = names::table_to_proto(&name);
    let table_schema = table::to_proto(&model.to_descriptor(name)?);
    if is_there {
        let modify = proto::ModifyTableRequest { table_name, table_schema, ..Default::default() };
        session.master(&modify).await?;
        return Ok(());
    }
    let create = proto::CreateTableRequest { table_schema, ..Default::default() };
    match session.master(&create).await {
        Err(exception) if kind(&exception) == ErrorKind::TableExists => {
            Err(Refusal::new(StatusCode::NOT_MODIFIED, "Not modified\r\n"))
        }
        created => Ok(created.map(drop)?),
    }
}

/// Adds and alters families.
async fn update(session: &Session, name: &TableName, model: &SchemaModel) -> Result<(), Refusal> {
    let current = descriptor(session, name).await?;
    for family in &model.families {
        let family = family.to_descriptor()?;
        let table_name = names::table_to_proto(name);
        let column_families = table::family_to_proto(&family);
        let changed = if current.find_family(family.name()).is_ok() {
            let modify =
                proto::ModifyColumnRequest { table_name, column_families, ..Default::default() };
            session.master(&modify).await.map(drop)
        } else {
            let add = proto::AddColumnRequest { table_name, column_families, ..Default::default() };
            session.master(&add).await.map(drop)
        };
        changed?;
    }
    Ok(())
}
