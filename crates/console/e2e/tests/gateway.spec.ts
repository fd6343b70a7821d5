// Gateway: its state, limits, parked questions, denials and audit log, read-only. Callers are the command line with API keys.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import AxeBuilder from "@axe-core/playwright";
import { ConsoleProcess, newHome } from "../harness/console_process.ts";
import { programs } from "../harness/environment.ts";
import { Program } from "../harness/program.ts";
import { expect, openPage, probe, test, watch } from "../harness/test.ts";
import { until } from "../harness/wait.ts";

const POLICY = `
default = "allow"

[[rule]]
name = "no-crash"
effect = "deny"
server = "probe"
tool = "crash"

[[limit]]
name = "per person"
rate = "6/min"
burst = 3
per = "principal"
operation = "call"
tool = "echo"
`;

test.describe("the console of a gateway", () => {
  let own: ConsoleProcess;
  let guarded: Program;
  let url = "";
  let key = "";

  const call = async (tool: string, ...more: string[]) => {
    const program = Program.start(programs.switchboard, ["call", tool, "--url", url, "-H", `Authorization: Bearer ${key}`, ...more], { HOME: own.home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" });
    return { code: await program.exited(), output: program.output };
  };

  test.beforeAll(async () => {
    const home = newHome();
    // Its authorization server is not there: nobody can log in.
    guarded = Program.start(process.execPath, [programs.guarded, "http://127.0.0.1:9"]);
    const [, port] = await guarded.match("the guarded server", /listening on port (\d+)/);
    writeFileSync(join(home, "policy.toml"), POLICY);
    writeFileSync(join(home, "servers.json"), JSON.stringify({ mcpServers: { demo: { command: programs.switchboard, args: ["demo-server"] }, probe: probe(home, "probe"), notes: { type: "http", url: `http://127.0.0.1:${port}/mcp` } } }));
    writeFileSync(join(home, "gateway.toml"), 'policy = "policy.toml"\naudit = "audit.jsonl"\ninclude = ["servers.json"]\n\n[listen]\nhttp = "127.0.0.1:0"\n\n[callers]\napi_keys = "keys.json"\n\n[views.small]\nservers = ["demo"]\n');
    const made = Program.start(programs.switchboard, ["key", "create", "ada", "--file", join(home, "keys.json")], { HOME: home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" });
    expect(await made.exited(), made.output).toBe(0);
    key = /^sbk_\S+$/m.exec(made.output)![0];
    own = await ConsoleProcess.start({ home, args: ["gateway", "--config", join(home, "gateway.toml"), "--console"] });
    url = (await until("the address of the gateway", () => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(own.stderr)))[0];
    for (const name of ["demo", "probe"]) await own.untilState(name, "ready");
  });
  test.afterAll(async () => {
    await own?.stop();
    await guarded?.end();
  });

  async function open(page: Page, violations: import("../harness/test.ts").Violations, route: string): Promise<void> {
    await watch(page, violations);
    await openPage(page, own, route);
  }

  test("it says what it is, and offers nothing that changes anything", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await open(page, violations, "#/servers/probe");
    await expect(page.getByText("read-only", { exact: true })).toBeVisible();
    await expect(page.getByRole("navigation").getByRole("link", { name: "Gateway" })).toBeVisible();
    for (const name of ["Reconnect", "Disable", "Disconnect", "Add a server"]) await expect(page.getByRole("button", { name })).toHaveCount(0);
    for (const path of ["/api/servers/probe/disable", "/api/servers/probe/reconnect", "/api/calls", "/api/servers", "/api/logins", "/api/tool/accept", "/api/subscriptions", "/api/complete", "/api/demo"]) {
      const response = await own.request("POST", path, {});
      expect(response.status, path).toBe(403);
      expect(((await response.json()) as { code: string }).code, path).toBe("read_only");
    }
    await page.evaluate(() => { location.hash = "#/call/tool/demo/echo"; });
    await expect(page.getByRole("button", { name: "Call", exact: true })).toBeDisabled();
    await page.close();
  });

  test("a server that waits for a login is named, with who waits for it", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await open(page, violations, "#/gateway");
    await own.untilState("notes", "needsAuth");
    const waiting = page.getByRole("region", { name: "Waiting for a login" });
    await expect(waiting).toContainText("at notes");
    await expect(page.locator(".tile").filter({ hasText: "wait for a login" })).toContainText("1");
    await page.evaluate(() => { location.hash = "#/servers/notes"; });
    await expect(page.locator(".detail-head")).toContainText("needs a login");
    await expect(page.getByRole("button", { name: "Log in" })).toHaveCount(0);
    await page.getByRole("button", { name: "Why?" }).click();
    await expect(page.getByRole("dialog", { name: "Why" }).locator(".check-line.bad")).toContainText("login");
    await page.close();
  });

  test("limits show what is used and refused", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await open(page, violations, "#/gateway");
    const limits = page.getByRole("region", { name: "Limits" });
    await expect(limits).toContainText("per person");
    await expect(page.getByRole("region", { name: "Views" }).getByRole("row").filter({ hasText: "small" })).toContainText("/small");
    for (let at = 0; at < 8; at++) {
      const { output } = await call("demo__echo", "text=hi");
      if (/429|limit/i.test(output)) break;
    }
    await page.reload();
    await expect(limits.getByRole("row").filter({ hasText: "per person" }).getByRole("cell").last()).not.toHaveText("0");
    await page.close();
  });

  test("calls of clients are in the traffic and in the audit log, which is searched", async ({ browser, violations }) => {
    const page = await browser.newPage();
    // Frames are recorded while somebody looks.
    await open(page, violations, "#/traffic?q=server%3Ademo%20method%3Atools%2Fcall");
    expect((await call("demo__add", "a=20", "b=3")).output).toContain("23");
    await expect(page.getByRole("listbox", { name: "Frames" }).getByRole("option").first()).toContainText("tools/call");
    await page.evaluate(() => { location.hash = "#/gateway"; });
    const audit = page.getByRole("region", { name: "Audit log" });
    await audit.getByRole("searchbox").fill("name:add outcome:ok");
    await audit.getByRole("button", { name: "Search" }).click();
    await expect(audit.getByRole("row").nth(1)).toContainText("demo/add");
    await expect(audit.getByRole("row").nth(1)).toContainText(`api-key:${key.split("_")[1]}`);
    const file = readFileSync(join(own.home, "audit.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line) as { name?: string });
    expect(file.some((record) => JSON.stringify(record).includes("add"))).toBe(true);
    // More than a page.
    const add = file.find((record) => JSON.stringify(record).includes("add"))!;
    appendFileSync(join(own.home, "audit.jsonl"), `${JSON.stringify({ ...add, identifier: "copied" })}\n`.repeat(130));
    await audit.getByRole("searchbox").fill("name:copied");
    await audit.getByRole("button", { name: "Search" }).click();
    await expect(audit.getByRole("status")).toContainText("100 records");
    await audit.getByRole("button", { name: "Older records" }).click();
    await expect(audit.getByRole("status")).toContainText("130 records");
    await audit.getByRole("searchbox").fill("principal:nobody");
    await audit.getByRole("button", { name: "Search" }).click();
    await expect(audit).toContainText("No record matches.");
    await page.close();
  });

  test("a denied call appears among the denials, and a test decision agrees", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await open(page, violations, "#/policy");
    const { code } = await call("probe__crash");
    expect(code).not.toBe(0);
    const denials = page.getByRole("region", { name: "Last denials" });
    await expect(denials).toContainText("crash");
    await expect(denials).toContainText("no-crash");
    const form = page.getByRole("region", { name: "Test a decision" });
    await form.getByLabel("Caller").fill("ada");
    await form.getByLabel("Server").selectOption("probe");
    await form.getByLabel("Name").fill("crash");
    await form.getByRole("button", { name: "Decide" }).click();
    await expect(form).toContainText("Denied.");
    await form.getByLabel("Name").fill("content");
    await form.getByRole("button", { name: "Decide" }).click();
    await expect(form).toContainText("Allowed.");
    await expect(page.getByRole("region", { name: "Rules" })).toContainText("no-crash");
    await page.close();
  });

  test("parked questions are counted and listed while they wait", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await open(page, violations, "#/gateway");
    // A client that supports questions, and leaves this one unanswered. The server is of the earlier era: the gateway keeps
    // its call.
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json", Accept: "application/json, text/event-stream", Authorization: `Bearer ${key}`,
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "probe__ask_form",
      },
      body: JSON.stringify({
        jsonrpc: "2.0", id: 1, method: "tools/call",
        params: {
          name: "probe__ask_form", arguments: {},
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { name: "e2e", version: "1" },
            "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
          },
        },
      }),
    });
    expect(await response.text()).toContain("input_required");
    await page.reload();
    const parked = page.getByRole("region", { name: "Parked questions" });
    await expect(parked).toContainText("probe/ask_form");
    await expect(parked).toContainText(`api-key:${key.split("_")[1]}`);
    await expect(page.locator(".tile").filter({ hasText: "parked questions" })).toContainText("1");
    await page.close();
  });

  test("axe finds nothing serious on the page of the gateway", async ({ browser, violations }) => {
    // The axe builder needs a page of a context of its own.
    const context = await browser.newContext();
    const page = await context.newPage();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await open(page, violations, "#/gateway");
      await expect(page.locator(".tile").first()).toBeVisible();
      const { violations: found } = await new AxeBuilder({ page }).analyze();
      expect(found.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id} ${nodes[0]!.html}`)).toEqual([]);
    }
    await context.close();
  });
});
