//! The names and values in a query string or a form.

use rowhouse_model::{Error, Result};

/// Returns the names and values in `application/x-www-form-urlencoded`.
///
/// # Errors
/// `InvalidRequest` for a `%` without two hexadecimal digits, and for what is not UTF-8.
pub(crate) fn pairs(text: &str) -> Result<Vec<(String, String)>> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decoded(name)?, decoded(value)?))
    };
    text.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => (high * 16 + low) as u8,
                    _ => return Err(Error::invalid(format!("`%` without two digits: {text}"))),
                }
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes)
        .map_err(|_| Error::invalid(format!("a parameter is not UTF-8: {text}")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_and_values_are_decoded() {
        let pairs = |text: &str| {
            super::pairs(text).map(|pairs| {
                pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
            })
        };
        assert_eq!(
            pairs("q=a+b%3A*&fq=%E5%88%86&x&&y=1=2").unwrap(),
            ["q=a b:*", "fq=分", "x=", "y=1=2"]
        );
        assert!(pairs("q=%4").is_err());
        assert!(pairs("q=%zz").is_err());
        assert!(pairs("q=%ff").is_err());
    }
}
