//! Why a tool is missing or refused, in one sentence.

use std::fmt;
use std::sync::Arc;

use crate::registry::catalog::Catalog;
use crate::registry::part::Part;
use crate::registry::rule::Withheld;
use crate::slot::Switch;
use crate::status::Status;

/// What is the matter with a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Why {
    /// Nothing: it is in the catalogue.
    Shown {
        /// The name the model knows it by.
        name: Arc<str>,
        /// Its server.
        server: Arc<str>,
        /// How the server is doing; none for the application's own tools.
        status: Option<Status>,
    },
    /// Its server lists it, and it is not shown.
    Withheld {
        /// Its server.
        server: Arc<str>,
        /// Why.
        reason: Withheld,
    },
    /// Its server is switched off.
    Disabled {
        /// Its server.
        server: Arc<str>,
    },
    /// Its server lists it in a way that cannot be read.
    Rejected {
        /// Its server.
        server: Arc<str>,
        /// What is wrong.
        reason: String,
    },
    /// No server lists it; these are not ready, so it may be one of theirs.
    Unknown {
        /// Servers that are not ready, and how they are.
        not_ready: Vec<(Arc<str>, Status)>,
        /// Names that look like it.
        near: Vec<Arc<str>>,
    },
}

impl Catalog {
    /// What is the matter with a tool, by either of its names. `statuses` says how each server is doing.
    pub(crate) fn why(&self, name: &str, statuses: &[(Arc<str>, Status)]) -> Why {
        if let Some(found) = self.find(name) {
            let (name, server) = (Arc::clone(&found.tool.qualified), Arc::clone(&found.tool.server));
            return Why::Shown { name, server, status: found.tool.status() };
        }
        self.parts.iter().find_map(|part| self.why_in(part, name)).unwrap_or_else(|| {
            let is_ready = |status: &Status| matches!(status, Status::Ready(_) | Status::Degraded { .. });
            let not_ready = statuses.iter().filter(|(_, status)| !is_ready(status)).cloned().collect();
            Why::Unknown { not_ready, near: self.near(name) }
        })
    }

    fn why_in(&self, part: &Part, name: &str) -> Option<Why> {
        let server = || Arc::clone(&part.server);
        let named = |listed: &&Arc<crate::registry::CatalogTool>| {
            *listed.qualified == *name || listed.tool.name == name
        };
        if let Some(listed) = part.list.tools.iter().find(named) {
            return Some(match (self.withheld(listed), part.switch) {
                (Some(reason), _) => Why::Withheld { server: server(), reason: reason.clone() },
                (None, _) => Why::Disabled { server: server() },
            });
        }
        let rejected = part.list.rejected.iter().find(|rejected| rejected.name.as_deref() == Some(name))?;
        Some(match part.switch {
            Switch::Off => Why::Disabled { server: server() },
            Switch::On => Why::Rejected { server: server(), reason: rejected.error.to_string() },
        })
    }

    /// Names that look like this one: the few that are the fewest letters away.
    pub(crate) fn near(&self, name: &str) -> Vec<Arc<str>> {
        let wanted: Vec<char> = name.chars().collect();
        let most = (wanted.len() / 4).max(1);
        let away = |other: &str| distance(&wanted, other).filter(|away| *away <= most);
        let mut near: Vec<(usize, &Arc<str>)> = self
            .tools()
            .iter()
            .filter_map(|listed| {
                let nearest = away(&listed.tool.name).into_iter().chain(away(&listed.qualified)).min()?;
                Some((nearest, &listed.qualified))
            })
            .collect();
        near.sort();
        let best = near.first().map(|(away, _)| *away);
        let nearest = near.into_iter().take_while(|(away, _)| Some(*away) == best).take(3);
        nearest.map(|(_, name)| Arc::clone(name)).collect()
    }
}

/// How many letters have to be put in, taken out or changed; none for names too different in length to matter.
fn distance(from: &[char], to: &str) -> Option<usize> {
    let to: Vec<char> = to.chars().collect();
    if from.len().abs_diff(to.len()) * 4 > from.len().max(4) {
        return None;
    }
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(row[place] + 1).min(diagonal + 1);
        }
    }
    row.last().copied()
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown { name, server, status: None } => write!(f, "{name} of {server} is there"),
            Self::Shown { name, server, status: Some(status) } => {
                write!(f, "{name} is there; its server {server:?} is {status}")
            }
            Self::Withheld { server, reason } => write!(f, "{server:?} lists it, but {reason}"),
            Self::Disabled { server } => write!(f, "its server {server:?} is disabled; enable it"),
            Self::Rejected { server, reason } => {
                write!(f, "{server:?} lists it in a way that cannot be read: {reason}")
            }
            Self::Unknown { not_ready, near } => {
                f.write_str("no server lists it")?;
                for (server, status) in not_ready {
                    write!(f, "; {server:?} is {status}")?;
                }
                if !near.is_empty() {
                    write!(f, "; did you mean {}?", near.join(", "))?;
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
    fn letters_are_counted() {
        let away = |a: &str, b| distance(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(away("ecko", "echo"), Some(1));
        assert_eq!(away("read", "read"), Some(0));
        assert_eq!(away("raed", "read"), Some(2));
        assert_eq!(away("read", "reading_list"), None);
        assert_eq!(away("", "a"), Some(1));
    }
}
