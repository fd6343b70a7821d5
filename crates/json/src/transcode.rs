//! `Serialize` and `Deserialize` of `Raw` for any serde format.
//!
//! `serde_json` hands over the text of a value, byte for byte. Other formats, and the buffer that serde fills for
//! `flatten` and `untagged`, hand over values: these are encoded as `serde_json` would encode them, so the spelling of
//! a number or a string may change. A format must be self-describing.

use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_core::{Deserialize, Serialize, Serializer};

use crate::limits::MAX_DEPTH;
use crate::raw::Raw;
use crate::write;

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return BinaryValue(self).serialize(serializer);
        }
        let value = match write::as_raw_value(self.as_str()) {
            Some(value) => value,
            None => serde_json::from_str(self.as_str()).map_err(serde_core::ser::Error::custom)?,
        };
        serializer.serialize_newtype_struct(write::OWN_TOKEN, value)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The deserializer may not have limited the depth.
        Self::parse(read_text(deserializer)?).map_err(D::Error::custom)
    }
}

/// Reads the next value of a deserializer as JSON text. Text that `serde_json` hands over is not checked.
fn read_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let mut out = String::new();
    let outermost = Transcoder { out: &mut out, depth: 0, accepts_text: true };
    deserializer.deserialize_newtype_struct(write::serde_json_raw_token(), outermost)?;
    Ok(out)
}

/// Visitor that appends the JSON text of one value to `out`.
struct Transcoder<'o> {
    out: &'o mut String,
    /// The number of containers around the value.
    depth: usize,
    /// Whether a map whose key is the token of `serde_json` contains the text of the value. Only the response to our
    /// own request does; elsewhere such a key is ordinary data.
    accepts_text: bool,
}

impl Transcoder<'_> {
    fn write<T: Serialize + ?Sized, E: Error>(self, value: &T) -> Result<(), E> {
        write::write(self.out, value).map_err(E::custom)
    }

    fn check_depth<E: Error>(&self) -> Result<(), E> {
        if self.depth < MAX_DEPTH {
            return Ok(());
        }
        Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")))
    }
}

impl<'de> DeserializeSeed<'de> for Transcoder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($($method:ident($type:ty)),* $(,)?) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<(), E> {
            self.write(&value)
        }
    )*};
}

impl<'de> Visitor<'de> for Transcoder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    scalars! {
        visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_i128(i128), visit_u128(u128), visit_f32(f32),
        visit_f64(f64), visit_str(&str), visit_bytes(&[u8]),
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.write(&())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.write(&())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(Self { accepts_text: false, ..self })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(Self { accepts_text: false, ..self })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        self.check_depth()?;
        let Self { out, depth, .. } = self;
        out.push('[');
        let start = out.len();
        loop {
            let before = out.len();
            if before > start {
                out.push(',');
            }
            let element = Transcoder { out, depth: depth + 1, accepts_text: false };
            if elements.next_element_seed(element)?.is_none() {
                out.truncate(before);
                out.push(']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.check_depth()?;
        let Self { out, depth, accepts_text } = self;
        out.push('{');
        let start = out.len();
        loop {
            let before = out.len();
            if before > start {
                out.push(',');
            }
            match members
                .next_key_seed(KeyTranscoder { out, accepts_token: accepts_text && before == start })?
            {
                None => {
                    out.truncate(before);
                    out.push('}');
                    return Ok(());
                }
                Some(KeyKind::Token) => {
                    *out = members.next_value()?;
                    return Ok(());
                }
                Some(KeyKind::Name) => out.push(':'),
            }
            members.next_value_seed(Transcoder { out, depth: depth + 1, accepts_text: false })?;
        }
    }
}

/// Visitor that appends the name of one member to `out`.
struct KeyTranscoder<'o> {
    out: &'o mut String,
    accepts_token: bool,
}

enum KeyKind {
    /// An ordinary member name.
    Name,
    /// The token of `serde_json`: the value is JSON text.
    Token,
}

impl<'de> DeserializeSeed<'de> for KeyTranscoder<'_> {
    type Value = KeyKind;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<KeyKind, D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! names {
    ($($method:ident($type:ty)),* $(,)?) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<KeyKind, E> {
            write::write_key(self.out, &value).map_err(E::custom)?;
            Ok(KeyKind::Name)
        }
    )*};
}

impl Visitor<'_> for KeyTranscoder<'_> {
    type Value = KeyKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number or a boolean")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<KeyKind, E> {
        if self.accepts_token && name == write::serde_json_raw_token() {
            return Ok(KeyKind::Token);
        }
        write::write_quoted(self.out, name);
        Ok(KeyKind::Name)
    }

    names! {
        visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_i128(i128), visit_u128(u128), visit_f32(f32),
        visit_f64(f64),
    }
}

/// Serializes a value structurally, for binary formats.
struct BinaryValue<'a>(&'a Raw);

