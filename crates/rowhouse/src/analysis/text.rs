//! An analysis as a text tree.

use std::fmt;
use std::time::Duration;

use rowhouse_store::{FamilyReads, FileReads, ReadTotals, RegionReads, TableReads};

use super::{Analysis, StepTime, files_read, size, why_not_read};

impl fmt::Display for Analysis {
    /// Writes the sums, and what was read as a tree of tables, regions, families and files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.asked)?;
        if let Some((access, ranges)) = &self.access {
            writeln!(f, "access: {access}, {}", counted(*ranges, "range"))?;
        }
        writeln!(
            f,
            "answer: {}",
            sizes(self.rows_returned(), self.cells_returned(), self.bytes_returned())
        )?;
        writeln!(f, "read: {}", read(&self.total()))?;
        writeln!(f, "time: {}", self.times())?;
        let tables = &self.reads.tables;
        for (nth, table) in tables.iter().enumerate() {
            self.write_table(f, table, &Indent::default().child(nth + 1 == tables.len()))?;
        }
        Ok(())
    }
}

impl Analysis {
    fn times(&self) -> String {
        let step = |name, StepTime { elapsed, cpu }| {
            format!("{name} {} (CPU {})", millis(elapsed), millis(cpu))
        };
        let planning = self.planning.map(|time| step("plan", time) + ", ");
        planning.unwrap_or_default() + &step("read", self.reading)
    }

    fn write_table(
        &self,
        f: &mut fmt::Formatter<'_>,
        reads: &TableReads,
        indent: &Indent,
    ) -> fmt::Result {
        let calls = [(reads.gets, "get"), (reads.scans, "region scan")];
        let calls = calls.iter().filter(|(count, _)| *count > 0);
        let calls: Vec<_> = calls.map(|(count, what)| counted(*count, what)).collect();
        let elapsed = millis(reads.elapsed);
        let cpu = millis(reads.cpu);
        let total = reads.total();
        writeln!(
            f,
            "{indent}table {}: {}, {} read, {} returned, {elapsed} (CPU {cpu})",
            reads.table,
            calls.join(", "),
            counted(total.rows_read, "row"),
            total.rows_returned,
        )?;
        for (nth, region) in reads.regions.iter().enumerate() {
            let indent = indent.child(nth + 1 == reads.regions.len());
            self.write_region(f, reads, region, &indent)?;
        }
        Ok(())
    }

    fn write_region(
        &self,
        f: &mut fmt::Formatter<'_>,
        table: &TableReads,
        reads: &RegionReads,
        indent: &Indent,
    ) -> fmt::Result {
        let [from, to] =
            [&reads.range.start, &reads.range.stop].map(|key| self.key(&table.table, key));
        let rows = counted(reads.rows_read, "row");
        writeln!(
            f,
            "{indent}region from {from} to {to}: {rows} read, {} returned",
            reads.rows_returned
        )?;
        for (nth, family) in reads.families.iter().enumerate() {
            let indent = indent.child(nth + 1 == reads.families.len());
            write_family(f, family, &indent)?;
        }
        Ok(())
    }
}

fn write_family(f: &mut fmt::Formatter<'_>, reads: &FamilyReads, indent: &Indent) -> fmt::Result {
    let skipped = reads.cells_read().saturating_sub(reads.cells_returned);
    writeln!(
        f,
        "{indent}family {}: {} looked at ({} in memory), {skipped} skipped, {} returned ({}); {} of {} read",
        rowhouse_model::escape(&reads.family),
        counted(reads.cells_read(), "cell"),
        reads.memory_cells,
        reads.cells_returned,
        size(reads.bytes_returned),
        files_read(reads),
        counted(reads.files.len() as u64, "file"),
    )?;
    for (nth, file) in reads.files.iter().enumerate() {
        let indent = indent.child(nth + 1 == reads.files.len());
        writeln!(f, "{indent}file {}, {}: {}", file.path, size(file.len), reported_file(file))?;
    }
    Ok(())
}

/// Returns what was read from a file, or why nothing was.
fn reported_file(file: &FileReads) -> String {
    if let Some(why) = why_not_read(file) {
        return why;
    }
    let mut text = format!(
        "{} looked at, {} from the cache, {} from the disk ({})",
        counted(file.cells_read, "cell"),
        counted(file.blocks_cached, "block"),
        file.blocks_from_disk,
        size(file.bytes_from_disk),
    );
    if file.left_out() > 0 {
        let reads = file.reads + file.left_out();
        text += &format!("; {} of {reads} reads looked into it", file.reads);
    }
    text
}

fn read(total: &ReadTotals) -> String {
    let files = total.files_read + total.files_left_out;
    format!(
        "{} and {} in {}, {} of {}, {} from the cache, {} from the disk ({})",
        counted(total.rows_read, "row"),
        counted(total.cells_read, "cell"),
        counted(total.regions, "region"),
        total.files_read,
        counted(files, "file"),
        counted(total.blocks_cached, "block"),
        total.blocks_from_disk,
        size(total.bytes_from_disk),
    )
}

fn sizes(rows: u64, cells: u64, bytes: u64) -> String {
    format!("{}, {}, {}", counted(rows, "row"), counted(cells, "cell"), size(bytes))
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// The tree lines before an entry.
#[derive(Default)]
struct Indent {
    /// For each level whether the entry is the last among the siblings.
    is_last: Vec<bool>,
}

impl Indent {
    fn child(&self, is_last: bool) -> Self {
        Self { is_last: self.is_last.iter().copied().chain([is_last]).collect() }
    }
}

impl fmt::Display for Indent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((own, before)) = self.is_last.split_last() else { return Ok(()) };
        before.iter().try_for_each(|last| f.write_str(if *last { "  " } else { "│ " }))?;
        f.write_str(if *own { "└ " } else { "├ " })
    }
}
