/** The routers of the network, and one of them in detail. */

import { html } from '../html.js';
import { clock, count, microseconds, octets, rate, seconds, short } from '../format.js';
import { findings } from '../findings.js';
import { link, replaceQuery } from '../route.js';
import { Empty, Facts, Head, Panel, RouterStatus, Search, Stat } from '../parts/bits.js';
import { Chart } from '../parts/chart.js';
import { Table } from '../parts/table.js';
import { useMesh } from '../parts/use.js';
import { Findings } from './overview.js';

/** @typedef {import('../mesh.js').RouterView} RouterView */
/** @typedef {import('../parts/table.js').Column} Column */

/** @type {Column[]} */
const COLUMNS = [
    { key: 'id', title: 'Router' },
    { key: 'state', title: 'State', width: 112, cell: (row) => html`<${RouterStatus} router=${row.view} />` },
    { key: 'kind', title: 'Kind', width: 96, from: 'narrow' },
    { key: 'in', title: 'In', width: 88, isNumber: true, cell: (row) => rate(row.in), about: 'Deliveries from clients' },
    { key: 'out', title: 'Out', width: 88, isNumber: true, cell: (row) => rate(row.out), about: 'Deliveries to clients' },
    { key: 'transit', title: 'Transit', width: 88, isNumber: true, from: 'medium', cell: (row) => rate(row.transit), about: 'Deliveries from one router to another' },
    { key: 'connections', title: 'Connections', width: 104, isNumber: true, from: 'narrow', cell: (row) => short(row.connections) },
    { key: 'links', title: 'Links', width: 76, isNumber: true, from: 'medium', cell: (row) => short(row.links) },
    { key: 'addresses', title: 'Addresses', width: 94, isNumber: true, from: 'medium', cell: (row) => short(row.addresses) },
    { key: 'stuck', title: 'Stuck', width: 70, isNumber: true, from: 'narrow', cell: (row) => short(row.stuck) },
    { key: 'memory', title: 'Memory', width: 90, isNumber: true, from: 'medium', cell: (row) => octets(row.memory) },
    { key: 'version', title: 'Version', width: 86, from: 'wide' },
    { key: 'up', title: 'Up', width: 96, isNumber: true, from: 'narrow', cell: (row) => seconds(row.up) },
];

/** @param {RouterView} view */
function rowOf(view) {
    const now = view.now ?? {};
    return {
        view, id: view.id, state: view.state, kind: view.kind, in: view.rate('deliveriesIngress'), out: view.rate('deliveriesEgress'),
        transit: view.rate('deliveriesTransit'), connections: now.connectionCount, links: now.linkCount, addresses: now.addrCount,
        stuck: now.deliveriesStuck, memory: now.memoryUsage, version: now.version, up: now.uptimeSeconds,
    };
}

/** @param {{app: import('../main.js').App, route: import('../route.js').Route}} props */
export function Routers({ app, route }) {
    const mesh = useMesh(app.mesh);
    if (route.path[0]) return html`<${Router} app=${app} id=${route.path[0]} />`;
    const filter = (route.query.filter ?? '').toLowerCase();
    const rows = mesh.list.filter((one) => `${one.id} ${one.kind} ${one.state}`.toLowerCase().includes(filter)).map(rowOf);
    return html`<div class="list"><${Head} title="Routers" about="All routers of the network, reached through the one that this page is connected to.">
            <${Search} value=${route.query.filter ?? ''} onInput=${(/** @type {string} */ text) => replaceQuery(route, { filter: text })} /><//>
        ${rows.length
            ? html`<${Table} label="Routers" columns=${COLUMNS} rows=${rows} rowKey=${(/** @type {any} */ row) => row.id} href=${(/** @type {any} */ row) => link('routers', [row.id])}
                sort=${route.query.sort ?? 'id'} onSort=${(/** @type {string} */ by) => replaceQuery(route, { sort: by })} />`
            : html`<${Empty} title="Nothing matches">There are ${count(mesh.routers.size)} routers in all.<//>`}</div>`;
}

