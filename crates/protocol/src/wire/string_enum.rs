//! `string_enum!`: decoding and encoding of enums as JSON strings.

/// Declares the wire strings of an enum's variants and implements decoding and encoding.
macro_rules! string_enum {
    ($type:ident: $($variant:ident $text:literal),+ $(,)?) => {
        impl $type {
            const fn as_wire_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            fn from_wire_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err($crate::wire::unknown_variant(other, &[$($text),+])),
                }
            }
        }

        impl switchboard_json::FromRaw for $type {
            fn read(
                reader: &mut switchboard_json::RawReader<'_>,
            ) -> Result<Self, switchboard_json::Mismatch> {
                let start = reader.offset();
                let text = reader.read_string()?;
                Self::from_wire_str(&text).map_err(|reason| switchboard_json::Mismatch::new(start, reason))
            }
        }

        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_wire_str())
            }
        }

        impl<'de> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::from_wire_str(&text).map_err(serde_core::de::Error::custom)
            }
        }
    };
}

pub(crate) use string_enum;

/// Returns the error message for an unknown variant, in the words of serde.
#[cold]
pub(crate) fn unknown_variant(text: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|text| format!("`{text}`")).collect();
    match known.as_slice() {
        [only] => format!("unknown variant `{text}`, expected {only}"),
        [one, other] => format!("unknown variant `{text}`, expected {one} or {other}"),
        several => format!("unknown variant `{text}`, expected one of {}", several.join(", ")),
    }
}
