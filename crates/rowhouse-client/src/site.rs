//! Clusters by HBase's own settings, as `hbase-site.xml` has them.

use std::collections::HashMap;
use std::mem::take;
use std::path::PathBuf;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use rowhouse_model::{Error, Result};

use crate::{Target, TlsSettings};

/// Settings that would change how TLS is used and have no counterpart here, unless they are
/// `false`.
const REFUSED: [&str; 5] = [
    "hbase.rpc.tls.ciphersuites",
    "hbase.rpc.tls.clr",
    "hbase.rpc.tls.enabledProtocols",
    "hbase.rpc.tls.ocsp",
    "hbase.rpc.tls.protocol",
];

/// HBase's default ports.
const MASTER_PORT: &str = "16000";
const REGION_SERVER_PORT: &str = "16020";

/// The settings that are read, besides those.
const READ: [&str; 10] = [
    "hbase.client.bootstrap.servers",
    "hbase.client.netty.tls.enabled",
    "hbase.client.netty.tls.verify.server.hostname",
    "hbase.client.registry.impl",
    "hbase.masters",
    "hbase.rpc.tls.keystore.location",
    "hbase.rpc.tls.truststore.location",
    "hbase.zookeeper.property.clientPort",
    "hbase.zookeeper.quorum",
    "zookeeper.znode.parent",
];

/// The most elements inside one another.
const DEPTH_MAX: usize = 64;

impl Target {
    /// Reads a cluster's location from the text of an `hbase-site.xml`, by the settings of HBase's
    /// Java client: the registry and its servers, and `hbase.client.netty.tls.enabled` with
    /// `hbase.rpc.tls.truststore.location`, `hbase.rpc.tls.keystore.location` and
    /// `hbase.client.netty.tls.verify.server.hostname`. Stores are PEM files; a keystore in PEM
    /// holds certificate and key. Other settings are ignored.
    ///
    /// ```
    /// use rowhouse_client::Target;
    ///
    /// let site = "<configuration><property><name>hbase.zookeeper.quorum</name>\
    ///             <value>zk1,zk2</value></property></configuration>";
    /// let target = Target::from_hbase_site(site)?;
    /// assert_eq!(target.to_string(), "hbase+zk://zk1:2181,zk2:2181/hbase");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for text that is no such file, includes, variables, an unknown registry,
    /// invalid addresses, settings of TLS that are not supported, and file paths with `&`, which a
    /// URL cannot hold.
    pub fn from_hbase_site(xml: &str) -> Result<Self> {
        let settings = properties(xml)?;
        let get = |name: &str| settings.get(name).map(String::as_str).filter(|it| !it.is_empty());
        let registry = get("hbase.client.registry.impl").unwrap_or_default();
        let registry = registry.rsplit('.').next().unwrap_or_default();
        let url = match registry {
            "" | "ZKConnectionRegistry" | "ZKAsyncRegistry" => {
                let port = get("hbase.zookeeper.property.clientPort").unwrap_or("2181");
                let servers = get("hbase.zookeeper.quorum").unwrap_or("127.0.0.1");
                let servers = with_ports(servers, port);
                let znode = get("zookeeper.znode.parent").unwrap_or("/hbase");
                format!("hbase+zk://{servers}/{}", znode.trim_start_matches('/'))
            }
            "RpcConnectionRegistry" | "MasterRegistry" => {
                let masters = get("hbase.masters").map(|it| with_ports(it, MASTER_PORT));
                let bootstrap = get("hbase.client.bootstrap.servers");
                let bootstrap = bootstrap.map(|it| with_ports(it, REGION_SERVER_PORT));
                let is_master = registry == "MasterRegistry";
                let servers = if is_master { masters } else { bootstrap.or(masters) };
                let servers = servers.ok_or_else(|| {
                    Error::invalid(format!("{registry} has no servers in hbase-site.xml"))
                })?;
                format!("hbase://{servers}")
            }
            other => {
                return Err(Error::invalid(format!(
                    "hbase.client.registry.impl is not supported: {other}"
                )));
            }
        };
        let mut target = Self::parse(&url)?;
        if is_true(get("hbase.client.netty.tls.enabled"), false)? {
            let is_set =
                |name: &&str| get(name).is_some_and(|value| !value.eq_ignore_ascii_case("false"));
            if let Some(name) = REFUSED.into_iter().find(is_set) {
                return Err(Error::invalid(format!("{name} is not supported")));
            }
            let keystore = file(&settings, "hbase.rpc.tls.keystore.location")?;
            let names = get("hbase.client.netty.tls.verify.server.hostname");
            target.tls = Some(TlsSettings {
                ca: file(&settings, "hbase.rpc.tls.truststore.location")?,
                identity: keystore.map(|file| (file.clone(), file)),
                check_names: is_true(names, true)?,
            });
        }
        Ok(target)
    }
}

