//! THE table of commands: what the shell understands, checks, explains and completes.

/// A command of the shell.
pub(crate) struct Command {
    /// What is done.
    pub(crate) verb: Verb,
    pub(crate) name: &'static str,
    pub(crate) alias: Option<&'static str>,
    pub(crate) group: Group,
    pub(crate) arguments: &'static [Argument],
    /// What the hash may hold: name and meaning. Nothing else is let through.
    pub(crate) options: &'static [(&'static str, &'static str)],
    /// One line.
    pub(crate) about: &'static str,
    /// What else there is to know.
    pub(crate) details: &'static str,
    pub(crate) examples: &'static [&'static str],
}

/// What a command does; the interpreter matches it without a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Count,
    Create,
    CreateNamespace,
    Delete,
    DeleteAll,
    Describe,
    Disable,
    Drop,
    DropNamespace,
    Enable,
    Exists,
    Exit,
    Flush,
    Get,
    GetCounter,
    Help,
    Incr,
    IsDisabled,
    IsEnabled,
    List,
    ListNamespace,
    ListNamespaceTables,
    Put,
    Scan,
    Version,
}

/// Where `help` shows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    General,
    Tables,
    Namespaces,
    Data,
}

impl Group {
    pub(crate) const ALL: [Self; 4] = [Self::General, Self::Tables, Self::Namespaces, Self::Data];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Tables => "tables",
            Self::Namespaces => "namespaces",
            Self::Data => "data",
        }
    }
}

/// A place in a call.
pub(crate) struct Argument {
    /// What help and errors call it.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
}

/// What stands in a place, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The name of a table that exists.
    Table,
    /// The name of a command.
    Command,
    /// A hash of options.
    Options,
    /// Anything else.
    Other,
}

/// How often a place is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// Any number of times; the last place.
    Repeated,
}

impl Command {
    /// The command of that name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|command| command.name == name || command.alias == Some(name))
    }

    /// How many arguments it takes, at least and at most.
    pub(crate) fn arity(&self) -> (usize, Option<usize>) {
        let least = self.arguments.iter().filter(|place| place.need == Need::Required).count();
        let any = self.arguments.iter().any(|place| place.need == Need::Repeated);
        (least, (!any).then_some(self.arguments.len()))
    }

    /// The place of the argument at `at`, counted from 0.
    pub(crate) fn place(&self, at: usize) -> Option<&'static Argument> {
        let last = self.arguments.last().filter(|place| place.need == Need::Repeated);
        self.arguments.get(at).or(last)
    }
}

const fn required(name: &'static str) -> Argument {
    Argument { name, kind: Kind::Other, need: Need::Required }
}

const fn optional(name: &'static str) -> Argument {
    Argument { name, kind: Kind::Other, need: Need::Optional }
}

const fn repeated(name: &'static str) -> Argument {
    Argument { name, kind: Kind::Other, need: Need::Repeated }
}

const TABLE: Argument = Argument { name: "TABLE", kind: Kind::Table, need: Need::Required };
const OPTIONS: Argument = Argument { name: "OPTIONS", kind: Kind::Options, need: Need::Optional };

const COLUMN: (&str, &str) =
    ("COLUMN", "a column 'family:qualifier', a family, or an array of them");
const COLUMNS: (&str, &str) = ("COLUMNS", "the same");
const TIMESTAMP: (&str, &str) = ("TIMESTAMP", "only cells with exactly this timestamp");
const TIMERANGE: (&str, &str) = ("TIMERANGE", "[from, to): only cells with timestamps in between");
const VERSIONS: (&str, &str) = ("VERSIONS", "up to so many versions of each column; 1 by default");
const STARTROW: (&str, &str) = ("STARTROW", "the first row");
const STOPROW: (&str, &str) = ("STOPROW", "the first row that is no longer wanted");
const ROWPREFIXFILTER: (&str, &str) = ("ROWPREFIXFILTER", "only rows that begin with this");
const LIMIT: (&str, &str) = ("LIMIT", "at most so many rows");
const CACHE: (&str, &str) = ("CACHE", "rows fetched at a time");
const REVERSED: (&str, &str) = ("REVERSED", "true: from the last row to the first");
const DECODE: (&str, &str) = ("DECODE", "true: show keys by the fields of the table's template");

