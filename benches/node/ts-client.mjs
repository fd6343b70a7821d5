// A client written with the TypeScript SDK, with the arguments that every client of the benchmark has.
//
// `--form` and `--threads` are understood and change nothing.

import { parseArgs } from 'node:util';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { BIG_BYTES, TEXT, usage } from './fixture.mjs';

const names = ['work', 'era', 'calls', 'warm', 'in-flight', 'sessions', 'form', 'threads', 'tools', 'url'];
const given = parseArgs({
    options: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
    allowPositionals: true,
});
const { work, era, url, tools } = given.values;
const number = (name, otherwise) => Number(given.values[name] ?? otherwise);
const inFlight = work === 'echo' ? number('in-flight', 1) : 1;
const command = given.positionals;

const guard = setTimeout(() => fail('the run was given up after 120 s'), 120_000);
guard.unref();

function fail(reason) {
    console.error(reason);
    process.exit(1);
}

const now = () => process.hrtime.bigint();
const micros = since => Number((now() - since + 999n) / 1000n);

async function open() {
    const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
    const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode } });
    const transport = url
        ? new StreamableHTTPClientTransport(new URL(url))
        : new StdioClientTransport({ command: command[0], args: command.slice(1) });
    await client.connect(transport);
    return client;
}

async function text(client, name, args) {
    const result = await client.callTool({ name, arguments: args });
    return result.content[0].text;
}

async function one(client) {
    if (work === 'echo') return check((await text(client, 'echo', { text: TEXT })).length, TEXT.length);
    if (work === 'big') return check((await text(client, 'big', {})).length, BIG_BYTES);
    const listed = await client.listTools();
    return check(listed.tools.length, Number(tools ?? listed.tools.length));
}

function check(size, expected) {
    if (size !== expected) fail(`the answer to ${work} has the size ${size}, not ${expected}`);
}

async function many(clients, count) {
    const times = new Float64Array(count);
    const worker = async first => {
        for (let call = first; call < count; call += inFlight) {
            const began = now();
            await one(clients[call % clients.length]);
            times[call] = micros(began);
        }
    };
    await Promise.all(Array.from({ length: inFlight }, (_, first) => worker(first)));
    return times;
}

/** What the servers have used: all of them where each session has its own. */
async function used(clients) {
    const all = { cpu_us: 0, rss_kb: 0, peak_kb: 0 };
    for (const client of url ? clients.slice(0, 1) : clients) {
        const one = JSON.parse(await text(client, 'usage', {}));
        for (const name of Object.keys(all)) all[name] += one[name];
    }
    return all;
}

function mark() {
    const [at, before] = [now(), usage().cpu_us];
    return () => ({ wall_us: micros(at), own: { ...usage(), cpu_us: usage().cpu_us - before } });
}

async function run() {
    let spent = mark();
    const began = now();
    const connect = async () => {
        const client = await open();
        if (work === 'connect') await one(client);
        return { client, time: micros(began) };
    };
    const opened = await Promise.all(Array.from({ length: number('sessions', 1) }, connect));
    const clients = opened.map(({ client }) => client);
    let [times, server] = [opened.map(({ time }) => time), undefined];
    let measured = spent();
    if (work === 'connect') {
        server = await used(clients);
    } else {
        await many(clients, number('warm', 0));
        const before = await used(clients);
        spent = mark();
        times = await many(clients, number('calls', 1));
        measured = spent();
        const after = await used(clients);
        server = { ...after, cpu_us: after.cpu_us - before.cpu_us };
    }
    await Promise.all(clients.map(client => client.close()));
    times.sort((a, b) => a - b);
    const at = part => times[Math.floor((times.length * part) / 100)];
    const { wall_us, own } = measured;
    console.log(JSON.stringify({ calls: times.length, wall_us, p50_us: at(50), p99_us: at(99), ...own, server }));
}

run().then(
    () => process.exit(0),
    error => fail(String(error)),
);
