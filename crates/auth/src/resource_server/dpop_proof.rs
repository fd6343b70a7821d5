//! Verification of DPoP proofs (RFC 9449, section 4.3): that the sender of a token has the key it is bound to.
//!
//! Invariants: a proof is accepted once, for the request and the token that it names. Its URL is compared with the
//! configured public URL: nothing that a proxy or a client says about the host counts.

use std::fmt;

use http::{HeaderMap, Method};
use serde::Deserialize;
use subtle::ConstantTimeEq;
use switchboard_http::{Address, PlainHttp, PresentedToken, VerifyError};

use crate::jws::{SignatureAlgorithm, verify_with_own_key};
use crate::random::sha256;
use crate::resource_server::dpop_nonce::{DpopNonces, NONCE_PERIOD};
use crate::resource_server::replay_set::ReplaySet;

/// How many seconds the time of a proof may differ from ours; with nonces, their age counts instead.
const MAX_AGE: u64 = 60;
/// How many used proofs are remembered.
const USED_PROOFS: usize = 262_144;
/// The longest proof, and the longest id of one.
const MAX_PROOF: usize = 8 * 1024;
const MAX_ID: usize = 256;

/// Whether tokens must be bound to a key (DPoP, RFC 9449), and how proofs are checked.
///
/// ```
/// use switchboard::auth::{DpopVerification, ResourceServer};
///
/// let verifier = ResourceServer::new("https://notes.example.org/mcp")
///     .issuer("https://login.example.org")
///     .dpop(DpopVerification::required().with_nonces())
///     .build()?;
/// assert!(verifier.metadata().dpop_bound_access_tokens_required);
/// # Ok::<(), switchboard::auth::ResourceServerError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct DpopVerification {
    is_required: bool,
    pub(crate) algorithms: Vec<SignatureAlgorithm>,
    nonces: NonceMode,
}

#[derive(Clone)]
enum NonceMode {
    Off,
    OwnKey,
    SharedKey([u8; 32]),
}

/// Checks the proofs of one resource server.
#[derive(Debug)]
pub(crate) struct ProofVerifier {
    pub(crate) is_required: bool,
    algorithms: Vec<SignatureAlgorithm>,
    public_url: Address,
    nonces: Option<DpopNonces>,
    used: ReplaySet,
    max_age: u64,
}

#[derive(Deserialize)]
struct ProofClaims {
    jti: String,
    htm: String,
    htu: String,
    iat: f64,
    ath: Option<String>,
    nonce: Option<String>,
}

impl DpopVerification {
    /// Accepts tokens that are bound to a key with a proof, and others as bearer tokens.
    pub fn optional() -> Self {
        Self { is_required: false, algorithms: SignatureAlgorithm::ALL.to_vec(), nonces: NonceMode::Off }
    }

    /// Accepts only tokens that are bound to a key, with a proof. API keys stay valid.
    pub fn required() -> Self {
        Self { is_required: true, ..Self::optional() }
    }

    /// Sets the allowed signature algorithms of proofs. The default is all of [`SignatureAlgorithm`].
    pub fn with_algorithms(mut self, algorithms: impl IntoIterator<Item = SignatureAlgorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Demands a nonce of this server in every proof, so that proofs cannot be made in advance and the clock of the client
    /// does not matter. Clients learn a new nonce every five minutes by one rejected request.
    pub fn with_nonces(mut self) -> Self {
        self.nonces = NonceMode::OwnKey;
        self
    }

    /// As [`Self::with_nonces`], for several processes behind one URL: with the same key they accept the nonces of each
    /// other. A proof is remembered by the process that accepted it.
    pub fn with_shared_nonces(mut self, key: [u8; 32]) -> Self {
        self.nonces = NonceMode::SharedKey(key);
        self
    }

    /// Returns the verifier for a server at this URL.
    pub(crate) fn into_verifier(self, public_url: Address) -> ProofVerifier {
        let nonces = match &self.nonces {
            NonceMode::Off => None,
            NonceMode::OwnKey => Some(DpopNonces::new(None)),
            NonceMode::SharedKey(key) => Some(DpopNonces::new(Some(key))),
        };
        let max_age = if nonces.is_some() { 2 * NONCE_PERIOD.as_secs() } else { MAX_AGE };
        ProofVerifier {
            is_required: self.is_required,
            algorithms: self.algorithms,
            public_url,
            nonces,
            used: ReplaySet::new(USED_PROOFS, 2 * max_age),
            max_age,
        }
    }
}

impl ProofVerifier {
    /// Returns the names of the allowed algorithms.
    pub(crate) fn algorithm_names(&self) -> Vec<String> {
        self.algorithms.iter().map(|algorithm| algorithm.name().to_owned()).collect()
    }