/// Every command, by name.
pub(crate) const COMMANDS: &[Command] = &[
    Command {
        verb: Verb::Count,
        name: "count",
        alias: None,
        group: Group::Data,
        arguments: &[TABLE, OPTIONS],
        options: &[
            ("INTERVAL", "tell the count every so many rows; 1000 by default"),
            CACHE,
            COLUMN,
            COLUMNS,
            STARTROW,
            STOPROW,
            ROWPREFIXFILTER,
            TIMESTAMP,
            TIMERANGE,
        ],
        about: "Counts rows by reading them.",
        details: "A number instead of the options is the interval.",
        examples: &["count 'blog'", "count 'blog', INTERVAL => 100000", "count 'blog', 10"],
    },
    Command {
        verb: Verb::Create,
        name: "create",
        alias: None,
        group: Group::Tables,
        arguments: &[
            Argument { name: "TABLE", kind: Kind::Other, need: Need::Required },
            repeated("FAMILY or OPTIONS"),
        ],
        options: &[
            ("NAME", "a family's name; the other pairs of its hash are the family's attributes"),
            ("VERSIONS", "of a family: how many versions of a cell are kept"),
            ("TTL", "of a family: seconds a cell lives, '1 DAY 2 HOURS', or 'FOREVER'"),
            ("MIN_VERSIONS", "of a family: how many versions outlive their TTL"),
            ("BLOCKSIZE", "of a family: bytes of a data block"),
            ("BLOOMFILTER", "of a family: 'ROW' or 'NONE'"),
            ("COMPRESSION", "of a family: 'NONE'"),
            ("KEY", "the template of the table's row key"),
            ("SPLITS", "an array of rows at which further regions begin; \\xHH is a byte"),
            ("METADATA", "a hash of the table's, or the family's, own attributes"),
            ("CONFIGURATION", "a hash of configuration values of the table, or the family"),
        ],
        about: "Makes a table.",
        details: "A family is its name or a hash with NAME. Pairs that belong to no family are the table's.",
        examples: &[
            "create 'blog', 'cf'",
            "create 'blog', {NAME => 'cf', VERSIONS => 3}, {NAME => 'log', TTL => 86400}",
            "create 'blog', 'cf', KEY => '[blogger text]_[at millis digits desc]'",
            "create 'blog', 'cf', SPLITS => ['10', '20', '30']",
        ],
    },
    Command {
        verb: Verb::CreateNamespace,
        name: "create_namespace",
        alias: None,
        group: Group::Namespaces,
        arguments: &[required("NAMESPACE"), OPTIONS],
        options: &[("…", "any name: a configuration value of the namespace")],
        about: "Makes a namespace.",
        details: "",
        examples: &["create_namespace 'shop'", "create_namespace 'shop', {'owner' => 'sales'}"],
    },
    Command {
        verb: Verb::Delete,
        name: "delete",
        alias: None,
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMN"), optional("TIMESTAMP"), OPTIONS],
        options: &[],
        about: "Deletes one version of a cell: the newest, or the one at a timestamp.",
        details: "Of a family without a qualifier, the cells that are exactly at the timestamp.",
        examples: &[
            "delete 'blog', '1', 'cf:title'",
            "delete 'blog', '1', 'cf:title', 1669852800000",
        ],
    },
    Command {
        verb: Verb::DeleteAll,
        name: "deleteall",
        alias: None,
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), optional("COLUMN"), optional("TIMESTAMP"), OPTIONS],
        options: &[ROWPREFIXFILTER, ("CACHE", "rows deleted at a time; 100 by default")],
        about: "Deletes a row, a family of it, or all versions of a column, up to a timestamp.",
        details: "{ROWPREFIXFILTER => …} instead of the row does so in all rows that begin with it.",
        examples: &[
            "deleteall 'blog', '1'",
            "deleteall 'blog', '1', 'cf:title'",
            "deleteall 'blog', '1', '', 1669852800000",
            "deleteall 'blog', {ROWPREFIXFILTER => '1_'}",
        ],
    },
    Command {
        verb: Verb::Describe,
        name: "describe",
        alias: Some("desc"),
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Shows how a table was declared.",
        details: "",
        examples: &["describe 'blog'", "desc 'shop:orders'"],
    },
    Command {
        verb: Verb::Disable,
        name: "disable",
        alias: None,
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Has a table take no more reads and writes.",
        details: "",
        examples: &["disable 'blog'"],
    },
    Command {
        verb: Verb::Drop,
        name: "drop",
        alias: None,
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Drops a disabled table and all it holds.",
        details: "",
        examples: &["disable 'blog'; drop 'blog'"],
    },
    Command {
        verb: Verb::DropNamespace,
        name: "drop_namespace",
        alias: None,
        group: Group::Namespaces,
        arguments: &[required("NAMESPACE")],
        options: &[],
        about: "Drops an empty namespace.",
        details: "",
        examples: &["drop_namespace 'shop'"],
    },
    Command {
        verb: Verb::Enable,
        name: "enable",
        alias: None,
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Has a disabled table take reads and writes again.",
        details: "",
        examples: &["enable 'blog'"],
    },
    Command {
        verb: Verb::Exists,
        name: "exists",
        alias: None,
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Tells whether there is such a table.",
        details: "",
        examples: &["exists 'blog'"],
    },
    Command {
        verb: Verb::Exit,
        name: "exit",
        alias: Some("quit"),
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Leaves the shell.",
        details: "",
        examples: &["exit"],
    },
    Command {
        verb: Verb::Flush,
        name: "flush",
        alias: None,
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Writes what a table has in memory to files.",
        details: "",
        examples: &["flush 'blog'"],
    },
    Command {
        verb: Verb::Get,
        name: "get",
        alias: None,
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), repeated("COLUMN or OPTIONS")],
        options: &[COLUMN, COLUMNS, TIMESTAMP, TIMERANGE, VERSIONS, DECODE],
        about: "Reads a row, or some of its columns.",
        details: "",
        examples: &[
            "get 'blog', '1'",
            "get 'blog', '1', 'cf:title', 'cf:content'",
            "get 'blog', '1', {COLUMN => 'cf:title', VERSIONS => 3}",
            "get 'blog', '1', TIMERANGE => [1669852800000, 1672531200000]",
        ],
    },
    Command {
        verb: Verb::GetCounter,
        name: "get_counter",
        alias: None,
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMN")],
        options: &[],
        about: "Reads a counter.",
        details: "",
        examples: &["get_counter 'blog', '1', 'cf:visits'"],
    },
    Command {
        verb: Verb::Help,
        name: "help",
        alias: None,
        group: Group::General,
        arguments: &[Argument { name: "COMMAND", kind: Kind::Command, need: Need::Optional }],
        options: &[],
        about: "Explains the shell, or one command.",
        details: "",
        examples: &["help", "help 'get'"],
    },
    Command {
        verb: Verb::Incr,
        name: "incr",
        alias: None,
        group: Group::Data,
        arguments: &[TABLE, required("ROW"), required("COLUMN"), optional("AMOUNT"), OPTIONS],
        options: &[],
        about: "Adds to a counter, 1 unless told otherwise, and tells its new value.",
        details: "A counter is a cell of eight bytes; one that is not there counts as 0.",
        examples: &["incr 'blog', '1', 'cf:visits'", "incr 'blog', '1', 'cf:visits', -3"],
    },
    Command {
        verb: Verb::IsDisabled,
        name: "is_disabled",
        alias: None,
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Tells whether a table is disabled.",
        details: "",
        examples: &["is_disabled 'blog'"],
    },
    Command {
        verb: Verb::IsEnabled,
        name: "is_enabled",
        alias: None,
        group: Group::Tables,
        arguments: &[TABLE],
        options: &[],
        about: "Tells whether a table is enabled.",
        details: "",
        examples: &["is_enabled 'blog'"],
    },
    Command {
        verb: Verb::List,
        name: "list",
        alias: None,
        group: Group::Tables,
        arguments: &[optional("PATTERN")],
        options: &[],
        about: "Lists tables, all or those whose whole name matches a regular expression.",
        details: "",
        examples: &["list", "list 'blog.*'", "list 'shop:.*'"],
    },
    Command {
        verb: Verb::ListNamespace,
        name: "list_namespace",
        alias: None,
        group: Group::Namespaces,
        arguments: &[optional("PATTERN")],
        options: &[],
        about: "Lists namespaces, all or those whose whole name matches a regular expression.",
        details: "",
        examples: &["list_namespace", "list_namespace 's.*'"],
    },
    Command {
        verb: Verb::ListNamespaceTables,
        name: "list_namespace_tables",
        alias: None,
        group: Group::Namespaces,
        arguments: &[required("NAMESPACE")],
        options: &[],
        about: "Lists the tables of a namespace.",
        details: "",
        examples: &["list_namespace_tables 'shop'"],
    },
    Command {
        verb: Verb::Put,
        name: "put",
        alias: None,
        group: Group::Data,
        arguments: &[
            TABLE,
            required("ROW"),
            required("COLUMN"),
            required("VALUE"),
            optional("TIMESTAMP"),
            OPTIONS,
        ],
        options: &[],
        about: "Writes a cell, now or at a timestamp.",
        details: "Texts in single quotes are taken as they are; in double quotes \\x00 is a byte and \\u5206 a character.",
        examples: &[
            "put 'blog', '1', 'cf:title', 'first post'",
            "put 'blog', '1', 'cf:title', 'first post', 1669852800000",
            "put 'blog', \"1\\x00\\xff\", 'cf:title', \"\\u5206\\u680f\"",
        ],
    },
    Command {
        verb: Verb::Scan,
        name: "scan",
        alias: None,
        group: Group::Data,
        arguments: &[TABLE, OPTIONS],
        options: &[
            STARTROW,
            STOPROW,
            ROWPREFIXFILTER,
            COLUMN,
            COLUMNS,
            LIMIT,
            VERSIONS,
            TIMESTAMP,
            TIMERANGE,
            REVERSED,
            CACHE,
            DECODE,
        ],
        about: "Reads rows in the order of their keys.",
        details: "",
        examples: &[
            "scan 'blog'",
            "scan 'blog', {COLUMNS => ['cf:title'], LIMIT => 10}",
            "scan 'blog', STARTROW => '1_', STOPROW => '2_'",
            "scan 'blog', ROWPREFIXFILTER => '1_', DECODE => true",
        ],
    },
    Command {
        verb: Verb::Version,
        name: "version",
        alias: None,
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Shows the version of this program.",
        details: "",
        examples: &["version"],
    },
];

/// Options of HBase's shell that these commands do not take yet: refused by name, with the reason.
pub(crate) const NOT_YET: &[&str] = &[
    "ALLOW_PARTIAL_RESULTS",
    "ALL_METRICS",
    "ATTRIBUTES",
    "AUTHORIZATIONS",
    "BATCH",
    "CACHE_BLOCKS",
    "CONSISTENCY",
    "FILTER",
    "FORMATTER",
    "FORMATTER_CLASS",
    "ISOLATION_LEVEL",
    "MAXLENGTH",
    "MAX_RESULT_SIZE",
    "METHOD",
    "METRICS",
    "NUMREGIONS",
    "RAW",
    "READONLY",
    "READ_TYPE",
    "REGION_REPLICATION",
    "REGION_REPLICA_ID",
    "SPLITALGO",
    "SPLITS_FILE",
    "TTL",
    "VISIBILITY",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_places_that_may_be_left_out_come_last() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
        for command in COMMANDS {
            let needs: Vec<_> = command.arguments.iter().map(|place| place.need as u8).collect();
            assert!(needs.is_sorted(), "{}", command.name);
            assert!(!command.examples.is_empty(), "{}", command.name);
        }
    }
}
