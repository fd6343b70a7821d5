//! The author's types in generated code: `<Type as MethodX>`. Generated code calls only methods of these traits.
//!
//! All uses have the span of the type, so the compiler reports an unsuitable type once, at its declaration. See
//! `service/src/rt/method_types.rs`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};

use crate::method::ServiceMethod;
use crate::type_syntax::call_site_span;

/// Returns the type of a parameter.
pub(super) fn argument(rt: &TokenStream, ty: &impl ToTokens) -> TokenStream {
    quote_spanned!(call_site_span(&ty.to_token_stream())=> <#ty as #rt::MethodArgument>)
}

/// Returns the event type of a streaming tool.
pub(super) fn event(rt: &TokenStream, ty: &impl ToTokens) -> TokenStream {
    quote_spanned!(call_site_span(&ty.to_token_stream())=> <#ty as #rt::MethodEvent>)
}

/// Returns the payload type of a notification.
pub(super) fn payload(rt: &TokenStream, ty: &impl ToTokens) -> TokenStream {
    quote_spanned!(call_site_span(&ty.to_token_stream())=> <#ty as #rt::NotificationPayload>)
}

/// Returns the success type of a method.
pub(super) fn value(rt: &TokenStream, method: &ServiceMethod) -> TokenStream {
    let ty = &method.value;
    quote_spanned!(call_site_span(ty)=> <#ty as #rt::MethodResult>)
}

/// Returns the error type of a method.
pub(super) fn error(rt: &TokenStream, method: &ServiceMethod) -> TokenStream {
    let ty = &method.error;
    quote_spanned!(call_site_span(ty)=> <#ty as #rt::MethodError>)
}

/// Returns the closure that converts an `Error` to the error of a method.
pub(super) fn from_error(rt: &TokenStream, method: &ServiceMethod) -> TokenStream {
    let error = error(rt, method);
    quote_spanned!(call_site_span(&method.error)=> |error| #error::from_error(error))
}

/// Returns the awaited result of a call, with its error converted to an `Error`.
pub(super) fn returned(rt: &TokenStream, method: &ServiceMethod, called: &TokenStream) -> TokenStream {
    let error = error(rt, method);
    quote_spanned!(call_site_span(&method.value)=> #called.await.map_err(|error| #error::into_error(error)))
}
