//! Doc comments, as the texts of a design.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of an item's doc comments, paragraphs kept.
#[derive(Clone)]
pub(crate) enum Docs {
    /// Known here.
    Text(String),
    /// Known to the compiler only: `include_str!` and the like.
    Made(TokenStream),
}

impl Docs {
    /// What these attributes say; none when there is nothing.
    pub(crate) fn of(attrs: &[Attribute]) -> Option<Self> {
        let mut parts: Vec<Part> = Vec::new();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
            let Meta::NameValue(doc) = &attr.meta else { continue };
            match ungroup(&doc.value) {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => match parts.last_mut() {
                    Some(Part::Lines(lines)) => lines.push(text.value()),
                    _ => parts.push(Part::Lines(vec![text.value()])),
                },
                made => parts.push(Part::Made(made.to_token_stream())),
            }
        }
        match parts.as_slice() {
            [] => None,
            [Part::Lines(lines)] => {
                let text = unindented(lines).trim().to_owned();
                (!text.is_empty()).then_some(Self::Text(text))
            }
            parts => {
                let pieces = parts.iter().map(|part| match part {
                    Part::Lines(lines) => {
                        let text = unindented(lines);
                        quote!(#text)
                    }
                    Part::Made(made) => made.clone(),
                });
                Some(Self::Made(quote!(::core::concat!(#(#pieces, "\n"),*).trim())))
            }
        }
    }

    /// As a doc comment.
    pub(crate) fn attribute(&self) -> TokenStream {
        match self {
            Self::Text(text) => quote!(#[doc = #text]),
            Self::Made(_) => TokenStream::new(),
        }
    }

    /// As an expression of type `&str`.
    pub(crate) fn tokens(&self) -> TokenStream {
        match self {
            Self::Text(text) => quote!(#text),
            Self::Made(made) => made.clone(),
        }
    }
}

enum Part {
    Lines(Vec<String>),
    Made(TokenStream),
}

/// The lines without the blank that stands between `///` and the text.
fn unindented(lines: &[String]) -> String {
    let lines = lines.iter().flat_map(|line| {
        let parts: Vec<&str> = line.split('\n').collect();
        // A block comment has its indent and stars on the lines that follow.
        let block = parts.len() > 1;
        parts
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

/// The expression itself when a `macro_rules!` has put invisible brackets around it.
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
        match Docs::of(attrs) {
            Some(Docs::Text(text)) => text,
            Some(Docs::Made(made)) => made.to_string(),
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
    fn nothing_said_is_nothing() {
        let item: syn::ItemStruct = syn::parse_quote!(
            #[doc = ""]
            #[doc(hidden)]
            struct X;
        );
        assert_eq!(text(&item.attrs), "none");
    }

    #[test]
    fn what_only_the_compiler_knows_is_put_together_by_it() {
        let item: syn::ItemStruct = syn::parse_quote!(
            /// First.
            #[doc = include_str!("more.md")]
            struct X;
        );
        assert!(text(&item.attrs).contains("include_str ! (\"more.md\")"), "{}", text(&item.attrs));
    }
}
