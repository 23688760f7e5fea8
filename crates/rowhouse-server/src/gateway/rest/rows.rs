//! Rows by their keys: gets, ranges, puts, deletes and checks.

use std::collections::VecDeque;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use rowhouse_format::exception::Exception;
use rowhouse_model::{
    Append, Cell, CellKind, CompareOperator, Condition, Delete, Filter, Increment, Mutation, Put,
    Row, TableName, Timestamp,
};

use super::media::{self, Media};
use super::model::{CellModel, CellSet, Column, RowModel};
use super::read;
use super::refusal::Refusal;
use super::request::{ReadBody, Request, text_of};
use super::row_spec::RowSpec;
use super::write::{Form, OpenScan, RowAnswer, decoded_keys};
use crate::gateway::{BatchAnswers, GatewayScan, RowAction, ScanOptions, Session};
use crate::limits::{REST_BODY_BYTES_MAX, REST_GETS_MAX};
use crate::memory::Reserved;

type Answer = Result<Response, Refusal>;

/// Media types of rows in requests.
const CONSUMED: &[Media] =
    &[Media::Xml, Media::Json, Media::Protobuf, Media::ProtobufIetf, Media::Binary];

/// Answers for a row, or a range of rows.
pub(super) async fn answer(request: &Request, table: TableName, path: &str, body: Body) -> Answer {
    let mut spec = RowSpec::parse(path, request.key_encoding()?)?;
    if let Some(versions) = request.number("v")? {
        spec.versions = versions;
    }
    spec.caches = request.param("nocache").is_none();
    match request.method().as_str() {
        "GET" => get(request, &table, &spec).await,
        "DELETE" => delete(request, &table, &spec).await,
        _ => {
            let body = request.read(body, CONSUMED, REST_BODY_BYTES_MAX).await?;
            if body.media == Media::Binary {
                put_value(request, &table, &spec, body).await
            } else {
                update(request, &table, &spec, body).await
            }
        }
    }
}

/// Returns the form of rows in the answer to a request.
pub(super) fn form_of(request: &Request, table: &TableName, media: Media) -> Result<Form, Refusal> {
    let is_decoded = match request.param("key") {
        None => false,
        Some("decoded") => true,
        Some(other) => {
            return Err(Refusal::bad(format_args!("key is decoded or not there: {other:?}")));
        }
    };
    if is_decoded && media != Media::Json {
        return Err(Refusal::bad("key=decoded needs Accept: application/json"));
    }
    Ok(match media {
        Media::Json => {
            let cluster = request.session.cluster();
            let keys = is_decoded.then(|| {
                let stored = cluster.store.table(table)?;
                decoded_keys(stored.descriptor())
            });
            Form::Json { keys: keys.transpose()? }
        }
        Media::Protobuf | Media::ProtobufIetf => Form::Protobuf,
        Media::Xml | Media::Text | Media::Binary => Form::Xml,
    })
}

async fn get(request: &Request, table: &TableName, spec: &RowSpec) -> Answer {
    let media = request.accepted(media::OF_CELLS)?;
    if media == Media::Binary && spec.columns.len() != 1 {
        return Err(Refusal::bad_text(
            "Bad request: Default 'GET' method only works if there is exactly 1 column in the row. \
             Using the 'Accept' header with one of these formats lets you retrieve the entire row \
             if it has multiple columns: text/xml, application/json, application/x-protobuf, \
             application/protobuf",
        ));
    }
    let form = form_of(request, table, media)?;
    let session = &request.session;
    // As in HBase, a row in a table or family that is not there is not found.
    let hidden = |exception: Exception| {
        if Refusal::hides_row(&exception) { Refusal::not_found() } else { exception.into() }
    };
    let (rows, memory, scan) = if spec.end.is_none() {
        let read = session.get(table, &spec.to_get()?).await.map_err(hidden)?;
        (VecDeque::from([read.row]), read.memory, None)
    } else {
        let scan = GatewayScan::new(table.clone(), spec.to_scan()?, ScanOptions::default());
        let mut scan = OpenScan::new(scan, u64::MAX, session);
        let read = scan.next().await.map_err(hidden)?;
        (read.rows.into(), read.memory, Some(scan))
    };
    let Some(first) = rows.iter().find(|row| !row.is_empty()) else {
        return Err(Refusal::not_found());
    };
    if media == Media::Binary {
        return Ok(value(first));
    }
    let answer = RowAnswer { form, media, rows, memory: memory.into_iter().collect(), scan };
    Ok(answer.response(&request.connection))
}

