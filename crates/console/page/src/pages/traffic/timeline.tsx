// The timeline: one lane for each server, zoomed with buttons or Ctrl and the wheel.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Frame } from "../../api/types";
import { clock, milliseconds } from "../../text/format";
import { visibleLine } from "../../text/visible";
import { Empty } from "../../ui/parts";
import { Text } from "../../ui/text";
import { lanesOf, type Span } from "./spans";

const ROW = 18;
/** A span is drawn at least as wide, to be seen and hit, and a pixel beside it is free. */
const SHORTEST_PX = 6;
const NAVIGATION_PX = 220;
/** The newest spans that are drawn in a lane. */
const MAX_SPANS = 600;

interface TimelineProps {
  frames: readonly Frame[];
  selected: number | null;
  onSelect: (frame: Frame) => void;
}

export function Timeline({ frames, selected, onSelect }: TimelineProps) {
  const [zoom, setZoom] = useState(1);
  const box = useRef<HTMLDivElement>(null);
  const nowMs = frames.at(-1)?.atMs ?? 0;
  const lanes = useMemo(() => lanesOf(frames, nowMs, SHORTEST_PX / (Math.max(300, innerWidth - NAVIGATION_PX) * zoom)), [frames, zoom]);
  const selectedCall = useMemo(() => frames.find((frame) => frame.frame === selected)?.call ?? null, [frames, selected]);
  if (frames.length === 0) return <Empty>No frames.</Empty>;
  const drawn = lanes.map((lane) => ({ ...lane, spans: lane.spans.slice(-MAX_SPANS) }));
  const startMs = Math.min(...drawn.map((lane) => lane.spans[0]!.startMs));
  const endMs = Math.max(nowMs, startMs + 50);
  const scale = (ms: number) => ((ms - startMs) / (endMs - startMs)) * 100;
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    setZoom((before) => Math.min(64, Math.max(1, before * (event.deltaY < 0 ? 1.25 : 0.8))));
  };
  const marks = Array.from({ length: 6 }, (_, at) => startMs + ((endMs - startMs) * at) / 5);
  return (
    <div class="timeline">
      <div class="bar">
        <button type="button" class="button tiny" onClick={() => setZoom(Math.max(1, zoom / 2))} disabled={zoom <= 1}>Zoom out</button>
        <button type="button" class="button tiny" onClick={() => setZoom(Math.min(64, zoom * 2))}>Zoom in</button>
        <span class="muted small">{clock(startMs)} to {clock(endMs)}, {milliseconds(endMs - startMs)}{zoom > 1 ? `, ${Math.round(zoom)}×` : ""}</span>
        <span class="head-space" />
        <span class="legend small"><i class="ok" /> ok <i class="bad" /> error <i class="warn" /> asks <i class="open" /> open <i class="note" /> notification</span>
      </div>
      <div class="timeline-scroll" ref={box} onWheel={onWheel} tabIndex={0} role="group" aria-label="Timeline">
        <div class="timeline-canvas" style={{ width: `${zoom * 100}%` }}>
          <div class="timeline-axis" aria-hidden="true">{marks.map((mark) => <span key={mark} style={{ left: `${scale(mark)}%` }}>{clock(mark, endMs - startMs < 20_000)}</span>)}</div>
          {drawn.map((lane) => (
            <div key={lane.server} class="lane">
              <div class="lane-name"><Text value={lane.server} max={60} /></div>
              <div class="lane-body" style={{ height: `${lane.rows * ROW + 6}px` }}>
                {lane.spans.map((span) => <SpanBar key={span.frame.frame} span={span} left={scale(span.startMs)} width={scale(span.endMs) - scale(span.startMs)} isSelected={selected === span.frame.frame || (span.response !== null && selected === span.response.frame)} isOfCall={selectedCall !== null && span.frame.call === selectedCall} onSelect={onSelect} />)}
              </div>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

interface SpanBarProps {
  span: Span;
  left: number;
  width: number;
  isSelected: boolean;
  /** Whether it belongs to the call of the selected span. */
  isOfCall: boolean;
  onSelect: (frame: Frame) => void;
}

function SpanBar({ span, left, width, isSelected, isOfCall, onSelect }: SpanBarProps) {
  const { frame, response, status } = span;
  const tone = { ok: "ok", error: "bad", toolError: "bad", inputRequired: "warn", cancelled: "note", open: "open", note: "note" }[status];
  const took = response?.ms ?? null;
  const label = visibleLine(`${frame.direction === "in" ? "from" : "to"} ${frame.server}: ${frame.method ?? frame.kind}${frame.target === null ? "" : ` ${frame.target}`}, ${status}${took === null ? "" : `, ${milliseconds(took)}`}${isOfCall && !isSelected ? ", of the same call" : ""}`);
  return (
    <button type="button" class={`span ${tone} ${isSelected ? "selected" : isOfCall ? "of-call" : ""} ${frame.direction}`} style={{ left: `${left}%`, width: `max(${width}%, 5px)`, top: `${span.row * ROW + 3}px` }} title={label} aria-label={label} aria-pressed={isSelected} onClick={() => onSelect(response ?? frame)}>
      {width > 6 && <span aria-hidden="true">{visibleLine(frame.target ?? frame.method ?? "", 40)}</span>}
    </button>
  );
}
