//! Certificates and private keys in PEM.

use rowhouse_model::{Error, Result};
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::keystore::{Keystore, quoted};

/// Parses all certificates in the bytes of the file `path`, in their order.
///
/// # Errors
/// `InvalidRequest` for a Java keystore and for DER, with the command that converts it; for a file
/// without a certificate, and for damaged PEM.
pub fn certificates(bytes: &[u8], path: &str) -> Result<Vec<CertificateDer<'static>>> {
    refuse_keystore(bytes, path)?;
    let certificates = CertificateDer::pem_slice_iter(bytes).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| invalid(path, &error))?;
    if certificates.is_empty() {
        return Err(Error::invalid(format!("there is no certificate in {path}")));
    }
    Ok(certificates)
}

/// Parses the first private key in the bytes of the file `path`: PKCS #8, PKCS #1 or SEC 1.
///
/// # Errors
/// As [`certificates`]; for a key under a passphrase, with the command that removes it.
pub fn private_key(bytes: &[u8], path: &str) -> Result<PrivateKeyDer<'static>> {
    refuse_keystore(bytes, path)?;
    match PrivateKeyDer::from_pem_slice(bytes) {
        Ok(key) => Ok(key),
        // The headers of a traditional key with a passphrase are not Base64.
        Err(_) if has_passphrase(bytes) => Err(Error::invalid(format!(
            "the private key in {path} has a passphrase; this removes it: openssl pkey -in {} -out \
             new.pem",
            quoted(path)
        ))),
        Err(pem::Error::NoItemsFound) => {
            Err(Error::invalid(format!("there is no private key in {path}")))
        }
        Err(error) => Err(invalid(path, &error)),
    }
}

fn refuse_keystore(bytes: &[u8], path: &str) -> Result<()> {
    let Some(keystore) = Keystore::recognize(bytes) else { return Ok(()) };
    let name = keystore.name();
    let conversion = keystore.conversion(path);
    Err(Error::invalid(format!("{path} is {name}, not PEM; this converts it: {conversion}")))
}

fn has_passphrase(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("4,ENCRYPTED")
}

fn invalid(path: &str, error: &pem::Error) -> Error {
    Error::invalid(format!("{path} is not valid PEM: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_the_required_section_are_refused_by_name() {
        for (bytes, text) in [
            (&b"\xFE\xED\xFE\xED\0\0\0\x02"[..], "keytool -importkeystore -srckeystore f.x "),
            (b"\x30\x82\x0A\xB6\x02\x01\x03", "openssl pkcs12 -in f.x -nodes -out new.pem"),
            (b"", "there is no"),
            (b"-----BEGIN CERTIFICATE-----\nAAAA", "f.x"),
        ] {
            let error = certificates(bytes, "f.x").unwrap_err();
            assert!(error.message().contains(text), "{error}");
            let error = private_key(bytes, "f.x").unwrap_err();
            assert!(error.message().contains("f.x"), "{error}");
        }
    }

    #[test]
    fn keys_with_a_passphrase_are_refused_with_the_command_that_removes_it() {
        for key in [
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\
             DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n\
             -----END RSA PRIVATE KEY-----",
        ] {
            let error = private_key(key.as_bytes(), "a b.key").unwrap_err();
            assert!(error.message().contains("openssl pkey -in 'a b.key' -out"), "{error}");
        }
    }

    #[test]
    fn certificates_are_read_in_their_order() {
        let pem = b"-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n\
                    -----BEGIN CERTIFICATE-----\nAwQF\n-----END CERTIFICATE-----\n";
        let read = certificates(pem, "f").unwrap();
        assert_eq!(read, [vec![0, 1, 2].into(), vec![3, 4, 5].into()]);
    }
}
