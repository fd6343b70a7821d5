// The route is the fragment of the address: `#/catalog/tools?q=read`. Names are percent-encoded segments.

import { Store, useStore } from "./store";

export interface Route {
  path: string[];
  query: Record<string, string>;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const pairs = query.split("&").filter((pair) => pair !== "").map((pair) => {
    const [name = "", value = ""] = pair.split("=");
    return [decode(name), decode(value)] as const;
  });
  return { path: path.split("/").filter((part) => part !== "").map(decode), query: Object.fromEntries(pairs) };
}

export function href(path: string[], query: Record<string, string> = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== "");
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const route = new Store<Route>({ path: [], query: {} });

export function startRouter(): void {
  const read = () => route.set(parseRoute(location.hash));
  addEventListener("hashchange", read);
  read();
}

export function useRoute(): Route {
  return useStore(route, (value) => value);
}

export function navigate(path: string[], query: Record<string, string> = {}): void {
  location.hash = href(path, query);
}

/** Changes the address without a new entry in the history, for filters while typing. */
export function replaceRoute(path: string[], query: Record<string, string> = {}): void {
  history.replaceState(null, "", href(path, query));
  route.set(parseRoute(location.hash));
}
