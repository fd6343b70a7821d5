// Frames as spans of time: a request with its response, grouped by call, in one lane for each server.

import type { Frame, FrameStatus } from "../../api/types";

export interface Span {
  /** The frame that starts it. */
  frame: Frame;
  /** The frame that ends it; null while it is open, and of notifications. */
  response: Frame | null;
  startMs: number;
  endMs: number;
  status: FrameStatus | "open" | "note";
  /** The row inside its lane, so that spans at the same time do not overlap. */
  row: number;
}

export interface Lane {
  server: string;
  spans: Span[];
  rows: number;
}

/** Lanes in the order of their first frame. `shortest` is the share of the time for which the shortest span is drawn. */
export function lanesOf(frames: readonly Frame[], nowMs: number, shortest = 1 / 200): Lane[] {
  const responses = new Map<number, Frame>();
  for (const frame of frames) if (frame.requestFrame !== null) responses.set(frame.requestFrame, frame);
  const known = new Set(frames.map((frame) => frame.frame));
  const lanes = new Map<string, Span[]>();
  for (const frame of frames) {
    if (frame.kind === "response" && frame.requestFrame !== null && known.has(frame.requestFrame)) continue;
    const spans = lanes.get(frame.server) ?? [];
    lanes.set(frame.server, spans);
    spans.push(spanOf(frame, responses.get(frame.frame) ?? null, nowMs));
  }
  const drawnMs = Math.max(1, (nowMs - (frames[0]?.atMs ?? nowMs)) * shortest);
  return [...lanes].map(([server, spans]) => ({ server, spans, rows: assignRows(spans, drawnMs) }));
}

function spanOf(frame: Frame, response: Frame | null, nowMs: number): Span {
  const isRequest = frame.kind === "request";
  const endMs = response !== null ? response.atMs : isRequest ? nowMs : frame.atMs;
  const status = response !== null ? (response.status ?? "ok") : isRequest ? "open" : frame.kind === "response" ? (frame.status ?? "ok") : "note";
  return { frame, response, startMs: frame.atMs, endMs, status, row: 0 };
}

const MAX_ROWS = 6;

/** Puts each span into the row of its call, such as a retry after a question, or else into the first free row. */
function assignRows(spans: Span[], drawnMs: number): number {
  const ends: number[] = [];
  const rows = new Map<number, number>();
  for (const span of spans) {
    const { call } = span.frame;
    const own = call === null ? undefined : rows.get(call);
    const free = own !== undefined && ends[own]! <= span.startMs ? own : ends.findIndex((end) => end <= span.startMs);
    span.row = free >= 0 ? free : ends.length < MAX_ROWS ? ends.length : ends.indexOf(Math.min(...ends));
    if (call !== null) rows.set(call, span.row);
    ends[span.row] = Math.max(span.endMs, span.startMs + drawnMs);
  }
  return Math.max(1, ends.length);
}
