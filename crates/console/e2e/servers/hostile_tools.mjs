// Definitions that attack whoever displays them: markup, scripts, characters that hide or reorder text, and sheer length.

const schema = { type: 'object', properties: { '<img src=x onerror="window.hacked=1">': { type: 'string', description: '<script>window.hacked=1</script>' } } };
const SCRIPT = '<script>window.hacked=1</script><img src=x onerror="window.hacked=1"><svg onload="window.hacked=1">';

export const hostileTools = [
    { name: 'markup', title: SCRIPT, description: `${SCRIPT} [click](javascript:window.hacked=1) <a href="javascript:window.hacked=1">here</a>`, inputSchema: schema },
    { name: '<img src=x onerror="window.hacked=1">', description: 'a name with markup', inputSchema: schema },
    { name: 'bidi', title: 'safe\u202Etxt.exe', description: 'reads \u202Ephp.exe\u202C and \u2066hides\u2069 zero\u200Bwidth and \u{E0041}tags', inputSchema: { type: 'object' } },
    { name: 'bidi_\u202Eeman', description: 'a name that reads backwards', inputSchema: { type: 'object' } },
    { name: `long_${'n'.repeat(64 * 1024)}`, description: 'a name of 64 KB', inputSchema: { type: 'object' } },
    { name: 'long_text', title: 't'.repeat(64 * 1024), description: 'd'.repeat(64 * 1024), inputSchema: { type: 'object', properties: { ['p'.repeat(64 * 1024)]: { type: 'string', description: 'q'.repeat(64 * 1024) } } } },
    { name: 'arabic', title: '\u0627\u0644\u0645\u0644\u0641\u0627\u062A', description: '\u064A\u0642\u0631\u0623 \u0627\u0644\u0645\u0644\u0641\u0627\u062A (reads files)', inputSchema: { type: 'object' } },
    { name: 'constructor', description: 'a name of Object.prototype', inputSchema: { type: 'object', properties: { __proto__x: { type: 'string' }, toString: { type: 'string' } } } },
    { name: 'regex', description: 'a pattern that takes exponential time', inputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } } },
    { name: 'recursive', description: 'a schema that contains itself', inputSchema: { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } } },
];
