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

/// Declares objects of optional fields that preserve unknown keys.
macro_rules! open_objects {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $key:literal,)* })+) => {$(
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
    )+};
}

open_objects! {
    /// The capabilities of a client.
    ClientCapabilities {
        /// Non-standard capabilities.
        experimental: Settings = "experimental",
        /// Lists roots.
        roots: RootsCapability = "roots",
        /// Samples from a model.
        sampling: SamplingCapability = "sampling",
        /// Asks the user (from 2025-06-18).
        elicitation: ElicitationCapability = "elicitation",
        /// Runs sampling and elicitation as tasks (2025-11-25 only).
        tasks: TasksCapability = "tasks",
        /// Extensions by id, with their settings (from 2026-07-28; used earlier too).
        extensions: Settings = "extensions",
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
        experimental: Settings = "experimental",
        /// Sends log messages.
        logging: Settings = "logging",
        /// Completes arguments (from 2025-03-26).
        completions: Settings = "completions",
        /// Has prompts.
        prompts: ListCapability = "prompts",
        /// Has resources.
        resources: ResourcesCapability = "resources",
        /// Has tools.
        tools: ListCapability = "tools",
        /// Runs tool calls as tasks (2025-11-25 only).
        tasks: TasksCapability = "tasks",
        /// Extensions by id, with their settings (from 2026-07-28; used earlier too).
        extensions: Settings = "extensions",
    }

    /// The roots capability of a client.
    RootsCapability {
        /// Notifies of changes (until 2025-11-25).
        list_changed: bool = "listChanged",
    }

    /// The sampling capability of a client.
    SamplingCapability {
        /// Supports `includeContext` (from 2025-11-25).
        context: Settings = "context",
        /// Supports `tools` (from 2025-11-25).
        tools: Settings = "tools",
    }

    /// The elicitation capability of a client. Without modes it means forms only.
    ElicitationCapability {
        /// Shows forms (declared explicitly from 2025-11-25).
        form: Settings = "form",
        /// Opens URLs (from 2025-11-25).
        url: Settings = "url",
    }

    /// The capability of a server to offer a list, such as tools or prompts.
    ListCapability {
        /// Notifies of changes of the list.
        list_changed: bool = "listChanged",
    }

    /// The resources capability of a server.
    ResourcesCapability {
        /// Notifies of changes of a subscribed resource.
        subscribe: bool = "subscribe",
        /// Notifies of changes of the list.
        list_changed: bool = "listChanged",
    }

    /// The tasks capability (2025-11-25 only).
    TasksCapability {
        /// Lists tasks.
        list: Settings = "list",
        /// Cancels tasks.
        cancel: Settings = "cancel",
        /// The requests that may run as tasks.
        requests: TaskRequests = "requests",
    }

    /// The requests that may run as tasks (2025-11-25 only).
    TaskRequests {
        /// Tool requests: `call`.
        tools: Settings = "tools",
        /// Sampling requests: `createMessage`.
        sampling: Settings = "sampling",
        /// Elicitation requests: `create`.
        elicitation: Settings = "elicitation",
    }
}

setters!(ClientCapabilities:
    some with_experimental experimental Settings;
    some with_roots roots RootsCapability;
    some with_sampling sampling SamplingCapability;
    some with_elicitation elicitation ElicitationCapability;
    some with_tasks tasks TasksCapability;
    some with_extensions extensions Settings;
);
setters!(ServerCapabilities:
    some with_experimental experimental Settings;
    some with_logging logging Settings;
    some with_completions completions Settings;
    some with_prompts prompts ListCapability;
    some with_resources resources ResourcesCapability;
    some with_tools tools ListCapability;
    some with_tasks tasks TasksCapability;
    some with_extensions extensions Settings;
);
setters!(RootsCapability: some with_list_changed list_changed bool;);
setters!(SamplingCapability: some with_context context Settings; some with_tools tools Settings;);
setters!(ElicitationCapability: some with_form form Settings; some with_url url Settings;);
setters!(ListCapability: some with_list_changed list_changed bool;);
setters!(ResourcesCapability:
    some with_subscribe subscribe bool;
    some with_list_changed list_changed bool;
);
setters!(TasksCapability:
    some with_list list Settings;
    some with_cancel cancel Settings;
    some with_requests requests TaskRequests;
);
setters!(TaskRequests:
    some with_tools tools Settings;
    some with_sampling sampling Settings;
    some with_elicitation elicitation Settings;
);

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
