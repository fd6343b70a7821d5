//! Files of other programs, as they are found in the wild.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use switchboard_config::ConfigErrorKind;
use switchboard_config::import::{Dialect, ImportLocation, ImportedFile};

const HOME: &str = "/people/ada";

/// What a file gives, told from its path: names with our form of each, and what is warned about.
fn import(path: &str, text: &str) -> (Dialect, Value, Vec<String>) {
    let imported = read(path, text);
    let servers = imported.servers.iter().map(|server| {
        let entry = server.entry.as_ref().unwrap_or_else(|error| panic!("{}: {error}", server.name));
        (server.name.clone(), serde_json::to_value(entry).unwrap())
    });
    let servers = Value::Object(servers.collect());
    let warned = imported.warnings.iter().map(|warning| warning.field().to_owned()).collect();
    (imported.dialect, servers, warned)
}

fn read(path: &str, text: &str) -> ImportedFile {
    let path = Path::new(path);
    let dialect = Dialect::detect(path, text).unwrap();
    ImportedFile::read(dialect, ImportLocation { path, home: Some(Path::new(HOME)) }, text).unwrap()
}

#[test]
fn claude_desktop() {
    let text = r#"{
      "globalShortcut": "Ctrl+Space",
      "mcpServers": {
        "filesystem": {
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-filesystem", "/people/ada/Desktop"],
          "env": {"LOG": "debug"}
        },
        "sqlite": {"command": "uvx", "args": ["mcp-server-sqlite"], "isUsingBuiltInNodeForMcp": true}
      }
    }"#;
    let (dialect, servers, warned) = import("/people/ada/.config/Claude/claude_desktop_config.json", text);
    assert_eq!(dialect, Dialect::ClaudeDesktop);
    assert_eq!(
        servers,
        json!({
            "filesystem": {
                "type": "stdio", "command": "npx",
                "args": ["-y", "@modelcontextprotocol/server-filesystem", "/people/ada/Desktop"], "env": {"LOG": "debug"},
            },
            "sqlite": {"type": "stdio", "command": "uvx", "args": ["mcp-server-sqlite"]},
        })
    );
    assert_eq!(warned, ["mcpServers.sqlite.isUsingBuiltInNodeForMcp"]);
}

#[test]
fn claude_code_for_the_user_and_for_each_project() {
    let text = r#"{
      "numStartups": 42,
      "mcpServers": {
        "context7": {"type": "http", "url": "https://mcp.context7.com/mcp", "headers": {"KEY": "${CONTEXT7_API_KEY}"}},
        "sentry": {"type": "sse", "url": "https://mcp.sentry.dev/sse", "oauth": {"clientId": "x"}}
      },
      "projects": {
        "/people/ada/shop": {"allowedTools": [], "mcpServers": {"db": {"type": "stdio", "command": "db", "args": [], "env": {}}}},
        "/people/ada/empty": {"history": []}
      }
    }"#;
    let imported = read("/people/ada/.claude.json", text);
    assert_eq!(imported.dialect, Dialect::ClaudeCode);
    let found: Vec<_> = imported
        .servers
        .iter()
        .map(|server| (server.name.as_str(), server.project.as_deref().and_then(Path::to_str)))
        .collect();
    assert_eq!(found, [("context7", None), ("sentry", None), ("db", Some("/people/ada/shop"))]);
    assert_eq!(imported.servers[1].entry.as_ref().unwrap().transport.type_name(), "sse");
    assert_eq!(imported.warnings, []);

    let project = read("/people/ada/shop/.mcp.json", r#"{"mcpServers": {"a": {"command": "x"}}}"#);
    assert_eq!(project.servers[0].project.as_deref(), Some(Path::new("/people/ada/shop")));
}

