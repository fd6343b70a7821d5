//! Lowering: drops or rewrites fields that the revision of the peer does not have. The only code that does so.
//!
//! Messages are built for the newest revision and then lowered. Lowering never invents data and never fails for
//! results; a request that has no counterpart in an older revision is [`Unavailable`]. Differences in behavior between
//! revisions are handled by the session.

mod error;
mod handshake;
mod input_request;

pub use error::lower_error;
pub use input_request::Unavailable;

use switchboard_json::{FromRaw, Raw};

use crate::revision::{Era, Revision};
use crate::types::completion::{CompleteParams, Reference};
use crate::types::content::{Annotations, Content, MediaContent};
use crate::types::icon::Icon;
use crate::types::meta::Meta;
use crate::types::progress::ProgressParams;
use crate::types::prompt::{GetPromptParams, Prompt};
use crate::types::resource::{
    EmbeddedResource, ReadResourceParams, Resource, ResourceContents, ResourceTemplate,
};
use crate::types::server_result::ServerResult;
use crate::types::task::{
    CreateTaskResult, DetailedTask, LegacyCreateTaskResult, LegacyTaskState, TaskStatus,
};
use crate::types::tool::{CallToolParams, CallToolResult, Tool};

use Revision::{V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4};

impl ServerResult {
    /// Lowers the result to a revision. JSON text is left unchanged.
    pub fn lower(&mut self, to: Revision) {
        if let Some(meta) = self.meta_mut() {
            lower_meta(meta, to);
        }
        self.lower_cache_hints(to);
        match self {
            Self::Initialize(result) => {
                result.server_info.lower(to);
                result.capabilities.lower(to);
            }
            Self::Discover(result) => result.capabilities.lower(to),
            Self::ListTools(result) => result.tools.iter_mut().for_each(|tool| tool.lower(to)),
            Self::CallTool(result) => result.lower(to),
            Self::ListResources(result) => {
                result.resources.iter_mut().for_each(|resource| resource.lower(to))
            }
            Self::ListResourceTemplates(result) => {
                result.resource_templates.iter_mut().for_each(|template| template.lower(to));
            }
            Self::ReadResource(result) => result.contents.iter_mut().for_each(|part| part.lower(to)),
            Self::ListPrompts(result) => result.prompts.iter_mut().for_each(|prompt| prompt.lower(to)),
            Self::GetPrompt(result) => {
                result.messages.iter_mut().for_each(|message| message.content.lower(to));
            }
            Self::InputRequired(result) => {
                let requests = result.input_requests.iter_mut().flat_map(|requests| requests.iter_mut());
                // Requests that an older client does not support have been rejected before; see `InputRequest::lower`.
                requests.for_each(|(_, request)| drop(request.lower(to)));
            }
            Self::CreateTask(_) | Self::Task(_) | Self::LegacyCreateTask(_) => self.lower_task(to),
            Self::Empty(_) | Self::Complete(_) | Self::LegacyTask(_) | Self::ListTasks(_) | Self::Raw(_) => {}
        }
    }

    /// Drops the caching hints for legacy clients.
    fn lower_cache_hints(&mut self, to: Revision) {
        if to.era() == Era::Modern {
            return;
        }
        let (ttl_ms, cache_scope) = match self {
            Self::Discover(result) => (&mut result.ttl_ms, &mut result.cache_scope),
            Self::ListTools(result) => (&mut result.ttl_ms, &mut result.cache_scope),
            Self::ListResources(result) => (&mut result.ttl_ms, &mut result.cache_scope),
            Self::ListResourceTemplates(result) => (&mut result.ttl_ms, &mut result.cache_scope),
            Self::ReadResource(result) => (&mut result.ttl_ms, &mut result.cache_scope),
            Self::ListPrompts(result) => (&mut result.ttl_ms, &mut result.cache_scope),
            _ => return,
        };
        *ttl_ms = None;
        *cache_scope = None;
    }

