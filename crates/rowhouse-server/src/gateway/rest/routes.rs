//! Which resource answers which path.

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::http::header::{ALLOW, CACHE_CONTROL, HeaderValue};
use axum::response::{IntoResponse, Response};
use rowhouse_model::TableName;

use super::refusal::Refusal;
use super::request::{Request, text_of};
use super::user::user_of;
use super::{RestConnection, cluster, namespaces, rows, scanners, scans, tables};
use crate::http::body::discard;
use crate::http::{Connection, HttpClient, guard};
use crate::limits::REST_HEADER_BYTES_MAX;

type Answer = Result<Response, Refusal>;

/// Answers a request.
pub(super) async fn answer(
    State(connection): State<RestConnection>,
    Extension(http): Extension<Connection>,
    Extension(client): Extension<HttpClient>,
    request: HttpRequest,
) -> Response {
    let cluster = &connection.rest.gateway.cluster;
    let host = &cluster.master.name.host;
    let refused = guard::refuse(&request, host, REST_HEADER_BYTES_MAX);
    let (parts, body) = request.into_parts();
    let mut response = match refused {
        Some(refused) => {
            discard(body).await;
            refused.into_response()
        }
        None => match user_of(&connection, &client, &parts) {
            Err(denied) => {
                discard(body).await;
                *denied
            }
            Ok(identity) => {
                let session =
                    connection.rest.gateway.session(&connection.share, client.peer, identity);
                match Request::new(parts, session, client, http) {
                    Ok(request) => route(&connection, &request, body).await,
                    Err(error) => {
                        discard(body).await;
                        Err(error.into())
                    }
                }
                .unwrap_or_else(IntoResponse::into_response)
            }
        },
    };
    // HBase's own value stays.
    let caching = response.headers().get(CACHE_CONTROL).cloned();
    guard::protect(&mut response);
    if let Some(caching) = caching {
        response.headers_mut().insert(CACHE_CONTROL, caching);
    }
    response
}

