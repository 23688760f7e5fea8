//! Values with types, and structures that are declared by their fields.

use bytes::Bytes;
use rowhouse_model::Result;

use super::reader::Reader;
use super::wire::Type;
use super::writer::Writer;
use crate::exception::malformed;

/// A value that is read and written as one type.
pub trait Value: Sized {
    /// The type.
    const TYPE: Type;

    /// Reads the value.
    fn read(reader: &mut Reader) -> Result<Self>;

    /// Writes the value.
    fn write(&self, writer: &mut Writer<'_>);
}

/// The content of a structure's field: a value, or maybe a value.
pub trait Member {
    /// Reads the field's value if it has the declared type; returns false if not.
    fn read_member(&mut self, reader: &mut Reader, type_: Type) -> Result<bool>;

    /// Writes the field, unless it has no value.
    fn write_member(&self, id: i16, writer: &mut Writer<'_>);
}

impl<T: Value> Member for Option<T> {
    fn read_member(&mut self, reader: &mut Reader, type_: Type) -> Result<bool> {
        let is_read = type_ == T::TYPE;
        if is_read {
            *self = Some(T::read(reader)?);
        }
        Ok(is_read)
    }

    fn write_member(&self, id: i16, writer: &mut Writer<'_>) {
        if let Some(value) = self {
            writer.field(id, T::TYPE);
            value.write(writer);
        }
    }
}

/// Implements [`Value`] for a type whose values are copied, and [`Member`] for fields that always
/// have one.
macro_rules! primitive {
    ($($rust:ty, $type_:ident, $method:ident;)*) => {$(
        impl Value for $rust {
            const TYPE: Type = Type::$type_;

            fn read(reader: &mut Reader) -> Result<Self> {
                reader.$method()
            }

            fn write(&self, writer: &mut Writer<'_>) {
                writer.$method(*self);
            }
        }

        impl Member for $rust {
            fn read_member(&mut self, reader: &mut Reader, type_: Type) -> Result<bool> {
                let is_read = type_ == <$rust>::TYPE;
                if is_read {
                    *self = <$rust>::read(reader)?;
                }
                Ok(is_read)
            }

            fn write_member(&self, id: i16, writer: &mut Writer<'_>) {
                writer.field(id, <$rust>::TYPE);
                self.write(writer);
            }
        }
    )*};
}

primitive! {
    bool, Bool, boolean;
    i8, I8, i8;
    i32, I32, i32;
    i64, I64, i64;
}

impl Value for Bytes {
    const TYPE: Type = Type::Binary;

    fn read(reader: &mut Reader) -> Result<Self> {
        reader.bytes()
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.bytes(self);
    }
}

impl Value for String {
    const TYPE: Type = Type::Binary;

    fn read(reader: &mut Reader) -> Result<Self> {
        // As Java reads text.
        Ok(String::from_utf8_lossy(&reader.bytes()?).into_owned())
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.bytes(self.as_bytes());
    }
}

fn check(declared: Type, type_: Type) -> Result<()> {
    if declared == type_ {
        return Ok(());
    }
    Err(malformed(format!("an element has another type than declared: {type_:?}, {declared:?}")))
}

impl<T: Value> Value for Vec<T> {
    const TYPE: Type = Type::List;

    fn read(reader: &mut Reader) -> Result<Self> {
        // It grows with the elements that are read: a length alone reserves nothing.
        let mut list = Vec::new();
        reader.list(|reader, type_| {
            check(T::TYPE, type_)?;
            list.push(T::read(reader)?);
            Ok(())
        })?;
        Ok(list)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.list(T::TYPE, self.len());
        self.iter().for_each(|value| value.write(writer));
    }
}

/// A map, as pairs in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs<K, V>(pub Vec<(K, V)>);

impl<K: Value, V: Value> Value for Pairs<K, V> {
    const TYPE: Type = Type::Map;

    fn read(reader: &mut Reader) -> Result<Self> {
        let mut pairs = Vec::new();
        reader.map(|reader, key, value| {
            check(K::TYPE, key)?;
            check(V::TYPE, value)?;
            pairs.push((K::read(reader)?, V::read(reader)?));
            Ok(())
        })?;
        Ok(Self(pairs))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.map(K::TYPE, V::TYPE, self.0.len());
        for (key, value) in &self.0 {
            key.write(writer);
            value.write(writer);
        }
    }
}

/// Declares structures: a number, name, type and default for each field.
macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident {
        $($id:literal $field:ident: $type_:ty = $default:expr,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $(
                #[doc = concat!("Field ", $id, ".")]
                pub $field: $type_,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl Value for $name {
            const TYPE: Type = Type::Struct;

            fn read(reader: &mut Reader) -> Result<Self> {
                let mut value = Self::default();
                reader.structure(|reader, id, type_| match id {
                    $($id => value.$field.read_member(reader, type_),)*
                    _ => Ok(false),
                })?;
                Ok(value)
            }

            fn write(&self, writer: &mut Writer<'_>) {
                writer.structure(|writer| {
                    $(self.$field.write_member($id, writer);)*
                });
            }
        }
    )*};
}

structures! {
    /// A value and the time of writing in milliseconds, without the column.
    TCell {
        1 value: Option<Bytes> = None,
        2 timestamp: i64 = 0,
    }

    /// A column family: the part of the declaration that this interface shows.
    ColumnDescriptor {
        1 name: Option<Bytes> = None,
        2 max_versions: i32 = 3,
        3 compression: Option<String> = Some("NONE".into()),
        4 in_memory: bool = false,
        5 bloom_filter_type: Option<String> = Some("NONE".into()),
        6 bloom_filter_vector_size: i32 = 0,
        7 bloom_filter_hashes: i32 = 0,
        8 block_cache_enabled: bool = false,
        9 time_to_live: i32 = i32::MAX,
    }

    /// A region and the server that has it.
    TRegionInfo {
        1 start_key: Option<Bytes> = None,
        2 end_key: Option<Bytes> = None,
        3 id: i64 = 0,
        4 name: Option<Bytes> = None,
        5 version: i8 = 0,
        6 server_name: Option<Bytes> = None,
        7 port: i32 = 0,
    }

    /// A put of a column, or the deletion of a column or family.
    Mutation {
        1 is_delete: bool = false,
        2 column: Option<Bytes> = None,
        3 value: Option<Bytes> = None,
        4 write_to_wal: bool = true,
    }

    /// The mutations of a row.
    BatchMutation {
        1 row: Option<Bytes> = None,
        2 mutations: Option<Vec<Mutation>> = None,
    }

    /// An increment of a column.
    TIncrement {
        1 table: Option<Bytes> = None,
        2 row: Option<Bytes> = None,
        3 column: Option<Bytes> = None,
        4 amount: i64 = 0,
    }

    /// A scan.
    TScan {
        1 start_row: Option<Bytes> = None,
        2 stop_row: Option<Bytes> = None,
        3 timestamp: Option<i64> = None,
        4 columns: Option<Vec<Bytes>> = None,
        5 caching: Option<i32> = None,
        6 filter_string: Option<Bytes> = None,
        7 batch_size: Option<i32> = None,
        8 sort_columns: Option<bool> = None,
        9 reversed: Option<bool> = None,
        10 cache_blocks: Option<bool> = None,
    }

    /// Values that are appended to columns of a row.
    TAppend {
        1 table: Option<Bytes> = None,
        2 row: Option<Bytes> = None,
        3 columns: Option<Vec<Bytes>> = None,
        4 values: Option<Vec<Bytes>> = None,
    }
}
