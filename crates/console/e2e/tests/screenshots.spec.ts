// Screenshots of each page in both themes and three widths, for README and docs, from the same servers as the tests.
//
// They are written below the target folder; with SWITCHBOARD_SCREENSHOTS=1 those of the documentation are refreshed, too.

import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { ConsoleProcess, newHome, writeConfig } from "../harness/console_process.ts";
import { docsFolder, programs, screenshotFolder } from "../harness/environment.ts";
import { optimizePng } from "../harness/png.ts";
import { expect, openPage, probe, test, watch } from "../harness/test.ts";

const SIZES = [[1440, 900], [800, 900], [360, 740]] as const;

const PAGES: [name: string, route: string, ready: string][] = [
  ["servers", "#/servers", ".server-row"],
  ["server", "#/servers/probe", ".facts"],
  ["catalog", "#/catalog/tools/files/edit_file", ".facts"],
  ["form", "#/call/tool/probe/editors", ".form-root"],
  ["traffic", "#/traffic", ".frame-row"],
  ["timeline", "#/traffic?view=timeline", ".span"],
  ["policy", "#/policy", ".rule-line"],
  ["logins", "#/logins", "#logins-stored"],
];

/** What the documentation shows. */
const COMMITTED = new Set(["servers-1440-light", "servers-1440-dark", "catalog-1440-light", "result-1440-dark", "timeline-1440-light", "why-1440-dark", "traffic-800-light", "servers-360-dark", "form-360-light"]);

/** The list of few servers leaves most of a large window empty: that is cut off. */
async function shownHeight(page: Page, name: string, height: number): Promise<number> {
  if (name !== "servers") return height;
  const { y, height: own } = (await page.locator(".servers").boundingBox())!;
  return Math.min(height, Math.ceil(y + own) + 24);
}

test("screenshots of every page", async ({ browser, violations }) => {
  test.setTimeout(90_000);
  const home = newHome();
  writeConfig(home, {
    mcpServers: {
      demo: { command: programs.switchboard, args: ["demo-server"] },
      everything: { command: process.execPath, args: [programs.everything] },
      files: { command: process.execPath, args: [programs.filesystem, home], denyTools: ["move_file", "edit_*"] },
      probe: probe(home, "probe"),
      backup: { command: process.execPath, args: ["-e", "console.error('no database at db.local'); process.exit(2)"], restart: "never" },
    },
    permissions: { deny: ["files/write_*"], ask: ["probe/careful"], allow: ["demo/*", "probe/*"] },
  });
  const own = await ConsoleProcess.start({ home });
  try {
    for (const name of ["demo", "everything", "files", "probe"]) await own.untilState(name, "ready");
    const call = (server: string, name: string, args: object) => own.post("/api/calls", { type: "tool", server, name, argumentsJson: JSON.stringify(args), metaJson: null, asTask: false, confirmed: true, timeoutMs: null }) as Promise<{ call: number }>;
    for (let at = 0; at < 6; at++) {
      await call("demo", "weather", { city: "rome", days: 2 });
      await call("everything", "get-sum", { a: at, b: 2 });
      await call("probe", "slow", { steps: 1 + (at % 3), ms: 40 });
      await call("probe", "fails", {});
    }
    const { call: content } = await call("probe", "content", {});
    const written: string[] = [];
    for (const [width, height] of SIZES) {
      for (const colorScheme of ["light", "dark"] as const) {
        const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", timezoneId: "UTC" });
        const page = await context.newPage();
        await watch(page, violations);
        await openPage(page, own);
        const take = async (name: string) => {
          const file = `${name}-${width}-${colorScheme}`;
          await page.screenshot({ path: join(screenshotFolder, `${file}.png`), animations: "disabled", clip: { x: 0, y: 0, width, height: await shownHeight(page, name, height) } });
          written.push(file);
        };
        for (const [name, route, ready] of [...PAGES, ["result", `#/call/run/${content}`, ".block"] as const]) {
          await page.evaluate((hash) => { location.hash = hash; }, route);
          await expect(page.locator(ready).first()).toBeVisible();
          await take(name);
        }
        await page.evaluate(() => { location.hash = "#/catalog/tools/files/edit_file"; });
        await page.getByRole("button", { name: "Why?" }).click();
        await expect(page.locator(".check-line").first()).toBeVisible();
        await take("why");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+k");
        await expect(page.locator(".palette-row").first()).toBeVisible();
        await take("palette");
        await context.close();
      }
    }
    expect(written.length).toBe(SIZES.length * 2 * (PAGES.length + 3));
    for (const name of COMMITTED) {
      expect(written).toContain(name);
      const file = join(screenshotFolder, `${name}.png`);
      writeFileSync(file, optimizePng(readFileSync(file)));
      expect(statSync(file).size).toBeLessThan(200_000);
    }
    if (process.env["SWITCHBOARD_SCREENSHOTS"] !== undefined) {
      mkdirSync(docsFolder, { recursive: true });
      for (const name of COMMITTED) copyFileSync(join(screenshotFolder, `${name}.png`), join(docsFolder, `${name}.png`));
    }
  } finally {
    await own.stop();
  }
});
