// First run: nothing is configured; demo servers and the import command are offered.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConsoleProcess, newHome } from "../harness/console_process.ts";
import { programs } from "../harness/environment.ts";
import { descendants } from "../harness/processes.ts";
import { Program } from "../harness/program.ts";
import { expect, openPage, test, watch } from "../harness/test.ts";

test.describe("with nothing configured", () => {
  let own: ConsoleProcess;
  test.beforeEach(async () => {
    const home = newHome();
    mkdirSync(join(home, ".cursor"));
    writeFileSync(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { theirs: { command: programs.switchboard, args: ["demo-server"] } } }));
    own = await ConsoleProcess.start({ home });
  });
  test.afterEach(() => own.stop());

  test("each demo server starts and works, and is in no file", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own);
    await expect(page.getByRole("heading", { name: "No servers yet" })).toBeVisible();
    const { firstRun } = await own.snapshot();
    expect(firstRun!.demoServers.length).toBe(3);
    await page.getByRole("button", { name: `Start ${firstRun!.demoServers[0]!.name}`, exact: true }).click();
    await expect(page.getByRole("list", { name: "Servers" })).toContainText("connected");
    for (const { name } of firstRun!.demoServers.slice(1)) await own.post("/api/demo", { name });
    await expect(page.getByRole("list", { name: "Servers" }).getByRole("listitem")).toHaveCount(3);
    for (const { name } of firstRun!.demoServers) await own.untilState(name, "ready");
    expect(descendants(own.pid).some((child) => child.command.includes("demo-server"))).toBe(true);
    expect(existsSync(own.configFile)).toBe(false);
    await page.close();
  });

  test("the import command is offered, names what it found, and works", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own);
    const section = page.getByRole("region", { name: "Import from another client" });
    await expect(section).toContainText("Cursor");
    await expect(section).toContainText(".cursor/mcp.json");
    const command = await section.locator("pre").innerText();
    expect(command).toBe("switchboard import cursor");
    const program = Program.start("/bin/sh", ["-c", command.replace(/^switchboard/, programs.switchboard)], { HOME: own.home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" }, join(own.home, "project"));
    expect(await program.exited(), program.output).toBe(0);
    await expect(page.getByRole("list", { name: "Servers" })).toContainText("theirs", { timeout: 15_000 });
    await own.untilState("theirs", "ready");
    expect(own.config().mcpServers["theirs"]).toMatchObject({ command: programs.switchboard });
    await page.close();
  });

  test("a first server that is added in the terminal replaces the page", async ({ browser, violations }) => {
    const page = await browser.newPage();
    await watch(page, violations);
    await openPage(page, own);
    const program = Program.start(programs.switchboard, ["add", "mine", "--scope", "user", "--", programs.switchboard, "demo-server"], { HOME: own.home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" }, join(own.home, "project"));
    expect(await program.exited(), program.output).toBe(0);
    await expect(page.getByRole("list", { name: "Servers" })).toContainText("mine", { timeout: 15_000 });
    await page.close();
  });
});