/** @param {{app: import('../main.js').App, id: string}} props */
function Router({ app, id }) {
    const { mesh } = app;
    const router = mesh.routers.get(id);
    if (!router) {
        return html`<${Head} title=${id} /><${Empty} title="There is no such router in the network">
            It may have left a while ago, or its id is another. <a href=${link('routers')}>See all routers.</a><//>`;
    }
    const now = router.now ?? {};
    const own = findings(mesh).filter((one) => one.router === id || one.others?.includes(id)).map((one) => ({ ...one, others: undefined }));
    const series = (/** @type {[string, string][]} */ figures) => figures.map(([name, label]) => {
        const [times, values] = router.history.series(name, true);
        return { label, times, values };
    });
    return html`<${Head} title=${id} about=${html`<${RouterStatus} router=${router} /> ${router.kind}${router.uplink ? ` router at ${router.uplink}` : ' router'}${router.state === 'lost' ? `, lost at ${clock(router.lostAt)}` : ''}`}>
            <a class="button" href=${link('connections', [], { router: id })}>Connections</a>
            <a class="button" href=${link('addresses', [], { router: id })}>Addresses</a>
            <a class="button" href=${link('log', [], { router: id })}>Log</a>
            ${router.state === 'lost' && html`<button type="button" onClick=${() => { mesh.forget(id); location.hash = link('routers'); }}>Forget it</button>`}<//>
        ${own.length > 0 && html`<${Panel} title="What needs attention"><${Findings} found=${own} /><//>`}
        <div class="stats">
            <${Stat} label="From clients" value=${rate(router.rate('deliveriesIngress'))} note=${`${short(now.deliveriesIngress)} in all`} />
            <${Stat} label="To clients" value=${rate(router.rate('deliveriesEgress'))} note=${`${short(now.deliveriesEgress)} in all`} />
            <${Stat} label="In transit" value=${rate(router.rate('deliveriesTransit'))} note=${`${short(now.deliveriesTransit)} in all`} />
            <${Stat} label="Connections" value=${short(now.connectionCount)} href=${link('connections', [], { router: id })} />
            <${Stat} label="Links" value=${short(now.linkCount)} href=${link('links', [], { router: id })} note=${now.linksBlocked ? `${count(now.linksBlocked)} blocked` : undefined} tone=${now.linksBlocked ? 'warn' : undefined} />
            <${Stat} label="Addresses" value=${short(now.addrCount)} href=${link('addresses', [], { router: id })} />
            <${Stat} label="Memory" value=${octets(now.memoryUsage)} />
        </div>
        <div class="columns even">
            <${Panel} title="Deliveries"><${Chart} label="Deliveries a second" format=${rate} series=${series([['deliveriesIngress', 'from clients'], ['deliveriesEgress', 'to clients'], ['deliveriesTransit', 'in transit']])} /><//>
            <${Panel} title="Outcomes"><${Chart} label="Outcomes a second" format=${rate} series=${series([['acceptedDeliveries', 'accepted'], ['releasedDeliveries', 'released'], ['rejectedDeliveries', 'rejected'], ['modifiedDeliveries', 'modified'], ['droppedPresettledDeliveries', 'dropped']])} /><//>
        </div>
        <div class="columns even">
            <${Panel} title="Connection actors"><${Actors} router=${router} /><//>
            <${Panel} title="Ways to other routers"><${Ways} router=${router} /><//>
        </div>
        <${Panel} title="About"><${Facts} pairs=${[
            ['Version', now.version ?? '–'], ['Mode', now.mode ?? router.kind], ['Up', seconds(now.uptimeSeconds)],
            ['Link routes', count(now.linkRouteCount)], ['Auto-links', count(now.autoLinkCount)], ['Delayed 1 s', count(now.deliveriesDelayed1Sec)],
            ['Delayed 10 s', count(now.deliveriesDelayed10Sec)], ['Last heard', router.heardAt ? clock(router.heardAt) : '–'],
        ]} /><//>`;
}

/** @type {Column[]} */
const ACTOR_COLUMNS = [
    { key: 'name', title: 'Actor' },
    { key: 'pid', title: 'Process', width: 80, isNumber: true, from: 'narrow', cell: (row) => String(row.pid) },
    { key: 'connectionCount', title: 'Conns', width: 66, isNumber: true },
    { key: 'eventLoopLagMaxMicroseconds', title: 'Late', width: 82, isNumber: true, cell: (row) => microseconds(row.eventLoopLagMaxMicroseconds), about: 'How late its event loop was at most in the last second' },
    { key: 'bufferedOctets', title: 'Buffered', width: 84, isNumber: true, from: 'narrow', cell: (row) => octets(row.bufferedOctets) },
    { key: 'memoryUsage', title: 'Memory', width: 88, isNumber: true, cell: (row) => octets(row.memoryUsage) },
    { key: 'restarts', title: 'Restarts', width: 78, isNumber: true },
];

/** @param {{router: RouterView}} props */
function Actors({ router }) {
    const rows = router.look?.actors ?? [];
    if (!rows.length) return html`<${Empty} title=${router.look ? 'It has no such actors' : 'Not known yet'} />`;
    return html`<${Table} label="Connection actors" columns=${ACTOR_COLUMNS} rows=${rows} rowKey=${(/** @type {any} */ row) => row.identity} isTall=${false} />`;
}

/** @type {Column[]} */
const WAY_COLUMNS = [
    { key: 'id', title: 'Router' },
    { key: 'nextHop', title: 'By way of', width: 130, value: (row) => row.nextHop || 'a trunk' },
    { key: 'cost', title: 'Cost', width: 70, isNumber: true },
];

/** @param {{router: RouterView}} props */
function Ways({ router }) {
    if (router.kind === 'edge') return html`<${Empty} title=${`All goes by way of ${router.uplink ?? 'its interior router'}`}>An edge router has one uplink at a time.<//>`;
    const rows = (router.look?.nodes ?? []).filter((one) => one.nextHop !== '(self)');
    if (!rows.length) return html`<${Empty} title="There is no other router">Join one by a connector with role inter-router.<//>`;
    return html`<${Table} label="Ways to other routers" columns=${WAY_COLUMNS} rows=${rows} rowKey=${(/** @type {any} */ row) => row.id}
        href=${(/** @type {any} */ row) => link('routers', [row.id])} sort="cost" isTall=${false} />`;
}
