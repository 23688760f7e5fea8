//! What a request to the select handler asks for.

use rowhouse_model::{Error, Result};
use rowhouse_schema::Direction;
use rowhouse_search::{LuceneQuery, Operator, PagePart, ROW_NAME};

use super::answer::CountsForm;
use super::params::Params;
use crate::limits::{SOLR_DEPTH_MAX, SOLR_FILTERS_MAX, SOLR_MARK_BYTES_MAX, SOLR_ROWS_MAX};

/// The name under which documents have their score.
pub(super) const SCORE: &str = "score";

/// Rows on a page: Solr's default.
const ROWS_DEFAULT: usize = 10;

/// A request to the select handler.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) query: LuceneQuery,
    pub(super) filters: Vec<LuceneQuery>,
    pub(super) default_field: Option<String>,
    pub(super) fields: Fields,
    pub(super) start: usize,
    pub(super) rows: usize,
    /// Names and directions; not empty.
    pub(super) sort: Vec<(String, Direction)>,
    pub(super) cursor: Option<String>,
    pub(super) highlight: Option<Highlight>,
    pub(super) facets: Vec<FieldFacets>,
    pub(super) has_facets: bool,
    pub(super) has_header: bool,
}

/// Document fields: Solr's parameter `fl`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    /// All but the score.
    pub(super) is_all: bool,
    pub(super) score: bool,
    /// The others, also `id`.
    pub(super) names: Vec<String>,
}

/// What is highlighted.
#[derive(Debug)]
pub(super) struct Highlight {
    /// `None` for the default field.
    pub(super) fields: Option<Vec<String>>,
    pub(super) before: String,
    pub(super) after: String,
    /// Characters in a snippet; 0 for the whole text.
    pub(super) chars: usize,
    pub(super) own_words_only: bool,
    pub(super) is_html: bool,
}

/// The counts for a field's values.
#[derive(Debug)]
pub(super) struct FieldFacets {
    pub(super) field: String,
    /// The values to leave out.
    pub(super) skip: usize,
    /// The most values; `None` for all.
    pub(super) limit: Option<usize>,
    pub(super) count_min: u64,
    pub(super) by_value: bool,
    pub(super) prefix: String,
    pub(super) form: CountsForm,
}

impl Request {
    /// Reads the parameters.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that cannot be read; `Unsupported` for what is not served.
    pub(super) fn read(params: &Params) -> Result<Self> {
        params.check()?;
        let operator = match params.get("q.op") {
            None | Some("OR" | "or") => Operator::Or,
            Some("AND" | "and") => Operator::And,
            Some(other) => {
                return Err(Error::invalid(format!("invalid operator: q.op={other}")));
            }
        };
        let parse = |name: &str, text: &str| {
            LuceneQuery::parse(text, operator).map_err(|error| error.with_context(name))
        };
        let filters = params.all("fq").filter(|text| !text.trim().is_empty());
        let filters: Vec<_> = filters.map(|text| parse("fq", text)).collect::<Result<_>>()?;
        if filters.len() > SOLR_FILTERS_MAX {
            return Err(Error::invalid(format!("too many filters: max={SOLR_FILTERS_MAX}")));
        }
        let request = Self {
            query: parse("q", params.get("q").unwrap_or_default())?,
            filters,
            default_field: params.get("df").filter(|it| !it.is_empty()).map(str::to_owned),
            fields: Fields::read(params)?,
            start: number(params, "start")?.unwrap_or(0),
            rows: number(params, "rows")?.unwrap_or(ROWS_DEFAULT),
            sort: sort(params.get("sort").unwrap_or_default())?,
            cursor: params.get("cursorMark").map(str::to_owned),
            highlight: Highlight::read(params)?,
            facets: FieldFacets::read(params)?,
            has_facets: params.is_set("facet")?,
            has_header: !params.is_set("omitHeader")?,
        };
        request.check()?;
        Ok(request)
    }

    fn check(&self) -> Result<()> {
        if self.rows > SOLR_ROWS_MAX {
            let rows = self.rows;
            return Err(Error::invalid(format!(
                "too many rows of a page; go on with cursorMark: rows={rows}, max={SOLR_ROWS_MAX}"
            )));
        }
        if self.start.saturating_add(self.rows) > SOLR_DEPTH_MAX {
            let start = self.start;
            return Err(Error::invalid(format!(
                "the page is too deep; go on with cursorMark: start={start}, max={SOLR_DEPTH_MAX}"
            )));
        }
        if self.cursor.is_some() {
            // The messages are Solr's.
            if self.start > 0 {
                let message = "Cursor functionality requires start=0";
                return Err(Error::invalid(message));
            }
            if !self.sort.iter().any(|(name, _)| name == ROW_NAME) {
                return Err(Error::invalid(
                    "Cursor functionality requires a sort containing a uniqueKey field tie \
                     breaker: sort=…,id asc",
                ));
            }
        }
        Ok(())
    }

