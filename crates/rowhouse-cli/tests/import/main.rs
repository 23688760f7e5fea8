//! `rowhouse import`, as a separate process.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod duplicates;
mod killed;
mod mistakes;
mod round_trip;
mod served;
#[path = "../support/mod.rs"]
mod support;
mod times;

use std::path::Path;
use std::process::Command;

use rowhouse::{Result, Scan, Table};

/// What a program run returned.
#[derive(Debug)]
struct Ran {
    status: i32,
    out: String,
    err: String,
}

/// Runs `rowhouse import` with these arguments in `dir`; the data directory is `data` in it.
fn import(dir: &Path, args: &[&str]) -> Ran {
    let ran = command(dir, args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { status: ran.status.code().unwrap_or(-1), out: text(ran.stdout), err: text(ran.stderr) }
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowhouse"));
    command.arg("import").args(args).args(["--data", "data"]).current_dir(dir);
    command
}

/// Runs a function on a table in the data directory in `dir`.
fn with_table<T>(dir: &Path, name: &str, run: impl AsyncFnOnce(&Table) -> Result<T>) -> T {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let database = rowhouse::open(dir.join("data").display().to_string()).await.unwrap();
        let table = database.table(name).await.unwrap();
        let done = run(&table).await.unwrap();
        database.close().await.unwrap();
        done
    })
}

/// Returns all cells in a table as texts, by the key and column names.
fn cells(dir: &Path, name: &str) -> Vec<String> {
    with_table(dir, name, async |table| {
        let mut rows = table.scan(Scan::all()).await?;
        let mut texts = Vec::new();
        while let Some(row) = rows.next().await? {
            let key = table.key_schema()?.decode(row.key()).unwrap();
            for cell in row.to_cells() {
                let columns = table.column_schema()?;
                let named = columns.decode(cell.family(), cell.qualifier(), cell.value()).unwrap();
                texts.push(format!("{key}: {named}"));
            }
        }
        Ok(texts)
    })
}
