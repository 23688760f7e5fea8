//! Parameters in Solr requests.

use std::time::Instant;

use rowhouse_model::{Error, Result};

use super::answer::Data;
use crate::http::form;
use crate::limits::SOLR_PARAMS_MAX;

/// A request's parameters, in order. A name may come several times.
#[derive(Clone, Debug, Default)]
pub(super) struct Params(Vec<(String, String)>);

/// What is done with a parameter.
enum Effect {
    /// [`super::request`] reads it.
    Served,
    /// It does not change answers.
    Ignored,
    /// These values do not change answers. Others are refused.
    Only(&'static [&'static str]),
}

use Effect::{Ignored, Only, Served};

const OFF: Effect = Only(&["false", "off", "0", ""]);
const ON: Effect = Only(&["true", "on"]);

/// All parameters that are accepted. Any other one is refused: it might change the answer.
const PARAMS: &[(&str, Effect)] = &[
    ("q", Served),
    ("fq", Served),
    ("q.op", Served),
    ("df", Served),
    ("fl", Served),
    ("rows", Served),
    ("start", Served),
    ("sort", Served),
    ("cursorMark", Served),
    ("wt", Only(&["json", "javabin"])),
    ("indent", Served),
    ("omitHeader", Served),
    ("echoParams", Only(&["none", "explicit", "all"])),
    ("json.nl", Served),
    ("hl", Served),
    ("hl.fl", Served),
    ("hl.fragsize", Served),
    ("hl.simple.pre", Served),
    ("hl.simple.post", Served),
    ("hl.tag.pre", Served),
    ("hl.tag.post", Served),
    ("hl.requireFieldMatch", Served),
    ("hl.encoder", Only(&["", "simple", "html"])),
    ("hl.snippets", Only(&["1"])),
    ("hl.method", Only(&["unified", "original", "fastVector"])),
    ("hl.usePhraseHighlighter", ON),
    ("hl.highlightMultiTerm", ON),
    ("hl.mergeContiguous", OFF),
    ("hl.maxAnalyzedChars", Ignored),
    ("facet", Served),
    ("facet.field", Served),
    ("facet.limit", Served),
    ("facet.mincount", Served),
    ("facet.offset", Served),
    ("facet.sort", Only(&["count", "index", "true", "false"])),
    ("facet.prefix", Served),
    ("facet.missing", OFF),
    ("facet.method", Ignored),
    ("facet.threads", Ignored),
    ("facet.enum.cache.minDf", Ignored),
    ("facet.overrequest.count", Ignored),
    ("facet.overrequest.ratio", Ignored),
    ("defType", Only(&["lucene", ""])),
    ("qt", Only(&["/select", "select", ""])),
    ("sow", ON),
    ("TZ", Only(&["UTC", "GMT", ""])),
    // The server's own time limit holds.
    ("timeAllowed", Ignored),
    ("segmentTerminateEarly", Ignored),
    ("minExactCount", Ignored),
    ("multiThreaded", Ignored),
    ("version", Ignored),
    ("_", Ignored),
    ("_stateVer_", Ignored),
    ("NOW", Ignored),
    ("distrib", Ignored),
    ("shards.tolerant", Ignored),
    ("shards.preference", Ignored),
    ("preferLocalShards", Ignored),
    ("logParamsList", Ignored),
    ("debug", OFF),
    ("debugQuery", OFF),
    ("group", OFF),
    ("stats", OFF),
    ("mlt", OFF),
    ("spellcheck", OFF),
    ("terms", OFF),
    ("tv", OFF),
    ("expand", OFF),
    ("clustering", OFF),
    ("facet.query", Only(&[])),
    ("facet.range", Only(&[])),
    ("facet.pivot", Only(&[])),
    ("json.facet", Only(&[])),
    ("json.wrf", Only(&[])),
    ("boost", Only(&[])),
];

/// One field's parameters: `f.FIELD.NAME`.
const OF_FIELDS: &[&str] =
    &["facet.limit", "facet.mincount", "facet.offset", "facet.sort", "facet.prefix"];