    /// Whether rows are ordered by their scores, maybe among others.
    pub(super) fn is_by_score(&self) -> bool {
        self.sort.iter().any(|(name, _)| name == SCORE)
    }

    /// The requested part of the ordered rows, without a cursor.
    pub(super) fn part(&self) -> PagePart<'static> {
        PagePart { after: None, skip: self.start, limit: self.rows }
    }

    /// The names of all fields that clauses are on, and of the fields that rows are ordered and
    /// counted by.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let queries = std::iter::once(&self.query).chain(&self.filters);
        let default_field = self.default_field.as_deref();
        let of_queries = queries.flat_map(LuceneQuery::fields);
        let of_queries = of_queries.filter_map(move |name| name.or(default_field));
        let of_sort = self.sort.iter().map(|(name, _)| &name[..]).filter(|name| *name != SCORE);
        of_queries.chain(of_sort).chain(self.facets.iter().map(|facet| &facet.field[..]))
    }
}

impl Fields {
    fn read(params: &Params) -> Result<Self> {
        let mut fields = Self::default();
        for name in params.all("fl").flat_map(field_names) {
            match name {
                "*" => fields.is_all = true,
                SCORE => fields.score = true,
                name if name.contains(['*', '?', '(', '[', ':', '$', '{', '"', '\'']) => {
                    return Err(Error::unsupported(format!(
                        "functions, aliases and patterns of fields are not served: fl={name}"
                    )));
                }
                name => fields.names.push(name.to_owned()),
            }
        }
        if fields.names.is_empty() && !fields.score {
            fields.is_all = true;
        }
        Ok(fields)
    }
}

impl Highlight {
    fn read(params: &Params) -> Result<Option<Self>> {
        if !params.is_set("hl")? {
            return Ok(None);
        }
        let names = params.all("hl.fl").flat_map(|list| list.split([',', ' ']));
        let names: Vec<_> = names.filter(|it| !it.is_empty()).map(str::to_owned).collect();
        let tag = |one: &str, other: &str, default: &str| {
            let mark = params.get(one).or(params.get(other)).unwrap_or(default);
            if mark.len() <= SOLR_MARK_BYTES_MAX {
                Ok(mark.to_owned())
            } else {
                Err(Error::invalid(format!(
                    "the mark of words is too long: {other}, len={}, max={SOLR_MARK_BYTES_MAX}",
                    mark.len()
                )))
            }
        };
        Ok(Some(Self {
            fields: Some(names).filter(|names| !names.is_empty()),
            before: tag("hl.tag.pre", "hl.simple.pre", "<em>")?,
            after: tag("hl.tag.post", "hl.simple.post", "</em>")?,
            chars: number(params, "hl.fragsize")?.unwrap_or(100),
            own_words_only: params.is_set("hl.requireFieldMatch")?,
            is_html: params.get("hl.encoder") == Some("html"),
        }))
    }
}

impl FieldFacets {
    fn read(params: &Params) -> Result<Vec<Self>> {
        if !params.is_set("facet")? {
            return Ok(Vec::new());
        }
        let form = match params.get("json.nl") {
            None | Some("flat") => CountsForm::Flat,
            Some("map") => CountsForm::Map,
            Some("arrarr") => CountsForm::Pairs,
            Some(other) => {
                return Err(Error::unsupported(format!(
                    "this form is not served: json.nl={other}"
                )));
            }
        };
        let facets = params.all("facet.field").map(|field| {
            if field.starts_with("{!") {
                let message = format!("local parameters are not served: facet.field={field}");
                return Err(Error::unsupported(message));
            }
            let value = |name: &str| params.of_field(field, name);
            let bad =
                |name: &str, text: &str| Error::invalid(format!("invalid number: {name}={text}"));
            let limit = value("facet.limit").unwrap_or("100");
            let limit = limit.parse::<i64>().map_err(|_| bad("facet.limit", limit))?;
            let limit = usize::try_from(limit).ok();
            let number = |name: &str| {
                let text = value(name).unwrap_or("0");
                text.parse::<u64>().map_err(|_| bad(name, text))
            };
            Ok(Self {
                field: field.to_owned(),
                skip: usize::try_from(number("facet.offset")?).unwrap_or(usize::MAX),
                limit,
                count_min: number("facet.mincount")?,
                // Solr's default depends on the limit.
                by_value: match value("facet.sort") {
                    Some(order) => matches!(order, "index" | "false"),
                    None => limit.is_none(),
                },
                prefix: value("facet.prefix").unwrap_or_default().to_owned(),
                form,
            })
        });
        facets.collect()
    }
}

