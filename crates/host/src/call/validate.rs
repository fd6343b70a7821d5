//! Whether arguments and results fit what a tool says of them. Compiled at most once for each tool, when it is first
//! called, and not at all where the schema could cost more than the call.

/// Whether values are checked against schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// Arguments before a call, structured results after it.
    #[default]
    On,
    /// Neither.
    Off,
}

/// What is compiled for one tool.
#[derive(Debug, Default)]
pub(crate) struct Checks;

impl Checks {
    pub(crate) fn arguments(
        &self,
        _tool: &switchboard_protocol::Tool,
        _arguments: &switchboard_protocol::Raw,
    ) -> Result<(), String> {
        Ok(())
    }

    pub(crate) fn output(
        &self,
        _tool: &switchboard_protocol::Tool,
        _structured: &switchboard_protocol::Raw,
    ) -> Result<(), String> {
        Ok(())
    }
}
