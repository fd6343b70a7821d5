// What the programs here share: the tools and texts of the benchmark, and what a process has used.

import { readFileSync } from 'node:fs';

export const TEXT =
    'The quick brown fox jumps over the lazy dog, then rests a while in the shade before it runs on home.';
export const BIG_BYTES = 1024 * 1024;

const letter = at => (at % 80 === 79 ? '\n' : at % 80 === 40 ? '"' : 'abcdefghijklmnopqrstuvwxyz'[at % 26]);
let made;
export const big = () => (made ??= Array.from({ length: BIG_BYTES }, (_, at) => letter(at)).join(''));

const FIELDS = ['owner', 'repository', 'path', 'branch', 'message', 'labels'];

/** The definition of a tool that is only listed, of about 1,200 bytes. */
export function large(number) {
    const described = field => ({
        type: 'string',
        description: `The ${field} that tool ${number} works on, as it is written in the address.`,
        minLength: 1,
    });
    const properties = Object.fromEntries(FIELDS.map(field => [field, described(field)]));
    properties.page = { type: 'integer', minimum: 1, default: 1 };
    const schema = { type: 'object', properties, required: ['owner', 'repository'], additionalProperties: false };
    const description =
        `Looks up entry ${number} of the catalogue and answers with all that is known of it. Use it when the user ` +
        'names the entry by its owner and repository; ask first if either is missing. Answers nothing when there is ' +
        'no such entry.';
    return { name: `tool_${String(number).padStart(4, '0')}`, description, schema };
}

/** What this process has used. */
export function usage() {
    const status = readFileSync('/proc/self/status', 'utf8');
    const line = name => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]);
    const { user, system } = process.cpuUsage();
    return { cpu_us: user + system, rss_kb: line('VmRSS'), peak_kb: line('VmHWM') };
}
