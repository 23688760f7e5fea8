//! Workloads in files, for `rowhouse simulate` and `rowhouse advise`.

use std::path::{Path, PathBuf};

use rowhouse::advise::Workload;
use rowhouse::{Error, Result};
use rowhouse_import::{Reading, read_sample};

/// The most rows that are read from a sample.
const SAMPLE_MAX: usize = 1_000_000;

/// Arguments of commands that read a workload.
#[derive(Debug, clap::Args)]
pub(super) struct WorkloadArgs {
    /// A file that describes the rows, the questions and the limits: see docs/designing-a-key.md
    file: PathBuf,
    /// Rows to make, instead of the number in the file
    #[arg(long, value_name = "N")]
    rows: Option<u64>,
    /// The seed of all that is drawn, instead of the one in the file
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Rows whose values are used where the file declares no distribution: CSV, JSON lines or
    /// Parquet
    #[arg(long, value_name = "FILE")]
    sample: Option<PathBuf>,
}

impl WorkloadArgs {
    /// Reads the workload and its sample.
    pub(super) fn read(&self) -> Result<Workload> {
        let path = &self.file;
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::io(format_args!("cannot read {}", path.display()), source))?;
        let in_file = |error: Error| error.with_context(path.display());
        let mut workload = Workload::parse(&text).map_err(in_file)?;
        let named = workload.sample_file().map(|name| beside(path, name));
        if let Some(sample) = self.sample.clone().or(named) {
            workload = with_sample(workload, &sample)?;
        }
        if let Some(rows) = self.rows {
            workload = workload.with_rows(rows)?;
        }
        Ok(match self.seed {
            Some(seed) => workload.with_seed(seed),
            None => workload,
        })
    }
}

/// Returns the path of a file whose name is relative to the folder of another file.
fn beside(file: &Path, name: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(name)
}

fn with_sample(workload: Workload, path: &Path) -> Result<Workload> {
    let names: Vec<String> = workload.names().map(str::to_owned).collect();
    let read = |name: &str, text: &str| workload.read_value(name, text);
    let sample = read_sample(path, &Reading::default(), &names, SAMPLE_MAX, read)?;
    workload.with_sample(&sample.names, sample.rows)
}
