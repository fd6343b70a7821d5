import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "../src/api/types";
import { CATALOG_FIELDS, type CatalogRow, FRAME_FIELDS } from "../src/filter/fields";
import { parseFilter, words } from "../src/filter/filter";
import { rank } from "../src/palette/rank";

function frame(change: Partial<Frame>): Frame {
  return {
    frame: 1, atMs: 0, server: "files", direction: "in", kind: "response", method: "tools/call", target: "read_file", id: "1", bytes: 2000, call: 7, requestFrame: null,
    ms: 600, status: "error", ...change,
  };
}

function matches(text: string, change: Partial<Frame> = {}): boolean {
  return parseFilter(text, FRAME_FIELDS).matches(frame(change));
}

test("terms are joined by and; fields, numbers, negation, lists and patterns work", () => {
  assert.ok(matches("method:tools/call status:error ms:>500"));
  assert.ok(!matches("method:tools/call status:error ms:>500", { ms: 400 }));
  assert.ok(!matches("ms:>500", { ms: null }));
  for (const text of ["ms:600", "ms:>=600", "ms:<1s", "size:2k", "call:7", "dir:in", "READ", 'target:"read_file"', "server:git*,files", "method:*call", ""]) assert.ok(matches(text), text);
  for (const text of ["-status:error", "server:github", "method:tools/*x", "ms:<600", "nothing", "-read"]) assert.ok(!matches(text), text);
});

test("a mistake is named and the other terms apply", () => {
  const filter = parseFilter("colour:red ms:fast status:error", FRAME_FIELDS);
  assert.equal(filter.problems.length, 2);
  assert.match(filter.problems[0]!, /colour: is not a field; use method, server/);
  assert.ok(filter.matches(frame({})));
  assert.ok(!filter.matches(frame({ status: "ok" })));
  assert.deepEqual(parseFilter("file://a", FRAME_FIELDS).problems, []);
});

test("words keep quoted spaces", () => {
  assert.deepEqual(words('a server:"my files" "b c'), ["a", 'server:"my files"', '"b c']);
});

test("a catalog of 10,000 rows is filtered; the time is printed", () => {
  const rows = Array.from({ length: 10_000 }, (_, at): CatalogRow => ({
    type: "tool", server: `server-${at % 20}`, name: `tool_number_${at}`, qualifiedName: `mcp__s__${at}`, title: null, description: `Does something useful with input ${at}. `.repeat(8), tokens: at % 900,
    hidden: at % 50 === 0 ? { type: "denied", rule: "tool_*" } : null, drifted: false, hints: { readOnly: null, destructive: null, idempotent: null, openWorld: null }, taskSupport: "forbidden",
  }));
  const filter = parseFilter("useful 77 is:shown tokens:>100", CATALOG_FIELDS);
  rows.filter(filter.matches);
  const start = performance.now();
  const found = rows.filter(filter.matches);
  const took = performance.now() - start;
  assert.ok(found.length > 50 && found.length < 1000);
  console.log(`filter of 10,000 rows: ${took.toFixed(1)} ms`);
  assert.equal(parseFilter("is:hidden", CATALOG_FIELDS).matches(rows[0]!), true);
});

test("the palette prefers a prefix, then the start of a word", () => {
  const items = ["my_read", "already", "read_file", "rxexaxd", "none"];
  assert.deepEqual(rank(items, "read", (item) => item, 10), ["read_file", "my_read", "already", "rxexaxd"]);
  assert.deepEqual(rank(items, "", (item) => item, 2), ["my_read", "already"]);
});
