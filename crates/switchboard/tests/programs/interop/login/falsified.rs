//! Answers that oauth2-mock-server gets wrong.

use crate::interop::Test;

pub(crate) const TESTS: &[Test] = &[];