#[test]
fn vs_code_with_comments_inputs_and_references() {
    let text = r#"{
      // Tokens are asked for.
      "inputs": [
        {"type": "promptString", "id": "github-token", "description": "GitHub token", "password": true,},
      ],
      "servers": {
        "github": {
          "type": "http",
          "url": "https://api.githubcopilot.com/mcp/",
          "headers": {"Authorization": "Bearer ${input:github-token}"},
        },
        "local": {
          "type": "stdio",
          "command": "${workspaceFolder}/bin/serve",
          "args": ["--root", "${workspaceFolder}", "${env:EXTRA}", "${config:x}"],
          "envFile": "${workspaceFolder}/.env",
          "dev": {"watch": "src/**"}, /* restarted */
        },
        "socket": {"type": "http", "url": "unix:///run/mcp.sock"},
      },
    }"#;
    let (dialect, servers, warned) = import("/people/ada/shop/.vscode/mcp.json", text);
    assert_eq!(dialect, Dialect::VsCode);
    assert_eq!(servers["github"]["headers"], json!({"Authorization": "Bearer ${GITHUB_TOKEN}"}));
    assert_eq!(servers["local"]["command"], "/people/ada/shop/bin/serve");
    assert_eq!(servers["local"]["args"], json!(["--root", "/people/ada/shop", "${EXTRA}", "${config:x}"]));
    assert_eq!(warned, ["servers.local.envFile", "servers.local.args[3]", "servers.socket"]);
    let imported = read("/people/ada/shop/.vscode/mcp.json", text);
    let need = &imported.servers[0].needs[0];
    assert_eq!((need.variable.as_str(), need.description.as_str()), ("GITHUB_TOKEN", "GitHub token"));
    assert_eq!(imported.servers[0].project.as_deref(), Some(Path::new("/people/ada/shop")));

    // The older place, in settings.
    let older = r#"{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"a": {"command": "x"}}}}"#;
    assert_eq!(import("/people/ada/.config/Code/User/settings.json", older).0, Dialect::VsCode);
}

#[test]
fn cursor_for_the_user_is_for_no_project() {
    let text = r#"{
      "mcpServers": {
        "remote": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}, "auth": {"CLIENT_ID": "c"}},
        "home": {"command": "node", "args": ["${userHome}/server.js", "${workspaceFolder}"]}
      }
    }"#;
    let (dialect, servers, warned) = import("/people/ada/.cursor/mcp.json", text);
    assert_eq!(dialect, Dialect::Cursor);
    assert_eq!(servers["remote"]["type"], "http");
    assert_eq!(servers["remote"]["headers"]["Authorization"], "Bearer ${TOKEN}");
    assert_eq!(servers["home"]["args"][0], "${HOME}/server.js");
    assert_eq!(servers["remote"]["oauth"], json!({"clientId": "c"}));
    assert_eq!(warned, ["mcpServers.home.args[1]"]);
    assert_eq!(read("/people/ada/.cursor/mcp.json", text).servers[0].project, None);
}

#[test]
fn codex() {
    let text = r#"
model = "gpt-5"

[mcp_servers.docs]
command = "docs-server"
args = ["--stdio"]
env_vars = ["LOCAL_TOKEN", { name = "REMOTE", source = "remote" }]
startup_timeout_sec = 20.5
tool_timeout_sec = 45
enabled_tools = ["search"]
disabled_tools = ["delete"]
default_tools_approval_mode = "prompt"
supports_parallel_tool_calls = true

[mcp_servers.docs.env]
MODE = "fast"

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Key" = "FIGMA_KEY" }
enabled = false
required = true
"#;
    let (dialect, servers, warned) = import("/people/ada/.codex/config.toml", text);
    assert_eq!(dialect, Dialect::Codex);
    assert_eq!(
        servers,
        json!({
            "docs": {
                "type": "stdio", "command": "docs-server", "args": ["--stdio"], "env": {"MODE": "fast"},
                "inheritEnv": ["LOCAL_TOKEN", "REMOTE"], "startupTimeout": 20500, "timeout": 45000,
                "allowTools": ["search"], "denyTools": ["delete"],
            },
            "figma": {
                "type": "http", "url": "https://mcp.figma.com/mcp", "disabled": true, "required": true,
                "headers": {"X-Region": "eu", "X-Key": "${FIGMA_KEY}", "Authorization": "Bearer ${FIGMA_TOKEN}"},
            },
        })
    );
    assert_eq!(
        warned,
        ["mcp_servers.docs.default_tools_approval_mode", "mcp_servers.docs.supports_parallel_tool_calls"]
    );
    let path = Path::new("config.toml");
    let error = ImportedFile::read(Dialect::Codex, ImportLocation { path, home: None }, "a = 1\nb = = 2\n")
        .unwrap_err();
    assert_eq!(error.position().unwrap().line, 2);
}

