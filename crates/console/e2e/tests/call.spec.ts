// Call: the form and its JSON, progress, cancel, results, copies, resources and prompts. What was sent is read from the log
// of the probe, which keeps each message exactly as it was on the pipe.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { programs } from "../harness/environment.ts";
import { Program } from "../harness/program.ts";
import { expect, test } from "../harness/test.ts";

const result = (page: Page) => page.getByRole("region", { name: "Result" });
const form = (page: Page) => page.getByRole("region", { name: "Request" });
const field = (page: Page, name: string) => form(page).getByLabel(name, { exact: true });

async function callIt(page: Page): Promise<void> {
  await form(page).getByRole("button", { name: "Call", exact: true }).click();
}


test("the picker finds a tool and opens its form", async ({ page, go }) => {
  await go("#/call");
  await page.getByRole("searchbox").fill("get-sum");
  await page.getByRole("listbox", { name: "What can be called" }).getByRole("option").first().click();
  await expect(page.getByRole("heading", { name: "get-sum" })).toBeVisible();
});

test("a call of another's server returns its result", async ({ page, go, shared }) => {
  await go("#/call/tool/everything/get-sum");
  await field(page, "a").fill("2");
  await field(page, "b").fill("40");
  await callIt(page);
  await expect(result(page)).toContainText("42");
  await expect(result(page).getByText("ok", { exact: true })).toBeVisible();
  const calls = (await shared.snapshot()).calls;
  expect(calls.some((call) => call.request.type === "tool" && call.request.name === "get-sum" && call.state.type === "finished")).toBe(true);
});

test("a call writes a file", async ({ page, go, shared }) => {
  const path = join(shared.home, "files", "written.txt");
  await go("#/call/tool/files/write_file");
  await field(page, "path").fill(path);
  await field(page, "content").fill('line 1\nline "2"');
  await callIt(page);
  await expect(result(page)).toContainText("Successfully wrote");
  expect(readFileSync(path, "utf8")).toBe('line 1\nline "2"');
});

test("every editor fills in its member, and the wire has exactly that", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/editors");
  const whole = form(page);
  await expect(whole).toContainText("Missing: text");
  await field(page, "text").fill("\"quotes\" and 'more' \u{1F600}");
  await field(page, "whole").fill("9007199254740993");
  await field(page, "ratio").fill("1.50");
  await field(page, "flag").selectOption("false");
  await field(page, "color").selectOption("green");
  await field(page, "nothing").selectOption("null");
  await whole.getByRole("checkbox", { name: "medium" }).check();
  await whole.getByRole("checkbox", { name: "small" }).check();
  const group = (name: string) => whole.getByRole("group", { name, exact: true });
  await group("list").getByRole("button", { name: "Fill in" }).click();
  for (const value of ["3", "1"]) {
    await group("list").getByRole("button", { name: "Add an item" }).click();
    await group("list").getByRole("textbox").last().fill(value);
  }
  await group("list").getByRole("button", { name: "Move item 1 up" }).click();
  await group("nested").getByRole("button", { name: "Fill in" }).first().click();
  await field(page, "inner").fill("deep");
  await group("either").getByRole("combobox").first().selectOption({ index: 2 });
  await group("either").getByLabel("lives", { exact: true }).fill("9");
  await whole.getByRole("button", { name: "Send null for maybe" }).click();
  await whole.locator('input[type="file"]').setInputFiles({ name: "bytes.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 255, 16]) });
  await field(page, "any as JSON").fill('{"deep": [1, null, "x"]}');
  await callIt(page);
  const { line, message } = await log.call("editors", mark);
  expect(message!.params!["arguments"]).toMatchObject({
    text: "\"quotes\" and 'more' \u{1F600}", flag: false, color: "green", nothing: null, tags: ["medium", "small"], list: [1, 3],
    nested: { inner: "deep" }, either: { type: "cat", lives: 9 }, maybe: null, file: "AP8Q", any: { deep: [1, null, "x"] },
  });
  // Digits are not those of a double.
  expect(line).toContain('"whole":9007199254740993');
  expect(line).toContain('"ratio":1.50');
  await expect(result(page)).toContainText("quotes");
});

test("members and items are added, named, moved and removed, and a tuple has its places", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/editors");
  await field(page, "text").fill("ok");
  const group = (name: string) => form(page).getByRole("group", { name, exact: true });
  const map = group("map");
  await map.getByRole("button", { name: "Fill in" }).click();
  for (const [name, value] of [["first", "1"], ["second", "two"], ["third", ""]] as const) {
    await map.getByRole("button", { name: "Add a member" }).click();
    await map.getByRole("textbox", { name: "Name of the member" }).last().fill(name);
    if (value !== "") await map.locator("textarea").last().fill(value);
  }
  await map.getByRole("button", { name: "Remove first" }).click();
  const pair = group("pair");
  await pair.getByRole("button", { name: "Fill in" }).click();
  for (const value of ["left", "7"]) {
    if (await pair.getByRole("button", { name: "Add an item" }).isVisible()) await pair.getByRole("button", { name: "Add an item" }).click();
    await pair.getByRole("textbox").last().fill(value);
  }
  await expect(pair.getByRole("button", { name: "Add an item" })).toHaveCount(0);
  const list = group("list");
  await list.getByRole("button", { name: "Fill in" }).click();
  for (const value of ["1", "2", "3"]) {
    await list.getByRole("button", { name: "Add an item" }).click();
    await list.getByRole("textbox").last().fill(value);
  }
  await list.getByRole("button", { name: "Remove item 1" }).click();
  await callIt(page);
  const { message } = await log.call("editors", mark);
  expect(message!.params!["arguments"]).toMatchObject({ text: "ok", pair: ["left", 7], list: [1, 3], map: { second: "two" } });
  expect(Object.keys(message!.params!["arguments"].map)).not.toContain("first");
});

