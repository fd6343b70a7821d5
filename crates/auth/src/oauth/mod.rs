//! The OAuth client of one MCP server: an [`Authorizer`](switchboard_http::Authorizer) that obtains, refreshes and sends
//! its tokens.
//!
//! | file | contents |
//! |---|---|
//! | `options` | settings: client, scopes, resource, grant |
//! | `login_channel` | how a user reaches the login page, and its callback reaches the client |
//! | `demand` | why a token is obtained |
//! | `obtain` | from a challenge to a grant: discovery, registration, authorization, token |
//! | `device_login` | the same by device code |
//! | `grants` | the requests of the grants without a user |
//! | `refresh` | the refresh transaction |
//! | `revoke` | revocation at logout |
//! | `current_token` | the token in use |
//! | `state` | what the clones of an authorizer share |
//! | `renewal` | which of login, refresh and step-up a request needs, one at a time |
//! | `login_turns`, `step_up_log` | the callers that wait for a login, and the bound of step-ups |
//! | `authorizer` | the interface |

mod authorizer;
mod current_token;
mod demand;
mod device_login;
mod grants;
mod login_channel;
mod login_turns;
mod obtain;
mod options;
mod refresh;
mod renewal;
mod revoke;
mod state;
mod step_up_log;

pub use authorizer::OAuthAuthorizer;
pub use login_channel::{LoginChannel, PendingCallback};
pub use options::{
    AssertionSource, DpopPolicy, EnterpriseManaged, GrantMethod, OAuthOptions, PkcePolicy, ResourceParameter,
};
pub use revoke::Revocation;