#[test]
fn gemini() {
    let text = r#"{
      "theme": "Dracula",
      "mcp": {"excluded": ["old"]},
      "mcpServers": {
        "python": {"command": "python", "args": ["-m", "server"], "env": {"KEY": "$MY_KEY", "URL": "${BASE}/x"}, "timeout": 15000, "trust": true},
        "http": {"httpUrl": "https://example.com/mcp", "headers": {"A": "b"}, "includeTools": ["safe", "run(ls)"], "excludeTools": ["rm"]},
        "events": {"url": "https://example.com/sse", "description": "x"},
        "new": {"url": "https://example.com/mcp", "type": "http"},
        "ws": {"tcp": "ws://x"}
      }
    }"#;
    let (dialect, servers, warned) = import("/people/ada/.gemini/settings.json", text);
    assert_eq!(dialect, Dialect::Gemini);
    assert_eq!(
        servers,
        json!({
            "python": {
                "type": "stdio", "command": "python", "args": ["-m", "server"],
                "env": {"KEY": "${MY_KEY}", "URL": "${BASE}/x"}, "timeout": 15000,
            },
            "http": {
                "type": "http", "url": "https://example.com/mcp", "headers": {"A": "b"},
                "allowTools": ["safe", "run"], "denyTools": ["rm"],
            },
            "events": {"type": "sse", "url": "https://example.com/sse"},
            "new": {"type": "http", "url": "https://example.com/mcp"},
        })
    );
    assert_eq!(warned, ["mcp.excluded", "mcpServers.python.trust", "mcpServers.ws"]);
}

#[test]
fn zed() {
    let text = r#"{
      // Zed settings
      "theme": "One Dark",
      "context_servers": {
        "custom": {"enabled": true, "source": "custom", "command": "uv", "args": ["run", "main.py"], "env": {}},
        "older": {"command": {"path": "node", "args": ["s.js"], "env": {"A": "b"}}, "settings": {}},
        "remote": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer x"}, "enabled": false},
        "extension": {"source": "extension", "settings": {"key": "k"}},
      },
    }"#;
    let (dialect, servers, warned) = import("/people/ada/.config/zed/settings.json", text);
    assert_eq!(dialect, Dialect::Zed);
    assert_eq!(
        servers,
        json!({
            "custom": {"type": "stdio", "command": "uv", "args": ["run", "main.py"]},
            "older": {"type": "stdio", "command": "node", "args": ["s.js"], "env": {"A": "b"}},
            "remote": {
                "type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer x"}, "disabled": true,
            },
        })
    );
    assert_eq!(warned, ["context_servers.older.settings", "context_servers.extension"]);
}

