// Servers: the list, every action on a server, and adding one. Effects are read from the process list and from files.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConsoleProcess, newHome, writeConfig } from "../harness/console_process.ts";
import { programs } from "../harness/environment.ts";
import { Program } from "../harness/program.ts";
import { descendants, isAlive, processes } from "../harness/processes.ts";
import { expect, openPage, probe, SECRET, test, watch } from "../harness/test.ts";
import { until } from "../harness/wait.ts";

/** Returns the process of a server, as its snapshot names it. */
async function pidOf(shared: ConsoleProcess, name: string): Promise<number> {
  return until(`the process of ${name}`, async () => {
    const { transport, state } = await shared.server(name);
    return state.type === "ready" && transport.type === "stdio" ? transport.pid : null;
  });
}

test("the list shows state, era, revision, transport and tools of each server", async ({ page, go, shared }) => {
  await go("#/servers");
  const list = page.getByRole("list", { name: "Servers" });
  await expect(list.getByRole("listitem")).toHaveCount(6);
  const row = (name: string) => list.getByRole("listitem").filter({ hasText: name });
  await expect(row("demo")).toContainText("modern · 2026-07-28");
  await expect(row("demo")).toContainText("connected");
  await expect(row("everything")).toContainText("legacy · 2025-11-25");
  await expect(row("files")).toContainText("program");
  await expect(row("broken")).toContainText("failed");
  await expect(row("broken")).toContainText("no database at db.local");
  await expect(row("off")).toContainText("disabled");
  const tools = (await shared.server("probe")).counts.tools;
  expect(tools).toBeGreaterThan(15);
  await expect(row("probe")).toContainText(`${tools} tools`);
});

test("the overview shows the process, the identity and the capabilities", async ({ page, go, shared }) => {
  await go("#/servers/probe");
  const pid = await pidOf(shared, "probe");
  expect(processes().find((one) => one.pid === pid)?.command.join(" ")).toContain("probe.mjs");
  const detail = page.getByRole("region", { name: "Server", exact: true });
  await expect(detail).toContainText(String(pid));
  await expect(detail).toContainText("resources.subscribe");
  await expect(detail).toContainText("Probe everything.");
  await expect(detail).toContainText("user");
});

