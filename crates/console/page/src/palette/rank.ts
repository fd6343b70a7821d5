// Ranks items by how well they match a few letters: a prefix, then the start of a word, then anywhere, then letters in order.

export function rank<T>(items: readonly T[], text: string, textOf: (item: T) => string, max: number): T[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return items.slice(0, max);
  const scored: { item: T; score: number; at: number }[] = [];
  items.forEach((item, at) => {
    const score = scoreOf(textOf(item).toLowerCase(), wanted);
    if (score > 0) scored.push({ item, score, at });
  });
  scored.sort((a, b) => b.score - a.score || a.at - b.at);
  return scored.slice(0, max).map(({ item }) => item);
}

/** Returns 0 if the text does not match; a higher score is a better match. */
export function scoreOf(text: string, wanted: string): number {
  const at = text.indexOf(wanted);
  if (at === 0) return 1000 - Math.min(text.length, 400);
  if (at > 0) return (/[^a-z0-9]/.test(text[at - 1]!) ? 500 : 300) - Math.min(at, 100);
  let found = -1;
  for (const letter of wanted.replaceAll(" ", "")) {
    found = text.indexOf(letter, found + 1);
    if (found < 0) return 0;
  }
  return Math.max(1, 100 - Math.min(found, 99));
}
