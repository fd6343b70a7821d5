// The frame of the console: header, navigation, and the page of the route.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Palette } from "./palette/palette";
import { CallPage } from "./pages/call/call_page";
import { CatalogPage } from "./pages/catalog/catalog_page";
import { FirstRunPage } from "./pages/first_run";
import { GatewayPage } from "./pages/gateway/gateway_page";
import { LockedPage } from "./pages/locked";
import { LoginsPage } from "./pages/logins/logins_page";
import { PolicyPage } from "./pages/policy/policy_page";
import { QuestionsPage } from "./pages/questions/questions_page";
import { ServersPage } from "./pages/servers/servers_page";
import { TrafficPage } from "./pages/traffic/traffic_page";
import type { ConsoleState } from "./state/console_state";
import { href, useRoute } from "./state/router";
import { type Connection, connection, consoleState } from "./state/session";
import { useStore } from "./state/store";
import { setTheme, theme, type Theme } from "./state/theme";
import { CallIcon, CatalogIcon, GatewayIcon, Logo, LoginsIcon, MoonIcon, PolicyIcon, SearchIcon, ServersIcon, SunIcon, SystemIcon, TrafficIcon } from "./ui/icons";
import { Badge } from "./ui/parts";
import { Toasts } from "./ui/toasts";
import { WhyDrawer } from "./ui/why";

export function App() {
  const link = useStore(connection, (value) => value);
  const state = useStore(consoleState, (value) => value);
  if (link.type === "locked") return <LockedPage reason={link.reason} />;
  if (state === null) return <div class="center" role="status"><div class="muted">{link.type === "lost" ? "The console does not answer; trying again." : "Loading"}</div></div>;
  return <Shell state={state} link={link} />;
}

function Shell({ state, link }: { state: ConsoleState; link: Connection }) {
  const route = useRoute();
  const [isPaletteOpen, openPalette] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette((before) => !before);
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const page = route.path[0] ?? "servers";
  const isFirstRun = state.firstRun !== null && state.servers.length === 0 && page === "servers";
  return (
    <div class="shell">
      <a class="visually-hidden skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the page</a>
      <Header state={state} link={link} onSearch={() => openPalette(true)} />
      <Nav state={state} page={page} />
      <main class="main" id="main" tabIndex={-1}>
        <Notices state={state} page={page} />
        {isFirstRun ? <FirstRunPage firstRun={state.firstRun!} /> : <Page page={page} state={state} />}
      </main>
      {isPaletteOpen && <Palette onClose={() => openPalette(false)} />}
      <WhyDrawer />
      <Toasts />
    </div>
  );
}

function Page({ page, state }: { page: string; state: ConsoleState }) {
  switch (page) {
    case "catalog":
      return <CatalogPage state={state} />;
    case "call":
      return <CallPage state={state} />;
    case "questions":
      return <QuestionsPage state={state} />;
    case "traffic":
      return <TrafficPage />;
    case "logins":
      return <LoginsPage state={state} />;
    case "policy":
      return <PolicyPage state={state} />;
    case "gateway":
      return <GatewayPage state={state} />;
    default:
      return <ServersPage state={state} />;
  }
}

const THEMES: [Theme, string, () => ComponentChildren][] = [
  ["system", "as the system", SystemIcon],
  ["light", "light", SunIcon],
  ["dark", "dark", MoonIcon],
];

function Header({ state, link, onSearch }: { state: ConsoleState; link: Connection; onSearch: () => void }) {
  const current = useStore(theme, (value) => value);
  const at = THEMES.findIndex(([name]) => name === current);
  const [, words, Icon] = THEMES[at]!;
  const [next, nextWords] = THEMES[(at + 1) % THEMES.length]!;
  return (
    <header class="head">
      <a class="brand" href={href(["servers"])}><Logo />Switchboard</a>
      <span class="wide-only"><Badge>{state.console.mode === "gateway" ? "gateway" : "host"} {state.console.version}</Badge></span>
      {state.console.readOnly && <Badge tone="info" title="No action on this console changes anything">read-only</Badge>}
      <span class="head-space" />
      <span role="status" aria-live="polite">
        {link.type === "live" ? <Badge tone="ok">live</Badge> : <Badge tone="warn">{link.type === "lost" ? "not live, reconnecting" : "connecting"}</Badge>}
      </span>
      <button type="button" class="button" onClick={onSearch} aria-keyshortcuts="Control+K Meta+K">
        <SearchIcon /><span class="wide-only">Search</span> <kbd class="wide-only">{navigator.platform.startsWith("Mac") ? "⌘K" : "Ctrl K"}</kbd>
        <span class="visually-hidden">Open the command palette</span>
      </button>
      <button type="button" class="button quiet icon" title={`Theme: ${words}`} aria-label={`Theme: ${words}. Switch to ${nextWords}`} onClick={() => setTheme(next)}><Icon /></button>
    </header>
  );
}

function Nav({ state, page }: { state: ConsoleState; page: string }) {
  const waiting = state.servers.filter((server) => server.state.type === "needsAuth").length;
  const items: [string, string, () => ComponentChildren, number][] = [
    ["servers", "Servers", ServersIcon, 0],
    ["catalog", "Catalog", CatalogIcon, 0],
    ["call", "Call", CallIcon, state.questions.length],
    ["traffic", "Traffic", TrafficIcon, 0],
    ["logins", "Logins", LoginsIcon, waiting],
    ["policy", "Policy", PolicyIcon, 0],
  ];
  if (state.console.mode === "gateway") items.push(["gateway", "Gateway", GatewayIcon, 0]);
  const current = page === "questions" ? "call" : page;
  const list = useRef<HTMLUListElement>(null);
  // On narrow screens the navigation scrolls sideways. `scrollIntoView` would also move where the Tab key begins.
  useEffect(() => {
    const nav = list.current!.parentElement!;
    const own = list.current!.querySelector("[aria-current]")?.getBoundingClientRect();
    const { left, right } = nav.getBoundingClientRect();
    if (own !== undefined) nav.scrollLeft += Math.max(0, own.right - right) - Math.max(0, left - own.left);
  }, [current]);
  return (
    <nav class="nav" aria-label="Pages">
      <ul ref={list}>
        {items.map(([name, label, Icon, count]) => (
          <li key={name}>
            <a href={href([name])} {...(name === current ? { "aria-current": "page" as const } : {})}>
              <Icon />{label}
              {count > 0 && <span class="count"><span class="visually-hidden">, </span>{count}<span class="visually-hidden"> waiting</span></span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Notices({ state, page }: { state: ConsoleState; page: string }) {
  const count = state.questions.length;
  if (count === 0 || page === "questions" || page === "call") return null;
  return (
    <div class="notice" role="status">
      {count === 1 ? `${state.questions[0]!.server} asks a question.` : `${count} questions wait for an answer.`}
      <a class="button tiny" href={href(["questions"])}>Answer</a>
    </div>
  );
}
