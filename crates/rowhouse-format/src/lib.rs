//! Encoders and decoders of Apache HBase's byte formats, without I/O.
//!
//! This crate turns bytes into values and values into bytes. It uses no sockets, paths, clocks or
//! threads; the callers own those. A format's encoder and decoder are in the same module, so that
//! server and client stay consistent.
//!
//! | module | content | page |
//! |---|---|---|
//! | [`rpc`] | preamble, frames, headers, cell blocks, the call table | `docs/formats/rpc.md` |
//! | [`convert`] | model ↔ protobuf, one file per type | |
//! | [`exception`] | errors ↔ Java exceptions | |
//! | [`proto`] | the messages | |
//! | [`meta`] | `hbase:meta` and `hbase:namespace`, synthesized | `docs/formats/meta.md` |
//! | [`zk`] | the part of the ZooKeeper protocol that clients use | `docs/formats/zookeeper.md` |
//! | [`hfile`] | cell files | `docs/formats/hfile.md` |
//! | [`thrift`] | HBase's Thrift 1 interface | `docs/formats/thrift.md` |
//! | [`keystore`] | Java's keystores, recognized | |
//! | [`sasl`], [`token`] | users: DIGEST-MD5, and tokens | `docs/formats/rpc.md` |
//! | `pem` | certificates and keys, with the feature `pem` | |
//!
//! A server feeds input to [`rpc::ServerConnection`] and answers its events; a client writes with
//! [`rpc::encode_request`] and parses with [`rpc::Response::decode`]. A get, from request to
//! response:
//!
//! ```
//! use bytes::BytesMut;
//! use rowhouse_format::convert::{self, CellPlacement};
//! use rowhouse_format::proto;
//! use rowhouse_format::rpc::{self, Call, CellCodec, Method, RequestHead};
//! use rowhouse_model::{Get, Row};
//!
//! // Client: a request.
//! let get = Get::new("row")?.family("cf");
//! let message = proto::GetRequest {
//!     region: convert::region::RegionRef::encoded("1588230740").to_proto(),
//!     get: convert::get::to_proto(&get),
//! };
//! let mut bytes = BytesMut::new();
//! let head = RequestHead { call_id: 7, priority: 0, timeout_ms: None };
//! rpc::encode_request(&mut bytes, head, &message, None, [])?;
//!
//! // Server: the same get.
//! let frame = rpc::FrameDecoder::default().next(&mut bytes)?.expect("one whole frame");
//! let request = rpc::Request::decode(frame, rpc::Service::Client);
//! let request = request.map_err(|refusal| refusal.error)?;
//! assert_eq!((request.call_id, request.method), (7, Method::Get));
//! let read = convert::get::from_proto(request.message::<proto::GetRequest>()?.get)?;
//! assert_eq!(read, get);
//!
//! // Server: the answer, its cells straight from the row.
//! let row = Row::default();
//! let result = convert::result::to_proto(&row, CellPlacement::Block);
//! let answer = proto::GetResponse { result: Some(result) };
//! rpc::encode_response(&mut bytes, 7, &answer, CellCodec::KeyValue, row.cells())?;
//! # assert_eq!(<proto::GetRequest as Call>::METHOD, Method::Get);
//! # Ok::<(), rowhouse_model::Error>(())
//! ```

pub mod convert;
pub mod exception;
pub mod hfile;
pub mod keystore;
pub mod meta;
#[cfg(feature = "pem")]
pub mod pem;
pub mod proto;
pub mod rpc;
pub mod sasl;
pub mod thrift;
pub mod token;
pub mod zk;
