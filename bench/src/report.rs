//! The output of the child processes, and the table made from it.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::case::CaseName;
use crate::engine::EngineName;

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// CPU time of an operation, user and system, all threads, in microseconds.
    CpuMicros,
    /// Wall time of an operation in microseconds.
    WallMicros,
    /// CPU time in seconds.
    CpuSeconds,
    /// Wall time in seconds.
    WallSeconds,
    /// MiB of memory or disk.
    Mib,
    /// A quotient.
    Ratio,
}

impl Unit {
    const ALL: [(Self, &str); 6] = [
        (Self::CpuMicros, "µs CPU"),
        (Self::WallMicros, "µs wall"),
        (Self::CpuSeconds, "s CPU"),
        (Self::WallSeconds, "s wall"),
        (Self::Mib, "MiB"),
        (Self::Ratio, "ratio"),
    ];

    fn as_str(self) -> &'static str {
        let (_, name) = Self::ALL[self as usize];
        name
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(unit, _)| unit)
    }
}

/// One measured number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) unit: Unit,
    /// `None` when the engine cannot do it.
    pub(crate) value: Option<f64>,
    /// Wall time beside CPU time.
    pub(crate) wall: Option<f64>,
    /// The pace of the core meanwhile ([`crate::measure::Cost`]).
    pub(crate) pace: Option<f64>,
}

/// Factor over the best pace from which the core counts as shared with others.
const PACE_SHARED: f64 = 1.15;

/// A line of a child's output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    Line(Line),
    Note(String),
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>| value.map_or("-".into(), |value| value.to_string());
        match self {
            Self::Line(line) => {
                let (value, wall, pace) =
                    (number(line.value), number(line.wall), number(line.pace));
                write!(f, "{}\t{}\t{value}\t{wall}\t{pace}", line.label, line.unit.as_str())
            }
            Self::Note(text) => f.write_str(text),
        }
    }
}

impl Said {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut parts = text.split('\t');
        let (Some(label), Some(unit), Some(value), Some(wall), Some(pace)) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Ok(Self::Note(text.to_owned()));
        };
        let number = |text: &str| (text != "-").then(|| text.parse()).transpose();
        Ok(Self::Line(Line {
            label: label.to_owned(),
            unit: Unit::parse(unit).with_context(|| format!("unknown unit: {text}"))?,
            value: number(value)?,
            wall: number(wall)?,
            pace: number(pace)?,
        }))
    }
}

/// All lines of output, in the order of their first occurrence.
pub(crate) struct Report {
    about: String,
    rows: Vec<TableRow>,
    /// Only of the last round.
    notes: BTreeMap<(CaseName, Option<EngineName>, usize), String>,
}

struct TableRow {
    case: CaseName,
    label: String,
    unit: Unit,
    cells: BTreeMap<Option<EngineName>, Vec<Line>>,
}

impl Report {
    pub(crate) fn new(args: &Args) -> Self {
        let about = format!("{} cells, seed {}, rounds {}", args.cells, args.seed, args.rounds);
        Self { about, rows: Vec::new(), notes: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, engine: Option<EngineName>, case: CaseName, said: Said) {
        let line = match said {
            Said::Line(line) => line,
            Said::Note(text) => {
                let known = |note: &&String| note.split(':').next() == text.split(':').next();
                let mine = (case, engine, 0)..=(case, engine, usize::MAX);
                let same = self.notes.range(mine.clone()).find(|(_, note)| known(note));
                let key = same.map(|(key, _)| *key);
                let next = (case, engine, self.notes.range(mine).count());
                self.notes.insert(key.unwrap_or(next), text);
                return;
            }
        };
        let same = |row: &&mut TableRow| row.case == case && row.label == line.label;
        let row = match self.rows.iter_mut().find(same) {
            Some(row) => row,
            None => {
                let (label, unit) = (line.label.clone(), line.unit);
                self.rows.push(TableRow { case, label, unit, cells: BTreeMap::new() });
                self.rows.last_mut().expect("a row was just pushed")
            }
        };
        row.cells.entry(engine).or_default().push(line);
    }
}

/// The median of an engine's measurements of one item, over all rounds.
struct Median {
    value: Option<f64>,
    wall: Option<f64>,
    /// Whether the core was shared with others in all measurements.
    shared: bool,
}

impl TableRow {
    /// Returns the median of an engine's measurements while the core was its own, or of all if it
    /// never was.
    fn median(&self, engine: Option<EngineName>, best_pace: f64) -> Option<Median> {
        let lines = self.cells.get(&engine)?;
        let own: Vec<&Line> = lines.iter().filter(|line| !line.is_shared(best_pace)).collect();
        let shared = own.is_empty();
        let lines = if shared { lines.iter().collect() } else { own };
        let value = median(lines.iter().filter_map(|line| line.value).collect());
        let wall = median(lines.iter().filter_map(|line| line.wall).collect());
        Some(Median { value, wall, shared })
    }

