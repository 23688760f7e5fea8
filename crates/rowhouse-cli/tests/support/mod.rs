//! `rowhouse serve` for tests, as a separate process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that is killed with the test.
pub(crate) struct Served(pub(crate) Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server for `data` on free ports, and returns when it serves.
pub(crate) fn serve(data: &Path, more: &[&str]) -> Served {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .args([
            "serve",
            "--no-web",
            "--listen",
            "127.0.0.1:0",
            "--zookeeper",
            "127.0.0.1:0",
            "--data",
        ])
        .arg(data)
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let screen = BufReader::new(child.stdout.take().unwrap());
    let served = Served(child);
    assert!(screen.lines().any(|line| line.unwrap().contains("Ctrl-C")), "it serves");
    served
}
