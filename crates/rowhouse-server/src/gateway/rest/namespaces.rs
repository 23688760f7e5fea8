//! Namespaces.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use rowhouse_format::convert::names;
use rowhouse_format::proto;
use rowhouse_model::Namespace;

use super::media::{Media, OF_DESCRIPTIONS, OF_ROWS};
use super::read;
use super::refusal::Refusal;
use super::request::Request;
use super::write::{NamespaceNames, Properties, TableNames, description};
use crate::gateway::Session;
use crate::limits::REST_MODEL_BYTES_MAX;

type Answer = Result<Response, Refusal>;

async fn names_of(session: &Session) -> Result<Vec<String>, Refusal> {
    let answer = session.master(&proto::ListNamespaceDescriptorsRequest {}).await?;
    Ok(answer.namespace_descriptor.into_iter().map(|it| text(&it.name)).collect())
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

pub(super) async fn list(request: &Request) -> Answer {
    let media = request.accepted(OF_DESCRIPTIONS)?;
    Ok(description(media, &NamespaceNames(names_of(&request.session).await?)))
}

pub(super) async fn tables(request: &Request, namespace: &str) -> Answer {
    let media = request.accepted(OF_DESCRIPTIONS)?;
    let call = proto::ListTableNamesByNamespaceRequest { namespace_name: namespace.to_owned() };
    let answer = request.session.master(&call).await.map_err(missing)?;
    let tables = answer.table_name.into_iter().map(names::table_from_proto);
    let tables = tables.map(|name| name.map(|name| name.qualifier().to_owned()));
    Ok(description(media, &TableNames(tables.collect::<Result<_, _>>()?)))
}

/// A namespace that is not there is not found; HBase's gateway fails with status 500.
fn missing(exception: rowhouse_format::exception::Exception) -> Refusal {
    let kind = exception.clone().into_error().kind();
    if kind == rowhouse_model::ErrorKind::NamespaceNotFound {
        let message = exception.message;
        return Refusal::new(StatusCode::NOT_FOUND, format!("Not found\r\n{message}\r\n"));
    }
    exception.into()
}

/// Returns an answer in HBase's words, which end without a line break.
fn refused(status: StatusCode, text: String) -> Answer {
    Err(Refusal::new(status, text))
}

pub(super) async fn one(request: &Request, name: &str, body: Body) -> Answer {
    let session = &request.session;
    match request.method().as_str() {
        "GET" => {
            let media = request.accepted(OF_DESCRIPTIONS)?;
            let call = proto::GetNamespaceDescriptorRequest { namespace_name: name.to_owned() };
            let answer = session.master(&call).await.map_err(missing)?;
            let namespace = names::namespace_from_proto(answer.namespace_descriptor)?;
            Ok(description(media, &Properties(namespace)))
        }
        "DELETE" => {
            if !names_of(session).await?.iter().any(|it| it == name) {
                let text = format!("Namespace '{name}' does not exists.  Cannot drop namespace.");
                return refused(StatusCode::NOT_FOUND, text);
            }
            let call = proto::DeleteNamespaceRequest {
                namespace_name: name.to_owned(),
                ..Default::default()
            };
            session.master(&call).await?;
            Ok(StatusCode::OK.into_response())
        }
        method => change(request, name, method == "PUT", body).await,
    }
}

/// Creates or alters a namespace.
async fn change(request: &Request, name: &str, is_alteration: bool, body: Body) -> Answer {
    let session = &request.session;
    let body = request.read(body, OF_ROWS, REST_MODEL_BYTES_MAX).await?;
    let properties = read::properties(body.media, &body.bytes)?;
    let is_there = names_of(session).await?.iter().any(|it| it == name);
    if is_there && !is_alteration {
        let text = format!(
            "Namespace '{name}' already exists.  Use REST PUT to alter the existing namespace."
        );
        return refused(StatusCode::FORBIDDEN, text);
    }
    if !is_there && is_alteration {
        let text =
            format!("Namespace '{name}' does not exist. Use REST POST to create the namespace.");
        return refused(StatusCode::FORBIDDEN, text);
    }
    let mut namespace = Namespace::new(name)?;
    namespace.configuration = properties;
    let namespace_descriptor = names::namespace_to_proto(&namespace);
    let location = request.location("");
    if is_alteration {
        session
            .master(&proto::ModifyNamespaceRequest { namespace_descriptor, ..Default::default() })
            .await?;
        return Ok(([(CONTENT_TYPE, Media::Text.name())], location).into_response());
    }
    session
        .master(&proto::CreateNamespaceRequest { namespace_descriptor, ..Default::default() })
        .await?;
    Ok((StatusCode::CREATED, [(LOCATION, location)]).into_response())
}
