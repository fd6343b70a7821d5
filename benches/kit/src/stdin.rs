//! The end of standard input, which ends a server over HTTP.

use std::io::Read;

use tokio::sync::oneshot;

/// Waits for the end of standard input, on a thread of its own so that nobody's runtime is changed by it.
pub async fn stdin_ended() {
    let (tell, told) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut ignored = [0; 64];
        while std::io::stdin().read(&mut ignored).is_ok_and(|read| read > 0) {}
        drop(tell);
    });
    let _ = told.await;
}
