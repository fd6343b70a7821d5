//! Every row has a test, or a reason why it waits.

use libtest_mimic::Trial;

pub(crate) fn trial(_: &[Trial]) -> Trial {
    Trial::test("index", || Ok(()))
}
