//! The node tree.

use std::collections::BTreeMap;

use bytes::{BufMut, Bytes, BytesMut};
use rowhouse_model::{Error, Result, Timestamp};

/// Nodes by path. Setting a node creates the missing parents.
///
/// Each change has a number, the zxid. It must not decrease across restarts, or clients would miss
/// changes when they restore their watches; a clock in milliseconds is a suitable initial value.
#[derive(Clone, Debug)]
pub struct Znodes {
    zxid: i64,
    nodes: BTreeMap<String, Znode>,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Znode {
    /// The node's data.
    pub data: Bytes,
    created: Change,
    modified: Change,
    /// The zxid at which a child was last created or removed.
    children_zxid: i64,
    version: i32,
    children_version: i32,
    children: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Change {
    zxid: i64,
    at: Timestamp,
}

impl Znodes {
    /// Creates a tree with only the root; the first change gets the number `zxid` + 1.
    pub fn new(zxid: i64) -> Self {
        let never = Change { zxid: 0, at: Timestamp::MIN };
        Self { zxid, nodes: BTreeMap::from([("/".to_owned(), Znode::new(Bytes::new(), never))]) }
    }

    /// Returns the last change's number.
    pub fn zxid(&self) -> i64 {
        self.zxid
    }

    /// Returns the node at `path`.
    pub fn get(&self, path: &str) -> Option<&Znode> {
        self.nodes.get(path)
    }

    /// Iterates over the names of `path`'s children.
    pub fn children(&self, path: &str) -> impl Iterator<Item = &str> {
        let prefix = if path == "/" { "/".to_owned() } else { format!("{path}/") };
        let below = self.nodes.range(prefix.clone()..);
        let below: Vec<_> = below
            .map_while(|(child, _)| child.strip_prefix(&prefix))
            .filter(|name| !name.is_empty() && !name.contains('/'))
            .collect();
        below.into_iter()
    }

    /// Creates or changes a node. Has no effect if it already holds `data`.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid path.
    pub fn set(&mut self, path: &str, data: impl Into<Bytes>, at: Timestamp) -> Result<()> {
        check_path(path)?;
        let data = data.into();
        if let Some(node) = self.nodes.get_mut(path) {
            if node.data != data {
                self.zxid += 1;
                node.data = data;
                node.modified = Change { zxid: self.zxid, at };
                node.version += 1;
            }
            return Ok(());
        }
        let parent = parent_of(path).to_owned();
        if !self.nodes.contains_key(&parent) {
            self.set(&parent, Bytes::new(), at)?;
        }
        self.zxid += 1;
        self.nodes.insert(path.to_owned(), Znode::new(data, Change { zxid: self.zxid, at }));
        self.touch_parent(&parent, 1);
        Ok(())
    }

    /// Removes a node without children. Has no effect if it does not exist.
    ///
    /// # Errors
    /// `InvalidRequest` for the root and for a node with children.
    pub fn remove(&mut self, path: &str) -> Result<()> {
        if path == "/" || self.children(path).next().is_some() {
            return Err(Error::invalid(format!("node cannot be removed: path={path}")));
        }
        if self.nodes.remove(path).is_some() {
            self.zxid += 1;
            self.touch_parent(parent_of(path), -1);
        }
        Ok(())
    }

    fn touch_parent(&mut self, parent: &str, by: i32) {
        let node = self.nodes.get_mut(parent).expect("every node has a parent");
        node.children += by;
        node.children_version += 1;
        node.children_zxid = self.zxid;
    }
}

impl Znode {
    fn new(data: Bytes, created: Change) -> Self {
        Self {
            data,
            created,
            modified: created,
            children_zxid: created.zxid,
            version: 0,
            children_version: 0,
            children: 0,
        }
    }

    /// Returns the zxid of the last change to the data.
    pub(super) fn modified_zxid(&self) -> i64 {
        self.modified.zxid
    }

    /// Returns the zxid of the last change to the children.
    pub(super) fn children_zxid(&self) -> i64 {
        self.children_zxid
    }

    /// Writes the node's Stat.
    pub(super) fn put_stat(&self, out: &mut BytesMut) {
        out.put_i64(self.created.zxid);
        out.put_i64(self.modified.zxid);
        out.put_i64(self.created.at.as_millis());
        out.put_i64(self.modified.at.as_millis());
        out.put_i32(self.version);
        out.put_i32(self.children_version);
        out.put_i32(0); // access control list version
        out.put_i64(0); // an ephemeral node's owner
        out.put_i32(self.data.len() as i32);
        out.put_i32(self.children);
        out.put_i64(self.children_zxid);
    }
}

/// Checks that `path` is valid: absolute, without empty parts, `.` and `..`.
pub(super) fn check_path(path: &str) -> Result<()> {
    let good = path == "/"
        || path.strip_prefix('/').is_some_and(|rest| {
            rest.split('/').all(|part| !["", ".", ".."].contains(&part)) && !rest.contains('\0')
        });
    if good { Ok(()) } else { Err(Error::invalid(format!("not a node path: {path:?}"))) }
}

fn parent_of(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(at) => &path[..at],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_parents_and_children() {
        let mut nodes = Znodes::new(100);
        nodes.set("/a/b/c", "x", Timestamp::MIN).unwrap();
        nodes.set("/a/b-", "", Timestamp::MIN).unwrap();
        assert_eq!(nodes.children("/").collect::<Vec<_>>(), ["a"]);
        assert_eq!(nodes.children("/a").collect::<Vec<_>>(), ["b", "b-"]);
        assert_eq!(nodes.get("/a").unwrap().children, 2);
        assert_eq!(nodes.zxid(), 104);
        assert!(nodes.remove("/a/b").is_err());
        nodes.remove("/a/b/c").unwrap();
        nodes.remove("/a/b").unwrap();
        assert_eq!(nodes.children("/a").collect::<Vec<_>>(), ["b-"]);
    }

    #[test]
    fn the_same_data_is_no_change() {
        let mut nodes = Znodes::new(0);
        nodes.set("/a", "x", Timestamp::MIN).unwrap();
        nodes.set("/a", "x", Timestamp::MIN).unwrap();
        assert_eq!((nodes.zxid(), nodes.get("/a").unwrap().version), (1, 0));
        nodes.set("/a", "y", Timestamp::MIN).unwrap();
        assert_eq!((nodes.zxid(), nodes.get("/a").unwrap().version), (2, 1));
    }

    #[test]
    fn paths_are_absolute_and_plain() {
        for bad in ["", "a", "/a/", "//a", "/a//b", "/./a", "/a/..", "/a\0"] {
            assert!(check_path(bad).is_err(), "{bad:?}");
        }
        for good in ["/", "/a", "/a/b.c", "/hbase-unsecure"] {
            check_path(good).unwrap();
        }
    }
}
