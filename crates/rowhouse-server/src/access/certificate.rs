//! The user whom a client certificate names.

use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::identity::{CertificateUser, check_name};
use crate::CertificateName;

/// Returns the user in a certificate that was verified.
///
/// # Errors
/// Why there is none: no such name, several, or one that is no user name.
pub(crate) fn user(der: &[u8], from: CertificateName) -> Result<CertificateUser, String> {
    let parsed = X509Certificate::from_der(der);
    let (_, certificate) = parsed.map_err(|error| format!("the client certificate: {error}"))?;
    let mut names = match from {
        CertificateName::CommonName => {
            let names = certificate.subject().iter_common_name();
            let names: Result<Vec<_>, _> = names.map(|it| it.as_str().map(str::to_owned)).collect();
            names.map_err(|error| format!("a common name of the client certificate: {error}"))?
        }
        _ => alternative_names(&certificate, from)?,
    };
    let name = match names.len() {
        1 => names.remove(0),
        0 => return Err(format!("the client certificate has no name for --user-from {from}")),
        _ => {
            return Err(format!(
                "the client certificate has several names for --user-from {from}: {}",
                names.join(", ")
            ));
        }
    };
    check_name(&name).map_err(|error| format!("the client certificate: {}", error.message()))?;
    let until_ms = certificate.validity().not_after.timestamp().saturating_mul(1000);
    Ok(CertificateUser { name, until_ms })
}

fn alternative_names(
    certificate: &X509Certificate<'_>,
    from: CertificateName,
) -> Result<Vec<String>, String> {
    let names = certificate.subject_alternative_name();
    let names = names.map_err(|error| format!("the client certificate: {error}"))?;
    let names = names.into_iter().flat_map(|names| &names.value.general_names);
    let names = names.filter_map(|name| match (name, from) {
        (GeneralName::DNSName(name), CertificateName::Dns)
        | (GeneralName::URI(name), CertificateName::Uri)
        | (GeneralName::RFC822Name(name), CertificateName::Email) => Some((*name).to_owned()),
        _ => None,
    });
    Ok(names.collect())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    use super::*;

    fn certificate(set: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        set(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn the_user_is_the_one_name_of_the_kind() {
        let der = certificate(|params| {
            params.distinguished_name.push(DnType::CommonName, "Alice Liddell");
            params.subject_alt_names = vec![
                SanType::DnsName("alice.example.org".try_into().unwrap()),
                SanType::URI("spiffe://example.org/alice".try_into().unwrap()),
                SanType::Rfc822Name("alice@example.org".try_into().unwrap()),
            ];
        });
        for (from, name) in [
            (CertificateName::CommonName, "Alice Liddell"),
            (CertificateName::Dns, "alice.example.org"),
            (CertificateName::Uri, "spiffe://example.org/alice"),
            (CertificateName::Email, "alice@example.org"),
        ] {
            let user = user(&der, from).unwrap();
            assert_eq!(user.name, name);
            // The year 4096, where rcgen's certificates end by default.
            assert!(user.until_ms > 60_000_000_000_000, "{}", user.until_ms);
        }
    }

    #[test]
    fn certificates_with_no_name_or_several_are_refused() {
        let none = user(&certificate(|_| {}), CertificateName::CommonName).unwrap_err();
        assert!(none.contains("no name for --user-from cn"), "{none}");
        let two = certificate(|params| {
            let names = ["a.example.org", "b.example.org"];
            let names = names.map(|name| SanType::DnsName(name.try_into().unwrap()));
            params.subject_alt_names = names.into();
        });
        let several = user(&two, CertificateName::Dns).unwrap_err();
        assert!(several.contains("a.example.org, b.example.org"), "{several}");
        assert!(user(&two, CertificateName::Uri).is_err());
        // A name that is not text counts as one, too.
        let opaque = certificate(|params| {
            let name = rcgen::DnValue::BmpString("bob".try_into().unwrap());
            params.distinguished_name.push(DnType::CommonName, name);
        });
        let why = user(&opaque, CertificateName::CommonName).unwrap_err();
        assert!(why.contains("a common name of the client certificate"), "{why}");
        assert!(user(b"rubbish", CertificateName::Dns).is_err());
        let blank = certificate(|params| params.distinguished_name.push(DnType::CommonName, " a"));
        assert!(user(&blank, CertificateName::CommonName).is_err());
    }
}
