//! Syntactic checks of types. They cannot see through aliases, so generated code uses traits where possible.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, PathSegment, Type, TypeReference};

/// Removes groups and parentheses around a type.
pub(crate) fn ungroup(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        };
    }
}

/// Returns the last segment of a path, with its arguments.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungroup(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

/// Returns whether the last segment of a path has this name.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name)
}

/// Returns a type as a reference.
pub(crate) fn as_reference(ty: &Type) -> Option<&TypeReference> {
    match ungroup(ty) {
        Type::Reference(reference) => Some(reference),
        _ => None,
    }
}

/// Returns the first type argument: `T` of `Events<T>`.
pub(crate) fn first_type_argument(segment: &PathSegment) -> Option<&Type> {
    match &segment.arguments {
        PathArguments::AngleBracketed(list) => list.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    }
}

/// Returns the type arguments.
pub(crate) fn type_arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(list) = &segment.arguments else { return Vec::new() };
    let types = list.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

const PRIMITIVES: [&str; 16] = [
    "String", "bool", "char", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32",
    "f64", "Cow",
];

/// Returns whether a type is a string, a number, a boolean, or an option of one.
pub(crate) fn is_primitive(ty: &Type) -> bool {
    let Some(segment) = last_segment(ty) else { return false };
    if segment.ident == "Option" {
        return first_type_argument(segment).is_some_and(is_primitive);
    }
    PRIMITIVES.iter().any(|known| segment.ident == known)
}

/// Returns why a type cannot be transmitted as text, if the syntax shows it: a map, a tuple, a list of lists.
pub(crate) fn why_not_text(ty: &Type) -> Option<&'static str> {
    match ungroup(ty) {
        Type::Tuple(_) => return Some("a tuple"),
        Type::Array(_) => return Some("an array of fixed length"),
        _ => {}
    }
    let segment = last_segment(ty)?;
    let inner = || first_type_argument(segment);
    match segment.ident.to_string().as_str() {
        "HashMap" | "BTreeMap" | "Map" | "IndexMap" => Some("a map"),
        "Option" | "Box" => why_not_text(inner()?),
        "Vec" | "HashSet" | "BTreeSet" => {
            let inner = inner()?;
            match last_segment(inner) {
                Some(segment) if ["Vec", "HashSet", "BTreeSet"].iter().any(|list| segment.ident == list) => {
                    Some("a list of lists")
                }
                _ => why_not_text(inner),
            }
        }
        _ => None,
    }
}

/// Returns whether a type is a list, by its name.
pub(crate) fn is_list(ty: &Type) -> bool {
    ["Vec", "HashSet", "BTreeSet"].iter().any(|list| is_named(ty, list))
}

/// Returns the spans of the first and the last token of a type. An error in code that starts at one and ends at the other
/// marks the whole type; on stable Rust a macro cannot join spans.
pub(crate) fn first_and_last_span(ty: &Type) -> (Span, Span) {
    let mut tokens = ty.to_token_stream().into_iter().map(|token| token.span());
    let start = tokens.next().unwrap_or_else(Span::call_site);
    (start, tokens.last().unwrap_or(start))
}

/// Returns the location of tokens with the hygiene of the macro: errors are reported there, but names resolve at the call
/// site.
///
/// With the hygiene of the tokens, code within a `macro_rules!` would not find the generated variables.
pub(crate) fn call_site_span(tokens: &impl Spanned) -> Span {
    tokens.span().resolved_at(Span::call_site())
}
