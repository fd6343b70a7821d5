// The command palette: pages, servers, and everything in the catalog, by a few letters.

import { useMemo, useRef, useState } from "preact/hooks";
import { post } from "../api/client";
import { idOf } from "../filter/fields";
import { useCatalogRows } from "../state/catalog";
import { navigate } from "../state/router";
import { consoleState } from "../state/session";
import { useStore } from "../state/store";
import { setTheme } from "../state/theme";
import { Dialog } from "../ui/dialog";
import { Badge } from "../ui/parts";
import { Text } from "../ui/text";
import { attempt } from "../ui/toasts";
import { askWhy } from "../ui/why";
import { rank } from "./rank";

interface Command {
  kind: string;
  title: string;
  detail: string;
  run: () => void;
}

const MAX_SHOWN = 40;

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const commands = useCommands();
  const shown = useMemo(() => rank(commands, text, (command) => `${command.title} ${command.detail}`, MAX_SHOWN), [commands, text]);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      return run(shown[active]);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || shown.length === 0) return;
    event.preventDefault();
    const next = (active + step + shown.length) % shown.length;
    setActive(next);
    list.current?.children[next]?.scrollIntoView({ block: "nearest" });
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input class="field palette-input" type="text" role="combobox" aria-label="Search commands" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" {...(shown.length > 0 ? { "aria-activedescendant": `palette-${active}` } : {})} placeholder="A page, server, tool, resource or prompt" autocomplete="off" spellcheck={false} autofocus value={text} onKeyDown={onKeyDown} onInput={(event) => { setText(event.currentTarget.value); setActive(0); }} />
      <ul class="palette-list" id="palette-list" role="listbox" aria-label="Commands" ref={list}>
        {shown.map((command, at) => (
          <li key={`${command.kind} ${command.title} ${command.detail}`} id={`palette-${at}`} role="option" aria-selected={at === active} class={at === active ? "palette-row active" : "palette-row"} onMouseMove={() => setActive(at)} onClick={() => run(command)}>
            <Badge>{command.kind}</Badge>
            <span class="ellipsis"><Text value={command.title} max={120} /></span>
            <span class="head-space" />
            <span class="muted small ellipsis"><Text value={command.detail} max={60} /></span>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="muted">Nothing matches.</p>}
    </Dialog>
  );
}

function useCommands(): Command[] {
  const state = useStore(consoleState, (value) => value);
  const { rows } = useCatalogRows();
  return useMemo(() => {
    const pages = ["servers", "catalog", "call", "traffic", "logins", "policy", ...(state?.console.mode === "gateway" ? ["gateway"] : [])];
    const go = pages.map((page): Command => ({ kind: "page", title: page[0]!.toUpperCase() + page.slice(1), detail: "", run: () => navigate([page]) }));
    const themes = (["light", "dark", "system"] as const).map((name): Command => ({ kind: "theme", title: `Theme: ${name}`, detail: "", run: () => setTheme(name) }));
    const servers = (state?.servers ?? []).flatMap(({ name }): Command[] => [
      { kind: "server", title: name, detail: "", run: () => navigate(["servers", name]) },
      ...(state?.console.readOnly === true ? [] : [{ kind: "server", title: `Reconnect ${name}`, detail: "", run: () => void attempt(() => post(`/api/servers/${encodeURIComponent(name)}/reconnect`), `Reconnecting ${name}`) }]),
      { kind: "why", title: `Why: ${name}`, detail: "server", run: () => askWhy("server", name, name) },
    ]);
    const items = rows.map((row): Command => ({ kind: row.type, title: idOf(row), detail: row.server, run: () => navigate(["call", row.type, row.server, idOf(row)]) }));
    return [...go, ...servers, ...items, ...themes];
  }, [state?.servers, state?.console, rows]);
}