test("form and JSON round-trip, and a draft that is not JSON is kept", async ({ page, go }) => {
  await go("#/call/tool/probe/editors");
  await field(page, "text").fill("kept");
  await field(page, "whole").fill("12345678901234567890");
  await page.getByRole("radio", { name: "JSON" }).click();
  const raw = form(page).getByLabel("Arguments as JSON");
  await expect(raw).toHaveValue(/12345678901234567890/);
  const text = '{"text": "kept", "extra": {"a": [1, 2.0, null]}, "whole": 12345678901234567890}';
  await raw.fill(`${text} oops`);
  await page.getByRole("radio", { name: "Form" }).click();
  await expect(form(page)).toContainText("nothing is lost");
  await expect(raw).toHaveValue(`${text} oops`);
  await expect(form(page).getByRole("button", { name: "Call", exact: true })).toBeDisabled();
  await raw.fill(text);
  await page.getByRole("radio", { name: "Form" }).click();
  await expect(field(page, "text")).toHaveValue("kept");
  await page.getByRole("radio", { name: "JSON" }).click();
  const value = (await raw.inputValue()).replace(/\s/g, "");
  expect(value).toBe('{"text":"kept","extra":{"a":[1,2.0,null]},"whole":12345678901234567890}');
});

test.describe("argument bugs that other consoles had", () => {
  test("#1853 typing JSON keeps the draft and sends no stale value", async ({ page, go, shared }) => {
    const log = shared.probeLog();
    const mark = log.mark();
    await go("#/call/tool/probe/inspector");
    await field(page, "a").fill("1");
    await form(page).getByRole("button", { name: "Edit names as JSON" }).click();
    const raw = field(page, "names as JSON");
    const text = '["item-1","item-2"]';
    for (let at = 1; at <= text.length; at++) {
      await raw.press(text[at - 1]!);
      expect(await raw.inputValue()).toBe(text.slice(0, at));
    }
    await callIt(page);
    expect((await log.call("inspector", mark)).message!.params!["arguments"]).toEqual({ a: 1, names: ["item-1", "item-2"] });
  });

  test("#1856 Backspace in an array leaves the exact text", async ({ page, go }) => {
    await go("#/call/tool/probe/inspector");
    await form(page).getByRole("button", { name: "Edit numbers as JSON" }).click();
    const raw = field(page, "numbers as JSON");
    await raw.fill("[1, 2]");
    for (const rest of ["[1, 2", "[1, ", "[1,", "[1", "["]) {
      await raw.press("Backspace");
      expect(["[1, 2", "[1, ", "[1,", "[1", "["]).toContain(await raw.inputValue());
      if (rest === "[1, 2") expect(await raw.inputValue()).toBe(rest);
    }
  });

  test("#1885 an optional nullable integer is absent, null or a number", async ({ page, go, shared }) => {
    const log = shared.probeLog();
    await go("#/call/tool/probe/inspector");
    await field(page, "a").fill("7");
    for (const [prepare, wanted] of [
      [async () => {}, { a: 7 }],
      [async () => form(page).getByRole("button", { name: "Send null for b" }).click(), { a: 7, b: null }],
      [async () => { await form(page).getByRole("button", { name: "Send null for b" }).click(); await form(page).getByRole("textbox", { name: "b", exact: true }).fill("0"); }, { a: 7, b: 0 }],
      [async () => form(page).getByRole("button", { name: "Leave out b" }).click(), { a: 7 }],
    ] as const) {
      const mark = log.mark();
      await prepare();
      await callIt(page);
      expect((await log.call("inspector", mark)).message!.params!["arguments"]).toEqual(wanted);
      await expect(result(page).getByText("ok", { exact: true })).toBeVisible();
    }
  });

  test("#1928 a nullable enumeration is a choice with null", async ({ page, go, shared }) => {
    const log = shared.probeLog();
    const mark = log.mark();
    await go("#/call/tool/probe/inspector");
    await field(page, "a").fill("1");
    await expect(field(page, "direction").locator("option")).toHaveText(["left out", "envio", "recebimento", "null"]);
    await field(page, "direction").selectOption({ label: "null" });
    await callIt(page);
    expect((await log.call("inspector", mark)).message!.params!["arguments"]).toEqual({ a: 1, direction: null });
  });

  test("#1919 templates expand by RFC 6570", async ({ page, go, shared }) => {
    const log = shared.probeLog();
    const mark = log.mark();
    await go(`#/call/template/probe/${encodeURIComponent("probe://item/{kind}/{id}{?q,limit}")}`);
    await field(page, "kind").fill("a/b");
    await field(page, "id").fill("0xc0");
    await field(page, "q").fill("x & y");
    await form(page).getByRole("button", { name: "Read" }).click();
    const read = await log.find("a read", (entry) => entry.message?.method === "resources/read", mark);
    expect(read.message!.params!["uri"]).toBe("probe://item/a%2Fb/0xc0?q=x%20%26%20y");
  });

  test("#1910 request metadata holds any JSON", async ({ page, go, shared }) => {
    const log = shared.probeLog();
    const mark = log.mark();
    await go("#/call/tool/probe/inspector");
    await field(page, "a").fill("1");
    await form(page).getByText("Metadata and options").click();
    await field(page, "_meta").fill('{"trace":{"ids":[1,null,9007199254740993],"on":true},"note":""}');
    await callIt(page);
    const { message, line } = await log.call("inspector", mark);
    expect(message!.params!["_meta"]).toMatchObject({ note: "", trace: { on: true } });
    expect(line).toContain("[1,null,9007199254740993]");
  });
});

