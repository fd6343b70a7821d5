// The last lines that a server wrote to stderr, followed while the tab is open.

import { useEffect, useRef } from "preact/hooks";
import { get } from "../../api/client";
import type { ServerSnapshot, StderrLine, StderrTail } from "../../api/types";
import { clock } from "../../text/format";
import { CopyButton, Empty, ErrorNote } from "../../ui/parts";
import { Text } from "../../ui/text";
import { useFetch } from "../../ui/use_fetch";
import { useThrottled } from "../../ui/use_throttled";

const REFRESH_MS = 200;

export function Stderr({ server, live }: { server: ServerSnapshot; live: StderrLine[] | undefined }) {
  // New lines of the stream say when to fetch the tail again, in which all lines are in order.
  const news = useThrottled(live, REFRESH_MS);
  const { data, error } = useFetch(() => get<StderrTail>(`/api/servers/${encodeURIComponent(server.name)}/stderr`), [server.name, news]);
  const box = useRef<HTMLDivElement>(null);
  const lines = data?.lines ?? [];
  useEffect(() => {
    const element = box.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, [data]);
  if (server.transport.type !== "stdio") return <Empty>Only programs have stderr.</Empty>;
  if (error !== null) return <ErrorNote error={error} />;
  if (data !== null && lines.length === 0) return <Empty>It has written nothing to stderr.</Empty>;
  return (
    <div class="stack">
      <div class="buttons">
        <span class="muted small">{data !== null && data.dropped > 0 ? `${data.dropped} earlier lines were dropped` : "From the start of the process"}</span>
        <span class="head-space" />
        <CopyButton text={() => lines.map((line) => line.text).join("\n")} label="Copy all" />
      </div>
      <div class="code-block log" ref={box} tabIndex={0} role="log" aria-label="Stderr">
        {lines.map((line, at) => <div key={at} class="log-line"><span class="muted">{clock(line.atMs)}</span> <Text value={line.text} max={2000} expandable /></div>)}
      </div>
    </div>
  );
}
