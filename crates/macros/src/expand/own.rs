//! `#[server]` on an `impl`: the trait is made from it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, ItemTrait, Meta, TraitItem, TraitItemFn, Visibility,
    parse_quote,
};

use super::Written;
use crate::problems::Problems;
use crate::{param, role, ty};

/// The service of an `impl`: its methods with a role are the trait, the others stay what they are.
pub(crate) fn server(attr: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemImpl = match syn::parse2(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            let error = match syn::parse2::<ItemTrait>(item.clone()) {
                Ok(found) => syn::Error::new_spanned(
                    found.trait_token,
                    "`#[server]` stands on the methods of a type; on a trait say `#[service]`",
                ),
                Err(_) => error,
            };
            let error = error.to_compile_error();
            return quote!(#error #item);
        }
    };
    let mut problems = Problems::default();
    if let Some((path, _)) = &item.trait_ {
        problems.at(path, "`#[server]` stands on the methods of a type; on a trait say `#[service]`");
    }
    let Some(ident) = ty::last_word(&item.self_ty).map(|word| word.ident.clone()) else {
        problems.at(&item.self_ty, "`#[server]` stands on the methods of a type with a name");
        let problems = problems.into_tokens();
        return quote!(#problems #item);
    };
    if !problems.is_empty() {
        let problems = problems.into_tokens();
        return quote!(#problems #item);
    }
    let parts = Parts::of(&item);
    let contract = parts.contract(&item, &ident);
    let Written { tokens: written, service, fine } = super::of_trait(attr, &contract, &ident);
    let (own, plain) = (&contract.ident, &parts.plain);
    let (generics, self_ty) = (&item.generics, &item.self_ty);
    let (impl_generics, _, clause) = generics.split_for_impl();
    let bodies = parts.exposed.iter().zip(super::contract::calls(&service)).map(|(function, method)| {
        let mut function = bare(function);
        let returns = &method.returns;
        if !matches!(returns.to_string().as_str(), "()") {
            function.sig.output = parse_quote!(-> #returns);
        }
        function
    });
    // While something is wrong there is nothing that serves it.
    let conveniences = fine.then(|| conveniences(&parts, &item, &contract, &service.options.rt));
    quote! {
        #written
        impl #impl_generics #own for #self_ty #clause { #(#bodies)* }
        impl #impl_generics #self_ty #clause { #(#plain)* }
        #conveniences
    }
}

/// The items of an `impl`, parted.
struct Parts {
    /// With a role.
    exposed: Vec<ImplItemFn>,
    /// Events, which have no body.
    events: Vec<(usize, TraitItemFn)>,
    /// All others.
    plain: Vec<ImplItem>,
}

impl Parts {
    fn of(item: &ItemImpl) -> Self {
        let mut parts = Self { exposed: Vec::new(), events: Vec::new(), plain: Vec::new() };
        for item in &item.items {
            match item {
                ImplItem::Fn(function) if function.attrs.iter().any(role::is_role) => {
                    parts.exposed.push(function.clone());
                }
                ImplItem::Verbatim(tokens) => match syn::parse2::<TraitItemFn>(tokens.clone()) {
                    Ok(event) if event.attrs.iter().any(role::is_role) => {
                        parts.events.push((parts.exposed.len(), event));
                    }
                    _ => parts.plain.push(item.clone()),
                },
                _ => parts.plain.push(item.clone()),
            }
        }
        parts
    }

    /// The trait, as its author would have written it.
    fn contract(&self, item: &ItemImpl, ident: &Ident) -> ItemTrait {
        // The methods say who may call them; so may everybody else who sees the trait.
        let vis = self.exposed.first().map_or(Visibility::Inherited, |function| function.vis.clone());
        let docs = item.attrs.iter().filter(|attr| attr.path().is_ident("doc"));
        let mut items: Vec<TraitItem> =
            self.exposed.iter().map(|function| TraitItem::Fn(declared(function))).collect();
        for (number, (place, event)) in self.events.iter().enumerate() {
            items.insert(place + number, TraitItem::Fn(event.clone()));
        }
        let name = format_ident!("{ident}Api", span = ident.span());
        let mut contract: ItemTrait = parse_quote!(#(#docs)* #vis trait #name {});
        contract.items = items;
        contract
    }

    fn has(&self, name: &str) -> bool {
        self.plain.iter().any(|item| matches!(item, ImplItem::Fn(function) if function.sig.ident == name))
    }
}

/// A method as it stands in the trait. One that is not `async` holds its thread.
fn declared(function: &ImplItemFn) -> TraitItemFn {
    let mut sig = function.sig.clone();
    let mut attrs = function.attrs.clone();
    if sig.asyncness.is_none() {
        sig.asyncness = Some(syn::token::Async(sig.fn_token.span()));
        attrs.iter_mut().filter(|attr| attr.path().is_ident("tool")).for_each(blocking);
    }
    for input in &mut sig.inputs {
        // `mut` is the body's own business.
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

fn blocking(attr: &mut Attribute) {
    let options = match &attr.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    let said = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "blocking");
    if !options.clone().into_iter().any(|token| said(&token)) {
        let path = attr.path().clone();
        attr.meta = parse_quote!(#path(blocking, #options));
    }
}

/// A method as it stands in the `impl` of the trait.
fn bare(function: &ImplItemFn) -> ImplItemFn {
    let mut function = function.clone();
    function.attrs.retain(|attr| !role::is_role(attr));
    function.vis = Visibility::Inherited;
    function.sig.asyncness.get_or_insert_with(|| syn::token::Async(Span::call_site()));
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attr| !param::is_ours(attr));
        }
    }
    function
}

/// What serves the type itself, unless its author has something of that name.
fn conveniences(parts: &Parts, item: &ItemImpl, contract: &ItemTrait, rt: &TokenStream) -> TokenStream {
    let (vis, server) = (&contract.vis, format_ident!("{}Server", contract.ident));
    let (self_ty, (impl_generics, _, clause)) = (&item.self_ty, item.generics.split_for_impl());
    let builder = (!parts.has("builder")).then(|| {
        quote! {
            #[allow(dead_code, reason = "for whoever serves it")]
            impl #impl_generics #self_ty #clause {
                /// Serves this.
                #vis fn builder(self) -> #rt::ServiceBuilder {
                    #server::builder(self)
                }
            }
        }
    });
    let stdio = (!parts.has("serve_stdio")).then(|| {
        quote! {
            #rt::if_stdio! {
                #[allow(dead_code, reason = "for whoever serves it")]
                impl #impl_generics #self_ty #clause {
                    /// Serves the program that started this one, until it leaves.
                    ///
                    /// # Errors
                    /// When it cannot be served, or the connection breaks.
                    #vis async fn serve_stdio(self) -> ::core::result::Result<(), #rt::ServeError> {
                        #server::builder(self).serve_stdio().await
                    }
                }
            }
        }
    });
    quote!(#builder #stdio)
}
