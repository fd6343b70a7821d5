//! Iterator over the members of the parameters of a request.

use switchboard_json::{MemberKey, Name, ObjectFields, Raw};

use crate::jsonrpc::outline::Outline;

/// Iterator over the members of the parameters of a request, in order. Copies and decodes nothing; yields duplicates as
/// often as they occur.
#[derive(Debug)]
pub struct ParamFields<'a>(FieldSource<'a>);

/// Where the members come from.
#[derive(Debug)]
enum FieldSource<'a> {
    /// The request has no parameters.
    Absent,
    /// The outline is unknown: scans the parameters.
    Scan(ObjectFields<'a>),
    /// The outline is known; the number is the index of the next member.
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
                Some((Name::from(MemberKey::Plain(name)), params.part(value)))
            }
        }
    }
}
