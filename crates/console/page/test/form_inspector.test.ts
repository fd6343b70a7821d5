// The argument-editor bugs that other consoles had, each as a case. The numbers are of modelcontextprotocol/inspector.

import assert from "node:assert/strict";
import { test } from "node:test";
import { describe as describeNode } from "../src/form/node";
import { SchemaSet } from "../src/form/schema_set";
import { type FormState, initialState, outputOf, stateOf } from "../src/form/state";
import { parseJson } from "../src/json/parse";
import { printJson } from "../src/json/print";
import { expandTemplate, parseTemplate } from "../src/uri/uri_template";

function setOf(schema: string): SchemaSet {
  return new SchemaSet(parseJson(schema));
}

function sent(state: FormState): string | undefined {
  const { value } = outputOf(state);
  return value === undefined ? undefined : printJson(value);
}

/** Types into a raw field as a user does: each prefix of the text is a state of its own. */
function typed(text: string): FormState[] {
  return Array.from(text, (_, at) => ({ t: "raw", text: text.slice(0, at + 1) }) as const);
}

test("#1853: typing JSON keeps the draft, and no incomplete or stale value is sent", () => {
  const states = typed('["item-1","item-2"]');
  for (const state of states.slice(0, -1)) {
    const output = outputOf(state);
    assert.equal(output.value, undefined);
    assert.equal(output.drafts.length, 1);
  }
  assert.equal(sent(states.at(-1)!), '["item-1","item-2"]');
  assert.deepEqual(states.map((state) => (state.t === "raw" ? state.text.length : -1)), states.map((_, at) => at + 1));
});

test("#1856: Backspace in an array leaves the exact text and adds no quotes", () => {
  for (let text = "[1, 2]"; text.length > 0; text = text.slice(0, -1)) {
    const state: FormState = { t: "raw", text };
    const again = outputOf(state).value;
    assert.equal(again === undefined || printJson(again) === "[1,2]", true, text);
    assert.equal(state.text, text);
  }
  const set = setOf('{"type":"object","properties":{"numbers":{"type":"array","items":{"type":"number"}}},"required":["numbers"]}');
  const node = describeNode(set, parseJson('{"type":"array","items":{"type":"number"}}'));
  assert.equal(sent(stateOf(set, node, parseJson("[1, 2]"))), "[1,2]");
});

test("#1885: an optional nullable integer starts absent, can be null, and can be cleared", () => {
  const set = setOf(
    '{"type":"object","properties":{"a":{"type":"integer"},"b":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}},"required":["a"]}',
  );
  const start = initialState(set, set.root, true);
  assert.equal(sent(start), "{}");
  const root = describeNode(set, set.root);
  for (const text of ['{"a":1,"b":null}', '{"a":1,"b":0}', '{"a":1}']) {
    assert.equal(sent(stateOf(set, root, parseJson(text))), text);
  }
  const state = stateOf(set, root, parseJson('{"a":1,"b":null}'));
  assert.equal(state.t === "object" && state.members[1]!.state.t === "union", true);
  assert.equal(sent({ t: "object", members: [{ key: 1, name: "b", state: { t: "number", text: "" } }] }), "{}");
});

test("#1928: a nullable enumeration is a choice with null, not a text field", () => {
  const set = setOf('{"anyOf":[{"type":"string","enum":["envio","recebimento"]},{"type":"null"}]}');
  const node = describeNode(set, set.root);
  assert.equal(node.kind, "choice");
  assert.deepEqual(node.kind === "choice" && node.choices.map((choice) => choice.label), ["envio", "recebimento", "null"]);
  for (const text of ['"envio"', "null"]) assert.equal(sent(stateOf(set, node, parseJson(text))), text);
  const listed = setOf('{"enum":["null",null,"",1]}');
  const choices = describeNode(listed, listed.root);
  assert.deepEqual(choices.kind === "choice" && choices.choices.map((choice) => choice.label), ['"null"', "null", '""', "1"]);
  const referred = setOf('{"anyOf":[{"$ref":"#/$defs/Role"},{"type":"null"}],"$defs":{"Role":{"type":"string","enum":["admin","user"]}}}');
  assert.equal(describeNode(referred, referred.root).kind, "choice");
});

test("#1919: resource templates expand by RFC 6570", () => {
  const expand = (template: string, values: Record<string, string>) => expandTemplate(parseTemplate(template), values);
  assert.equal(expand("foobar://events/{topic}", { topic: "foo/bar" }), "foobar://events/foo%2Fbar");
  assert.deepEqual(parseTemplate("foobar://events{?topic}").variables, ["topic"]);
  assert.equal(expand("foobar://events{?topic}", { topic: "a b&c" }), "foobar://events?topic=a%20b%26c");
  assert.equal(expand("mcp://issues/{id}{?state,limit}", { id: "0xc0" }), "mcp://issues/0xc0");
});

test("#1910: request metadata holds any JSON", () => {
  const text = '{"trace":{"ids":[1,null,9007199254740993],"on":true},"note":""}';
  const set = new SchemaSet(true);
  const state = stateOf(set, describeNode(set, true), parseJson(text));
  assert.equal(sent(state), text);
});
