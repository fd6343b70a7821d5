// Traffic: table, timeline, filters, payloads, export, recordings, clearing. The frames are compared with what the probe
// received, and an export is replayed by another process.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { programs } from "../harness/environment.ts";
import { Program } from "../harness/program.ts";
import { expect, openPage, SECRET, test, watch } from "../harness/test.ts";
import { until } from "../harness/wait.ts";

const frames = (page: Page) => page.getByRole("listbox", { name: "Frames" }).getByRole("option");
const filter = (page: Page) => page.getByRole("searchbox", { name: "Filter frames" });
const frame = (page: Page) => page.getByRole("region", { name: "Frame", exact: true });

async function call(shared: import("../harness/console_process.ts").ConsoleProcess, name: string, args: object = {}): Promise<number> {
  const started = (await shared.post("/api/calls", { type: "tool", server: "probe", name, argumentsJson: JSON.stringify(args), metaJson: null, asTask: false, confirmed: false, timeoutMs: null })) as { call: number };
  await until("the end of the call", async () => (await shared.snapshot()).calls.find((one) => one.call === started.call)?.state.type === "finished");
  return started.call;
}

test("frames of a call appear, with direction, target, size, time and status", async ({ page, go, shared }) => {
  const id = await call(shared, "inspector", { a: 5 });
  await go(`#/traffic?q=call%3A${id}`);
  await expect(frames(page)).toHaveCount(2);
  const [request, response] = [frames(page).first(), frames(page).last()];
  await expect(request).toContainText("tools/call");
  await expect(request).toContainText("inspector");
  await expect(request).toContainText("probe");
  await expect(response).toContainText("ok");
});

test("the filter language selects by method, status, time, size and text", async ({ page, go, shared }) => {
  await call(shared, "fails");
  const slow = await call(shared, "slow", { steps: 2, ms: 150 });
  await go("#/traffic");
  await filter(page).fill("server:probe status:toolError");
  await expect(frames(page).first()).toContainText("tool error");
  await filter(page).fill(`call:${slow} ms:>250 dir:in`);
  await expect(frames(page)).toHaveCount(1);
  await filter(page).fill(`call:${slow} method:notifications/progress`);
  await expect(frames(page)).toHaveCount(2);
  await filter(page).fill("-server:probe -server:demo -server:everything -server:files -server:broken -server:off");
  await expect(page.getByText("No frames.")).toBeVisible();
  await filter(page).fill("ms:>soon");
  await expect(page.getByText("ms: needs a number")).toBeVisible();
});

test("the payload is what the server received, and other frames of the call are linked", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  const id = await call(shared, "inspector", { a: 77, names: ["x"] });
  const { line } = await log.call("inspector", mark);
  await go(`#/traffic?q=call%3A${id}`);
  await frames(page).first().click();
  await expect(frame(page).getByRole("heading", { name: "tools/call" })).toBeVisible();
  await expect(frame(page)).toContainText("77");
  const number = /traffic\/(\d+)/.exec(page.url())![1];
  const { payload } = (await (await shared.request("GET", `/api/traffic/${number}?full=1`)).json()) as { payload: string };
  expect(JSON.parse(payload)).toEqual(JSON.parse(line!));
  const related = frame(page).getByRole("region", { name: "Frames of the same call" });
  await related.getByRole("button").last().click();
  await expect(frame(page)).toContainText("after its request");
});

test("the timeline shows the same frames as spans in lanes", async ({ page, go, shared }) => {
  const id = await call(shared, "slow", { steps: 2, ms: 100 });
  await go(`#/traffic?q=call%3A${id}`);
  await expect(frames(page).first()).toBeVisible();
  await page.getByRole("radio", { name: "Timeline" }).click();
  const timeline = page.getByRole("group", { name: "Timeline" });
  const span = timeline.getByRole("button", { name: /to probe: tools\/call slow, ok/ });
  await expect(span).toBeVisible();
  await expect(timeline.getByRole("button", { name: /notifications\/progress/ })).toHaveCount(2);
  const width = (await span.boundingBox())!.width;
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect.poll(async () => (await span.boundingBox())!.width).toBeGreaterThan(width * 1.5);
  await page.getByRole("button", { name: "Zoom out" }).click();
  await span.click();
  await expect(frame(page)).toContainText("after its request");
});

test("a page that is opened during a call has the frames before it, too", async ({ shared, browser, violations }) => {
  await call(shared, "inspector", { a: 1 });
  const { call: slow } = (await shared.post("/api/calls", { type: "tool", server: "probe", name: "slow", argumentsJson: '{"steps":150,"ms":8}', metaJson: null, asTask: false, confirmed: false, timeoutMs: null })) as { call: number };
  const page = await browser.newPage();
  try {
    await watch(page, violations);
    // The page fetches earlier frames when it was drawn; frames of the stream arrive before that here.
    await page.addInitScript(() => {
      const later = window.setTimeout;
      window.setTimeout = ((run: () => void, ms?: number) => later(run, ms === 50 ? 600 : ms)) as typeof window.setTimeout;
    });
    await openPage(page, shared, "#/traffic");
    await until("the end of the call", async () => (await shared.snapshot()).calls.find((one) => one.call === slow)?.state.type === "finished");
    const { totals } = (await (await shared.request("GET", "/api/traffic?after=0&limit=1")).json()) as { totals: { frames: number } };
    await expect(page.getByText(`${totals.frames.toLocaleString("en-US")} of ${totals.frames.toLocaleString("en-US")} frames`)).toBeVisible();
  } finally {
    await page.close();
  }
});

