//! Who reads a page: the language, and the address with the parameters.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Query};
use axum::http::header::ACCEPT_LANGUAGE;
use axum::http::request::Parts;

use super::words::Text;

/// The page languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lang {
    En,
    Zh,
}

impl Lang {
    /// The name in `lang` attributes.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }

    /// Returns the `lang` parameter's value.
    pub(super) fn param(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Returns the language that comes first in an `Accept-Language` header; English if it names
    /// neither.
    fn accepted(header: &str) -> Self {
        let mut best = (Self::En, 0.0);
        for choice in header.split(',') {
            let mut parts = choice.split(';').map(str::trim);
            let tag = parts.next().unwrap_or_default().to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            let lang = match tag.split('-').next() {
                Some("zh") => Self::Zh,
                Some("en") => Self::En,
                _ => continue,
            };
            let weight = weight.unwrap_or(1.0);
            if weight > best.1 {
                best = (lang, weight);
            }
        }
        best.0
    }
}

/// A page's reader.
pub(super) struct Reader {
    pub(super) lang: Lang,
    /// The language, if the address has it. Links keep it.
    chosen: Option<Lang>,
    path: String,
    params: Vec<(String, String)>,
}

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let params = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let params = params.map(|Query(params)| params).unwrap_or_default();
        let accepted = parts.headers.get(ACCEPT_LANGUAGE).and_then(|it| it.to_str().ok());
        Ok(Self::new(parts.uri.path(), params, accepted.unwrap_or_default()))
    }
}

impl Reader {
    pub(super) fn new(path: &str, params: Vec<(String, String)>, accepted: &str) -> Self {
        let chosen = params.iter().find(|(name, _)| name == "lang");
        let chosen = chosen.and_then(|(_, value)| match &value[..] {
            "zh" => Some(Lang::Zh),
            "en" => Some(Lang::En),
            _ => None,
        });
        let lang = chosen.unwrap_or_else(|| Lang::accepted(accepted));
        Self { lang, chosen, path: path.to_owned(), params }
    }

    /// Returns the reader with a form's fields as parameters. They have the language if the address
    /// has none.
    pub(super) fn with_fields(&self, fields: &[(String, String)]) -> Self {
        let of_form = Self::new(&self.path, fields.to_vec(), "");
        let chosen = self.chosen.or(of_form.chosen);
        Self { lang: chosen.unwrap_or(self.lang), chosen, ..of_form }
    }

    /// Returns a text in the reader's language.
    pub(super) fn text(&self, text: Text) -> &'static str {
        match self.lang {
            Lang::En => text.en,
            Lang::Zh => text.zh,
        }
    }

    /// Returns an address parameter; empty if it is not there.
    pub(super) fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value)
    }

    /// Returns the language for a hidden form field.
    pub(super) fn chosen_lang(&self) -> Option<&'static str> {
        self.chosen.map(Lang::param)
    }

    /// Returns a page's address in the reader's language. `path` is escaped already.
    pub(super) fn link(&self, path: &str, params: &[(&str, &str)]) -> String {
        let lang = self.chosen_lang().map(|lang| ("lang", lang));
        address(path, params.iter().copied().chain(lang))
    }

    /// Returns this page's address in a language.
    pub(super) fn link_in(&self, lang: Lang) -> String {
        let others = self.params.iter().filter(|(name, _)| name != "lang");
        let others = others.map(|(name, value)| (&name[..], &value[..]));
        address(&self.path, others.chain([("lang", lang.param())]))
    }
}

fn address<'a>(path: &str, params: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut address = path.to_owned();
    for (at, (name, value)) in params.enumerate() {
        address.push(if at == 0 { '?' } else { '&' });
        address += &format!("{}={}", escaped(name), escaped(value));
    }
    address
}

/// Returns a number in the address, such as a time; `None` if it is not there.
///
/// # Errors
/// `InvalidRequest` for another text.
pub(super) fn millis_param(reader: &Reader, name: &str) -> rowhouse_model::Result<Option<i64>> {
    match reader.param(name) {
        "" => Ok(None),
        text => match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(rowhouse_model::Error::invalid(format!("not a number: {name}={text}"))),
        },
    }
}

/// Escapes an address part.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            byte => escaped += &format!("%{byte:02X}"),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_that_of_the_address_or_the_first_that_is_accepted() {
        let lang = |param: &str, accepted: &str| {
            Reader::new("/", vec![("lang".to_owned(), param.to_owned())], accepted).lang
        };
        for (param, accepted, expected) in [
            ("", "", Lang::En),
            ("", "fr, de;q=0.9", Lang::En),
            ("", "zh-CN,zh;q=0.9,en;q=0.8", Lang::Zh),
            ("", "en;q=0.5, zh-TW;q=0.7", Lang::Zh),
            ("", "en-GB, zh", Lang::En),
            ("", "zh;q=0", Lang::En),
            ("en", "zh", Lang::En),
            ("zh", "en", Lang::Zh),
            ("xx", "zh", Lang::Zh),
        ] {
            assert_eq!(lang(param, accepted), expected, "{param:?} {accepted:?}");
        }
    }

    #[test]
    fn links_keep_the_chosen_language_and_escape_their_parts() {
        let params = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let unset = Reader::new("/query", params(&[("q", "a = 'b&c'")]), "zh");
        assert_eq!(unset.link("/tasks", &[]), "/tasks");
        assert_eq!(unset.link_in(Lang::En), "/query?q=a%20%3D%20%27b%26c%27&lang=en");
        let chosen = Reader::new("/", params(&[("lang", "zh"), ("x", "分")]), "");
        assert_eq!(chosen.link("/tasks", &[("a", "b")]), "/tasks?a=b&lang=zh");
        assert_eq!(chosen.link_in(Lang::En), "/?x=%E5%88%86&lang=en");
    }
}