    /// Checks the proof of a request whose token is bound to the key with this thumbprint.
    ///
    /// # Errors
    /// When there is no valid proof for this request and this token, or it lacks the nonce of the server.
    pub(crate) fn check(
        &self,
        presented: PresentedToken<'_>,
        thumbprint: &str,
        now: u64,
    ) -> Result<(), VerifyError> {
        let proof = proof_header(presented.headers)?;
        let jwt = verify_with_own_key(proof, &self.algorithms)
            .map_err(|error| VerifyError::proof(error.to_string()))?;
        if !jwt.kind.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case("dpop+jwt")) {
            return Err(VerifyError::proof("its type is not `dpop+jwt`"));
        }
        if !bool::from(jwt.thumbprint.as_bytes().ct_eq(thumbprint.as_bytes())) {
            return Err(VerifyError::proof("it is signed with another key than the token is bound to"));
        }
        let claims: ProofClaims =
            serde_json::from_str(&jwt.claims).map_err(|_| VerifyError::proof("its claims are malformed"))?;
        self.check_request(&claims, presented.method, presented.path)?;
        if claims.ath.as_deref() != Some(&sha256(presented.token)) {
            return Err(VerifyError::proof("it is for another token (`ath`)"));
        }
        self.check_time(&claims, now)?;
        if claims.jti.is_empty() || claims.jti.len() > MAX_ID {
            return Err(VerifyError::proof("its id (`jti`) is empty or too long"));
        }
        match self.used.record(thumbprint, &claims.jti, claims.iat as u64, now) {
            true => Ok(()),
            false => Err(VerifyError::proof("it was used before: make one for each request")),
        }
    }

    fn check_request(&self, claims: &ProofClaims, method: &Method, path: &str) -> Result<(), VerifyError> {
        if claims.htm != method.as_str() {
            return Err(VerifyError::proof("it is for another method (`htm`)"));
        }
        let target = claims.htu.split(['?', '#']).next().unwrap_or_default();
        let target = Address::parse(target, PlainHttp::Allowed);
        match target.is_ok_and(|target| self.is_own(&target, path)) {
            true => Ok(()),
            false => Err(VerifyError::proof("it is for another URL (`htu`)")),
        }
    }

    /// Returns whether a URL is the public one of a request to this path. A proxy may have removed a prefix of the path.
    fn is_own(&self, target: &Address, path: &str) -> bool {
        if *target == self.public_url {
            return true;
        }
        let own = self.public_url.uri().path();
        let prefix = own.rsplit_once('/').map_or("", |(prefix, _)| prefix);
        let own_path = target.uri().path();
        target.origin() == self.public_url.origin()
            && (own_path == path || own_path.strip_prefix(prefix) == Some(path))
    }

    fn check_time(&self, claims: &ProofClaims, now: u64) -> Result<(), VerifyError> {
        if let Some(nonces) = &self.nonces {
            let is_valid = claims.nonce.as_deref().is_some_and(|nonce| nonces.is_valid(nonce, now));
            if !is_valid {
                return Err(VerifyError::NonceRequired { nonce: nonces.current(now) });
            }
        }
        let difference = (claims.iat - now as f64).abs();
        // Also false if the time is not a number.
        match difference <= self.max_age as f64 {
            true => Ok(()),
            false => Err(VerifyError::proof("its time (`iat`) is too far from that of this server")),
        }
    }
}

/// Returns the only proof of a request.
fn proof_header(headers: &HeaderMap) -> Result<&str, VerifyError> {
    let mut proofs = headers.get_all("dpop").iter();
    match (proofs.next(), proofs.next()) {
        (Some(proof), None) if proof.len() <= MAX_PROOF => {
            proof.to_str().map_err(|_| VerifyError::proof("it is not text"))
        }
        (Some(_), None) => Err(VerifyError::proof("it is too long")),
        (Some(_), Some(_)) => Err(VerifyError::proof("there are two of them")),
        (None, _) => Err(VerifyError::proof("it is missing: send it in the header `DPoP`")),
    }
}

impl fmt::Debug for NonceMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "Off",
            Self::OwnKey => "OwnKey",
            Self::SharedKey(_) => "SharedKey(••••)",
        })
    }
}

#[cfg(test)]
mod tests;
