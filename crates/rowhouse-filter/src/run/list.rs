//! FilterList: filters joined by AND or OR.

use std::cmp::Ordering;

use rowhouse_model::{CellRef, Key, KeyBuf, Result};

use super::base::FilterBase;
use super::state::State;
use super::verdict::{FilterVerdict, ValuePart};

/// A list in which all members must include a cell: FilterListWithAND.
#[derive(Debug)]
pub(super) struct AllOf {
    members: Vec<State>,
    reversed: bool,
    /// True if it must see every cell in a row in a reversed scan.
    steps: bool,
    /// The members that returned SeekToHint for the last cell.
    hinted: Vec<usize>,
}

impl AllOf {
    pub(super) fn new(members: Vec<State>, reversed: bool) -> Self {
        let steps = reversed && !members.iter().all(State::judges_column_alone);
        Self { members, reversed, steps, hinted: Vec::new() }
    }
}

impl FilterBase for AllOf {
    fn reset(&mut self) {
        self.members.iter_mut().for_each(State::reset);
        self.hinted.clear();
    }

    fn is_done(&self) -> bool {
        self.members.iter().any(State::is_done)
    }

    /// Calls every member, because some update their state from the row key. A member that can hint
    /// retains the row: its hint, available with the first cell, skips more than one row.
    fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        let mut any_filters = false;
        let mut any_may_hint = false;
        for member in &mut self.members {
            if member.is_done() {
                return Ok(true);
            }
            if member.filters_row_key(row)? {
                any_filters = true;
            } else {
                any_may_hint |= member.is_hinting();
            }
        }
        Ok(any_filters && !any_may_hint)
    }

    /// Calls members until one excludes the cell, so that later members do not count it; after
    /// that, calls only members that can hint.
    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        self.hinted.clear();
        let mut verdict = FilterVerdict::Include;
        for (at, member) in self.members.iter_mut().enumerate() {
            if !verdict.includes() {
                if member.is_hinting() && member.judge(cell)? == FilterVerdict::SeekToHint {
                    self.hinted.push(at);
                }
            } else if member.is_done() {
                verdict = FilterVerdict::NextRow;
            } else {
                let member_verdict = member.judge(cell)?;
                if member_verdict == FilterVerdict::SeekToHint {
                    self.hinted.push(at);
                }
                verdict = verdict.and(member_verdict);
            }
        }
        Ok(if self.hinted.is_empty() { verdict } else { FilterVerdict::SeekToHint })
    }

    /// Returns the furthest hint. As in HBase, a reversed scan does not seek to a column but steps,
    /// so that members that count see the cells between; it seeks if there are no such members.
    fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        let mut furthest: Option<KeyBuf> = None;
        for &at in &self.hinted {
            let member = &mut self.members[at];
            if member.is_done() {
                continue;
            }
            let Some(hint) = member.hint(key) else { continue };
            let is_further = furthest.as_ref().is_none_or(|furthest| {
                scan_order(furthest.as_key(), hint.as_key(), self.reversed).is_lt()
            });
            if is_further {
                furthest = Some(hint);
            }
        }
        furthest.filter(|hint| !(self.steps && hint.as_key().row == key.row))
    }

    fn judges_column_alone(&self) -> bool {
        self.members.iter().all(State::judges_column_alone)
    }

    fn value_part(&self, left: ValuePart) -> ValuePart {
        self.members.iter().fold(left, |left, member| member.value_part(left))
    }

    fn needs_whole_row(&self) -> bool {
        self.members.iter().any(State::needs_whole_row)
    }

    fn keeps(&self, cell: &CellRef<'_>) -> bool {
        self.members.iter().all(|member| member.keeps(cell))
    }

    /// Members after one that returns true are not called: a PageFilter among them does not count
    /// the row.
    fn filters_row(&mut self) -> bool {
        self.members.iter_mut().any(State::filters_row)
    }

    fn needs_family(&self, family: &[u8]) -> bool {
        needs_family(self.members.iter(), family)
    }
}

/// A list in which one member is enough to include a cell: FilterListWithOR.
#[derive(Debug)]
pub(super) struct AnyOf {
    members: Vec<Member>,
    reversed: bool,
}

/// A member in an OR list. Its verdict on an earlier cell may still apply to the next one, if it
/// requested a longer step than the list took. It must not see that cell then.
#[derive(Debug)]
struct Member {
    state: State,
    /// The last verdict in this row.
    last_verdict: Option<FilterVerdict>,
    /// The cell for that verdict.
    of: HintBuffer,
    /// Whether it included the last cell.
    included: bool,
}

