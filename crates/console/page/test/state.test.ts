import assert from "node:assert/strict";
import { test } from "node:test";
import { EventParser } from "../src/api/sse";
import type { CallSnapshot, ConsoleEvent, Frame, ServerSnapshot, Snapshot } from "../src/api/types";
import { lanesOf } from "../src/pages/traffic/spans";
import { apply, type ConsoleState, fromSnapshot } from "../src/state/console_state";
import { href, parseRoute } from "../src/state/router";
import { Traffic } from "../src/state/traffic";
import { rangeOf, rowAfterKey, scrollTo } from "../src/ui/virtual_range";

function server(name: string): ServerSnapshot {
  return {
    name, state: { type: "ready" }, enabled: true, scope: null, transport: { type: "inProcess" }, session: null, identity: { type: "none" },
    metrics: { calls: 0, failures: 0, toolErrors: 0, reconnects: 0, p50Ms: null, p95Ms: null }, latency: [], counts: { tools: 0, hiddenTools: 0, resources: 0, templates: 0, prompts: 0 },
    tokens: 0, configJson: "{}", unmatchedRules: [],
  };
}

function start(): ConsoleState {
  const limits = { maxFrames: 10, maxFrameBytes: 1, previewBytes: 1, maxCalls: 2, maxStderrLines: 3, maxRecordingBytes: 1 };
  const snapshot: Snapshot = {
    sequence: 1, console: { version: "1", mode: "host", readOnly: false, allowConfigEdit: false, startedAtMs: 0, limits }, servers: [server("a")], catalogRevision: 1, calls: [], questions: [], tasks: [],
    subscriptions: [], loginAttempts: [], traffic: { frames: 0, bytes: 0, firstFrame: 1, recording: true }, firstRun: null,
  };
  return fromSnapshot(snapshot, null);
}

function call(number: number, state: CallSnapshot["state"] = { type: "running" }): CallSnapshot {
  return { call: number, request: { type: "resource", server: "a", uri: "x://y" }, startedAtMs: 0, state, progress: null, logs: [] };
}

function after(...events: ConsoleEvent[]): ConsoleState {
  return events.reduce(apply, start());
}

test("events change the state they are about", () => {
  const state = after(
    { type: "server", server: server("b") }, { type: "server", server: { ...server("a"), tokens: 5 } }, { type: "catalog", revision: 9 },
    { type: "call", call: call(1) }, { type: "call", call: call(2) }, { type: "call", call: call(3) }, { type: "call", call: call(2, { type: "finished", atMs: 1, outcome: { type: "cancelled" } }) },
    { type: "stderr", server: "a", lines: [1, 2, 3, 4].map((at) => ({ atMs: at, text: String(at) })) },
    { type: "latency", server: "a", samples: Array.from({ length: 70 }, (_, at) => ({ atMs: at, ms: at, ok: true })), metrics: { ...server("a").metrics, calls: 70 } },
  );
  assert.deepEqual(state.servers.map((one) => [one.name, one.tokens]), [["a", 5], ["b", 0]]);
  assert.equal(state.catalogRevision, 9);
  assert.deepEqual(state.calls.map((one) => [one.call, one.state.type]), [[3, "running"], [2, "finished"]]);
  assert.deepEqual(state.stderr["a"]!.map((line) => line.text), ["2", "3", "4"]);
  assert.deepEqual([state.servers[0]!.latency.length, state.servers[0]!.metrics.calls], [60, 70]);
});

test("questions, doctor runs and subscriptions open and close", () => {
  const asked = { question: 4, server: "a", call: null, askedAtMs: 0, expiresAtMs: null, body: { type: "url" as const, message: "m", url: "u" } };
  const state = after(
    { type: "question", question: asked }, { type: "question", question: { ...asked, question: 5 } }, { type: "questionClosed", question: 4, reason: "answered" },
    { type: "doctorStep", run: 1, server: "a", step: { step: "x", ok: true, ms: 1, message: "", stderr: null, tried: [] } }, { type: "doctorDone", run: 1, server: "a", outcome: { ok: true, nextStep: null } },
    { type: "doctorStep", run: 2, server: "a", step: { step: "y", ok: false, ms: 1, message: "", stderr: null, tried: [] } },
    { type: "subscription", subscription: { server: "a", uri: "u", updates: 1, lastUpdateMs: 2 } }, { type: "unsubscribed", server: "a", uri: "u" },
  );
  assert.deepEqual(state.questions.map((one) => one.question), [5]);
  assert.deepEqual([state.doctors["a"]!.run, state.doctors["a"]!.steps.length, state.doctors["a"]!.outcome], [2, 1, null]);
  assert.deepEqual(state.subscriptions, []);
  assert.equal(apply(state, { type: "new in a later version" } as unknown as ConsoleEvent), state);
});

test("the event stream is parsed across pieces", () => {
  const parser = new EventParser();
  assert.deepEqual(parser.push("id: 4\nda"), []);
  assert.deepEqual(parser.push('ta: {"a":1}\n\n: comment\n\ndata: x\r\ndata: y\r\n\r'), [{ id: 4, data: '{"a":1}' }]);
  assert.deepEqual(parser.push("\nid: 7\ndata: z\n\n"), [{ id: 4, data: "x\ny" }, { id: 7, data: "z" }]);
});

