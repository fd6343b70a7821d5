//! Output on a terminal: questions, progress, color, and limits.

use switchboard_testkit::PseudoTerminal;

use crate::commands::{on_demo, switchboard};
use crate::servers::Script;

fn at_terminal(args: &[&str]) -> PseudoTerminal {
    PseudoTerminal::start(switchboard(on_demo(args)), 80)
}

#[test]
fn a_form_is_filled_in_by_typing() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut terminal = at_terminal(&["call", "order_pizza", "--revision", revision]);
        terminal.expect_text("switchboard\u{1b}[0m asks");
        terminal.expect_text("How would you like your pizza?");
        terminal.expect_text("size");
        terminal.enter("");
        terminal.expect_text("is not one of the options");
        terminal.enter("gigantic");
        terminal.expect_text("is not one of the options");
        terminal.enter("3");
        terminal.expect_text("count");
        terminal.enter("100");
        terminal.expect_text("it must be 9 or less");
        terminal.enter("");
        terminal.expect_text("toppings");
        terminal.enter("1, Olives");
        terminal.expect_text("spicy");
        terminal.enter("y");
        terminal.expect_text("email");
        terminal.enter("me@example.com");
        terminal.expect_text("Send this to");
        terminal.enter("e");
        terminal.expect_text("[large]");
        for field in ["count", "toppings", "spicy", "email"] {
            terminal.enter("");
            terminal.expect_text(field);
        }
        terminal.enter("");
        terminal.expect_text("toppings = cheese, olives");
        terminal.expect_text("Send this to");
        terminal.enter("");
        let (code, shown) = terminal.finish();
        assert_eq!(code, 0, "{shown}");
        let message =
            "1 large pizza with cheese and olives, spicy, coming up. The receipt goes to me@example.com.";
        assert!(shown.contains(message), "{revision}: {shown}");
    }
}

#[test]
fn a_form_can_be_declined_or_cancelled() {
    let mut terminal = at_terminal(&["call", "order_pizza"]);
    terminal.expect_text("size");
    terminal.enter("small");
    for field in ["count", "toppings", "spicy", "email"] {
        terminal.expect_text(field);
        terminal.enter("");
    }
    terminal.expect_text("Send this to");
    terminal.enter("n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 5);
    assert!(shown.contains("The user declined."), "{shown}");

    let mut terminal = at_terminal(&["call", "order_pizza"]);
    terminal.expect_text("name)");
    terminal.press(4);
    let (code, shown) = terminal.finish();
    assert_eq!(code, 5);
    assert!(shown.contains("went away without an answer"), "{shown}");
}

#[test]
fn ctrl_c_cancels_a_question() {
    let mut terminal = at_terminal(&["call", "order_pizza"]);
    terminal.expect_text("name)");
    terminal.interrupt();
    assert_eq!(terminal.finish().0, 130);
}

#[test]
fn a_url_is_shown_in_full_and_needs_consent() {
    for (typed, code, message) in [("y", 0, "The account is linked."), ("", 5, "did not want to visit")] {
        let mut terminal = at_terminal(&["call", "link_account"]);
        terminal.expect_text("switchboard\u{1b}[0m asks");
        terminal.expect_text("https://login.example.com/start?step=1");
        terminal.expect_text("host: login.example.com");
        terminal.expect_text("Will you visit it?");
        terminal.enter(typed);
        let (ended, shown) = terminal.finish();
        assert_eq!(ended, code, "{shown}");
        assert!(shown.contains(message), "{shown}");
    }
}

#[test]
fn progress_is_a_bar_that_leaves_nothing_behind() {
    let (code, shown) = at_terminal(&["call", "countdown", "from=3", "interval_ms=80"]).finish();
    assert_eq!(code, 0);
    assert!(shown.contains("━"), "{shown:?}");
    assert!(shown.contains("1/3  2 to go"), "{shown:?}");
    assert!(shown.ends_with("\r\u{1b}[KLift-off!\r\n"), "{shown:?}");
}

#[test]
fn color_is_only_for_terminals_that_allow_it() {
    let (_, shown) = at_terminal(&["tools"]).finish();
    assert!(shown.contains("\u{1b}[1mecho\u{1b}[0m"), "{shown:?}");
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut command = switchboard(on_demo(&["tools"]));
        command.env(name, value);
        let (_, shown) = PseudoTerminal::start(command, 80).finish();
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
}

#[test]
fn output_fits_the_width_of_the_terminal() {
    for columns in [30, 50] {
        let mut command = switchboard(on_demo(&["tools"]));
        command.env("NO_COLOR", "1");
        let (_, shown) = PseudoTerminal::start(command, columns).finish();
        assert!(shown.lines().all(|line| line.chars().count() <= usize::from(columns)), "{shown}");
    }
}

#[test]
fn output_on_a_terminal_is_limited_to_1_mib() {
    let script = Script::server(
        "def answers(method, params):\n    if method == 'tools/call':\n        return {'content': [{'type': 'text', 'text': 'abcdefg\\n' * 200000}]}\n",
    );
    let (code, shown) = script.at_terminal(&["call", "x"]).finish();
    assert_eq!(code, 0);
    assert!(shown.len() < 1_300_000, "{}", shown.len());
    assert!(shown.contains("… 551424 more bytes"), "{}", &shown[shown.len() - 200..]);
    assert_eq!(script.run(&["call", "x"]).out.len(), 1_600_000);
}
