// A route of each page, with details open, for tests that go through all of them.

export const ROUTES: [name: string, route: string, ready: string][] = [
  ["servers", "#/servers", ".server-row"],
  ["server", "#/servers/probe", ".facts"],
  ["catalog", "#/catalog/tools", ".catalog-row"],
  ["tool", "#/catalog/tools/files/edit_file", ".facts"],
  ["call", "#/call", ".target-row"],
  ["tool form", "#/call/tool/probe/editors", ".form-root"],
  ["prompt form", "#/call/prompt/probe/essay", ".combo"],
  ["traffic", "#/traffic", ".frame-row"],
  ["timeline", "#/traffic?view=timeline&q=server%3Afiles", ".timeline"],
  ["logins", "#/logins", "#logins-stored"],
  ["policy", "#/policy", ".rule-line"],
  ["questions", "#/questions", "h1"],
];
