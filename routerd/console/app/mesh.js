/**
 * What is known of all routers of the network, by management through the one that the page is connected to.
 *
 * At each beat every router says its figures. A closer look, with its connections and what is configured, goes round.
 */

import { History } from './history.js';
import { PREFIX } from './management.js';

export const BEAT_MS = 2000;
const DISCOVERY_BEATS = 3;
const LOOK_BEATS = 3;
/** Routers of a large network that are looked at closely in one beat. */
const LOOKS_AT_ONCE = 6;
/** Connections of one router that a look takes in. */
export const LOOK_CONNECTIONS_MAX = 2000;
/** Routers beyond which a beat takes longer than BEAT_MS, and less is kept. */
const MANY_ROUTERS = 50;
const LOST_KEPT_MS = 15 * 60_000;

const CONNECTION_COLUMNS = [
    'identity', 'name', 'container', 'role', 'dir', 'host', 'user', 'isEncrypted', 'properties', 'opened', 'operStatus',
];
const NODE_COLUMNS = ['id', 'nextHop', 'cost', 'linkState', 'lastTopoChange'];

/** @typedef {import('./management.js').Row} Row */
/**
 * @typedef {object} Look
 * @property {Row[]} connections
 * @property {Row[]} connectors
 * @property {Row[]} certificates
 * @property {Row[]} nodes
 * @property {Row[]} autoLinks
 * @property {Row[]} linkRoutes
 * @property {Row[]} actors
 * @property {Row[]} policy
 * @property {Row[]} record
 * @property {Row[]} logStats
 */

const LOOKS = /** @type {[keyof Look, string, string[]][]} */ ([
    ['connections', `${PREFIX}connection`, CONNECTION_COLUMNS],
    ['connectors', `${PREFIX}connector`, []],
    ['certificates', 'org.mobula.certificate', ['profile', 'expiry']],
    ['nodes', `${PREFIX}router.node`, NODE_COLUMNS],
    ['autoLinks', `${PREFIX}router.config.autoLink`, []],
    ['linkRoutes', `${PREFIX}router.config.linkRoute`, []],
    ['actors', 'org.mobula.connectionActor', []],
    ['policy', `${PREFIX}policy`, []],
    ['record', 'org.mobula.record', []],
    ['logStats', `${PREFIX}logStats`, []],
]);

/** One router of the network. */
export class RouterView {
    /**
     * @param {string} id
     * @param {'interior' | 'edge' | 'standalone'} kind
     * @param {string | null} path what its address begins with; null for the router that we are connected to
     */
    constructor(id, kind, path) {
        this.id = id;
        this.kind = kind;
        this.path = path;
        /** @type {'new' | 'up' | 'silent' | 'lost'} */
        this.state = 'new';
        /** @type {Row | null} */
        this.now = null;
        this.history = new History();
        this.actors = new History();
        /** @type {Look | null} */
        this.look = null;
        this.error = '';
        this.heardAt = 0;
        this.lostAt = 0;
        /** @type {string | null} for an edge router */
        this.uplink = null;
    }

    /** @param {string} figure */
    rate(figure) {
        return this.state === 'up' ? this.history.rate(figure) : undefined;
    }
}

/** The network, kept up to date while somebody looks. */
export class Mesh {
    /**
     * @param {import('./management.js').Management} management
     * @param {() => number} [clock] milliseconds
     */
    constructor(management, clock = Date.now) {
        this.management = management;
        this.clock = clock;
        /** @type {Map<string, RouterView>} */
        this.routers = new Map();
        this.ownId = '';
        this.beats = 0;
        this.isPaused = false;
        /** @type {Set<() => void>} */
        this.listeners = new Set();
        this.startedAt = clock();
        /** @type {any} */
        this.timer = undefined;
        this.isOver = false;
        this.nextLook = 0;
        /** @type {Map<string, number>} trunks that were there, and when they were last seen */
        this.trunksSeen = new Map();
    }

    get own() {
        return this.routers.get(this.ownId);
    }

    /** All routers, in the order of their names. */
    get list() {
        return [...this.routers.values()].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
    }

    /** Those that answer or should. */
    get present() {
        return this.list.filter((one) => one.state !== 'lost');
    }

    /** How long a beat is: a large network gets more time. */
    get beatMs() {
        return Math.max(BEAT_MS, this.routers.size * 25);
    }

