//! The named views of a gateway, replaceable while it runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::state::GatewayState;
use crate::view::View;
use crate::view_server::{ConfigureServer, ViewServer};

/// The named views of a gateway.
pub(crate) struct ViewTable {
    configure: Box<ConfigureServer>,
    // Held for a lookup or a change, never across an await.
    views: RwLock<BTreeMap<Arc<str>, Arc<ViewServer>>>,
}

impl ViewTable {
    pub(crate) fn new(configure: Box<ConfigureServer>) -> Self {
        Self { configure, views: RwLock::default() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<ViewServer>> {
        self.views.read().get(name).cloned()
    }

    /// Returns all views, by name.
    pub(crate) fn all(&self) -> Vec<Arc<ViewServer>> {
        self.views.read().values().cloned().collect()
    }

    /// Replaces the views. One that stays keeps its sessions, unless it offers something else now; one that is gone ends.
    pub(crate) fn replace(&self, gateway: &Arc<GatewayState>, views: Vec<View>) {
        let mut ended = Vec::new();
        let mut changed = Vec::new();
        let mut served = self.views.write();
        let mut known = std::mem::take(&mut *served);
        for View { rules } in views {
            let Some(name) = rules.name.clone() else { continue };
            let view = match known.remove(&name) {
                Some(view) if *view.state.rules() == *rules => view,
                Some(view) if view.accepts(&rules) => {
                    changed.push((Arc::clone(&view), rules));
                    view
                }
                old => {
                    ended.extend(old);
                    Arc::new(ViewServer::start(gateway, rules, &*self.configure))
                }
            };
            ended.extend(served.insert(name, view));
        }
        drop(served);
        ended.extend(known.into_values());
        // Outside the lock: this notifies clients.
        changed.iter().for_each(|(view, rules)| view.state.set_rules(rules));
        for view in ended {
            view.end();
            if let Some(name) = view.state.name.as_deref().filter(|name| self.get(name).is_none()) {
                gateway.results.forget_view(name);
            }
        }
    }
}
