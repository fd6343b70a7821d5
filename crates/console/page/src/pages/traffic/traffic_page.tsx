// Traffic: every frame between this process and the servers, as a table or a timeline.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { download, post, upload } from "../../api/client";
import type { Frame, Recording } from "../../api/types";
import { FRAME_FIELDS } from "../../filter/fields";
import { parseFilter } from "../../filter/filter";
import { href, navigate, replaceRoute, useRoute } from "../../state/router";
import { traffic } from "../../state/session";
import { bytes, clock, count, milliseconds } from "../../text/format";
import { InIcon, OutIcon } from "../../ui/icons";
import { Empty, Note, Search, Segments } from "../../ui/parts";
import { Text } from "../../ui/text";
import { attempt } from "../../ui/toasts";
import { VirtualList } from "../../ui/virtual_list";
import { saveBlob } from "../call/content_block";
import { FrameDetail } from "./frame_detail";
import { StatusBadge } from "./status_badge";
import { Timeline } from "./timeline";

type View = "table" | "timeline";

/** Frames as they arrive; while paused, those of the moment of the pause. */
function useFrames(isPaused: boolean): readonly Frame[] {
  const [frames, setFrames] = useState(traffic.frames);
  useEffect(() => {
    if (isPaused) return;
    setFrames(traffic.frames);
    return traffic.subscribe(() => setFrames(traffic.frames));
  }, [isPaused]);
  return frames;
}

export function TrafficPage() {
  const { path, query } = useRoute();
  const [isPaused, pause] = useState(false);
  const [recording, setRecording] = useState<Recording | null>(null);
  const live = useFrames(isPaused);
  const frames = useMemo(() => (recording === null ? live : recording.frames.map((one) => one.frame)), [recording, live]);
  const text = query["q"] ?? "";
  const view: View = query["view"] === "timeline" ? "timeline" : "table";
  const filter = useMemo(() => parseFilter(text, FRAME_FIELDS), [text]);
  const shown = useMemo(() => (filter.isEmpty ? frames : frames.filter(filter.matches)), [frames, filter]);
  const selected = path[1] === undefined ? undefined : frames.find((frame) => String(frame.frame) === path[1]);
  const others = (next: Record<string, string>) => ({ q: text, view: view === "timeline" ? "timeline" : "", ...next });
  const select = (frame: Frame) => navigate(["traffic", String(frame.frame)], others({}));
  const payload = recording?.frames.find((one) => one.frame === selected)?.payload ?? null;
  return (
    <div class={`split wide-list ${selected === undefined ? "list-only" : "has-detail"}`}>
      <div class="list-pane">
        <div class="page-head">
          <h1>Traffic</h1>
          <Segments<View> label="Show as" options={[["table", "Table"], ["timeline", "Timeline"]]} value={view} onChange={(next) => replaceRoute(["traffic", ...path.slice(1, 2)], others({ view: next === "timeline" ? "timeline" : "" }))} />
          <Tools isPaused={isPaused} pause={pause} shown={shown} isFiltered={!filter.isEmpty} recording={recording} setRecording={setRecording} />
        </div>
        {recording !== null && <div class="bar"><Note tone="info">This is the recording <strong><Text value={recording.name} max={80} /></strong>, not live traffic. <button type="button" class="button tiny" onClick={() => setRecording(null)}>Back to live traffic</button></Note></div>}
        <div class="bar">
          <Search label="Filter frames" placeholder="method:tools/call status:error ms:>500" value={text} onInput={(next) => replaceRoute(["traffic", ...path.slice(1, 2)], others({ q: next }))} />
          <span class="muted small nowrap" role="status">{count(shown.length)} of {count(frames.length)} frames</span>
        </div>
        {filter.problems.map((problem) => <div key={problem} class="bar form-problems">{problem}</div>)}
        {view === "timeline" ? <Timeline frames={shown} selected={selected?.frame ?? null} onSelect={select} /> : (
          <FrameTable frames={shown} selected={selected?.frame ?? null} onSelect={select} follow={!isPaused && recording === null && selected === undefined} />
        )}
      </div>
      {selected !== undefined && (
        <section class="detail-pane" aria-label="Frame">
          <FrameDetail frame={selected} frames={frames} payload={payload} onSelect={select} back={href(["traffic"], others({}))} />
        </section>
      )}
    </div>
  );
}

