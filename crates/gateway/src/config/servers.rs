//! `[servers.NAME]` and `include`: the servers of a gateway, resolved for the host.

use std::path::{Path, PathBuf};

use serde_json::Value;
use switchboard_config::{
    Approvals, ConfiguredServer, Layer, ResolveContext, ResolvedConfig, Scope, ServerConfig, VariableLookup,
};
use toml::Spanned;

use super::document::GatewayConfig;
use super::error::{GatewayConfigError, GatewayConfigErrorKind};
use super::passthrough::check_token_passthrough;

/// The scope of all servers of a gateway: they need no approval, and their relative paths begin at the document.
const SCOPE: Scope = Scope::Local;

impl GatewayConfig {
    /// Returns whether the document names servers or files of servers.
    pub fn has_servers(&self) -> bool {
        !self.servers.is_empty() || !self.include.is_empty()
    }

    /// Resolves the servers of the document and of the files that it includes; relative paths begin at `base`.
    ///
    /// # Errors
    /// When an entry or a file is not valid, a variable is not set, or a name is used twice.
    pub fn resolve_servers(
        &self,
        base: &Path,
        variables: VariableLookup<'_>,
    ) -> Result<ResolvedConfig, GatewayConfigError> {
        let mut layers = vec![self.own_layer()?];
        for path in self.included_files(base) {
            let layer = read_included(&path)?;
            let known =
                |name: &str| layers.iter().flat_map(|layer| &layer.servers).any(|server| server.name == name);
            if let Some(twice) = layer.servers.iter().find(|server| known(&server.name)) {
                let (name, second) = (twice.name.clone(), path.display().to_string());
                return Err(GatewayConfigError::new(GatewayConfigErrorKind::DuplicateServer {
                    name,
                    second,
                }));
            }
            layers.push(layer);
        }
        let approvals = Approvals::empty();
        let context = ResolveContext { project: base, approvals: &approvals, variables };
        let resolved = ResolvedConfig::from_layers(&layers, context);
        resolved.servers.iter().try_for_each(|server| self.check_server(server))?;
        Ok(resolved)
    }

    /// Returns the paths of the included files.
    pub fn included_files(&self, base: &Path) -> Vec<PathBuf> {
        self.include.iter().map(|path| base.join(path)).collect()
    }

    fn check_server(&self, server: &ConfiguredServer) -> Result<(), GatewayConfigError> {
        let error = |kind| self.at_server(&server.name, GatewayConfigError::new(kind));
        if let Some(entry) = &server.entry {
            check_token_passthrough(&server.name, entry).map_err(error)?;
        }
        match &server.plan {
            Ok(_) => Ok(()),
            Err(reason) => Err(error(server_error(&server.name, reason.to_string()))),
        }
    }

    /// Returns the servers of the document itself.
    fn own_layer(&self) -> Result<Layer, GatewayConfigError> {
        let read = |(name, value): (&String, &Spanned<Value>)| {
            let error = |kind| self.at_server(name, GatewayConfigError::new(kind));
            let entry: ServerConfig = serde_json::from_value(value.get_ref().clone())
                .map_err(|reason| error(server_error(name, reason.to_string())))?;
            check_token_passthrough(name, &entry).map_err(error)?;
            if let Some((key, _)) = entry.unknown.first() {
                let reason = format!(
                    "`{key}` is not known; the keys are those of an entry of `mcpServers`, see docs/configuration.md"
                );
                return Err(error(server_error(name, reason)));
            }
            Ok((name.clone(), entry))
        };
        let servers = self.servers.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(Layer::new(SCOPE, servers))
    }

    /// Sets the line of a server of this document.
    fn at_server(&self, name: &str, error: GatewayConfigError) -> GatewayConfigError {
        match self.servers.get(name) {
            Some(value) => error.at_line(self.line_of(value.span().start)),
            None => error,
        }
    }
}

fn server_error(name: &str, reason: String) -> GatewayConfigErrorKind {
    GatewayConfigErrorKind::Server { name: name.to_owned(), reason }
}

fn read_included(path: &Path) -> Result<Layer, GatewayConfigError> {
    let in_file = |kind| GatewayConfigError::new(kind).in_file(path);
    // An absent file would count as empty.
    if let Err(error) = std::fs::metadata(path) {
        return Err(in_file(GatewayConfigErrorKind::Unreadable(error.to_string())));
    }
    let layer = Layer::read(SCOPE, path)
        .map_err(|error| GatewayConfigError::new(GatewayConfigErrorKind::Document(error.to_string())))?;
    for server in &layer.servers {
        match &server.entry {
            Ok(entry) => check_token_passthrough(&server.name, entry).map_err(in_file)?,
            // It names the file and the line itself.
            Err(error) => {
                return Err(GatewayConfigError::new(GatewayConfigErrorKind::Document(error.to_string())));
            }
        }
    }
    Ok(layer)
}