/// Answers with the value of a row's first cell.
fn value(row: &Row) -> Response {
    let cell = row.cells().next();
    let (value, millis) =
        cell.map_or((Bytes::new(), 0), |cell| (cell.value_bytes(), cell.timestamp().as_millis()));
    let headers = [
        (CONTENT_TYPE.as_str(), Media::Binary.name().to_owned()),
        ("x-timestamp", millis.to_string()),
    ];
    (headers, Body::from(value)).into_response()
}

/// Answers for rows by `row` parameters: `multiget`.
pub(super) async fn multi_get(request: &Request, table: TableName, path: &str) -> Answer {
    let media = request.accepted(media::OF_ROWS)?;
    let form = form_of(request, &table, media)?;
    let columns = text_of(path)?.replace("multiget", "").replace('/', "");
    let columns: Vec<Bytes> = columns
        .split(',')
        .filter(|column| !column.is_empty())
        .map(|column| Bytes::copy_from_slice(column.as_bytes()))
        .collect();
    let encoding = request.key_encoding()?;
    let versions = request.number("v")?;
    let filter = filter_of(request)?;
    let written_out = {
        let filter = request.param("filter").or_else(|| request.param("filter_b64"));
        let columns = columns.iter().map(|column| column.len() as u64 + 64);
        // A filter takes more than the text.
        let of_row = columns.sum::<u64>() + 128 + 8 * filter.map_or(0, str::len) as u64;
        of_row.saturating_mul(request.params("row").count() as u64)
    };
    let memory = request.session.reserve_written_out(written_out, None).await;
    let memory = memory.map_err(Refusal::too_large)?;
    let mut actions = Vec::new();
    for row in request.params("row") {
        let mut spec = RowSpec::parse(row, encoding)?;
        spec.versions = versions.unwrap_or(spec.versions);
        spec.columns.extend(columns.iter().cloned());
        spec.caches = request.param("nocache").is_none();
        let mut get = spec.to_get()?;
        get.filter = filter.clone().map(Box::new);
        actions.push(RowAction::Get(get));
        if actions.len() > REST_GETS_MAX {
            return Err(Refusal::too_large(format_args!("rows: max={REST_GETS_MAX}")));
        }
    }
    let BatchAnswers { answers, memory } = request.session.batch(&table, &actions, memory).await;
    let mut rows = VecDeque::with_capacity(answers.len());
    for answer in answers {
        match answer {
            Ok(row) => rows.push_back(row),
            Err(exception) if Refusal::hides_row(&exception) => {
                return Err(Refusal::new(StatusCode::NOT_FOUND, "No rows found.\r\n"));
            }
            Err(exception) => return Err(exception.into()),
        }
    }
    if rows.iter().all(Row::is_empty) {
        return Err(Refusal::new(StatusCode::NOT_FOUND, "No rows found.\r\n"));
    }
    Ok(RowAnswer { form, media, rows, memory, scan: None }.response(&request.connection))
}

/// Returns the filter in HBase's filter language: the parameter `filter`, or `filter_b64`.
pub(super) fn filter_of(request: &Request) -> Result<Option<Filter>, Refusal> {
    use base64::Engine;
    let text = match request.param("filter_b64") {
        Some(text) => {
            let text = super::row_spec::BASE64_URL.decode(text);
            Some(text.map_err(|error| Refusal::bad(format_args!("filter_b64: {error}")))?)
        }
        None => request.param("filter").map(|text| text.as_bytes().to_vec()),
    };
    Ok(text.map(Filter::parse).transpose()?)
}

fn ok() -> Response {
    StatusCode::OK.into_response()
}

