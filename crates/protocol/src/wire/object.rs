//! Structs that are objects on the wire.

/// What a struct's fields are called on the wire; reads and writes them in this order. The kinds of a field:
///
/// | kind | read | written |
/// |---|---|---|
/// | `need` | must be there and fit | always |
/// | `may` | an `Option`: may be missing or `null` | when there is one |
/// | `null` | an `Option`: may be missing or `null` | always |
/// | `or_default` | may be missing or `null` | always |
/// | `or_false` | a `bool`: may be missing or `null` | when true |
/// | `or_empty` | a `Vec`: may be missing or `null` | when not empty |
/// | `whole` | an `Option<u64>`: what is no whole number counts as missing | when there is one |
/// | `fit` | an `Option`: what does not fit counts as missing | when there is one |
/// | `tidy` | an `Option<f64>` | when there is one, whole numbers without a fraction |
/// | `number` | an `f64` that must be there | always, whole numbers without a fraction |
/// | `unwritten` | as `fit` | never |
/// | `blocks` | one content block or a list of them | one as a block, several as a list |
/// | `object` | a `Raw` that must be there and be an object | always |
/// | `flat` | an object whose members stand among these; its name is empty | its members |
///
/// With `read` before the type it is only read, through [`FromRaw`](switchboard_json::FromRaw), with `write` only written.
macro_rules! wire {
    ($type:ident: $($members:tt)+) => {
        $crate::wire::wire!(read $type: $($members)+);
        $crate::wire::wire!(write $type: $($members)+);
        $crate::wire::deserialized!($type);
    };
    (read $type:ident: $($kind:ident $field:ident $name:literal;)+) => {
        impl switchboard_json::FromRaw for $type {
            fn read(
                reader: &mut switchboard_json::Reader<'_>,
            ) -> Result<Self, switchboard_json::Mismatch> {
                let start = reader.offset();
                let _ = start; // Only what must be there asks for it.
                $(let mut $field = $crate::wire::wire!(@slot $kind reader);)+
                $crate::wire::read_members(reader, &mut [
                    $($crate::wire::wire!(@row $kind $field $name),)+
                ])?;
                Ok(Self { $($field: $crate::wire::wire!(@take $kind $field $name reader start),)+ })
            }
        }
    };
    (write $type:ident: $($kind:ident $field:ident $name:literal;)+) => {
        impl $crate::wire::Object for $type {
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
                    serializer.serialize_struct(stringify!($type), <Self as $crate::wire::Object>::MEMBERS)?;
                $crate::wire::Object::write_members(self, &mut object)?;
                object.end()
            }
        }

    };
    (@row flat $field:ident $name:literal) => { $crate::wire::Member::nameless(&mut $field) };
    (@row $kind:ident $field:ident $name:literal) => { $crate::wire::Member::new($name, &mut $field) };
    (@slot need $reader:ident) => { $crate::wire::Need(None) };
    (@slot number $reader:ident) => { $crate::wire::Need(None) };
    (@slot whole $reader:ident) => { $crate::wire::Whole(None) };
    (@slot fit $reader:ident) => { $crate::wire::Fit(None) };
    (@slot unwritten $reader:ident) => { $crate::wire::Fit(None) };
    (@slot object $reader:ident) => { $crate::wire::ObjectOnly(None) };
    (@slot flat $reader:ident) => { $crate::wire::Flat($reader.peek()?) };
    (@slot blocks $reader:ident) => { $crate::wire::Blocks(None) };
    (@slot $kind:ident $reader:ident) => { $crate::wire::May(None) };
    (@take need $field:ident $name:literal $reader:ident $start:ident) => {
        $field.0.ok_or_else(|| switchboard_json::Mismatch::missing($start, $name))?
    };
    (@take object $field:ident $name:literal $reader:ident $start:ident) => {
        $field.0.ok_or_else(|| switchboard_json::Mismatch::missing($start, $name))?
    };
    (@take number $field:ident $name:literal $reader:ident $start:ident) => {
        $field.0.ok_or_else(|| switchboard_json::Mismatch::missing($start, $name))?
    };
    (@take blocks $field:ident $name:literal $reader:ident $start:ident) => {
        $field.0.ok_or_else(|| switchboard_json::Mismatch::missing($start, $name))?
    };
    (@take or_default $field:ident $name:literal $reader:ident $start:ident) => { $field.0.unwrap_or_default() };
    (@take or_false $field:ident $name:literal $reader:ident $start:ident) => { $field.0.unwrap_or_default() };
    (@take or_empty $field:ident $name:literal $reader:ident $start:ident) => { $field.0.unwrap_or_default() };
    (@take $kind:ident $field:ident $name:literal $reader:ident $start:ident) => { $field.0 };
    (@member need $self:ident $field:ident $name:literal $to:ident) => {
        $to.serialize_field($name, &$self.$field)?;
    };
    (@member object $self:ident $field:ident $name:literal $to:ident) => {
        $to.serialize_field($name, &$self.$field)?;
    };
    (@member flat $self:ident $field:ident $name:literal $to:ident) => {
        $crate::wire::Object::write_members(&$self.$field, $to)?;
    };
    (@member null $self:ident $field:ident $name:literal $to:ident) => {
        $to.serialize_field($name, &$self.$field)?;
    };
    (@member or_default $self:ident $field:ident $name:literal $to:ident) => {
        $to.serialize_field($name, &$self.$field)?;
    };
    (@member or_false $self:ident $field:ident $name:literal $to:ident) => {
        if $self.$field {
            $to.serialize_field($name, &true)?;
        }
    };
    (@member or_empty $self:ident $field:ident $name:literal $to:ident) => {
        if !$self.$field.is_empty() {
            $to.serialize_field($name, &$self.$field)?;
        }
    };
    (@member number $self:ident $field:ident $name:literal $to:ident) => {
        $to.serialize_field($name, &$crate::lenient::Tidy($self.$field))?;
    };
    (@member tidy $self:ident $field:ident $name:literal $to:ident) => {
        if let Some(number) = $self.$field {
            $to.serialize_field($name, &$crate::lenient::Tidy(number))?;
        }
    };
    (@member unwritten $self:ident $field:ident $name:literal $to:ident) => {};
    (@member blocks $self:ident $field:ident $name:literal $to:ident) => {
        match $self.$field.as_slice() {
            [block] => $to.serialize_field($name, block)?,
            blocks => $to.serialize_field($name, blocks)?,
        }
    };
    (@member $kind:ident $self:ident $field:ident $name:literal $to:ident) => {
        if let Some(value) = &$self.$field {
            $to.serialize_field($name, value)?;
        }
    };
}

pub(crate) use wire;

/// Lets types that are read from raw text stand in types that are deserialised.
macro_rules! deserialized {
    ($($type:ident),+) => {$(
        impl<'de> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::deserialize(deserializer)
            }
        }
    )+};
}

pub(crate) use deserialized;
