//! The ZooKeeper protocol, as far as HBase clients look (`docs/formats/zookeeper.md`).
