// Properties of the form editor over generated schemas, with ajv as the judge of validity.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020";
import fc from "fast-check";
import { describe as describeNode } from "../src/form/node";
import { SchemaSet } from "../src/form/schema_set";
import { ABSENT, type FormState, initialState, nextKey, outputOf, stateOf } from "../src/form/state";
import { validate } from "../src/form/validate";
import { type Json, fromPlain, isSame, toPlain } from "../src/json/json";
import { parseJson } from "../src/json/parse";
import { printJson, printPretty } from "../src/json/print";
import { documents, values } from "./schemas";

const RUNS = Number(process.env["FORM_RUNS"] ?? 1500);

function oracle(schema: unknown): ((value: unknown) => boolean) | null {
  try {
    return new Ajv2020({ strict: false, allErrors: true, validateSchema: false, logger: false, ownProperties: true }).compile(schema as object);
  } catch {
    return null;
  }
}

/** Plain JSON as the browser would parse it; `__proto__` is a member like any other. */
function plain(value: Json): unknown {
  return JSON.parse(printJson(value));
}

test("a value becomes a form and the same value again", () => {
  fc.assert(
    fc.property(documents, values, (schema, value) => {
      const set = new SchemaSet(parseJson(JSON.stringify(schema)));
      const json = parseJson(JSON.stringify(value));
      const { value: again, drafts } = outputOf(stateOf(set, describeNode(set, set.root), json));
      assert.deepEqual(drafts, []);
      assert.ok(again !== undefined && isSame(again, json), `${printJson(json)} became ${again === undefined ? "nothing" : printJson(again)}`);
    }),
    { numRuns: RUNS },
  );
});

test("the form and ajv agree on what is valid", () => {
  let valid = 0;
  fc.assert(
    fc.property(documents, fc.dictionary(fc.constantFrom("a", "b", "c", "name", "kind", "hasOwnProperty", ""), values, { maxKeys: 4 }), (schema, value) => {
      const judge = oracle(schema);
      if (judge === null) return;
      const set = new SchemaSet(parseJson(JSON.stringify(schema)));
      const json = parseJson(JSON.stringify(value));
      if (printJson(json).includes("__proto__")) return; // Ajv skips such members.
      const expected = judge(plain(json));
      const problems = validate(set, set.root, json);
      assert.equal(problems.length === 0, expected, JSON.stringify(problems));
      if (expected) valid++;
    }),
    { numRuns: RUNS },
  );
  assert.ok(valid > RUNS / 50, `only ${valid} valid values were seen`);
});

/** Fills a form as a user would: each choice is a number of the sequence. */
function fill(set: SchemaSet, schema: Json, state: FormState, next: () => number, depth: number): FormState {
  const node = describeNode(set, schema);
  if (depth > 5) return state;
  const pick = <T>(list: T[]): T => list[next() % list.length]!;
  switch (node.kind) {
    case "string":
      return { t: "text", text: pick(["", "x", "abc", "null", "y z"]) };
    case "number":
      return { t: "number", text: pick(["0", "1", "10", "9007199254740993", "-2", "0.5", "1e2"]) };
    case "boolean":
      return { t: "value", value: next() % 2 === 0 };
    case "null":
      return { t: "value", value: null };
    case "choice":
      return { t: "value", value: pick(node.choices).value };
    case "union": {
      const option = next() % node.options.length;
      const own = node.options[option]!.schema;
      return { t: "union", option, state: fill(set, own, initialState(set, own, true), next, depth + 1) };
    }
    case "array": {
      const count = Math.min(node.rest === null ? node.prefix.length : 4, node.minItems + (next() % 2));
      const items = Array.from({ length: count }, (_, at) => {
        const own = node.prefix[at] ?? node.rest ?? true;
        return { key: nextKey(), state: fill(set, own, initialState(set, own, true), next, depth + 1) };
      });
      return { t: "array", items };
    }
    case "object": {
      const start = state.t === "object" ? state.members : [];
      const members = node.members
        .filter((member) => member.required || next() % 2 === 0)
        .map(({ name, schema: own }) => {
          const known = start.find((member) => member.name === name);
          return { key: nextKey(), name, state: fill(set, own, known?.state ?? ABSENT, next, depth + 1) };
        });
      return { t: "object", members };
    }
    case "raw":
      return { t: "raw", text: pick(["1", '"x"', "null", "{}", "[1, 2]"]) };
  }
}

test("what the form accepts is valid, and the raw view has the same value", () => {
  let accepted = 0;
  fc.assert(
    fc.property(documents, fc.array(fc.nat(1000), { minLength: 8, maxLength: 40 }), (schema, choices) => {
      const judge = oracle(schema);
      if (judge === null) return;
      let at = 0;
      const next = () => choices[at++ % choices.length]!;
      const set = new SchemaSet(parseJson(JSON.stringify(schema)));
      const state = fill(set, set.root, initialState(set, set.root, true), next, 0);
      const { value, drafts } = outputOf(state);
      if (drafts.length > 0 || value === undefined) return;
      const raw = parseJson(printPretty(value));
      assert.ok(isSame(raw, value));
      const again = outputOf(stateOf(set, describeNode(set, set.root), raw)).value;
      assert.ok(again !== undefined && isSame(again, value), printJson(value));
      if (validate(set, set.root, value).length > 0) return;
      accepted++;
      // Ajv reads this number as a double, which is another one.
      if (printJson(value).includes("9007199254740993")) return;
      assert.ok(judge(plain(value)), `ajv rejects ${printJson(value)}`);
    }),
    { numRuns: RUNS },
  );
  assert.ok(accepted > RUNS / 20, `only ${accepted} forms were accepted`);
});

test("JSON text survives parsing and printing", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.deepEqual(toPlain(parseJson(text)), JSON.parse(text));
      assert.deepEqual(JSON.parse(printJson(parseJson(text))), JSON.parse(text));
    }),
  );
  for (const text of ["9007199254740993", "1.0", "1e400", "-0", "123456789012345678901234567890.5"]) {
    assert.equal(printJson(parseJson(text)), text);
  }
  assert.ok(isSame(fromPlain({ a: [1, "x", null] }), parseJson('{"a":[1,"x",null]}')));
});
