//! A FuzzyRowFilter's keys. Java's client sends them preprocessed for word comparison: wildcard
//! bytes in the key are 0, and the mask is −1 for a fixed byte and 2 (0 before mask version 2) for
//! a wildcard. Other clients send the documented mask with 0 and 1.

use bytes::Bytes;
use rowhouse_model::{Error, Filter, FuzzyKey, Result, escape};

use crate::proto;

/// A fixed byte in a preprocessed mask.
const FIXED: u8 = 0xFF;

pub(super) fn from_proto(filter: proto::FuzzyRowFilter) -> Result<Filter> {
    let free = if filter.is_mask_v2.unwrap_or(false) { 2 } else { 0 };
    let keys = filter.fuzzy_keys_data.into_iter().map(|pair| {
        let mask = mask_from_proto(&pair.second, free)?;
        Ok(FuzzyKey { key: pair.first, mask: mask.into() })
    });
    Ok(Filter::FuzzyRow(keys.collect::<Result<_>>()?))
}

/// Decodes a mask as HBase does: if any byte is not preprocessed, the whole mask is not.
fn mask_from_proto(mask: &[u8], free: u8) -> Result<Vec<u8>> {
    let is_ready = mask.iter().all(|&byte| byte == FIXED || byte == free);
    mask.iter()
        .map(|&byte| match byte {
            FIXED => Ok(0),
            byte if byte == free && (is_ready || byte != 0) => Ok(1),
            0 => Ok(0),
            1 => Ok(1),
            _ => Err(Error::invalid(format!(
                "mask of FuzzyRowFilter has an invalid byte: byte={byte}, mask={}",
                escape(mask)
            ))),
        })
        .collect()
}

pub(super) fn to_proto(keys: &[FuzzyKey]) -> proto::FuzzyRowFilter {
    let pair = |key: &FuzzyKey| {
        let is_free = |at: usize| key.mask.get(at) == Some(&1);
        let first =
            key.key.iter().enumerate().map(|(at, &byte)| if is_free(at) { 0 } else { byte });
        let second = key.mask.iter().map(|&byte| match byte {
            0 => FIXED,
            1 => 2,
            other => other,
        });
        proto::BytesBytesPair {
            first: first.collect::<Vec<u8>>().into(),
            second: Bytes::from(second.collect::<Vec<u8>>()),
        }
    };
    proto::FuzzyRowFilter {
        fuzzy_keys_data: keys.iter().map(pair).collect(),
        is_mask_v2: Some(true),
    }
}
