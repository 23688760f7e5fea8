//! `rowhouse health`: a server's `/health` as an exit status, where there is no HTTP client.

use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::process::ExitCode;
use std::time::Duration;

use rowhouse::{Error, Result};
use rowhouse_client::{Place, Target, TlsSettings};
use rowhouse_model::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{CommandResult, runtime};
use crate::output::print;

/// How long connecting and the answer may take.
const WAIT: Duration = Duration::from_secs(10);
/// Bytes of the answer that are read.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Arguments of `rowhouse health`.
#[derive(Debug, clap::Args)]
pub(crate) struct HealthArgs {
    /// The server's web port; with TLS https://HOST:PORT, which takes ?ca=FILE, certificate=FILE,
    /// key=FILE and names=unchecked as hbase+tls:// does
    #[arg(value_name = "HOST:PORT", value_parser = web_port, default_value = "127.0.0.1:16010")]
    port: WebPort,
}

/// A server's web port.
#[derive(Clone, Debug)]
struct WebPort {
    host: String,
    port: u16,
    tls: Option<TlsSettings>,
}

/// Parses `HOST:PORT` or `https://HOST:PORT?PARAMETERS`.
fn web_port(text: &str) -> Result<WebPort> {
    let Some(rest) = text.strip_prefix("https://") else {
        let address = text.strip_prefix("http://").unwrap_or(text);
        let (host, port) = ServerName::parse_address(address.trim_end_matches('/'))?;
        return Ok(WebPort { host, port, tls: None });
    };
    // Without a port it would be that of RPC.
    let address = rest.split_once('?').map_or(rest, |(address, _)| address);
    ServerName::parse_address(address.trim_end_matches('/'))?;
    let target = Target::parse(&format!("hbase+tls://{rest}"))?;
    match target.place {
        Place::Servers(mut servers) if servers.len() == 1 && target.token.is_none() => {
            let (host, port) = servers.remove(0);
            Ok(WebPort { host, port, tls: target.tls })
        }
        _ => Err(Error::invalid(format!("expected one web port, and no token: given={text}"))),
    }
}

/// Prints the answer. The exit status is 0 if the database takes writes, otherwise 1.
pub(crate) fn run(args: &HealthArgs) -> CommandResult {
    let port = &args.port;
    let address = ServerName::format_address(&port.host, port.port);
    let late = |_| IoError::new(ErrorKind::TimedOut, format!("nothing in {WAIT:?}"));
    let answer = runtime()?.block_on(async {
        timeout(WAIT, request(port, &address)).await.map_err(late).and_then(|answer| answer)
    });
    let answer = answer.map_err(|error| {
        Error::io(format_args!("no answer from the web port at {address}"), error)
    })?;
    let (is_healthy, body) = read(&answer, &address)?;
    print(body.trim_end())?;
    Ok(if is_healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn request(port: &WebPort, address: &str) -> IoResult<String> {
    match &port.tls {
        None => exchange(TcpStream::connect((&*port.host, port.port)).await?, address).await,
        Some(tls) => {
            let stream = tls.connect(&port.host, port.port).await.map_err(IoError::other)?;
            exchange(stream, address).await
        }
    }
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    address: &str,
) -> IoResult<String> {
    let request = format!("GET /health HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Returns true for a positive answer, and the text.
fn read<'a>(answer: &'a str, address: &str) -> Result<(bool, &'a str)> {
    let status = answer.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5));
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    match status {
        Some("200") => Ok((true, body)),
        Some("503") => Ok((false, body)),
        _ => {
            let line = answer.lines().next().unwrap_or_default();
            Err(Error::invalid(format!("{address} is no web port of rowhouse: answer={line:?}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_port_is_an_address_or_its_url() {
        for plain in ["h:1", "http://h:1", "http://h:1/"] {
            let port = web_port(plain).unwrap();
            assert_eq!((&*port.host, port.port, port.tls), ("h", 1, None), "{plain}");
        }
        let port = web_port("https://[::1]:1?ca=/c").unwrap();
        assert_eq!((&*port.host, port.port), ("::1", 1));
        assert_eq!(port.tls.unwrap().ca, Some("/c".into()));
        for wrong in
            ["h", "https://h", "https://h?ca=/c", "https://h:1,i:2", "https://h:1?token=/t"]
        {
            assert!(web_port(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_status_of_the_answer_decides() {
        let read = |answer| read(answer, "a:1");
        assert_eq!(read("HTTP/1.0 200 OK\r\na: b\r\n\r\nok\n").unwrap(), (true, "ok\n"));
        assert_eq!(read("HTTP/1.1 503 X\r\n\r\nread only").unwrap(), (false, "read only"));
        for other in ["", "HTTP/1.1 404 Not Found\r\n\r\n", "SSH-2.0-x", "HTTP/1.1 20"] {
            assert!(read(other).unwrap_err().message().contains("a:1"), "{other}");
        }
    }
}
