// Access: tokens and keys, other origins, DNS rebinding, framing, other ports; lost and resumed streams.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConsoleProcess, newHome, writeConfig } from "../harness/console_process.ts";
import { processes } from "../harness/processes.ts";
import { Proxy } from "../harness/proxy.ts";
import { rawRequest } from "../harness/raw_http.ts";
import { expect, openPage, probe, test, watch } from "../harness/test.ts";
import { until } from "../harness/wait.ts";

const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:", "media-src data:",
  "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
];

const READS = ["/api/snapshot", "/api/events", "/api/catalog", "/api/traffic", "/api/traffic/1", "/api/logins", "/api/policy", "/api/gateway", "/api/audit", "/api/tool?server=probe&name=big", "/api/why?kind=tool&name=x", "/api/servers/probe/stderr", "/api/calls/1/result"];

test("without a key nothing is read or changed", async () => {
  // Of its own: failed attempts count towards a limit.
  const home = newHome();
  writeConfig(home, { mcpServers: { probe: probe(home, "probe") } });
  const shared = await ConsoleProcess.start({ home });
  const host = { Host: `127.0.0.1:${shared.port}` };
  for (const path of READS) expect((await rawRequest(shared.port, "GET", path, host)).status, path).toBe(401);
  for (const key of ["", "x", "Bearer", `Bearer ${"a".repeat(43)}`]) {
    const answer = await rawRequest(shared.port, "GET", "/api/snapshot", { ...host, Authorization: key });
    expect(answer.status).toBe(401);
    expect(answer.body).not.toContain("servers");
  }
  const change = await rawRequest(shared.port, "POST", "/api/servers/probe/disable", { ...host, "Content-Type": "application/json" }, "{}");
  expect(change.status).toBe(401);
  expect((await shared.server("probe")).enabled).toBe(true);
  await shared.stop();
});

test("every response has the content security policy and its companions", async ({ shared }) => {
  const host = { Host: `127.0.0.1:${shared.port}` };
  const { body } = await rawRequest(shared.port, "GET", "/", host);
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(body)![1]!;
  for (const path of ["/", script, "/api/snapshot", "/api/none", "/none"]) {
    const { headers } = await rawRequest(shared.port, "GET", path, host);
    const sent = String(headers["content-security-policy"]).split(";").map((part) => part.trim());
    for (const part of POLICY) expect(sent, path).toContain(part);
    expect(headers["x-content-type-options"], path).toBe("nosniff");
    expect(headers["referrer-policy"], path).toBe("no-referrer");
    expect(headers["cross-origin-opener-policy"], path).toBe("same-origin");
    expect(headers["cross-origin-resource-policy"], path).toBe("same-origin");
    expect(headers["set-cookie"], path).toBeUndefined();
    expect(headers["access-control-allow-origin"], path).toBeUndefined();
  }
  expect((await rawRequest(shared.port, "GET", "/", host)).headers["cache-control"]).toBe("no-store");
  expect(String((await rawRequest(shared.port, "GET", script, host)).headers["cache-control"])).toContain("immutable");
});

test("a name that leads to this machine is refused: DNS rebinding", async ({ shared }) => {
  const key = await shared.apiKey();
  for (const host of ["evil.example", `evil.example:${shared.port}`, "127.0.0.1", `127.0.0.1:${shared.port + 1}`, `127.0.0.1.evil.example:${shared.port}`, `0.0.0.0:${shared.port}`]) {
    for (const path of ["/", "/api/snapshot"]) {
      const answer = await rawRequest(shared.port, "GET", path, { Host: host, Authorization: `Bearer ${key}` });
      expect(answer.status, `${host}${path}`).toBe(421);
      expect(answer.body).not.toContain("probe");
    }
  }
  for (const host of [`127.0.0.1:${shared.port}`, `localhost:${shared.port}`]) {
    expect((await rawRequest(shared.port, "GET", "/", { Host: host })).status, host).toBe(200);
  }
});

