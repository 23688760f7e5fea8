//! A workload from a file of the reader.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use rowhouse_model::{Error, Result};

use super::super::page::Page;
use super::super::reader::Reader;
use super::super::state::Web;
use super::super::words;
use crate::http::body::{Read, read_form};
use crate::limits::{WEB_DESIGN_FORM_BYTES_MAX, WEB_URI_BYTES_MAX};

const PATH: &str = "/design/file";

/// Returns the form that sends a file. It needs no script.
pub(super) fn form(reader: &Reader) -> Markup {
    let table = reader.param("table");
    html! {
        form action=(PATH) method="post" enctype="multipart/form-data" {
            @if let Some(lang) = reader.chosen_lang() { input type="hidden" name="lang" value=(lang); }
            @if !table.is_empty() { input type="hidden" name="table" value=(table); }
            label {
                (reader.text(words::WORKLOAD_FILE))
                input name="file" type="file" accept=".design,text/plain" required;
            }
            button { (reader.text(words::READ_FILE)) }
        }
    }
}

/// Leads to the page with the designs for the workload in a file.
pub(in crate::web) async fn upload(
    State(web): State<Web>,
    reader: Reader,
    request: Request,
) -> Response {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().to_owned();
    let address = match read_form(request.into_body(), WEB_DESIGN_FORM_BYTES_MAX).await {
        Read::Whole(body) => address(&reader, &kind, &body),
        Read::TooLong(_) => Err(Error::invalid(format!(
            "the file is too long: max={WEB_DESIGN_FORM_BYTES_MAX} bytes with the form"
        ))),
        Read::Lost => Err(Error::invalid("the file did not arrive")),
    };
    match address {
        Ok(address) => (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response(),
        Err(error) => Page::of_error(&reader, &error).response(&web, &reader),
    }
}

/// Returns the address of the page for the workload in a form.
///
/// # Errors
/// `InvalidRequest` for a malformed form, one without a file, and a text that is not UTF-8 or too
/// long for an address.
fn address(reader: &Reader, kind: &str, body: &[u8]) -> Result<String> {
    let fields = fields(kind, body)
        .ok_or_else(|| Error::invalid("the form is not multipart/form-data, or is malformed"))?;
    let reader = reader.with_fields(&fields);
    let text = reader.param("file");
    if text.trim().is_empty() {
        return Err(Error::invalid("the form has no file, or an empty one"));
    }
    let table = reader.param("table");
    let params = [("w", text), ("table", table)];
    let params = if table.is_empty() { &params[..1] } else { &params[..] };
    let address = reader.link("/design", params);
    if address.len() > WEB_URI_BYTES_MAX {
        return Err(Error::invalid(format!(
            "the workload is too long for an address: len={}, max={WEB_URI_BYTES_MAX}",
            address.len()
        )));
    }
    Ok(address)
}

/// Returns the fields of a form in `multipart/form-data` (RFC 7578); `None` if it is malformed, or
/// a field is not UTF-8.
fn fields(kind: &str, body: &[u8]) -> Option<Vec<(String, String)>> {
    let boundary = kind.strip_prefix("multipart/form-data")?.split_once("boundary=")?.1;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    let body = std::str::from_utf8(body).ok()?;
    let delimiter = format!("--{boundary}");
    let mut rest = body.strip_prefix(&delimiter)?;
    let mut fields = Vec::new();
    while let Some(part) = rest.strip_prefix("\r\n") {
        let (head, after) = part.split_once("\r\n\r\n")?;
        let (content, next) = after.split_once(&format!("\r\n{delimiter}"))?;
        let name = head.split_once("; name=\"")?.1.split_once('"')?.0;
        fields.push((name.to_owned(), content.to_owned()));
        rest = next;
    }
    rest.starts_with("--").then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=xx--1";

    fn body(file: &str) -> String {
        format!(
            "--xx--1\r\nContent-Disposition: form-data; name=\"lang\"\r\n\r\nzh\r\n\
             --xx--1\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.design\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{file}\r\n--xx--1--\r\n"
        )
    }

    #[test]
    fn a_file_becomes_the_workload_in_the_address() {
        let reader = Reader::new("/design/file", Vec::new(), "");
        let address = address(&reader, KIND, body("field n u8\r\n\r\n# --xx").as_bytes());
        assert_eq!(address.unwrap(), "/design?w=field%20n%20u8%0D%0A%0D%0A%23%20--xx&lang=zh");
    }

    #[test]
    fn malformed_forms_and_long_files_are_refused() {
        let reader = Reader::new("/design/file", Vec::new(), "");
        let refused = |kind: &str, body: &[u8]| address(&reader, kind, body).unwrap_err();
        let whole = body("field n u8");
        for end in 0..whole.len() - 4 {
            refused(KIND, &whole.as_bytes()[..end]);
        }
        refused("application/x-www-form-urlencoded", b"file=a");
        refused(KIND, body(" ").as_bytes());
        refused(KIND, &[whole.as_bytes(), b"\xff"].concat());
        let long = refused(KIND, body(&"a".repeat(WEB_URI_BYTES_MAX)).as_bytes());
        assert!(long.message().starts_with("the workload is too long for an address: len="));
    }
}
