// Checks of `format`, for messages beside a field. Unknown formats are not checked.

const FORMATS: Record<string, { pattern: RegExp; words: string }> = {
  date: { pattern: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/, words: "a date such as 2026-07-28" },
  time: { pattern: /^\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d:?\d\d)?$/i, words: "a time such as 09:30:00Z" },
  "date-time": {
    pattern: /^\d{4}-\d\d-\d\d[t\s]\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)$/i,
    words: "a date and time such as 2026-07-28T09:30:00Z",
  },
  email: { pattern: /^[^\s@]+@[^\s@]+$/, words: "an email address" },
  uri: { pattern: /^[a-z][a-z0-9+.-]*:\S*$/i, words: "a URI such as https://example.com" },
  uuid: { pattern: /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, words: "a UUID" },
  ipv4: { pattern: /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/, words: "an IPv4 address" },
};

export function checkFormat(format: string, value: string): string | null {
  const known = Object.hasOwn(FORMATS, format) ? FORMATS[format]! : null;
  return known === null || known.pattern.test(value) ? null : `must be ${known.words}`;
}
