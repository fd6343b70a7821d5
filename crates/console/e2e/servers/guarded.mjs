// A server over HTTP that requires a login at an authorization server: `guarded.mjs ISSUER`. It asks the issuer about each
// token, so that a revoked one is refused. Says `listening on port N` on stderr; `GET /log` returns who has called.

import { createServer } from 'node:http';

const [issuer] = process.argv.slice(2);
const calls = [];
let origin = '';

async function subjectOf(header) {
    const token = /^Bearer (.+)$/.exec(header ?? '')?.[1];
    if (token === undefined) return null;
    const response = await fetch(`${issuer}/token/introspection`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('resource-server:secret-of-the-resource-server').toString('base64')}` },
        body: new URLSearchParams({ token }),
    });
    const { active, sub } = await response.json();
    return active ? (sub ?? 'client') : null;
}

function answer({ method, params }, subject) {
    switch (method) {
        case 'initialize': return { protocolVersion: '2025-11-25', serverInfo: { name: 'guarded', version: '1.0.0' }, capabilities: { tools: {} } };
        case 'tools/list': return { tools: [{ name: 'whoami', description: 'Says who calls.', inputSchema: { type: 'object' } }] };
        case 'tools/call': return { content: [{ type: 'text', text: `you are ${subject}` }] };
        case 'ping': return {};
        default: throw new Error(`unknown method ${method} ${JSON.stringify(params ?? null)}`);
    }
}

const json = (response, status, body, headers = {}) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, origin);
    if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
        return json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [issuer], scopes_supported: ['notes:read'] });
    }
    if (pathname === '/log') return json(response, 200, calls);
    if (pathname !== '/mcp') return json(response, 404, {});
    const subject = await subjectOf(request.headers.authorization);
    if (subject === null) {
        const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="notes:read"`;
        return json(response, 401, { error: 'invalid_token' }, { 'www-authenticate': challenge });
    }
    if (request.method !== 'POST') return json(response, 405, {});
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = JSON.parse(body);
    calls.push({ method: message.method, subject });
    if (message.id === undefined) return response.writeHead(202).end();
    try {
        json(response, 200, { jsonrpc: '2.0', id: message.id, result: answer(message, subject) });
    } catch (error) {
        json(response, 200, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: error.message } });
    }
});
server.listen(0, '127.0.0.1', () => {
    origin = `http://127.0.0.1:${server.address().port}`;
    console.error(`listening on port ${server.address().port}`);
});
process.on('SIGTERM', () => process.exit(0));
