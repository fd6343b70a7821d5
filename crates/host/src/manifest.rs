//! Manifests: the tools and other lists of a server that is not started.

use serde::{Deserialize, Serialize};
use switchboard_protocol::{Implementation, Prompt, Resource, ResourceTemplate, Tool};

/// The lists of a server when it last ran. The application stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Manifest {
    /// The name and version of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Implementation>,
    /// Its instructions for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Its tools, in order.
    pub tools: Vec<Tool>,
    /// Its prompts, in order, if the host keeps them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Prompt>,
    /// Its resources, in order, if the host keeps them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// Its resource templates, in order, if the host keeps them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_templates: Vec<ResourceTemplate>,
}

impl Manifest {
    /// Creates a manifest with these tools.
    pub fn new(tools: impl Into<Vec<Tool>>) -> Self {
        Self {
            server_info: None,
            instructions: None,
            tools: tools.into(),
            prompts: Vec::new(),
            resources: Vec::new(),
            resource_templates: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_without_the_other_lists_is_read() {
        let old = r#"{"instructions":"Be kind.","tools":[{"name":"add","inputSchema":{"type":"object"}}]}"#;
        let manifest: Manifest = serde_json::from_str(old).unwrap();
        assert!(manifest.prompts.is_empty() && manifest.resources.is_empty());
        assert_eq!(serde_json::to_string(&manifest).unwrap(), old);
    }
}
