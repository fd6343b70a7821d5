//! Tools that every host brings: they let a model read the resources of servers.

use std::sync::{Arc, Weak};

use crate::call::OwnTool;
use crate::host::Inner;

/// The tools every host brings.
pub(crate) fn tools(_host: &Weak<Inner>) -> Vec<Arc<dyn OwnTool>> {
    Vec::new()
}
