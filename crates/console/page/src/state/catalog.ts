// The catalog: fetched when a page first needs it, and again when its revision has changed.

import { useEffect, useMemo } from "preact/hooks";
import { get } from "../api/client";
import type { Catalog } from "../api/types";
import { CATALOG_FIELDS, type CatalogRow } from "../filter/fields";
import { consoleState } from "./session";
import { Store, useStore } from "./store";

interface CatalogState {
  catalog: Catalog | null;
  error: unknown;
  fetching: boolean;
}

const store = new Store<CatalogState>({ catalog: null, error: null, fetching: false });

async function refresh(revision: number): Promise<void> {
  const { catalog, fetching } = store.get();
  if (fetching || (catalog !== null && catalog.revision >= revision)) return;
  store.update((state) => ({ ...state, fetching: true }));
  try {
    const catalog = await get<Catalog>("/api/catalog");
    store.set({ catalog, error: null, fetching: false });
    prepareText(catalog);
  } catch (error) {
    store.update((state) => ({ ...state, error, fetching: false }));
    return;
  }
  // It may have changed again meanwhile.
  const now = consoleState.get()?.catalogRevision ?? 0;
  if (now > revision && now > (store.get().catalog?.revision ?? 0)) void refresh(now);
}

export function useCatalog(): CatalogState {
  const revision = useStore(consoleState, (state) => state?.catalogRevision ?? 0);
  useEffect(() => void refresh(revision), [revision]);
  return useStore(store, (state) => state);
}

/** All rows of the catalog, each with its type. */
export function useCatalogRows(): { rows: CatalogRow[]; error: unknown; isLoading: boolean } {
  const { catalog, error, fetching } = useCatalog();
  const rows = useMemo(() => (catalog === null ? [] : rowsOf(catalog)), [catalog]);
  return { rows, error, isLoading: fetching && catalog === null };
}

/** Rows are made once: the text that filters search is kept for each. */
const rowsByCatalog = new WeakMap<Catalog, CatalogRow[]>();
const PREPARED_AT_ONCE = 500;

/** Prepares the text of rows in small parts, so that the first letter of a filter is as fast as the others. */
function prepareText(catalog: Catalog, from = 0): void {
  const rows = rowsOf(catalog);
  for (const row of rows.slice(from, from + PREPARED_AT_ONCE)) CATALOG_FIELDS.all(row);
  const next = from + PREPARED_AT_ONCE;
  if (next < rows.length) setTimeout(() => store.get().catalog === catalog && prepareText(catalog, next));
}

export function rowsOf(catalog: Catalog): CatalogRow[] {
  const known = rowsByCatalog.get(catalog);
  if (known !== undefined) return known;
  const rows = makeRows(catalog);
  rowsByCatalog.set(catalog, rows);
  return rows;
}

function makeRows(catalog: Catalog): CatalogRow[] {
  return [
    ...catalog.tools.map((row): CatalogRow => ({ type: "tool", ...row })),
    ...catalog.resources.map((row): CatalogRow => ({ type: "resource", ...row })),
    ...catalog.templates.map((row): CatalogRow => ({ type: "template", ...row })),
    ...catalog.prompts.map((row): CatalogRow => ({ type: "prompt", ...row })),
  ];
}
