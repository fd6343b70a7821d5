//! The `with_x` methods of the types that users build, written once as a macro.
//!
//! `some` sets an optional field, `set` sets a plain one. Knows nothing of MCP.

macro_rules! setters {
    ($type:ident: $($kind:ident $method:ident $field:ident $value:ty;)+) => {
        impl $type {
            $(setters!(@$kind $method $field $value);)+
        }
    };
    (@some $method:ident $field:ident $value:ty) => {
        #[doc = concat!("The same with [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $method(mut self, value: impl Into<$value>) -> Self {
            self.$field = Some(value.into());
            self
        }
    };
    (@set $method:ident $field:ident $value:ty) => {
        #[doc = concat!("The same with [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $method(mut self, value: impl Into<$value>) -> Self {
            self.$field = value.into();
            self
        }
    };
}

pub(crate) use setters;
