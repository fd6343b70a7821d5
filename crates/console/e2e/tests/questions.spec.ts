// Questions of servers: every kind, in both eras. Answers are read from the log of the probe.

import type { Page } from "@playwright/test";
import { expect, test } from "../harness/test.ts";

const result = (page: Page) => page.getByRole("region", { name: "Result" });
const question = (page: Page) => page.getByRole("region", { name: /^Question of/ });

async function start(page: Page): Promise<void> {
  await page.getByRole("region", { name: "Request" }).getByRole("button", { name: "Call", exact: true }).click();
  await expect(result(page).getByText("asks you", { exact: true })).toBeVisible();
}

test("a form question: every field, and the answer on the wire", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/ask_form");
  await start(page);
  const card = question(page);
  await expect(card).toContainText("Fill in your order");
  await expect(card.getByRole("button", { name: "Answer" })).toBeDisabled();
  await card.getByLabel("name", { exact: true }).fill("Ada");
  await card.getByLabel("email", { exact: true }).fill("ada@example.com");
  await card.getByLabel("age", { exact: true }).fill("36");
  await card.getByLabel("weight", { exact: true }).fill("60.5");
  await card.getByLabel("vip", { exact: true }).selectOption("true");
  await card.getByLabel("size", { exact: true }).selectOption("m");
  await card.getByLabel("color", { exact: true }).selectOption({ label: "Green (g)" });
  await card.getByRole("checkbox", { name: "olives" }).check();
  await card.getByRole("button", { name: "Answer" }).click();
  const { message } = await log.find("the answer", (entry) => entry.message?.result?.action !== undefined, mark);
  expect(message!.result).toMatchObject({
    action: "accept",
    content: { name: "Ada", email: "ada@example.com", age: 36, weight: 60.5, vip: true, size: "m", color: "g", toppings: ["olives"] },
  });
  await expect(result(page).getByText("ok", { exact: true })).toBeVisible();
  await expect(card).toHaveCount(0);
});

for (const [button, action] of [["Decline", "decline"], ["Cancel", "cancel"]] as const) {
  test(`a form question: ${action}`, async ({ page, go, shared }) => {
    const log = shared.probeLog();
    const mark = log.mark();
    await go("#/call/tool/probe/ask_form");
    await start(page);
    await question(page).getByRole("button", { name: button, exact: true }).click();
    const { message } = await log.find("the answer", (entry) => entry.message?.result?.action !== undefined, mark);
    expect(message!.result.action).toBe(action);
    expect(message!.result.content).toBeUndefined();
  });
}

test("a URL question: shown as text, answered by hand", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/ask_url");
  await start(page);
  const card = question(page);
  await expect(card).toContainText("https://example.com/confirm?id=7");
  const link = card.getByRole("link", { name: "Open example.com" });
  await expect(link).toHaveAttribute("rel", "noreferrer noopener");
  await expect(link).toHaveAttribute("target", "_blank");
  await card.getByRole("button", { name: "I have done it" }).click();
  const { message } = await log.find("the answer", (entry) => entry.message?.result?.action !== undefined, mark);
  expect(message!.result.action).toBe("accept");
});

test("a sampling question: the message is written by hand", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/ask_sampling");
  await start(page);
  const card = question(page);
  await expect(card).toContainText("You are brief.");
  await expect(card).toContainText("Say hello");
  await card.getByLabel("Message").fill("Hello from the console");
  await card.getByRole("button", { name: "Send the message" }).click();
  const { message } = await log.find("the message", (entry) => entry.message?.result?.role !== undefined, mark);
  expect(message!.result).toMatchObject({ role: "assistant", content: { type: "text", text: "Hello from the console" } });
  await expect(result(page)).toContainText("Hello from the console");
});

test("a roots question: the roots are edited", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const mark = log.mark();
  await go("#/call/tool/probe/ask_roots");
  await page.getByRole("region", { name: "Request" }).getByRole("button", { name: "Call", exact: true }).click();
  const card = question(page);
  await card.getByLabel("Roots, one URI a line").fill("file:///one\nfile:///two");
  await card.getByRole("button", { name: "Send the roots" }).click();
  const { message } = await log.find("the roots", (entry) => entry.message?.result?.roots !== undefined, mark);
  expect(message!.result.roots.map((root: { uri: string }) => root.uri)).toEqual(["file:///one", "file:///two"]);
});

