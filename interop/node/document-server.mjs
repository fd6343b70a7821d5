// Serves the metadata document of a client at `https://localhost:N/client.json`: `document-server.mjs CERTIFICATE KEY`.
//
// The document allows callbacks on any port of 127.0.0.1. Says `listening on port N` on stderr, and ends on SIGTERM.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [cert, key] = process.argv.slice(2).map(path => readFileSync(path));
const https = createServer({ cert, key }, (req, res) => {
    const document = {
        client_id: `https://localhost:${https.address().port}/client.json`,
        client_name: 'Client with a document',
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
    };
    res.setHeader('content-type', 'application/json');
    res.writeHead(req.url === '/client.json' ? 200 : 404).end(JSON.stringify(document));
});
https.listen(0, '127.0.0.1', () => console.error(`listening on port ${https.address().port}`));
process.on('SIGTERM', () => process.exit(0));
