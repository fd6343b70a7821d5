//! The author's types in generated code: `<Type as MethodX>`, whose methods are all that is called on them.
//!
//! The span is that of the type and always the same, so the compiler reports a type that does not fit once, where it is
//! written. See `service/src/rt/method_types.rs`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};

use crate::method::Method;
use crate::ty::at;

/// A parameter of a method.
pub(super) fn argument(rt: &TokenStream, ty: &impl ToTokens) -> TokenStream {
    quote_spanned!(at(&ty.to_token_stream())=> <#ty as #rt::MethodArgument>)
}

/// An event of a streaming tool.
pub(super) fn event(rt: &TokenStream, ty: &impl ToTokens) -> TokenStream {
    quote_spanned!(at(&ty.to_token_stream())=> <#ty as #rt::MethodEvent>)
}

/// The payload of a notification.
pub(super) fn payload(rt: &TokenStream, ty: &impl ToTokens) -> TokenStream {
    quote_spanned!(at(&ty.to_token_stream())=> <#ty as #rt::NotificationPayload>)
}

/// The result of a method when all goes well.
pub(super) fn value(rt: &TokenStream, method: &Method) -> TokenStream {
    let ty = &method.value;
    quote_spanned!(at(ty)=> <#ty as #rt::MethodResult>)
}

/// The error of a method.
pub(super) fn error(rt: &TokenStream, method: &Method) -> TokenStream {
    let ty = &method.error;
    quote_spanned!(at(ty)=> <#ty as #rt::MethodError>)
}

/// A closure that converts an error to that of a method.
pub(super) fn from_error(rt: &TokenStream, method: &Method) -> TokenStream {
    let error = error(rt, method);
    quote_spanned!(at(&method.error)=> |error| #error::from_error(error))
}

/// A method's returned value, its error converted for the other side.
pub(super) fn returned(rt: &TokenStream, method: &Method, called: &TokenStream) -> TokenStream {
    let error = error(rt, method);
    quote_spanned!(at(&method.value)=> #called.await.map_err(|error| #error::into_error(error)))
}