test("a URL question can be cancelled, a message of a model declined, and no roots sent", async ({ page, go, shared }) => {
  const log = shared.probeLog();
  const reply = async (tool: string, button: string) => {
    const mark = log.mark();
    await go(`#/call/tool/probe/${tool}`);
    await start(page);
    await question(page).getByRole("button", { name: button, exact: true }).click();
    const { message } = await log.find("the answer", (entry) => entry.message !== undefined && entry.message.method === undefined, mark);
    return message!;
  };
  expect((await reply("ask_url", "Cancel")).result).toEqual({ action: "cancel" });
  expect((await reply("ask_sampling", "Decline")).error.message).toContain("declined");
  expect((await reply("ask_roots", "Send none")).result).toEqual({ roots: [] });
});

test("a question in the modern era is answered, and the call goes on", async ({ page, go }) => {
  await go("#/call/tool/demo/order_pizza");
  await start(page);
  const card = question(page);
  await expect(card.getByRole("button", { name: "Answer" })).toBeVisible();
  await card.getByLabel("size", { exact: true }).selectOption("medium");
  await card.getByLabel("count", { exact: true }).fill("2");
  await card.getByRole("checkbox", { name: "Olives" }).check();
  await card.getByRole("button", { name: "Answer" }).click();
  await expect(result(page).getByText("ok", { exact: true })).toBeVisible();
  // The question and its retry are frames of the same call.
  await result(page).getByRole("link", { name: "Traffic of the call" }).click();
  const frames = page.getByRole("listbox", { name: "Frames" }).getByRole("option");
  await expect(frames).toHaveCount(4);
  await expect(frames.filter({ hasText: "asks" })).toHaveCount(1);
  // In the timeline they are in one row, and marked together.
  await page.getByRole("radio", { name: "Timeline" }).click();
  const spans = page.getByRole("group", { name: "Timeline" }).getByRole("button", { name: /to demo: tools\/call order_pizza/ });
  await expect(spans).toHaveCount(2);
  await spans.first().click();
  await expect(spans.last()).toHaveAccessibleName(/ok.*of the same call/);
  expect((await spans.first().boundingBox())!.y).toBe((await spans.last().boundingBox())!.y);
});

test("another's server asks, and shows the answer", async ({ page, go }) => {
  await go("#/call/tool/everything/trigger-elicitation-request");
  await start(page);
  const card = question(page);
  await card.getByRole("textbox", { name: "name", exact: true }).fill("Grace");
  await card.getByRole("button", { name: "Answer" }).click();
  await expect(result(page)).toContainText("Grace");
});

test("questions are announced on every page, and collected on one", async ({ page, go, shared }) => {
  await shared.post("/api/calls", { type: "tool", server: "probe", name: "ask_form", argumentsJson: "{}", metaJson: null, asTask: false, confirmed: false, timeoutMs: null });
  await go("#/servers");
  await expect(page.getByText("probe asks a question.")).toBeVisible();
  await expect(page.getByRole("navigation").getByRole("link", { name: /Call.*1 waiting/ })).toBeVisible();
  await page.getByRole("link", { name: "Answer" }).click();
  await expect(question(page)).toHaveCount(1);
  await question(page).getByRole("button", { name: "Decline" }).click();
  await expect(page.getByText("No server is waiting for an answer.")).toBeVisible();
});

test("two tabs see the same question; it is answered once", async ({ page, go, shared, browser, violations }) => {
  violations.allow.push(/status of 404/);
  const { openPage, watch } = await import("../harness/test.ts");
  const other = await browser.newPage();
  try {
    await watch(other, violations);
    await openPage(other, shared, "#/questions");
    await go("#/call/tool/probe/ask_form");
    await start(page);
    await expect(question(other)).toHaveCount(1);
    await question(other).getByRole("button", { name: "Decline" }).click();
    await expect(question(page)).toHaveCount(0);
    await expect(question(other)).toHaveCount(0);
    await expect(result(page)).toContainText("decline");
  } finally {
    await other.close();
  }
});

test("a question ends when its call is cancelled", async ({ page, go }) => {
  await go("#/call/tool/probe/ask_form");
  await start(page);
  await result(page).getByRole("button", { name: "Cancel", exact: true }).first().click();
  await expect(result(page)).toContainText("The call was cancelled.");
  await expect(question(page)).toHaveCount(0);
});
