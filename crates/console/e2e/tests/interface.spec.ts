// The whole interface: command palette, themes, keyboard, accessibility, narrow screens and zoom.

import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { ROUTES } from "../harness/routes.ts";
import { expect, openPage, test, watch } from "../harness/test.ts";
import { until } from "../harness/wait.ts";

async function show(page: Page, route: string, ready: string): Promise<void> {
  await page.evaluate((hash) => { location.hash = hash; }, route);
  await expect(page.locator(ready).first()).toBeVisible();
}

test("the palette opens by keyboard, finds and goes", async ({ page }) => {
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: "Search commands" });
  await expect(input).toBeFocused();
  await page.keyboard.type("traff");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Traffic" })).toBeVisible();
  // No key is lost on the way, however soon it is pressed.
  await page.keyboard.press("Meta+k");
  await page.keyboard.type("get-sum");
  await expect(input).toHaveValue("get-sum");
  await expect(page.getByRole("listbox", { name: "Commands" }).getByRole("option").first()).toContainText("get-sum");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "get-sum" })).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(input).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(input).toBeHidden();
});

test("the palette runs actions: reconnect a server", async ({ page, shared }) => {
  const before = (await shared.server("demo")).transport;
  await page.keyboard.press("Control+k");
  await page.keyboard.type("reconnect demo");
  await page.keyboard.press("Enter");
  await until("another process", async () => {
    const server = await shared.server("demo");
    return server.state.type === "ready" && JSON.stringify(server.transport) !== JSON.stringify(before);
  });
});

test("the palette asks why", async ({ page }) => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("why: broken");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Why" })).toContainText("not ready");
});

test("themes are switched, kept, and follow the system", async ({ page }) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.getByRole("button", { name: /^Theme: as the system/ }).click();
  await expect.poll(background).toBe(light);
  await page.getByRole("button", { name: /^Theme: light/ }).click();
  await expect.poll(background).toBe(dark);
  await page.reload();
  await expect(page.getByRole("button", { name: /^Theme: dark/ })).toBeVisible();
  expect(await background()).toBe(dark);
  await page.getByRole("button", { name: /^Theme: dark/ }).click();
  await expect(page.getByRole("button", { name: /^Theme: as the system/ })).toBeVisible();
});

for (const scheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious on any page: ${scheme}`, async ({ page }) => {
    test.setTimeout(60_000);
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    const found: string[] = [];
    const check = async (name: string) => {
      // What does not depend on colors was checked in the other theme.
      const builder = new AxeBuilder({ page }).options({ resultTypes: ["violations"] });
      const { violations, passes } = await (scheme === "light" ? builder : builder.withRules(["color-contrast"])).analyze();
      expect(passes.length).toBeGreaterThan(0);
      for (const { id, impact, nodes } of violations) {
        if (impact === "serious" || impact === "critical") found.push(`${name}: ${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
      }
    };
    for (const [name, route, ready] of ROUTES) {
      await show(page, route, ready);
      await check(name);
    }
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("dialog")).toBeVisible();
    await check("palette");
    await page.keyboard.press("Escape");
    await show(page, "#/servers/broken", ".facts");
    await page.getByRole("button", { name: "Why?" }).click();
    await expect(page.locator(".check-line").first()).toBeVisible();
    await check("why");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Add a server" }).click();
    await check("add");
    expect(found).toEqual([]);
  });
}

const NARROW = [
  ["360 px", { width: 360, height: 740 }, 1],
  // A window of 1,440 px at 200 %.
  ["200 % zoom", { width: 720, height: 450 }, 2],
  ["320 px, which is 400 % of 1,280 px", { width: 320, height: 640 }, 1],
] as const;

