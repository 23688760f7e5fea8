//! Media types: what a client accepts, and what it sends.

/// A media type of HBase's REST interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Text,
    Xml,
    Json,
    Protobuf,
    /// As [`Media::Protobuf`], under the registered name.
    ProtobufIetf,
    Binary,
}

use Media::{Binary, Json, Protobuf, ProtobufIetf, Text, Xml};

/// Rows, in the order in which HBase offers them.
pub(super) const OF_ROWS: &[Media] = &[Xml, Json, Protobuf, ProtobufIetf];
/// A cell's value, or rows.
pub(super) const OF_CELLS: &[Media] = &[Xml, Json, Protobuf, ProtobufIetf, Binary];
/// Descriptions of tables, namespaces and the cluster.
pub(super) const OF_DESCRIPTIONS: &[Media] = &[Text, Xml, Json, Protobuf, ProtobufIetf];
/// The cluster's version.
pub(super) const OF_CLUSTER_VERSION: &[Media] = &[Text, Xml, Json];
/// An answer without a body.
pub(super) const OF_EXISTENCE: &[Media] = &[Text, Xml, Json, Protobuf, ProtobufIetf, Binary];

impl Media {
    const ALL: [Self; 6] = [Text, Xml, Json, Protobuf, ProtobufIetf, Binary];

    pub(super) fn name(self) -> &'static str {
        match self {
            Text => "text/plain",
            Xml => "text/xml",
            Json => "application/json",
            Protobuf => "application/x-protobuf",
            ProtobufIetf => "application/protobuf",
            Binary => "application/octet-stream",
        }
    }

    /// Returns the media type of a request's body; `None` for one that is not known here.
    pub(super) fn of_body(content_type: &str) -> Option<Self> {
        let name = content_type.split(';').next().unwrap_or_default().trim();
        Self::ALL.into_iter().find(|media| media.name().eq_ignore_ascii_case(name))
    }

    /// Returns which of the `produced` types an `Accept` header prefers: the greatest quality, then
    /// the most specific range, then the first. `None` if it accepts none.
    pub(super) fn accepted(header: &str, produced: &[Self]) -> Option<Self> {
        let mut best: Option<(Self, (f32, u8))> = None;
        let header = if header.trim().is_empty() { "*/*" } else { header };
        for range in header.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            let quality = quality.unwrap_or(1.0);
            let found = produced.iter().find(|media| is_in(media.name(), name));
            let Some(&media) = found.filter(|_| quality > 0.0) else { continue };
            let specific = if name == "*/*" { 0 } else { 1 + u8::from(!name.ends_with("/*")) };
            let rank = (quality, specific);
            if best.is_none_or(|(_, greatest)| rank > greatest) {
                best = Some((media, rank));
            }
        }
        best.map(|(media, _)| media)
    }
}

/// Returns true if a media type is in a range: `*/*`, `text/*` or a name.
fn is_in(name: &str, range: &str) -> bool {
    match range.strip_suffix("/*") {
        Some("*") => true,
        Some(group) => name.split('/').next().is_some_and(|it| it.eq_ignore_ascii_case(group)),
        None => name.eq_ignore_ascii_case(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_then_precision_then_order_decide() {
        // What Apache HBase 2.6.1 answers.
        for (accept, expected) in [
            ("", Some(Xml)),
            ("*/*", Some(Xml)),
            ("*/*, application/json;q=0.1", Some(Xml)),
            ("application/json;q=0.1, text/xml;q=0.9", Some(Xml)),
            ("application/json, text/xml", Some(Json)),
            ("text/xml, application/json", Some(Xml)),
            ("application/*", Some(Json)),
            ("application/*, text/xml;q=0.5", Some(Json)),
            ("application/octet-stream, application/json", Some(Binary)),
            ("text/html,application/xml;q=0.9,*/*;q=0.8", Some(Xml)),
            ("application/x-protobuf", Some(Protobuf)),
            ("application/protobuf", Some(ProtobufIetf)),
            ("APPLICATION/JSON; charset=utf-8", Some(Json)),
            ("*/*;q=0.5, application/json;q=0.5", Some(Json)),
            ("image/png, application/json;q=0.2", Some(Json)),
            ("application/xml", None),
            ("image/png", None),
            ("application/json;q=0", None),
        ] {
            assert_eq!(Media::accepted(accept, OF_CELLS), expected, "{accept}");
        }
        assert_eq!(Media::accepted("*/*", OF_DESCRIPTIONS), Some(Text));
    }

    #[test]
    fn a_body_has_a_known_type() {
        assert_eq!(Media::of_body("application/json; charset=UTF-8"), Some(Json));
        assert_eq!(Media::of_body("Text/XML"), Some(Xml));
        assert_eq!(Media::of_body(""), None);
        assert_eq!(Media::of_body("application/x-www-form-urlencoded"), None);
    }
}
