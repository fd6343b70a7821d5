//! JSON Web Signatures over *ring*: signing of assertions and proofs, verification of access tokens.
//!
//! A JWT library would bring a second cryptography stack; five algorithms over the one that TLS already uses are less code
//! than its adapter. The tests compare with an independent implementation.
//!
//! | file | contents |
//! |---|---|
//! | `signing_key` | private keys and signing |
//! | `jwk` | public keys and key sets |
//! | `verify` | verification of a token with a key set |

mod jwk;
mod signing_key;
#[cfg(test)]
mod tests;
mod verify;

pub(crate) use jwk::JwkSet;
pub(crate) use signing_key::{EcJwk, JwtHeader, unix_now};
pub use signing_key::{SignatureAlgorithm, SigningKey};
pub(crate) use verify::{JwsError, MAX_TOKEN, has_jws_header, verify, verify_with_own_key};
