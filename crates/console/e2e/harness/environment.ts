// The programs under test, and where results go. `cargo xtask ci --only console` sets the variables.

import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../../..");
const target = process.env["CARGO_TARGET_DIR"] ?? join(root, "target");

function program(variable: string, fallback: string, what: string): string {
  const path = process.env[variable] ?? fallback;
  if (!existsSync(path)) throw new Error(`${what} is missing: ${path}\nrun cargo xtask ci --only console, or set ${variable}`);
  return path;
}

const packages = program("SWITCHBOARD_INTEROP_NODE", join(target, "interop/node"), "the folder of the npm servers");
const official = join(packages, "node_modules/@modelcontextprotocol");

export const programs = {
  switchboard: program("SWITCHBOARD_E2E_PROGRAM", join(target, "debug/switchboard"), "the program under test"),
  chromium: program("SWITCHBOARD_INTEROP_CHROMIUM", "/usr/bin/chromium", "the browser"),
  everything: join(official, "server-everything/dist/index.js"),
  filesystem: join(official, "server-filesystem/dist/index.js"),
  probe: join(root, "crates/console/e2e/servers/probe.mjs"),
  guarded: join(root, "crates/console/e2e/servers/guarded.mjs"),
  authorizationServer: join(packages, "authorization-server.mjs"),
};

/** Results, screenshots and traces. */
export const outputFolder = process.env["SWITCHBOARD_E2E_OUTPUT"] ?? join(target, "console-e2e");
export const screenshotFolder = join(outputFolder, "screenshots");
/** Committed screenshots, refreshed with `SWITCHBOARD_SCREENSHOTS=1`. */
export const docsFolder = join(root, "docs/console");
export const assetsFolder = join(root, "crates/console/assets");

mkdirSync(screenshotFolder, { recursive: true });
