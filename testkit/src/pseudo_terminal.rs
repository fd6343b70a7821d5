//! A program on a pseudo-terminal.

use std::fs::File;
use std::io::Write;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::output_reader::OutputReader;
use crate::program::wait_for_child;

/// The terminal and the program on it.
#[derive(Debug)]
pub struct PseudoTerminal {
    child: Child,
    keys: File,
    output: OutputReader,
    read: usize,
}

impl PseudoTerminal {
    /// Starts a command on a terminal of this many columns.
    pub fn start(mut command: Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        // The command keeps the terminal open, too, which would prevent the end of the stream.
        drop(command);
        let keys = File::from(master);
        let output = OutputReader::new(keys.try_clone().unwrap());
        Self { child, keys, output, read: 0 }
    }

    /// Waits until the text appears after everything waited for before.
    pub fn expect_text(&mut self, text: &str) {
        self.read = self.output.wait_for(text, self.read);
    }

    /// Waits until the text appears after everything waited for before; returns what follows it up to white space.
    pub fn word_after(&mut self, text: &str) -> String {
        self.expect_text(text);
        let (word, end) = self.output.word_at(self.read);
        self.read = end;
        word
    }

    /// Types a line.
    pub fn enter(&mut self, line: &str) {
        self.keys.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Types a control character.
    pub fn press(&mut self, key: u8) {
        self.keys.write_all(&[key]).unwrap();
    }

    /// Sends SIGINT to the program.
    pub fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Waits for the program to exit; returns its exit code and all output.
    pub fn finish(mut self) -> (i32, String) {
        let code = wait_for_child(&mut self.child).code().unwrap();
        (code, self.output.all())
    }
}
