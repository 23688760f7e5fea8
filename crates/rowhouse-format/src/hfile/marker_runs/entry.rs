//! The file info entry for runs of delete markers.

use bytes::Bytes;
use rowhouse_model::{Error, Result};

use super::MarkerRun;
use super::follow::is_column_marker;
use crate::hfile::key::OwnedKey;

const VERSION: u8 = 1;

/// Serializes `runs`; returns `None` if there are none.
pub(in crate::hfile) fn write<'a>(runs: impl Iterator<Item = &'a MarkerRun>) -> Option<Vec<u8>> {
    let mut value = vec![VERSION];
    for key in runs.flat_map(|run| [&run.first, &run.target]) {
        let key = key.as_bytes();
        value.extend_from_slice(&(key.len() as u16).to_be_bytes());
        value.extend_from_slice(key);
    }
    (value.len() > 1).then_some(value)
}

/// Parses the entry's value. The runs share the value's bytes.
pub(in crate::hfile) fn parse(value: &Bytes) -> Result<Box<[MarkerRun]>> {
    let malformed = |what: &str| {
        let len = value.len();
        Error::corruption(format!("malformed runs of delete markers in hfile: {what}, len={len}"))
    };
    let mut rest = match value.first() {
        Some(&VERSION) => value.slice(1..),
        Some(other) => {
            return Err(Error::unsupported(format!(
                "hfile version of runs of delete markers is not supported: \
                 version={other}, supported={VERSION}"
            )));
        }
        None => return Err(malformed("empty")),
    };
    let take_key =
        |rest: &mut Bytes| OwnedKey::parse(take_bytes(rest).ok_or_else(|| malformed("cut short"))?);
    let mut runs: Vec<MarkerRun> = Vec::new();
    while !rest.is_empty() {
        let run = MarkerRun { first: take_key(&mut rest)?, target: take_key(&mut rest)? };
        if ![&run.first, &run.target].iter().all(|end| is_column_marker(end.view().kind)) {
            return Err(malformed("one begins or ends with another cell"));
        }
        if run.first.row() != run.target.row() {
            return Err(malformed("one leaves its row"));
        }
        let in_front = runs.last().map_or(run.first.view(), |before| before.target.view());
        if in_front > run.first.view() || run.first.view() >= run.target.view() {
            return Err(malformed("out of order"));
        }
        runs.push(run);
    }
    if runs.is_empty() { Err(malformed("none")) } else { Ok(runs.into()) }
}

/// Takes bytes with a length prefix.
fn take_bytes(rest: &mut Bytes) -> Option<Bytes> {
    let len = u16::from_be_bytes(*rest.first_chunk::<2>()?) as usize;
    (rest.len() >= 2 + len).then(|| rest.split_to(2 + len).split_off(2))
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{CellKind, ErrorKind};

    use super::*;

    fn key(row: &str, qualifier: &str, kind: CellKind) -> Vec<u8> {
        let key = rowhouse_model::Key {
            row: row.as_bytes(),
            family: b"d",
            qualifier: qualifier.as_bytes(),
            timestamp: 5,
            kind: kind.code(),
        };
        OwnedKey::new(&key).as_bytes().to_vec()
    }

    fn value(keys: &[Vec<u8>]) -> Bytes {
        let keys = keys.iter().flat_map(|key| {
            (key.len() as u16).to_be_bytes().into_iter().chain(key.iter().copied())
        });
        [VERSION].into_iter().chain(keys).collect()
    }

    fn two() -> [Vec<u8>; 4] {
        ["p", "s", "t", "v"].map(|qualifier| key("a", qualifier, CellKind::DeleteColumn))
    }

    #[test]
    fn runs_are_a_version_and_keys_with_their_lengths() {
        let bytes = value(&two());
        let shown: String = bytes[..35].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            shown,
            "01\
             000f00016101647000000000000000050c\
             000f00016101647300000000000000050c"
        );
        let runs = parse(&bytes).unwrap();
        assert_eq!(format!("{runs:?}").matches("first").count(), 2);
        assert_eq!(write(runs.iter()).unwrap(), bytes);
        assert_eq!(write([].into_iter()), None);
    }

    #[test]
    fn malformed_entries_are_reported() {
        let put = key("a", "u", CellKind::Put);
        let other_row = key("b", "p", CellKind::DeleteColumn);
        let keys = [&two()[..], &[put, other_row]].concat();
        // No run, truncated, out of order, empty run, from a put, to a put, to another row.
        for picked in [&[][..], &[0], &[0, 1, 2], &[2, 3, 0, 1], &[0, 0], &[4, 5], &[0, 4], &[0, 5]]
        {
            let picked: Vec<Vec<u8>> = picked.iter().map(|&at: &usize| keys[at].clone()).collect();
            let error = parse(&value(&picked)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        }
        let whole = value(&two());
        let one = 1 + 2 * 17;
        for len in (0..whole.len()).filter(|&len| len != one) {
            assert_eq!(parse(&whole.slice(..len)).unwrap_err().kind(), ErrorKind::Corruption);
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x80, 0xFF] {
                let mut changed = whole.to_vec();
                changed[at] ^= flip;
                if let Err(error) = parse(&changed.into()) {
                    let kind = if at == 0 { ErrorKind::Unsupported } else { ErrorKind::Corruption };
                    assert_eq!(error.kind(), kind, "{error}");
                }
            }
        }
    }
}