/// Returns the addresses, each with a port.
fn with_ports(servers: &str, default: &str) -> String {
    let with_port = |server: &str| {
        // An address in brackets contains colons.
        let has_port = server.rsplit(']').next().is_some_and(|rest| rest.contains(':'));
        if has_port { server.to_owned() } else { format!("{server}:{default}") }
    };
    let servers: Vec<_> = servers.split(',').map(|server| with_port(server.trim())).collect();
    servers.join(",")
}

/// Returns the path in a setting.
fn file(settings: &HashMap<&'static str, String>, name: &str) -> Result<Option<PathBuf>> {
    match settings.get(name).filter(|path| !path.is_empty()) {
        Some(path) if path.contains('&') => {
            Err(Error::invalid(format!("a path with & is not supported: {name}={path}")))
        }
        path => Ok(path.map(PathBuf::from)),
    }
}

/// Parses a boolean as Hadoop writes it.
fn is_true(value: Option<&str>, default: bool) -> Result<bool> {
    match value.map(str::trim) {
        None => Ok(default),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => Err(Error::invalid(format!("a setting is neither true nor false: {text}"))),
    }
}

/// Returns the settings in a Hadoop configuration that are read; a later one replaces an earlier
/// one.
fn properties(xml: &str) -> Result<HashMap<&'static str, String>> {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut settings = HashMap::new();
    let mut property = Property::default();
    // The text of the current name or value.
    let mut text = String::new();
    let mut open: Vec<String> = Vec::new();
    let mut is_configuration = false;
    loop {
        match reader.read_event().map_err(malformed)? {
            Event::Start(start) | Event::Empty(start) => {
                let name = start.local_name().as_ref().to_owned();
                if name == "include" {
                    return Err(malformed("includes are not supported"));
                }
                if open.len() == DEPTH_MAX || Place::of(&open).has_text() {
                    return Err(malformed(format!("unexpected element {name}")));
                }
                open.push(name);
                match Place::of(&open) {
                    Place::Configuration => is_configuration = true,
                    Place::Property => property = Property::of_attributes(&start)?,
                    Place::Name | Place::Value => text.clear(),
                    Place::Other => {}
                }
            }
            Event::End(_) => {
                // As in Hadoop, an empty element sets nothing.
                match Place::of(&open) {
                    Place::Name if !text.is_empty() => property.name = Some(take(&mut text)),
                    Place::Value if !text.is_empty() => property.value = Some(take(&mut text)),
                    Place::Property => take(&mut property).read_into(&mut settings)?,
                    _ => {}
                }
                open.pop();
            }
            Event::Text(part) if Place::of(&open).has_text() => text.push_str(&part),
            Event::CData(part) if Place::of(&open).has_text() => text.push_str(&part),
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().map_err(malformed)?;
                let part = match character {
                    Some(character) => character.to_string(),
                    None => resolve_predefined_entity(&reference)
                        .ok_or_else(|| malformed(format!("unknown entity: {}", &*reference)))?
                        .to_owned(),
                };
                if Place::of(&open).has_text() {
                    text.push_str(&part);
                }
            }
            Event::Text(_) | Event::CData(_) => {}
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    match open.last() {
        Some(name) => Err(malformed(format!("<{name}> does not end"))),
        None if !is_configuration => Err(malformed("there is no <configuration>")),
        None => Ok(settings),
    }
}

fn malformed(why: impl std::fmt::Display) -> Error {
    Error::invalid(format!("not an hbase-site.xml: {why}"))
}