    /**
     * The path of a router for requests.
     * @param {string | undefined} id the own one without it
     */
    path(id) {
        if (!id || id === this.ownId) return null;
        return this.routers.get(id)?.path ?? `_topo/0/${id}`;
    }

    /** Learn who is there, and begin to beat. */
    async start() {
        const [row] = await this.management.query(null, `${PREFIX}router`);
        this.ownId = row.id;
        const own = new RouterView(row.id, row.mode === 'edge' ? 'edge' : row.mode === 'interior' ? 'interior' : 'standalone', null);
        this.routers.set(own.id, own);
        this.take(own, row);
        // Its connections say which edge routers it has, or which interior router it is at.
        await this.lookAt(own);
        await this.discover();
        this.changed();
        this.schedule();
    }

    stop() {
        this.isOver = true;
        clearTimeout(this.timer);
    }

    /** @param {boolean} isPaused */
    pause(isPaused) {
        this.isPaused = isPaused;
        this.changed();
    }

    /** @param {() => void} listener */
    subscribe(listener) {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    changed() {
        for (const listener of this.listeners) listener();
    }

    schedule() {
        this.timer = setTimeout(async () => {
            // Nobody sees a page in the background, and its network need not be asked as often.
            const isSeen = typeof document === 'undefined' || !document.hidden || this.beats % 5 === 0;
            this.beats += 1;
            if (!this.isPaused && isSeen) await this.beat();
            if (!this.isOver) this.schedule();
        }, this.beatMs);
    }

    /** Ask all routers for their figures, and some for more. */
    async beat() {
        if (this.beats % DISCOVERY_BEATS === 0) await this.discover();
        await Promise.all(this.present.map((router) => this.refresh(router)));
        await this.lookRound();
        this.changed();
    }

    /** @param {RouterView} router */
    async refresh(router) {
        try {
            const [row] = await this.management.query(router.path, `${PREFIX}router`);
            this.take(router, row);
        } catch (error) {
            this.fail(router, /** @type {Error} */ (error));
        }
    }

    /**
     * @param {RouterView} router
     * @param {Row} row
     */
    take(router, row) {
        if (router.now && row.uptimeSeconds < router.now.uptimeSeconds - 1) router.history = new History();
        router.now = row;
        router.state = 'up';
        router.error = '';
        router.heardAt = this.clock();
        router.history.most = this.routers.size > MANY_ROUTERS ? 150 : 600;
        router.history.add(router.heardAt, row);
    }

    /**
     * @param {RouterView} router
     * @param {Error} error
     */
    fail(router, error) {
        if (router.state !== 'lost') router.state = 'silent';
        router.error = error.message;
    }

    /** Find the routers that are there now. */
    async discover() {
        try {
            /** @type {Set<string>} */
            const found = new Set([this.ownId]);
            this.noteUplink();
            for (const address of await this.management.node(this.interiorPath(), 'GET-MGMT-NODES')) {
                const id = /_topo\/\d+\/(.+)\/\$management/.exec(address)?.[1];
                if (id) this.note(found, id, 'interior', `_topo/0/${id}`, null);
            }
            for (const router of this.present) {
                for (const connection of router.look?.connections ?? []) {
                    if (connection.role !== 'edge' || !connection.container) continue;
                    if (router.kind === 'edge') {
                        this.note(found, connection.container, 'interior', `_topo/0/${connection.container}`, null);
                    } else {
                        this.note(found, connection.container, 'edge', `_edge/${connection.container}`, router.id);
                    }
                }
            }
            this.compare(found);
        } catch {
            // The beat that follows says of each router what it lacks.
        }
    }

    /** Where an edge router is that the page is connected to, its own connections say. */
    noteUplink() {
        const { own } = this;
        if (own?.kind === 'edge') own.uplink = own.look?.connections.find((one) => one.role === 'edge' && one.container)?.container ?? own.uplink;
    }

    /** Where the interior routers are asked for: an edge router knows only the one that it is connected to. */
    interiorPath() {
        const { own } = this;
        return own?.kind === 'edge' && own.uplink ? `_topo/0/${own.uplink}` : null;
    }

    /**
     * @param {Set<string>} found
     * @param {string} id
     * @param {'interior' | 'edge'} kind
     * @param {string} path
     * @param {string | null} uplink
     */
    note(found, id, kind, path, uplink) {
        found.add(id);
        let router = this.routers.get(id);
        if (!router) this.routers.set(id, (router = new RouterView(id, kind, path)));
        if (kind === 'edge' && uplink) router.uplink = uplink;
        if (router.state === 'lost') router.state = 'new';
    }

    /** @param {Set<string>} found */
    compare(found) {
        const now = this.clock();
        for (const router of this.routers.values()) {
            if (found.has(router.id)) continue;
            if (router.state !== 'lost') {
                router.state = 'lost';
                router.lostAt = now;
            } else if (now - router.lostAt > LOST_KEPT_MS) {
                this.routers.delete(router.id);
            }
        }
    }

    /**
     * Forget a router that is gone for good.
     * @param {string} id
     */
    forget(id) {
        this.routers.delete(id);
        for (const key of this.trunksSeen.keys()) if (key.split('\n').includes(id)) this.trunksSeen.delete(key);
        this.changed();
    }

    async lookRound() {
        const routers = this.present.filter((one) => one.state === 'up');
        if (routers.length <= LOOKS_AT_ONCE) {
            if (this.beats % LOOK_BEATS === 0 || routers.some((one) => !one.look)) await Promise.all(routers.map((one) => this.lookAt(one)));
            return;
        }
        const chosen = [];
        for (let index = 0; index < LOOKS_AT_ONCE; index++) chosen.push(routers[(this.nextLook + index) % routers.length]);
        this.nextLook = (this.nextLook + LOOKS_AT_ONCE) % routers.length;
        await Promise.all(chosen.map((one) => this.lookAt(one)));
    }

    /** @param {RouterView} router */
    async lookAt(router) {
        try {
            const found = await Promise.all(
                LOOKS.map(([, type, columns]) => this.management.query(router.path, type, columns, { most: LOOK_CONNECTIONS_MAX })
                    .catch((error) => {
                        // A router of another kind lacks some types, which are no reason to see nothing.
                        if (error.status >= 400) return [];
                        throw error;
                    })),
            );
            router.look = /** @type {Look} */ (Object.fromEntries(LOOKS.map(([name], index) => [name, found[index]])));
            router.actors.add(this.clock(), {
                authenticationFailures: sum(router.look.actors, 'authenticationFailures'),
                restarts: sum(router.look.actors, 'restarts'),
                totalDenials: sum(router.look.policy, 'totalDenials'),
                errorCount: sum(router.look.logStats, 'errorCount') + sum(router.look.logStats, 'criticalCount'),
            });
        } catch (error) {
            this.fail(router, /** @type {Error} */ (error));
        }
    }

    /**
     * The trunks between interior routers, those that are gone included.
     * @returns {{a: string, b: string, cost: number | null, isUp: boolean, lostAt: number}[]}
     */
    trunks() {
        const now = this.clock();
        /** @type {Map<string, number | null>} */
        const up = new Map();
        for (const router of this.present) {
            if (router.state !== 'up' || router.kind !== 'interior' || !router.look) continue;
            const neighbours = router.look.nodes.find((node) => node.nextHop === '(self)')?.linkState ?? [];
            for (const id of neighbours) {
                const other = this.routers.get(id);
                if (!other || other.state === 'lost') continue;
                const key = pair(router.id, id);
                const node = router.look.nodes.find((one) => one.id === id);
                // Where a cheaper way leads over others, the cost of the trunk itself is not told.
                up.set(key, node && !node.nextHop ? node.cost : up.get(key) ?? connectorCost(router.look, id));
                this.trunksSeen.set(key, now);
            }
        }
        return [...this.trunksSeen].filter(([, at]) => now - at < LOST_KEPT_MS).map(([key, at]) => {
            const [a, b] = key.split('\n');
            return { a, b, cost: up.get(key) ?? null, isUp: up.has(key), lostAt: up.has(key) ? 0 : at };
        });
    }
}

/**
 * The cost that the connector to a neighbour has, if there is one here.
 * @param {Look} look
 * @param {string} neighbour
 * @returns {number | null}
 */
function connectorCost(look, neighbour) {
    const trunk = look.connections.find((one) => one.role === 'inter-router' && one.dir === 'out' && one.container === neighbour);
    const connector = trunk && look.connectors.find((one) => `${one.host}:${one.port}` === trunk.host);
    return connector?.cost ?? null;
}

/**
 * @param {string} a
 * @param {string} b
 */
export function pair(a, b) {
    return a < b ? `${a}\n${b}` : `${b}\n${a}`;
}

/**
 * @param {Row[]} rows
 * @param {string} name
 */
export function sum(rows, name) {
    return rows.reduce((total, row) => total + (row[name] || 0), 0);
}
