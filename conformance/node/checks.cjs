// Prints what the conformance suite recorded in a folder, one check a line: scenario, status, id, text, with tabs between.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const [, , top, prefix] = process.argv;
// A folder of results ends with the time it was made at.
const STAMP = /-\d{4}-\d\d-\d\dT[\d-]+Z$/;
const inOneLine = (text) => String(text ?? '').replace(/\s+/g, ' ').trim().slice(0, 300);

function visit(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const place = path.join(folder, entry.name);
    if (STAMP.test(entry.name)) print(place);
    else visit(place);
  }
}

function print(place) {
  const file = path.join(place, 'checks.json');
  if (!fs.existsSync(file)) return;
  let scenario = path.relative(top, place).split(path.sep).join('/').replace(STAMP, '');
  if (prefix && scenario.startsWith(prefix)) scenario = scenario.slice(prefix.length);
  for (const check of JSON.parse(fs.readFileSync(file, 'utf8'))) {
    const text = inOneLine(check.errorMessage || check.description);
    console.log([scenario, check.status, inOneLine(check.id), text].join('\t'));
  }
}

if (fs.existsSync(top)) visit(top);
