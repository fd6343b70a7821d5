//! JSON Web Signatures over *ring*: signing of assertions and proofs.
//!
//! A JWT library would bring a second cryptography stack; five algorithms over the one that TLS already uses are less code
//! than its adapter. The tests compare with an independent implementation.

mod signing_key;

pub(crate) use signing_key::{EcJwk, JwtHeader, unix_now};
pub use signing_key::{SignatureAlgorithm, SigningKey};
