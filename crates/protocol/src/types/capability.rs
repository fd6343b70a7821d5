//! The capabilities of client and server, in all revisions.
//!
//! The set is open: keys that no revision defines survive a round trip. Which capability a method requires is in the
//! surface table.

use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, Name, OrderedMap, Raw, RawReader};

use crate::setter::setters;
use crate::wire::{CapabilitySlot, Detach, MemberBinding, impl_deserialize, read_members_with};

/// An object with keys that the specification does not define.
pub type Settings = OrderedMap<Raw>;

/// Declares objects of optional fields, each with its setter, that preserve unknown keys.
macro_rules! open_objects {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty = $key:literal, $setter:ident;)+
    })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<$type>,)*
            /// Keys that no revision defines.
            pub extra: Settings,
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $(if let Some(value) = &self.$field {
                    map.serialize_entry($key, value)?;
                })*
                for (key, value) in self.extra.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl FromRaw for $name {
            fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
                $(let mut $field = CapabilitySlot(None);)*
                let mut extra = Vec::new();
                let mut other = |reader: &mut RawReader<'_>, name: Name<'_>| {
                    extra.push((name.as_str().to_owned(), reader.read_raw().settled()));
                    Ok(())
                };
                read_members_with(reader, &mut [$(MemberBinding::repeatable($key, &mut $field)),*], &mut other)?;
                Ok(Self { $($field: $field.0,)* extra: Settings::from(extra) })
            }
        }

        impl_deserialize!($name);

        impl Detach for $name {
            fn detach(self) -> Self {
                // Its values have been detached while they were decoded.
                self
            }
        }

        impl $name {
            /// Creates an empty object, which declares nothing.
            pub fn new() -> Self {
                Self::default()
            }
        }

        setters!($name: $(some $setter $field $type;)+);
    )+};
}

open_objects! {
    /// The capabilities of a client.
    ClientCapabilities {
        /// Non-standard capabilities.
        experimental: Settings = "experimental", with_experimental;
        /// Lists roots.
        roots: RootsCapability = "roots", with_roots;
        /// Samples from a model.
        sampling: SamplingCapability = "sampling", with_sampling;
        /// Asks the user (from 2025-06-18).
        elicitation: ElicitationCapability = "elicitation", with_elicitation;
        /// Runs sampling and elicitation as tasks (2025-11-25 only).
        tasks: TasksCapability = "tasks", with_tasks;
        /// Extensions by id, with their settings (from 2026-07-28; used earlier too).
        extensions: Settings = "extensions", with_extensions;
    }

    /// The capabilities of a server.
    ///
    /// ```
    /// use switchboard::protocol::{ListCapability, ResourcesCapability, ServerCapabilities, Settings};
    ///
    /// let capabilities = ServerCapabilities::new()
    ///     .with_tools(ListCapability::new().with_list_changed(true))
    ///     .with_resources(ResourcesCapability::new().with_subscribe(true))
    ///     .with_logging(Settings::new());
    /// assert!(capabilities.declares("resources.subscribe"));
    /// assert!(capabilities.prompts.is_none());
    /// ```
    ServerCapabilities {
        /// Non-standard capabilities.
        experimental: Settings = "experimental", with_experimental;
        /// Sends log messages.
        logging: Settings = "logging", with_logging;
        /// Completes arguments (from 2025-03-26).
        completions: Settings = "completions", with_completions;
        /// Has prompts.
        prompts: ListCapability = "prompts", with_prompts;
        /// Has resources.
        resources: ResourcesCapability = "resources", with_resources;
        /// Has tools.
        tools: ListCapability = "tools", with_tools;
        /// Runs tool calls as tasks (2025-11-25 only).
        tasks: TasksCapability = "tasks", with_tasks;
        /// Extensions by id, with their settings (from 2026-07-28; used earlier too).
        extensions: Settings = "extensions", with_extensions;
    }

    /// The roots capability of a client.
    RootsCapability {
        /// Notifies of changes (until 2025-11-25).
        list_changed: bool = "listChanged", with_list_changed;
    }

    /// The sampling capability of a client.
    SamplingCapability {
        /// Supports `includeContext` (from 2025-11-25).
        context: Settings = "context", with_context;
        /// Supports `tools` (from 2025-11-25).
        tools: Settings = "tools", with_tools;
    }

    /// The elicitation capability of a client. Without modes it means forms only.
    ElicitationCapability {
        /// Shows forms (declared explicitly from 2025-11-25).
        form: Settings = "form", with_form;
        /// Opens URLs (from 2025-11-25).
        url: Settings = "url", with_url;
    }

    /// The capability of a server to offer a list, such as tools or prompts.
    ListCapability {
        /// Notifies of changes of the list.
        list_changed: bool = "listChanged", with_list_changed;
    }

    /// The resources capability of a server.
    ResourcesCapability {
        /// Notifies of changes of a subscribed resource.
        subscribe: bool = "subscribe", with_subscribe;
        /// Notifies of changes of the list.
        list_changed: bool = "listChanged", with_list_changed;
    }

    /// The tasks capability (2025-11-25 only).
    TasksCapability {
        /// Lists tasks.
        list: Settings = "list", with_list;
        /// Cancels tasks.
        cancel: Settings = "cancel", with_cancel;
        /// The requests that may run as tasks.
        requests: TaskRequests = "requests", with_requests;
    }

    /// The requests that may run as tasks (2025-11-25 only).
    TaskRequests {
        /// Tool requests: `call`.
        tools: Settings = "tools", with_tools;
        /// Sampling requests: `createMessage`.
        sampling: Settings = "sampling", with_sampling;
        /// Elicitation requests: `create`.
        elicitation: Settings = "elicitation", with_elicitation;
    }
}

impl ElicitationCapability {
    /// Returns whether forms are supported: declared, or no mode declared at all.
    pub fn allows_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Returns whether URLs are supported.
    pub fn allows_url(&self) -> bool {
        self.url.is_some()
    }
}

impl ClientCapabilities {
    /// Returns whether the extension with this id is declared.
    pub fn has_extension(&self, id: &str) -> bool {
        self.extensions.as_ref().is_some_and(|extensions| extensions.contains_key(id))
    }

    /// Returns whether a dotted path like `elicitation.url` is declared.
    pub fn declares(&self, path: &str) -> bool {
        declares(self, path)
    }
}

impl ServerCapabilities {
    /// Returns whether the extension with this id is declared.
    pub fn has_extension(&self, id: &str) -> bool {
        self.extensions.as_ref().is_some_and(|extensions| extensions.contains_key(id))
    }

    /// Returns whether a dotted path like `resources.subscribe` is declared.
    pub fn declares(&self, path: &str) -> bool {
        declares(self, path)
    }
}

fn declares<T: Serialize>(capabilities: &T, path: &str) -> bool {
    let Ok(written) = Raw::encode(capabilities) else { return false };
    let member = |object: Raw, key| object.fields().find(|(name, _)| *name == key).map(|(_, value)| value);
    let found = path.split('.').try_fold(written, member);
    found.is_some_and(|value| !matches!(value.as_str(), "null" | "false"))
}