    /// Converts between the task types of 2025-11-25 and of the extension; earlier revisions have no tasks.
    fn lower_task(&mut self, to: Revision) {
        let lowered: Self = match (&*self, to.era()) {
            (Self::CreateTask(result), Era::Legacy) => {
                let CreateTaskResult { task, meta, .. } = (**result).clone();
                let mut lowered = LegacyCreateTaskResult::new(task);
                lowered.meta = meta;
                lowered.into()
            }
            (Self::Task(result), Era::Legacy) => legacy_task_state(result).into(),
            (Self::LegacyCreateTask(result), Era::Modern) => {
                let LegacyCreateTaskResult { task, meta } = (**result).clone();
                let mut lowered = CreateTaskResult::new(task.into());
                lowered.meta = meta;
                lowered.into()
            }
            _ => return,
        };
        *self = lowered;
    }
}

fn legacy_task_state(detailed: &DetailedTask) -> LegacyTaskState {
    let mut state = LegacyTaskState::new(detailed.task.clone());
    state.meta.clone_from(&detailed.meta);
    // A tool that failed is "completed" in the extension and "failed" in 2025-11-25.
    let is_error =
        |result: &Raw| result.field_texts().any(|(name, value)| name == "isError" && value == "true");
    if detailed.result.as_ref().is_some_and(is_error) {
        state.task.status = TaskStatus::Failed;
    }
    state
}

impl Meta {
    /// Lowers the object to a revision: drops the reserved keys that it does not have.
    pub fn lower(&mut self, to: Revision) {
        if to.era() == Era::Legacy {
            for key in Self::PER_REQUEST.into_iter().chain([Self::SERVER_INFO, Self::SUBSCRIPTION_ID]) {
                self.remove(key);
            }
        }
        if to != R4 {
            self.remove(Self::RELATED_TASK);
            self.remove(Self::MODEL_IMMEDIATE_RESPONSE);
        }
    }
}

/// Lowers the `_meta` of a message, which every revision has.
fn lower_meta(meta: &mut Option<Meta>, to: Revision) {
    if let Some(inner) = meta {
        inner.lower(to);
        if inner.is_empty() {
            *meta = None;
        }
    }
}

/// Drops the title and the `_meta` of a value inside a message (both from 2025-06-18) and its icons (from 2025-11-25).
fn lower_display_fields(
    title: &mut Option<String>,
    icons: &mut Option<Vec<Icon>>,
    meta: &mut Option<Meta>,
    to: Revision,
) {
    if to < R3 {
        *title = None;
        *meta = None;
    }
    if to < R4 {
        *icons = None;
    }
}

fn lower_annotations(annotations: &mut Option<Annotations>, to: Revision) {
    if to >= R3 {
        return;
    }
    if let Some(inner) = annotations {
        inner.last_modified = None;
        if *inner == Annotations::default() {
            *annotations = None;
        }
    }
}

impl Tool {
    /// Lowers the tool to a revision.
    pub fn lower(&mut self, to: Revision) {
        if to == R2
            && let Some(title) = self.title.take()
        {
            // 2025-03-26 has a title only in the annotations.
            self.annotations.get_or_insert_default().title.get_or_insert(title);
        }
        lower_display_fields(&mut self.title, &mut self.icons, &mut self.meta, to);
        if to < R2 {
            self.annotations = None;
        }
        if to != R4 {
            self.execution = None;
        }
        let drop_schema = match to.era() {
            Era::Modern => false,
            Era::Legacy => to < R3 || !self.output_schema.as_ref().is_some_and(describes_object),
        };
        if drop_schema {
            self.output_schema = None;
        }
    }
}

/// Returns whether a schema has `"type": "object"`, the only output schemas that 2025-06-18 and 2025-11-25 allow.
fn describes_object(schema: &Raw) -> bool {
    let types = schema.fields().find(|(name, _)| *name == "type");
    types.is_some_and(|(_, types)| String::from_raw(&types).is_ok_and(|only| only == "object"))
}

impl CallToolResult {
    /// Lowers the result to a revision. Structured content that the revision does not support becomes text.
    pub fn lower(&mut self, to: Revision) {
        self.content.iter_mut().for_each(|block| block.lower(to));
        let fits = |data: &Raw| to.era() == Era::Modern || (to >= R3 && data.is_object());
        if let Some(data) = self.structured_content.take_if(|data| !fits(data))
            && self.content.is_empty()
        {
            self.content.push(Content::text(data.as_str()));
        }
    }
}

