// The modules of the console that need no browser: patterns, explanations, histories, findings, addresses of views.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { explain } from './console/app/explain.js';
import { octets, plural, seconds, short, text } from './console/app/format.js';
import { findings, reports } from './console/app/findings.js';
import { graphOf } from './console/app/graph.js';
import { History } from './console/app/history.js';
import { place } from './console/app/layout.js';
import { Mesh } from './console/app/mesh.js';
import { link, parse } from './console/app/route.js';
import { entryOf, formAttributes, namedAttribute, valueOf } from './console/app/schema.js';
import { fitting, sorted } from './console/app/parts/table.js';

const EXAMPLES = JSON.parse(readFileSync(new URL('./explanations.json', import.meta.url), 'utf8'));

for (const { name, address, facts, told } of EXAMPLES) {
    test(`explained as routerstat explains it: ${name}`, () => {
        const found = explain(address, facts);
        const plain = { ...found, steps: found.steps.map((one) => [one.title, one.text]), candidates: found.candidates.map(({ href, ...one }) => one) };
        assert.deepEqual(plain, told);
    });
}

test('a consumer and a router lead to their own views', () => {
    const { address, facts } = EXAMPLES.find((one) => one.name === 'a consumer here goes before a way with the same load');
    assert.deepEqual(explain(address, facts).candidates.map((one) => one.href), [['links', 'A', '7'], ['routers', 'B']]);
});

test('a rate is that of the last seconds, and a counter that fell begins again', () => {
    const history = new History();
    history.add(0, { sent: 100 });
    history.add(2000, { sent: 120 });
    assert.equal(history.rate('sent'), 10);
    history.add(4000, { sent: 0 });
    assert.equal(history.rate('sent'), undefined);
    history.add(6000, { sent: 8 });
    assert.equal(history.rate('sent'), 4);
    assert.deepEqual(history.series('sent', true), [[2, 4, 6], [10, null, 4]]);
    assert.equal(history.growth('sent'), 28);
});

test('no more samples are kept than may be', () => {
    const history = new History(3);
    for (let at = 0; at < 9; at++) history.add(at, { n: at });
    assert.deepEqual(history.samples.map((one) => one.values.n), [6, 7, 8]);
});

test('the address of a view is read as it was written', () => {
    const address = link('links', ['A/1', '7'], { filter: 'a&b?c', none: '' });
    assert.deepEqual(parse(address), { view: 'links', path: ['A/1', '7'], query: { filter: 'a&b?c' } });
    assert.deepEqual(parse(''), { view: 'overview', path: [], query: {} });
    assert.deepEqual(parse('#/x/%E0%A4%A').path, ['%E0%A4%A']);
});

test('figures are short and have units', () => {
    assert.deepEqual([0, 9.94, 12, 999, 1234, 12_345, 999_999, 2e9].map(short), ['0', '9.9', '12', '999', '1.23 k', '12.3 k', '1.00 M', '2.00 G']);
    assert.deepEqual([5, 65, 3700, 90_000].map(seconds), ['5 s', '1 min 5 s', '1 h 1 min', '1 d 1 h']);
    assert.deepEqual([12, 2048, 5 * 2 ** 20].map(octets), ['12 B', '2.0 KiB', '5.0 MiB']);
    assert.equal(plural(1, 'link'), '1 link');
    assert.equal(text([3, 0, 1, 0, 0]), '3, 0, 1');
});

test('what a form says is what the router takes', () => {
    assert.equal(valueOf({ type: 'integer' }, ' 7 '), 7);
    assert.equal(valueOf({ type: 'boolean' }, 'false'), false);
    assert.equal(valueOf({ type: 'string' }, ''), undefined);
    assert.deepEqual(valueOf({ type: 'map' }, '{"a": 1}'), { a: 1 });
    assert.throws(() => valueOf({ type: 'integer' }, 'x'), /not a whole number/);
    assert.throws(() => valueOf({ type: 'map' }, '{'), /no JSON/);
    assert.equal(entryOf({ a: 1 }), '{\n  "a": 1\n}');
});

test('a refusal is shown at the attribute that it names', () => {
    assert.equal(namedAttribute("port: 'abc' is neither", ['host', 'port']), 'port');
    assert.equal(namedAttribute("Unknown attribute 'bogus'", ['host', 'port']), undefined);
});

test('a form asks for what is required first, and not for what a router sets', () => {
    const type = { attributes: { identity: { type: 'string' }, cost: { type: 'integer' }, host: { type: 'string', required: true }, name: { type: 'string' }, sent: { type: 'integer', graph: true } } };
    assert.deepEqual(formAttributes(type, 'x', 'create').map(([one]) => one), ['name', 'host', 'cost']);
    assert.deepEqual(formAttributes(type, 'x', 'update').map(([one]) => one), ['cost', 'host']);
});

test('rows are sorted by numbers as numbers, and what is missing comes last', () => {
    const rows = [{ n: 10 }, { n: null }, { n: 9 }];
    const columns = [{ key: 'n', title: 'N' }];
    assert.deepEqual(sorted(rows, columns, 'n').map((one) => one.n), [9, 10, null]);
    assert.deepEqual(sorted(rows, columns, '-n').map((one) => one.n), [10, 9, null]);
    assert.deepEqual(sorted([{ n: 'a10' }, { n: 'a9' }], columns, 'n').map((one) => one.n), ['a9', 'a10']);
});

