// Measurements with limits. Each is the best of several: other processes run on the same cores.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import type { Page } from "@playwright/test";
import { ConsoleProcess, newHome, writeConfig } from "../harness/console_process.ts";
import { assetsFolder } from "../harness/environment.ts";
import { FloorPage } from "../harness/floor_page.ts";
import { rawRequest } from "../harness/raw_http.ts";
import { expect, measured, openPage, probe, test, watch } from "../harness/test.ts";

const ROWS = 10_000;

test("everything is at most 120 KB, compressed", async ({ shared }) => {
  const files = readdirSync(assetsFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== "digest.txt");
  const compress = (data: Buffer) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
  const total = files.reduce((sum, entry) => sum + compress(readFileSync(join(entry.parentPath, entry.name))), 0);
  measured("everything, brotli", total / 1000, "KB", 120);
  expect(total).toBeLessThanOrEqual(120_000);
  // And what is sent is compressed.
  const host = { Host: `127.0.0.1:${shared.port}`, "Accept-Encoding": "gzip, br" };
  const { body } = await rawRequest(shared.port, "GET", "/", { Host: host.Host });
  let sent = 0;
  for (const [, path] of body.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
    const response = await rawRequest(shared.port, "GET", path!, host);
    expect(response.status, path).toBe(200);
    sent += Number(response.headers["content-length"] ?? response.body.length);
  }
  measured("everything, as it is sent", sent / 1000, "KB", 120);
  expect(sent).toBeLessThanOrEqual(120_000);
});

const PAINT_LIMIT_MS = 150;
/** How many times what a page of three lines takes, on a machine where that alone is slow. */
const PAINT_LIMIT_FLOORS = 3;

test("the first useful paint takes at most 150 ms", async ({ browser, shared, violations }) => {
  test.setTimeout(60_000);
  // Asked for by the browser for a picture that is opened by itself.
  violations.allow.push(/favicon\.ico/);
  /** Opens an address in a context with an empty cache, and returns when the list is painted. */
  const painted = async (origin: string, address: string) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    if (origin === shared.address) await watch(page, violations);
    await page.addInitScript(() => {
      const observer = new MutationObserver(() => {
        if (document.querySelector(".server-row") === null) return;
        observer.disconnect();
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => { (window as { painted?: number }).painted = performance.now(); };
          channel.port2.postMessage(null);
        });
      });
      observer.observe(document, { childList: true, subtree: true });
    });
    // The time that a browser takes to start a process for the origin is not the page's.
    await page.goto(`${origin}/icon.svg`);
    await page.goto(address);
    const after = await page.waitForFunction(() => (window as { painted?: number }).painted);
    const took = (await after.jsonValue())!;
    await context.close();
    return took;
  };
  const floorPage = await FloorPage.start();
  let best = Infinity;
  let floor = Infinity;
  try {
    for (let round = 0; round < 8; round++) {
      floor = Math.min(floor, await painted(floorPage.address, `${floorPage.address}/`));
      best = Math.min(best, await painted(shared.address, await shared.pageUrl()));
    }
  } finally {
    await floorPage.stop();
  }
  const limit = Math.max(PAINT_LIMIT_MS, PAINT_LIMIT_FLOORS * floor);
  measured("first useful paint: a page of three lines, the floor", floor, "ms");
  measured("first useful paint: the list of servers", best, "ms", limit);
  expect(best).toBeLessThanOrEqual(limit);
});

