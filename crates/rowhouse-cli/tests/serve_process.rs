//! Tests `rowhouse serve` as the process that a test starts: the line that it prints, its end, and
//! the changes that it permits.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use serde_json::Value;

/// A server over a temporary directory, which ends with `stdin`.
struct Served {
    child: Child,
    stdin: Option<ChildStdin>,
    ready: Value,
}

impl Served {
    fn start(more: &[&str]) -> Self {
        let any_port = "127.0.0.1:0";
        let mut child = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
            .args(["serve", "--temporary", "--until-stdin-closes", "--json", "--no-web"])
            .args(["--listen", any_port, "--zookeeper", any_port])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let stdin = child.stdin.take();
        Self { child, stdin, ready: serde_json::from_str(&line).unwrap() }
    }

    fn text(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        let url = format!("hbase://{}", self.text("rpc"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_rowhouse"));
        command.args(args).args(["--connect", &url]).output().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_temporary_server_ends_with_its_input_and_leaves_nothing() {
    let mut served = Served::start(&[]);
    for name in ["rpc", "zookeeper"] {
        let address: SocketAddr = served.text(name).parse().unwrap();
        assert!(address.ip().is_loopback() && address.port() != 0, "{address}");
    }
    assert!(served.ready["web"].is_null());
    let data = PathBuf::from(served.text("data"));
    assert!(data.is_absolute() && PathBuf::from(served.text("log")).starts_with(&data));
    assert!(served.run(&["shell", "-n", "-e", "create 't', 'f'"]).status.success());
    assert!(data.exists());
    drop(served.stdin.take());
    assert!(served.child.wait().unwrap().success());
    assert!(!data.exists());
}

#[test]
fn tables_are_reset_only_where_that_is_permitted() {
    let refused = Served::start(&[]).run(&["admin", "reset"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8(refused.stderr).unwrap().contains("--allow-reset"));

    let served = Served::start(&["--allow-reset"]);
    let tables = || {
        let listed = served.run(&["shell", "-n", "-e", "list"]);
        String::from_utf8(listed.stdout).unwrap()
    };
    assert!(served.run(&["shell", "-n", "-e", "create 't', 'f'"]).status.success());
    assert!(served.run(&["admin", "save-state", "golden"]).status.success());
    assert!(served.run(&["admin", "reset"]).status.success());
    assert!(tables().contains("0 row(s)"), "{}", tables());
    assert!(served.run(&["admin", "restore-state", "golden"]).status.success());
    assert!(tables().contains("1 row(s)"), "{}", tables());
    let unknown = served.run(&["admin", "restore-state", "silver"]);
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("no such state: name=silver"));
    assert!(tables().contains("1 row(s)"), "{}", tables());
    let states = || String::from_utf8(served.run(&["admin", "list-states"]).stdout).unwrap();
    assert!(states().starts_with("golden  1 table  20"), "{}", states());
    assert!(served.run(&["admin", "delete-state", "golden"]).status.success());
    assert_eq!(states(), "no states\n");
    assert!(tables().contains("1 row(s)"), "{}", tables());
}

#[test]
fn a_data_directory_that_is_not_utf8_is_refused_with_json_before_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join(OsStr::from_bytes(b"data-\xff"));
    let refused = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .args(["serve", "--json", "--no-web", "--listen", "127.0.0.1:0", "--no-zookeeper"])
        .arg("--data")
        .arg(&data)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && errors.contains("not UTF-8"), "{errors}");
    assert!(!data.exists());
}
