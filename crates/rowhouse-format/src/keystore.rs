//! Java's keystores, which are recognized to say how they become PEM files.

/// A kind of keystore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keystore {
    /// Java's own format.
    Jks,
    /// PKCS #12, the default of `keytool` since Java 9.
    Pkcs12,
}

/// How files in Java's own format begin.
const JKS: [u8; 4] = [0xFE, 0xED, 0xFE, 0xED];
/// How the newer variant of it, JCEKS, begins.
const JCEKS: [u8; 4] = [0xCE, 0xCE, 0xCE, 0xCE];
/// How a DER sequence of 128 bytes or more begins, with the length in two, three or four bytes, or
/// of indefinite length.
const DER: [[u8; 2]; 4] = [[0x30, 0x82], [0x30, 0x83], [0x30, 0x84], [0x30, 0x80]];

impl Keystore {
    /// Recognizes a keystore by its first bytes.
    ///
    /// ```
    /// use rowhouse_format::keystore::Keystore;
    ///
    /// assert_eq!(Keystore::recognize(b"\xFE\xED\xFE\xED\0\0\0\x02"), Some(Keystore::Jks));
    /// assert_eq!(Keystore::recognize(b"-----BEGIN CERTIFICATE-----"), None);
    /// ```
    pub fn recognize(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(&JKS) || bytes.starts_with(&JCEKS) {
            return Some(Self::Jks);
        }
        DER.iter().any(|begin| bytes.starts_with(begin)).then_some(Self::Pkcs12)
    }

    /// Returns the format's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jks => "a Java keystore (JKS)",
            Self::Pkcs12 => "a PKCS #12 keystore or a certificate in DER",
        }
    }

    /// Returns the command that converts the keystore in the file `path` to PEM: certificates and,
    /// if there is one, the private key.
    pub fn conversion(self, path: &str) -> String {
        let path = quoted(path);
        match self {
            Self::Jks => format!(
                "keytool -importkeystore -srckeystore {path} -destkeystore new.p12 -deststoretype \
                 PKCS12 && openssl pkcs12 -in new.p12 -nodes -out new.pem"
            ),
            Self::Pkcs12 => format!("openssl pkcs12 -in {path} -nodes -out new.pem"),
        }
    }
}

/// Returns a path as one word of a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keystores_are_told_from_pem_by_their_first_bytes() {
        for (bytes, kind) in [
            (&b"\xFE\xED\xFE\xED\0\0\0\x02"[..], Some(Keystore::Jks)),
            (b"\xCE\xCE\xCE\xCE\0\0\0\x02", Some(Keystore::Jks)),
            (b"\x30\x82\x0A\xB6\x02\x01\x03", Some(Keystore::Pkcs12)),
            (b"\x30\x80\x02\x01\x03", Some(Keystore::Pkcs12)),
            (b"-----BEGIN CERTIFICATE-----", None),
            (b"0 is not DER", None),
            (b"", None),
        ] {
            assert_eq!(Keystore::recognize(bytes), kind, "{bytes:?}");
        }
    }

    #[test]
    fn the_conversion_names_the_file_as_one_word() {
        let command = Keystore::Pkcs12.conversion("/a b/it's.p12");
        assert!(command.contains(r"-in '/a b/it'\''s.p12' -nodes"), "{command}");
        assert!(Keystore::Jks.conversion("a.jks").contains("-srckeystore a.jks "));
    }
}
