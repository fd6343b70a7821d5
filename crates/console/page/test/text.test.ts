import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { asCommand, asJson, asRust, shellQuote } from "../src/text/copy_as";
import { diffLines } from "../src/text/diff";
import * as format from "../src/text/format";
import { shellWords } from "../src/text/shell_words";
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
  assert.match(asJson(CALL), /"n": 9007199254740993/);
  assert.match(asJson(CALL), /"_meta": \{\n\s+"a"/);
  assert.equal(asCommand({ type: "prompt", server: "s", name: "p", arguments: { text: "a b" } }), "switchboard prompt p 'text=a b' --server s");
  assert.equal(asCommand({ type: "resource", server: "s", uri: "x://a?b" }), "switchboard read 'x://a?b' --server s");
  assert.equal(shellQuote("$(rm -rf ~)"), "'$(rm -rf ~)'");
  assert.equal(shellQuote("a\u001b[201~\nrm 'b'"), "$'a\\033[201~\\nrm \\'b\\''");
  // Three digits, so that none of the text is taken for one; a character beyond ASCII is two bytes.
  assert.equal(shellQuote("\t\r\u00017\\\u009b"), "$'\\t\\r\\0017\\\\\\302\\233'");
  for (const call of [{ type: "resource", server: "s", uri: "--record=x\ny" }, { type: "prompt", server: "s", name: "-x", arguments: {} }] as CallRequest[]) assert.match(asCommand(call), /^# There is no command line: [^\n]*$/);
});

test("what is copied as Rust is what the crate compiles", () => {
  // Without the indentation of the function around it.
  const compiled = readFileSync("../tests/it/copied_calls.rs", "utf8").replace(/^ {4}/gm, "");
  const empty = { server: "s", name: "p", arguments: {} };
  const calls: CallRequest[] = [
    CALL,
    { ...CALL, name: "odd.name", argumentsJson: '{"deep": [1, -2.5, null, "a\\nb\\u202e"], "on": true}' },
    { ...CALL, argumentsJson: "{}" },
    { type: "resource", server: "s", uri: 'x://"a"' },
    { type: "prompt", ...empty },
    { type: "prompt", ...empty, arguments: { text: "a b", more: "{}" } },
  ];
  for (const call of calls) assert.ok(compiled.includes(asRust(call)), `copied_calls.rs has not:\n${asRust(call)}`);
});

test("a command line is taken apart as a shell does it", () => {
  const cases: [string, string[] | null][] = [
    ["node server.js --flag 'a b'", ["node", "server.js", "--flag", "a b"]],
    [` a  "b 'c' \\" \\\\ \\x $d" `, ["a", "b 'c' \" \\ \\x $d"]],
    ["a\\ b '' \"\" c'd'\"e\"", ["a b", "", "", "cde"]],
    ["it's", null],
    ['"open', null],
    ["", []],
    ["trailing\\", ["trailing\\"]],
  ];
  for (const [line, expected] of cases) assert.deepEqual(shellWords(line), expected, line);
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
