//! The members of the parameters of a request, which were outlined as the message was checked.

use switchboard_json::{Fields, Key, Name, Raw};

use crate::jsonrpc::outline::Outline;

/// The members of the parameters of a request, in order. Nothing is copied and nothing decoded; a duplicate is given as
/// often as it is written.
#[derive(Debug)]
pub struct ParamFields<'a>(FieldSource<'a>);

#[derive(Debug)]
enum FieldSource<'a> {
    /// There are no parameters.
    Absent,
    /// The members have to be scanned for.
    Scan(Fields<'a>),
    /// The spans of the members are known; the number is the next one.
    Outlined(&'a Raw, Outline, usize),
}

impl<'a> ParamFields<'a> {
    pub(crate) fn new(params: Option<&'a Raw>, outline: Outline) -> Self {
        Self(match params {
            None => FieldSource::Absent,
            Some(params) if outline.is_known() => FieldSource::Outlined(params, outline, 0),
            Some(params) => FieldSource::Scan(params.fields()),
        })
    }
}

impl<'a> Iterator for ParamFields<'a> {
    type Item = (Name<'a>, Raw);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            FieldSource::Absent => None,
            FieldSource::Scan(fields) => fields.next(),
            FieldSource::Outlined(params, outline, index) => {
                let (name, value) = outline.get(*index)?;
                *index += 1;
                let name = params.as_str().as_bytes().get(name)?;
                Some((Name::from(Key::Plain(name)), params.part(value)))
            }
        }
    }
}
