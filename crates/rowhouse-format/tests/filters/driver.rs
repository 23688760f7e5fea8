//! Runs a filter over cells as FilterDriver in `compat/java` does, and records the verdicts in the
//! same format.

use std::collections::BTreeMap;

use rowhouse_filter::{FilterRun, FilterVerdict, ValuePart};
use rowhouse_model::{Cell, Filter, Key};

pub(crate) struct Driver<'a> {
    filter: FilterRun,
    families: Vec<Family<'a>>,
    output: Vec<String>,
}

/// A family's cells, each with a number, and the read position.
struct Family<'a> {
    name: &'a [u8],
    cells: Vec<(usize, &'a Cell)>,
    at: usize,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(filter: &Filter, cells: &'a [Cell]) -> Self {
        let mut families: BTreeMap<&[u8], Vec<(usize, &Cell)>> = BTreeMap::new();
        for (number, cell) in cells.iter().enumerate() {
            families.entry(cell.family()).or_default().push((number, cell));
        }
        let families = families.into_iter().map(|(name, cells)| Family { name, cells, at: 0 });
        Self {
            filter: FilterRun::new(filter, false).unwrap(),
            families: families.collect(),
            output: Vec::new(),
        }
    }

    pub(crate) fn run(mut self) -> String {
        let needs: String = self
            .families
            .iter()
            .map(|family| if self.filter.needs_family(family.name) { '1' } else { '0' })
            .collect();
        self.output.push(format!("w{}", u8::from(self.filter.needs_whole_row())));
        self.output.push(format!("e{needs}"));
        self.read_rows();
        self.filter.check().unwrap();
        self.output.join(" ")
    }

    fn read_rows(&mut self) {
        while let Some(row) = self.next_row() {
            if self.filter.filters_row_key(row) {
                self.output.push("k".into());
                if self.filter.is_done() {
                    self.output.push(".".into());
                    return;
                }
                self.pass_row(row);
                continue;
            }
            let mut results = Vec::new();
            for at in 0..self.families.len() {
                self.read_family(at, row, &mut results);
            }
            let was_empty = results.is_empty();
            if self.filter.needs_whole_row() {
                results.retain(|(_, cell, _)| self.filter.keeps(&cell.view()));
            }
            if was_empty || (!results.is_empty() && self.filter.filters_row()) {
                self.output.push("x".into());
                self.pass_row(row);
                continue;
            }
            let results: Vec<_> = results.iter().map(describe).collect();
            self.output.push(format!("={}", results.join(",")));
            self.pass_row(row);
            if self.filter.is_done() {
                self.output.push(".".into());
                return;
            }
        }
    }

    fn read_family(
        &mut self,
        at: usize,
        row: &[u8],
        results: &mut Vec<(usize, &'a Cell, ValuePart)>,
    ) {
        while let Some((number, cell)) = self.families[at].current().filter(|c| c.1.row() == row) {
            let verdict = self.filter.judge(&cell.view());
            if verdict.includes() {
                results.push((number, cell, self.filter.value_part(&cell.view())));
            }
            let family = &mut self.families[at];
            let letter = match verdict {
                FilterVerdict::Include => "I",
                FilterVerdict::IncludeAndNextColumn => "C",
                FilterVerdict::IncludeAndNextRow => "R",
                FilterVerdict::Skip => "s",
                FilterVerdict::NextColumn => "c",
                FilterVerdict::NextRow => "r",
                FilterVerdict::SeekToHint => {
                    family.at += 1;
                    match self.filter.hint(&cell.view()) {
                        None => self.output.push("h-".into()),
                        Some(hint) => {
                            family.pass(|next| next.key() < hint.as_key());
                            self.output.push(format!("h{}", place(hint.as_key())));
                        }
                    }
                    continue;
                }
            };
            self.output.push(letter.into());
            match verdict {
                FilterVerdict::IncludeAndNextColumn | FilterVerdict::NextColumn => {
                    let column = cell.qualifier();
                    family.pass(|next| next.row() == row && next.qualifier() == column);
                }
                FilterVerdict::IncludeAndNextRow | FilterVerdict::NextRow => {
                    family.pass(|next| next.row() == row);
                }
                _ => family.at += 1,
            }
        }
    }

    fn pass_row(&mut self, row: &[u8]) {
        for family in &mut self.families {
            family.pass(|next| next.row() == row);
        }
        self.filter.reset();
    }

    fn next_row(&self) -> Option<&'a [u8]> {
        self.families.iter().filter_map(Family::current).map(|(_, cell)| cell.row()).min()
    }
}

impl<'a> Family<'a> {
    fn current(&self) -> Option<(usize, &'a Cell)> {
        self.cells.get(self.at).copied()
    }

    fn pass(&mut self, is_passed: impl Fn(&Cell) -> bool) {
        while self.current().is_some_and(|(_, cell)| is_passed(cell)) {
            self.at += 1;
        }
    }
}

/// Prints a cell's number, and the value if it differs from the original.
fn describe(&(number, cell, part): &(usize, &Cell, ValuePart)) -> String {
    let value = match part {
        ValuePart::Whole => return number.to_string(),
        ValuePart::Nothing => Vec::new(),
        ValuePart::Length => (cell.value().len() as u32).to_be_bytes().to_vec(),
        ValuePart::Number(value) => value.to_be_bytes().to_vec(),
    };
    if value == cell.value() { number.to_string() } else { format!("{number}:{}", hex(&value)) }
}

fn place(key: Key<'_>) -> String {
    let Key { row, family, qualifier, timestamp, kind } = key;
    format!("{}.{}.{}.{timestamp}.{kind}", hex(row), hex(family), hex(qualifier))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