test("requests of other origins and simple forms change nothing: CSRF", async ({ shared }) => {
  const key = await shared.apiKey();
  const base = { Host: `127.0.0.1:${shared.port}`, Authorization: `Bearer ${key}` };
  const path = "/api/servers/probe/disable";
  const json = { "Content-Type": "application/json" };
  for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${shared.port + 1}`, `http://evil.example:${shared.port}`]) {
    expect((await rawRequest(shared.port, "POST", path, { ...base, ...json, Origin: origin }, "{}")).status, origin).toBe(403);
  }
  for (const site of ["cross-site", "same-site"]) {
    expect((await rawRequest(shared.port, "POST", path, { ...base, ...json, "Sec-Fetch-Site": site }, "{}")).status, site).toBe(403);
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    expect((await rawRequest(shared.port, "POST", path, { ...base, "Content-Type": type }, "{}")).status, type).toBe(415);
  }
  const preflight = await rawRequest(shared.port, "OPTIONS", path, { Host: base.Host, Origin: "http://evil.example", "Access-Control-Request-Method": "POST" });
  expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
  expect((await shared.server("probe")).enabled).toBe(true);
});

test("unknown paths are errors in JSON, and large bodies are refused", async ({ shared }) => {
  const key = await shared.apiKey();
  const base = { Host: `127.0.0.1:${shared.port}`, Authorization: `Bearer ${key}` };
  const unknown = await rawRequest(shared.port, "GET", "/api/nothing", base);
  expect(unknown.status).toBe(404);
  expect((JSON.parse(unknown.body) as { code: string }).code).toBe("not_found");
  for (const path of ["/assets/../../etc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd"]) {
    const answer = await rawRequest(shared.port, "GET", path, base);
    expect(answer.body, path).not.toContain("root:");
    expect(answer.status, path).toBe(404);
  }
  const large = await rawRequest(shared.port, "POST", "/api/calls", { ...base, "Content-Type": "application/json" }, `{"a":"${"x".repeat(5_000_000)}"}`).catch(() => ({ status: 413 }));
  expect(large.status).toBe(413);
});

test("a token works once, and is in no argument list and no readable file", async () => {
  // Of its own: failed attempts of other tests count towards a limit.
  const shared = await ConsoleProcess.start({ config: {} });
  const token = await shared.newToken();
  const exchange = () => rawRequest(shared.port, "POST", "/api/key", { Host: `127.0.0.1:${shared.port}`, "Content-Type": "application/json" }, JSON.stringify({ token }));
  expect((await exchange()).status).toBe(200);
  const again = await exchange();
  expect(again.status).toBe(401);
  expect((JSON.parse(again.body) as { code: string }).code).toBe("token_invalid");
  const key = await shared.apiKey();
  for (const { command } of processes()) expect(command.join(" ")).not.toContain(key);
  const run = join(shared.home, "run");
  const files = readdirSync(run, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files) {
    expect(statSync(file).mode & 0o077, file).toBe(0);
    expect(readFileSync(file, "utf8"), file).not.toContain(key);
  }
  // Guessing is slowed down.
  const guesses = await Promise.all(Array.from({ length: 40 }, exchange));
  expect(guesses.filter((guess) => guess.status === 429).length).toBeGreaterThan(10);
  await shared.stop();
});

test("the address loses its token at once, and a used link says how to go on", async ({ page, shared, violations, browser }) => {
  violations.allow.push(/status of 401/);
  expect(page.url()).not.toContain("token");
  const url = await shared.pageUrl();
  const first = await browser.newPage();
  const second = await browser.newPage();
  try {
    await watch(first, violations);
    await watch(second, violations);
    await first.goto(url);
    await expect(first.locator(".head")).toBeVisible();
    expect(await first.evaluate(() => history.length)).toBeLessThan(4);
    await second.goto(url);
    await expect(second.getByRole("heading", { name: "Open the console again" })).toBeVisible();
    await expect(second.getByText("The link was used already")).toBeVisible();
    await expect(second.getByText("switchboard console", { exact: true })).toBeVisible();
  } finally {
    await first.close();
    await second.close();
  }
});

