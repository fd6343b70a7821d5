//! The arguments of every program, as the README of this folder lists them.

use std::collections::BTreeMap;

use crate::Fail;

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Stdio,
    Http,
}

/// What one call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Echo,
    Big,
    List,
    Connect,
}

/// With a handshake, or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

/// Which of tokio's runtimes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    One,
    Many,
}

/// The server a client speaks to.
#[derive(Debug, Clone)]
pub enum Target {
    Url(String),
    Command(Vec<String>),
}

#[derive(Debug, Clone)]
pub struct ServerArgs {
    pub binding: Binding,
    pub form: String,
    pub threads: Threads,
    pub tools: usize,
}

#[derive(Debug, Clone)]
pub struct ClientArgs {
    pub work: Work,
    pub era: Era,
    pub calls: usize,
    pub warm: usize,
    pub in_flight: usize,
    pub sessions: usize,
    pub form: String,
    pub threads: Threads,
    /// Whether every request carries the token of the fixture.
    pub sends_token: bool,
    /// How many tools there must be, where it was said.
    pub tools: Option<usize>,
    /// How the tools are called, where a proxy renames them.
    pub names: Option<ServerNames>,
    /// The process whose time and memory are reported instead of those that `usage` answers.
    pub watch: Option<Watched>,
    pub target: Target,
}

/// The names of the servers behind a proxy: `s000`, `s001`, …
#[derive(Debug, Clone)]
pub struct ServerNames {
    pub servers: usize,
    /// Between the name of the server and the name of the tool.
    pub separator: String,
}

impl ServerNames {
    /// The name of a server.
    pub fn server(number: usize) -> String {
        format!("s{number:03}")
    }

    /// What the tools of every server begin with.
    pub fn prefixes(&self) -> impl Iterator<Item = String> {
        (0..self.servers).map(|number| Self::server(number) + &self.separator)
    }
}

/// The process whose time and memory are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// The one that the client has started.
    Child,
    Process(i32),
}

/// A gateway, which has servers of its own.
#[derive(Debug, Clone)]
pub struct GatewayArgs {
    pub binding: Binding,
    pub form: String,
    pub threads: Threads,
    /// Of each server.
    pub tools: usize,
    pub servers: usize,
    /// The servers are at this address; otherwise they are started.
    pub upstream: Option<String>,
    /// The era that is spoken with the servers.
    pub era: Era,
}

#[derive(Debug, Clone)]
pub struct InsideArgs {
    pub era: Era,
    pub calls: usize,
    pub warm: usize,
    pub form: String,
    pub tools: usize,
    pub sessions: usize,
}

impl GatewayArgs {
    pub(crate) fn read(forms: &[&str]) -> Result<Self, Fail> {
        let mut given = Given::read(std::env::args().skip(1), &["--stdio", "--http"])?;
        let args = Self {
            binding: given.binding()?,
            form: given.form(forms)?,
            threads: given.threads()?,
            tools: given.number("--tools")?.unwrap_or(3),
            servers: given.number("--servers")?.unwrap_or(1).max(1),
            upstream: given.word("--upstream"),
            era: given.era()?,
        };
        given.finish()?;
        Ok(args)
    }
}

impl ServerArgs {
    pub(crate) fn read(forms: &[&str]) -> Result<Self, Fail> {
        let mut given = Given::read(std::env::args().skip(1), &["--stdio", "--http"])?;
        let args = Self {
            binding: given.binding()?,
            form: given.form(forms)?,
            threads: given.threads()?,
            tools: given.number("--tools")?.unwrap_or(3),
        };
        given.finish()?;
        Ok(args)
    }
}

impl ClientArgs {
    pub(crate) fn read(forms: &[&str]) -> Result<Self, Fail> {
        let mut given = Given::read(std::env::args().skip(1), &[])?;
        let work = match given.word("--work").as_deref() {
            Some("echo") => Work::Echo,
            Some("big") => Work::Big,
            Some("list") => Work::List,
            Some("connect") => Work::Connect,
            _ => return Err("--work must be echo, big, list or connect".into()),
        };
        let command = std::mem::take(&mut given.command);
        let target = match (given.word("--url"), command) {
            (Some(url), None) => Target::Url(url),
            (None, Some(command)) if !command.is_empty() => Target::Command(command),
            _ => return Err("either --url URL or -- COMMAND must be given".into()),
        };
        let in_flight = given.number("--in-flight")?.unwrap_or(1).max(1);
        let args = Self {
            work,
            era: given.era()?,
            calls: given.number("--calls")?.unwrap_or(usize::from(work == Work::Connect)),
            warm: given.number("--warm")?.unwrap_or(0),
            in_flight: if work == Work::Echo { in_flight } else { 1 },
            sessions: given.number("--sessions")?.unwrap_or(1).max(1),
            form: given.form(forms)?,
            threads: given.threads()?,
            sends_token: given.word("--token").is_some(),
            tools: given.number("--tools")?,
            names: given.names()?,
            watch: given.watched()?,
            target,
        };
        if args.calls == 0 {
            return Err("--calls must be a number above 0".into());
        }
        given.finish()?;
        Ok(args)
    }
}

