//! Java's keystores and certificates in DER, which are recognized to say how they become PEM files.

/// A kind of keystore, or of certificate, that is not PEM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keystore {
    /// Java's own format.
    Jks,
    /// PKCS #12, the default of `keytool` since Java 9.
    Pkcs12,
    /// A certificate in DER.
    Certificate,
}

/// How files in Java's own format begin.
const JKS: [u8; 4] = [0xFE, 0xED, 0xFE, 0xED];
/// How the newer variant of it, JCEKS, begins.
const JCEKS: [u8; 4] = [0xCE, 0xCE, 0xCE, 0xCE];
/// How a DER sequence of 128 bytes or more begins, and the count of bytes of the length after it;
/// with none, the length is indefinite.
const DER: [([u8; 2], usize); 5] =
    [([0x30, 0x80], 0), ([0x30, 0x81], 1), ([0x30, 0x82], 2), ([0x30, 0x83], 3), ([0x30, 0x84], 4)];
/// How the sequence of a PKCS #12 keystore begins: with the version, 3.
const VERSION: [u8; 3] = [0x02, 0x01, 0x03];
/// How a certificate's sequence begins: with another sequence.
const SEQUENCE: [u8; 1] = [0x30];

impl Keystore {
    /// Recognizes a keystore or certificate by the first bytes.
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
        let (begin, len) = DER.iter().find(|(begin, _)| bytes.starts_with(begin))?;
        let content = bytes.get(begin.len() + len..)?;
        let kinds = [(&VERSION[..], Self::Pkcs12), (&SEQUENCE, Self::Certificate)];
        kinds.into_iter().find(|(begin, _)| content.starts_with(begin)).map(|(_, kind)| kind)
    }

    /// Returns the format's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jks => "a Java keystore (JKS)",
            Self::Pkcs12 => "a PKCS #12 keystore",
            Self::Certificate => "a certificate in DER",
        }
    }

    /// Returns the command that converts the file `path` to PEM: certificates and, if there is one,
    /// the private key.
    pub fn conversion(self, path: &str) -> String {
        let path = quoted(path);
        match self {
            Self::Jks => format!(
                "keytool -importkeystore -srckeystore {path} -destkeystore new.p12 -deststoretype \
                 PKCS12 && openssl pkcs12 -in new.p12 -nodes -out new.pem"
            ),
            Self::Pkcs12 => format!("openssl pkcs12 -in {path} -nodes -out new.pem"),
            Self::Certificate => format!("openssl x509 -inform DER -in {path} -out new.pem"),
        }
    }
}

/// Returns a path as one word of a shell.
pub(crate) fn quoted(path: &str) -> String {
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
    fn first_bytes_distinguish_keystores_from_pem() {
        for (bytes, kind) in [
            (&b"\xFE\xED\xFE\xED\0\0\0\x02"[..], Some(Keystore::Jks)),
            (b"\xCE\xCE\xCE\xCE\0\0\0\x02", Some(Keystore::Jks)),
            (b"\x30\x82\x0A\xB6\x02\x01\x03", Some(Keystore::Pkcs12)),
            (b"\x30\x80\x02\x01\x03", Some(Keystore::Pkcs12)),
            (b"\x30\x82\x05\x1C\x30\x82\x03\x04", Some(Keystore::Certificate)),
            (b"\x30\x81\xF0\x30\x81\xA0", Some(Keystore::Certificate)),
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
        let command = Keystore::Certificate.conversion("a.cer");
        assert_eq!(command, "openssl x509 -inform DER -in a.cer -out new.pem");
        assert!(Keystore::Jks.conversion("a.jks").contains("-srckeystore a.jks "));
    }
}