test("pause stops the view, not the recording", async ({ page, go, shared }) => {
  const id = await call(shared, "content");
  await go(`#/traffic?q=call%3A%3E%3D${id}`);
  await expect(frames(page)).toHaveCount(2);
  await page.getByRole("button", { name: "Pause" }).click();
  await call(shared, "content");
  await expect(frames(page)).toHaveCount(2);
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(frames(page)).toHaveCount(4);
});

test("an export has the frames, no secret, and can be replayed and opened", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  await call(shared, "inspector", { a: 31 });
  await go("#/traffic?q=server%3Aprobe");
  await expect(frames(page).first()).toBeVisible();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export filtered" }).click()]);
  const file = join(shared.home, "recording.talk");
  await download.saveAs(file);
  const text = readFileSync(file, "utf8");
  expect(text).toContain("tools/call");
  expect(text).not.toContain(SECRET);
  expect(log.entries().length).toBeGreaterThan(0);
  // Opened without servers, it is shown, and live traffic comes back.
  await page.locator('input[type="file"]').setInputFiles(file);
  await expect(page.getByText("not live traffic")).toBeVisible();
  await filter(page).fill("inspector");
  await expect(frames(page).last()).toContainText("inspector");
  await frames(page).last().click();
  await expect(frame(page)).toContainText("31");
  await page.getByRole("button", { name: "Back to live traffic" }).click();
  await expect(page.getByText("not live traffic")).toBeHidden();
});

test("a recording of one server is a mock server for the command line", async ({ page, go, shared }) => {
  await call(shared, "inspector", { a: 31 });
  await go("#/traffic?q=server%3Aprobe");
  await expect(frames(page).first()).toBeVisible();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export filtered" }).click()]);
  const file = join(shared.home, "replayed.talk");
  await download.saveAs(file);
  const replay = Program.start(programs.switchboard, ["tools", "--", programs.switchboard, "replay", file], { HOME: shared.home });
  expect(await replay.exited(), replay.output).toBe(0);
  expect(replay.output).toContain("inspector(");
});

test("inspector#2441: an export is a test of its server, in both eras", async ({ page, go, shared }) => {
  await call(shared, "inspector", { a: 31 });
  const { call: added } = (await shared.post("/api/calls", { type: "tool", server: "demo", name: "add", argumentsJson: '{"a":1,"b":2}', metaJson: null, asTask: false, confirmed: false, timeoutMs: null })) as { call: number };
  await until("the end of the call", async () => (await shared.snapshot()).calls.find((one) => one.call === added)?.state.type === "finished");
  for (const [server, command, revision] of [["demo", [programs.switchboard, "demo-server"], "2026-07-28"], ["probe", [process.execPath, programs.probe], "2025-11-25"]] as const) {
    // Without the handshake: the revision is that of the session.
    await go(`#/traffic?q=server%3A${server}%20method%3Atools%2Fcall%20target%3A${server === "demo" ? "add" : "inspector"}`);
    await expect(frames(page).first()).toContainText("tools/call");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export filtered" }).click()]);
    const file = join(shared.home, `${server}.talk`);
    await download.saveAs(file);
    expect(readFileSync(file, "utf8")).toContain(`server: ${server}\nrevision: ${revision}\n`);
    const tested = Program.start(programs.switchboard, ["test", file, "--", ...command], { HOME: shared.home });
    expect(await tested.exited(), tested.output).toBe(0);
    expect(tested.output).toContain("ok   tools/call");
  }
});

test("a long payload is cut, and loaded whole on request", async ({ page, go, shared }) => {
  const id = await call(shared, "big", { bytes: 150_000 });
  await go(`#/traffic?q=call%3A${id}%20dir%3Ain`);
  await frames(page).first().click();
  await expect(frame(page)).toContainText("this is its beginning");
  await frame(page).getByRole("button", { name: "Load all of it" }).click();
  await expect(frame(page).getByRole("region", { name: "Payload" })).toContainText("Show all 150,000 characters");
});

test("a recording that would grow beyond all memory is refused", async ({ page, go, shared, violations }) => {
  violations.allow.push(/status of 400/);
  await go("#/traffic");
  const file = join(shared.home, "bomb.talk");
  const doublings = Array.from({ length: 40 }, (_, at) => `let: v${at + 1} ["$v${at}","$v${at}"]`).join("\n");
  writeFileSync(file, `recording: 1\nlet: v0 "x"\n${doublings}\n\n> {"x":"$v40"}\n`);
  await page.locator('input[type="file"]').setInputFiles(file);
  await expect(page.locator(".toast.bad")).toContainText("the let lines add more than");
  expect((await shared.server("demo")).state.type).toBe("ready");
});

test("a file that is no recording is refused", async ({ page, go, shared, violations }) => {
  violations.allow.push(/status of 400/);
  await go("#/traffic");
  const file = join(shared.home, "not.talk");
  writeFileSync(file, "<script>alert(1)</script>\n\u0000\u0001");
  await page.locator('input[type="file"]').setInputFiles(file);
  await expect(page.locator(".toast.bad")).toBeVisible();
  await expect(page.getByText("not live traffic")).toBeHidden();
});

test("clear empties the table here and in another tab", async ({ page, go, shared, browser, violations }) => {
  await call(shared, "content");
  await go("#/traffic");
  await expect(frames(page).first()).toBeVisible();
  const other = await browser.newPage();
  await watch(other, violations);
  await openPage(other, shared, "#/traffic");
  await expect(frames(other).first()).toBeVisible();
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(page.getByText("No frames.")).toBeVisible();
  await expect(other.getByText("No frames.")).toBeVisible();
  await other.close();
  const { frames: kept } = (await (await shared.request("GET", "/api/traffic?after=0&limit=2000")).json()) as { frames: unknown[] };
  expect(kept.length).toBeLessThan(5);
  await call(shared, "content");
  await expect(frames(page).first()).toBeVisible();
});