impl Serialize for BinaryValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = self.0;
        if raw.is_object() {
            serializer.collect_map(raw.fields().map(|(name, value)| (name.as_str().to_owned(), value)))
        } else if raw.is_array() {
            serializer.collect_seq(raw.elements())
        } else {
            let scalar: serde_json::Value = raw.decode().map_err(serde_core::ser::Error::custom)?;
            scalar.serialize(serializer)
        }
    }
}

#[cfg(test)]
mod tests {
    use ciborium::Value;
    use serde::Deserialize;

    use super::*;

    fn cbor(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        ciborium::into_writer(value, &mut bytes).unwrap();
        bytes
    }

    fn read(value: &Value) -> Result<Raw, String> {
        ciborium::from_reader(cbor(value).as_slice()).map_err(|error| error.to_string())
    }

    fn map(entries: Vec<(Value, Value)>) -> Value {
        Value::Map(entries)
    }

    #[derive(Deserialize)]
    struct Flattened {
        id: u8,
        #[serde(flatten)]
        rest: Raw,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(untagged)]
    enum Untagged {
        Number(u8),
        Other { held: Raw },
    }

    #[test]
    fn values_of_another_format_are_transcoded() {
        let value = map(vec![
            ("b".into(), Value::Array(vec![1.into(), (-2).into(), 1.5.into(), true.into(), Value::Null])),
            ("a\n".into(), Value::Bytes(vec![0, 255])),
            (7.into(), map(vec![])),
            (false.into(), Value::Array(vec![])),
        ]);
        let expected = r#"{"b":[1,-2,1.5,true,null],"a\n":[0,255],"7":{},"false":[]}"#;
        assert_eq!(read(&value).unwrap().as_str(), expected);
        assert_eq!(read(&Value::Float(f64::NAN)).unwrap().as_str(), "null");
        assert!(read(&map(vec![(Value::Null, 1.into())])).is_err(), "JSON has no such key");
    }

    #[test]
    fn values_that_serde_buffers_are_transcoded() {
        let text = r#"{"id":1,"x":{"y":[1,null,"z"]},"w":-0.5}"#;
        let read: Flattened = serde_json::from_str(text).unwrap();
        assert_eq!((read.id, read.rest.as_str()), (1, r#"{"x":{"y":[1,null,"z"]},"w":-0.5}"#));
        let read: Untagged = serde_json::from_str(r#"{"held":[1,{}]}"#).unwrap();
        assert_eq!(read, Untagged::Other { held: Raw::parse("[1,{}]").unwrap() });
        assert_eq!(serde_json::from_str::<Untagged>("7").unwrap(), Untagged::Number(7));
    }

    #[test]
    fn text_from_serde_json_survives_byte_for_byte() {
        let text = r#"{ "a" : 1.50, "b":"\u0061" }"#;
        assert_eq!(serde_json::from_str::<Raw>(text).unwrap().as_str(), text);
        assert_eq!(
            serde_json::from_slice::<[Raw; 1]>(format!("[{text}]").as_bytes()).unwrap()[0].as_str(),
            text
        );
        assert_eq!(serde_json::from_reader::<_, Raw>(text.as_bytes()).unwrap().as_str(), text);
        let value: serde_json::Value = serde_json::from_str(r#"{"a":[1]}"#).unwrap();
        assert_eq!(serde_json::from_value::<Raw>(value).unwrap().as_str(), r#"{"a":[1]}"#);
    }

    #[test]
    fn data_that_uses_the_token_of_serde_json_stays_data() {
        let token = write::serde_json_raw_token();
        let written = format!(r#"{{"{token}":"[1]"}}"#);
        assert_eq!(read(&map(vec![(token.into(), "[1]".into())])).unwrap().as_str(), written);
        assert_eq!(serde_json::from_str::<Raw>(&written).unwrap().as_str(), written);
        let flattened: Flattened = serde_json::from_str(&format!(r#"{{"id":1,"{token}":"[1]"}}"#)).unwrap();
        assert_eq!(flattened.rest.as_str(), written);
    }

    #[test]
    fn the_depth_is_bounded_in_every_format() {
        let nested = |levels| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert!(read(&nested(MAX_DEPTH + 1)).unwrap_err().contains("nested deeper"));
    }

    #[test]
    fn a_binary_format_contains_values_instead_of_text() {
        let text = r#"{"b":[1,-2,1.5,"x",null,true],"a":{}}"#;
        let mut bytes = Vec::new();
        ciborium::into_writer(&Raw::parse(text).unwrap(), &mut bytes).unwrap();
        let value: Value = ciborium::from_reader(bytes.as_slice()).unwrap();
        assert!(value.is_map());
        assert_eq!(ciborium::from_reader::<Raw, _>(bytes.as_slice()).unwrap().as_str(), text);
    }
}