/// Returns HBase's answer to a check that did not hold. It has no body.
fn not_modified() -> Response {
    (StatusCode::NOT_MODIFIED, [(CONTENT_TYPE, Media::Text.name())]).into_response()
}

/// Returns a column with a qualifier.
fn full(column: &Bytes, text: &str) -> Result<(Bytes, Bytes), Refusal> {
    match Column::parse(column) {
        Column { family, qualifier: Some(qualifier) } => Ok((family, qualifier)),
        Column { qualifier: None, .. } => Err(Refusal::bad_text(text)),
    }
}

/// Returns a cell's column, which is otherwise the next one in the path.
fn column_of<'c>(
    cell: &'c CellModel,
    path: &mut impl Iterator<Item = &'c Bytes>,
) -> Result<&'c Bytes, Refusal> {
    let column = cell.column.as_ref().or_else(|| path.next());
    column.ok_or_else(|| Refusal::bad_text("Bad request: Column found to be null."))
}

fn time_of(cell: &CellModel) -> Result<Timestamp, Refusal> {
    Ok(cell.timestamp.map_or(Ok(Timestamp::LATEST), Timestamp::from_millis)?)
}

/// Puts a value, whose row, column and time may be in headers.
async fn put_value(request: &Request, table: &TableName, spec: &RowSpec, body: ReadBody) -> Answer {
    let header = |name| request.header(name).map(|text| Bytes::copy_from_slice(text.as_bytes()));
    let row = header("x-row").unwrap_or_else(|| spec.row.clone());
    let column = header("x-column").or_else(|| spec.columns.first().cloned());
    let Some(column) = column else {
        return Err(Refusal::bad_text("Bad request: Column found to be null."));
    };
    let timestamp = match request.header("x-timestamp") {
        Some(text) => text
            .trim()
            .parse()
            .map(Some)
            .map_err(|_| Refusal::bad(format_args!("X-Timestamp is no number: {text:?}")))?,
        None => None,
    };
    let at = timestamp.map_or(Ok(Timestamp::LATEST), Timestamp::from_millis)?;
    let (family, qualifier) = full(&column, "Bad request")?;
    let put = Put::new(row)?.add_at(family, qualifier, at, &body.bytes)?;
    let ReadBody { bytes, memory, .. } = body;
    drop(bytes);
    request.session.mutate(table, &put.into(), None, memory).await?;
    Ok(ok())
}

async fn update(request: &Request, table: &TableName, spec: &RowSpec, body: ReadBody) -> Answer {
    if body.bytes.is_empty() && body.media == Media::Json {
        return Err(Refusal::bad("the body is empty"));
    }
    let rows = read::cells(body.media, &body.bytes, &mut body.budget(spec.row.len())).map_err(
        |error| match error.kind() {
            rowhouse_model::ErrorKind::ResponseTooLarge => Refusal::too_large(error),
            _ => Refusal::bad(error),
        },
    )?;
    let ReadBody { bytes, memory, .. } = body;
    drop(bytes);
    let check = request.param("check").unwrap_or_default();
    match &check.to_ascii_lowercase()[..] {
        "" => put(request, table, spec, rows, memory).await,
        "put" => check_and_put(request, table, spec, rows, memory).await,
        "delete" => check_and_delete(request, table, spec, rows, memory).await,
        "append" => append(request, table, spec, rows, memory).await,
        "increment" => increment(request, table, spec, rows, memory).await,
        _ => Err(Refusal::bad_text(&format!("Invalid check value '{check}'"))),
    }
}

/// Returns the row's key, which is otherwise in the path.
fn key_of(row: &RowModel, spec: &RowSpec) -> Bytes {
    row.key.clone().unwrap_or_else(|| spec.row.clone())
}

/// Returns the put for a row.
fn put_of(row: &RowModel, spec: &RowSpec) -> Result<Put, Refusal> {
    let mut put = Put::new(key_of(row, spec))?;
    let mut path = spec.columns.iter();
    for cell in &row.cells {
        let (family, qualifier) = full(column_of(cell, &mut path)?, "Bad request")?;
        put = put.add_at(family, qualifier, time_of(cell)?, &cell.value)?;
    }
    if put.cells().is_empty() {
        return Err(Refusal::bad("No columns to insert"));
    }
    Ok(put)
}

