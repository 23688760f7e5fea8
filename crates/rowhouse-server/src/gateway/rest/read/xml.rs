//! XML, as far as HBase's models use it: elements, attributes and text. Documents with a DOCTYPE
//! are refused: entities could make them grow.

use bytes::Bytes;
use rowhouse_model::{Error, Result};

use super::decoded::{base64, text};
use crate::gateway::rest::model::{Budget, CellModel, CellSet, RowModel};

/// An element's start.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    /// It ends at once.
    is_empty: bool,
}

impl Tag {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(of, _)| of == name).map(|(_, value)| &value[..])
    }

    pub(super) fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|(name, value)| (&name[..], &value[..]))
    }
}

/// A document's next part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Start(Tag),
    /// The current element's end.
    End,
    Text(String),
}

/// A document that is read part by part.
pub(super) struct Reader<'t> {
    rest: &'t str,
    /// The open elements.
    open: Vec<String>,
    /// The current element was empty: its end comes next.
    ends: bool,
}

fn malformed(why: &str) -> Error {
    Error::invalid(format!("not XML: {why}"))
}

/// Elements inside one another.
const DEPTH_MAX: usize = 16;
/// Attributes in an element.
const ATTRIBUTES_MAX: usize = 1000;

impl<'t> Reader<'t> {
    pub(super) fn new(body: &'t [u8]) -> Result<Self> {
        Ok(Self { rest: text(body)?.trim_start_matches('\u{feff}'), open: Vec::new(), ends: false })
    }

    /// Returns the outermost element's start.
    ///
    /// # Errors
    /// `InvalidRequest` for another name.
    pub(super) fn root(&mut self, name: &str) -> Result<Tag> {
        match self.next()? {
            Some(Part::Start(tag)) if tag.name == name => Ok(tag),
            _ => Err(Error::invalid(format!("not an element {name}"))),
        }
    }

