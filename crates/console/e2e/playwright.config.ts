// Two workers at most: each runs a console of its own with its servers, and one browser.

import { defineConfig } from "@playwright/test";
import { outputFolder, programs } from "./harness/environment.ts";

export default defineConfig({
  testDir: "tests",
  // Measurements run alone, after all others.
  projects: [
    { name: "behavior", testIgnore: /performance/ },
    { name: "measurements", testMatch: /performance/, dependencies: ["behavior"] },
  ],
  outputDir: `${outputFolder}/artifacts`,
  workers: 2,
  fullyParallel: false,
  retries: 0,
  forbidOnly: true,
  timeout: 40_000,
  // The requirement is four minutes on two cores; 150 s were measured.
  globalTimeout: 240_000,
  expect: { timeout: 10_000 },
  reporter: [["./harness/reporter.ts"]],
  use: {
    browserName: "chromium",
    launchOptions: {
      executablePath: programs.chromium,
      // The sandbox needs rights that a container does not give; the pages here are all local.
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--js-flags=--expose-gc", "--enable-precise-memory-info"],
    },
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    timezoneId: "UTC",
    actionTimeout: 10_000,
    // A trace slows every test and spoils measurements.
    trace: process.env["SWITCHBOARD_E2E_TRACE"] === undefined ? "off" : "retain-on-failure",
    screenshot: "only-on-failure",
  },
});