test("the configuration shows no secret, anywhere", async ({ page, go, shared }) => {
  expect(readFileSync(shared.configFile, "utf8")).toContain(SECRET);
  await go("#/servers/probe");
  await page.getByRole("tab", { name: "Configuration" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("PROBE_SECRET");
  await expect(page.locator("body")).not.toContainText(SECRET);
  for (const path of ["/api/snapshot", "/api/catalog", "/api/policy", "/api/logins", "/api/traffic?after=0&limit=2000"]) {
    expect(await (await shared.request("GET", path)).text(), path).not.toContain(SECRET);
  }
});

test("what a server says of its own environment is masked: results, errors, messages, stderr", async ({ page, go, shared }) => {
  const result = page.getByRole("region", { name: "Result" });
  await go("#/call/tool/probe/leak");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await expect(result).toContainText("•••");
  await expect(result.getByRole("log")).toContainText("the key is •••");
  await page.getByLabel("fail", { exact: true }).selectOption("true");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await expect(result).toContainText("wrong key: •••");
  expect(await page.locator("body").innerText()).not.toContain(SECRET);
  await go("#/servers/probe");
  await page.getByRole("tab", { name: "Stderr" }).click();
  await expect(page.getByRole("log", { name: "Stderr" })).toContainText("the key is •••");
  const calls = (await shared.snapshot()).calls.filter(({ request }) => request.type === "tool" && request.name === "leak");
  const paths = calls.map(({ call }) => `/api/calls/${call}/result?full=1`);
  for (const path of ["/api/snapshot", "/api/servers/probe/stderr", ...paths]) expect(await (await shared.request("GET", path)).text(), path).not.toContain(SECRET);
  // The server did say it: the values come from its log, not from the page.
  expect(readFileSync(shared.configFile, "utf8")).toContain(SECRET);
});

test("the parts of a server lead to what it offers", async ({ page, go }) => {
  await go("#/servers/files");
  await page.getByRole("button", { name: /\d+ tools/ }).click();
  await expect(page.getByRole("searchbox", { name: "Search tools" })).toHaveValue("server:files");
  await go("#/servers/files");
  await page.getByRole("link", { name: "Catalog", exact: true }).last().click();
  await page.getByRole("listbox", { name: "tools" }).getByRole("option").filter({ hasText: "read_multiple_files" }).click();
  await page.getByRole("region", { name: "Item" }).getByRole("link", { name: "Call", exact: true }).click();
  await expect(page.getByRole("heading", { name: "read_multiple_files" })).toBeVisible();
});

test("reconnect starts a new process and ends the old one", async ({ page, go, shared }) => {
  await go("#/servers/probe");
  const before = await pidOf(shared, "probe");
  await page.getByRole("button", { name: "Reconnect" }).click();
  const after = await until("another process", async () => {
    const pid = await pidOf(shared, "probe");
    return pid === before ? null : pid;
  });
  await until("the end of the old process", () => !isAlive(before));
  expect(isAlive(after)).toBe(true);
  await expect(page.getByRole("region", { name: "Server", exact: true })).toContainText(String(after));
});

test("disconnect ends the process, reconnect brings it back", async ({ page, go, shared }) => {
  await go("#/servers/files");
  const pid = await pidOf(shared, "files");
  await page.getByRole("button", { name: "Disconnect" }).click();
  await expect(page.locator(".detail-head")).toContainText("disconnected");
  await until("the end of the process", () => !isAlive(pid));
  await page.getByRole("button", { name: "Reconnect" }).click();
  await expect(page.locator(".detail-head")).toContainText("connected");
  expect(isAlive(await pidOf(shared, "files"))).toBe(true);
});

test("disable hides the tools and refuses calls, enable brings them back", async ({ page, go, shared }) => {
  const outcome = async () => {
    const response = await shared.request("POST", "/api/calls", { type: "tool", server: "files", name: "list_allowed_directories", argumentsJson: "{}", metaJson: null, asTask: false, confirmed: false, timeoutMs: null });
    if (!response.ok) return "refused";
    const { call } = (await response.json()) as { call: number };
    const { state } = await until("the end of the call", async () => (await shared.snapshot()).calls.find((one) => one.call === call && one.state.type === "finished"));
    return state.type === "finished" ? state.outcome.type : state.type;
  };
  await go("#/servers/files");
  await page.getByRole("button", { name: "Disable" }).click();
  await expect(page.getByRole("button", { name: "Enable" })).toBeVisible();
  await shared.untilState("files", "disabled");
  expect(["refused", "error"]).toContain(await outcome());
  await go("#/catalog/tools?q=server%3Afiles");
  await expect(page.getByRole("listbox", { name: "tools" }).getByRole("option").first()).toContainText("server disabled");
  await go("#/servers/files");
  await page.getByRole("button", { name: "Enable" }).click();
  await shared.untilState("files", "ready");
  await expect(page.getByRole("button", { name: "Disable" })).toBeVisible();
  expect(await outcome()).toBe("ok");
});

test("a configured, disabled server can be enabled, and works", async ({ page, go, shared }) => {
  await go("#/servers/off");
  await page.getByRole("button", { name: "Enable" }).click();
  await shared.untilState("off", "ready");
  await expect(page.locator(".detail-head")).toContainText("connected");
  await page.getByRole("button", { name: "Disable" }).click();
  await shared.untilState("off", "disabled");
});

test("stderr is shown, and followed while the tab is open", async ({ page, go, shared }) => {
  await go("#/servers/probe");
  await page.getByRole("tab", { name: "Stderr" }).click();
  const log = page.getByRole("log", { name: "Stderr" });
  await expect(log).toContainText("probe started");
  await shared.post("/api/calls", { type: "tool", server: "probe", name: "chatter", argumentsJson: '{"lines":4}', metaJson: null, asTask: false, confirmed: false, timeoutMs: null });
  await expect(log).toContainText("chatter line 4");
});

test("a server that fails shows its error, its stderr and what to do", async ({ page, go }) => {
  await go("#/servers/broken");
  const head = page.locator(".detail-head");
  await expect(head).toContainText("failed");
  await expect(head).toContainText("no database at db.local");
  await expect(head).toContainText("Next:");
});

test("a crash is shown, and the server comes back", async ({ page, go, shared }) => {
  await go("#/servers/probe");
  const before = await pidOf(shared, "probe");
  await shared.post("/api/calls", { type: "tool", server: "probe", name: "crash", argumentsJson: "{}", metaJson: null, asTask: false, confirmed: false, timeoutMs: null });
  await until("the end of the process", () => !isAlive(before));
  await shared.untilState("probe", "ready");
  await expect(page.locator(".detail-head")).toContainText("connected");
  expect(await pidOf(shared, "probe")).not.toBe(before);
});

test("the doctor reports its steps live: a server that works", async ({ page, go, shared }) => {
  await go("#/servers/probe");
  const log = shared.probeLog();
  const mark = log.mark();
  const pid = await pidOf(shared, "probe");
  await page.getByRole("tab", { name: "Doctor" }).click();
  await page.getByRole("button", { name: "Examine" }).click();
  await expect(page.getByText("It connects.")).toBeVisible({ timeout: 15_000 });
  expect(await page.locator(".checks .check-line.ok").count()).toBeGreaterThan(1);
  // It opened a connection of its own, and left the running one alone.
  const own = await log.find("a second connection", (entry) => entry.message?.method === "initialize" && entry.pid !== pid, mark);
  await until("the end of the examined process", () => !isAlive(own.pid));
  expect(isAlive(pid)).toBe(true);
});

test("the doctor reports its steps live: a server that fails", async ({ page, go }) => {
  await go("#/servers/broken");
  await page.getByRole("tab", { name: "Doctor" }).click();
  await page.getByRole("button", { name: "Examine" }).click();
  await expect(page.getByText("It does not connect.")).toBeVisible({ timeout: 15_000 });
  await expect(page.getByRole("tabpanel")).toContainText("no database at db.local");
});

test("inspector#962: a server that refuses the version says which ones it has", async ({ browser, violations }) => {
  const home = newHome();
  writeConfig(home, { mcpServers: { old: { ...probe(home, "old", {}, ["--refuses-version"]), restart: "never" } } });
  const own = await ConsoleProcess.start({ home });
  const page = await browser.newPage();
  try {
    await watch(page, violations);
    await openPage(page, own, "#/servers/old");
    await expect(page.locator(".detail-head")).toContainText("supported versions: 2024-10-07");
    await page.getByRole("tab", { name: "Doctor" }).click();
    await page.getByRole("button", { name: "Examine" }).click();
    await expect(page.getByText("It does not connect.")).toBeVisible({ timeout: 15_000 });
    await expect(page.locator(".check-line.bad")).toContainText("supported versions: 2024-10-07");
    await expect(page.getByRole("tabpanel")).toContainText("Next:");
    expect(own.probeLog("old").entries().some(({ message }) => message?.method === "initialize")).toBe(true);
  } finally {
    await page.close();
    await own.stop();
  }
});

test("a server of a project starts after it was approved in the terminal", async ({ browser, violations }) => {
  const home = newHome();
  writeFileSync(join(home, "project/.mcp.json"), JSON.stringify({ mcpServers: { theirs: probe(home, "theirs") } }));
  const own = await ConsoleProcess.start({ home });
  const page = await browser.newPage();
  try {
    await watch(page, violations);
    await openPage(page, own, "#/servers/theirs");
    await expect(page.locator(".detail-head")).toContainText("waits for approval");
    const command = await page.locator(".detail-head pre").innerText();
    expect(command).toBe("switchboard approve theirs");
    expect(own.probeLog("theirs").entries()).toEqual([]);
    const approve = Program.start(programs.switchboard, [...command.split(" ").slice(1), "--yes"], { HOME: home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" }, join(home, "project"));
    expect(await approve.exited(), approve.output).toBe(0);
    await expect(page.locator(".detail-head")).toContainText("connected", { timeout: 15_000 });
    await own.probeLog("theirs").find("its start", ({ message }) => message?.method === "initialize");
  } finally {
    await page.close();
    await own.stop();
  }
});

test("why explains a server that cannot be used", async ({ page, go }) => {
  await go("#/servers/broken");
  await page.getByRole("button", { name: "Why?" }).click();
  const drawer = page.getByRole("dialog", { name: "Why" });
  await expect(drawer).toContainText("not ready");
  await expect(drawer.locator(".check-line.bad").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(drawer).toBeHidden();
});

test("latency is drawn as calls are made", async ({ page, go, shared }) => {
  await go("#/servers/probe");
  const before = (await shared.server("probe")).metrics.calls;
  for (let at = 0; at < 3; at++) await shared.post("/api/calls", { type: "tool", server: "probe", name: "content", argumentsJson: "{}", metaJson: null, asTask: false, confirmed: false, timeoutMs: null });
  await until("three more calls", async () => (await shared.server("probe")).metrics.calls >= before + 3);
  await expect(page.getByRole("img", { name: /Latency of probe: last/ }).first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Calls" })).toContainText("median");
});

test.describe("with a console of its own", () => {
  let own: ConsoleProcess;
  test.beforeEach(async ({ page, violations }) => {
    const home = newHome();
    writeConfig(home, { mcpServers: { one: probe(home, "probe") } });
    own = await ConsoleProcess.start({ home });
    void violations;
    await openPage(page, own);
  });
  test.afterEach(() => own.stop());

  test("adding a URL shows the plan, then writes the file and connects", async ({ page }) => {
    const demo = Program.start(programs.switchboard, ["demo-server", "--http", "127.0.0.1:0"]);
    try {
      const [url] = await demo.match("the address of the demo server", /http:\/\/127\.0\.0\.1:\d+\/mcp/);
      await page.getByRole("button", { name: "Add a server" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name").fill("remote");
      await dialog.getByLabel("URL", { exact: true }).last().fill(url);
      await dialog.getByRole("button", { name: "Show what happens" }).click();
      await expect(dialog).toContainText(own.configFile.replace(own.home, ""));
      expect(Object.keys(own.config().mcpServers)).toEqual(["one"]);
      await dialog.getByRole("button", { name: "Write it" }).click();
      await expect(dialog).toBeHidden();
      await own.untilState("remote", "ready");
      expect(own.config().mcpServers["remote"]).toMatchObject({ url });
      await expect(page.getByRole("list", { name: "Servers" })).toContainText("remote");
    } finally {
      await demo.end();
    }
  });

  test("adding a program shows the command, and writes nothing", async ({ page }) => {
    const before = readFileSync(own.configFile, "utf8");
    await page.getByRole("button", { name: "Add a server" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Program" }).click();
    await dialog.getByLabel("Name").fill("local");
    await dialog.getByLabel("Command").fill("node server.js --flag 'a b'");
    await dialog.getByRole("button", { name: "Show what happens" }).click();
    await expect(dialog.locator("pre")).toHaveText("switchboard add local -s user -- node server.js --flag 'a b'");
    await expect(dialog.getByRole("button", { name: "Write it" })).toBeHidden();
    expect(readFileSync(own.configFile, "utf8")).toBe(before);
    // The API does not do it either.
    const response = await own.request("POST", "/api/servers", { type: "program", name: "local", command: ["node"], scope: "user" });
    expect(response.status).toBe(403);
    expect(((await response.json()) as { code: string }).code).toBe("config_edit_off");
    expect(readFileSync(own.configFile, "utf8")).toBe(before);
  });

  test("a name that exists is refused with a reason", async ({ page, violations }) => {
    violations.allow.push(/status of 4\d\d/);
    await page.getByRole("button", { name: "Add a server" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("one");
    await dialog.getByLabel("URL", { exact: true }).last().fill("http://127.0.0.1:9/mcp");
    await dialog.getByRole("button", { name: "Show what happens" }).click();
    const write = dialog.getByRole("button", { name: "Write it" });
    await expect(write.or(dialog.getByRole("alert"))).toBeVisible();
    if (await write.isVisible()) await write.click();
    await expect(dialog.getByRole("alert")).toContainText("one");
  });

  test("a changed configuration file is applied, and the page follows", async ({ page }) => {
    const config = own.config();
    config.mcpServers["two"] = probe(own.home, "two") as Record<string, unknown>;
    writeConfig(own.home, config);
    await expect(page.getByRole("list", { name: "Servers" })).toContainText("two", { timeout: 15_000 });
    await own.untilState("two", "ready");
    delete config.mcpServers["two"];
    writeConfig(own.home, config);
    await expect(page.getByRole("list", { name: "Servers" })).not.toContainText("two", { timeout: 15_000 });
  });

  test("the end of the console ends its servers", async ({ page, violations }) => {
    violations.allow.push(/ERR_|Failed to fetch/);
    const children = descendants(own.pid);
    expect(children.length).toBeGreaterThan(0);
    await own.end();
    for (const child of children) await until("the end of the servers", () => !isAlive(child.pid));
    await expect(page.getByText("not live, reconnecting")).toBeVisible();
  });
});

test.describe("with --allow-config-edit", () => {
  test("a program can be added, too", async ({ browser, violations }) => {
    const home = newHome();
    writeConfig(home, { mcpServers: {} });
    const own = await ConsoleProcess.start({ home, args: ["console", "--no-open", "--json", "--allow-config-edit"] });
    const page = await browser.newPage();
    try {
      await watch(page, violations);
      await openPage(page, own);
      const form = page.getByRole("region", { name: "Add a server" });
      await form.getByRole("radio", { name: "Program" }).click();
      await form.getByLabel("Name").fill("mine");
      await expect(form).not.toContainText("does not write programs");
      await form.getByLabel("Command").fill(`${programs.switchboard} demo-server "open`);
      await expect(form.getByRole("button", { name: "Show what happens" })).toBeDisabled();
      await expect(form).toContainText("A quote is not closed.");
      await form.getByLabel("Command").fill(`'${programs.switchboard}' "demo-server"`);
      await form.getByRole("button", { name: "Show what happens" }).click();
      await form.getByRole("button", { name: "Write it" }).click();
      await own.untilState("mine", "ready");
      expect(own.config().mcpServers["mine"]).toMatchObject({ command: programs.switchboard, args: ["demo-server"] });
    } finally {
      await page.close();
      await own.stop();
    }
  });
});
