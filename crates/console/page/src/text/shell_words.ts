// Words of a command line, as a POSIX shell takes them apart. Nothing is expanded: `$HOME` and `*` stay as they are.

/** Returns the words; null while a quote is open. */
export function shellWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: "'" | '"' | null = null;
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    const next = line[at + 1];
    if (quote === null && /\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (quote === null && (char === "'" || char === '"')) {
      quote = char;
      word ??= "";
    } else if (char === quote) {
      quote = null;
    } else if (char === "\\" && quote !== "'" && next !== undefined && (quote === null || '"\\$`'.includes(next))) {
      word = (word ?? "") + next;
      at++;
    } else {
      word = (word ?? "") + char;
    }
  }
  if (quote !== null) return null;
  return word === null ? words : [...words, word];
}