impl AnyOf {
    pub(super) fn new(members: Vec<State>, reversed: bool) -> Self {
        let member = |state| Member {
            state,
            last_verdict: None,
            of: HintBuffer::default(),
            included: false,
        };
        Self { members: members.into_iter().map(member).collect(), reversed }
    }
}

impl FilterBase for AnyOf {
    fn reset(&mut self) {
        for member in &mut self.members {
            member.state.reset();
            member.last_verdict = None;
            member.included = false;
        }
    }

    fn is_done(&self) -> bool {
        !self.members.is_empty() && self.members.iter().all(|member| member.state.is_done())
    }

    /// Calls every member, because some update their state from the row key.
    fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        let mut all_filter = !self.members.is_empty();
        for member in &mut self.members {
            if !member.state.is_done() && !member.state.filters_row_key(row)? {
                all_filter = false;
            }
        }
        Ok(all_filter)
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        if self.members.is_empty() {
            return Ok(FilterVerdict::Include);
        }
        let mut verdict: Option<FilterVerdict> = None;
        for member in &mut self.members {
            member.included = false;
            if member.state.is_done() {
                continue;
            }
            let member_verdict = member.judge(cell, self.reversed)?;
            verdict = Some(verdict.map_or(member_verdict, |verdict| verdict.or(member_verdict)));
        }
        Ok(verdict.unwrap_or(FilterVerdict::Skip))
    }

    /// Returns the nearest hint; `None` if a member has none.
    fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        let mut nearest: Option<KeyBuf> = None;
        for member in &mut self.members {
            if member.state.is_done() {
                continue;
            }
            let hint = member.state.hint(key)?;
            let is_nearer = nearest.as_ref().is_none_or(|nearest| {
                scan_order(nearest.as_key(), hint.as_key(), self.reversed).is_gt()
            });
            if is_nearer {
                nearest = Some(hint);
            }
        }
        nearest
    }

    fn judges_column_alone(&self) -> bool {
        self.members.iter().all(|member| member.state.judges_column_alone())
    }

    fn value_part(&self, left: ValuePart) -> ValuePart {
        let included = self.members.iter().filter(|member| member.included);
        included.fold(left, |left, member| member.state.value_part(left))
    }

    fn needs_whole_row(&self) -> bool {
        self.members.iter().any(|member| member.state.needs_whole_row())
    }

    /// As in HBase, every member drops the cells it excludes, even in this list.
    fn keeps(&self, cell: &CellRef<'_>) -> bool {
        self.members.iter().all(|member| member.state.keeps(cell))
    }

    /// Members after one that returns false are not called: a PageFilter among them does not count
    /// the row.
    fn filters_row(&mut self) -> bool {
        !self.members.is_empty() && self.members.iter_mut().all(|member| member.state.filters_row())
    }

    fn needs_family(&self, family: &[u8]) -> bool {
        needs_family(self.members.iter().map(|member| &member.state), family)
    }
}

impl Member {
    fn judge(&mut self, cell: &CellRef<'_>, reversed: bool) -> Result<FilterVerdict> {
        let Self { state, last_verdict, of, .. } = self;
        let carried = last_verdict.and_then(|last| {
            carried_verdict(last, of.as_key(), cell.key, |of| state.hint(of), reversed)
        });
        let verdict = match carried {
            Some(verdict) => verdict,
            None => state.judge(cell)?,
        };
        self.last_verdict = Some(verdict);
        if !matches!(verdict, FilterVerdict::Include | FilterVerdict::Skip) {
            self.of.set(cell.key);
        }
        self.included = verdict.includes();
        Ok(verdict)
    }
}

