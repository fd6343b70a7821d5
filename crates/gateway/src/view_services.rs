//! The HTTP services of views: `/mcp/NAME` beside `/mcp`.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_transport::http::server::{HttpServerOptions, HttpService};

use crate::gateway::Gateway;
use crate::view_server::ViewServer;
use crate::view_sessions::ViewSessionStore;

/// The HTTP services of the views that have been asked for.
pub(crate) struct ViewServices {
    options: HttpServerOptions,
    // Held for a lookup or a change, never across an await. At most one entry for each view.
    services: Mutex<HashMap<String, (Arc<ViewServer>, HttpService)>>,
}

impl ViewServices {
    pub(crate) fn new(options: HttpServerOptions) -> Self {
        Self { options, services: Mutex::default() }
    }

    /// Returns the service of a path, if it is that of a view. The name is compared as it is written: no encoding and no other
    /// case of it is the same view.
    pub(crate) fn find(&self, gateway: &Gateway, path: &str) -> Option<HttpService> {
        let name = path.strip_prefix(self.options.path.as_str())?.strip_prefix('/')?;
        let mut services = self.services.lock();
        let Some(view) = gateway.view_server(name) else {
            services.remove(name);
            return None;
        };
        if let Some((known, service)) = services.get(name)
            && Arc::ptr_eq(known, &view)
        {
            return Some(service.clone());
        }
        let mut options = self.options.clone().with_path(path);
        options.store = Arc::new(ViewSessionStore::new(Arc::clone(&self.options.store)));
        let service = view.http_service(options);
        view.state.sessions.add(service.session_counter());
        if let Some(metrics) = gateway.metrics() {
            metrics.add_sessions(service.session_counter());
        }
        services.insert(name.to_owned(), (view, service.clone()));
        Some(service)
    }

    /// Ends every session and stream.
    pub(crate) fn shut_down(&self) {
        self.services.lock().values().for_each(|(_, service)| service.shut_down());
    }
}
