//! The connection header: service, user and cell block codec.

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;

use super::{CellCodec, Preamble, Service, wire};
use crate::exception::Exception;
use crate::proto;

/// The connection header, which a client sends once, before the first call.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionHead {
    /// The service for all calls on the connection.
    pub service: Service,
    /// The codec for cell blocks in both directions; without one, messages contain the cells.
    pub codec: Option<CellCodec>,
    /// The user name that the client claims.
    pub user: Option<String>,
    /// The user who acts for that one (Hadoop's `doAs`), if the client names one.
    pub real_user: Option<String>,
    /// The client's version as text. Apache HBase treats a client that sends none as older than
    /// 1.2.
    pub client_version: Option<String>,
    /// The client's major and minor HBase release; `None` without a client version.
    pub client_release: Option<(u32, u32)>,
}

impl ConnectionHead {
    /// Parses the frame after the preamble.
    ///
    /// # Errors
    /// The fatal exception that the server sends before it closes the connection: an unknown codec,
    /// compressor or service.
    pub fn decode(frame: Bytes) -> Result<Self, Exception> {
        let header: proto::ConnectionHeader = wire::decode_message(frame).map_err(|error| {
            Exception::fatal("FatalConnectionException", format!("connection header: {error}"))
        })?;
        let Some(service) = header.service_name else {
            return Err(unknown_service("EmptyServiceNameException"));
        };
        let Some(service) = Service::from_name(&service) else {
            return Err(unknown_service(&format!("UnknownServiceException: {service}")));
        };
        let codec = match header.cell_block_codec_class.as_deref() {
            None | Some("") => None,
            Some(class) => Some(CellCodec::from_class(class).ok_or_else(|| {
                Exception::fatal("UnsupportedCellCodecException", class.to_owned())
            })?),
        };
        if let (Some(_), Some(class)) = (codec, header.cell_block_compressor_class) {
            return Err(Exception::fatal("UnsupportedCompressionCodecException", class));
        }
        let (user, real_user) = match header.user_info {
            Some(claimed) => (Some(claimed.effective_user), claimed.real_user),
            None => (None, None),
        };
        Ok(Self {
            service,
            codec,
            user,
            real_user,
            client_release: header.version_info.as_ref().and_then(release),
            client_version: header.version_info.map(|version| version.version),
        })
    }

    /// Writes a client's opening: preamble and header, to be sent together with the first call. The
    /// server responds to neither.
    pub fn encode_opening(&self, out: &mut BytesMut) {
        out.put_slice(&Preamble::Rpc.to_bytes());
        self.encode(out);
    }

    /// Writes the header, as it follows the authentication by a token.
    pub fn encode(&self, out: &mut BytesMut) {
        let header = proto::ConnectionHeader {
            user_info: self.user.clone().map(|effective_user| proto::UserInformation {
                effective_user,
                real_user: self.real_user.clone(),
            }),
            service_name: Some(self.service.name().to_owned()),
            cell_block_codec_class: self.codec.map(|codec| codec.class().to_owned()),
            version_info: self.client_version.clone().map(|version| proto::VersionInfo {
                version,
                version_major: self.client_release.map(|(major, _)| major),
                version_minor: self.client_release.map(|(_, minor)| minor),
                ..Default::default()
            }),
            ..Default::default()
        };
        out.put_u32(header.encoded_len() as u32);
        header.encode_raw(out);
    }
}

/// Returns the release from the numeric fields, which clients send since 1.4, or else from the
/// version text.
fn release(version: &proto::VersionInfo) -> Option<(u32, u32)> {
    if let (Some(major), Some(minor)) = (version.version_major, version.version_minor) {
        return Some((major, minor));
    }
    let mut parts = version.version.split(['.', '-']).map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// Apache has specific exceptions for these, but only on the server's class path, and closes the
/// connection without a response. Clients understand the parent class.
fn unknown_service(message: &str) -> Exception {
    Exception::fatal("FatalConnectionException", message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> proto::ConnectionHeader {
        proto::ConnectionHeader {
            service_name: Some("ClientService".into()),
            cell_block_codec_class: Some("org.apache.hadoop.hbase.codec.KeyValueCodec".into()),
            ..Default::default()
        }
    }

    fn refusal(header: &proto::ConnectionHeader) -> String {
        ConnectionHead::decode(header.encode_to_vec().into()).unwrap_err().class.into_owned()
    }

    #[test]
    fn unsupported_features_are_refused_by_class() {
        assert!(ConnectionHead::decode(header().encode_to_vec().into()).is_ok());
        let ipc = "org.apache.hadoop.hbase.ipc.";
        let unknown = proto::ConnectionHeader { service_name: Some("X".into()), ..header() };
        assert_eq!(refusal(&unknown), format!("{ipc}FatalConnectionException"));
        let none = proto::ConnectionHeader { service_name: None, ..header() };
        assert_eq!(refusal(&none), format!("{ipc}FatalConnectionException"));
        let codec =
            proto::ConnectionHeader { cell_block_codec_class: Some("X".into()), ..header() };
        assert_eq!(refusal(&codec), format!("{ipc}UnsupportedCellCodecException"));
        let gz = Some("org.apache.hadoop.io.compress.GzipCodec".to_owned());
        let compressor = proto::ConnectionHeader { cell_block_compressor_class: gz, ..header() };
        assert_eq!(refusal(&compressor), format!("{ipc}UnsupportedCompressionCodecException"));
    }

    #[test]
    fn the_release_of_a_client_is_read_from_its_numbers_or_its_text() {
        let release = |version: &str, numbers: Option<(u32, u32)>| {
            release(&proto::VersionInfo {
                version: version.into(),
                version_major: numbers.map(|(major, _)| major),
                version_minor: numbers.map(|(_, minor)| minor),
                ..Default::default()
            })
        };
        assert_eq!(release("x", Some((2, 6))), Some((2, 6)));
        assert_eq!(release("1.2.0-SNAPSHOT", None), Some((1, 2)));
        assert_eq!(release("0.98-hadoop2", None), Some((0, 98)));
        assert_eq!([release("", None), release("rowhouse 0.1", None)], [None, None]);
    }

    #[test]
    fn a_client_is_read_as_it_introduced_itself() {
        let head = ConnectionHead {
            service: Service::Master,
            codec: Some(CellCodec::KeyValue),
            user: Some("alice".into()),
            real_user: Some("gateway".into()),
            client_version: Some("rowhouse 0.1".into()),
            client_release: Some((2, 6)),
        };
        let mut bytes = BytesMut::new();
        head.encode_opening(&mut bytes);
        let frame = bytes.split_off(6 + 4).freeze();
        assert_eq!(&bytes[..6], b"HBas\0\x50");
        assert_eq!(ConnectionHead::decode(frame).unwrap(), head);
    }
}