impl InsideArgs {
    pub(crate) fn read(forms: &[&str]) -> Result<Self, Fail> {
        let mut given = Given::read(std::env::args().skip(1), &[])?;
        let args = Self {
            era: given.era()?,
            calls: given.number("--calls")?.filter(|calls| *calls > 0).ok_or("--calls must be above 0")?,
            warm: given.number("--warm")?.unwrap_or(0),
            form: given.form(forms)?,
            tools: given.number("--tools")?.unwrap_or(3),
            sessions: given.number("--sessions")?.unwrap_or(1),
        };
        given.finish()?;
        Ok(args)
    }
}

/// The arguments as they were given.
struct Given {
    flags: Vec<String>,
    values: BTreeMap<String, String>,
    command: Option<Vec<String>>,
}

impl Given {
    fn read(mut words: impl Iterator<Item = String>, flags: &[&str]) -> Result<Self, Fail> {
        let mut given = Self { flags: Vec::new(), values: BTreeMap::new(), command: None };
        while let Some(word) = words.next() {
            if word == "--" {
                given.command = Some(words.by_ref().collect());
            } else if flags.contains(&word.as_str()) {
                given.flags.push(word);
            } else {
                let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
                given.values.insert(word, value);
            }
        }
        Ok(given)
    }

    fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    fn word(&mut self, name: &str) -> Option<String> {
        self.values.remove(name)
    }

    fn number(&mut self, name: &str) -> Result<Option<usize>, Fail> {
        let read = |word: String| word.parse().map_err(|_| format!("{name} must be a number"));
        Ok(self.word(name).map(read).transpose()?)
    }

    fn binding(&self) -> Result<Binding, Fail> {
        match (self.flag("--stdio"), self.flag("--http")) {
            (true, false) => Ok(Binding::Stdio),
            (false, true) => Ok(Binding::Http),
            _ => Err("either --stdio or --http must be given".into()),
        }
    }

    fn names(&mut self) -> Result<Option<ServerNames>, Fail> {
        match (self.number("--servers")?, self.word("--separator")) {
            (None, None) => Ok(None),
            (Some(servers), Some(separator)) if servers > 0 => Ok(Some(ServerNames { servers, separator })),
            _ => Err("--servers must be above 0 and needs a --separator".into()),
        }
    }

    fn watched(&mut self) -> Result<Option<Watched>, Fail> {
        match self.word("--watch").as_deref() {
            None => Ok(None),
            Some("child") => Ok(Some(Watched::Child)),
            Some(process) => {
                let process =
                    process.parse().map_err(|_| "--watch must be child or the number of a process")?;
                Ok(Some(Watched::Process(process)))
            }
        }
    }

    fn era(&mut self) -> Result<Era, Fail> {
        match self.word("--era").as_deref() {
            Some("legacy") => Ok(Era::Legacy),
            Some("modern") => Ok(Era::Modern),
            _ => Err("--era must be legacy or modern".into()),
        }
    }

    fn threads(&mut self) -> Result<Threads, Fail> {
        match self.word("--threads").as_deref() {
            None | Some("one") => Ok(Threads::One),
            Some("many") => Ok(Threads::Many),
            Some(_) => Err("--threads must be one or many".into()),
        }
    }

    fn form(&mut self, forms: &[&str]) -> Result<String, Fail> {
        let form = self.word("--form").unwrap_or_else(|| "default".into());
        if form == "default" || forms.contains(&form.as_str()) {
            return Ok(form);
        }
        Err(format!("this program has no form {form:?}").into())
    }

    fn finish(self) -> Result<(), Fail> {
        if let Some(name) = self.values.keys().next() {
            return Err(format!("{name} is not understood here").into());
        }
        match self.command {
            Some(_) => Err("this program starts no command".into()),
            None => Ok(()),
        }
    }
}
