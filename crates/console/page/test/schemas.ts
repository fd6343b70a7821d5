// Generators of JSON Schemas as MCP servers send them, and of values.

import fc from "fast-check";

export type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain };
export type Schema = boolean | { [keyword: string]: unknown };

const names = fc.constantFrom("a", "b", "c", "name", "kind", "hasOwnProperty", "with space", "ünï", "");
/** Ajv does not see a member of the name `__proto__`, so schemas for it have none; values have. */
const valueNames = fc.oneof(names, fc.constant("__proto__"));
const texts = fc.oneof(fc.constantFrom("", "null", "x", "a\nb", "\r\n", "\u202e", "0", "true"), fc.string({ maxLength: 6 }));
const integers = fc.integer({ min: -20, max: 20 });
const doubles = fc.constantFrom(0, 0.5, -1.25, 1e15, 3, 7);

export const values: fc.Arbitrary<Plain> = fc.letrec<{ value: Plain }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    texts,
    integers,
    doubles,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(valueNames, tie("value"), { maxKeys: 4 }),
  ),
})).value;

const scalar: fc.Arbitrary<Schema> = fc.oneof(
  fc.record({ type: fc.constant("string"), minLength: fc.nat(3), maxLength: fc.nat(6) }, { requiredKeys: ["type"] }),
  fc.record({ type: fc.constant("string"), pattern: fc.constantFrom("^[a-z]*$", "^.?.?$", "x") }, { requiredKeys: ["type"] }),
  fc.record({ type: fc.constant("integer"), minimum: integers, maximum: integers }, { requiredKeys: ["type"] }),
  fc.record({ type: fc.constant("number"), exclusiveMinimum: integers, multipleOf: fc.constantFrom(1, 2, 5) }, { requiredKeys: ["type"] }),
  fc.constantFrom<Schema>({ type: "boolean" }, { type: "null" }, { type: ["string", "null"] }, { type: ["integer", "string"] }, true, {}),
  fc.record({ const: fc.oneof(texts, integers, fc.constant(null)) }),
  fc.record({ enum: fc.uniqueArray(fc.oneof(texts, integers, fc.constant(null), fc.boolean()), { minLength: 1, maxLength: 4 }) }),
  fc.constantFrom<Schema>({ $ref: "#/$defs/Point" }, { $ref: "#/$defs/Tree" }, { $ref: "#/$defs/Role", description: "a role" }),
);

function objectSchema(inner: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc
    .record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(names, inner, { maxKeys: 4 }),
        required: fc.uniqueArray(names, { maxLength: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), inner),
        minProperties: fc.nat(2),
      },
      { requiredKeys: ["type"] },
    )
    .map((schema) => schema as Schema);
}

/** Schemas of one subtree; references point to `$defs` of the document. */
const subschemas: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 2, arbitrary: objectSchema(tie("schema")) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(2), uniqueItems: fc.boolean() }, { requiredKeys: ["type"] }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("array"), prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }), items: fc.oneof(fc.constant(false), tie("schema")) }, { requiredKeys: ["type", "prefixItems"] }) },
    { weight: 1, arbitrary: fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }) },
  ),
})).schema;

const DEFINITIONS = {
  Point: { type: "object", properties: { x: { type: "number" }, y: { type: "number" } }, required: ["x", "y"], additionalProperties: false },
  Tree: { type: "object", properties: { label: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/Tree" } } }, required: ["label"] },
  Role: { type: "string", enum: ["admin", "user"] },
};

/** Whole documents: an object, as every `inputSchema` is. */
export const documents: fc.Arbitrary<Schema> = fc
  .record({ properties: fc.dictionary(names, subschemas, { minKeys: 1, maxKeys: 4 }), required: fc.uniqueArray(names, { maxLength: 2 }) })
  .map(({ properties, required }) => ({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties,
    required,
    $defs: DEFINITIONS,
  }));