function frame(number: number, change: Partial<Frame> = {}): Frame {
  return { frame: number, atMs: number * 10, server: "a", direction: "out", kind: "request", method: "m", target: null, id: null, bytes: 1, call: null, requestFrame: null, ms: null, status: null, ...change };
}

test("traffic is bounded, in order, without repeats, and tells once per animation frame", () => {
  const scheduled: (() => void)[] = [];
  const traffic = new Traffic(10_000, (run) => scheduled.push(run));
  let told = 0;
  traffic.subscribe(() => told++);
  const totals = (firstFrame: number) => ({ frames: 1, bytes: 1, firstFrame, recording: true });
  for (let at = 0; at < 100_000; at += 500) traffic.add(Array.from({ length: 500 }, (_, offset) => frame(at + offset + 1)), totals(Math.max(1, at + 500 - 9_999)));
  traffic.add([frame(99_999), frame(100_000)], totals(90_001));
  assert.deepEqual([traffic.frames.length, traffic.frames[0]!.frame, traffic.lastFrame], [10_000, 90_001, 100_000]);
  assert.equal(scheduled.length, 1);
  scheduled[0]!();
  assert.equal(told, 1);
  // Fetched frames may arrive after those of the stream.
  const late = new Traffic(10_000, () => {});
  late.add([frame(5), frame(6)], totals(1));
  late.add([frame(1), frame(2), frame(5)], totals(1));
  late.add([frame(3), frame(4), frame(5), frame(6), frame(7)], totals(1));
  assert.deepEqual(late.frames.map((one) => one.frame), [1, 2, 3, 4, 5, 6, 7]);
  traffic.clear(totals(100_001));
  assert.equal(traffic.frames.length, 0);
});

test("a timeline pairs requests and responses, and spans at one time do not overlap", () => {
  const frames = [
    frame(1), frame(2, { atMs: 12 }), frame(3, { atMs: 15, kind: "notification", direction: "in" }), frame(4, { atMs: 30, kind: "response", requestFrame: 1, status: "error" }),
    frame(5, { atMs: 40, server: "b" }),
  ];
  const lanes = lanesOf(frames, 50);
  assert.deepEqual(lanes.map((lane) => [lane.server, lane.spans.map((span) => [span.status, span.startMs, span.endMs, span.row]), lane.rows]), [
    ["a", [["error", 10, 30, 0], ["open", 12, 50, 1], ["note", 15, 15, 2]], 3],
    ["b", [["open", 40, 50, 0]], 1],
  ]);
  // A retry is in the row of its call, although another row is free earlier.
  const asked = [
    frame(1, { atMs: 0 }), frame(2, { atMs: 5, kind: "response", requestFrame: 1 }), frame(3, { atMs: 1, call: 7 }), frame(4, { atMs: 10, kind: "response", requestFrame: 3, status: "inputRequired" }),
    frame(5, { atMs: 20, call: 7 }), frame(6, { atMs: 22, call: 8 }),
  ];
  assert.deepEqual(lanesOf(asked, 30)[0]!.spans.map((span) => [span.frame.frame, span.row]), [[1, 0], [3, 1], [5, 1], [6, 0]]);
});

test("a list renders the visible rows and keys move in it", () => {
  assert.deepEqual(rangeOf(0, 600, 30, 10_000), { first: 0, last: 28 });
  assert.deepEqual(rangeOf(150_000, 600, 30, 10_000), { first: 4992, last: 5028 });
  assert.deepEqual(rangeOf(299_700, 600, 30, 10_000), { first: 9982, last: 10_000 });
  assert.deepEqual(rangeOf(5000, 600, 30, 3), { first: 2, last: 3 });
  assert.deepEqual(rangeOf(0, 600, 30, 0), { first: 0, last: 0 });
  assert.deepEqual(["ArrowDown", "ArrowUp", "Home", "End", "PageDown", "x"].map((key) => rowAfterKey(key, 5, 100, 20)), [6, 4, 0, 99, 25, null]);
  assert.deepEqual([rowAfterKey("ArrowDown", 99, 100, 20), rowAfterKey("ArrowUp", 0, 100, 20), rowAfterKey("ArrowDown", -1, 0, 20)], [99, 0, null]);
  assert.deepEqual([scrollTo(0, 30, 90, 300), scrollTo(50, 30, 0, 300), scrollTo(5, 30, 0, 300)], [0, 1230, 0]);
});

test("routes keep names of any characters", () => {
  for (const name of ["a/b", "a?b=c", "#", "ü ‮", "%", "..", "&="]) {
    assert.deepEqual(parseRoute(href(["call", "tool", name], { q: name })), { path: ["call", "tool", name], query: { q: name } });
  }
  assert.deepEqual(parseRoute("#/servers/%"), { path: ["servers", "%"], query: {} });
});
