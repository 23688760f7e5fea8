//! Filters in JSON: HBase's ScannerModel.FilterModel.

use std::collections::BTreeSet;

use bytes::Bytes;
use rowhouse_model::{
    BitOperator, ColumnOffset, Comparator, CompareOperator, Comparison, Error, FILTER_DEPTH_MAX,
    Filter, FilterRange, FuzzyKey, ListOperator, RegexPattern, Result,
};
use serde_json::{Map, Value};

use super::decoded::base64;

/// Parses a filter.
///
/// # Errors
/// `InvalidRequest` for what is not a filter; `Unsupported` for one that HBase's REST interface
/// does not have.
pub(super) fn parse(text: &str) -> Result<Filter> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| Error::invalid(error.to_string()))?;
    Model::of(&value)?.build(FILTER_DEPTH_MAX)
}

/// A filter's or comparator's fields.
struct Model<'v>(&'v Map<String, Value>);

impl<'v> Model<'v> {
    fn of(value: &'v Value) -> Result<Self> {
        value.as_object().map(Self).ok_or_else(|| Error::invalid("a filter is an object"))
    }

    fn field(&self, name: &str) -> Option<&'v Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn missing(&self, name: &str) -> Error {
        let kind = self.0.get("type").map(ToString::to_string).unwrap_or_default();
        Error::invalid(format!("a filter lacks {name}: type={kind}"))
    }

    fn text(&self, name: &str) -> Result<&'v str> {
        self.field(name).and_then(Value::as_str).ok_or_else(|| self.missing(name))
    }

    fn bytes(&self, name: &str) -> Result<Bytes> {
        base64(self.text(name)?)
    }

    fn optional_bytes(&self, name: &str) -> Result<Option<Bytes>> {
        self.field(name).map(|_| self.bytes(name)).transpose()
    }

    /// Returns a number, which may be a text as Jackson takes it.
    fn number(&self, name: &str) -> Result<i64> {
        let value = self.field(name).ok_or_else(|| self.missing(name))?;
        let number = match value {
            Value::String(text) => text.trim().parse().ok(),
            value => value.to_string().parse().ok(),
        };
        number.ok_or_else(|| Error::invalid(format!("{name} is no number: {value}")))
    }

    fn count(&self, name: &str) -> Result<u32> {
        let number = self.number(name)?;
        u32::try_from(number)
            .ok()
            .filter(|&count| count <= i32::MAX as u32)
            .ok_or_else(|| Error::invalid(format!("{name} is out of range: {number}")))
    }

    fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.field(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) => Ok(Some(text == "true")),
            Some(other) => Err(Error::invalid(format!("{name} is true or false: {other}"))),
        }
    }

    fn list(&self, name: &str) -> Result<&'v [Value]> {
        let list = self.field(name).and_then(Value::as_array);
        list.map(Vec::as_slice).ok_or_else(|| self.missing(name))
    }

    fn base64_set(&self, name: &str) -> Result<BTreeSet<Bytes>> {
        let texts = self
            .list(name)?
            .iter()
            .map(|value| base64(value.as_str().ok_or_else(|| self.missing(name))?));
        texts.collect()
    }

    fn operator(&self) -> Result<CompareOperator> {
        let name = self.text("op")?;
        Ok(match name {
            "LESS" => CompareOperator::Less,
            "LESS_OR_EQUAL" => CompareOperator::LessOrEqual,
            "EQUAL" => CompareOperator::Equal,
            "NOT_EQUAL" => CompareOperator::NotEqual,
            "GREATER_OR_EQUAL" => CompareOperator::GreaterOrEqual,
            "GREATER" => CompareOperator::Greater,
            "NO_OP" => CompareOperator::NoOp,
            _ => return Err(Error::invalid(format!("unknown operator: {name}"))),
        })
    }

    fn comparison(&self) -> Result<Comparison> {
        let value = self.field("comparator").ok_or_else(|| self.missing("comparator"))?;
        let comparator = Model::of(value)?.comparator()?;
        Ok(Comparison { operator: self.operator()?, comparator })
    }

    fn comparator(&self) -> Result<Comparator> {
        let kind = self.text("type")?;
        Ok(match kind {
            "BinaryComparator" => Comparator::Binary(self.bytes("value")?),
            "BinaryPrefixComparator" => Comparator::BinaryPrefix(self.bytes("value")?),
            "BitComparator" => {
                let name = self.text("op")?;
                let operator = match name {
                    "AND" => BitOperator::And,
                    "OR" => BitOperator::Or,
                    "XOR" => BitOperator::Xor,
                    _ => return Err(Error::invalid(format!("unknown operator: {name}"))),
                };
                Comparator::Bit { value: self.bytes("value")?, operator }
            }
            "NullComparator" => Comparator::Null,
            "RegexStringComparator" => {
                Comparator::Regex(RegexPattern::new(self.text("value")?, RegexPattern::DOTALL))
            }
            "SubstringComparator" => Comparator::Substring(self.text("value")?.to_lowercase()),
            _ => return Err(Error::unsupported(format!("unknown comparator: {kind}"))),
        })
    }

    fn children(&self, depth: usize) -> Result<Vec<Filter>> {
        let depth = depth.checked_sub(1).ok_or_else(|| {
            Error::invalid(format!("more than {FILTER_DEPTH_MAX} filters inside one another"))
        })?;
        self.list("filters")?.iter().map(|value| Model::of(value)?.build(depth)).collect()
    }

    fn child(&self, depth: usize) -> Result<Box<Filter>> {
        let first = self.children(depth)?.into_iter().next();
        first.map(Box::new).ok_or_else(|| self.missing("filters"))
    }

    fn single_column(&self, exclude: bool) -> Result<Filter> {
        Ok(Filter::SingleColumnValue {
            family: self.bytes("family")?,
            qualifier: self.optional_bytes("qualifier")?.unwrap_or_default(),
            value: self.comparison()?,
            filter_if_missing: self.flag("ifMissing")?.unwrap_or(false),
            latest_version_only: self.flag("latestVersion")?.unwrap_or(true),
            exclude,
        })
    }

    fn build(&self, depth: usize) -> Result<Filter> {
        let kind = self.text("type")?;
        Ok(match kind {
            "ColumnCountGetFilter" => Filter::ColumnCountGet(self.count("limit")?),
            "ColumnPaginationFilter" => Filter::ColumnPagination {
                limit: self.count("limit")?,
                from: ColumnOffset::Skip(self.count("offset")?),
            },
            "ColumnPrefixFilter" => Filter::ColumnPrefix(self.bytes("value")?),
            "ColumnRangeFilter" => Filter::ColumnRange {
                min: self.optional_bytes("minColumn")?,
                min_inclusive: self.flag("minColumnInclusive")?.unwrap_or(true),
                max: self.optional_bytes("maxColumn")?,
                max_inclusive: self.flag("maxColumnInclusive")?.unwrap_or(false),
            },
            "DependentColumnFilter" => Filter::DependentColumn {
                family: self.bytes("family")?,
                qualifier: self.optional_bytes("qualifier")?.unwrap_or_default(),
                drop_dependent_column: self.flag("dropDependentColumn")?.unwrap_or(false),
                value: self.field("comparator").map(|_| self.comparison()).transpose()?,
            },
            "FamilyFilter" => Filter::Family(self.comparison()?),
            "FilterList" => {
                let name = self.text("op")?;
                let operator = match name {
                    "MUST_PASS_ALL" => ListOperator::And,
                    "MUST_PASS_ONE" => ListOperator::Or,
                    _ => return Err(Error::invalid(format!("unknown operator: {name}"))),
                };
                Filter::List { operator, filters: self.children(depth)? }
            }
            "FirstKeyOnlyFilter" => Filter::FirstKeyOnly,
            "InclusiveStopFilter" => Filter::InclusiveStop(self.bytes("value")?),
            "KeyOnlyFilter" => Filter::KeyOnly { length_as_value: false },
            "MultipleColumnPrefixFilter" => {
                Filter::MultipleColumnPrefix(self.base64_set("prefixes")?)
            }
            "MultiRowRangeFilter" => Filter::MultiRowRange(self.ranges()?),
            "PageFilter" => {
                let rows = self.number("value")?;
                let rows = u64::try_from(rows);
                Filter::Page(rows.map_err(|_| Error::invalid("a page has a negative size"))?)
            }
            "PrefixFilter" => Filter::Prefix(self.bytes("value")?),
            "QualifierFilter" => Filter::Qualifier(self.comparison()?),
            "RandomRowFilter" => {
                let chance = self.field("chance").and_then(Value::as_f64);
                Filter::RandomRow(chance.ok_or_else(|| self.missing("chance"))? as f32)
            }
            "RowFilter" => Filter::Row(self.comparison()?),
            "SingleColumnValueFilter" => self.single_column(false)?,
            "SingleColumnValueExcludeFilter" => self.single_column(true)?,
            "SkipFilter" => Filter::Skip(self.child(depth)?),
            "TimestampsFilter" => {
                let numbers = self.list("timestamps")?.iter().map(|value| {
                    value.as_i64().ok_or_else(|| Error::invalid(format!("no timestamp: {value}")))
                });
                Filter::Timestamps { timestamps: numbers.collect::<Result<_>>()?, can_hint: false }
            }
            "ValueFilter" => Filter::Value(self.comparison()?),
            "WhileMatchFilter" => Filter::WhileMatch(self.child(depth)?),
            "FuzzyRowFilter" => Filter::FuzzyRow(self.fuzzy_keys()?),
            _ => return Err(Error::unsupported(format!("unknown filter: {kind}"))),
        })
    }

    fn ranges(&self) -> Result<Vec<FilterRange>> {
        let ranges = self.list("ranges")?.iter().map(|value| {
            let range = Model::of(value)?;
            Ok(FilterRange {
                start: range.optional_bytes("startRow")?.unwrap_or_default(),
                start_inclusive: range.flag("startRowInclusive")?.unwrap_or(true),
                stop: range.optional_bytes("stopRow")?.unwrap_or_default(),
                stop_inclusive: range.flag("stopRowInclusive")?.unwrap_or(false),
            })
        });
        ranges.collect()
    }

    fn fuzzy_keys(&self) -> Result<Vec<FuzzyKey>> {
        let keys = self.list("fuzzyKeys")?.iter().map(|value| {
            let key = Model::of(value)?;
            let (key, mask) = (key.bytes("key")?, key.bytes("mask")?);
            if key.len() != mask.len() {
                let (key, mask) = (key.len(), mask.len());
                return Err(Error::invalid(format!(
                    "a fuzzy key and its mask have different lengths: key={key}, mask={mask}"
                )));
            }
            // HBase's filter sends the fixed bytes as -1 and the others as 2.
            let mask =
                mask.iter().map(|&byte| u8::from(byte == 1 || byte == 2)).collect::<Vec<_>>();
            Ok(FuzzyKey { key, mask: mask.into() })
        });
        keys.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_of_hbases_model_is_built() {
        let comparator = r#"{"type":"BinaryComparator","value":"dg=="}"#;
        let texts = [
            r#"{"type":"ColumnCountGetFilter","limit":2}"#.to_owned(),
            r#"{"type":"ColumnPaginationFilter","limit":2,"offset":1}"#.to_owned(),
            r#"{"type":"ColumnPrefixFilter","value":"YQ=="}"#.to_owned(),
            r#"{"type":"ColumnRangeFilter","minColumn":"YQ==","minColumnInclusive":true,"maxColumn":"eg==","maxColumnInclusive":false}"#.to_owned(),
            format!(r#"{{"type":"DependentColumnFilter","family":"Zg==","qualifier":"cQ==","op":"EQUAL","comparator":{comparator},"dropDependentColumn":true}}"#),
            format!(r#"{{"type":"FamilyFilter","op":"EQUAL","comparator":{comparator}}}"#),
            r#"{"type":"FilterList","op":"MUST_PASS_ONE","filters":[{"type":"KeyOnlyFilter"}]}"#.to_owned(),
            r#"{"type":"FirstKeyOnlyFilter"}"#.to_owned(),
            r#"{"type":"InclusiveStopFilter","value":"YQ=="}"#.to_owned(),
            r#"{"type":"MultipleColumnPrefixFilter","prefixes":["YQ=="]}"#.to_owned(),
            r#"{"type":"MultiRowRangeFilter","ranges":[{"startRow":"YQ==","stopRow":"eg=="}]}"#.to_owned(),
            r#"{"type":"PageFilter","value":"5"}"#.to_owned(),
            r#"{"type":"PrefixFilter","value":"YQ=="}"#.to_owned(),
            r#"{"type":"QualifierFilter","op":"LESS","comparator":{"type":"NullComparator"}}"#.to_owned(),
            r#"{"type":"RandomRowFilter","chance":0.5}"#.to_owned(),
            r#"{"type":"RowFilter","op":"NOT_EQUAL","comparator":{"type":"RegexStringComparator","value":"a.*"}}"#.to_owned(),
            format!(r#"{{"type":"SingleColumnValueFilter","family":"Zg==","qualifier":"cQ==","op":"GREATER","comparator":{comparator},"ifMissing":true}}"#),
            format!(r#"{{"type":"SingleColumnValueExcludeFilter","family":"Zg==","qualifier":"cQ==","op":"GREATER","comparator":{comparator}}}"#),
            r#"{"type":"SkipFilter","filters":[{"type":"KeyOnlyFilter"}]}"#.to_owned(),
            r#"{"type":"TimestampsFilter","timestamps":[1,2]}"#.to_owned(),
            r#"{"type":"ValueFilter","op":"EQUAL","comparator":{"type":"SubstringComparator","value":"A"}}"#.to_owned(),
            r#"{"type":"ValueFilter","op":"EQUAL","comparator":{"type":"BitComparator","value":"AQ==","op":"XOR"}}"#.to_owned(),
            r#"{"type":"WhileMatchFilter","filters":[{"type":"KeyOnlyFilter"}]}"#.to_owned(),
            r#"{"type":"FuzzyRowFilter","fuzzyKeys":[{"key":"YWI=","mask":"AAE="}]}"#.to_owned(),
        ];
        for text in &texts {
            if let Err(error) = parse(text) {
                panic!("{text}: {error}");
            }
        }
        let masked = parse(&texts[23]).unwrap();
        assert_eq!(
            masked,
            Filter::FuzzyRow(vec![FuzzyKey { key: "ab".into(), mask: vec![0, 1].into() }])
        );
    }

    #[test]
    fn other_objects_than_filters_are_refused() {
        let deep = format!(
            "{}{{\"type\":\"KeyOnlyFilter\"}}{}",
            r#"{"type":"SkipFilter","filters":["#.repeat(200),
            "]}".repeat(200)
        );
        for text in [
            "",
            "[]",
            "{}",
            r#"{"type":"Nope"}"#,
            r#"{"type":"PageFilter"}"#,
            r#"{"type":"PageFilter","value":"-1"}"#,
            r#"{"type":"SkipFilter","filters":[]}"#,
            r#"{"type":"RowFilter","op":"LIKE","comparator":{"type":"NullComparator"}}"#,
            r#"{"type":"FuzzyRowFilter","fuzzyKeys":[{"key":"YWI=","mask":"AA=="}]}"#,
            &deep,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
