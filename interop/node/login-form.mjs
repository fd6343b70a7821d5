// Logs in at the form of an authorization server, as a browser without scripts would: `login-form.mjs [--stay | --cancel] URL`.
//
// Follows redirects, fills in every form and sends it, until a page has none. With `--stay` it does not go to another
// origin; where it should have gone is printed then, otherwise the title of the last page. With `--cancel` it follows the
// link that cancels the login instead of the first form.

import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { stay: { type: 'boolean', default: false }, cancel: { type: 'boolean', default: false } },
});

const cookies = new Map();

async function request(url, options = {}) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...options.headers, cookie };
    const response = await fetch(url, { ...options, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
        const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
        if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
    }
    return response;
}

const unescape = text => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
const attribute = (tag, name) => unescape(tag.match(new RegExp(`\\b${name}="([^"]*)"`))?.[1] ?? '');

/** What a person would send, or nothing if the page has no form. */
function fill(page) {
    const form = page.match(/<form[^>]*method="post"[^>]*>([\s\S]*?)<\/form>/i);
    if (!form) return undefined;
    const body = new URLSearchParams();
    for (const [input] of form[1].matchAll(/<input[^>]*>/g)) {
        const typed = { login: 'ada', password: 'lovelace' };
        const name = attribute(input, 'name');
        if (name) body.append(name, typed[name] ?? attribute(input, 'value'));
    }
    return { action: attribute(form[0], 'action'), body };
}

let [url] = positionals;
const { origin } = new URL(url);
let response = await request(url);
for (let step = 0; step < 30; step += 1) {
    const location = response.headers.get('location');
    if (location) {
        url = new URL(location, url).href;
        if (values.stay && new URL(url).origin !== origin) {
            console.log(url);
            process.exit(0);
        }
        response = await request(url);
        continue;
    }
    const page = await response.text();
    const cancel = page.match(/<a href="[^"]*">\[ Cancel \]/);
    if (values.cancel && cancel) {
        url = new URL(attribute(cancel[0], 'href'), url).href;
        response = await request(url);
        continue;
    }
    const form = fill(page);
    if (!form) {
        const title = page.match(/<title>([^<]*)/)?.[1] ?? page;
        console.log(`${response.status} ${title}`);
        process.exit(response.ok ? 0 : 1);
    }
    url = new URL(form.action, url).href;
    response = await request(url, { method: 'POST', body: form.body });
}
console.error('the login does not come to an end');
process.exit(1);