/// Login settings as a program writes them, what they become, and the fields that are reported.
#[test]
fn login_settings_of_every_program() {
    let json_of = |key: &str, entry: &str| format!(r#"{{"{key}": {{"s": {entry}}}}}"#);
    let remote = |key: &str, settings: &str| {
        json_of(key, &format!(r#"{{"url": "https://s.example/mcp", {settings}}}"#))
    };
    let opencode = |settings: &str| {
        format!(r#"{{"mcp": {{"s": {{"type": "remote", "url": "https://s.example/mcp", {settings}}}}}}}"#)
    };
    let codex = "mcp_oauth_callback_port = 4321\n[mcp_servers.s]\nurl = \"https://s.example/mcp\"\nscopes = [\"a\", \"b\"]\n\
                 oauth_resource = \"https://s.example\"\nhttp_headers_helper = \"vault-headers\"\n[mcp_servers.s.oauth]\n\
                 client_id = \"c\"\n";
    for (path, text, oauth, helper, warned) in [
        (
            ".mcp.json",
            remote(
                "mcpServers",
                r#""headersHelper": "h", "oauth": {"clientId": "c", "callbackPort": 8700, "scopes": "a b",
                "authServerMetadataUrl": "https://l.example/m", "xaa": true}"#,
            ),
            json!({"clientId": "c", "callbackPort": 8700, "scopes": ["a", "b"], "authServerMetadataUrl": "https://l.example/m"}),
            json!("h"),
            &["oauth.xaa"][..],
        ),
        (
            ".codex/config.toml",
            codex.to_owned(),
            json!({"clientId": "c", "scopes": ["a", "b"], "resource": "https://s.example", "callbackPort": 4321}),
            json!("vault-headers"),
            &[],
        ),
        (
            "opencode.json",
            opencode(
                r#""oauth": {"clientId": "c", "clientSecret": "{env:S}", "scope": "a", "redirectUri": "http://localhost:7/x"}"#,
            ),
            json!({"clientId": "c", "clientSecret": "${S}", "scopes": ["a"], "callbackPort": 7}),
            json!(null),
            &[],
        ),
        ("opencode.json", opencode(r#""oauth": false"#), json!(null), json!(null), &[]),
        (
            ".gemini/settings.json",
            json_of(
                "mcpServers",
                r#"{"httpUrl": "https://s.example/mcp", "authProviderType": "dynamic_discovery", "oauth": {"enabled": true,
                "clientId": "c", "clientSecret": "$S", "scopes": ["a"], "tokenUrl": "https://l.example/t",
                "audiences": ["x", "y"], "redirectUri": "https://tunnel.example/cb"}}"#,
            ),
            json!({"clientId": "c", "clientSecret": "${S}", "scopes": ["a"], "authorizeParameters": {"audience": "x y"}}),
            json!(null),
            &["oauth.tokenUrl", "oauth.redirectUri"],
        ),
        (
            ".cursor/mcp.json",
            remote(
                "mcpServers",
                r#""auth": {"CLIENT_ID": "${env:C}", "CLIENT_SECRET": "hunter2", "scopes": ["a"]}"#,
            ),
            json!({"clientId": "${C}", "scopes": ["a"]}),
            json!(null),
            &["oauth.clientSecret"],
        ),
        (
            ".vscode/mcp.json",
            remote("servers", r#""oauth": {"clientId": "c", "enterpriseManaged": true}"#),
            json!({"clientId": "c"}),
            json!(null),
            &["oauth.enterpriseManaged"],
        ),
        (
            ".zed/settings.json",
            remote("context_servers", r#""oauth": {"client_id": "c", "client_secret": "hunter2"}"#),
            json!({"clientId": "c"}),
            json!(null),
            &["oauth.clientSecret"],
        ),
    ] {
        let imported = read(&format!("/people/ada/shop/{path}"), &text);
        let entry = imported.servers[0].entry.as_ref().unwrap();
        let entry = serde_json::to_value(entry).unwrap();
        assert_eq!((&entry["oauth"], &entry["headersHelper"]), (&oauth, &helper), "{path}");
        let fields: Vec<&str> =
            imported.warnings.iter().map(|warning| warning.field().split_once(".s.").unwrap().1).collect();
        assert_eq!(fields, warned, "{path}");
        assert!(!format!("{:?}", imported.warnings).contains("hunter2"));
    }
}

#[test]
fn opencode_in_both_versions() {
    let text = r#"{
      "$schema": "https://opencode.ai/config.json",
      "mcp": {
        "everything": {
          "type": "local", "command": ["npx", "-y", "server-everything"], "environment": {"KEY": "{env:MY_KEY}"}, "enabled": true,
        },
        "jira": {"type": "remote", "url": "https://jira.example/mcp", "headers": {"Authorization": "Bearer {file:~/.key}"}, "timeout": 5000, "oauth": {}},
        "offered": {"enabled": true},
      },
    }"#;
    let (dialect, servers, warned) = import("/people/ada/shop/opencode.jsonc", text);
    assert_eq!(dialect, Dialect::OpenCode);
    assert_eq!(
        servers["everything"],
        json!({"type": "stdio", "command": "npx", "args": ["-y", "server-everything"], "env": {"KEY": "${MY_KEY}"}})
    );
    assert_eq!((&servers["jira"]["type"], &servers["jira"]["timeout"]), (&json!("http"), &json!(5000)));
    assert_eq!(warned, ["mcp.jira.headers.Authorization", "mcp.offered"]);

    let second = r#"{"mcp": {"servers": {"a": {"type": "local", "command": ["x"], "cwd": ".", "disabled": true, "timeout": {"startup": 1000, "request": 2000}}}}}"#;
    let (dialect, servers, _) = import("/people/ada/somewhere.json", second);
    assert_eq!(dialect, Dialect::OpenCode);
    assert_eq!(
        servers["a"],
        json!({"type": "stdio", "command": "x", "cwd": ".", "disabled": true, "timeout": 2000, "startupTimeout": 1000})
    );
}

#[test]
fn a_dialect_is_told_by_what_a_file_says_when_its_place_does_not() {
    for (text, dialect) in [
        (r#"{"context_servers": {}}"#, Some(Dialect::Zed)),
        (r#"{"servers": {}}"#, Some(Dialect::VsCode)),
        (r#"{"mcp": {"a": {"type": "local"}}}"#, Some(Dialect::OpenCode)),
        (r#"{"mcpServers": {"a": {"httpUrl": "x"}}}"#, Some(Dialect::Gemini)),
        (r#"{"mcpServers": {"a": {"command": "x", "env": {"A": "${env:A}"}}}}"#, Some(Dialect::Cursor)),
        (r#"{"mcpServers": {"a": {"command": "x"}}}"#, Some(Dialect::ClaudeCode)),
        ("[mcp_servers.a]\ncommand = \"x\"", Some(Dialect::Codex)),
        ("{}", None),
        ("hello", None),
    ] {
        assert_eq!(Dialect::detect(Path::new("pasted.txt"), text), dialect, "{text}");
    }
    for dialect in Dialect::ALL {
        for place in dialect.config_paths(Path::new("/h"), Path::new("/p")) {
            // VS Code's profile has nothing of its own in the path.
            if !place.ends_with("User/mcp.json") {
                assert_eq!(Dialect::detect(&place, "{}"), Some(dialect), "{}", place.display());
            }
        }
    }
}

#[test]
fn one_server_that_cannot_be_read_harms_no_other_and_points_into_the_file() {
    let text = "{\n  \"servers\": {\n    \"bad\": {\"command\": \"x\", \"args\": [1]},\n    \"good\": {\"command\": \"x\"},\n    \"text\": \"x\"\n  }\n}";
    let imported = read("/people/ada/shop/.vscode/mcp.json", text);
    let error = imported.servers[0].entry.as_ref().unwrap_err();
    assert_eq!(
        error.to_string(),
        "/people/ada/shop/.vscode/mcp.json:3:38: servers.bad.args[0]: expected a string in double quotes, found a number"
    );
    assert!(imported.servers[1].entry.is_ok());
    assert!(matches!(
        imported.servers[2].entry.as_ref().unwrap_err().kind(),
        ConfigErrorKind::Mismatch { .. }
    ));
}

#[test]
fn what_is_not_there_or_nobodys_is_said() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.json");
    assert!(
        ImportedFile::open(&path, None).unwrap_err().to_string().ends_with("cannot read it: no such file")
    );
    fs::write(&path, "{}").unwrap();
    assert!(
        ImportedFile::open(&path, None)
            .unwrap_err()
            .to_string()
            .contains("Claude Desktop, Claude Code, VS Code")
    );
    fs::write(&path, r#"{"mcpServers": {"a": {"command": "x"}}}"#).unwrap();
    assert_eq!(ImportedFile::open(&path, None).unwrap().servers.len(), 1);
}
