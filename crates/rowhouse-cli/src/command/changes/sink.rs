//! Where lines go: standard output, or a file that is continued and rotated.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rowhouse::changes::ChangesFrom;
use rowhouse::{Error, Result};

use super::failed;
use super::line::position_in;
use crate::output::Escaped;

/// The output for lines.
pub(super) enum Sink {
    Stdout(Escaped<BufWriter<io::Stdout>>),
    File(FileSink),
}

/// A file that becomes `FILE.000001` and so on when it is long enough.
pub(super) struct FileSink {
    path: PathBuf,
    bytes_max: u64,
    bytes: u64,
    file: BufWriter<File>,
}

/// The most bytes at the end of a file in which the last complete change is looked for: its rows
/// are shorter.
const TAIL_BYTES: u64 = 64 << 20;

impl Sink {
    /// Opens the output. Returns where to continue, if a file has earlier changes; lines after the
    /// last complete change are cut off.
    pub(super) fn open(to: Option<&Path>, bytes_max: u64) -> Result<(Self, Option<ChangesFrom>)> {
        let Some(path) = to else {
            return Ok((Self::Stdout(Escaped::new(BufWriter::new(io::stdout()))), None));
        };
        let open = || OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = open().map_err(|source| failed("open", path, source))?;
        let (len, mut position) = last_position(&mut file, path)?;
        file.set_len(len).map_err(|source| failed("cut", path, source))?;
        if position.is_none()
            && let Some(previous) = rotated(path)?.last().map(|number| numbered(path, *number))
        {
            let mut file =
                File::open(&previous).map_err(|source| failed("open", &previous, source))?;
            position = last_position(&mut file, &previous)?.1;
        }
        let from =
            position.map(|position| Ok::<_, Error>(ChangesFrom::Position(position.parse()?)));
        let file = BufWriter::new(file);
        let sink = FileSink { path: path.to_owned(), bytes_max, bytes: len, file };
        Ok((Self::File(sink), from.transpose()?))
    }

    pub(super) fn write(&mut self, line: &str) -> Result<()> {
        match self {
            Self::Stdout(output) => writeln!(output, "{line}")
                .map_err(|source| Error::io("cannot write to standard output", source)),
            Self::File(sink) => {
                sink.bytes += line.len() as u64 + 1;
                writeln!(sink.file, "{line}").map_err(|source| failed("write", &sink.path, source))
            }
        }
    }

    /// Writes all lines to the output; they survive a power cut if that is a file.
    pub(super) fn flush(&mut self) -> Result<()> {
        match self {
            Self::Stdout(output) => output
                .flush()
                .map_err(|source| Error::io("cannot write to standard output", source)),
            Self::File(sink) => {
                let flushed = sink.file.flush().and_then(|()| sink.file.get_ref().sync_data());
                flushed.map_err(|source| failed("write", &sink.path, source))
            }
        }
    }

    /// Begins another file if this one is long enough.
    pub(super) fn rotate(&mut self) -> Result<()> {
        match self {
            Self::File(sink) if sink.bytes >= sink.bytes_max => {}
            _ => return Ok(()),
        }
        self.flush()?;
        let Self::File(sink) = self else { return Ok(()) };
        let next = rotated(&sink.path)?.last().map_or(1, |last| last + 1);
        let path = &sink.path;
        let rotate = || {
            std::fs::rename(path, numbered(path, next))?;
            OpenOptions::new().append(true).create_new(true).open(path)
        };
        sink.file = BufWriter::new(rotate().map_err(|source| failed("rename", path, source))?);
        sink.bytes = 0;
        Ok(())
    }
}

fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number:06}"));
    name.into()
}

/// Returns the numbers of the rotated files, in order.
fn rotated(path: &Path) -> Result<Vec<u64>> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let dir = dir.unwrap_or_else(|| Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|source| failed("list", dir, source))? {
        let entry = entry.map_err(|source| failed("list", dir, source))?;
        let found = entry.file_name().to_string_lossy().into_owned();
        let number = found.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('.'));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns the bytes of a file up to the end of the last complete change, and the position after
/// it.
fn last_position(file: &mut File, path: &Path) -> Result<(u64, Option<String>)> {
    let mut read = || {
        let len = file.seek(SeekFrom::End(0))?;
        let from = len.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok((from, bytes))
    };
    let (from, bytes) = read().map_err(|source| failed("read", path, source))?;
    let mut end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    while end > 0 {
        let begin = bytes[..end - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = String::from_utf8_lossy(&bytes[begin..end - 1]);
        if let Some(position) = position_in(&line) {
            return Ok((from + end as u64, Some(position.to_owned())));
        }
        end = begin;
    }
    Ok((from, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &Path) -> (Sink, Option<String>) {
        let (sink, from) = Sink::open(Some(path), 100).unwrap();
        let text = from.map(|from| match from {
            ChangesFrom::Position(position) => position.to_string(),
            other => panic!("{other:?}"),
        });
        (sink, text)
    }

    #[test]
    fn a_file_is_continued_after_its_last_complete_change_and_rotated() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mail.jsonl");
        let first = "1-40-0-00000000000000aa";
        let (mut sink, from) = opened(&path);
        assert_eq!(from, None);
        sink.write(&format!("{{\"kind\":\"row\",\"position\":\"{first}\"}}")).unwrap();
        sink.write("{\"kind\":\"row\",\"value\":\"cut").unwrap();
        sink.flush().unwrap();
        let (mut sink, from) = opened(&path);
        assert_eq!(from.as_deref(), Some(first));
        let second = "1-80-0-00000000000000aa";
        sink.write(&format!("{{\"kind\":\"row\",\"position\":\"{second}\"}}")).unwrap();
        sink.rotate().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
        let lines = std::fs::read_to_string(dir.path().join("mail.jsonl.000001")).unwrap();
        assert_eq!(lines.lines().count(), 2);
        assert_eq!(opened(&path).1.as_deref(), Some(second));
    }

    #[test]
    fn lines_of_cells_without_a_position_are_no_complete_change() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cells");
        let position = "1-40-0-00000000000000aa";
        let lines = format!("row\tr\tf:q\t1\tPut\tv\t{position}\nrow\tr\tf:q\t1\tPut\tv\t-\n");
        std::fs::write(&path, &lines).unwrap();
        assert_eq!(opened(&path).1.as_deref(), Some(position));
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    }
}
