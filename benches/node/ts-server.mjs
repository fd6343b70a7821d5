// A server written with the TypeScript SDK: `ts-server.mjs --stdio | --http [--tools N]`.
//
// Over HTTP the older era has sessions and the newer one is answered request by request. `--form` and `--threads` are
// understood and change nothing.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler, fromJsonSchema, isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

import { big, large, usage } from './fixture.mjs';

const { values } = parseArgs({
    options: {
        stdio: { type: 'boolean' },
        http: { type: 'boolean' },
        form: { type: 'string' },
        threads: { type: 'string' },
        tools: { type: 'string', default: '3' },
    },
});

const text = text => ({ content: [{ type: 'text', text }] });
const nothing = { type: 'object', properties: {} };
const said = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

// The schemas are made once; the SDK builds a server for each session, and for each request of the newer era.
const tools = [];
const tool = (name, description, schema, run) => tools.push([name, { description, inputSchema: fromJsonSchema(schema) }, run]);
tool('echo', 'Says the text back.', said, async given => text(given.text));
tool('big', 'Answers one text of 1 MiB.', nothing, async () => text(big()));
tool('usage', 'Says what this process has used so far.', nothing, async () => text(JSON.stringify(usage())));
for (let number = 4; number <= Number(values.tools); number += 1) {
    const { name, description, schema } = large(number);
    tool(name, description, schema, async () => text(name));
}

function build() {
    const server = new McpServer({ name: 'bench', version: '1.0.0' });
    for (const [name, definition, run] of tools) server.registerTool(name, definition, run);
    return server;
}

const sessions = new Map();

async function session(req, res, message) {
    const known = sessions.get(req.headers['mcp-session-id']);
    if (known) return known.handleRequest(req, res, message);
    if (!isInitializeRequest(message)) return res.writeHead(404).end();
    const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: id => sessions.set(id, transport),
        onsessionclosed: id => sessions.delete(id),
    });
    await build().connect(transport);
    return transport.handleRequest(req, res, message);
}

function serveHttp() {
    const alone = toNodeHandler(createMcpHandler(build, { legacy: 'reject' }));
    const serve = async (req, res) => {
        let body = '';
        for await (const chunk of req) body += chunk;
        const message = body === '' ? undefined : JSON.parse(body);
        const legacy = await isLegacyRequest(await toWebRequest(req, message), message);
        return legacy ? session(req, res, message) : alone(req, res, message);
    };
    const http = createServer((req, res) => {
        serve(req, res).catch(error => {
            console.error(error);
            if (!res.headersSent) res.writeHead(500).end();
        });
    });
    http.listen(0, '127.0.0.1', () => console.log(`listening http://127.0.0.1:${http.address().port}/mcp`));
    process.stdin.resume();
}

if (values.http) serveHttp();
else serveStdio(build);
process.stdin.on('end', () => process.exit(0));