interface ToolsProps {
  isPaused: boolean;
  pause: (isPaused: boolean) => void;
  shown: readonly Frame[];
  isFiltered: boolean;
  recording: Recording | null;
  setRecording: (recording: Recording | null) => void;
}

function Tools({ isPaused, pause, shown, isFiltered, recording, setRecording }: ToolsProps) {
  const input = useRef<HTMLInputElement>(null);
  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    const opened = await attempt(() => upload<Recording>(`/api/recordings?name=${encodeURIComponent(file.name)}`, file));
    if (opened !== undefined) setRecording(opened);
    if (input.current !== null) input.current.value = "";
  };
  const save = async () => {
    const frames = isFiltered ? shown.map((frame) => frame.frame) : null;
    const blob = await attempt(() => download("/api/traffic/export", { frames }), "Exported, secrets masked");
    if (blob !== undefined) saveBlob(blob, `switchboard-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.talk`);
  };
  return (
    <div class="buttons">
      {recording === null && <button type="button" class="button" aria-pressed={isPaused} onClick={() => pause(!isPaused)}>Pause</button>}
      {recording === null && <button type="button" class="button" disabled={shown.length === 0} onClick={() => void save()}>Export{isFiltered ? " filtered" : ""}</button>}
      <button type="button" class="button" onClick={() => input.current?.click()}>Open a recording</button>
      <input ref={input} type="file" class="visually-hidden" tabIndex={-1} aria-label="Recording" onChange={(event) => void open(event.currentTarget.files?.[0])} />
      {recording === null && <button type="button" class="button" onClick={() => void attempt(() => post("/api/traffic/clear"))}>Clear</button>}
    </div>
  );
}

interface FrameTableProps {
  frames: readonly Frame[];
  selected: number | null;
  onSelect: (frame: Frame) => void;
  follow: boolean;
}

function FrameTable({ frames, selected, onSelect, follow }: FrameTableProps) {
  if (frames.length === 0) return <Empty>No frames. Connect a server or make a call.</Empty>;
  return (
    <>
      <div class="frame-row frame-head" aria-hidden="true"><span>Time</span><span /><span>Server</span><span>Method</span><span class="wide-only">Target</span><span class="number wide-only">Call</span><span class="number wide-only">Size</span><span class="number">ms</span><span>Status</span></div>
      <VirtualList
        id="frames" label="Frames" rows={frames} rowHeight={28} keyOf={(frame) => frame.frame} selected={selected} onSelect={onSelect} follow={follow}
        render={(frame) => <FrameRow frame={frame} />}
      />
    </>
  );
}

/** On narrow screens without the word that all notifications begin with. */
function Method({ name }: { name: string }) {
  const prefix = "notifications";
  if (!name.startsWith(`${prefix}/`)) return <Text value={name} max={60} />;
  return <><span class="wide-only">{prefix}</span><Text value={name.slice(prefix.length)} max={60} /></>;
}

function FrameRow({ frame }: { frame: Frame }) {
  return (
    <div class={`frame-row ${frame.kind} ${frame.status ?? ""}`}>
      <span class="muted">{clock(frame.atMs)}<span class="wide-only">{clock(frame.atMs, true).slice(8)}</span></span>
      <span class={`direction ${frame.direction}`}>{frame.direction === "out" ? <OutIcon /> : <InIcon />}<span class="visually-hidden">{frame.direction === "out" ? "to" : "from"}</span></span>
      <span class="ellipsis"><Text value={frame.server} max={40} /></span>
      <span class="mono ellipsis"><Method name={frame.method ?? frame.kind} /></span>
      <span class="mono ellipsis muted wide-only"><Text value={frame.target ?? ""} max={80} /></span>
      <span class="number muted wide-only">{frame.call ?? ""}</span>
      <span class="number muted wide-only">{bytes(frame.bytes)}</span>
      <span class="number">{frame.ms === null ? "" : milliseconds(frame.ms).replace(" ms", "")}</span>
      <span><StatusBadge status={frame.status} /></span>
    </div>
  );
}
