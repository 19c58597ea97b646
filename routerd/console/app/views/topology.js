/** The network as a drawing that keeps itself up to date. */

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { clock, octets, plural, rate, seconds, short } from '../format.js';
import { clientGroups, graphOf } from '../graph.js';
import { History } from '../history.js';
import { place } from '../layout.js';
import { pair, sum } from '../mesh.js';
import { PREFIX } from '../management.js';
import { link } from '../route.js';
import { Empty, Facts, Head, Icon, Panel, RouterStatus, Status } from '../parts/bits.js';
import { Table } from '../parts/table.js';
import { useMesh } from '../parts/use.js';

const LINKS_MAX = 3000;
const RATED_ROUTERS_MAX = 24;
const MARGIN = 64;
/** Nodes beyond which names are drawn when one looks closely, and costs are left to the table. */
const DENSE = 60;
const NEAR = 2.5;

/** @typedef {import('../graph.js').GraphNode} GraphNode */
/** @typedef {import('../graph.js').GraphEdge} GraphEdge */
/** @typedef {Map<string, {x: number, y: number}>} Places */

/**
 * Rates on trunks by direction, `A\nB` for what A sends to B; asked for while somebody looks.
 * @param {import('../main.js').App} app
 */
function useTrunkRates(app) {
    const kept = useRef(/** @type {Map<string, History>} */ (new Map()));
    useEffect(() => {
        let isOver = false;
        let isRunning = false;
        let next = 0;
        const ask = async () => {
            if (isRunning || isOver || performance.now() < next) return;
            isRunning = true;
            const began = performance.now();
            const routers = app.mesh.present.filter((one) => one.state === 'up' && one.kind === 'interior' && (one.now?.linkCount ?? 0) <= LINKS_MAX);
            await Promise.all(routers.slice(0, RATED_ROUTERS_MAX).map((router) => sample(app, router, kept.current).catch(() => {})));
            // As with lists: asking is never most of what a router does.
            next = performance.now() + 4 * (performance.now() - began);
            isRunning = false;
        };
        const stop = app.mesh.subscribe(ask);
        ask();
        return () => {
            isOver = true;
            stop();
        };
    }, [app]);
    return (/** @type {string} */ from, /** @type {string} */ to) => kept.current.get(`${from}\n${to}`)?.rate('deliveries');
}

/**
 * @param {import('../main.js').App} app
 * @param {import('../mesh.js').RouterView} router
 * @param {Map<string, History>} kept
 */
async function sample(app, router, kept) {
    const peers = new Map((router.look?.connections ?? []).filter((one) => one.role === 'inter-router').map((one) => [one.identity, one.container]));
    const links = await app.management.query(router.path, `${PREFIX}router.link`, ['identity', 'linkType', 'linkDir', 'connectionId', 'deliveryCount'], { most: LINKS_MAX });
    for (const [connection, peer] of peers) {
        const own = links.filter((one) => one.connectionId === connection && one.linkType === 'inter-router' && one.linkDir === 'out');
        const key = `${router.id}\n${peer}`;
        if (!kept.has(key)) kept.set(key, new History(30));
        kept.get(key)?.add(Date.now(), { deliveries: sum(own, 'deliveryCount') });
    }
}

