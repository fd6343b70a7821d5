// Bundles each test file with its sources and runs them with Node's test runner.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, ".build/test");
const only = process.argv.slice(2);
rmSync(out, { recursive: true, force: true });
const names = readdirSync(join(root, "test"))
  .filter((name) => name.endsWith(".test.ts") && (only.length === 0 || only.some((word) => name.includes(word))));
if (names.length === 0) throw new Error(`no test file has ${only.join(" or ")} in its name`);
await build({
  root,
  configFile: false,
  logLevel: "warn",
  build: {
    ssr: true,
    outDir: out,
    minify: false,
    rollupOptions: {
      input: Object.fromEntries(names.map((name) => [name.replace(".ts", ""), join(root, "test", name)])),
      output: { entryFileNames: "[name].mjs" },
    },
  },
});
const files = names.map((name) => join(out, name.replace(".ts", ".mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit", cwd: root });
process.exit(status ?? 1);
