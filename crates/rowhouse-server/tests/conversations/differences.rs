//! The known differences between this server's answers and HBase's.

/// An answer or partial answer that differs from HBase's.
pub(crate) struct Difference {
    /// The answered call's method.
    pub(crate) method: &'static str,
    /// The differing part.
    pub(crate) what: What,
    /// The reason.
    pub(crate) why: &'static str,
}

/// An answer's differing part.
pub(crate) enum What {
    /// HBase's text and the text that replaces it in this server's answer.
    Part(&'static str, &'static str),
    /// This server's complete answer, independent of HBase's.
    Whole(&'static str),
}

use What::{Part, Whole};

/// All known differences. One that no recorded call shows fails the test and must be removed.
pub(crate) const DIFFERENCES: &[Difference] = &[
    Difference {
        method: "getChildren",
        what: Whole("xid: 3\nerror: 0\nhbaseid\nmaster\nmeta-region-server\nrs\ntable\n"),
        why: "the other nodes are for servers, which are one process here",
    },
    Difference {
        method: "getProcedureResult",
        what: Part("\n    submitted_time: <time>,\n    last_update: <time>,", ""),
        why: "the work is done when its number is given out; clients only look at the state",
    },
    Difference {
        method: "EnableTable",
        what: Whole(
            "org.apache.hadoop.hbase.TableNotDisabledException\n  \
             message: Not DISABLED; tableName=errors, state=ENABLED\n  do_not_retry: true\n",
        ),
        why: "refused at once, where Apache's procedure fails: the client throws the same class",
    },
    Difference {
        method: "CreateTable",
        what: Part(
            " Set hbase.table.sanity.checks to false at conf or table descriptor if you want to \
             bypass sanity checks",
            "",
        ),
        why: "there is no such setting",
    },
    Difference {
        method: "Scan",
        what: Part(
            "more_results_in_region: true,\n    mvcc_read_point: <number>,\n}\n  \
             blog,,<id of blog,> info:regioninfo",
            "more_results_in_region: false,\n    mvcc_read_point: <number>,\n}\n  \
             blog,,<id of blog,> info:regioninfo",
        ),
        why: "Apache looks ahead by cells and met those of a deleted row; we look ahead by rows",
    },
    Difference {
        method: "Scan",
        what: Part(
            "more_results: false,\n    stale: false,\n    partial_flag_per_result: [\n        \
             false,\n    ],\n    more_results_in_region: false",
            "more_results: false,\n    stale: false,\n    partial_flag_per_result: [\n        \
             false,\n    ],\n    more_results_in_region: true",
        ),
        why: "at the limit the client stops whatever the region has: no row is read to tell",
    },
    NO_SUCH_FAMILY_IN_GET,
    Difference { method: "Mutate", ..NO_SUCH_FAMILY_IN_GET },
    Difference { method: "Multi", ..NO_SUCH_FAMILY_IN_GET },
    Difference {
        method: "Get",
        what: Part("is not online on <server>", "is not online"),
        why: "the store that refuses knows no server; clients go by the class",
    },
    Difference {
        method: "GetClusterStatus",
        what: Part("2.6.4-hadoop3", "2.6.4"),
        why: "there is no Hadoop",
    },
    Difference {
        method: "GetClusterStatus",
        what: Part("\n    master_info_port: 0,", ""),
        why: "the master has no page of its own",
    },
    Difference {
        method: "GetClusterStatus",
        what: Part(
            "\n    ),\n    master: Some(",
            "\n    ),\n    master_coprocessors: [\n        Coprocessor {\n            \
             name: \"rowhouse.indexes\",\n        },\n    ],\n    master: Some(",
        ),
        why: "our own client leaves entries of indexes to a server that keeps them",
    },
];

const NO_SUCH_FAMILY_IN_GET: Difference = Difference {
    method: "Get",
    what: Part(
        "{TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}, \
         {NAME => 'cf', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', \
         KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', \
         MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', \
         IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', \
         BLOCKSIZE => '65536 B (64KB)'}",
        "{NAME => 'cf'}",
    ),
    why: "the families' names are what the reader of the message looks for",
};

/// Returns true if this server's answer equals HBase's except for known differences, which are
/// marked in `seen`.
pub(crate) fn is_known(method: &str, apache: &str, ours: &str, seen: &mut [bool]) -> bool {
    let mut apache = apache.to_owned();
    for (number, difference) in DIFFERENCES.iter().enumerate() {
        if difference.method != method || apache == ours {
            continue;
        }
        match difference.what {
            Whole(answer) if answer == ours => {
                seen[number] = true;
                return true;
            }
            Part(theirs, own) if apache.contains(theirs) && !ours.contains(theirs) => {
                seen[number] = true;
                apache = apache.replace(theirs, own);
            }
            Whole(_) | Part(..) => {}
        }
    }
    apache == ours
}