test("progress and log messages arrive while the call runs", async ({ page, go }) => {
  await go("#/call/tool/probe/slow");
  await field(page, "steps").fill("8");
  await field(page, "ms").fill("150");
  await callIt(page);
  await expect(result(page).getByRole("progressbar")).toBeVisible();
  await expect(result(page)).toContainText(/[2-7] of 8/);
  await expect(result(page).getByRole("log")).toContainText("did step 3");
  await expect(result(page)).toContainText("did 8 steps");
});

test("cancel reaches the server", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/slow");
  await field(page, "steps").fill("200");
  await callIt(page);
  await expect(result(page)).toContainText(/\d of 200/);
  await result(page).getByRole("button", { name: "Cancel" }).click();
  await expect(result(page)).toContainText("The call was cancelled.");
  await log.find("the cancellation", (entry) => entry.event === "cancelled", mark);
});

test("a call in the modern era reports progress and is cancelled", async ({ page, go }) => {
  await go("#/call/tool/demo/countdown");
  await field(page, "from").fill("50");
  await callIt(page);
  await expect(result(page).getByRole("progressbar")).toBeVisible();
  await result(page).getByRole("button", { name: "Cancel" }).click();
  await expect(result(page)).toContainText("The call was cancelled.");
});

test("a denied call is refused with its rule, and never reaches the server", async ({ page, go, shared, violations }) => {
  violations.allow.push(/status of 403/);
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/forbidden");
  await callIt(page);
  await expect(form(page).getByRole("alert")).toContainText("probe/forbidden");
  expect(log.entries().slice(mark).some((entry) => entry.message?.params?.["name"] === "forbidden")).toBe(false);
});

