//! The methods of HBase's interface Thrift 1, and their arguments.

use bytes::Bytes;
use rowhouse_model::Result;

use super::reader::Reader;
use super::record::{
    BatchMutation, ColumnDescriptor, Member, Mutation, Pairs, TAppend, TIncrement, TScan,
};
use super::wire::Type;
use super::writer::Writer;

/// Declares [`Args`] and [`Arg`]: the arguments of all methods together. Most are in many methods.
macro_rules! arguments {
    ($($arg:ident $field:ident: $type_:ty,)*) => {
        /// An argument.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Arg {
            $($arg,)*
        }

        /// The arguments of a call; those that the method does not have are `None`.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Args {
            $(
                #[doc = concat!("The argument `", stringify!($field), "`.")]
                pub $field: Option<$type_>,
            )*
        }

        impl Args {
            fn read_arg(&mut self, arg: Arg, reader: &mut Reader, type_: Type) -> Result<bool> {
                match arg {
                    $(Arg::$arg => self.$field.read_member(reader, type_),)*
                }
            }

            fn write_arg(&self, arg: Arg, id: i16, writer: &mut Writer<'_>) {
                match arg {
                    $(Arg::$arg => self.$field.write_member(id, writer),)*
                }
            }
        }
    };
}

arguments! {
    Table table: Bytes,
    Row row: Bytes,
    Rows rows: Vec<Bytes>,
    StopRow stop_row: Bytes,
    Column column: Bytes,
    Columns columns: Vec<Bytes>,
    Timestamp timestamp: i64,
    Versions versions: i32,
    Attributes attributes: Pairs<Bytes, Bytes>,
    Families families: Vec<ColumnDescriptor>,
    Mutation mutation: Mutation,
    Mutations mutations: Vec<Mutation>,
    Batches batches: Vec<BatchMutation>,
    Value value: Bytes,
    Unused unused: bool,
    Amount amount: i64,
    Increment increment: TIncrement,
    Increments increments: Vec<TIncrement>,
    Append append: TAppend,
    Scan scan: TScan,
    Scanner scanner: i32,
    RowCount row_count: i32,
}

/// Declares the methods with their names and arguments, which are numbered from 1.
macro_rules! methods {
    ($($method:ident $name:literal: $($arg:ident)*;)*) => {
        /// A method of the interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $(
                #[doc = concat!("`", $name, "`.")]
                $method,
            )*
        }

        impl Method {
            /// All methods.
            pub const ALL: &[Self] = &[$(Self::$method,)*];

            /// Returns the method with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$method),)*
                    _ => None,
                }
            }

            /// Returns the method's name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$method => $name,)*
                }
            }

            fn args(self) -> &'static [Arg] {
                match self {
                    $(Self::$method => &[$(Arg::$arg),*],)*
                }
            }
        }
    };
}

methods! {
    EnableTable "enableTable": Table;
    DisableTable "disableTable": Table;
    IsTableEnabled "isTableEnabled": Table;
    Compact "compact": Table;
    MajorCompact "majorCompact": Table;
    GetTableNames "getTableNames":;
    GetTableNamesWithIsTableEnabled "getTableNamesWithIsTableEnabled":;
    GetColumnDescriptors "getColumnDescriptors": Table;
    GetTableRegions "getTableRegions": Table;
    CreateTable "createTable": Table Families;
    DeleteTable "deleteTable": Table;
    Get "get": Table Row Column Attributes;
    GetVer "getVer": Table Row Column Versions Attributes;
    GetVerTs "getVerTs": Table Row Column Timestamp Versions Attributes;
    GetRow "getRow": Table Row Attributes;
    GetRowWithColumns "getRowWithColumns": Table Row Columns Attributes;
    GetRowTs "getRowTs": Table Row Timestamp Attributes;
    GetRowWithColumnsTs "getRowWithColumnsTs": Table Row Columns Timestamp Attributes;
    GetRows "getRows": Table Rows Attributes;
    GetRowsWithColumns "getRowsWithColumns": Table Rows Columns Attributes;
    GetRowsTs "getRowsTs": Table Rows Timestamp Attributes;
    GetRowsWithColumnsTs "getRowsWithColumnsTs": Table Rows Columns Timestamp Attributes;
    MutateRow "mutateRow": Table Row Mutations Attributes;
    MutateRowTs "mutateRowTs": Table Row Mutations Timestamp Attributes;
    MutateRows "mutateRows": Table Batches Attributes;
    MutateRowsTs "mutateRowsTs": Table Batches Timestamp Attributes;
    AtomicIncrement "atomicIncrement": Table Row Column Amount;
    DeleteAll "deleteAll": Table Row Column Attributes;
    DeleteAllTs "deleteAllTs": Table Row Column Timestamp Attributes;
    DeleteAllRow "deleteAllRow": Table Row Attributes;
    DeleteAllRowTs "deleteAllRowTs": Table Row Timestamp Attributes;
    Increment "increment": Increment;
    IncrementRows "incrementRows": Increments;
    ScannerOpenWithScan "scannerOpenWithScan": Table Scan Attributes;
    ScannerOpen "scannerOpen": Table Row Columns Attributes;
    ScannerOpenWithStop "scannerOpenWithStop": Table Row StopRow Columns Attributes;
    ScannerOpenWithPrefix "scannerOpenWithPrefix": Table Row Columns Attributes;
    ScannerOpenTs "scannerOpenTs": Table Row Columns Timestamp Attributes;
    ScannerOpenWithStopTs "scannerOpenWithStopTs": Table Row StopRow Columns Timestamp Attributes;
    ScannerGet "scannerGet": Scanner;
    ScannerGetList "scannerGetList": Scanner RowCount;
    ScannerClose "scannerClose": Scanner;
    GetRegionInfo "getRegionInfo": Row;
    Append "append": Append;
    // No argument has the number 4.
    CheckAndPut "checkAndPut": Table Row Column Unused Value Mutation Attributes;
    GetThriftServerType "getThriftServerType":;
    GetClusterId "getClusterId":;
}

impl Args {
    /// Reads the arguments of a method. Numbers that are not sent are 0, as in Java.
    pub fn read(method: Method, reader: &mut Reader) -> Result<Self> {
        let mut args = Self::default();
        let numbered = method.args();
        for arg in numbered {
            match arg {
                Arg::Timestamp => args.timestamp = Some(0),
                Arg::Versions => args.versions = Some(0),
                Arg::Amount => args.amount = Some(0),
                Arg::Scanner => args.scanner = Some(0),
                Arg::RowCount => args.row_count = Some(0),
                _ => {}
            }
        }
        reader.structure(|reader, id, type_| {
            let place = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
            match place.and_then(|place| numbered.get(place)) {
                Some(&arg) => args.read_arg(arg, reader, type_),
                None => Ok(false),
            }
        })?;
        Ok(args)
    }

    /// Writes the arguments of a method.
    pub fn write(&self, method: Method, writer: &mut Writer<'_>) {
        writer.structure(|writer| {
            for (id, &arg) in (1..).zip(method.args()) {
                self.write_arg(arg, id, writer);
            }
        });
    }
}
