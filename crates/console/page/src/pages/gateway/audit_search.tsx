// Search in the audit log, newest first.

import { useState } from "preact/hooks";
import { get } from "../../api/client";
import type { AuditPage, AuditRow } from "../../api/types";
import { count, dateAndTime, milliseconds } from "../../text/format";
import { Badge, Empty, ErrorNote, Search, TableScroll } from "../../ui/parts";
import { Text } from "../../ui/text";

const PAGE = 100;

export function AuditSearch() {
  const [text, setText] = useState("");
  const [records, setRecords] = useState<AuditRow[]>([]);
  const [last, setLast] = useState<AuditPage | null>(null);
  const [error, setError] = useState<unknown>(null);
  const fetch = async (before: string | null) => {
    setError(null);
    try {
      const page = await get<AuditPage>("/api/audit", { q: text === "" ? null : text, before, limit: PAGE });
      setRecords(before === null ? page.records : [...records, ...page.records]);
      setLast(page);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <section class="card" aria-labelledby="audit">
      <div class="card-head"><h2 id="audit">Audit log</h2></div>
      <form class="card-body" onSubmit={(event) => { event.preventDefault(); void fetch(null); }}>
        <div class="with-copy">
          <Search label="Search the audit log" placeholder="principal:ada outcome:denied server:files" value={text} onInput={setText} />
          <button type="submit" class="button primary">Search</button>
        </div>
        {error !== null && <ErrorNote error={error} />}
        {last !== null && <span class="muted small" role="status">{count(records.length)} records; {count(last.searched)} were searched</span>}
      </form>
      {last !== null && records.length === 0 && <Empty>No record matches.</Empty>}
      {records.length > 0 && (
        <TableScroll><table class="table">
          <thead><tr><th scope="col">Time</th><th scope="col">Caller</th><th scope="col">Request</th><th scope="col">Outcome</th><th scope="col" class="number">Took</th></tr></thead>
          <tbody>{records.map((record, at) => <Record key={at} record={record} />)}</tbody>
        </table></TableScroll>
      )}
      {last?.next != null && <div class="card-body"><button type="button" class="button" onClick={() => void fetch(last.next)}>Older records</button></div>}
    </section>
  );
}

function Record({ record }: { record: AuditRow }) {
  const tone = record.outcome === "ok" ? "ok" : record.outcome === "input_required" || record.outcome === "cancelled" ? "plain" : "bad";
  return (
    <tr>
      <td class="nowrap">{dateAndTime(record.atMs)}</td>
      <td><Text value={record.principal ?? "anonymous"} max={80} /><div class="muted small"><Text value={[record.client, record.address].filter((part) => part !== null).join(" · ")} max={100} /></div></td>
      <td class="mono"><Text value={record.method} max={60} /><div class="small"><Text value={[record.server, record.name].filter((part) => part !== null).join("/")} max={160} /></div></td>
      <td><Badge tone={tone}>{record.outcome.replace("_", " ")}</Badge>{(record.rule ?? record.reason) !== null && <div class="small"><Text value={[record.rule, record.reason].filter((part) => part !== null).join(": ")} max={160} /></div>}</td>
      <td class="number nowrap">{milliseconds(record.durationMs)}</td>
    </tr>
  );
}
