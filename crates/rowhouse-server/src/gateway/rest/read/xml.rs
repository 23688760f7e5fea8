//! XML, as far as HBase's models use it: elements, attributes and text. Documents with a DOCTYPE
//! are refused: entities could make them grow.

use bytes::Bytes;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use rowhouse_model::{Error, Result};

use super::decoded::{base64, text};
use crate::gateway::rest::model::{Budget, CellModel, CellSet, RowModel};

/// An element's start.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// Prefixes of namespaces have no meaning in the models.
    fn read(start: &BytesStart<'_>) -> Result<Self> {
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(malformed)?;
            if attributes.len() == ATTRIBUTES_MAX {
                return Err(malformed(format!("more than {ATTRIBUTES_MAX} attributes")));
            }
            let name = attribute.key.as_ref();
            if !name.starts_with("xmlns") {
                let value = attribute.normalized_value(XmlVersion::Explicit1_0);
                attributes.push((name.to_owned(), value.map_err(malformed)?.into_owned()));
            }
        }
        Ok(Self { name: start.local_name().as_ref().to_owned(), attributes })
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(of, _)| of == name).map(|(_, value)| &value[..])
    }

    pub(super) fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|(name, value)| (&name[..], &value[..]))
    }
}

/// A document's next part.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Start(Tag),
    /// The current element's end.
    End,
    Text(String),
}

/// A document that is read part by part.
pub(super) struct Reader<'t> {
    xml: quick_xml::Reader<&'t [u8]>,
    /// The number of open elements.
    depth: usize,
}

fn malformed(why: impl std::fmt::Display) -> Error {
    Error::invalid(format!("not XML: {why}"))
}

/// Elements inside one another.
const DEPTH_MAX: usize = 16;
/// Attributes in an element.
const ATTRIBUTES_MAX: usize = 1000;

impl<'t> Reader<'t> {
    pub(super) fn new(body: &'t [u8]) -> Result<Self> {
        let mut xml = quick_xml::Reader::from_str(text(body)?.trim_start_matches('\u{feff}'));
        xml.config_mut().expand_empty_elements = true;
        Ok(Self { xml, depth: 0 })
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
    fn next(&mut self) -> Result<Option<Part>> {
        loop {
            let content = match self.xml.read_event().map_err(malformed)? {
                Event::Start(_) | Event::Empty(_) if self.depth == DEPTH_MAX => {
                    return Err(malformed(format!("more than {DEPTH_MAX} nested elements")));
                }
                Event::Start(start) | Event::Empty(start) => {
                    self.depth += 1;
                    return Tag::read(&start).map(Part::Start).map(Some);
                }
                Event::End(_) => {
                    self.depth -= 1;
                    return Ok(Some(Part::End));
                }
                Event::Text(content) => content.into_inner().into_owned(),
                Event::CData(content) => content.into_inner().into_owned(),
                Event::GeneralRef(reference) => replacement(&reference)?,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => continue,
                Event::DocType(_) => return Err(malformed("a DOCTYPE is not accepted")),
                Event::Eof if self.depth > 0 => return Err(malformed("an element does not end")),
                Event::Eof => return Ok(None),
            };
            if self.depth > 0 {
                return Ok(Some(Part::Text(content)));
            }
            if !content.trim().is_empty() {
                return Err(malformed("text outside elements"));
            }
        }
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
                    return Err(malformed(format!("unexpected element {}", tag.name)));
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

/// Returns what a character reference or one of XML's five entities stands for.
fn replacement(reference: &BytesRef<'_>) -> Result<String> {
    if let Some(character) = reference.resolve_char_ref().map_err(malformed)? {
        return Ok(character.to_string());
    }
    let name: &str = reference;
    let known = resolve_predefined_entity(name);
    known.map(str::to_owned).ok_or_else(|| malformed(format!("unknown entity: {name}")))
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
            return Err(malformed(format!("unexpected element {}", tag.name)));
        }
        let mut row =
            RowModel { key: tag.attribute("key").map(base64).transpose()?, ..RowModel::default() };
        while let Some(tag) = reader.child()? {
            if tag.name != "Cell" {
                return Err(malformed(format!("unexpected element {}", tag.name)));
            }
            let millis = tag.attribute("timestamp").map(|text| {
                let millis = text.trim().parse::<i64>();
                millis.map_err(|_| malformed(format!("not a timestamp: {text}")))
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
        let content = |text: &str| {
            let document = format!("<a>{text}</a>");
            let mut reader = Reader::new(document.as_bytes())?;
            reader.root("a")?;
            reader.text()
        };
        assert_eq!(content("a&lt;&#98;&#x63;&amp;&quot;&apos;&gt;").unwrap(), "a<bc&\"'>");
        for text in ["&", "&lt", "&other;", "&#xd800;", "&#;"] {
            assert!(content(text).is_err(), "{text}");
        }
        let mut reader = Reader::new(b"<p:a x='&lt;&#98;' xmlns:p='y'/>").unwrap();
        assert_eq!(reader.root("a").unwrap().attributes().collect::<Vec<_>>(), [("x", "<b")]);
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