impl Content {
    /// Lowers the block to a revision: converts unsupported kinds to supported ones.
    pub fn lower(&mut self, to: Revision) {
        if let Self::Audio(audio) = self
            && to < R2
        {
            *self = Self::Resource(Box::new(embed_audio(audio)));
        }
        if let Self::ResourceLink(link) = self
            && to < R3
        {
            *self = Self::text(link_text(link));
        }
        match self {
            Self::Text(block) => lower_block(&mut block.annotations, &mut block.meta, to),
            Self::Image(block) | Self::Audio(block) => {
                lower_block(&mut block.annotations, &mut block.meta, to)
            }
            Self::ResourceLink(link) => link.lower(to),
            Self::Resource(block) => {
                block.resource.lower(to);
                lower_block(&mut block.annotations, &mut block.meta, to);
            }
            Self::ToolResult(block) => block.content.iter_mut().for_each(|inner| inner.lower(to)),
            Self::ToolUse(_) | Self::Unknown(_) => {}
        }
    }
}

fn lower_block(annotations: &mut Option<Annotations>, meta: &mut Option<Meta>, to: Revision) {
    lower_annotations(annotations, to);
    if to < R3 {
        *meta = None;
    }
}

fn embed_audio(audio: &mut MediaContent) -> EmbeddedResource {
    // The URI is required but not resolvable: the contents are embedded.
    let contents = ResourceContents::blob("embedded:audio", std::mem::take(&mut audio.data));
    let mut embedded = EmbeddedResource::new(contents.with_mime_type(std::mem::take(&mut audio.mime_type)));
    embedded.annotations = audio.annotations.take();
    embedded
}

fn link_text(link: &Resource) -> String {
    let name = link.title.as_ref().unwrap_or(&link.name);
    match &link.description {
        Some(description) => format!("{name}: {}\n{description}", link.uri),
        None => format!("{name}: {}", link.uri),
    }
}

impl Resource {
    /// Lowers the resource to a revision.
    pub fn lower(&mut self, to: Revision) {
        lower_display_fields(&mut self.title, &mut self.icons, &mut self.meta, to);
        lower_annotations(&mut self.annotations, to);
    }
}

impl ResourceTemplate {
    /// Lowers the template to a revision.
    pub fn lower(&mut self, to: Revision) {
        lower_display_fields(&mut self.title, &mut self.icons, &mut self.meta, to);
        lower_annotations(&mut self.annotations, to);
    }
}

impl ResourceContents {
    /// Lowers the contents to a revision.
    pub fn lower(&mut self, to: Revision) {
        if to < R3 {
            self.meta = None;
        }
    }
}

impl Prompt {
    /// Lowers the prompt to a revision.
    pub fn lower(&mut self, to: Revision) {
        lower_display_fields(&mut self.title, &mut self.icons, &mut self.meta, to);
        if to < R3 {
            self.arguments.iter_mut().flatten().for_each(|argument| argument.title = None);
        }
    }
}

impl CallToolParams {
    /// Lowers the call to a revision.
    pub fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        if to != R4 {
            self.task = None;
        }
        if to.era() == Era::Legacy {
            self.input_responses = None;
            self.request_state = None;
        }
    }
}

impl GetPromptParams {
    /// Lowers the request to a revision.
    pub fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        if to.era() == Era::Legacy {
            self.input_responses = None;
            self.request_state = None;
        }
    }
}

impl ReadResourceParams {
    /// Lowers the request to a revision.
    pub fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        if to.era() == Era::Legacy {
            self.input_responses = None;
            self.request_state = None;
        }
    }
}

impl CompleteParams {
    /// Lowers the request to a revision.
    pub fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        if to < R3 {
            self.context = None;
            if let Reference::Prompt { title, .. } = &mut self.reference {
                *title = None;
            }
        }
    }
}

impl ProgressParams {
    /// Lowers the notification to a revision.
    pub fn lower(&mut self, to: Revision) {
        lower_meta(&mut self.meta, to);
        if to < R2 {
            self.message = None;
        }
    }
}
