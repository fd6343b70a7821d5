//! `wire!`: decoding and encoding of structs as JSON objects.

/// Declares the member names of a struct and implements decoding and encoding, in this order. The kinds of a field:
///
/// | kind | decoded | encoded |
/// |---|---|---|
/// | `required` | must be present and fit | always |
/// | `optional` | an `Option`: may be missing or `null` | if `Some` |
/// | `nullable` | an `Option`: may be missing or `null` | always |
/// | `or_default` | may be missing or `null` | always |
/// | `or_false` | a `bool`: may be missing or `null` | if true |
/// | `or_empty` | a `Vec`: may be missing or `null` | if not empty |
/// | `whole_number` | an `Option<u64>`: a value that is not a whole number counts as missing | if `Some` |
/// | `lenient` | an `Option`: a value that does not fit counts as missing | if `Some` |
/// | `compact_number` | an `Option<f64>` | if `Some`, whole numbers without a fraction |
/// | `required_number` | an `f64` that must be present | always, whole numbers without a fraction |
/// | `read_only` | as `lenient` | never |
/// | `content_blocks` | one content block or a list of them | one as a block, several as a list |
/// | `object` | a `Raw` that must be present and an object | always |
/// | `flatten` | an object whose members are inlined; its name is empty | its members |
///
/// A field that users set has its setter after its name: `optional title "title", with_title(String);`.
///
/// `read` before the type implements only decoding ([`FromRaw`](switchboard_json::FromRaw)), `write` only encoding;
/// `fields` implements both and decoding from members whose spans are known (`from_fields`).
macro_rules! wire {
    ($type:ident: $($members:tt)+) => {
        $crate::wire::wire!(read $type: $($members)+);
        $crate::wire::wire!(write $type: $($members)+);
        $crate::wire::impl_deserialize!($type);
    };
    (fields $type:ident: $($kind:ident $field:ident $name:literal $(, $setter:ident($value:ty))?;)+) => {
        $crate::wire::wire!($type: $($kind $field $name $(, $setter($value))?;)+);

        impl $type {
            /// Decodes the members of an object whose spans are known; values that stay JSON stay slices of their text.
            ///
            /// # Errors
            /// When a member is missing, duplicate or does not fit; the error names it.
            pub fn from_fields<'a>(
                fields: impl IntoIterator<Item = (switchboard_json::Name<'a>, switchboard_json::Raw)>,
            ) -> Result<Self, switchboard_json::DecodeError> {
                $(let mut $field = $crate::wire::wire!(@slot $kind fields);)+
                $crate::wire::read_fields(fields, &mut [
                    $($crate::wire::wire!(@row $kind $field $name),)+
                ])?;
                let start = 0;
                let build = || Ok(Self { $($field: $crate::wire::wire!(@take $kind $field $name fields start),)+ });
                build().map_err(|missing: switchboard_json::Mismatch| missing.into_decode_error("", 0))
            }
        }
    };
    (read $type:ident: $($kind:ident $field:ident $name:literal $(, $setter:ident($value:ty))?;)+) => {
        impl switchboard_json::FromRaw for $type {
            fn read(
                reader: &mut switchboard_json::RawReader<'_>,
            ) -> Result<Self, switchboard_json::Mismatch> {
                let start = reader.offset();
                let _ = start; // Used by required members only.
                $(let mut $field = $crate::wire::wire!(@slot $kind reader);)+
                $crate::wire::read_members(reader, &mut [
                    $($crate::wire::wire!(@row $kind $field $name),)+
                ])?;
                Ok(Self { $($field: $crate::wire::wire!(@take $kind $field $name reader start),)+ })
            }
        }
    };
    (write $type:ident: $($kind:ident $field:ident $name:literal $(, $setter:ident($value:ty))?;)+) => {
        impl $type {
            $($($crate::wire::wire!(@setter $kind $setter $field $value);)?)+
        }

        impl $crate::wire::WireObject for $type {
            const MEMBERS: usize = [$($name),+].len();

            fn write_members<S: serde_core::ser::SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error> {
                $($crate::wire::wire!(@member $kind self $field $name to);)+
                Ok(())
            }
        }

        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde_core::ser::SerializeStruct as _;
                let mut object =
                    serializer.serialize_struct(stringify!($type), <Self as $crate::wire::WireObject>::MEMBERS)?;
                $crate::wire::WireObject::write_members(self, &mut object)?;
                object.end()
            }
        }
    };
    (@setter required $($setter:tt)+) => { $crate::setters!(@set $($setter)+); };
    (@setter or_false $($setter:tt)+) => { $crate::setters!(@set $($setter)+); };
    (@setter or_empty $($setter:tt)+) => { $crate::setters!(@set $($setter)+); };
    (@setter $kind:ident $($setter:tt)+) => { $crate::setters!(@some $($setter)+); };
    (@row flatten $field:ident $name:literal) => { $crate::wire::MemberBinding::unnamed(&mut $field) };
    (@row $kind:ident $field:ident $name:literal) => { $crate::wire::MemberBinding::new($name, &mut $field) };
    (@slot required $reader:ident) => { $crate::wire::RequiredSlot(None) };
    (@slot required_number $reader:ident) => { $crate::wire::RequiredSlot(None) };
    (@slot whole_number $reader:ident) => { $crate::wire::WholeNumberSlot(None) };
    (@slot lenient $reader:ident) => { $crate::wire::LenientSlot(None) };
    (@slot read_only $reader:ident) => { $crate::wire::LenientSlot(None) };
    (@slot object $reader:ident) => { $crate::wire::ObjectSlot(None) };
    (@slot flatten $reader:ident) => { $crate::wire::FlattenedSlot($reader.peek()?) };
    (@slot content_blocks $reader:ident) => { $crate::wire::ContentSlot(None) };
    (@slot $kind:ident $reader:ident) => { $crate::wire::OptionalSlot(None) };
    (@take required $field:ident $name:literal $reader:ident $start:ident) => {
        $field.0.ok_or_else(|| switchboard_json::Mismatch::missing($start, $name))?
    };
    (@take object $($member:tt)+) => { $crate::wire::wire!(@take required $($member)+) };
    (@take required_number $($member:tt)+) => { $crate::wire::wire!(@take required $($member)+) };
    (@take content_blocks $($member:tt)+) => { $crate::wire::wire!(@take required $($member)+) };
    (@take or_default $field:ident $name:literal $reader:ident $start:ident) => { $field.0.unwrap_or_default() };
    (@take or_false $field:ident $name:literal $reader:ident $start:ident) => { $field.0.unwrap_or_default() };
    (@take or_empty $field:ident $name:literal $reader:ident $start:ident) => { $field.0.unwrap_or_default() };
    (@take $kind:ident $field:ident $name:literal $reader:ident $start:ident) => { $field.0 };
    (@member required $self:ident $field:ident $name:literal $object:ident) => {
        $object.serialize_field($name, &$self.$field)?;
    };
    (@member object $($member:tt)+) => { $crate::wire::wire!(@member required $($member)+) };
    (@member flatten $self:ident $field:ident $name:literal $object:ident) => {
        $crate::wire::WireObject::write_members(&$self.$field, $object)?;
    };
    (@member nullable $($member:tt)+) => { $crate::wire::wire!(@member required $($member)+) };
    (@member or_default $($member:tt)+) => { $crate::wire::wire!(@member required $($member)+) };
    (@member or_false $self:ident $field:ident $name:literal $object:ident) => {
        if $self.$field {
            $object.serialize_field($name, &true)?;
        }
    };
    (@member or_empty $self:ident $field:ident $name:literal $object:ident) => {
        if !$self.$field.is_empty() {
            $object.serialize_field($name, &$self.$field)?;
        }
    };
    (@member required_number $self:ident $field:ident $name:literal $object:ident) => {
        $object.serialize_field($name, &$crate::number::CompactNumber($self.$field))?;
    };
    (@member compact_number $self:ident $field:ident $name:literal $object:ident) => {
        if let Some(number) = $self.$field {
            $object.serialize_field($name, &$crate::number::CompactNumber(number))?;
        }
    };
    (@member read_only $self:ident $field:ident $name:literal $object:ident) => {};
    (@member content_blocks $self:ident $field:ident $name:literal $object:ident) => {
        match $self.$field.as_slice() {
            [block] => $object.serialize_field($name, block)?,
            blocks => $object.serialize_field($name, blocks)?,
        }
    };
    (@member $kind:ident $self:ident $field:ident $name:literal $object:ident) => {
        if let Some(value) = &$self.$field {
            $object.serialize_field($name, value)?;
        }
    };
}

pub(crate) use wire;

/// Implements `Deserialize` for types that implement `FromRaw`.
macro_rules! impl_deserialize {
    ($($type:ident),+) => {$(
        impl<'de> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::deserialize(deserializer)
            }
        }
    )+};
}

pub(crate) use impl_deserialize;