test("a call that a rule asks about needs a confirmation", async ({ page, go, shared, violations }) => {
  violations.allow.push(/status of 409/);
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/careful");
  await field(page, "what").fill("this");
  await callIt(page);
  await expect(form(page).getByRole("button", { name: "Call it" })).toBeVisible();
  await form(page).getByRole("button", { name: "Do not" }).click();
  expect(log.entries().slice(mark).some((entry) => entry.message?.params?.["name"] === "careful")).toBe(false);
  await callIt(page);
  await form(page).getByRole("button", { name: "Call it" }).click();
  await log.call("careful", mark);
  await expect(result(page).getByText("ok", { exact: true })).toBeVisible();
});

test("results show each content by its type, and nothing is fetched for it", async ({ page, go }) => {
  await go("#/call/tool/probe/content");
  await callIt(page);
  const shown = result(page);
  await expect(shown).toContainText("plain text");
  await expect(shown).toContainText("JSON in text");
  const image = shown.getByRole("img", { name: "image/png of the result" });
  await expect(image).toBeVisible();
  expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(0);
  await expect(shown.locator("audio")).toBeVisible();
  await expect(shown.getByRole("link", { name: "Open example.com" })).toHaveAttribute("href", "https://example.com/report");
  await expect(shown).toContainText("javascript:alert(1)");
  await expect(shown.locator('a[href^="javascript"]')).toHaveCount(0);
  await expect(shown).toContainText("embedded text");
  await expect(shown).toContainText("hologram");
  const [saved] = await Promise.all([page.waitForEvent("download"), shown.locator(".block").filter({ hasText: "application/octet-stream" }).getByRole("button", { name: "Save" }).last().click()]);
  expect([...readFileSync((await saved.path())!)]).toEqual([0, 1, 2, 3, 4]);
  await shown.getByRole("radio", { name: "JSON" }).click();
  await expect(shown).toContainText("resource_link");
});

test("structured content, tool errors and long results", async ({ page, go }) => {
  await go("#/call/tool/probe/structured");
  await callIt(page);
  await expect(result(page).getByRole("region", { name: "Structured content" })).toContainText("9007199254740993");
  await go("#/call/tool/probe/fails");
  await callIt(page);
  await expect(result(page).getByText("tool error", { exact: true })).toBeVisible();
  await expect(result(page)).toContainText("this went wrong");
  await go("#/call/tool/probe/big");
  await field(page, "bytes").fill("300000");
  await callIt(page);
  await expect(result(page)).toContainText("this is its beginning");
  await result(page).getByRole("button", { name: "Load all of it" }).click();
  await expect(result(page)).toContainText("Show all 300,000 characters");
});

test("a picture of another's server is shown", async ({ page, go }) => {
  await go("#/call/tool/everything/get-tiny-image");
  await callIt(page);
  const image = result(page).getByRole("img");
  await expect(image).toBeVisible();
  expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(1);
});