async fn put(
    request: &Request,
    table: &TableName,
    spec: &RowSpec,
    rows: CellSet,
    memory: Option<Reserved>,
) -> Answer {
    let puts = rows.iter().map(|row| put_of(row, spec)).collect::<Result<Vec<_>, _>>()?;
    drop(rows);
    let session = &request.session;
    match <[Put; 1]>::try_from(puts) {
        Ok([put]) => drop(session.mutate(table, &put.into(), None, memory).await?),
        Err(puts) => {
            let actions = puts.into_iter().map(|put| RowAction::Mutate(put.into()));
            let actions: Vec<_> = actions.collect();
            let batch = session.batch(table, &actions, memory).await;
            if let Some(exception) = batch.answers.into_iter().find_map(Result::err) {
                return Err(exception.into());
            }
        }
    }
    Ok(ok())
}

async fn delete(request: &Request, table: &TableName, spec: &RowSpec) -> Answer {
    let mut delete = Delete::new(spec.row.clone())?;
    let at = spec.timestamp().map_or(Ok(Timestamp::LATEST), Timestamp::from_millis)?;
    delete.timestamp = at;
    for column in &spec.columns {
        let column = Column::parse(column);
        delete = match column.qualifier {
            None => delete.family(column.family, at)?,
            Some(qualifier) => delete.column(column.family, qualifier, at)?,
        };
    }
    request.session.mutate(table, &delete.into(), None, None).await?;
    Ok(ok())
}

/// Returns the only row of a request with a check.
fn only(rows: &CellSet) -> Result<&RowModel, Refusal> {
    match &rows[..] {
        [row] => Ok(row),
        _ => Err(Refusal::bad_text("Bad request: Number of rows specified is not 1.")),
    }
}

/// Makes a mutation if the column has the value of `check`.
async fn mutate_if(
    session: &Session,
    table: &TableName,
    (family, qualifier): (Bytes, Bytes),
    check: &CellModel,
    mutation: &Mutation,
    memory: Option<Reserved>,
) -> Answer {
    let condition =
        Condition::value(family, qualifier, CompareOperator::Equal, check.value.clone());
    let mutated = session.mutate(table, mutation, Some(&condition), memory).await?;
    Ok(if mutated.done { ok() } else { not_modified() })
}

async fn check_and_put(
    request: &Request,
    table: &TableName,
    spec: &RowSpec,
    rows: CellSet,
    memory: Option<Reserved>,
) -> Answer {
    let row = only(&rows)?;
    let Some((check, cells)) = row.cells.split_last().filter(|(_, cells)| !cells.is_empty()) else {
        return Err(Refusal::bad_text(
            "Bad request: Either row key is null or no data found for columns specified.",
        ));
    };
    const UNCLEAR: &str = "Bad request: Column incorrectly specified.";
    let checked = check.column.as_ref().ok_or_else(|| Refusal::bad_text(UNCLEAR))?;
    let place = full(checked, UNCLEAR)?;
    if place.1.is_empty() {
        return Err(Refusal::bad_text(UNCLEAR));
    }
    let mut put = Put::new(key_of(row, spec))?;
    for cell in cells {
        let column = column_of(cell, &mut std::iter::empty())?;
        let (family, qualifier) = full(column, "Bad request")?;
        put = put.add_at(family, qualifier, time_of(cell)?, &cell.value)?;
    }
    if !cells.iter().any(|cell| cell.column.as_ref() == Some(checked)) {
        return Err(Refusal::bad_text("Bad request: The column to put and check do not match."));
    }
    mutate_if(&request.session, table, place, check, &put.into(), memory).await
}

