// Catalog: search, filters, why, token cost, drift.

import { expect, test } from "../harness/test.ts";

const list = (page: import("@playwright/test").Page, name = "tools") => page.getByRole("listbox", { name });

test("every kind is listed, with counts that the servers confirm", async ({ page, go, shared }) => {
  const { servers } = await shared.snapshot();
  // Hidden tools are listed, too.
  const total = (kind: "tools" | "resources" | "templates" | "prompts") => servers.reduce((sum, { counts }) => sum + counts[kind] + (kind === "tools" ? counts.hiddenTools : 0), 0);
  await go("#/catalog");
  for (const kind of ["Tools", "Resources", "Templates", "Prompts"] as const) {
    await page.getByRole("radio", { name: kind }).click();
    await expect(page.getByText(`of ${total(kind.toLowerCase() as "tools")} ·`)).toBeVisible();
    await expect(list(page, kind.toLowerCase()).getByRole("option").first()).toBeVisible();
  }
});

test("search narrows while typing, and the address keeps it", async ({ page, go }) => {
  await go("#/catalog/tools");
  const search = page.getByRole("searchbox", { name: "Search tools" });
  await search.fill("get-sum");
  await expect(list(page).getByRole("option")).toHaveCount(1);
  await expect(list(page).getByRole("option").first()).toContainText("get-sum");
  await page.reload();
  await expect(search).toHaveValue("get-sum");
  await expect(list(page).getByRole("option")).toHaveCount(1);
  await search.fill("server:probe -name:ask is:task");
  await expect(list(page).getByRole("option")).toHaveCount(1);
  await search.fill("nosuchfield:1");
  await expect(page.getByText("nosuchfield: is not a field")).toBeVisible();
});

test("hidden tools are listed with the rule that hides them", async ({ page, go, shared }) => {
  expect(shared.config().mcpServers["files"]!["denyTools"]).toEqual(["move_file", "edit_*"]);
  await go("#/catalog/tools");
  await page.getByRole("button", { name: /^Hidden \d+/ }).click();
  const option = list(page).getByRole("option").filter({ hasText: "edit_file" });
  await expect(option).toContainText("edit_*");
  await expect(list(page).getByRole("option").filter({ hasText: "move_file" })).toContainText("move_file");
  await expect(list(page).getByRole("option").filter({ hasText: "read_file" })).toHaveCount(0);
  await option.click();
  await expect(page.getByText("Models do not see it")).toContainText("edit_*");
  await expect(page.getByRole("region", { name: "Item" })).toContainText("hidden tools are not called");
});

test("why names the rule that hides a tool, check by check", async ({ page, go }) => {
  await go("#/catalog/tools/files/edit_file");
  await page.getByRole("button", { name: "Why?" }).click();
  const drawer = page.getByRole("dialog", { name: "Why" });
  await expect(drawer).toContainText("hidden");
  await expect(drawer.locator(".check-line.bad")).toContainText("edit_*");
  expect(await drawer.locator(".check-line.ok").count()).toBeGreaterThan(0);
});

test("why says that a tool is available, and that one is denied", async ({ page, go }) => {
  await go("#/catalog/tools/demo/echo");
  await page.getByRole("button", { name: "Why?" }).click();
  await expect(page.getByRole("dialog", { name: "Why" })).toContainText("available");
  await page.keyboard.press("Escape");
  await go("#/catalog/tools/probe/forbidden");
  await page.getByRole("button", { name: "Why?" }).click();
  await expect(page.getByRole("dialog", { name: "Why" })).toContainText("probe/forbidden");
});

test("a tool shows its definition, its permission and its cost", async ({ page, go }) => {
  await go("#/catalog/tools/probe/careful");
  const item = page.getByRole("region", { name: "Item" });
  await expect(item).toContainText("asked about");
  await expect(item).toContainText(/about \d+ tokens/);
  await expect(item).toContainText("may destroy");
  await page.getByRole("tab", { name: "Schema" }).click();
  await expect(item).toContainText("what");
  await page.getByRole("tab", { name: "Definition" }).click();
  await expect(item).toContainText("destructiveHint");
});

test("tokens are summed by server and by filter", async ({ page, go, shared }) => {
  const probe = await shared.server("probe");
  expect(probe.tokens).toBeGreaterThan(100);
  const catalog = (await (await shared.request("GET", "/api/catalog")).json()) as { tools: { server: string; tokens: number; hidden: unknown }[] };
  const sum = catalog.tools.filter((tool) => tool.server === "probe" && tool.hidden === null).reduce((total, tool) => total + tool.tokens, 0);
  expect(sum).toBe(probe.tokens);
  await go("#/catalog/tools?q=server%3Aprobe");
  const shown = sum < 1000 ? String(sum) : `${(sum / 1000).toFixed(sum >= 100_000 ? 0 : 1).replace(/\.0$/, "")}k`;
  await expect(page.locator(".bar [role=status]")).toContainText(`${shown} tokens`);
});

test("inspector#1034: a changed definition is marked, shown as a difference, and can be accepted", async ({ page, go, shared }) => {
  const call = (name: string) => shared.post("/api/calls", { type: "tool", server: "probe", name, argumentsJson: "{}", metaJson: null, asTask: false, confirmed: true, timeoutMs: null });
  // A call pins the definition; then the server changes it.
  await call("mutable");
  await shared.probeLog().call("mutable");
  const before = (await (await shared.request("GET", "/api/tool?server=probe&name=mutable")).json()) as { description: string };
  await call("mutate");
  await go("#/catalog/tools/probe/mutable?q=name%3Amutable");
  await expect(list(page).getByRole("option").first()).toContainText("drifted");
  await page.getByRole("button", { name: "Drifted" }).click();
  await expect(page.getByRole("searchbox", { name: "Search tools" })).toHaveValue(/is:drifted/);
  await expect(list(page).getByRole("option")).toHaveCount(1);
  await page.getByRole("button", { name: "Drifted" }).click();
  await page.getByRole("tab", { name: "Drift" }).click();
  const diff = page.getByRole("group", { name: "Difference" });
  await expect(diff.locator(".removed")).toContainText(before.description);
  await expect(diff.locator(".added")).toContainText("Version");
  await page.getByRole("button", { name: "Accept the new definition" }).click();
  await expect(page.getByRole("tab", { name: "Drift" })).toBeHidden();
  await expect(list(page).getByRole("option").first()).not.toContainText("drifted");
  const after = (await (await shared.request("GET", "/api/tool?server=probe&name=mutable")).json()) as { drift: unknown; description: string };
  expect(after.drift).toBeNull();
  expect(after.description).not.toBe(before.description);
});

test("resources, templates and prompts show their parts", async ({ page, go }) => {
  const item = page.getByRole("region", { name: "Item" });
  await go(`#/catalog/resources/probe/${encodeURIComponent("probe://readme")}`);
  await expect(item).toContainText("text/plain");
  await expect(item).toContainText("12 B");
  await go(`#/catalog/templates/probe/${encodeURIComponent("probe://item/{kind}/{id}{?q,limit}")}`);
  await expect(item).toContainText("One item");
  await go("#/catalog/prompts/probe/essay");
  await expect(item).toContainText("topic");
  await expect(item).toContainText("In which style");
});
