//! An external sort by key.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use rowhouse::{Error, Result};

/// An entry to sort: by key, then in input order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    /// The entry's file and row; it rises as files are read.
    pub(crate) from: u64,
    pub(crate) payload: Vec<u8>,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.key, self.from).cmp(&(&other.key, other.from))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Takes entries in any order. Entries that exceed the memory limit go, sorted, to unlinked
/// temporary files, so nothing remains of them however the program ends.
///
/// ```text
/// a run:   ┌─────────┬──────┬─────────────┬─────┬─────────┬┄
///          │ key len │ from │ payload len │ key │ payload │ the next entry
///          │ u32     │ u64  │ u32         │     │         │
///          └─────────┴──────┴─────────────┴─────┴─────────┴┄   numbers little-endian
/// ```
pub(crate) struct Sorter {
    entries: Vec<Entry>,
    bytes: usize,
    bytes_max: usize,
    runs: Vec<File>,
}

impl Sorter {
    /// Creates a sorter that holds about `bytes_max` bytes in memory.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { entries: Vec::new(), bytes: 0, bytes_max, runs: Vec::new() }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// `Io` if the temporary directory is full.
    pub(crate) fn push(&mut self, entry: Entry) -> Result<()> {
        self.bytes += size_of::<Entry>() + entry.key.len() + entry.payload.len();
        self.entries.push(entry);
        if self.bytes >= self.bytes_max {
            self.spill().map_err(|source| temporary("write", source))?;
        }
        Ok(())
    }

    /// Returns all entries in order; may be called again.
    pub(crate) fn sorted(&mut self) -> Result<Sorted<'_>> {
        self.entries.sort_unstable();
        let mut runs = Vec::with_capacity(self.runs.len());
        for file in &mut self.runs {
            file.seek(SeekFrom::Start(0)).map_err(|source| temporary("read", source))?;
            runs.push(BufReader::with_capacity(BUFFER_LEN, &*file));
        }
        let mut sorted = Sorted { heads: BinaryHeap::new(), memory: self.entries.iter(), runs };
        for run in 0..=sorted.runs.len() {
            sorted.refill(run)?;
        }
        Ok(sorted)
    }

    fn spill(&mut self) -> io::Result<()> {
        self.entries.sort_unstable();
        let mut run = BufWriter::with_capacity(BUFFER_LEN, tempfile::tempfile()?);
        for entry in self.entries.drain(..) {
            run.write_all(&length(entry.key.len())?)?;
            run.write_all(&entry.from.to_le_bytes())?;
            run.write_all(&length(entry.payload.len())?)?;
            run.write_all(&entry.key)?;
            run.write_all(&entry.payload)?;
        }
        self.bytes = 0;
        self.runs.push(run.into_inner().map_err(io::IntoInnerError::into_error)?);
        Ok(())
    }
}

/// An iterator over the sorted entries.
pub(crate) struct Sorted<'s> {
    /// The next entry in each run, and in memory, which counts as the last run.
    heads: BinaryHeap<Reverse<(Entry, usize)>>,
    memory: std::slice::Iter<'s, Entry>,
    runs: Vec<BufReader<&'s File>>,
}

impl Sorted<'_> {
    /// Returns the next entry.
    ///
    /// # Errors
    /// `Io` for temporary files that cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<Entry>> {
        let Some(Reverse((entry, run))) = self.heads.pop() else { return Ok(None) };
        self.refill(run)?;
        Ok(Some(entry))
    }

    fn refill(&mut self, run: usize) -> Result<()> {
        let next = match self.runs.get_mut(run) {
            Some(run) => read_entry(run).map_err(|source| temporary("read", source))?,
            None => self.memory.next().cloned(),
        };
        if let Some(entry) = next {
            self.heads.push(Reverse((entry, run)));
        }
        Ok(())
    }
}

fn read_entry(run: &mut impl Read) -> io::Result<Option<Entry>> {
    let mut head = [0; 16];
    let mut filled = 0;
    while filled < head.len() {
        match run.read(&mut head[filled..])? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => filled += read,
        }
    }
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let from = u64::from(number(4)) | u64::from(number(8)) << 32;
    let mut key = vec![0; number(0) as usize];
    let mut payload = vec![0; number(12) as usize];
    run.read_exact(&mut key)?;
    run.read_exact(&mut payload)?;
    Ok(Some(Entry { key, from, payload }))
}

fn length(len: usize) -> io::Result<[u8; 4]> {
    let len = u32::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok(len.to_le_bytes())
}

fn temporary(doing: &str, source: io::Error) -> Error {
    let dir = std::env::temp_dir();
    Error::io(format_args!("cannot {doing} temporary files in {}", dir.display()), source)
}

const BUFFER_LEN: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_come_in_order_however_little_memory_there_is(
            keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..60),
            bytes_max in 1_usize..4_000,
        ) {
            let mut sorter = Sorter::new(bytes_max);
            let entry = |(at, key): (usize, &Vec<u8>)| Entry {
                key: key.clone(),
                from: at as u64 * 0x1_0000_0001,
                payload: vec![7; at % 3],
            };
            let mut want: Vec<_> = keys.iter().enumerate().map(entry).collect();
            want.iter().for_each(|entry| sorter.push(entry.clone()).unwrap());
            want.sort();
            for _ in 0..2 {
                let mut sorted = sorter.sorted().unwrap();
                let mut have = Vec::new();
                while let Some(entry) = sorted.next().unwrap() {
                    have.push(entry);
                }
                prop_assert_eq!(&have, &want);
            }
        }
    }
}