/// Splits a field list at commas and spaces outside brackets and quotes: a function argument is no
/// field.
fn field_names(list: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut begin = 0;
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        let is_end = at == list.len();
        match c {
            _ if is_end => {}
            _ if quote.is_some() => quote = quote.filter(|open| *open != c),
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if is_end || quote.is_none() && depth == 0 && (c == ',' || c.is_whitespace()) {
            names.push(&list[begin..at]);
            begin = at + c.len_utf8();
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn number(params: &Params, name: &str) -> Result<Option<usize>> {
    let Some(text) = params.get(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(Error::invalid(format!("invalid number: {name}={text}"))),
    }
}

/// Reads an order: names with directions, separated by commas.
fn sort(text: &str) -> Result<Vec<(String, Direction)>> {
    if text.trim().is_empty() {
        return Ok(vec![(SCORE.to_owned(), Direction::Reverse)]);
    }
    if text.contains('(') {
        return Err(Error::unsupported(format!("functions of fields are not served: sort={text}")));
    }
    let key = |key: &str| {
        let mut words = key.split_ascii_whitespace();
        let bad = || Error::invalid(format!("an order is `NAME asc` or `NAME desc`: sort={text}"));
        let (Some(name), Some(direction), None) = (words.next(), words.next(), words.next()) else {
            return Err(bad());
        };
        let direction = match direction {
            "asc" => Direction::Forward,
            "desc" => Direction::Reverse,
            _ => return Err(bad()),
        };
        Ok((name.to_owned(), direction))
    };
    text.split(',').map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Request> {
        let mut params = Params::default();
        params.add_query(query).unwrap();
        Request::read(&params)
    }

    fn refused(query: &str) -> String {
        read(query).unwrap_err().message().to_owned()
    }

    #[test]
    fn parameters_have_solrs_defaults() {
        let request = read("q=a").unwrap();
        assert_eq!((request.start, request.rows), (0, 10));
        assert_eq!(request.sort, [("score".to_owned(), Direction::Reverse)]);
        assert_eq!(request.fields, Fields { is_all: true, ..Fields::default() });
        assert!(request.highlight.is_none() && request.facets.is_empty());
        let request = read("q=a&fl=id,score&fl=size&rows=0&facet=on&facet.field=size").unwrap();
        assert!(request.fields.score && !request.fields.is_all);
        assert_eq!(request.fields.names, ["id", "size"]);
        let facet = &request.facets[0];
        assert_eq!((facet.limit, facet.count_min, facet.by_value), (Some(100), 0, false));
        let request =
            read("facet=true&facet.field=a&f.a.facet.limit=-1&f.a.facet.mincount=1").unwrap();
        let facet = &request.facets[0];
        assert_eq!((facet.limit, facet.count_min, facet.by_value), (None, 1, true));
    }

    #[test]
    fn unsupported_parameters_are_refused_by_name_and_value() {
        for (query, message) in [
            (
                "q=a&group=true",
                "this value of a parameter is not served: group=true, served=false, off, 0, ",
            ),
            ("q=a&json.facet={}", "this parameter is not served: json.facet={}"),
            ("q=a&unknown=1", "this parameter is not served: unknown=1"),
            (
                "q=a&defType=edismax",
                "this value of a parameter is not served: defType=edismax, served=lucene, ",
            ),
            ("q=a&wt=xml", "this value of a parameter is not served: wt=xml, served=json, javabin"),
            (
                "q={!term f=a}b",
                "q: other query parsers (`{!…}`) are not supported: offset=0\n  {!term f=a}b\n  ^",
            ),
            ("q=a&rows=x", "invalid number: rows=x"),
            ("q=a&rows=-1", "invalid number: rows=-1"),
            ("facet=on&facet.field=a&facet.limit=x", "invalid number: facet.limit=x"),
            ("facet=on&facet.field=a&f.a.facet.offset=-2", "invalid number: facet.offset=-2"),
            ("q=a&sort=size", "an order is `NAME asc` or `NAME desc`: sort=size"),
            (
                "q=a&fl=sum(a,b)",
                "functions, aliases and patterns of fields are not served: fl=sum(a,b)",
            ),
            (
                "q=a&fl=id, n:termfreq('b', \"a b\") [child q='a,b']",
                "functions, aliases and patterns of fields are not served: fl=n:termfreq('b', \"a b\")",
            ),
            (
                "q=a&sort=sum(a, b) desc,id asc",
                "functions of fields are not served: sort=sum(a, b) desc,id asc",
            ),
            (
                "q=a&cursorMark=*",
                "Cursor functionality requires a sort containing a uniqueKey field tie breaker: sort=…,id asc",
            ),
            ("q=a&cursorMark=*&sort=id asc&start=1", "Cursor functionality requires start=0"),
            ("q=a&hl=maybe", "invalid boolean value: hl=maybe"),
        ] {
            assert_eq!(refused(query), message, "{query}");
        }
        assert!(refused("rows=10001").contains("rows=10001, max=10000"));
        assert!(refused("rows=10&start=99999").contains("start=99999, max=100000"));
    }
}
