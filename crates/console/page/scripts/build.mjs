// Builds the page into ../assets and writes the digest of its sources and files.
//   node scripts/build.mjs           builds
//   node scripts/build.mjs --check   builds elsewhere and fails if the committed files differ
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "vite";

const MAX_BROTLI_BYTES = 120 * 1024;
const page = join(dirname(fileURLToPath(import.meta.url)), "..");
const assets = join(page, "../assets");
const isCheck = process.argv.includes("--check");

function files(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

/** One line for each file: digest, size, name. */
function manifest(folder) {
  return files(folder)
    .filter((file) => relative(folder, file) !== "digest.txt")
    .map((file) => {
      const data = readFileSync(file);
      return `${createHash("sha256").update(data).digest("hex")} ${data.length} ${relative(folder, file).replaceAll("\\", "/")}\n`;
    })
    .join("");
}

function brotli(folder) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  return files(folder)
    .filter((file) => relative(folder, file) !== "digest.txt")
    .map((file) => [relative(folder, file), brotliCompressSync(readFileSync(file), quality).length]);
}

/** The page must not need what its content security policy forbids. */
function checkPolicy(folder) {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  if (/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/i.test(html)) throw new Error("index.html has an inline script or style");
  if (/(?:src|href)="(?!\/)/.test(html)) throw new Error("index.html refers to another origin");
  for (const file of files(folder).filter((name) => name.endsWith(".js"))) {
    const script = readFileSync(file, "utf8");
    const found = /\.innerHTML\s*=(?!=)|insertAdjacentHTML|document\.write\(|\beval\(|new Function\(/.exec(script);
    // Preact assigns innerHTML for `dangerouslySetInnerHTML` only, which the page does not use.
    if (found !== null && !found[0].startsWith(".innerHTML")) throw new Error(`${relative(folder, file)} has ${found[0]}`);
  }
  for (const file of files(join(page, "src"))) {
    if (readFileSync(file, "utf8").includes("dangerouslySet" + "InnerHTML")) throw new Error(`${relative(page, file)} sets HTML`);
  }
}

const out = isCheck ? mkdtempSync(join(tmpdir(), "console-page-")) : assets;
await build({ root: page, configFile: join(page, "vite.config.mjs"), logLevel: "warn", build: { outDir: out } });
checkPolicy(out);
const sizes = brotli(out);
const total = sizes.reduce((sum, [, size]) => sum + size, 0);
for (const [name, size] of sizes) console.log(`${String(size).padStart(8)} B brotli  ${name}`);
console.log(`${String(total).padStart(8)} B brotli  in total, of at most ${MAX_BROTLI_BYTES}`);
if (total > MAX_BROTLI_BYTES) throw new Error("the page is too large");
const lines = manifest(out);
if (isCheck) {
  rmSync(out, { recursive: true, force: true });
  const committed = readFileSync(join(assets, "digest.txt"), "utf8");
  if (committed !== lines || manifest(assets) !== lines) {
    console.error("crates/console/assets differs from its sources; run `npm run build` in crates/console/page and commit the result");
    process.exit(1);
  }
  console.log("crates/console/assets is what its sources build");
} else {
  writeFileSync(join(assets, "digest.txt"), lines);
}
