import assert from "node:assert/strict";
import { test } from "node:test";
import { asCommand, asJson, asRust, shellQuote } from "../src/text/copy_as";
import { diffLines } from "../src/text/diff";
import * as format from "../src/text/format";
import { hasHidden, visibleLine, visiblePieces } from "../src/text/visible";
import type { CallRequest } from "../src/api/types";

const CALL: CallRequest = {
  type: "tool", server: "files", name: "read", argumentsJson: '{"path": "it\'s", "n": 9007199254740993}', metaJson: '{"a":{"b":[1]}}', asTask: false, confirmed: false, timeoutMs: null,
};

test("characters that hide or reorder text are shown by their code", () => {
  assert.deepEqual(visiblePieces("a\u202eb").map((piece) => piece.code), [null, "U+202E", null]);
  for (const text of ["\u200b", "\u0000", "\ufeff", "\u00ad", "\u{e0041}", "\u2028", "\ud800", "\udc00x", "\u3164"]) assert.ok(hasHidden(text), JSON.stringify(text));
  for (const text of ["plain", "tab\tand\nline", "日本語", "😀", "مرحبا", "e\u0301"]) assert.ok(!hasHidden(text), text);
  assert.equal(visibleLine("a\u202eb\nc"), "a‹U+202E›b c");
  assert.equal(visibleLine("x".repeat(70_000)).length, 201);
});

test("a call is copied as a command, as Rust and as JSON, with every digit", () => {
  assert.equal(asCommand(CALL), `switchboard call files/read --args '{"path":"it'\\''s","n":9007199254740993}'`);
  assert.match(asRust(CALL), /host\n {4}\.call\("mcp__files__read", serde_json::json!\(\{\n/);
  assert.match(asJson(CALL), /"n": 9007199254740993/);
  assert.match(asJson(CALL), /"_meta": \{\n\s+"a"/);
  assert.equal(asCommand({ type: "prompt", server: "s", name: "p", arguments: { text: "a b" } }), "switchboard prompt p 'text=a b' --server s");
  assert.equal(asCommand({ type: "resource", server: "s", uri: "x://a?b" }), "switchboard read 'x://a?b' --server s");
  assert.equal(shellQuote("$(rm -rf ~)"), "'$(rm -rf ~)'");
});

test("a diff has the lines of both sides in order", () => {
  const lines = diffLines("a\nb\nc\nd", "a\nx\nc\ny\nd");
  assert.deepEqual(lines.map((line) => `${line.type[0]}${line.text}`), ["sa", "rb", "ax", "sc", "ay", "sd"]);
  assert.deepEqual(diffLines("same", "same"), [{ type: "same", text: "same" }]);
});

test("numbers are written for people", () => {
  assert.deepEqual([0, 999, 1500, 64_000_000].map(format.bytes), ["0 B", "999 B", "1.5 KB", "64 MB"]);
  assert.deepEqual([0.2, 12.4, 1500, 65_000].map(format.milliseconds), ["<1 ms", "12 ms", "1.5 s", "1 min 5 s"]);
  assert.deepEqual([format.relative(3_600_000, 0), format.relative(0, 90_000)], ["in 60 min", "90 s ago"]);
  assert.equal(format.tokens(12_345), "12.3k");
});