    /// Returns the next part; `None` at the document's end. Text outside elements is an error.
    pub(super) fn next(&mut self) -> Result<Option<Part>> {
        if std::mem::take(&mut self.ends) {
            self.open.pop();
            return Ok(Some(Part::End));
        }
        loop {
            if self.rest.is_empty() {
                return match self.open.last() {
                    Some(name) => Err(malformed(&format!("<{name}> does not end"))),
                    None => Ok(None),
                };
            }
            let Some(markup) = self.rest.strip_prefix('<') else {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                let (content, rest) = self.rest.split_at(end);
                self.rest = rest;
                if self.open.is_empty() && !content.trim().is_empty() {
                    return Err(malformed("text outside elements"));
                }
                if self.open.is_empty() {
                    continue;
                }
                return Ok(Some(Part::Text(unescaped(content)?)));
            };
            let past = |rest: &'t str, end: &str, what: &str| match rest.split_once(end) {
                Some(parts) => Ok(parts),
                None => Err(malformed(&format!("{what} does not end"))),
            };
            if let Some(comment) = markup.strip_prefix("!--") {
                self.rest = past(comment, "-->", "a comment")?.1;
            } else if let Some(data) = markup.strip_prefix("![CDATA[") {
                let (content, rest) = past(data, "]]>", "CDATA")?;
                self.rest = rest;
                return Ok(Some(Part::Text(content.to_owned())));
            } else if let Some(instruction) = markup.strip_prefix('?') {
                self.rest = past(instruction, "?>", "an instruction")?.1;
            } else if markup.starts_with('!') {
                return Err(malformed("a DOCTYPE is not accepted"));
            } else if let Some(end) = markup.strip_prefix('/') {
                let (name, rest) = past(end, ">", "a tag")?;
                self.rest = rest;
                return match self.open.pop() {
                    Some(open) if open == name.trim_end() => Ok(Some(Part::End)),
                    _ => Err(malformed(&format!("</{name}> ends nothing"))),
                };
            } else {
                return self.start(markup).map(Some);
            }
        }
    }

    /// Reads the element that starts here.
    fn start(&mut self, markup: &'t str) -> Result<Part> {
        if self.open.len() == DEPTH_MAX {
            return Err(malformed(&format!("more than {DEPTH_MAX} elements inside one another")));
        }
        let end = markup.find(|char: char| char.is_whitespace() || "/>".contains(char));
        let (name, mut rest) = markup.split_at(end.ok_or_else(|| malformed("a tag does not end"))?);
        if name.is_empty() || name.contains(['<', '"', '=', '&']) {
            return Err(malformed("an element without a name"));
        }
        // Prefixes of namespaces have no meaning in the models.
        let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
        let mut tag = Tag { name: local.to_owned(), ..Tag::default() };
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix("/>") {
                tag.is_empty = true;
                self.rest = after;
                break;
            }
            if let Some(after) = rest.strip_prefix('>') {
                self.rest = after;
                break;
            }
            let (attribute, after) =
                rest.split_once('=').ok_or_else(|| malformed("an attribute without a value"))?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|char| ['"', '\''].contains(char));
            let quote = quote.ok_or_else(|| malformed("a value without quotes"))?;
            let (value, after) =
                after[1..].split_once(quote).ok_or_else(|| malformed("a value does not end"))?;
            let attribute = attribute.trim_end();
            if attribute.is_empty()
                || attribute.contains(|char: char| char.is_whitespace() || "<>/\"'".contains(char))
            {
                return Err(malformed("an attribute without a name"));
            }
            if tag.attributes.len() == ATTRIBUTES_MAX {
                return Err(malformed(&format!("more than {ATTRIBUTES_MAX} attributes")));
            }
            if !attribute.starts_with("xmlns") {
                tag.attributes.push((attribute.to_owned(), unescaped(value)?));
            }
            rest = after;
        }
        self.open.push(name.to_owned());
        self.ends = tag.is_empty;
        Ok(Part::Start(tag))
    }

    /// Reads the current element's text up to the end.
    ///
    /// # Errors
    /// `InvalidRequest` for an element inside.
    pub(super) fn text(&mut self) -> Result<String> {
        let mut content = String::new();
        loop {
            match self.next()? {
                Some(Part::Text(text)) => content += &text,
                Some(Part::End) | None => return Ok(content),
                Some(Part::Start(tag)) => {
                    return Err(malformed(&format!("unexpected element {}", tag.name)));
                }
            }
        }
    }

    /// Returns the next element inside the current one; `None` at the end of that.
    ///
    /// # Errors
    /// `InvalidRequest` for text.
    pub(super) fn child(&mut self) -> Result<Option<Tag>> {
        loop {
            match self.next()? {
                Some(Part::Start(tag)) => return Ok(Some(tag)),
                Some(Part::End) | None => return Ok(None),
                Some(Part::Text(text)) if text.trim().is_empty() => {}
                Some(Part::Text(_)) => return Err(malformed("unexpected text")),
            }
        }
    }

    /// Reads past the end of the document.
    ///
    /// # Errors
    /// `InvalidRequest` for more elements.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(malformed("more than one element")),
        }
    }
}

/// Replaces the five entities of XML, and characters by number.
fn unescaped(text: &str) -> Result<String> {
    let mut content = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        content += before;
        let (name, after) =
            after.split_once(';').ok_or_else(|| malformed("an entity does not end"))?;
        let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok();
        let char = match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => match name.strip_prefix('#') {
                Some(digits) => match digits.strip_prefix('x') {
                    Some(hex) => number(hex, 16),
                    None => number(digits, 10),
                }
                .and_then(char::from_u32),
                None => None,
            },
        };
        content.push(char.ok_or_else(|| malformed(&format!("unknown entity: {name}")))?);
        rest = after;
    }
    content += rest;
    Ok(content)
}

