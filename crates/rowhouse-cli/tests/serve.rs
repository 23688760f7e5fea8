//! `rowhouse serve` as a process: readiness, settings files, the log, IPv6.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A server that ends with the value.
struct Served {
    child: Child,
    /// What it printed when it had started.
    screen: String,
}

impl Served {
    /// Starts a server with its data in `dir`, and waits until it takes calls.
    fn start(dir: &Path, arguments: &[&str]) -> Self {
        Self::start_with(dir, arguments, None)
    }

    fn start_with(dir: &Path, arguments: &[&str], notify: Option<&Path>) -> Self {
        let mut command = program(dir);
        command.arg("serve").args(arguments).stdout(Stdio::piped());
        if let Some(socket) = notify {
            command.env("NOTIFY_SOCKET", socket);
        }
        let mut child = command.spawn().unwrap();
        let mut screen = String::new();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap());
        while !screen.contains("Ctrl-C stops the server.") {
            assert!(lines.read_line(&mut screen).unwrap() > 0, "{screen}");
        }
        Self { child, screen }
    }

    /// Returns what follows a text on the screen, up to white space.
    fn shown(&self, before: &str) -> &str {
        let (_, rest) = self.screen.split_once(before).unwrap_or_else(|| panic!("{}", self.screen));
        rest.split_whitespace().next().unwrap()
    }

    fn terminate(&mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowhouse"));
    command.current_dir(dir).env_remove("NOTIFY_SOCKET").env_remove("RUST_LOG");
    command
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    program(dir).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Puts a row and reads it through a URL.
fn put_and_get(dir: &Path, url: &str) {
    let commands =
        ["-e", "create 't', 'f'", "-e", "put 't', 'r', 'f:q', 'value'", "-e", "get 't', 'r'"];
    let ran = run(dir, &[&["shell", "--connect", url][..], &commands].concat());
    let output = String::from_utf8(ran.stdout).unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && output.contains("value=value"), "{url}: {output}{errors}");
}

const FREE_PORTS: [&str; 5] =
    ["--listen=127.0.0.1:0", "--zookeeper=127.0.0.1:0", "--no-web", "--data", "data"];

#[test]
fn the_service_manager_is_notified_when_calls_are_taken_and_at_the_stop() {
    let dir = TempDir::new().unwrap();
    let socket = dir.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    let mut buffer = [0; 64];
    let mut server = Served::start_with(dir.path(), &FREE_PORTS, Some(&socket));
    let length = manager.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"READY=1");
    put_and_get(dir.path(), &format!("hbase://{}", server.shown("hbase.masters=")));
    server.terminate();
    let length = manager.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"STOPPING=1");
}