test("a tab without a key says so, and a reload keeps the key", async ({ page, shared, browser, violations }) => {
  await page.reload();
  await expect(page.getByText("live", { exact: true })).toBeVisible();
  const other = await browser.newPage();
  await watch(other, violations);
  await other.goto(shared.address);
  await expect(other.getByText("This tab has no key.")).toBeVisible();
  await other.close();
});

test("a key that expires locks the page, which says how to go on", async ({ browser, violations }) => {
  violations.allow.push(/status of 401|ERR_|Failed to fetch/);
  const home = newHome();
  writeConfig(home, { mcpServers: { probe: probe(home, "probe") } });
  const first = await ConsoleProcess.start({ home });
  const page = await browser.newPage();
  let second: ConsoleProcess | null = null;
  try {
    await watch(page, violations);
    await openPage(page, first);
    await first.end();
    await expect(page.getByText("not live, reconnecting")).toBeVisible();
    // Another process on the same port does not know the key.
    second = await ConsoleProcess.start({ home, args: ["console", "--no-open", "--json", "--port", String(first.port)] });
    await expect(page.getByRole("heading", { name: "Open the console again" })).toBeVisible({ timeout: 15_000 });
    await expect(page.getByText("The key of this tab is no longer valid")).toBeVisible();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  } finally {
    await page.close();
    await (second ?? first).stop();
  }
});

