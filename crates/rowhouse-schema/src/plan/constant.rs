//! Reads a query's constants as a field's values.

use jiff::tz::TimeZone;

use super::predicate::{Constant, Literal};
use super::set::Hash;
use crate::encode::{
    Body, Codec, Content, OrdinalDomain, Point, Sequence, integer, is_count, read_bytes,
};
use crate::error::Fault;
use crate::time::{TimeLiteral, calendar_digits};
use crate::value::{Decimal, Value};

/// The most decimal digits in a 128-bit number that can be any.
const DIGITS_MAX: usize = 38;

/// Reads constants as a field's or column's values.
pub(super) struct ConstantReader<'a> {
    /// Either `field` or `column`.
    pub(super) of: &'a str,
    pub(super) name: &'a str,
    pub(super) zone: &'a TimeZone,
}

impl ConstantReader<'_> {
    /// Returns a constant's position in a domain.
    pub(super) fn point(
        &self,
        domain: &OrdinalDomain,
        constant: &Constant,
    ) -> Result<Point, Fault> {
        let value = self.number(domain, constant)?;
        domain.point(&value, self.zone).map_err(|why| self.wrong(constant, &why))
    }

    /// Returns the decimal digit count, and the number that they form.
    pub(super) fn digits(&self, constant: &Constant) -> Result<(u32, i128), Fault> {
        let text = match &constant.literal {
            Literal::Word(text) | Literal::Value(Value::Text(text)) => Some(text),
            Literal::Value(_) | Literal::List(_) => None,
        };
        let digits = text.filter(|text| text.bytes().all(|c| c.is_ascii_digit()));
        // Longer ones are in no number, as 38 digits from another one are.
        let count = digits.map(|digits| digits.len().min(DIGITS_MAX));
        let number = digits.map(|digits| digits.get(..DIGITS_MAX).unwrap_or(digits).parse());
        match (count, number) {
            (Some(0), _) => Ok((0, 0)),
            (Some(count), Some(Ok(number))) => Ok((count as u32, number)),
            _ => Err(self.wrong(constant, "takes decimal digits, such as '678'")),
        }
    }

    /// Returns the first instant in a time interval, and the first one after it.
    pub(super) fn interval(
        &self,
        domain: &OrdinalDomain,
        constant: &Constant,
    ) -> Result<(Point, Point), Fault> {
        let text = match &constant.literal {
            _ if domain.tick().is_none() => {
                return Err(self.wrong(constant, "is not a time, `during` is for times"));
            }
            Literal::Word(text) | Literal::Value(Value::Text(text)) => text,
            Literal::Value(value) => {
                let why = format!("takes an interval such as 2022-12, not {}", value.described());
                return Err(self.wrong(constant, &why));
            }
            Literal::List(_) => return Err(self.wrong(constant, "takes one interval, not a list")),
        };
        let literal = self.time_literal(constant, text)?;
        let (start, stop) = literal
            .interval(&domain.zone_or(self.zone))
            .map_err(|fault| fault.shifted(constant.at))?;
        Ok((domain.point_of(start), domain.point_of(stop)))
    }

    /// Returns a whole value's bytes; `None` if no key can hold it.
    pub(super) fn whole(&self, body: &Body, constant: &Constant) -> Result<Option<Vec<u8>>, Fault> {
        let value = self.value(body, constant)?;
        match body {
            Body::Sequence(_) if !self.is_held(body, &value, constant)? => Ok(None),
            Body::Sequence(sequence) => {
                let bytes = sequence.content.bytes(&value).map(Vec::from);
                bytes.map(Some).map_err(|why| self.wrong(constant, &why))
            }
            Body::Repeat(repeat) => {
                repeat.check(&value).map_err(|why| self.wrong(constant, &why))?;
                let mut bytes = Vec::new();
                Ok(repeat.encode(&value, &mut bytes).is_ok().then_some(bytes))
            }
            _ => Err(self.wrong(constant, "is neither text nor bytes")),
        }
    }

    /// Returns the bytes to compare values or their beginnings with; `None` if no key can hold
    /// them.
    pub(super) fn part(&self, body: &Body, constant: &Constant) -> Result<Option<Vec<u8>>, Fault> {
        match body {
            Body::Sequence(sequence) => {
                let value = self.value(body, constant)?;
                let bytes = sequence.content.part(&value).map(Vec::from);
                bytes.map(Some).map_err(|why| self.wrong(constant, &why))
            }
            _ => self.whole(body, constant),
        }
    }

    /// Returns a constant's hash, or the stored hash that it is. Empty if no value equals the
    /// constant; two for a zero, which may be signed.
    pub(super) fn hashes(&self, body: &Body, constant: &Constant) -> Result<Vec<Hash>, Fault> {
        let Body::Hashed(hashed) = body else { return Ok(Vec::new()) };
        if let Literal::Value(Value::Hashed(stored)) = &constant.literal {
            let check = hashed.fixed.check(stored);
            check.map_err(|why| self.wrong(constant, &why))?;
            return Ok(vec![Hash { stored: stored.clone(), canonical: None }]);
        }
        let value = self.value(&hashed.of, constant).map_err(|fault| match &constant.literal {
            Literal::Word(word) if read_bytes(word).is_some() => {
                let name = self.name;
                fault.hint(format!("hash({name}) = {word} asks for a stored hash"))
            }
            _ => fault,
        })?;
        let values = match hashed.of.domain() {
            None if self.is_held(&hashed.of, &value, constant)? => vec![value],
            None => Vec::new(),
            Some(domain) => {
                let point = domain.point(&value, self.zone);
                let point = point.map_err(|why| self.wrong(constant, &why))?;
                let numbers = (point.low..=point.high).filter(|number| domain.contains(*number));
                numbers.map(|number| domain.value(number)).collect()
            }
        };
        let hash = |value: &Value| {
            let mut canonical = Vec::new();
            hashed.of.put_canonical(value, &mut canonical)?;
            Ok(Hash { stored: hashed.stored(value)?, canonical: Some(canonical) })
        };
        let hashes = values.iter().map(hash).collect::<Result<_, String>>();
        hashes.map_err(|why| self.wrong(constant, &why))
    }

    /// Returns true if keys can hold this value, a text or bytes of the right kind.
    fn is_held(&self, body: &Body, value: &Value, constant: &Constant) -> Result<bool, Fault> {
        let Body::Sequence(Sequence { content, .. }) = body else { return Ok(true) };
        if !content.is_restricted() {
            return Ok(true);
        }
        content.part(value).map_err(|why| self.wrong(constant, &why))?;
        Ok(content.bytes(value).is_ok())
    }

    /// Returns a constant's value.
    fn value(&self, body: &Body, constant: &Constant) -> Result<Value, Fault> {
        match (body, &constant.literal) {
            (Body::Repeat(repeat), Literal::List(groups)) => {
                let groups = groups.iter().map(|group| self.group(&repeat.group, group));
                Ok(Value::List(groups.collect::<Result<_, _>>()?))
            }
            (Body::Number(number), _) => self.number(&number.domain, constant),
            (Body::Shortest(shortest), _) => self.number(&shortest.domain, constant),
            (_, Literal::Value(value)) => Ok(value.clone()),
            (_, Literal::List(_)) => Err(self.wrong(constant, "takes one value, not a list")),
            (Body::Sequence(Sequence { content, .. }), Literal::Word(word)) => match content {
                Content::Raw | Content::Some => {
                    read_bytes(word).map(Value::Bytes).ok_or_else(|| {
                        self.wrong(constant, &format!("takes bytes such as 0x00ff, not {word}"))
                    })
                }
                Content::Uuid => Ok(word.as_str().into()),
                Content::Decimal(_) => Decimal::parse(word).map(Value::Decimal).ok_or_else(|| {
                    self.wrong(constant, &format!("takes a decimal number, not {word}"))
                }),
                Content::Integer(_) => integer(word).map(Value::Signed).ok_or_else(|| {
                    self.wrong(constant, &format!("takes a whole number, not {word}"))
                }),
                Content::Text | Content::Ascii | Content::Hex { .. } => Err(self
                    .wrong(constant, "is text, which needs quotes")
                    .hint(format!("write '{word}'"))),
            },
            (_, Literal::Word(word)) => {
                Err(self
                    .wrong(constant, &format!("takes a list such as ((1, 2), (3, 4)), not {word}")))
            }
        }
    }

    fn group(&self, codecs: &[Codec], constant: &Constant) -> Result<Value, Fault> {
        match (codecs, &constant.literal) {
            ([codec], _) => self.value(&codec.body, constant),
            (_, Literal::List(values)) if values.len() == codecs.len() => {
                let values = codecs.iter().zip(values);
                let values = values.map(|(codec, value)| self.value(&codec.body, value));
                Ok(Value::List(values.collect::<Result<_, _>>()?))
            }
            _ => {
                let why = format!("takes groups of {} values: (1, 2)", codecs.len());
                Err(self.wrong(constant, &why))
            }
        }
    }

    /// Returns a constant's value for a number or time field.
    fn number(&self, domain: &OrdinalDomain, constant: &Constant) -> Result<Value, Fault> {
        let is_time = domain.tick().is_some();
        match &constant.literal {
            Literal::Word(word) if is_time && !is_count(word) => self.time(domain, constant, word),
            Literal::Value(Value::Text(text)) if is_time => self.time(domain, constant, text),
            Literal::Word(word) if is_time && calendar_digits(word).is_some() => {
                Err(domain.day_or_count(word).shifted(constant.at))
            }
            Literal::Word(word) => domain.read(word).map_err(|_| {
                let why = format!("takes {}, not {word}", domain.expected());
                self.wrong(constant, &why)
            }),
            Literal::Value(value) => Ok(value.clone()),
            Literal::List(_) => Err(self.wrong(constant, "takes one value, not a list")),
        }
    }

    fn time(
        &self,
        domain: &OrdinalDomain,
        constant: &Constant,
        text: &str,
    ) -> Result<Value, Fault> {
        let literal = self.time_literal(constant, text)?;
        let time = literal.instant(&domain.zone_or(self.zone));
        let time = time.map_err(|fault| fault.shifted(constant.at))?;
        Ok(time.into())
    }

    fn time_literal(&self, constant: &Constant, text: &str) -> Result<TimeLiteral, Fault> {
        let quote = usize::from(matches!(constant.literal, Literal::Value(_)));
        TimeLiteral::parse(text).map_err(|fault| fault.shifted(constant.at + quote))
    }

    /// Names the field or column in messages.
    pub(super) fn subject(&self) -> String {
        format!("{} `{}`", self.of, self.name)
    }

    fn wrong(&self, constant: &Constant, why: &str) -> Fault {
        Fault::new(constant.at, format!("{} {why}", self.subject()))
    }
}