test('columns give way where there is no room for them, the least important first', () => {
    const columns = [{ key: 'a', title: 'A' }, { key: 'b', title: 'B', width: 100, from: 'narrow' }, { key: 'c', title: 'C', width: 100 }, { key: 'd', title: 'D', width: 100, from: 'wide' }];
    const keys = (width) => fitting(columns, width).map((one) => one.key).join('');
    assert.deepEqual([1000, 480, 300, 100].map(keys), ['abcd', 'abc', 'ac', 'ac']);
});

test('200 routers have places apart from each other, the same each time', () => {
    const nodes = Array.from({ length: 200 }, (_, at) => ({ id: `R${at}`, weight: 1 }));
    const edges = nodes.slice(1).map((node, at) => ({ a: node.id, b: `R${Math.floor(at / 3)}`, length: 100 }));
    const places = place(nodes, edges);
    assert.deepEqual(place(nodes, edges), places);
    const all = [...places.values()];
    for (const [at, one] of all.entries()) {
        assert.ok(Number.isFinite(one.x) && Number.isFinite(one.y));
        for (const other of all.slice(at + 1)) assert.ok(Math.hypot(one.x - other.x, one.y - other.y) > 8, 'two are in one place');
    }
});

/** A management that answers for a tree of routers. */
class Tree {
    constructor(size) {
        this.ids = Array.from({ length: size }, (_, at) => `R${at}`);
        this.dead = new Set();
        this.certificates = new Map();
    }

    neighbours(at) {
        const around = [Math.floor((at - 1) / 3), 3 * at + 1, 3 * at + 2, 3 * at + 3];
        return at ? around.filter((one) => one >= 0 && one < this.ids.length) : around.slice(1);
    }

    async node() {
        return this.ids.filter((id) => !this.dead.has(id)).map((id) => `amqp:/_topo/0/${id}/$management`);
    }

    async query(path, type) {
        await null;
        const id = path ? path.split('/').at(-1) : 'R0';
        if (this.dead.has(id)) throw new Error('The router is not reached at the moment.');
        const at = this.ids.indexOf(id);
        if (type.endsWith('.certificate')) return this.certificates.get(id) ?? [];
        if (type.endsWith('.router')) return [{ id, mode: 'interior', uptimeSeconds: 5, linkCount: 10, deliveriesStuck: at === 7 ? 2 : 0 }];
        if (!type.endsWith('.router.node')) return [];
        const own = { id, nextHop: '(self)', cost: null, linkState: this.neighbours(at).map((one) => this.ids[one]) };
        return [own, ...own.linkState.map((one) => ({ id: one, nextHop: null, cost: 1 }))];
    }
}

test('200 routers are found and kept up to date, and what is lost is said', async () => {
    const tree = new Tree(200);
    let now = 1_000_000;
    const mesh = new Mesh(tree, () => now);
    await mesh.start();
    mesh.stop();
    for (let beat = 0; beat < 40; beat++) {
        now += mesh.beatMs;
        mesh.beats += 1;
        await mesh.beat();
    }
    assert.equal(mesh.beatMs, 5000);
    assert.equal(mesh.present.filter((one) => one.state === 'up').length, 200);
    assert.deepEqual([mesh.trunks().length, mesh.trunks().every((one) => one.isUp && one.cost === 1)], [199, true]);
    assert.deepEqual(findings(mesh).map((one) => [one.router, one.severity]), [['R7', 'warn']]);
    const { nodes, edges } = graphOf(mesh, undefined);
    assert.deepEqual([nodes.length, edges.length], [200, 199]);
    tree.dead.add('R9');
    mesh.beats = 3;
    await mesh.beat();
    assert.equal(mesh.routers.get('R9').state, 'lost');
    assert.match(findings(mesh)[0].title, /^Router R9 has left the network/);
    mesh.forget('R9');
    assert.equal(mesh.routers.has('R9'), false);
});

test('certificates that expire soon are told, the most urgent first', async () => {
    const DAY_S = 24 * 3600;
    const tree = new Tree(4);
    const now = Date.UTC(2026, 10, 2, 12);
    const certificate = (profile, days) => ({ profile, expiry: now / 1000 + days * DAY_S });
    tree.certificates.set('R0', [certificate('later', 14), certificate('soon', 13)]);
    tree.certificates.set('R1', [certificate('soon', 13), certificate('over', -2)]);
    tree.certificates.set('R2', [certificate('now', 1)]);
    const mesh = new Mesh(tree, () => now);
    await mesh.start();
    mesh.stop();
    mesh.beats += 1;
    await mesh.beat();
    const found = findings(mesh).filter((one) => one.href.includes('sslProfile'));
    assert.deepEqual(found.map((one) => [one.severity, one.router, one.others, one.title]), [
        ['bad', 'R1', undefined, 'The certificate of profile over expired on Oct 31, 2026'],
        ['bad', 'R2', undefined, 'The certificate of profile now expires on Nov 3, 2026'],
        ['warn', 'R0', ['R1'], 'The certificate of profile soon expires on Nov 15, 2026'],
    ]);
});

test('reports of recorded decisions are linked to once, while there are records, and nothing but pages', () => {
    const router = (...record) => ({ look: { record } });
    const url = 'https://reports.example.com/report.html';
    const routers = [
        router({ status: 'recording', reportUrl: url }), router({ status: 'disk is full', reportUrl: url }), router({ status: 'recording', reportUrl: null }),
        router({ status: 'off', reportUrl: 'http://off' }), router({ status: 'recording', reportUrl: 'javascript:alert(1)' }), router(), { look: null },
    ];
    assert.deepEqual(reports(routers), [url]);
});
