//! What broke logins elsewhere, row by row: `testdata/login-breakage.txt` lists the rows, and each test begins with the id
//! of its row.
//!
//! | file | rows |
//! |---|---|
//! | `discovery` | issuers, challenges and metadata documents as they are found in the wild |
//! | `scopes` | `resource` and scopes on every leg |
//! | `registration` | clients: registered by hand, by a metadata document, dynamically |
//! | `enterprise` | enterprise-managed authorization |
//! | `requests` | what every request of a login carries |
//!
//! Refreshes are rows, too: `refresh_failures`, `refresh_races` and `token_adoption`. Further cases of these rows are in
//! `assertions` and `token_answers`.

mod discovery;
mod enterprise;
mod registration;
mod requests;
mod scopes;
