//! What people see at a terminal: questions, progress, colour, and not too much.

use crate::stage::{Script, Terminal, on_demo, switchboard};

fn at_terminal(args: &[&str]) -> Terminal {
    Terminal::start(switchboard(on_demo(args)), 80)
}

#[test]
fn a_form_is_filled_in_by_typing() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut terminal = at_terminal(&["call", "order_pizza", "--revision", revision]);
        terminal.see("switchboard\u{1b}[0m asks");
        terminal.see("How would you like your pizza?");
        terminal.see("size");
        terminal.enter("");
        terminal.see("is none of them");
        terminal.enter("gigantic");
        terminal.see("is none of them");
        terminal.enter("3");
        terminal.see("count");
        terminal.enter("100");
        terminal.see("it must be 9 or less");
        terminal.enter("");
        terminal.see("toppings");
        terminal.enter("1, Olives");
        terminal.see("spicy");
        terminal.enter("y");
        terminal.see("email");
        terminal.enter("me@example.com");
        terminal.see("Send this to");
        terminal.enter("e");
        terminal.see("[large]");
        for field in ["count", "toppings", "spicy", "email"] {
            terminal.enter("");
            terminal.see(field);
        }
        terminal.enter("");
        terminal.see("toppings = cheese, olives");
        terminal.see("Send this to");
        terminal.enter("");
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        let told =
            "1 large pizza with cheese and olives, spicy, coming up. The receipt goes to me@example.com.";
        assert!(shown.contains(told), "{revision}: {shown}");
    }
}

#[test]
fn a_form_can_be_declined_or_left() {
    let mut terminal = at_terminal(&["call", "order_pizza"]);
    terminal.see("size");
    terminal.enter("small");
    for field in ["count", "toppings", "spicy", "email"] {
        terminal.see(field);
        terminal.enter("");
    }
    terminal.see("Send this to");
    terminal.enter("n");
    let (code, shown) = terminal.end();
    assert_eq!(code, 5);
    assert!(shown.contains("The user declined."), "{shown}");

    let mut terminal = at_terminal(&["call", "order_pizza"]);
    terminal.see("name)");
    terminal.press(4);
    let (code, shown) = terminal.end();
    assert_eq!(code, 5);
    assert!(shown.contains("went away without an answer"), "{shown}");
}

#[test]
fn ctrl_c_ends_a_question() {
    let mut terminal = at_terminal(&["call", "order_pizza"]);
    terminal.see("name)");
    terminal.interrupt();
    assert_eq!(terminal.end().0, 130);
}

#[test]
fn a_url_is_shown_in_full_and_needs_consent() {
    for (typed, code, told) in [("y", 0, "The account is linked."), ("", 5, "did not want to visit")] {
        let mut terminal = at_terminal(&["call", "link_account"]);
        terminal.see("switchboard\u{1b}[0m asks");
        terminal.see("https://login.example.com/start?step=1");
        terminal.see("host: login.example.com");
        terminal.see("Will you visit it?");
        terminal.enter(typed);
        let (ended, shown) = terminal.end();
        assert_eq!(ended, code, "{shown}");
        assert!(shown.contains(told), "{shown}");
    }
}

#[test]
fn progress_is_a_bar_that_leaves_nothing_behind() {
    let (code, shown) = at_terminal(&["call", "countdown", "from=3", "interval_ms=80"]).end();
    assert_eq!(code, 0);
    assert!(shown.contains("━"), "{shown:?}");
    assert!(shown.contains("1/3  2 to go"), "{shown:?}");
    assert!(shown.ends_with("\r\u{1b}[KLift-off!\r\n"), "{shown:?}");
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let (_, shown) = at_terminal(&["tools"]).end();
    assert!(shown.contains("\u{1b}[1mecho\u{1b}[0m"), "{shown:?}");
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut command = switchboard(on_demo(&["tools"]));
        command.env(name, value);
        let (_, shown) = Terminal::start(command, 80).end();
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
}

#[test]
fn the_width_of_the_terminal_counts() {
    for columns in [30, 50] {
        let mut command = switchboard(on_demo(&["tools"]));
        command.env("NO_COLOR", "1");
        let (_, shown) = Terminal::start(command, columns).end();
        assert!(shown.lines().all(|line| line.chars().count() <= usize::from(columns)), "{shown}");
    }
}

#[test]
fn a_terminal_gets_no_more_than_can_be_read() {
    let script = Script::server(
        "def answers(method, params):\n    if method == 'tools/call':\n        return {'content': [{'type': 'text', 'text': 'abcdefg\\n' * 200000}]}\n",
    );
    let (code, shown) = script.at_terminal(&["call", "x"]).end();
    assert_eq!(code, 0);
    assert!(shown.len() < 1_300_000, "{}", shown.len());
    assert!(shown.contains("… 551424 more bytes"), "{}", &shown[shown.len() - 200..]);
    assert_eq!(script.run(&["call", "x"]).out.len(), 1_600_000);
}