test("the copied command line makes the same call", async ({ page, go, shared, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const log = shared.probeLog();
  await go("#/call/tool/probe/editors");
  await field(page, "text").fill("it's \"quoted\" $HOME `x`");
  await field(page, "whole").fill("3");
  const copies = form(page).getByRole("group", { name: "Copy the call as" });
  await copies.getByRole("button", { name: "Command" }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toMatch(/^switchboard call /);
  const mark = log.mark();
  // The command reads the same configuration; a shell takes the quotes apart.
  const program = Program.start("/bin/sh", ["-c", command.replace(/^switchboard/, programs.switchboard)], { HOME: shared.home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" }, join(shared.home, "project"));
  expect(await program.exited(), program.output).toBe(0);
  expect((await log.call("editors", mark)).message!.params!["arguments"]).toEqual({ text: "it's \"quoted\" $HOME `x`", whole: 3 });
  await copies.getByRole("button", { name: "Rust" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('.call_tool("probe", "editors", serde_json::json!(');
  await copies.getByRole("button", { name: "JSON" }).click();
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toMatchObject({ method: "tools/call", params: { name: "editors", arguments: { whole: 3 } } });
});

test("copied command lines of resources and prompts work", async ({ page, go, shared, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const log = shared.probeLog();
  const run = async (marker: (method: string) => boolean) => {
    await form(page).getByRole("group", { name: "Copy the call as" }).getByRole("button", { name: "Command" }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const mark = log.mark();
    const program = Program.start("/bin/sh", ["-c", command.replace(/^switchboard/, programs.switchboard)], { HOME: shared.home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" }, join(shared.home, "project"));
    expect(await program.exited(), `${command}\n${program.output}`).toBe(0);
    return log.find("the request", (entry) => marker(entry.message?.method ?? ""), mark);
  };
  await go(`#/call/resource/probe/${encodeURIComponent("probe://counter")}`);
  await run((method) => method === "resources/read");
  await go("#/call/prompt/probe/essay");
  await field(page, "topic *").or(form(page).getByRole("combobox").first()).first().fill("big trees");
  const got = await run((method) => method === "prompts/get");
  expect(got.message!.params!["arguments"]).toEqual({ topic: "big trees" });
});

test("a resource is read, subscribed, updated and unsubscribed", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go(`#/call/resource/probe/${encodeURIComponent("probe://counter")}`);
  await form(page).getByRole("button", { name: "Read" }).click();
  await expect(result(page)).toContainText("counter");
  await form(page).getByRole("button", { name: "Subscribe to changes" }).click();
  await log.find("the subscription", (entry) => entry.message?.method === "resources/subscribe", mark);
  await expect(form(page).getByText("0 updates")).toBeVisible();
  for (const wanted of ["1 update", "2 updates"]) {
    await shared.post("/api/calls", { type: "tool", server: "probe", name: "bump", argumentsJson: "{}", metaJson: null, asTask: false, confirmed: false, timeoutMs: null });
    await expect(form(page).getByText(wanted)).toBeVisible();
  }
  await form(page).getByRole("button", { name: "End the subscription" }).click();
  await log.find("the end of the subscription", (entry) => entry.message?.method === "resources/unsubscribe", mark);
  await expect(form(page).getByRole("button", { name: "Subscribe to changes" })).toBeVisible();
});

test("a prompt is filled in with completion, by keyboard", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/prompt/probe/essay");
  await expect(form(page)).toContainText("Fill in topic.");
  const topic = form(page).getByRole("combobox", { name: /topic/ });
  await topic.focus();
  await topic.fill("tr");
  await expect(form(page).getByRole("option")).toHaveText(["trains", "trees"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(topic).toHaveValue("trees");
  // The second argument is completed with the first as context.
  const style = form(page).getByRole("combobox", { name: /style/ });
  await style.focus();
  await expect(form(page).getByRole("option").first()).toHaveText("trees verse");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await form(page).getByRole("button", { name: "Get the prompt" }).click();
  await expect(result(page)).toContainText("Write about trees in trees verse");
  await expect(result(page).getByRole("listitem")).toHaveCount(2);
  const get = await log.find("the prompt", (entry) => entry.message?.method === "prompts/get", mark);
  expect(get.message!.params!["arguments"]).toEqual({ topic: "trees", style: "trees verse" });
});

test("completion of another's server depends on its other argument", async ({ page, go }) => {
  await go("#/call/prompt/everything/completable-prompt");
  const department = form(page).getByRole("combobox", { name: /department/ });
  await department.fill("Eng");
  await form(page).getByRole("option", { name: "Engineering" }).click();
  await form(page).getByRole("combobox", { name: /name/ }).fill("A");
  await expect(form(page).getByRole("option").first()).toContainText("A");
  await form(page).getByRole("option").first().click();
  await form(page).getByRole("button", { name: "Get the prompt" }).click();
  await expect(result(page)).toContainText("Engineering");
});

test("a call is kept, opened again and repeated with its arguments", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  await go("#/call/tool/probe/inspector");
  await field(page, "a").fill("4711");
  await callIt(page);
  await expect(result(page).getByText("ok", { exact: true })).toBeVisible();
  await go("#/call");
  await page.getByRole("region", { name: "Recent calls" }).getByRole("link").first().click();
  await expect(page.getByRole("heading", { name: "inspector" })).toBeVisible();
  await page.getByRole("link", { name: "Edit and call again" }).click();
  await expect(field(page, "a")).toHaveValue("4711");
  const mark = log.mark();
  await callIt(page);
  expect((await log.call("inspector", mark)).message!.params!["arguments"]).toEqual({ a: 4711 });
  await result(page).getByRole("link", { name: "Traffic of the call" }).click();
  await expect(page.getByRole("listbox", { name: "Frames" }).getByRole("option")).toHaveCount(2);
});

test("a task shows its states and its result", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/work");
  await field(page, "steps").fill("12");
  await form(page).getByText("Metadata and options").click();
  await form(page).getByRole("checkbox", { name: "Run as a task" }).check();
  await callIt(page);
  await expect(result(page).getByText("task working")).toBeVisible();
  await expect(result(page)).toContainText(/step \d+ of 12/);
  const { taskId } = (await log.find("the task", (entry) => entry.event === "task", mark)) as { taskId?: string };
  await expect(result(page)).toContainText(taskId!);
  await expect(result(page)).toContainText("task work done");
  await log.find("the end of the task", (entry) => entry.event === "task" && entry["status"] === "completed", mark);
});

test("a task that fails says so, with its last words", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/work");
  await field(page, "steps").fill("1");
  await field(page, "fail").selectOption("true");
  await form(page).getByText("Metadata and options").click();
  await form(page).getByRole("checkbox", { name: "Run as a task" }).check();
  await callIt(page);
  await expect(result(page)).toContainText("task work failed");
  await expect(result(page).getByText("tool error", { exact: true })).toBeVisible();
  await log.find("the end of the task", (entry) => entry.event === "task" && entry["status"] === "failed", mark);
  expect((await shared.snapshot()).tasks.at(-1)).toMatchObject({ status: "failed", statusMessage: "the disk is full" });
});

test("a task is cancelled on the server", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/work");
  await field(page, "steps").fill("500");
  await form(page).getByText("Metadata and options").click();
  await form(page).getByRole("checkbox", { name: "Run as a task" }).check();
  await callIt(page);
  await result(page).getByRole("button", { name: "Cancel the task" }).click();
  await log.find("the cancelled task", (entry) => entry.event === "task" && entry["status"] === "cancelled", mark);
  await expect(result(page).getByText(/cancelled/).first()).toBeVisible();
});

test("a tool of another's server runs as a task", async ({ page, go }) => {
  await go("#/call/tool/everything/simulate-research-query");
  await field(page, "topic").fill("trees");
  await callIt(page);
  await expect(result(page)).toContainText(/task/);
  await expect(result(page).getByText("ok", { exact: true })).toBeVisible({ timeout: 20_000 });
});

