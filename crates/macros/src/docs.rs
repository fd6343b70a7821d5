//! Doc comments as descriptions in a design.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments of an item, with its paragraphs.
#[derive(Clone)]
pub(crate) enum Docs {
    /// A text that is known during expansion.
    Text(String),
    /// An expression that the compiler evaluates later, such as `include_str!`.
    Computed(TokenStream),
}

impl Docs {
    /// Returns the text of the doc attributes; `None` without doc attributes.
    pub(crate) fn from_attributes(attrs: &[Attribute]) -> Option<Self> {
        let mut segments: Vec<DocSegment> = Vec::new();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
            let Meta::NameValue(doc) = &attr.meta else { continue };
            match ungroup(&doc.value) {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => match segments.last_mut() {
                    Some(DocSegment::Lines(lines)) => lines.push(text.value()),
                    _ => segments.push(DocSegment::Lines(vec![text.value()])),
                },
                expr => segments.push(DocSegment::Computed(expr.to_token_stream())),
            }
        }
        match segments.as_slice() {
            [] => None,
            [DocSegment::Lines(lines)] => {
                let text = strip_indent(lines).trim().to_owned();
                (!text.is_empty()).then_some(Self::Text(text))
            }
            segments => {
                let pieces = segments.iter().map(|segment| match segment {
                    DocSegment::Lines(lines) => {
                        let text = strip_indent(lines);
                        quote!(#text)
                    }
                    DocSegment::Computed(expr) => expr.clone(),
                });
                Some(Self::Computed(quote!(::core::concat!(#(#pieces, "\n"),*).trim())))
            }
        }
    }

    /// Returns the text as a `#[doc]` attribute.
    pub(crate) fn to_attribute(&self) -> TokenStream {
        match self {
            Self::Text(text) => quote!(#[doc = #text]),
            Self::Computed(_) => TokenStream::new(),
        }
    }

    /// Returns the text as an expression of type `&str`.
    pub(crate) fn to_expr(&self) -> TokenStream {
        match self {
            Self::Text(text) => quote!(#text),
            Self::Computed(expr) => expr.clone(),
        }
    }
}

enum DocSegment {
    Lines(Vec<String>),
    Computed(TokenStream),
}

/// Removes the space after `///`, and indentation and stars of block comments.
fn strip_indent(lines: &[String]) -> String {
    let lines = lines.iter().flat_map(|line| {
        let segments: Vec<&str> = line.split('\n').collect();
        // A block comment has indentation and stars on its following lines.
        let block = segments.len() > 1;
        segments
            .into_iter()
            .map(|line| match line.trim_start() {
                starred if block && starred.starts_with('*') => starred[1..].trim().to_owned(),
                plain if block => plain.trim_end().to_owned(),
                _ => line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned(),
            })
            .collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Removes the invisible groups that `macro_rules!` puts around an expression.
pub(crate) fn ungroup(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(attrs: &[Attribute]) -> String {
        match Docs::from_attributes(attrs) {
            Some(Docs::Text(text)) => text,
            Some(Docs::Computed(expr)) => expr.to_string(),
            None => "none".into(),
        }
    }

    #[test]
    fn paragraphs_and_indents_are_kept() {
        let item: syn::ItemStruct = syn::parse_quote!(
            /// One
            /// line.
            ///
            ///     code
            struct X;
        );
        assert_eq!(text(&item.attrs), "One\nline.\n\n    code");
    }

    #[test]
    fn empty_docs_are_none() {
        let item: syn::ItemStruct = syn::parse_quote!(
            #[doc = ""]
            #[doc(hidden)]
            struct X;
        );
        assert_eq!(text(&item.attrs), "none");
    }

    #[test]
    fn computed_docs_are_concatenated() {
        let item: syn::ItemStruct = syn::parse_quote!(
            /// First.
            #[doc = include_str!("more.md")]
            struct X;
        );
        assert!(text(&item.attrs).contains("include_str ! (\"more.md\")"), "{}", text(&item.attrs));
    }
}
