// Logs in at the form of oidc-provider in headless Chromium, as a person would: `chromium-login.mjs CHROMIUM URL`.
//
// Types a name and a password, agrees to everything, and prints the title of the page at which the browser ends.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

const [executablePath, url] = process.argv.slice(2);
const profile = await mkdtemp(join(tmpdir(), 'chromium-login-'));
const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
    ],
});
try {
    browser.setDefaultTimeout(30_000);
    // The pages ask for a font of another host.
    await browser.route(({ hostname }) => hostname !== '127.0.0.1', route => route.abort());
    const page = browser.pages()[0] ?? (await browser.newPage());
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    await page.getByPlaceholder('Enter any login').fill('ada');
    await page.getByPlaceholder('and password').fill('lovelace');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('You can close this page').waitFor();
    console.log(await page.title());
} finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
}
