//! Stateless scans: `GET /TABLE/PREFIX*`, queries and pages.

use axum::http::header::HeaderValue;
use axum::response::Response;
use base64::Engine;
use bytes::Bytes;
use rowhouse_model::{Filter, ListOperator, RowRange, Scan, TableName};

use super::media;
use super::refusal::Refusal;
use super::request::{Request, text_of};
use super::row_spec::{BASE64_URL, selected, time_range, versions};
use super::rows::{filter_of, form_of};
use super::write::{Form, OpenScan, RowAnswer};
use crate::gateway::{GatewayScan, ScanOptions, ScannedRows};
use crate::limits::REST_FRAME_ROWS;

/// The header with the token for the next page.
const PAGE_TOKEN: &str = "x-page-token";
/// What a token begins with; another form would have another number.
const TOKEN_VERSION: &str = "1.";

/// Answers for the rows with a prefix, which ends with a star.
pub(super) async fn answer(
    request: &Request,
    table: TableName,
    path: &str,
) -> Result<Response, Refusal> {
    let media = request.accepted(media::OF_ROWS)?;
    let form = form_of(request, &table, media)?;
    let options = ScanOptions { query: request.param("query").map(str::to_owned) };
    let mut scan = scan_of(request, path)?;
    let page: Option<u32> = request.number("page")?;
    if page == Some(0) {
        return Err(Refusal::bad("page is the number of rows in a page, from 1"));
    }
    if scan.batch.is_some() && (page.is_some() || request.param("after").is_some()) {
        return Err(Refusal::bad("pages have whole rows: page and after exclude batchsize"));
    }
    if let Some(token) = request.param("after") {
        pass(&mut scan, &row_of(token)?);
    }
    let limit = request.number::<i32>("limit")?.unwrap_or(i32::MAX);
    let limit = u64::try_from(limit).unwrap_or(0).min(page.map_or(u64::MAX, u64::from));
    if scan.batch.is_none() {
        scan.limit = Some(limit);
    }
    let form = match form {
        Form::Protobuf => Form::ProtobufFrames { has_empty: limit < REST_FRAME_ROWS as u64 },
        form => form,
    };
    let mut scan = OpenScan::new(GatewayScan::new(table, scan, options), limit, &request.session);
    let ScannedRows { rows, memory } = scan.next().await?;
    let last = rows.last().map(|row| Bytes::copy_from_slice(row.key()));
    let is_page = page.is_some();
    let answer = RowAnswer {
        form,
        media,
        rows: rows.into(),
        memory: memory.into_iter().collect(),
        scan: (!is_page).then_some(scan),
    };
    let mut response = answer.response(&request.connection);
    // The row before a page may be the table's last: the next page is then empty, without a token.
    if let (true, Some(last)) = (is_page, last) {
        let token = format!("{TOKEN_VERSION}{}", BASE64_URL.encode(&last).trim_end_matches('='));
        if let Ok(token) = HeaderValue::from_str(&token) {
            response.headers_mut().insert(PAGE_TOKEN, token);
        }
    }
    Ok(response)
}

/// Returns the row in a page token.
fn row_of(token: &str) -> Result<Bytes, Refusal> {
    let row = token.strip_prefix(TOKEN_VERSION).and_then(|text| BASE64_URL.decode(text).ok());
    let row = row.filter(|row| !row.is_empty()).map(Bytes::from);
    row.ok_or_else(|| Refusal::bad(format_args!("after is no token of a page: {token:?}")))
}

/// Goes on after a row.
fn pass(scan: &mut Scan, row: &Bytes) {
    let range = if scan.reversed {
        RowRange::new(Bytes::new(), row.clone())
    } else {
        RowRange::new(after(row), Bytes::new())
    };
    scan.range = scan.range.intersect(&range);
}

/// Returns the first row after this one.
fn after(row: &[u8]) -> Bytes {
    [row, &[0]].concat().into()
}

fn scan_of(request: &Request, path: &str) -> Result<Scan, Refusal> {
    let text = text_of(path)?;
    let (prefix, _) = text.split_once('*').unwrap_or((&text, ""));
    let row = |name| request.param(name).unwrap_or_default().as_bytes();
    let (start, end) = (row("startrow"), row("endrow"));
    let start = if start.is_empty() { prefix.as_bytes() } else { start };
    let reversed = request.flag("reversed").unwrap_or(false);
    let range = if reversed {
        // The first row is the greatest, and belongs to the scan.
        let past = |row: &[u8]| if row.is_empty() { Bytes::new() } else { after(row) };
        RowRange::new(past(end), past(start))
    } else {
        RowRange::new(Bytes::copy_from_slice(start), Bytes::copy_from_slice(end))
    };
    let mut scan = Scan::new(range);
    scan.reversed = reversed;
    let columns =
        request.params("column").map(|column| Bytes::copy_from_slice(column.trim().as_bytes()));
    let columns: Vec<Bytes> = columns.collect();
    scan.columns = selected(&columns)?;
    scan.versions = versions(request.number("maxversions")?.unwrap_or(1))?;
    scan.batch =
        request.number::<i32>("batchsize")?.filter(|&cells| cells > 0).map(|cells| cells as u32);
    let from = request.number("starttime")?.unwrap_or(0);
    scan.time_range = time_range(from, request.number("endtime")?.unwrap_or(i64::MAX))?;
    scan.cache_blocks = request.flag("cacheblocks").unwrap_or(true);
    let filter = filter_of(request)?;
    let prefix =
        (!prefix.is_empty()).then(|| Filter::Prefix(Bytes::copy_from_slice(prefix.as_bytes())));
    let mut filters: Vec<Filter> = filter.into_iter().chain(prefix).collect();
    scan.filter = match filters.len() {
        0 => None,
        1 => filters.pop().map(Box::new),
        _ => Some(Box::new(Filter::List { operator: ListOperator::And, filters })),
    };
    Ok(scan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_after_the_row_of_the_token() {
        let mut scan = Scan::new(RowRange::new("a", "m"));
        pass(&mut scan, &row_of("1.Yw").unwrap());
        assert_eq!(scan.range, RowRange::new(&b"c\0"[..], "m"));
        scan.reversed = true;
        pass(&mut scan, &row_of("1.ZA").unwrap());
        assert_eq!(scan.range, RowRange::new(&b"c\0"[..], "d"));
        for token in ["", "1.", "2.Yw", "Yw", "1.!"] {
            assert!(row_of(token).is_err(), "{token}");
        }
    }
}
