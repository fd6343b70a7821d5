//! Lowering of the handshake: implementation info and capabilities.

use crate::revision::{Era, Revision};
use crate::surface::TASKS_EXTENSION;
use crate::types::capability::{
    ClientCapabilities, ElicitationCapability, SamplingCapability, ServerCapabilities, Settings,
};
use crate::types::handshake::{Implementation, InitializeParams};

use Revision::{V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4};

impl Implementation {
    /// Lowers the implementation info to a revision.
    pub fn lower(&mut self, to: Revision) {
        if to < R3 {
            self.title = None;
        }
        if to < R4 {
            self.description = None;
            self.website_url = None;
            self.icons = None;
        }
    }
}

impl InitializeParams {
    /// Lowers the parameters to a revision; the requested version is unchanged.
    pub fn lower(&mut self, to: Revision) {
        super::lower_meta(&mut self.meta, to);
        self.client_info.lower(to);
        self.capabilities.lower(to);
    }
}

impl ClientCapabilities {
    /// Lowers the capabilities to a revision. Keys that no revision defines are preserved.
    pub fn lower(&mut self, to: Revision) {
        if to < R4 && self.sampling.is_some() {
            self.sampling = Some(SamplingCapability::new());
        }
        if to < R3 {
            self.elicitation = None;
        } else if to < R4 {
            // Without modes the capability means forms, so a client without forms must not declare it.
            self.elicitation = self
                .elicitation
                .take()
                .filter(ElicitationCapability::allows_form)
                .map(|_| ElicitationCapability::new());
        }
        if to != R4 {
            self.tasks = None;
        }
        match to.era() {
            Era::Legacy => drop_tasks_extension(&mut self.extensions),
            Era::Modern => {
                if let Some(roots) = &mut self.roots {
                    roots.list_changed = None;
                }
            }
        }
    }
}

impl ServerCapabilities {
    /// Lowers the capabilities to a revision. Keys that no revision defines are preserved.
    pub fn lower(&mut self, to: Revision) {
        if to < R2 {
            self.completions = None;
        }
        if to != R4 {
            self.tasks = None;
        }
        if to.era() == Era::Legacy {
            drop_tasks_extension(&mut self.extensions);
        }
    }
}

/// Removes the tasks extension, which legacy sessions must not use because 2025-11-25 has its own tasks. Other
/// extensions are allowed there.
fn drop_tasks_extension(extensions: &mut Option<Settings>) {
    if let Some(inner) = extensions {
        inner.remove(TASKS_EXTENSION);
        if inner.is_empty() {
            *extensions = None;
        }
    }
}