/// Returns the verdict on the cell at `key` if it follows from `last`, the verdict on the earlier
/// cell `of` in the same row.
fn carried_verdict(
    last: FilterVerdict,
    of: Key<'_>,
    key: Key<'_>,
    hint: impl FnOnce(Key<'_>) -> Option<KeyBuf>,
    reversed: bool,
) -> Option<FilterVerdict> {
    match last {
        FilterVerdict::Include | FilterVerdict::Skip => None,
        FilterVerdict::NextColumn | FilterVerdict::IncludeAndNextColumn => {
            let is_same = of.qualifier == key.qualifier && of.family == key.family;
            is_same.then_some(FilterVerdict::NextColumn)
        }
        FilterVerdict::NextRow | FilterVerdict::IncludeAndNextRow => {
            (of.family == key.family).then_some(FilterVerdict::NextRow)
        }
        FilterVerdict::SeekToHint => {
            let is_ahead = scan_order(key, hint(of)?.as_key(), reversed).is_lt();
            is_ahead.then_some(FilterVerdict::SeekToHint)
        }
    }
}

/// A key with reusable buffers.
#[derive(Debug, Default)]
struct HintBuffer {
    row: Vec<u8>,
    family: Vec<u8>,
    qualifier: Vec<u8>,
    timestamp: i64,
    kind: u8,
}

impl HintBuffer {
    fn set(&mut self, key: Key<'_>) {
        for (part, bytes) in [
            (&mut self.row, key.row),
            (&mut self.family, key.family),
            (&mut self.qualifier, key.qualifier),
        ] {
            part.clear();
            part.extend_from_slice(bytes);
        }
        (self.timestamp, self.kind) = (key.timestamp, key.kind);
    }

    fn as_key(&self) -> Key<'_> {
        Key {
            row: &self.row,
            family: &self.family,
            qualifier: &self.qualifier,
            timestamp: self.timestamp,
            kind: self.kind,
        }
    }
}

/// Compares positions in scan order: a reversed scan reverses rows, but not the cells within a row.
fn scan_order(a: Key<'_>, b: Key<'_>, reversed: bool) -> Ordering {
    let rows = a.row.cmp(b.row);
    let rows = if reversed { rows.reverse() } else { rows };
    rows.then_with(|| a.cmp(&b))
}

/// Returns true if any member needs the family; a list without members needs every family.
fn needs_family<'a>(mut members: impl ExactSizeIterator<Item = &'a State>, family: &[u8]) -> bool {
    members.len() == 0 || members.any(|member| member.needs_family(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Combined verdicts recorded from HBase's lists by `compat/filters.sh`.
    const RECORDED: &str = include_str!("../../tests/golden/filter-verdicts.txt");

    fn lines(word: &str) -> impl Iterator<Item = Vec<&str>> {
        let lines = RECORDED.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines.filter(move |line| line[0] == word)
    }

    fn verdict(name: &str) -> FilterVerdict {
        match name {
            "INCLUDE" => FilterVerdict::Include,
            "INCLUDE_AND_NEXT_COL" => FilterVerdict::IncludeAndNextColumn,
            "INCLUDE_AND_SEEK_NEXT_ROW" => FilterVerdict::IncludeAndNextRow,
            "SKIP" => FilterVerdict::Skip,
            "NEXT_COL" => FilterVerdict::NextColumn,
            "NEXT_ROW" => FilterVerdict::NextRow,
            "SEEK_NEXT_USING_HINT" => FilterVerdict::SeekToHint,
            other => panic!("no verdict: {other}"),
        }
    }

    /// Parses `row.family.qualifier.timestamp.kind`, with bytes in hex.
    fn place(text: &str) -> KeyBuf {
        let parts: Vec<_> = text.split('.').collect();
        let bytes = |part: &str| {
            let byte = |at| u8::from_str_radix(&part[at..at + 2], 16).unwrap();
            (0..part.len()).step_by(2).map(byte).collect()
        };
        KeyBuf {
            row: bytes(parts[0]),
            family: bytes(parts[1]),
            qualifier: bytes(parts[2]),
            timestamp: parts[3].parse().unwrap(),
            kind: parts[4].parse().unwrap(),
        }
    }

    #[test]
    fn verdicts_go_together_as_in_hbase() {
        for line in lines("and") {
            let [a, b, together] = [1, 2, 3].map(|at| verdict(line[at]));
            // Members after an excluding one are not called.
            let combined = if a.includes() { a.and(b) } else { a };
            assert_eq!(combined, together, "{line:?}");
        }
        for line in lines("or") {
            let [a, b, together] = [1, 2, 3].map(|at| verdict(line[at]));
            assert_eq!(a.or(b), together, "{line:?}");
        }
        assert_eq!(lines("and").count() + lines("or").count(), 98);
    }

    #[test]
    fn an_or_calls_again_when_hbases_does() {
        for line in lines("after") {
            let hint = (line[4] != "-").then(|| place(line[4]));
            let of = place(line[2]);
            let key = place(line[3]);
            let carried = carried_verdict(
                verdict(line[1]),
                of.as_key(),
                key.as_key(),
                |_| hint.clone(),
                false,
            );
            let expected = (line[5] != "asked").then(|| verdict(line[5]));
            assert_eq!(carried, expected, "{line:?}");
        }
        assert_eq!(lines("after").count(), 30);
    }
}
