//! Filters as text: the filter language where it can express them, otherwise a form that the parser
//! does not accept.

use std::fmt::{self, Display, Formatter};

use bytes::Bytes;

use crate::escape;
use crate::filter::{
    ColumnOffset, Comparator, CompareOperator, Comparison, Filter, ListOperator, RegexEngine,
    RegexPattern,
};

/// Prints the filter language. Parts that it cannot express are printed in constructor form, with
/// bytes in double quotes: `FuzzyRowFilter("a\x00c" like 0.0)`.
impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(comparison) => call(f, "RowFilter", &[comparison]),
            Self::Family(comparison) => call(f, "FamilyFilter", &[comparison]),
            Self::Qualifier(comparison) => call(f, "QualifierFilter", &[comparison]),
            Self::Value(comparison) => call(f, "ValueFilter", &[comparison]),
            Self::DependentColumn { family, qualifier, drop_dependent_column, value } => {
                let column: [&dyn Display; 3] =
                    [&Text(family), &Text(qualifier), drop_dependent_column];
                match value {
                    Some(value) => call(f, DEPENDENT, &[column[0], column[1], column[2], value]),
                    None if *drop_dependent_column => call(f, DEPENDENT, &column),
                    None => call(f, DEPENDENT, &column[..2]),
                }
            }
            Self::SingleColumnValue { .. } => print_single_column(self, f),
            Self::ColumnValue { family, qualifier, value } => {
                call(f, "ColumnValueFilter", &[&Text(family), &Text(qualifier), value])
            }
            Self::Prefix(prefix) => call(f, "PrefixFilter", &[&Text(prefix)]),
            Self::ColumnPrefix(prefix) => call(f, "ColumnPrefixFilter", &[&Text(prefix)]),
            Self::MultipleColumnPrefix(prefixes) => {
                list(f, "MultipleColumnPrefixFilter", prefixes.iter().map(Text))
            }
            Self::ColumnRange { min, min_inclusive, max, max_inclusive } => call(
                f,
                "ColumnRangeFilter",
                &[&Bound(min), min_inclusive, &Bound(max), max_inclusive],
            ),
            Self::ColumnCountGet(limit) => call(f, "ColumnCountGetFilter", &[limit]),
            Self::ColumnPagination { limit, from: ColumnOffset::Skip(columns) } => {
                call(f, "ColumnPaginationFilter", &[limit, columns])
            }
            Self::ColumnPagination { limit, from: ColumnOffset::Qualifier(first) } => {
                call(f, "ColumnPaginationFilter", &[limit, &Text(first)])
            }
            Self::Page(rows) => call(f, "PageFilter", &[rows]),
            Self::KeyOnly { length_as_value: false } => call(f, "KeyOnlyFilter", &[]),
            Self::KeyOnly { length_as_value: true } => call(f, "KeyOnlyFilter", &[&true]),
            Self::FirstKeyOnly => call(f, "FirstKeyOnlyFilter", &[]),
            Self::FirstKeyValueMatchingQualifiers(qualifiers) => {
                list(f, "FirstKeyValueMatchingQualifiersFilter", qualifiers.iter().map(Text))
            }
            Self::InclusiveStop(row) => call(f, "InclusiveStopFilter", &[&Text(row)]),
            Self::MultiRowRange(ranges) => list(
                f,
                "MultiRowRangeFilter",
                ranges.iter().map(|range| {
                    let start = if range.start_inclusive { '[' } else { '(' };
                    let stop = if range.stop_inclusive { ']' } else { ')' };
                    format!(
                        "{start}\"{}\", \"{}\"{stop}",
                        escape(&range.start),
                        escape(&range.stop)
                    )
                }),
            ),
            Self::FuzzyRow(keys) => list(
                f,
                "FuzzyRowFilter",
                keys.iter().map(|key| {
                    let mask: String = key.mask.iter().map(|&byte| mask_char(byte)).collect();
                    format!("\"{}\" like {mask}", escape(&key.key))
                }),
            ),
            Self::RandomRow(chance) => call(f, "RandomRowFilter", &[chance]),
            Self::Skip(inner) => write!(f, "SKIP {}", Inner(inner)),
            Self::WhileMatch(inner) => write!(f, "WHILE {}", Inner(inner)),
            Self::Timestamps { timestamps, can_hint } => {
                let stamps = timestamps.iter().map(i64::to_string);
                list(f, "TimestampsFilter", stamps.chain(can_hint.then(|| "can hint".into())))
            }
            Self::List { operator, filters } => print_list(f, *operator, filters),
        }
    }
}

const DEPENDENT: &str = "DependentColumnFilter";

