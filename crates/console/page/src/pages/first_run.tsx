// Nothing is configured yet: demo servers to try, and ways to add one's own.

import { useState } from "preact/hooks";
import { post } from "../api/client";
import type { FirstRun } from "../api/types";
import { consoleState } from "../state/session";
import { useStore } from "../state/store";
import { plural } from "../text/format";
import { Badge, Command } from "../ui/parts";
import { Sentence, Text } from "../ui/text";
import { attempt } from "../ui/toasts";
import { AddServer } from "./servers/add_server";

export function FirstRunPage({ firstRun }: { firstRun: FirstRun }) {
  const allowConfigEdit = useStore(consoleState, (state) => state?.console.allowConfigEdit ?? false);
  const [started, setStarted] = useState<string | null>(null);
  const start = async (name: string) => {
    setStarted(name);
    await attempt(() => post("/api/demo", { name }));
    setStarted(null);
  };
  return (
    <div class="page">
      <div class="page-inner narrow">
        <div>
          <h1>No servers yet</h1>
          <p class="muted">Try a server that is built in, bring those of another client, or add your own.</p>
        </div>
        <section class="card" aria-labelledby="first-demo">
          <div class="card-head"><h2 id="first-demo">Try a demo server</h2></div>
          <ul class="rows">
            {firstRun.demoServers.map(({ name, title, description }) => (
              <li key={name} class="row-line">
                <div><strong><Text value={title} /></strong><div class="muted small"><Sentence value={description} /></div></div>
                <button type="button" class="button primary" disabled={started !== null} onClick={() => void start(name)}>{started === name ? "Starting" : "Start"}<span class="visually-hidden"> {name}</span></button>
              </li>
            ))}
          </ul>
        </section>
        <section class="card" aria-labelledby="first-import">
          <div class="card-head"><h2 id="first-import">Import from another client</h2></div>
          <div class="card-body">
            {firstRun.importSources.length > 0 ? (
              <ul class="rows flat">
                {firstRun.importSources.map((source) => (
                  <li key={source.path} class="import-source">
                    <div class="row-line"><div><strong><Text value={source.client} /></strong><div class="muted small mono breaks"><Text value={source.path} /></div></div><Badge>{plural(source.servers, "server")}</Badge></div>
                    <Command text={source.command} />
                  </li>
                ))}
              </ul>
            ) : <><p class="muted">No configuration of another client was found. This command looks again:</p><Command text={firstRun.importCommand} /></>}
          </div>
        </section>
        <AddServer onDone={() => {}} allowConfigEdit={allowConfigEdit} />
      </div>
    </div>
  );
}