test.describe("with 10,000 tools", () => {
  let own: ConsoleProcess;
  test.beforeAll(async () => {
    const home = newHome();
    writeConfig(home, { mcpServers: { many: probe(home, "many", {}, ["--tools", String(ROWS)]) } });
    own = await ConsoleProcess.start({ home });
    await own.untilState("many", "ready", 30_000);
  });
  test.afterAll(() => own.stop());

  async function openCatalog(page: Page, violations: import("../harness/test.ts").Violations): Promise<void> {
    await watch(page, violations);
    await openPage(page, own, "#/catalog/tools");
    await expect(page.getByText(/of 10,000 ·/)).toBeVisible({ timeout: 15_000 });
  }

  test("only visible rows are in the document, and the end is reached by one key", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await openCatalog(page, violations);
    const list = page.getByRole("listbox", { name: "tools" });
    expect(await list.getByRole("option").count()).toBeLessThan(60);
    await list.focus();
    await page.keyboard.press("End");
    await expect(list.getByRole("option").last()).toContainText("tool_09999");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "tool_09999" })).toBeVisible();
    await page.close();
  });

  test("a filter takes at most 50 ms", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await openCatalog(page, violations);
    const times = await page.evaluate(async () => {
      const input = document.querySelector<HTMLInputElement>('input[type="search"]')!;
      const status = document.querySelector(".bar [role=status]")!;
      const painted = () => new Promise<void>((resolve) => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve();
        channel.port2.postMessage(null);
      }));
      const measure = async (text: string) => {
        const changed = new Promise<boolean>((resolve) => {
          const observer = new MutationObserver(() => { observer.disconnect(); resolve(true); });
          observer.observe(status, { childList: true, characterData: true, subtree: true });
          // A filter that matches the same rows changes no count.
          setTimeout(() => resolve(false), 300);
        });
        const start = performance.now();
        input.value = text;
        input.dispatchEvent(new InputEvent("input", { bubbles: true }));
        const isChanged = await changed;
        const took = performance.now() - start;
        await painted();
        return isChanged ? took : Infinity;
      };
      const results: number[] = [];
      for (const text of ["mail", "mails deletes", "number 7", "tool_0999", "tokens:>5 -files", "x9y"]) {
        let best = Infinity;
        for (let round = 0; round < 4; round++) {
          best = Math.min(best, await measure(text));
          await measure("");
        }
        results.push(best);
      }
      return results;
    });
    expect(times.length).toBeGreaterThan(4);
    const worst = Math.max(...times);
    measured(`filter of ${ROWS.toLocaleString("en-US")} rows, the slowest of ${times.length}`, worst, "ms", 50);
    expect(worst).toBeLessThanOrEqual(50);
    await page.close();
  });

  test("a frame while scrolling takes at most 16 ms", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await openCatalog(page, violations);
    const client = await page.context().newCDPSession(page);
    // Time of the thread, which other processes do not prolong.
    await client.send("Performance.enable", { timeDomain: "threadTicks" });
    const busy = async () => (await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")!.value * 1000;
    const FRAMES = 90;
    const rounds: { wall: number; thread: number }[] = [];
    for (let round = 0; round < 5; round++) {
      const before = await busy();
      const wall = await page.evaluate(async (frames) => {
        const box = document.querySelector<HTMLElement>(".vlist")!;
        box.scrollTop = 0;
        const work: number[] = [];
        for (let at = 0; at < frames; at++) {
          await new Promise<void>((resolve) => requestAnimationFrame(() => {
            const start = performance.now();
            box.scrollTop += 700;
            const channel = new MessageChannel();
            // After the frame was laid out and painted.
            channel.port1.onmessage = () => { work.push(performance.now() - start); resolve(); };
            channel.port2.postMessage(null);
          }));
        }
        return work.sort((a, b) => a - b)[Math.floor(work.length / 2)]!;
      }, FRAMES);
      rounds.push({ wall, thread: ((await busy()) - before) / FRAMES });
      if (wall < 8) break;
    }
    const wall = Math.min(...rounds.map((round) => round.wall));
    const thread = Math.min(...rounds.map((round) => round.thread));
    measured("scroll frame, median", wall, "ms", 16);
    measured("scroll frame, work of the page's thread", thread, "ms", 16);
    expect(wall).toBeLessThanOrEqual(16);
    expect(thread).toBeLessThanOrEqual(16);
    await page.close();
  });
});