fn print_single_column(filter: &Filter, f: &mut Formatter<'_>) -> fmt::Result {
    let Filter::SingleColumnValue {
        family,
        qualifier,
        value,
        filter_if_missing,
        latest_version_only,
        exclude,
    } = filter
    else {
        return Err(fmt::Error);
    };
    let name = if *exclude { "SingleColumnValueExcludeFilter" } else { "SingleColumnValueFilter" };
    let arguments: [&dyn Display; 5] =
        [&Text(family), &Text(qualifier), value, filter_if_missing, latest_version_only];
    // Omit the language's default values.
    let has_flags = *filter_if_missing || !latest_version_only;
    call(f, name, if has_flags { &arguments } else { &arguments[..3] })
}

/// Prints a list with two or more filters with an operator between them; the language cannot
/// express shorter lists.
fn print_list(f: &mut Formatter<'_>, operator: ListOperator, filters: &[Filter]) -> fmt::Result {
    let word = match operator {
        ListOperator::And => "AND",
        ListOperator::Or => "OR",
    };
    if filters.len() < 2 {
        let members = filters.iter().map(ToString::to_string);
        return list(f, "FilterList", std::iter::once(word.to_owned()).chain(members));
    }
    for (number, filter) in filters.iter().enumerate() {
        if number > 0 {
            write!(f, " {word} ")?;
        }
        write!(f, "{}", Inner(filter))?;
    }
    Ok(())
}

/// A filter inside another one; lists get parentheses.
struct Inner<'a>(&'a Filter);

impl Display for Inner<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Filter::List { filters, .. } if filters.len() > 1 => write!(f, "({})", self.0),
            _ => write!(f, "{}", self.0),
        }
    }
}

/// Bytes in single quotes; bytes that are not UTF-8 are escaped in double quotes.
struct Text<'a>(&'a Bytes);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        quote(f, "", self.0)
    }
}

/// A column bound. No bound is printed as empty text; the language cannot express an empty bound.
struct Bound<'a>(&'a Option<Bytes>);

impl Display for Bound<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("''"),
            Some(bound) if bound.is_empty() => f.write_str("\"\""),
            Some(bound) => quote(f, "", bound),
        }
    }
}

fn quote(f: &mut Formatter<'_>, kind: &str, bytes: &[u8]) -> fmt::Result {
    match std::str::from_utf8(bytes) {
        Ok(text) => write!(f, "'{kind}{}'", text.replace('\'', "''")),
        Err(_) => write!(f, "{kind}\"{}\"", escape(bytes)),
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.operator, self.comparator)
    }
}

impl Display for CompareOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::GreaterOrEqual => ">=",
            Self::Greater => ">",
            Self::NoOp => "NO_OP",
        })
    }
}

impl Display for Comparator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary(value) => quote(f, "binary:", value),
            Self::BinaryPrefix(value) => quote(f, "binaryprefix:", value),
            Self::BinaryComponent { value, offset } => {
                write!(f, "BinaryComponentComparator(\"{}\", {offset})", escape(value))
            }
            Self::Substring(part) => quote(f, "substring:", part.as_bytes()),
            Self::Regex(pattern) => print_regex(f, pattern),
            Self::Null => f.write_str("NullComparator()"),
            Self::Bit { value, operator } => {
                write!(f, "BitComparator(\"{}\", {operator:?})", escape(value))
            }
            Self::Long(number) => write!(f, "LongComparator({number})"),
            Self::BigDecimal(value) => write!(f, "BigDecimalComparator(\"{}\")", escape(value)),
        }
    }
}

/// Prints an expression under the name that stands for the flags in the language, if there is one.
fn print_regex(f: &mut Formatter<'_>, pattern: &RegexPattern) -> fmt::Result {
    let no_case = RegexPattern::DOTALL | RegexPattern::CASE_INSENSITIVE;
    if pattern.charset == "UTF-8" && pattern.engine == RegexEngine::Java {
        for (word, flags) in
            [("regexstring:", RegexPattern::DOTALL), ("regexstringnocase:", no_case)]
        {
            if pattern.flags == flags {
                return quote(f, word, pattern.pattern.as_bytes());
            }
        }
    }
    let RegexPattern { pattern, flags, charset, engine } = pattern;
    write!(f, "RegexStringComparator({pattern:?}, {flags}, {charset}, {engine:?})")
}

fn mask_char(byte: u8) -> char {
    match byte {
        0 => '0',
        1 => '.',
        _ => '!',
    }
}

fn call(f: &mut Formatter<'_>, name: &str, arguments: &[&dyn Display]) -> fmt::Result {
    list(f, name, arguments.iter())
}

fn list(
    f: &mut Formatter<'_>,
    name: &str,
    arguments: impl Iterator<Item = impl Display>,
) -> fmt::Result {
    write!(f, "{name}(")?;
    for (number, argument) in arguments.enumerate() {
        let comma = if number > 0 { ", " } else { "" };
        write!(f, "{comma}{argument}")?;
    }
    f.write_str(")")
}
