//! The web console of a host or gateway: so far only its page. The server of the API is not written yet.
//!
//! The page is built from `page/` into `assets/`, which is committed so that a build needs no Node. The API that the page
//! uses is described in `page/API.md`; its types are in `page/src/api/types.ts`.
