//! `setters!`: generates the `with_…` methods of the types that users build.
//!
//! `some` sets an optional field, `set` sets any other field. Knows nothing of MCP.

#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($type:ident: $($kind:ident $method:ident $field:ident $value:ty;)+) => {
        impl $type {
            $($crate::setters!(@$kind $method $field $value);)+
        }
    };
    (@some $method:ident $field:ident $value:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $method(mut self, value: impl Into<$value>) -> Self {
            self.$field = Some(value.into());
            self
        }
    };
    (@set $method:ident $field:ident $value:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $method(mut self, value: impl Into<$value>) -> Self {
            self.$field = value.into();
            self
        }
    };
}

pub(crate) use setters;