for (const [name, viewport, deviceScaleFactor] of NARROW) {
  test(`no page scrolls sideways: ${name}`, async ({ browser, shared, violations }) => {
    const context = await browser.newContext({ viewport, deviceScaleFactor });
    const page = await context.newPage();
    await watch(page, violations);
    await openPage(page, shared);
    const problems: string[] = [];
    for (const [route, hash, ready] of ROUTES) {
      await show(page, hash, ready);
      const found = await page.evaluate(() => {
        const width = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth > width) return `${document.documentElement.scrollWidth} px wide`;
        // A control that is cut off cannot be reached, unless its box scrolls.
        const scrolls = (element: Element): boolean => element !== document.body && (["auto", "scroll"].includes(getComputedStyle(element).overflowX) || (element.parentElement !== null && scrolls(element.parentElement)));
        const cut = [...document.querySelectorAll("button, a, input, select, textarea, h1, h2")].filter((element) => {
          const box = element.getBoundingClientRect();
          return box.width > 0 && box.height > 0 && (box.right > width + 1 || box.left < -1) && !element.classList.contains("skip") && !element.classList.contains("visually-hidden") && !scrolls(element.parentElement!);
        });
        return cut.length === 0 ? null : `cut off: ${cut.slice(0, 3).map((element) => element.outerHTML.slice(0, 100)).join(" | ")}`;
      });
      if (found !== null) problems.push(`${route}: ${found}`);
    }
    expect(problems).toEqual([]);
    for (const link of await page.getByRole("navigation").getByRole("link").all()) {
      const { x, width } = (await link.boundingBox())!;
      expect(x >= 0 && x + width <= viewport.width, `${await link.innerText()} at ${x}`).toBe(true);
    }
    await context.close();
  });
}

test("motion is reduced where the user wants that", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((element) => {
    const style = getComputedStyle(element);
    const seconds = (text: string) => Math.max(...text.split(",").map((part) => (part.trim().endsWith("ms") ? parseFloat(part) / 1000 : parseFloat(part))));
    return (style.animationName !== "none" && seconds(style.animationDuration) > 0.01) || seconds(style.transitionDuration) > 0.01;
  }).length);
  expect(moving).toBe(0);
});

/** Presses Tab until the focus is back at the start, and returns what was focused. */
async function tabThrough(page: Page): Promise<{ visited: number; wanted: number; missed: string[]; withoutOutline: string[] }> {
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    document.querySelectorAll("[data-visited]").forEach((element) => element.removeAttribute("data-visited"));
  });
  const withoutOutline: string[] = [];
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press("Tab");
    const state = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null;
      if (element === null || element === document.body) return "outside";
      if (element.dataset["visited"] !== undefined) return "again";
      element.dataset["visited"] = "";
      const style = getComputedStyle(element);
      const isSeen = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== "none";
      return isSeen ? "ok" : `no outline: ${element.outerHTML.slice(0, 120)}`;
    });
    if (state === "again") break;
    if (state.startsWith("no outline")) withoutOutline.push(state);
  }
  const { wanted, missed } = await page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter((element) => {
      const box = element.getBoundingClientRect();
      const isOff = element.tabIndex < 0 || (element as HTMLButtonElement).disabled || element.closest("[hidden], details:not([open]) > :not(summary)") !== null;
      return !isOff && box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== "hidden";
    });
    return { wanted: all.length, missed: all.filter((element) => element.dataset["visited"] === undefined).map((element) => element.outerHTML.slice(0, 120)) };
  });
  return { visited: wanted - missed.length, wanted, missed, withoutOutline };
}

test("the keyboard reaches every control of every page, and shows where it is", async ({ page }) => {
  test.setTimeout(60_000);
  for (const [name, route, ready] of ROUTES.filter(([one]) => one !== "timeline" && one !== "tool form")) {
    await show(page, route, ready);
    const { wanted, missed, withoutOutline } = await tabThrough(page);
    expect(wanted, name).toBeGreaterThan(8);
    expect(missed, name).toEqual([]);
    expect(withoutOutline, name).toEqual([]);
  }
});

