//! Explains why a tool is missing or cannot be called.

use std::fmt;
use std::sync::Arc;

use crate::registry::catalog::Catalog;
use crate::registry::catalog_part::CatalogPart;
use crate::registry::rule::WithheldReason;
use crate::slot::Switch;
use crate::status::Status;

/// Why a tool is available or not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolExplanation {
    /// It is in the catalog.
    Shown {
        /// Its qualified name.
        name: Arc<str>,
        /// Its server.
        server: Arc<str>,
        /// The status of the server; `None` for tools of the application.
        status: Option<Status>,
    },
    /// Its server lists it, but it is withheld.
    Withheld {
        /// Its server.
        server: Arc<str>,
        /// The reason.
        reason: WithheldReason,
    },
    /// Its server is disabled.
    Disabled {
        /// Its server.
        server: Arc<str>,
    },
    /// Its server lists it with an invalid definition.
    Rejected {
        /// Its server.
        server: Arc<str>,
        /// The error in the definition.
        reason: String,
    },
    /// No connected server lists it.
    Unknown {
        /// Servers that are not ready, with their status: it may be a tool of theirs.
        not_ready: Vec<(Arc<str>, Status)>,
        /// Similar names.
        similar: Vec<Arc<str>>,
    },
}

impl Catalog {
    /// Explains the availability of a tool, by either of its names. `statuses` has the status of each server.
    pub(crate) fn explain(&self, name: &str, statuses: &[(Arc<str>, Status)]) -> ToolExplanation {
        if let Some(found) = self.find(name) {
            let (name, server) = (Arc::clone(&found.tool.qualified), Arc::clone(&found.tool.server));
            return ToolExplanation::Shown { name, server, status: found.tool.status() };
        }
        self.parts.iter().find_map(|part| self.explain_in(part, name)).unwrap_or_else(|| {
            let is_ready = |status: &Status| matches!(status, Status::Ready(_) | Status::Degraded { .. });
            let not_ready = statuses.iter().filter(|(_, status)| !is_ready(status)).cloned().collect();
            ToolExplanation::Unknown { not_ready, similar: self.similar_names(name) }
        })
    }

    fn explain_in(&self, part: &CatalogPart, name: &str) -> Option<ToolExplanation> {
        let server = || Arc::clone(&part.server);
        let has_name = |listed: &&Arc<crate::registry::CatalogTool>| {
            *listed.qualified == *name || listed.tool.name == name
        };
        if let Some(listed) = part.list.tools.iter().find(has_name) {
            return Some(match (self.withheld(listed), part.switch) {
                (Some(reason), _) => ToolExplanation::Withheld { server: server(), reason: reason.clone() },
                (None, _) => ToolExplanation::Disabled { server: server() },
            });
        }
        let rejected = part.list.rejected.iter().find(|rejected| rejected.name.as_deref() == Some(name))?;
        Some(match part.switch {
            Switch::Off => ToolExplanation::Disabled { server: server() },
            Switch::On => ToolExplanation::Rejected { server: server(), reason: rejected.error.to_string() },
        })
    }

    /// Returns up to three qualified names of tools with the least edit distance.
    pub fn similar_names(&self, name: &str) -> Vec<Arc<str>> {
        let name_chars: Vec<char> = name.chars().collect();
        let max_distance = (name_chars.len() / 4).max(1);
        let distance =
            |other: &str| edit_distance(&name_chars, other).filter(|distance| *distance <= max_distance);
        let mut similar: Vec<(usize, &Arc<str>)> = self
            .tools()
            .iter()
            .filter_map(|listed| {
                let nearest =
                    distance(&listed.tool.name).into_iter().chain(distance(&listed.qualified)).min()?;
                Some((nearest, &listed.qualified))
            })
            .collect();
        similar.sort();
        let best = similar.first().map(|(distance, _)| *distance);
        let nearest = similar.into_iter().take_while(|(distance, _)| Some(*distance) == best).take(3);
        nearest.map(|(_, name)| Arc::clone(name)).collect()
    }
}

/// Returns the Levenshtein distance; `None` if the lengths differ too much.
fn edit_distance(from: &[char], to: &str) -> Option<usize> {
    let to: Vec<char> = to.chars().collect();
    if from.len().abs_diff(to.len()) * 4 > from.len().max(4) {
        return None;
    }
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row.last().copied()
}

impl fmt::Display for ToolExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown { name, server, status: None } => write!(f, "{name} of {server} is available"),
            Self::Shown { name, server, status: Some(status) } => {
                write!(f, "{name} is available; its server {server:?} is {status}")
            }
            Self::Withheld { server, reason } => write!(f, "{server:?} lists it, but {reason}"),
            Self::Disabled { server } => write!(f, "its server {server:?} is disabled; enable it"),
            Self::Rejected { server, reason } => {
                write!(f, "{server:?} lists it with an invalid definition: {reason}")
            }
            Self::Unknown { not_ready, similar } => {
                f.write_str("no server lists it")?;
                for (server, status) in not_ready {
                    write!(f, "; {server:?} is {status}")?;
                }
                if !similar.is_empty() {
                    write!(f, "; did you mean {}?", similar.join(", "))?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances() {
        let distance = |a: &str, b| edit_distance(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(distance("ecko", "echo"), Some(1));
        assert_eq!(distance("read", "read"), Some(0));
        assert_eq!(distance("raed", "read"), Some(2));
        assert_eq!(distance("read", "reading_list"), None);
        assert_eq!(distance("", "a"), Some(1));
    }
}