test("no page can frame the console, and another local port learns nothing", async ({ page, shared, context }) => {
  const seen: IncomingHttpHeaders[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader("Content-Type", "text/html");
    response.end(`<!doctype html><iframe id="frame" src="${shared.address}/"></iframe><script src="${shared.address}/api/snapshot"></script>`);
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const attacker = await context.newPage();
  try {
    await expect(page.locator(".head")).toBeVisible();
    await attacker.goto(address);
    // The frame is refused: its document is not the console's.
    const frame = attacker.frames().find((one) => one !== attacker.mainFrame());
    await until("the refused frame", async () => frame === undefined || !(await frame.locator(".head, #app").count().catch(() => 0)));
    expect(frame === undefined ? "" : await frame.content().catch(() => "")).not.toContain("Switchboard console");
    const outcomes = await attacker.evaluate(async (target) => {
      const read = async (init: RequestInit, path: string) => fetch(target + path, init).then(async (answer) => (answer.type === "opaque" ? "opaque" : `${answer.status} ${await answer.text()}`)).catch(() => "refused");
      return [
        await read({}, "/api/snapshot"),
        await read({ mode: "no-cors" }, "/api/snapshot"),
        await read({ mode: "no-cors", method: "POST", body: "{}" }, "/api/servers/probe/disable"),
        await read({ method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }, "/api/servers/probe/disable"),
        await read({ credentials: "include" }, "/api/catalog"),
      ];
    }, shared.address);
    for (const outcome of outcomes) expect(["refused", "opaque"]).toContain(outcome);
    expect(await attacker.evaluate(() => ({ cookie: document.cookie, keys: { ...sessionStorage }, more: { ...localStorage } }))).toEqual({ cookie: "", keys: {}, more: {} });
    expect((await shared.server("probe")).enabled).toBe(true);
    // A link from the console carries nothing.
    await page.evaluate((target) => {
      const link = document.createElement("a");
      Object.assign(link, { href: target, rel: "noreferrer noopener", target: "_blank" });
      document.body.append(link);
      link.click();
    }, address);
    await until("the second visit", () => seen.length > 1);
    for (const headers of seen) {
      expect(headers.cookie).toBeUndefined();
      expect(headers.authorization).toBeUndefined();
      expect(String(headers.referer ?? "")).not.toContain(String(shared.port));
    }
    expect(await context.cookies()).toEqual([]);
  } finally {
    await attacker.close();
    await new Promise((resolve) => other.close(resolve));
    other.closeAllConnections();
  }
});

test("a lost stream is said, and what happened meanwhile arrives", async ({ browser, shared, violations }) => {
  violations.allow.push(/ERR_|Failed to fetch/);
  const proxy = await Proxy.start(shared.port);
  const page = await browser.newPage();
  try {
    await watch(page, violations);
    await page.goto(`http://127.0.0.1:${proxy.port}/#token=${await shared.newToken()}`);
    await expect(page.getByText("live", { exact: true })).toBeVisible();
    await page.evaluate(() => { location.hash = "#/call"; });
    proxy.cut();
    await expect(page.getByText("not live, reconnecting")).toBeVisible();
    const { call } = (await shared.post("/api/calls", { type: "tool", server: "probe", name: "inspector", argumentsJson: '{"a":90210}', metaJson: null, asTask: false, confirmed: false, timeoutMs: null })) as { call: number };
    await until("the end of the call", async () => (await shared.snapshot()).calls.find((one) => one.call === call)?.state.type === "finished");
    proxy.restore();
    await expect(page.getByText("live", { exact: true })).toBeVisible({ timeout: 15_000 });
    await page.evaluate((id) => { location.hash = `#/call/run/${id}`; }, call);
    await expect(page.getByText("90210").first()).toBeVisible();
    await page.evaluate((id) => { location.hash = `#/traffic?q=call%3A${id}`; }, call);
    await expect(page.getByRole("listbox", { name: "Frames" }).getByRole("option")).toHaveCount(2);
    const streams = proxy.requests.filter((one) => one.path === "/api/events");
    expect(streams.length).toBeGreaterThan(1);
    for (const { lastEvent } of streams) expect(Number(lastEvent)).toBeGreaterThan(0);
  } finally {
    await page.close();
    await proxy.stop();
  }
});

interface StreamEvent { id: number; data: { type: string; call?: { call: number; state: { type: string } } } }

test("inspector#920: the stream resumes after a number without loss", async ({ shared }) => {
  const key = await shared.apiKey();
  const { sequence } = await shared.snapshot();
  const read = async (after: number, enough: (events: StreamEvent[]) => boolean) => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), 10_000);
    const response = await fetch(`${shared.address}/api/events`, { headers: { Authorization: `Bearer ${key}`, "Last-Event-ID": String(after) }, signal: abort.signal });
    const events: StreamEvent[] = [];
    let rest = "";
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + piece).split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) {
        const [id, data] = [/^id: (\d+)$/m.exec(part)?.[1], /^data: (.*)$/m.exec(part)?.[1]];
        if (data !== undefined) events.push({ id: Number(id), data: JSON.parse(data) });
      }
      if (enough(events)) break;
    }
    clearTimeout(timer);
    abort.abort();
    return events;
  };
  const calls = new Set<number>();
  for (let at = 0; at < 4; at++) {
    const { call } = (await shared.post("/api/calls", { type: "tool", server: "probe", name: "inspector", argumentsJson: `{"a":${at}}`, metaJson: null, asTask: false, confirmed: false, timeoutMs: null })) as { call: number };
    calls.add(call);
  }
  // A state that a later event replaces may be left out; the last state of a call never is.
  const ends = (events: StreamEvent[]) => events.filter(({ data: { type, call } }) => type === "call" && call?.state.type === "finished" && calls.has(call.call));
  const all = await read(sequence, (events) => ends(events).length === calls.size);
  const ids = all.map((event) => event.id);
  expect(ids).toEqual([...ids].sort((one, two) => one - two));
  expect(ids[0]).toBeGreaterThan(sequence);
  const numbers = ends(all).map((event) => event.id);
  const again = await read(numbers[0]!, (events) => ends(events).length === calls.size - 1);
  expect(ends(again).map((event) => event.id)).toEqual(numbers.slice(1));
  expect(again[0]!.id).toBeGreaterThan(numbers[0]!);
});
