//! Mistakes, gathered so that all of them are told at once, each on its own token.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// What was found to be wrong so far.
#[derive(Default)]
pub(crate) struct Problems(Option<syn::Error>);

impl Problems {
    /// Something is wrong with these tokens.
    pub(crate) fn at(&mut self, tokens: &impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    /// Something is wrong here.
    pub(crate) fn here(&mut self, span: Span, message: impl std::fmt::Display) {
        self.add(syn::Error::new(span, message));
    }

    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// All of them, as errors of the compiler.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map(|error| error.to_compile_error()).unwrap_or_default()
    }
}