    fn print_cell(&self, engine: Option<EngineName>, best_pace: f64) -> String {
        let Some(Median { value, wall, shared }) = self.median(engine, best_pace) else {
            return String::new();
        };
        let mark = if shared { "~" } else { "" };
        match (value, wall) {
            (None, _) => "–".into(),
            (Some(value), None) => format!("{mark}{}", print_number(value)),
            (Some(value), Some(wall)) => {
                format!("{mark}{} ({})", print_number(value), print_number(wall))
            }
        }
    }
}

impl Line {
    /// Returns whether the core was shared with others, if that was measured.
    fn is_shared(&self, best_pace: f64) -> bool {
        self.pace.is_some_and(|pace| pace > best_pace * PACE_SHARED)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        len if len % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

/// Formats a number with about three significant digits.
fn print_number(value: f64) -> String {
    match value.abs() {
        0.0..0.1 => format!("{value:.4}"),
        0.1..1.0 => format!("{value:.3}"),
        1.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.about)?;
        let best_pace = self.best_pace();
        let timed = || self.lines().filter(|line| line.pace.is_some());
        let shared = timed().filter(|line| line.is_shared(best_pace)).count();
        writeln!(
            f,
            "{shared} of {} times were taken while somebody else used the core: a median is of the others, or marked ~.\n",
            timed().count()
        )?;
        let mut engines: Vec<EngineName> =
            self.rows.iter().flat_map(|row| row.cells.keys().copied().flatten()).collect();
        engines.sort();
        engines.dedup();
        if !engines.is_empty() {
            self.print_engines(f, &engines, best_pace)?;
        }
        if self.rows.iter().any(|row| row.cells.contains_key(&None)) {
            writeln!(f, "| the machine itself | unit | |\n|---|---|---:|")?;
            for row in self.rows.iter().filter(|row| row.cells.contains_key(&None)) {
                let (unit, cell) = (row.unit.as_str(), row.print_cell(None, best_pace));
                writeln!(f, "| {} | {unit} | {cell} |", row.label)?;
            }
            writeln!(f)?;
        }
        for ((case, engine, _), note) in &self.notes {
            let engine = engine.map_or("machine", EngineName::as_str);
            writeln!(f, "- {case}, {engine}, {note}")?;
        }
        Ok(())
    }
}

impl Report {
    /// Returns the pace of an unshared core.
    fn best_pace(&self) -> f64 {
        self.lines().filter_map(|line| line.pace).fold(f64::INFINITY, f64::min)
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.rows.iter().flat_map(|row| row.cells.values().flatten())
    }