/// Reads rows:
///
/// ```text
/// <CellSet><Row key="BASE64"><Cell column="BASE64" timestamp="1">BASE64</Cell></Row></CellSet>
/// ```
pub(in crate::gateway::rest) fn xml_cells(body: &Bytes, budget: &mut Budget) -> Result<CellSet> {
    let mut reader = Reader::new(body)?;
    reader.root("CellSet")?;
    let mut rows = Vec::new();
    while let Some(tag) = reader.child()? {
        if tag.name != "Row" {
            return Err(malformed(&format!("unexpected element {}", tag.name)));
        }
        let mut row =
            RowModel { key: tag.attribute("key").map(base64).transpose()?, ..RowModel::default() };
        while let Some(tag) = reader.child()? {
            if tag.name != "Cell" {
                return Err(malformed(&format!("unexpected element {}", tag.name)));
            }
            let millis = tag.attribute("timestamp").map(|text| {
                let millis = text.trim().parse::<i64>();
                millis.map_err(|_| malformed(&format!("not a timestamp: {text}")))
            });
            let cell = CellModel {
                column: tag.attribute("column").map(base64).transpose()?,
                timestamp: millis.transpose()?.filter(|&millis| millis != i64::MAX),
                value: base64(&reader.text()?)?,
            };
            let parts = cell.column.as_ref().map_or(0, |it| it.len()) + cell.value.len();
            budget.take(2 * parts)?;
            row.cells.push(cell);
        }
        budget.take_row(&row)?;
        rows.push(row);
    }
    reader.end()?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Result<CellSet> {
        xml_cells(&Bytes::from_static(text.as_bytes()), &mut Budget::new(1 << 20))
    }

    #[test]
    fn rows_are_read() {
        let rows = read(
            "<?xml version=\"1.0\"?><!-- rows --><CellSet>\n <Row key='cjE='>\
             <Cell column=\"YTpx\" timestamp=\"7\">djE=</Cell><Cell column='YTpx'/></Row>\n</CellSet>\n",
        );
        let rows = rows.unwrap();
        assert_eq!(rows[0].key.as_deref(), Some(&b"r1"[..]));
        let cell = |timestamp, value: &'static str| CellModel {
            column: Some("a:q".into()),
            timestamp,
            value: value.into(),
        };
        assert_eq!(rows[0].cells, [cell(Some(7), "v1"), cell(None, "")]);
        assert_eq!(read("<CellSet/>").unwrap(), []);
        assert_eq!(
            read("<CellSet><Row><Cell><![CDATA[dg==]]></Cell></Row></CellSet>").unwrap()[0].key,
            None
        );
    }

    #[test]
    fn entities_are_replaced() {
        assert_eq!(unescaped("a&lt;&#98;&#x63;&amp;&quot;&apos;&gt;").unwrap(), "a<bc&\"'>");
        for text in ["&", "&lt", "&other;", "&#xd800;", "&#;"] {
            assert!(unescaped(text).is_err(), "{text}");
        }
    }

    #[test]
    fn damaged_documents_are_refused() {
        for text in [
            "",
            "x",
            "<",
            "<CellSet",
            "<CellSet>",
            "<Other/>",
            "<CellSet/><CellSet/>",
            "<CellSet/>x",
            "<CellSet></Row>",
            "<CellSet><Row key=></Row></CellSet>",
            "<CellSet><Row key='cjE=></Row></CellSet>",
            "<CellSet><Row key='!'/></CellSet>",
            "<CellSet><Cell/></CellSet>",
            "<CellSet>text</CellSet>",
            "<CellSet><Row><Cell timestamp='x'/></Row></CellSet>",
            "<CellSet><Row><Cell><a/></Cell></Row></CellSet>",
            "<!DOCTYPE x [<!ENTITY a 'b'>]><CellSet/>",
            "<CellSet><!-- ",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let deep = "<a>".repeat(DEPTH_MAX + 1);
        let mut reader = Reader::new(deep.as_bytes()).unwrap();
        assert!((0..=DEPTH_MAX).any(|_| reader.next().is_err()));
    }
}
