//! What a verification costs: of a token that is cached, of one that is not, and the bare signature of *ring*.
//!
//! Each is done in many rounds, one after the other, and the fastest round counts: other programs can only slow it down.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bench_auth::{fixture_verifier, verifier};
use bench_kit::{Fail, fixture};
use hyper::{HeaderMap, Method};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
};
use serde_json::json;
use switchboard::auth::{SignatureAlgorithm, SigningKey};
use switchboard::server::{PresentedToken, Verifier};

/// How often everything is measured.
const ROUNDS: usize = 100;
/// How many verifications are one measurement.
const CACHED: usize = 1_000;
const UNCACHED: usize = 20;

/// A token of 1 kB, with what *ring* needs to verify it.
struct SignedToken {
    text: String,
    signature: Vec<u8>,
}

impl SignedToken {
    fn message(&self) -> &[u8] {
        self.text.rsplit_once('.').map_or(&[], |(message, _)| message.as_bytes())
    }
}

fn main() -> ExitCode {
    let measured = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Fail::from)
        .and_then(|runtime| runtime.block_on(measure()));
    match measured {
        Ok([cached, uncached, bare]) => {
            println!(r#"{{"cached_us":{cached:.3},"uncached_us":{uncached:.3},"bare_us":{bare:.3}}}"#);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the microseconds of a cached, an uncached and a bare verification.
async fn measure() -> Result<[f64; 3], Fail> {
    let (method, headers) = (Method::POST, HeaderMap::new());
    let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
        .map_err(|_| "no key")?;
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref(), &SystemRandom::new())
        .map_err(|_| "no key")?;
    let key = SigningKey::from_pkcs8(der.as_ref(), SignatureAlgorithm::Es256)?.with_key_id("bench");
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref());
    let (known, other) = (fixture_verifier().await?, verifier(&key.public_jwk().to_string()).await?);
    known.verify(PresentedToken::new(fixture::TOKEN, &method, &headers)).await?;
    let first = sign(&key, usize::MAX)?;
    other.verify(PresentedToken::new(&first.text, &method, &headers)).await?;

    let mut least = [f64::INFINITY; 3];
    for round in 0..ROUNDS {
        let tokens: Vec<SignedToken> =
            (0..UNCACHED).map(|number| sign(&key, round * UNCACHED + number)).collect::<Result<_, _>>()?;
        let began = Instant::now();
        for _ in 0..CACHED {
            let presented = PresentedToken::new(black_box(fixture::TOKEN), &method, &headers);
            black_box(known.verify(presented).await?);
        }
        let cached = began.elapsed();
        let began = Instant::now();
        for token in &tokens {
            black_box(other.verify(PresentedToken::new(&token.text, &method, &headers)).await?);
        }
        let uncached = began.elapsed();
        let began = Instant::now();
        for token in &tokens {
            public
                .verify(black_box(token.message()), &token.signature)
                .map_err(|_| "a signature is wrong")?;
        }
        let bare = began.elapsed();
        let each = [(cached, CACHED), (uncached, UNCACHED), (bare, UNCACHED)];
        for (least, (time, count)) in least.iter_mut().zip(each) {
            *least = least.min(time.as_secs_f64() * 1e6 / count as f64);
        }
    }
    Ok(least)
}

fn sign(key: &SigningKey, number: usize) -> Result<SignedToken, Fail> {
    let claims = json!({
        "iss": "https://login.example.org", "aud": "http://localhost/mcp", "sub": "ada", "client_id": "bench",
        "scope": "echo:read echo:write", "iat": 1_790_000_000, "exp": 4_102_444_800_u64, "jti": number.to_string(),
        "groups": "g".repeat(440),
    });
    let text = key.sign_claims("at+jwt", &claims)?.expose().to_owned();
    let signature = text.rsplit_once('.').map_or("", |(_, signature)| signature);
    let signature = URL_SAFE_NO_PAD.decode(signature)?;
    Ok(SignedToken { text, signature })
}
