//! Macros for serializers that reject most kinds of values: member names and raw text.

/// Serializer methods that reject one scalar each, with the error of `Self::unsupported`.
macro_rules! unsupported_scalars {
    ($($method:ident($type:ty)),* $(,)?) => {$(
        #[cold]
        fn $method(self, _: $type) -> Result<(), Error> {
            Err(Self::unsupported())
        }
    )*};
}

/// Serializer types and methods that reject compound values, bytes, `unit` and `none`. With `struct as` a type, structs
/// are serialized by that type and the implementation provides `serialize_struct`.
macro_rules! unsupported_compounds {
    () => {
        $crate::write::unsupported::unsupported_compounds! { struct as serde_core::ser::Impossible<(), Error> }

        #[cold]
        fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Error> {
            Err(Self::unsupported())
        }
    };
    (struct as $fields:ty) => {
        type SerializeStruct = $fields;
        type SerializeSeq = serde_core::ser::Impossible<(), Error>;
        type SerializeTuple = serde_core::ser::Impossible<(), Error>;
        type SerializeTupleStruct = serde_core::ser::Impossible<(), Error>;
        type SerializeTupleVariant = serde_core::ser::Impossible<(), Error>;
        type SerializeMap = serde_core::ser::Impossible<(), Error>;
        type SerializeStructVariant = serde_core::ser::Impossible<(), Error>;

        $crate::write::unsupported::unsupported_scalars! { serialize_bytes(&[u8]), serialize_unit_struct(&'static str) }

        #[cold]
        fn serialize_unit(self) -> Result<(), Error> {
            Err(Self::unsupported())
        }

        #[cold]
        fn serialize_none(self) -> Result<(), Error> {
            Err(Self::unsupported())
        }

        #[cold]
        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<(), Error> {
            Err(Self::unsupported())
        }

        #[cold]
        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
            Err(Self::unsupported())
        }

        #[cold]
        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
            Err(Self::unsupported())
        }

        #[cold]
        fn serialize_tuple_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleStruct, Error> {
            Err(Self::unsupported())
        }

        #[cold]
        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, Error> {
            Err(Self::unsupported())
        }

        #[cold]
        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
            Err(Self::unsupported())
        }

        #[cold]
        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, Error> {
            Err(Self::unsupported())
        }
    };
}

pub(super) use {unsupported_compounds, unsupported_scalars};
