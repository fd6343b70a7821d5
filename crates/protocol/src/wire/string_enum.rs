//! Enums that are one of a few words on the wire.

/// What an enum's variants are called on the wire; reads and writes them.
macro_rules! string_enum {
    ($type:ident: $($variant:ident $word:literal),+ $(,)?) => {
        impl $type {
            const fn as_wire_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            fn from_wire_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    other => Err($crate::wire::unknown_variant(other, &[$($word),+])),
                }
            }
        }

        impl switchboard_json::FromRaw for $type {
            fn read(
                reader: &mut switchboard_json::Reader<'_>,
            ) -> Result<Self, switchboard_json::Mismatch> {
                let start = reader.offset();
                let word = reader.read_string()?;
                Self::from_wire_str(&word).map_err(|reason| switchboard_json::Mismatch::new(start, reason))
            }
        }

        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_wire_str())
            }
        }

        impl<'de> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::from_wire_str(&word).map_err(serde_core::de::Error::custom)
            }
        }
    };
}

pub(crate) use string_enum;

/// The reason why a word is not one of those that are known.
#[cold]
pub(crate) fn unknown_variant(word: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
    match known.as_slice() {
        [only] => format!("unknown variant `{word}`, expected {only}"),
        [one, other] => format!("unknown variant `{word}`, expected {one} or {other}"),
        several => format!("unknown variant `{word}`, expected one of {}", several.join(", ")),
    }
}
