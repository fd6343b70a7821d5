// One frame: its facts, its payload, and the other frames of its call.

import { useState } from "preact/hooks";
import { get } from "../../api/client";
import type { Frame, FramePayload } from "../../api/types";
import { href } from "../../state/router";
import { bytes, clock, milliseconds } from "../../text/format";
import { JsonText } from "../../ui/json_tree";
import { Badge, Back, CopyButton, ErrorNote, Note } from "../../ui/parts";
import { Text } from "../../ui/text";
import { useFetch } from "../../ui/use_fetch";
import { StatusBadge } from "./status_badge";

interface FrameDetailProps {
  frame: Frame;
  frames: readonly Frame[];
  /** The payload of an opened recording; otherwise it is fetched. */
  payload: string | null;
  onSelect: (frame: Frame) => void;
  back: string;
}

export function FrameDetail({ frame, frames, payload, onSelect, back }: FrameDetailProps) {
  const related = frames.filter((other) => (frame.call !== null && other.call === frame.call) || other.requestFrame === frame.frame || other.frame === frame.requestFrame);
  return (
    <div class="detail">
      <div class="detail-head">
        <div><Back href={back}>Traffic</Back></div>
        <div class="title-row">
          <h1 class="mono"><Text value={frame.method ?? frame.kind} max={120} /></h1>
          <Badge>{frame.direction === "out" ? "to" : "from"} <Text value={frame.server} max={40} /></Badge>
          <Badge>{frame.kind}</Badge>
          <StatusBadge status={frame.status} />
        </div>
        <dl class="facts">
          <dt>Time</dt><dd>{clock(frame.atMs, true)}{frame.ms !== null && <>, {milliseconds(frame.ms)} after its request</>}</dd>
          {frame.target !== null && <><dt>Target</dt><dd class="mono"><Text value={frame.target} max={200} /></dd></>}
          {frame.id !== null && <><dt>Id</dt><dd class="mono"><Text value={frame.id} max={100} /></dd></>}
          <dt>Size</dt><dd>{bytes(frame.bytes)}</dd>
          {frame.call !== null && <><dt>Call</dt><dd><a href={href(["traffic"], { q: `call:${frame.call}` })}>{frame.call}</a></dd></>}
        </dl>
      </div>
      {payload === null ? <FetchedPayload key={frame.frame} frame={frame} /> : <Payload text={payload} />}
      {related.length > 1 && (
        <section class="card" aria-label="Frames of the same call">
          <div class="card-head"><h2>Same {frame.call === null ? "exchange" : "call"}</h2></div>
          <ul class="rows">
            {related.slice(0, 50).map((other) => (
              <li key={other.frame}>
                <button type="button" class="history-row" aria-current={other.frame === frame.frame} onClick={() => onSelect(other)}>
                  <span class="muted small">{clock(other.atMs, true)}</span><span aria-label={other.direction === "out" ? "to the server" : "from the server"}>{other.direction === "out" ? "→" : "←"}</span>
                  <span class="mono ellipsis"><Text value={other.method ?? other.kind} max={80} /></span><span class="head-space" />
                  <StatusBadge status={other.status} />
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function FetchedPayload({ frame }: { frame: Frame }) {
  const [isFull, setFull] = useState(false);
  const { data, error } = useFetch(() => get<FramePayload>(`/api/traffic/${frame.frame}`, { full: isFull ? 1 : null }), [isFull]);
  if (error !== null) return <ErrorNote error={error} />;
  if (data === null) return <div class="muted" role="status">Loading the payload</div>;
  if (!data.truncated) return <Payload text={data.payload} />;
  return (
    <>
      <Note>The payload has {bytes(data.bytes)}; this is its beginning. <button type="button" class="button tiny" onClick={() => setFull(true)}>Load all of it</button></Note>
      <pre class="code-block"><Text value={data.payload} max={70_000} /></pre>
    </>
  );
}

function Payload({ text }: { text: string }) {
  return (
    <section class="card" aria-label="Payload">
      <div class="card-head"><h2>Payload</h2><CopyButton text={text} label="Copy as it is" /></div>
      <div class="card-body"><JsonText text={text} depth={4} copy={false} /></div>
    </section>
  );
}
