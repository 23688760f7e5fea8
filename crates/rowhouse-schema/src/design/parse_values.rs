//! The parser for distributions: `1e5 values, zipf 1.1, 8 to 20 bytes`.

use super::distribution::{Distribution, Draw};
use super::piece::Piece;
use super::words::{COUNT_MAX, Count, Size};
use crate::error::Fault;

/// The greatest skew.
const SKEW_MAX: f64 = 10.0;

/// What the items have declared so far.
#[derive(Default)]
struct Items<'t> {
    draw: Option<Draw>,
    zipf: Option<(Piece<'t>, f64)>,
    bytes: Option<(u32, u32)>,
}

/// Parses a distribution.
pub(super) fn parse_values(values: Piece<'_>) -> Result<Distribution, Fault> {
    let mut items = Items::default();
    let mut rest = Some(values);
    while let Some(part) = rest {
        let (item, next) = part.split(',');
        items.item(item)?;
        rest = next;
    }
    items.finish()
}

impl<'t> Items<'t> {
    fn item(&mut self, item: Piece<'t>) -> Result<(), Fault> {
        let words: Vec<&str> = item.text.split_whitespace().collect();
        match words[..] {
            [_, "values" | "value"] => {
                let count = item.word().0.count("a number of values", COUNT_MAX)?;
                item.set(&mut self.draw, Draw::Values { count, zipf: None })
            }
            ["sequence"] => item.set(&mut self.draw, Draw::Sequence { from: 1 }),
            ["sequence", "from", from] => {
                let fault = || item.fault("expected a whole number after `from`");
                let from = Count::read(from).ok_or_else(fault)?;
                item.set(&mut self.draw, Draw::Sequence { from })
            }
            ["random"] => item.set(&mut self.draw, Draw::Random),
            ["now"] => item.set(&mut self.draw, Draw::Now),
            ["zipf", skew] => {
                let skew = skew.parse().ok().filter(|skew| *skew > 0.0 && *skew <= SKEW_MAX);
                let fault = || item.fault(format!("expected a skew above 0, at most {SKEW_MAX}"));
                item.set(&mut self.zipf, (item, skew.ok_or_else(fault)?))
            }
            [number, unit @ ("bytes" | "byte" | "kB" | "MB")] => {
                let fault = || item.fault("expected a size, 1 byte to 16 MB");
                let size = Size::read(number, unit).ok_or_else(fault)?;
                item.set(&mut self.bytes, (size, size))
            }
            [min, "to", max, unit @ ("bytes" | "kB")] => {
                let fault = || item.fault("expected two sizes, the smaller first, at most 16 MB");
                let sizes = Size::read(min, unit).zip(Size::read(max, unit));
                let sizes = sizes.filter(|(min, max)| min <= max).ok_or_else(fault)?;
                item.set(&mut self.bytes, sizes)
            }
            _ => {
                let fault = item.fault(format!("unknown distribution `{}`", item.text));
                Err(fault.hint(
                    "expected N values, zipf S, sequence, random, now, N bytes or N to M bytes",
                ))
            }
        }
    }

    fn finish(self) -> Result<Distribution, Fault> {
        let draw = match (self.draw, self.zipf) {
            (Some(Draw::Values { count, .. }), Some((_, skew))) => {
                Draw::Values { count, zipf: Some(skew) }
            }
            (_, Some((item, _))) => {
                let fault = item.fault("`zipf` needs a number of values");
                return Err(fault.hint("1e5 values, zipf 1.1"));
            }
            (Some(draw), None) => draw,
            // A length alone: every row has another value.
            (None, None) => Draw::Random,
        };
        Ok(Distribution { draw, bytes: self.bytes })
    }
}
