// Logins: at a real authorization server (oidc-provider), typed into its own form, as a person would.

import type { Page } from "@playwright/test";
import { ConsoleProcess, newHome, writeConfig } from "../harness/console_process.ts";
import { programs } from "../harness/environment.ts";
import { Program } from "../harness/program.ts";
import { expect, openPage, test, watch } from "../harness/test.ts";
import { until } from "../harness/wait.ts";

interface Place {
  issuer: string;
  server: string;
  own: ConsoleProcess;
  stop: () => Promise<void>;
}

async function startPlace(display: string | null): Promise<Place> {
  const authorization = Program.start(process.execPath, [programs.authorizationServer, "oidc", "--tokens", "opaque"]);
  const issuer = `http://127.0.0.1:${(await authorization.match("the authorization server", /listening on port (\d+)/))[1]}`;
  const guarded = Program.start(process.execPath, [programs.guarded, issuer]);
  const server = `http://127.0.0.1:${(await guarded.match("the guarded server", /listening on port (\d+)/))[1]}`;
  const home = newHome();
  writeConfig(home, { mcpServers: { notes: { type: "http", url: `${server}/mcp` } } });
  // With a display, the browser is on this machine, and the login ends at a loopback port.
  const own = await ConsoleProcess.start({ home, env: display === null ? {} : { DISPLAY: display } });
  await own.untilState("notes", "needsAuth");
  const stop = async () => {
    await own.stop();
    await guarded.end();
    await authorization.end();
  };
  return { issuer, server, own, stop };
}

/** Follows the link of the page to the authorization server, types a name and a password, and agrees. */
async function logIn(page: Page, url: string, name: string): Promise<void> {
  const other = await page.context().newPage();
  // Its pages ask for a font of another host.
  await other.route((one) => one.hostname !== "127.0.0.1", (route) => route.abort());
  await other.goto(url, { waitUntil: "domcontentloaded" });
  const login = other.getByPlaceholder("Enter any login");
  const next = other.getByRole("button", { name: "Continue" });
  // In a container the link has a code of a device, which is confirmed first.
  for (let step = 0; step < 3 && !(await login.isVisible()); step++) {
    await expect(login.or(next)).toBeVisible();
    if (await next.isVisible()) await next.click();
  }
  await login.fill(name);
  await other.getByPlaceholder("and password").fill("secret of the test");
  await other.getByRole("button", { name: "Sign-in" }).click();
  await next.click();
  await other.waitForLoadState("domcontentloaded");
  await expect(next).toBeHidden();
  await other.close();
}

test.describe("with a server that requires a login", () => {
  let place: Place;
  test.beforeEach(async () => {
    place = await startPlace(":99");
  });
  test.afterEach(() => place.stop());

  test("a login is started, done at the authorization server, shown, and forgotten", async ({ browser, violations }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await watch(page, violations);
    await openPage(page, place.own, "#/logins");
    const waiting = page.getByRole("region", { name: "Waiting for a login" });
    await expect(waiting).toContainText("notes");
    await expect(page.getByRole("navigation").getByRole("link", { name: /Logins.*1 waiting/ })).toBeVisible();
    await waiting.getByRole("button", { name: "Log in to notes" }).click();
    const link = waiting.getByRole("link", { name: /^Open / });
    await expect(link).toBeVisible();
    await logIn(page, (await link.getAttribute("href"))!, "ada");
    await place.own.untilState("notes", "ready");
    const stored = page.getByRole("region", { name: "Stored logins" });
    await expect(stored.getByRole("row")).toHaveCount(2);
    await expect(stored).toContainText("notes");
    await expect(stored).toContainText("active");
    await expect(stored).toContainText(place.issuer);
    // The server knows who calls, and its page says so.
    await page.evaluate(() => { location.hash = "#/call/tool/notes/whoami"; });
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await expect(page.getByRole("region", { name: "Result" })).toContainText("you are ada");
    const calls = (await (await fetch(`${place.server}/log`)).json()) as { method: string; subject: string }[];
    expect(calls.some(({ method, subject }) => method === "tools/call" && subject === "ada")).toBe(true);
    await page.evaluate(() => { location.hash = "#/servers/notes"; });
    await expect(page.getByRole("region", { name: "Server", exact: true })).toContainText(place.issuer);
    // No token is in any response.
    for (const path of ["/api/logins", "/api/snapshot", "/api/traffic?after=0&limit=2000"]) {
      expect(await (await place.own.request("GET", path)).text()).not.toMatch(/"(access|refresh)_token"/);
    }
    // Forgetting revokes at the authorization server.
    await page.evaluate(() => { location.hash = "#/logins"; });
    await stored.getByRole("button", { name: /^Forget/ }).click();
    await expect(stored).toContainText("No login is stored");
    await until("the revocation", async () => (await (await fetch(`${place.issuer}/events`)).text()).includes("revoked"));
    await context.close();
  });

  test("a login can be cancelled, and started again", async ({ browser, violations }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await watch(page, violations);
    await openPage(page, place.own, "#/servers/notes");
    await expect(page.locator(".detail-head")).toContainText("requires a login");
    await page.getByRole("button", { name: "Log in" }).click();
    await expect(page.getByRole("link", { name: /^Open / })).toBeVisible();
    await page.getByRole("button", { name: "Cancel the login" }).click();
    await expect(page.getByRole("link", { name: /^Open / })).toBeHidden();
    await page.getByRole("button", { name: "Log in" }).click();
    await expect(page.getByRole("link", { name: /^Open / })).toBeVisible();
    expect((await place.own.server("notes")).state.type).toBe("needsAuth");
    await context.close();
  });

  test("why says that a login is missing", async ({ browser, violations }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await watch(page, violations);
    await openPage(page, place.own, "#/servers/notes");
    await page.getByRole("button", { name: "Why?" }).click();
    const drawer = page.getByRole("dialog", { name: "Why" });
    await expect(drawer.locator(".check-line.bad")).toContainText(/login/);
    await context.close();
  });
});

test("without a display the page shows a code, which works on another machine", async ({ browser, violations }) => {
  const place = await startPlace(null);
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await watch(page, violations);
    await openPage(page, place.own, "#/logins");
    await page.getByRole("button", { name: "Log in to notes" }).click();
    const code = await page.locator(".user-code").innerText();
    expect(code).toMatch(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/);
    const other = await context.newPage();
    await other.route((one) => one.hostname !== "127.0.0.1", (route) => route.abort());
    await other.goto(`${place.issuer}/device`, { waitUntil: "domcontentloaded" });
    await other.getByRole("textbox").fill(code);
    await other.getByRole("button", { name: "Continue" }).click();
    await other.getByRole("button", { name: "Continue" }).click();
    await other.getByPlaceholder("Enter any login").fill("grace");
    await other.getByPlaceholder("and password").fill("hopper");
    await other.getByRole("button", { name: "Sign-in" }).click();
    await other.getByRole("button", { name: "Continue" }).click();
    await place.own.untilState("notes", "ready");
    await expect(page.getByRole("region", { name: "Stored logins" })).toContainText("active");
  } finally {
    await context.close();
    await place.stop();
  }
});

test("without logins the page says so", async ({ page, go }) => {
  await go("#/logins");
  await expect(page.getByText("No login is stored.")).toBeVisible();
});
