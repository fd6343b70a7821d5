// Hostile servers: definitions that attack the reader, and floods. No script runs, and the page stays usable.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { ConsoleProcess, newHome, writeConfig } from "../harness/console_process.ts";
import { residentMegabytes } from "../harness/processes.ts";
import { expect, measured, openPage, probe, test, watch } from "../harness/test.ts";
import { until } from "../harness/wait.ts";

/** Whether any of the attacks has run. */
async function expectUnharmed(page: Page): Promise<void> {
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.locator("main img[src='x'], main svg[onload], main script").count()).toBe(0);
}

async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
}

test.describe("names and descriptions", () => {
  let own: ConsoleProcess;
  test.beforeAll(async () => {
    const home = newHome();
    writeConfig(home, { mcpServers: { hostile: probe(home, "hostile", {}, ["--hostile"]) } });
    own = await ConsoleProcess.start({ home });
    await own.untilState("hostile", "ready");
  });
  test.afterAll(() => own.stop());

  test("markup is text: in the list, the details, the form, why and the palette", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own, "#/catalog/tools");
    const options = page.getByRole("listbox", { name: "tools" }).getByRole("option");
    await expect(options.filter({ hasText: "<script>" }).first()).toBeVisible();
    await expectUnharmed(page);
    const { tools } = (await (await own.request("GET", "/api/catalog")).json()) as { tools: { name: string }[] };
    // A name that does not fit into an address is refused with a reason.
    violations.allow.push(/status of 4(14|31)/);
    for (const { name } of tools) {
      await page.evaluate((hash) => { location.hash = hash; }, `#/catalog/tools/hostile/${encodeURIComponent(name)}`);
      await expect(page.getByRole("region", { name: "Item" }).getByRole("heading", { level: 1 })).toBeVisible();
      const isTooLong = name.length > 8192;
      if (isTooLong) await expect(page.getByRole("alert").first()).toBeVisible();
      else for (const tab of ["Schema", "Definition"]) await page.getByRole("tab", { name: tab }).click();
      await expectUnharmed(page);
      await expectNoSidewaysScroll(page);
      await page.evaluate((hash) => { location.hash = hash; }, `#/call/tool/hostile/${encodeURIComponent(name)}`);
      await expect(page.getByRole("region", { name: "Request" }).getByRole("heading", { level: 1 })).toBeVisible();
      await expectUnharmed(page);
      await expectNoSidewaysScroll(page);
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search commands" }).fill("img");
    await expect(page.getByRole("listbox", { name: "Commands" }).getByRole("option").first()).toBeVisible();
    await expectUnharmed(page);
    await page.close();
  });

  test("hidden and reordering characters are shown by their code", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own, "#/catalog/tools/hostile/bidi");
    const item = page.getByRole("region", { name: "Item" });
    for (const code of ["U+202E", "U+2066", "U+200B", "U+E0041"]) await expect(item.getByText(code).first()).toBeVisible();
    expect(await page.locator("body").innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
    await page.close();
  });

  test("text of 64 KB is cut, and can be read whole", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own, "#/catalog/tools/hostile/long_text");
    const item = page.getByRole("region", { name: "Item" });
    await item.getByRole("button", { name: /Show all 65,536 characters/ }).first().click();
    await expect.poll(async () => (await item.innerText()).length).toBeGreaterThan(60_000);
    await expectNoSidewaysScroll(page);
    await page.close();
  });

  test("a recording of others is text as well: its servers, methods, targets and payloads", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own, "#/traffic");
    const attack = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const request = (id: number, method: string, name: string) => `> ${JSON.stringify({ jsonrpc: "2.0", id, method, params: { name, text: attack } })}`;
    const lines = [request(1, attack, attack), request(2, "\u202edaer", `${attack}${"n".repeat(65_536)}`), `<| ${JSON.stringify(`${attack}\n`)}`];
    const file = join(own.home, "theirs.talk");
    writeFileSync(file, `# ${attack}\nrecording: 1\nserver: ${attack}\n\n${lines.join("\n")}\n`);
    await page.locator('input[type="file"]').setInputFiles(file);
    await expect(page.getByText("not live traffic")).toBeVisible();
    const frames = page.getByRole("listbox", { name: "Frames" }).getByRole("option");
    await expect(frames).toHaveCount(3);
    for (let at = 0; at < 3; at++) {
      await frames.nth(at).click();
      await expect(page.getByRole("region", { name: "Payload" })).toContainText("<img src=x");
      await expectUnharmed(page);
      await expectNoSidewaysScroll(page);
    }
    await page.getByRole("radio", { name: "Timeline" }).click();
    await expect(page.getByRole("group", { name: "Timeline" }).getByRole("button").first()).toBeVisible();
    await expectUnharmed(page);
    expect(await page.locator("body").innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
    await page.close();
  });

  test("a pattern that takes exponential time does not stop the form", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own, "#/call/tool/hostile/regex");
    await page.getByLabel("text", { exact: true }).fill(`${"a".repeat(40)}!`);
    await expect(page.getByRole("button", { name: "Call", exact: true })).toBeEnabled({ timeout: 3000 });
    await page.close();
  });
});

