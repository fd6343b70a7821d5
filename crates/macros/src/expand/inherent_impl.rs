//! `#[server]` on an `impl` block: generates the trait from its methods.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, ItemTrait, Meta, TraitItem, TraitItemFn, Visibility,
    parse_quote,
};

use super::Expansion;
use crate::diagnostics::Diagnostics;
use crate::{param, role, type_syntax};

/// Expands `#[server]`: methods with a role become the trait, the others stay inherent.
pub(crate) fn server(attr: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemImpl = match syn::parse2(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            let error = match syn::parse2::<ItemTrait>(item.clone()) {
                Ok(found) => syn::Error::new_spanned(
                    found.trait_token,
                    "`#[server]` applies to the methods of a type; for a trait use `#[service]`",
                ),
                Err(_) => error,
            };
            let error = error.to_compile_error();
            return quote!(#error #item);
        }
    };
    let mut diagnostics = Diagnostics::default();
    if let Some((path, _)) = &item.trait_ {
        diagnostics
            .error_at(path, "`#[server]` applies to the methods of a type; for a trait use `#[service]`");
    }
    let Some(ident) = type_syntax::last_segment(&item.self_ty).map(|word| word.ident.clone()) else {
        diagnostics.error_at(&item.self_ty, "`#[server]` applies to the methods of a named type");
        let diagnostics = diagnostics.into_tokens();
        return quote!(#diagnostics #item);
    };
    if !diagnostics.is_empty() {
        let diagnostics = diagnostics.into_tokens();
        return quote!(#diagnostics #item);
    }
    let items = ImplItems::classify(&item);
    let service_trait = items.service_trait(&item, &ident);
    let Expansion { tokens: trait_tokens, service, is_valid } =
        super::expand_trait(attr, &service_trait, &ident);
    let (own, without_role) = (&service_trait.ident, &items.without_role);
    let (generics, self_ty) = (&item.generics, &item.self_ty);
    let (impl_generics, _, clause) = generics.split_for_impl();
    let bodies = items.with_role.iter().zip(super::service_trait::callable_methods(&service)).map(
        |(function, method)| {
            let mut function = impl_function(function);
            let returns = &method.returns;
            if !matches!(returns.to_string().as_str(), "()") {
                function.sig.output = parse_quote!(-> #returns);
            }
            function
        },
    );
    // A trait with errors has no server.
    let convenience_methods =
        is_valid.then(|| convenience_methods(&items, &item, &service_trait, &service.options.rt));
    quote! {
        #trait_tokens
        impl #impl_generics #own for #self_ty #clause { #(#bodies)* }
        impl #impl_generics #self_ty #clause { #(#without_role)* }
        #convenience_methods
    }
}

/// The items of an `impl` block by kind.
struct ImplItems {
    /// Methods with a role.
    with_role: Vec<ImplItemFn>,
    /// Notifications, which have no body, with the number of methods before them.
    events: Vec<(usize, TraitItemFn)>,
    /// All other items.
    without_role: Vec<ImplItem>,
}

impl ImplItems {
    fn classify(item: &ItemImpl) -> Self {
        let mut items = Self { with_role: Vec::new(), events: Vec::new(), without_role: Vec::new() };
        for item in &item.items {
            match item {
                ImplItem::Fn(function) if function.attrs.iter().any(role::is_role) => {
                    items.with_role.push(function.clone());
                }
                ImplItem::Verbatim(tokens) => match syn::parse2::<TraitItemFn>(tokens.clone()) {
                    Ok(event) if event.attrs.iter().any(role::is_role) => {
                        items.events.push((items.with_role.len(), event));
                    }
                    _ => items.without_role.push(item.clone()),
                },
                _ => items.without_role.push(item.clone()),
            }
        }
        items
    }

    /// Returns the trait that the author would write for `#[service]`.
    fn service_trait(&self, item: &ItemImpl, ident: &Ident) -> ItemTrait {
        // The trait has the visibility of its first method.
        let vis = self.with_role.first().map_or(Visibility::Inherited, |function| function.vis.clone());
        let docs = item.attrs.iter().filter(|attr| attr.path().is_ident("doc"));
        let mut items: Vec<TraitItem> =
            self.with_role.iter().map(|function| TraitItem::Fn(trait_function(function))).collect();
        for (number, (index, event)) in self.events.iter().enumerate() {
            items.insert(index + number, TraitItem::Fn(event.clone()));
        }
        let name = format_ident!("{ident}Api", span = ident.span());
        let mut service_trait: ItemTrait = parse_quote!(#(#docs)* #vis trait #name {});
        service_trait.items = items;
        service_trait
    }

    fn has(&self, name: &str) -> bool {
        self.without_role
            .iter()
            .any(|item| matches!(item, ImplItem::Fn(function) if function.sig.ident == name))
    }
}

/// Returns a method as declared in the trait. A method that is not `async` is blocking.
fn trait_function(function: &ImplItemFn) -> TraitItemFn {
    let mut sig = function.sig.clone();
    let mut attrs = function.attrs.clone();
    if sig.asyncness.is_none() {
        sig.asyncness = Some(syn::token::Async(sig.fn_token.span()));
        attrs.iter_mut().filter(|attr| attr.path().is_ident("tool")).for_each(add_blocking);
    }
    for input in &mut sig.inputs {
        // `mut` belongs to the body only.
        if let FnArg::Typed(typed) = input
            && let syn::Pat::Ident(name) = &mut *typed.pat
        {
            name.mutability = None;
        }
    }
    TraitItemFn {
        attrs,
        modifiers: function.modifiers.clone(),
        sig,
        default: None,
        semi_token: Some(syn::token::Semi(Span::call_site())),
    }
}

fn add_blocking(attr: &mut Attribute) {
    let options = match &attr.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    let is_blocking = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "blocking");
    if !options.clone().into_iter().any(|token| is_blocking(&token)) {
        let path = attr.path().clone();
        attr.meta = parse_quote!(#path(blocking, #options));
    }
}

/// Returns a method as defined in the `impl` of the trait.
fn impl_function(function: &ImplItemFn) -> ImplItemFn {
    let mut function = function.clone();
    function.attrs.retain(|attr| !role::is_role(attr));
    function.vis = Visibility::Inherited;
    function.sig.asyncness.get_or_insert_with(|| syn::token::Async(Span::call_site()));
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attr| !param::is_macro_attribute(attr));
        }
    }
    function
}

/// Returns `builder` and `serve_stdio` for the type, unless the author defines them.
fn convenience_methods(
    items: &ImplItems,
    item: &ItemImpl,
    service_trait: &ItemTrait,
    rt: &TokenStream,
) -> TokenStream {
    let (vis, server) = (&service_trait.vis, format_ident!("{}Server", service_trait.ident));
    let (self_ty, (impl_generics, _, clause)) = (&item.self_ty, item.generics.split_for_impl());
    let builder = (!items.has("builder")).then(|| {
        quote! {
            #[allow(dead_code, reason = "for servers of the type")]
            impl #impl_generics #self_ty #clause {
                /// Creates the builder of a server for this service.
                #vis fn builder(self) -> #rt::ServiceBuilder {
                    #server::builder(self)
                }
            }
        }
    });
    let stdio = (!items.has("serve_stdio")).then(|| {
        quote! {
            #rt::if_stdio! {
                #[allow(dead_code, reason = "for servers of the type")]
                impl #impl_generics #self_ty #clause {
                    /// Serves over stdin and stdout until the client disconnects.
                    ///
                    /// # Errors
                    /// When the service cannot be built, or the connection fails.
                    #vis async fn serve_stdio(self) -> ::core::result::Result<(), #rt::ServeError> {
                        #server::builder(self).serve_stdio().await
                    }
                }
            }
        }
    });
    quote!(#builder #stdio)
}