async fn check_and_delete(
    request: &Request,
    table: &TableName,
    spec: &RowSpec,
    rows: CellSet,
    memory: Option<Reserved>,
) -> Answer {
    let row = only(&rows)?;
    let Some((check, cells)) = row.cells.split_last() else {
        return Err(Refusal::bad("the row has no cells"));
    };
    let checked = check.column.as_ref().or_else(|| spec.columns.first());
    let checked =
        checked.ok_or_else(|| Refusal::bad_text("Bad request: Column not specified for check."))?;
    let place = full(checked, "Bad request: Column to check incorrectly specified.")?;
    let mut delete = Delete::new(key_of(row, spec))?;
    for cell in cells {
        let column = Column::parse(column_of(cell, &mut std::iter::empty())?);
        let at = time_of(cell)?;
        delete = match column.qualifier {
            None => delete.family(column.family, at)?,
            Some(qualifier) => delete.version(column.family, qualifier, at)?,
        };
    }
    if cells.is_empty() {
        delete = delete.column(&place.0, &place.1, Timestamp::LATEST)?;
    }
    mutate_if(&request.session, table, place, check, &delete.into(), memory).await
}

/// A family, a qualifier, and the cell of the request.
type PlacedCell<'c> = ((Bytes, Bytes), &'c CellModel);

/// Returns each cell of the only row with its column.
fn columns_of<'c>(row: &'c RowModel, spec: &'c RowSpec) -> Result<Vec<PlacedCell<'c>>, Refusal> {
    let mut path = spec.columns.iter();
    let cells = row.cells.iter().map(|cell| {
        let column = column_of(cell, &mut path)?;
        Ok((full(column, "Bad request: Column incorrectly specified.")?, cell))
    });
    cells.collect()
}

/// Returns a cell that an append or increment takes.
fn cell(row: &Bytes, (family, qualifier): (Bytes, Bytes), value: &[u8]) -> Result<Cell, Refusal> {
    Ok(Cell::new(row, family, qualifier, Timestamp::LATEST, CellKind::Put, value)?)
}

async fn append(
    request: &Request,
    table: &TableName,
    spec: &RowSpec,
    rows: CellSet,
    memory: Option<Reserved>,
) -> Answer {
    let row = only(&rows)?;
    let mut append = Append::new(key_of(row, spec))?;
    append.return_results = returns(request);
    for (column, model) in columns_of(row, spec)? {
        let cell = cell(append.row(), column, &model.value)?;
        append = append.add_cell(cell)?;
    }
    read_modify_write(request, table, append.into(), memory).await
}

async fn increment(
    request: &Request,
    table: &TableName,
    spec: &RowSpec,
    rows: CellSet,
    memory: Option<Reserved>,
) -> Answer {
    let row = only(&rows)?;
    let mut increment = Increment::new(key_of(row, spec))?;
    increment.return_results = returns(request);
    for (column, model) in columns_of(row, spec)? {
        let text = String::from_utf8_lossy(&model.value);
        let amount: i64 = text
            .parse()
            .map_err(|_| Refusal::bad(format_args!("the amount is no number in text: {text:?}")))?;
        let cell = cell(increment.row(), column, &amount.to_be_bytes())?;
        increment = increment.add_cell(cell)?;
    }
    read_modify_write(request, table, increment.into(), memory).await
}

/// Returns true if the answer is to have the new cells.
fn returns(request: &Request) -> bool {
    request.flag("rr").unwrap_or(false)
}

async fn read_modify_write(
    request: &Request,
    table: &TableName,
    mutation: Mutation,
    memory: Option<Reserved>,
) -> Answer {
    if mutation.cells().is_empty() {
        return Err(Refusal::bad("the row has no cells"));
    }
    let form = if returns(request) {
        let media = request.accepted(media::OF_ROWS)?;
        Some((form_of(request, table, media)?, media))
    } else {
        None
    };
    let mutated = request.session.mutate(table, &mutation, None, memory).await?;
    let Some((form, media)) = form else { return Ok(ok()) };
    if mutated.row.is_empty() {
        return Ok(not_modified());
    }
    let memory = mutated.memory.into_iter().collect();
    let rows = VecDeque::from([mutated.row]);
    Ok(RowAnswer { form, media, rows, memory, scan: None }.response(&request.connection))
}
