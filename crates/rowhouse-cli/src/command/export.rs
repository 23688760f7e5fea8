//! `rowhouse export`: a table as HFiles, for a cluster or another database.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::schema::TableName;
use rowhouse_store::{ExportOptions, ExportedCells, Store, ZstdForm};

use super::progress::Bar;
use super::{CommandResult, DATA_DIR};
use crate::counted::counted;
use crate::output::print;

/// Arguments of `rowhouse export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The table, such as blog or news:blog
    #[arg(value_name = "TABLE", value_parser = TableName::parse)]
    table: TableName,
    /// The directory for the HFiles, with a folder for each family; created if missing, otherwise
    /// empty
    #[arg(long, value_name = "DIR")]
    hfiles: PathBuf,
    /// Export all stored cells, including delete markers and the cells they cover, instead of those
    /// that a major compaction would keep
    #[arg(long)]
    raw: bool,
    /// The codec with which the cluster reads ZSTD, as its hbase.io.compress.zstd.codec states; for
    /// families with COMPRESSION => 'ZSTD'
    #[arg(long, value_name = "CODEC", default_value = "hadoop")]
    zstd: ZstdCodec,
    /// The data directory; no server may have it open
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data: PathBuf,
}

/// HBase's codecs for ZSTD, each of which reads only its own files.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ZstdCodec {
    /// org.apache.hadoop.io.compress.ZStandardCodec, HBase's default
    Hadoop,
    /// org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec, and the one of aircompressor
    Hbase,
}

/// Writes the files.
pub(crate) fn run(args: &ExportArgs) -> CommandResult {
    let table = &args.table;
    let store = Store::builder(&args.data).only_existing().open()?;
    let cells = if args.raw { ExportedCells::Raw } else { ExportedCells::Retained };
    let zstd = match args.zstd {
        ZstdCodec::Hadoop => ZstdForm::Frame,
        ZstdCodec::Hbase => ZstdForm::Chunks,
    };
    let options = ExportOptions { cells, zstd };
    let mut bar = Bar::new();
    let exported =
        store.export_hfiles(table, &args.hfiles, options, |progress| bar.draw(&progress));
    bar.clear();
    let report = exported?;
    store.close()?;
    print(format_args!(
        "{} of {table} in {}, {}, in {}",
        counted(report.cells, "cell"),
        counted(report.files.len(), "HFile"),
        counted(report.bytes, "byte"),
        args.hfiles.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}
