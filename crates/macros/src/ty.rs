//! What can be read off a type by its looks. An alias hides it, so traits decide wherever they can.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, PathSegment, Type, TypeReference};

/// The type itself, without brackets that cannot be seen.
pub(crate) fn ungroup(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        };
    }
}

/// The last word of a path, with its arguments.
pub(crate) fn last_word(ty: &Type) -> Option<&PathSegment> {
    match ungroup(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

/// Whether the last word of a path is this.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    last_word(ty).is_some_and(|word| word.ident == name)
}

/// The reference that a type is.
pub(crate) fn reference(ty: &Type) -> Option<&TypeReference> {
    match ungroup(ty) {
        Type::Reference(reference) => Some(reference),
        _ => None,
    }
}

/// The first type between the brackets: `T` of `Events<T>`.
pub(crate) fn argument(word: &PathSegment) -> Option<&Type> {
    match &word.arguments {
        PathArguments::AngleBracketed(list) => list.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    }
}

/// The types between the brackets.
pub(crate) fn arguments(word: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(list) = &word.arguments else { return Vec::new() };
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

/// Whether it is a text, a number or a truth value, or an option of one.
pub(crate) fn is_primitive(ty: &Type) -> bool {
    let Some(word) = last_word(ty) else { return false };
    if word.ident == "Option" {
        return argument(word).is_some_and(is_primitive);
    }
    PRIMITIVES.iter().any(|known| word.ident == known)
}

/// Why a type cannot travel as text, if its looks tell: a map, a tuple, a list of lists.
pub(crate) fn never_text(ty: &Type) -> Option<&'static str> {
    match ungroup(ty) {
        Type::Tuple(_) => return Some("a tuple"),
        Type::Array(_) => return Some("an array of fixed length"),
        _ => {}
    }
    let word = last_word(ty)?;
    let inner = || argument(word);
    match word.ident.to_string().as_str() {
        "HashMap" | "BTreeMap" | "Map" | "IndexMap" => Some("a map"),
        "Option" | "Box" => never_text(inner()?),
        "Vec" | "HashSet" | "BTreeSet" => {
            let inner = inner()?;
            match last_word(inner) {
                Some(word) if ["Vec", "HashSet", "BTreeSet"].iter().any(|list| word.ident == list) => {
                    Some("a list of lists")
                }
                _ => never_text(inner),
            }
        }
        _ => None,
    }
}

/// Whether it is a list by its looks.
pub(crate) fn is_list(ty: &Type) -> bool {
    ["Vec", "HashSet", "BTreeSet"].iter().any(|list| is_named(ty, list))
}

/// The places of the first and the last token of a type. Code of ours that begins at one and ends at the other is marked
/// as the whole type; a stable compiler does not join spans for a macro.
pub(crate) fn ends(ty: &Type) -> (Span, Span) {
    let mut tokens = ty.to_token_stream().into_iter().map(|token| token.span());
    let start = tokens.next().unwrap_or_else(Span::call_site);
    (start, tokens.last().unwrap_or(start))
}

/// Where some tokens stand, for code of ours: what goes wrong in it is told there, but its names are our own.
///
/// With the names of the tokens themselves, code within a `macro_rules!` would not find the variables we declare.
pub(crate) fn at(tokens: &impl Spanned) -> Span {
    tokens.span().resolved_at(Span::call_site())
}
