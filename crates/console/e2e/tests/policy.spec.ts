// Policy: the rules, test decisions, denials. Nothing that is only tested reaches a server.

import { expect, test } from "../harness/test.ts";

test("the rules of the configuration are listed", async ({ page, go }) => {
  await go("#/policy");
  const rules = page.getByRole("region", { name: "Rules" });
  await expect(rules.locator("li")).toHaveCount(6);
  await expect(rules.locator("li").filter({ hasText: "probe/forbidden" })).toContainText("deny");
  await rules.locator("summary").first().click();
  await expect(rules.locator("details[open] .json")).toBeVisible();
});

for (const [tool, decision, words] of [["forbidden", "Denied", "probe/forbidden"], ["careful", "Asked about", "probe/careful"], ["content", "Allowed", "probe/*"]] as const) {
  test(`a test decision: ${decision}`, async ({ page, go, shared }) => {
    const log = shared.probeLog();
    const mark = log.mark();
    await go("#/policy");
    const form = page.getByRole("region", { name: "Test a decision" });
    await form.getByLabel("Server").selectOption("probe");
    await form.getByLabel("Name").fill(tool);
    await form.getByRole("button", { name: "Decide" }).click();
    await expect(form).toContainText(`${decision}.`);
    await expect(form).toContainText(words);
    expect(log.entries().slice(mark).some((entry) => entry.message?.method === "tools/call")).toBe(false);
  });
}

test("arguments that are not JSON are marked before anything is sent", async ({ page, go }) => {
  await go("#/policy");
  const form = page.getByRole("region", { name: "Test a decision" });
  await form.getByLabel("Name").fill("content");
  await form.getByLabel("Arguments").fill('{"a": ');
  await expect(form).toContainText("is not JSON");
  await expect(form.getByRole("button", { name: "Decide" })).toBeDisabled();
});

test("a denial appears while the page is open", async ({ page, go, shared }) => {
  await go("#/policy");
  const response = await shared.request("POST", "/api/calls", { type: "tool", server: "probe", name: "forbidden", argumentsJson: "{}", metaJson: null, asTask: false, confirmed: true, timeoutMs: null });
  expect(response.status).toBe(403);
  const denials = page.getByRole("region", { name: "Last denials" });
  await expect(denials).toContainText("probe/forbidden");
  await expect(denials.getByText("denied", { exact: true }).first()).toBeVisible();
});