impl Params {
    /// Adds the names and values in a query string or a form.
    pub(super) fn add_query(&mut self, query: &str) -> Result<()> {
        let pairs = form::pairs(query)?;
        if self.0.len() + pairs.len() > SOLR_PARAMS_MAX {
            return Err(Error::invalid(format!(
                "too many parameters: {}, max={SOLR_PARAMS_MAX}",
                self.0.len() + pairs.len()
            )));
        }
        self.0.extend(pairs);
        Ok(())
    }

    /// Adds the parameter that names the answer form, if a text has it that cannot be read
    /// otherwise.
    pub(super) fn add_answer_form(&mut self, text: &[u8]) {
        let mut pairs = text.split(|byte| *byte == b'&');
        let form = pairs.find_map(|pair| pair.strip_prefix(b"wt="));
        let form = form.and_then(|form| std::str::from_utf8(form).ok());
        self.0.extend(form.map(|form| ("wt".to_owned(), form.to_owned())));
    }

    /// Refuses parameters that are not served, by their names and values.
    pub(super) fn check(&self) -> Result<()> {
        for (name, value) in &self.0 {
            if let Some(rest) = name.strip_prefix("f.")
                && let Some(of_field) = OF_FIELDS.iter().find(|of| rest.ends_with(*of))
            {
                self.check_value(of_field, name, value)?;
                continue;
            }
            self.check_value(name, name, value)?;
        }
        Ok(())
    }

    fn check_value(&self, known: &str, name: &str, value: &str) -> Result<()> {
        let effect = PARAMS.iter().find(|(of, _)| *of == known).map(|(_, effect)| effect);
        match effect {
            Some(Served | Ignored) => Ok(()),
            Some(Only(values)) if values.contains(&value) => Ok(()),
            Some(Only(values)) if !values.is_empty() => Err(Error::unsupported(format!(
                "this value of a parameter is not served: {name}={value}, served={}",
                values.join(", ")
            ))),
            _ => Err(Error::unsupported(format!("this parameter is not served: {name}={value}"))),
        }
    }

    /// Returns a parameter's first value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(of, _)| of == name).map(|(_, value)| &value[..])
    }

    /// Returns a parameter's value for one field.
    pub(super) fn of_field(&self, field: &str, name: &str) -> Option<&str> {
        self.get(&format!("f.{field}.{name}")).or_else(|| self.get(name))
    }

    /// Returns all values for a parameter.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(of, _)| of == name).map(|(_, value)| &value[..])
    }

    /// Returns true if a parameter is set, as Solr reads truth values.
    ///
    /// # Errors
    /// `InvalidRequest` for another value.
    pub(super) fn is_set(&self, name: &str) -> Result<bool> {
        match self.get(name) {
            None | Some("false" | "off" | "no" | "") => Ok(false),
            Some("true" | "on" | "yes") => Ok(true),
            Some(value) => Err(Error::invalid(format!("invalid boolean value: {name}={value}"))),
        }
    }

    /// Returns an answer's beginning, unless the client does not want it.
    pub(super) fn header(&self, status: i32, started: Instant) -> (String, Data) {
        let millis = i32::try_from(started.elapsed().as_millis()).unwrap_or(i32::MAX);
        let mut header =
            vec![("status".to_owned(), Data::Int(status)), ("QTime".to_owned(), Data::Int(millis))];
        if self.get("echoParams") != Some("none") {
            header.push(("params".to_owned(), self.echoed()));
        }
        ("responseHeader".to_owned(), Data::Named(header))
    }

    fn echoed(&self) -> Data {
        let mut echoed: Vec<(String, Data)> = Vec::new();
        for (name, _) in &self.0 {
            if echoed.iter().any(|(other, _)| other == name) {
                continue;
            }
            let mut values: Vec<_> = self.all(name).map(Data::text).collect();
            let data = if values.len() == 1 { values.remove(0) } else { Data::List(values) };
            echoed.push((name.clone(), data));
        }
        Data::Named(echoed)
    }
}
