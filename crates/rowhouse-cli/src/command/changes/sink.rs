//! Where lines go: standard output, or a file that is continued and rotated.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rowhouse::changes::ChangesFrom;
use rowhouse::{Error, Result};
use rowhouse_model::ChangePosition;

use super::failed;
use super::line;
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

/// Bytes at the end of a file in which the last complete change is looked for first. More are read
/// if they have none.
const TAIL_BYTES: u64 = 64 << 20;

/// What a file has.
#[derive(Debug, PartialEq)]
enum Content {
    /// Changes: the bytes up to the end of the last complete one, and the position after it.
    Changes(u64, ChangePosition),
    /// Nothing, or the beginning of one change.
    Begun,
    /// Something that is not a feed.
    Other,
}

impl Sink {
    /// Opens the output. Returns where to continue, if a file has earlier changes; lines after the
    /// last complete change are cut off. A file with another content stays as it is.
    ///
    /// # Errors
    /// `InvalidRequest` for a file that is not a feed; `Io`.
    pub(super) fn open(to: Option<&Path>, bytes_max: u64) -> Result<(Self, Option<ChangesFrom>)> {
        let Some(path) = to else {
            return Ok((Self::Stdout(Escaped::new(BufWriter::new(io::stdout()))), None));
        };
        let open = || OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = open().map_err(|source| failed("open", path, source))?;
        let (len, mut position) = match content(&mut file, path, TAIL_BYTES)? {
            Content::Changes(len, position) => (len, Some(position)),
            Content::Begun => (0, None),
            Content::Other => {
                return Err(Error::invalid(format!(
                    "the file has something else than changes, choose another file or remove it: \
                     file={}",
                    path.display()
                )));
            }
        };
        file.set_len(len).map_err(|source| failed("cut", path, source))?;
        if position.is_none()
            && let Some(previous) = rotated(path)?.last().map(|number| numbered(path, *number))
        {
            let mut file =
                File::open(&previous).map_err(|source| failed("open", &previous, source))?;
            if let Content::Changes(_, last) = content(&mut file, &previous, TAIL_BYTES)? {
                position = Some(last);
            }
        }
        let file = BufWriter::new(file);
        let sink = FileSink { path: path.to_owned(), bytes_max, bytes: len, file };
        Ok((Self::File(sink), position.map(ChangesFrom::Position)))
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

    /// Begins another file if this one is long enough. Returns true if it did.
    pub(super) fn rotate(&mut self) -> Result<bool> {
        match self {
            Self::File(sink) if sink.bytes >= sink.bytes_max => {}
            _ => return Ok(false),
        }
        self.flush()?;
        let Self::File(sink) = self else { return Ok(false) };
        let next = rotated(&sink.path)?.last().map_or(1, |last| last + 1);
        let path = &sink.path;
        let rotate = || {
            std::fs::rename(path, numbered(path, next))?;
            OpenOptions::new().append(true).create_new(true).open(path)
        };
        sink.file = BufWriter::new(rotate().map_err(|source| failed("rename", path, source))?);
        sink.bytes = 0;
        Ok(true)
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

/// Finds out what a file has. Its last `tail_bytes` are read first.
fn content(file: &mut File, path: &Path, tail_bytes: u64) -> Result<Content> {
    let mut read = || -> io::Result<Content> {
        let len = file.seek(SeekFrom::End(0))?;
        let mut tail_bytes = tail_bytes;
        loop {
            let from = len.saturating_sub(tail_bytes);
            let bytes = read_from(file, from, u64::MAX)?;
            if let Some((end, position)) = last_change(&bytes, from == 0) {
                return Ok(Content::Changes(from + end as u64, position));
            }
            if from == 0 {
                let is_begun = is_part_of_change(&bytes);
                return Ok(if is_begun { Content::Begun } else { Content::Other });
            }
            // A row may be longer. Another file is not read to its beginning.
            if !line::begins(&read_from(file, 0, HEAD_BYTES)?) {
                return Ok(Content::Other);
            }
            tail_bytes = tail_bytes.saturating_mul(4);
        }
    };
    read().map_err(|source| failed("read", path, source))
}

/// Bytes of a file that show how its first line begins.
const HEAD_BYTES: u64 = 64;

fn read_from(file: &mut File, from: u64, bytes_max: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns where the last complete change ends, and the position after it. Unless the bytes are a
/// whole file, the first line may lack its beginning and does not count.
fn last_change(bytes: &[u8], is_whole: bool) -> Option<(usize, ChangePosition)> {
    let end_of_line = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n');
    let mut end = end_of_line(bytes).map_or(0, |at| at + 1);
    while end > 0 {
        let begin = match end_of_line(&bytes[..end - 1]) {
            Some(at) => at + 1,
            None if is_whole => 0,
            None => return None,
        };
        let line = String::from_utf8_lossy(&bytes[begin..end - 1]);
        if let Some(position) = line::position_in(&line) {
            return Some((end, position));
        }
        end = begin;
    }
    None
}

/// Returns true if a file without a complete change is empty or has the beginning of one: lines of
/// cells before the last of their row, then a line without its end.
fn is_part_of_change(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let last = lines.next_back().unwrap_or_default();
    let is_complete_cell = |line: &[u8]| line::begins(line) && line.ends_with(b"\t-");
    (last.is_empty() || line::begins(last)) && lines.all(is_complete_cell)
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
        assert!(sink.rotate().unwrap());
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

    #[test]
    fn a_file_that_is_not_a_feed_is_refused_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes");
        for text in [
            "a note",
            "a note\n",
            "\n",
            "a\tb\n",
            "a day\t2024-01-02-03\n",
            "{\"position\":\"1-40-0-00000000000000aa\"}\n",
            "{\"kind\":\"row\",\"position\":\"none\"}\n",
            "a note\n{\"kind\":\"row\",\"row\":\"r",
            "row\tr\tf:q\t1\tPut\tv\tsome\nrow\tr",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Sink::open(Some(&path), 100).err().unwrap();
            assert_eq!(error.kind(), rowhouse::ErrorKind::InvalidRequest, "{text}");
            assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_file_with_a_part_of_the_first_change_is_begun_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("feed");
        for text in [
            "",
            "{\"kind\":\"row\",\"row\":\"r",
            "copied\tr\tf:q",
            "row\tr\tf:p\t1\tPut\tv\t-\n",
            "row\tr\tf:p\t1\tPut\tv\t-\nrow\tr\tf:q\t1\tPut\tv\t1-40-0-0",
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(opened(&path).1, None, "{text}");
            assert_eq!(std::fs::metadata(&path).unwrap().len(), 0, "{text}");
        }
    }

    #[test]
    fn long_lines_are_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("feed");
        let position: ChangePosition = "1-40-0-00000000000000aa".parse().unwrap();
        let found = |text: &str| {
            std::fs::write(&path, text).unwrap();
            content(&mut File::open(&path).unwrap(), &path, 16).unwrap()
        };
        let long = "v".repeat(1000);
        let line = format!("{{\"kind\":\"row\",\"row\":\"{long}\",\"position\":\"{position}\"}}\n");
        let len = line.len() as u64;
        assert_eq!(found(&line), Content::Changes(len, position.clone()));
        let cut = format!("{line}{{\"kind\":\"row\",\"row\":\"{long}");
        assert_eq!(found(&cut), Content::Changes(len, position));
        assert_eq!(found(&cut[line.len()..]), Content::Begun);
        assert_eq!(found(&long), Content::Other);
    }
}
