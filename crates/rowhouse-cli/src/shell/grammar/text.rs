//! Texts in quotes, with Ruby's escapes.

use super::fault::Fault;

/// A text's bytes and the offset after the closing quote; `None` if that quote is missing.
type Text = Option<(Vec<u8>, usize)>;

/// Parses a text in single quotes; `at` is the offset after the opening quote. Every character
/// stands for itself, except in `\'` and `\\`.
pub(super) fn single_quoted(script: &str, mut at: usize) -> Result<Text, Fault> {
    let bytes = script.as_bytes();
    let mut text = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'\'', _) => return Ok(Some((text, at + 1))),
            (b'\\', Some(&next @ (b'\'' | b'\\'))) => {
                text.push(next);
                at += 2;
            }
            _ => {
                text.push(byte);
                at += 1;
            }
        }
    }
    Ok(None)
}

/// Parses a text in double quotes; `at` is the offset after the opening quote.
pub(super) fn double_quoted(script: &str, mut at: usize) -> Result<Text, Fault> {
    let bytes = script.as_bytes();
    let mut text = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'"', _) => return Ok(Some((text, at + 1))),
            (b'#', Some(b'{')) => {
                return Err(Fault::new(at, "`#{…}` is not evaluated here; for a # write \\#"));
            }
            (b'\\', None) => return Ok(None),
            (b'\\', Some(_)) => at = escaped(script, at, &mut text)?,
            _ => {
                text.push(byte);
                at += 1;
            }
        }
    }
    Ok(None)
}

/// Parses the escape that begins at `at` and returns the offset after it.
fn escaped(script: &str, at: usize, text: &mut Vec<u8>) -> Result<usize, Fault> {
    let rest = &script[at + 1..];
    let letter = rest.chars().next().unwrap_or('\\');
    let end = at + 1 + letter.len_utf8();
    match letter {
        'x' => {
            let digits = leading(&script[end..], 2, |c| c.is_ascii_hexdigit());
            let byte = u8::from_str_radix(digits, 16)
                .map_err(|_| Fault::new(at, "\\x wants one or two hex digits"))?;
            text.push(byte);
            Ok(end + digits.len())
        }
        '0'..='7' => {
            let digits = leading(rest, 3, |c| matches!(c, '0'..='7'));
            // As in Ruby, the ninth bit of \777 is lost.
            let value = u16::from_str_radix(digits, 8).unwrap_or_default();
            text.push((value & 0xFF) as u8);
            Ok(at + 1 + digits.len())
        }
        'u' => unicode(script, at, end, text),
        // A backslash that ends a line joins it with the next one.
        '\n' => Ok(end),
        _ => {
            match letter {
                'n' => text.push(b'\n'),
                't' => text.push(b'\t'),
                'r' => text.push(b'\r'),
                'a' => text.push(0x07),
                'b' => text.push(0x08),
                'v' => text.push(0x0B),
                'f' => text.push(0x0C),
                'e' => text.push(0x1B),
                's' => text.push(b' '),
                // Any other character stands for itself.
                other => text.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            Ok(end)
        }
    }
}

/// Parses `\u5206`, `\u{5206}` or `\u{5206 680F}`.
fn unicode(script: &str, at: usize, end: usize, text: &mut Vec<u8>) -> Result<usize, Fault> {
    let fault =
        || Fault::new(at, "\\u wants four hex digits, or {…} with the number of a character");
    let mut push = |digits: &str| {
        let code = u32::from_str_radix(digits, 16).map_err(|_| fault())?;
        let c = char::from_u32(code).ok_or_else(fault)?;
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    };
    let rest = &script[end..];
    if let Some(inside) = rest.strip_prefix('{') {
        let len = inside.find('}').ok_or_else(fault)?;
        inside[..len].split_whitespace().try_for_each(push)?;
        return Ok(end + len + 2);
    }
    let digits = leading(rest, 4, |c| c.is_ascii_hexdigit());
    if digits.len() < 4 {
        return Err(fault());
    }
    push(digits)?;
    Ok(end + 4)
}

/// Returns the longest prefix with at most `max` characters that `matches` accepts. These must be
/// ASCII.
fn leading(text: &str, max: usize, matches: impl Fn(char) -> bool) -> &str {
    let len = text.chars().take(max).take_while(|&c| matches(c)).count();
    &text[..len]
}