    fn print_engines(
        &self,
        f: &mut fmt::Formatter<'_>,
        engines: &[EngineName],
        best_pace: f64,
    ) -> fmt::Result {
        write!(f, "| case | | unit |")?;
        for engine in engines {
            write!(f, " {} |", engine.as_str())?;
            if *engine == EngineName::Rowhouse {
                write!(f, " pass / stretch | |")?;
            }
        }
        write!(f, "\n|---|---|---|")?;
        for engine in engines {
            write!(f, "---:|")?;
            if *engine == EngineName::Rowhouse {
                write!(f, "---:|---|")?;
            }
        }
        writeln!(f)?;
        for row in self.rows.iter().filter(|row| !row.cells.contains_key(&None)) {
            write!(f, "| {} | {} | {} |", row.case, row.label, row.unit.as_str())?;
            for &engine in engines {
                write!(f, " {} |", row.print_cell(Some(engine), best_pace))?;
                if engine == EngineName::Rowhouse {
                    let value_of = |engine| row.median(Some(engine), best_pace)?.value;
                    let (value, beside) = (value_of(engine), value_of(EngineName::Fjall));
                    match Mark::of(row.case, &row.label) {
                        Some(mark) => {
                            let here = mark.here(beside);
                            let verdict = value.map_or("", |value| here.judge(value));
                            write!(f, " {here} | {verdict} |")?;
                        }
                        None => write!(f, " | |")?,
                    }
                }
            }
            writeln!(f)?;
        }
        writeln!(f)
    }
}

/// Targets for rowhouse.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    pass: f64,
    stretch: f64,
    /// The time of fjall on the machine where the targets were set.
    fjall: Option<f64>,
}

/// Targets of DESIGN §5; the last one is its memory target.
const TARGETS: [(CaseName, &str, f64, f64, Option<f64>); 11] = [
    (CaseName::Single, "insert", 3.2, 2.4, Some(4.1)),
    (CaseName::Batch, "insert, per cell", 2.0, 1.5, Some(3.1)),
    (CaseName::Reads, "full scan, not compacted, per cell", 0.25, 0.16, Some(0.60)),
    (CaseName::Reads, "disk per raw byte", 1.18, 1.14, None),
    (CaseName::Reads, "full scan, compacted, per cell", 0.04, 0.02, Some(0.18)),
    (CaseName::Reads, "get, hot", 2.0, 1.2, Some(3.2)),
    (CaseName::Reads, "get, missing row", 0.2, 0.1, Some(0.51)),
    (CaseName::Reads, "scan of 100 cells", 7.0, 4.5, Some(23.5)),
    (CaseName::Lz4, "disk per raw byte, none", 1.18, 1.14, None),
    (CaseName::Lz4, "disk per raw byte, LZ4", 0.58, 0.54, None),
    (CaseName::Memory, "resident after the load", 400.0, 400.0, None),
];

impl Mark {
    fn of(case: CaseName, label: &str) -> Option<Self> {
        let found = TARGETS.iter().find(|(of, name, ..)| *of == case && *name == label);
        found.map(|&(_, _, pass, stretch, fjall)| Self { pass, stretch, fjall })
    }

    /// Returns the target on this machine, scaled by fjall's time on it: a slower machine takes
    /// longer for the same work. If fjall is faster than it was, or did not run, the target stays
    /// as it was set (`bench/README.md`).
    fn here(self, fjall: Option<f64>) -> Self {
        let slower = self.fjall.zip(fjall).map_or(1.0, |(then, now)| (now / then).max(1.0));
        Self { pass: self.pass * slower, stretch: self.stretch * slower, ..self }
    }

    fn judge(&self, value: f64) -> &'static str {
        if value <= self.stretch {
            "★ stretch"
        } else if value <= self.pass {
            "✓ pass"
        } else {
            "✗ behind"
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {}", print_number(self.pass), print_number(self.stretch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_raised_by_as_much_as_fjall_takes_longer_and_never_lowered() {
        let mark = Mark { pass: 2.0, stretch: 1.0, fjall: Some(3.0) };
        assert_eq!(mark.here(Some(4.5)), Mark { pass: 3.0, stretch: 1.5, ..mark });
        assert_eq!(mark.here(Some(2.0)), mark);
        assert_eq!(mark.here(None), mark);
        let of_disk = Mark { fjall: None, ..mark };
        assert_eq!(of_disk.here(Some(9.0)), of_disk);
        assert_eq!(mark.here(Some(4.5)).judge(2.9), "✓ pass");
        assert_eq!(mark.judge(2.9), "✗ behind");
    }

    #[test]
    fn what_a_child_says_comes_through() {
        let line = |value, wall, pace| {
            let label = "full scan, compacted, per cell".to_owned();
            Said::Line(Line { label, unit: Unit::CpuMicros, value, wall, pace })
        };
        for said in [
            line(Some(0.0153), Some(0.02), Some(0.8)),
            line(None, None, None),
            Said::Note("loaded: 3 files".into()),
        ] {
            assert_eq!(Said::parse(&said.to_string()).unwrap(), said);
        }
    }

    #[test]
    fn what_was_measured_on_a_shared_core_counts_only_where_there_is_nothing_else() {
        let line = |value, pace| {
            let (label, unit) = ("get, hot".to_owned(), Unit::CpuMicros);
            Line { label, unit, value: Some(value), wall: None, pace: Some(pace) }
        };
        let row = |lines| TableRow {
            case: CaseName::Reads,
            label: "get, hot".to_owned(),
            unit: Unit::CpuMicros,
            cells: BTreeMap::from([(None, lines)]),
        };
        let some = row(vec![line(2.0, 0.8), line(3.1, 1.2), line(2.2, 0.85), line(3.0, 1.1)]);
        assert_eq!(some.print_cell(None, 0.8), "2.10");
        let all = row(vec![line(3.1, 1.2), line(3.0, 1.1)]);
        assert_eq!(all.print_cell(None, 0.8), "~3.05");
    }

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }
}
