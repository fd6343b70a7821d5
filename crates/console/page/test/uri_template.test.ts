// Examples of RFC 6570, sections 3.2.2 to 3.2.9.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expandTemplate, parseTemplate, TemplateError, type TemplateValue } from "../src/uri/uri_template";

const VALUES: Record<string, TemplateValue> = {
  count: ["one", "two", "three"], dom: ["example", "com"], dub: "me/too", hello: "Hello World!", half: "50%", var: "value", who: "fred", base: "http://example.com/home/", path: "/foo/bar",
  list: ["red", "green", "blue"], keys: new Map([["semi", ";"], ["dot", "."], ["comma", ","]]), v: "6", x: "1024", y: "768", empty: "", empty_keys: new Map(),
};

const CASES: [string, string][] = [
  ["{var}", "value"], ["{hello}", "Hello%20World%21"], ["{half}", "50%25"], ["O{empty}X", "OX"], ["O{undef}X", "OX"], ["{x,y}", "1024,768"], ["{x,hello,y}", "1024,Hello%20World%21,768"],
  ["?{x,empty}", "?1024,"], ["?{x,undef}", "?1024"], ["{var:3}", "val"], ["{var:30}", "value"], ["{list}", "red,green,blue"], ["{list*}", "red,green,blue"], ["{keys}", "semi,%3B,dot,.,comma,%2C"],
  ["{keys*}", "semi=%3B,dot=.,comma=%2C"], ["{+var}", "value"], ["{+hello}", "Hello%20World!"], ["{+half}", "50%25"], ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
  ["{+base}index", "http://example.com/home/index"], ["{+path,x}/here", "/foo/bar,1024/here"], ["{+path:6}/here", "/foo/b/here"], ["{+keys*}", "semi=;,dot=.,comma=,"], ["{#var}", "#value"], ["{#hello}", "#Hello%20World!"],
  ["foo{#empty}", "foo#"], ["foo{#undef}", "foo"], ["{#path,x}/here", "#/foo/bar,1024/here"], ["{.who}", ".fred"], ["{.half,who}", ".50%25.fred"], ["www{.dom*}", "www.example.com"], ["X{.empty}", "X."],
  ["X{.undef}", "X"], ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"], ["X{.empty_keys}", "X"], ["{/who}", "/fred"], ["{/var,empty}", "/value/"], ["{/var:1,var}", "/v/value"], ["{/list*}", "/red/green/blue"],
  ["{/list*,path:4}", "/red/green/blue/%2Ffoo"], ["{;who}", ";who=fred"], ["{;empty}", ";empty"], ["{;v,empty,who}", ";v=6;empty;who=fred"], ["{;v,bar,who}", ";v=6;who=fred"], ["{;hello:5}", ";hello=Hello"],
  ["{;list}", ";list=red,green,blue"], ["{;list*}", ";list=red;list=green;list=blue"], ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"], ["{?who}", "?who=fred"], ["{?x,y,empty}", "?x=1024&y=768&empty="],
  ["{?x,y,undef}", "?x=1024&y=768"], ["{?var:3}", "?var=val"], ["{?list*}", "?list=red&list=green&list=blue"], ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"], ["{&who}", "&who=fred"], ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
];

test("expressions expand as RFC 6570 shows", () => {
  for (const [template, expected] of CASES) assert.equal(expandTemplate(parseTemplate(template), VALUES), expected, template);
});

test("an invalid template is refused, and an inherited name is no value", () => {
  for (const text of ["{", "}", "{}", "{a b}", "{a:0}", "{a:10000}", "{=a}", "{a,}"]) assert.throws(() => parseTemplate(text), TemplateError, text);
  assert.equal(expandTemplate(parseTemplate("x{constructor}"), {}), "x");
});