/// The elements that a reader is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Configuration,
    Property,
    Name,
    Value,
    /// Elements that are ignored, as in Hadoop.
    Other,
}

impl Place {
    fn of(open: &[String]) -> Self {
        match open {
            [root] if root == "configuration" => Self::Configuration,
            [root, property, rest @ ..] if root == "configuration" && property == "property" => {
                match rest {
                    [] => Self::Property,
                    [name] if name == "name" => Self::Name,
                    [value] if value == "value" => Self::Value,
                    _ => Self::Other,
                }
            }
            _ => Self::Other,
        }
    }

    fn has_text(self) -> bool {
        matches!(self, Self::Name | Self::Value)
    }
}

/// A setting in a file. Hadoop also reads name and value as attributes; an element replaces them.
#[derive(Default)]
struct Property {
    name: Option<String>,
    value: Option<String>,
}

impl Property {
    fn of_attributes(start: &BytesStart<'_>) -> Result<Self> {
        let mut property = Self::default();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(malformed)?;
            let value = attribute.normalized_value(XmlVersion::Explicit1_0).map_err(malformed)?;
            match attribute.key.as_ref() {
                "name" => property.name = Some(value.into_owned()),
                "value" => property.value = Some(value.into_owned()),
                _ => {}
            }
        }
        Ok(property)
    }

    /// Adds the setting if it is one that is read. Without name or value it sets nothing.
    fn read_into(self, settings: &mut HashMap<&'static str, String>) -> Result<()> {
        let (Some(name), Some(value)) = (self.name, self.value) else { return Ok(()) };
        let value = value.trim();
        let Some(name) = READ.iter().chain(&REFUSED).find(|known| **known == name.trim()) else {
            return Ok(());
        };
        if value.contains("${") {
            return Err(malformed(format!("variables are not supported: {name} is {value}")));
        }
        settings.insert(*name, value.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(settings: &[(&str, &str)]) -> Result<String> {
        let property = |(name, value)| {
            format!("<property>\n<name>{name}</name><value>{value}</value></property>")
        };
        let properties: String = settings.iter().copied().map(property).collect();
        let xml = format!("<?xml version=\"1.0\"?><configuration>{properties}</configuration>");
        Target::from_hbase_site(&xml).map(|target| target.to_string())
    }

    #[test]
    fn each_registry_of_hbase_is_read() {
        let registry = "hbase.client.registry.impl";
        for (settings, expected) in [
            (&[][..], "hbase+zk://127.0.0.1:2181/hbase"),
            (
                &[
                    ("hbase.zookeeper.quorum", "a, b:5"),
                    ("hbase.zookeeper.property.clientPort", "7"),
                    ("zookeeper.znode.parent", "/x"),
                ],
                "hbase+zk://a:7,b:5/x",
            ),
            (
                &[
                    (registry, "org.apache.hadoop.hbase.client.RpcConnectionRegistry"),
                    ("hbase.client.bootstrap.servers", "a:1,b"),
                ],
                "hbase://a:1,b:16020",
            ),
            (
                &[
                    (registry, "org.apache.hadoop.hbase.client.MasterRegistry"),
                    ("hbase.masters", "m:1, n,[::1]"),
                ],
                "hbase://m:1,n:16000,[::1]:16000",
            ),
            (
                &[
                    (registry, "org.apache.hadoop.hbase.client.RpcConnectionRegistry"),
                    ("hbase.masters", "m"),
                ],
                "hbase://m:16000",
            ),
        ] {
            assert_eq!(url(settings).unwrap(), expected);
        }
        assert!(url(&[(registry, "org.example.Other")]).is_err());
        assert!(url(&[(registry, "MasterRegistry")]).is_err());
    }

    #[test]
    fn tls_is_read_by_the_names_of_hbase() {
        let enabled = ("hbase.client.netty.tls.enabled", "true");
        let ca = ("hbase.rpc.tls.truststore.location", "/ca &apos; co.pem");
        assert_eq!(url(&[enabled]).unwrap(), "hbase+zk+tls://127.0.0.1:2181/hbase");
        let all = [
            enabled,
            ca,
            ("hbase.rpc.tls.keystore.location", "/me.pem"),
            ("hbase.client.netty.tls.verify.server.hostname", "false"),
        ];
        let target = url(&all).unwrap();
        let parameters = "?ca=/ca ' co.pem&certificate=/me.pem&key=/me.pem&names=unchecked";
        assert_eq!(target, format!("hbase+zk+tls://127.0.0.1:2181/hbase{parameters}"));
        assert_eq!(Target::parse(&target).unwrap().to_string(), target);
        // Without TLS the files are ignored.
        assert_eq!(url(&[ca]).unwrap(), "hbase+zk://127.0.0.1:2181/hbase");
        for name in ["hbase.rpc.tls.truststore.location", "hbase.rpc.tls.keystore.location"] {
            let error = url(&[enabled, (name, "/a&amp;b.pem")]).unwrap_err();
            assert!(error.message().contains(name), "{error}");
        }
        assert!(url(&[("hbase.client.netty.tls.enabled", "yes")]).is_err());
        for name in REFUSED {
            let error = url(&[enabled, (name, "x")]).unwrap_err();
            assert!(error.message().contains(name), "{error}");
            assert!(url(&[enabled, (name, "false")]).is_ok(), "{name}");
        }
    }

    #[test]
    fn attributes_are_read_and_includes_refused() {
        let configuration = |element| format!("<configuration>{element}</configuration>");
        for property in [
            "<property name=\"hbase.zookeeper.quorum\" value=\"m&amp;n\"/>",
            "<property\nname=\"hbase.zookeeper.quorum\"><value>m&#38;n</value></property>",
            "<property><name>hbase.zookeeper.quorum</name><value><![CDATA[m&n]]></value></property>",
        ] {
            let settings = properties(&configuration(property)).unwrap();
            assert_eq!(settings["hbase.zookeeper.quorum"], "m&n", "{property}");
        }
        for include in ["<xi:include href=\"other.xml\"/>", "<include href=\"other.xml\"/>"] {
            let error = Target::from_hbase_site(&configuration(include)).unwrap_err();
            assert!(error.message().contains("are not supported"), "{include}: {error}");
        }
    }

    #[test]
    fn elements_are_read_as_hadoop_does_and_others_ignored() {
        let name = "<name>hbase.zookeeper.quorum</name>";
        for (element, expected) in [
            (
                "<property name=\"hbase.zookeeper.quorum\" value=\"a\"><value>b</value></property>",
                "b",
            ),
            (&*format!("<property>{name}<value>a</value><value>b</value></property>"), "b"),
            (
                &format!(
                    "<property>{name}<value>b</value></property><property>{name}<value/></property>"
                ),
                "b",
            ),
            (
                &format!(
                    "<property>{name}<value>b</value>\
                     <description>see <a><code>x</code></a></description></property>"
                ),
                "b",
            ),
            (
                &format!(
                    "<other>x</other><property><value>a</value></property>\
                     <property>{name}<value>b</value></property>"
                ),
                "b",
            ),
        ] {
            let xml = format!("<configuration>{element}</configuration>");
            let settings = properties(&xml).unwrap();
            assert_eq!(settings["hbase.zookeeper.quorum"], expected, "{element}");
        }
    }

    #[test]
    fn texts_that_are_no_configuration_are_refused() {
        for xml in [
            "",
            "<html></html>",
            "<configuration><!-- ",
            "<configuration><property>",
            "<configuration><property></property>",
            &"<a>".repeat(100_000),
        ] {
            assert!(Target::from_hbase_site(xml).is_err(), "{xml}");
        }
        for value in ["&x;", "&amp", "<b/>"] {
            assert!(url(&[("hbase.tmp.dir", value)]).is_err(), "{value}");
        }
        assert!(url(&[("hbase.masters", "${b}")]).is_err());
        assert!(url(&[("hbase.tmp.dir", "${b}")]).is_ok());
        let commented = "<configuration><!-- <property><name>hbase.zookeeper.quorum</name>\
                         <value>x</value></property> --></configuration>";
        let target = Target::from_hbase_site(commented).unwrap();
        assert_eq!(target.to_string(), "hbase+zk://127.0.0.1:2181/hbase");
    }
}