test.describe("by keyboard alone", () => {
  /** Presses Tab until the focused element has this name. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    for (let presses = 0; presses < 150; presses++) {
      await page.keyboard.press("Tab");
      const text = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement | null;
        const labels = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement ? [...(element.labels ?? [])].map((label) => label.textContent).join(" ") : "";
        return `${element?.getAttribute("aria-label") ?? ""} ${labels} ${element instanceof HTMLInputElement ? "" : (element?.textContent ?? "")}`.trim();
      });
      if (name.test(text)) return;
    }
    throw new Error(`the keyboard does not reach ${name}`);
  }

  test("servers: open one, disable and enable it", async ({ page, shared }) => {
    await show(page, "#/servers", ".server-row");
    await tabTo(page, /^files/);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "files" })).toBeVisible();
    await tabTo(page, /^Disable$/);
    await page.keyboard.press("Enter");
    await shared.untilState("files", "disabled");
    await expect(page.getByRole("button", { name: "Enable" })).toBeVisible();
    await tabTo(page, /^Enable$/);
    await page.keyboard.press("Space");
    await shared.untilState("files", "ready");
  });

  test("catalog: search, move in the list, open a tool and its tabs", async ({ page }) => {
    await show(page, "#/catalog/tools", ".catalog-row");
    await tabTo(page, /^Search tools/);
    await page.keyboard.type("server:everything");
    await tabTo(page, /^tools/);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const heading = page.getByRole("region", { name: "Item" }).getByRole("heading", { level: 1 });
    await expect(heading).toBeVisible();
    await tabTo(page, /^About$/);
    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("tab", { name: "Schema" })).toHaveAttribute("aria-selected", "true");
  });

  test("call: fill in, call, read the result", async ({ page }) => {
    await show(page, "#/call/tool/everything/get-sum", ".form-root");
    await tabTo(page, /^a\b/);
    await page.keyboard.type("20");
    await tabTo(page, /^b\b/);
    await page.keyboard.type("3");
    await tabTo(page, /^Call$/);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("region", { name: "Result" })).toContainText("23");
  });

  test("traffic: filter, open a frame, switch to the timeline and open a span", async ({ page }) => {
    await show(page, "#/traffic", ".frame-row");
    await tabTo(page, /^Filter frames/);
    await page.keyboard.type("method:tools/list");
    await tabTo(page, /^Frames/);
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("region", { name: "Frame", exact: true }).getByRole("heading", { name: "tools/list" })).toBeVisible();
    await tabTo(page, /^Table$/);
    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("group", { name: "Timeline" })).toBeVisible();
    await tabTo(page, /tools\/list, ok/);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("region", { name: "Frame", exact: true })).toContainText("after its request");
  });

  test("policy: test a decision", async ({ page }) => {
    await show(page, "#/policy", ".rule-line");
    await tabTo(page, /^Server(?!s)/);
    await page.keyboard.type("probe");
    await tabTo(page, /^Name/);
    await page.keyboard.type("forbidden");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("region", { name: "Test a decision" })).toContainText("Denied.");
  });

  test("a question is answered", async ({ page, shared }) => {
    const log = shared.probeLog();
    const mark = log.mark();
    await shared.post("/api/calls", { type: "tool", server: "probe", name: "ask_url", argumentsJson: "{}", metaJson: null, asTask: false, confirmed: false, timeoutMs: null });
    await show(page, "#/questions", ".question");
    await tabTo(page, /^Decline$/);
    await page.keyboard.press("Enter");
    const { message } = await log.find("the answer", (entry) => entry.message?.result?.action !== undefined, mark);
    expect(message!.result.action).toBe("decline");
  });

  test("the skip link goes past the navigation", async ({ page }) => {
    await show(page, "#/servers", ".server-row");
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(page.locator("#main")).toBeFocused();
  });
});

test("text of servers has its own direction", async ({ page, go }) => {
  await go("#/call/tool/everything/echo");
  await page.getByLabel("message", { exact: true }).fill("مرحبا بالعالم");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  const shown = page.getByRole("region", { name: "Result" }).locator("bdi").filter({ hasText: "مرحبا" }).first();
  await expect(shown).toBeVisible();
  await expect(shown).toHaveAttribute("dir", "auto");
});
