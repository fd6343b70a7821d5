//! What the two small serializers have in common: most kinds of values are an error to them.

/// Methods that refuse one plain value each. The type says why, in `refuse`.
macro_rules! refuse {
    ($($method:ident($type:ty)),* $(,)?) => {$(
        #[cold]
        fn $method(self, _: $type) -> Result<(), Error> {
            Err(Self::refuse())
        }
    )*};
}

/// The types and methods that refuse all that is made of several values, and all that has no text. With `struct as` a
/// type, that serializes structs, and the method is left to be written.
macro_rules! refuse_the_rest {
    () => {
        $crate::write::refuse::refuse_the_rest! { struct as serde_core::ser::Impossible<(), Error> }

        #[cold]
        fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Error> {
            Err(Self::refuse())
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

        $crate::write::refuse::refuse! { serialize_bytes(&[u8]), serialize_unit_struct(&'static str) }

        #[cold]
        fn serialize_unit(self) -> Result<(), Error> {
            Err(Self::refuse())
        }

        #[cold]
        fn serialize_none(self) -> Result<(), Error> {
            Err(Self::refuse())
        }

        #[cold]
        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<(), Error> {
            Err(Self::refuse())
        }

        #[cold]
        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
            Err(Self::refuse())
        }

        #[cold]
        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
            Err(Self::refuse())
        }

        #[cold]
        fn serialize_tuple_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleStruct, Error> {
            Err(Self::refuse())
        }

        #[cold]
        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, Error> {
            Err(Self::refuse())
        }

        #[cold]
        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
            Err(Self::refuse())
        }

        #[cold]
        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, Error> {
            Err(Self::refuse())
        }
    };
}

pub(super) use {refuse, refuse_the_rest};
