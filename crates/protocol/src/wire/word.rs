//! Enums that are one of a few words on the wire.

/// What an enum's variants are called on the wire; reads and writes them.
macro_rules! words {
    ($type:ident: $($variant:ident $word:literal),+ $(,)?) => {
        impl $type {
            const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            fn from_word(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    other => Err($crate::wire::unknown_word(other, &[$($word),+])),
                }
            }
        }

        impl switchboard_json::FromRaw for $type {
            fn read(
                reader: &mut switchboard_json::Reader<'_>,
            ) -> Result<Self, switchboard_json::Mismatch> {
                let start = reader.offset();
                let word = reader.read_string()?;
                Self::from_word(&word).map_err(|reason| switchboard_json::Mismatch::new(start, reason))
            }
        }

        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::from_word(&word).map_err(serde_core::de::Error::custom)
            }
        }
    };
}

pub(crate) use words;

/// The reason why a word is not one of those that are known.
#[cold]
pub(crate) fn unknown_word(word: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
    match known.as_slice() {
        [only] => format!("unknown variant `{word}`, expected {only}"),
        [one, other] => format!("unknown variant `{word}`, expected {one} or {other}"),
        several => format!("unknown variant `{word}`, expected one of {}", several.join(", ")),
    }
}