test.describe("floods", () => {
  let own: ConsoleProcess;
  test.beforeEach(async () => {
    const home = newHome();
    writeConfig(home, { mcpServers: { probe: probe(home, "probe"), demo: { command: (await import("../harness/environment.ts")).programs.switchboard, args: ["demo-server"] } } });
    own = await ConsoleProcess.start({ home });
    await own.untilState("probe", "ready");
    await own.untilState("demo", "ready");
  });
  test.afterEach(() => own.stop());

  test("100,000 events: the page stays responsive, and memory is bounded on both sides", async ({ browser, violations }) => {
    test.setTimeout(90_000);
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own, "#/traffic");
    await page.evaluate(() => {
      const gaps: number[] = [];
      (window as { gaps?: number[] }).gaps = gaps;
      let last = performance.now();
      const frame = () => {
        const now = performance.now();
        gaps.push(now - last);
        last = now;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    await own.post("/api/calls", { type: "tool", server: "probe", name: "flood", argumentsJson: '{"count":100000}', metaJson: null, asTask: false, confirmed: false, timeoutMs: null });
    // Meanwhile the page answers to the keyboard, and another server to a call.
    await page.getByRole("searchbox", { name: "Filter frames" }).fill("server:demo");
    const before = Date.now();
    await page.getByRole("link", { name: "Servers" }).click();
    await expect(page.getByRole("heading", { name: "Servers" })).toBeVisible();
    const navigation = Date.now() - before;
    await page.evaluate(() => { location.hash = "#/call/tool/demo/echo"; });
    await page.getByLabel("text", { exact: true }).fill("still here");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await expect(page.getByRole("region", { name: "Result" })).toContainText("still here", { timeout: 15_000 });
    await until("the end of the flood", () => own.probeLog().entries().some((entry) => entry.event === "flooded"), 60_000);
    await page.evaluate(() => { location.hash = "#/traffic"; });
    const totals = async () => ((await (await own.request("GET", "/api/traffic?after=0&limit=1")).json()) as { totals: { frames: number; firstFrame: number } }).totals;
    await until("100,000 frames", async () => (await totals()).firstFrame > 85_000, 20_000);
    expect((await totals()).frames).toBeLessThanOrEqual(10_000);
    await expect(page.getByText(/of 10,000 frames/)).toBeVisible({ timeout: 15_000 });
    const client = await page.context().newCDPSession(page);
    await client.send("HeapProfiler.collectGarbage");
    const { usedSize } = await client.send("Runtime.getHeapUsage");
    measured("memory of the page after 100,000 events", usedSize / 1e6, "MB", 100);
    expect(usedSize).toBeLessThan(100e6);
    measured("memory of the console after 100,000 events", residentMegabytes(own.pid), "MB", 250);
    expect(residentMegabytes(own.pid)).toBeLessThan(250);
    const gaps = await page.evaluate(() => (window as { gaps?: number[] }).gaps!);
    const worst = Math.max(...gaps);
    measured("longest time without a frame during the flood", worst, "ms", 1000);
    expect(worst).toBeLessThan(1000);
    expect(navigation).toBeLessThan(2000);
    await page.close();
  });

  test("a page that was away receives a gap and catches up", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own, "#/servers");
    const key = await own.apiKey();
    // More than the 8 MB of events that are kept: each event of a call repeats its request.
    const { sequence } = await own.snapshot();
    const padding = "x".repeat(120_000);
    for (let round = 0; round < 10; round++) {
      const started = await Promise.all(Array.from({ length: 8 }, () => own.post("/api/calls", { type: "tool", server: "probe", name: "structured", argumentsJson: JSON.stringify({ padding }), metaJson: null, asTask: false, confirmed: false, timeoutMs: null }) as Promise<{ call: number }>));
      // Not the snapshot, which repeats all of these requests.
      for (const { call } of started) await until("the end of the call", async () => (await own.request("GET", `/api/calls/${call}/result`)).status === 200);
    }
    const response = await fetch(`${own.address}/api/events`, { headers: { Authorization: `Bearer ${key}`, "Last-Event-ID": String(sequence) } });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("\n\n")) text += (await reader.read()).value ?? "";
    await reader.cancel();
    const first = JSON.parse(/^data: (.*)$/m.exec(text)![1]!) as { type: string; lost: number };
    expect(first.type).toBe("gap");
    expect(Number(/^id: (\d+)$/m.exec(text)![1])).toBe(first.lost);
    expect(first.lost).toBeGreaterThan(sequence);
    await expect(page.getByText("live", { exact: true })).toBeVisible();
    await page.evaluate(() => { location.hash = "#/call"; });
    await expect(page.getByRole("region", { name: "Recent calls" }).getByRole("link").first()).toContainText("structured");
    await page.close();
  });
});