/** @param {{app: import('../main.js').App, route: import('../route.js').Route}} props */
export function Topology({ app, route }) {
    const mesh = useMesh(app.mesh);
    const rates = useTrunkRates(app);
    const chosen = route.path[0];
    const graph = graphOf(mesh, chosen);
    const places = usePlaces(graph.nodes, graph.edges);
    const node = graph.nodes.find((one) => one.id === chosen);
    const trunks = mesh.trunks();
    return html`<div class=${`with-detail ${node ? 'open' : ''}`}>
        <div class="list">
            <${Head} title="Topology" about=${`${plural(mesh.present.length, 'router')}, ${plural(trunks.filter((one) => one.isUp).length, 'trunk')}. Numbers on trunks are costs and deliveries a second.`} />
            <${Drawing} nodes=${graph.nodes} edges=${graph.edges} places=${places} chosen=${chosen} rates=${rates} />
            <${Legend} />
            ${trunks.length > 0 && html`<${Panel} title="Trunks"><${Trunks} trunks=${trunks} rates=${rates} /><//>`}
        </div>
        ${node && html`<${NodeDetail} app=${app} node=${node} />`}
    </div>`;
}

/**
 * @param {GraphNode[]} nodes
 * @param {GraphEdge[]} edges
 * @returns {Places}
 */
function usePlaces(nodes, edges) {
    const before = useRef(/** @type {Places} */ (new Map()));
    const shape = `${nodes.map((one) => one.id).join()}|${edges.map((one) => one.id).join()}`;
    return useMemo(() => {
        before.current = place(nodes, edges, before.current);
        return before.current;
    }, [shape]);
}

/**
 * @param {{nodes: GraphNode[], edges: GraphEdge[], places: Places, chosen: string | undefined, rates: (from: string, to: string) => number | undefined}} props
 */
function Drawing({ nodes, edges, places, chosen, rates }) {
    const [zoom, setZoom] = useState(1);
    const [shift, setShift] = useState({ x: 0, y: 0 });
    const drag = useRef(/** @type {any} */ (null));
    const all = [...places.values()];
    const left = Math.min(-160, ...all.map((one) => one.x)) - MARGIN;
    const right = Math.max(160, ...all.map((one) => one.x)) + MARGIN;
    const top = Math.min(-90, ...all.map((one) => one.y)) - MARGIN;
    const bottom = Math.max(90, ...all.map((one) => one.y)) + MARGIN;
    const [width, height] = [(right - left) / zoom, (bottom - top) / zoom];
    const view = [(left + right - width) / 2 - shift.x, (top + bottom - height) / 2 - shift.y, width, height];
    const begin = (/** @type {any} */ event) => {
        drag.current = { x: event.clientX, y: event.clientY, from: shift, scale: width / event.currentTarget.clientWidth };
    };
    const move = (/** @type {any} */ event) => {
        const now = drag.current;
        if (now && event.buttons) setShift({ x: now.from.x + (event.clientX - now.x) * now.scale, y: now.from.y + (event.clientY - now.y) * now.scale });
    };
    return html`<div class="drawing">
        <svg class=${nodes.length <= DENSE ? '' : zoom < NEAR ? 'dense far' : 'dense'} viewBox=${view.map((one) => one.toFixed(1)).join(' ')} role="group" aria-label="Map of the network"
            onPointerDown=${begin} onPointerMove=${move} onPointerUp=${() => { drag.current = null; }}>
            <g>${edges.map((edge) => html`<${Edge} key=${edge.id} edge=${edge} places=${places} rates=${rates} />`)}</g>
            <g>${nodes.map((node) => html`<${Node} key=${node.id} node=${node} at=${places.get(node.id)} isChosen=${node.id === chosen} />`)}</g>
        </svg>
        <div class="zoom">
            <button type="button" aria-label="Larger" onClick=${() => setZoom(Math.min(8, zoom * 1.4))}>+</button>
            <button type="button" aria-label="Smaller" onClick=${() => setZoom(Math.max(0.5, zoom / 1.4))}>−</button>
            <button type="button" onClick=${() => { setZoom(1); setShift({ x: 0, y: 0 }); }}>Fit</button>
        </div>
    </div>`;
}

/** @param {{edge: GraphEdge, places: Places, rates: (from: string, to: string) => number | undefined}} props */
function Edge({ edge, places, rates }) {
    const [a, b] = [places.get(edge.a), places.get(edge.b)];
    if (!a || !b) return null;
    const flow = edge.kind === 'trunk' ? (rates(edge.a, edge.b) ?? 0) + (rates(edge.b, edge.a) ?? 0) : 0;
    const width = edge.kind === 'trunk' ? 1.6 + Math.min(5, Math.log10(1 + flow) * 1.1) : 1.2;
    const label = edge.kind !== 'trunk' ? '' : edge.isUp ? `${edge.cost ?? '?'}${flow >= 0.05 ? ` · ${rate(flow)}` : ''}` : `down since ${clock(edge.lostAt ?? 0)}`;
    return html`<g class=${`edge ${edge.kind} ${edge.isUp ? '' : 'down'}`}>
        <line x1=${a.x} y1=${a.y} x2=${b.x} y2=${b.y} stroke-width=${width} />
        ${label && html`<rect class="label" x=${(a.x + b.x) / 2 - 3.1 * label.length - 4} y=${(a.y + b.y) / 2 - 8} width=${6.2 * label.length + 8} height="16" rx="8" />
            <text x=${(a.x + b.x) / 2} y=${(a.y + b.y) / 2 + 4} text-anchor="middle">${label}</text>`}
    </g>`;
}

const WORDS = /** @type {Record<string, string>} */ ({
    interior: 'interior router', edge: 'edge router', standalone: 'router', container: 'container', clients: 'clients',
});

/** @param {{node: GraphNode, at: {x: number, y: number} | undefined, isChosen: boolean}} props */
function Node({ node, at, isChosen }) {
    if (!at) return null;
    const name = node.kind === 'clients' ? `${plural(node.count ?? 0, 'client')} of ${node.router}` : `${node.label}, ${WORDS[node.kind]}, ${node.state}`;
    const radius = { interior: 21, standalone: 21, edge: 15, container: 13, clients: 11 }[node.kind];
    const isShort = node.label.length <= 3;
    const isInside = node.kind === 'clients' || (isShort && node.kind !== 'container');
    return html`<a class=${`node ${node.kind} ${node.state} ${isChosen ? 'chosen' : ''} ${isInside ? 'inside' : ''}`} href=${link('topology', [node.id])} aria-label=${name} transform=${`translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`} draggable="false">
        <title>${name}</title>
        ${node.kind === 'container' ? html`<rect x=${-radius} y=${-radius} width=${2 * radius} height=${2 * radius} rx="4" />` : html`<circle r=${radius} />`}
        <text class="name" text-anchor="middle" y=${isInside ? 4 : radius + 13}>${node.label}</text>
    </a>`;
}

function Legend() {
    return html`<p class="map-legend muted small">
        <span><i class="mark interior"></i>interior router</span><span><i class="mark edge"></i>edge router</span><span><i class="mark container"></i>broker or other container</span>
        <span><i class="mark clients"></i>clients, and how many</span><span><i class="mark down"></i>lost, or not connected</span></p>`;
}

/** @param {{trunks: ReturnType<import('../mesh.js').Mesh['trunks']>, rates: (from: string, to: string) => number | undefined}} props */
function Trunks({ trunks, rates }) {
    const rows = trunks.map((one) => ({ ...one, id: pair(one.a, one.b), there: rates(one.a, one.b), back: rates(one.b, one.a) }));
    return html`<${Table} label="Trunks" isTall=${false} rows=${rows} rowKey=${(/** @type {any} */ row) => row.id} columns=${[
        { key: 'a', title: 'From' }, { key: 'b', title: 'To', width: 90 },
        { key: 'isUp', title: 'State', width: 128, cell: (/** @type {any} */ row) => html`<${Status} tone=${row.isUp ? 'ok' : 'bad'}>${row.isUp ? 'up' : `down ${clock(row.lostAt)}`}<//>` },
        { key: 'cost', title: 'Cost', width: 64, isNumber: true, from: 'narrow' },
        { key: 'there', title: 'Rate there', width: 98, isNumber: true, from: 'narrow', cell: (/** @type {any} */ row) => rate(row.there) },
        { key: 'back', title: 'Rate back', width: 98, isNumber: true, from: 'narrow', cell: (/** @type {any} */ row) => rate(row.back) },
    ]} />`;
}

/** @param {{app: import('../main.js').App, node: GraphNode}} props */
function NodeDetail({ app, node }) {
    const router = node.router ? app.mesh.routers.get(node.router) : undefined;
    const isRouter = node.id === node.router;
    const groups = router ? clientGroups(router) : [];
    const aside = useRef(/** @type {any} */ (null));
    useEffect(() => aside.current?.focus({ preventScroll: true }), [node.id]);
    return html`<aside class="detail" ref=${aside} tabindex="-1" aria-label=${node.label} onKeyDown=${(/** @type {any} */ event) => { if (event.key === 'Escape') location.hash = link('topology'); }}>
        <header><div><p class="kind">${node.kind === 'clients' ? 'clients of' : WORDS[node.kind]}</p><h2>${node.kind === 'clients' ? node.router : node.label}</h2></div>
            <a class="button quiet" href=${link('topology')} aria-label="Close"><${Icon} name="close" /></a></header>
        ${isRouter && router && html`
            <p><${RouterStatus} router=${router} /></p>
            <p class="links-to"><a href=${link('routers', [router.id])}>All of it</a><a href=${link('connections', [], { router: router.id })}>Connections</a>
                <a href=${link('links', [], { router: router.id })}>Links</a><a href=${link('addresses', [], { router: router.id })}>Addresses</a></p>
            <${Facts} pairs=${[
                ['From clients', rate(router.rate('deliveriesIngress'))], ['To clients', rate(router.rate('deliveriesEgress'))],
                ['In transit', rate(router.rate('deliveriesTransit'))], ['Connections', short(router.now?.connectionCount)], ['Links', short(router.now?.linkCount)],
                ['Addresses', short(router.now?.addrCount)], ['Memory', octets(router.now?.memoryUsage)], ['Up', seconds(router.now?.uptimeSeconds)],
            ]} />`}
        ${router && node.kind !== 'container' && html`<h3>Clients</h3>${groups.length
            ? html`<table class="figures"><tbody>${groups.slice(0, 20).map(([name, number]) => html`<tr key=${name}><th scope="row">
                <a href=${link('connections', [], { router: router.id, role: 'normal', filter: name })}>${name}</a></th><td class="number">${short(number)}</td></tr>`)}</tbody></table>`
            : html`<${Empty} title="No clients are connected" />`}`}
        ${node.kind === 'container' && html`<p><${Status} tone=${node.state === 'up' ? 'ok' : 'bad'}>${node.state === 'up' ? 'connected' : 'not connected'}<//></p>
            <p class="links-to"><a href=${link('connections', [], { router: node.router ?? '*', role: 'route-container', filter: node.state === 'up' ? node.label : '' })}>Its connections</a>
            <a href=${link('link-routes', [], { router: node.router })}>Link routes and auto-links</a></p>`}
    </aside>`;
}
