//! Clients written with the SDKs of others log in to our service.

use crate::interop::Test;

pub(crate) const TESTS: &[Test] = &[];