/// A resource in the path.
#[derive(Debug, PartialEq, Eq)]
enum Resource<'p> {
    Tables,
    Version,
    ClusterVersion,
    ClusterStatus,
    Namespaces,
    Namespace(&'p str),
    NamespaceTables(&'p str),
    Exists(&'p str),
    Regions(&'p str),
    Schema(&'p str),
    /// Opens scanners.
    Scanners(&'p str),
    Scanner(&'p str, &'p str),
    MultiGet(&'p str, &'p str),
    /// A stateless scan.
    Scan(&'p str, &'p str),
    Rows(&'p str, &'p str),
}

impl<'p> Resource<'p> {
    /// Returns the resource for a path without the first slash.
    fn of(path: &'p str) -> Option<Self> {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let end = rest.trim_end_matches('/');
        match (first, end) {
            ("", _) => return Some(Self::Tables),
            ("version", "" | "rest") => return Some(Self::Version),
            ("version", "cluster") => return Some(Self::ClusterVersion),
            ("status", "cluster") => return Some(Self::ClusterStatus),
            ("namespaces", "") => return Some(Self::Namespaces),
            ("namespaces", names) => {
                return match names.split_once('/') {
                    None => Some(Self::Namespace(names)),
                    Some((namespace, "tables")) => Some(Self::NamespaceTables(namespace)),
                    Some(_) => None,
                };
            }
            ("version" | "status", _) | (_, "") => return None,
            _ => {}
        }
        let (part, below) = end.split_once('/').unwrap_or((end, ""));
        match part {
            "exists" => below.is_empty().then_some(Self::Exists(first)),
            "regions" => below.is_empty().then_some(Self::Regions(first)),
            "schema" => below.is_empty().then_some(Self::Schema(first)),
            "scanner" if below.is_empty() => Some(Self::Scanners(first)),
            "scanner" => Some(Self::Scanner(first, below)),
            _ if end.starts_with("multiget") => Some(Self::MultiGet(first, end)),
            _ if rest.ends_with('*') => Some(Self::Scan(first, rest)),
            // A glob ends the row.
            _ if rest.contains('*') && rest.split_once("*/").is_none_or(|it| it.1.is_empty()) => {
                None
            }
            _ => Some(Self::Rows(first, rest)),
        }
    }

    /// Returns the methods, as HBase lists them.
    fn methods(&self) -> &'static [&'static str] {
        match self {
            Self::Namespace(_) | Self::NamespaceTables(_) | Self::Schema(_) | Self::Rows(..) => {
                &["DELETE", "POST", "GET", "PUT"]
            }
            Self::Scanners(_) => &["POST", "PUT"],
            Self::Scanner(..) => &["DELETE", "GET"],
            Self::Tables
            | Self::Version
            | Self::ClusterVersion
            | Self::ClusterStatus
            | Self::Namespaces
            | Self::Exists(_)
            | Self::Regions(_)
            | Self::MultiGet(..)
            | Self::Scan(..) => &["GET"],
        }
    }
}

/// Returns true if a path names a resource.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn is_resource(path: &str) -> bool {
    Resource::of(path).is_some()
}

fn table(name: &str) -> Result<TableName, Refusal> {
    Ok(TableName::parse(&text_of(name)?)?)
}

async fn route(connection: &RestConnection, request: &Request, body: Body) -> Answer {
    let Some(resource) = Resource::of(request.path()) else {
        discard(body).await;
        return Err(Refusal::not_found());
    };
    let methods = resource.methods();
    let method = request.method().as_str();
    if !methods.contains(&method) {
        discard(body).await;
        let text = format!("Method not allowed\r\nthere are {}\r\n", methods.join(", "));
        let mut response = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, text).into_response();
        if let Ok(allowed) = HeaderValue::from_str(&methods.join(",")) {
            response.headers_mut().insert(ALLOW, allowed);
        }
        return Ok(response);
    }
    let body = if matches!(method, "PUT" | "POST") {
        body
    } else {
        discard(body).await;
        Body::empty()
    };
    let scanners = &connection.rest.scanners;
    match resource {
        Resource::Tables => tables::list(request).await,
        Resource::Version => cluster::version(request).await,
        Resource::ClusterVersion => cluster::cluster_version(request).await,
        Resource::ClusterStatus => cluster::status(request).await,
        Resource::Namespaces => namespaces::list(request).await,
        Resource::Namespace(name) => namespaces::one(request, &text_of(name)?, body).await,
        Resource::NamespaceTables(name) if method == "GET" => {
            namespaces::tables(request, &text_of(name)?).await
        }
        // As in HBase, whatever changes there changes the namespace.
        Resource::NamespaceTables(name) => namespaces::one(request, &text_of(name)?, body).await,
        Resource::Exists(name) => tables::exists(request, &table(name)?).await,
        Resource::Regions(name) => tables::regions(request, &table(name)?).await,
        Resource::Schema(name) => tables::schema(request, table(name)?, body).await,
        Resource::Scanners(name) => scanners::create(request, scanners, table(name)?, body).await,
        Resource::Scanner(name, id) => {
            scanners::answer(request, scanners, &table(name)?, &text_of(id)?).await
        }
        Resource::MultiGet(name, path) => rows::multi_get(request, table(name)?, path).await,
        Resource::Scan(name, path) => scans::answer(request, table(name)?, path).await,
        Resource::Rows(name, path) => rows::answer(request, table(name)?, path, body).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_resources_as_in_hbase() {
        use Resource::*;
        for (path, expected) in [
            ("", Some(Tables)),
            ("version", Some(Version)),
            ("version/rest/", Some(Version)),
            ("version/cluster", Some(ClusterVersion)),
            ("status/cluster", Some(ClusterStatus)),
            ("status", None),
            ("namespaces", Some(Namespaces)),
            ("namespaces/n", Some(Namespace("n"))),
            ("namespaces/n/tables", Some(NamespaceTables("n"))),
            ("namespaces/n/other", None),
            ("t", None),
            ("t/", None),
            ("t/exists", Some(Exists("t"))),
            ("t/exists/x", None),
            ("t/regions", Some(Regions("t"))),
            ("t/schema", Some(Schema("t"))),
            ("t/scanner", Some(Scanners("t"))),
            ("t/scanner/7", Some(Scanner("t", "7"))),
            ("t/multiget", Some(MultiGet("t", "multiget"))),
            ("t/multiget/f:q,g", Some(MultiGet("t", "multiget/f:q,g"))),
            ("t/*", Some(Scan("t", "*"))),
            ("t/row*", Some(Scan("t", "row*"))),
            ("t/row*/f:q", Some(Rows("t", "row*/f:q"))),
            ("t/row*/", None),
            ("t/a*,b", None),
            ("t/row", Some(Rows("t", "row"))),
            ("t//row", Some(Rows("t", "/row"))),
            ("t/row/f:q/1,2", Some(Rows("t", "row/f:q/1,2"))),
        ] {
            assert_eq!(Resource::of(path), expected, "{path}");
        }
    }
}
