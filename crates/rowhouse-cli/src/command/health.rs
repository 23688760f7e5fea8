//! `rowhouse health`: a server's `/health` as an exit status, where there is no HTTP client.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::ExitCode;
use std::time::Duration;

use rowhouse::{Error, Result};

use super::{CommandResult, argument};
use crate::output::print;

/// How long connecting, and each part of the answer, may take.
const WAIT: Duration = Duration::from_secs(5);
/// Bytes of the answer that are read.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Arguments of `rowhouse health`.
#[derive(Debug, clap::Args)]
pub(crate) struct HealthArgs {
    /// The server's web port, without TLS
    #[arg(value_name = "HOST:PORT", value_parser = argument::address, default_value = "127.0.0.1:16010")]
    address: String,
}

/// Prints the answer. The exit status is 0 if the database takes writes, otherwise 1.
pub(crate) fn run(args: &HealthArgs) -> CommandResult {
    let answer = request(&args.address).map_err(|error| {
        Error::io(format_args!("no answer from the web port at {}", args.address), error)
    })?;
    let (is_healthy, body) = read(&answer, &args.address)?;
    print(body.trim_end())?;
    Ok(if is_healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn request(address: &str) -> std::io::Result<String> {
    let mut failed = std::io::Error::other("the host has no address");
    for socket in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&socket, WAIT) {
            Ok(stream) => return exchange(stream, address),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn exchange(mut stream: TcpStream, address: &str) -> std::io::Result<String> {
    stream.set_read_timeout(Some(WAIT))?;
    stream.set_write_timeout(Some(WAIT))?;
    let request = format!("GET /health HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
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
    fn the_status_of_the_answer_decides() {
        let read = |answer| read(answer, "a:1");
        assert_eq!(read("HTTP/1.0 200 OK\r\na: b\r\n\r\nok\n").unwrap(), (true, "ok\n"));
        assert_eq!(read("HTTP/1.1 503 X\r\n\r\nread only").unwrap(), (false, "read only"));
        for other in ["", "HTTP/1.1 404 Not Found\r\n\r\n", "SSH-2.0-x", "HTTP/1.1 20"] {
            assert!(read(other).unwrap_err().message().contains("a:1"), "{other}");
        }
    }
}
