//! The router: finds the route of a path and a method.

use http::Method;
use percent_encoding::percent_decode_str;

use crate::api::ApiRoute;

/// The routes of the API.
#[derive(Debug)]
pub(super) struct Router {
    routes: Vec<ApiRoute>,
}

/// What the router has found.
#[derive(Debug)]
pub(super) enum RouteMatch<'r> {
    Found {
        route: &'r ApiRoute,
        parameters: Vec<(&'static str, String)>,
    },
    /// The path has other methods, such as `GET, HEAD`.
    OtherMethods(String),
    None,
}

impl Router {
    /// Creates a router. Literal segments win over parameters, so that `/api/servers/plan` is not a server.
    pub(super) fn new(mut routes: Vec<ApiRoute>) -> Self {
        routes.sort_by_key(parameter_count);
        Self { routes }
    }

    /// Finds a route. HEAD finds the routes of GET.
    pub(super) fn find(&self, method: &Method, path: &str) -> RouteMatch<'_> {
        let wanted = if *method == Method::HEAD { &Method::GET } else { method };
        let mut others: Vec<&str> = Vec::new();
        let mut most_literal = None;
        for route in &self.routes {
            let Some(parameters) = match_path(route.path, path) else { continue };
            if *most_literal.get_or_insert(parameters.len()) != parameters.len() {
                break;
            }
            if route.method == wanted {
                return RouteMatch::Found { route, parameters };
            }
            let names: &[&str] = if route.method == Method::GET { &["GET", "HEAD"] } else { &["POST"] };
            others.extend(names.iter().filter(|name| !others.contains(name)).collect::<Vec<_>>());
        }
        if others.is_empty() { RouteMatch::None } else { RouteMatch::OtherMethods(others.join(", ")) }
    }
}

fn parameter_count(route: &ApiRoute) -> usize {
    route.path.matches('{').count()
}

/// Returns the parameters of a path if it has this pattern. Segments are decoded after the path was split.
fn match_path(pattern: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    let mut parameters = Vec::new();
    let (mut expected, mut segments) = (pattern.split('/'), path.split('/'));
    loop {
        match (expected.next(), segments.next()) {
            (None, None) => return Some(parameters),
            (Some(expected), Some(segment)) => {
                match expected.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                    Some(name) if !segment.is_empty() => {
                        let value = percent_decode_str(segment).decode_utf8().ok()?;
                        parameters.push((name, value.into_owned()));
                    }
                    None if expected == segment => {}
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ApiResponse;

    fn router() -> Router {
        let paths = ["/api/servers/{name}", "/api/servers/plan", "/api/servers/{name}/enable"];
        let write = |path| ApiRoute::write(path, |_, _| async { Ok(ApiResponse::accepted()) });
        let mut routes: Vec<ApiRoute> = paths.into_iter().map(write).collect();
        routes.push(ApiRoute::get("/api/servers/{name}", |_, _| async { Ok(ApiResponse::accepted()) }));
        Router::new(routes)
    }

    #[track_caller]
    fn check(method: Method, path: &str, expected: &str) {
        let router = router();
        let found = match router.find(&method, path) {
            RouteMatch::Found { route, parameters } => format!("{} {parameters:?}", route.path),
            RouteMatch::OtherMethods(allowed) => allowed,
            RouteMatch::None => "none".to_owned(),
        };
        assert_eq!(found, expected, "{method} {path}");
    }

    #[test]
    fn segments_are_decoded_after_the_path_was_split() {
        check(Method::POST, "/api/servers/plan", "/api/servers/plan []");
        check(Method::POST, "/api/servers/a%2Fb/enable", r#"/api/servers/{name}/enable [("name", "a/b")]"#);
        check(Method::POST, "/api/servers/%2e%2e/enable", r#"/api/servers/{name}/enable [("name", "..")]"#);
        check(Method::HEAD, "/api/servers/a", r#"/api/servers/{name} [("name", "a")]"#);
        check(Method::PUT, "/api/servers/a", "POST, GET, HEAD");
        check(Method::GET, "/api/servers/plan", "POST");
        check(Method::POST, "/api/servers//enable", "none");
        check(Method::POST, "/api/servers/%ff/enable", "none");
        check(Method::POST, "/api/servers/a/enable/", "none");
    }
}
