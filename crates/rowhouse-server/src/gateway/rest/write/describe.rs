//! Descriptions of tables, namespaces and the cluster, which are small.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::gateway::rest::media::Media;

/// How HBase's documents begin.
pub(super) const XML_HEADER: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>";

/// What is described in every media type.
pub(in crate::gateway::rest) trait Describe {
    fn text(&self) -> String;
    /// The element, without [`XML_HEADER`].
    fn xml(&self) -> String;
    fn json(&self) -> Value;
    fn protobuf(&self) -> Vec<u8>;
}

/// Answers with a description.
pub(in crate::gateway::rest) fn description(media: Media, of: &impl Describe) -> Response {
    let body = match media {
        Media::Text | Media::Binary => of.text().into_bytes(),
        Media::Xml => format!("{XML_HEADER}{}", of.xml()).into_bytes(),
        Media::Json => of.json().to_string().into_bytes(),
        Media::Protobuf | Media::ProtobufIetf => of.protobuf(),
    };
    ([(CONTENT_TYPE, media.name())], body).into_response()
}

/// Escapes text for XML.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' | '\n' | '\r' => escaped += &format!("&#{};", u32::from(char)),
            // XML 1.0 has no other control characters.
            char if char.is_control() => escaped.push('\u{fffd}'),
            char => escaped.push(char),
        }
    }
    escaped
}

/// Writes an attribute.
pub(super) fn attribute(name: &str, value: impl std::fmt::Display) -> String {
    format!(" {name}=\"{}\"", escaped(&value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_escaped() {
        assert_eq!(attribute("a", "<\"&\n\u{1}>"), " a=\"&lt;&quot;&amp;&#10;\u{fffd}&gt;\"");
    }
}