#[test]
fn a_server_is_configured_by_a_file_and_prints_the_settings_in_effect() {
    let dir = TempDir::new().unwrap();
    let file = "listen = '127.0.0.1:0'\nzookeeper = '127.0.0.1:0'\nno-web = true\nlog = 'json'\n";
    fs::write(dir.path().join("rowhouse.toml"), file).unwrap();
    let arguments = ["--config", "rowhouse.toml", "--data", "elsewhere"];
    let printed = run(dir.path(), &[&["serve", "--print-config"][..], &arguments].concat());
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(
        printed.contains("data = \"elsewhere\"\ntemporary = false\nlisten = \"127.0.0.1:0\"\n"),
        "{printed}"
    );
    assert!(!dir.path().join("elsewhere").exists());

    let mut server = Served::start(dir.path(), &arguments);
    server.terminate();
    let log = fs::read_to_string(dir.path().join("elsewhere/rowhouse.log")).unwrap();
    let events: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let serving = events.iter().find(|event| event["message"] == "serving").unwrap();
    assert!(serving["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{serving}");
}

#[test]
fn a_mistake_in_the_file_ends_the_command_with_status_2_before_anything_is_created() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("rowhouse.toml"), "listen = 'here'\n").unwrap();
    let ran = run(dir.path(), &["serve", "--config", "rowhouse.toml"]);
    let error = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(2), "{error}");
    assert!(error.starts_with("error: rowhouse.toml:1: invalid value 'here'"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// Returns false, with a note, on a machine without IPv6.
fn has_ipv6() -> bool {
    let has = TcpListener::bind("[::1]:0").is_ok();
    if !has {
        eprintln!("this machine has no IPv6: not tested");
    }
    has
}

#[test]
fn clients_connect_over_ipv6() {
    if !has_ipv6() {
        return;
    }
    let dir = TempDir::new().unwrap();
    let ports = ["--listen=[::1]:0", "--zookeeper=[::1]:0", "--web=[::1]:0", "--data=data"];
    let server = Served::start(dir.path(), &ports);
    let address = server.shown("hbase.masters=").to_owned();
    assert!(address.starts_with("[::1]:"), "{address}");
    put_and_get(dir.path(), &format!("hbase://{address}"));
    let quorum = server.shown("hbase.zookeeper.quorum=").to_owned();
    let ran = run(
        dir.path(),
        &["shell", "--connect", &format!("hbase+zk://{quorum}"), "-e", "get 't', 'r'"],
    );
    assert!(String::from_utf8_lossy(&ran.stdout).contains("value=value"), "{ran:?}");
    // The shell on the directory finds the server by the address it left there.
    let ran = run(dir.path(), &["shell", "--data", "data", "-e", "get 't', 'r'"]);
    assert!(String::from_utf8_lossy(&ran.stdout).contains("value=value"), "{ran:?}");
    let web = server.shown("web    http://").trim_end_matches('/').to_owned();
    let ran = run(dir.path(), &["health", &web]);
    assert!(ran.status.success() && !ran.stdout.is_empty(), "{ran:?}");
    drop(server);
    assert_eq!(run(dir.path(), &["health", &web]).status.code(), Some(1));
}

#[test]
fn health_is_reported_over_tls_by_a_server_that_is_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let certificate = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    fs::write(dir.path().join("server.pem"), certificate.pem()).unwrap();
    fs::write(dir.path().join("server.key"), key.serialize_pem()).unwrap();
    let ports = ["--listen=127.0.0.1:0", "--web=127.0.0.1:0", "--no-zookeeper", "--data=data"];
    let tls = ["--tls-certificate=server.pem", "--tls-key=server.key", "--plain=refuse"];
    let server = Served::start(dir.path(), &[&ports[..], &tls].concat());
    let web = server.shown("web    https://").trim_end_matches('/').to_owned();
    let ran = run(dir.path(), &["health", &format!("https://{web}?ca=server.pem")]);
    assert!(ran.status.success() && !ran.stdout.is_empty(), "{ran:?}");
    for (url, why) in
        [(format!("https://{web}"), "UnknownIssuer"), (web, "is no web port of rowhouse")]
    {
        let refused = run(dir.path(), &["health", &url]);
        assert_eq!(refused.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&refused.stderr);
        // A system without authorities says so.
        assert!(errors.contains(why) || errors.contains("no certificate authority"), "{errors}");
    }
}

#[test]
fn a_server_on_all_addresses_takes_ipv4_and_ipv6_and_names_with_both() {
    if !has_ipv6() {
        return;
    }
    let dir = TempDir::new().unwrap();
    // The announced port must be known: another process could take it between these lines.
    let port = TcpListener::bind("[::]:0").unwrap().local_addr().unwrap().port();
    let listen = format!("--listen=[::]:{port}");
    let advertise = format!("--advertise=localhost:{port}");
    let others = ["--zookeeper=[::]:0", "--no-web", "--data=data", "--allow-unauthenticated"];
    let _server = Served::start(dir.path(), &[&[&*listen, &*advertise][..], &others].concat());
    put_and_get(dir.path(), &format!("hbase://localhost:{port}"));
    for host in ["127.0.0.1", "[::1]"] {
        let url = format!("hbase://{host}:{port}");
        let ran = run(dir.path(), &["shell", "--connect", &url, "-e", "get 't', 'r'"]);
        assert!(String::from_utf8_lossy(&ran.stdout).contains("value=value"), "{host}: {ran:?}");
    }
}
