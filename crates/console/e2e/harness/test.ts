// The fixtures of the tests: one console for each worker, and a page for each test that must end without a violation.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as base, expect, type Page } from "@playwright/test";
import { ConsoleProcess, newHome, writeConfig } from "./console_process.ts";
import { programs } from "./environment.ts";

export { expect };

/** What a page did that it must not do. */
export interface Violations {
  list: string[];
  /** Console errors that a test provokes. */
  allow: RegExp[];
}

interface TestFixtures {
  violations: Violations;
  /** The page of the shared console, on its first route. */
  page: Page;
  /** Goes to a route of the page. */
  go: (route: string) => Promise<void>;
}

interface WorkerFixtures {
  shared: ConsoleProcess;
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  shared: [
    async ({}, use) => {
      const shared = await startShared();
      await use(shared);
      await shared.stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],

  violations: async ({}, use) => {
    const violations: Violations = { list: [], allow: [] };
    await use(violations);
    const rest = violations.list.filter((text) => !violations.allow.some((allowed) => allowed.test(text)));
    expect(rest, "the page must not break its content security policy, throw, or log an error").toEqual([]);
  },

  page: async ({ page, shared, violations }, use) => {
    await watch(page, violations);
    await openPage(page, shared);
    await use(page);
  },

  go: async ({ page }, use) => {
    await use(async (route) => {
      await page.evaluate((hash) => { location.hash = hash; }, route);
    });
  },
});

/** Collects violations of a page, and of everything that it requests. */
export async function watch(page: Page, { list }: Violations): Promise<void> {
  page.on("pageerror", (error) => list.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // The name of the resource is in the location.
    if (message.type() === "error") list.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("dialog", (dialog) => {
    list.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && !url.startsWith("blob:") && new URL(url).hostname !== "127.0.0.1") list.push(`request: ${url}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
  });
}

/** Opens the page of a console with a token of its own. */
export async function openPage(page: Page, process: ConsoleProcess, route = ""): Promise<void> {
  await page.goto(await process.pageUrl());
  await expect(page.locator(".head")).toBeVisible();
  await expect(page.getByText("live", { exact: true })).toBeVisible();
  if (route !== "") await page.evaluate((hash) => { location.hash = hash; }, route);
}

export const SECRET = "hunter2-never-shown";

/** The console of a worker: real servers of each kind, one that fails and one that is disabled. */
async function startShared(): Promise<ConsoleProcess> {
  const home = newHome();
  const files = join(home, "files");
  mkdirSync(files);
  writeFileSync(join(files, "hello.txt"), "Hello from a file\n");
  writeConfig(home, {
    mcpServers: {
      demo: { command: programs.switchboard, args: ["demo-server"] },
      everything: { command: process.execPath, args: [programs.everything] },
      files: { command: process.execPath, args: [programs.filesystem, files], denyTools: ["move_file", "edit_*"] },
      probe: probe(home, "probe", { PROBE_SECRET: SECRET }),
      broken: { command: process.execPath, args: ["-e", "console.error('no database at db.local'); process.exit(2)"], restart: "never" },
      off: { command: programs.switchboard, args: ["demo-server"], disabled: true },
    },
    permissions: { deny: ["probe/forbidden"], ask: ["probe/careful"], allow: ["probe/*", "demo/*", "everything/*", "files/*"] },
  });
  const started = await ConsoleProcess.start({ home });
  for (const name of ["demo", "everything", "files", "probe"]) await started.untilState(name, "ready");
  return started;
}

/** The configuration of the probe, which logs to the home. */
export function probe(home: string, name: string, env: Record<string, string> = {}, args: string[] = []): object {
  return { command: process.execPath, args: [programs.probe, ...args], env: { PROBE_LOG: join(home, `${name}.log`), ...env } };
}

/** Notes a figure, which is printed at the end of the run. */
export function measured(what: string, value: number, unit: string, limit?: number): void {
  const digits = value < 10 ? 1 : 0;
  const bound = limit === undefined ? "" : ` (limit ${limit.toFixed()} ${unit})`;
  test.info().annotations.push({ type: "measured", description: `${what}: ${value.toFixed(digits)} ${unit}${bound}` });
}
