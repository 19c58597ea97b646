/** The network as nodes and edges of a drawing: routers, containers, and the clients of each router as one group. */

import { pair } from './mesh.js';

/** Routers beyond which clients and containers are drawn only for the one that is chosen. */
const MANY = 40;

/** @typedef {import('./mesh.js').Mesh} Mesh */
/** @typedef {import('./mesh.js').RouterView} RouterView */
/** @typedef {{id: string, kind: 'interior' | 'edge' | 'standalone' | 'container' | 'clients', label: string, router?: string, state: string, weight: number, count?: number}} GraphNode */
/** @typedef {{id: string, a: string, b: string, kind: 'trunk' | 'uplink' | 'container' | 'clients', isUp: boolean, cost: number | null, length: number, lostAt?: number}} GraphEdge */

/**
 * @param {Mesh} mesh
 * @param {string | undefined} chosen a router whose clients and containers are drawn in any case
 * @returns {{nodes: GraphNode[], edges: GraphEdge[]}}
 */
export function graphOf(mesh, chosen) {
    /** @type {GraphNode[]} */
    const nodes = [];
    /** @type {GraphEdge[]} */
    const edges = [];
    const isLarge = mesh.routers.size > MANY;
    for (const router of mesh.list) {
        nodes.push({ id: router.id, kind: router.kind, label: router.id, router: router.id, state: router.state, weight: router.kind === 'edge' ? 1 : 1.6 });
        if (router.kind === 'edge' && router.uplink) {
            edges.push({ id: `uplink ${router.id}`, a: router.id, b: router.uplink, kind: 'uplink', isUp: router.state === 'up', cost: null, length: 78 });
        }
        if (router.state === 'up' && (!isLarge || chosen === router.id)) addPeers(router, nodes, edges);
    }
    for (const trunk of mesh.trunks()) {
        edges.push({ id: `trunk ${pair(trunk.a, trunk.b)}`, a: trunk.a, b: trunk.b, kind: 'trunk', isUp: trunk.isUp, cost: trunk.cost, length: 135, lostAt: trunk.lostAt });
    }
    return { nodes, edges };
}

/**
 * @param {RouterView} router
 * @param {GraphNode[]} nodes
 * @param {GraphEdge[]} edges
 */
function addPeers(router, nodes, edges) {
    const containers = new Map();
    let clients = 0;
    for (const one of router.look?.connections ?? []) {
        if (one.role === 'route-container') containers.set(one.container || one.host, one);
        else if (one.role === 'normal') clients += 1;
    }
    for (const [name] of containers) {
        const id = `container ${name}`;
        if (!nodes.some((one) => one.id === id)) nodes.push({ id, kind: 'container', label: name, state: 'up', weight: 0.8 });
        edges.push({ id: `${id} ${router.id}`, a: router.id, b: id, kind: 'container', isUp: true, cost: null, length: 70 });
    }
    for (const one of router.look?.connectors ?? []) {
        if (one.role !== 'route-container' || one.connectionStatus === 'SUCCESS') continue;
        const id = `container ${one.name}@${router.id}`;
        nodes.push({ id, kind: 'container', label: one.name, state: 'lost', weight: 0.8, router: router.id });
        edges.push({ id: `${id} ${router.id}`, a: router.id, b: id, kind: 'container', isUp: false, cost: null, length: 70 });
    }
    if (clients) {
        const id = `clients ${router.id}`;
        nodes.push({ id, kind: 'clients', label: String(clients), router: router.id, state: 'up', weight: 0.6, count: clients });
        edges.push({ id, a: router.id, b: id, kind: 'clients', isUp: true, cost: null, length: 52 });
    }
}

/**
 * The clients of a router by what they are: the product that they name, or else their container-id without its number.
 * @param {RouterView} router
 * @returns {[string, number][]}
 */
export function clientGroups(router) {
    /** @type {Map<string, number>} */
    const groups = new Map();
    for (const one of router.look?.connections ?? []) {
        if (one.role !== 'normal') continue;
        const name = one.properties?.product || one.user && one.user !== 'anonymous' && one.user || stem(one.container) || 'unnamed';
        groups.set(name, (groups.get(name) ?? 0) + 1);
    }
    return [...groups].sort((a, b) => b[1] - a[1]);
}

/** @param {string | null} container */
function stem(container) {
    if (!container || /^[0-9a-f-]{20,}$/i.test(container)) return '';
    return container.replace(/[-_.:]?[0-9a-f-]{6,}$/i, '').replace(/[-_.]?\d+$/, '');
}
